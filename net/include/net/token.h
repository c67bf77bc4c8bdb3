// SPDX-License-Identifier: MIT
/// Keys and connect tokens: how a back end (a matchmaker) lets one player into one server.
///
/// The back end and the server share a key. The back end makes a token and gives its text to a
/// player over a safe channel (https). The player's client shows the sealed part to the server,
/// which no third party can read or write. The rest of the token is the keys of the handshake, so
/// the text of a token is a secret of the player until the token expires.
///
/// A program that only makes tokens needs this header, libshoal_net and libsodium. Threads: the
/// functions have no state; any thread may call them. Chance is an argument (net_entropy).
#pragma once

#include "net/address.h"
#include "base/report.h"

BASE_C_BEGIN

#define NET_KEY_BYTES 32u
#define NET_KEYS_MAX 16u            ///< of a key ring
#define NET_KEY_TEXT_BYTES 69u      ///< "254 " and 64 digits, with the NUL
#define NET_KEY_ID_DEV 0u           ///< the built-in key, which is public
#define NET_KEY_ID_RESUME 255u      ///< sealed by the server itself: a client that comes back
#define NET_TOKEN_ADDRESSES_MAX 8u  ///< servers that accept one token
#define NET_TOKEN_USER_BYTES 256u   ///< of the back end, for the game: team, permissions...
#define NET_TOKEN_NONCE_BYTES 24u   ///< of XChaCha20-Poly1305
#define NET_TOKEN_SEALED_BYTES 512u ///< the private part with its tag
#define NET_TOKEN_TEXT_BYTES 1100u  ///< more than any token's text, with the NUL
#define NET_TOKEN_PROTOCOL UINT64_C(0x4C414F4853) ///< "SHOAL"; games that share keys choose others

/// Where keys and nonces come from. `fill` never fails.
typedef struct net_entropy {
    void (*fill)(void* context, void* bytes, size_t size);
    void* context;
} net_entropy;
/// The system's generator, through libsodium. Valid for the whole process.
const net_entropy* net_entropy_system(void);

/// A secret that the back end and its servers share.
typedef struct net_key {
    uint8_t id; ///< 1..254
    uint8_t bytes[NET_KEY_BYTES];
} net_key;

/// The current key first, then previous ones, whose tokens are still accepted.
typedef struct net_key_ring {
    net_key keys[NET_KEYS_MAX];
    uint32_t count;
} net_key_ring;

/// Make a key from chance. `id` is 1..254 (asserted).
void net_key_make(uint8_t id, const net_entropy* entropy, net_key* key);
/// Write "ID HEX64", a line of a key file. @return false when `text_bytes` is below
/// NET_KEY_TEXT_BYTES; nothing is written then.
bool net_key_print(const net_key* key, char* text, size_t text_bytes);
/// Same id and bytes? Takes the same time for all bytes.
bool net_key_equal(const net_key* a, const net_key* b);
/// Overwrite a key, in a way that the compiler keeps.
void net_key_wipe(net_key* key);
/// Derive a secret of 16 to 64 bytes: BLAKE2b, keyed with the key, of `purpose`, a 0 byte and both
/// numbers (u64). The same key gives the same bytes, and nothing else says anything about
/// them.
void net_key_derive(const net_key* key, const char* purpose, uint64_t identity, uint64_t number,
                    void* secret, size_t size);

/// Read a key file: one "ID HEX64" a line, the current key first. Empty lines and what follows a #
/// are skipped. Reports name `file` and the line, never a key.
/// @return NET_OK; NET_ERR_TOKEN (reported: not of this form, an id twice or not 1..254, no key,
///         more than NET_KEYS_MAX). `ring` is empty then.
BASE_MUST_USE net_result net_key_ring_parse(net_key_ring* ring, const char* file, const char* text,
                                            size_t size, const base_reporter* reporter);
/// The key with an id; NULL when there is none.
const net_key* net_key_ring_find(const net_key_ring* ring, uint8_t id);
/// Overwrite all keys.
void net_key_ring_wipe(net_key_ring* ring);

/// What a token says.
typedef struct net_token_claims {
    uint64_t player_id;
    uint64_t protocol;      ///< 0: NET_TOKEN_PROTOCOL
    uint64_t expiry_unix_s; ///< a server refuses it 5 s later; 45 s of life are enough to connect
    /// Servers that accept it, when they know their own addresses. None: any server with the key.
    net_address addresses[NET_TOKEN_ADDRESSES_MAX];
    uint32_t address_count;
    uint8_t user_data[NET_TOKEN_USER_BYTES];
} net_token_claims;

/// A whole token, as a client has it. Wipe it after use.
typedef struct net_token {
    uint8_t key_id;
    uint64_t protocol;
    uint64_t expiry_unix_s;
    uint8_t nonce[NET_TOKEN_NONCE_BYTES];
    uint8_t sealed[NET_TOKEN_SEALED_BYTES];
    uint8_t client_key[NET_KEY_BYTES]; ///< client to server
    uint8_t server_key[NET_KEY_BYTES]; ///< server to client
    net_address addresses[NET_TOKEN_ADDRESSES_MAX];
    uint32_t address_count;
} net_token;

/// Make a token. Two tokens of the same claims differ.
/// @return NET_OK; NET_ERR_TOKEN (more addresses than NET_TOKEN_ADDRESSES_MAX).
BASE_MUST_USE net_result net_token_make(const net_key* key, const net_token_claims* claims,
                                        const net_entropy* entropy, net_token* token);
/// A token of the built-in key: servers without keys accept it from private addresses.
/// @return NET_OK; NET_ERR_TOKEN (more addresses than NET_TOKEN_ADDRESSES_MAX).
BASE_MUST_USE net_result net_token_make_dev(const net_token_claims* claims,
                                            const net_entropy* entropy, net_token* token);
/// Write a token as one word of base64 (the alphabet for URLs, without padding).
/// @return false when `text_bytes` is too small (NET_TOKEN_TEXT_BYTES always suffices); the text is
/// empty then.
bool net_token_print(const net_token* token, char* text, size_t text_bytes);
/// Read what net_token_print wrote; blanks around it are skipped. The sealed part is checked by the
/// server only.
/// @return NET_OK; NET_ERR_TOKEN (cut, changed, or of another version: ask for a new one). `token`
///         is unchanged then.
BASE_MUST_USE net_result net_token_parse(const char* text, net_token* token);
/// Overwrite a token.
void net_token_wipe(net_token* token);

BASE_C_END
