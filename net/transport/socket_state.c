// SPDX-License-Identifier: MIT
// The table of sockets, the links of --net, the clock. ENet's functions (enet_socket.c) come here
// with a bare descriptor, so descriptors are the index.
#include "transport/socket_state.h"

#include "base/alloc.h"
#include "base/assert.h"

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
    net_socket_table* const tables[] = {&state->real, &state->lanes};
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
    const bool is_lane = descriptor >= NET_SOCKET_LANE_FIRST;
    *index = (uint32_t)(is_lane ? descriptor - NET_SOCKET_LANE_FIRST : descriptor);
    return is_lane ? &state->lanes : &state->real;
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
    made->number = net_socket_get_state()->created++;
    table->entries[index] = made;
    return made;
}

static void entry_drop_links(net_socket_entry* entry) {
    base_owner_destroy(entry->out);
    base_owner_destroy(entry->in);
    entry->out = entry->in = NULL;
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
    base_release(NULL, old->ring.bytes, old->ring.bytes ? NET_SOCKET_LANE_BYTES : 0);
    base_release(NULL, old, sizeof *old);
}

void net_socket_link_set_pair(const net_link_pair* pair) {
    net_socket_state* state = net_socket_get_state();
    if (pair) state->link = *pair;
    state->has_link = pair != NULL;
    net_socket_table* const tables[] = {&state->real, &state->lanes};
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

void net_socket_link_set(const net_link_config* config) {
    net_socket_link_set_pair(config ? &(net_link_pair){.up = *config, .down = *config} : NULL);
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
    return net_socket_get_state()->calls ? 0 : net_loop_now_us();
}

uint64_t net_socket_now_us(void) {
    const net_socket_state* state = net_socket_get_state();
    return state->calls ? state->calls->now_us() : net_loop_now_us() - state->skipped_us;
}

// CLOCK_MONOTONIC, of which a stall counts at most STALL_US_MAX per pump. Otherwise all connections
// would time out at once when a process goes on that stood still (a debugger, a suspended machine).
void net_socket_clock_pump(void) {
    net_socket_state* state = net_socket_get_state();
    if (state->calls) return;
    uint64_t now_us = net_loop_now_us();
    if (state->pumped_us != 0 && now_us - state->pumped_us > STALL_US_MAX)
        state->skipped_us += now_us - state->pumped_us - STALL_US_MAX;
    state->pumped_us = now_us;
}
