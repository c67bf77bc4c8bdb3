// SPDX-License-Identifier: MIT
// The packets of proto/VECTORS.md, and the recorded sessions of proto/wire_vectors.txt: packets over
// a line that loses, delays and reorders them, with the scope after each; and bodies without a
// header. The mirror reads them here; tests/conformance reads them with its own decoder, and writes
// them. What the writer chooses may change; the lines stay right.
// `test_wire_session bless` records the sessions again that have a seed, and writes the file.
#include "replicate/repl_world.h"

#include "base/rng.h"
#include "base/text.h"
#include "mirror/snapshot_reader.h"
#include "replicate/replicator.h"
#include "session/input_packet.h"
#include "session/packet_header.h"
#include "solo_samples.h"
#include "text_file.h"
#include "wire.pb-c.h"

#include <inttypes.h>
#include <math.h>

#define VECTORS PROTO_FOLDER "/wire_vectors.txt"

enum {
    INDEX_MAX = 24,
    PAGE_INDEX_MAX = 1000,
    CLIENT = 1,
    TICKS = 150,
    LETTERS_MAX = 256,
    DELAY_TICKS_MAX = 9,
    ACK_TICKS = 2,
    LOST_AFTER = 12, ///< ticks
    LINE_BYTES_MAX = SOLO_SAMPLES_BYTES_MAX + 4096,
    SOFT_BITS = 260,
    SOLO_SOFT_BITS = 520,
    TICK_RATE_HZ = 60,
};

/// A world with the templates of a page: a server's, or a client's mirror.
typedef struct wire_side {
    ecs_world* world;
    net_schema* schema;
    ecs_component_id at;
} wire_side;

static char* wire_page_read(void) {
    char* text = text_file_read(PROTO_FOLDER "/VECTORS.md");
    assert_non_null(text);
    return text;
}

static void wire_side_open(wire_side* side, const char* page, uint32_t index_max, bool is_mirror) {
    ecs_world_config config = ecs_world_config_default();
    config.is_mirror = is_mirror;
    config.limits.replicated_index_max = index_max;
    assert_ok(ecs_world_create(&config, &side->world));
    const char* text = strstr(page, "```blk\n");
    assert_non_null(text);
    text += strlen("```blk\n");
    const char* end = strstr(text, "```");
    assert_non_null(end);
    base_reporter reporter = base_reporter_stderr();
    assert_ok(ecs_template_load(side->world, "VECTORS.md", text, (size_t)(end - text), &reporter));
    assert_ok(ecs_world_seal(side->world, &reporter));
    assert_ok(net_schema_create(NULL, side->world, NULL, 0, &reporter, &side->schema));
    side->at = ecs_component_find(side->world, "at");
}

static void wire_side_close(wire_side* side) {
    net_schema_destroy(side->schema);
    ecs_world_destroy(side->world);
}

static void wire_print_hex(char* target, const uint8_t* bytes, size_t size) {
    for (size_t i = 0; i < size; i++)
        (void)snprintf(target + 2 * i, 3, "%02x", bytes[i]);
    target[2 * size] = 0;
}

typedef struct session_letter {
    uint16_t seq;
    ecs_tick tick, arrives; ///< 0: lost
    bool is_read, is_acked, is_declared_lost;
    uint8_t state[1100];
    size_t size;
} session_letter;

typedef struct session {
    wire_side server, client;
    net_interest* interest;
    net_replicator* replicator;
    net_repl_state* view;
    net_mirror* mirror;
    base_rng rng;
    ecs_tick tick;
    bool is_acked;
    bool is_hasty; ///< entities live for a few ticks, and all packets overtake each other
    bool is_solo;  ///< with the templates of the vectors' file
    ecs_entity entities[INDEX_MAX];
    uint32_t entity_count;
    session_letter letters[LETTERS_MAX];
    uint32_t letter_count;
    uint16_t seq_newest; ///< of those that were read
    uint32_t probes;     ///< that were equal
} session;

static void open_client(session* s, const char* page, uint32_t index_max) {
    wire_side_open(&s->client, page, index_max, true);
    net_rows* rows = net_schema_rows(s->client.schema);
    net_rows_set_tick_rate(rows, TICK_RATE_HZ);
    net_mirror_config config = {
        .world = s->client.world, .rows = rows, .index_max = index_max, .is_solo = s->is_solo};
    assert_ok(net_mirror_create(&config, &s->mirror));
}

static void close_client(session* s) {
    net_mirror_destroy(s->mirror);
    wire_side_close(&s->client);
}

static void open_server(session* s, const char* page) {
    wire_side_open(&s->server, page, INDEX_MAX, false);
    net_rows* rows = net_schema_rows(s->server.schema);
    net_rows_set_tick_rate(rows, TICK_RATE_HZ);
    net_interest_config interest = {.world = s->server.world,
                                    .rows = rows,
                                    .index_max = INDEX_MAX,
                                    .tick_rate_hz = TICK_RATE_HZ};
    assert_ok(net_interest_create(&interest, NULL, &s->interest));
    assert_true(net_interest_add_client(s->interest, CLIENT));
    net_replicator_config config = {.rows = rows, .index_max = INDEX_MAX, .interest = s->interest};
    assert_ok(net_replicator_create(&config, &s->replicator));
    assert_ok(net_repl_state_create(s->replicator, CLIENT, &s->view));
    if (s->is_solo) assert_ok(net_repl_state_use_solo(s->view));
}

static void close_server(session* s) {
    net_repl_state_destroy(s->view);
    net_replicator_destroy(s->replicator);
    net_interest_destroy(s->interest);
    wire_side_close(&s->server);
}

static net_result read_state(session* s, const uint8_t* state, size_t size,
                             net_packet_header* header) {
    proto_bit_reader bits = proto_bit_reader_make(state, size);
    net_packet_header_near near = {.tick = net_mirror_tick(s->mirror),
                                   .has_tick = net_mirror_tick(s->mirror) > 0,
                                   .seq = s->seq_newest};
    assert_ok(net_packet_header_read(&bits, &near, header));
    const net_result result = net_mirror_read(s->mirror, header->seq, header->tick,
                                              header->has_body ? &bits : NULL, NULL);
    if (result == NET_OK &&
        (!near.has_tick || (int16_t)(uint16_t)(header->seq - s->seq_newest) > 0))
        s->seq_newest = header->seq;
    return result;
}

// Those of a body in shared code, in a session in solo code; else "".
static const char* samples_of_shared(const session* s, const net_packet_header* header) {
    static char text[SOLO_SAMPLES_BYTES_MAX];
    text[0] = 0;
    const proto_solo_coder* coder = s->is_solo ? &s->mirror->solo->coder : NULL;
    if (header->has_body && coder && coder->mode == PROTO_SOLO_SAMPLE)
        solo_samples_print(text, coder);
    return text;
}

// ---- recording ----

static void set(session* s, ecs_entity entity, const char* component, const void* value) {
    ecs_world* world = s->server.world;
    ecs_component_id id = ecs_component_find(world, component);
    if (ecs_find(world, entity, id)) assert_ok(ecs_set(world, entity, id, value));
}

// Two squads of stones go and turn as one; ships go on, and turn at times; a crowd goes here and
// there.
static void move_entities(session* s) {
    ecs_world* world = s->server.world;
    for (uint32_t i = 0; i < s->entity_count; i++) {
        ecs_entity entity = s->entities[i];
        float t = (float)(s->tick - s->tick % 50 / 40 * (s->tick % 10)); // they rest at times
        float k = (float)ecs_entity_index(entity), way = fmodf(k, 2) > 0 ? 0.05f : -0.08f;
        float turn = way * t, x = 3 * k - 20, y = fmodf(k * 5, 17);
        set(s, entity, "place",
            &(ecs_vec3){cosf(turn) * x - sinf(turn) * y + way * 4 * t,
                        sinf(turn) * x + cosf(turn) * y, fmodf(k, 3) + way * t});
        set(s, entity, "turn", &(ecs_vec4){0, 0, sinf(turn / 2 + k), cosf(turn / 2 + k)});
        float step = (float)base_rng_below(&s->rng, 3) / 8;
        set(s, entity, "walk", &(ecs_vec2){k + t / 16 + step, k - t / 8});
        const ecs_vec2* speed = ecs_find(world, entity, ecs_component_find(world, "speed"));
        const ecs_vec2* at = ecs_find(world, entity, ecs_component_find(world, "at"));
        if (speed && s->tick % 40 < 30)
            set(s, entity, "at", &(ecs_vec2){at->x + speed->x / 60, at->y + speed->y / 60});
        if (base_rng_below(&s->rng, 9) == 0)
            set(s, entity, "speed",
                &(ecs_vec2){(float)base_rng_below(&s->rng, 30) - 15, 5 * sinf(turn)});
        if (base_rng_below(&s->rng, 12) == 0)
            set(s, entity, "load", &(uint16_t){(uint16_t)(base_rng_below(&s->rng, 9) << (i % 13))});
        if (base_rng_below(&s->rng, 6) == 0)
            set(s, entity, "hull", &(uint8_t){(uint8_t)(100 - s->tick / 2)});
        if (base_rng_below(&s->rng, 20) == 0) set(s, entity, "heat", &turn);
        if (base_rng_below(&s->rng, 20) == 0) set(s, entity, "owner", &s->entities[i / 2]);
    }
}

static void change_world(session* s) {
    ecs_world* world = s->server.world;
    const char* const* names = s->is_solo ? (const char* const[]){"ship", "stone", "ship+crowd"}
                                          : (const char* const[]){"dot", "lamp", "dot+lamp"};
    ecs_template_id templates[3];
    for (uint32_t i = 0; i < 3; i++)
        templates[i] = ecs_template_find(world, names[i]);
    uint32_t births = s->is_hasty ? 5 : base_rng_below(&s->rng, 3) == 0;
    for (; births > 0 && s->entity_count < INDEX_MAX - 4; births--)
        s->entity_count += ecs_create(world, templates[base_rng_below(&s->rng, 3)], NULL, 0,
                                      &s->entities[s->entity_count]) == ECS_OK;
    for (uint32_t i = 0; i < s->entity_count; i++) {
        ecs_entity entity = s->entities[i];
        float t = (float)s->tick * 0.1f * (float)(i % 5);
        if (!s->is_solo && (i % 5 > 0 || base_rng_below(&s->rng, 20) == 0))
            assert_ok(ecs_set(world, entity, s->server.at,
                              &(ecs_vec2){(float)(i % 7) - 3 + (t - (float)(int)t), 7 - t / 3}));
        if (base_rng_below(&s->rng, 12) == 0)
            set(s, entity, "power", &(uint16_t){(uint16_t)base_rng_below(&s->rng, 65536)});
        if (base_rng_below(&s->rng, 60) == 0)
            assert_ok(ecs_recreate(world, entity, templates[base_rng_below(&s->rng, 3)], NULL, 0));
        if (base_rng_below(&s->rng, s->is_hasty ? 5 : s->is_solo ? 90 : 25) > 0) continue;
        assert_ok(ecs_destroy(world, entity));
        s->entities[i--] = s->entities[--s->entity_count];
    }
}

static void write_letter(session* s) {
    session_letter* made = &s->letters[s->letter_count];
    *made = (session_letter){.seq = (uint16_t)(65500 + s->letter_count), .tick = s->tick};
    s->letter_count++;
    net_packet_header header = {.seq = made->seq,
                                .is_whole = !s->is_acked,
                                .tick = s->tick,
                                .player_age = (uint32_t)(s->tick % 4),
                                .has_body = true};
    uint64_t hash;
    header.has_probe = net_repl_state_probe(s->view, &header.probe_slot, &header.probe_age, &hash);
    header.probe_hash = header.has_probe ? (uint16_t)hash : 0;
    proto_bit_writer bits = proto_bit_writer_make(made->state, sizeof made->state);
    net_packet_header_write(&bits, &header);
    uint64_t end = bits.size_bits;
    uint32_t records;
    net_repl_state_room room = {.hard = 8000, .soft = s->is_solo ? SOLO_SOFT_BITS : SOFT_BITS};
    assert_ok(net_repl_state_write(s->view, made->seq, room, &bits, &records));
    if (records == 0) net_packet_header_deny_snapshot(&bits, end);
    made->size = proto_bit_writer_bytes(&bits);
    if (base_rng_below(&s->rng, 100) < 15) return;
    made->arrives =
        s->tick + 1 +
        base_rng_below(&s->rng,
                       s->is_hasty || base_rng_below(&s->rng, 3) == 0 ? DELAY_TICKS_MAX : 2);
}

static void print_letter(session* s, session_letter* letter, FILE* file) {
    Shoal__Wire__StatePacket packet = SHOAL__WIRE__STATE_PACKET__INIT;
    packet.state = (ProtobufCBinaryData){letter->size, letter->state};
    uint8_t bytes[1172];
    char hex[2 * sizeof bytes + 1];
    wire_print_hex(hex, bytes, shoal__wire__state_packet__pack(&packet, bytes));
    net_packet_header header;
    net_result result = read_state(s, letter->state, letter->size, &header);
    assert_true(result == NET_OK || result != NET_ERR_MALFORMED);
    letter->is_read = result == NET_OK;
    fprintf(file, "%s seq=%u tick=%" PRIu64 " hex=%s", letter->is_read ? "packet" : "late",
            letter->seq, letter->tick, hex);
    const char* samples = letter->is_read ? samples_of_shared(s, &header) : "";
    fprintf(file, "%s%s\n", *samples ? " samples=" : "", samples);
    if (!letter->is_read) return;
    net_world_digest scope = net_world_digest_walk(s->client.schema, s->client.world, NULL, NULL);
    fprintf(file, "scope entities=%u hash=%016" PRIx64 "\n", (unsigned)scope.entities, scope.hash);
}

static void carry_letters(session* s, FILE* file) {
    for (uint32_t i = 0; i < s->letter_count; i++)
        if (s->letters[i].arrives == s->tick) print_letter(s, &s->letters[i], file);
    for (uint32_t i = s->letter_count; i-- > 0;) {
        session_letter* letter = &s->letters[i];
        ecs_tick waits = s->is_solo ? 0 : ACK_TICKS;
        if (letter->is_read && !letter->is_acked && letter->arrives + waits <= s->tick) {
            letter->is_acked = s->is_acked = true;
            assert_true(net_repl_state_acked(s->view, letter->seq));
        } else if (!letter->is_acked && !letter->is_declared_lost &&
                   letter->tick + LOST_AFTER <= s->tick) {
            letter->is_declared_lost = true;
            assert_true(net_repl_state_lost(s->view, letter->seq));
        }
    }
}

// Record a session and print it. `text` has its templates.
static void record(uint64_t seed, bool is_solo, const char* text, FILE* file) {
    static session s;
    s = (session){.rng = base_rng_make(seed, 0), .is_hasty = seed % 2, .is_solo = is_solo};
    open_server(&s, text);
    open_client(&s, text, INDEX_MAX);
    while (s.tick < TICKS) {
        s.tick++;
        if (s.tick < TICKS - 30) change_world(&s);
        if (s.is_solo) move_entities(&s);
        ecs_step step = {.tick = s.tick, .dt = 0.5f};
        ecs_world_step(s.server.world, &step);
        assert_ok(net_replicator_step(s.replicator, s.server.world, s.tick));
        ecs_changes_clear(s.server.world);
        net_replicator_publish(s.replicator);
        for (uint32_t sent = base_rng_below(&s.rng, 8); sent > 0 && sent < 8;
             sent = sent == 7 ? 1 : 0)
            write_letter(&s); // none, one or two packets of a tick
        carry_letters(&s, file);
    }
    close_client(&s);
    close_server(&s);
}

// A session goes on up to the next empty line. One without a seed was written by hand.
static int bless(void) {
    char *page = wire_page_read(), *lines = text_file_read(VECTORS);
    assert_non_null(lines);
    FILE* file = fopen(VECTORS, "wb");
    assert_non_null(file);
    bool is_old = false;
    for (const char *line = lines, *end; *line; line = end) {
        end = line + strcspn(line, "\n");
        end += *end == '\n';
        is_old = is_old && *line != '\n';
        if (!is_old) fwrite(line, 1, (size_t)(end - line), file);
        char head[64] = "";
        const char* seed = NULL;
        if (base_text_format(head, sizeof head, "%.*s", (int)(end - line), line) &&
            strncmp(head, "session ", 8) == 0)
            seed = strstr(head, " seed=");
        if (!seed) continue;
        is_old = true;
        bool is_solo = strstr(head, " solo=1") != NULL;
        record(strtoull(seed + 6, NULL, 10), is_solo, is_solo ? lines : page, file);
    }
    fclose(file);
    free(lines);
    free(page);
    return 0;
}

// ---- reading ----

static const char* word_of(const char* line, const char* key) {
    const char* place = strstr(line, key);
    assert_non_null(place);
    return place + strlen(key);
}

static size_t read_hex(const char* line, const char* key, uint8_t* bytes, size_t bytes_max) {
    size_t size = 0;
    for (const char* at = word_of(line, key);
         size < bytes_max && sscanf(at, "%2hhx", &bytes[size]) == 1; at += 2)
        size++;
    return size;
}

static void expect_packet(session* s, const char* line, net_result expected) {
    uint8_t bytes[1172];
    size_t size = read_hex(line, " hex=", bytes, sizeof bytes);
    Shoal__Wire__StatePacket* packet = shoal__wire__state_packet__unpack(NULL, size, bytes);
    assert_non_null(packet);
    net_packet_header header;
    net_result result = read_state(s, packet->state.data, packet->state.len, &header);
    assert_int_equal(result == NET_OK, expected == NET_OK);
    assert_int_not_equal(result, NET_ERR_MALFORMED);
    assert_int_equal(header.tick, strtoull(word_of(line, " tick="), NULL, 10));
    if (result == NET_OK && header.has_probe)
        s->probes += NET_MIRROR_EQUAL == net_mirror_check_probe(s->mirror, header.probe_slot,
                                                                header.tick - header.probe_age,
                                                                header.probe_hash, NULL);
    const char *samples = strstr(line, " samples="), *made = samples_of_shared(s, &header);
    if (samples) samples += strlen(" samples=");
    assert_int_equal(strcspn(samples ? samples : "", "\n"), strlen(made));
    assert_memory_equal(samples ? samples : "", made, strlen(made));
    shoal__wire__state_packet__free_unpacked(packet, NULL);
}

static void expect_body(session* s, const char* line, net_result expected) {
    uint8_t bytes[1172];
    size_t size = read_hex(line, " body=", bytes, sizeof bytes);
    proto_bit_reader bits = proto_bit_reader_make(bytes, size);
    uint16_t seq = (uint16_t)strtoul(word_of(line, " seq="), NULL, 10);
    ecs_tick tick = strtoull(word_of(line, " tick="), NULL, 10);
    const char* more = strstr(line, " count=");
    for (uint32_t i = 0; i < (more ? strtoul(more + 7, NULL, 10) : 1); i++) {
        proto_bit_reader body = bits;
        assert_int_equal(net_mirror_read(s->mirror, (uint16_t)(seq + i), tick + i, &body, NULL),
                         expected);
    }
}

static void expect_scope(session* s, const char* line) {
    net_world_digest scope = net_world_digest_walk(s->client.schema, s->client.world, NULL, NULL);
    assert_int_equal(scope.entities, strtoul(word_of(line, " entities="), NULL, 10));
    assert_true(scope.hash == strtoull(word_of(line, " hash="), NULL, 16));
}

typedef struct tally {
    uint32_t sessions, packets, late, bodies, refused, scopes;
} tally;

// Read all vectors of a file into the open client; a line that begins a session opens another one.
static tally read_vectors(session* s, const char* path, const char* page, net_result refusal) {
    char line[LINE_BYTES_MAX], *vectors = text_file_read(path);
    tally got = {0};
    FILE* file = fopen(path, "rb");
    assert_true(vectors && file);
    while (fgets(line, sizeof line, file)) {
        if (strncmp(line, "session index_max=", 18) == 0) {
            if (got.sessions++ > 0) close_client(s);
            s->is_solo = strstr(line, " solo=1") != NULL;
            open_client(s, s->is_solo ? vectors : page, INDEX_MAX);
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
    char* page = wire_page_read();
    open_client(&s, page, PAGE_INDEX_MAX);
    assert_true(net_schema_hash(s.client.schema) ==
                strtoull(word_of(page, "\nschema hash="), NULL, 16));
    const tally got = read_vectors(&s, PROTO_FOLDER "/VECTORS.md", page, NET_ERR_MALFORMED);
    assert_int_equal(net_mirror_get_counters(s.mirror)->stale_records, 1);
    assert_true(got.packets >= 12 && got.bodies >= 10 && got.refused >= 24 && s.probes >= 5);
    assert_int_equal(got.scopes, 12);
    close_client(&s);
    free(page);
}

CASE(a_mirror_reads_the_recorded_sessions) {
    static session s;
    char* page = wire_page_read();
    const tally got = read_vectors(&s, VECTORS, page, NET_ERR_STALE); // a late packet is no fault
    assert_true(got.sessions >= 4 && got.packets >= 200 && got.late >= 1 && got.bodies >= 6 &&
                got.refused >= 1);
    assert_int_equal(got.scopes, got.packets + got.bodies);
    close_client(&s);
    free(page);
}

// A server that knows what the page says it knows reads what was written.
static void expect_input(const char* page, const net_input_packet* input, proto_bit_reader reader) {
    enum { TICK = 5 };
    const net_input_packet_near near = {
        .has_seq = true, .seq = 299, .sent = 65535, .input = 39, .moment = TICK * 256};
    char known[LINE_BYTES_MAX];
    assert_true(base_text_format(known, sizeof known,
                                 "\n`seq` %u, state packet %u, input %u, tick %u.\n", near.seq,
                                 near.sent, near.input, TICK));
    if (!strstr(page, known)) fail_msg("the page should say:%s", known);
    net_input_packet_store store;
    net_input_packet back;
    assert_ok(net_input_packet_read(&reader, &near, &store, &back));
    assert_int_equal(back.seq, input->seq);
    assert_int_equal(back.ack, input->ack);
    assert_int_equal(back.ack_bits, input->ack_bits);
    assert_int_equal(back.seen, input->seen);
    assert_int_equal(back.input_first, input->input_first);
    assert_int_equal(back.input_count, input->input_count);
    for (uint32_t i = 0; i < back.input_count; i++) {
        assert_int_equal(back.inputs[i].size, input->inputs[i].size);
        assert_memory_equal(back.inputs[i].data, input->inputs[i].data, input->inputs[i].size);
    }
}

// Numbers are short, and three inputs show the three forms of one.
CASE(the_input_of_the_page_is_that_of_the_code) {
    static const uint8_t newest[] = {0x08, 0x05, 0x10, 0x01}, other[] = {0x08, 0x03, 0x10, 0x01};
    const net_input_packet input = {.seq = 300,
                                    .has_ack = true,
                                    .ack = 65535,
                                    .ack_bits = 5,
                                    .ack_reach = 3,
                                    .ack_delay_us = 9 * NET_PACKET_HEADER_DELAY_US,
                                    .input_first = 38,
                                    .input_count = 3,
                                    .inputs = {{other, 4}, {newest, 4}, {newest, 4}},
                                    .seen = 1000};
    uint8_t bits[NET_INPUT_PACKET_BYTES_MAX], bytes[64];
    proto_bit_writer writer = proto_bit_writer_make(bits, sizeof bits);
    net_input_packet_write(&writer, &input);
    Shoal__Wire__InputPacket packet = SHOAL__WIRE__INPUT_PACKET__INIT;
    packet.input = (ProtobufCBinaryData){proto_bit_writer_bytes(&writer), bits};
    const size_t size = shoal__wire__input_packet__pack(&packet, bytes);
    char hex[2 * sizeof bytes + 1], line[LINE_BYTES_MAX];
    wire_print_hex(hex, bytes, size);
    assert_true(base_text_format(line, sizeof line, "\ninput seq=300 hex=%s\n", hex));
    char* page = wire_page_read();
    if (!strstr(page, line)) fail_msg("the page should say:%s", line);
    expect_input(page, &input, proto_bit_reader_make(bits, proto_bit_writer_bytes(&writer)));
    free(page);
}

int main(int argc, char** argv) {
    if (argc == 2 && strcmp(argv[1], "bless") == 0) return bless();
    return test_run();
}
