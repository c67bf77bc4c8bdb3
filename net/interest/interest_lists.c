// SPDX-License-Identifier: MIT
// Lists are chained through two arrays; a table finds the first index of each.
#include "interest/interest_lists.h"

#include "base/assert.h"
#include "base/search.h"

#include <string.h>

void net_interest_lists_init(net_interest_lists* lists, const base_allocator* allocator) {
    BASE_ASSERT(lists);
    *lists = (net_interest_lists){.allocator = allocator};
}

void net_interest_lists_reserve(net_interest_lists* lists, uint32_t count) {
    BASE_ARRAY_RESERVE(lists->allocator, lists->nexts, lists->next_capacity, count);
    BASE_ARRAY_RESERVE(lists->allocator, lists->prevs, lists->prev_capacity, count);
    BASE_ARRAY_RESERVE(lists->allocator, lists->keys, lists->key_capacity, count);
}

static void set_first(net_interest_lists* lists, uint32_t key, uint32_t old, uint32_t first) {
    if (old) (void)base_table_remove(&lists->firsts, key, old);
    if (first) base_table_add(&lists->firsts, key, first);
}

static void unlink_index(net_interest_lists* lists, uint32_t index) {
    BASE_ASSERT(lists->keys[index] != 0);
    uint32_t next = lists->nexts[index], prev = lists->prevs[index];
    if (next) lists->prevs[next] = prev;
    if (prev)
        lists->nexts[prev] = next;
    else
        set_first(lists, lists->keys[index], index, next);
    lists->keys[index] = 0;
}

void net_interest_lists_put(net_interest_lists* lists, uint32_t index, uint32_t key) {
    BASE_ASSERT(index > 0 && index < lists->key_capacity);
    if (lists->keys[index] == key) return;
    if (lists->keys[index]) unlink_index(lists, index);
    if (!key) return;
    base_table_reserve(&lists->firsts, lists->allocator, lists->firsts.count + 1);
    uint32_t first = net_interest_lists_first(lists, key);
    set_first(lists, key, first, index);
    lists->nexts[index] = first;
    lists->prevs[index] = 0;
    if (first) lists->prevs[first] = index;
    lists->keys[index] = key;
}

uint32_t net_interest_lists_first(const net_interest_lists* lists, uint32_t key) {
    uint32_t first = base_table_find(&lists->firsts, key);
    return first == BASE_TABLE_NONE ? 0 : first;
}

// One entry per client, sorted by client number. An entry stays after it was taken: the next
// request changes one part of it, and the server gets the whole again.

// The client's position, or the position to insert it at.
static uint32_t find_place(const net_interest_requests* requests, uint32_t client) {
    base_search search = base_search_begin(requests->count);
    while (base_search_next(&search))
        base_search_step(&search, requests->kept[search.middle].client < client);
    return search.low;
}

const net_interest_request* net_interest_requests_find(const net_interest_requests* requests,
                                                       uint32_t client) {
    uint32_t at = find_place(requests, client);
    bool is_there = at < requests->count && requests->kept[at].client == client;
    return is_there ? &requests->kept[at] : NULL;
}

static void insert(net_interest_requests* requests, uint32_t at, uint32_t client) {
    const base_allocator* allocator = requests->allocator;
    uint32_t room = requests->count + 1;
    BASE_ARRAY_RESERVE(allocator, requests->kept, requests->capacity, room);
    BASE_ARRAY_RESERVE(allocator, requests->is_new, requests->new_capacity, room);
    BASE_ARRAY_RESERVE(allocator, requests->taken, requests->taken_capacity, room);
    uint32_t after = requests->count - at;
    memmove(&requests->kept[at + 1], &requests->kept[at], after * sizeof *requests->kept);
    memmove(&requests->is_new[at + 1], &requests->is_new[at], after * sizeof *requests->is_new);
    requests->kept[at] = (net_interest_request){.client = client};
    requests->count++;
}

net_interest_request* net_interest_requests_add(net_interest_requests* requests, uint32_t client) {
    BASE_ASSERT(client > 0);
    uint32_t at = find_place(requests, client);
    bool is_there = at < requests->count && requests->kept[at].client == client;
    if (!is_there) insert(requests, at, client);
    requests->is_new[at] = true;
    return &requests->kept[at];
}

void net_interest_requests_remove(net_interest_requests* requests, uint32_t client) {
    if (!net_interest_requests_find(requests, client)) return;
    uint32_t at = find_place(requests, client);
    uint32_t after = --requests->count - at;
    memmove(&requests->kept[at], &requests->kept[at + 1], after * sizeof *requests->kept);
    memmove(&requests->is_new[at], &requests->is_new[at + 1], after * sizeof *requests->is_new);
}

void net_interest_requests_renew(net_interest_requests* requests) {
    for (uint32_t i = 0; i < requests->count; i++)
        requests->is_new[i] = true;
}

const net_interest_request* net_interest_requests_take(net_interest_requests* requests,
                                                       uint32_t* count) {
    *count = 0;
    for (uint32_t i = 0; i < requests->count; i++) {
        BASE_ASSERT(i == 0 || requests->kept[i - 1].client < requests->kept[i].client);
        if (!requests->is_new[i]) continue;
        requests->taken[(*count)++] = requests->kept[i];
        requests->is_new[i] = false;
        requests->kept[i].is_refreshed = false;
    }
    return requests->taken;
}
