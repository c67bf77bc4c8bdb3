// SPDX-License-Identifier: MIT
// The world as the inspector shows it: queries, large worlds that are cut, events and positions.
#include "viewer.h"

// ---- queries

static uint32_t rows_of(viewer* self, const char* query) {
    if (ask(self, SERVER_OPERATOR, "query", "q", query, "limit", "1000", NULL) != 200)
        fail_msg("%s: %.*s", query, (int)self->json.size, (const char*)self->json.data);
    (void)read_answer(self);
    assert_false(is_true_at(self, "cut"));
    return (uint32_t)json_array_size(need(self, "rows"));
}

VIEW_CASE(a_query_finds_what_it_says, .seed = 3, .quiet = 1e9) {
    const swarm_context* swarm = net_match_context(self->table.match);
    ecs_world* world = net_match_world(self->table.match);
    play_with(self, 1, 200);
    uint32_t all = 0, with_pos = 0, weak = 0, left = 0, aimless = 0, motes = 0, no_hp = 0;
    for (ecs_entity at = 0; (at = ecs_entity_next(world, at)) != ECS_ENTITY_NONE; all++) {
        const ecs_vec2* pos = ecs_find(world, at, swarm->pos);
        const uint8_t* hp = ecs_find(world, at, swarm->hp);
        const ecs_entity* target = ecs_find(world, at, swarm->target);
        with_pos += pos != NULL;
        weak += pos && hp && *hp < 50;
        left += pos && hp && pos->x < 40.5f && *hp != 7;
        aimless += target && *target == ECS_ENTITY_NONE;
        motes += ecs_entity_template(world, at) == swarm->mote;
        no_hp += pos && !hp;
    }
    assert_true(with_pos > 10 && weak > 0 && motes > 0);
    assert_int_equal(rows_of(self, ""), all);
    assert_int_equal(rows_of(self, "pos"), with_pos);
    assert_int_equal(rows_of(self, "pos where hp < 50"), weak);
    assert_int_equal(rows_of(self, "pos where pos.x < 40.5 and hp != 7"), left);
    assert_int_equal(rows_of(self, "where target = none"), aimless);
    assert_int_equal(rows_of(self, "template=mote"), motes);
    assert_int_equal(rows_of(self, "pos, !hp"), no_hp);
    assert_int_equal(rows_of(self, "pos, ?hp"), with_pos);
    assert_int_equal(rows_of(self, "where hp >= 0"), rows_of(self, "hp"));
    assert_int_equal(rows_of(self, "where hp > 255"), 0);
    assert_int_equal(rows_of(self, "where hp <= 18446744073709551615"), rows_of(self, "hp"));
}

VIEW_CASE(values_are_those_of_the_world, .seed = 3, .quiet = 1e9) {
    const swarm_context* swarm = net_match_context(self->table.match);
    ecs_world* world = net_match_world(self->table.match);
    play_with(self, 1, 100);
    (void)rows_of(self, "template=avatar, pos, hp, target");
    const ecs_entity player = net_match_player(self->table.match, 1);
    char handle[32];
    (void)player_of(self, PLAYER, handle);
    assert_string_equal(text_at(self, "rows.0.entity"), handle);
    const ecs_vec2* pos = ecs_get(world, player, swarm->pos);
    assert_true((float)number_at(self, "rows.0.values.0.0") == pos->x);
    assert_true((float)number_at(self, "rows.0.values.0.1") == pos->y);
    const uint8_t* hp = ecs_get(world, player, swarm->hp);
    assert_true(number_at(self, "rows.0.values.1") == *hp);
    answers(self, SERVER_OPERATOR, "entities", "id", handle, NULL);
    assert_string_equal(text_at(self, "template"), "avatar");
    assert_string_equal(text_at(self, "parent"), "none");
    handle[strcspn(handle, ":")] = '\0'; // the generation that lives
    answers(self, SERVER_OPERATOR, "entities", "id", handle, NULL);
    assert_string_equal(text_at(self, "template"), "avatar");
}

// ---- limits: a large world, and no time

enum { CROWD = 20000 };

static void crowd(viewer* self) {
    const swarm_context* swarm = net_match_context(self->table.match);
    assert_ok(ecs_create_many(net_match_world(self->table.match), swarm->rock, CROWD, NULL));
}

VIEW_CASE(an_answer_that_takes_too_long_is_cut_and_goes_on, .seed = 1, .quiet = 1) {
    crowd(self);
    self->until_us = 0; // it is late at once
    char after[32] = "";
    uint32_t rows = 0, asks = 0;
    ecs_entity last = ECS_ENTITY_NONE;
    const uint32_t all = ecs_world_entity_count(net_match_world(self->table.match));
    for (bool is_cut = true; is_cut; asks++) {
        answers(self, SERVER_OPERATOR, "query", "limit", "1000", "after", after, NULL);
        const uint32_t count = (uint32_t)json_array_size(need(self, "rows"));
        assert_in_range(count, 1, 64);
        rows += count;
        const uint32_t index = (uint32_t)atoi(text_at(self, "rows.0.entity"));
        assert_true(index > last);
        last = index;
        is_cut = is_true_at(self, "cut");
        if (is_cut) snprintf(after, sizeof after, "%s", text_at(self, "next"));
    }
    assert_int_equal(rows, all);
    assert_in_range(asks, CROWD / 64, CROWD / 60);
    answers(self, SERVER_OPERATOR, "query", "q", "!pos", NULL); // also one that finds nothing
    assert_true(is_true_at(self, "cut"));
    // With time, the limit cuts.
    self->until_us = UINT64_MAX;
    answers(self, SERVER_OPERATOR, "query", "limit", "1000", NULL);
    assert_int_equal(json_array_size(need(self, "rows")), 1000);
    assert_true(is_true_at(self, "cut"));
}

VIEW_CASE(lists_without_time_have_an_element_and_a_cursor, .seed = 1, .quiet = 1e9) {
    static const char* const lists[] = {"templates", "components", "clients"};
    play_with(self, 2, 60);
    for (uint32_t i = 0; i < BASE_COUNT(lists); i++) {
        self->until_us = UINT64_MAX;
        answers(self, SERVER_OPERATOR, lists[i], NULL);
        const size_t all = json_array_size(need(self, lists[i]));
        assert_false(is_true_at(self, "cut"));
        self->until_us = 0;
        char after[16] = "0";
        size_t found = 0;
        for (bool is_cut = true; is_cut; found++) {
            answers(self, SERVER_OPERATOR, lists[i], "after", after, NULL);
            assert_int_equal(json_array_size(need(self, lists[i])), 1);
            is_cut = is_true_at(self, "cut");
            if (is_cut) snprintf(after, sizeof after, "%s", text_at(self, "next"));
        }
        assert_int_equal(found, all);
        assert_true(all > 1);
    }
}

VIEW_CASE(a_large_world_is_counted_in_several_passes, .seed = 1, .quiet = 1) {
    crowd(self);
    uint32_t passes = 0;
    for (;; passes++) {
        answers(self, SERVER_OPERATOR, "status", NULL);
        if (!is_true_at(self, "templates_cut")) break;
        server_metrics_pass(self->subject.metrics, &self->subject, self->table.now_us);
    }
    assert_in_range(passes, CROWD / SERVER_METRICS_ENTITIES_PASS, 200);
    assert_string_equal(text_at(self, "templates.0.name"), "rock");
    assert_in_range((uint32_t)number_at(self, "templates.0.entities"), CROWD, CROWD + 200);
}

// ---- streams

static uint32_t u32_at(const viewer* self, size_t at) {
    uint32_t value = 0;
    for (uint32_t i = 0; i < 4; i++)
        value |= (uint32_t)self->json.data[at + i] << 8 * i;
    return value;
}

VIEW_CASE(positions_are_those_of_the_world, .seed = 2, .quiet = 1e9) {
    const swarm_context* swarm = net_match_context(self->table.match);
    ecs_world* world = net_match_world(self->table.match);
    play_with(self, 1, 80);
    const uint32_t all = rows_of(self, "pos");
    assert_int_equal(ask(self, SERVER_OPERATOR, "positions", NULL), 200);
    assert_string_equal(self->answer.type, "application/octet-stream");
    assert_int_equal(u32_at(self, 0), self->json.size - 4);
    assert_int_equal(u32_at(self, 4), net_match_tick(self->table.match));
    assert_int_equal(u32_at(self, 12), 0);
    assert_int_equal(self->json.size, 16 + all * 20);
    for (size_t at = 16; at < self->json.size; at += 20) {
        const ecs_entity entity = u32_at(self, at);
        const ecs_vec2* pos = ecs_get(world, entity, swarm->pos);
        assert_memory_equal(self->json.data + at + 8, pos, sizeof *pos);
        assert_int_equal(u32_at(self, at + 4), ecs_entity_template(world, entity));
    }
    assert_int_equal(ask(self, SERVER_OPERATOR, "positions", "client", "1", NULL), 200);
    assert_in_range(self->json.size, 16 + 20, 16 + all * 20);
    assert_int_equal(ask(self, SERVER_OPERATOR, "positions", "client", "9", NULL), 404);
    assert_true(says(self, "no client 9"));
}

VIEW_CASE(positions_of_a_large_world_come_round, .seed = 2, .quiet = 1) {
    crowd(self);
    self->until_us = 0;
    static uint8_t seen[CROWD * 2];
    memset(seen, 0, sizeof seen);
    uint32_t found = 0;
    for (uint32_t i = 0; i < 3000 && found < CROWD; i++) {
        table_step(&self->table);
        assert_int_equal(ask(self, SERVER_OPERATOR, "positions", NULL), 200);
        assert_int_equal(u32_at(self, 12), 1);
        assert_in_range(self->json.size, 16 + 20, 16 + 256 * 20);
        for (size_t at = 16; at < self->json.size; at += 20) {
            const uint32_t index = ecs_entity_index(u32_at(self, at));
            assert_true(index < sizeof seen);
            found += !seen[index];
            seen[index] = 1;
        }
    }
    assert_true(found >= CROWD);
}

VIEW_CASE(events_are_lines_with_the_tick, .seed = 2, .quiet = 1e9) {
    play_with(self, 1, 80);
    assert_int_equal(ask(self, SERVER_OPERATOR, "events", "of", "log,status", NULL), 200);
    assert_string_equal(self->answer.type, "text/event-stream");
    base_bytes_write_u8(&self->json, 0);
    const char* text = (const char*)self->json.data;
    static const char begin[] = "id: 80\nevent: status\ndata: {\"game\":";
    assert_true(strncmp(text, begin, sizeof begin - 1) == 0);
    const char* log = strstr(text, "\n\nid: 80\nevent: log\ndata: {\"newest\":\"");
    assert_non_null(log);
    assert_null(strstr(text, "event: clients"));
    assert_string_equal(text + strlen(text) - 2, "\n\n");
    assert_null(memchr(strstr(text, "data: "), '\n', (size_t)(log - strstr(text, "data: "))));
    assert_int_equal(ask(self, SERVER_OPERATOR, "events", NULL), 200);
    assert_true(says(self, "event: status") && says(self, "event: clients"));
}
