// SPDX-License-Identifier: MIT
/// The protobuf wire format field by field: written into fixed memory, read without a tree of
/// messages.
///
/// For records on the simulation's thread, where generated code would allocate. The generated code
/// reads and writes the same bytes. Writing never allocates: what does not fit sets `failed`, and
/// the caller checks once at the end. Reading is total: it takes untrusted bytes.
#pragma once

#include "base/assert.h"
#include "base/bytes.h"

#include <string.h>

BASE_C_BEGIN

typedef struct proto_pb_writer {
    uint8_t* data;
    size_t size; ///< written so far
    size_t capacity;
    bool failed; ///< something did not fit; what was written before it is whole
} proto_pb_writer;

/// Make room for `size` bytes. @return a pointer to them; NULL when they do not fit.
static inline uint8_t* proto_pb_extend(proto_pb_writer* writer, size_t size) {
    if (writer->failed || size > writer->capacity - writer->size) {
        writer->failed = true;
        return NULL;
    }
    uint8_t* place = writer->data + writer->size;
    writer->size += size;
    return place;
}

/// A number as varint, without a field's tag.
static inline void proto_pb_write_varint(proto_pb_writer* writer, uint64_t value) {
    uint8_t* place = proto_pb_extend(writer, base_varint_bytes(value));
    if (place) base_varint_put(place, value);
}

/// The low `bytes` bytes of a number, little-endian.
static inline void proto_pb_write_raw(proto_pb_writer* writer, uint64_t value, uint32_t bytes) {
    uint8_t* place = proto_pb_extend(writer, bytes);
    for (uint32_t i = 0; place && i < bytes; i++)
        place[i] = (uint8_t)(value >> (8 * i));
}

/// A varint field. As in proto3, zero is left out.
static inline void proto_pb_write_number(proto_pb_writer* writer, uint32_t field, uint64_t value) {
    if (value == 0) return;
    proto_pb_write_varint(writer, field << 3);
    proto_pb_write_varint(writer, value);
}

/// A fixed64 field; zero is left out.
static inline void proto_pb_write_fixed64(proto_pb_writer* writer, uint32_t field, uint64_t value) {
    if (value == 0) return;
    proto_pb_write_varint(writer, field << 3 | 1);
    proto_pb_write_raw(writer, value, 8);
}

/// A double field; positive zero is left out.
static inline void proto_pb_write_double(proto_pb_writer* writer, uint32_t field, double value) {
    uint64_t bits;
    memcpy(&bits, &value, sizeof bits);
    proto_pb_write_fixed64(writer, field, bits);
}

/// A length-delimited field, written also when it is empty.
static inline void proto_pb_write_bytes(proto_pb_writer* writer, uint32_t field, const void* data,
                                        size_t size) {
    proto_pb_write_varint(writer, field << 3 | 2);
    proto_pb_write_varint(writer, size);
    uint8_t* place = proto_pb_extend(writer, size);
    if (place && size > 0) memcpy(place, data, size);
}

/// A text field; an empty text is left out.
static inline void proto_pb_write_text(proto_pb_writer* writer, uint32_t field, const char* text) {
    if (text[0] != 0) proto_pb_write_bytes(writer, field, text, strlen(text));
}

/// Turn what was written since `mark` (writer->size at that time) into a length-delimited field.
static inline void proto_pb_write_end(proto_pb_writer* writer, size_t mark, uint32_t field) {
    BASE_ASSERT(mark <= writer->size);
    size_t size = writer->size - mark;
    uint32_t tag_bytes = base_varint_bytes(field << 3);
    size_t head = tag_bytes + base_varint_bytes(size);
    if (!proto_pb_extend(writer, head)) return;
    uint8_t* place = writer->data + mark;
    memmove(place + head, place, size);
    base_varint_put(place, field << 3 | 2);
    base_varint_put(place + tag_bytes, size);
}

/// One field as read.
typedef struct proto_pb_field {
    uint32_t id;
    uint32_t type;       ///< 0 varint, 1 fixed64, 2 length-delimited, 5 fixed32
    uint64_t number;     ///< of types 0, 1 and 5
    const uint8_t* data; ///< of type 2; borrowed from the reader's bytes
    size_t size;
} proto_pb_field;

/// Read the next field. @return false at the end, and on damage (reader->failed).
static inline bool proto_pb_next(base_reader* reader, proto_pb_field* field) {
    if (base_reader_left(reader) == 0) return false;
    uint64_t tag = base_reader_varint(reader);
    memset(field, 0, sizeof *field);
    field->id = (uint32_t)(tag >> 3);
    field->type = (uint32_t)(tag & 7);
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

BASE_C_END
