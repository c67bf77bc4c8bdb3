// SPDX-License-Identifier: MIT
/// Keys and connect tokens of a program, from files or the environment. Nothing here prints a
/// secret, and no text of one stays in memory.
#pragma once

#include "net/token.h"

#include "base/report.h"

#include <sys/types.h>

/// The environment variable with the content of a key file, and the one with a token.
#define NET_HOST_KEYS_VARIABLE "SHOAL_KEYS"
#define NET_HOST_TOKEN_VARIABLE "SHOAL_TOKEN"
/// Tokens of one program: its bots take them in turn.
#define NET_HOST_TOKENS_MAX 1024u

/// Read the keys from `path`; with NULL from SHOAL_KEYS, which is removed from the environment.
/// With neither the ring stays empty.
/// @return false when the keys cannot be read or are malformed: reported. `keys` is empty then.
BASE_MUST_USE bool net_host_load_keys(const char* path, net_key_ring* keys,
                                      const base_reporter* reporter);
/// Create a file with this text. `if_taken`: added to the report when there is a file already.
/// @return false when it cannot be written: reported.
BASE_MUST_USE bool net_host_create_file(const char* path, mode_t mode, const char* text,
                                        const char* if_taken, const base_reporter* reporter);
/// Write a key ring as a file that only this user can read.
/// @return false when it cannot be written: reported.
BASE_MUST_USE bool net_host_save_keys(const char* path, const net_key_ring* keys, bool is_new,
                                      const base_reporter* reporter);

typedef struct net_host_tokens {
    net_token* tokens; ///< owned; NULL when there are none
    uint32_t count;
} net_host_tokens;

/// Read tokens, one a line, from `path` ("-": standard input); with NULL from SHOAL_TOKEN, which is
/// removed from the environment. With neither there are none. Call net_host_wipe_tokens when done.
/// @return false when they cannot be read or are malformed: reported. `tokens` is empty then.
BASE_MUST_USE bool net_host_load_tokens(const char* path, net_host_tokens* tokens,
                                        const base_reporter* reporter);
/// Overwrite and free.
void net_host_wipe_tokens(net_host_tokens* tokens);

/// Secrets of a program: where they come from, and where they must not go. They are read from files
/// or the environment, never from the command line, because `ps` shows it to every user.

#define NET_HOST_SECRET_BYTES_MAX 4096u

typedef struct net_host_secret {
    uint8_t bytes[NET_HOST_SECRET_BYTES_MAX];
    size_t size;
} net_host_secret;

/// Read a file of at most NET_HOST_SECRET_BYTES_MAX bytes. Only its owner may be able to read it
/// (mode 0600 or 0400), and the owner is this user or root. A link to such a file is followed. The
/// caller wipes the secret as soon as it has made its keys of it.
/// @return false: reported, without a byte of the content; `secret` is empty.
BASE_MUST_USE bool net_host_read_secret_file(const char* path, net_host_secret* secret,
                                             const base_reporter* reporter);
/// Overwrite the secret; the compiler cannot leave it out.
void net_host_wipe_secret(net_host_secret* secret);

/// Write no core file, and let no other process of this user read the memory: call it before the
/// first key is in it. Debug builds (without NDEBUG) do nothing here, so that developers have their
/// core files and debuggers.
/// @return false when the system refuses (errno says why).
BASE_MUST_USE bool net_host_forbid_core(void);
