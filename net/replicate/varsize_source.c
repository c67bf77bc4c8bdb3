// SPDX-License-Identifier: MIT
// The variable-size values of a match as they are now.
//
// A value gets a new stamp when its bytes differ. Stamps are never sent, so no client can count
// changes that it does not see. The values of an entity form a chain that begins at its index.
//
// A change of template matters to clients only where it changes a value that they hold without a
// message: the component was added or removed, or its default differs. Then the value is sent to
// all clients that have the entity, for records of that tick and later ones (`since`).
//
// A destroyed entity keeps its places until every sender forgot them (spread), since senders name
// values by place.
// Left to others: what each client sees and has (varsize_sender.c).
#include "replicate/varsize_internal.h"

#include "base/assert.h"

#include <string.h>

net_result net_varsize_source_create(const base_allocator* allocator, net_rows* rows,
                                     uint32_t index_max, const base_reporter* reporter,
                                     net_varsize_source** source) {
    BASE_ASSERT(rows && source);
    net_varsize_source* made = base_allocate_zero(allocator, sizeof *made);
    *source = made;
    if (!made) return NET_ERR_MEMORY;
    made->allocator = allocator;
    made->rows = rows;
    made->index_max = index_max;
    if (reporter) made->reporter = *reporter;
    base_bytes_init(&made->scratch, allocator);
    return NET_OK;
}

void net_varsize_source_destroy(net_varsize_source* source) {
    if (!source) return;
    BASE_ASSERT(!source->senders);
    const base_allocator* allocator = source->allocator;
    for (uint32_t i = 0; i < source->value_count; i++)
        base_release(allocator, source->values[i].bytes, source->values[i].capacity);
    BASE_ARRAY_RELEASE(allocator, source->values, source->value_capacity);
    BASE_ARRAY_RELEASE(allocator, source->first, source->first_capacity);
    BASE_ARRAY_RELEASE(allocator, source->changed, source->changed_capacity);
    BASE_ARRAY_RELEASE(allocator, source->free, source->free_capacity);
    base_bytes_deinit(&source->scratch);
    base_release(allocator, source, sizeof *source);
}

static uint32_t find_value(const net_varsize_source* source, ecs_entity entity, uint32_t number) {
    uint32_t at = net_varsize_first(source, entity);
    while (at != NET_VARSIZE_NONE && source->values[at].number != number)
        at = source->values[at].next;
    return at;
}

// Each value at most once between two spreads.
static bool mark_changed(net_varsize_source* source, uint32_t at) {
    if (source->values[at].is_listed) return true;
    if (!BASE_ARRAY_RESERVE(source->allocator, source->changed, source->changed_capacity,
                            source->changed_count + 1))
        return false;
    source->changed[source->changed_count++] = at;
    source->values[at].is_listed = true;
    return true;
}

static uint32_t add_value(net_varsize_source* source, ecs_entity entity,
                          const net_row_varsize* varsize) {
    BASE_ASSERT(ecs_entity_index(entity) <= source->index_max);
    uint32_t index = ecs_entity_index(entity);
    if (!BASE_ARRAY_RESERVE(source->allocator, source->first, source->first_capacity, index + 1))
        return NET_VARSIZE_NONE;
    uint32_t at = source->value_count;
    if (source->free_count > 0) {
        at = source->free[--source->free_count];
    } else {
        if (!BASE_ARRAY_RESERVE(source->allocator, source->values, source->value_capacity, at + 1))
            return NET_VARSIZE_NONE;
        source->value_count++;
    }
    net_varsize_value* value = &source->values[at];
    uint8_t* bytes = value->bytes;
    uint32_t capacity = value->capacity;
    uint32_t first = net_varsize_first(source, entity);
    *value = (net_varsize_value){.handle = entity,
                                 .component = varsize->component,
                                 .number = varsize->number,
                                 .class_ = varsize->class_,
                                 .bytes = bytes,
                                 .capacity = capacity,
                                 .next = first};
    source->first[index] = at + 1;
    source->counters.values++;
    return at;
}

static bool store(net_varsize_source* source, net_varsize_value* value) {
    uint32_t size = (uint32_t)source->scratch.size;
    if (!BASE_ARRAY_RESERVE(source->allocator, value->bytes, value->capacity, size)) return false;
    memcpy(value->bytes, source->scratch.data, size);
    value->size = size;
    return true;
}

static void report_long(net_varsize_source* source, const ecs_world* world,
                        const net_varsize_value* value, size_t size) {
    source->counters.values_long++;
    if (source->has_reported_long) return;
    source->has_reported_long = true;
    base_report(&source->reporter, NULL, 0,
                "%s of entity %u:%u is %zu bytes long: beyond %u clients have its default",
                ecs_component_get(world, value->component)->name, ecs_entity_index(value->handle),
                ecs_entity_generation(value->handle), size, NET_VARSIZE_BYTES_MAX);
}

// Copy what a living entity's component holds. @return false when memory ran out.
static bool take_value(net_varsize_source* source, const ecs_world* world, uint32_t at,
                       const net_row_template* row_template) {
    BASE_ASSERT(source->values[at].is_present);
    net_varsize_value* value = &source->values[at];
    base_bytes_clear(&source->scratch);
    net_varsize_write(world, value->handle, value->component, &source->scratch);
    if (source->scratch.failed) return false;
    size_t size = source->scratch.size;
    bool is_long = size > NET_VARSIZE_BYTES_MAX;
    bool is_default = is_long || size == 0 ||
                      net_varsize_is_default(world, row_template, value->handle, value->component);
    if (is_long) report_long(source, world, value, size);
    bool is_same = value->stamp > 0 && value->is_default == is_default &&
                   (is_default ||
                    (value->size == size && memcmp(value->bytes, source->scratch.data, size) == 0));
    value->is_default = is_default;
    if (is_same) return true;
    if (!is_default && !store(source, value)) return false;
    value->stamp = ++source->stamp_last;
    return mark_changed(source, at);
}

// One component of an entity that spawned or changed its template.
static bool take_component(net_varsize_source* source, const ecs_world* world, ecs_entity entity,
                           const net_row_template* row_template, const net_row_varsize* varsize,
                           ecs_tick tick) {
    uint32_t at = find_value(source, entity, varsize->number);
    if (at == NET_VARSIZE_NONE) at = add_value(source, entity, varsize);
    if (at == NET_VARSIZE_NONE) return false;
    net_varsize_value* value = &source->values[at];
    const net_row_template* before = value->row_template;
    bool is_another =
        before && (!value->is_present ||
                   (before != row_template &&
                    !net_varsize_same_default(world, before, row_template, varsize->component)));
    bool is_reclassed = value->class_ != varsize->class_;
    value->row_template = row_template;
    value->class_ = varsize->class_;
    value->is_present = true;
    if (is_another) value->since = tick;
    if ((is_another || is_reclassed) && !mark_changed(source, at)) return false;
    return take_value(source, world, at, row_template);
}

static bool is_taken(const net_varsize_source* source, ecs_entity entity) {
    return ecs_entity_index(entity) <= source->index_max;
}

static bool take_entity(net_varsize_source* source, const ecs_world* world, ecs_entity entity,
                        ecs_tick tick) {
    if (!is_taken(source, entity) || !ecs_is_alive(world, entity)) return true;
    const net_row_template* row_template =
        net_rows_find(source->rows, ecs_entity_template(world, entity));
    for (uint32_t at = net_varsize_first(source, entity); at != NET_VARSIZE_NONE;
         at = source->values[at].next) {
        if (!row_template || !net_row_find_varsize(row_template, source->values[at].component))
            source->values[at].is_present = false;
    }
    for (uint32_t i = 0; row_template && i < row_template->varsize_count; i++) {
        if (!take_component(source, world, entity, row_template, &row_template->varsizes[i], tick))
            return false;
    }
    return true;
}

// The senders forget its values at the next spread.
static bool end_entity(net_varsize_source* source, ecs_entity entity) {
    uint32_t at = net_varsize_first(source, entity);
    if (at == NET_VARSIZE_NONE) return true;
    source->first[ecs_entity_index(entity)] = 0;
    for (; at != NET_VARSIZE_NONE; at = source->values[at].next) {
        source->values[at].is_destroyed = true;
        source->counters.values--;
        if (!mark_changed(source, at)) return false;
    }
    return true;
}

static bool take_change(net_varsize_source* source, const ecs_world* world,
                        const ecs_change* change) {
    uint32_t at = net_varsize_first(source, change->entity);
    while (at != NET_VARSIZE_NONE && source->values[at].component != change->component)
        at = source->values[at].next;
    if (at == NET_VARSIZE_NONE || !source->values[at].is_present) return true;
    if (!ecs_find(world, change->entity, change->component)) return true;
    return take_value(source, world, at, source->values[at].row_template);
}

static bool take_all(net_varsize_source* source, const ecs_world* world, ecs_tick tick) {
    for (ecs_entity entity = ecs_entity_next(world, ECS_ENTITY_NONE); entity != ECS_ENTITY_NONE;
         entity = ecs_entity_next(world, entity)) {
        if (!is_taken(source, entity)) break;
        if (!take_entity(source, world, entity, tick)) return false;
    }
    return true;
}

static bool take_changes(net_varsize_source* source, const ecs_world* world, ecs_tick tick) {
    ecs_changes changes = ecs_changes_get(world);
    for (uint32_t i = 0; i < changes.destroyed_count; i++) {
        if (is_taken(source, changes.destroyed[i]) && !ecs_is_alive(world, changes.destroyed[i]) &&
            !end_entity(source, changes.destroyed[i]))
            return false;
    }
    for (uint32_t i = 0; i < changes.created_count; i++)
        if (!take_entity(source, world, changes.created[i], tick)) return false;
    for (uint32_t i = 0; i < changes.recreated_count; i++)
        if (!take_entity(source, world, changes.recreated[i], tick)) return false;
    for (uint32_t i = 0; i < changes.changed_count; i++)
        if (!take_change(source, world, &changes.changed[i])) return false;
    return true;
}

net_result net_varsize_source_step(net_varsize_source* source, const ecs_world* world,
                                   ecs_tick tick) {
    BASE_ASSERT(world);
    if (net_rows_varsize_count(source->rows) == 0) return NET_OK;
    // The last step was not published: its destroyed values must not be mistaken for the next users
    // of their places.
    net_varsize_spread(source);
    bool is_taken_over =
        source->has_stepped ? take_changes(source, world, tick) : take_all(source, world, tick);
    source->has_stepped = true;
    return is_taken_over ? NET_OK : NET_ERR_MEMORY;
}

const net_varsize_counters* net_varsize_source_get_counters(const net_varsize_source* source) {
    return &source->counters;
}
