// SPDX-License-Identifier: MIT
#include "secure/crypt.h"

#include "base/assert.h"

#include <sodium.h>

#include <string.h>

static uint64_t* word_of(net_replay* replay, uint64_t number) {
    return &replay->seen[number % NET_REPLAY_BITS / 64];
}

bool net_replay_is_new(const net_replay* replay, uint64_t number) {
    if (number == 0) return false;
    if (number > replay->newest) return true;
    if (replay->newest - number >= NET_REPLAY_BITS) return false;
    return !(replay->seen[number % NET_REPLAY_BITS / 64] >> number % 64 & 1);
}

void net_replay_add(net_replay* replay, uint64_t number) {
    if (number > replay->newest) {
        uint64_t ahead = number - replay->newest;
        if (ahead >= NET_REPLAY_BITS) {
            memset(replay->seen, 0, sizeof replay->seen);
        } else {
            for (uint64_t skipped = replay->newest + 1; skipped < number; skipped++)
                *word_of(replay, skipped) &= ~(UINT64_C(1) << skipped % 64);
        }
        replay->newest = number;
    }
    *word_of(replay, number) |= UINT64_C(1) << number % 64;
}

// New keys: key' = BLAKE2b(key, "shoal rekey"), which does not lead back. The sender decides when,
// and turns the phase bit. The receiver knows the next key in advance, so a forged phase costs it
// no more than any forgery. It keeps the old key for datagrams that were overtaken; a sender never
// turns twice in that time, so a strange phase means either the old key or the next, by time alone.

enum { NONCE_BYTES = 12 };

static void ratchet(const uint8_t key[NET_KEY_BYTES], uint8_t next[NET_KEY_BYTES]) {
    static const char label[] = "shoal rekey";
    (void)crypto_generichash(next, NET_KEY_BYTES, (const uint8_t*)label, sizeof label - 1, key,
                             NET_KEY_BYTES);
}

void net_crypt_derive(const uint8_t token_key[NET_KEY_BYTES], net_crypt_direction direction,
                      const uint8_t server_random[NET_OUTER_SERVER_RANDOM_BYTES],
                      const uint8_t client_random[NET_OUTER_RANDOM_BYTES],
                      const uint8_t session_random[NET_OUTER_RANDOM_BYTES],
                      uint8_t key[NET_KEY_BYTES]) {
    static const char label[] = "shoal session";
    uint8_t bytes[sizeof label - 1 + 1 + 24 + 16 + 16];
    net_secure_cursor to = {bytes};
    net_secure_put(&to, label, sizeof label - 1);
    net_secure_put_number(&to, (uint64_t)direction, 1);
    net_secure_put(&to, server_random, NET_OUTER_SERVER_RANDOM_BYTES);
    net_secure_put(&to, client_random, NET_OUTER_RANDOM_BYTES);
    net_secure_put(&to, session_random, NET_OUTER_RANDOM_BYTES);
    (void)crypto_generichash(key, NET_KEY_BYTES, bytes, sizeof bytes, token_key, NET_KEY_BYTES);
}

void net_crypt_sender_init(net_crypt_sender* sender, const uint8_t key[NET_KEY_BYTES],
                           uint64_t now_us) {
    *sender = (net_crypt_sender){.rekeyed_us = now_us};
    memcpy(sender->key, key, sizeof sender->key);
}

void net_crypt_receiver_init(net_crypt_receiver* receiver, const uint8_t key[NET_KEY_BYTES]) {
    memset(receiver, 0, sizeof *receiver);
    memcpy(receiver->key.bytes, key, sizeof receiver->key.bytes);
    ratchet(receiver->key.bytes, receiver->next.bytes);
}

static void number_nonce(uint64_t number, uint8_t nonce[NONCE_BYTES]) {
    net_secure_cursor to = {nonce};
    net_secure_put_number(&to, 0, 4);
    net_secure_put_number(&to, number, 8);
}

static void rekey_when_due(net_crypt_sender* sender, uint64_t now_us) {
    uint64_t age_us = now_us - sender->rekeyed_us;
    bool is_due = age_us >= NET_CRYPT_REKEY_US ||
                  sender->number - sender->rekeyed_number >= NET_CRYPT_REKEY_DATAGRAMS;
    // Not while the other side may still take the phase for the old key's.
    if (!is_due || age_us < 2 * NET_CRYPT_OLD_KEY_US) return;
    uint8_t next[NET_KEY_BYTES];
    ratchet(sender->key, next);
    memcpy(sender->key, next, sizeof next);
    sodium_memzero(next, sizeof next);
    sender->phase = !sender->phase;
    sender->rekeyed_number = sender->number;
    sender->rekeyed_us = now_us;
}

static bool is_packet(uint32_t type) {
    return type == NET_OUTER_INPUT || type == NET_OUTER_STATE;
}

size_t net_crypt_head_bytes(uint8_t first) {
    switch (first & NET_OUTER_TYPE_MASK) {
    case NET_OUTER_INPUT:
        return NET_OUTER_INPUT_BYTES;
    case NET_OUTER_STATE:
        return NET_OUTER_STATE_BYTES;
    default:
        return NET_OUTER_HEAD_BYTES;
    }
}

// The number nearest to the one after the newest. A silent peer has less than half a circle of
// numbers before its session ends.
static uint64_t expand_number(const net_replay* replay, uint16_t low) {
    const uint64_t next = replay->newest + 1;
    const uint64_t found = next + (uint64_t)(int64_t)(int16_t)(uint16_t)(low - (uint16_t)next);
    return found > NET_CRYPT_NUMBER_LAST ? low : found; // below 0: a number of the first circle
}

size_t net_crypt_seal(net_crypt_sender* sender, uint64_t now_us, const net_crypt_plain* plain,
                      uint8_t* out) {
    if (sender->number >= NET_CRYPT_NUMBER_LAST) return 0;
    rekey_when_due(sender, now_us);
    sender->number++;
    net_secure_cursor to = {out};
    net_secure_put_number(&to, (uint64_t)plain->type | (sender->phase ? NET_OUTER_PHASE : 0u), 1);
    if (plain->type != NET_OUTER_STATE)
        net_secure_put_number(&to, plain->session, plain->type == NET_OUTER_INPUT ? 2 : 4);
    net_secure_put_number(&to, sender->number, is_packet(plain->type) ? 2 : 6);
    if (plain->clear_size > 0) net_secure_put(&to, plain->clear, plain->clear_size);
    uint8_t nonce[NONCE_BYTES];
    number_nonce(sender->number, nonce);
    unsigned long long sealed_size = 0;
    (void)crypto_aead_chacha20poly1305_ietf_encrypt(to.at, &sealed_size, plain->bytes, plain->size,
                                                    out, (size_t)(to.at - out), NULL, nonce,
                                                    sender->key);
    return (size_t)(to.at - out) + (size_t)sealed_size;
}

static void turn(net_crypt_receiver* receiver, uint64_t now_us) {
    receiver->old = receiver->key;
    receiver->key = receiver->next;
    receiver->next.forged = 0;
    ratchet(receiver->key.bytes, receiver->next.bytes);
    receiver->old_until_us = now_us + NET_CRYPT_OLD_KEY_US;
    receiver->phase = !receiver->phase;
}

net_crypt_result net_crypt_open(net_crypt_receiver* receiver, uint64_t now_us, uint8_t* bytes,
                                size_t size, size_t clear_size, uint8_t** inner, size_t* inner_size,
                                bool* is_newest) {
    size_t head = net_crypt_head_bytes(bytes[0]);
    uint64_t number =
        is_packet(bytes[0] & NET_OUTER_TYPE_MASK)
            ? expand_number(&receiver->replay, (uint16_t)net_secure_get_number(bytes + head - 2, 2))
            : net_secure_get_number(bytes + head - 6, 6);
    head += clear_size;
    BASE_ASSERT(size >= head + NET_OUTER_TAG_BYTES);
    if (!net_replay_is_new(&receiver->replay, number)) return NET_CRYPT_REPLAYED;
    if (receiver->old_until_us != 0 && now_us >= receiver->old_until_us) {
        sodium_memzero(&receiver->old, sizeof receiver->old);
        receiver->old_until_us = 0;
    }
    bool phase = bytes[0] & NET_OUTER_PHASE, is_next = false;
    net_crypt_key* key = &receiver->key;
    if (phase != receiver->phase) {
        is_next = receiver->old_until_us == 0;
        key = is_next ? &receiver->next : &receiver->old;
    }
    if (key->forged >= NET_CRYPT_FORGED_MAX) return NET_CRYPT_WORN;
    uint8_t nonce[NONCE_BYTES];
    number_nonce(number, nonce);
    unsigned long long opened = 0;
    if (crypto_aead_chacha20poly1305_ietf_decrypt(bytes + head, &opened, NULL, bytes + head,
                                                  size - head, bytes, head, nonce,
                                                  key->bytes) != 0) {
        key->forged++;
        return NET_CRYPT_FORGED;
    }
    if (is_next) turn(receiver, now_us);
    *is_newest = number > receiver->replay.newest;
    net_replay_add(&receiver->replay, number);
    *inner = bytes + head;
    *inner_size = (size_t)opened;
    return NET_CRYPT_OK;
}

uint32_t net_crypt_session(const uint8_t* bytes) {
    const bool is_input = (bytes[0] & NET_OUTER_TYPE_MASK) == NET_OUTER_INPUT;
    return (uint32_t)net_secure_get_number(bytes + 1, is_input ? 2 : 4);
}
