// SPDX-License-Identifier: MIT
// The packets of proto/VECTORS.md, and the recorded sessions of proto/wire_vectors.txt: packets
// over a line that loses, delays and reorders them, with the scope after each; and bodies without a
// header. The mirror reads them here; tests/conformance reads them with its own decoder, and writes
// them.
#include "replicate/repl_world.h"

#include "mirror/snapshot_reader.h"
#include "session/input_packet.h"
#include "session/packet_header.h"
#include "state/varsize.h"
#include "solo_samples.h"
#include "text_file.h"
#include "wire.pb-c.h"
#include "solo/solo_receiver.h"
#include "net/solo.h"

#define VECTORS PROTO_FOLDER "/wire_vectors.txt"

enum {
    INDEX_MAX = 24,
    PAGE_INDEX_MAX = 1000,
    LINE_BYTES_MAX = SOLO_SAMPLES_BYTES_MAX + 4096,
    TICK_RATE_HZ = 60,
};

typedef struct session {
    ecs_world* world; ///< a client's
    net_schema* schema;
    net_mirror* mirror;
    net_varsize_receiver* values;
    bool is_solo;        ///< with the templates of the vectors' file
    bool is_elastic;     ///< with those of its second block
    uint16_t seq_newest; ///< of those that were read
    uint32_t probes;     ///< that were equal
} session;

static char* page_read(void) {
    char* text = text_file_read(PROTO_FOLDER "/VECTORS.md");
    assert_non_null(text);
    return text;
}

// As in the recorded session in solo code: no float is elastic.
static void make_exact(net_rows* rows) {
    for (uint32_t i = 0; i < rows->template_count; i++) {
        proto_layout* layout = &rows->templates[i]->layout;
        for (uint32_t f = 0; f < layout->field_count; f++)
            layout->fields[f].quant.is_elastic = false;
    }
}

static bool find_known(void* context, uint32_t index, ecs_entity* handle, ecs_tick* tick) {
    return net_mirror_known_incarnation(context, index, handle, tick);
}

// The templates of the page are in its first block.
static void open_client(session* s, const char* page, uint32_t index_max) {
    char text[LINE_BYTES_MAX];
    const char* first = page;
    for (uint32_t blocks = s->is_elastic ? 2 : 1; blocks > 0; blocks--) {
        first = strstr(first, "```blk\n");
        assert_non_null(first);
        first += strlen("```blk\n");
    }
    assert_true(
        base_text_format(text, sizeof text, "%.*s", (int)(strstr(first, "```") - first), first));
    const schema_wanted wanted = {.is_mirror = true, .index_max = index_max};
    s->schema = schema_made(text, wanted, &s->world);
    net_rows* rows = net_schema_rows(s->schema);
    if (s->is_solo && !s->is_elastic) make_exact(rows);
    net_rows_set_tick_rate(rows, TICK_RATE_HZ);
    net_mirror_config mirror = {.world = s->world,
                                .rows = rows,
                                .index_max = index_max,
                                .solo = s->is_solo ? &net_solo_part : NULL};
    s->mirror = net_mirror_create(&mirror);
    const net_varsize_receiver_config values = {.world = s->world,
                                                .rows = rows,
                                                .index_max = index_max,
                                                .known = find_known,
                                                .known_context = s->mirror};
    s->values = net_varsize_receiver_create(&values);
}

static void close_client(session* s) {
    base_owner_destroy(s->values);
    net_mirror_destroy(s->mirror);
    schema_unmake(s->schema, s->world);
}

static net_result read_state(session* s, const uint8_t* state, size_t size,
                             net_packet_header* header) {
    proto_bit_reader bits = proto_bit_reader_make(state, size);
    net_packet_header_near near = {.tick = net_mirror_tick(s->mirror),
                                   .has_tick = net_mirror_tick(s->mirror) > 0,
                                   .seq = s->seq_newest};
    assert_ok(net_packet_header_read(&bits, &near, header));
    const net_result result =
        net_mirror_read(s->mirror, header->seq, header->tick, header->has_body ? &bits : NULL);
    if (result == NET_OK &&
        (!near.has_tick || (int16_t)(uint16_t)(header->seq - s->seq_newest) > 0))
        s->seq_newest = header->seq;
    return result;
}

// Those of a body in shared code, in a session in solo code; else "".
static const char* samples_of_shared(const session* s, const net_packet_header* header) {
    static char text[SOLO_SAMPLES_BYTES_MAX];
    text[0] = 0;
    const proto_solo_coder* coder = s->is_solo ? &s->mirror->receiver->coder : NULL;
    if (header->has_body && coder && coder->mode == PROTO_SOLO_SAMPLE)
        solo_samples_print(text, coder);
    return text;
}

static const char* word_of(const char* line, const char* key) {
    const char* place = strstr(line, key);
    assert_non_null(place);
    return place + strlen(key);
}

static void expect_packet(session* s, const char* line, net_result expected) {
    uint8_t bytes[1172];
    size_t size = read_hex(word_of(line, " hex="), bytes, sizeof bytes);
    Shoal__Wire__StatePacket* packet = shoal__wire__state_packet__unpack(NULL, size, bytes);
    assert_non_null(packet);
    net_packet_header header;
    net_result result = read_state(s, packet->state.data, packet->state.len, &header);
    assert_int_equal(result == NET_OK, expected == NET_OK);
    assert_int_not_equal(result, NET_ERR_MALFORMED);
    assert_int_equal(header.tick, strtoull(word_of(line, " tick="), NULL, 10));
    if (result == NET_OK && header.has_probe) {
        const net_mirror_probe_result sample = net_mirror_check_probe(
            s->mirror, header.probe_slot, header.tick - header.probe_age, header.probe_hash, NULL);
        assert_int_not_equal(sample, NET_MIRROR_DIFFERS);
        s->probes += sample == NET_MIRROR_EQUAL;
    }
    const char *samples = strstr(line, " samples="), *made = samples_of_shared(s, &header);
    if (samples) samples += strlen(" samples=");
    assert_int_equal(strcspn(samples ? samples : "", "\n"), strlen(made));
    assert_memory_equal(samples ? samples : "", made, strlen(made));
    shoal__wire__state_packet__free_unpacked(packet, NULL);
}

static void expect_body(session* s, const char* line, net_result expected) {
    uint8_t bytes[1172];
    size_t size = read_hex(word_of(line, " body="), bytes, sizeof bytes);
    proto_bit_reader bits = proto_bit_reader_make(bytes, size);
    uint16_t seq = (uint16_t)strtoul(word_of(line, " seq="), NULL, 10);
    ecs_tick tick = strtoull(word_of(line, " tick="), NULL, 10);
    const char* more = strstr(line, " count=");
    for (uint32_t i = 0; i < (more ? strtoul(more + 7, NULL, 10) : 1); i++) {
        proto_bit_reader body = bits;
        assert_int_equal(net_mirror_read(s->mirror, (uint16_t)(seq + i), tick + i, &body),
                         expected);
        net_varsize_receiver_tick(s->values);
    }
}

static void expect_varsize(session* s, const char* line, net_result expected) {
    uint8_t bytes[256];
    size_t size = read_hex(word_of(line, " hex="), bytes, sizeof bytes);
    Shoal__Wire__VarsizeValue* value = shoal__wire__varsize_value__unpack(NULL, size, bytes);
    assert_non_null(value);
    const net_varsize_message message = {.handle = value->entity,
                                         .number = value->component,
                                         .version = value->version,
                                         .since = value->since,
                                         .is_default = value->is_default,
                                         .bytes = value->value.data,
                                         .size = (uint32_t)value->value.len};
    assert_int_equal(net_varsize_receiver_receive(s->values, &message), expected);
    shoal__wire__varsize_value__free_unpacked(value, NULL);
}

static void expect_scope(session* s, const char* line) {
    net_world_digest scope = net_world_digest_walk(s->schema, s->world, NULL, NULL);
    assert_int_equal(scope.entities, strtoul(word_of(line, " entities="), NULL, 10));
    assert_true(scope.hash == strtoull(word_of(line, " hash="), NULL, 16));
}

typedef struct tally {
    uint32_t sessions, packets, late, bodies, values, refused, scopes;
} tally;

// Read all vectors of a file into the open client; a line that begins a session opens another one.
static tally read_vectors(session* s, const char* path, const char* page, net_result refusal) {
    char line[LINE_BYTES_MAX], *vectors = text_file_read(path);
    tally got = {0};
    FILE* file = fopen(path, "rb");
    assert_true(vectors && file);
    while (fgets(line, sizeof line, file)) {
        if (strncmp(line, "session index_max=", 18) == 0) {
            got.sessions++;
            if (s->mirror) close_client(s);
            s->is_solo = strstr(line, " solo=1") != NULL;
            s->is_elastic = strstr(line, " elastic=1") != NULL;
            const bool has_values = strstr(line, " values=1") != NULL;
            open_client(s, s->is_solo || has_values ? vectors : page, INDEX_MAX);
            if (strstr(line, " schema="))
                assert_true(net_schema_hash(s->schema) ==
                            strtoull(word_of(line, " schema="), NULL, 16));
        } else if (strncmp(line, "packet seq=", 11) == 0) {
            expect_packet(s, line, NET_OK);
            got.packets++;
        } else if (strncmp(line, "late seq=", 9) == 0) {
            expect_packet(s, line, NET_ERR_STALE);
            got.late++;
        } else if (strncmp(line, "accepted ", 9) == 0) {
            expect_body(s, line, NET_OK);
            got.bodies++;
        } else if (strncmp(line, "refused ", 8) == 0) {
            expect_body(s, line, refusal);
            got.refused++;
        } else if (strncmp(line, "value version=", 14) == 0) {
            expect_varsize(s, line, NET_OK);
            got.values++;
        } else if (strncmp(line, "no_value ", 9) == 0) {
            expect_varsize(s, line, NET_ERR_MALFORMED);
        } else if (strncmp(line, "scope ", 6) == 0) {
            expect_scope(s, line);
            got.scopes++;
        }
    }
    fclose(file);
    free(vectors);
    return got;
}

CASE(a_mirror_reads_and_refuses_the_packets_of_the_page_as_it_says) {
    static session s;
    char* page = page_read();
    open_client(&s, page, PAGE_INDEX_MAX);
    assert_true(net_schema_hash(s.schema) == strtoull(word_of(page, "\nschema hash="), NULL, 16));
    const tally got = read_vectors(&s, PROTO_FOLDER "/VECTORS.md", page, NET_ERR_MALFORMED);
    assert_int_equal(net_mirror_get_counters(s.mirror)->stale_records, 1);
    assert_true(got.packets >= 12 && got.bodies >= 10 && got.refused >= 24 && s.probes >= 5);
    assert_int_equal(got.scopes, 12);
    close_client(&s);
    free(page);
}

CASE(a_mirror_reads_the_recorded_sessions) {
    static session s;
    char* page = page_read();
    const tally got = read_vectors(&s, VECTORS, page, NET_ERR_STALE); // a late packet is no fault
    assert_true(got.sessions >= 11 && got.packets >= 300 && got.late >= 1 && got.bodies >= 40 &&
                got.refused >= 5);
    assert_int_equal(got.scopes, got.packets + got.bodies);
    close_client(&s);
    free(page);
}

CASE(a_mirror_takes_the_values_of_the_page_with_its_records) {
    static session s;
    const tally got = read_vectors(&s, PROTO_FOLDER "/VARSIZE.md", NULL, NET_ERR_STALE);
    assert_true(got.sessions == 1 && got.bodies >= 15 && got.values >= 16);
    assert_int_equal(got.scopes, got.bodies + got.values);
    close_client(&s);
}

static void expect_input(const net_input_packet* back, const net_input_packet* input) {
    assert_int_equal(back->seq, input->seq);
    assert_int_equal(back->ack, input->ack);
    assert_int_equal(back->ack_bits, input->ack_bits);
    assert_int_equal(back->ack_delay_us, input->ack_delay_us);
    assert_int_equal(back->seen, input->seen);
    assert_int_equal(back->input_first, input->input_first);
    assert_int_equal(back->input_count, input->input_count);
    for (uint32_t i = 0; i < back->input_count; i++) {
        assert_int_equal(back->inputs[i].size, input->inputs[i].size);
        assert_memory_equal(back->inputs[i].data, input->inputs[i].data, input->inputs[i].size);
    }
}

static size_t read_line(const char* page, const char* begin, uint8_t bytes[64]) {
    const char* at = strstr(page, begin);
    if (!at) fail_msg("the page should have a line that begins with:%s", begin);
    size_t size = 0;
    unsigned byte;
    for (at += strlen(begin); size < 64 && sscanf(at, "%2x", &byte) == 1 && *at > ' '; at += 2)
        bytes[size++] = (uint8_t)byte;
    return size;
}

static void expect_line(const char* page, const char* begin, const proto_bit_writer* writer) {
    char hex[2 * NET_INPUT_PACKET_BYTES_MAX + 1] = "";
    for (size_t i = 0; i < proto_bit_writer_bytes(writer); i++)
        (void)snprintf(hex + 2 * i, 3, "%02x", writer->data[i]);
    const char* at = strstr(page, begin);
    if (!at || strncmp(at + strlen(begin), hex, strlen(hex)) != 0)
        fail_msg("the page should say:%s%s", begin, hex);
}

// Our clients write whole and short packets, and our servers read those of earlier releases too:
// numbers are low bits in the first, and three inputs show the three forms of one. The second is
// coded against it.
CASE(the_inputs_of_the_page_are_those_of_the_code) {
    static const uint8_t newest[] = {0x08, 0x05, 0x10, 0x01}, other[] = {0x08, 0x03, 0x10, 0x01};
    static const uint8_t turned[] = {0x08, 0x06, 0x18, 0x02};
    enum { TICK = 7 };
    static net_input_bases kept;
    const net_input_packet_near near = {.has_seq = true,
                                        .seq = 299,
                                        .sent = 65535,
                                        .input = 39,
                                        .moment = TICK * 256,
                                        .bases = &kept};
    const net_input_packet input = {.seq = 300,
                                    .ack = 65535,
                                    .ack_bits = 5,
                                    .ack_delay_us = 9 * NET_PACKET_HEADER_DELAY_US,
                                    .input_first = 38,
                                    .input_count = 3,
                                    .inputs = {{other, 4}, {newest, 4}, {newest, 4}},
                                    .seen = 1000};
    char* page = page_read();
    char known[LINE_BYTES_MAX];
    assert_true(base_text_format(known, sizeof known,
                                 "\n`seq` %u, state packet %u, input %u, tick %u.\n", near.seq,
                                 near.sent, near.input, TICK));
    if (!strstr(page, known)) fail_msg("the page should say:%s", known);
    uint8_t bytes[64];
    const size_t size = read_line(page, "\ninput seq=300 hex=", bytes);
    Shoal__Wire__InputPacket* packet = shoal__wire__input_packet__unpack(NULL, size, bytes);
    assert_non_null(packet);
    proto_bit_reader reader = proto_bit_reader_make(packet->input.data, packet->input.len);
    net_input_packet_store store;
    net_input_packet back;
    assert_ok(net_input_packet_read(&reader, &near, &store, &back));
    expect_input(&back, &input);
    net_input_bases_keep(&kept, &back);
    shoal__wire__input_packet__free_unpacked(packet, NULL);

    const net_input_packet next = {.base = net_input_base_find(&kept, 300),
                                   .seq = 302,
                                   .has_ack = true,
                                   .ack = 2,
                                   .ack_bits = 3,
                                   .ack_reach = 2,
                                   .ack_delay_us = 9 * NET_PACKET_HEADER_DELAY_US,
                                   .input_first = 41,
                                   .input_count = 2,
                                   .inputs = {{newest, 4}, {turned, 4}},
                                   .seen = 1515};
    uint8_t bits[NET_INPUT_PACKET_BYTES_MAX];
    proto_bit_writer writer = proto_bit_writer_make(bits, sizeof bits);
    net_input_packet_write(&writer, &next);
    expect_line(page, "\nshort seq=302 hex=", &writer);
    reader = proto_bit_reader_make(bits, proto_bit_writer_bytes(&writer));
    assert_ok(net_input_packet_read_short(&reader, &near, &store, &back));
    expect_input(&back, &next);
    free(page);
}

// The first packet of a session, as our clients write it: whole, so nothing has to be known.
CASE(the_whole_input_of_the_page_is_that_of_the_code) {
    static const uint8_t input[] = {0x08, 0x05, 0x10, 0x01};
    const net_input_packet first = {.seq = 1,
                                    .has_ack = true,
                                    .ack = 2,
                                    .ack_bits = 3,
                                    .ack_reach = 2,
                                    .ack_delay_us = 9 * NET_PACKET_HEADER_DELAY_US,
                                    .has_event_ack = true,
                                    .event_ack = 1,
                                    .input_first = 1,
                                    .input_count = 1,
                                    .inputs = {{input, 4}}};
    const net_input_packet_near nothing = {0};
    uint8_t bits[NET_INPUT_PACKET_BYTES_MAX];
    net_input_packet_store store;
    net_input_packet back;
    char* page = page_read();
    proto_bit_writer writer = proto_bit_writer_make(bits, sizeof bits);
    net_input_packet_write(&writer, &first);
    expect_line(page, "\ninput seq=1 hex=0a12", &writer); // field 1 has 18 bytes
    proto_bit_reader reader = proto_bit_reader_make(bits, proto_bit_writer_bytes(&writer));
    assert_ok(net_input_packet_read(&reader, &nothing, &store, &back));
    expect_input(&back, &first);
    assert_int_equal(back.event_ack, first.event_ack);
    free(page);
}

// @return the number after the key; `other`: the line does not have it.
static uint32_t number_or(const char* line, const char* key, uint32_t other) {
    const char* at = strstr(line, key);
    return at ? (uint32_t)strtoul(at + strlen(key), NULL, 10) : other;
}

static net_result read_refused(const char* line, bool is_input, proto_bit_reader bits) {
    const bool has_near = strstr(line, " first=1") == NULL;
    const uint32_t input = number_or(line, " input=", is_input ? 39 : 0);
    const uint32_t event = number_or(line, " event=", 0);
    const net_input_packet_near near_input = {.has_seq = has_near,
                                              .seq = 299,
                                              .sent = 65535,
                                              .input = input,
                                              .event = event,
                                              .moment = 7 * 256};
    const net_packet_header_near near_state = {
        .has_tick = has_near, .tick = 373, .seq = 370, .input = input, .event = event};
    net_input_packet_store store;
    net_input_packet packet;
    net_packet_header header;
    return is_input ? net_input_packet_read(&bits, &near_input, &store, &packet)
                    : net_packet_header_read(&bits, &near_state, &header);
}

CASE(headers_and_inputs_that_the_page_refuses_are_malformed) {
    char line[LINE_BYTES_MAX];
    uint32_t inputs = 0, states = 0;
    FILE* page = fopen(PROTO_FOLDER "/VECTORS.md", "rb");
    assert_non_null(page);
    while (fgets(line, sizeof line, page)) {
        uint8_t bytes[512];
        const bool is_input = strncmp(line, "no_input ", 9) == 0;
        if (!is_input && strncmp(line, "no_state ", 9) != 0) continue;
        const size_t size = read_hex(word_of(line, " hex="), bytes, sizeof bytes);
        assert_true(size > 0);
        if (read_refused(line, is_input, proto_bit_reader_make(bytes, size)) != NET_ERR_MALFORMED)
            fail_msg("read: %s", line);
        inputs += is_input;
        states += !is_input;
    }
    fclose(page);
    assert_true(inputs >= 12 && states >= 9);
}
