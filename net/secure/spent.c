// SPDX-License-Identifier: MIT
// All additions expire NET_COOKIE_AGE_US_MAX after a time that has passed, so the oldest addition
// holds none behind it up for longer than that.
#include "secure/spent.h"

#include <sodium.h>

#include <string.h>

static uint64_t hash(const net_spent* spent, const uint8_t name[NET_SPENT_NAME_BYTES]) {
    uint64_t value;
    uint8_t out[crypto_shorthash_BYTES];
    (void)crypto_shorthash(out, name, NET_SPENT_NAME_BYTES, spent->key);
    memcpy(&value, out, sizeof value);
    return value;
}

void net_spent_init(net_spent* spent, const net_entropy* entropy) {
    memset(spent, 0, sizeof *spent);
    entropy->fill(entropy->context, spent->key, sizeof spent->key);
}

static void drop_first(net_spent* spent) {
    const net_spent_entry* first = &spent->entries[spent->first];
    uint32_t* link = &spent->chains[first->name % NET_SPENT_MAX];
    while (*link != spent->first + 1)
        link = &spent->entries[*link - 1].next;
    *link = first->next;
    spent->first = (spent->first + 1) % NET_SPENT_MAX;
    spent->count--;
}

bool net_spent_add(net_spent* spent, uint64_t now_us, const uint8_t name[NET_SPENT_NAME_BYTES],
                   uint64_t time_us) {
    if (now_us - time_us > NET_COOKIE_AGE_US_MAX) return true; // no cookie of then counts
    while (spent->count > 0 &&
           now_us - spent->entries[spent->first].time_us > NET_COOKIE_AGE_US_MAX)
        drop_first(spent);
    if (spent->count == NET_SPENT_MAX) return false;
    const uint32_t place = (spent->first + spent->count++) % NET_SPENT_MAX;
    const uint64_t hashed = hash(spent, name);
    uint32_t* chain = &spent->chains[hashed % NET_SPENT_MAX];
    spent->entries[place] = (net_spent_entry){hashed, time_us, *chain};
    *chain = place + 1;
    return true;
}

bool net_spent_has(const net_spent* spent, const uint8_t name[NET_SPENT_NAME_BYTES],
                   uint64_t time_us) {
    const uint64_t hashed = hash(spent, name);
    for (uint32_t i = spent->chains[hashed % NET_SPENT_MAX]; i != 0; i = spent->entries[i - 1].next)
        if (spent->entries[i - 1].name == hashed && spent->entries[i - 1].time_us >= time_us)
            return true;
    return false;
}
