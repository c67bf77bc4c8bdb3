// SPDX-License-Identifier: MIT
/// Who may come in: keys of connect tokens, public addresses, bans. All of it comes from files and
/// is read again on SIGHUP.
#pragma once

#include "base/options.h"
#include "net/token.h"

typedef struct server_program server_program; ///< program.h

typedef struct server_access {
    net_key_ring keys;   ///< wiped once the transport has them
    net_key session_key; ///< with has_keys: made of the first one, for server_access_secret
    bool has_keys;
    uint64_t key_name; ///< of the first one, as others name it; 0: none
    bool is_named;     ///< key_name is given: that of the server whose match goes on here
    uint8_t key_id;    ///< of the one key that the allocation chose; 0: all of them
    net_address public_addresses[NET_TOKEN_ADDRESSES_MAX];
    net_bans* bans;
} server_access;

/// The addresses of an option that may be repeated: what tokens name.
/// @return false: one cannot be used, or there are too many: reported.
BASE_MUST_USE bool server_addresses_resolve(const char* option, const base_option_list* given,
                                            net_address addresses[NET_TOKEN_ADDRESSES_MAX],
                                            const base_reporter* reporter);

/// Read keys, addresses and bans of the options. From the first key on the process writes no core.
/// @return NET_EXIT_CLEAN, or the exit code: reported.
BASE_MUST_USE int server_access_open(server_program* program);
/// The part of the transport's config; it borrows from the program. The transport copies the keys:
/// call server_access_wipe after it is made.
net_security server_access_security(server_program* program);
/// A net_secret_fn, with has_keys: the same secret for a client of this match in each process that
/// has the key and the match's identity.
void server_access_secret(void* program, uint32_t client, void* bytes, size_t size);
/// Let in only players with a token of this key from now on, also after a reload; 0: of each key.
/// The keys of --key-file are read again, since this may be long after server_access_open. Before
/// server_access_wipe.
/// @return false: there is no such key, or they cannot be read: reported; no key was changed.
BASE_MUST_USE bool server_access_choose_key(server_program* program, uint8_t key_id);
/// Overwrite the keys.
void server_access_wipe(server_program* program);
/// Report how open the server is, once it listens. Silent on loopback and with keys.
void server_access_report(const server_program* program);
/// On SIGHUP: keys and bans again, each whole or not at all. Players who are banned now leave.
void server_access_reload(server_program* program);
