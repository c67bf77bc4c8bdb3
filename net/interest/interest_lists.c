// SPDX-License-Identifier: MIT
// Lists are chained through two arrays; a table finds the first index of each.
#include "interest/interest_lists.h"

#include "base/assert.h"

void net_interest_lists_init(net_interest_lists* lists, const base_allocator* allocator) {
    BASE_ASSERT(lists);
    *lists = (net_interest_lists){.allocator = allocator};
}

void net_interest_lists_deinit(net_interest_lists* lists) {
    const base_allocator* allocator = lists->allocator;
    base_table_deinit(&lists->firsts, allocator);
    BASE_ARRAY_RELEASE(allocator, lists->nexts, lists->next_capacity);
    BASE_ARRAY_RELEASE(allocator, lists->prevs, lists->prev_capacity);
    BASE_ARRAY_RELEASE(allocator, lists->keys, lists->key_capacity);
    *lists = (net_interest_lists){0};
}

bool net_interest_lists_reserve(net_interest_lists* lists, uint32_t count) {
    const base_allocator* allocator = lists->allocator;
    return BASE_ARRAY_RESERVE(allocator, lists->nexts, lists->next_capacity, count) &&
           BASE_ARRAY_RESERVE(allocator, lists->prevs, lists->prev_capacity, count) &&
           BASE_ARRAY_RESERVE(allocator, lists->keys, lists->key_capacity, count);
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

bool net_interest_lists_put(net_interest_lists* lists, uint32_t index, uint32_t key) {
    BASE_ASSERT(index > 0 && index < lists->key_capacity);
    if (lists->keys[index] == key) return true;
    if (lists->keys[index]) unlink_index(lists, index);
    if (!key) return true;
    if (!base_table_reserve(&lists->firsts, lists->allocator, lists->firsts.count + 1))
        return false;
    uint32_t first = net_interest_lists_first(lists, key);
    set_first(lists, key, first, index);
    lists->nexts[index] = first;
    lists->prevs[index] = 0;
    if (first) lists->prevs[first] = index;
    lists->keys[index] = key;
    return true;
}

uint32_t net_interest_lists_first(const net_interest_lists* lists, uint32_t key) {
    uint32_t first = base_table_find(&lists->firsts, key);
    return first == BASE_TABLE_NONE ? 0 : first;
}
