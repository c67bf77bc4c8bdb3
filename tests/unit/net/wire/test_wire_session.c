// SPDX-License-Identifier: MIT
// The recorded sessions of proto/wire_vectors.txt: packets over a line that loses, delays and
// reorders them, with the scope after each; and bodies without a header. The mirror reads them
// here; tests/conformance reads them with its own decoder. What the writer chooses may change; the
// lines stay right.
// `test_wire_session record SEED` prints a session.
#include "wire/wire_page.h"

#include "base/rng.h"
#include "base/text.h"
#include "mirror/snapshot_reader.h"
#include "replicate/replicator.h"
#include "session/packet_header.h"
#include "wire.pb-c.h"

#include <inttypes.h>

enum {
    INDEX_MAX = 24,
    CLIENT = 1,
    TICKS = 150,
    LETTERS_MAX = 256,
    DELAY_TICKS_MAX = 9,
    ACK_TICKS = 2,
    LOST_AFTER = 12, ///< ticks
    LINE_BYTES_MAX = 4096,
    SOFT_BITS = 260,
};

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
    ecs_entity entities[INDEX_MAX];
    uint32_t entity_count;
    session_letter letters[LETTERS_MAX];
    uint32_t letter_count;
    uint16_t seq_newest; ///< of those that were read
} session;

static void open_client(session* s, const char* page) {
    wire_side_open(&s->client, page, INDEX_MAX, true);
    net_mirror_config config = {.world = s->client.world,
                                .rows = net_schema_rows(s->client.schema),
                                .index_max = INDEX_MAX};
    assert_ok(net_mirror_create(&config, &s->mirror));
}

static void close_client(session* s) {
    net_mirror_destroy(s->mirror);
    wire_side_close(&s->client);
}

static void open_server(session* s, const char* page) {
    wire_side_open(&s->server, page, INDEX_MAX, false);
    net_rows* rows = net_schema_rows(s->server.schema);
    net_interest_config interest = {
        .world = s->server.world, .rows = rows, .index_max = INDEX_MAX, .tick_rate_hz = 60};
    assert_ok(net_interest_create(&interest, NULL, &s->interest));
    assert_true(net_interest_add_client(s->interest, CLIENT));
    net_replicator_config config = {.rows = rows, .index_max = INDEX_MAX, .interest = s->interest};
    assert_ok(net_replicator_create(&config, &s->replicator));
    assert_ok(net_repl_state_create(s->replicator, CLIENT, &s->view));
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

// ---- recording ----

static void change_world(session* s) {
    ecs_world* world = s->server.world;
    const ecs_template_id templates[] = {s->server.dot, s->server.lamp, s->server.dot_lamp};
    uint32_t births = s->is_hasty ? 5 : base_rng_below(&s->rng, 3) == 0;
    for (; births > 0 && s->entity_count < INDEX_MAX - 4; births--)
        s->entity_count += ecs_create(world, templates[base_rng_below(&s->rng, 3)], NULL, 0,
                                      &s->entities[s->entity_count]) == ECS_OK;
    for (uint32_t i = 0; i < s->entity_count; i++) {
        ecs_entity entity = s->entities[i];
        float t = (float)s->tick * 0.1f * (float)(i % 5);
        if (i % 5 > 0 || base_rng_below(&s->rng, 20) == 0)
            assert_ok(ecs_set(world, entity, s->server.at,
                              &(ecs_vec2){(float)(i % 7) - 3 + (t - (float)(int)t), 7 - t / 3}));
        if (base_rng_below(&s->rng, 12) == 0 && ecs_find(world, entity, s->server.power))
            assert_ok(ecs_set(world, entity, s->server.power,
                              &(uint16_t){(uint16_t)base_rng_below(&s->rng, 65536)}));
        if (base_rng_below(&s->rng, 60) == 0)
            assert_ok(ecs_recreate(world, entity, templates[base_rng_below(&s->rng, 3)], NULL, 0));
        if (base_rng_below(&s->rng, s->is_hasty ? 5 : 25) > 0) continue;
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
    net_repl_state_room room = {.hard = 8000, .soft = SOFT_BITS};
    assert_ok(net_repl_state_write(s->view, made->seq, room, &bits, &records));
    if (records == 0) net_packet_header_deny_snapshot(&bits, end);
    made->size = proto_bit_writer_bytes(&bits);
    if (base_rng_below(&s->rng, 100) < 15) return;
    made->arrives =
        s->tick + 1 +
        base_rng_below(&s->rng,
                       s->is_hasty || base_rng_below(&s->rng, 3) == 0 ? DELAY_TICKS_MAX : 2);
}

static void print_letter(session* s, session_letter* letter) {
    Shoal__Wire__StatePacket packet = SHOAL__WIRE__STATE_PACKET__INIT;
    packet.state = (ProtobufCBinaryData){letter->size, letter->state};
    uint8_t bytes[1172];
    char hex[2 * sizeof bytes + 1];
    wire_print_hex(hex, bytes, shoal__wire__state_packet__pack(&packet, bytes));
    net_packet_header header;
    net_result result = read_state(s, letter->state, letter->size, &header);
    assert_true(result == NET_OK || result != NET_ERR_MALFORMED);
    letter->is_read = result == NET_OK;
    printf("%s seq=%u tick=%" PRIu64 " hex=%s\n", letter->is_read ? "packet" : "late", letter->seq,
           letter->tick, hex);
    if (!letter->is_read) return;
    net_world_digest scope = net_world_digest_walk(s->client.schema, s->client.world, NULL, NULL);
    printf("scope entities=%u hash=%016" PRIx64 "\n", (unsigned)scope.entities, scope.hash);
}

static void carry_letters(session* s) {
    for (uint32_t i = 0; i < s->letter_count; i++)
        if (s->letters[i].arrives == s->tick) print_letter(s, &s->letters[i]);
    for (uint32_t i = s->letter_count; i-- > 0;) {
        session_letter* letter = &s->letters[i];
        if (letter->is_read && !letter->is_acked && letter->arrives + ACK_TICKS <= s->tick) {
            letter->is_acked = s->is_acked = true;
            assert_true(net_repl_state_acked(s->view, letter->seq));
        } else if (!letter->is_acked && !letter->is_declared_lost &&
                   letter->tick + LOST_AFTER <= s->tick) {
            letter->is_declared_lost = true;
            assert_true(net_repl_state_lost(s->view, letter->seq));
        }
    }
}

static int record(uint64_t seed) {
    static session s;
    char* page = wire_page_read();
    s.rng = base_rng_make(seed, 0);
    s.is_hasty = seed % 2;
    open_server(&s, page);
    open_client(&s, page);
    printf("session index_max=%d\n", INDEX_MAX);
    while (s.tick < TICKS) {
        s.tick++;
        if (s.tick < TICKS - 30) change_world(&s);
        ecs_step step = {.tick = s.tick, .dt = 0.5f};
        ecs_world_step(s.server.world, &step);
        assert_ok(net_replicator_step(s.replicator, s.server.world, s.tick));
        ecs_changes_clear(s.server.world);
        net_replicator_publish(s.replicator);
        for (uint32_t sent = base_rng_below(&s.rng, 8); sent > 0 && sent < 8;
             sent = sent == 7 ? 1 : 0)
            write_letter(&s); // none, one or two packets of a tick
        carry_letters(&s);
    }
    close_client(&s);
    close_server(&s);
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
    shoal__wire__state_packet__free_unpacked(packet, NULL);
}

static void expect_body(session* s, const char* line, net_result expected) {
    uint8_t bytes[1172];
    size_t size = read_hex(line, " body=", bytes, sizeof bytes);
    proto_bit_reader bits = proto_bit_reader_make(bytes, size);
    uint16_t seq = (uint16_t)strtoul(word_of(line, " seq="), NULL, 10);
    ecs_tick tick = strtoull(word_of(line, " tick="), NULL, 10);
    assert_int_equal(net_mirror_read(s->mirror, seq, tick, &bits, NULL), expected);
}

static void expect_scope(session* s, const char* line) {
    net_world_digest scope = net_world_digest_walk(s->client.schema, s->client.world, NULL, NULL);
    assert_int_equal(scope.entities, strtoul(word_of(line, " entities="), NULL, 10));
    assert_true(scope.hash == strtoull(word_of(line, " hash="), NULL, 16));
}

CASE(a_mirror_reads_the_recorded_sessions) {
    static session s;
    char line[LINE_BYTES_MAX];
    uint32_t sessions = 0, packets = 0, late = 0, bodies = 0, refused = 0, scopes = 0;
    char* page = wire_page_read();
    FILE* file = fopen(PROTO_FOLDER "/wire_vectors.txt", "rb");
    assert_non_null(file);
    while (fgets(line, sizeof line, file)) {
        if (strncmp(line, "session index_max=", 18) == 0) {
            if (sessions++ > 0) close_client(&s);
            open_client(&s, page);
        } else if (strncmp(line, "packet seq=", 11) == 0) {
            expect_packet(&s, line, NET_OK);
            packets++;
        } else if (strncmp(line, "late seq=", 9) == 0) {
            expect_packet(&s, line, NET_ERR_STALE);
            late++;
        } else if (strncmp(line, "accepted ", 9) == 0) {
            expect_body(&s, line, NET_OK);
            bodies++;
        } else if (strncmp(line, "refused ", 8) == 0) {
            expect_body(&s, line, NET_ERR_STALE); // a late packet is no fault
            refused++;
        } else if (strncmp(line, "scope ", 6) == 0) {
            expect_scope(&s, line);
            scopes++;
        }
    }
    fclose(file);
    close_client(&s);
    free(page);
    assert_true(sessions >= 3 && packets >= 200 && late >= 1 && bodies >= 6 && refused >= 1);
    assert_int_equal(scopes, packets + bodies);
}

int main(int argc, char** argv) {
    if (argc == 3 && strcmp(argv[1], "record") == 0) return record(strtoull(argv[2], NULL, 10));
    return test_run();
}
