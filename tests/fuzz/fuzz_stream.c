// SPDX-License-Identifier: MIT
// Messages of a stream, and reports. What is read is walked, and written again as bytes that read
// the same.
#include "fuzz.h"

#include "stream/stream_frame.h"

static uint8_t memory[NET_BROKER_PAYLOAD_BYTES_MIN];

static void write_again(const net_stream_frame* frame) {
    proto_pb_writer message = {.data = memory, .capacity = sizeof memory};
    net_log_record record;
    const uint8_t* data;
    uint64_t count = 0;
    if (frame->kind == NET_STREAM_KIND_CLAIM) {
        net_stream_frame_claim(&message, frame->epoch, frame->number, &frame->claim, frame->header,
                               frame->header_bytes);
    } else {
        net_stream_frame_begin(&message, NET_STREAM_KIND_RECORDS, frame->epoch, frame->number);
        for (size_t offset = 0; net_stream_frame_next(frame, &offset, &record, &data); count++) {
            static uint8_t copy[NET_LOG_RECORD_BYTES_MAX];
            uint32_t size = record.size;
            if (net_log_kinds[record.kind].is_streamed)
                size = net_stream_record_write(record.kind, data, size, copy);
            else
                memcpy(copy, data, size);
            FUZZ_CHECK(size > 0 && size <= record.size);
            FUZZ_CHECK(net_log_record_read(&record, copy, size));
            FUZZ_CHECK(net_stream_frame_add(&message, copy, size));
        }
        FUZZ_CHECK(count == frame->count);
    }
    FUZZ_CHECK(!message.failed);
    net_stream_frame again;
    FUZZ_CHECK(net_stream_frame_read(&again, message.data, message.size));
    FUZZ_CHECK(again.kind == frame->kind && again.epoch == frame->epoch &&
               again.number == frame->number && again.count == frame->count);
    FUZZ_CHECK(again.claim.writer == frame->claim.writer &&
               again.claim.address_count == frame->claim.address_count);
}

static void read_report(const uint8_t* data, size_t size) {
    static net_stream_reports reports;
    net_stream_report report;
    uint8_t again[NET_STREAM_REPORT_BYTES];
    const bool is_read = net_stream_report_read(&report, data, size);
    FUZZ_CHECK(net_stream_reports_add(&reports, data, size, 1) <= is_read);
    if (!is_read) return;
    net_stream_report_write(&report, again);
    FUZZ_CHECK(memcmp(again, data, size < sizeof again ? size : sizeof again) == 0);
}

int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
    net_stream_frame frame;
    read_report(data, size);
    if (size > NET_LOG_RECORD_BYTES_MAX || !net_stream_frame_read(&frame, data, size)) return 0;
    write_again(&frame);
    return 0;
}
