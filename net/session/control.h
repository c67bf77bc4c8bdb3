// SPDX-License-Identifier: MIT
/// The control channel: ServerControl and ClientControl messages, reliable and in order.
#pragma once

#include "base/alloc.h"
#include "net/limits.h"
#include "net/token.h"
#include "net/transport.h"

#include "wire.pb-c.h"

/// A player's name as others see it: what may be shown of it (base/shown.h). Spaces of every
/// kind become one plain space between words. Cut to NET_PLAYER_NAME_BYTES_MAX - 1 bytes, "player"
/// when nothing is left. `requested` may be any bytes, NUL-terminated. A clean name stays as it is.
void net_control_clean_name(char name[NET_PLAYER_NAME_BYTES_MAX], const char* requested);

/// A message in its ServerControl or ClientControl, whose kinds have the same place in both. It is
/// borrowed.
Shoal__Wire__ServerControl net_control_wrap(const ProtobufCMessageDescriptor* envelope,
                                            const ProtobufCMessage* message);
/// Encode a ServerControl or ClientControl and send it; *bytes is its encoded size.
/// @return what net_transport send returns; NET_ERR_FULL also when it is longer than
///         NET_CONTROL_BYTES_MAX (*bytes is 0 then).
net_result net_control_send(net_transport* transport, net_peer peer,
                            const ProtobufCMessage* message, size_t* bytes);
/// What a ServerControl or ClientControl contains: "hello", "welcome"... Static text.
const char* net_control_name(const ProtobufCMessage* message);

#define NET_CONTROL_ADDRESS_BYTES 18u ///< of a server's address: ip 16, port u16

/// Write addresses of servers, at most NET_STANDBYS_MAX. @return how many bytes.
size_t net_control_write_addresses(const net_address* addresses, uint32_t count, uint8_t* bytes);
/// Read them. @return false: they are no whole addresses, or more than NET_STANDBYS_MAX.
bool net_control_read_addresses(const uint8_t* bytes, size_t size,
                                net_address addresses[NET_STANDBYS_MAX], uint32_t* count);

/// Read where a player goes on. The token is any word: the server that sends it parses it, and so
/// does who shows it. @return false: an address, a token or a page of another form, or too long.
bool net_control_read_transfer(const Shoal__Wire__Goodbye* goodbye, net_transfer* transfer);

/// Names of players that differ: "Ada" and "ada" are one name for a reader.

#define NET_NAMES_MAX (NET_CLIENTS_MAX + 64u) ///< other players that are compared

/// What a clean name is compared by. Equal names, the case of ASCII letters apart, have equal keys.
typedef struct net_name_key {
    uint64_t stem;   ///< hash of the name without its number
    uint32_t number; ///< 1: it has none; 0: the key of no name
} net_name_key;

/// Change a clean name that another player has: "Ada" becomes "Ada (2)", or the first free
/// number. A long name is cut to make room for the number. `others` are `count` keys, at most
/// NET_NAMES_MAX (asserted); each is compared once or twice.
/// @return The key of the name as it is then.
net_name_key net_name_distinguish(char name[NET_PLAYER_NAME_BYTES_MAX], const net_name_key* others,
                                  uint32_t count);

/// The players of a match, as the server sends them to its clients.
///
/// Limits: NET_CLIENTS_MAX players. Memory: grows to its peak and stays there.

typedef struct net_roster_player {
    uint32_t client;
    uint32_t name_hash;
    char name[NET_PLAYER_NAME_BYTES_MAX]; ///< unlike that of any other player
    bool is_bot;
    bool is_gone; ///< only while a change is applied
} net_roster_player;

typedef struct net_roster {
    const base_allocator* allocator;
    net_roster_player* players; // by rising client
    uint32_t count, capacity;
} net_roster;

/// An empty one; `allocator` owns it.
void net_roster_init(net_roster* roster, const base_allocator* allocator);
/// Apply a change: remove the players that left, then add those that came. Names are cleaned; a
/// known player gets the new name; a name that another player has gets "#" and the client number.
/// @return NET_OK; NET_ERR_MALFORMED (client number 0, or more than NET_CLIENTS_MAX players:
///         entries before it were applied; count it).
BASE_MUST_USE net_result net_roster_take(net_roster* roster, const Shoal__Wire__Roster* change);
/// @return NULL when no player has this client number. Borrowed until the next change.
const net_roster_player* net_roster_find(const net_roster* roster, uint32_t client);
