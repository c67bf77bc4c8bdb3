// SPDX-License-Identifier: MIT
// Saves of the past, part of a match's save. Every number is checked when it is read. Rings do not
// depend on each other, so workers save ranges of them; the bytes are those of one thread.
//
// Keyframes of a log hold this, so it has to be small and quick to write. A ring is one entity's
// last half second: mostly the same entity with values that go on as they did. So a state names its
// entity only when that differs from the state before, and each word of its values is written as
// what it differs from the line through the two words before. Of a moving entity's 31 bytes two or
// three remain.
#include "game/rewind.h"

#include <string.h>

enum {
    STATE_SAME,             ///< of the entity and the template of the state before
    STATE_EMPTY,            ///< the index was empty
    STATE_OTHER,            ///< entity and template follow
    SHARED_RINGS_MIN = 256, // fewer are saved by one thread: waking another costs more
    WORD_BYTES = 4,
    WORD_VARINT_BYTES_MAX = 5,
    STATE_HEAD_BYTES_MAX = 10 + 1 + 4 + 1 + 2 * ECS_TEMPLATE_PARTS_MAX, // tick, kind, entity, parts
};

static uint32_t zigzag(uint32_t difference) {
    return difference << 1 ^ (0u - (difference >> 31));
}

static uint32_t unzigzag(uint32_t number) {
    return number >> 1 ^ (0u - (number & 1u));
}

static uint32_t load_word(const uint8_t* values, uint32_t i) {
    uint32_t word;
    memcpy(&word, values + (size_t)i * WORD_BYTES, WORD_BYTES);
    return word;
}

// What a word is when its values go on as they did. `alike`: states before `position` that are
// of the same entity and template.
typedef struct line {
    const uint8_t *last, *before; // NULL: there is none
} line;

static line line_to(const net_tick_ring* ring, uint32_t position, uint32_t alike) {
    line at = {NULL, NULL};
    if (alike > 0) at.last = net_rewind_values(net_rewind_state_at(ring, position - 1));
    if (alike > 1) at.before = net_rewind_values(net_rewind_state_at(ring, position - 2));
    return at;
}

static uint32_t line_next(const line* at, uint32_t i) {
    if (!at->last) return 0;
    uint32_t last = load_word(at->last, i);
    return at->before ? 2u * last - load_word(at->before, i) : last;
}

// Templates are written as their parts: a composition may have another id in another world.
static uint8_t* put_other(uint8_t* target, const ecs_template* source, ecs_entity handle) {
    for (uint32_t i = 0; i < sizeof handle; i++)
        *target++ = (uint8_t)(handle >> 8 * i);
    *target++ = (uint8_t)source->part_count;
    for (uint32_t i = 0; i < source->part_count; i++) {
        *target++ = (uint8_t)source->parts[i];
        *target++ = (uint8_t)(source->parts[i] >> 8);
    }
    return target;
}

static uint8_t* put_values(uint8_t* target, line at, const uint8_t* values, uint32_t words) {
    for (uint32_t i = 0; i < words; i++)
        target += base_varint_put(target, zigzag(load_word(values, i) - line_next(&at, i)));
    return target;
}

static void save_ring(const net_rewind* rewind, const ecs_world* world, const net_tick_ring* ring,
                      base_bytes* bytes) {
    size_t bound = (size_t)ring->count *
                   (STATE_HEAD_BYTES_MAX + ring->stride_bytes / WORD_BYTES * WORD_VARINT_BYTES_MAX);
    uint8_t* begin = base_bytes_extend(bytes, bound);
    if (!begin) return;
    uint8_t* target = begin;
    ecs_tick tick = 0;
    const net_rewind_state* last = NULL;
    uint32_t alike = 0;
    for (uint32_t i = 0; i < ring->count; i++) {
        net_rewind_state* state = net_rewind_state_at(ring, i);
        target += base_varint_put(target, net_tick_ring_tick(ring, i) - tick);
        tick = net_tick_ring_tick(ring, i);
        bool is_empty = state->handle == ECS_ENTITY_NONE;
        bool is_same = last && state->handle == last->handle && state->form == last->form;
        alike = is_same ? alike + 1 : 0;
        last = is_empty ? NULL : state;
        *target++ = is_empty ? STATE_EMPTY : is_same ? STATE_SAME : STATE_OTHER;
        if (is_empty) continue;
        const net_rewind_form* form = &rewind->forms[state->form];
        if (!is_same)
            target = put_other(target, ecs_template_get(world, form->entry->id), state->handle);
        target = put_values(target, line_to(ring, i, alike), net_rewind_values(state),
                            form->value_bytes / WORD_BYTES);
    }
    bytes->size -= bound - (size_t)(target - begin);
}

static void save_rings(const net_rewind* rewind, const ecs_world* world, uint32_t first,
                       uint32_t end, base_bytes* bytes) {
    for (uint32_t index = first; index < end; index++) {
        const net_tick_ring* ring = &rewind->rings[index];
        if (ring->count == 0 || net_rewind_is_past(rewind, ring)) continue;
        base_bytes_write_varint(bytes, index);
        base_bytes_write_varint(bytes, ring->count);
        save_ring(rewind, world, ring, bytes);
    }
}

typedef struct saving {
    net_rewind* rewind;
    const ecs_world* world;
    uint32_t rings; // of a part
} saving;

static void save_part(void* context, uint32_t item, uint32_t worker) {
    (void)worker;
    const saving* self = context;
    const uint32_t first = item * self->rings, after = first + self->rings;
    const uint32_t capacity = self->rewind->ring_capacity;
    base_bytes* part = &self->rewind->parts[item];
    base_bytes_clear(part);
    save_rings(self->rewind, self->world, first < capacity ? first : capacity,
               after < capacity ? after : capacity, part);
}

// Parts into buffers of their own, then after each other.
static void save_shared(net_rewind* rewind, const ecs_world* world, base_bytes* bytes,
                        base_workers* workers) {
    enum { PARTS = BASE_COUNT(rewind->parts) };
    saving self = {rewind, world, (rewind->ring_capacity + PARTS - 1) / PARTS};
    base_workers_run(workers, save_part, &self, PARTS);
    for (uint32_t i = 0; i < PARTS; i++) {
        const base_bytes* part = &rewind->parts[i];
        base_bytes_write(bytes, part->data, part->size);
        bytes->failed |= part->failed;
    }
}

void net_rewind_save(net_rewind* rewind, const ecs_world* world, base_bytes* bytes,
                     base_workers* workers) {
    base_bytes_write_u64(bytes, rewind->tick);
    base_bytes_write_u8(bytes, rewind->has_stepped);
    workers = base_workers_worth(workers, rewind->ring_capacity, SHARED_RINGS_MIN);
    if (workers)
        save_shared(rewind, world, bytes, workers);
    else
        save_rings(rewind, world, 0, rewind->ring_capacity, bytes);
    base_bytes_write_varint(bytes, 0);
}

static uint32_t restore_form(net_rewind* rewind, ecs_world* world, base_reader* reader) {
    ecs_template_id parts[ECS_TEMPLATE_PARTS_MAX];
    uint32_t count = base_reader_u8(reader);
    if (count < 1 || count > ECS_TEMPLATE_PARTS_MAX) return NET_REWIND_FORM_NONE;
    for (uint32_t i = 0; i < count; i++) {
        parts[i] = base_reader_u16(reader);
        if (!ecs_template_get(world, parts[i])) return NET_REWIND_FORM_NONE;
    }
    ecs_template_id id = count > 1 ? ecs_template_compose(world, parts, count) : parts[0];
    return id == ECS_TEMPLATE_NONE ? NET_REWIND_FORM_NONE : net_rewind_find_form(rewind, world, id);
}

typedef struct restoring {
    net_rewind* rewind;
    ecs_world* world;
    base_reader* reader;
    ecs_entity handle; // of the state before
    uint32_t form;     // of it; NONE: the index was empty
    uint32_t alike;    // states before the next that are of this entity and form
} restoring;

static bool restore_other(restoring* self, uint32_t index) {
    self->handle = base_reader_u32(self->reader);
    self->form = restore_form(self->rewind, self->world, self->reader);
    self->alike = 0;
    return self->form != NET_REWIND_FORM_NONE && ecs_entity_index(self->handle) == index;
}

static bool restore_values(restoring* self, const net_tick_ring* ring) {
    uint32_t place = ring->count - 1u; // a put keeps the states that its line goes through
    uint32_t alike = self->alike < 2 ? self->alike : 2;
    if (alike > place) return false;
    line at = line_to(ring, place, alike);
    uint8_t* values = net_rewind_values(net_rewind_state_at(ring, place));
    uint32_t words = self->rewind->forms[self->form].value_bytes / WORD_BYTES;
    for (uint32_t i = 0; i < words; i++) {
        uint64_t number = base_reader_varint(self->reader);
        if (self->reader->failed || number > UINT32_MAX) return false;
        uint32_t word = line_next(&at, i) + unzigzag((uint32_t)number);
        memcpy(values + (size_t)i * WORD_BYTES, &word, WORD_BYTES);
    }
    self->alike++;
    return true;
}

static bool restore_state(restoring* self, uint32_t index, ecs_tick* tick) {
    net_rewind* rewind = self->rewind;
    net_tick_ring* ring = &rewind->rings[index];
    uint64_t distance = base_reader_varint(self->reader);
    uint8_t kind = base_reader_u8(self->reader);
    if (self->reader->failed || distance > UINT64_MAX - *tick || kind > STATE_OTHER) return false;
    *tick += distance;
    if (ring->count > 0 && net_rewind_newest_tick(ring) >= *tick) return false;
    rewind->tick = *tick;
    if (kind == STATE_EMPTY) {
        self->form = NET_REWIND_FORM_NONE;
        return net_rewind_put(rewind, ring, ECS_ENTITY_NONE, NET_REWIND_FORM_NONE) != NULL;
    }
    if (kind == STATE_SAME ? self->form == NET_REWIND_FORM_NONE : !restore_other(self, index))
        return false;
    return net_rewind_put(rewind, ring, self->handle, self->form) && restore_values(self, ring);
}

static bool restore_ring(restoring* self, uint32_t index) {
    uint64_t count = base_reader_varint(self->reader);
    ecs_tick tick = 0;
    self->form = NET_REWIND_FORM_NONE;
    if (self->reader->failed || index > self->rewind->index_max ||
        !net_rewind_reserve_ring(self->rewind, index))
        return false;
    for (uint64_t i = 0; i < count; i++)
        if (!restore_state(self, index, &tick)) return false;
    return true;
}

net_result net_rewind_restore(net_rewind* rewind, ecs_world* world, base_reader* reader) {
    net_rewind_clear(rewind);
    rewind->is_lacking = false;
    ecs_tick tick = base_reader_u64(reader);
    rewind->has_stepped = base_reader_u8(reader) != 0;
    bool is_whole = !reader->failed;
    restoring self = {.rewind = rewind, .world = world, .reader = reader};
    for (uint64_t index; is_whole && (index = base_reader_varint(reader)) != 0;)
        is_whole = index <= UINT32_MAX && restore_ring(&self, (uint32_t)index);
    rewind->tick = tick;
    if (is_whole && !reader->failed) return NET_OK;
    net_rewind_clear(rewind);
    return rewind->is_lacking ? NET_ERR_MEMORY : NET_ERR_MALFORMED;
}
