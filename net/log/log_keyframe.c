// SPDX-License-Identifier: MIT
// A save may be longer than a block, so each block has a part of it. Every part says how many there
// are and how long the save is: a reader takes memory only for parts that are there.
#include "log/log_keyframe.h"

#include "base/assert.h"

#include <string.h>

uint32_t net_log_part_write(const net_log_part* part, uint8_t* target) {
    BASE_ASSERT(part->number >= 1 && part->number <= part->count);
    BASE_ASSERT(part->size >= 1 && part->size <= NET_LOG_PART_BYTES_MAX);
    uint32_t head_bytes = base_varint_bytes(part->number) + base_varint_bytes(part->count) +
                          base_varint_bytes(part->save_bytes);
    uint8_t* to = target;
    to += base_varint_put(to, head_bytes + part->size);
    to += base_varint_put(to, part->number);
    to += base_varint_put(to, part->count);
    to += base_varint_put(to, part->save_bytes);
    memcpy(to, part->data, part->size);
    return (uint32_t)(to - target) + (uint32_t)part->size;
}

bool net_log_part_read(net_log_part* part, const uint8_t* payload, size_t size) {
    base_reader bytes = base_reader_make(payload, size);
    uint64_t record_bytes = base_reader_varint(&bytes);
    if (bytes.failed || record_bytes != base_reader_left(&bytes)) return false;
    uint64_t number = base_reader_varint(&bytes);
    uint64_t count = base_reader_varint(&bytes);
    *part = (net_log_part){.save_bytes = base_reader_varint(&bytes)};
    if (bytes.failed || number < 1 || number > count || part->save_bytes < 1 ||
        part->save_bytes > NET_LOG_KEYFRAME_BYTES_MAX ||
        count != net_log_part_count(part->save_bytes))
        return false;
    part->number = (uint32_t)number;
    part->count = (uint32_t)count;
    uint64_t before = (number - 1) * NET_LOG_PART_BYTES_MAX;
    uint64_t rest = part->save_bytes - before;
    part->size = rest < NET_LOG_PART_BYTES_MAX ? (size_t)rest : NET_LOG_PART_BYTES_MAX;
    if (base_reader_left(&bytes) != part->size) return false;
    part->data = payload + bytes.offset;
    return true;
}
