// SPDX-License-Identifier: MIT
// A step of the past: what began, ended or moved in a tick becomes states.
//
// What began or ended is taken one by one. What moved is a set of indices first, so that each is
// looked at once, however many of its components changed. Then the words of the set are shared with
// the workers. An index belongs to one word, its ring to one index, and a ring that has room needs
// no memory from the pool, so they share nothing. A worker leaves an index whose ring must grow in
// the set; the owner does those at the end. Which thread wrote a state does not show.
#include "base/assert.h"
#include "ecs/change.h"
#include "game/rewind_internal.h"

#include <string.h>

enum {
    SWEEP_RINGS = 64,
    ITEM_WORDS = 4,  ///< of the set; an item of the workers
    SHARED_MIN = 512 ///< fewer moves are taken by one thread: waking another costs more
};

static ecs_tick oldest_tick(const net_rewind* rewind) {
    return net_rewind_clamp(rewind, 0) / NET_REWIND_MOMENTS;
}

// Drop the states that no moment within reach asks for.
static void drop_old(net_tick_ring* ring, ecs_tick oldest) {
    uint32_t old = 0;
    while (old + 1u < ring->count && net_tick_ring_tick(ring, old + 1) <= oldest)
        old++;
    net_tick_ring_drop(ring, old);
}

net_rewind_state* net_rewind_put(net_rewind* rewind, net_tick_ring* ring, ecs_entity handle,
                                 uint32_t form) {
    BASE_ASSERT((handle == ECS_ENTITY_NONE) == (form == NET_REWIND_FORM_NONE));
    const base_allocator* allocator = &rewind->pool.allocator;
    uint32_t value_bytes = form == NET_REWIND_FORM_NONE ? 0 : rewind->forms[form].value_bytes;
    uint32_t stride = (uint32_t)sizeof(net_rewind_state) + value_bytes;
    if (stride > ring->stride_bytes && !net_tick_ring_widen(ring, allocator, stride)) {
        rewind->is_lacking = true;
        return NULL;
    }
    net_rewind_state* target = net_rewind_newest(ring);
    if (!target || net_rewind_newest_tick(ring) != rewind->tick) {
        drop_old(ring, oldest_tick(rewind));
        if (!net_tick_ring_reserve(ring, allocator, NET_REWIND_STATES_MAX)) {
            rewind->is_lacking = true;
            return NULL;
        }
        BASE_ASSERT(ring->count < ring->capacity);
        target = net_tick_ring_open(ring, allocator, NET_REWIND_STATES_MAX);
        net_tick_ring_close(ring, rewind->tick);
    }
    *target = (net_rewind_state){.handle = handle, .form = form};
    return target;
}

// A save has the bytes up to the next value too.
static void copy_value(uint8_t* target, const void* value, uint32_t bytes) {
    if (bytes == NET_REWIND_VALUE_ALIGN) { // most are vectors of two
        memcpy(target, value, NET_REWIND_VALUE_ALIGN);
        return;
    }
    uint32_t rest = bytes % NET_REWIND_VALUE_ALIGN;
    if (rest > 0) memset(target + bytes - rest, 0, NET_REWIND_VALUE_ALIGN);
    memcpy(target, value, bytes);
}

static void read_values(const net_rewind* rewind, const ecs_world* world,
                        net_rewind_state* target) {
    if (!target) return;
    const net_rewind_form* form = &rewind->forms[target->form];
    const net_rewind_kept* kept = &rewind->kept[form->kept_first];
    for (uint32_t i = 0; i < form->kept_count; i++, kept++)
        copy_value(net_rewind_values(target) + kept->offset,
                   ecs_get(world, target->handle, kept->id), kept->size);
}

// ---- what began or ended ----

static bool is_in_range(const net_rewind* rewind, ecs_entity handle) {
    uint32_t index = ecs_entity_index(handle);
    return index >= 1 && index <= rewind->index_max;
}

static void take_gone(net_rewind* rewind, ecs_entity handle) {
    net_tick_ring* ring = net_rewind_find_ring(rewind, handle);
    const net_rewind_state* newest = ring ? net_rewind_newest(ring) : NULL;
    if (newest && newest->handle == handle)
        (void)net_rewind_put(rewind, ring, ECS_ENTITY_NONE, NET_REWIND_FORM_NONE);
}

// An incarnation began, or goes on with another template.
static void take_living(net_rewind* rewind, const ecs_world* world, ecs_entity handle) {
    if (!is_in_range(rewind, handle) || !ecs_is_alive(world, handle)) return;
    uint32_t form = net_rewind_find_form(rewind, world, ecs_entity_template(world, handle));
    if (form == NET_REWIND_FORM_NONE) {
        take_gone(rewind, handle);
        return;
    }
    if (!net_rewind_reserve_ring(rewind, ecs_entity_index(handle))) return;
    net_tick_ring* ring = net_rewind_find_ring(rewind, handle);
    read_values(rewind, world, net_rewind_put(rewind, ring, handle, form));
}

static void take_all(net_rewind* rewind, const ecs_world* world) {
    ecs_entity entity = ecs_entity_next(world, ECS_ENTITY_NONE);
    for (; entity != ECS_ENTITY_NONE; entity = ecs_entity_next(world, entity))
        take_living(rewind, world, entity);
}

// ---- what moved ----

typedef struct moving {
    net_rewind* rewind;
    const ecs_world* world;
    ecs_tick oldest;
} moving;

// The set of what moved. @return how many changes led to it.
static uint32_t collect_moved(net_rewind* rewind, const ecs_changes* changes) {
    if (!base_bitset_reserve(&rewind->moved, rewind->ring_capacity)) {
        rewind->is_lacking = true;
        return 0;
    }
    uint64_t* words = rewind->moved.words;
    uint32_t count = 0;
    for (uint32_t i = 0; i < changes->changed_count; i++) {
        const ecs_change* change = &changes->changed[i];
        const uint32_t index = ecs_entity_index(change->entity);
        if (!rewind->is_kept[change->component] || index >= rewind->ring_capacity) continue;
        words[index / 64] |= UINT64_C(1) << index % 64;
        count++;
    }
    return count;
}

// Add a state with the values of now. @return false when its ring must grow for that.
static bool take_moved(const moving* self, net_tick_ring* ring) {
    const net_rewind* rewind = self->rewind;
    const net_rewind_state* newest = net_rewind_newest(ring);
    // A state of this tick has all values already.
    if (!newest || newest->handle == ECS_ENTITY_NONE ||
        net_rewind_newest_tick(ring) == rewind->tick || !ecs_is_alive(self->world, newest->handle))
        return true;
    const net_rewind_state next = *newest;
    drop_old(ring, self->oldest);
    if (ring->count == ring->capacity) return false;
    net_rewind_state* target = net_tick_ring_at(ring, net_tick_ring_place(ring, ring->count));
    net_tick_ring_close(ring, rewind->tick);
    *target = next;
    read_values(rewind, self->world, target);
    return true;
}

// Words of the set. What is done leaves it.
static void take_words(void* context, uint32_t item, uint32_t worker) {
    (void)worker;
    const moving* self = context;
    net_rewind* rewind = self->rewind;
    uint32_t end = (item + 1) * ITEM_WORDS;
    if (end > rewind->moved.word_count) end = rewind->moved.word_count;
    for (uint32_t w = item * ITEM_WORDS; w < end; w++) {
        uint64_t left = 0;
        for (uint64_t bits = rewind->moved.words[w]; bits; bits &= bits - 1) {
            if (!take_moved(self, &rewind->rings[w * 64 + base_bit_lowest(bits)]))
                left |= bits & -bits;
        }
        rewind->moved.words[w] = left;
    }
}

// The rest: their rings grow.
static void take_left(net_rewind* rewind, const ecs_world* world) {
    for (uint32_t w = 0; w < rewind->moved.word_count; w++) {
        for (uint64_t bits = rewind->moved.words[w]; bits; bits &= bits - 1) {
            net_tick_ring* ring = &rewind->rings[w * 64 + base_bit_lowest(bits)];
            const net_rewind_state newest = *net_rewind_newest(ring);
            read_values(rewind, world, net_rewind_put(rewind, ring, newest.handle, newest.form));
        }
        rewind->moved.words[w] = 0;
    }
}

static void take_changed(net_rewind* rewind, const ecs_world* world, const ecs_changes* changes,
                         base_workers* workers) {
    const uint32_t count = collect_moved(rewind, changes);
    if (count == 0) return;
    moving self = {rewind, world, oldest_tick(rewind)};
    base_workers_run(base_workers_worth(workers, count, SHARED_MIN), take_words, &self,
                     (rewind->moved.word_count + ITEM_WORDS - 1) / ITEM_WORDS);
    take_left(rewind, world);
}

// ---- a step ----

bool net_rewind_is_past(const net_rewind* rewind, const net_tick_ring* ring) {
    const net_rewind_state* newest = net_rewind_newest(ring);
    return newest && newest->handle == ECS_ENTITY_NONE &&
           net_rewind_newest_tick(ring) <= oldest_tick(rewind);
}

// Look at some rings per tick, in a circle.
static void sweep(net_rewind* rewind) {
    for (uint32_t i = 0; i < SWEEP_RINGS && i < rewind->ring_capacity; i++) {
        if (rewind->sweep_next >= rewind->ring_capacity) rewind->sweep_next = 0;
        net_tick_ring* ring = &rewind->rings[rewind->sweep_next++];
        if (net_rewind_is_past(rewind, ring)) net_tick_ring_deinit(ring, &rewind->pool.allocator);
    }
}

net_result net_rewind_step(net_rewind* rewind, const ecs_world* world, ecs_tick tick,
                           base_workers* workers) {
    BASE_ASSERT(!rewind->has_stepped || tick > rewind->tick);
    rewind->tick = tick;
    sweep(rewind);
    if (!rewind->has_stepped) {
        rewind->has_stepped = true;
        take_all(rewind, world);
        return rewind->is_lacking ? NET_ERR_MEMORY : NET_OK;
    }
    const ecs_changes changes = ecs_changes_get(world);
    for (uint32_t i = 0; i < changes.destroyed_count; i++)
        take_gone(rewind, changes.destroyed[i]);
    for (uint32_t i = 0; i < changes.created_count; i++)
        take_living(rewind, world, changes.created[i]);
    for (uint32_t i = 0; i < changes.recreated_count; i++)
        take_living(rewind, world, changes.recreated[i]);
    take_changed(rewind, world, &changes, workers);
    BASE_VALIDATE((net_rewind_validate(rewind), true));
    return rewind->is_lacking ? NET_ERR_MEMORY : NET_OK;
}
