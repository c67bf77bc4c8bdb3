// SPDX-License-Identifier: MIT ENet's own datagram, clock and random functions, defined again.
// libenet.so calls them through its procedure linkage table, so the definitions of the executable
// win; nothing of ENet is patched. One place where every datagram passes, in both directions:
//
//   enet_socket_send    -> [guard] -> socket_outer.c -> kernel or virtual wire
//   enet_socket_receive <- [guard] <- socket_outer.c <- kernel or virtual wire
//
// ENet takes 0 from a receive for "no more datagrams" and a negative number for a failure of the
// whole host. So an empty datagram would end the drain, and a long one the service. Neither is ever
// returned for a datagram: a refused datagram is counted and the next one is read. Errors of
// the kernel when sending count as loss.
//
// Left to transport_enet.c: the content of a datagram.
#include "socket/socket_state.h"

#include "net/token.h"
#include "net/transport.h"

#include "base/assert.h"

#include <enet/enet.h>

#include <string.h>
#include <sys/random.h>
#include <time.h>
#include <unistd.h>

#define VIRTUAL_UNIX_S UINT64_C(1800000000)

enum { SKIPPED_MAX = 4096 }; // datagrams without an inner one that a receive steps over

// ---- ENet's functions: datagrams

static void inner_send(net_socket_entry* entry, const ENetAddress* address, const uint8_t* bytes,
                       size_t size) {
    if (!entry->has_guard) {
        net_address to = net_address_ipv4(address->host, address->port);
        net_socket_outer_send(entry, &to, bytes, size);
        return;
    }
    const net_socket_guard* guard = &entry->guard;
    uint8_t out[NET_SOCKET_OUTER_BYTES_MAX];
    net_address to = {0};
    size_t sealed = guard->send(guard->context, net_socket_now_us(), address->host, address->port,
                                bytes, size, out, &to);
    BASE_ASSERT(sealed <= sizeof out);
    if (sealed > 0) net_socket_outer_send(entry, &to, out, sealed);
}

// What ENet gets of an outer datagram; 0: nothing.
static size_t open_outer(net_socket_entry* entry, const net_address* from, uint8_t* outer,
                         size_t size, const uint8_t** inner, ENetAddress* address) {
    if (entry->has_guard) {
        const net_socket_guard* guard = &entry->guard;
        size_t opened = guard->receive(guard->context, net_socket_now_us(), from, outer, size,
                                       inner, &address->host, &address->port);
        BASE_ASSERT(opened <= NET_DATAGRAM_BYTES_MAX);
        if (opened == 0) entry->stats.guard_kept++;
        return opened;
    }
    *inner = outer;
    *address = (ENetAddress){.host = net_address_ipv4_host(from), .port = from->port};
    if (net_address_is_ipv4(from)) return size;
    entry->stats.socket_errors++; // ENet alone has no words for it
    return 0;
}

int enet_socket_send(ENetSocket socket, const ENetAddress* address, const ENetBuffer* buffers,
                     size_t count) {
    net_socket_entry* entry = net_socket_entry_find(socket);
    uint8_t bytes[NET_DATAGRAM_BYTES_MAX];
    size_t size = 0;
    bool fits = address != NULL;
    for (size_t i = 0; i < count; i++) {
        if (fits && size + buffers[i].dataLength <= sizeof bytes)
            memcpy(bytes + size, buffers[i].data, buffers[i].dataLength);
        else
            fits = false;
        size += buffers[i].dataLength;
    }
    if (!entry) return (int)size; // no memory: loss
    if (fits)
        inner_send(entry, address, bytes, size);
    else
        entry->stats.socket_errors++;
    return (int)size;
}

int enet_socket_receive(ENetSocket socket, ENetAddress* address, ENetBuffer* buffers,
                        size_t count) {
    net_socket_entry* entry = net_socket_entry_find(socket);
    if (!entry || count == 0) return 0;
    for (int skipped = 0; skipped < SKIPPED_MAX; skipped++) {
        net_address from = {0};
        uint8_t* outer = NULL;
        const uint8_t* inner = NULL;
        ENetAddress seen = {0};
        size_t size = entry->trunk ? net_socket_lane_receive(entry, &from, &outer)
                                   : net_socket_outer_receive(entry, &from, &outer);
        if (size == 0) return 0;
        size = open_outer(entry, &from, outer, size, &inner, &seen);
        if (size == 0 || size > buffers->dataLength) continue;
        memcpy(buffers->data, inner, size);
        if (address) *address = seen;
        return (int)size;
    }
    return 0;
}

// ---- ENet's functions: clock and chance

enet_uint32 enet_time_get(void) {
    net_socket_state* state = net_socket_get_state();
    if (state->is_probing) state->time_calls++;
    return (enet_uint32)(net_socket_now_us() / 1000) + state->time_offset_ms;
}

void enet_time_set(enet_uint32 time_ms) {
    net_socket_state* state = net_socket_get_state();
    state->time_offset_ms = time_ms - (enet_uint32)(net_socket_now_us() / 1000);
}

// ENet's own is the time in seconds, so an attacker could guess the identifiers of connections.
enet_uint32 enet_host_random_seed(void) {
    net_socket_state* state = net_socket_get_state();
    enet_uint32 seed = 0;
    if (state->is_virtual) return base_rng_u32(&state->virtual_rng);
    if (getrandom(&seed, sizeof seed, GRND_NONBLOCK) == (ssize_t)sizeof seed) return seed;
    return (enet_uint32)time(NULL) ^ (enet_uint32)getpid() << 16;
}

uint64_t net_socket_unix_s(void) {
    const net_socket_state* state = net_socket_get_state();
    return state->is_virtual ? VIRTUAL_UNIX_S + state->virtual_us / 1000000 : (uint64_t)time(NULL);
}

void net_socket_fill(void* context, void* bytes, size_t size) {
    (void)context;
    net_socket_state* state = net_socket_get_state();
    if (!state->is_virtual) {
        const net_entropy* system = net_entropy_system();
        system->fill(system->context, bytes, size);
        return;
    }
    uint8_t* at = bytes;
    for (size_t i = 0; i < size; i++)
        at[i] = (uint8_t)base_rng_u32(&state->virtual_rng);
}

// Let libenet flush a host without peers: all it does is to ask for the time, here or elsewhere.
bool net_socket_is_installed(void) {
    static const ENetHost no_host;
    ENetHost probe = no_host;
    net_socket_state* state = net_socket_get_state();
    state->time_calls = 0;
    state->is_probing = true;
    enet_host_flush(&probe);
    state->is_probing = false;
    return state->time_calls > 0;
}
