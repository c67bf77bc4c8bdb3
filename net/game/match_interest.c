// SPDX-License-Identifier: MIT
// One entry per client, the last word counts: a module may ask in every tick, and a client who comes back
// must find what was said of it.
#include "game/match_interest.h"

#include "base/assert.h"

#include <string.h>

void net_match_scopes_init(net_match_scopes* scopes, const base_allocator* allocator) {
    *scopes = (net_match_scopes){.allocator = allocator};
}

void net_match_scopes_deinit(net_match_scopes* scopes) {
    const base_allocator* allocator = scopes->allocator;
    base_release(allocator, scopes->kept, scopes->capacity * sizeof *scopes->kept);
    base_release(allocator, scopes->is_new, scopes->new_capacity * sizeof *scopes->is_new);
    base_release(allocator, scopes->taken, scopes->taken_capacity * sizeof *scopes->taken);
    *scopes = (net_match_scopes){0};
}

static uint32_t find_place(const net_match_scopes* scopes, uint32_t client) {
    uint32_t low = 0, high = scopes->count;
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        if (scopes->kept[middle].client < client) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    return low;
}

const net_match_scope_request* net_match_scopes_find(const net_match_scopes* scopes,
                                                     uint32_t client) {
    uint32_t at = find_place(scopes, client);
    return at < scopes->count && scopes->kept[at].client == client ? &scopes->kept[at] : NULL;
}

net_match_scope_request* net_match_scopes_ask(net_match_scopes* scopes, uint32_t client) {
    uint32_t at = find_place(scopes, client);
    if (at == scopes->count || scopes->kept[at].client != client) {
        const base_allocator* allocator = scopes->allocator;
        uint32_t room = scopes->count + 1;
        bool has_room = base_array_reserve(allocator, (void**)&scopes->kept, &scopes->capacity,
                                           room, sizeof *scopes->kept) &&
                        base_array_reserve(allocator, (void**)&scopes->is_new,
                                           &scopes->new_capacity, room, sizeof *scopes->is_new) &&
                        base_array_reserve(allocator, (void**)&scopes->taken,
                                           &scopes->taken_capacity, room, sizeof *scopes->taken);
        BASE_ASSERT(has_room);
        memmove(&scopes->kept[at + 1], &scopes->kept[at],
                (scopes->count - at) * sizeof *scopes->kept);
        memmove(&scopes->is_new[at + 1], &scopes->is_new[at],
                (scopes->count - at) * sizeof *scopes->is_new);
        scopes->kept[at] = (net_match_scope_request){.client = client};
        scopes->count++;
    }
    scopes->is_new[at] = true;
    return &scopes->kept[at];
}

void net_match_scopes_forget(net_match_scopes* scopes, uint32_t client) {
    if (!net_match_scopes_find(scopes, client)) return;
    uint32_t at = find_place(scopes, client);
    uint32_t left = --scopes->count - at;
    memmove(&scopes->kept[at], &scopes->kept[at + 1], left * sizeof *scopes->kept);
    memmove(&scopes->is_new[at], &scopes->is_new[at + 1], left * sizeof *scopes->is_new);
}

const net_match_scope_request* net_match_scopes_take(net_match_scopes* scopes, uint32_t* count) {
    *count = 0;
    for (uint32_t i = 0; i < scopes->count; i++) {
        if (!scopes->is_new[i]) continue;
        scopes->taken[(*count)++] = scopes->kept[i];
        scopes->is_new[i] = false;
        scopes->kept[i].is_refreshed = false;
    }
    return scopes->taken;
}
