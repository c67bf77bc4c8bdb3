// SPDX-License-Identifier: MIT
// Heads lie in a table with open addressing, at most half full. A list that becomes empty leaves
// it, and the heads behind it move back, so a search ends at the first empty place. The table is
// never walked in hash order.
#include "interest/interest_lists.h"

#include "base/assert.h"

#include <string.h>

enum { HEADS_MIN = 16 };

void net_interest_lists_init(net_interest_lists* lists, const base_allocator* allocator) {
    BASE_ASSERT(lists);
    *lists = (net_interest_lists){.allocator = allocator};
}

void net_interest_lists_deinit(net_interest_lists* lists) {
    const base_allocator* allocator = lists->allocator;
    base_release(allocator, lists->heads, lists->head_capacity * sizeof *lists->heads);
    base_release(allocator, lists->nexts, lists->next_capacity * sizeof *lists->nexts);
    base_release(allocator, lists->prevs, lists->prev_capacity * sizeof *lists->prevs);
    base_release(allocator, lists->keys, lists->key_capacity * sizeof *lists->keys);
    *lists = (net_interest_lists){0};
}

bool net_interest_lists_reserve(net_interest_lists* lists, uint32_t count) {
    const base_allocator* allocator = lists->allocator;
    return base_array_reserve(allocator, (void**)&lists->nexts, &lists->next_capacity, count,
                              sizeof *lists->nexts) &&
           base_array_reserve(allocator, (void**)&lists->prevs, &lists->prev_capacity, count,
                              sizeof *lists->prevs) &&
           base_array_reserve(allocator, (void**)&lists->keys, &lists->key_capacity, count,
                              sizeof *lists->keys);
}

static uint32_t home_of(const net_interest_lists* lists, uint32_t key) {
    return (key * 2654435769u >> 7) & (lists->head_capacity - 1);
}

// The key's place, or the empty place where it would go.
static uint32_t seek(const net_interest_lists* lists, uint32_t key) {
    uint32_t at = home_of(lists, key);
    while (lists->heads[at].key != 0 && lists->heads[at].key != key)
        at = (at + 1) & (lists->head_capacity - 1);
    return at;
}

static bool grow(net_interest_lists* lists) {
    net_interest_head* old = lists->heads;
    uint32_t old_capacity = lists->head_capacity;
    uint32_t capacity = old_capacity ? old_capacity * 2 : HEADS_MIN;
    net_interest_head* heads = base_allocate_zero(lists->allocator, capacity * sizeof *heads);
    if (!heads) return false;
    lists->heads = heads;
    lists->head_capacity = capacity;
    for (uint32_t i = 0; i < old_capacity; i++)
        if (old[i].key) heads[seek(lists, old[i].key)] = old[i];
    base_release(lists->allocator, old, old_capacity * sizeof *old);
    return true;
}

static void remove_head(net_interest_lists* lists, uint32_t at) {
    BASE_ASSERT(lists->head_count > 0);
    uint32_t mask = lists->head_capacity - 1;
    lists->head_count--;
    for (uint32_t next = (at + 1) & mask; lists->heads[next].key; next = (next + 1) & mask) {
        uint32_t home = home_of(lists, lists->heads[next].key);
        if (((next - home) & mask) < ((next - at) & mask)) continue;
        lists->heads[at] = lists->heads[next];
        at = next;
    }
    lists->heads[at] = (net_interest_head){0};
}

static void unlink_index(net_interest_lists* lists, uint32_t index) {
    BASE_ASSERT(lists->keys[index] != 0);
    uint32_t next = lists->nexts[index], prev = lists->prevs[index];
    if (next) lists->prevs[next] = prev;
    if (prev) {
        lists->nexts[prev] = next;
    } else {
        uint32_t at = seek(lists, lists->keys[index]);
        lists->heads[at].first = next;
        if (!next) remove_head(lists, at);
    }
    lists->keys[index] = 0;
}

bool net_interest_lists_put(net_interest_lists* lists, uint32_t index, uint32_t key) {
    BASE_ASSERT(index > 0 && index < lists->key_capacity);
    if (lists->keys[index] == key) return true;
    if (lists->keys[index]) unlink_index(lists, index);
    if (!key) return true;
    if ((lists->head_count + 1) * 2 > lists->head_capacity && !grow(lists)) return false;
    net_interest_head* head = &lists->heads[seek(lists, key)];
    lists->head_count += head->key == 0;
    head->key = key;
    lists->nexts[index] = head->first;
    lists->prevs[index] = 0;
    if (head->first) lists->prevs[head->first] = index;
    head->first = index;
    lists->keys[index] = key;
    return true;
}

uint32_t net_interest_lists_first(const net_interest_lists* lists, uint32_t key) {
    return lists->head_capacity && key ? lists->heads[seek(lists, key)].first : 0;
}
