// SPDX-License-Identifier: MIT
#include "secure/address_table.h"

#include <sodium.h>

#include <string.h>

enum { HOME_BYTES = 8 };

static uint64_t name_of(const net_address_table* table, const net_address* address) {
    uint8_t ip[sizeof address->ip] = {0}, hash[crypto_shorthash_BYTES];
    memcpy(ip, address->ip, net_address_is_ipv4(address) ? sizeof ip : HOME_BYTES);
    (void)crypto_shorthash(hash, ip, sizeof ip, table->key);
    uint64_t name;
    memcpy(&name, hash, sizeof name);
    return name ? name : 1;
}

net_address_entry* net_address_table_get(net_address_table* table, const net_address* address,
                                         uint64_t now_us) {
    uint64_t name = name_of(table, address);
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
