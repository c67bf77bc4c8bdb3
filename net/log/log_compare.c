// SPDX-License-Identifier: MIT
// Values are compared by names of components and fields, as a log has them: quantised. What differs
// by less than a quantum, and what has no values in the log, shows in the sums alone.
#include "log/log_compare.h"

#include "base/assert.h"
#include "base/text.h"
#include "ecs/entity.h"
#include "ecs/save.h"
#include "log/log_recorder.h"
#include "log/log_sums.h"
#include "log/log_state_record.h"
#include "state/schema.h"
#include "state/varsize.h"

#include <inttypes.h>
#include <string.h>

typedef struct comparison {
    const net_log_state* state;
    net_match* match;
    ecs_world* world;
    net_rows* rows;
    net_verify_result* result;
} comparison;

static bool tell(const comparison* self, ecs_entity entity, const char* component,
                 const char* note) {
    self->result->entity = entity;
    (void)base_text_copy(self->result->component, sizeof self->result->component, component);
    (void)base_text_copy(self->result->note, sizeof self->result->note, note);
    return true;
}

// The value of one word of a row of the world.
static net_log_value value_here(const net_row_template* row_template,
                                const proto_row_component* component, const uint64_t* row,
                                uint32_t element) {
    const proto_layout* layout = &row_template->layout;
    if (component->is_rotation) {
        float parts[PROTO_ROTATION_WORDS];
        uint64_t words[PROTO_ROW_FIELDS_MAX];
        memcpy(words, row, layout->field_count * sizeof *row);
        // Offsets of a rotation are those of its memory: four floats.
        proto_row_write_component(layout, (uint32_t)(component - layout->components), words, parts);
        return net_log_value_make(ECS_FIELD_F32, &parts[element]);
    }
    const proto_quant* quant = &layout->fields[component->field_first + element].quant;
    uint64_t memory = 0;
    proto_dequantise(quant, row[component->field_first + element], &memory);
    return net_log_value_make((ecs_field_kind)quant->kind, &memory);
}

static void name_field(const net_log_component* component, uint32_t element, char* name,
                       size_t name_bytes) {
    for (uint32_t i = 0; i < component->field_count; i++) {
        const net_log_field* field = &component->fields[i];
        if (element >= field->count) {
            element -= field->count;
            continue;
        }
        if (field->count == 1)
            (void)base_text_copy(name, name_bytes, field->name);
        else
            (void)base_text_format(name, name_bytes, "%s[%u]", field->name, element);
        return;
    }
}

static bool differ_in_fields(const comparison* self, ecs_entity entity,
                             const net_log_component* component,
                             const net_row_template* row_template, uint32_t place,
                             const uint64_t* row) {
    net_log_value values[PROTO_ROW_FIELDS_MAX];
    const proto_row_component* own = &row_template->layout.components[place];
    if (component->value_count != own->field_count ||
        !net_log_state_read(self->state, entity, component, values))
        return tell(self, entity, component->name, "it has other fields");
    for (uint32_t i = 0; i < own->field_count; i++) {
        net_log_value here = value_here(row_template, own, row, i);
        if (net_log_value_equal(&here, &values[i])) continue;
        net_verify_result* result = self->result;
        name_field(component, i, result->field, sizeof result->field);
        net_log_value_text(&values[i], result->log_value, sizeof result->log_value);
        net_log_value_text(&here, result->value, sizeof result->value);
        return tell(self, entity, component->name, "");
    }
    return false;
}

static bool differ_in_bytes(const comparison* self, ecs_entity entity,
                            const net_log_component* component, ecs_component_id id) {
    base_bytes here;
    base_bytes_init(&here, net_match_get_config(self->match)->allocator);
    net_varsize_write(self->world, entity, id, &here);
    size_t size;
    const uint8_t* there = net_log_state_bytes(self->state, entity, component, &size);
    bool is_same = !here.failed && there && size == here.size &&
                   (size == 0 || memcmp(there, here.data, size) == 0);
    // A value that is too long for a client is not in the log.
    bool is_skipped = here.failed || here.size > NET_LOG_STATE_VALUE_BYTES_MAX;
    if (!is_same && !is_skipped) {
        net_verify_result* result = self->result;
        (void)base_text_format(result->log_value, sizeof result->log_value, "%zu bytes", size);
        (void)base_text_format(result->value, sizeof result->value, "%zu bytes", here.size);
        (void)tell(self, entity, component->name, "a value of variable size");
    }
    base_bytes_deinit(&here);
    return !is_same && !is_skipped;
}

static bool differ_in_component(const comparison* self, ecs_entity entity,
                                const net_log_component* component,
                                const net_row_template* row_template, const uint64_t* row) {
    const proto_layout* layout = &row_template->layout;
    for (uint32_t i = 0; i < layout->component_count; i++) {
        ecs_component_id id = (ecs_component_id)layout->components[i].key;
        if (strcmp(ecs_component_get(self->world, id)->name, component->name) == 0)
            return differ_in_fields(self, entity, component, row_template, i, row);
    }
    for (uint32_t i = 0; i < row_template->varsize_count; i++) {
        ecs_component_id id = row_template->varsizes[i].component;
        if (strcmp(ecs_component_get(self->world, id)->name, component->name) == 0)
            return differ_in_bytes(self, entity, component, id);
    }
    return tell(self, entity, component->name, "only the log's entity has the component");
}

static bool differ_in_entity(const comparison* self, ecs_entity entity) {
    const net_row_template* row_template =
        net_rows_find(self->rows, ecs_entity_template(self->world, entity));
    if (!row_template) return false;
    const char* name = net_log_state_template(self->state, entity);
    if (!name) return tell(self, entity, "-", "only the re-run has the entity");
    const char* here = ecs_template_get(self->world, row_template->id)->name;
    if (strcmp(name, here) != 0) {
        (void)base_text_copy(self->result->log_value, sizeof self->result->log_value, name);
        (void)base_text_copy(self->result->value, sizeof self->result->value, here);
        return tell(self, entity, "-", "its template");
    }
    uint64_t row[PROTO_ROW_FIELDS_MAX];
    net_rows_read(row_template, self->world, entity, row);
    const net_log_component* component;
    for (uint32_t i = 0;
         (component = net_log_state_template_component(self->state, entity, i)) != NULL; i++)
        if (differ_in_component(self, entity, component, row_template, row)) return true;
    return false;
}

// By rising index: entities of the world, and those that only the log has.
static bool differ_in_rows(const comparison* self) {
    uint32_t index_max = ecs_world_limits(self->world)->replicated_index_max;
    for (ecs_entity at = ecs_entity_next(self->world, ECS_ENTITY_NONE);
         at != ECS_ENTITY_NONE && ecs_entity_index(at) <= index_max;
         at = ecs_entity_next(self->world, at))
        if (differ_in_entity(self, at)) return true;
    for (ecs_entity at = net_log_state_next(self->state, ECS_ENTITY_NONE); at != ECS_ENTITY_NONE;
         at = net_log_state_next(self->state, at))
        if (!ecs_is_alive(self->world, at))
            return tell(self, at, "-", "only the log has the entity");
    return false;
}

static bool differ_in_sums(const comparison* self) {
    uint64_t sums[ECS_COMPONENTS_MAX + 1];
    net_log_sums_of(self->world, net_log_state_untracked_values(self->state), sums);
    for (uint32_t i = 0; i < net_log_state_component_count(self->state); i++) {
        const net_log_component* component = net_log_state_component(self->state, i);
        if (component->id > ecs_component_count(self->world)) continue;
        uint64_t sum = sums[component->id];
        uint32_t there = net_log_state_sum(self->state, component->id);
        if ((sum & NET_LOG_SUM_MASK) == there) continue;
        const char* note = "its sum; the log has no values of it, or none so exact";
        return tell(self, ECS_ENTITY_NONE, component->name, note);
    }
    return false;
}

bool net_log_compare(const net_log_state* state, net_match* match, net_verify_result* result) {
    BASE_ASSERT(state && match && result);
    BASE_ASSERT(net_log_state_tick(state) == net_match_tick(match));
    comparison self = {.state = state,
                       .match = match,
                       .world = net_match_world(match),
                       .rows = net_schema_rows(net_match_schema(match)),
                       .result = result};
    if (net_log_state_is_whole(state) && differ_in_rows(&self)) return true;
    return differ_in_sums(&self);
}
