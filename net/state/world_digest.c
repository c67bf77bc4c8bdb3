// SPDX-License-Identifier: MIT
// The world digest: it proves that two worlds are equal, without the machinery that it proves.
//
// It walks the world itself, not history, replication states or mirrors, and quantises what it
// finds there. So it shows a fault anywhere between the server's components and the client's.
// Entities rise by index, components rise by name (as in the row), and a component is hashed as its
// quantised elements, bit-packed. Local entities of a client (indices above the replicated range)
// are left out.
//
// The text is the same walk with the values as the quantised words give them back: two dumps differ
// exactly where the hashes do, and `diff` names entity, component and field.

#include "core/fault.h"
#include "state/world_digest.h"
#include "state/varsize.h"
#include "state/schema.h"

#include "base/assert.h"
#include "base/float_mode.h"
#include "base/hash.h"
#include "base/text.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

enum { ROW_BYTES_MAX = PROTO_ROW_FIELDS_MAX * 8 };

// @return bytes of the packed component.
static size_t hash_component(base_hasher* hasher, const proto_layout* layout, uint32_t component,
                             const uint64_t* row, const char* name) {
    uint8_t packed[ROW_BYTES_MAX];
    proto_bit_writer writer = proto_bit_writer_make(packed, sizeof packed);
    uint32_t first = layout->components[component].field_first;
    uint32_t end = first + layout->components[component].field_count;
    for (uint32_t f = first; f < end; f++)
        proto_bits_write(&writer, row[f], layout->fields[f].quant.bits);
    BASE_ASSERT(!writer.failed);
    size_t size = proto_bit_writer_bytes(&writer);
    base_hasher_add(hasher, name, strlen(name) + 1);
    base_hasher_add(hasher, packed, size);
    return size;
}

static void write_value(base_bytes* text, const proto_quant* quant, uint64_t q) {
    _Alignas(8) uint8_t memory[8] = {0};
    proto_dequantise(quant, q, memory);
    char number[40];
    switch (quant->kind) {
    case PROTO_F32: {
        float value;
        memcpy(&value, memory, sizeof value);
        (void)base_text_format(number, sizeof number, "%.9g", (double)value);
        break;
    }
    case PROTO_F64: {
        double value;
        memcpy(&value, memory, sizeof value);
        (void)base_text_format(number, sizeof number, "%.17g", value);
        break;
    }
    case PROTO_ENTITY: {
        ecs_entity value;
        memcpy(&value, memory, sizeof value);
        snprintf(number, sizeof number, "%" PRIu32 ":%" PRIu32, ecs_entity_index(value),
                 ecs_entity_generation(value));
        break;
    }
    default: {
        uint64_t raw;
        memcpy(&raw, memory, sizeof raw); // little-endian, as rows are
        uint32_t unused = 64 - 8 * proto_kind_bytes(quant->kind);
        if (quant->kind >= PROTO_I8 && quant->kind <= PROTO_I64)
            snprintf(number, sizeof number, "%" PRId64, (int64_t)(raw << unused) >> unused);
        else
            snprintf(number, sizeof number, "%" PRIu64, raw);
    }
    }
    base_bytes_write(text, number, strlen(number));
}

static void write_text(base_bytes* text, const char* part) {
    base_bytes_write(text, part, strlen(part));
}

static void write_entity(base_bytes* text, ecs_entity entity, const char* template_name) {
    char head[32];
    base_bytes_clear(text);
    snprintf(head, sizeof head, "entity=%" PRIu32 ":%" PRIu32, ecs_entity_index(entity),
             ecs_entity_generation(entity));
    write_text(text, head);
    write_text(text, " template=");
    write_text(text, template_name);
}

static void write_component(base_bytes* text, const ecs_world* world, const proto_layout* layout,
                            uint32_t component, const uint64_t* row) {
    const ecs_component* known =
        ecs_component_get(world, (ecs_component_id)layout->components[component].key);
    const ecs_type* type = ecs_type_get(world, known->type);
    uint32_t word = layout->components[component].field_first;
    write_text(text, " component=");
    write_text(text, known->name);
    for (uint32_t i = 0; i < type->field_count; i++) {
        for (uint32_t k = 0; k < type->fields[i].count; k++, word++) {
            char position[16] = "";
            if (type->fields[i].count > 1) snprintf(position, sizeof position, "[%" PRIu32 "]", k);
            write_text(text, " ");
            write_text(text, type->fields[i].name);
            write_text(text, position);
            write_text(text, "=");
            write_value(text, &layout->fields[word].quant, row[word]);
        }
    }
}

typedef struct scope_walk {
    net_world_digest scope;
    base_hasher hasher;
    base_bytes text, value;
    ecs_world* world;
    const net_digest_source* source; // NULL: the world's own entities
    ecs_line_fn line;
    void* context;
} scope_walk;

static void emit_line(scope_walk* walk) {
    base_bytes_write_u8(&walk->text, 0);
    walk->line(walk->context, (char*)walk->text.data);
}

static void visit_field(scope_walk* walk, ecs_entity entity, const net_row_template* row_template,
                        uint32_t c, const uint64_t* row) {
    ecs_component_id id = (ecs_component_id)row_template->layout.components[c].key;
    walk->scope.components++;
    walk->scope.bytes += hash_component(&walk->hasher, &row_template->layout, c, row,
                                        ecs_component_get(walk->world, id)->name);
    if (!walk->line) return;
    write_entity(&walk->text, entity, ecs_template_get(walk->world, row_template->id)->name);
    write_component(&walk->text, walk->world, &row_template->layout, c, row);
    emit_line(walk);
}

// The readable text of a value, cut, then its length and hash.
static void write_varsize(scope_walk* walk, const net_row_template* row_template, ecs_entity entity,
                          ecs_component_id id, bool is_own) {
    char shown[256] = "";
    const ecs_component* known = ecs_component_get(walk->world, id);
    const void* value =
        is_own ? ecs_get(walk->world, entity, id)
               : ecs_template_find_component(ecs_template_get(walk->world, row_template->id), id)
                     ->value;
    bool is_whole = !value || ecs_type_format(ecs_type_get(walk->world, known->type), value, shown,
                                              sizeof shown);
    char tail[64];
    snprintf(tail, sizeof tail, "%s bytes=%zu hash=%016" PRIx64, is_whole ? "" : "...",
             walk->value.size, base_hash64(walk->value.data, walk->value.size, 0));
    write_text(&walk->text, " component=");
    write_text(&walk->text, known->name);
    write_text(&walk->text, " value=");
    write_text(&walk->text, shown);
    write_text(&walk->text, tail);
}

static void visit_varsize(scope_walk* walk, ecs_entity entity, const net_row_template* row_template,
                          const net_row_varsize* varsize, uint32_t classes) {
    const char* name = ecs_component_get(walk->world, varsize->component)->name;
    base_bytes_clear(&walk->value);
    bool is_own = (classes >> varsize->class_ & 1) != 0;
    bool is_default = !is_own;
    if (walk->source)
        is_default =
            !walk->source->value(walk->source->context, entity, varsize->component, &walk->value);
    else if (is_own)
        is_own = net_varsize_write_sent(walk->world, row_template, entity, varsize->component,
                                        &walk->value);
    if (is_default)
        net_varsize_write_default(walk->world, row_template, varsize->component, &walk->value);
    walk->scope.components++;
    walk->scope.bytes += walk->value.size;
    base_hasher_add(&walk->hasher, name, strlen(name) + 1);
    base_hasher_add(&walk->hasher, walk->value.data, walk->value.size);
    if (!walk->line) return;
    write_entity(&walk->text, entity, ecs_template_get(walk->world, row_template->id)->name);
    write_varsize(walk, row_template, entity, varsize->component, is_own);
    emit_line(walk);
}

static const char* name_of(const scope_walk* walk, ecs_component_id id) {
    return ecs_component_get(walk->world, id)->name;
}

static void visit(scope_walk* walk, ecs_entity entity, const net_row_template* row_template,
                  uint64_t* row, uint32_t classes) {
    const proto_layout* layout = &row_template->layout;
    const char* name = ecs_template_get(walk->world, row_template->id)->name;
    if (!net_fault_is_planted(NET_FAULT_WALK_OTHER)) net_rows_mask(row_template, classes, row);
    walk->scope.entities++;
    uint8_t bytes[4];
    base_store_le32(bytes, entity);
    base_hasher_add(&walk->hasher, bytes, sizeof bytes);
    base_hasher_add(&walk->hasher, name, strlen(name) + 1);
    uint32_t varsize = 0;
    for (uint32_t c = 0; c <= layout->component_count; c++) {
        bool is_end = c == layout->component_count;
        const char* next =
            is_end ? NULL : name_of(walk, (ecs_component_id)layout->components[c].key);
        while (
            varsize < row_template->varsize_count &&
            (!next || strcmp(name_of(walk, row_template->varsizes[varsize].component), next) < 0))
            visit_varsize(walk, entity, row_template, &row_template->varsizes[varsize++], classes);
        if (!is_end) visit_field(walk, entity, row_template, c, row);
    }
}

static scope_walk begin_walk(ecs_world* world, ecs_line_fn line, void* context) {
    scope_walk walk = {.world = world, .line = line, .context = context};
    base_hasher_init(&walk.hasher, 0);
    base_bytes_init(&walk.text, NULL);
    base_bytes_init(&walk.value, NULL);
    return walk;
}

static net_world_digest end_walk(scope_walk* walk) {
    walk->scope.hash = base_hasher_end(&walk->hasher);
    base_bytes_deinit(&walk->text);
    base_bytes_deinit(&walk->value);
    return walk->scope;
}

static void visit_seen(scope_walk* walk, const net_schema* schema, ecs_entity entity,
                       net_world_digest_classes_fn classes, void* context) {
    const net_row_template* row_template =
        net_rows_find(net_schema_rows(schema), ecs_entity_template(walk->world, entity));
    const uint32_t seen = !row_template ? 0 : classes ? classes(context, entity) : UINT32_MAX;
    if (!seen) return;
    uint64_t row[PROTO_ROW_FIELDS_MAX];
    net_rows_read(row_template, walk->world, entity, row);
    visit(walk, entity, row_template, row, seen);
}

net_world_digest net_world_digest_walk_seen(const net_schema* schema, ecs_world* world,
                                            net_world_digest_classes_fn classes,
                                            void* classes_context, ecs_line_fn line,
                                            void* context) {
    BASE_FLOAT_MODE_HELD const base_float_mode host = base_float_mode_set();
    BASE_ASSERT(schema && world);
    scope_walk walk = begin_walk(world, line, context);
    uint32_t index_max = ecs_world_limits(world)->replicated_index_max;
    for (ecs_entity entity = ecs_entity_next(world, ECS_ENTITY_NONE); entity != ECS_ENTITY_NONE;
         entity = ecs_entity_next(world, entity)) {
        if (ecs_entity_index(entity) > index_max) break;
        visit_seen(&walk, schema, entity, classes, classes_context);
    }
    return end_walk(&walk);
}

net_world_digest net_world_digest_walk_list(const net_schema* schema, ecs_world* world,
                                            const ecs_entity* entities, uint32_t count,
                                            net_world_digest_classes_fn classes, void* context) {
    BASE_FLOAT_MODE_HELD const base_float_mode host = base_float_mode_set();
    BASE_ASSERT(schema && world && (entities || count == 0) && classes);
    scope_walk walk = begin_walk(world, NULL, NULL);
    for (uint32_t i = 0; i < count; i++) {
        BASE_ASSERT(i == 0 || ecs_entity_index(entities[i]) > ecs_entity_index(entities[i - 1]));
        if (ecs_is_alive(world, entities[i]))
            visit_seen(&walk, schema, entities[i], classes, context);
    }
    return end_walk(&walk);
}

net_world_digest net_world_digest_walk(const net_schema* schema, ecs_world* world, ecs_line_fn line,
                                       void* context) {
    return net_world_digest_walk_seen(schema, world, NULL, NULL, line, context);
}

net_world_digest net_digest_source_walk(const net_digest_source* source, ecs_world* world) {
    BASE_ASSERT(source && world);
    scope_walk walk = begin_walk(world, NULL, NULL);
    walk.source = source;
    for (ecs_entity entity = source->next(source->context, ECS_ENTITY_NONE);
         entity != ECS_ENTITY_NONE; entity = source->next(source->context, entity)) {
        uint64_t row[PROTO_ROW_FIELDS_MAX];
        const net_row_template* row_template = source->row(source->context, entity, row);
        visit(&walk, entity, row_template, row, UINT32_MAX);
    }
    return end_walk(&walk);
}

net_world_digest net_world_digest_empty(void) {
    base_hasher hasher;
    base_hasher_init(&hasher, 0);
    return (net_world_digest){.hash = base_hasher_end(&hasher)};
}

uint64_t net_world_digest_row_hash(const net_schema* schema, ecs_world* world, ecs_entity entity) {
    if (!ecs_is_alive(world, entity)) return 0;
    const net_row_template* row_template =
        net_rows_find(net_schema_rows(schema), ecs_entity_template(world, entity));
    if (!row_template) return 0;
    uint64_t row[PROTO_ROW_FIELDS_MAX];
    net_rows_read(row_template, world, entity, row);
    return net_row_hash(row_template, row);
}

bool net_world_digest_row_has_hash(const net_schema* schema, ecs_world* world, ecs_entity entity,
                                   uint64_t hash) {
    if (!ecs_is_alive(world, entity)) return false;
    const net_row_template* row_template =
        net_rows_find(net_schema_rows(schema), ecs_entity_template(world, entity));
    if (!row_template) return false;
    uint64_t row[PROTO_ROW_FIELDS_MAX], masked[PROTO_ROW_FIELDS_MAX];
    net_rows_read(row_template, world, entity, row);
    uint32_t hidden_max = row_template->class_mask & ~(1u << NET_CLASS_PUBLIC);
    // All subsets of what may be hidden, the empty one first.
    for (uint32_t hidden = 0;; hidden = (hidden - hidden_max) & hidden_max) {
        memcpy(masked, row, row_template->layout.field_count * sizeof *row);
        net_rows_mask(row_template, ~hidden, masked);
        if (net_row_hash(row_template, masked) == hash) return true;
        if (hidden == hidden_max) return false;
    }
}
