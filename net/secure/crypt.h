// SPDX-License-Identifier: MIT
/// Which numbers of datagrams came already: each is accepted once. Numbers begin at 1; those that
/// are NET_REPLAY_BITS or more behind the newest count as seen.
#pragma once

#include "secure/outer.h"

#include "base/macros.h"

#define NET_REPLAY_BITS 1024u

typedef struct net_replay {
    uint64_t newest;
    uint64_t seen[NET_REPLAY_BITS / 64]; ///< bit `number % NET_REPLAY_BITS`
} net_replay;

/// Ask before the datagram is authenticated; nothing changes.
bool net_replay_is_new(const net_replay* replay, uint64_t number);
/// Remember a number that is_new accepted and that was authenticated.
void net_replay_add(net_replay* replay, uint64_t number);

/// The two directions of a session: sealing and opening its datagrams, and new keys over time.
///
/// Layout: type with key phase u8, session u32, number u48, clear bytes of the type, then
/// ChaCha20-Poly1305 of the content. All before the content is associated data. The number is the
/// nonce: it begins at 1 and no key sees it twice.
///
/// Packets of the realtime channel come up to 60 times a second, so their heads have what the
/// receiver needs: the low 16 bits of the number (as in RFC 9000, 17.1), and to the server those of
/// the session.

#define NET_CRYPT_NUMBER_LAST ((UINT64_C(1) << 48) - 1)
#define NET_CRYPT_REKEY_DATAGRAMS (UINT64_C(1) << 22)
#define NET_CRYPT_REKEY_US UINT64_C(600000000)
#define NET_CRYPT_OLD_KEY_US UINT64_C(5000000)
/// Of one key: the bound of the AEAD (RFC 9001, 6.6). 10 Gbit/s carry this many in 77 minutes.
#define NET_CRYPT_FORGED_MAX (UINT64_C(1) << 36)

/// From whom to whom: part of the derivation of keys.
typedef enum net_crypt_direction { NET_CRYPT_TO_SERVER, NET_CRYPT_TO_CLIENT } net_crypt_direction;

typedef struct net_crypt_sender {
    uint8_t key[NET_KEY_BYTES];
    uint64_t number; ///< of the newest datagram
    uint64_t rekeyed_number, rekeyed_us;
    bool phase;
} net_crypt_sender;

typedef struct net_crypt_key {
    uint8_t bytes[NET_KEY_BYTES];
    uint64_t forged; ///< datagrams that it did not open
} net_crypt_key;

typedef struct net_crypt_receiver {
    net_crypt_key key, next, old;
    uint64_t old_until_us; ///< 0: there is no old key
    bool phase;
    net_replay replay;
} net_crypt_receiver;

typedef enum net_crypt_result {
    NET_CRYPT_OK,
    NET_CRYPT_REPLAYED, ///< nothing was decrypted
    NET_CRYPT_FORGED,
    NET_CRYPT_WORN, ///< its key met NET_CRYPT_FORGED_MAX forged ones: the session must end
} net_crypt_result;

/// The key of one direction of a new session. The token's key, both sides' chance of the handshake
/// and the server's chance of this very session: a token that is used again never repeats a key.
void net_crypt_derive(const uint8_t token_key[NET_KEY_BYTES], net_crypt_direction direction,
                      const uint8_t server_random[NET_OUTER_SERVER_RANDOM_BYTES],
                      const uint8_t client_random[NET_OUTER_RANDOM_BYTES],
                      const uint8_t session_random[NET_OUTER_RANDOM_BYTES],
                      uint8_t key[NET_KEY_BYTES]);
void net_crypt_sender_init(net_crypt_sender* sender, const uint8_t key[NET_KEY_BYTES],
                           uint64_t now_us);
void net_crypt_receiver_init(net_crypt_receiver* receiver, const uint8_t key[NET_KEY_BYTES]);

/// One datagram to seal.
typedef struct net_crypt_plain {
    net_outer_type type;
    uint32_t session;
    const void* clear; ///< authenticated, not encrypted: the type says how many
    size_t clear_size;
    const void* bytes;
    size_t size;
} net_crypt_plain;

/// Seal into `out`, which has room for 11 + clear + size + 16.
/// @return the size; 0 when all numbers are used: the session must end.
size_t net_crypt_seal(net_crypt_sender* sender, uint64_t now_us, const net_crypt_plain* plain,
                      uint8_t* out);
/// Bytes before the clear ones, by the first byte of a datagram.
size_t net_crypt_head_bytes(uint8_t first);
/// Open a datagram of this session in place: at least head + clear_size + 16 bytes (asserted).
/// *inner points into `bytes`. *is_newest: no newer one came before.
net_crypt_result net_crypt_open(net_crypt_receiver* receiver, uint64_t now_us, uint8_t* bytes,
                                size_t size, size_t clear_size, uint8_t** inner, size_t* inner_size,
                                bool* is_newest);
/// The session in the head of a datagram of at least 11 bytes; of an INPUT its low 16 bits.
uint32_t net_crypt_session(const uint8_t* bytes);
