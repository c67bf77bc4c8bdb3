// SPDX-License-Identifier: MIT
// One message, read and written front to back. A stream is foreign: who follows it checks each
// message as a whole before a record of it is used.
//
//     u8 version, u8 kind, u64 epoch, u64 number, body
//     RECORDS: (varint length, record)*        CLAIM: a StreamClaim (proto/log.proto)
#include "stream/stream_frame.h"

#include "base/assert.h"
#include "base/bytes.h"
#include "base/text.h"
#include "proto/pb_wire.h"

#include <inttypes.h>

enum {
    ADDRESS_BYTES = 18, // 16 of an IPv6 address, and the port, high byte first
    FIELD_WRITER = 1,
    FIELD_KEY_ID = 2,
    FIELD_ADDRESS = 3,
    FIELD_HEADER = 4,
    FIELD_CHANGES = 5, // of a tick's end: its sums
};

_Static_assert(NET_STREAM_HEAD_BYTES + NET_LOG_RECORD_BYTES_MAX + NET_STREAM_BROKER_HEAD_BYTES +
                       8 <=
                   NET_BROKER_PAYLOAD_BYTES_MIN,
               "a broker must take the longest record");

// ---- writing ----

// The body of an end, without its sums.
static void copy_end(const uint8_t* data, size_t size, proto_pb_writer* target) {
    base_reader reader = base_reader_make(data, size);
    proto_pb_field field;
    for (size_t from = 0; proto_pb_next(&reader, &field); from = reader.offset) {
        if (field.id == FIELD_CHANGES) continue;
        uint8_t* place = proto_pb_extend(target, reader.offset - from);
        if (place) memcpy(place, data + from, reader.offset - from);
    }
}

uint32_t net_stream_record_write(net_log_kind kind, const void* data, uint32_t size,
                                 uint8_t* target) {
    BASE_ASSERT(net_log_kinds[kind].is_streamed);
    base_reader reader = base_reader_make(data, size);
    proto_pb_field field;
    if (kind != NET_LOG_KIND_END || !proto_pb_next(&reader, &field) ||
        field.id != NET_LOG_KIND_END || field.type != 2) {
        memcpy(target, data, size);
        return size;
    }
    proto_pb_writer writer = {.data = target, .capacity = size};
    copy_end(field.data, field.size, &writer);
    proto_pb_write_end(&writer, 0, NET_LOG_KIND_END);
    BASE_ASSERT(!writer.failed);
    return (uint32_t)writer.size;
}

void net_stream_frame_begin(proto_pb_writer* message, net_stream_kind kind, uint64_t epoch,
                            uint64_t number) {
    BASE_ASSERT(epoch > 0 && number > 0);
    message->size = 0;
    message->failed = false;
    proto_pb_write_raw(message, NET_STREAM_VERSION, 1);
    proto_pb_write_raw(message, (uint64_t)kind, 1);
    proto_pb_write_raw(message, epoch, 8);
    proto_pb_write_raw(message, number, 8);
    BASE_ASSERT(!message->failed && message->size == NET_STREAM_HEAD_BYTES);
}

bool net_stream_frame_add(proto_pb_writer* message, const void* data, uint32_t size) {
    BASE_ASSERT(size > 0 && size <= NET_LOG_RECORD_BYTES_MAX && !message->failed);
    if (base_varint_bytes(size) + size > message->capacity - message->size) return false;
    proto_pb_write_varint(message, size);
    memcpy(proto_pb_extend(message, size), data, size);
    return true;
}

void net_stream_frame_claim(proto_pb_writer* message, uint64_t epoch, uint64_t number,
                            const net_stream_claim* claim, const void* header,
                            size_t header_bytes) {
    BASE_ASSERT(claim->writer != 0 && claim->address_count <= NET_STREAM_ADDRESSES_MAX);
    net_stream_frame_begin(message, NET_STREAM_KIND_CLAIM, epoch, number);
    proto_pb_write_fixed64(message, FIELD_WRITER, claim->writer);
    proto_pb_write_fixed64(message, FIELD_KEY_ID, claim->key_id);
    for (uint32_t i = 0; i < claim->address_count; i++) {
        uint8_t bytes[ADDRESS_BYTES];
        memcpy(bytes, claim->addresses[i].ip, sizeof claim->addresses[i].ip);
        bytes[16] = (uint8_t)(claim->addresses[i].port >> 8);
        bytes[17] = (uint8_t)claim->addresses[i].port;
        proto_pb_write_bytes(message, FIELD_ADDRESS, bytes, sizeof bytes);
    }
    if (header) proto_pb_write_bytes(message, FIELD_HEADER, header, header_bytes);
}

// ---- reading ----

static bool read_claim_field(net_stream_frame* frame, const proto_pb_field* field) {
    net_stream_claim* claim = &frame->claim;
    switch (field->id) {
    case FIELD_WRITER:
        claim->writer = field->number;
        return field->type == 1;
    case FIELD_KEY_ID:
        claim->key_id = field->number;
        return field->type == 1;
    case FIELD_ADDRESS: {
        if (field->type != 2 || field->size != ADDRESS_BYTES ||
            claim->address_count == NET_STREAM_ADDRESSES_MAX)
            return false;
        net_address* address = &claim->addresses[claim->address_count++];
        memcpy(address->ip, field->data, sizeof address->ip);
        address->port = (uint16_t)(field->data[16] << 8 | field->data[17]);
        return true;
    }
    case FIELD_HEADER:
        frame->header = field->data;
        frame->header_bytes = field->size;
        return field->type == 2 && field->size > 0 && field->size <= NET_STREAM_HEADER_BYTES_MAX;
    default:
        return true;
    }
}

static bool read_claim(net_stream_frame* frame) {
    base_reader reader = base_reader_make(frame->body, frame->body_bytes);
    proto_pb_field field;
    while (proto_pb_next(&reader, &field))
        if (!read_claim_field(frame, &field)) return false;
    return !reader.failed && frame->claim.writer != 0;
}

// A kind that the stream does not have is that of a later version: who follows skips it.
static bool read_record(base_reader* reader, net_log_record* record, const uint8_t** data) {
    const uint64_t size = base_reader_varint(reader);
    if (reader->failed || size == 0 || size > base_reader_left(reader)) return false;
    *data = base_reader_skip(reader, (size_t)size);
    return net_log_record_read(record, *data, (size_t)size) && record->kind != NET_LOG_KIND_STATE;
}

static bool read_records(net_stream_frame* frame) {
    base_reader reader = base_reader_make(frame->body, frame->body_bytes);
    net_log_record record;
    const uint8_t* data;
    while (base_reader_left(&reader) > 0) {
        if (!read_record(&reader, &record, &data)) return false;
        frame->count++;
    }
    return frame->count > 0 && frame->count <= UINT64_MAX - frame->number;
}

bool net_stream_frame_read(net_stream_frame* frame, const void* data, size_t size) {
    *frame = (net_stream_frame){.epoch = 0};
    base_reader reader = base_reader_make(data, size);
    const uint8_t version = base_reader_u8(&reader);
    const uint8_t kind = base_reader_u8(&reader);
    frame->epoch = base_reader_u64(&reader);
    frame->number = base_reader_u64(&reader);
    if (reader.failed || version != NET_STREAM_VERSION) return false;
    if (frame->epoch == 0 || frame->number == 0) return false;
    frame->body_bytes = base_reader_left(&reader);
    frame->body = base_reader_skip(&reader, frame->body_bytes);
    frame->kind = (net_stream_kind)kind;
    if (kind == NET_STREAM_KIND_CLAIM) return read_claim(frame);
    return kind == NET_STREAM_KIND_RECORDS && read_records(frame);
}

bool net_stream_frame_next(const net_stream_frame* frame, size_t* offset, net_log_record* record,
                           const uint8_t** data) {
    BASE_ASSERT(frame->kind == NET_STREAM_KIND_RECORDS && *offset <= frame->body_bytes);
    base_reader reader = base_reader_make(frame->body, frame->body_bytes);
    reader.offset = *offset;
    if (base_reader_left(&reader) == 0) return false;
    const bool is_read = read_record(&reader, record, data);
    BASE_ASSERT(is_read); // net_stream_frame_read checked it
    *offset = reader.offset;
    return true;
}

void net_stream_frame_id(const net_stream_frame* frame, uint64_t writer,
                         char id[NET_BROKER_ID_BYTES]) {
    const char* kind = frame->kind == NET_STREAM_KIND_CLAIM ? "c" : "r";
    const bool fits =
        base_text_format(id, NET_BROKER_ID_BYTES, "%" PRIx64 "-%s%" PRIx64 "-%016" PRIx64,
                         frame->epoch, kind, frame->number, writer);
    BASE_ASSERT(fits);
}

// ---- reports ----

// The newest report of each follower, and how old it is by the hearer's clock. A place is free
// again when its report does not count any more.
//
//     u8 version, u8 role, u8 is_able, u64 who, u64 tick, u8 counts_s, what later versions append

#define SECOND_US UINT64_C(1000000)

enum { REPORT_VERSION = 1, OLDER_BYTES = NET_STREAM_REPORT_BYTES - 1 };

void net_stream_report_write(const net_stream_report* report,
                             uint8_t bytes[NET_STREAM_REPORT_BYTES]) {
    BASE_ASSERT(report->who != 0);
    bytes[0] = REPORT_VERSION;
    bytes[1] = (uint8_t)report->role;
    bytes[2] = report->is_able;
    base_store_le64(bytes + 3, report->who);
    base_store_le64(bytes + 11, report->tick);
    bytes[OLDER_BYTES] = report->counts_s;
}

bool net_stream_report_read(net_stream_report* report, const void* data, size_t size) {
    const uint8_t* bytes = data;
    if (size < OLDER_BYTES || bytes[0] != REPORT_VERSION || bytes[2] > 1) return false;
    *report = (net_stream_report){.role = (net_stream_role)bytes[1],
                                  .is_able = bytes[2],
                                  .who = base_load_le64(bytes + 3),
                                  .tick = base_load_le64(bytes + 11),
                                  .counts_s = size > OLDER_BYTES ? bytes[OLDER_BYTES] : 0};
    return report->who != 0 && report->role >= NET_STREAM_STANDBY &&
           report->role <= NET_STREAM_SERVER;
}

void net_stream_report_send(const net_broker* broker, const net_stream_report* report,
                            uint64_t* due_us, uint64_t now_us) {
    uint8_t bytes[NET_STREAM_REPORT_BYTES];
    const uint64_t next_us = now_us + report->counts_s * SECOND_US / 3;
    if (now_us < *due_us && *due_us <= next_us) return; // next_us is sooner when a match wakes
    *due_us = next_us;
    net_stream_report_write(report, bytes);
    broker->report(broker->context, bytes, sizeof bytes);
}

static bool is_heard(const struct net_stream_heard* heard, uint64_t now_us) {
    const uint8_t counts_s = heard->report.counts_s;
    return heard->us > 0 &&
           now_us - heard->us < (counts_s ? counts_s : NET_STREAM_REPORT_COUNTS_S) * SECOND_US;
}

bool net_stream_reports_add(net_stream_reports* self, const void* data, size_t size,
                            uint64_t now_us) {
    net_stream_report report;
    struct net_stream_heard* place = NULL;
    if (!net_stream_report_read(&report, data, size)) return false;
    if (report.role == NET_STREAM_SERVER) return true;
    for (uint32_t i = 0; i < NET_STREAM_REPORTS_MAX; i++) {
        struct net_stream_heard* at = &self->heard[i];
        const bool is_own = is_heard(at, now_us) && at->report.who == report.who;
        if (is_own || (!place && !is_heard(at, now_us))) place = at;
        if (is_own) break;
    }
    if (!place) return false;
    *place = (struct net_stream_heard){report, now_us};
    return true;
}

uint32_t net_stream_reports_count(const net_stream_reports* self, net_stream_role role,
                                  ecs_tick from, uint64_t now_us) {
    uint32_t count = 0;
    for (uint32_t i = 0; i < NET_STREAM_REPORTS_MAX; i++) {
        const net_stream_report* report = &self->heard[i].report;
        count += is_heard(&self->heard[i], now_us) && report->role == role && report->is_able &&
                 report->tick >= from;
    }
    return count;
}

bool net_stream_reports_has_older(const net_stream_reports* self, uint64_t now_us) {
    for (uint32_t i = 0; i < NET_STREAM_REPORTS_MAX; i++)
        if (is_heard(&self->heard[i], now_us) && self->heard[i].report.counts_s == 0) return true;
    return false;
}
