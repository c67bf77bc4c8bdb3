// SPDX-License-Identifier: MIT
// The folder is the list of segments: nothing else could disagree with it.
#include "log/log_segment.h"

#include "base/assert.h"
#include "base/text.h"

#include <dirent.h>
#include <errno.h>
#include <sodium.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define MARK ".seg"

bool net_log_segment_name(char* target, size_t target_bytes, const char* log_file,
                          uint32_t number) {
    return base_text_format(target, target_bytes, "%s" MARK "%04u", log_file, (unsigned)number);
}

bool net_log_read_at(int fd, uint64_t offset, void* target, size_t size) {
    for (size_t done = 0; done < size;) {
        ssize_t got = pread(fd, (uint8_t*)target + done, size - done, (off_t)(offset + done));
        if (got < 0 && errno == EINTR) continue;
        if (got <= 0) return false;
        done += (size_t)got;
    }
    return true;
}

bool net_log_stored_name(char* target, size_t target_bytes, const char* segment) {
    return base_text_format(target, target_bytes, "%s.stored", segment);
}

uint32_t net_log_segment_number(const char* ending) {
    enum { DIGITS_MIN = 4 };
    uint64_t number;
    if (strncmp(ending, MARK, strlen(MARK)) != 0) return 0;
    const char* digits = ending + strlen(MARK);
    // One spelling a number: five digits do not begin with 0.
    size_t length = strlen(digits);
    if (length < DIGITS_MIN || (length > DIGITS_MIN && digits[0] == '0')) return 0;
    if (!base_text_parse_u64(digits, &number) || number > NET_LOG_SEGMENTS_MAX) return 0;
    return (uint32_t)number;
}

static int compare(const void* a, const void* b) {
    uint32_t left = *(const uint32_t*)a, right = *(const uint32_t*)b;
    return left < right ? -1 : left > right;
}

void net_log_segment_list(const base_allocator* allocator, const char* log_file, uint32_t** numbers,
                          uint32_t* count, uint32_t* capacity) {
    char folder[4096];
    const char* slash = strrchr(log_file, '/');
    const char* name = slash ? slash + 1 : log_file;
    *numbers = NULL;
    *count = *capacity = 0;
    if (!base_text_copy(folder, sizeof folder, slash ? log_file : ".")) return;
    if (slash) folder[slash - log_file + 1] = 0;
    DIR* entries = opendir(folder);
    if (!entries) return;
    for (struct dirent* entry; (entry = readdir(entries)) != NULL;) {
        const bool is_its = strncmp(entry->d_name, name, strlen(name)) == 0;
        uint32_t number = is_its ? net_log_segment_number(entry->d_name + strlen(name)) : 0;
        if (number == 0) continue;
        BASE_ARRAY_RESERVE(allocator, *numbers, *capacity, *count + 1);
        (*numbers)[(*count)++] = number;
    }
    closedir(entries);
    if (*count > 0) qsort(*numbers, *count, sizeof **numbers, compare);
}

// ---- the index ----

// Ticks and offsets rise, so they are written as differences. An index only says where to look:
// each keyframe is checked when it is read, and a log without an index is as good as one with it.

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
    to += base_varint_put(to, index->signature_bytes);
    if (index->signature_bytes > 0) memcpy(to, index->signature, index->signature_bytes);
    return (uint32_t)(to - target) + index->signature_bytes;
}

uint32_t net_log_index_write(const net_log_index* index, uint8_t* target) {
    if (index->keyframe_count > NET_LOG_INDEX_KEYFRAMES_MAX) return 0;
    // The length before the body takes at most 5 bytes.
    uint32_t body_bytes = write_body(index, target + 5);
    uint32_t length_bytes = base_varint_put(target, body_bytes);
    memmove(target + length_bytes, target + 5, body_bytes);
    return length_bytes + body_bytes;
}

static bool read_chain(net_log_index* index, base_reader* bytes) {
    index->signature_bytes = 0;
    bool is_read = base_reader_read(bytes, index->chain.before, NET_LOG_HASH_BYTES) &&
                   base_reader_read(bytes, index->chain.total, NET_LOG_HASH_BYTES);
    uint64_t signature_bytes = base_reader_varint(bytes);
    if (!is_read || bytes->failed || signature_bytes > NET_LOG_SIGNATURE_BYTES_MAX ||
        base_reader_left(bytes) != signature_bytes)
        return false;
    index->signature_bytes = (uint32_t)signature_bytes;
    const size_t kept = signature_bytes < sizeof index->signature ? (size_t)signature_bytes
                                                                  : sizeof index->signature;
    return base_reader_read(bytes, index->signature, kept);
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

// ---- parts of a keyframe ----

// A save may be longer than a block, so each block has a part of it. Every part says how many there
// are and how long the save is: a reader takes memory only for parts that are there.

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

// ---- the running hash ----

// One short hash for each block, so that nothing but 32 bytes has to be kept between two of them.

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
