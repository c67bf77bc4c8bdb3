// SPDX-License-Identifier: MIT
// Signatures of a log: Ed25519 over the running hash at the end of each segment. A total stands for
// all blocks up to its index, so one signature says the same of all of them.
//
// Checksums and the running hash can be computed again after a change; a signature cannot.
#include "base/assert.h"
#include "base/text.h"
#include "log/log_read.h"
#include "log/log_segment.h"
#include "net/log.h"

#include <sodium.h>
#include <string.h>

_Static_assert(NET_LOG_SECRET_KEY_BYTES == crypto_sign_SECRETKEYBYTES, "libsodium's form");
_Static_assert(NET_LOG_PUBLIC_KEY_BYTES == crypto_sign_PUBLICKEYBYTES, "libsodium's form");
_Static_assert(NET_LOG_SIGNATURE_BYTES == 1 + crypto_sign_BYTES, "a kind, and the signature");

enum { KIND_ED25519 = 1, SIGNED_BYTES = 16 + NET_LOG_HASH_BYTES };

// The purpose is in front, so that no signature of another use of the key is one of a log.
static void write_signed(uint8_t target[SIGNED_BYTES], const uint8_t total[NET_LOG_HASH_BYTES]) {
    static const char purpose[16] = "shoal log total";
    memcpy(target, purpose, sizeof purpose);
    memcpy(target + sizeof purpose, total, NET_LOG_HASH_BYTES);
}

void net_log_chain_sign(const net_log_chain* chain, const net_log_secret_key* key,
                        uint8_t signature[NET_LOG_SIGNATURE_BYTES]) {
    uint8_t text[SIGNED_BYTES];
    write_signed(text, chain->total);
    signature[0] = KIND_ED25519;
    (void)crypto_sign_detached(signature + 1, NULL, text, sizeof text, key->bytes);
}

static bool is_signature(const net_log_index* index, const net_log_public_key* key) {
    uint8_t text[SIGNED_BYTES];
    write_signed(text, index->chain.total);
    return index->signature_bytes == NET_LOG_SIGNATURE_BYTES &&
           index->signature[0] == KIND_ED25519 &&
           crypto_sign_verify_detached(index->signature + 1, text, sizeof text, key->bytes) == 0;
}

// ---- keys ----

void net_log_key_make(net_log_secret_key* key, net_log_public_key* public_key) {
    BASE_ASSERT(sodium_init() >= 0);
    (void)crypto_sign_keypair(public_key->bytes, key->bytes);
}

net_log_public_key net_log_key_public(const net_log_secret_key* key) {
    net_log_public_key public_key;
    (void)crypto_sign_ed25519_sk_to_pk(public_key.bytes, key->bytes);
    return public_key;
}

void net_log_key_wipe(net_log_secret_key* key) {
    sodium_memzero(key, sizeof *key);
}

void net_log_key_id(const net_log_public_key* key, char text[NET_LOG_KEY_ID_BYTES]) {
    (void)sodium_bin2hex(text, NET_LOG_KEY_ID_BYTES, key->bytes, (NET_LOG_KEY_ID_BYTES - 1) / 2);
}

#define SECRET_WORD "shoal-log-secret "
#define PUBLIC_WORD "shoal-log-public "
#define SEED_BYTES 32u

_Static_assert(sizeof SECRET_WORD - 1 + 2 * SEED_BYTES + 2 <= NET_LOG_KEY_TEXT_BYTES, "a line");

static void print(char text[NET_LOG_KEY_TEXT_BYTES], const char* word, const uint8_t* bytes) {
    char digits[2 * SEED_BYTES + 1];
    (void)sodium_bin2hex(digits, sizeof digits, bytes, SEED_BYTES);
    (void)base_text_format(text, NET_LOG_KEY_TEXT_BYTES, "%s%s\n", word, digits);
    sodium_memzero(digits, sizeof digits);
}

// @return false: it is no such line.
static bool parse(const char* text, size_t size, const char* word, uint8_t bytes[SEED_BYTES]) {
    const size_t word_bytes = strlen(word);
    size_t read = 0;
    while (size > 0 && (text[size - 1] == '\n' || text[size - 1] == '\r' || text[size - 1] == ' '))
        size--;
    return size == word_bytes + 2u * SEED_BYTES && memcmp(text, word, word_bytes) == 0 &&
           sodium_hex2bin(bytes, SEED_BYTES, text + word_bytes, 2u * SEED_BYTES, NULL, &read,
                          NULL) == 0 &&
           read == SEED_BYTES;
}

void net_log_key_print(const net_log_secret_key* key, char text[NET_LOG_KEY_TEXT_BYTES]) {
    print(text, SECRET_WORD, key->bytes); // it begins with the seed
}

void net_log_public_key_print(const net_log_public_key* key, char text[NET_LOG_KEY_TEXT_BYTES]) {
    print(text, PUBLIC_WORD, key->bytes);
}

bool net_log_key_parse(const char* text, size_t size, net_log_secret_key* key) {
    uint8_t seed[SEED_BYTES], public_bytes[NET_LOG_PUBLIC_KEY_BYTES];
    const bool is_right = sodium_init() >= 0 && parse(text, size, SECRET_WORD, seed);
    if (is_right) (void)crypto_sign_seed_keypair(public_bytes, key->bytes, seed);
    sodium_memzero(seed, sizeof seed);
    return is_right;
}

bool net_log_public_key_parse(const char* text, size_t size, net_log_public_key* key) {
    return sodium_init() >= 0 && parse(text, size, PUBLIC_WORD, key->bytes);
}

// ---- a log ----

// Numbers of a file's blocks.
typedef struct extent {
    uint64_t first, next; // ordinals: of its first block after the header, and after its last one
    ecs_tick last_tick;   // the last one that ends in it
} extent;

static extent measure(net_log_reader* reader, const net_log_set_file* file, uint64_t before) {
    extent found = {.first = before, .next = before};
    const uint64_t end = file->base + file->bytes;
    net_log_block block, data = {.type = 0};
    uint64_t data_at = 0;
    bool has_first = false;
    for (uint64_t at = file->base + NET_LOG_PROLOGUE_BYTES;
         at < end && net_log_read_block(reader, at, &block); at = net_log_block_end(at, &block)) {
        if (block.type == NET_LOG_BLOCK_HEADER) continue;
        if (!has_first) found.first = block.ordinal;
        has_first = true;
        found.next = block.ordinal + 1;
        if (block.type != NET_LOG_BLOCK_DATA) continue;
        data = block;
        data_at = at;
    }
    // What is between two ticks has the tick after it, which may never have come.
    if (data_at > 0 && net_log_read_payload(reader, data_at, &data, reader->payload)) {
        net_log_order order = net_log_order_of(&data, reader->payload);
        (void)!net_log_check_records(&data, reader->payload, &order);
        found.last_tick = order.last_end;
    }
    return found;
}

void net_log_reader_check_signed(net_log_reader* reader, const net_log_public_key* key,
                                 const net_log_signed* before, net_log_signed* found) {
    BASE_ASSERT(reader && key && found && found != before);
    net_log_index index = {.keyframes = reader->keyframes_of_file};
    *found = (net_log_signed){.is_signed = true, .first_block = 1};
    if (before) memcpy(found->total, before->total, sizeof found->total);
    found->is_part = !before && reader->info.first_tick > 1;
    for (uint32_t i = 0; i < reader->set.count && found->is_signed; i++) {
        const net_log_set_file* file = &reader->set.files[i];
        net_log_chain chain;
        index.signature_bytes = 0;
        bool is_whole = file->bytes >= NET_LOG_PROLOGUE_BYTES &&
                        net_log_file_chain(reader, file, &index, &chain) &&
                        memcmp(chain.total, index.chain.total, sizeof chain.total) == 0;
        const bool follows =
            is_whole && memcmp(index.chain.before, found->total, sizeof found->total) == 0;
        // A log without its first segments begins with any total.
        if (i == 0 && reader->is_part)
            found->is_part = found->is_part || !follows;
        else
            is_whole = follows;
        const extent of = measure(reader, file, found->first_block);
        found->has_signature = found->has_signature || index.signature_bytes > 0;
        found->is_signed = is_whole && is_signature(&index, key);
        found->is_wrong = !found->is_signed && index.signature_bytes > 0;
        found->first_block = found->is_signed ? of.next : of.first;
        if (!found->is_signed) continue;
        found->last_tick = of.last_tick;
        memcpy(found->total, index.chain.total, sizeof found->total);
    }
}
