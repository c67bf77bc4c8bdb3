// SPDX-License-Identifier: MIT
// Values become words of a row here by the names of their components and fields. A template, a
// component or a field that one side does not have is left out or keeps its default, and is
// reported once by its name; numbers that have no place are clamped and counted.
//
// Rows of a log of the build that is here are rows here. Those of another build are converted by
// names each time: a plan that is kept was not measurably faster.
#include "playback/playback_feed.h"

#include "base/assert.h"
#include "base/hash.h"
#include "replay/log_state.h"
#include "state/schema.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

// ---- values as those of another component ----

static bool is_entity(ecs_field_kind kind) {
    return kind == ECS_FIELD_ENTITY;
}

static const net_log_field* find_field(const net_log_component* from, const ecs_field* field,
                                       uint32_t* position) {
    *position = 0;
    for (uint32_t i = 0; i < from->field_count; i++) {
        if (field->name && strcmp(from->fields[i].name, field->name) == 0) return &from->fields[i];
        *position += from->fields[i].count;
    }
    return NULL;
}

static bool has_field(const ecs_field* fields, uint32_t count, const char* name) {
    for (uint32_t i = 0; i < count; i++)
        if (fields[i].name && strcmp(fields[i].name, name) == 0) return true;
    return false;
}

void net_log_convert_compare(const net_log_component* from, const ecs_field* fields,
                             uint32_t field_count, net_log_convert_news news, void* context) {
    BASE_ASSERT(from && (fields || field_count == 0) && news);
    for (uint32_t i = 0; i < field_count; i++) {
        uint32_t position;
        const net_log_field* source = find_field(from, &fields[i], &position);
        const bool has_place = source && is_entity(source->kind) == is_entity(fields[i].kind);
        const char* name = fields[i].name ? fields[i].name : "";
        if (!source)
            news(context, from->name, name, "is only here and has its default");
        else if (!has_place)
            news(context, from->name, name, "cannot be converted and has its default");
        else if (source->kind != fields[i].kind)
            news(context, from->name, name, "has another kind here and is converted");
        if (has_place && source->count != fields[i].count)
            news(context, from->name, name, "has another number of elements here");
    }
    for (uint32_t i = 0; i < from->field_count; i++)
        if (!has_field(fields, field_count, from->fields[i].name))
            news(context, from->name, from->fields[i].name, "is not here and is left out");
}

// Does the value lie outside of the range of its words, by more than rounding?
static bool is_outside(const proto_quant* quant, double value) {
    if (!quant || quant->is_exact || quant->is_angle) return false;
    const double half = quant->step * 0.5, most = quant->min + (double)quant->q_max * quant->step;
    return !(value >= quant->min - half && value <= most + half);
}

static bool convert(ecs_field_kind kind, const proto_quant* quant, const ecs_number* value,
                    void* element) {
    const bool is_clamped = ecs_number_put(kind, element, value);
    if (is_entity(kind) || kind == ECS_FIELD_BOOL) return false;
    return is_clamped || is_outside(quant, (double)ecs_number_value(value));
}

uint32_t net_log_convert(const net_log_component* from, const ecs_field* fields,
                         uint32_t field_count, const proto_row_field* row, const ecs_number* values,
                         void* object) {
    BASE_ASSERT(from && (fields || field_count == 0));
    uint32_t clamped = 0, first = 0;
    for (uint32_t i = 0; i < field_count; first += fields[i++].count) {
        const ecs_field* field = &fields[i];
        uint32_t position;
        const net_log_field* source = find_field(from, field, &position);
        if (!source || is_entity(source->kind) != is_entity(field->kind)) continue;
        for (uint32_t k = 0; k < field->count && k < source->count; k++)
            clamped +=
                convert(field->kind, row ? &row[first + k].quant : NULL, &values[position + k],
                        (uint8_t*)object + field->offset + k * ecs_field_kind_bytes(field->kind));
    }
    return clamped;
}

// ---- values of a log ----

typedef struct plan {
    const char* name;               // of the log's template; one address for each
    const net_row_template* target; // NULL: it is not shown
    bool is_same;                   // rows of the log are rows of the target
} plan;

// A value of variable size belongs to the incarnation that began at `since`, whatever its rows do.
typedef struct incarnation {
    ecs_entity handle;
    const char* name; // of the log's template
    ecs_tick since;
    uint64_t hash; // of the values that were fed last
} incarnation;

struct net_playback_feed {
    base_owner owner;
    const net_log_state* state;
    net_playback_notes* notes;
    bool is_same_schema;
    ecs_world* world;
    net_rows* rows; // its match's
    plan* plans;
    uint32_t plan_count, plan_capacity;
    bool has_varsize; // some target has such values
    uint64_t* object; // room for any component of the targets
    uint32_t object_words;
    incarnation* incarnations; // by index of entity: of those with values of variable size
    uint32_t incarnation_capacity;
    uint64_t version;
};

// ---- what differs ----

__attribute__((format(printf, 2, 3))) static void report(net_playback_feed* feed,
                                                         const char* format, ...) {
    char text[512];
    va_list arguments;
    va_start(arguments, format);
    (void)vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    const uint64_t hash = base_hash64_text(text);
    net_playback_notes* notes = feed->notes;
    for (uint32_t i = 0; i < notes->reported_count; i++)
        if (notes->reported[i] == hash) return;
    if (notes->reported_count == BASE_COUNT(notes->reported)) return;
    notes->reported[notes->reported_count++] = hash;
    base_report(notes->reporter, notes->file, 0, "warning: %s", text);
}

static void report_field(void* feed, const char* component, const char* field, const char* fate) {
    report(feed, "field %s of component %s %s", field, component, fate);
}

static const ecs_type* type_of(const net_playback_feed* feed, ecs_component_id id) {
    return ecs_type_get(feed->world, ecs_component_get(feed->world, id)->type);
}

// Each component once, whether an entity has it or not.
static void compare_components(net_playback_feed* feed) {
    for (uint32_t i = 0; i < net_log_state_component_count(feed->state); i++) {
        const net_log_component* from = net_log_state_component(feed->state, i);
        const ecs_component_id id = ecs_component_find(feed->world, from->name);
        const ecs_type* type = id == ECS_COMPONENT_NONE ? NULL : type_of(feed, id);
        if (!type)
            report(feed, "component %s of the log is not here and is left out", from->name);
        else if (from->is_varsize != ecs_type_is_varsize(type))
            report(feed, "component %s is of another form here and is left out", from->name);
        else if (!from->is_varsize)
            net_log_convert_compare(from, type->fields, type->field_count, report_field, feed);
    }
}

net_playback_feed* net_playback_feed_create(const net_log_state* state, net_match* match,
                                            bool is_same_schema, net_playback_notes* notes) {
    BASE_ASSERT(state && match && notes);
    net_playback_feed* feed =
        base_owner_create(net_match_get_config(match)->allocator, sizeof *feed);
    feed->state = state;
    feed->notes = notes;
    feed->is_same_schema = is_same_schema;
    feed->world = net_match_world(match);
    feed->rows = net_schema_rows(net_match_schema(match));
    compare_components(feed);
    return feed;
}

// ---- plans ----

// The template here with the parts of a name that are here: "soldier+boost".
static const net_row_template* find_target(net_playback_feed* feed, const char* name) {
    uint16_t parts[ECS_TEMPLATE_PARTS_MAX];
    uint32_t count = 0;
    while (*name) {
        char one[ECS_NAME_BYTES_MAX];
        const size_t length = strcspn(name, "+");
        if (length >= sizeof one) return NULL;
        memcpy(one, name, length);
        one[length] = 0;
        name += length + (name[length] == '+');
        const ecs_template_id id = ecs_template_find(feed->world, one);
        const net_row_template* row = id ? net_rows_find(feed->rows, id) : NULL;
        if (!row) report(feed, "template %s of the log is not here and is left out", one);
        if (!row || count + row->part_count > BASE_COUNT(parts)) continue;
        memcpy(parts + count, row->parts, row->part_count * sizeof *parts);
        count += row->part_count;
    }
    return count > 0 ? net_rows_compose(feed->rows, parts, count) : NULL;
}

// The component of the entity in the log that has the name of one here. NULL: none.
static const net_log_component* find_component(const net_playback_feed* feed, ecs_entity entity,
                                               uint64_t id) {
    const char* name = ecs_component_get(feed->world, (ecs_component_id)id)->name;
    const net_log_component* component;
    for (uint32_t i = 0;
         (component = net_log_state_template_component(feed->state, entity, i)) != NULL; i++)
        if (strcmp(component->name, name) == 0) return component;
    return NULL;
}

// The same for one of variable size: it has the same type. NULL: the one here has its default.
static const net_log_component* find_varsize(net_playback_feed* feed, ecs_entity entity,
                                             ecs_component_id id) {
    const net_log_component* from = find_component(feed, entity, id);
    if (!from || !from->is_varsize) return NULL;
    if (strcmp(from->type, type_of(feed, id)->name) == 0) return from;
    report(feed, "component %s has another type here and has its default", from->name);
    return NULL;
}

static void compare_template(net_playback_feed* feed, const plan* made, ecs_entity entity) {
    const proto_layout* layout = &made->target->layout;
    const net_log_component* from;
    for (uint32_t i = 0; i < layout->component_count; i++)
        if (!find_component(feed, entity, layout->components[i].key))
            report(
                feed, "component %s of template %s is not in the log and has its default",
                ecs_component_get(feed->world, (ecs_component_id)layout->components[i].key)->name,
                made->name);
    for (uint32_t i = 0; (from = net_log_state_template_component(feed->state, entity, i)) != NULL;
         i++) {
        const ecs_component_id id = ecs_component_find(feed->world, from->name);
        bool is_used = id == ECS_COMPONENT_NONE || net_row_find_varsize(made->target, id);
        for (uint32_t k = 0; k < layout->component_count; k++)
            is_used = is_used || layout->components[k].key == id;
        if (!is_used)
            report(feed, "component %s of template %s is not replicated here and is left out",
                   from->name, made->name);
    }
}

// A header may claim the schema of a game and have another one.
static bool is_same_layout(const proto_layout* a, const proto_layout* b) {
    if (a->field_count != b->field_count || a->component_count != b->component_count) return false;
    for (uint32_t i = 0; i < a->component_count; i++)
        if (a->components[i].field_count != b->components[i].field_count ||
            a->components[i].is_rotation != b->components[i].is_rotation)
            return false;
    for (uint32_t i = 0; i < a->field_count; i++) {
        const proto_quant *left = &a->fields[i].quant, *right = &b->fields[i].quant;
        if (left->kind != right->kind || left->bits != right->bits || left->q_max != right->q_max ||
            left->is_exact != right->is_exact)
            return false;
    }
    return true;
}

// The plan of an entity's template.
static const plan* find_plan(net_playback_feed* feed, ecs_entity entity) {
    const char* name = net_log_state_template(feed->state, entity);
    BASE_ASSERT(name);
    for (uint32_t i = 0; i < feed->plan_count; i++)
        if (feed->plans[i].name == name) return &feed->plans[i];
    BASE_ARRAY_RESERVE(&feed->owner.allocator, feed->plans, feed->plan_capacity,
                       feed->plan_count + 1);
    plan* made = &feed->plans[feed->plan_count];
    *made = (plan){.name = name, .target = find_target(feed, name)};
    for (uint32_t i = 0; made->target && i < made->target->layout.component_count; i++) {
        const uint64_t id = made->target->layout.components[i].key;
        const uint32_t bytes = type_of(feed, (ecs_component_id)id)->object_size;
        BASE_ARRAY_RESERVE(&feed->owner.allocator, feed->object, feed->object_words,
                           bytes / sizeof *feed->object + 1);
    }
    feed->plan_count++;
    if (!made->target) return made;
    compare_template(feed, made, entity);
    feed->has_varsize = feed->has_varsize || made->target->varsize_count > 0;
    made->is_same = feed->is_same_schema &&
                    is_same_layout(&net_log_state_row(feed->state, entity, NULL)->layout,
                                   &made->target->layout);
    return made;
}

// ---- rows ----

static void convert_row(net_playback_feed* feed, const proto_layout* layout, ecs_entity entity,
                        uint64_t* row) {
    for (uint32_t i = 0; i < layout->component_count; i++) {
        const proto_row_component* component = &layout->components[i];
        const ecs_type* type = type_of(feed, (ecs_component_id)component->key);
        const net_log_component* from = find_component(feed, entity, component->key);
        if (!from || from->is_varsize) continue;
        const proto_row_field* fields =
            component->is_rotation ? NULL : &layout->fields[component->field_first];
        ecs_number values[PROTO_ROW_FIELDS_MAX];
        const bool is_read = net_log_state_read(feed->state, entity, from, values);
        BASE_ASSERT(is_read);
        memset(feed->object, 0, type->object_size);
        proto_row_write_component(layout, i, row, feed->object);
        feed->notes->clamped +=
            net_log_convert(from, type->fields, type->field_count, fields, values, feed->object);
        proto_row_read_component(layout, i, feed->object, row);
    }
}

static void feed_row(net_playback_feed* feed, const plan* by, ecs_entity entity, net_scene* scene) {
    const net_row_template* target = by->target;
    uint64_t row[PROTO_ROW_FIELDS_MAX];
    if (by->is_same) {
        (void)net_log_state_row(feed->state, entity, row);
    } else {
        memcpy(row, target->defaults, target->layout.field_count * sizeof *row);
        convert_row(feed, &target->layout, entity, row);
    }
    net_scene_row(scene, entity, target, net_log_state_tick(feed->state), row);
}

// The incarnation at an entity's index.
static incarnation* find_incarnation(net_playback_feed* feed, const plan* by, ecs_entity entity) {
    const uint32_t index = ecs_entity_index(entity), before = feed->incarnation_capacity;
    BASE_ARRAY_RESERVE(&feed->owner.allocator, feed->incarnations, feed->incarnation_capacity,
                       index + 1);
    memset(feed->incarnations + before, 0,
           (feed->incarnation_capacity - before) * sizeof *feed->incarnations);
    incarnation* found = &feed->incarnations[index];
    if (found->handle != entity || found->name != by->name)
        *found = (incarnation){entity, by->name, net_log_state_tick(feed->state), 0};
    return found;
}

// Values of variable size are not among the touches: what was fed last is known by its hash.
static void feed_varsize(net_playback_feed* feed, const plan* by, ecs_entity entity,
                         net_scene* scene) {
    incarnation* of = find_incarnation(feed, by, entity);
    uint64_t hash = entity;
    for (uint32_t pass = 0; pass < 2; pass++) {
        for (uint32_t i = 0; i < by->target->varsize_count; i++) {
            const net_row_varsize* at = &by->target->varsizes[i];
            const net_log_component* from = find_varsize(feed, entity, at->component);
            size_t size = 0;
            const uint8_t* bytes =
                from ? net_log_state_bytes(feed->state, entity, from, &size) : NULL;
            if (!bytes) continue;
            if (pass == 0) {
                hash = base_hash64(bytes, size, hash + at->number);
                continue;
            }
            const net_varsize_message message = {.handle = entity,
                                                 .number = at->number,
                                                 .version = ++feed->version,
                                                 .since = of->since,
                                                 .bytes = bytes,
                                                 .size = (uint32_t)size};
            (void)net_scene_varsize(scene, &message);
        }
        if (of->hash == hash) return;
    }
    of->hash = hash;
}

static void feed_touched(net_playback_feed* feed, net_scene* scene) {
    uint32_t count;
    const net_log_touch* touches = net_log_state_touches(feed->state, &count);
    for (uint32_t i = 0; i < count; i++) {
        if (touches[i].fate == NET_LOG_FATE_DESTROYED) {
            net_scene_gone(scene, touches[i].entity, net_log_state_tick(feed->state));
            continue;
        }
        const plan* by = find_plan(feed, touches[i].entity);
        if (by->target) feed_row(feed, by, touches[i].entity, scene);
    }
}

void net_playback_feed_give(net_playback_feed* feed, net_scene* scene, bool is_first) {
    if (!is_first) feed_touched(feed, scene);
    for (ecs_entity entity = ECS_ENTITY_NONE;
         (is_first || feed->has_varsize) &&
         (entity = net_log_state_next(feed->state, entity)) != ECS_ENTITY_NONE;) {
        const plan* by = find_plan(feed, entity);
        if (is_first && by->target) feed_row(feed, by, entity, scene);
        if (by->target && by->target->varsize_count > 0) feed_varsize(feed, by, entity, scene);
    }
    net_scene_packet(scene, net_log_state_tick(feed->state));
}
