// SPDX-License-Identifier: MIT
// The log of a match as a reader without its game sees it: every row of every tick. Public
// functions alone, so that another format of logs must give the same rows.
#include "referee.h"

#include "base/hash.h"
#include "net/log.h"

#include <inttypes.h>
#include <stdio.h>

enum { VALUES_MAX = 1024, SEEKS = 3 };

typedef struct rows {
    net_log_state* state;
    uint64_t count, hash;
    uint64_t ticks[REFEREE_TICKS_MAX + 1]; ///< hash of the rows of each tick
    ecs_number values[VALUES_MAX];
} rows;

static void add_text(base_hasher* hasher, const char* text) {
    base_hasher_add(hasher, text, strlen(text) + 1);
}

static void add_value(base_hasher* hasher, const ecs_number* value) {
    const uint64_t kind = (uint64_t)value->kind;
    uint64_t bits = value->natural;
    const ecs_entity entity = (ecs_entity)bits;
    if (value->kind == ECS_FIELD_ENTITY) bits = base_hash64(&entity, sizeof entity, 0);
    base_hasher_add(hasher, &kind, sizeof kind);
    base_hasher_add(hasher, &bits, sizeof bits);
}

static bool add_component(rows* self, base_hasher* hasher, ecs_entity entity,
                          const net_log_component* component) {
    add_text(hasher, component->name);
    add_text(hasher, component->type);
    size_t size;
    const uint8_t* bytes = net_log_state_bytes(self->state, entity, component, &size);
    if (bytes) {
        base_hasher_add(hasher, &size, sizeof size);
        base_hasher_add(hasher, bytes, size);
        return true;
    }
    if (component->value_count > VALUES_MAX ||
        !net_log_state_read(self->state, entity, component, self->values))
        return false;
    for (uint32_t i = 0; i < component->value_count; i++)
        add_value(hasher, &self->values[i]);
    return true;
}

// All rows of the state as it is. @return false: a row has a component that cannot be read.
static bool hash_tick(rows* self, uint64_t* hash) {
    base_hasher hasher;
    base_hasher_init(&hasher, net_log_state_tick(self->state));
    for (ecs_entity entity = net_log_state_next(self->state, ECS_ENTITY_NONE);
         entity != ECS_ENTITY_NONE; entity = net_log_state_next(self->state, entity)) {
        base_hasher_add(&hasher, &entity, sizeof entity);
        add_text(&hasher, net_log_state_template(self->state, entity));
        const net_log_component* component;
        for (uint32_t i = 0; (component = net_log_state_template_component(self->state, entity, i));
             i++)
            if (!add_component(self, &hasher, entity, component)) return false;
        self->count++;
    }
    *hash = base_hasher_end(&hasher);
    return true;
}

static net_result walk(rows* self, bool is_traced) {
    net_result result;
    while ((result = net_log_state_step(self->state)) == NET_OK) {
        ecs_tick tick = net_log_state_tick(self->state);
        if (tick > REFEREE_TICKS_MAX || !net_log_state_is_whole(self->state) ||
            !hash_tick(self, &self->ticks[tick]))
            return NET_ERR_DAMAGED;
        self->hash = base_hash64_mix(self->hash, self->ticks[tick]);
        if (is_traced)
            printf("log tick=%" PRIu64 " rows=%" PRIu64 " hash=%016" PRIx64 "\n", tick, self->count,
                   self->ticks[tick]);
    }
    return result == NET_ERR_CLOSED ? NET_OK : result;
}

// Seek to the end, back, and forward.
static net_result seek(rows* self) {
    ecs_tick last = net_log_state_tick(self->state);
    const ecs_tick targets[SEEKS] = {last, last / 3, last - last / 10};
    for (uint32_t i = 0; i < SEEKS; i++) {
        net_result result = net_log_state_seek(self->state, targets[i]);
        uint64_t hash = 0;
        if (result != NET_OK) return result;
        if (net_log_state_tick(self->state) != targets[i] || !hash_tick(self, &hash) ||
            hash != self->ticks[targets[i]])
            return NET_ERR_DIVERGED;
    }
    return NET_OK;
}

net_result referee_read_log(referee* self) {
    static rows made;
    memset(&made, 0, sizeof made);
    net_log_reader* reader = NULL;
    net_result result = net_log_reader_create(NULL, self->log, &self->reporter, &reader);
    if (result == NET_OK) result = net_log_state_create(reader, NULL, &self->reporter, &made.state);
    if (result == NET_OK) result = walk(&made, self->is_traced);
    const uint64_t count = made.count;
    if (result == NET_OK) result = seek(&made);
    net_log_state_destroy(made.state);
    net_verify_result verified = {0};
    if (result == NET_OK)
        result = net_log_verify(reader, self->module, 0, 0, NULL, NULL, &self->reporter, &verified);
    if (result == NET_OK)
        referee_say(self, REFEREE_ROWS,
                    "game=%s seed=%" PRIu64 " ticks=%" PRIu64 " rows=%" PRIu64 " hash=%016" PRIx64
                    " state_hash=%016" PRIx64 " closed=%d\n",
                    self->module->game->name, self->seed, verified.ticks, count, made.hash,
                    verified.state_hash, net_log_reader_info(reader)->is_closed);
    net_log_reader_destroy(reader);
    return result;
}
