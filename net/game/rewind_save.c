// SPDX-License-Identifier: MIT
// Saves of the past, part of a match's save. The bytes are for this process, but every number is
// checked.
#include "game/rewind_internal.h"

// Templates are written as their parts: a composition may have another id in another world.
static void save_state(const net_rewind* rewind, const ecs_world* world, const net_tick_ring* ring,
                       uint32_t position, base_bytes* bytes) {
    net_rewind_state* state = net_rewind_state_at(ring, position);
    base_bytes_write_u64(bytes, net_tick_ring_tick(ring, position));
    base_bytes_write_u32(bytes, state->handle);
    if (state->handle == ECS_ENTITY_NONE) return;
    const net_rewind_form* form = &rewind->forms[state->form];
    const ecs_template* source = ecs_template_get(world, form->entry->id);
    base_bytes_write_u8(bytes, (uint8_t)source->part_count);
    for (uint32_t i = 0; i < source->part_count; i++)
        base_bytes_write_u16(bytes, source->parts[i]);
    base_bytes_write(bytes, net_rewind_values(state), form->value_bytes);
}

void net_rewind_save(const net_rewind* rewind, const ecs_world* world, base_bytes* bytes) {
    base_bytes_write_u64(bytes, rewind->tick);
    base_bytes_write_u8(bytes, rewind->has_stepped);
    for (uint32_t index = 1; index < rewind->ring_capacity; index++) {
        const net_tick_ring* ring = &rewind->rings[index];
        if (ring->count == 0 || net_rewind_is_past(rewind, ring)) continue;
        base_bytes_write_u32(bytes, index);
        base_bytes_write_u32(bytes, ring->count);
        for (uint32_t i = 0; i < ring->count; i++)
            save_state(rewind, world, ring, i, bytes);
    }
    base_bytes_write_u32(bytes, 0);
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
    return id == ECS_TEMPLATE_NONE ? NET_REWIND_FORM_NONE : net_rewind_find_form(rewind, world, id);
}

static bool restore_state(net_rewind* rewind, ecs_world* world, uint32_t index,
                          base_reader* reader) {
    ecs_tick tick = base_reader_u64(reader);
    ecs_entity handle = base_reader_u32(reader);
    net_tick_ring* ring = &rewind->rings[index];
    if (reader->failed || (ring->count > 0 && net_rewind_newest_tick(ring) >= tick)) return false;
    rewind->tick = tick;
    if (handle == ECS_ENTITY_NONE) {
        return net_rewind_put(rewind, ring, ECS_ENTITY_NONE, NET_REWIND_FORM_NONE) != NULL;
    }
    uint32_t form = restore_form(rewind, world, reader);
    if (form == NET_REWIND_FORM_NONE || ecs_entity_index(handle) != index) return false;
    net_rewind_state* target = net_rewind_put(rewind, ring, handle, form);
    return target &&
           base_reader_read(reader, net_rewind_values(target), rewind->forms[form].value_bytes);
}

net_result net_rewind_restore(net_rewind* rewind, ecs_world* world, base_reader* reader) {
    net_rewind_clear(rewind);
    rewind->is_lacking = false;
    ecs_tick tick = base_reader_u64(reader);
    rewind->has_stepped = base_reader_u8(reader) != 0;
    bool is_whole = !reader->failed;
    for (uint32_t index; is_whole && (index = base_reader_u32(reader)) != 0;) {
        uint32_t count = base_reader_u32(reader);
        is_whole =
            !reader->failed && index <= rewind->index_max && net_rewind_reserve_ring(rewind, index);
        if (!is_whole) break;
        for (uint32_t i = 0; i < count && is_whole; i++)
            is_whole = restore_state(rewind, world, index, reader);
    }
    rewind->tick = tick;
    if (is_whole && !reader->failed) return NET_OK;
    net_rewind_clear(rewind);
    return rewind->is_lacking ? NET_ERR_MEMORY : NET_ERR_MALFORMED;
}
