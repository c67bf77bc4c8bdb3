// SPDX-License-Identifier: MIT
// One entry per client, the last word counts: a module may ask in every tick, and a client who comes back
// must find what was said of it.
#include "game/match_interest.h"

#include "base/assert.h"

#include <string.h>

void net_match_interest_init(net_match_interest* interest, const base_allocator* allocator) {
    *interest = (net_match_interest){.allocator = allocator};
}

void net_match_interest_deinit(net_match_interest* interest) {
    const base_allocator* allocator = interest->allocator;
    base_release(allocator, interest->kept, interest->capacity * sizeof *interest->kept);
    base_release(allocator, interest->is_new, interest->new_capacity * sizeof *interest->is_new);
    base_release(allocator, interest->taken, interest->taken_capacity * sizeof *interest->taken);
    *interest = (net_match_interest){0};
}

static uint32_t find_place(const net_match_interest* interest, uint32_t client) {
    uint32_t low = 0, high = interest->count;
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        if (interest->kept[middle].client < client) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    return low;
}

const net_match_interest_request* net_match_interest_find(const net_match_interest* interest,
                                                          uint32_t client) {
    uint32_t at = find_place(interest, client);
    return at < interest->count && interest->kept[at].client == client ? &interest->kept[at] : NULL;
}

net_match_interest_request* net_match_interest_ask(net_match_interest* interest, uint32_t client) {
    uint32_t at = find_place(interest, client);
    if (at == interest->count || interest->kept[at].client != client) {
        const base_allocator* allocator = interest->allocator;
        uint32_t room = interest->count + 1;
        bool has_room =
            base_array_reserve(allocator, (void**)&interest->kept, &interest->capacity, room,
                               sizeof *interest->kept) &&
            base_array_reserve(allocator, (void**)&interest->is_new, &interest->new_capacity, room,
                               sizeof *interest->is_new) &&
            base_array_reserve(allocator, (void**)&interest->taken, &interest->taken_capacity, room,
                               sizeof *interest->taken);
        BASE_ASSERT(has_room);
        memmove(&interest->kept[at + 1], &interest->kept[at],
                (interest->count - at) * sizeof *interest->kept);
        memmove(&interest->is_new[at + 1], &interest->is_new[at],
                (interest->count - at) * sizeof *interest->is_new);
        interest->kept[at] = (net_match_interest_request){.client = client};
        interest->count++;
    }
    interest->is_new[at] = true;
    return &interest->kept[at];
}

void net_match_interest_forget(net_match_interest* interest, uint32_t client) {
    if (!net_match_interest_find(interest, client)) return;
    uint32_t at = find_place(interest, client);
    uint32_t left = --interest->count - at;
    memmove(&interest->kept[at], &interest->kept[at + 1], left * sizeof *interest->kept);
    memmove(&interest->is_new[at], &interest->is_new[at + 1], left * sizeof *interest->is_new);
}

const net_match_interest_request* net_match_interest_take(net_match_interest* interest,
                                                          uint32_t* count) {
    *count = 0;
    for (uint32_t i = 0; i < interest->count; i++) {
        if (!interest->is_new[i]) continue;
        interest->taken[(*count)++] = interest->kept[i];
        interest->is_new[i] = false;
        interest->kept[i].is_refreshed = false;
    }
    return interest->taken;
}
