// SPDX-License-Identifier: MIT
#include "heard.h"
#include "varsize_world.h"

/// One server, one client, and the messages between them.
typedef struct fixture {
    varsize_side server;
    net_varsize_source* values;
    net_varsize_sender* repl;
    varsize_mirror mirror;
    varsize_channel channel;
    ecs_tick tick;
    heard said;
} fixture;

static void open(fixture* at) {
    memset(at, 0, sizeof *at);
    varsize_side_open(&at->server, false);
    varsize_mirror_open(&at->mirror, 0);
    at->values =
        net_varsize_source_create(NULL, at->server.rows, LARGE_INDEX_MAX, heard_begin(&at->said));
    at->repl = net_varsize_sender_create(at->values);
    at->channel.room = UINT32_MAX;
}

static void close(fixture* at) {
    varsize_channel_drop(&at->channel, at->channel.count);
    net_varsize_sender_destroy(at->repl);
    net_varsize_source_destroy(at->values);
    varsize_mirror_close(&at->mirror);
    varsize_side_close(&at->server);
}

// Step the server by one tick, after a test changed its world.
static void step(fixture* at) {
    varsize_step(&at->server, at->values, ++at->tick);
}

static void publish(fixture* at) {
    net_varsize_sender_publish(at->repl, 100000, varsize_send, &at->channel);
}

// @return how many messages wait in the channel after a publish, and after a step too.
static uint32_t published(fixture* at) {
    publish(at);
    return at->channel.count;
}

static uint32_t stepped(fixture* at) {
    step(at);
    return published(at);
}

static net_result receive(fixture* at, const varsize_copy* copy) {
    return net_varsize_receiver_receive(at->mirror.client, &copy->message);
}

// Deliver and acknowledge all messages.
static void deliver(fixture* at) {
    for (uint32_t i = 0; i < at->channel.count; i++) {
        assert_ok(receive(at, at->channel.copies[i]));
        assert_true(net_varsize_sender_ack(at->repl, at->channel.copies[i]->message.version));
    }
    varsize_channel_drop(&at->channel, at->channel.count);
}

static void exchange(fixture* at) {
    step(at);
    publish(at);
    deliver(at);
    assert_true(net_varsize_sender_is_settled(at->repl));
}

static void enter(fixture* at, ecs_entity entity, uint32_t classes) {
    net_varsize_sender_enter(at->repl, entity, classes, at->tick);
}

static void report(fixture* at, ecs_entity entity, ecs_template_id template_id) {
    varsize_report(&at->mirror, ecs_entity_index(entity), entity, template_id, at->tick);
    net_varsize_receiver_tick(at->mirror.client);
}

static const char* title(const fixture* at, ecs_entity entity) {
    return varsize_get_text(&at->mirror.side, entity, at->mirror.side.title);
}

static void set_title(fixture* at, ecs_entity entity, const char* text) {
    varsize_set_text(&at->server, entity, at->server.title, text);
}

// Add an entity that both sides have.
static ecs_entity add(fixture* at, ecs_template_id template_id) {
    ecs_entity entity = varsize_create(&at->server, template_id);
    step(at);
    enter(at, entity, EVERYTHING);
    report(at, entity, template_id);
    return entity;
}

#define SIDE_CASE(name)                                                                            \
    CASE_WITH(varsize_side, side, varsize_side_open(side, false), varsize_side_close(side), name)

SIDE_CASE(components_that_own_memory_are_numbered_by_name_and_no_part_of_the_row) {
    assert_int_equal(side->rows->varsize_count, 5);
    const ecs_component_id order[] = {side->bytes, side->notes, side->route, side->secret,
                                      side->title};
    for (uint32_t n = 0; n < 5; n++)
        assert_int_equal(net_rows_varsize(side->rows, n), order[n]);
    assert_int_equal(net_rows_varsize(side->rows, 5), ECS_COMPONENT_NONE);
    const net_row_template* page = net_rows_find(side->rows, side->page);
    assert_int_equal(page->layout.component_count, 1);
    assert_int_equal(page->varsize_count, 4);
    assert_int_equal(net_row_find_varsize(page, side->secret)->class_, NET_CLASS_OWNER);
    assert_int_equal(net_row_find_varsize(page, side->title)->class_, NET_CLASS_PUBLIC);
    assert_null(net_row_find_varsize(page, side->diary));
    assert_null(net_row_find_varsize(page, side->bytes));
    const net_row_template* cover = net_rows_find(side->rows, side->cover);
    assert_int_equal(cover->layout.component_count, 0);
    assert_int_equal(cover->layout.field_count, 0);
    assert_int_equal(cover->varsize_count, 1);
    assert_null(net_rows_find(side->rows, side->plain));
}

#define VALUES_CASE(name) CASE_WITH(fixture, at, open(at), close(at), name)
/// A case with a page that both sides have.
#define PAGE_CASE(name)                                                                            \
    CASE_GIVEN(fixture, at, open(at), close(at), ecs_entity, page, add(at, at->server.page), name)

// It comes after the end of the entity, or waits for the entity until then.
VALUES_CASE(a_value_for_an_entity_that_is_gone_is_dropped) {
    for (uint32_t is_early = 0; is_early < 2; is_early++) {
        ecs_entity page = varsize_create(&at->server, at->server.page);
        set_title(at, page, "late");
        step(at);
        enter(at, page, EVERYTHING);
        publish(at);
        if (is_early)
            deliver(at);
        else
            report(at, page, at->server.page);
        assert_int_equal(net_varsize_receiver_waiting(at->mirror.client), is_early);
        at->tick++;
        varsize_report(&at->mirror, ecs_entity_index(page), ECS_ENTITY_NONE, 0, at->tick);
        report(at, ECS_ENTITY_NONE, 0); // index 0 belongs to no entity
        deliver(at);
        assert_int_equal(net_varsize_receiver_waiting(at->mirror.client), 0);
        assert_int_equal(net_varsize_receiver_get_counters(at->mirror.client)->dropped,
                         1 + is_early);
    }
}

PAGE_CASE(a_component_that_went_and_came_back_is_told) {
    set_title(at, page, "first");
    exchange(at);
    assert_ok(ecs_recreate(at->server.world, page, at->server.sheet, NULL, 0));
    exchange(at);
    assert_ok(ecs_recreate(at->server.world, page, at->server.page, NULL, 0));
    assert_int_equal(stepped(at), 4); // all large values of the page
    deliver(at);
    // The record is in a packet that is still under way.
    assert_string_equal(title(at, page), "first");
    report(at, page, at->mirror.side.page); // the client has nothing of the sheet
    assert_string_equal(title(at, page), "blank");
}

CASE(what_a_client_does_not_see_does_not_move_a_bit) {
    fixture pair[2];
    for (uint32_t i = 0; i < 2; i++) {
        fixture* at = &pair[i];
        open(at);
        const base_allocator* allocator = ecs_world_allocator(at->server.world);
        ecs_entity page = varsize_create(&at->server, at->server.page);
        ecs_entity other = varsize_create(&at->server, at->server.page);
        for (int32_t round = 0; round < 8; round++) {
            ecs_object* secret = ecs_get_mut(at->server.world, page, at->server.secret);
            if (i == 1)
                assert_ok(ecs_object_set(allocator, secret, "level", ECS_ELEMENT_I, &round));
            if (i == 1 && round == 3)
                assert_ok(ecs_recreate(at->server.world, other, at->server.page_cover, NULL, 0));
            char text[16];
            (void)snprintf(text, sizeof text, "round %d", round);
            set_title(at, page, text);
            step(at);
            if (round == 0) enter(at, page, PUBLIC_ONLY);
            publish(at);
            if (round % 2 == 0)
                (void)net_varsize_sender_ack(
                    at->repl, at->channel.copies[at->channel.count - 1]->message.version);
        }
    }
    assert_int_equal(pair[0].channel.count, pair[1].channel.count);
    for (uint32_t i = 0; i < pair[0].channel.count; i++) {
        const net_varsize_message* a = &pair[0].channel.copies[i]->message;
        const net_varsize_message* b = &pair[1].channel.copies[i]->message;
        assert_true(a->handle == b->handle && a->number == b->number && a->version == b->version &&
                    a->since == b->since && a->is_default == b->is_default && a->size == b->size);
        assert_memory_equal(a->bytes, b->bytes, a->size);
    }
    close(&pair[0]);
    close(&pair[1]);
}

VALUES_CASE(values_up_to_the_limit_travel_and_longer_ones_are_the_default) {
    ecs_entity shelf = add(at, at->server.shelf);
    const uint32_t sizes[] = {NET_VARSIZE_BYTES_MAX - 1, NET_VARSIZE_BYTES_MAX};
    for (uint32_t i = 0; i < 2; i++) {
        varsize_set_size(&at->server, shelf, sizes[i], 7);
        assert_int_equal(stepped(at), 1);
        assert_int_equal(at->channel.copies[0]->message.size, sizes[i]);
        deliver(at);
        const ecs_list* there = ecs_get(at->mirror.side.world, shelf, at->mirror.side.bytes);
        assert_int_equal(ecs_list_count(there), sizes[i] - 2);
    }
    for (uint32_t i = 1; i <= 2; i++) {
        varsize_set_size(&at->server, shelf, NET_VARSIZE_BYTES_MAX + i, 7);
        exchange(at);
        assert_int_equal(at->said.lines, 1); // one report for all
        assert_non_null(strstr(at->said.last, "clients have its default"));
        assert_int_equal(net_varsize_source_get_counters(at->values)->values_long, i);
    }
    const ecs_list* there = ecs_get(at->mirror.side.world, shelf, at->mirror.side.bytes);
    assert_int_equal(ecs_list_count(there), 0);
    // Both loops give the same result.
    assert_true(schema_digest(at->server.schema, at->server.world) ==
                schema_digest(at->mirror.side.schema, at->mirror.side.world));
}

VALUES_CASE(no_more_bytes_are_under_way_than_the_limit_and_nobody_starves) {
    enum { SHELVES = 12 };
    ecs_entity shelves[SHELVES];
    uint32_t arrived[SHELVES] = {0};
    for (uint32_t i = 0; i < SHELVES; i++)
        shelves[i] = add(at, at->server.shelf);
    for (uint32_t round = 0; round < 40; round++) {
        // The first shelf changes in each tick.
        for (uint32_t i = 0; i < (round == 0 ? (uint32_t)SHELVES : 1u); i++)
            varsize_set_size(&at->server, shelves[i], 9000, (uint8_t)(round + 1));
        step(at);
        publish(at);
        uint32_t bytes = 0;
        for (uint32_t i = 0; i < at->channel.count; i++) {
            bytes += at->channel.copies[i]->message.size;
            for (uint32_t k = 0; k < SHELVES; k++)
                arrived[k] += shelves[k] == at->channel.copies[i]->message.handle;
        }
        assert_true(bytes <= NET_VARSIZE_FLIGHT_BYTES_MAX);
        deliver(at);
        if (round != 5) continue;
        for (uint32_t k = 0; k < SHELVES; k++)
            assert_true(arrived[k] >= 1);
    }
}

VALUES_CASE(the_number_of_versions_under_way_is_limited) {
    for (uint32_t i = 0; i < NET_VARSIZE_FLIGHT_MAX + 5; i++) {
        ecs_entity page = add(at, at->server.page);
        set_title(at, page, "x");
    }
    assert_int_equal(stepped(at), NET_VARSIZE_FLIGHT_MAX);
    deliver(at);
    assert_int_equal(published(at), 5);
}

VALUES_CASE(an_allowance_is_kept_to_within_one_value) {
    for (uint32_t i = 0; i < 8; i++) {
        ecs_entity shelf = add(at, at->server.shelf);
        varsize_set_size(&at->server, shelf, 1000, 1);
    }
    step(at);
    uint64_t sent = 0;
    for (uint32_t i = 1; i <= 20; i++) {
        net_varsize_sender_publish(at->repl, 100, varsize_send, &at->channel);
        sent = 0;
        for (uint32_t k = 0; k < at->channel.count; k++)
            sent += at->channel.copies[k]->message.size + NET_VARSIZE_FRAME_BYTES_MAX;
        assert_true(sent <= 100u * i + 1056);
    }
    assert_int_equal(at->channel.count, 2); // 2,000 bytes in 20 ticks
    at->channel.room = 0;                   // a full channel stops everything, and nothing is lost
    net_varsize_sender_publish(at->repl, 100000, varsize_send, &at->channel);
    assert_int_equal(at->channel.count, 2);
    at->channel.room = UINT32_MAX;
    assert_int_equal(published(at), 8);
}

PAGE_CASE(after_a_lost_connection_what_was_under_way_is_sent_as_a_new_version) {
    set_title(at, page, "one");
    step(at);
    publish(at);
    varsize_copy old = *at->channel.copies[0];
    old.message.bytes = old.bytes;
    varsize_channel_drop(&at->channel, 1);
    net_varsize_sender_resume(at->repl);
    assert_int_equal(published(at), 1);
    assert_true(at->channel.copies[0]->message.version > old.message.version);
    deliver(at);
    // The acknowledgement is late and does no harm.
    assert_true(net_varsize_sender_ack(at->repl, old.message.version));
    assert_true(net_varsize_sender_is_settled(at->repl));
    assert_string_equal(title(at, page), "one");
    set_title(at, page, "two");
    exchange(at);
    // The message is stale: acknowledged, no other effect.
    assert_ok(receive(at, &old));
    assert_string_equal(title(at, page), "two");
    assert_int_equal(net_varsize_receiver_get_counters(at->mirror.client)->stale, 1);
}

PAGE_CASE(versions_that_were_never_sent_are_forged) {
    set_title(at, page, "one");
    exchange(at);
    uint32_t number = varsize_number(&at->server, at->server.title);
    assert_false(net_varsize_sender_ack(at->repl, 0));
    assert_false(net_varsize_sender_ack(at->repl, 2));
    assert_false(net_varsize_sender_ack(at->repl, UINT64_MAX));
    assert_false(net_varsize_sender_lost(at->repl, page, number, 2));
    assert_true(net_varsize_sender_ack(at->repl, 1));
    assert_true(net_varsize_sender_lost(at->repl, page, number + 7, 1));
    assert_true(net_varsize_sender_lost(at->repl, ECS_ENTITY_NONE, number, 1));
    assert_true(net_varsize_sender_lost(at->repl, UINT32_MAX, UINT32_MAX, 1));
    assert_true(net_varsize_sender_is_settled(at->repl));
    assert_true(net_varsize_sender_lost(at->repl, page, number, 1));
    assert_false(net_varsize_sender_is_settled(at->repl));
}

enum { ROOM = 4 };

CASE_ROWS(fixture, at, open(at), close(at), row, 3,
          when_too_many_wait_the_oldest_give_way_and_come_again) {
    const uint32_t count = ROOM - 1 + row;
    varsize_mirror_close(&at->mirror);
    varsize_mirror_open(&at->mirror, ROOM);
    ecs_entity pages[ROOM + 1];
    for (uint32_t i = 0; i < count; i++) {
        pages[i] = varsize_create(&at->server, at->server.page);
        set_title(at, pages[i], "kept");
    }
    step(at);
    for (uint32_t i = 0; i < count; i++)
        enter(at, pages[i], EVERYTHING);
    publish(at);
    deliver(at);
    bool is_over = count > ROOM;
    assert_int_equal(net_varsize_receiver_waiting(at->mirror.client), is_over ? ROOM : count);
    net_varsize_lost lost;
    assert_int_equal(net_varsize_receiver_next_evicted(at->mirror.client, &lost), is_over);
    for (uint32_t i = is_over; i < count; i++)
        report(at, pages[i], at->server.page);
    if (is_over) {
        assert_int_equal(lost.handle, pages[0]);
        assert_true(net_varsize_sender_lost(at->repl, lost.handle, lost.number, lost.version));
        assert_false(net_varsize_receiver_next_evicted(at->mirror.client, &lost));
        publish(at);
        deliver(at);
        report(at, pages[0], at->server.page);
    }
    for (uint32_t i = 0; i < count; i++)
        assert_string_equal(title(at, pages[i]), "kept");
}

VALUES_CASE(bytes_that_wait_are_limited_too) {
    ecs_entity shelf = varsize_create(&at->server, at->server.shelf);
    enum { COUNT = NET_VARSIZE_WAITING_BYTES_MAX / NET_VARSIZE_BYTES_MAX };
    varsize_copy copy = {.message = {.handle = shelf,
                                     .number = varsize_number(&at->server, at->server.bytes),
                                     .since = 1,
                                     .size = NET_VARSIZE_BYTES_MAX}};
    copy.message.bytes = copy.bytes;
    uint32_t count = NET_VARSIZE_BYTES_MAX - 2;
    copy.bytes[0] = (uint8_t)(count | 0x80);
    copy.bytes[1] = (uint8_t)(count >> 7);
    for (uint32_t i = 0; i <= COUNT; i++) {
        assert_int_equal(net_varsize_receiver_waiting(at->mirror.client), i);
        copy.message.handle = ecs_entity_make(i + 1, 1);
        copy.message.version++;
        assert_ok(receive(at, &copy));
    }
    assert_int_equal(net_varsize_receiver_waiting(at->mirror.client), COUNT);
    assert_int_equal(net_varsize_receiver_get_counters(at->mirror.client)->evicted, 1);
}

PAGE_CASE(messages_that_no_server_sends_are_refused_and_change_nothing) {
    const uint8_t text[] = {2, 'h', 'i'};
    const net_varsize_message right = {.handle = page,
                                       .number = varsize_number(&at->server, at->server.title),
                                       .version = 1,
                                       .since = 1,
                                       .bytes = text,
                                       .size = sizeof text};
    net_varsize_message wrong[8];
    for (uint32_t i = 0; i < 8; i++)
        wrong[i] = right;
    wrong[0].handle = ECS_ENTITY_NONE;
    wrong[1].handle = ecs_entity_make(LARGE_INDEX_MAX + 1, 1);
    wrong[2].number = 5;
    wrong[3].version = 0;
    wrong[4].size = 2;          // the bytes are cut
    wrong[5].is_default = true; // a default with bytes
    wrong[6].size = 0;          // a value without bytes
    wrong[7].number = UINT32_MAX;
    for (uint32_t i = 0; i < 8; i++)
        assert_int_equal(net_varsize_receiver_receive(at->mirror.client, &wrong[i]),
                         NET_ERR_MALFORMED);
    const uint8_t longer[] = {2, 'h', 'i', '!'};
    net_varsize_message one = right;
    one.bytes = longer;
    one.size = sizeof longer;
    assert_int_equal(net_varsize_receiver_receive(at->mirror.client, &one), NET_ERR_MALFORMED);
    uint8_t* huge = calloc(1, NET_VARSIZE_BYTES_MAX + 1);
    assert_non_null(huge);
    one.bytes = huge;
    one.size = NET_VARSIZE_BYTES_MAX + 1;
    assert_int_equal(net_varsize_receiver_receive(at->mirror.client, &one), NET_ERR_MALFORMED);
    free(huge);
    assert_int_equal(net_varsize_receiver_get_counters(at->mirror.client)->malformed, 10);
    assert_string_equal(title(at, page), "blank");
    assert_ok(net_varsize_receiver_receive(at->mirror.client, &right));
    assert_string_equal(title(at, page), "hi");
}

CASE(a_game_without_large_components_costs_nothing) {
    const char* text = "rock { \"hp:i\"{ _replicate:b=yes } name:t=\"own\" }\n";
    ecs_world* world;
    net_schema* schema = schema_made(text, (schema_wanted){0}, &world);
    net_rows* rows = net_schema_rows(schema);
    assert_int_equal(rows->varsize_count, 0);
    net_varsize_source* values;
    net_varsize_sender* repl;
    values = net_varsize_source_create(NULL, rows, 100, NULL);
    repl = net_varsize_sender_create(values);
    ecs_entity rock;
    assert_ok(ecs_create(world, ecs_template_find(world, "rock"), NULL, 0, &rock));
    net_varsize_source_step(values, world, 1);
    net_varsize_sender_enter(repl, rock, EVERYTHING, 1);
    net_varsize_sender_reclass(repl, rock, 1);
    net_varsize_sender_leave(repl, rock);
    assert_true(net_varsize_sender_is_settled(repl));
    assert_int_equal(net_varsize_source_get_counters(values)->values, 0);
    net_varsize_sender_destroy(repl);
    net_varsize_source_destroy(values);
    schema_unmake(schema, world);
}

SIDE_CASE(dumps_show_large_values_and_hashes_cover_them) {
    ecs_entity page = varsize_create(side, side->page);
    varsize_set_text(side, page, side->title, "two words");
    net_world_digest before = net_world_digest_walk(side->schema, side->world, NULL, NULL);
    assert_int_equal(before.components, 5);
    base_bytes text = schema_dump(side->schema, side->world);
    const char* dump = (const char*)text.data;
    assert_non_null(strstr(dump, "template=page component=title value=\"two\\x20words\" bytes=10 "
                                 "hash="));
    // The values are in the order of their names: hp, notes, route, secret, title.
    const char* at = dump;
    static const char* const names[] = {"=hp ", "=notes ", "=route ", "=secret ", "=title "};
    for (uint32_t i = 0; i < 5; i++)
        assert_non_null(at = strstr(at, names[i]));
    base_bytes_deinit(&text);
    varsize_set_text(side, page, side->title, "two Words");
    assert_true(schema_digest(side->schema, side->world) != before.hash);
    varsize_set_text(side, page, side->title, "two words");
    varsize_set_text(side, page, side->diary, "unreported");
    assert_true(schema_digest(side->schema, side->world) == before.hash);
}
