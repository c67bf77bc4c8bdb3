// SPDX-License-Identifier: MIT
// Ticks and offsets rise, so they are written as differences. An index only says where to look:
// each keyframe is checked when it is read, and a log without an index is as good as one with it.
#include "log/log_index.h"

#include "base/assert.h"
#include "base/bytes.h"

#include <string.h>

enum {
    KEYFRAME_BYTES_MAX = 20,
    HEAD_BYTES_MAX = 40,
    CHAIN_BYTES_MAX = 2 * NET_LOG_HASH_BYTES + 2 + NET_LOG_SIGNATURE_BYTES_MAX,
};

_Static_assert(NET_LOG_INDEX_KEYFRAMES_MAX* KEYFRAME_BYTES_MAX + HEAD_BYTES_MAX + CHAIN_BYTES_MAX <=
                   NET_LOG_BLOCK_BYTES_MAX / 2,
               "an index is one record");

void net_log_index_add(net_log_index* index, ecs_tick tick, uint64_t offset) {
    if (index->keyframe_count < NET_LOG_INDEX_KEYFRAMES_MAX)
        index->keyframes[index->keyframe_count] = (net_log_keyframe){tick, offset};
    index->keyframe_count += index->keyframe_count <= NET_LOG_INDEX_KEYFRAMES_MAX;
}

static uint32_t write_body(const net_log_index* index, uint8_t* target) {
    uint8_t* to = target;
    net_log_keyframe last = {0, 0};
    to += base_varint_put(to, index->block_count);
    to += base_varint_put(to, index->last_data);
    to += base_varint_put(to, index->keyframe_count);
    for (uint32_t i = 0; i < index->keyframe_count; i++) {
        const net_log_keyframe* keyframe = &index->keyframes[i];
        to += base_varint_put(to, keyframe->tick - last.tick);
        to += base_varint_put(to, keyframe->offset - last.offset);
        last = *keyframe;
    }
    memcpy(to, index->chain.before, NET_LOG_HASH_BYTES);
    memcpy(to + NET_LOG_HASH_BYTES, index->chain.total, NET_LOG_HASH_BYTES);
    to += 2 * NET_LOG_HASH_BYTES;
    *to++ = 0; // it is not signed
    return (uint32_t)(to - target);
}

uint32_t net_log_index_write(const net_log_index* index, uint8_t* target) {
    if (index->keyframe_count > NET_LOG_INDEX_KEYFRAMES_MAX) return 0;
    // The length in front of the body takes at most 5 bytes.
    uint32_t body_bytes = write_body(index, target + 5);
    uint32_t length_bytes = base_varint_put(target, body_bytes);
    memmove(target + length_bytes, target + 5, body_bytes);
    return length_bytes + body_bytes;
}

// Logs of before have none.
static bool read_chain(net_log_index* index, base_reader* bytes) {
    index->has_chain = base_reader_left(bytes) > 0;
    if (!index->has_chain) return true;
    bool is_read = base_reader_read(bytes, index->chain.before, NET_LOG_HASH_BYTES) &&
                   base_reader_read(bytes, index->chain.total, NET_LOG_HASH_BYTES);
    uint64_t signature_bytes = base_reader_varint(bytes);
    return is_read && !bytes->failed && signature_bytes <= NET_LOG_SIGNATURE_BYTES_MAX &&
           base_reader_left(bytes) == signature_bytes;
}

bool net_log_index_read(net_log_index* index, const uint8_t* payload, size_t size, uint64_t end) {
    BASE_ASSERT(index->keyframes);
    base_reader bytes = base_reader_make(payload, size);
    uint64_t record_bytes = base_reader_varint(&bytes);
    if (bytes.failed || record_bytes != base_reader_left(&bytes)) return false;
    index->block_count = base_reader_varint(&bytes);
    index->last_data = base_reader_varint(&bytes);
    uint64_t count = base_reader_varint(&bytes);
    if (bytes.failed || count > NET_LOG_INDEX_KEYFRAMES_MAX || index->last_data >= end)
        return false;
    net_log_keyframe last = {0, 0};
    for (uint64_t i = 0; i < count; i++) {
        uint64_t ticks = base_reader_varint(&bytes);
        uint64_t distance = base_reader_varint(&bytes);
        if (bytes.failed || ticks == 0 || ticks > UINT64_MAX - last.tick || distance == 0 ||
            distance >= end - last.offset)
            return false;
        last = (net_log_keyframe){last.tick + ticks, last.offset + distance};
        index->keyframes[i] = last;
    }
    index->keyframe_count = (uint32_t)count;
    return read_chain(index, &bytes);
}
