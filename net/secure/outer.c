// SPDX-License-Identifier: MIT
// REQUEST:  type, version, client random 16, key id u8, protocol u64, expiry u64, nonce 24,
//           sealed 512, zeros up to 1,200
// RESPONSE: the same, then at 572 server random 24, time u64, cookie 16, zeros, and in the last 16
//           bytes BLAKE2b-128 with the client key over "shoal response" and all before
// CHALLENGE: type, nonce 24, XChaCha20-Poly1305 with the server key of server random 24, time u64,
//           cookie 16; associated data: type, client random
// DENY:     type, version, protocol version u16, reason u8, client random 16 [, BLAKE2b-128 with
//           the server key over "shoal deny" and all before]
#include "secure/outer.h"

#include "net/limits.h"

#include <sodium.h>

enum {
    RANDOM_AT = 2,
    KEY_ID_AT = 18,
    PROTOCOL_AT = 19,
    EXPIRY_AT = 27,
    NONCE_AT = 35,
    SEALED_AT = 59,
    HELLO_END = SEALED_AT + NET_TOKEN_SEALED_BYTES,
    PROOF_AT = 572,
    PROOF_BYTES = 48,
    PROOF_END = PROOF_AT + PROOF_BYTES,
    SIGNATURE_AT = NET_OUTER_HELLO_BYTES - 16,
    DENY_REASON_AT = 4,
    DENY_RANDOM_AT = 5,
};

static void sign(const char* label, const uint8_t key[NET_KEY_BYTES], const uint8_t* bytes,
                 size_t size, uint8_t signature[16]) {
    crypto_generichash_state state;
    (void)crypto_generichash_init(&state, key, NET_KEY_BYTES, 16);
    (void)crypto_generichash_update(&state, (const uint8_t*)label, strlen(label));
    (void)crypto_generichash_update(&state, bytes, size);
    (void)crypto_generichash_final(&state, signature, 16);
    sodium_memzero(&state, sizeof state);
}

static void write_hello(net_outer_type type, const uint8_t client_random[NET_OUTER_RANDOM_BYTES],
                        const net_token* token, uint8_t bytes[NET_OUTER_HELLO_BYTES]) {
    memset(bytes, 0, NET_OUTER_HELLO_BYTES);
    net_secure_cursor to = {bytes};
    net_secure_put_number(&to, (uint64_t)type, 1);
    net_secure_put_number(&to, NET_SECURE_VERSION, 1);
    net_secure_put(&to, client_random, NET_OUTER_RANDOM_BYTES);
    net_secure_put_number(&to, token->key_id, 1);
    net_secure_put_number(&to, token->protocol, 8);
    net_secure_put_number(&to, token->expiry_unix_s, 8);
    net_secure_put(&to, token->nonce, NET_TOKEN_NONCE_BYTES);
    net_secure_put(&to, token->sealed, NET_TOKEN_SEALED_BYTES);
}

void net_outer_request_write(const uint8_t client_random[NET_OUTER_RANDOM_BYTES],
                             const net_token* token, uint8_t bytes[NET_OUTER_HELLO_BYTES]) {
    write_hello(NET_OUTER_REQUEST, client_random, token, bytes);
}

void net_outer_hello_read(const uint8_t bytes[NET_OUTER_HELLO_BYTES], net_outer_hello* hello) {
    hello->token.key_id = bytes[KEY_ID_AT];
    hello->token.protocol = net_secure_get_number(bytes + PROTOCOL_AT, 8);
    hello->token.expiry_unix_s = net_secure_get_number(bytes + EXPIRY_AT, 8);
    memcpy(hello->client_random, bytes + RANDOM_AT, NET_OUTER_RANDOM_BYTES);
    memcpy(hello->token.nonce, bytes + NONCE_AT, NET_TOKEN_NONCE_BYTES);
    memcpy(hello->token.sealed, bytes + SEALED_AT, NET_TOKEN_SEALED_BYTES);
}

// No secret, so it needs no constant time: sodium_is_zero would cost more than opening the token.
static bool is_zero(const uint8_t* bytes, size_t size) {
    return bytes[0] == 0 && memcmp(bytes, bytes + 1, size - 1) == 0;
}

bool net_outer_hello_is_padded(const uint8_t bytes[NET_OUTER_HELLO_BYTES]) {
    if (bytes[0] == NET_OUTER_REQUEST)
        return is_zero(bytes + HELLO_END, NET_OUTER_HELLO_BYTES - HELLO_END);
    return bytes[HELLO_END] == 0 && is_zero(bytes + PROOF_END, SIGNATURE_AT - PROOF_END);
}

static void write_proof(const net_outer_proof* proof, uint8_t bytes[PROOF_BYTES]) {
    net_secure_cursor to = {bytes};
    net_secure_put(&to, proof->server_random, NET_OUTER_SERVER_RANDOM_BYTES);
    net_secure_put_number(&to, proof->time_us, 8);
    net_secure_put(&to, proof->cookie, NET_OUTER_COOKIE_BYTES);
}

static net_outer_proof read_proof(const uint8_t bytes[PROOF_BYTES]) {
    net_outer_proof proof = {.time_us =
                                 net_secure_get_number(bytes + NET_OUTER_SERVER_RANDOM_BYTES, 8)};
    memcpy(proof.server_random, bytes, NET_OUTER_SERVER_RANDOM_BYTES);
    memcpy(proof.cookie, bytes + NET_OUTER_SERVER_RANDOM_BYTES + 8, NET_OUTER_COOKIE_BYTES);
    return proof;
}

static void challenge_data(const uint8_t client_random[NET_OUTER_RANDOM_BYTES],
                           uint8_t data[1 + NET_OUTER_RANDOM_BYTES]) {
    data[0] = NET_OUTER_CHALLENGE;
    memcpy(data + 1, client_random, NET_OUTER_RANDOM_BYTES);
}

void net_outer_challenge_write(const net_outer_proof* proof,
                               const uint8_t client_random[NET_OUTER_RANDOM_BYTES],
                               const uint8_t nonce[24], const uint8_t server_key[NET_KEY_BYTES],
                               uint8_t bytes[NET_OUTER_CHALLENGE_BYTES]) {
    uint8_t plain[PROOF_BYTES], data[1 + NET_OUTER_RANDOM_BYTES];
    write_proof(proof, plain);
    challenge_data(client_random, data);
    bytes[0] = NET_OUTER_CHALLENGE;
    memcpy(bytes + 1, nonce, 24);
    (void)crypto_aead_xchacha20poly1305_ietf_encrypt(bytes + 25, NULL, plain, sizeof plain, data,
                                                     sizeof data, NULL, nonce, server_key);
}

bool net_outer_challenge_read(const uint8_t bytes[NET_OUTER_CHALLENGE_BYTES],
                              const uint8_t client_random[NET_OUTER_RANDOM_BYTES],
                              const uint8_t server_key[NET_KEY_BYTES], net_outer_proof* proof) {
    uint8_t plain[PROOF_BYTES], data[1 + NET_OUTER_RANDOM_BYTES];
    challenge_data(client_random, data);
    if (bytes[0] != NET_OUTER_CHALLENGE ||
        crypto_aead_xchacha20poly1305_ietf_decrypt(plain, NULL, NULL, bytes + 25, PROOF_BYTES + 16,
                                                   data, sizeof data, bytes + 1, server_key) != 0)
        return false;
    *proof = read_proof(plain);
    return true;
}

void net_outer_response_write(const uint8_t client_random[NET_OUTER_RANDOM_BYTES],
                              const net_token* token, const net_outer_proof* proof,
                              uint8_t bytes[NET_OUTER_HELLO_BYTES]) {
    write_hello(NET_OUTER_RESPONSE, client_random, token, bytes);
    write_proof(proof, bytes + PROOF_AT);
    sign("shoal response", token->client_key, bytes, SIGNATURE_AT, bytes + SIGNATURE_AT);
}

net_outer_proof net_outer_response_proof(const uint8_t bytes[NET_OUTER_HELLO_BYTES]) {
    return read_proof(bytes + PROOF_AT);
}

bool net_outer_response_is_signed(const uint8_t bytes[NET_OUTER_HELLO_BYTES],
                                  const uint8_t client_key[NET_KEY_BYTES]) {
    uint8_t signature[16];
    sign("shoal response", client_key, bytes, SIGNATURE_AT, signature);
    return sodium_memcmp(signature, bytes + SIGNATURE_AT, sizeof signature) == 0;
}

size_t net_outer_deny_write(net_secure_end reason,
                            const uint8_t client_random[NET_OUTER_RANDOM_BYTES],
                            const uint8_t* server_key, uint8_t bytes[NET_OUTER_DENY_BYTES]) {
    net_secure_cursor to = {bytes};
    net_secure_put_number(&to, NET_OUTER_DENY, 1);
    net_secure_put_number(&to, NET_SECURE_VERSION, 1);
    net_secure_put_number(&to, NET_PROTOCOL_VERSION, 2);
    net_secure_put_number(&to, (uint64_t)reason, 1);
    net_secure_put(&to, client_random, NET_OUTER_RANDOM_BYTES);
    if (!server_key) return NET_OUTER_NOTICE_BYTES;
    sign("shoal deny", server_key, bytes, NET_OUTER_NOTICE_BYTES, to.at);
    return NET_OUTER_DENY_BYTES;
}

bool net_outer_deny_read(const uint8_t* bytes, size_t size,
                         const uint8_t client_random[NET_OUTER_RANDOM_BYTES],
                         const uint8_t* server_key, net_secure_end* reason, uint32_t* version,
                         bool* is_signed) {
    if (size != NET_OUTER_NOTICE_BYTES && size != NET_OUTER_DENY_BYTES) return false;
    if (bytes[0] != NET_OUTER_DENY ||
        sodium_memcmp(bytes + DENY_RANDOM_AT, client_random, NET_OUTER_RANDOM_BYTES) != 0)
        return false;
    *is_signed = false;
    if (size == NET_OUTER_DENY_BYTES && server_key) {
        uint8_t signature[16];
        sign("shoal deny", server_key, bytes, NET_OUTER_NOTICE_BYTES, signature);
        *is_signed =
            sodium_memcmp(signature, bytes + NET_OUTER_NOTICE_BYTES, sizeof signature) == 0;
    }
    *reason = (net_secure_end)bytes[DENY_REASON_AT];
    *version = bytes[1];
    return true;
}

void net_outer_resume_write(const net_token* resume, uint8_t bytes[NET_OUTER_RESUME_BYTES]) {
    net_secure_cursor to = {bytes};
    net_secure_put_number(&to, resume->expiry_unix_s, 8);
    net_secure_put(&to, resume->nonce, NET_TOKEN_NONCE_BYTES);
    net_secure_put(&to, resume->sealed, NET_TOKEN_SEALED_BYTES);
    net_secure_put(&to, resume->client_key, NET_KEY_BYTES);
    net_secure_put(&to, resume->server_key, NET_KEY_BYTES);
}

void net_outer_resume_read(const uint8_t bytes[NET_OUTER_RESUME_BYTES], uint64_t protocol,
                           net_token* resume) {
    *resume = (net_token){.key_id = NET_KEY_ID_RESUME,
                          .protocol = protocol,
                          .expiry_unix_s = net_secure_get_number(bytes, 8)};
    memcpy(resume->nonce, bytes + 8, NET_TOKEN_NONCE_BYTES);
    memcpy(resume->sealed, bytes + 32, NET_TOKEN_SEALED_BYTES);
    memcpy(resume->client_key, bytes + 32 + NET_TOKEN_SEALED_BYTES, NET_KEY_BYTES);
    memcpy(resume->server_key, bytes + 64 + NET_TOKEN_SEALED_BYTES, NET_KEY_BYTES);
}
