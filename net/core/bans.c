// SPDX-License-Identifier: MIT
// One sorted array. An address is asked for once per length of prefix that the list has: the prefix
// of that length is looked up like any other item. Files are in bans_file.c.
#include "core/bans.h"

#include "base/assert.h"
#include "base/search.h"
#include "base/text.h"

#include <inttypes.h>
#include <string.h>

#define BITS 128u
#define MAPPED_BITS 96u // of ::ffff:0:0/96

static int compare_u64(uint64_t a, uint64_t b) {
    return (a > b) - (a < b);
}

int net_bans_compare(const net_ban* a, const net_ban* b) {
    int order = compare_u64(a->kind, b->kind);
    if (order == 0) order = compare_u64(a->bits, b->bits);
    if (order == 0) order = memcmp(a->ip, b->ip, sizeof a->ip);
    return order ? order : compare_u64(a->id, b->id);
}

net_bans* net_bans_create(const base_allocator* allocator) {
    return base_owner_create(allocator, sizeof(net_bans));
}

void net_bans_replace(net_bans* bans, net_bans_item* items, uint32_t count, uint32_t capacity) {
    BASE_ARRAY_RELEASE(&bans->owner.allocator, bans->items, bans->capacity);
    bans->items = items;
    bans->count = count;
    bans->capacity = capacity;
    memset(bans->lengths, 0, sizeof bans->lengths);
    for (uint32_t i = 0; i < count; i++)
        if (items[i].ban.kind == NET_BAN_ADDRESS) bans->lengths[items[i].ban.bits]++;
}

// The place of a ban, or the place to insert it.
static uint32_t find_place(const net_bans* bans, const net_ban* ban) {
    base_search search = base_search_begin(bans->count);
    while (base_search_next(&search))
        base_search_step(&search, net_bans_compare(&bans->items[search.middle].ban, ban) < 0);
    return search.low;
}

static const net_ban* find_ban(const net_bans* bans, const net_ban* ban) {
    uint32_t place = find_place(bans, ban);
    bool is_there = place < bans->count && net_bans_compare(&bans->items[place].ban, ban) == 0;
    return is_there ? &bans->items[place].ban : NULL;
}

static void cut_prefix(uint8_t ip[16], uint32_t bits) {
    for (uint32_t i = 0; i < 16; i++) {
        uint32_t kept = bits > 8 * i ? bits - 8 * i : 0;
        if (kept < 8) ip[i] = (uint8_t)(ip[i] & ~(0xFFu >> kept));
    }
}

net_ban net_ban_of_address(const net_address* address, const char* reason) {
    net_ban ban = {.kind = NET_BAN_ADDRESS, .bits = BITS};
    memcpy(ban.ip, address->ip, sizeof ban.ip);
    (void)base_text_copy(ban.reason, sizeof ban.reason, reason ? reason : "");
    return ban;
}

void net_ban_print(const net_ban* ban, char* text, size_t text_bytes) {
    if (ban->kind != NET_BAN_ADDRESS) {
        (void)base_text_format(text, text_bytes, "%s %" PRIu64,
                               ban->kind == NET_BAN_PLAYER ? "player" : "key", ban->id);
        return;
    }
    net_address address = {.port = 0};
    memcpy(address.ip, ban->ip, sizeof address.ip);
    bool is_ipv4 = ban->bits >= MAPPED_BITS && net_address_is_ipv4(&address);
    char host[NET_ADDRESS_TEXT_BYTES];
    (void)net_address_print(&address, host, sizeof host);
    // "1.2.3.4:0" or "[::1]:0"
    char* from = host[0] == '[' ? host + 1 : host;
    char* end = strrchr(host, ':') - (host[0] == '[');
    (void)base_text_format(text, text_bytes, "address %.*s/%u", (int)(end - from), from,
                           is_ipv4 ? ban->bits - MAPPED_BITS : ban->bits);
}

net_result net_bans_add(net_bans* bans, const net_ban* ban) {
    BASE_ASSERT(ban->kind <= NET_BAN_KEY && ban->bits <= BITS);
    uint32_t place = find_place(bans, ban);
    bool is_there = place < bans->count && net_bans_compare(&bans->items[place].ban, ban) == 0;
    if (!is_there) {
        if (bans->count == NET_BANS_MAX) return NET_ERR_FULL;
        BASE_ARRAY_RESERVE(&bans->owner.allocator, bans->items, bans->capacity, bans->count + 1);
        memmove(&bans->items[place + 1], &bans->items[place],
                (bans->count - place) * sizeof *bans->items);
        bans->count++;
        if (ban->kind == NET_BAN_ADDRESS) bans->lengths[ban->bits]++;
    }
    bans->items[place] = (net_bans_item){.ban = *ban};
    return NET_OK;
}

bool net_bans_remove(net_bans* bans, const net_ban* ban) {
    uint32_t place = find_place(bans, ban);
    if (place == bans->count || net_bans_compare(&bans->items[place].ban, ban) != 0) return false;
    if (ban->kind == NET_BAN_ADDRESS) bans->lengths[ban->bits]--;
    bans->count--;
    memmove(&bans->items[place], &bans->items[place + 1],
            (bans->count - place) * sizeof *bans->items);
    return true;
}

const net_ban* net_bans_find_address(const net_bans* bans, const net_address* address) {
    if (!bans) return NULL;
    net_ban asked = {.kind = NET_BAN_ADDRESS};
    memcpy(asked.ip, address->ip, sizeof asked.ip);
    // From the longest: the reason of the most exact ban counts.
    for (uint32_t bits = BITS + 1; bits-- > 0;) {
        if (bans->lengths[bits] == 0) continue;
        asked.bits = bits;
        cut_prefix(asked.ip, bits);
        const net_ban* found = find_ban(bans, &asked);
        if (found) return found;
    }
    return NULL;
}

static const net_ban* find_number(const net_bans* bans, net_ban_kind kind, uint64_t id) {
    if (!bans || id == 0) return NULL;
    const net_ban asked = {.kind = kind, .id = id};
    return find_ban(bans, &asked);
}

const net_ban* net_bans_find_player(const net_bans* bans, uint64_t player) {
    return find_number(bans, NET_BAN_PLAYER, player);
}

const net_ban* net_bans_find_key(const net_bans* bans, uint64_t key) {
    return find_number(bans, NET_BAN_KEY, key);
}

const net_ban* net_bans_find(const net_bans* bans, const net_address* address, uint64_t player,
                             uint64_t key) {
    const net_ban* found = net_bans_find_address(bans, address);
    if (!found) found = net_bans_find_player(bans, player);
    return found ? found : net_bans_find_key(bans, key);
}

uint32_t net_bans_count(const net_bans* bans) {
    return bans ? bans->count : 0;
}
