// SPDX-License-Identifier: MIT
// Everything is acknowledged, so nothing is ever in flight: after the bodies of a tick nothing
// waits. A full state comes from a new replication state; that is all there is to a lost
// record, to a segment and to a seek.
#include "log/log_recorder.h"

#include "base/assert.h"
#include "base/text.h"
#include "core/worker.h"
#include "ecs/change.h"
#include "ecs/save.h"
#include "game/match.h"
#include "interest/interest_manager.h"
#include "log/log_record.h"
#include "replicate/repl_state.h"
#include "state/schema.h"
#include "state/snapshot_format.h"
#include "state/varsize.h"

#include <string.h>

enum {
    BODY_BYTES = 4000, // at most, so that a mirror reads it as it reads a packet
    CLIENT = 1,        // of a recorder that sees everything
};

struct net_log_recorder {
    base_owner owner;
    const net_match* match;
    ecs_world* world;
    net_rows* rows;
    uint32_t index_max;
    bool is_varsize[ECS_COMPONENTS_MAX + 1];
    // of the simulation's thread
    bool* is_defined; // [template id] of compositions
    uint32_t defined_capacity;
    ecs_template_id* composed; // in the order of their definitions
    uint32_t composed_count, composed_capacity;
    net_log_player *players, *written; // that play now, and as they were written last
    uint32_t player_count, player_capacity, written_count, written_capacity;
    bool must_restart;
    base_bytes definitions, values; // items
    base_bytes item;
    // handed over
    const net_history* history;
    net_worker* worker; // NULL: everything on one thread
    bool is_running, is_full;
    net_interest* interest; // NULL: it sees everything
    uint32_t client;        // as which it sees
    bool is_there;          // and it plays
    // of the recorder's thread, while it runs
    net_replicator* replicator;
    net_repl_state* repl;
    uint16_t seq;
    base_bytes out; // parts, each after its length
    size_t part;    // offset of the one that is written
    uint8_t body[NET_SNAPSHOT_BYTES_MAX];
    uint64_t full_bytes;
};

static void record(void* context);

net_log_recorder* net_log_recorder_create(const base_allocator* from, const net_match* match,
                                          bool has_thread) {
    BASE_ASSERT(match);
    net_log_recorder* made = base_owner_create(from, sizeof *made);
    const base_allocator* allocator = &made->owner.allocator;
    made->match = match;
    made->world = net_match_world((net_match*)(uintptr_t)match);
    made->rows = net_schema_rows(net_match_schema(match));
    made->index_max = ecs_world_limits(made->world)->replicated_index_max;
    made->must_restart = true;
    made->client = CLIENT;
    base_bytes_init(&made->definitions, allocator);
    base_bytes_init(&made->values, allocator);
    base_bytes_init(&made->item, allocator);
    base_bytes_init(&made->out, NULL); // allocators belong to the simulation's thread
    for (uint32_t id = 1; id <= ecs_component_count(made->world); id++) {
        const ecs_component* component = ecs_component_get(made->world, (ecs_component_id)id);
        made->is_varsize[id] = ecs_type_is_varsize(ecs_type_get(made->world, component->type));
    }
    made->worker = has_thread ? net_worker_create(allocator, record, made) : NULL;
    return made;
}

net_result net_log_recorder_see_as(net_log_recorder* recorder, uint32_t client,
                                   const base_reporter* reporter) {
    BASE_ASSERT(client > 0 && !recorder->worker && !recorder->history && !recorder->interest);
    const net_match_config* match = net_match_get_config(recorder->match);
    BASE_ASSERT(match->role == NET_ROLE_SERVER);
    recorder->client = client;
    return net_interest_create(
        &(net_interest_config){
            .allocator = &recorder->owner.allocator,
            .rules = match->module->game->interest,
            .context = net_match_context((net_match*)(uintptr_t)recorder->match),
            .world = recorder->world,
            .rows = recorder->rows,
            .index_max = recorder->index_max,
            .tick_rate_hz = match->tick_rate_hz,
        },
        reporter, &recorder->interest);
}

void net_log_recorder_destroy(net_log_recorder* recorder) {
    if (!recorder) return;
    net_worker_destroy(recorder->worker);
    net_repl_state_destroy(recorder->repl);
    net_replicator_destroy(recorder->replicator);
    base_bytes_deinit(&recorder->out);
    base_owner_destroy(recorder);
}

void net_log_recorder_restart(net_log_recorder* recorder) {
    recorder->must_restart = true;
}

uint64_t net_log_recorder_full_bytes(const net_log_recorder* recorder) {
    BASE_ASSERT(!recorder->is_running);
    return recorder->full_bytes;
}

// ---- on the simulation's thread ----

static void put_item(base_bytes* to, net_log_state_item kind, const uint8_t* data, size_t size) {
    base_bytes_write_varint(to, kind);
    base_bytes_write_varint(to, size);
    base_bytes_write(to, data, size);
}

_Static_assert(sizeof(((ecs_template*)0)->name) + ECS_TEMPLATE_COMPONENTS_MAX * 64 +
                       PROTO_ROW_FIELDS_MAX * 10 <=
                   NET_LOG_DEFINITION_BYTES_MAX,
               "a definition of any template fits");

static void define(net_log_recorder* recorder, const net_row_template* row) {
    base_bytes* item = &recorder->item;
    base_bytes_clear(item);
    base_bytes_write_varint(item, row->part_count);
    for (uint32_t i = 0; i < row->part_count; i++)
        base_bytes_write_varint(item, row->parts[i]);
    proto_pb_writer wire = {.data = base_bytes_extend(item, NET_LOG_DEFINITION_BYTES_MAX),
                            .capacity = NET_LOG_DEFINITION_BYTES_MAX};
    net_log_header_write_template(&wire, recorder->world, recorder->rows, row->id);
    BASE_ASSERT(!wire.failed);
    item->size -= NET_LOG_DEFINITION_BYTES_MAX - wire.size;
    put_item(&recorder->definitions, NET_LOG_STATE_TEMPLATE, item->data, item->size);
}

// A composed template is defined when it first comes.
static void see_template(net_log_recorder* recorder, const net_row_template* row) {
    if (row->part_count < 2) return;
    if (row->id < recorder->defined_capacity && recorder->is_defined[row->id]) return;
    const base_allocator* allocator = &recorder->owner.allocator;
    BASE_ARRAY_RESERVE(allocator, recorder->is_defined, recorder->defined_capacity, row->id + 1u);
    BASE_ARRAY_RESERVE(allocator, recorder->composed, recorder->composed_capacity,
                       recorder->composed_count + 1);
    recorder->is_defined[row->id] = true;
    recorder->composed[recorder->composed_count++] = row->id;
    if (!recorder->is_full) define(recorder, row);
}

static void take_value(net_log_recorder* recorder, ecs_entity entity, ecs_component_id component) {
    base_bytes* item = &recorder->item;
    base_bytes_clear(item);
    base_bytes_write_varint(item, entity);
    base_bytes_write_varint(item, component);
    const size_t head = item->size;
    net_varsize_write(recorder->world, entity, component, item);
    if (item->size - head <= NET_LOG_STATE_VALUE_BYTES_MAX) // no client gets a longer one either
        put_item(&recorder->values, NET_LOG_STATE_VALUE, item->data, item->size);
}

static void see_entity(net_log_recorder* recorder, const net_history_entity* entity) {
    see_template(recorder, entity->row_template);
    if (recorder->interest) return; // its values come with what is in scope
    for (uint32_t v = 0; v < entity->row_template->varsize_count; v++)
        take_value(recorder, entity->handle, entity->row_template->varsizes[v].component);
}

static void take_changed_values(net_log_recorder* recorder) {
    const net_history* history = recorder->history;
    const ecs_changes changes = ecs_changes_get(recorder->world);
    const ecs_tick tick = history->tick;
    for (uint32_t i = 0; i < changes.changed_count; i++) {
        const ecs_change* change = &changes.changed[i];
        if (!recorder->is_varsize[change->component]) continue;
        const net_history_entity* entity =
            net_history_find(history, ecs_entity_index(change->entity));
        if (entity && entity->handle == change->entity && entity->begin_tick < tick &&
            net_row_find_varsize(entity->row_template, change->component))
            take_value(recorder, change->entity, change->component);
    }
}

static void reserve_players(net_log_recorder* recorder, uint32_t count) {
    const base_allocator* allocator = &recorder->owner.allocator;
    BASE_ARRAY_RESERVE(allocator, recorder->players, recorder->player_capacity, count + 1);
    BASE_ARRAY_RESERVE(allocator, recorder->written, recorder->written_capacity, count + 1);
}

void net_log_recorder_players(net_log_recorder* recorder, const net_log_player* players,
                              uint32_t count) {
    reserve_players(recorder, count);
    if (count > 0) memcpy(recorder->players, players, count * sizeof *players);
    recorder->player_count = count;
}

static void list_players(net_log_recorder* recorder) {
    const net_match* match = recorder->match;
    reserve_players(recorder, match->player_count);
    recorder->player_count = match->player_count;
    for (uint32_t i = 0; i < match->player_count; i++) {
        const net_player* from = &match->players[i];
        net_log_player* player = &recorder->players[i];
        *player = (net_log_player){.client = from->client};
        if (ecs_is_alive(match->world, from->entity)) player->entity = from->entity;
        (void)base_text_copy(player->name, sizeof player->name, from->name);
    }
}

// `player` NULL: it left.
static void put_player(net_log_recorder* recorder, uint32_t client, const net_log_player* player) {
    base_bytes* item = &recorder->item;
    base_bytes_clear(item);
    base_bytes_write_varint(item, client);
    if (player) base_bytes_write_varint(item, player->entity);
    if (player) base_bytes_write(item, player->name, strlen(player->name));
    put_item(&recorder->definitions, NET_LOG_STATE_PLAYER, item->data, item->size);
}

// Those that are not as they were written, both lists by rising client.
static void take_players(net_log_recorder* recorder) {
    const net_log_player* before = recorder->written;
    const net_log_player* end = before; // which is NULL before the first player
    if (!recorder->is_full && recorder->written_count > 0) end += recorder->written_count;
    for (uint32_t i = 0; i < recorder->player_count; i++) {
        const net_log_player* now = &recorder->players[i];
        while (before != end && before->client < now->client)
            put_player(recorder, before++->client, NULL);
        const bool is_known = before != end && before->client == now->client;
        if (!is_known || memcmp(before, now, sizeof *now) != 0)
            put_player(recorder, now->client, now);
        if (is_known) before++;
    }
    while (before != end)
        put_player(recorder, before++->client, NULL);
    if (recorder->player_count > 0)
        memcpy(recorder->written, recorder->players,
               recorder->player_count * sizeof *recorder->players);
    recorder->written_count = recorder->player_count;
}

// What the history does not have.
static void take_beside(net_log_recorder* recorder) {
    const net_history* history = recorder->history;
    const net_history_event* events = history->events;
    for (uint32_t i = 0; i < history->event_count && !recorder->is_full; i++)
        if (events[i].kind == NET_HISTORY_SPAWNED)
            see_entity(recorder, net_history_find(history, ecs_entity_index(events[i].handle)));
    for (uint32_t index = 1; index < history->capacity && recorder->is_full; index++)
        if (net_history_find(history, index))
            see_entity(recorder, net_history_find(history, index));
    for (uint32_t i = 0; i < recorder->composed_count && recorder->is_full; i++)
        define(recorder, net_rows_find(recorder->rows, recorder->composed[i]));
    if (!recorder->is_full && !recorder->interest && recorder->rows->varsize_count > 0)
        take_changed_values(recorder);
}

// What a server does for a client in a tick (server/server_tick.c).
static void step_scope(net_log_recorder* recorder) {
    net_match* match = (net_match*)(uintptr_t)recorder->match;
    net_interest* interest = recorder->interest;
    const uint32_t client = recorder->client;
    const bool is_there = net_match_player_name(match, client) != NULL;
    if (is_there != recorder->is_there) {
        recorder->is_there = is_there;
        recorder->is_full = true; // what it had as long as it was away is gone
        if (!is_there) net_interest_remove_client(interest, client);
        if (is_there) net_interest_add_client(interest, client);
    }
    uint32_t count = 0;
    net_interest_requests* requests = &match->requests;
    const net_interest_request* request =
        recorder->is_full ? net_interest_requests_find(requests, client) : NULL;
    const net_interest_request* news = net_interest_requests_take(requests, &count);
    for (uint32_t i = 0; i < count; i++)
        if (news[i].client == client) request = &news[i];
    if (is_there) net_interest_set_player(interest, client, net_match_player(match, client));
    if (is_there && request) net_interest_request_for(interest, client, request);
    if (is_there && recorder->is_full) net_interest_refresh(interest, client);
    net_interest_step(interest, recorder->history, net_match_tick(match));
}

void net_log_recorder_begin(net_log_recorder* recorder, const net_history* history) {
    BASE_ASSERT(history && !recorder->is_running);
    BASE_ASSERT(!recorder->history || recorder->history == history);
    recorder->history = history;
    recorder->is_full = recorder->must_restart;
    recorder->must_restart = false;
    base_bytes_clear(&recorder->definitions);
    base_bytes_clear(&recorder->values);
    if (recorder->interest) step_scope(recorder);
    take_beside(recorder);
    if (net_match_get_config(recorder->match)->role == NET_ROLE_SERVER) list_players(recorder);
    take_players(recorder);
    recorder->is_running = true;
    if (recorder->worker)
        net_worker_start(recorder->worker);
    else
        record(recorder);
}

void net_log_recorder_end(net_log_recorder* recorder,
                          void (*part)(void* context, const uint8_t* data, size_t size),
                          void* context) {
    if (!recorder->is_running) return;
    net_worker_wait(recorder->worker);
    recorder->is_running = false;
    for (size_t at = 0; at < recorder->out.size;) {
        uint32_t size;
        memcpy(&size, recorder->out.data + at, sizeof size);
        part(context, recorder->out.data + at + sizeof size, size);
        at += sizeof size + size;
    }
}

// ---- on the recorder's thread ----

static void begin_part(net_log_recorder* recorder) {
    base_bytes* out = &recorder->out;
    base_bytes_write(out, &(uint32_t){0}, sizeof(uint32_t)); // its length, of this machine
    recorder->part = out->size;
    base_bytes_write_u8(out, NET_LOG_FORM_STATE);
    base_bytes_write_u8(out, recorder->is_full ? NET_LOG_STATE_FULL : 0);
    recorder->is_full = false; // the tick's first part says it
}

static void end_part(net_log_recorder* recorder, bool is_last) {
    base_bytes* out = &recorder->out;
    BASE_ASSERT(out->size - recorder->part <= NET_LOG_STATE_BYTES_MAX);
    if (is_last) out->data[recorder->part + 1] |= NET_LOG_STATE_LAST;
    const uint32_t size = (uint32_t)(out->size - recorder->part);
    memcpy(out->data + recorder->part - sizeof size, &size, sizeof size);
}

static void write_item(net_log_recorder* recorder, net_log_state_item kind, const uint8_t* data,
                       size_t size) {
    if (recorder->out.size - recorder->part >= NET_LOG_PART_SPLIT_BYTES) {
        end_part(recorder, false);
        begin_part(recorder);
    }
    put_item(&recorder->out, kind, data, size);
}

static void write_items(net_log_recorder* recorder, const base_bytes* items) {
    base_reader reader = base_reader_make(items->data, items->size);
    while (base_reader_left(&reader) > 0) {
        const net_log_state_item kind = (net_log_state_item)base_reader_varint(&reader);
        const size_t size = (size_t)base_reader_varint(&reader);
        write_item(recorder, kind, base_reader_skip(&reader, size), size);
    }
}

// One body of what waits.
static void write_body(net_log_recorder* recorder) {
    const net_repl_state_room room = {.hard = BODY_BYTES * 8, .soft = BODY_BYTES * 8};
    proto_bit_writer writer = proto_bit_writer_make(recorder->body, sizeof recorder->body);
    const uint16_t seq = recorder->seq++;
    const uint32_t records = net_repl_state_write(recorder->repl, seq, room, &writer);
    const bool is_known = net_repl_state_acked(recorder->repl, seq);
    BASE_ASSERT(is_known && records > 0);
    write_item(recorder, NET_LOG_STATE_BODY, recorder->body, (writer.size_bits + 7) / 8);
}

static void prepare(net_log_recorder* recorder) {
    if (!recorder->replicator) {
        const net_replicator_config config = {.rows = recorder->rows,
                                              .index_max = recorder->index_max,
                                              .interest = recorder->interest,
                                              .history =
                                                  (net_history*)(uintptr_t)recorder->history};
        recorder->replicator = net_replicator_create(&config);
    }
    if (recorder->is_full) {
        net_repl_state_destroy(recorder->repl);
        recorder->repl = NULL;
    }
    net_replicator_publish(recorder->replicator);
    if (!recorder->is_full) return;
    recorder->seq = 1;
    if (!recorder->interest || recorder->is_there)
        recorder->repl = net_repl_state_create(recorder->replicator, recorder->client);
}

// What the client may have of variable size: all of it in each tick, since it comes into its scope
// at any time.
static void take_scope_values(net_log_recorder* recorder) {
    const net_repl_state* repl = recorder->repl;
    for (uint32_t slot = 0; repl && slot < repl->slot_end; slot++) {
        const net_interest_entity* member = &repl->members[slot];
        if (member->index == 0) continue;
        const net_row_template* row =
            net_history_find(recorder->history, member->index)->row_template;
        for (uint32_t v = 0; v < row->varsize_count; v++)
            if (member->classes >> row->varsizes[v].class_ & 1)
                take_value(recorder, repl->handles[slot], row->varsizes[v].component);
    }
}

static void record(void* context) {
    net_log_recorder* recorder = context;
    const bool is_full = recorder->is_full;
    base_bytes_clear(&recorder->out);
    prepare(recorder);
    begin_part(recorder);
    write_items(recorder, &recorder->definitions);
    while (recorder->repl && net_repl_state_has_pending(recorder->repl))
        write_body(recorder);
    if (recorder->interest) take_scope_values(recorder);
    write_items(recorder, &recorder->values);
    end_part(recorder, true);
    if (is_full) recorder->full_bytes = recorder->out.size;
}

// ---- sums of components ----

uint32_t net_log_sums_untracked(const ecs_world* world) {
    for (uint32_t id = 1; id <= ecs_template_count(world); id++) {
        const ecs_template* template_ = ecs_template_get(world, (ecs_template_id)id);
        for (uint32_t i = 0; i < template_->component_count; i++) {
            const ecs_template_component* own = &template_->components[i];
            const ecs_component* component = ecs_component_get(world, own->component);
            if (!(own->flags & ECS_COMPONENT_TRACKED) &&
                ecs_type_get(world, component->type)->object_size > 0)
                return NET_LOG_UNTRACKED_VALUES;
        }
    }
    return 0;
}

// The sums of components by id, as a log with this Header.untracked_values has them.
static void sum_components(const ecs_world* world, uint32_t untracked_values, uint64_t* sums) {
    uint32_t count = ecs_component_count(world);
    if (untracked_values > 0)
        ecs_world_untracked_sums(world, ecs_world_tick(world), untracked_values, sums);
    else
        memset(sums, 0, (count + 1u) * sizeof *sums);
    for (uint32_t id = 1; id <= count; id++)
        sums[id] += ecs_world_state_hash_of(world, (ecs_component_id)id);
}

void net_log_sums_write(net_log_sums* sums, const ecs_world* world, proto_pb_writer* to) {
    uint64_t now[ECS_COMPONENTS_MAX + 1];
    uint32_t count = ecs_component_count(world), before = 0;
    sum_components(world, sums->untracked_values, now);
    proto_pb_write_varint(to, !sums->is_known);
    for (uint32_t id = 1; id <= count; id++) {
        if (now[id] == (sums->is_known ? sums->values[id] : 0)) continue;
        proto_pb_write_varint(to, id - before);
        proto_pb_write_raw(to, now[id] & NET_LOG_SUM_MASK, 1);
        before = id;
    }
    memcpy(sums->values, now, (count + 1u) * sizeof *now);
    sums->is_known = true;
}

bool net_log_sums_read(net_log_sums* sums, ecs_tick tick, const uint8_t* data, size_t size) {
    base_reader reader = base_reader_make(data, size);
    sums->is_known = sums->is_known && tick == sums->tick + 1;
    sums->tick = tick;
    const uint64_t is_whole = base_reader_varint(&reader);
    if (is_whole == 1) {
        memset(sums->values, 0, sizeof sums->values);
        sums->is_known = true;
    }
    uint64_t id = 0;
    while (!reader.failed && base_reader_left(&reader) > 0) {
        const uint64_t gap = base_reader_varint(&reader);
        const uint8_t* sum = base_reader_skip(&reader, 1);
        if (gap < 1 || gap > ECS_COMPONENTS_MAX - id || !sum) reader.failed = true;
        if (reader.failed) break;
        id += gap;
        sums->values[id] = *sum;
    }
    if (reader.failed || is_whole > 1) sums->is_known = false;
    return !reader.failed && is_whole <= 1;
}

ecs_component_id net_log_sums_differ(const net_log_sums* sums, const ecs_world* world) {
    uint64_t own[ECS_COMPONENTS_MAX + 1];
    if (!sums->is_known) return ECS_COMPONENT_NONE;
    sum_components(world, sums->untracked_values, own);
    for (uint32_t id = 1; id <= ecs_component_count(world); id++)
        if ((own[id] & NET_LOG_SUM_MASK) != sums->values[id]) return (ecs_component_id)id;
    return ECS_COMPONENT_NONE;
}
