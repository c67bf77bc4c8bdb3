// SPDX-License-Identifier: MIT
// Faults of other replication libraries, each as a test case for this project. The name at a case
// is the place of the report: lightyear, bevy_replicon, naia, FishNet, colyseus, godot and ddnet on
// their issue trackers. NfE is the change log of Unity's Netcode for Entities. tests/README.md
// lists the cases in other files.
#include "repl_state_world.h"

static ecs_world* client_world(view_world* w, uint32_t number) {
    return w->clients[number].side.world;
}

static void settle(view_world* w) {
    for (uint32_t i = 0; i < 400; i++) {
        bool is_settled = true;
        for (uint32_t c = 0; c < w->client_count; c++)
            is_settled = is_settled && net_repl_state_is_settled(w->clients[c].repl);
        if (is_settled) return;
        view_exchange(w);
    }
    fail_msg("the views do not settle");
}

// NfE 1.4.0: the mask of acknowledgements was 256 packets wide. After more packets no row became a
// base again.
VIEW_CASE(an_acknowledgement_after_many_hundred_packets_makes_a_base) {
    ecs_entity entity = repl_create(&w->server, w->server.mover);
    view_exchange(w);
    for (uint32_t i = 0; i < 700; i++) {
        view_move(w, entity, (float)i, 3);
        uint16_t seq = view_write(w, 0);
        if (i >= 2) (void)net_repl_state_lost(w->repl, (uint16_t)(seq - 2));
    }
    view_ack(w, 0);
    uint64_t updates = view_counters(w)->records_update;
    view_carry(w, entity, -7, 3);
    assert_int_equal(view_counters(w)->records_update, updates + 1);
    assert_true(view_is_equal(w, 0));
}

// NfE 1.6.1: after the history was overwritten there was never a base again.
VIEW_CASE(an_overwritten_history_costs_one_absolute_row) {
    ecs_entity entity = repl_create(&w->server, w->server.mover);
    view_exchange(w);
    for (uint32_t i = 0; i < 200; i++) { // the server sends nothing during this time
        view_move(w, entity, (float)i, 5);
    }
    uint64_t absolute = view_counters(w)->records_absolute;
    view_send(w, 0);
    assert_int_equal(view_counters(w)->records_absolute, absolute + 1);
    for (uint32_t i = 0; i < 5; i++) {
        view_carry(w, entity, (float)i, 9);
    }
    assert_int_equal(view_counters(w)->records_absolute, absolute + 1);
    assert_true(view_is_equal(w, 0));
}

// NfE, "giant ghost": an entity with many values made each of its packets many times longer.
VIEW_CASE(a_small_change_of_a_large_entity_is_small) {
    ecs_template_id parts[3] = {w->server.mover, w->server.extra, w->server.holder};
    ecs_template_id giant = ecs_template_compose(w->server.world, parts, 3);
    assert_int_not_equal(giant, ECS_TEMPLATE_NONE);
    ecs_entity entity = repl_create(&w->server, giant);
    view_exchange(w);
    view_exchange(w);
    view_set(w, entity, w->server.hp, 99);
    view_exchange(w);
    assert_in_range(w->clients[0].bits, 1, 64);
    assert_true(view_is_equal(w, 0));
}

// NfE: a snapshot that contains only zeros was treated as no snapshot.
VIEW_CASE(rows_of_nothing_but_zeros_arrive) {
    ecs_entity entity = repl_create(&w->server, w->server.mover);
    repl_move(&w->server, entity, 0, 0);
    view_set(w, entity, w->server.hp, 0);
    view_exchange(w);
    assert_true(view_is_equal(w, 0));
    view_carry(w, entity, 4, 4);
    view_carry(w, entity, 0, 0);
    assert_true(view_is_equal(w, 0));
}

// NfE 1.5.0: after one packet that could not be decoded, no later packet could be decoded.
VIEW_CASE(a_packet_that_cannot_be_read_is_as_good_as_lost) {
    ecs_entity entities[40];
    repl_create_many(&w->server, w->server.mover, entities, 40);
    view_exchange(w);
    for (uint32_t round = 0; round < 30; round++) {
        for (uint32_t i = 0; i < 40; i++)
            repl_move(&w->server, entities[i], (float)(round * 3), (float)i);
        view_step(w);
        uint16_t seq = view_write(w, 0);
        if (round % 3 != 1) {
            view_ack(w, 0);
            continue;
        }
        view_client* c = &w->clients[0];
        proto_bit_reader reader = proto_bit_reader_make(c->body, (size_t)(c->bits / 16));
        assert_int_not_equal(net_mirror_read(c->mirror, seq, w->tick, &reader), NET_OK);
        assert_true(net_repl_state_lost(c->repl, seq));
    }
    settle(w);
    assert_true(view_is_equal(w, 0));
}

// lightyear#658, #762, FishNet#551: a reference stayed broken when it came before its entity or
// existed longer than its scope.
VIEW_CASE(a_reference_finds_its_entity_whenever_that_comes) {
    ecs_entity target = repl_create(&w->server, w->server.mover);
    ecs_entity holder = repl_create(&w->server, w->server.holder);
    assert_ok(ecs_set(w->server.world, holder, w->server.link, &target));
    view_scope(w, 0, target)->is_hidden = true;
    for (uint32_t round = 0; round < 3; round++) {
        settle(w);
        view_exchange(w);
        const ecs_entity* link = ecs_find(client_world(w, 0), holder, w->clients[0].side.link);
        assert_non_null(link);
        assert_int_equal(*link, target);
        assert_int_equal(ecs_is_alive(client_world(w, 0), target), round == 1);
        view_scope(w, 0, target)->is_hidden = round != 0;
        view_exchange(w);
        view_exchange(w);
    }
}

// lightyear#637, naia#135: an entity that moved between rooms was despawned too often, or was in
// both rooms.
VIEW_WITH_CASE(from_room_to_room_means_one_destroy_and_one_create, .client_count = 2) {
    ecs_entity entity = repl_create(&w->server, w->server.mover);
    view_scope(w, 1, entity)->is_hidden = true;
    view_exchange(w);
    for (uint32_t round = 0; round < 6; round++) {
        uint32_t from = round % 2, to = 1 - from;
        assert_true(ecs_is_alive(client_world(w, from), entity));
        assert_false(ecs_is_alive(client_world(w, to), entity));
        view_move(w, entity, (float)round, 3);
        assert_true(net_repl_state_has_pending(w->clients[from].repl));
        assert_false(net_repl_state_has_pending(w->clients[to].repl)); // it does not see it
        view_scope(w, from, entity)->is_hidden = true;
        view_scope(w, to, entity)->is_hidden = false;
        uint64_t destroys = w->clients[from].repl->counters.records_destroy;
        uint64_t creates = w->clients[to].repl->counters.records_create;
        view_exchange(w);
        settle(w);
        assert_int_equal(w->clients[from].repl->counters.records_destroy, destroys + 1);
        assert_int_equal(w->clients[to].repl->counters.records_create, creates + 1);
    }
}

// colyseus#935: the second client with a filter got the values that the first client lacked.
VIEW_WITH_CASE(a_second_client_with_other_classes_is_complete, .client_count = 2) {
    ecs_entity entities[30];
    for (uint32_t i = 0; i < 30; i++) {
        entities[i] = repl_create(&w->server, w->agent);
        view_set(w, entities[i], w->ammo, (int32_t)(100 + i));
        view_set(w, entities[i], w->plan, (int32_t)(200 + i));
        view_scope(w, 0, entities[i])->classes = 3;
        view_scope(w, 1, entities[i])->classes = 5;
    }
    view_exchange(w);
    settle(w);
    for (uint32_t i = 0; i < 30; i++) {
        assert_int_equal(view_client_value(w, 0, entities[i], "ammo"), 100 + i);
        assert_int_equal(view_client_value(w, 0, entities[i], "plan"), -1);
        assert_int_equal(view_client_value(w, 1, entities[i], "ammo"), 30);
        assert_int_equal(view_client_value(w, 1, entities[i], "plan"), 200 + i);
    }
}

// lightyear#241, godot PR 51466: a join of 2,800 entities was one message in fragments, and
// crashed. ddnet#4585: entities after the 1,024th were left out without a report.
VIEW_CASE(a_join_of_2800_entities_is_whole_packets_and_complete) {
    ecs_entity entities[2800];
    for (uint32_t i = 0; i < 2800; i++) {
        entities[i] = repl_create(&w->server, w->server.mover);
        repl_move(&w->server, entities[i], (float)(i % 900), (float)(i % 7));
    }
    view_step(w);
    for (uint32_t round = 0; round < 2; round++) {
        uint32_t packets = 0;
        while (net_repl_state_has_pending(w->repl) && packets++ < 200) {
            view_write_room(w, 0, (net_repl_state_room){.hard = 1100 * 8, .soft = 1100 * 8});
            assert_in_range(w->clients[0].bits, 1, 1100 * 8);
            view_ack(w, 0);
        }
        assert_int_equal(ecs_world_entity_count(client_world(w, 0)), 2800);
        assert_true(view_is_equal(w, 0));
        // All of them change at once.
        for (uint32_t i = 0; i < 2800 && round == 0; i++)
            repl_move(&w->server, entities[i], (float)(i % 31), 9);
        if (round == 0) view_step(w);
    }
}

// naia#125: a client whose replication was paused got all missed states in order.
VIEW_CASE(a_pause_ends_with_the_newest_and_nothing_else) {
    ecs_entity entities[10];
    repl_create_many(&w->server, w->server.mover, entities, 10);
    view_exchange(w);
    for (uint32_t tick = 0; tick < 300; tick++) {
        for (uint32_t i = 0; i < 10; i++)
            repl_move(&w->server, entities[i], (float)tick, (float)i);
        view_step(w);
    }
    assert_int_equal(view_records(w, 0), 10);
    view_ack(w, 0);
    assert_true(view_is_equal(w, 0));
    assert_false(net_repl_state_has_pending(w->repl));
}

// lightyear#430: everything stopped after twenty to thirty minutes, when 16 bits of ticks had
// wrapped.
VIEW_WITH_CASE(half_an_hour_of_ticks_wraps_every_number, .first_seq = 60000) {
    const uint32_t ticks = test_is_short() ? 12000 : 140000; // 39 minutes at 60 Hz
    ecs_entity entity = repl_create(&w->server, w->server.mover);
    ecs_entity still = repl_create(&w->server, w->server.mover);
    for (uint32_t i = 0; i < ticks; i++) {
        repl_move(&w->server, entity, (float)(i % 1000), 1);
        if (i % 40000 == 39999) repl_move(&w->server, still, (float)(i / 40000), 2);
        view_exchange(w);
        if (i % 10000 == 0) assert_true(view_is_equal(w, 0));
    }
    assert_true(view_is_equal(w, 0));
    assert_int_equal(view_counters(w)->records_absolute, 0);
}

// bevy_replicon#756, #596, NfE 1.9.0: when whole families were destroyed at once, mappings
// remained, or the client got despawns of entities that were never sent.
VIEW_CASE(many_that_come_and_go_at_once_leave_nothing) {
    for (uint32_t round = 0; round < 20; round++) {
        ecs_entity holders[12], targets[12];
        for (uint32_t i = 0; i < 12; i++) {
            targets[i] = repl_create(&w->server, w->server.mover);
            holders[i] = repl_create(&w->server, w->server.holder);
            assert_ok(ecs_set(w->server.world, holders[i], w->server.link, &targets[i]));
        }
        if (round % 3) view_step(w);
        if (round % 3 == 2) {
            uint16_t seq = view_write(w, 0);
            if (round % 2)
                view_ack(w, 0);
            else
                assert_true(net_repl_state_lost(w->repl, seq));
        }
        for (uint32_t i = 0; i < 12; i++) {
            repl_destroy(&w->server, i % 2 ? targets[i] : holders[i]);
            repl_destroy(&w->server, i % 2 ? holders[i] : targets[i]);
        }
        view_exchange(w);
    }
    settle(w);
    view_exchange(w);
    assert_int_equal(ecs_world_entity_count(client_world(w, 0)), 0);
    assert_int_equal(ecs_handle_count(client_world(w, 0), ECS_STATE_ALLOCATED), 0);
}

// ---- schemas

typedef struct pair {
    int32_t a, b;
} pair;

static uint64_t hash_of_fields(const ecs_field fields[2]) {
    static const char text[] = "thing { \"pair:pair\"{ _replicate:b=yes; } }\n";
    const ecs_type_desc type = {.name = "pair",
                                .size = sizeof(pair),
                                .align = _Alignof(pair),
                                .fields = fields,
                                .field_count = 2};
    ecs_world* world;
    net_schema* schema =
        schema_made(text, (schema_wanted){.types = &type, .type_count = 1}, &world);
    uint64_t hash = net_schema_hash(schema);
    schema_unmake(schema, world);
    return hash;
}

// NfE 1.12.0: two builds with a different order of fields accepted each other.
CASE(fields_in_another_order_are_another_schema) {
    const ecs_field one[2] = {{"a", offsetof(pair, a), ECS_FIELD_I32, 1, {0, 0, 0}},
                              {"b", offsetof(pair, b), ECS_FIELD_I32, 1, {0, 0, 0}}};
    const ecs_field other[2] = {{"b", offsetof(pair, a), ECS_FIELD_I32, 1, {0, 0, 0}},
                                {"a", offsetof(pair, b), ECS_FIELD_I32, 1, {0, 0, 0}}};
    const ecs_field renamed[2] = {one[0], {"c", offsetof(pair, b), ECS_FIELD_I32, 1, {0, 0, 0}}};
    uint64_t hash = hash_of_fields(one);
    assert_true(hash == hash_of_fields(one));
    assert_true(hash != hash_of_fields(other));
    assert_true(hash != hash_of_fields(renamed));
}
