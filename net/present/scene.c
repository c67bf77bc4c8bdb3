// SPDX-License-Identifier: MIT
// The scene takes in what arrives, in any order, and moves the view's time on.
//
// Everything is kept by tick: rows and ends per index, received ticks as bits,
// events in their order. A passed tick is shown as the server ran it: incarnations and components
// first, then events are posted, then stage "act" runs, which delivers them. The moment itself is
// placed last.
//
// Only indices with a sample to come, or that go on without a sample, are looked at. They are
// walked by rising number, so the view's world does not depend on the order of packets within a
// tick.
//
// Left to others: which moment to show (playout.c, playback), how one index looks at a moment
// (scene_show.c), predicted entities (presenter.c).
#include "present/scene.h"

#include "state/schema.h"

#include "base/assert.h"

#include <string.h>

// What the view shows at an index, and since which tick.
static bool find_shown(void* context, uint32_t index, ecs_entity* handle, ecs_tick* tick) {
    const net_scene* scene = context;
    if (index >= scene->slot_capacity || !scene->slots[index].has_applied) return false;
    *handle = scene->slots[index].handle;
    *tick = scene->slots[index].applied_tick;
    return true;
}

static net_varsize_receiver* create_varsize(net_scene* scene) {
    // The feed of a scene is bounded, and the view is behind it by less than that bound.
    const net_varsize_receiver_config config = {
        .allocator = &scene->owner.allocator,
        .world = scene->target.world,
        .rows = scene->rows,
        .index_max = scene->target.index_max,
        .waiting_max = NET_SCENE_VARSIZE_MAX,
        .waiting_bytes_max = NET_SCENE_VARSIZE_BYTES_MAX,
        .known = find_shown,
        .known_context = scene,
    };
    return net_varsize_receiver_create(&config);
}

net_scene* net_scene_create(const base_allocator* allocator, net_match* view) {
    BASE_ASSERT(view && net_match_get_config(view)->role == NET_ROLE_MIRROR);
    net_scene* made = base_owner_create(allocator, sizeof *made);
    ecs_world* world = net_match_world(view);
    net_pool_init(&made->pool, &made->owner.allocator);
    made->match = view;
    made->target = (net_row_world){.allocator = &made->owner.allocator,
                                   .world = world,
                                   .index_max = ecs_world_limits(world)->replicated_index_max};
    base_bitset_init(&made->active, &made->owner.allocator);
    made->rows = net_schema_rows(net_match_schema(view));
    made->varsize = create_varsize(made);
    return made;
}

// ---- feeding ----

static void add_shape(net_scene* scene, const net_row_template* entry) {
    const base_allocator* allocator = &scene->owner.allocator;
    BASE_ARRAY_RESERVE(allocator, scene->shapes, scene->shape_capacity, entry->id + 1u);
    if (scene->shapes[entry->id]) return;
    net_scene_shape* shape = base_allocate_zero(allocator, sizeof *shape);
    const ecs_template* template_ = ecs_template_get(scene->target.world, entry->id);
    for (uint32_t i = 0; i < entry->layout.component_count; i++) {
        ecs_component_id id = (ecs_component_id)entry->layout.components[i].key;
        const ecs_template_component* component = ecs_template_find_component(template_, id);
        if (!(component->flags & ECS_COMPONENT_INTERPOLATED)) continue;
        shape->interpolated |= UINT64_C(1) << i;
        shape->parts[shape->part_count++] =
            (net_scene_part){.component = (uint16_t)i, .teleport = component->teleport};
    }
    scene->shapes[entry->id] = shape;
}

// One feeder at a time: an entry of another table with the same number replaces this one.
static const net_scene_link* find_link(net_scene* scene, const net_row_template* source) {
    BASE_ARRAY_RESERVE(&scene->owner.allocator, scene->links, scene->link_capacity,
                       source->id + 1u);
    net_scene_link* link = &scene->links[source->id];
    if (link->source == source) return link;
    link->entry = net_rows_compose(scene->rows, source->parts, source->part_count);
    if (link->entry) add_shape(scene, link->entry);
    link->source = source;
    return link;
}

// Put a sample where its tick belongs. A tick that is there already stays as it is; a full ring
// loses its oldest.
static void put_sample(net_tick_ring* samples, const base_allocator* allocator, ecs_tick tick,
                       const net_scene_sample* sample, const uint64_t* row) {
    BASE_ASSERT((sample->handle == ECS_ENTITY_NONE) == !sample->entry);
    BASE_ASSERT(!sample->entry || row);
    uint32_t position = net_tick_ring_find(samples, tick);
    if (position != UINT32_MAX && net_tick_ring_tick(samples, position) == tick) return;
    size_t row_bytes = sample->entry ? sample->entry->layout.field_count * sizeof *row : 0;
    uint32_t stride = (uint32_t)(sizeof *sample + row_bytes);
    net_tick_ring_widen(samples, allocator, stride);
    net_tick_ring_put(samples, allocator, NET_SCENE_SAMPLES_MAX, tick, sample, sizeof *sample);
    position = net_tick_ring_find(samples, tick);
    if (position == UINT32_MAX || net_tick_ring_tick(samples, position) != tick)
        return; // it was forgotten at once
    uint8_t* place = net_tick_ring_entry(samples, position);
    if (row_bytes > 0) memcpy(place + sizeof *sample, row, row_bytes);
}

static void add_sample(net_scene* scene, uint32_t index, ecs_tick tick,
                       const net_scene_sample* sample, const uint64_t* row) {
    BASE_ARRAY_RESERVE(&scene->owner.allocator, scene->slots, scene->slot_capacity, index + 1);
    base_bitset_reserve(&scene->active, index + 1);
    put_sample(&scene->slots[index].samples, &scene->pool.allocator, tick, sample, row);
    base_bitset_add(&scene->active, index);
}

static bool is_index(const net_scene* scene, ecs_entity entity) {
    uint32_t index = ecs_entity_index(entity);
    return index >= 1 && index <= scene->target.index_max && ecs_entity_generation(entity) >= 1;
}

void net_scene_row(net_scene* scene, ecs_entity entity, const net_row_template* entry,
                   ecs_tick tick, const uint64_t* row) {
    BASE_ASSERT(entry && row);
    if (scene->broken != NET_OK || !is_index(scene, entity) || tick > NET_SCENE_TICK_MAX) return;
    const net_scene_link* link = find_link(scene, entry);
    if (!link->entry) return;
    scene->counters.samples++;
    scene->counters.samples_late += scene->has_shown && (double)tick <= scene->shown;
    const net_scene_sample sample = {.handle = entity, .entry = link->entry};
    add_sample(scene, ecs_entity_index(entity), tick, &sample, row);
}

void net_scene_gone(net_scene* scene, ecs_entity entity, ecs_tick tick) {
    if (scene->broken != NET_OK || !is_index(scene, entity) || tick > NET_SCENE_TICK_MAX) return;
    const net_scene_sample sample = {.handle = ECS_ENTITY_NONE};
    add_sample(scene, ecs_entity_index(entity), tick, &sample, NULL);
}

void net_scene_packet(net_scene* scene, ecs_tick tick) {
    if (tick > NET_SCENE_TICK_MAX) return;
    if (scene->has_packet && tick + NET_SCENE_TICKS <= scene->newest) return;
    scene->received[tick % NET_SCENE_TICKS] = tick;
    if (!scene->has_packet || tick > scene->newest) scene->newest = tick;
    scene->has_packet = true;
}

void net_scene_event(net_scene* scene, const net_event* event, const void* payload) {
    BASE_ASSERT(event && event->size <= NET_EVENT_PAYLOAD_BYTES_MAX);
    if (scene->broken != NET_OK) return;
    // A correct server sends no events of later ticks. Such an event would wait for ever, and
    // others after it.
    bool is_too_early = scene->has_packet && event->tick > scene->newest &&
                        event->tick - scene->newest > NET_SCENE_TICKS;
    if (is_too_early || scene->events.count == NET_SCENE_EVENTS_MAX) {
        scene->counters.events_dropped++;
        return;
    }
    net_event_needs needs;
    net_event_needs_of(scene->match, event->message, payload, event->size, &needs);
    (void)net_event_line_add(&scene->events, &scene->owner.allocator, event, payload, &needs);
}

net_result net_scene_varsize(net_scene* scene, const net_varsize_message* message) {
    if (scene->broken != NET_OK) return scene->broken;
    return net_varsize_receiver_receive(scene->varsize, message);
}

void net_scene_touch(net_scene* scene, ecs_entity entity) {
    uint32_t index = ecs_entity_index(entity);
    if (index < scene->slot_capacity && scene->slots[index].handle == entity)
        base_bitset_add(&scene->active, index);
}

// ---- time ----

static void place_all(net_scene* scene, double moment, bool is_final) {
    BASE_ASSERT(scene->broken == NET_OK);
    for (uint32_t i = base_bitset_next(&scene->active, 0); i != UINT32_MAX;
         i = base_bitset_next(&scene->active, i + 1)) {
        bool is_active;
        net_result result = net_scene_place(scene, i, moment, is_final, &is_active);
        if (result != NET_OK) {
            scene->broken = result;
            return;
        }
        if (!is_active) base_bitset_remove(&scene->active, i);
    }
    net_varsize_receiver_tick(scene->varsize);
}

typedef enum event_fate { EVENT_WAITS, EVENT_POSTED, EVENT_DROPPED } event_fate;

static event_fate post_event(net_scene* scene, net_event* event, ecs_tick tick) {
    if (event->tick > tick) return EVENT_WAITS;
    switch (net_event_find_fate(event, net_match_world(scene->match), find_shown, scene)) {
    case NET_EVENT_READY:
        break;
    case NET_EVENT_OVER:
        return EVENT_DROPPED;
    case NET_EVENT_WAITS:
        if (++event->waited_ticks <= NET_EVENT_WAIT_TICKS_MAX || net_event_give_up(event))
            return EVENT_WAITS;
        return EVENT_DROPPED;
    }
    net_result result = net_match_server_event(scene->match, event->message, event->target,
                                               event->payload, event->size);
    return result == NET_OK ? EVENT_POSTED : EVENT_DROPPED;
}

// Reliable events after a reliable event that waits have to wait too.
static void post_events(net_scene* scene, ecs_tick tick) {
    bool is_held = false;
    for (net_event* event = NULL; (event = net_event_line_next(&scene->events, event));) {
        bool is_reliable = event->number != 0;
        event_fate fate = is_reliable && is_held ? EVENT_WAITS : post_event(scene, event, tick);
        scene->counters.events += fate == EVENT_POSTED;
        scene->counters.events_dropped += fate == EVENT_DROPPED;
        if (fate == EVENT_WAITS)
            is_held = is_held || is_reliable;
        else
            net_event_line_remove(&scene->events, event);
    }
}

static void step_to(net_scene* scene, ecs_tick last) {
    ecs_tick first = scene->has_shown ? scene->stepped + 1 : last;
    if (last >= first && last - first >= NET_CATCH_UP_TICKS_MAX) {
        first = last - NET_CATCH_UP_TICKS_MAX + 1;
        scene->counters.jumps++;
    }
    for (ecs_tick tick = first; tick <= last && scene->broken == NET_OK; tick++) {
        place_all(scene, (double)tick, false);
        post_events(scene, tick);
        net_match_step_at(scene->match, tick);
        ecs_changes_clear(net_match_world(scene->match));
    }
    scene->stepped = last;
}

net_result net_scene_advance(net_scene* scene, double tick) {
    if (scene->broken != NET_OK) return scene->broken;
    // Written so that NaN is ignored.
    if (!(tick >= 1 && tick <= (double)NET_SCENE_TICK_MAX)) return NET_OK;
    if (scene->has_shown && tick < scene->shown) tick = scene->shown;
    scene->shown_before = scene->has_shown ? scene->shown : tick;
    step_to(scene, (ecs_tick)tick);
    if (scene->broken == NET_OK) place_all(scene, tick, true);
    scene->shown = tick;
    scene->has_shown = true;
    BASE_VALIDATE((net_scene_validate(scene), true));
    return scene->broken;
}

static void validate_slot(const net_scene* scene, const net_scene_slot* slot, uint32_t index) {
    net_tick_ring_validate(&slot->samples);
    BASE_ASSERT((slot->handle == ECS_ENTITY_NONE) == (slot->entry == NULL));
    for (uint32_t i = 0; i < slot->samples.count; i++) {
        const net_scene_sample* sample = net_scene_samples_get(&slot->samples, i);
        BASE_ASSERT((sample->handle == ECS_ENTITY_NONE) == (sample->entry == NULL));
        BASE_ASSERT(!sample->entry || ecs_entity_index(sample->handle) == index);
    }
    if (!slot->entry) return;
    BASE_ASSERT(ecs_entity_index(slot->handle) == index && slot->has_applied);
    BASE_ASSERT(slot->applied_words >= slot->entry->layout.field_count);
    BASE_ASSERT(scene->shapes[slot->entry->id]);
}

void net_scene_validate(const net_scene* scene) {
    BASE_ASSERT(scene->events.count <= NET_SCENE_EVENTS_MAX);
    if (scene->broken != NET_OK) return; // an index may be half changed
    for (uint32_t i = 0; i < scene->slot_capacity; i++)
        validate_slot(scene, &scene->slots[i], i);
}
