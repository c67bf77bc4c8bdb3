// SPDX-License-Identifier: MIT
// The main check: each row that a client applies is the server's row of that entity at that tick,
// masked by what the client may see then. Ticks never fall. Entities of one group are never seen at
// two ticks, and come and go together.
#include "internal.h"

#include "client/client_state.h"
#include "state/schema.h"

#include <inttypes.h>
#include <stdlib.h>

const tick_rows* find_tick(const scenario* self, ecs_tick tick) {
    if (tick < self->config.tick_zero || tick - self->config.tick_zero >= self->history_count)
        return NULL;
    const tick_rows* rows = &self->history[tick - self->config.tick_zero];
    return rows->rows ? rows : NULL;
}

static void record_row(scenario* self, row_record* record, ecs_entity entity,
                       const net_row_template* entry, uint64_t* words) {
    *record = (row_record){.entity = entity, .entry = entry};
    net_rows_read(entry, net_match_world(self->match), entity, words);
    record->hash = net_row_hash(entry, words);
    if (entry->class_mask & ~1u) record->words = words;
    const swarm_context* context = net_match_context(self->match);
    const uint32_t* kin =
        context->is_wild ? ecs_find(net_match_world(self->match), entity, context->together) : NULL;
    if (kin && self->config.rules & SWARM_TOGETHER) record->kin = *kin;
    for (uint32_t i = 0; i < self->server->session_count; i++) {
        const net_session* session = self->server->sessions[i];
        uint32_t classes = 0;
        if (!session || !session->out.repl || place_of(session->client) >= NUMBERS_MAX) continue;
        if (net_repl_state_sees(session->out.repl, entity, &classes))
            record->classes[place_of(session->client)] = (uint16_t)classes;
    }
}

void record_history(scenario* self) {
    ecs_tick tick = net_match_tick(self->match);
    if (tick < self->config.tick_zero || tick - self->config.tick_zero >= self->history_count)
        return;
    tick_rows* rows = &self->history[tick - self->config.tick_zero];
    if (rows->rows) return;
    ecs_world* world = net_match_world(self->match);
    net_rows* table = net_schema_rows(net_match_schema(self->match));
    uint32_t capacity = ecs_world_entity_count(world) + 1, words = 0;
    rows->rows = malloc(capacity * sizeof(row_record));
    rows->words = malloc((size_t)capacity * 64 * sizeof(uint64_t));
    BASE_ASSERT(rows->rows && rows->words);
    for (ecs_entity entity = ecs_entity_next(world, ECS_ENTITY_NONE); entity != ECS_ENTITY_NONE;
         entity = ecs_entity_next(world, entity)) {
        const net_row_template* entry = net_rows_find(table, ecs_entity_template(world, entity));
        if (!entry) continue;
        BASE_ASSERT(entry->layout.field_count <= 64 && rows->count < capacity);
        row_record* record = &rows->rows[rows->count++];
        record_row(self, record, entity, entry, rows->words + words);
        if (record->words) words += entry->layout.field_count;
    }
    // Give back unused memory. Pointers into it are corrected.
    uint64_t* kept = malloc((words + 1) * sizeof *kept);
    BASE_ASSERT(kept);
    memcpy(kept, rows->words, words * sizeof *kept);
    for (uint32_t i = 0; i < rows->count; i++)
        if (rows->rows[i].words) rows->rows[i].words = kept + (rows->rows[i].words - rows->words);
    free(rows->words);
    rows->words = kept;
}

void free_history(scenario* self) {
    for (uint32_t i = 0; i < self->history_count; i++) {
        free(self->history[i].rows);
        free(self->history[i].words);
    }
    free(self->history);
}

const row_record* find_row(const tick_rows* rows, ecs_entity entity) {
    uint32_t low = 0, high = rows->count;
    while (low < high) {
        uint32_t middle = (low + high) / 2;
        if (ecs_entity_index(rows->rows[middle].entity) < ecs_entity_index(entity)) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    return low < rows->count && rows->rows[low].entity == entity ? &rows->rows[low] : NULL;
}

static uint64_t masked_hash(scenario* self, const row_record* row, uint32_t classes) {
    if (!row->words || !(row->entry->class_mask & ~classes)) return row->hash;
    uint64_t words[64];
    memcpy(words, row->words, row->entry->layout.field_count * sizeof *words);
    net_rows_mask(row->entry, classes, words);
    uint64_t hash = net_row_hash(row->entry, words);
    self->result.counts.rows_hidden += hash != row->hash;
    return hash;
}

static void check_row(scenario* self, uint32_t client, ecs_entity entity, ecs_tick tick,
                      uint64_t hash) {
    const tick_rows* rows = find_tick(self, tick);
    uint32_t index = ecs_entity_index(entity), generation = ecs_entity_generation(entity);
    if (!rows || place_of(client) >= NUMBERS_MAX) {
        scenario_fail(self,
                      "row check: client %" PRIu32 " applied tick %" PRIu64
                      " that the server never had",
                      client, tick);
        return;
    }
    const row_record* row = find_row(rows, entity);
    if (!row) {
        scenario_fail(self,
                      "row check: client %" PRIu32 " has entity %" PRIu32 ":%" PRIu32
                      " at tick %" PRIu64 ", the server had none",
                      client, index, generation, tick);
    } else if (!row->classes[place_of(client)]) {
        scenario_fail(self,
                      "row check: client %" PRIu32 " has entity %" PRIu32 ":%" PRIu32
                      " of tick %" PRIu64 ", when it was out of its scope",
                      client, index, generation, tick);
    } else if (masked_hash(self, row, row->classes[place_of(client)]) != hash) {
        scenario_fail(self,
                      "row check: client %" PRIu32 " entity %" PRIu32 ":%" PRIu32 " tick %" PRIu64
                      " differs from the server's history",
                      client, index, generation, tick);
    }
}

void check_update(void* context, uint32_t client, ecs_entity entity, ecs_tick tick,
                  uint64_t row_hash) {
    trace_target* target = context;
    scenario* self = target->self;
    member* one = target->one;
    self->result.counts.rows_checked++;
    check_row(self, client, entity, tick, row_hash);
    uint32_t index = ecs_entity_index(entity);
    BASE_ASSERT(index < INDEX_MAX);
    if (one->entity_handles[index] == entity && tick < one->entity_ticks[index]) {
        scenario_fail(self, "tick check: entity %" PRIu32 " fell from tick %" PRIu64 " to %" PRIu64,
                      index, one->entity_ticks[index], tick);
    }
    one->entity_handles[index] = entity;
    one->entity_ticks[index] = tick;
}

// Did the client's scope have just these members of a kin at a tick until now?
static bool was_whole(const scenario* self, uint32_t client, uint32_t kin, uint64_t sum,
                      ecs_tick tick) {
    for (; tick >= self->config.tick_zero && tick != 0; tick--) {
        const tick_rows* rows = find_tick(self, tick);
        uint64_t scope = 0;
        for (uint32_t i = 0; rows && i < rows->count; i++)
            if (rows->rows[i].kin == kin && rows->rows[i].classes[client])
                scope += base_hash64_mix(1, rows->rows[i].entity);
        if (rows && scope == sum) return true;
    }
    return false;
}

static void check_kin(scenario* self, member* one, uint32_t kin, uint64_t sum) {
    const uint32_t client = place_of(one->client->client);
    if (one->kins[kin] == sum) return;
    one->kins[kin] = sum;
    self->result.counts.kin_checked++;
    if (sum == 0 || was_whole(self, client, kin, sum, one->client->tick_newest)) return;
    scenario_fail(self, "group check: client %" PRIu32 " has a part of kin %" PRIu32,
                  one->client->client, kin);
}

void check_groups(scenario* self, member* one) {
    if (!self->config.is_wild || !(self->config.rules & SWARM_TOGETHER)) return;
    const swarm_context* context = net_match_context(one->match);
    ecs_world* world = net_match_world(one->match);
    uint32_t client = place_of(one->client->client);
    if (client == 0 || client >= NUMBERS_MAX) return;
    uint32_t pacts[KINS] = {0}; // pact + 1 of the first entity seen
    uint64_t sums[KINS] = {0};
    ecs_query_iter iter = ecs_query_begin(world, context->movers);
    while (ecs_query_next(&iter)) {
        for (uint32_t i = 0; i < iter.rows.count; i++) {
            ecs_entity entity = iter.rows.entities[i];
            uint32_t kin = *(const uint32_t*)ecs_get(world, entity, context->together);
            uint32_t pact = *(const uint16_t*)ecs_get(world, entity, context->pact) + 1u;
            if (kin == 0 || kin >= KINS) continue;
            sums[kin] += base_hash64_mix(1, entity);
            self->result.counts.kin_checked += pacts[kin] != 0;
            if (pacts[kin] == 0) pacts[kin] = pact;
            if (pacts[kin] == pact) continue;
            scenario_fail(self,
                          "group check: kin %" PRIu32 " are torn, pacts %" PRIu32 " and %" PRIu32,
                          kin, pacts[kin] - 1, pact - 1);
        }
    }
    for (uint32_t kin = 1; kin < KINS; kin++)
        check_kin(self, one, kin, sums[kin]);
}
