// SPDX-License-Identifier: MIT
// The past of what moves, as clients had it.
//
// Idea: one ring of states per entity index. A state says what stood there after a tick: which
// handle, with which template of the wire and which values; or that the index was empty. So
// incarnations need no bookkeeping: one lasts from the state that names its handle to the next that
// names another. A question about a handle is answered by the newest state that is not newer than
// the moment, if it names that handle. An entity that rests adds no states. A state is dropped when
// the next one is as old as the oldest moment within reach, so a ring has at most two states more
// than ticks within reach. A ring that ends with an empty index is released when that state is as
// old (sweep); other indices then use its memory.
//
// Invariants (net_rewind_validate): ticks of a ring rise strictly; a tick has one state, its last
// one; no state is newer than the last step. A form is the kept components of a row template, so
// templates that look the same to clients share one.
// Source: Bernier, "Latency compensating methods in client/server in-game protocol design" (2001).
// Read net_rewind_step first (rewind_step.c), then net_rewind_get. rewind_value.c has the values
// between two states, rewind_save.c saves.
#include "game/rewind_internal.h"

#include "base/assert.h"
#include "game/rewind_value.h"

#include <string.h>

net_result net_rewind_create(const base_allocator* allocator, net_rows* rows,
                             const ecs_world* world, uint32_t tick_rate_hz, net_rewind** rewind) {
    BASE_ASSERT(rows && rewind);
    *rewind = base_allocate_zero(allocator, sizeof **rewind);
    if (!*rewind) return NET_ERR_MEMORY;
    (*rewind)->allocator = allocator;
    net_pool_init(&(*rewind)->pool, allocator);
    base_bitset_init(&(*rewind)->moved, allocator);
    for (uint32_t i = 0; i < NET_REWIND_PARTS; i++)
        base_bytes_init(&(*rewind)->parts[i], allocator);
    (*rewind)->rows = rows;
    (*rewind)->index_max = ecs_world_limits(world)->replicated_index_max;
    (*rewind)->reach = (uint64_t)NET_REWIND_MS_MAX * NET_REWIND_MOMENTS * tick_rate_hz / 1000;
    return NET_OK;
}

void net_rewind_clear(net_rewind* rewind) {
    for (uint32_t i = 0; i < rewind->ring_capacity; i++)
        net_tick_ring_deinit(&rewind->rings[i], &rewind->pool.allocator);
}

void net_rewind_destroy(net_rewind* rewind) {
    if (!rewind) return;
    const base_allocator* allocator = rewind->allocator;
    net_rewind_clear(rewind);
    net_pool_deinit(&rewind->pool);
    base_bitset_deinit(&rewind->moved);
    for (uint32_t i = 0; i < NET_REWIND_PARTS; i++)
        base_bytes_deinit(&rewind->parts[i]);
    BASE_ARRAY_RELEASE(allocator, rewind->rings, rewind->ring_capacity);
    BASE_ARRAY_RELEASE(allocator, rewind->form_of, rewind->form_of_capacity);
    BASE_ARRAY_RELEASE(allocator, rewind->forms, rewind->form_capacity);
    BASE_ARRAY_RELEASE(allocator, rewind->kept, rewind->kept_capacity);
    base_release(allocator, rewind, sizeof *rewind);
}

// ---- forms ----

static bool reserve(net_rewind* rewind, void** array, uint32_t* capacity, uint32_t count,
                    size_t element_bytes) {
    bool has_room = base_array_reserve(rewind->allocator, array, capacity, count, element_bytes);
    if (!has_room) rewind->is_lacking = true;
    return has_room;
}

static bool add_kept(net_rewind* rewind, net_rewind_form* form, const ecs_world* world,
                     const ecs_template_component* source, uint32_t row_component) {
    const ecs_component* component = ecs_component_get(world, source->component);
    const ecs_type* type = ecs_type_get(world, component->type);
    if (!reserve(rewind, (void**)&rewind->kept, &rewind->kept_capacity, rewind->kept_count + 1,
                 sizeof *rewind->kept))
        return false;
    rewind->kept[rewind->kept_count++] = (net_rewind_kept){.id = source->component,
                                                           .offset = form->value_bytes,
                                                           .size = type->size,
                                                           .row_component = row_component,
                                                           .teleport = source->teleport};
    form->kept_count++;
    form->value_bytes +=
        (type->size + NET_REWIND_VALUE_ALIGN - 1) & ~(uint32_t)(NET_REWIND_VALUE_ALIGN - 1);
    rewind->is_kept[source->component] = true;
    return true;
}

// NET_REWIND_FORM_NONE or position + 1; NET_REWIND_FORM_UNSEEN without memory.
static uint32_t make_form(net_rewind* rewind, const ecs_world* world,
                          const net_row_template* entry) {
    const ecs_template* source = ecs_template_get(world, entry->id);
    net_rewind_form made = {.entry = entry, .kept_first = rewind->kept_count};
    for (uint32_t i = 0; i < entry->layout.component_count; i++) {
        const ecs_template_component* component =
            ecs_template_find_component(source, (ecs_component_id)entry->layout.components[i].key);
        if ((component->flags & ECS_COMPONENT_INTERPOLATED) &&
            !add_kept(rewind, &made, world, component, i)) {
            rewind->kept_count = made.kept_first;
            return NET_REWIND_FORM_UNSEEN;
        }
    }
    if (made.kept_count == 0) return NET_REWIND_FORM_NONE;
    if (!reserve(rewind, (void**)&rewind->forms, &rewind->form_capacity, rewind->form_count + 1,
                 sizeof *rewind->forms)) {
        rewind->kept_count = made.kept_first;
        return NET_REWIND_FORM_UNSEEN;
    }
    rewind->forms[rewind->form_count++] = made;
    return rewind->form_count;
}

uint32_t net_rewind_find_form(net_rewind* rewind, const ecs_world* world, ecs_template_id id) {
    if (!reserve(rewind, (void**)&rewind->form_of, &rewind->form_of_capacity, id + 1u,
                 sizeof *rewind->form_of))
        return NET_REWIND_FORM_NONE;
    if (rewind->form_of[id] == NET_REWIND_FORM_UNSEEN) {
        const net_row_template* entry = net_rows_find(rewind->rows, id);
        uint32_t found = NET_REWIND_FORM_NONE;
        if (entry && entry->id != id) {
            uint32_t shared = net_rewind_find_form(rewind, world, entry->id); // may move the table
            found = shared == NET_REWIND_FORM_NONE ? NET_REWIND_FORM_NONE : shared + 1;
        } else if (entry) {
            found = make_form(rewind, world, entry);
        }
        if (rewind->is_lacking) return NET_REWIND_FORM_NONE;
        rewind->form_of[id] = found;
    }
    return rewind->form_of[id] == NET_REWIND_FORM_NONE ? NET_REWIND_FORM_NONE
                                                       : rewind->form_of[id] - 1;
}

bool net_rewind_reserve_ring(net_rewind* rewind, uint32_t index) {
    return reserve(rewind, (void**)&rewind->rings, &rewind->ring_capacity, index + 1,
                   sizeof *rewind->rings);
}

void net_rewind_validate(const net_rewind* rewind) {
    for (uint32_t index = 0; index < rewind->ring_capacity; index++) {
        const net_tick_ring* ring = &rewind->rings[index];
        net_tick_ring_validate(ring);
        BASE_ASSERT(ring->count == 0 || net_rewind_newest_tick(ring) <= rewind->tick);
        for (uint32_t i = 0; i < ring->count; i++) {
            const net_rewind_state* state = net_rewind_state_at(ring, i);
            BASE_ASSERT((state->handle == ECS_ENTITY_NONE) ==
                        (state->form == NET_REWIND_FORM_NONE));
            if (state->handle == ECS_ENTITY_NONE) continue;
            BASE_ASSERT(ecs_entity_index(state->handle) == index);
            BASE_ASSERT(state->form < rewind->form_count);
        }
    }
}

// ---- answers ----

ecs_tick net_rewind_tick(const net_rewind* rewind) {
    return rewind->tick;
}

uint64_t net_rewind_clamp(const net_rewind* rewind, uint64_t moment) {
    uint64_t present = rewind->tick * NET_REWIND_MOMENTS;
    uint64_t oldest = present > rewind->reach ? present - rewind->reach : 0;
    return moment > present ? present : moment < oldest ? oldest : moment;
}

static void clamp_moment(const net_rewind* rewind, ecs_tick* tick, float* fraction) {
    if (!(*fraction > 0.0f)) *fraction = 0.0f;
    if (*tick >= rewind->tick) {
        *tick = rewind->tick;
        *fraction = 0.0f;
    } else if (*fraction >= 1.0f) {
        *tick += 1;
        *fraction = 0.0f;
    }
    uint64_t oldest = net_rewind_clamp(rewind, 0);
    float part = (float)(oldest % NET_REWIND_MOMENTS) / (float)NET_REWIND_MOMENTS;
    if (*tick > oldest / NET_REWIND_MOMENTS ||
        (*tick == oldest / NET_REWIND_MOMENTS && *fraction >= part))
        return;
    *tick = oldest / NET_REWIND_MOMENTS;
    *fraction = part;
}

bool net_rewind_get(const net_rewind* rewind, ecs_tick tick, float fraction, ecs_entity entity,
                    ecs_component_id component, void* value) {
    BASE_ASSERT(value);
    const net_tick_ring* ring = net_rewind_find_ring(rewind, entity);
    if (!ring || entity == ECS_ENTITY_NONE) return false;
    clamp_moment(rewind, &tick, &fraction);
    uint32_t position = net_tick_ring_find(ring, tick);
    if (position == UINT32_MAX) return false;
    net_rewind_state* from = net_rewind_state_at(ring, position);
    if (from->handle != entity) return false;
    const net_rewind_form* form = &rewind->forms[from->form];
    const net_rewind_kept* kept = &rewind->kept[form->kept_first];
    const net_rewind_kept* end = kept + form->kept_count;
    while (kept < end && kept->id != component)
        kept++;
    if (kept == end) return false;
    net_rewind_state* to =
        position + 1 < ring->count ? net_rewind_state_at(ring, position + 1) : NULL;
    bool is_moving = fraction > 0.0f && to && to->handle == entity && to->form == from->form &&
                     net_tick_ring_tick(ring, position + 1) == tick + 1;
    const net_rewind_component which = {.layout = &form->entry->layout,
                                        .component = kept->row_component,
                                        .teleport = kept->teleport};
    net_rewind_value(&which, net_rewind_values(from) + kept->offset,
                     is_moving ? net_rewind_values(to) + kept->offset : NULL, fraction, value);
    return true;
}

size_t net_rewind_bytes(const net_rewind* rewind) {
    size_t bytes = rewind->ring_capacity * sizeof *rewind->rings;
    for (uint32_t i = 0; i < rewind->ring_capacity; i++)
        bytes += rewind->rings[i].bytes_allocated;
    return bytes;
}
