// SPDX-License-Identifier: MIT
// Ticks of saves are multiples of `every`. So thinning keeps the multiples of twice the distance,
// wherever the replay began, and the same log gives the same saves. The save of tick 0 always
// stays.
#include "playback/playback_saves.h"

#include "base/assert.h"
#include "base/search.h"

#include <string.h>

void net_playback_saves_init(net_playback_saves* saves, const base_allocator* allocator,
                             ecs_tick every, size_t bytes_max, bool is_near) {
    BASE_ASSERT(every > 0);
    *saves = (net_playback_saves){
        .allocator = allocator, .every = every, .bytes_max = bytes_max, .is_near = is_near};
}

static void release(net_playback_saves* saves, net_playback_save* save) {
    BASE_ASSERT(saves->bytes >= save->size);
    saves->bytes -= save->size;
    base_release(saves->allocator, save->data, save->size);
}

void net_playback_saves_deinit(net_playback_saves* saves) {
    for (uint32_t i = 0; i < saves->count; i++)
        release(saves, &saves->items[i]);
    BASE_ARRAY_RELEASE(saves->allocator, saves->items, saves->capacity);
    *saves = (net_playback_saves){0};
}

// How many are at or before a tick.
static uint32_t count_until(const net_playback_saves* saves, ecs_tick tick) {
    base_search search = base_search_begin(saves->count);
    while (base_search_next(&search))
        base_search_step(&search, saves->items[search.middle].tick <= tick);
    return search.low;
}

const net_playback_save* net_playback_saves_find(const net_playback_saves* saves, ecs_tick tick) {
    uint32_t count = count_until(saves, tick);
    return count > 0 ? &saves->items[count - 1] : NULL;
}

bool net_playback_saves_wants(const net_playback_saves* saves, ecs_tick tick) {
    if (tick % saves->every != 0) return false;
    const net_playback_save* save = net_playback_saves_find(saves, tick);
    return !save || save->tick != tick;
}

static void thin(net_playback_saves* saves) {
    uint32_t kept = 0;
    saves->every *= 2;
    for (uint32_t i = 0; i < saves->count; i++)
        if (saves->items[i].tick % saves->every == 0)
            saves->items[kept++] = saves->items[i];
        else
            release(saves, &saves->items[i]);
    saves->count = kept;
}

static void drop_farthest(net_playback_saves* saves, ecs_tick tick) {
    const net_playback_save* first = &saves->items[0];
    const net_playback_save* last = &saves->items[saves->count - 1];
    bool is_last = last->tick > tick && last->tick - tick > tick - first->tick;
    release(saves, &saves->items[is_last ? saves->count - 1 : 0]);
    saves->count--;
    if (!is_last) memmove(saves->items, saves->items + 1, saves->count * sizeof *saves->items);
}

void net_playback_saves_put(net_playback_saves* saves, ecs_tick tick, const void* data,
                            size_t size) {
    BASE_ASSERT(net_playback_saves_wants(saves, tick));
    while (size > saves->bytes_max - saves->bytes && saves->count > 1) {
        if (saves->is_near)
            drop_farthest(saves, tick);
        else
            thin(saves);
    }
    if (size > saves->bytes_max - saves->bytes || tick % saves->every != 0) return;
    if (!BASE_ARRAY_RESERVE(saves->allocator, saves->items, saves->capacity, saves->count + 1))
        return;
    uint8_t* copy = base_allocate(saves->allocator, size);
    if (!copy) return;
    memcpy(copy, data, size);
    uint32_t place = count_until(saves, tick);
    memmove(saves->items + place + 1, saves->items + place,
            (saves->count - place) * sizeof *saves->items);
    saves->items[place] = (net_playback_save){tick, copy, size};
    saves->count++;
    saves->bytes += size;
}
