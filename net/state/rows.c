// SPDX-License-Identifier: MIT
// The table of row templates: it turns each template of the world into a layout, once.
//
// Server and client build it from their own files; the schema hash proves that both tables are the
// same where it matters. So numbers on the wire count only what the hash covers: loaded templates
// with at least one replicated component, sorted by name. A composition is known by the numbers of
// its replicated parts, and its row template is made from exactly those: otherwise a server-only
// part that changes a default would give the server another default row than the client has.
//
// Invariants: a row template never moves and never changes; the same replicated parts give the same
// row template.
#include "state/rows.h"

#include "base/assert.h"
#include "base/hash.h"

#include <string.h>

static void reserve_ids(net_rows* rows, uint32_t count) {
    BASE_ARRAY_RESERVE(&rows->owner.allocator, rows->by_id, rows->id_capacity, count);
    BASE_ARRAY_RESERVE(&rows->owner.allocator, rows->states, rows->state_capacity, count);
}

// Make the entry of a template that the wire knows. `parts` are its wire numbers.
static net_result add_template_row(net_rows* rows, const ecs_template* source,
                                   const uint16_t* parts, uint32_t part_count,
                                   const base_reporter* reporter) {
    BASE_ASSERT(part_count >= 1 && part_count <= ECS_TEMPLATE_PARTS_MAX);
    const ecs_template_id id = source->id;
    const base_allocator* own = &rows->owner.allocator;
    reserve_ids(rows, id + 1u);
    BASE_ARRAY_RESERVE(own, rows->templates, rows->template_capacity, rows->template_count + 1);
    net_row_template* row_template = base_allocate_zero(own, sizeof *row_template);
    ecs_component_id at;
    const char* fault = net_row_template_fill(rows, source, row_template, &at);
    if (fault) {
        net_row_template_report(rows, source, fault, at, reporter);
        base_release(own, row_template, sizeof *row_template);
        rows->states[id] = ROW_NONE;
        return NET_ERR_SCHEMA;
    }
    net_row_template_fill_defaults(rows, source, row_template);
    memcpy(row_template->parts, parts, part_count * sizeof *parts);
    row_template->part_count = (uint16_t)part_count;
    rows->templates[rows->template_count++] = row_template;
    rows->by_id[id] = row_template;
    rows->states[id] = ROW_KNOWN;
    return NET_OK;
}

// Ids of loaded replicated templates into `ids`, sorted by name.
static uint32_t list_loaded(const ecs_world* world, ecs_template_id* ids, uint32_t count) {
    uint32_t found = 0;
    for (uint32_t id = 1; id <= count; id++) {
        const ecs_template* source = ecs_template_get(world, (ecs_template_id)id);
        if (source->part_count != 1 || !source->is_replicated) continue;
        uint32_t at = found++;
        while (at > 0 && strcmp(ecs_template_get(world, ids[at - 1])->name, source->name) > 0) {
            ids[at] = ids[at - 1];
            at--;
        }
        ids[at] = (ecs_template_id)id;
    }
    return found;
}

static net_result add_loaded(net_rows* rows, const base_reporter* reporter) {
    uint32_t count = ecs_template_count(rows->world);
    const base_allocator* own = &rows->owner.allocator;
    rows->loaded_count = count;
    ecs_template_id* ids = base_allocate_zero(own, (count + 1) * sizeof *ids);
    rows->number_of = base_allocate_zero(own, (count + 1) * sizeof *rows->number_of);
    rows->numbers = base_allocate_zero(own, (count + 1) * sizeof(net_row_template*));
    rows->number_capacity = count + 1;
    net_result result = NET_OK;
    uint32_t found = list_loaded(rows->world, ids, count);
    for (uint32_t i = 0; i < found && result == NET_OK; i++) {
        uint16_t number = (uint16_t)i;
        rows->number_of[ids[i]] = (uint16_t)(i + 1);
        result =
            add_template_row(rows, ecs_template_get(rows->world, ids[i]), &number, 1, reporter);
        rows->numbers[i] = result == NET_OK ? rows->by_id[ids[i]] : NULL;
    }
    rows->number_count = found;
    base_release(own, ids, (count + 1) * sizeof *ids);
    return result;
}

net_result net_rows_create(const base_allocator* allocator, ecs_world* world,
                           const base_reporter* reporter, net_rows** rows) {
    BASE_ASSERT(world && rows);
    *rows = NULL;
    net_rows* made = base_owner_create(allocator, sizeof *made);
    made->world = world;
    made->component_count = ecs_component_count(world);
    net_rows_list_classes(made);
    net_rows_list_varsizes(made);
    net_result result = add_loaded(made, reporter);
    if (result != NET_OK) {
        base_owner_destroy(made);
        return result;
    }
    *rows = made;
    return NET_OK;
}

net_rows* net_rows_create_like(const base_allocator* allocator, ecs_world* world, net_rows* like) {
    BASE_ASSERT(world && like);
    net_rows* made = base_owner_create(allocator, sizeof *made);
    const size_t own = sizeof made->owner;
    memcpy((uint8_t*)made + own, (const uint8_t*)like + own, sizeof *made - own);
    made->world = world;
    made->component_count = ecs_component_count(world);
    made->like = like;
    made->templates = made->by_id = NULL;
    made->states = NULL;
    made->template_count = made->template_capacity = 0;
    made->id_capacity = made->state_capacity = 0;
    made->composed_count = 0;
    made->refused_count = 0;
    BASE_ASSERT(ecs_template_count(world) == like->loaded_count);
    reserve_ids(made, like->loaded_count + 1u);
    for (uint32_t id = 1; id <= like->loaded_count; id++) {
        BASE_ASSERT(strcmp(ecs_template_get(world, (ecs_template_id)id)->name,
                           ecs_template_get(like->world, (ecs_template_id)id)->name) == 0);
        made->by_id[id] = like->number_of[id] ? like->by_id[id] : NULL;
        made->states[id] = like->number_of[id] ? ROW_KNOWN : ROW_UNSEEN;
    }
    return made;
}

// ---- without a world ----

static const net_row_template* find_composed(const net_rows* rows, const uint16_t* parts,
                                             uint32_t part_count) {
    for (uint32_t i = 0; i < rows->template_count; i++) {
        const net_row_template* row_template = rows->templates[i];
        if (row_template->part_count == part_count &&
            memcmp(row_template->parts, parts, part_count * sizeof *parts) == 0)
            return row_template;
    }
    return NULL;
}

net_rows* net_rows_create_bare(const base_allocator* allocator,
                               const net_rows_component* components, uint32_t count) {
    BASE_ASSERT((components || count == 0) && count <= ECS_COMPONENTS_MAX);
    net_rows* rows = base_owner_create(allocator, sizeof *rows);
    rows->components = components;
    rows->component_count = count;
    for (uint32_t id = 1; id <= count; id++)
        if (components[id].is_replicated && ecs_type_is_varsize(components[id].type))
            net_rows_add_varsize(rows, (ecs_component_id)id);
    return rows;
}

net_result net_rows_add(net_rows* rows, const ecs_template* source, const uint16_t* parts,
                        uint32_t part_count, const net_row_template** added) {
    BASE_ASSERT(!rows->world && source->component_count <= ECS_TEMPLATE_COMPONENTS_MAX);
    *added = NULL;
    const uint16_t own = (uint16_t)rows->number_count;
    bool is_loaded = part_count == 0, is_right = part_count <= ECS_TEMPLATE_PARTS_MAX;
    for (uint32_t i = 0; i < part_count && is_right; i++)
        is_right = parts[i] < rows->number_count;
    if (!is_right || rows->template_count == NET_ROW_TEMPLATES_MAX) return NET_ERR_SCHEMA;
    if (!is_loaded && find_composed(rows, parts, part_count)) return NET_ERR_SCHEMA;
    if (is_loaded)
        BASE_ARRAY_RESERVE(&rows->owner.allocator, rows->numbers, rows->number_capacity,
                           rows->number_count + 1);
    ecs_template named = *source;
    named.id = (ecs_template_id)(rows->template_count + 1);
    net_result result =
        add_template_row(rows, &named, is_loaded ? &own : parts, is_loaded ? 1 : part_count, NULL);
    if (result != NET_OK) return result;
    net_row_template* made = rows->by_id[named.id];
    if (is_loaded) rows->numbers[rows->number_count++] = made;
    *added = made;
    return NET_OK;
}

void net_rows_set_defaults(net_rows* rows, const net_row_template* row_template,
                           const uint64_t* words) {
    BASE_ASSERT(!rows->world && rows->by_id[row_template->id] == row_template);
    uint64_t* defaults = (uint64_t*)(uintptr_t)row_template->defaults;
    memcpy(defaults, words, row_template->layout.field_count * sizeof *words);
    proto_row_pack(&row_template->layout, words,
                   (uint32_t*)(uintptr_t)row_template->packed_defaults);
}

void net_rows_set_tick_rate(net_rows* rows, uint32_t tick_rate_hz) {
    BASE_ASSERT(tick_rate_hz > 0);
    if (rows->tick_rate_hz == tick_rate_hz) return;
    if (rows->like) net_rows_set_tick_rate(rows->like, tick_rate_hz);
    rows->tick_rate_hz = tick_rate_hz;
    for (uint32_t i = 0; i < rows->template_count; i++) {
        rows->templates[i]->layout.tick_rate_hz = tick_rate_hz;
        proto_layout_finish(&rows->templates[i]->layout);
    }
}

uint32_t net_rows_number_bits(const net_rows* rows) {
    uint32_t bits = 1;
    while (rows->number_count > 1u << bits)
        bits++;
    return bits;
}

const net_row_template* net_rows_compose(net_rows* rows, const uint16_t* parts,
                                         uint32_t part_count) {
    if (part_count == 0 || part_count > ECS_TEMPLATE_PARTS_MAX) return NULL;
    ecs_template_id ids[ECS_TEMPLATE_PARTS_MAX];
    for (uint32_t i = 0; i < part_count; i++) {
        if (parts[i] >= rows->number_count) return NULL;
        ids[i] = rows->numbers[parts[i]]->id;
    }
    if (part_count == 1) return rows->numbers[parts[0]];
    if (!rows->world) return find_composed(rows, parts, part_count);
    // Past the limit no template is composed: untrusted input must not fill the world's table.
    if (rows->composed_count == NET_ROW_TEMPLATES_MAX) {
        const net_row_template* found = find_composed(rows, parts, part_count);
        rows->refused_count += !found;
        return found;
    }
    ecs_template_id id = ecs_template_compose(rows->world, ids, part_count);
    if (id == ECS_TEMPLATE_NONE) return NULL;
    if (id >= rows->state_capacity || rows->states[id] == ROW_UNSEEN) {
        rows->composed_count++;
        const ecs_template* source = ecs_template_get(rows->world, id);
        if (add_template_row(rows, source, parts, part_count, NULL) != NET_OK) return NULL;
    }
    return rows->by_id[id];
}

const net_row_template* net_rows_find(net_rows* rows, ecs_template_id template_id) {
    if (template_id < rows->state_capacity && rows->states[template_id] != ROW_UNSEEN)
        return rows->by_id[template_id];
    const ecs_template* source = ecs_template_get(rows->world, template_id);
    if (!source || !source->is_replicated) return NULL;
    uint16_t parts[ECS_TEMPLATE_PARTS_MAX];
    uint32_t part_count = 0;
    for (uint32_t i = 0; i < source->part_count; i++) {
        ecs_template_id part = source->parts[i];
        uint16_t number = part <= rows->loaded_count ? rows->number_of[part] : 0;
        if (number) parts[part_count++] = (uint16_t)(number - 1);
    }
    const net_row_template* row_template = net_rows_compose(rows, parts, part_count);
    reserve_ids(rows, template_id + 1u);
    rows->by_id[template_id] = (net_row_template*)(uintptr_t)row_template;
    rows->states[template_id] = row_template ? ROW_KNOWN : ROW_NONE;
    return row_template;
}

void net_rows_read(const net_row_template* row_template, const ecs_world* world, ecs_entity entity,
                   uint64_t* row) {
    const proto_layout* layout = &row_template->layout;
    for (uint32_t i = 0; i < layout->component_count; i++) {
        const ecs_component_id id = (ecs_component_id)layout->components[i].key;
        proto_row_read_component(layout, i, ecs_get(world, entity, id), row);
    }
}

void net_rows_mask(const net_row_template* row_template, uint32_t classes, uint64_t* row) {
    if ((row_template->class_mask & ~classes) == 0) return;
    for (uint32_t i = 0; i < row_template->layout.component_count; i++) {
        const proto_row_component* component = &row_template->layout.components[i];
        if (classes >> row_template->classes[i] & 1) continue;
        memcpy(row + component->field_first, row_template->defaults + component->field_first,
               component->field_count * sizeof *row);
    }
}

void net_rows_mask_packed(const net_row_template* row_template, uint32_t classes, uint32_t* row) {
    const proto_layout* layout = &row_template->layout;
    bool is_public = classes >> NET_CLASS_PUBLIC & 1; // then only the others are looked at
    uint32_t count = is_public ? row_template->masked_count : layout->component_count;
    for (uint32_t i = 0; i < count; i++) {
        uint32_t c = is_public ? row_template->masked[i] : i;
        if (classes >> row_template->classes[c] & 1) continue;
        const proto_row_component* component = &layout->components[c];
        uint32_t first = component->packed_first, end = first + component->packed_count;
        for (uint32_t w = first; w < end; w++)
            row[w] = row_template->packed_defaults[w];
    }
}

uint64_t net_row_hidden(const net_row_template* row_template, uint32_t classes) {
    uint64_t hidden = 0;
    const uint32_t without = row_template->class_mask & ~classes;
    if (without >> NET_CLASS_PUBLIC & 1) return 0;
    for (uint32_t i = 0; without && i < row_template->masked_count; i++) {
        const uint32_t c = row_template->masked[i];
        if (classes >> row_template->classes[c] & 1) continue;
        const uint64_t words = proto_row_words(&row_template->layout, c);
        if (words == 0) return 0;
        hidden |= words;
    }
    return hidden;
}

uint64_t net_row_hash(const net_row_template* row_template, const uint64_t* row) {
    return base_hash64(row, row_template->layout.field_count * sizeof *row, 0);
}
