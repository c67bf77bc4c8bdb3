// SPDX-License-Identifier: MIT
// Lanes: the sockets of several ENet hosts behind one address and port.
//
// The trunk is a socket without a host. Its owner reads it, decides by the number of the session
// which lane a datagram belongs to, and pushes it there. So neither a client that moves to another
// address nor a flood changes lanes, and the kernel needs no rule. A lane sends through the trunk's
// descriptors, in batches of its own: the kernel lets several threads send at once.
//
// While lanes run on threads, each touches its own entry only: ring, batches, links, counters.
#include "socket/socket_state.h"

#include "base/assert.h"

#include <errno.h>
#include <string.h>

typedef struct head {
    net_address from;
    uint32_t size;   // of the datagram
    uint32_t stride; // to the next head
} head;

enum { ALIGN = 8, LANES_MAX = 4096 };

// The longest datagram, and behind it the head that sends the reader to the beginning.
#define ROOM (2 * (uint32_t)sizeof(head) + NET_SOCKET_OUTER_BYTES_MAX + ALIGN)

static bool share_pipes(net_socket_entry* entry, uint32_t batch) {
    for (uint32_t i = 0; i < entry->trunk->pipe_count; i++) {
        entry->pipes[i] = net_socket_pipe_share(entry->trunk->pipes[i], batch);
        if (!entry->pipes[i]) return false;
        entry->pipe_count++;
    }
    return true;
}

int net_socket_lane_create(const net_socket_plan* plan) {
    net_socket_entry* trunk = net_socket_entry_find(plan->trunk);
    BASE_ASSERT(trunk && !trunk->trunk);
    int descriptor = NET_SOCKET_LANE_FIRST;
    while (net_socket_entry_find(descriptor) && descriptor < NET_SOCKET_LANE_FIRST + LANES_MAX)
        descriptor++;
    errno = EMFILE;
    if (descriptor == NET_SOCKET_LANE_FIRST + LANES_MAX) return -1;
    net_socket_entry* made = net_socket_entry_get(descriptor);
    errno = ENOMEM;
    if (!made) return -1;
    made->trunk = trunk;
    made->ring.bytes = base_allocate(NULL, NET_SOCKET_LANE_BYTES);
    if (made->ring.bytes && share_pipes(made, plan->batch)) return descriptor;
    net_socket_forget(descriptor);
    errno = ENOMEM;
    return -1;
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
    return next.size;
}

size_t net_socket_trunk_receive(int descriptor, net_address* from, const uint8_t** bytes) {
    net_socket_entry* entry = net_socket_entry_find(descriptor);
    uint8_t* received = NULL;
    size_t size = entry ? net_socket_outer_receive(entry, from, &received) : 0;
    *bytes = received;
    return size;
}
