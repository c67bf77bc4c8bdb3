// SPDX-License-Identifier: MIT
// The list shows which entity and component diverged, so each entry has 16 bits of the value's
// hash. Both runs list changes in the world's order, so the first entry that differs is what went
// wrong first.
//
// A tick that changes very much writes one sum per component instead: the component is still found.
#include "log/log_changes.h"

#include "base/assert.h"
#include "ecs/change.h"
#include "ecs/entity.h"
#include "ecs/save.h"

enum { FORM_LIST = 1, FORM_SUMS = 2, SECTION_RUNS = 3 };

static uint32_t zigzag(uint32_t value) {
    return value << 1 ^ (uint32_t)((int32_t)value >> 31);
}

static uint32_t unzigzag(uint32_t value) {
    return value >> 1 ^ (0u - (value & 1));
}

static void write_values(proto_pb_writer* wire, const ecs_world* world, ecs_entity entity,
                         const ecs_template* template_) {
    uint32_t count = 0;
    for (uint32_t i = 0; i < template_->component_count; i++)
        count += (template_->components[i].flags & ECS_COMPONENT_TRACKED) != 0;
    proto_pb_write_varint(wire, count);
    for (uint32_t i = 0; i < template_->component_count; i++) {
        const ecs_template_component* component = &template_->components[i];
        if (!(component->flags & ECS_COMPONENT_TRACKED)) continue;
        proto_pb_write_raw(wire, ecs_component_hash(world, entity, component->component), 2);
    }
}

static void write_structure(proto_pb_writer* wire, const ecs_world* world,
                            const ecs_entity* entities, uint32_t count) {
    proto_pb_write_varint(wire, count);
    for (uint32_t i = 0; i < count && !wire->failed; i++) {
        proto_pb_write_varint(wire, entities[i]);
        const ecs_template* template_ =
            ecs_is_alive(world, entities[i])
                ? ecs_template_get(world, ecs_entity_template(world, entities[i]))
                : NULL;
        proto_pb_write_varint(wire, template_ ? template_->part_count : 0);
        for (uint32_t part = 0; template_ && part < template_->part_count; part++)
            proto_pb_write_varint(wire, template_->parts[part]);
        if (template_)
            write_values(wire, world, entities[i], template_);
        else
            proto_pb_write_varint(wire, 0);
    }
}

static uint32_t run_length(const ecs_changes* changes, uint32_t from) {
    uint32_t to = from;
    while (to < changes->changed_count &&
           changes->changed[to].component == changes->changed[from].component)
        to++;
    return to - from;
}

static void write_runs(proto_pb_writer* wire, const ecs_world* world, const ecs_changes* changes) {
    for (uint32_t at = 0; at < changes->changed_count && !wire->failed;) {
        uint32_t count = run_length(changes, at);
        proto_pb_write_varint(wire, changes->changed[at].component);
        proto_pb_write_varint(wire, count);
        ecs_entity before = 0;
        for (uint32_t end = at + count; at < end && !wire->failed; at++) {
            const ecs_change* change = &changes->changed[at];
            bool is_there = ecs_find(world, change->entity, change->component) != NULL;
            proto_pb_write_varint(wire, zigzag(change->entity - before));
            proto_pb_write_raw(
                wire, is_there ? ecs_component_hash(world, change->entity, change->component) : 0,
                2);
            before = change->entity;
        }
    }
}

static void write_list(proto_pb_writer* wire, const ecs_world* world) {
    ecs_changes changes = ecs_changes_get(world);
    proto_pb_write_varint(wire, FORM_LIST);
    write_structure(wire, world, changes.created, changes.created_count);
    proto_pb_write_varint(wire, changes.destroyed_count);
    for (uint32_t i = 0; i < changes.destroyed_count && !wire->failed; i++)
        proto_pb_write_varint(wire, changes.destroyed[i]);
    write_structure(wire, world, changes.recreated, changes.recreated_count);
    write_runs(wire, world, &changes);
}

static void write_sums(proto_pb_writer* wire, const ecs_world* world) {
    proto_pb_write_varint(wire, FORM_SUMS);
    for (uint32_t id = 1; id <= ecs_component_count(world); id++) {
        uint64_t sum = ecs_world_state_hash_of(world, (ecs_component_id)id);
        if (sum == 0) continue;
        proto_pb_write_varint(wire, id);
        proto_pb_write_raw(wire, sum, 8);
    }
}

void net_log_changes_write(proto_pb_writer* wire, const ecs_world* world) {
    BASE_ASSERT(world);
    size_t before = wire->size;
    size_t capacity = wire->capacity;
    if (capacity - before > NET_LOG_CHANGES_BYTES_MAX)
        wire->capacity = before + NET_LOG_CHANGES_BYTES_MAX;
    write_list(wire, world);
    if (wire->failed) {
        wire->size = before;
        wire->failed = false;
        write_sums(wire, world);
    }
    if (wire->failed) wire->size = before;
    wire->failed = false;
    wire->capacity = capacity;
}

net_log_changes_walk net_log_changes_begin(const void* data, size_t size) {
    net_log_changes_walk walk = {.reader = base_reader_make(data, size)};
    walk.form = size > 0 ? (uint32_t)base_reader_varint(&walk.reader) : 0;
    return walk;
}

static uint32_t read_u32(base_reader* reader) {
    uint64_t value = base_reader_varint(reader);
    if (value > UINT32_MAX) reader->failed = true;
    return (uint32_t)value;
}

static bool read_structure(base_reader* reader, net_log_change* change) {
    change->entity = read_u32(reader);
    if (change->kind == NET_LOG_CHANGE_DESTROYED) return !reader->failed;
    change->part_count = read_u32(reader);
    if (change->part_count > ECS_TEMPLATE_PARTS_MAX) reader->failed = true;
    for (uint32_t i = 0; !reader->failed && i < change->part_count; i++)
        change->parts[i] = read_u32(reader);
    change->value_count = read_u32(reader);
    if (change->value_count > ECS_TEMPLATE_COMPONENTS_MAX) reader->failed = true;
    if (!reader->failed) change->values = base_reader_skip(reader, 2u * change->value_count);
    return !reader->failed;
}

// Step over the ends of sections and runs. false at the end of all.
static bool enter_section(net_log_changes_walk* walk) {
    base_reader* reader = &walk->reader;
    while (walk->left == 0) {
        if (walk->section < SECTION_RUNS && walk->has_count) {
            walk->section++;
            walk->has_count = false;
            continue;
        }
        if (walk->section < SECTION_RUNS) {
            walk->left = base_reader_varint(reader);
            walk->has_count = true;
            if (reader->failed) return false;
            continue;
        }
        if (base_reader_left(reader) == 0) return false;
        walk->component = read_u32(reader);
        walk->left = base_reader_varint(reader);
        walk->entity_before = 0;
        if (walk->left == 0) reader->failed = true;
        if (reader->failed) return false;
    }
    return true;
}

bool net_log_changes_next(net_log_changes_walk* walk, net_log_change* change) {
    base_reader* reader = &walk->reader;
    *change = (net_log_change){0};
    if (walk->form == FORM_SUMS) {
        if (base_reader_left(reader) == 0) return false;
        change->kind = NET_LOG_CHANGE_SUM;
        change->component = read_u32(reader);
        change->value = base_reader_u64(reader);
        return !reader->failed;
    }
    if (walk->form != FORM_LIST || reader->failed || !enter_section(walk)) return false;
    walk->left--;
    if (walk->section < SECTION_RUNS) {
        change->kind = (net_log_change_kind)walk->section;
        return read_structure(reader, change);
    }
    change->kind = NET_LOG_CHANGE_COMPONENT;
    change->component = walk->component;
    change->entity = walk->entity_before + unzigzag(read_u32(reader));
    change->value = base_reader_u16(reader);
    walk->entity_before = change->entity;
    return !reader->failed;
}

static bool is_about_the_same(const net_log_change* a, const net_log_change* b) {
    return a->kind == b->kind && a->entity == b->entity && a->component == b->component;
}

static bool is_same(const net_log_change* a, const net_log_change* b, uint32_t* value_position) {
    *value_position = UINT32_MAX;
    if (!is_about_the_same(a, b) || a->value != b->value || a->part_count != b->part_count)
        return false;
    if (memcmp(a->parts, b->parts, sizeof a->parts) != 0) return false;
    if (a->value_count != b->value_count) return false;
    for (uint32_t i = 0; i < a->value_count; i++) {
        if (memcmp(a->values + 2u * i, b->values + 2u * i, 2) == 0) continue;
        *value_position = i;
        return false;
    }
    return true;
}

// Is a change still to come in a walk?
static bool comes(net_log_changes_walk walk, const net_log_change* wanted) {
    net_log_change change;
    while (net_log_changes_next(&walk, &change))
        if (is_about_the_same(&change, wanted)) return true;
    return false;
}

bool net_log_changes_differ(const void* stored, size_t stored_bytes, const void* again,
                            size_t again_bytes, net_log_change* change, uint32_t* value_position) {
    net_log_changes_walk left = net_log_changes_begin(stored, stored_bytes);
    net_log_changes_walk right = net_log_changes_begin(again, again_bytes);
    net_log_change here;
    *value_position = UINT32_MAX;
    if (left.form != right.form) return false;
    for (;;) {
        bool has_left = net_log_changes_next(&left, change);
        bool has_right = net_log_changes_next(&right, &here);
        if (!has_left && !has_right) return false;
        if (!has_left) *change = here;
        if (!has_left || !has_right) return true;
        if (is_same(change, &here, value_position)) continue;
        // The one that the other run lacks is the first that differs. A position in the template is
        // only good with the template of this run.
        bool is_extra = !is_about_the_same(change, &here) && comes(right, change);
        if (is_extra || *value_position != UINT32_MAX) *change = here;
        return true;
    }
}
