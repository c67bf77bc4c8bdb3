// SPDX-License-Identifier: MIT
#include "test.h"
#include "text_file.h"

#include "stream/stream_frame.h"

static uint8_t memory[NET_BROKER_PAYLOAD_BYTES_MIN];

// A record of a kind, as a log's writer packs it.
static uint32_t make_record(uint8_t* target, net_log_kind kind, ecs_tick tick, bool has_sums) {
    proto_pb_writer wire = {.data = target, .capacity = 256};
    proto_pb_write_number(&wire, 1, tick);
    if (kind == NET_LOG_KIND_END) proto_pb_write_fixed64(&wire, 2, 0x1234);
    if (has_sums) proto_pb_write_bytes(&wire, 5, "sums of it", 10);
    if (kind == NET_LOG_KIND_END) proto_pb_write_number(&wire, 7, 3);
    if (kind == NET_LOG_KIND_CONTROL) proto_pb_write_text(&wire, 2, "pause");
    proto_pb_write_end(&wire, 0, (uint32_t)kind);
    assert_false(wire.failed);
    return (uint32_t)wire.size;
}

static net_stream_claim a_claim(void) {
    net_stream_claim claim = {.writer = 77, .key_id = 5, .address_count = 2};
    assert_int_equal(net_address_parse("1.2.3.4:7777", &claim.addresses[0]), NET_OK);
    assert_int_equal(net_address_parse("[2001:db8::1]:443", &claim.addresses[1]), NET_OK);
    return claim;
}

CASE(a_claim_has_its_addresses_and_message_1_the_header) {
    const net_stream_claim claim = a_claim();
    proto_pb_writer message = {.data = memory, .capacity = sizeof memory};
    net_stream_frame_claim(&message, 1, 1, &claim, "header", 6);
    net_stream_frame frame;
    assert_true(net_stream_frame_read(&frame, message.data, message.size));
    assert_int_equal(frame.kind, NET_STREAM_KIND_CLAIM);
    assert_int_equal(frame.claim.writer, 77);
    assert_int_equal(frame.claim.key_id, 5);
    assert_int_equal(frame.claim.address_count, 2);
    for (uint32_t i = 0; i < 2; i++)
        assert_true(net_address_equal(&frame.claim.addresses[i], &claim.addresses[i]));
    assert_int_equal(frame.header_bytes, 6);
    assert_memory_equal(frame.header, "header", 6);
}

CASE(a_record_that_does_not_fit_leaves_the_message_as_it_was) {
    uint8_t record[256];
    const uint32_t size = make_record(record, NET_LOG_KIND_BEGIN, 9, false);
    proto_pb_writer message = {.data = memory, .capacity = NET_STREAM_HEAD_BYTES + 2 * size + 1};
    net_stream_frame_begin(&message, NET_STREAM_KIND_RECORDS, 1, 1);
    assert_true(net_stream_frame_add(&message, record, size));
    const size_t before = message.size;
    assert_false(net_stream_frame_add(&message, record, size));
    assert_int_equal(message.size, before);
    assert_false(message.failed);
}

CASE(the_longest_record_fits_a_message_of_the_smallest_broker) {
    static uint8_t record[NET_LOG_RECORD_BYTES_MAX];
    proto_pb_writer message = {.data = memory,
                               .capacity = sizeof memory - NET_STREAM_BROKER_HEAD_BYTES};
    net_stream_frame_begin(&message, NET_STREAM_KIND_RECORDS, UINT64_MAX, UINT64_MAX / 2);
    assert_true(net_stream_frame_add(&message, record, sizeof record));
}

CASE(ids_differ_by_epoch_number_kind_and_writer) {
    static const net_stream_frame frames[] = {
        {.kind = NET_STREAM_KIND_RECORDS, .epoch = 1, .number = 17},
        {.kind = NET_STREAM_KIND_RECORDS, .epoch = 2, .number = 17},
        {.kind = NET_STREAM_KIND_RECORDS, .epoch = 1, .number = 18},
        {.kind = NET_STREAM_KIND_CLAIM, .epoch = 1, .number = 17}};
    char ids[8][NET_BROKER_ID_BYTES];
    for (uint32_t i = 0; i < 8; i++)
        net_stream_frame_id(&frames[i % 4], 1 + i / 4, ids[i]);
    for (uint32_t a = 0; a < 8; a++)
        for (uint32_t b = 0; b < a; b++)
            assert_string_not_equal(ids[a], ids[b]);
    const net_stream_frame last = {
        .kind = NET_STREAM_KIND_CLAIM, .epoch = UINT64_MAX, .number = UINT64_MAX};
    net_stream_frame_id(&last, UINT64_MAX, ids[0]); // it fits
}

CASE(bytes_that_no_writer_writes_are_refused) {
    const net_stream_claim claim = a_claim();
    uint8_t record[256];
    const uint32_t size = make_record(record, NET_LOG_KIND_BEGIN, 9, false);
    proto_pb_writer message = {.data = memory, .capacity = sizeof memory};
    net_stream_frame frame;
    net_stream_frame_begin(&message, NET_STREAM_KIND_RECORDS, 1, 1);
    assert_false(net_stream_frame_read(&frame, message.data, message.size)); // no record
    assert_true(net_stream_frame_add(&message, record, size));
    assert_true(net_stream_frame_read(&frame, message.data, message.size));
    for (size_t cut = 0; cut < message.size; cut++)
        assert_false(net_stream_frame_read(&frame, message.data, cut));
    const uint8_t places[] = {0, 1, 2, 10}; // version, kind, epoch, number
    for (uint32_t i = 0; i < sizeof places; i++) {
        const uint8_t was = memory[places[i]];
        memory[places[i]] = i < 2 ? 9 : 0;
        assert_false(net_stream_frame_read(&frame, message.data, message.size));
        memory[places[i]] = was;
    }
    uint8_t state[64];
    const uint32_t state_bytes = make_record(state, NET_LOG_KIND_STATE, 9, false);
    assert_true(net_stream_frame_add(&message, state, state_bytes));
    assert_false(net_stream_frame_read(&frame, message.data, message.size));
    net_stream_frame_claim(&message, 1, 1, &claim, NULL, 0);
    assert_true(net_stream_frame_read(&frame, message.data, message.size));
    memory[NET_STREAM_HEAD_BYTES + 1] = 0; // the writer
    assert_false(net_stream_frame_read(&frame, message.data, message.size));
}

// ---- the page ----

// The text is what is after "stream NAME=" in proto/STREAM.md.
static void check_vector(const char* name, const char* text) {
    char line[64], *page = text_file_read(PROTO_FOLDER "/STREAM.md");
    assert_non_null(page);
    snprintf(line, sizeof line, "\nstream %s=", name);
    char* at = strstr(page, line);
    if (!at) fail_msg("STREAM.md has no vector %s", name);
    at += strlen(line);
    at[strcspn(at, "\n")] = '\0';
    assert_string_equal(text, at);
    free(page);
}

static void check_bytes(const char* name, const uint8_t* bytes, size_t size) {
    char hex[2048];
    assert_true(2 * size < sizeof hex);
    for (size_t i = 0; i < size; i++)
        snprintf(hex + 2 * i, 3, "%02x", bytes[i]);
    check_vector(name, hex);
}

static void check_message(const char* name, const proto_pb_writer* message) {
    net_stream_frame frame;
    assert_false(message->failed);
    check_bytes(name, message->data, message->size);
    assert_true(net_stream_frame_read(&frame, message->data, message->size));
}

static void check_id(const char* name, net_stream_kind kind, uint64_t epoch, uint64_t number,
                     uint64_t writer) {
    char id[NET_BROKER_ID_BYTES];
    net_stream_frame_id(&(net_stream_frame){.kind = kind, .epoch = epoch, .number = number}, writer,
                        id);
    check_vector(name, id);
}

// As of builds that do not say how long it counts, and as of now.
static void check_report(const char* older, const char* name, const net_stream_report* report) {
    uint8_t bytes[NET_STREAM_REPORT_BYTES];
    net_stream_report_write(report, bytes);
    check_bytes(older, bytes, sizeof bytes - 1);
    check_bytes(name, bytes, sizeof bytes);
}

CASE(the_vectors_of_the_page_are_what_the_code_writes) {
    static const net_log_kind kinds[] = {NET_LOG_KIND_CONTROL, NET_LOG_KIND_BEGIN,
                                         NET_LOG_KIND_END};
    const net_stream_claim claim = a_claim();
    const net_stream_claim later = {.writer = UINT64_C(0xe0ffe1c8cafe0276)};
    proto_pb_writer message = {.data = memory, .capacity = sizeof memory};
    net_stream_frame_claim(&message, 1, 1, &claim, "header", 6);
    check_message("claim_first", &message);
    net_stream_frame_begin(&message, NET_STREAM_KIND_RECORDS, 1, 1);
    for (uint32_t i = 0; i < 3; i++) {
        uint8_t record[256], written[256];
        const uint32_t size = make_record(record, kinds[i], 9, kinds[i] == NET_LOG_KIND_END);
        assert_true(net_stream_frame_add(&message, written,
                                         net_stream_record_write(kinds[i], record, size, written)));
    }
    check_message("records", &message);
    net_stream_frame_claim(&message, 2, 4, &later, NULL, 0);
    check_message("claim_later", &message);
    check_id("claim_first_id", NET_STREAM_KIND_CLAIM, 1, 1, claim.writer);
    check_id("records_id", NET_STREAM_KIND_RECORDS, 1, 1, claim.writer);
    check_id("claim_later_id", NET_STREAM_KIND_CLAIM, 2, 4, later.writer);
    check_report("report_standby", "report_standby_counted",
                 &(net_stream_report){NET_STREAM_STANDBY, true, later.writer, 7214, 15});
    check_report("report_relay", "report_relay_counted",
                 &(net_stream_report){NET_STREAM_RELAY, true, 77, 7, 3});
    check_report("report_server", "report_server_counted",
                 &(net_stream_report){NET_STREAM_SERVER, true, 77, 1, 0});
}
