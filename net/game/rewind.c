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
// Read net_rewind_step first, then net_rewind_get.
#include "game/rewind.h"

#include "state/steps.h"

#include "ecs/change.h"

#include <string.h>

net_rewind* net_rewind_create(const base_allocator* allocator, net_rows* rows,
                              const ecs_world* world, uint32_t tick_rate_hz) {
    BASE_ASSERT(rows);
    net_rewind* rewind = base_allocate_zero(allocator, sizeof *rewind);
    rewind->allocator = allocator;
    net_pool_init(&rewind->pool, allocator);
    base_bitset_init(&rewind->moved, allocator);
    for (uint32_t i = 0; i < NET_REWIND_PARTS; i++)
        base_bytes_init(&rewind->parts[i], allocator);
    rewind->rows = rows;
    rewind->index_max = ecs_world_limits(world)->replicated_index_max;
    rewind->reach = (uint64_t)NET_REWIND_MS_MAX * NET_REWIND_MOMENTS * tick_rate_hz / 1000;
    return rewind;
}

static void clear_rings(net_rewind* rewind) {
    for (uint32_t i = 0; i < rewind->ring_capacity; i++)
        net_tick_ring_deinit(&rewind->rings[i], &rewind->pool.allocator);
}

// ---- forms ----

static void add_kept(net_rewind* rewind, net_rewind_form* form, const ecs_world* world,
                     const ecs_template_component* source, uint32_t row_component) {
    const ecs_component* component = ecs_component_get(world, source->component);
    const ecs_type* type = ecs_type_get(world, component->type);
    BASE_ARRAY_RESERVE(rewind->allocator, rewind->kept, rewind->kept_capacity,
                       rewind->kept_count + 1);
    rewind->kept[rewind->kept_count++] = (net_rewind_kept){.id = source->component,
                                                           .offset = form->value_bytes,
                                                           .size = type->size,
                                                           .row_component = row_component,
                                                           .teleport = source->teleport};
    form->kept_count++;
    form->value_bytes +=
        (type->size + NET_REWIND_VALUE_ALIGN - 1) & ~(uint32_t)(NET_REWIND_VALUE_ALIGN - 1);
    rewind->is_kept[source->component] = true;
}

// NET_REWIND_FORM_NONE or position + 1.
static uint32_t make_form(net_rewind* rewind, const ecs_world* world,
                          const net_row_template* entry) {
    const ecs_template* source = ecs_template_get(world, entry->id);
    net_rewind_form made = {.entry = entry, .kept_first = rewind->kept_count};
    for (uint32_t i = 0; i < entry->layout.component_count; i++) {
        const ecs_template_component* component =
            ecs_template_find_component(source, (ecs_component_id)entry->layout.components[i].key);
        if (component->flags & ECS_COMPONENT_INTERPOLATED)
            add_kept(rewind, &made, world, component, i);
    }
    if (made.kept_count == 0) return NET_REWIND_FORM_NONE;
    BASE_ARRAY_RESERVE(rewind->allocator, rewind->forms, rewind->form_capacity,
                       rewind->form_count + 1);
    rewind->forms[rewind->form_count++] = made;
    return rewind->form_count;
}

static uint32_t find_form(net_rewind* rewind, const ecs_world* world, ecs_template_id id) {
    BASE_ARRAY_RESERVE(rewind->allocator, rewind->form_of, rewind->form_of_capacity, id + 1u);
    if (rewind->form_of[id] == NET_REWIND_FORM_UNSEEN) {
        const net_row_template* entry = net_rows_find(rewind->rows, id);
        uint32_t found = NET_REWIND_FORM_NONE;
        if (entry && entry->id != id) {
            uint32_t shared = find_form(rewind, world, entry->id); // may move the table
            found = shared == NET_REWIND_FORM_NONE ? NET_REWIND_FORM_NONE : shared + 1;
        } else if (entry) {
            found = make_form(rewind, world, entry);
        }
        rewind->form_of[id] = found;
    }
    return rewind->form_of[id] == NET_REWIND_FORM_NONE ? NET_REWIND_FORM_NONE
                                                       : rewind->form_of[id] - 1;
}

static void reserve_ring(net_rewind* rewind, uint32_t index) {
    BASE_ARRAY_RESERVE(rewind->allocator, rewind->rings, rewind->ring_capacity, index + 1);
}

void net_rewind_validate(const net_rewind* rewind) {
    for (uint32_t index = 0; index < rewind->ring_capacity; index++) {
        const net_tick_ring* ring = &rewind->rings[index];
        net_tick_ring_validate(ring);
        BASE_ASSERT(ring->count == 0 || ring->newest <= rewind->tick);
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

// Values are kept as the server had them and rounded when a module asks: a tick costs a few copies,
// and most of the past is never asked for.
//
// Between two ticks a value moves in a straight line. It does not where a client shows a jump: over
// a step longer than `_teleport` the older value holds until the tick.

// A field as a client has it: written to `target` and returned.
static double read_rounded(const proto_quant* quant, const uint8_t* memory, uint8_t* target) {
    const uint64_t word = proto_quantise(quant, memory);
    proto_dequantise(quant, word, target);
    return net_quant_number(quant, word);
}

static void write_between(const proto_quant* quant, double from, double to, float fraction,
                          uint8_t* target) {
    double step = net_angle_step(quant->is_angle, from, to);
    double value = net_angle_within(quant->is_angle, from + step * (double)fraction);
    float single = (float)value;
    if (quant->kind == PROTO_F64)
        memcpy(target, &value, sizeof value);
    else
        memcpy(target, &single, sizeof single);
}

static void write_rotation(const net_rewind_component* which, const uint8_t* from,
                           const uint8_t* to, float fraction, uint8_t* value) {
    const proto_layout* layout = which->layout;
    uint64_t words[2][PROTO_ROW_FIELDS_MAX];
    uint32_t first = layout->components[which->component].field_first;
    proto_row_read_component(layout, which->component, from, words[0]);
    proto_row_write_component(layout, which->component, words[0], value);
    if (!to) return;
    proto_row_read_component(layout, which->component, to, words[1]);
    if (memcmp(words[0] + first, words[1] + first, PROTO_ROTATION_WORDS * sizeof words[0][0]) == 0)
        return;
    float ends[2][PROTO_ROTATION_WORDS], turned[PROTO_ROTATION_WORDS];
    memcpy(ends[0], value, sizeof ends[0]);
    memcpy(turned, value, sizeof turned);
    proto_row_write_component(layout, which->component, words[1], ends[1]);
    net_rotation_step(turned, ends[0], ends[1], fraction);
    memcpy(value, turned, sizeof turned);
}

void net_rewind_value(const net_rewind_component* which, const uint8_t* from, const uint8_t* to,
                      float fraction, uint8_t* value) {
    BASE_ASSERT(which->component < which->layout->component_count);
    BASE_ASSERT(fraction >= 0.0f && fraction <= 1.0f);
    const proto_row_component* row = &which->layout->components[which->component];
    const proto_row_field* fields = &which->layout->fields[row->field_first];
    if (row->is_rotation) {
        write_rotation(which, from, to, fraction, value);
        return;
    }
    double ends[PROTO_ROW_FIELDS_MAX][2];
    double squares = 0;
    for (uint32_t i = 0; i < row->field_count; i++) {
        uint8_t scratch[8];
        uint32_t offset = fields[i].offset_bytes;
        if (to) ends[i][1] = read_rounded(&fields[i].quant, to + offset, scratch);
        ends[i][0] = read_rounded(&fields[i].quant, from + offset, value + offset);
        double step = to ? net_angle_step(fields[i].quant.is_angle, ends[i][0], ends[i][1]) : 0.0;
        squares += step * step;
    }
    // Written so that a NaN step is a jump.
    double longest = (double)which->teleport * (double)which->teleport;
    if (!to || (which->teleport > 0.0f && !(squares <= longest))) return;
    for (uint32_t i = 0; i < row->field_count; i++)
        write_between(&fields[i].quant, ends[i][0], ends[i][1], fraction,
                      value + fields[i].offset_bytes);
}

// A step of the past: what began, ended or moved in a tick becomes states.
//
// What began or ended is taken one by one. What moved is a set of indices first, so that each is
// looked at once, however many of its components changed. Then the words of the set are shared with
// the workers. An index belongs to one word, its ring to one index, and a ring that has room needs
// no memory from the pool, so they share nothing. A worker leaves an index whose ring must grow in
// the set; the owner does those at the end. Which thread wrote a state does not show.

enum {
    SWEEP_RINGS = 64,
    ITEM_WORDS = 4,  ///< of the set; an item of the workers
    SHARED_MIN = 512 ///< fewer moves are taken by one thread: waking another costs more
};

static ecs_tick oldest_tick(const net_rewind* rewind) {
    return net_rewind_clamp(rewind, 0) / NET_REWIND_MOMENTS;
}

static net_rewind_state* put_state(net_rewind* rewind, net_tick_ring* ring, ecs_entity handle,
                                   uint32_t form) {
    BASE_ASSERT((handle == ECS_ENTITY_NONE) == (form == NET_REWIND_FORM_NONE));
    const base_allocator* allocator = &rewind->pool.allocator;
    uint32_t value_bytes = form == NET_REWIND_FORM_NONE ? 0 : rewind->forms[form].value_bytes;
    uint32_t stride = (uint32_t)sizeof(net_rewind_state) + value_bytes;
    net_tick_ring_widen(ring, allocator, stride);
    net_rewind_state* target = net_rewind_newest(ring);
    if (!target || ring->newest != rewind->tick) {
        net_tick_ring_drop_before(ring,
                                  oldest_tick(rewind)); // no moment within reach asks for them
        net_tick_ring_reserve(ring, allocator, NET_REWIND_STATES_MAX);
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
    const net_rewind_form* form = &rewind->forms[target->form];
    const net_rewind_kept* kept = &rewind->kept[form->kept_first];
    for (uint32_t i = 0; i < form->kept_count; i++, kept++)
        copy_value(net_rewind_values(target) + kept->offset,
                   ecs_get(world, target->handle, kept->id), kept->size);
}

// ---- what began or ended ----

static void take_gone(net_rewind* rewind, ecs_entity handle) {
    net_tick_ring* ring = net_rewind_find_ring(rewind, handle);
    const net_rewind_state* newest = ring ? net_rewind_newest(ring) : NULL;
    if (newest && newest->handle == handle)
        (void)put_state(rewind, ring, ECS_ENTITY_NONE, NET_REWIND_FORM_NONE);
}

// An incarnation began, or goes on with another template.
static void take_living(net_rewind* rewind, const ecs_world* world, ecs_entity handle) {
    const uint32_t index = ecs_entity_index(handle);
    if (index < 1 || index > rewind->index_max || !ecs_is_alive(world, handle)) return;
    uint32_t form = find_form(rewind, world, ecs_entity_template(world, handle));
    if (form == NET_REWIND_FORM_NONE) {
        take_gone(rewind, handle);
        return;
    }
    reserve_ring(rewind, ecs_entity_index(handle));
    net_tick_ring* ring = net_rewind_find_ring(rewind, handle);
    read_values(rewind, world, put_state(rewind, ring, handle, form));
}

// ---- what moved ----

typedef struct moving {
    net_rewind* rewind;
    const ecs_world* world;
    ecs_tick oldest;
} moving;

// The set of what moved. @return how many changes led to it.
static uint32_t collect_moved(net_rewind* rewind, const ecs_changes* changes) {
    base_bitset_reserve(&rewind->moved, rewind->ring_capacity);
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
    if (!newest || newest->handle == ECS_ENTITY_NONE || ring->newest == rewind->tick ||
        !ecs_is_alive(self->world, newest->handle))
        return true;
    const net_rewind_state next = *newest;
    net_tick_ring_drop_before(ring, self->oldest);
    if (ring->count == ring->capacity) return false;
    net_rewind_state* target = net_tick_ring_at(ring, net_tick_ring_place(ring, ring->count));
    net_tick_ring_close(ring, rewind->tick);
    *target = next;
    read_values(rewind, self->world, target);
    return true;
}

// States are scattered in memory: prefetch the lines that the states of a word need.
static void prefetch_word(const net_rewind* rewind, uint32_t w) {
    for (uint64_t bits = rewind->moved.words[w]; bits; bits &= bits - 1) {
        const net_tick_ring* ring = &rewind->rings[w * 64 + base_bit_lowest(bits)];
        if (ring->count == 0) continue;
        const uint32_t place = net_tick_ring_place(ring, ring->count);
        __builtin_prefetch(net_rewind_newest(ring));
        __builtin_prefetch(net_tick_ring_at(ring, place), 1);
        __builtin_prefetch(&ring->lows[place], 1);
    }
}

// Words of the set. A finished word leaves it.
static void take_words(void* context, uint32_t item, uint32_t worker) {
    (void)worker;
    const moving* self = context;
    net_rewind* rewind = self->rewind;
    uint32_t end = (item + 1) * ITEM_WORDS;
    if (end > rewind->moved.word_count) end = rewind->moved.word_count;
    for (uint32_t w = item * ITEM_WORDS; w < end; w++) {
        uint64_t left = 0;
        prefetch_word(rewind, w);
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
            read_values(rewind, world, put_state(rewind, ring, newest.handle, newest.form));
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

static bool is_past(const net_rewind* rewind, const net_tick_ring* ring) {
    const net_rewind_state* newest = net_rewind_newest(ring);
    return newest && newest->handle == ECS_ENTITY_NONE && ring->newest <= oldest_tick(rewind);
}

// Look at some rings per tick, in a circle.
static void sweep(net_rewind* rewind) {
    for (uint32_t i = 0; i < SWEEP_RINGS && i < rewind->ring_capacity; i++) {
        if (rewind->sweep_next >= rewind->ring_capacity) rewind->sweep_next = 0;
        net_tick_ring* ring = &rewind->rings[rewind->sweep_next++];
        if (is_past(rewind, ring)) net_tick_ring_deinit(ring, &rewind->pool.allocator);
    }
}

void net_rewind_step(net_rewind* rewind, const ecs_world* world, ecs_tick tick,
                     base_workers* workers) {
    BASE_ASSERT(!rewind->has_stepped || tick > rewind->tick);
    rewind->tick = tick;
    sweep(rewind);
    if (!rewind->has_stepped) {
        rewind->has_stepped = true;
        for (ecs_entity at = ECS_ENTITY_NONE; (at = ecs_entity_next(world, at)) != ECS_ENTITY_NONE;)
            take_living(rewind, world, at);
        return;
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
}

// Saves of the past, part of a match's save. Every number is checked when it is read. Rings do not
// depend on each other, so workers save ranges of them; the bytes are those of one thread.
//
// Keyframes of a log hold this, so it has to be small and quick to write. A ring is one entity's
// last half second: mostly the same entity with values that go on as they did. So a state names its
// entity only when that differs from the state before, and each word of its values is written as
// what it differs from the line through the two words before. Of a moving entity's 31 bytes two or
// three remain.

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

typedef struct saving {
    net_rewind* rewind;
    const ecs_world* world;
    uint32_t rings; // of a part
} saving;

static void save_part(void* context, uint32_t item, uint32_t worker) {
    (void)worker;
    const saving* self = context;
    net_rewind* rewind = self->rewind;
    base_bytes* part = &rewind->parts[item];
    const uint32_t first = item * self->rings, end = first + self->rings;
    base_bytes_clear(part);
    for (uint32_t index = first; index < end && index < rewind->ring_capacity; index++) {
        const net_tick_ring* ring = &rewind->rings[index];
        if (ring->count == 0 || is_past(rewind, ring)) continue;
        base_bytes_write_varint(part, index);
        base_bytes_write_varint(part, ring->count);
        save_ring(rewind, self->world, ring, part);
    }
}

// Parts into buffers of their own, then after each other.
void net_rewind_save(net_rewind* rewind, const ecs_world* world, base_bytes* bytes,
                     base_workers* workers) {
    enum { PARTS = BASE_COUNT(rewind->parts) };
    saving self = {rewind, world, (rewind->ring_capacity + PARTS - 1) / PARTS};
    base_bytes_write_u64(bytes, rewind->tick);
    base_bytes_write_u8(bytes, rewind->has_stepped);
    base_workers_run(base_workers_worth(workers, rewind->ring_capacity, SHARED_RINGS_MIN),
                     save_part, &self, PARTS);
    for (uint32_t i = 0; i < PARTS; i++)
        base_bytes_write(bytes, rewind->parts[i].data, rewind->parts[i].size);
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
    return id == ECS_TEMPLATE_NONE ? NET_REWIND_FORM_NONE : find_form(rewind, world, id);
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
    if (ring->count > 0 && ring->newest >= *tick) return false;
    rewind->tick = *tick;
    if (kind == STATE_EMPTY) {
        self->form = NET_REWIND_FORM_NONE;
        (void)put_state(rewind, ring, ECS_ENTITY_NONE, NET_REWIND_FORM_NONE);
        return true;
    }
    if (kind == STATE_SAME ? self->form == NET_REWIND_FORM_NONE : !restore_other(self, index))
        return false;
    (void)put_state(rewind, ring, self->handle, self->form);
    return restore_values(self, ring);
}

static bool restore_ring(restoring* self, uint32_t index) {
    uint64_t count = base_reader_varint(self->reader);
    ecs_tick tick = 0;
    self->form = NET_REWIND_FORM_NONE;
    if (self->reader->failed || index > self->rewind->index_max) return false;
    reserve_ring(self->rewind, index);
    for (uint64_t i = 0; i < count; i++)
        if (!restore_state(self, index, &tick)) return false;
    return true;
}

net_result net_rewind_restore(net_rewind* rewind, ecs_world* world, base_reader* reader) {
    clear_rings(rewind);
    ecs_tick tick = base_reader_u64(reader);
    rewind->has_stepped = base_reader_u8(reader) != 0;
    bool is_whole = !reader->failed;
    restoring self = {.rewind = rewind, .world = world, .reader = reader};
    for (uint64_t index; is_whole && (index = base_reader_varint(reader)) != 0;)
        is_whole = index <= UINT32_MAX && restore_ring(&self, (uint32_t)index);
    rewind->tick = tick;
    if (is_whole && !reader->failed) return NET_OK;
    clear_rings(rewind);
    return NET_ERR_MALFORMED;
}
