// SPDX-License-Identifier: MIT
// Large values against what each client should have in the end. Changes, creations, templates,
// interest and classes are random. Records are lost and overtake one another. The reliable channel
// is late and connections break. The test has its own tables of scope. They are exact, like those
// of a repl_state.
#include "varsize_world.h"

#include "base/rng.h"

#include <stdio.h>

enum { CLIENTS = 3, ENTITIES = 10, RECORDS = 4096, FLYING = 256 };

typedef struct record {
    ecs_tick arrives, tick;
    uint32_t index;
    ecs_entity handle;
    ecs_template_id template_id;
} record;

typedef struct model_client {
    varsize_mirror mirror;
    net_varsize_sender* repl;
    varsize_channel flying; ///< in order of sending; they arrive at
    ecs_tick arrives[LARGE_MESSAGES_MAX];
    record records[RECORDS]; ///< under way, any order
    uint32_t record_count;
    /// [index]: the classes of an entity in scope; 0: out of scope
    uint32_t classes[LARGE_INDEX_MAX + 1];
    ecs_entity member[LARGE_INDEX_MAX + 1];
    ecs_template_id template_id[LARGE_INDEX_MAX + 1];
    uint64_t acks[FLYING];
    ecs_tick ack_arrives[FLYING];
    uint32_t ack_count;
} model_client;

typedef struct model {
    base_rng rng;
    varsize_side server;
    net_varsize_source* values;
    model_client clients[CLIENTS];
    ecs_entity entities[ENTITIES];
    ecs_tick tick;
} model;

static net_result model_send(void* context, const net_varsize_message* message) {
    model_client* client = context;
    if (client->flying.count > 100) return NET_ERR_FULL;
    return varsize_send(&client->flying, message);
}

static void mutate_value(model* m, ecs_entity entity) {
    varsize_side* side = &m->server;
    const base_allocator* allocator = ecs_world_allocator(side->world);
    char text[32];
    (void)snprintf(text, sizeof text, "%u", base_rng_below(&m->rng, 1000));
    switch (base_rng_below(&m->rng, 5)) {
    case 0:
        if (ecs_find(side->world, entity, side->title))
            varsize_set_text(side, entity, side->title,
                             base_rng_below(&m->rng, 2)   ? text
                             : base_rng_below(&m->rng, 2) ? "blank"
                                                          : "cover");
        break;
    case 1:
        if (ecs_find(side->world, entity, side->secret)) {
            ecs_object* secret = ecs_get_mut(side->world, entity, side->secret);
            int32_t level = (int32_t)base_rng_below(&m->rng, 5);
            assert_ok(ecs_object_set(allocator, secret, "level", ECS_ELEMENT_I, &level));
        }
        break;
    case 2:
        if (ecs_find(side->world, entity, side->notes)) {
            ecs_array* notes = ecs_get_mut(side->world, entity, side->notes);
            if (ecs_array_count(notes) > 4) ecs_array_clear(allocator, notes);
            assert_ok(ecs_array_push_text(allocator, notes, text, (uint32_t)strlen(text)));
        }
        break;
    case 3:
        if (ecs_find(side->world, entity, side->bytes))
            varsize_set_size(side, entity, 128 + 2 + base_rng_below(&m->rng, NET_VARSIZE_BYTES_MAX),
                             (uint8_t)text[0]);
        break;
    default: {
        const ecs_template_id ids[] = {side->page, side->sheet, side->cover, side->page_cover,
                                       side->shelf};
        if (base_rng_below(&m->rng, 2) == 0)
            assert_ok(ecs_recreate(side->world, entity, ids[base_rng_below(&m->rng, 5)], NULL, 0));
    }
    }
}

static void mutate(model* m) {
    uint32_t i = base_rng_below(&m->rng, ENTITIES);
    if (m->entities[i] == ECS_ENTITY_NONE || base_rng_below(&m->rng, 12) == 0) {
        const ecs_template_id ids[] = {m->server.page, m->server.page_cover, m->server.shelf};
        if (m->entities[i]) assert_ok(ecs_destroy(m->server.world, m->entities[i]));
        m->entities[i] = varsize_create(&m->server, ids[base_rng_below(&m->rng, 3)]);
    }
    mutate_value(m, m->entities[i]);
}

static void send_record(model* m, model_client* client, uint32_t index, bool is_lossy) {
    if (client->record_count == RECORDS || (is_lossy && base_rng_below(&m->rng, 3) == 0)) return;
    ecs_entity handle = client->classes[index] ? client->member[index] : ECS_ENTITY_NONE;
    client->records[client->record_count++] =
        (record){.arrives = m->tick + (is_lossy ? base_rng_below(&m->rng, 12) : 1),
                 .tick = m->tick,
                 .index = index,
                 .handle = handle,
                 .template_id = handle ? ecs_entity_template(m->server.world, handle) : 0};
}

// Change the scope by chance. This is what the repl_state of the real server does at the same
// place.
static void change_scope(model* m, model_client* client, bool is_quiet) {
    for (uint32_t index = 1; index <= LARGE_INDEX_MAX; index++) {
        ecs_entity now = ECS_ENTITY_NONE;
        for (uint32_t i = 0; i < ENTITIES; i++)
            if (m->entities[i] && ecs_entity_index(m->entities[i]) == index) now = m->entities[i];
        if (client->classes[index] && client->member[index] != now) {
            net_varsize_sender_leave(client->repl, client->member[index]);
            client->classes[index] = 0;
        }
        if (now == ECS_ENTITY_NONE) continue;
        ecs_template_id template_id = ecs_entity_template(m->server.world, now);
        if (client->classes[index] && client->template_id[index] != template_id)
            net_varsize_sender_enter(client->repl, now, client->classes[index], m->tick);
        client->template_id[index] = template_id;
        uint32_t luck = is_quiet ? 100 : base_rng_below(&m->rng, 40);
        uint32_t classes = PUBLIC_ONLY | (base_rng_below(&m->rng, 2) ? 1u << NET_CLASS_OWNER : 0);
        if (client->classes[index] && luck == 0) {
            net_varsize_sender_leave(client->repl, now);
            client->classes[index] = 0;
        } else if (client->classes[index] && luck == 1) {
            net_varsize_sender_reclass(client->repl, now, classes);
            client->classes[index] = classes;
        } else if (!client->classes[index] && (luck < 6 || is_quiet)) {
            net_varsize_sender_enter(client->repl, now, classes, m->tick);
            client->classes[index] = classes;
            client->member[index] = now;
        }
    }
}

static void arrive(model* m, model_client* client, bool is_lossy) {
    for (uint32_t i = 0; i < client->record_count;) {
        record r = client->records[i];
        if (r.arrives > m->tick) {
            i++;
            continue;
        }
        client->records[i] = client->records[--client->record_count];
        varsize_report(&client->mirror, r.index, r.handle, r.template_id, r.tick);
    }
    assert_ok(net_varsize_receiver_tick(client->mirror.client));
    uint32_t count = 0;
    while (count < client->flying.count && client->arrives[count] <= m->tick) {
        const net_varsize_message* message = &client->flying.copies[count++]->message;
        assert_ok(net_varsize_receiver_receive(client->mirror.client, message));
        client->acks[client->ack_count] = message->version;
        client->ack_arrives[client->ack_count++] = m->tick + (is_lossy ? 5 : 1);
    }
    varsize_channel_drop(&client->flying, count);
    memmove(client->arrives, client->arrives + count,
            client->flying.count * sizeof client->arrives[0]);
    uint32_t kept = 0;
    for (uint32_t i = 0; i < client->ack_count; i++) {
        if (client->ack_arrives[i] > m->tick) {
            client->acks[kept] = client->acks[i];
            client->ack_arrives[kept++] = client->ack_arrives[i];
            continue;
        }
        assert_true(net_varsize_sender_ack(client->repl, client->acks[i]));
    }
    client->ack_count = kept;
    net_varsize_lost lost;
    while (net_varsize_receiver_next_evicted(client->mirror.client, &lost))
        assert_true(net_varsize_sender_lost(client->repl, lost.handle, lost.number, lost.version));
}

static void lose_connection(model_client* client) {
    varsize_channel_drop(&client->flying, client->flying.count);
    client->ack_count = 0;
    net_varsize_sender_resume(client->repl);
}

static void run_tick(model* m, bool is_lossy) {
    varsize_step(&m->server, m->values, ++m->tick);
    for (uint32_t c = 0; c < CLIENTS; c++) {
        model_client* client = &m->clients[c];
        change_scope(m, client, !is_lossy);
        uint32_t before = client->flying.count;
        net_varsize_sender_publish(client->repl, is_lossy ? 2000 : 100000, model_send, client);
        for (uint32_t i = before; i < client->flying.count; i++) {
            ecs_tick arrives = m->tick + (is_lossy ? base_rng_below(&m->rng, 20) : 1);
            if (i > 0 && arrives < client->arrives[i - 1]) arrives = client->arrives[i - 1];
            client->arrives[i] = arrives;
        }
        for (uint32_t index = 1; index <= LARGE_INDEX_MAX; index++) {
            bool was_there = client->member[index] != ECS_ENTITY_NONE;
            if (was_there && (!is_lossy || base_rng_below(&m->rng, 3) == 0))
                send_record(m, client, index, is_lossy);
        }
        arrive(m, client, is_lossy);
        if (is_lossy && base_rng_below(&m->rng, 150) == 0) lose_connection(client);
        assert_false(net_varsize_sender_is_broken(client->repl));
    }
}

static void expect_same(const model* m, const model_client* client, ecs_entity entity,
                        uint32_t classes, const net_row_varsize* varsize) {
    const varsize_side* side = &m->server;
    const varsize_side* there = &client->mirror.side;
    const net_row_template* entry =
        net_rows_find(side->rows, ecs_entity_template(side->world, entity));
    base_bytes wanted, got;
    base_bytes_init(&wanted, NULL);
    base_bytes_init(&got, NULL);
    if (classes >> varsize->class_ & 1)
        (void)net_varsize_write_sent(side->world, entry, entity, varsize->component, &wanted);
    else
        net_varsize_write_default(side->world, entry, varsize->component, &wanted);
    net_varsize_write(there->world, entity, varsize->component, &got);
    assert_int_equal(got.size, wanted.size);
    assert_memory_equal(got.data, wanted.data, got.size);
    base_bytes_deinit(&wanted);
    base_bytes_deinit(&got);
}

static void expect_all(const model* m) {
    for (uint32_t c = 0; c < CLIENTS; c++) {
        const model_client* client = &m->clients[c];
        for (uint32_t i = 0; i < ENTITIES; i++) {
            ecs_entity entity = m->entities[i];
            if (!entity) continue;
            uint32_t classes = client->classes[ecs_entity_index(entity)];
            assert_int_not_equal(classes, 0);
            assert_true(ecs_is_alive(client->mirror.side.world, entity));
            const net_row_template* entry =
                net_rows_find(m->server.rows, ecs_entity_template(m->server.world, entity));
            for (uint32_t k = 0; k < entry->varsize_count; k++)
                expect_same(m, client, entity, classes, &entry->varsizes[k]);
        }
    }
}

static void run_model(uint64_t seed) {
    static model m;
    memset(&m, 0, sizeof m);
    m.rng = base_rng_make(seed, 1);
    varsize_side_open(&m.server, false);
    assert_ok(net_varsize_source_create(NULL, m.server.rows, LARGE_INDEX_MAX, NULL, &m.values));
    for (uint32_t c = 0; c < CLIENTS; c++) {
        varsize_mirror_open(&m.clients[c].mirror);
        m.clients[c].flying.room = UINT32_MAX;
        assert_ok(net_varsize_sender_create(m.values, &m.clients[c].repl));
    }
    for (uint32_t round = 0; round < 3; round++) {
        for (uint32_t i = 0; i < 80; i++) {
            for (uint32_t k = base_rng_below(&m.rng, 3); k > 0; k--)
                mutate(&m);
            run_tick(&m, true);
        }
        // Quiet time: everything in flight arrives, and all clients see everything.
        bool is_settled = false;
        for (uint32_t i = 0; i < 200 && (i < 30 || !is_settled); i++) {
            run_tick(&m, false);
            is_settled = true;
            for (uint32_t c = 0; c < CLIENTS; c++)
                is_settled = is_settled && net_varsize_sender_is_settled(m.clients[c].repl);
        }
        assert_true(is_settled);
        run_tick(&m, false);
        expect_all(&m);
    }
    for (uint32_t c = 0; c < CLIENTS; c++) {
        varsize_channel_drop(&m.clients[c].flying, m.clients[c].flying.count);
        net_varsize_sender_destroy(m.clients[c].repl);
        varsize_mirror_close(&m.clients[c].mirror);
    }
    net_varsize_source_destroy(m.values);
    varsize_side_close(&m.server);
}

CASE(every_client_ends_with_what_it_may_see_whatever_is_lost_and_late) {
    uint64_t first = 20261120;
    uint32_t count = test_scaled(120, 6);
    print_message("seeds %llu..%llu\n", (unsigned long long)first,
                  (unsigned long long)(first + count - 1));
    for (uint64_t seed = first; seed < first + count; seed++)
        run_model(seed);
}
