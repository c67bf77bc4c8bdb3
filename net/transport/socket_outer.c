// SPDX-License-Identifier: MIT
// Outer datagrams: wire, sizes, the bad network of --net, budgets. What they hold is the guard's
// matter (enet_socket.c).
//
//   out  -> [out link of --net] -> batch -> kernel
//   in   <- [in link of --net] <- refuse by size, port 0 <- budget <- batch <- kernel
//
// A refused datagram is counted and the next one is read.
#include "transport/socket_state.h"

#include "base/assert.h"
#include "base/hash.h"

#include <errno.h>
#include <stdatomic.h>
#include <string.h>

enum {
    SKIPPED_MAX = 4096, // refused datagrams that one receive steps over; the next call goes on
    CLOCK_EVERY = 16,   // datagrams between two looks at the clock of a budget
};

// ---- the wire

static void wire_send(net_socket_entry* entry, const net_address* to, const void* bytes,
                      size_t size) {
    if (entry->pipe_count == 0) return;
    net_socket_pipe* through = entry->pipes[0];
    if (entry->pipe_count > 1 && net_socket_pipe_is_ipv6(through) == net_address_is_ipv4(to))
        through = entry->pipes[1];
    net_socket_pipe_send(through, to, bytes, size, &entry->stats);
}

static bool is_allowed(net_socket_entry* entry) {
    net_socket_budget* budget = &entry->budget;
    if (!entry->has_budget) return true;
    if (budget->datagrams > 0 && budget->datagrams % CLOCK_EVERY == 0 && budget->wall_us &&
        budget->wall_us(budget->context) >= budget->until_us)
        budget->datagrams = 0;
    return budget->datagrams > 0;
}

// Receive any datagram; *size is its true size even when the buffer was too small.
static bool wire_receive(net_socket_entry* entry, net_address* from, uint8_t** bytes,
                         size_t* size) {
    bool has_one = false;
    if (!is_allowed(entry)) return false;
    for (uint32_t i = 0; i < entry->pipe_count && !has_one; i++) {
        net_socket_pipe* pipe = entry->pipes[entry->turn];
        has_one = net_socket_pipe_receive(pipe, from, bytes, size, &entry->stats);
        if (!has_one || !net_socket_pipe_has_rest(pipe))
            entry->turn = (entry->turn + 1) % entry->pipe_count;
    }
    if (has_one && entry->has_budget) entry->budget.datagrams--;
    return has_one;
}

static size_t wire_receive_sound(net_socket_entry* entry, net_address* from, uint8_t** bytes) {
    size_t size = 0;
    for (int skipped = 0; skipped < SKIPPED_MAX; skipped++) {
        if (!wire_receive(entry, from, bytes, &size)) return 0;
        if (size == 0)
            entry->stats.dropped_empty++;
        else if (size > NET_SOCKET_OUTER_BYTES_MAX)
            entry->stats.dropped_oversized++;
        else if (from->port == 0) // cannot be answered: the kernel refuses to send there
            entry->stats.socket_errors++;
        else
            return size;
    }
    return 0;
}

// ---- the bad network

// A lane has links of its own; only those of the process are simulated.
static bool has_link(const net_socket_entry* entry) {
    return entry->out || net_socket_get_state()->has_link;
}

static net_link* link_get(net_link** link, const net_socket_entry* entry, uint64_t direction) {
    if (*link) return *link;
    const net_link_pair* pair = &net_socket_get_state()->link;
    net_link_config config = direction == 0 ? pair->up : pair->down;
    config.seed = base_hash64_mix(config.seed, (uint64_t)entry->number << 1 | direction);
    return *link = net_link_create(NULL, &config);
}

static size_t receive_through_link(net_socket_entry* entry, net_address* from, uint8_t** bytes) {
    net_link* link = link_get(&entry->in, entry, 1);
    const uint64_t now_us = net_socket_now_us();
    net_link_tag tag;
    size_t size = 0;
    for (uint32_t i = 0; i < NET_LINK_DATAGRAMS_MAX; i++) {
        size = wire_receive_sound(entry, from, bytes);
        if (size == 0) break;
        net_link_push(link, now_us, (net_link_tag){.address = *from}, *bytes, size);
    }
    const uint8_t* due = net_link_peek(link, now_us, &tag, &size);
    if (!due || size > NET_SOCKET_OUTER_BYTES_MAX) return 0;
    *from = tag.address;
    *bytes = net_socket_get_state()->received;
    memcpy(*bytes, due, size);
    net_link_pop(link);
    return size;
}

static void expect_release(net_socket_state* state, const net_link* out) {
    uint64_t next_us = net_link_next_us(out), known_us = state->release_us;
    while (next_us < known_us &&
           !atomic_compare_exchange_weak(&state->release_us, &known_us, next_us)) {
    }
}

static void entry_flush(net_socket_entry* entry) {
    for (uint32_t i = 0; i < entry->pipe_count; i++)
        net_socket_pipe_flush(entry->pipes[i], &entry->stats);
}

void net_socket_flush(int descriptor) {
    net_socket_entry* entry = net_socket_entry_find(descriptor);
    if (entry) entry_flush(entry);
}

// Every transport pumps in each service, so with many transports nearly always nothing is due.
void net_socket_pump(void) {
    net_socket_state* state = net_socket_get_state();
    net_socket_clock_pump();
    uint64_t now_us = net_socket_now_us();
    if (now_us < state->release_us) return;
    state->release_us = UINT64_MAX;
    const net_socket_table* const tables[] = {&state->real, &state->lanes};
    for (uint32_t t = 0; t < BASE_COUNT(tables); t++) {
        for (uint32_t i = 0; i < tables[t]->capacity; i++) {
            net_socket_entry* entry = tables[t]->entries[i];
            if (!entry || !entry->out) continue;
            net_link_tag tag;
            size_t size = 0;
            const uint8_t* bytes;
            while ((bytes = net_link_peek(entry->out, now_us, &tag, &size))) {
                wire_send(entry, &tag.address, bytes, size);
                net_link_pop(entry->out);
            }
            entry_flush(entry);
            expect_release(state, entry->out);
        }
    }
}

bool net_socket_is_sending(void) {
    return net_socket_get_state()->release_us != UINT64_MAX;
}

uint64_t net_socket_next_us(void) {
    const net_socket_state* state = net_socket_get_state();
    const net_socket_table* const tables[] = {&state->real, &state->lanes};
    uint64_t next_us = UINT64_MAX, now_us = net_socket_now_us();
    for (uint32_t t = 0; t < BASE_COUNT(tables); t++) {
        for (uint32_t i = 0; i < tables[t]->capacity; i++) {
            const net_socket_entry* entry = tables[t]->entries[i];
            if (!entry) continue;
            if (entry->ring.first != entry->ring.end || entry->ahead_bytes > 0) return 0;
            for (uint32_t p = 0; p < entry->pipe_count; p++)
                if (net_socket_pipe_has_rest(entry->pipes[p])) return 0;
            const net_link* const links[] = {entry->out, entry->in};
            for (uint32_t l = 0; l < BASE_COUNT(links); l++) {
                uint64_t at_us = links[l] ? net_link_next_us(links[l]) : UINT64_MAX;
                if (at_us < next_us) next_us = at_us;
            }
        }
    }
    if (next_us == UINT64_MAX) return UINT64_MAX;
    return next_us > now_us ? next_us - now_us : 0;
}

// ---- outer datagrams

void net_socket_outer_send(net_socket_entry* entry, const net_address* to, const void* bytes,
                           size_t size) {
    entry->stats.sent_datagrams++;
    entry->stats.sent_bytes += size;
    net_link* link = has_link(entry) ? link_get(&entry->out, entry, 0) : NULL;
    if (!link) {
        wire_send(entry, to, bytes, size);
        return;
    }
    uint64_t now_us = net_socket_now_us();
    if (net_link_rebind_is_due(link, now_us)) net_socket_rebind(entry);
    net_link_push(link, now_us, (net_link_tag){.address = *to}, bytes, size);
    expect_release(net_socket_get_state(), link);
}

void net_socket_wire_send(int descriptor, const net_address* to, const void* bytes, size_t size) {
    BASE_ASSERT(to && bytes && size <= NET_SOCKET_OUTER_BYTES_MAX);
    net_socket_entry* entry = net_socket_entry_find(descriptor);
    if (entry) net_socket_outer_send(entry, to, bytes, size);
}

size_t net_socket_outer_receive(net_socket_entry* entry, net_address* from, uint8_t** bytes) {
    size_t size = has_link(entry) ? receive_through_link(entry, from, bytes)
                                  : wire_receive_sound(entry, from, bytes);
    if (size == 0) return 0;
    entry->stats.recv_datagrams++;
    entry->stats.recv_bytes += size;
    return size;
}

// Lanes: the sockets of several ENet hosts behind one address and port.
//
// The trunk is a socket without a host. Its owner reads it, decides by the number of the session
// which lane a datagram belongs to, and pushes it there. So neither a client that moves to another
// address nor a flood changes lanes, and the kernel needs no rule. A lane sends through the trunk's
// descriptors, in batches of its own: the kernel lets several threads send at once.
//
// While lanes run on threads, each touches its own entry only: ring, batches, links, counters.

typedef struct head {
    net_address from;
    uint32_t size;   // of the datagram
    uint32_t stride; // to the next head
} head;

enum { ALIGN = 8, LANES_MAX = 4096 };

// The longest datagram, and after it the head that sends the reader to the beginning.
#define ROOM (2 * (uint32_t)sizeof(head) + NET_SOCKET_OUTER_BYTES_MAX + ALIGN)

int net_socket_lane_create(const net_socket_plan* plan) {
    net_socket_entry* trunk = net_socket_entry_find(plan->trunk);
    BASE_ASSERT(trunk && !trunk->trunk);
    int descriptor = NET_SOCKET_LANE_FIRST;
    while (net_socket_entry_find(descriptor) && descriptor < NET_SOCKET_LANE_FIRST + LANES_MAX)
        descriptor++;
    errno = EMFILE;
    if (descriptor == NET_SOCKET_LANE_FIRST + LANES_MAX) return -1;
    net_socket_entry* made = net_socket_entry_get(descriptor);
    made->trunk = trunk;
    made->ring.bytes = base_allocate(NULL, NET_SOCKET_LANE_BYTES);
    made->pipe_count = trunk->pipe_count;
    for (uint32_t i = 0; i < trunk->pipe_count; i++)
        made->pipes[i] = net_socket_pipe_share(trunk->pipes[i], plan->batch);
    return descriptor;
}

static net_socket_entry* find_lane(int descriptor) {
    net_socket_entry* entry = net_socket_entry_find(descriptor);
    BASE_ASSERT(entry && entry->trunk);
    return entry;
}

// Both ends fall back to the beginning when the ring is empty, and a datagram is never cut, so
// there is room at the end, or at the beginning when that many bytes before `first` are free.
static bool fits_at_end(const net_socket_ring* ring) {
    uint32_t limit = ring->end >= ring->first ? NET_SOCKET_LANE_BYTES : ring->first;
    return limit - ring->end > ROOM;
}

static bool fits_at_begin(const net_socket_ring* ring) {
    return ring->end >= ring->first && ring->first > ROOM;
}

bool net_socket_lane_has_room(int descriptor) {
    const net_socket_ring* ring = &find_lane(descriptor)->ring;
    return fits_at_end(ring) || fits_at_begin(ring);
}

bool net_socket_lane_has_rest(int descriptor) {
    const net_socket_ring* ring = &find_lane(descriptor)->ring;
    return ring->first != ring->end;
}

void net_socket_lane_push(int descriptor, const net_address* from, const uint8_t* bytes,
                          size_t size) {
    BASE_ASSERT(size > 0 && size <= NET_SOCKET_OUTER_BYTES_MAX);
    net_socket_ring* ring = &find_lane(descriptor)->ring;
    head next = {.from = *from, .size = (uint32_t)size};
    next.stride = (uint32_t)(sizeof next + size + ALIGN - 1) & ~(ALIGN - 1u);
    if (!fits_at_end(ring)) {
        BASE_ASSERT(fits_at_begin(ring));
        // A head of size 0 sends the reader to the beginning.
        const head turn = {.size = 0};
        memcpy(ring->bytes + ring->end, &turn, sizeof turn);
        ring->end = 0;
    }
    memcpy(ring->bytes + ring->end, &next, sizeof next);
    memcpy(ring->bytes + ring->end + sizeof next, bytes, size);
    ring->end += next.stride;
}

size_t net_socket_lane_receive(net_socket_entry* entry, net_address* from, uint8_t** bytes) {
    net_socket_ring* ring = &entry->ring;
    head next;
    if (!is_allowed(entry)) return 0;
    // The bytes are borrowed until the next call: the trunk pushes nothing while a lane reads.
    if (ring->first == ring->end) {
        ring->first = ring->end = 0;
        return 0;
    }
    memcpy(&next, ring->bytes + ring->first, sizeof next);
    if (next.size == 0) {
        ring->first = 0;
        memcpy(&next, ring->bytes, sizeof next);
    }
    *from = next.from;
    *bytes = ring->bytes + ring->first + sizeof next;
    ring->first += next.stride;
    if (entry->has_budget) entry->budget.datagrams--;
    return next.size;
}

size_t net_socket_trunk_receive(int descriptor, net_address* from, const uint8_t** bytes) {
    net_socket_entry* entry = net_socket_entry_find(descriptor);
    uint8_t* received = NULL;
    size_t size = entry ? net_socket_outer_receive(entry, from, &received) : 0;
    *bytes = received;
    return size;
}
