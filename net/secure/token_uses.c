// SPDX-License-Identifier: MIT
#include "secure/token_uses.h"

#include "base/assert.h"

#include <sodium.h>

#include <string.h>

enum { HOME_BYTES = 8 };

net_address_entry* net_address_table_get(net_address_table* table, const net_address* address,
                                         uint64_t now_us) {
    uint8_t ip[sizeof address->ip] = {0}, hash[crypto_shorthash_BYTES];
    memcpy(ip, address->ip, net_address_is_ipv4(address) ? sizeof ip : HOME_BYTES);
    (void)crypto_shorthash(hash, ip, sizeof ip, table->key);
    uint64_t name;
    memcpy(&name, hash, sizeof name);
    if (name == 0) name = 1;
    net_address_entry* set = table->entries[name % NET_ADDRESS_SETS];
    net_address_entry* found = &set[0];
    for (uint32_t i = 0; i < NET_ADDRESS_WAYS; i++) {
        if (set[i].name == name) {
            found = &set[i];
            break;
        }
        if (set[i].seen_us < found->seen_us) found = &set[i];
    }
    if (found->name != name) *found = (net_address_entry){.name = name};
    found->seen_us = now_us;
    return found;
}

// A heap by expiry says which place is free next; chains by keyed hash find a token. An entry moves
// inside of the heap, never in memory, so the chains stay.

typedef struct use {
    uint64_t token, host; // keyed hashes
    uint64_t expiry_unix_s;
    uint32_t next; // of the chain: its index + 1; 0: none
} use;

struct net_token_uses {
    base_owner owner;
    uint8_t key[16];
    uint32_t capacity, count;
    uint32_t chain_mask;
    use* entries;
    uint32_t* heap;   // entries, soonest expiry first
    uint32_t* chains; // as next
};

static uint64_t hash(const net_token_uses* uses, const uint8_t bytes[16]) {
    uint64_t value = 0;
    uint8_t out[crypto_shorthash_BYTES];
    (void)crypto_shorthash(out, bytes, 16, uses->key);
    memcpy(&value, out, sizeof value);
    return value;
}

net_token_uses* net_token_uses_create(const base_allocator* allocator, uint32_t capacity,
                                      const uint8_t key[16]) {
    BASE_ASSERT(capacity >= 1 && capacity <= NET_TOKEN_USES_MAX);
    net_token_uses* made = base_owner_create(allocator, sizeof *made);
    allocator = &made->owner.allocator;
    made->capacity = capacity;
    memcpy(made->key, key, sizeof made->key);
    uint32_t chains = 1;
    while (chains < capacity)
        chains *= 2;
    made->chain_mask = chains - 1;
    made->entries = base_allocate(allocator, capacity * sizeof *made->entries);
    made->heap = base_allocate(allocator, capacity * sizeof *made->heap);
    made->chains = base_allocate_zero(allocator, chains * sizeof *made->chains);
    return made;
}

static const use* find_use(const net_token_uses* uses, uint64_t token) {
    const use* found = NULL;
    for (uint32_t i = uses->chains[token & uses->chain_mask]; i != 0; i = found->next) {
        found = &uses->entries[i - 1];
        if (found->token == token) return found;
    }
    return NULL;
}

net_token_use net_token_uses_find(const net_token_uses* uses, const uint8_t tag[16],
                                  const net_address* from) {
    const use* found = find_use(uses, hash(uses, tag));
    if (!found) return NET_TOKEN_USE_FIRST;
    return found->host == hash(uses, from->ip) ? NET_TOKEN_USE_AGAIN : NET_TOKEN_USE_OTHER;
}

static uint64_t expiry_at(const net_token_uses* uses, uint32_t place) {
    return uses->entries[uses->heap[place]].expiry_unix_s;
}

static void swap(net_token_uses* uses, uint32_t a, uint32_t b) {
    uint32_t kept = uses->heap[a];
    uses->heap[a] = uses->heap[b];
    uses->heap[b] = kept;
}

static void sink(net_token_uses* uses) {
    for (uint32_t at = 0;;) {
        uint32_t least = at, child = 2 * at + 1;
        for (uint32_t i = child; i < child + 2 && i < uses->count; i++)
            if (expiry_at(uses, i) < expiry_at(uses, least)) least = i;
        if (least == at) return;
        swap(uses, at, least);
        at = least;
    }
}

static void rise(net_token_uses* uses, uint32_t at) {
    while (at > 0 && expiry_at(uses, at) < expiry_at(uses, (at - 1) / 2)) {
        swap(uses, at, (at - 1) / 2);
        at = (at - 1) / 2;
    }
}

bool net_token_uses_add(net_token_uses* uses, const uint8_t tag[16], const net_address* from,
                        uint64_t expiry_unix_s, uint64_t unix_s) {
    bool is_full = uses->count == uses->capacity;
    // A place is kept for as long as a server would accept the token.
    if (is_full &&
        (unix_s < NET_SECURE_TOLERANCE_S || expiry_at(uses, 0) >= unix_s - NET_SECURE_TOLERANCE_S))
        return false;
    uint32_t index = is_full ? uses->heap[0] : uses->count;
    if (is_full) {
        uint32_t* link = &uses->chains[uses->entries[index].token & uses->chain_mask];
        while (*link != index + 1)
            link = &uses->entries[*link - 1].next;
        *link = uses->entries[index].next;
    }
    use* added = &uses->entries[index];
    added->token = hash(uses, tag);
    added->host = hash(uses, from->ip);
    added->expiry_unix_s = expiry_unix_s;
    added->next = uses->chains[added->token & uses->chain_mask];
    uses->chains[added->token & uses->chain_mask] = index + 1;
    if (is_full) {
        sink(uses);
    } else {
        uses->heap[uses->count] = index;
        rise(uses, uses->count++);
    }
    return true;
}
