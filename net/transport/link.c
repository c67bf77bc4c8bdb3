// SPDX-License-Identifier: MIT
// One direction of a bad path. A datagram is judged once, when it is put in: lost or not, when it
// arrives, whether a twin follows. What lives waits in a pool of fixed size, its slots ordered by a
// binary heap over (arrival, order of sending), so the same seed and the same pushes give the same
// deliveries in the same order, on every machine.
//
// Every push draws exactly DRAWS_PER_PUSH numbers, whatever the configuration: changing the loss of
// a path in the middle of a run leaves the later jitter what it would have been. Bursts, flipped
// bits and new ports have streams of their own (link_faults.h).
//
// The rate models one transmitter: a datagram leaves when those before it are out. It counts the 28
// bytes of IP and UDP around the payload, as a real line does. A queue that is longer than queue_ms
// loses what comes (drop tail).
//
// The pool is large and touched only as far as it is used: free slots are handed out last in, first
// out, so a quiet path stays in a few pages.
#include "transport/link_faults.h"

#include "base/assert.h"
#include "base/macros.h"

#include <string.h>

enum {
    DRAWS_PER_PUSH = 6,
    HEADER_BYTES = 28, // IPv4 and UDP
    NO_SLOT = UINT16_MAX,
};

typedef struct entry {
    uint64_t arrival_us;
    uint64_t order;
    uint64_t tag;
    uint32_t size;
} entry;

struct net_link {
    const base_allocator* allocator;
    net_link_config config;
    net_link_stats stats;
    base_rng rng;
    net_link_faults faults;
    uint64_t order_next;
    uint64_t busy_until_us; // of the transmitter
    uint64_t first_us;      // of the first datagram; with has_first
    bool has_first;
    uint32_t heap_count;
    uint32_t free_count;
    uint16_t borrowed; // out of the heap, not yet free; NO_SLOT when there is none
    uint16_t heap[NET_LINK_DATAGRAMS_MAX];
    uint16_t free[NET_LINK_DATAGRAMS_MAX];
    entry entries[NET_LINK_DATAGRAMS_MAX];
    uint8_t bytes[NET_LINK_DATAGRAMS_MAX][NET_LINK_BYTES_MAX];
};

net_result net_link_create(const base_allocator* allocator, const net_link_config* config,
                           net_link** link) {
    BASE_ASSERT(config && link);
    BASE_ASSERT(net_link_config_is_sound(config));
    net_link* made = base_allocate(allocator, sizeof *made);
    if (!made) return NET_ERR_MEMORY;
    made->allocator = allocator;
    made->config = *config;
    made->stats = (net_link_stats){0};
    made->rng = base_rng_make(config->seed, 0);
    net_link_faults_init(&made->faults, config->seed);
    made->order_next = 0;
    made->busy_until_us = 0;
    made->first_us = 0;
    made->has_first = false;
    made->heap_count = 0;
    made->free_count = NET_LINK_DATAGRAMS_MAX;
    made->borrowed = NO_SLOT;
    for (uint32_t i = 0; i < NET_LINK_DATAGRAMS_MAX; i++)
        made->free[i] = (uint16_t)(NET_LINK_DATAGRAMS_MAX - 1 - i);
    *link = made;
    return NET_OK;
}

void net_link_destroy(net_link* link) {
    if (link) base_release(link->allocator, link, sizeof *link);
}

void net_link_config_set(net_link* link, const net_link_config* config) {
    BASE_ASSERT(link && config);
    BASE_ASSERT(net_link_config_is_sound(config));
    if (config->seed != link->config.seed) {
        link->rng = base_rng_make(config->seed, 0);
        net_link_faults_init(&link->faults, config->seed);
    }
    link->config = *config;
}

static bool is_before(const net_link* link, uint16_t a, uint16_t b) {
    const entry* x = &link->entries[a];
    const entry* y = &link->entries[b];
    return x->arrival_us != y->arrival_us ? x->arrival_us < y->arrival_us : x->order < y->order;
}

static void heap_push(net_link* link, uint16_t slot) {
    uint32_t at = link->heap_count++;
    while (at > 0) {
        uint32_t parent = (at - 1) / 2;
        if (!is_before(link, slot, link->heap[parent])) break;
        link->heap[at] = link->heap[parent];
        at = parent;
    }
    link->heap[at] = slot;
}

static uint16_t heap_pop(net_link* link) {
    uint16_t top = link->heap[0];
    uint16_t moved = link->heap[--link->heap_count];
    uint32_t at = 0;
    for (;;) {
        uint32_t child = 2 * at + 1;
        if (child >= link->heap_count) break;
        if (child + 1 < link->heap_count &&
            is_before(link, link->heap[child + 1], link->heap[child]))
            child++;
        if (!is_before(link, link->heap[child], moved)) break;
        link->heap[at] = link->heap[child];
        at = child;
    }
    if (link->heap_count > 0) link->heap[at] = moved;
    return top;
}

static double draw(net_link* link) {
    return base_rng_u32(&link->rng) * 0x1p-32;
}

static uint64_t us_from_ms(double ms) {
    return (uint64_t)(ms * 1000.0 + 0.5);
}

// @return the copied bytes; NULL when the pool is empty.
static uint8_t* put(net_link* link, uint64_t arrival_us, uint64_t tag, const void* bytes,
                    size_t size) {
    if (link->free_count == 0) {
        link->stats.overflowed++;
        return NULL;
    }
    uint16_t slot = link->free[--link->free_count];
    link->entries[slot] = (entry){arrival_us, link->order_next++, tag, (uint32_t)size};
    if (size > 0) memcpy(link->bytes[slot], bytes, size);
    heap_push(link, slot);
    return link->bytes[slot];
}

// When the transmitter has sent these bytes; UINT64_MAX when its queue is too long.
static uint64_t departure_us(net_link* link, uint64_t now_us, size_t size) {
    if (link->config.rate_kbit == 0) return now_us;
    uint64_t start_us = link->busy_until_us > now_us ? link->busy_until_us : now_us;
    double queue_ms = link->config.queue_ms > 0 ? link->config.queue_ms : NET_LINK_QUEUE_MS_DEFAULT;
    if (start_us - now_us > us_from_ms(queue_ms)) return UINT64_MAX;
    double bits = (double)(size + HEADER_BYTES) * 8.0;
    link->busy_until_us = start_us + us_from_ms(bits / link->config.rate_kbit);
    return link->busy_until_us;
}

bool net_link_is_out(const net_link* link, uint64_t now_us) {
    BASE_ASSERT(link);
    const net_link_config* config = &link->config;
    if (config->outage_for_ms <= 0 || !link->has_first) return false;
    uint64_t begin_us = link->first_us + us_from_ms(config->outage_at_ms);
    return now_us >= begin_us && now_us - begin_us < us_from_ms(config->outage_for_ms);
}

// Each of them is asked for every datagram, so that none changes the chances of the others.
static bool is_lost(net_link* link, uint64_t now_us, double chance, size_t size) {
    const net_link_config* config = &link->config;
    bool is_in_burst = net_link_faults_burst(&link->faults, config, now_us);
    bool is_unlucky = config->burst_ms > 0 ? is_in_burst : chance * 100.0 < config->loss_percent;
    bool is_too_long = config->mtu_bytes > 0 && (double)size > config->mtu_bytes;
    return is_unlucky || is_too_long || net_link_is_out(link, now_us);
}

void net_link_push(net_link* link, uint64_t now_us, uint64_t tag, const void* bytes, size_t size) {
    BASE_ASSERT(link && (bytes || size == 0));
    const net_link_config* config = &link->config;
    double draws[DRAWS_PER_PUSH];
    for (uint32_t i = 0; i < DRAWS_PER_PUSH; i++)
        draws[i] = draw(link);
    net_link_flips flips = net_link_faults_flips(&link->faults, config, size);
    link->stats.sent++;
    if (!link->has_first) link->first_us = now_us;
    link->has_first = true;
    if (size > NET_LINK_BYTES_MAX) {
        link->stats.overflowed++;
        return;
    }
    uint64_t left_us = departure_us(link, now_us, size);
    if (left_us == UINT64_MAX) {
        link->stats.overflowed++;
        return;
    }
    if (is_lost(link, now_us, draws[0], size)) {
        link->stats.lost++;
        return;
    }
    uint64_t path_us = left_us + us_from_ms(config->delay_ms);
    uint64_t arrival_us = path_us + us_from_ms(draws[1] * config->jitter_ms);
    if (draws[2] * 100.0 < config->reorder_percent) {
        arrival_us += us_from_ms(1.0 + draws[3] * (config->jitter_ms + 9.0));
        link->stats.reordered++;
    }
    uint8_t* copy = put(link, arrival_us, tag, bytes, size);
    if (!copy) return;
    for (uint32_t i = 0; i < flips.count; i++)
        copy[flips.bits[i] / 8] ^= (uint8_t)(1u << flips.bits[i] % 8);
    link->stats.flipped += flips.count > 0;
    if (draws[4] * 100.0 >= config->duplicate_percent) return;
    if (put(link, path_us + us_from_ms(draws[5] * config->jitter_ms), tag, bytes, size))
        link->stats.duplicated++;
}

const uint8_t* net_link_peek(net_link* link, uint64_t now_us, uint64_t* tag, size_t* size) {
    BASE_ASSERT(link && size);
    if (link->borrowed == NO_SLOT) {
        if (link->heap_count == 0) return NULL;
        if (link->entries[link->heap[0]].arrival_us > now_us) return NULL;
        link->borrowed = heap_pop(link);
    }
    const entry* found = &link->entries[link->borrowed];
    if (tag) *tag = found->tag;
    *size = found->size;
    return link->bytes[link->borrowed];
}

void net_link_pop(net_link* link) {
    BASE_ASSERT(link && link->borrowed != NO_SLOT);
    link->free[link->free_count++] = link->borrowed;
    link->borrowed = NO_SLOT;
    link->stats.delivered++;
}

uint64_t net_link_next_us(const net_link* link) {
    BASE_ASSERT(link);
    if (link->borrowed != NO_SLOT) return link->entries[link->borrowed].arrival_us;
    return link->heap_count > 0 ? link->entries[link->heap[0]].arrival_us : UINT64_MAX;
}

bool net_link_rebind_is_due(net_link* link, uint64_t now_us) {
    BASE_ASSERT(link);
    return link->has_first && net_link_faults_rebind(&link->faults, &link->config, now_us);
}

const net_link_stats* net_link_get_stats(const net_link* link) {
    BASE_ASSERT(link);
    return &link->stats;
}
