// SPDX-License-Identifier: MIT
// One short hash for each block, so that nothing but 32 bytes has to be kept between two of them.
#include "log/log_chain.h"

#include "log/log_read_internal.h"

#include <sodium.h>

#include <inttypes.h>
#include <string.h>

static void hash(uint8_t target[NET_LOG_HASH_BYTES], const uint8_t before[NET_LOG_HASH_BYTES],
                 const void* data, size_t size, const void* rest, size_t rest_size) {
    crypto_generichash_state state;
    (void)crypto_generichash_init(&state, NULL, 0, NET_LOG_HASH_BYTES);
    (void)crypto_generichash_update(&state, before, NET_LOG_HASH_BYTES);
    (void)crypto_generichash_update(&state, data, size);
    (void)crypto_generichash_update(&state, rest, rest_size);
    (void)crypto_generichash_final(&state, target, NET_LOG_HASH_BYTES);
}

void net_log_chain_add(net_log_chain* chain, const void* data, size_t size, const void* rest,
                       size_t rest_size) {
    hash(chain->blocks, chain->blocks, data, size, rest, rest_size);
}

void net_log_chain_end(net_log_chain* chain) {
    hash(chain->total, chain->before, chain->blocks, sizeof chain->blocks, NULL, 0);
}

// ---- reading ----

// Of the blocks of a file. @return false: they are not all whole, or no index with a chain ends it.
static bool hash_file(net_log_reader* reader, const net_log_set_file* file, net_log_chain* chain,
                      net_log_index* index) {
    const uint64_t end = file->base + file->bytes;
    net_log_block block = {.type = NET_LOG_BLOCK_DATA};
    uint64_t at = file->base + NET_LOG_PROLOGUE_BYTES;
    for (uint64_t next; at < end; at = next) {
        uint8_t header[NET_LOG_BLOCK_HEADER_BYTES];
        if (!net_log_read_block(reader, at, &block)) return false;
        next = net_log_block_end(at, &block);
        // One further in front came with a copy.
        if (block.type == NET_LOG_BLOCK_INDEX && next == end) break;
        if (block.type == NET_LOG_BLOCK_INDEX) continue;
        if (!net_log_set_read(&reader->set, at, header, sizeof header) ||
            !net_log_set_read(&reader->set, at + sizeof header, reader->stored, block.stored_bytes))
            return false;
        net_log_chain_add(chain, header, sizeof header, reader->stored, block.stored_bytes);
    }
    return at < end && net_log_read_payload(reader, at, &block, reader->payload) &&
           net_log_index_read(index, reader->payload, block.unpacked_bytes, at - file->base) &&
           index->has_chain;
}

// What a file is behind. Without the segment before, only the file knows it.
typedef struct running {
    uint8_t total[NET_LOG_HASH_BYTES];
    bool is_known;
    bool has_all; // each file has one
} running;

static bool check_file(net_log_reader* reader, const net_log_set_file* file, net_log_index* index,
                       running* run) {
    net_log_chain chain = {.before = {0}};
    if (!hash_file(reader, file, &chain, index)) {
        run->is_known = run->has_all = false;
        return true;
    }
    memcpy(chain.before, index->chain.before, sizeof chain.before);
    net_log_chain_end(&chain);
    bool is_right = memcmp(chain.total, index->chain.total, sizeof chain.total) == 0 &&
                    (!run->is_known || memcmp(chain.before, run->total, sizeof run->total) == 0);
    run->is_known = true;
    memcpy(run->total, chain.total, sizeof run->total);
    return is_right;
}

bool net_log_chain_check(net_log_reader* reader, bool* has_all) {
    const size_t bytes = NET_LOG_INDEX_KEYFRAMES_MAX * sizeof(net_log_keyframe);
    net_log_index index = {.keyframes = base_allocate(reader->allocator, bytes)};
    running run = {.is_known = !reader->is_part, .has_all = index.keyframes != NULL};
    bool is_right = true;
    for (uint32_t i = 0; i < reader->set.count && index.keyframes && is_right; i++) {
        const net_log_set_file* file = &reader->set.files[i];
        const bool follows = i == 0 || file->number == 0 || file[-1].number + 1 == file->number;
        run.is_known = run.is_known && follows;
        if (file->bytes < NET_LOG_PROLOGUE_BYTES) continue;
        is_right = check_file(reader, file, &index, &run);
        if (is_right) continue;
        base_report(&reader->reporter, reader->file, 0,
                    "damaged: the running hash before byte %" PRIu64
                    " is not that of its blocks: some were changed or exchanged",
                    file->base + file->bytes);
    }
    base_release(reader->allocator, index.keyframes, bytes);
    *has_all = is_right && run.has_all;
    return is_right;
}
