// SPDX-License-Identifier: MIT
// The past of what moves, as clients had it.
//
// Idea: per index one line of states, by change. A state is what stood there after a tick: which handle, as
// which template of the wire, with which values; or that nothing did. So a life needs no bookkeeping: it
// lasts from the state that names its handle to the next that names another, and a question by handle is
// answered by the newest state that is not newer than the moment, if it names that handle.
// What rests adds no states. A state is dropped when the one after it is as old as the oldest moment that
// may be asked, so a line has at most one state more than ticks within reach. A line that ends in nothing
// is given back when that is as old (sweep), for other indices to use.
//
// Values are kept as the server had them and rounded as for the wire when somebody asks: a tick costs a
// few copies, and most of the past is never asked for.
//
// Between two ticks a value moves in a straight line. It does not where a client shows a jump: to another
// life, to another template, or over more than `_teleport`; there the older value holds until the tick.
//
// Invariants: ticks of a line rise strictly; a line has at most one state per tick, the last one of it.
// A form is a row template's kept components, so templates that look the same to clients share one.
// Source: Bernier, "Latency compensating methods in client/server in-game protocol design" (2001).
#include "game/rewind.h"

#include "base/assert.h"
#include "base/math.h"
#include "core/pool.h"
#include "ecs/change.h"

#include <string.h>

enum { SLOTS_MIN = 4, VALUE_ALIGN = 8, MOMENTS = 256, SWEEP_LINES = 64 };
#define FORM_UNSEEN 0u       // of form_of
#define FORM_NONE UINT32_MAX // nothing of it is kept; of a state: nothing is there

typedef struct rewind_kept {
    ecs_component_id id;
    uint32_t offset, size;  // of its memory within the values of a state
    uint32_t row_component; // position in the row's layout
    float teleport;         // 0: it never jumps
} rewind_kept;

typedef struct rewind_form {
    const net_row_template* entry;
    uint32_t kept_first, kept_count;
    uint32_t value_bytes;
} rewind_form;

typedef struct rewind_state {
    ecs_tick tick;
    ecs_entity handle; // NONE: nothing
    uint32_t form;
} rewind_state; // its values follow

typedef struct rewind_line {
    uint8_t* memory; // capacity slots
    uint32_t slot_bytes;
    uint32_t capacity, first, count; // capacity is a power of two
} rewind_line;

struct net_rewind {
    const base_allocator* allocator;
    net_pool pool; // of lines
    net_rows* rows;
    uint32_t index_max;
    uint64_t reach;
    ecs_tick tick;
    bool has_stepped;
    bool is_kept[ECS_COMPONENTS_MAX + 1]; // by component: some form has it
    rewind_kept* kept;
    uint32_t kept_count, kept_capacity;
    rewind_form* forms;
    uint32_t form_count, form_capacity;
    uint32_t* form_of; // by template id: position + 1, FORM_UNSEEN or FORM_NONE
    uint32_t form_of_capacity;
    rewind_line* lines; // by index
    uint32_t line_capacity;
    uint32_t sweep_next; // no part of the past: what it releases, nobody can see
};

net_result net_rewind_create(const base_allocator* allocator, net_rows* rows,
                             const ecs_world* world, uint32_t tick_rate_hz, net_rewind** rewind) {
    BASE_ASSERT(rows && rewind);
    *rewind = base_allocate_zero(allocator, sizeof **rewind);
    if (!*rewind) return NET_ERR_MEMORY;
    (*rewind)->allocator = allocator;
    net_pool_init(&(*rewind)->pool, allocator);
    (*rewind)->rows = rows;
    (*rewind)->index_max = ecs_world_limits(world)->replicated_index_max;
    (*rewind)->reach = (uint64_t)NET_REWIND_MS_MAX * MOMENTS * tick_rate_hz / 1000;
    return NET_OK;
}

static void release_line(net_rewind* rewind, rewind_line* line) {
    base_release(&rewind->pool.allocator, line->memory, (size_t)line->capacity * line->slot_bytes);
    *line = (rewind_line){0};
}

void net_rewind_destroy(net_rewind* rewind) {
    if (!rewind) return;
    const base_allocator* allocator = rewind->allocator;
    for (uint32_t i = 0; i < rewind->line_capacity; i++)
        release_line(rewind, &rewind->lines[i]);
    net_pool_deinit(&rewind->pool);
    base_release(allocator, rewind->lines, rewind->line_capacity * sizeof *rewind->lines);
    base_release(allocator, rewind->form_of, rewind->form_of_capacity * sizeof *rewind->form_of);
    base_release(allocator, rewind->forms, rewind->form_capacity * sizeof *rewind->forms);
    base_release(allocator, rewind->kept, rewind->kept_capacity * sizeof *rewind->kept);
    base_release(allocator, rewind, sizeof *rewind);
}

// ---- forms ----

static void reserve(net_rewind* rewind, void** array, uint32_t* capacity, uint32_t count,
                    size_t element_bytes) {
    bool has_room = base_array_reserve(rewind->allocator, array, capacity, count, element_bytes);
    BASE_ASSERT(has_room);
}

static void add_kept(net_rewind* rewind, rewind_form* form, const ecs_world* world,
                     const ecs_template_component* source, uint32_t row_component) {
    const ecs_component* component = ecs_component_get(world, source->component);
    const ecs_type* type = ecs_type_get(world, component->type);
    reserve(rewind, (void**)&rewind->kept, &rewind->kept_capacity, rewind->kept_count + 1,
            sizeof *rewind->kept);
    rewind->kept[rewind->kept_count++] = (rewind_kept){.id = source->component,
                                                       .offset = form->value_bytes,
                                                       .size = type->size,
                                                       .row_component = row_component,
                                                       .teleport = source->teleport};
    form->kept_count++;
    form->value_bytes += (type->size + VALUE_ALIGN - 1) & ~(uint32_t)(VALUE_ALIGN - 1);
    rewind->is_kept[source->component] = true;
}

// FORM_NONE or position + 1.
static uint32_t make_form(net_rewind* rewind, const ecs_world* world,
                          const net_row_template* entry) {
    const ecs_template* source = ecs_template_get(world, entry->id);
    rewind_form made = {.entry = entry, .kept_first = rewind->kept_count};
    for (uint32_t i = 0; i < entry->layout.component_count; i++) {
        const ecs_template_component* component =
            ecs_template_find_component(source, (ecs_component_id)entry->layout.components[i].key);
        if (component->flags & ECS_COMPONENT_INTERPOLATED)
            add_kept(rewind, &made, world, component, i);
    }
    if (made.kept_count == 0) return FORM_NONE;
    reserve(rewind, (void**)&rewind->forms, &rewind->form_capacity, rewind->form_count + 1,
            sizeof *rewind->forms);
    rewind->forms[rewind->form_count++] = made;
    return rewind->form_count;
}

// Position of the form of a template, or FORM_NONE.
static uint32_t find_form(net_rewind* rewind, const ecs_world* world, ecs_template_id id) {
    reserve(rewind, (void**)&rewind->form_of, &rewind->form_of_capacity, id + 1u,
            sizeof *rewind->form_of);
    if (rewind->form_of[id] == FORM_UNSEEN) {
        const net_row_template* entry = net_rows_find(rewind->rows, id);
        uint32_t found = FORM_NONE;
        if (entry && entry->id != id) {
            uint32_t shared = find_form(rewind, world, entry->id); // may move the table
            found = shared == FORM_NONE ? FORM_NONE : shared + 1;
        } else if (entry) {
            found = make_form(rewind, world, entry);
        }
        rewind->form_of[id] = found;
    }
    return rewind->form_of[id] == FORM_NONE ? FORM_NONE : rewind->form_of[id] - 1;
}

// ---- lines ----

static rewind_state* state_at(const rewind_line* line, uint32_t position) {
    uint32_t slot = (line->first + position) & (line->capacity - 1);
    return (rewind_state*)(void*)(line->memory + (size_t)slot * line->slot_bytes);
}

static rewind_state* newest_of(const rewind_line* line) {
    return line->count > 0 ? state_at(line, line->count - 1) : NULL;
}

static uint8_t* values_of(rewind_state* state) {
    return (uint8_t*)(state + 1);
}

// Position of the newest state that is not newer; UINT32_MAX when there is none.
static uint32_t find_position(const rewind_line* line, ecs_tick tick) {
    uint32_t low = 0, high = line->count;
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        if (state_at(line, middle)->tick <= tick) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    return low - 1; // wraps
}

static void rebuild(net_rewind* rewind, rewind_line* line, uint32_t capacity, uint32_t slot_bytes) {
    uint8_t* memory = base_allocate_zero(&rewind->pool.allocator, (size_t)capacity * slot_bytes);
    BASE_ASSERT(memory);
    for (uint32_t i = 0; i < line->count; i++)
        memcpy(memory + (size_t)i * slot_bytes, state_at(line, i), line->slot_bytes);
    base_release(&rewind->pool.allocator, line->memory, (size_t)line->capacity * line->slot_bytes);
    line->memory = memory;
    line->capacity = capacity;
    line->slot_bytes = slot_bytes;
    line->first = 0;
}

static ecs_tick oldest_tick(const net_rewind* rewind) {
    return net_rewind_clamp(rewind, 0) / MOMENTS;
}

// The state of this tick, in place of one that the tick has already. Its values are not filled in.
static rewind_state* put(net_rewind* rewind, rewind_line* line, ecs_entity handle, uint32_t form) {
    uint32_t value_bytes = form == FORM_NONE ? 0 : rewind->forms[form].value_bytes;
    uint32_t slot_bytes = (uint32_t)sizeof(rewind_state) + value_bytes;
    if (slot_bytes < line->slot_bytes) slot_bytes = line->slot_bytes;
    rewind_state* target = newest_of(line);
    bool is_new = !target || target->tick != rewind->tick;
    ecs_tick oldest = oldest_tick(rewind);
    while (is_new && line->count > 1 && state_at(line, 1)->tick <= oldest) {
        line->first = (line->first + 1) & (line->capacity - 1);
        line->count--;
    }
    uint32_t capacity = line->capacity ? line->capacity : SLOTS_MIN;
    if (is_new && line->count == capacity) capacity *= 2;
    if (capacity != line->capacity || slot_bytes != line->slot_bytes)
        rebuild(rewind, line, capacity, slot_bytes);
    line->count += is_new;
    target = newest_of(line);
    *target = (rewind_state){.tick = rewind->tick, .handle = handle, .form = form};
    return target;
}

static void read_values(const net_rewind* rewind, const ecs_world* world, rewind_state* target) {
    const rewind_form* form = &rewind->forms[target->form];
    for (uint32_t i = 0; i < form->kept_count; i++) {
        const rewind_kept* kept = &rewind->kept[form->kept_first + i];
        memcpy(values_of(target) + kept->offset, ecs_get(world, target->handle, kept->id),
               kept->size);
    }
}

// ---- a step ----

static bool is_in_range(const net_rewind* rewind, ecs_entity handle) {
    uint32_t index = ecs_entity_index(handle);
    return index >= 1 && index <= rewind->index_max;
}

static rewind_line* find_line(const net_rewind* rewind, ecs_entity handle) {
    uint32_t index = ecs_entity_index(handle);
    return index < rewind->line_capacity ? &rewind->lines[index] : NULL;
}

static void take_gone(net_rewind* rewind, ecs_entity handle) {
    rewind_line* line = find_line(rewind, handle);
    const rewind_state* newest = line ? newest_of(line) : NULL;
    if (newest && newest->handle == handle) (void)put(rewind, line, ECS_ENTITY_NONE, FORM_NONE);
}

// A life began, or goes on as another template.
static void take_living(net_rewind* rewind, const ecs_world* world, ecs_entity handle) {
    if (!is_in_range(rewind, handle) || !ecs_is_alive(world, handle)) return;
    uint32_t form = find_form(rewind, world, ecs_entity_template(world, handle));
    if (form == FORM_NONE) {
        take_gone(rewind, handle);
        return;
    }
    reserve(rewind, (void**)&rewind->lines, &rewind->line_capacity, ecs_entity_index(handle) + 1,
            sizeof *rewind->lines);
    read_values(rewind, world, put(rewind, find_line(rewind, handle), handle, form));
}

static void take_changed(net_rewind* rewind, const ecs_world* world, const ecs_change* change) {
    if (!rewind->is_kept[change->component]) return;
    rewind_line* line = find_line(rewind, change->entity);
    const rewind_state* newest = line ? newest_of(line) : NULL;
    // A state of this tick was read whole.
    if (!newest || newest->handle != change->entity || newest->tick == rewind->tick) return;
    read_values(rewind, world, put(rewind, line, change->entity, newest->form));
}

static void take_all(net_rewind* rewind, const ecs_world* world) {
    ecs_entity entity = ecs_entity_next(world, ECS_ENTITY_NONE);
    for (; entity != ECS_ENTITY_NONE; entity = ecs_entity_next(world, entity))
        take_living(rewind, world, entity);
}

// Nothing lives there, and nobody may ask any more for when something did.
static bool is_past(const net_rewind* rewind, const rewind_line* line) {
    const rewind_state* newest = newest_of(line);
    return newest && newest->handle == ECS_ENTITY_NONE && newest->tick <= oldest_tick(rewind);
}

// Some lines per tick, round and round.
static void sweep(net_rewind* rewind) {
    for (uint32_t i = 0; i < SWEEP_LINES && i < rewind->line_capacity; i++) {
        if (rewind->sweep_next >= rewind->line_capacity) rewind->sweep_next = 0;
        rewind_line* line = &rewind->lines[rewind->sweep_next++];
        if (is_past(rewind, line)) release_line(rewind, line);
    }
}

void net_rewind_step(net_rewind* rewind, const ecs_world* world, ecs_tick tick) {
    BASE_ASSERT(!rewind->has_stepped || tick > rewind->tick);
    rewind->tick = tick;
    sweep(rewind);
    if (!rewind->has_stepped) {
        rewind->has_stepped = true;
        take_all(rewind, world);
        return;
    }
    ecs_changes changes = ecs_changes_get(world);
    for (uint32_t i = 0; i < changes.destroyed_count; i++)
        take_gone(rewind, changes.destroyed[i]);
    for (uint32_t i = 0; i < changes.created_count; i++)
        take_living(rewind, world, changes.created[i]);
    for (uint32_t i = 0; i < changes.recreated_count; i++)
        take_living(rewind, world, changes.recreated[i]);
    for (uint32_t i = 0; i < changes.changed_count; i++)
        take_changed(rewind, world, &changes.changed[i]);
}

// ---- asking ----

ecs_tick net_rewind_tick(const net_rewind* rewind) {
    return rewind->tick;
}

uint64_t net_rewind_clamp(const net_rewind* rewind, uint64_t moment) {
    uint64_t present = rewind->tick * MOMENTS;
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
    float part = (float)(oldest % MOMENTS) / (float)MOMENTS;
    if (*tick > oldest / MOMENTS || (*tick == oldest / MOMENTS && *fraction >= part)) return;
    *tick = oldest / MOMENTS;
    *fraction = part;
}

// A field as a client has it.
static double read_rounded(const proto_quant* quant, const uint8_t* memory, uint8_t* target) {
    proto_dequantise(quant, proto_quantise(quant, memory), target);
    float single;
    double value;
    if (quant->kind == PROTO_F64) {
        memcpy(&value, target, sizeof value);
        return value;
    }
    memcpy(&single, target, sizeof single);
    return single;
}

static void write_between(proto_kind kind, double from, double to, float fraction,
                          uint8_t* target) {
    double value = from + (to - from) * (double)fraction;
    float single = (float)value;
    if (kind == PROTO_F64) {
        memcpy(target, &value, sizeof value);
    } else {
        memcpy(target, &single, sizeof single);
    }
}

// As net/src/scene_show.c turns them. `value` has the component's memory.
static void write_turned(const rewind_form* form, const rewind_kept* kept, const uint8_t* from,
                         const uint8_t* to, float fraction, uint8_t* value) {
    const proto_layout* layout = &form->entry->layout;
    uint64_t words[2][PROTO_ROW_FIELDS_MAX];
    uint32_t first = layout->components[kept->row_component].field_first;
    proto_row_read_component(layout, kept->row_component, from, words[0]);
    proto_row_write_component(layout, kept->row_component, words[0], value);
    if (!to) return;
    proto_row_read_component(layout, kept->row_component, to, words[1]);
    if (memcmp(words[0] + first, words[1] + first, PROTO_ROTATION_WORDS * sizeof words[0][0]) == 0)
        return;
    float parts[2][PROTO_ROTATION_WORDS], dot = 0, square = 0;
    memcpy(parts[0], value, sizeof parts[0]);
    proto_row_write_component(layout, kept->row_component, words[1], parts[1]);
    for (uint32_t i = 0; i < PROTO_ROTATION_WORDS; i++)
        dot += parts[0][i] * parts[1][i];
    for (uint32_t i = 0; i < PROTO_ROTATION_WORDS; i++) {
        float end = dot < 0 ? -parts[1][i] : parts[1][i];
        parts[0][i] += (end - parts[0][i]) * fraction;
        square += parts[0][i] * parts[0][i];
    }
    for (uint32_t i = 0; square > 0 && i < PROTO_ROTATION_WORDS; i++)
        parts[0][i] /= base_sqrt(square);
    memcpy(value, parts[0], sizeof parts[0]);
}

// `to` NULL: no movement.
static void write_value(const rewind_form* form, const rewind_kept* kept, const uint8_t* from,
                        const uint8_t* to, float fraction, uint8_t* value) {
    const proto_layout* layout = &form->entry->layout;
    const proto_row_component* row = &layout->components[kept->row_component];
    const proto_row_field* fields = &layout->fields[row->field_first];
    if (row->is_rotation) {
        write_turned(form, kept, from, to, fraction, value);
        return;
    }
    double ends[PROTO_ROW_FIELDS_MAX][2];
    double squares = 0;
    for (uint32_t i = 0; i < row->field_count; i++) {
        uint8_t scratch[8];
        uint32_t offset = fields[i].offset_bytes;
        if (to) ends[i][1] = read_rounded(&fields[i].quant, to + offset, scratch);
        ends[i][0] = read_rounded(&fields[i].quant, from + offset, value + offset);
        if (to) squares += (ends[i][1] - ends[i][0]) * (ends[i][1] - ends[i][0]);
    }
    // Written so that a step which is no number is a jump.
    double longest = (double)kept->teleport * (double)kept->teleport;
    if (!to || (kept->teleport > 0.0f && !(squares <= longest))) return;
    for (uint32_t i = 0; i < row->field_count; i++) {
        write_between(fields[i].quant.kind, ends[i][0], ends[i][1], fraction,
                      value + fields[i].offset_bytes);
    }
}

bool net_rewind_get(const net_rewind* rewind, ecs_tick tick, float fraction, ecs_entity entity,
                    ecs_component_id component, void* value) {
    const rewind_line* line = find_line(rewind, entity);
    if (!line || entity == ECS_ENTITY_NONE) return false;
    clamp_moment(rewind, &tick, &fraction);
    uint32_t position = find_position(line, tick);
    if (position == UINT32_MAX) return false;
    rewind_state* from = state_at(line, position);
    if (from->handle != entity) return false;
    const rewind_form* form = &rewind->forms[from->form];
    const rewind_kept* kept = &rewind->kept[form->kept_first];
    const rewind_kept* end = kept + form->kept_count;
    while (kept < end && kept->id != component)
        kept++;
    if (kept == end) return false;
    rewind_state* to = position + 1 < line->count ? state_at(line, position + 1) : NULL;
    bool is_moving = fraction > 0.0f && to && to->tick == tick + 1 && to->handle == entity &&
                     to->form == from->form;
    write_value(form, kept, values_of(from) + kept->offset,
                is_moving ? values_of(to) + kept->offset : NULL, fraction, value);
    return true;
}

// ---- saves ----

// Templates are named by their parts: compositions may have other ids in another world.
static void save_state(const net_rewind* rewind, const ecs_world* world, rewind_state* state,
                       base_bytes* bytes) {
    base_bytes_write_u64(bytes, state->tick);
    base_bytes_write_u32(bytes, state->handle);
    if (state->handle == ECS_ENTITY_NONE) return;
    const rewind_form* form = &rewind->forms[state->form];
    const ecs_template* source = ecs_template_get(world, form->entry->id);
    base_bytes_write_u8(bytes, (uint8_t)source->part_count);
    for (uint32_t i = 0; i < source->part_count; i++)
        base_bytes_write_u16(bytes, source->parts[i]);
    base_bytes_write(bytes, values_of(state), form->value_bytes);
}

void net_rewind_save(const net_rewind* rewind, const ecs_world* world, base_bytes* bytes) {
    base_bytes_write_u64(bytes, rewind->tick);
    base_bytes_write_u8(bytes, rewind->has_stepped);
    for (uint32_t index = 1; index < rewind->line_capacity; index++) {
        const rewind_line* line = &rewind->lines[index];
        if (line->count == 0 || is_past(rewind, line)) continue;
        base_bytes_write_u32(bytes, index);
        base_bytes_write_u32(bytes, line->count);
        for (uint32_t i = 0; i < line->count; i++)
            save_state(rewind, world, state_at(line, i), bytes);
    }
    base_bytes_write_u32(bytes, 0);
}

static uint32_t restore_form(net_rewind* rewind, ecs_world* world, base_reader* reader) {
    ecs_template_id parts[ECS_TEMPLATE_PARTS_MAX];
    uint32_t count = base_reader_u8(reader);
    if (count < 1 || count > ECS_TEMPLATE_PARTS_MAX) return FORM_NONE;
    for (uint32_t i = 0; i < count; i++) {
        parts[i] = base_reader_u16(reader);
        if (!ecs_template_get(world, parts[i])) return FORM_NONE;
    }
    ecs_template_id id = count > 1 ? ecs_template_compose(world, parts, count) : parts[0];
    return id == ECS_TEMPLATE_NONE ? FORM_NONE : find_form(rewind, world, id);
}

static bool restore_state(net_rewind* rewind, ecs_world* world, uint32_t index,
                          base_reader* reader) {
    ecs_tick tick = base_reader_u64(reader);
    ecs_entity handle = base_reader_u32(reader);
    const rewind_state* newest = newest_of(&rewind->lines[index]);
    if (reader->failed || (newest && newest->tick >= tick)) return false;
    rewind->tick = tick;
    if (handle == ECS_ENTITY_NONE) {
        (void)put(rewind, &rewind->lines[index], ECS_ENTITY_NONE, FORM_NONE);
        return true;
    }
    uint32_t form = restore_form(rewind, world, reader);
    if (form == FORM_NONE || ecs_entity_index(handle) != index) return false;
    rewind_state* target = put(rewind, &rewind->lines[index], handle, form);
    return base_reader_read(reader, values_of(target), rewind->forms[form].value_bytes);
}

bool net_rewind_restore(net_rewind* rewind, ecs_world* world, base_reader* reader) {
    for (uint32_t i = 0; i < rewind->line_capacity; i++)
        release_line(rewind, &rewind->lines[i]);
    ecs_tick tick = base_reader_u64(reader);
    rewind->has_stepped = base_reader_u8(reader) != 0;
    bool is_whole = !reader->failed;
    for (uint32_t index; is_whole && (index = base_reader_u32(reader)) != 0;) {
        uint32_t count = base_reader_u32(reader);
        is_whole = !reader->failed && index <= rewind->index_max;
        if (!is_whole) break;
        reserve(rewind, (void**)&rewind->lines, &rewind->line_capacity, index + 1,
                sizeof *rewind->lines);
        for (uint32_t i = 0; i < count && is_whole; i++)
            is_whole = restore_state(rewind, world, index, reader);
    }
    rewind->tick = tick;
    if (is_whole && !reader->failed) return true;
    for (uint32_t i = 0; i < rewind->line_capacity; i++)
        release_line(rewind, &rewind->lines[i]);
    return false;
}

size_t net_rewind_bytes(const net_rewind* rewind) {
    size_t bytes = rewind->line_capacity * sizeof *rewind->lines;
    for (uint32_t i = 0; i < rewind->line_capacity; i++)
        bytes += (size_t)rewind->lines[i].capacity * rewind->lines[i].slot_bytes;
    return bytes;
}
