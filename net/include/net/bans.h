// SPDX-License-Identifier: MIT
/// The list of those who may not play here: networks, players and keys. From a text file, and by
/// calls while a server runs.
///
/// A file has one ban per line: `address 203.0.113.0/24 [reason]`, `address 2001:db8::/32`,
/// `player 123`, `key 3`. Empty lines and what follows a '#' at the start of a word are ignored.
///
/// Limits:  NET_BANS_MAX bans; lines of NET_BAN_LINE_BYTES_MAX bytes; files of
/// NET_BANS_FILE_BYTES_MAX.
/// Cost:    a question allocates nothing: a binary search, for an address one per length of prefix
/// that the list has.
/// Memory:  about 130 bytes per ban.
/// Threads: one at a time. The secure layer asks on the thread that services the transport.
#pragma once

#include "base/alloc.h"
#include "base/report.h"
#include "net/address.h"

BASE_C_BEGIN

#define NET_BANS_MAX 65536u
#define NET_BANS_FILE_BYTES_MAX (16u << 20)
#define NET_BAN_LINE_BYTES_MAX 256u     ///< with the NUL
#define NET_BAN_REASON_BYTES_MAX 96u    ///< with the NUL; a longer one is cut
#define NET_BAN_FAULTS_REPORTED_MAX 10u ///< of one file
/// A shorter prefix is a typing mistake that shuts the house.
#define NET_BAN_IPV4_BITS_MIN 8u
#define NET_BAN_IPV6_BITS_MIN 16u

typedef enum net_ban_kind { NET_BAN_ADDRESS, NET_BAN_PLAYER, NET_BAN_KEY } net_ban_kind;

/// Begin with net_ban_parse, net_ban_of_address, or a zeroed struct with `kind` and `id`.
typedef struct net_ban {
    net_ban_kind kind;
    uint32_t bits;  ///< ADDRESS: length of the prefix in `ip`, 0..128; an IPv4 /24 is 120
    uint8_t ip[16]; ///< ADDRESS: as in net_address; zero behind the prefix
    uint64_t id;    ///< PLAYER, KEY
    char reason[NET_BAN_REASON_BYTES_MAX]; ///< "": none is given; the banned client prints it
} net_ban;

typedef struct net_bans net_bans;

/// Make an empty list. `allocator` NULL: the heap. @return NET_OK; NET_ERR_MEMORY.
BASE_MUST_USE net_result net_bans_create(const base_allocator* allocator, net_bans** bans);
/// NULL is allowed.
void net_bans_destroy(net_bans* bans);

/// Read one line of the form above.
/// @return NET_OK; NET_ERR_UNKNOWN (an empty line or a comment: there is no ban); NET_ERR_MALFORMED
///         (`fault` says what is wrong and what is allowed).
BASE_MUST_USE net_result net_ban_parse(const char* line, net_ban* ban, char* fault,
                                       size_t fault_bytes);
/// The ban of one host. `reason` may be NULL.
net_ban net_ban_of_address(const net_address* address, const char* reason);
/// Write a ban as a line of a file, without its reason: "address 203.0.113.0/24".
void net_ban_print(const net_ban* ban, char* text, size_t text_bytes);

/// Add a ban, copied. One that is there already gets the new reason.
/// @return NET_OK; NET_ERR_FULL (NET_BANS_MAX); NET_ERR_MEMORY (nothing changed).
BASE_MUST_USE net_result net_bans_add(net_bans* bans, const net_ban* ban);
/// Remove a ban of this kind and prefix or number. @return false when there is none.
bool net_bans_remove(net_bans* bans, const net_ban* ban);

/// Read the list from a file. What a file brought before is replaced; what net_bans_add brought
/// stays. Call it again at SIGHUP. With any fault the old list stays as it is.
/// @return NET_OK; NET_ERR_IO (reported: the file cannot be read, or is too long);
///         NET_ERR_MALFORMED (reported as FILE:LINE with what is allowed); NET_ERR_FULL (reported);
///         NET_ERR_MEMORY.
BASE_MUST_USE net_result net_bans_load(net_bans* bans, const char* file,
                                       const base_reporter* reporter);
/// The same from a text of `size` bytes; `file` is only for reports.
BASE_MUST_USE net_result net_bans_read(net_bans* bans, const char* text, size_t size,
                                       const char* file, const base_reporter* reporter);

/// Ask. Before a datagram is decrypted only the address is known, afterwards player and key.
/// @return the ban, borrowed until the next change; NULL: there is none. Player and key 0 are
/// unknown ones, never banned. `bans` NULL: an empty list.
const net_ban* net_bans_find_address(const net_bans* bans, const net_address* address);
const net_ban* net_bans_find_player(const net_bans* bans, uint64_t player);
const net_ban* net_bans_find_key(const net_bans* bans, uint64_t key);
/// The first of the three that applies.
const net_ban* net_bans_find(const net_bans* bans, const net_address* address, uint64_t player,
                             uint64_t key);
uint32_t net_bans_count(const net_bans* bans);

BASE_C_END
