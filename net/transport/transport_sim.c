// SPDX-License-Identifier: MIT
// A network in one process: one server endpoint, many client endpoints, one seed, virtual time.
//
// Every client has two directions (sim_path.h): a link for realtime datagrams, with loss, jitter,
// duplicates, reordering and rate by link.c, and a queue of control messages. Connecting and
// goodbyes are control messages of their own kinds. So a connect takes a round trip, and a goodbye
// comes after everything that was queued.
//
// Nothing happens by itself: a sent datagram gets the time of the endpoint's last service, and
// next() compares arrivals with that of the receiver. Events are ordered by client (in order of
// creation), then arrival time, control before realtime, goodbyes last. So a run is a function of
// the seed and of the calls.
//
// Invariants: `epoch` counts the connects of a client; a message of another epoch than the
// receiving side's is dropped. The server notices an endpoint that is destroyed without a goodbye
// only after SIM_GONE_US_MAX (sim_side.c), later than any rule of the session layer.
#include "net/transport_sim.h"

#include "transport/sim_side.h"

#include "base/assert.h"

net_result net_sim_create(const base_allocator* allocator, uint64_t seed, net_sim** sim) {
    BASE_ASSERT(sim);
    net_sim* made = base_allocate_zero(allocator, sizeof *made);
    if (!made) return NET_ERR_MEMORY;
    made->allocator = allocator;
    made->seed = seed;
    *sim = made;
    return NET_OK;
}

void net_sim_destroy(net_sim* sim) {
    if (!sim) return;
    BASE_ASSERT(!sim->server && !sim->clients);
    base_release(sim->allocator, sim, sizeof *sim);
}

void net_sim_client_free(net_sim_client_end* old) {
    net_sim* sim = old->endpoint.sim;
    net_sim_client_end** at = &sim->clients;
    while (*at != old)
        at = &(*at)->next;
    *at = old->next;
    if (sim->server && sim->server->cursor == old) sim->server->cursor = old->next;
    if (sim->server && sim->server->endpoint.borrowed_link == &old->up)
        sim->server->endpoint.borrowed_link = NULL;
    sim->lost_before += net_sim_path_lost(&old->up) + net_sim_path_lost(&old->down);
    sim->hash_before += old->hash;
    net_sim_path_deinit(&old->up);
    net_sim_path_deinit(&old->down);
    base_release(sim->allocator, old, sizeof *old);
}

void net_sim_flush(net_transport* transport) {
    (void)transport; // sending is immediate
}

uint32_t net_sim_sockets(const net_transport* transport, int* descriptors, uint32_t capacity) {
    (void)transport;
    (void)descriptors;
    (void)capacity;
    return 0;
}

uint64_t net_sim_datagram_hash(const net_sim* sim) {
    BASE_ASSERT(sim);
    uint64_t sum = sim->hash_before;
    for (const net_sim_client_end* each = sim->clients; each; each = each->next)
        sum += each->hash;
    return sum;
}
