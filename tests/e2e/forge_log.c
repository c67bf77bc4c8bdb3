// SPDX-License-Identifier: MIT
// forge_log FROM TO N: a copy of a log of one file in which the last byte of the Nth input is
// another one. Checksums, running hash and index are right again; the signature stays what it was.
// forge_log FROM TO OLD=NEW: the same with a text of the header, of equal length.
//
//     forged block=N tick=T
#include "base/bytes.h"
#include "base/report.h"
#include "log/log_block.h"
#include "log/log_record.h"
#include "log/log_segment.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct forger {
    const char* text; // OLD=NEW; NULL: an input changes
    uint64_t left;    // inputs in front of the one that changes
    bool is_done;
    net_log_packer packer;
    net_log_chain chain;
    net_log_index index;
    base_bytes bytes; // of the copy
    uint64_t grown;   // where what is behind the change lies later, modulo 2^64
    uint64_t changed; // offset of the changed block in the old file
} forger;

static uint8_t payload[NET_LOG_BLOCK_BYTES_MAX];
static net_log_keyframe keyframes[NET_LOG_INDEX_KEYFRAMES_MAX];

static int fail(const char* text) {
    fprintf(stderr, "forge_log: %s\n", text);
    return 1;
}

static bool read_file(const char* name, base_bytes* bytes) {
    char part[1 << 16];
    FILE* file = fopen(name, "rb");
    if (!file) return false;
    for (size_t got; (got = fread(part, 1, sizeof part, file)) > 0;)
        base_bytes_write(bytes, part, got);
    return fclose(file) == 0;
}

static bool write_file(const char* name, const base_bytes* bytes) {
    FILE* file = fopen(name, "wb");
    if (!file) return false;
    const bool is_whole = fwrite(bytes->data, 1, bytes->size, file) == bytes->size;
    return fclose(file) == 0 && is_whole;
}

// @return whether the input is in this block.
static bool change_input(forger* self, const net_log_block* block) {
    base_reader reader = base_reader_make(payload, block->unpacked_bytes);
    while (!self->is_done && base_reader_left(&reader) > 0) {
        size_t size, offset = 0;
        net_log_record record;
        net_log_item item;
        const uint8_t* data = net_log_next_span(&reader, &size);
        if (!data || !net_log_record_read(&record, data, size)) return false;
        while (!self->is_done && net_log_item_next(&record, NET_LOG_ITEM_INPUT, &offset, &item)) {
            if (item.payload_bytes == 0 || self->left-- > 0) continue;
            payload[item.payload - payload + item.payload_bytes - 1] ^= 1;
            self->is_done = true;
            printf("forged block=%" PRIu64 " tick=%" PRIu64 "\n", block->ordinal, record.tick);
        }
    }
    return self->is_done;
}

static bool change_text(forger* self, const net_log_block* block) {
    const size_t size = strlen(self->text) / 2;
    for (uint8_t* at = payload; at + size <= payload + block->unpacked_bytes; at++) {
        if (memcmp(at, self->text, size) != 0) continue;
        memcpy(at, self->text + size + 1, size);
        return self->is_done = true;
    }
    return false;
}

static bool write_index(forger* self, net_log_block* block, uint64_t at) {
    net_log_index* index = &self->index;
    index->keyframes = keyframes;
    if (!net_log_index_read(index, payload, block->unpacked_bytes, at)) return false;
    net_log_chain_end(&self->chain);
    index->chain = self->chain;
    if (index->last_data > self->changed) index->last_data += self->grown;
    for (uint32_t i = 0; i < index->keyframe_count; i++)
        if (keyframes[i].offset > self->changed) keyframes[i].offset += self->grown;
    const uint32_t size = net_log_index_write(index, payload);
    block->unpacked_bytes = size;
    base_bytes_write(&self->bytes, self->packer.stored,
                     net_log_packer_pack(&self->packer, block, payload, size));
    return size > 0;
}

static bool forge_block(forger* self, const base_bytes* log, uint64_t at, net_log_block* block) {
    const uint8_t* whole = log->data + at;
    size_t size = NET_LOG_BLOCK_HEADER_BYTES + block->stored_bytes;
    const size_t before = size;
    if (!net_log_block_unpack(block, whole + NET_LOG_BLOCK_HEADER_BYTES, self->packer.columns,
                              payload))
        return false;
    if (block->type == NET_LOG_BLOCK_INDEX) return write_index(self, block, at);
    const bool is_its = block->type == (self->text ? NET_LOG_BLOCK_HEADER : NET_LOG_BLOCK_DATA);
    if (is_its && !self->is_done &&
        (self->text ? change_text(self, block) : change_input(self, block))) {
        size = net_log_packer_pack(&self->packer, block, payload, block->unpacked_bytes);
        whole = self->packer.stored;
        self->grown = size - before;
        self->changed = at;
    }
    net_log_chain_add(&self->chain, whole, size, NULL, 0);
    base_bytes_write(&self->bytes, whole, size);
    return true;
}

int main(int argc, char** argv) {
    static forger self = {.changed = UINT64_MAX};
    base_bytes log;
    if (argc != 4) return fail("FROM TO N");
    if (strchr(argv[3], '=')) self.text = argv[3];
    self.left = strtoull(argv[3], NULL, 10);
    base_bytes_init(&log, NULL);
    base_bytes_init(&self.bytes, NULL);
    if (!read_file(argv[1], &log) || log.size < NET_LOG_PROLOGUE_BYTES)
        return fail("the log cannot be read");
    net_log_packer_init(&self.packer, NULL);
    base_bytes_write(&self.bytes, log.data, NET_LOG_PROLOGUE_BYTES);
    net_log_block block;
    for (uint64_t at = NET_LOG_PROLOGUE_BYTES, next; at < log.size; at = next) {
        if (!net_log_block_header_read(&block, log.data + at)) return fail("it has no block there");
        next = at + NET_LOG_BLOCK_HEADER_BYTES + block.stored_bytes;
        if (!forge_block(&self, &log, at, &block)) return fail("a block cannot be read");
    }
    if (!self.is_done) return fail("it has fewer inputs");
    if (!write_file(argv[2], &self.bytes)) return fail("no room for the copy");
    net_log_packer_deinit(&self.packer);
    base_bytes_deinit(&self.bytes);
    base_bytes_deinit(&log);
    return 0;
}
