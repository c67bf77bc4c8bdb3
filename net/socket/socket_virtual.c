// SPDX-License-Identifier: MIT A wire without a kernel. Sockets are numbers, a bound address is a
// name on the wire, and every socket has a perfect link as its receive buffer. The clock stands
// still until a test advances it, so a run is a function of its seed. Datagrams of wrong sizes pass
// unchanged: enet_socket.c judges them, and tests check that.
#include "socket/socket_virtual.h"

#include "socket/socket_state.h"

#include "base/assert.h"

#include <arpa/inet.h>
#include <errno.h>
#include <string.h>

enum { FIRST_FREE_PORT = 49152, SOCKETS_MAX = 4096 };

void net_socket_virtual_set(bool is_virtual, uint64_t seed) {
    net_socket_state* state = net_socket_get_state();
    for (uint32_t i = 0; i < state->virtual.capacity; i++)
        net_socket_forget(NET_SOCKET_VIRTUAL_FIRST + (int)i);
    state->is_virtual = is_virtual;
    state->virtual_us = 0;
    state->virtual_rng = base_rng_make(seed, 0);
    state->virtual_port_next = FIRST_FREE_PORT;
    state->created = 0;
    state->pumped_us = 0;
    state->time_offset_ms = 0;
}

void net_socket_virtual_advance(uint64_t now_us) {
    net_socket_state* state = net_socket_get_state();
    BASE_ASSERT(state->is_virtual && now_us >= state->virtual_us);
    state->virtual_us = now_us;
}

static net_socket_entry* find_bound(net_socket_address address) {
    const net_socket_table* table = &net_socket_get_state()->virtual;
    for (uint32_t i = 0; i < table->capacity; i++) {
        net_socket_entry* entry = table->entries[i];
        if (!entry || entry->bound.port != address.port) continue;
        if (entry->bound.host == htonl(INADDR_ANY) || address.host == htonl(INADDR_ANY) ||
            entry->bound.host == address.host)
            return entry;
    }
    return NULL;
}

static net_link* wire_take(void) {
    net_socket_state* state = net_socket_get_state();
    for (int i = 0; i < NET_SOCKET_SPARES; i++) {
        net_link* wire = state->virtual_spares[i];
        state->virtual_spares[i] = NULL;
        if (wire) return wire;
    }
    net_link* made = NULL;
    return net_link_create(NULL, &(net_link_config){0}, &made) == NET_OK ? made : NULL;
}

void net_socket_virtual_wire_release(net_link* wire) {
    net_socket_state* state = net_socket_get_state();
    size_t size = 0;
    while (wire && net_link_peek(wire, UINT64_MAX, NULL, &size))
        net_link_pop(wire);
    for (int i = 0; wire && i < NET_SOCKET_SPARES; i++) {
        if (state->virtual_spares[i]) continue;
        state->virtual_spares[i] = wire;
        return;
    }
    net_link_destroy(wire);
}

int net_socket_virtual_create(void) {
    for (int i = 0; i < SOCKETS_MAX; i++) {
        int descriptor = NET_SOCKET_VIRTUAL_FIRST + i;
        if (net_socket_entry_find(descriptor)) continue;
        net_socket_entry* made = net_socket_entry_get(descriptor);
        if (!made) return -1;
        made->wire = wire_take();
        if (made->wire) return descriptor;
        net_socket_forget(descriptor);
        return -1;
    }
    errno = EMFILE;
    return -1;
}

bool net_socket_virtual_bind(net_socket_entry* entry, net_socket_address address) {
    if (address.port == 0) {
        do
            address.port = net_socket_get_state()->virtual_port_next++;
        while (address.port < FIRST_FREE_PORT || find_bound(address));
    } else if (find_bound(address)) {
        errno = EADDRINUSE;
        return false;
    }
    entry->bound = address;
    return true;
}

static void put(net_socket_entry* to, net_socket_address from, const void* bytes, size_t size) {
    // Longer than any link carries: it is refused for its size either way.
    if (size > NET_LINK_BYTES_MAX) size = NET_LINK_BYTES_MAX;
    net_link_push(to->wire, net_socket_now_us(), net_socket_tag(from), bytes, size);
}

void net_socket_virtual_send(net_socket_entry* from, net_socket_address to, const void* bytes,
                             size_t size) {
    if (from->bound.port == 0)
        (void)net_socket_virtual_bind(from, (net_socket_address){htonl(INADDR_LOOPBACK), 0});
    net_socket_address source = from->bound;
    if (source.host == htonl(INADDR_ANY)) source.host = htonl(INADDR_LOOPBACK);
    net_socket_entry* target = find_bound(to);
    if (target) put(target, source, bytes, size);
}

bool net_socket_virtual_receive(net_socket_entry* at, net_socket_address* from, void* bytes,
                                size_t capacity, size_t* size) {
    uint64_t tag = 0;
    const uint8_t* found = net_link_peek(at->wire, net_socket_now_us(), &tag, size);
    if (!found) return false;
    *from = net_socket_tag_address(tag);
    memcpy(bytes, found, *size < capacity ? *size : capacity);
    net_link_pop(at->wire);
    return true;
}

bool net_socket_virtual_inject(uint32_t from_host, uint16_t from_port, uint16_t to_port,
                               const void* bytes, size_t size) {
    net_socket_entry* target = find_bound((net_socket_address){htonl(INADDR_ANY), to_port});
    if (!target) return false;
    put(target, (net_socket_address){from_host, from_port}, bytes, size);
    return true;
}
