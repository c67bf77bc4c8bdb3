// SPDX-License-Identifier: MIT
/// Protocol Buffers by hand, for records on the simulation's thread: into memory that is there
/// already, without a tree of messages. The generated code of log.proto reads the same bytes.
#pragma once

#include "base/bytes.h"

#include <string.h>

typedef struct net_log_wire {
    uint8_t* data;
    size_t size;
    size_t capacity;
    bool failed; ///< something did not fit; what was written before it is whole
} net_log_wire;

static inline uint32_t net_log_varint_bytes(uint64_t value) {
    uint32_t bytes = 1;
    for (; value >= 128; value >>= 7)
        bytes++;
    return bytes;
}

static inline void net_log_varint_put(uint8_t* target, uint64_t value) {
    for (; value >= 128; value >>= 7)
        *target++ = (uint8_t)(value | 128);
    *target = (uint8_t)value;
}

static inline uint8_t* net_log_wire_extend(net_log_wire* wire, size_t size) {
    if (wire->failed || size > wire->capacity - wire->size) {
        wire->failed = true;
        return NULL;
    }
    uint8_t* place = wire->data + wire->size;
    wire->size += size;
    return place;
}

static inline void net_log_wire_varint(net_log_wire* wire, uint64_t value) {
    uint8_t* place = net_log_wire_extend(wire, net_log_varint_bytes(value));
    if (place) net_log_varint_put(place, value);
}

static inline void net_log_wire_raw(net_log_wire* wire, uint64_t value, uint32_t bytes) {
    uint8_t* place = net_log_wire_extend(wire, bytes);
    for (uint32_t i = 0; place && i < bytes; i++)
        place[i] = (uint8_t)(value >> (8 * i));
}

/// A varint field; zero is left out, as proto3 does.
static inline void net_log_wire_number(net_log_wire* wire, uint32_t field, uint64_t value) {
    if (value == 0) return;
    net_log_wire_varint(wire, field << 3);
    net_log_wire_varint(wire, value);
}

static inline void net_log_wire_fixed64(net_log_wire* wire, uint32_t field, uint64_t value) {
    if (value == 0) return;
    net_log_wire_varint(wire, field << 3 | 1);
    net_log_wire_raw(wire, value, 8);
}

static inline void net_log_wire_double(net_log_wire* wire, uint32_t field, double value) {
    uint64_t bits;
    memcpy(&bits, &value, sizeof bits);
    net_log_wire_fixed64(wire, field, bits);
}

/// A length-delimited field, written even when empty.
static inline void net_log_wire_bytes(net_log_wire* wire, uint32_t field, const void* data,
                                      size_t size) {
    net_log_wire_varint(wire, field << 3 | 2);
    net_log_wire_varint(wire, size);
    uint8_t* place = net_log_wire_extend(wire, size);
    if (place && size > 0) memcpy(place, data, size);
}

static inline void net_log_wire_text(net_log_wire* wire, uint32_t field, const char* text) {
    if (text[0] != 0) net_log_wire_bytes(wire, field, text, strlen(text));
}

/// Make what was written since `mark` (the size at that time) a length-delimited field.
static inline void net_log_wire_close(net_log_wire* wire, size_t mark, uint32_t field) {
    size_t size = wire->size - mark;
    uint32_t tag_bytes = net_log_varint_bytes(field << 3);
    size_t head = tag_bytes + net_log_varint_bytes(size);
    if (!net_log_wire_extend(wire, head)) return;
    uint8_t* place = wire->data + mark;
    memmove(place + head, place, size);
    net_log_varint_put(place, field << 3 | 2);
    net_log_varint_put(place + tag_bytes, size);
}

/// One field as read. `number` of varint, fixed64 and fixed32; `data` borrowed for lengths.
typedef struct net_log_field {
    uint32_t id;
    uint32_t type; ///< 0 varint, 1 fixed64, 2 length-delimited, 5 fixed32
    uint64_t number;
    const uint8_t* data;
    size_t size;
} net_log_field;

/// Next field; false at the end and on damage (reader->failed).
static inline bool net_log_field_next(base_reader* reader, net_log_field* field) {
    if (base_reader_left(reader) == 0) return false;
    uint64_t tag = base_reader_varint(reader);
    *field = (net_log_field){.id = (uint32_t)(tag >> 3), .type = (uint32_t)(tag & 7)};
    if (tag >> 32 != 0 || field->id == 0) reader->failed = true;
    if (reader->failed) return false;
    if (field->type == 0) {
        field->number = base_reader_varint(reader);
    } else if (field->type == 1) {
        field->number = base_reader_u64(reader);
    } else if (field->type == 5) {
        field->number = base_reader_u32(reader);
    } else if (field->type == 2) {
        uint64_t size = base_reader_varint(reader);
        if (reader->failed || size > base_reader_left(reader)) {
            reader->failed = true;
            return false;
        }
        field->size = (size_t)size;
        field->data = base_reader_skip(reader, field->size);
    } else {
        reader->failed = true;
    }
    return !reader->failed;
}
