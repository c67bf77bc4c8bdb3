// SPDX-License-Identifier: MIT
// Blocks stand alone: a reader that lost its place finds the next one by its sync bytes, trusts the
// lengths only after the header's checksum held, and unpacks into a buffer of fixed size. Every
// byte of a header is under its checksum, every stored byte under the other one.
#include "log/log_block.h"

#include "base/assert.h"
#include "base/hash.h"

#include <string.h>
#include <zstd.h>

enum {
    VERSION = 3,       // of a log
    BLOCK_VERSION = 1, // of the header of a block
    ZSTD_LEVEL = 6,
    HEADER_CRC_AT = 68,
};

static const uint8_t magic[8] = {'S', 'H', 'O', 'A', 'L', 'L', 'O', 'G'};
static const uint8_t sync_bytes[8] = {0xF5, 0x53, 0x48, 0x4C, 0x42, 0x0D, 0x0A, 0xA7};

static void put_number(uint8_t* target, uint64_t value, uint32_t bytes) {
    for (uint32_t i = 0; i < bytes; i++)
        target[i] = (uint8_t)(value >> (8 * i));
}

static uint64_t read_number(const uint8_t* source, uint32_t bytes) {
    uint64_t value = 0;
    for (uint32_t i = 0; i < bytes; i++)
        value |= (uint64_t)source[i] << (8 * i);
    return value;
}

void net_log_prologue_write(uint8_t target[NET_LOG_PROLOGUE_BYTES]) {
    memcpy(target, magic, sizeof magic);
    put_number(target + 8, VERSION, 4);
    put_number(target + 12, base_crc32c(0, target, 12), 4);
}

net_result net_log_prologue_check(const uint8_t source[NET_LOG_PROLOGUE_BYTES], uint32_t* version) {
    *version = (uint32_t)read_number(source + 8, 4);
    if (memcmp(source, magic, sizeof magic) != 0) return NET_ERR_DAMAGED;
    if (read_number(source + 12, 4) != base_crc32c(0, source, 12)) return NET_ERR_DAMAGED;
    return *version == VERSION ? NET_OK : NET_ERR_MALFORMED;
}

void net_log_block_header_write(const net_log_block* block,
                                uint8_t target[NET_LOG_BLOCK_HEADER_BYTES]) {
    memcpy(target, sync_bytes, sizeof sync_bytes);
    put_number(target + 8, BLOCK_VERSION, 1);
    put_number(target + 9, block->flags, 1);
    put_number(target + 10, block->type, 2);
    put_number(target + 12, block->stored_bytes, 4);
    put_number(target + 16, block->unpacked_bytes, 4);
    put_number(target + 20, block->record_count, 4);
    put_number(target + 24, block->ordinal, 8);
    put_number(target + 32, block->first_record, 8);
    put_number(target + 40, block->first_tick, 8);
    put_number(target + 48, block->last_tick, 8);
    put_number(target + 56, block->identity, 8);
    put_number(target + 64, block->stored_crc, 4);
    put_number(target + HEADER_CRC_AT, base_crc32c(0, target, HEADER_CRC_AT), 4);
}

static bool is_ratio_right(uint64_t stored_bytes, uint64_t unpacked_bytes) {
    return unpacked_bytes <= NET_LOG_FREE_BYTES + NET_LOG_RATIO_MAX * stored_bytes;
}

bool net_log_block_header_read(net_log_block* block,
                               const uint8_t source[NET_LOG_BLOCK_HEADER_BYTES]) {
    if (memcmp(source, sync_bytes, sizeof sync_bytes) != 0 || source[8] != BLOCK_VERSION)
        return false;
    if (read_number(source + HEADER_CRC_AT, 4) != base_crc32c(0, source, HEADER_CRC_AT))
        return false;
    *block = (net_log_block){
        .flags = source[9],
        .type = (uint16_t)read_number(source + 10, 2),
        .stored_bytes = (uint32_t)read_number(source + 12, 4),
        .unpacked_bytes = (uint32_t)read_number(source + 16, 4),
        .record_count = (uint32_t)read_number(source + 20, 4),
        .ordinal = read_number(source + 24, 8),
        .first_record = read_number(source + 32, 8),
        .first_tick = read_number(source + 40, 8),
        .last_tick = read_number(source + 48, 8),
        .identity = read_number(source + 56, 8),
        .stored_crc = (uint32_t)read_number(source + 64, 4),
    };
    if (block->stored_bytes < 1 || block->stored_bytes > NET_LOG_BLOCK_BYTES_MAX) return false;
    if (block->unpacked_bytes < 1 || block->unpacked_bytes > NET_LOG_BLOCK_BYTES_MAX) return false;
    if (block->record_count < 1) return false;
    if (block->flags == 0) return block->stored_bytes == block->unpacked_bytes;
    return block->flags == NET_LOG_FLAG_ZSTD &&
           is_ratio_right(block->stored_bytes, block->unpacked_bytes);
}

void net_log_packer_init(net_log_packer* packer, const base_allocator* allocator) {
    *packer = (net_log_packer){
        .allocator = allocator,
        .columns = base_allocate(allocator, NET_LOG_COLUMNS_BYTES_MAX),
        .stored = base_allocate(allocator, NET_LOG_BLOCK_HEADER_BYTES + NET_LOG_BLOCK_BYTES_MAX)};
}

void net_log_packer_rest(net_log_packer* packer) {
    ZSTD_freeCCtx(packer->zstd);
    packer->zstd = NULL;
}

void net_log_packer_deinit(net_log_packer* packer) {
    net_log_packer_rest(packer);
    base_release(packer->allocator, packer->columns, NET_LOG_COLUMNS_BYTES_MAX);
    base_release(packer->allocator, packer->stored,
                 NET_LOG_BLOCK_HEADER_BYTES + NET_LOG_BLOCK_BYTES_MAX);
    *packer = (net_log_packer){0};
}

size_t net_log_packer_pack(net_log_packer* packer, net_log_block* block, const uint8_t* payload,
                           uint32_t payload_bytes) {
    BASE_ASSERT(payload_bytes >= 1 && payload_bytes <= NET_LOG_BLOCK_BYTES_MAX);
    uint8_t* stored = packer->stored + NET_LOG_BLOCK_HEADER_BYTES;
    const bool has_columns = block->type == NET_LOG_BLOCK_DATA;
    const uint8_t* source = has_columns ? packer->columns : payload;
    const uint32_t source_bytes =
        has_columns ? net_log_columns_split(payload, payload_bytes, packer->columns)
                    : payload_bytes;
    if (!packer->zstd) packer->zstd = ZSTD_createCCtx();
    // As base_allocate ends a program without memory.
    if (!packer->zstd) (void)!base_allocate(NULL, SIZE_MAX);
    // Room for one byte less: what zstd does not make smaller is an error here, and stored as it
    // is.
    size_t packed = ZSTD_compressCCtx(packer->zstd, stored, payload_bytes - 1, source, source_bytes,
                                      ZSTD_LEVEL);
    bool is_packed =
        source_bytes > 0 && !ZSTD_isError(packed) && is_ratio_right(packed, payload_bytes);
    if (!is_packed) {
        memcpy(stored, payload, payload_bytes);
        packed = payload_bytes;
    }
    block->flags = is_packed ? NET_LOG_FLAG_ZSTD : 0;
    block->stored_bytes = (uint32_t)packed;
    block->unpacked_bytes = payload_bytes;
    block->stored_crc = base_crc32c(0, stored, packed);
    net_log_block_header_write(block, packer->stored);
    return NET_LOG_BLOCK_HEADER_BYTES + packed;
}

bool net_log_block_unpack(const net_log_block* block, const uint8_t* stored, uint8_t* columns,
                          uint8_t* target) {
    BASE_ASSERT(block->unpacked_bytes <= NET_LOG_BLOCK_BYTES_MAX);
    if (base_crc32c(0, stored, block->stored_bytes) != block->stored_crc) return false;
    if (block->flags == 0) {
        memcpy(target, stored, block->stored_bytes);
        return true;
    }
    const bool has_columns = block->type == NET_LOG_BLOCK_DATA;
    // Decoding in one call needs no window: zstd reads back from what it wrote.
    size_t unpacked =
        ZSTD_decompress(has_columns ? columns : target,
                        has_columns ? NET_LOG_COLUMNS_BYTES_MAX : block->unpacked_bytes, stored,
                        block->stored_bytes);
    if (ZSTD_isError(unpacked)) return false;
    return has_columns ? net_log_columns_join(columns, unpacked, target, block->unpacked_bytes)
                       : unpacked == block->unpacked_bytes;
}
