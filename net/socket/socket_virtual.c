// SPDX-License-Identifier: MIT A wire without a kernel. Sockets are numbers, a bound address is a
// name on the wire, and every socket has a perfect link as its receive buffer. The clock stands
// still until a test advances it, so a run is a function of its seed. Datagrams of wrong sizes pass
// unchanged: enet_socket.c judges them, and tests check that.
#include "socket/socket_virtual.h"

#include "socket/socket_state.h"

#include "base/assert.h"
#include "base/hash.h"

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
    state->virtual_hash = 0;
    state->virtual_rng = base_rng_make(seed, 0);
    state->virtual_port_next = FIRST_FREE_PORT;
    state->created = 0;
    state->pumped_us = 0;
    state->release_us = 0; // the next pump looks
    state->time_offset_ms = 0;
}

void net_socket_virtual_advance(uint64_t now_us) {
    net_socket_state* state = net_socket_get_state();
    BASE_ASSERT(state->is_virtual && now_us >= state->virtual_us);
    state->virtual_us = now_us;
}

// Does a socket bound to `bound` hear what is sent to `to`? [::] hears both families.
static bool hears(const net_address* bound, const net_address* to) {
    if (bound->port == 0 || bound->port != to->port) return false;
    if (net_address_is_wildcard(bound))
        return net_address_is_ipv4(to) || !net_address_is_ipv4(bound);
    return net_address_is_wildcard(to) || net_address_equal(bound, to);
}

static net_socket_entry* find_bound(const net_address* address) {
    const net_socket_table* table = &net_socket_get_state()->virtual;
    for (uint32_t i = 0; i < table->capacity; i++) {
        net_socket_entry* entry = table->entries[i];
        for (uint32_t b = 0; entry && b < entry->bound_count; b++)
            if (hears(&entry->bound[b], address)) return entry;
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

bool net_socket_virtual_bind(net_address* address) {
    net_address bound = *address;
    address->port = 0; // not heard by itself
    if (bound.port == 0) {
        do
            bound.port = net_socket_get_state()->virtual_port_next++;
        while (bound.port < FIRST_FREE_PORT || find_bound(&bound));
    } else if (find_bound(&bound)) {
        errno = EADDRINUSE;
        return false;
    }
    *address = bound;
    return true;
}

static void put(net_socket_entry* to, const net_address* from, const void* bytes, size_t size) {
    // Longer than any link carries: it is refused for its size either way.
    if (size > NET_LINK_BYTES_MAX) size = NET_LINK_BYTES_MAX;
    net_link_push(to->wire, net_socket_now_us(), net_socket_tag(from), bytes, size);
}

// What a receiver sees as the sender. A socket that is not bound gets a port for both families.
static bool source_of(net_socket_entry* from, bool is_ipv4, net_address* source) {
    if (from->bound_count == 0) {
        from->bound_count = 1;
        (void)net_socket_virtual_bind(&from->bound[0]); // [::]
    }
    for (uint32_t i = 0; i < from->bound_count; i++) {
        const net_address* bound = &from->bound[i];
        bool is_wildcard = net_address_is_wildcard(bound);
        bool is_dual = is_wildcard && from->bound_count == 1 && !net_address_is_ipv4(bound);
        if (net_address_is_ipv4(bound) != is_ipv4 && !is_dual) continue;
        *source = *bound;
        if (!is_wildcard) return true;
        *source = is_ipv4 ? net_address_ipv4(htonl(INADDR_LOOPBACK), bound->port)
                          : (net_address){.ip = {[15] = 1}, .port = bound->port};
        return true;
    }
    return false;
}

void net_socket_virtual_rebind(net_socket_entry* entry) {
    for (uint32_t i = 0; i < entry->bound_count; i++) {
        entry->bound[i].port = 0;
        (void)net_socket_virtual_bind(&entry->bound[i]);
    }
}

uint64_t net_socket_virtual_hash(void) {
    return net_socket_get_state()->virtual_hash;
}

void net_socket_virtual_send(net_socket_entry* from, const net_address* to, const void* bytes,
                             size_t size) {
    net_address source;
    if (!source_of(from, net_address_is_ipv4(to), &source)) return;
    const uint64_t head[] = {net_socket_now_us(), (uint64_t)source.port << 16 | to->port};
    net_socket_state* state = net_socket_get_state();
    state->virtual_hash =
        base_hash64(bytes, size, base_hash64(head, sizeof head, state->virtual_hash));
    net_socket_entry* target = find_bound(to);
    if (target) put(target, &source, bytes, size);
}

bool net_socket_virtual_receive(net_socket_entry* at, net_address* from, void* bytes,
                                size_t capacity, size_t* size) {
    uint64_t tag = 0;
    const uint8_t* found = net_link_peek(at->wire, net_socket_now_us(), &tag, size);
    if (!found) return false;
    *from = net_socket_tag_address(tag);
    memcpy(bytes, found, *size < capacity ? *size : capacity);
    net_link_pop(at->wire);
    return true;
}

bool net_socket_virtual_inject_from(const net_address* from, uint16_t to_port, const void* bytes,
                                    size_t size) {
    const net_address to = {.port = to_port};
    net_socket_entry* target = find_bound(&to);
    if (!target) return false;
    put(target, from, bytes, size);
    return true;
}

bool net_socket_virtual_inject(uint32_t from_host, uint16_t from_port, uint16_t to_port,
                               const void* bytes, size_t size) {
    net_address from = net_address_ipv4(from_host, from_port);
    return net_socket_virtual_inject_from(&from, to_port, bytes, size);
}
