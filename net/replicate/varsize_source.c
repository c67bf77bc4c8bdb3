// SPDX-License-Identifier: MIT
// The match's half of large values: what each of them is now.
//
// A value gets a new stamp when its bytes differ; stamps are never sent, so that nobody can count changes
// of what it does not see. Values of an entity form a chain that begins at its index.
//
// A change of template matters to clients only where it changes what they hold without being told: the
// component came or went, or its default is another. Then the value is sent to all that have the entity,
// for records of that tick and later ones (`since`).
//
// The dead keep their place until every repl forgot them (spread), since repls name values by place.
// Left to others: who sees what and has what (varsize_view.c).
#include "replicate/varsize_internal.h"

#include "base/assert.h"

#include <string.h>

net_result net_varsize_source_create(const base_allocator* allocator, net_rows* rows,
                                     uint32_t index_max, const base_reporter* reporter,
                                     net_varsize_source** server) {
    BASE_ASSERT(rows && server);
    net_varsize_source* made = base_allocate_zero(allocator, sizeof *made);
    *server = made;
    if (!made) return NET_ERR_MEMORY;
    made->allocator = allocator;
    made->rows = rows;
    made->index_max = index_max;
    if (reporter) made->reporter = *reporter;
    base_bytes_init(&made->scratch, allocator);
    return NET_OK;
}

void net_varsize_source_destroy(net_varsize_source* server) {
    if (!server) return;
    BASE_ASSERT(!server->repls);
    const base_allocator* allocator = server->allocator;
    for (uint32_t i = 0; i < server->value_count; i++)
        base_release(allocator, server->values[i].bytes, server->values[i].capacity);
    base_release(allocator, server->values, server->value_capacity * sizeof *server->values);
    base_release(allocator, server->first, server->first_capacity * sizeof *server->first);
    base_release(allocator, server->changed, server->changed_capacity * sizeof *server->changed);
    base_release(allocator, server->free, server->free_capacity * sizeof *server->free);
    base_bytes_deinit(&server->scratch);
    base_release(allocator, server, sizeof *server);
}

static uint32_t find_value(const net_varsize_source* server, ecs_entity entity, uint32_t number) {
    uint32_t at = net_varsize_first(server, entity);
    while (at != NET_VARSIZE_NONE && server->values[at].number != number)
        at = server->values[at].next;
    return at;
}

// Each at most once between two spreads.
static bool mark_changed(net_varsize_source* server, uint32_t at) {
    if (server->values[at].is_listed) return true;
    if (!base_array_reserve(server->allocator, (void**)&server->changed, &server->changed_capacity,
                            server->changed_count + 1, sizeof *server->changed))
        return false;
    server->changed[server->changed_count++] = at;
    server->values[at].is_listed = true;
    return true;
}

static uint32_t add_value(net_varsize_source* server, ecs_entity entity,
                          const net_row_varsize* varsize) {
    uint32_t index = ecs_entity_index(entity);
    if (!base_array_reserve(server->allocator, (void**)&server->first, &server->first_capacity,
                            index + 1, sizeof *server->first))
        return NET_VARSIZE_NONE;
    uint32_t at = server->value_count;
    if (server->free_count > 0) {
        at = server->free[--server->free_count];
    } else {
        if (!base_array_reserve(server->allocator, (void**)&server->values, &server->value_capacity,
                                at + 1, sizeof *server->values))
            return NET_VARSIZE_NONE;
        server->value_count++;
    }
    net_varsize_value* value = &server->values[at];
    uint8_t* bytes = value->bytes;
    uint32_t capacity = value->capacity;
    uint32_t first = net_varsize_first(server, entity);
    *value = (net_varsize_value){.handle = entity,
                                 .component = varsize->component,
                                 .number = varsize->number,
                                 .class_ = varsize->class_,
                                 .bytes = bytes,
                                 .capacity = capacity,
                                 .next = first};
    server->first[index] = at + 1;
    server->counters.values++;
    return at;
}

static bool store(net_varsize_source* server, net_varsize_value* value) {
    uint32_t size = (uint32_t)server->scratch.size;
    if (!base_array_reserve(server->allocator, (void**)&value->bytes, &value->capacity, size, 1))
        return false;
    memcpy(value->bytes, server->scratch.data, size);
    value->size = size;
    return true;
}

static void tell_long(net_varsize_source* server, const ecs_world* world,
                      const net_varsize_value* value, size_t size) {
    server->counters.values_long++;
    if (server->has_told_long) return;
    server->has_told_long = true;
    base_report(&server->reporter, NULL, 0,
                "%s of entity %u:%u is %zu bytes long: beyond %u clients have its default",
                ecs_component_get(world, value->component)->name, ecs_entity_index(value->handle),
                ecs_entity_generation(value->handle), size, NET_VARSIZE_BYTES_MAX);
}

// Take over what a living entity's component holds. @return false when memory ran out.
static bool take_value(net_varsize_source* server, const ecs_world* world, uint32_t at,
                       const net_row_template* entry) {
    net_varsize_value* value = &server->values[at];
    base_bytes_clear(&server->scratch);
    net_varsize_write(world, value->handle, value->component, &server->scratch);
    if (server->scratch.failed) return false;
    size_t size = server->scratch.size;
    bool is_long = size > NET_VARSIZE_BYTES_MAX;
    bool is_default = is_long || size == 0 ||
                      net_varsize_is_default(world, entry, value->handle, value->component);
    if (is_long) tell_long(server, world, value, size);
    bool is_same = value->stamp > 0 && value->is_default == is_default &&
                   (is_default ||
                    (value->size == size && memcmp(value->bytes, server->scratch.data, size) == 0));
    value->is_default = is_default;
    if (is_same) return true;
    if (!is_default && !store(server, value)) return false;
    value->stamp = ++server->stamp_last;
    return mark_changed(server, at);
}

// One component of an entity that came or became another template.
static bool take_component(net_varsize_source* server, const ecs_world* world, ecs_entity entity,
                           const net_row_template* entry, const net_row_varsize* varsize,
                           ecs_tick tick) {
    uint32_t at = find_value(server, entity, varsize->number);
    if (at == NET_VARSIZE_NONE) at = add_value(server, entity, varsize);
    if (at == NET_VARSIZE_NONE) return false;
    net_varsize_value* value = &server->values[at];
    const net_row_template* before = value->entry;
    bool is_another =
        before &&
        (!value->is_present ||
         (before != entry && !net_varsize_same_default(world, before, entry, varsize->component)));
    bool is_reclassed = value->class_ != varsize->class_;
    value->entry = entry;
    value->class_ = varsize->class_;
    value->is_present = true;
    if (is_another) value->since = tick;
    if ((is_another || is_reclassed) && !mark_changed(server, at)) return false;
    return take_value(server, world, at, entry);
}

static bool is_taken(const net_varsize_source* server, ecs_entity entity) {
    return ecs_entity_index(entity) <= server->index_max;
}

static bool take_entity(net_varsize_source* server, const ecs_world* world, ecs_entity entity,
                        ecs_tick tick) {
    if (!is_taken(server, entity) || !ecs_is_alive(world, entity)) return true;
    const net_row_template* entry = net_rows_find(server->rows, ecs_entity_template(world, entity));
    for (uint32_t at = net_varsize_first(server, entity); at != NET_VARSIZE_NONE;
         at = server->values[at].next) {
        if (!entry || !net_row_find_varsize(entry, server->values[at].component))
            server->values[at].is_present = false;
    }
    for (uint32_t i = 0; entry && i < entry->varsize_count; i++) {
        if (!take_component(server, world, entity, entry, &entry->larges[i], tick)) return false;
    }
    return true;
}

// Its values are forgotten by the repls first.
static bool end_entity(net_varsize_source* server, ecs_entity entity) {
    uint32_t at = net_varsize_first(server, entity);
    if (at == NET_VARSIZE_NONE) return true;
    server->first[ecs_entity_index(entity)] = 0;
    for (; at != NET_VARSIZE_NONE; at = server->values[at].next) {
        server->values[at].is_dead = true;
        server->counters.values--;
        if (!mark_changed(server, at)) return false;
    }
    return true;
}

static bool take_change(net_varsize_source* server, const ecs_world* world,
                        const ecs_change* change) {
    uint32_t at = net_varsize_first(server, change->entity);
    while (at != NET_VARSIZE_NONE && server->values[at].component != change->component)
        at = server->values[at].next;
    if (at == NET_VARSIZE_NONE || !server->values[at].is_present) return true;
    if (!ecs_find(world, change->entity, change->component)) return true;
    return take_value(server, world, at, server->values[at].entry);
}

static bool take_all(net_varsize_source* server, const ecs_world* world, ecs_tick tick) {
    for (ecs_entity entity = ecs_entity_next(world, ECS_ENTITY_NONE); entity != ECS_ENTITY_NONE;
         entity = ecs_entity_next(world, entity)) {
        if (!is_taken(server, entity)) break;
        if (!take_entity(server, world, entity, tick)) return false;
    }
    return true;
}

static bool take_changes(net_varsize_source* server, const ecs_world* world, ecs_tick tick) {
    ecs_changes changes = ecs_changes_get(world);
    for (uint32_t i = 0; i < changes.destroyed_count; i++) {
        if (is_taken(server, changes.destroyed[i]) && !ecs_is_alive(world, changes.destroyed[i]) &&
            !end_entity(server, changes.destroyed[i]))
            return false;
    }
    for (uint32_t i = 0; i < changes.created_count; i++)
        if (!take_entity(server, world, changes.created[i], tick)) return false;
    for (uint32_t i = 0; i < changes.recreated_count; i++)
        if (!take_entity(server, world, changes.recreated[i], tick)) return false;
    for (uint32_t i = 0; i < changes.changed_count; i++)
        if (!take_change(server, world, &changes.changed[i])) return false;
    return true;
}

net_result net_varsize_source_step(net_varsize_source* server, const ecs_world* world,
                                   ecs_tick tick) {
    if (net_rows_varsize_count(server->rows) == 0) return NET_OK;
    // Nobody published the last step: its dead must not be taken for those who get their places.
    net_varsize_spread(server);
    bool is_taken_over =
        server->has_stepped ? take_changes(server, world, tick) : take_all(server, world, tick);
    server->has_stepped = true;
    return is_taken_over ? NET_OK : NET_ERR_MEMORY;
}

const net_varsize_counters* net_varsize_source_get_counters(const net_varsize_source* server) {
    return &server->counters;
}
