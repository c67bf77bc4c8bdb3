// SPDX-License-Identifier: MIT
// The table of sockets, the links of --net, the clock. ENet's functions (enet_socket.c) come here
// with a bare descriptor, so descriptors are the index.
#include "transport/socket_state.h"

#include "base/alloc.h"
#include "base/assert.h"
#include "base/hash.h"

#include <arpa/inet.h>
#include <errno.h>
#include <string.h>
#include <time.h>

#define STALL_US_MAX UINT64_C(250000)

static _Thread_local net_socket_state* own; // NULL: the process's

net_socket_state* net_socket_get_state(void) {
    static net_socket_state state;
    return own ? own : &state;
}

net_socket_state* net_socket_state_create(void) {
    return base_allocate_zero(NULL, sizeof(net_socket_state));
}

void net_socket_state_destroy(net_socket_state* state) {
    if (!state) return;
    net_socket_table* const tables[] = {&state->real, &state->virtual, &state->lanes};
    for (uint32_t t = 0; t < BASE_COUNT(tables); t++) {
        for (uint32_t i = 0; i < tables[t]->capacity; i++)
            BASE_ASSERT(!tables[t]->entries[i] && "its transports are destroyed first");
        base_release(NULL, tables[t]->entries, tables[t]->capacity * sizeof(net_socket_entry*));
    }
    base_release(NULL, state, sizeof *state);
}

void net_socket_state_use(net_socket_state* state) {
    own = state;
}

static net_socket_table* net_socket_table_of(int descriptor, uint32_t* index) {
    net_socket_state* state = net_socket_get_state();
    bool is_virtual = descriptor >= NET_SOCKET_VIRTUAL_FIRST;
    if (descriptor >= NET_SOCKET_LANE_FIRST) {
        *index = (uint32_t)(descriptor - NET_SOCKET_LANE_FIRST);
        return &state->lanes;
    }
    *index = (uint32_t)(is_virtual ? descriptor - NET_SOCKET_VIRTUAL_FIRST : descriptor);
    return is_virtual ? &state->virtual : &state->real;
}

net_socket_entry* net_socket_entry_find(int descriptor) {
    uint32_t index = 0;
    if (descriptor < 0) return NULL;
    const net_socket_table* table = net_socket_table_of(descriptor, &index);
    return index < table->capacity ? table->entries[index] : NULL;
}

net_socket_entry* net_socket_entry_get(int descriptor) {
    net_socket_entry* found = net_socket_entry_find(descriptor);
    if (found || descriptor < 0) return found;
    uint32_t index = 0;
    net_socket_table* table = net_socket_table_of(descriptor, &index);
    BASE_ARRAY_RESERVE(NULL, table->entries, table->capacity, index + 1);
    net_socket_entry* made = base_allocate_zero(NULL, sizeof *made);
    made->descriptor = descriptor;
    made->is_virtual = descriptor >= NET_SOCKET_VIRTUAL_FIRST && descriptor < NET_SOCKET_LANE_FIRST;
    made->number = net_socket_get_state()->created++;
    table->entries[index] = made;
    return made;
}

static void entry_drop_links(net_socket_entry* entry) {
    net_link_destroy(entry->out);
    net_link_destroy(entry->in);
    entry->out = entry->in = NULL;
    entry->has_link = false;
}

void net_socket_forget(int descriptor) {
    net_socket_entry* old = net_socket_entry_find(descriptor);
    if (!old) return;
    uint32_t index = 0;
    net_socket_table* table = net_socket_table_of(descriptor, &index);
    table->entries[index] = NULL;
    for (uint32_t i = 0; i < old->pipe_count; i++)
        net_socket_pipe_destroy(old->pipes[i], &old->stats);
    entry_drop_links(old);
    net_link_destroy(old->wire);
    base_release(NULL, old->ring.bytes, old->ring.bytes ? NET_SOCKET_LANE_BYTES : 0);
    base_release(NULL, old, sizeof *old);
}

void net_socket_link_set_pair(const net_link_pair* pair) {
    net_socket_state* state = net_socket_get_state();
    if (pair) state->link = *pair;
    state->has_link = pair != NULL;
    net_socket_table* const tables[] = {&state->real, &state->virtual, &state->lanes};
    for (uint32_t t = 0; t < BASE_COUNT(tables); t++)
        for (uint32_t i = 0; i < tables[t]->capacity; i++)
            if (tables[t]->entries[i]) entry_drop_links(tables[t]->entries[i]);
}

void net_socket_guard_set(int descriptor, const net_socket_guard* guard) {
    net_socket_entry* entry = net_socket_entry_find(descriptor);
    BASE_ASSERT(entry);
    entry->has_guard = guard != NULL;
    entry->guard = guard ? *guard : (net_socket_guard){0};
}

bool net_socket_is_guarded(int descriptor) {
    const net_socket_entry* entry = net_socket_entry_find(descriptor);
    return entry && entry->has_guard;
}

void net_socket_link_set(const net_link_config* config) {
    net_socket_link_set_pair(config ? &(net_link_pair){.up = *config, .down = *config} : NULL);
}

void net_socket_link_set_one(int descriptor, const net_link_pair* pair) {
    net_socket_entry* entry = net_socket_entry_get(descriptor);
    if (entry->has_link) {
        net_link_config_set(entry->out, &pair->up);
        net_link_config_set(entry->in, &pair->down);
        return;
    }
    entry_drop_links(entry);
    entry->out = net_link_create(NULL, &pair->up);
    entry->in = net_link_create(NULL, &pair->down);
    entry->has_link = true;
}

void net_socket_budget_set(int descriptor, const net_socket_budget* budget) {
    net_socket_entry* entry = net_socket_entry_find(descriptor);
    if (!entry) return;
    entry->has_budget = budget != NULL;
    if (budget) entry->budget = *budget;
}

void net_socket_get_stats(int descriptor, net_socket_stats* stats) {
    const net_socket_entry* entry = net_socket_entry_find(descriptor);
    *stats = (net_socket_stats){0};
    if (!entry) return;
    *stats = entry->stats;
    net_link* const links[] = {entry->out, entry->in};
    for (uint32_t i = 0; i < BASE_COUNT(links); i++) {
        if (!links[i]) continue;
        const net_link_stats* of = net_link_get_stats(links[i]);
        stats->sim_dropped += of->lost + of->overflowed;
    }
}

// ---- the clock

static uint64_t clock_us(clockid_t clock) {
    struct timespec now;
    (void)clock_gettime(clock, &now);
    return (uint64_t)now.tv_sec * 1000000u + (uint64_t)now.tv_nsec / 1000u;
}

uint64_t net_loop_now_us(void) {
    return clock_us(CLOCK_MONOTONIC);
}

uint64_t net_loop_cpu_us(void) {
    return clock_us(CLOCK_PROCESS_CPUTIME_ID);
}

uint64_t net_loop_unix_ms(void) {
    return clock_us(CLOCK_REALTIME) / 1000;
}

uint64_t net_socket_wall_us(void) {
    return net_socket_get_state()->is_virtual ? 0 : net_loop_now_us();
}

uint64_t net_socket_now_us(void) {
    const net_socket_state* state = net_socket_get_state();
    return state->is_virtual ? state->virtual_us : net_loop_now_us() - state->skipped_us;
}

// CLOCK_MONOTONIC, of which a stall counts at most STALL_US_MAX per pump. Otherwise all connections
// would time out at once when a process goes on that stood still (a debugger, a suspended machine).
void net_socket_clock_pump(void) {
    net_socket_state* state = net_socket_get_state();
    if (state->is_virtual) return;
    uint64_t now_us = net_loop_now_us();
    if (state->pumped_us != 0 && now_us - state->pumped_us > STALL_US_MAX)
        state->skipped_us += now_us - state->pumped_us - STALL_US_MAX;
    state->pumped_us = now_us;
}

// A wire without a kernel. Sockets are numbers, a bound address is a
// name on the wire, and every socket has a perfect link as its receive buffer. The clock is
// still until a test advances it, so a run is a function of its seed. Datagrams of wrong sizes pass
// unchanged: enet_socket.c checks them, and tests check that.

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

// Does a socket bound to `bound` hear datagrams to `to`? [::] hears both families.
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

int net_socket_virtual_create(void) {
    for (int i = 0; i < SOCKETS_MAX; i++) {
        int descriptor = NET_SOCKET_VIRTUAL_FIRST + i;
        if (net_socket_entry_find(descriptor)) continue;
        net_socket_entry_get(descriptor)->wire = net_link_create(NULL, &(net_link_config){0});
        return descriptor;
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

static void put_datagram(net_socket_entry* to, const net_address* from, const void* bytes,
                         size_t size) {
    // Longer than any link carries: it is refused for its size either way.
    if (size > NET_LINK_BYTES_MAX) size = NET_LINK_BYTES_MAX;
    net_link_push(to->wire, net_socket_now_us(), (net_link_tag){.address = *from}, bytes, size);
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
    if (target) put_datagram(target, &source, bytes, size);
}

bool net_socket_virtual_receive(net_socket_entry* at, net_address* from, void* bytes,
                                size_t capacity, size_t* size) {
    net_link_tag tag;
    const uint8_t* found = net_link_peek(at->wire, net_socket_now_us(), &tag, size);
    if (!found) return false;
    *from = tag.address;
    memcpy(bytes, found, *size < capacity ? *size : capacity);
    net_link_pop(at->wire);
    return true;
}

bool net_socket_virtual_inject_from(const net_address* from, uint16_t to_port, const void* bytes,
                                    size_t size) {
    const net_address to = {.port = to_port};
    net_socket_entry* target = find_bound(&to);
    if (!target) return false;
    put_datagram(target, from, bytes, size);
    return true;
}

bool net_socket_virtual_inject(uint32_t from_host, uint16_t from_port, uint16_t to_port,
                               const void* bytes, size_t size) {
    net_address from = net_address_ipv4(from_host, from_port);
    return net_socket_virtual_inject_from(&from, to_port, bytes, size);
}
