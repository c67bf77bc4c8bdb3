// SPDX-License-Identifier: MIT
// A record is walked as Protocol Buffers lay it out, and each part of it goes to the column of its
// place in the record. The same walk puts them back: it meets each tag and length, which say what
// comes next, before what follows them. So no byte is added, but for the lengths of the columns,
// and records of any form come back as they were.
#include "log/log_block.h"

#include "base/bytes.h"

#include <string.h>

enum {
    SHAPE, // tags, lengths, and numbers without a column
    TICKS,
    NUMBERS,
    SEEN,
    PAYLOADS,
    HASHES,
    OTHERS, // bytes without a column
    STATES,
    COLUMN_COUNT,
};

enum { RECORD, BEGIN, END, STATE, INPUT, MESSAGE_COUNT, FIELD_COUNT = 6, VARINT_BYTES_MAX = 10 };

static const struct {
    uint8_t message; // what the field holds; 0: a value, of this column
    uint8_t column;
} places[MESSAGE_COUNT][FIELD_COUNT] = {
    [RECORD] = {[1] = {.message = BEGIN}, [2] = {.message = END}, [4] = {.message = STATE}},
    [BEGIN] = {[1] = {.column = TICKS}, [5] = {.message = INPUT}},
    [END] = {[1] = {.column = TICKS}},
    [STATE] = {[1] = {.column = TICKS}, [5] = {.column = STATES}},
    [INPUT] = {[2] = {.column = NUMBERS}, [3] = {.column = PAYLOADS}, [5] = {.column = SEEN}},
};

typedef struct mover {
    const uint8_t* payload;
    uint8_t* joined;  // the payload, when it is made of columns
    size_t at, end;   // of the payload
    uint8_t* columns; // NULL: only count
    size_t next[COLUMN_COUNT], ends[COLUMN_COUNT];
    size_t last[COLUMN_COUNT]; // where the number before it is in the payload
    size_t last_bytes[COLUMN_COUNT];
    bool failed;
} mover;

// A column has the bytes, the first one less `base`.
static inline void move_bytes(mover* self, uint32_t column, uint64_t size, uint8_t base) {
    const size_t from = self->next[column];
    if (size > self->end - self->at || size > self->ends[column] - from) self->failed = true;
    if (self->failed) return;
    if (self->columns) {
        uint8_t* target = self->joined ? self->joined + self->at : self->columns + from;
        memcpy(target, self->joined ? self->columns + from : self->payload + self->at,
               (size_t)size);
        if (base > 0) *target = (uint8_t)(*target + (self->joined ? base : -base));
    }
    self->at += (size_t)size;
    self->next[column] += (size_t)size;
}

// Each byte of a tick, a number or a moment is less that of the one before it in its column.
static uint64_t move_number(mover* self, uint32_t column) {
    const size_t first = self->at;
    size_t i = 0;
    do {
        const bool has_base = i < self->last_bytes[column];
        move_bytes(self, column, 1, has_base ? self->payload[self->last[column] + i] : 0);
    } while (!self->failed && self->payload[first + i] >= 0x80 && ++i < VARINT_BYTES_MAX);
    if (self->failed) return 0;
    if (column >= TICKS && column <= SEEN) {
        self->last[column] = first;
        self->last_bytes[column] = self->at - first;
    }
    base_reader bytes = base_reader_make(self->payload + first, self->at - first);
    return base_reader_varint(&bytes);
}

static void move_message(mover* self, uint32_t message) {
    const uint64_t size = move_number(self, SHAPE);
    if (size > self->end - self->at) self->failed = true;
    const size_t end = self->at + (size_t)size;
    while (!self->failed && self->at < end) {
        const uint64_t tag = move_number(self, SHAPE), id = tag >> 3;
        const uint32_t field = id < FIELD_COUNT ? (uint32_t)id : 0;
        const uint32_t inside = places[message][field].message, to = places[message][field].column;
        if ((tag & 7) == 0)
            (void)move_number(self, to);
        else if ((tag & 7) == 1)
            move_bytes(self, HASHES, 8, 0);
        else if ((tag & 7) == 2 && inside > 0)
            move_message(self, inside);
        else if ((tag & 7) == 2)
            move_bytes(self, to > 0 ? to : OTHERS, move_number(self, SHAPE), 0);
        else
            self->failed = true;
    }
    if (self->at != end) self->failed = true;
}

static bool move_records(mover* self) {
    while (!self->failed && self->at < self->end)
        move_message(self, RECORD);
    return !self->failed;
}

uint32_t net_log_columns_split(const uint8_t* payload, uint32_t payload_bytes, uint8_t* columns) {
    mover self = {.payload = payload, .end = payload_bytes};
    memset(self.ends, 0xFF, sizeof self.ends);
    if (!move_records(&self)) return 0;
    mover split = {.payload = payload, .end = payload_bytes, .columns = columns};
    size_t size = 0;
    for (uint32_t i = 0; i < COLUMN_COUNT; i++)
        size += base_varint_put(columns + size, self.next[i]);
    for (uint32_t i = 0; i < COLUMN_COUNT; i++) {
        split.next[i] = size;
        size += self.next[i];
        split.ends[i] = size;
    }
    return move_records(&split) ? (uint32_t)size : 0;
}

bool net_log_columns_join(uint8_t* columns, size_t columns_bytes, uint8_t* payload,
                          uint32_t payload_bytes) {
    mover self = {.payload = payload, .joined = payload, .end = payload_bytes, .columns = columns};
    base_reader reader = base_reader_make(columns, columns_bytes);
    for (uint32_t i = 0; i < COLUMN_COUNT; i++)
        self.ends[i] = (size_t)base_reader_varint(&reader);
    const size_t head = reader.offset;
    for (uint32_t i = 0; i < COLUMN_COUNT; i++) {
        self.next[i] = reader.offset;
        (void)base_reader_skip(&reader, self.ends[i]);
        self.ends[i] = reader.offset;
    }
    return !reader.failed && columns_bytes == head + payload_bytes && move_records(&self);
}
