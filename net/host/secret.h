// SPDX-License-Identifier: MIT
/// Secrets of a program: where they come from, and where they must not go. They are read from files
/// or the environment, never from the command line, because `ps` shows it to every user.
#pragma once

#include "base/report.h"

#include <stddef.h>
#include <stdint.h>

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
