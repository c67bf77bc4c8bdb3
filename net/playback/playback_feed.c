// SPDX-License-Identifier: MIT
// A plan per template of the log says which values become which words of a row here. A template,
// a component or a field that one side does not have is left out or keeps its default, and is
// reported once by its name; numbers that have no place are clamped and counted.
//
// A log of the build that is here has the same names, so nothing is left out.
#include "playback/playback_feed.h"

#include "base/assert.h"
#include "base/hash.h"
#include "log/log_read.h"
#include "replay/log_state.h"
#include "state/schema.h"

#include <math.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

// ---- values as those of another component ----

static bool is_entity(ecs_field_kind kind) {
    return kind == ECS_FIELD_ENTITY;
}

// ---- plan ----

static const net_log_field* find_field(const net_log_component* from, const char* name,
                                       uint32_t* position) {
    *position = 0;
    for (uint32_t i = 0; i < from->field_count; i++) {
        if (strcmp(from->fields[i].name, name) == 0) return &from->fields[i];
        *position += from->fields[i].count;
    }
    return NULL;
}

static bool has_field(const ecs_field* fields, uint32_t count, const char* name) {
    for (uint32_t i = 0; i < count; i++)
        if (fields[i].name && strcmp(fields[i].name, name) == 0) return true;
    return false;
}

static void report_news(net_log_convert_news news, void* context, const char* field,
                        const char* fate) {
    if (news) news(context, field, fate);
}

static uint32_t plan_field(const net_log_component* from, const ecs_field* field,
                           const proto_row_field* row, net_log_convert_step* steps,
                           net_log_convert_news news, void* context) {
    uint32_t position;
    const char* name = field->name ? field->name : "";
    const net_log_field* source = find_field(from, name, &position);
    if (!source) {
        report_news(news, context, name, "is only here and has its default");
        return 0;
    }
    if (is_entity(source->kind) != is_entity(field->kind)) {
        report_news(news, context, name, "cannot be converted and has its default");
        return 0;
    }
    if (source->kind != field->kind)
        report_news(news, context, name, "has another kind here and is converted");
    if (source->count != field->count)
        report_news(news, context, name, "has another number of elements here");
    const uint32_t count = source->count < field->count ? source->count : field->count;
    for (uint32_t i = 0; i < count; i++)
        steps[i] = (net_log_convert_step){
            .from = (uint16_t)(position + i),
            .offset = field->offset + i * ecs_field_kind_bytes(field->kind),
            .kind = field->kind,
            .quant = row ? &row[i].quant : NULL,
        };
    return count;
}

uint32_t net_log_convert_plan(const net_log_component* from, const ecs_field* fields,
                              uint32_t field_count, const proto_row_field* row,
                              net_log_convert_step* steps, net_log_convert_news news,
                              void* context) {
    BASE_ASSERT(from && (fields || field_count == 0) && from->value_count <= UINT16_MAX);
    uint32_t count = 0;
    for (uint32_t i = 0; i < field_count; i++) {
        count += plan_field(from, &fields[i], row, steps + count, news, context);
        if (row) row += fields[i].count;
    }
    for (uint32_t i = 0; i < from->field_count; i++)
        if (!has_field(fields, field_count, from->fields[i].name))
            report_news(news, context, from->fields[i].name, "is not here and is left out");
    return count;
}

// ---- values ----

// Does the value lie outside of the range of its words, by more than rounding?
static bool is_outside(const proto_quant* quant, double value) {
    if (!quant || quant->is_exact || quant->is_angle) return false;
    const double half = quant->step * 0.5, most = quant->min + (double)quant->q_max * quant->step;
    return !(value >= quant->min - half && value <= most + half);
}

static bool convert(const net_log_convert_step* step, const ecs_number* value, void* object) {
    const bool is_clamped = ecs_number_put(step->kind, (uint8_t*)object + step->offset, value);
    if (is_entity(step->kind) || step->kind == ECS_FIELD_BOOL) return false;
    return is_clamped || is_outside(step->quant, (double)ecs_number_value(value));
}

uint32_t net_log_convert_apply(const net_log_convert_step* steps, uint32_t count,
                               const ecs_number* values, void* object) {
    uint32_t clamped = 0;
    for (uint32_t i = 0; i < count; i++)
        clamped += convert(&steps[i], &values[steps[i].from], object);
    return clamped;
}

// ---- values of a log ----

enum { NOTES_MAX = 32, VARSIZE = UINT8_MAX };

// A component that the log and the template here have.
typedef struct part {
    const net_log_component* from;
    uint8_t place;   // in the layout here; VARSIZE: of variable size
    uint32_t number; // VARSIZE: on the wire
    uint32_t step_first, step_count;
} part;

typedef struct plan {
    const char* name;               // of the log's template; one address for each
    const net_row_template* target; // NULL: it is not shown
    uint32_t part_first, part_count;
    bool has_varsize;
    bool is_same; // rows of the log are rows of the target
} plan;

// A value of variable size belongs to the incarnation that began at `since`, whatever its rows do.
typedef struct incarnation {
    ecs_entity handle;
    const plan* by;
    ecs_tick since;
    uint64_t hash; // of the values that were fed last
} incarnation;

struct net_playback_feed {
    const base_allocator* allocator;
    const char* file;
    base_reporter reporter;
    const net_log_state* state;
    bool is_same_schema;
    uint64_t clamped;
    uint64_t reported[NOTES_MAX]; // hashes of what was reported: every seek makes another world
    uint32_t reported_count;
    // of one world, to the end
    ecs_world* world;
    net_rows* rows; // its match's
    plan** plans;
    part* parts;
    net_log_convert_step* steps;
    uint32_t plan_count, plan_capacity, part_count, part_capacity, step_count, step_capacity;
    uint64_t* object; // of any component
    size_t object_bytes;
    ecs_number* values;
    uint32_t value_capacity;
    incarnation* incarnations; // by index of entity: of those with values of variable size
    uint32_t incarnation_capacity;
    uint64_t version;
};

net_result net_playback_feed_create(net_log_reader* reader, const net_log_state* state,
                                    const base_reporter* reporter, net_playback_feed** feed_out) {
    BASE_ASSERT(reader && state && feed_out);
    const base_allocator* allocator = reader->allocator;
    net_playback_feed* feed = base_allocate_zero(allocator, sizeof *feed);
    *feed_out = feed;
    if (!feed) return NET_ERR_MEMORY;
    feed->allocator = allocator;
    feed->file = reader->file;
    feed->state = state;
    if (reporter) feed->reporter = *reporter;
    return NET_OK;
}

void net_playback_feed_leave(net_playback_feed* feed) {
    const base_allocator* allocator = feed->allocator;
    for (uint32_t i = 0; i < feed->plan_count; i++)
        base_release(allocator, feed->plans[i], sizeof *feed->plans[i]);
    BASE_ARRAY_RELEASE(allocator, feed->plans, feed->plan_capacity);
    BASE_ARRAY_RELEASE(allocator, feed->parts, feed->part_capacity);
    BASE_ARRAY_RELEASE(allocator, feed->steps, feed->step_capacity);
    BASE_ARRAY_RELEASE(allocator, feed->incarnations, feed->incarnation_capacity);
    if (feed->object) base_release(allocator, feed->object, feed->object_bytes);
    BASE_ARRAY_RELEASE(allocator, feed->values, feed->value_capacity);
    const size_t first = offsetof(net_playback_feed, world);
    memset((uint8_t*)feed + first, 0, sizeof *feed - first);
}

void net_playback_feed_destroy(net_playback_feed* feed) {
    if (!feed) return;
    net_playback_feed_leave(feed);
    base_release(feed->allocator, feed, sizeof *feed);
}

// ---- what differs ----

typedef struct reporting {
    net_playback_feed* feed;
    const char* component;
} reporting;

__attribute__((format(printf, 2, 3))) static void report(net_playback_feed* feed,
                                                         const char* format, ...) {
    char text[512];
    va_list arguments;
    va_start(arguments, format);
    (void)vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    const uint64_t hash = base_hash64_text(text);
    for (uint32_t i = 0; i < feed->reported_count; i++)
        if (feed->reported[i] == hash) return;
    if (feed->reported_count == NOTES_MAX) return;
    feed->reported[feed->reported_count++] = hash;
    base_report(&feed->reporter, feed->file, 0, "warning: %s", text);
}

static void report_field(void* context, const char* field, const char* fate) {
    const reporting* to = context;
    report(to->feed, "field %s of component %s %s", field, to->component, fate);
}

static const ecs_type* type_of(const net_playback_feed* feed, ecs_component_id id) {
    return ecs_type_get(feed->world, ecs_component_get(feed->world, id)->type);
}

static void compare_component(net_playback_feed* feed, const net_log_component* from,
                              const ecs_type* type) {
    reporting to = {feed, from->name};
    net_log_convert_step steps[PROTO_ROW_FIELDS_MAX];
    uint32_t elements = 0;
    for (uint32_t i = 0; i < type->field_count; i++)
        elements += type->fields[i].count;
    if (from->is_varsize != ecs_type_is_varsize(type) || elements > BASE_COUNT(steps))
        report(feed, "component %s is of another form here and is left out", from->name);
    else if (!from->is_varsize)
        (void)net_log_convert_plan(from, type->fields, type->field_count, NULL, steps, report_field,
                                   &to);
}

// Each component once, whether an entity has it or not.
static net_result compare_components(net_playback_feed* feed) {
    uint32_t most = 0;
    for (uint32_t i = 0; i < net_log_state_component_count(feed->state); i++) {
        const net_log_component* from = net_log_state_component(feed->state, i);
        if (from->value_count > most) most = from->value_count;
        const ecs_component_id id = ecs_component_find(feed->world, from->name);
        if (id == ECS_COMPONENT_NONE) {
            report(feed, "component %s of the log is not here and is left out", from->name);
            continue;
        }
        compare_component(feed, from, type_of(feed, id));
    }
    return BASE_ARRAY_RESERVE(feed->allocator, feed->values, feed->value_capacity, most + 1)
               ? NET_OK
               : NET_ERR_MEMORY;
}

static net_result make_object(net_playback_feed* feed) {
    feed->object_bytes = sizeof(uint64_t);
    for (uint32_t id = 1; id <= ecs_component_count(feed->world); id++) {
        const ecs_type* type = type_of(feed, (ecs_component_id)id);
        if (type && type->object_size > feed->object_bytes) feed->object_bytes = type->object_size;
    }
    feed->object = base_allocate_zero(feed->allocator, feed->object_bytes);
    return feed->object ? NET_OK : NET_ERR_MEMORY;
}

net_result net_playback_feed_enter(net_playback_feed* feed, net_match* match, bool is_same_schema) {
    BASE_ASSERT(feed && match && !feed->world);
    feed->is_same_schema = is_same_schema;
    feed->world = net_match_world(match);
    feed->rows = net_schema_rows(net_match_schema(match));
    net_result result = make_object(feed);
    if (result == NET_OK) result = compare_components(feed);
    return result;
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

static const net_log_component* find_component(const net_playback_feed* feed, ecs_entity entity,
                                               const char* name) {
    const net_log_component* component;
    for (uint32_t i = 0;
         (component = net_log_state_template_component(feed->state, entity, i)) != NULL; i++)
        if (strcmp(component->name, name) == 0) return component;
    return NULL;
}

static bool add_part(net_playback_feed* feed, plan* made, part added) {
    if (!BASE_ARRAY_RESERVE(feed->allocator, feed->parts, feed->part_capacity,
                            feed->part_count + 1))
        return false;
    feed->parts[feed->part_count++] = added;
    made->part_count++;
    return true;
}

static bool add_row_part(net_playback_feed* feed, plan* made, ecs_entity entity, uint32_t place) {
    const proto_layout* layout = &made->target->layout;
    const proto_row_component* component = &layout->components[place];
    const ecs_component_id id = (ecs_component_id)component->key;
    const char* name = ecs_component_get(feed->world, id)->name;
    const net_log_component* from = find_component(feed, entity, name);
    if (!from)
        report(feed, "component %s of template %s is not in the log and has its default", name,
               made->name);
    if (!from || from->is_varsize) return true;
    const ecs_type* type = type_of(feed, id);
    const proto_row_field* row =
        component->is_rotation ? NULL : &layout->fields[component->field_first];
    if (!BASE_ARRAY_RESERVE(feed->allocator, feed->steps, feed->step_capacity,
                            feed->step_count + PROTO_ROW_FIELDS_MAX))
        return false;
    part added = {.from = from, .place = (uint8_t)place, .step_first = feed->step_count};
    added.step_count = net_log_convert_plan(from, type->fields, type->field_count, row,
                                            feed->steps + feed->step_count, NULL, NULL);
    feed->step_count += added.step_count;
    return add_part(feed, made, added);
}

static bool add_varsize_part(net_playback_feed* feed, plan* made, ecs_entity entity,
                             const net_row_varsize* varsize) {
    const ecs_component_id id = varsize->component;
    const net_log_component* from =
        find_component(feed, entity, ecs_component_get(feed->world, id)->name);
    if (!from || !from->is_varsize) return true;
    if (strcmp(from->type, type_of(feed, id)->name) != 0) {
        report(feed, "component %s has another type here and has its default", from->name);
        return true;
    }
    made->has_varsize = true;
    return add_part(feed, made, (part){.from = from, .place = VARSIZE, .number = varsize->number});
}

// Components that are here, but not in the rows of this template.
static void report_unused(net_playback_feed* feed, const plan* made, ecs_entity entity) {
    const net_log_component* component;
    for (uint32_t i = 0;
         (component = net_log_state_template_component(feed->state, entity, i)) != NULL; i++) {
        bool is_used = ecs_component_find(feed->world, component->name) == ECS_COMPONENT_NONE;
        for (uint32_t k = 0; k < made->part_count; k++)
            is_used = is_used || feed->parts[made->part_first + k].from == component;
        if (!is_used)
            report(feed, "component %s of template %s is not replicated here and is left out",
                   component->name, made->name);
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

// The plan of an entity's template. NULL: memory ran out.
static const plan* find_plan(net_playback_feed* feed, ecs_entity entity) {
    const char* name = net_log_state_template(feed->state, entity);
    BASE_ASSERT(name);
    for (uint32_t i = 0; i < feed->plan_count; i++)
        if (feed->plans[i]->name == name) return feed->plans[i];
    if (!BASE_ARRAY_RESERVE(feed->allocator, feed->plans, feed->plan_capacity,
                            feed->plan_count + 1))
        return NULL;
    plan* made = base_allocate_zero(feed->allocator, sizeof *made);
    if (!made) return NULL;
    feed->plans[feed->plan_count++] = made;
    *made = (plan){.name = name, .part_first = feed->part_count};
    made->target = find_target(feed, name);
    bool has_room = true;
    for (uint32_t i = 0; made->target && has_room && i < made->target->layout.component_count; i++)
        has_room = add_row_part(feed, made, entity, i);
    for (uint32_t i = 0; made->target && has_room && i < made->target->varsize_count; i++)
        has_room = add_varsize_part(feed, made, entity, &made->target->varsizes[i]);
    if (!has_room) {
        feed->plan_count--;
        base_release(feed->allocator, made, sizeof *made);
        return NULL;
    }
    if (made->target) report_unused(feed, made, entity);
    made->is_same = feed->is_same_schema && made->target &&
                    is_same_layout(&net_log_state_row(feed->state, entity, NULL)->layout,
                                   &made->target->layout);
    return made;
}

// ---- rows ----

static void feed_row(net_playback_feed* feed, const plan* by, ecs_entity entity, net_scene* scene) {
    const proto_layout* layout = &by->target->layout;
    uint64_t row[PROTO_ROW_FIELDS_MAX];
    if (by->is_same) {
        (void)net_log_state_row(feed->state, entity, row);
        net_scene_row(scene, entity, by->target, net_log_state_tick(feed->state), row);
        return;
    }
    memcpy(row, by->target->defaults, layout->field_count * sizeof *row);
    for (uint32_t i = 0; i < by->part_count; i++) {
        const part* at = &feed->parts[by->part_first + i];
        if (at->place == VARSIZE) continue;
        bool is_read = net_log_state_read(feed->state, entity, at->from, feed->values);
        BASE_ASSERT(is_read);
        memset(feed->object, 0, feed->object_bytes);
        proto_row_write_component(layout, at->place, row, feed->object);
        feed->clamped += net_log_convert_apply(feed->steps + at->step_first, at->step_count,
                                               feed->values, feed->object);
        proto_row_read_component(layout, at->place, feed->object, row);
    }
    net_scene_row(scene, entity, by->target, net_log_state_tick(feed->state), row);
}

// The incarnation at an entity's index. NULL: memory ran out.
static incarnation* find_incarnation(net_playback_feed* feed, const plan* by, ecs_entity entity) {
    const uint32_t index = ecs_entity_index(entity), before = feed->incarnation_capacity;
    if (!BASE_ARRAY_RESERVE(feed->allocator, feed->incarnations, feed->incarnation_capacity,
                            index + 1))
        return NULL;
    memset(feed->incarnations + before, 0,
           (feed->incarnation_capacity - before) * sizeof *feed->incarnations);
    incarnation* found = &feed->incarnations[index];
    if (found->handle != entity || found->by != by)
        *found = (incarnation){entity, by, net_log_state_tick(feed->state), 0};
    return found;
}

// Values of variable size are not among the touches: what was fed last is known by its hash.
static net_result feed_varsize(net_playback_feed* feed, const plan* by, ecs_entity entity,
                               net_scene* scene) {
    incarnation* of = find_incarnation(feed, by, entity);
    if (!of) return NET_ERR_MEMORY;
    uint64_t hash = entity;
    for (uint32_t pass = 0; pass < 2; pass++) {
        for (uint32_t i = 0; i < by->part_count; i++) {
            const part* at = &feed->parts[by->part_first + i];
            size_t size;
            if (at->place != VARSIZE) continue;
            const uint8_t* bytes = net_log_state_bytes(feed->state, entity, at->from, &size);
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
            if (net_scene_varsize(scene, &message) == NET_ERR_MEMORY) return NET_ERR_MEMORY;
        }
        if (of->hash == hash) return NET_OK;
    }
    of->hash = hash;
    return NET_OK;
}

static net_result feed_touched(net_playback_feed* feed, net_scene* scene) {
    uint32_t count;
    const net_log_touch* touches = net_log_state_touches(feed->state, &count);
    for (uint32_t i = 0; i < count; i++) {
        if (touches[i].fate == NET_LOG_FATE_DESTROYED) {
            net_scene_gone(scene, touches[i].entity, net_log_state_tick(feed->state));
            continue;
        }
        const plan* by = find_plan(feed, touches[i].entity);
        if (!by) return NET_ERR_MEMORY;
        if (by->target) feed_row(feed, by, touches[i].entity, scene);
    }
    return NET_OK;
}

net_result net_playback_feed_give(net_playback_feed* feed, net_scene* scene, bool is_first) {
    BASE_ASSERT(feed->world);
    net_result result = is_first ? NET_OK : feed_touched(feed, scene);
    bool has_varsize = is_first;
    for (uint32_t i = 0; i < feed->plan_count; i++)
        has_varsize = has_varsize || feed->plans[i]->has_varsize;
    for (ecs_entity entity = ECS_ENTITY_NONE;
         has_varsize && result == NET_OK &&
         (entity = net_log_state_next(feed->state, entity)) != ECS_ENTITY_NONE;) {
        const plan* by = find_plan(feed, entity);
        if (!by) return NET_ERR_MEMORY;
        if (is_first && by->target) feed_row(feed, by, entity, scene);
        if (by->target && by->has_varsize) result = feed_varsize(feed, by, entity, scene);
    }
    net_scene_packet(scene, net_log_state_tick(feed->state));
    return result;
}

uint64_t net_playback_feed_clamped(const net_playback_feed* feed) {
    return feed->clamped;
}
