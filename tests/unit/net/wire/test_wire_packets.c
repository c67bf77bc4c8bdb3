// SPDX-License-Identifier: MIT
// The golden packets of proto/VECTORS.md. The real writer makes them from the templates of that
// page. The real mirror reads them in the order of that page. Bodies that the project's writer
// never makes are written by hand. tests/conformance reads the same lines with its own decoder.
// After a change of the format the test prints all lines that the page must contain.
#include "replicate/repl_world.h"

#include "base/text.h"
#include "body_pen.h"
#include "wire/wire_page.h"
#include "session/input_packet.h"
#include "session/packet_header.h"
#include "mirror/snapshot_reader.h"
#include "replicate/replicator.h"
#include "wire.pb-c.h"

#include <inttypes.h>

enum {
    INDEX_MAX = WIRE_PAGE_INDEX_MAX,
    LINE_BYTES_MAX = 4096,
    LINES_BYTES_MAX = 1 << 16,
    SEQ_FIRST = 65534,
    CLIENT = 1,
};

typedef struct story {
    char* page;
    const char* next;            // where the search for the next line of packets begins
    char lines[LINES_BYTES_MAX]; // all lines that the page should contain
    size_t lines_size;
    uint32_t faults;
    wire_side server, client;
    net_interest* interest;
    net_replicator* replicator;
    net_repl_state* view;
    net_mirror* mirror;
    body_pen pen;
    ecs_tick tick;
    uint16_t seq;
    bool is_acked;       // a packet was acknowledged, so tick fields are short
    uint16_t seq_newest; ///< of those that were delivered
    uint32_t samples;
} story;

typedef struct story_letter {
    uint16_t seq;
    ecs_tick tick;
    uint8_t state[1100];
    size_t size;
} story_letter;

static void open_story(story* s) {
    s->page = wire_page_read();
    s->seq = SEQ_FIRST;
    s->next = s->page;
    wire_side_open(&s->server, s->page, INDEX_MAX, false);
    wire_side_open(&s->client, s->page, INDEX_MAX, true);
    net_rows* rows = net_schema_rows(s->server.schema);
    net_interest_config interest = {
        .world = s->server.world, .rows = rows, .index_max = INDEX_MAX, .tick_rate_hz = 60};
    assert_ok(net_interest_create(&interest, NULL, &s->interest));
    assert_true(net_interest_add_client(s->interest, CLIENT));
    net_replicator_config replicator = {
        .rows = rows, .index_max = INDEX_MAX, .interest = s->interest};
    assert_ok(net_replicator_create(&replicator, &s->replicator));
    assert_ok(net_repl_state_create(s->replicator, CLIENT, &s->view));
    net_mirror_config config = {.world = s->client.world,
                                .rows = net_schema_rows(s->client.schema),
                                .index_max = INDEX_MAX};
    assert_ok(net_mirror_create(&config, &s->mirror));
}

static void close_story(story* s) {
    net_mirror_destroy(s->mirror);
    net_repl_state_destroy(s->view);
    net_replicator_destroy(s->replicator);
    net_interest_destroy(s->interest);
    wire_side_close(&s->server);
    wire_side_close(&s->client);
    free(s->page);
}

// Check that `line` equals the next line of the page that begins with the same word.
static void expect_line(story* s, const char* line) {
    s->lines_size +=
        (size_t)snprintf(s->lines + s->lines_size, sizeof s->lines - s->lines_size, "%s\n", line);
    assert_true(s->lines_size < sizeof s->lines);
    char word[16], found[LINE_BYTES_MAX] = "nothing more of the kind";
    assert_true(base_text_format(word, sizeof word, "\n%.*s", (int)strcspn(line, " ") + 1, line));
    const char* at = strstr(s->next, word);
    if (at) {
        s->next = at + 1;
        assert_true(
            base_text_format(found, sizeof found, "%.*s", (int)strcspn(s->next, "\n"), s->next));
    }
    s->faults += strcmp(found, line) != 0;
}

// Step the world by one tick and write its packet. A packet that is not delivered counts as lost.
static story_letter write_letter(story* s) {
    ecs_step step = {.tick = ++s->tick, .dt = 0.5f};
    ecs_world_step(s->server.world, &step);
    assert_ok(net_replicator_step(s->replicator, s->server.world, s->tick));
    ecs_changes_clear(s->server.world);
    net_replicator_publish(s->replicator);
    story_letter made = {.seq = s->seq++, .tick = s->tick};
    net_packet_header header = {.seq = made.seq,
                                .is_whole = !s->is_acked,
                                .tick = s->tick,
                                .has_ack = s->tick > 1,
                                .ack = (uint16_t)(s->tick - 1),
                                .ack_delay_us = 20 * NET_PACKET_HEADER_DELAY_US,
                                .has_input = s->tick > 2,
                                .input_used = s->tick > 2 ? (uint32_t)s->tick + 5 : 0,
                                .input_repeats = (uint32_t)(s->tick % 2),
                                .input_depth = 2,
                                .has_event_ack = s->tick == 3,
                                .event_ack = 1,
                                .player_age = (uint32_t)(s->tick % 5),
                                .has_body = true};
    if (!header.has_input) header.input_repeats = header.input_depth = 0;
    if (!header.has_event_ack) header.event_ack = 0;
    uint64_t hash;
    header.has_probe = net_repl_state_probe(s->view, &header.probe_slot, &header.probe_age, &hash);
    header.probe_hash = header.has_probe ? (uint16_t)hash : 0;
    proto_bit_writer bits = proto_bit_writer_make(made.state, sizeof made.state);
    net_packet_header_write(&bits, &header);
    uint64_t end = bits.size_bits;
    uint32_t records;
    net_repl_state_room room = {.hard = 8000, .soft = 8000};
    assert_ok(net_repl_state_write(s->view, made.seq, room, &bits, &records));
    if (records == 0) net_packet_header_deny_snapshot(&bits, end);
    made.size = proto_bit_writer_bytes(&bits);
    return made;
}

static void lose(story* s) {
    story_letter letter = write_letter(s);
    assert_true(net_repl_state_lost(s->view, letter.seq));
}

static void take_state(story* s, story_letter* letter) {
    proto_bit_reader bits = proto_bit_reader_make(letter->state, letter->size);
    net_packet_header_near near = {.tick = net_mirror_tick(s->mirror),
                                   .has_tick = s->is_acked,
                                   .seq = s->seq_newest,
                                   .sent = (uint16_t)s->tick};
    net_packet_header header;
    assert_ok(net_packet_header_read(&bits, &near, &header));
    assert_int_equal(header.seq, letter->seq);
    assert_int_equal(header.tick, letter->tick);
    assert_ok(
        net_mirror_read(s->mirror, header.seq, header.tick, header.has_body ? &bits : NULL, NULL));
    if (header.has_probe) {
        net_mirror_probe_result sample = net_mirror_check_probe(
            s->mirror, header.probe_slot, header.tick - header.probe_age, header.probe_hash, NULL);
        assert_int_not_equal(sample, NET_MIRROR_DIFFERS);
        s->samples += sample == NET_MIRROR_EQUAL;
    }
    assert_true(net_repl_state_acked(s->view, letter->seq));
    if (!s->is_acked || (int16_t)(uint16_t)(letter->seq - s->seq_newest) > 0)
        s->seq_newest = letter->seq;
    s->is_acked = true;
}

static void deliver(story* s, story_letter* letter) {
    Shoal__Wire__StatePacket packet = SHOAL__WIRE__STATE_PACKET__INIT;
    packet.state = (ProtobufCBinaryData){letter->size, letter->state};
    uint8_t bytes[1172];
    size_t size = shoal__wire__state_packet__pack(&packet, bytes);
    char hex[2 * sizeof bytes + 1], line[LINE_BYTES_MAX];
    wire_print_hex(hex, bytes, size);
    assert_true(base_text_format(line, sizeof line, "packet seq=%u tick=%" PRIu64 " hex=%s",
                                 letter->seq, letter->tick, hex));
    expect_line(s, line);
    take_state(s, letter);
}

static void expect_client(story* s) {
    char line[128];
    net_world_digest scope = net_world_digest_walk(s->client.schema, s->client.world, NULL, NULL);
    (void)base_text_format(line, sizeof line, "scope entities=%u hash=%016" PRIx64,
                           (unsigned)scope.entities, scope.hash);
    expect_line(s, line);
}

static void expect_scope(story* s) {
    expect_client(s);
    assert_true(net_world_digest_walk(s->client.schema, s->client.world, NULL, NULL).hash ==
                net_world_digest_walk(s->server.schema, s->server.world, NULL, NULL).hash);
}

static ecs_entity create(story* s, ecs_template_id template_id) {
    ecs_entity entity;
    assert_ok(ecs_create(s->server.world, template_id, NULL, 0, &entity));
    return entity;
}

static void set(story* s, ecs_entity entity, ecs_component_id component, const void* value) {
    assert_ok(ecs_set(s->server.world, entity, component, value));
}

static void send_now(story* s) {
    story_letter letter = write_letter(s);
    deliver(s, &letter);
    expect_scope(s);
}

static void report(story* s) {
    wire_side* server = &s->server;
    ecs_entity dot = create(s, server->dot), lamp = create(s, server->lamp);
    ecs_entity sky = create(s, server->sky), both = create(s, server->dot_lamp);
    set(s, dot, server->at, &(ecs_vec2){-1.5f, 2});
    send_now(s); // creates

    set(s, dot, server->at, &(ecs_vec2){-1.25f, 7});
    set(s, lamp, server->lit, &(bool){true});
    set(s, lamp, server->power, &(uint16_t){65535});
    set(s, both, server->power, &(uint16_t){299});
    send_now(s); // updates

    assert_ok(ecs_destroy(server->world, dot));
    assert_ok(ecs_recreate(server->world, lamp, server->dot, NULL, 0));
    send_now(s); // a destroy, and a create that changes a template

    set(s, sky, server->tint, &(ecs_color){11, 20, 30, 255});
    story_letter fourth = write_letter(s);
    set(s, sky, server->tint, &(ecs_color){12, 200, 30, 255});
    set(s, both, server->at, &(ecs_vec2){0.0625f, 0});
    story_letter fifth = write_letter(s);
    deliver(s, &fifth);
    deliver(s, &fourth); // a late packet: a base, no change
    expect_scope(s);

    set(s, both, server->at, &(ecs_vec2){0.125f, -1});
    set(s, lamp, server->at, &(ecs_vec2){3, 3});
    send_now(s);
    set(s, both, server->at, &(ecs_vec2){0.1875f, -2});
    set(s, lamp, server->at, &(ecs_vec2){3.5f, 3});
    send_now(s);                   // two base rows
    (void)create(s, server->lamp); // in the slot of the destroyed entity
    send_now(s);

    while (s->tick < 299)
        lose(s);
    send_now(s); // there is nothing to send
    set(s, sky, server->tint, &(ecs_color){13, 200, 30, 0});
    send_now(s); // all entities are settled

    // After too many changes without an acknowledgement the base is dropped. The template's row
    // replaces it.
    for (uint8_t i = 0; i < 70; i++) {
        set(s, sky, server->tint, &(ecs_color){i, 1, 2, 3});
        lose(s);
    }
    set(s, sky, server->tint, &(ecs_color){0, 20, 3, 255});
    send_now(s);
    assert_true(net_repl_state_resync(s->view, both));
    send_now(s);
}

// ---- bodies that the project's writer never makes ----

typedef struct hand {
    story* s;
    body_pen* pen;
    const net_row_template *dot, *lamp, *both;
    uint32_t slot; ///< the slot of the entity that is both
    const net_row_template* entry;
    uint64_t newest[PROTO_ROW_FIELDS_MAX]; ///< its newest row there
    ecs_entity handle;
    uint32_t age;   ///< the age of that row at the next tick
    ecs_entity sky; ///< handle
} hand;

static void put_lists(hand* h, uint32_t destroys, uint32_t creates) {
    pen_list(h->pen, destroys);
    if (destroys == 0) pen_list(h->pen, creates);
}

// Begin a body with one create; put_create ends it.
static void put_create(hand* h, uint32_t slot, ecs_entity handle, const net_row_template* entry) {
    pen_create(h->pen, slot, handle, entry, entry->defaults);
    pen_runs(h->pen, 0);
}

static void put_run(hand* h) {
    put_lists(h, 0, 0);
    pen_runs(h->pen, 1);
}

static void put_update(hand* h, uint32_t slot) {
    pen_slot(h->pen, slot);
    proto_row_base base = {.base = h->newest, .ticks = h->age};
    pen_row(h->pen, h->entry, base, h->newest);
}

static void empty_lists(hand* h) {
    put_lists(h, 0, 0);
    pen_runs(h->pen, 0);
}

static void equal_row(hand* h) {
    put_run(h);
    h->pen->order = NET_SNAPSHOT_ORDER_MAX;
    pen_run_age(h->pen, h->age, 0, 1);
    put_update(h, h->slot);
}

static void create_again(hand* h) {
    put_lists(h, 0, 1);
    put_create(h, h->slot, h->handle, h->entry);
}

static void destroy_nobody(hand* h) {
    pen_only_destroy(h->pen, 900);
}

static void part_twice(hand* h) {
    net_row_template named = *h->both;
    named.part_count = 3;
    named.parts[0] = named.parts[2] = h->dot->parts[0];
    named.parts[1] = h->lamp->parts[0];
    const net_row_template* meant =
        net_rows_compose(net_schema_rows(h->s->client.schema), named.parts, 3);
    assert_non_null(meant);
    put_lists(h, 0, 1);
    pen_create_head(h->pen, 10, ecs_entity_make(700, 3), &named);
    pen_row(h->pen, meant, (proto_row_base){0}, meant->defaults);
    pen_runs(h->pen, 0);
}

static void long_forms(hand* h) {
    put_lists(h, 0, 2);
    pen_create(h->pen, 11, ecs_entity_make(701, 1), h->dot, h->dot->defaults);
    pen_slot(h->pen, 12);
    pen_put(h->pen, 0, 1);
    pen_put(h->pen, 702, h->pen->index_bits);
    pen_put(h->pen, 0, 1);
    pen_put(h->pen, 1, ECS_GENERATION_BITS);
    pen_put(h->pen, 0, 1 + NET_SNAPSHOT_PARTS_BITS);
    pen_put(h->pen, h->dot->parts[0], h->pen->number_bits);
    pen_row(h->pen, h->dot, (proto_row_base){0}, h->dot->defaults);
    pen_runs(h->pen, 0);
}

static void another_slot(hand* h) {
    put_lists(h, 0, 1);
    put_create(h, 500, h->handle, h->both);
}

static void reborn(hand* h) {
    put_lists(h, 0, 1);
    put_create(h, 501, h->sky + (1u << ECS_INDEX_BITS), h->dot);
}

// The packet before the last one had one row (another_slot).
static void all_absent(hand* h) {
    put_run(h);
    pen_run_packet(h->pen, 2, 0);
    pen_absent(h->pen);
}

static void padding_bit(hand* h) {
    empty_lists(h);
    pen_put(h->pen, 1, 1);
}

static void padding_byte(hand* h) {
    empty_lists(h);
    pen_put(h->pen, 0, 8);
}

static void ends_in_list(hand* h) {
    pen_list(h->pen, 2);
    pen_slot(h->pen, 1);
}

static void ends_in_row(hand* h) {
    put_lists(h, 0, 1);
    pen_create_head(h->pen, 13, ecs_entity_make(703, 1), h->both);
}

static void slot_beyond(hand* h) {
    pen_only_destroy(h->pen, INDEX_MAX);
}

static void slot_twice(hand* h) {
    pen_destroys(h->pen, 1, &(uint32_t){14});
    pen_list(h->pen, 1);
    put_create(h, 14, ecs_entity_make(703, 1), h->dot);
}

static void generation_zero(hand* h) {
    put_lists(h, 0, 1);
    put_create(h, 14, ecs_entity_make(703, 0), h->dot);
}

static void index_zero(hand* h) {
    put_lists(h, 0, 1);
    put_create(h, 14, ecs_entity_make(0, 1), h->dot);
}

static void index_beyond(hand* h) {
    put_lists(h, 0, 1);
    put_create(h, 14, ecs_entity_make(INDEX_MAX + 1, 1), h->dot);
}

static void index_twice(hand* h) {
    put_lists(h, 0, 2);
    pen_create(h->pen, 14, ecs_entity_make(703, 1), h->dot, h->dot->defaults);
    put_create(h, 15, ecs_entity_make(703, 2), h->dot);
}

static void created_and_updated(hand* h) {
    put_lists(h, 0, 1);
    pen_create(h->pen, h->slot + 20, h->handle, h->entry, h->entry->defaults);
    pen_runs(h->pen, 1);
    pen_run_age(h->pen, h->age, 0, 1);
    put_update(h, h->slot);
}

static void template_of_nobody(hand* h) {
    put_lists(h, 0, 1);
    h->pen->entry = h->dot;
    put_create(h, 14, ecs_entity_make(703, 1), h->dot);
}

static void unknown_number(hand* h) {
    net_row_template named = *h->dot;
    named.parts[0] = 3;
    put_lists(h, 0, 1);
    put_create(h, 14, ecs_entity_make(703, 1), &named);
}

static void kind_three(hand* h) {
    put_run(h);
    pen_put(h->pen, 3, NET_SNAPSHOT_KIND_BITS);
    pen_put(h->pen, 0, 30);
}

static void age_zero(hand* h) {
    put_run(h);
    pen_run_age(h->pen, 0, 0, 1);
    put_update(h, h->slot);
}

static void no_row_of_age(hand* h) {
    put_run(h);
    pen_run_age(h->pen, h->age + 1, 0, 1);
    put_update(h, h->slot);
}

static void no_second_row(hand* h) {
    put_run(h);
    pen_run_age(h->pen, h->age, 200, 1);
    put_update(h, h->slot);
}

static void second_row_too_far(hand* h) {
    put_run(h);
    pen_run_age(h->pen, h->age, NET_SNAPSHOT_BASE2_TICKS_MAX + 1, 1);
    put_update(h, h->slot);
}

static void settled_with_two(hand* h) {
    put_run(h);
    pen_run_age(h->pen, NET_SNAPSHOT_AGE_SETTLED, 1, 1);
    put_update(h, h->slot);
}

static void back_zero(hand* h) {
    put_run(h);
    pen_run_packet(h->pen, 0, 0);
    pen_absent(h->pen);
}

static void no_such_packet(hand* h) {
    put_run(h);
    pen_run_packet(h->pen, 50, 0);
    pen_absent(h->pen);
}

static void nobody_there(hand* h) {
    put_run(h);
    pen_run_absolute(h->pen, 1);
    put_update(h, 900);
}

static void never_sent(hand* h) {
    put_run(h);
    pen_run_age(h->pen, h->age, 0, 1);
    put_update(h, 800);
}

static void zeros(hand* h) {
    pen_put(h->pen, 0, 34);
    pen_put(h->pen, 1, 1);
    pen_put(h->pen, 0, 40);
}

static void two_to_the_32(hand* h) {
    pen_put(h->pen, UINT64_C(1) << 32, 33);
    pen_put(h->pen, 1, 39);
}

static const struct hand_case {
    const char* why;
    void (*write)(hand* h);
    bool is_accepted;
} hand_cases[] = {
    {"three_empty_lists", empty_lists, true},
    {"equal_to_its_base_and_high_order", equal_row, true},
    {"a_second_row_that_was_never_sent", no_second_row, true},
    {"create_of_an_existing_entity", create_again, true},
    {"destroy_of_an_empty_slot", destroy_nobody, true},
    {"create_with_a_part_named_twice", part_twice, true},
    {"long_forms_where_short_ones_would_do", long_forms, true},
    {"an_entity_changes_its_slot", another_slot, true},
    {"a_new_generation_before_the_end_of_the_last", reborn, true},
    {"all_of_a_list_absent", all_absent, true},
    {"padding_is_not_0", padding_bit, false},
    {"padding_is_a_byte", padding_byte, false},
    {"ends_in_a_list", ends_in_list, false},
    {"ends_in_a_create", ends_in_row, false},
    {"slot_beyond_the_range", slot_beyond, false},
    {"slot_twice", slot_twice, false},
    {"generation_0", generation_zero, false},
    {"index_0", index_zero, false},
    {"index_above_the_range", index_beyond, false},
    {"index_twice", index_twice, false},
    {"created_here_and_updated_there", created_and_updated, false},
    {"first_create_names_no_template", template_of_nobody, false},
    {"unknown_wire_number", unknown_number, false},
    {"kind_3", kind_three, false},
    {"age_0", age_zero, false},
    {"no_row_of_that_age", no_row_of_age, false},
    {"second_row_too_far_away", second_row_too_far, false},
    {"second_row_of_a_settled_base", settled_with_two, false},
    {"back_0", back_zero, false},
    {"no_such_packet", no_such_packet, false},
    {"update_of_an_empty_slot", nobody_there, false},
    {"update_of_a_slot_never_used", never_sent, false},
    {"golomb_longer_than_33_zeros", zeros, false},
    {"golomb_of_2_to_the_32", two_to_the_32, false},
};

// Get what a hand-written body needs at the next tick.
static hand take_hand(story* s) {
    net_rows* rows = net_schema_rows(s->client.schema);
    hand h = {.s = s, .pen = &s->pen};
    h.dot = net_rows_by_number(rows, 0);
    h.lamp = net_rows_by_number(rows, 1);
    h.both = net_rows_compose(rows, (const uint16_t[]){0, 1}, 2);
    h.sky = ecs_entity_make(3, 1);
    h.handle = ecs_entity_make(4, 1);
    const net_mirror_slot* slot = net_mirror_find(s->mirror, h.handle);
    assert_true(slot && slot->incarnation.row_template == h.both);
    h.slot = net_mirror_index_of(s->mirror, ecs_entity_index(slot->handle))->slot_next - 1u;
    h.entry = slot->incarnation.row_template;
    net_mirror_unpack(&slot->incarnation, slot->incarnation.ring.count - 1u, h.newest);
    h.age = (uint32_t)(s->tick + 1 - slot->tick);
    pen_begin(h.pen, INDEX_MAX, rows);
    return h;
}

static void check_bodies(story* s) {
    for (uint32_t i = 0; i < BASE_COUNT(hand_cases); i++) {
        const struct hand_case* one = &hand_cases[i];
        hand h = take_hand(s);
        one->write(&h);
        size_t size = proto_bit_writer_bytes(&h.pen->bits);
        char hex[256], line[LINE_BYTES_MAX];
        assert_true(2 * size < sizeof hex);
        wire_print_hex(hex, h.pen->bytes, size);
        uint16_t seq = s->seq;
        ecs_tick tick = s->tick + 1;
        assert_true(base_text_format(line, sizeof line, "%s seq=%u tick=%" PRIu64 " body=%s why=%s",
                                     one->is_accepted ? "accepted" : "refused", seq, tick, hex,
                                     one->why));
        expect_line(s, line);
        net_result result = pen_read(h.pen, s->mirror, seq, tick, NULL);
        if (result != (one->is_accepted ? NET_OK : NET_ERR_MALFORMED))
            fail_msg("%s: %d", one->why, (int)result);
        if (!one->is_accepted) continue;
        s->seq++;
        s->tick++;
    }
}

static void expect_schema(story* s) {
    uint32_t count;
    const net_schema_item* items = net_schema_items(s->server.schema, &count);
    char line[256];
    for (uint32_t i = 0; i < count; i++) {
        const char* space = strchr(items[i].name, ' ');
        assert_true(base_text_format(line, sizeof line, "item kind=%.*s name=%s hash=%016" PRIx64,
                                     (int)(space - items[i].name), items[i].name, space + 1,
                                     items[i].hash));
        expect_line(s, line);
    }
    (void)base_text_format(line, sizeof line, "schema hash=%016" PRIx64,
                           net_schema_hash(s->server.schema));
    expect_line(s, line);
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

CASE(the_packets_of_the_page_are_written_read_and_refused_as_it_says) {
    static story s;
    open_story(&s);
    expect_schema(&s);
    report(&s);
    const net_mirror_counters* mirror = net_mirror_get_counters(s.mirror);
    assert_int_equal(mirror->stale_records, 1);
    const net_repl_state_counters* view = net_repl_state_get_counters(s.view);
    assert_true(view->records_create >= 6 && view->records_destroy >= 1);
    assert_true(view->records_update >= 8 && view->resyncs == 1);
    assert_true(view->records_settled >= 1 && view->records_absolute >= 1);
    assert_true(s.samples >= 5);
    check_bodies(&s);
    expect_client(&s);
    if (s.faults > 0) fprintf(stderr, "the page should say:\n%s", s.lines);
    assert_int_equal(s.faults, 0);
    close_story(&s);
}
