// SPDX-License-Identifier: MIT
// One step is one tick of the server, then one of every guest, in a fixed order. The clock moves
// only between steps, so a run is a function of its seed.
#include "house.h"

#include "watch.h"

#include "base/hash.h"
#include "net/socket.h"
#include "net/solo.h"
#include "server/server_state.h"
#include "virtual_wire.h"
#include "transport/enet_peers.h"

#include <enet/enet.h>
#include <time.h>

#define ADDRESS "127.0.0.1:7777"
#define SHOUT_CHANCE (1.0 / 6) ///< per tick: ten a second
#define SHOUT_MESSAGE 4u

static int socket_of(net_transport* transport) {
    return ((ENetHost*)net_transport_enet_host(transport))->socket;
}

// ---- opening

static bool open_match(house* at, const base_reporter* reporter) {
    at->module = at->config.module;
    if (!at->module && net_module_wrap(swarm_module_get(), swarm_templates(), "swarm.blk", reporter,
                                       &at->module) != NET_OK)
        return false;
    if (at->config.threads > 0) {
        at->workers = base_workers_create(NULL, at->config.threads);
        if (!at->workers) return false;
        base_workers_set_eager(at->workers);
        at->module->workers = at->workers;
    }
    net_match_config match = net_match_config_default(at->module);
    match.allocator = at->config.server_memory;
    match.role = NET_ROLE_SERVER;
    match.seed = at->config.seed;
    if (at->config.tick_rate_hz) match.tick_rate_hz = at->config.tick_rate_hz;
    at->tick_us = (1000000 + match.tick_rate_hz / 2) / match.tick_rate_hz;
    if (!at->config.module) {
        match.settings[0] = (double)at->config.quiet_tick;
        match.settings[3] = at->config.is_crowded ? 2 : 0;
    }
    return net_match_create(&match, reporter, &at->match) == NET_OK;
}

bool house_open(house* made, const house_config* config, watch* checks) {
    memset(made, 0, sizeof *made);
    made->config = *config;
    made->watch = checks;
    wire_set(true, config->seed);
    net_socket_link_set(NULL);
    made->now_us = 1000000;
    wire_advance(made->now_us);
    base_reporter reporter = base_reporter_stderr();
    if (!open_match(made, &reporter)) return false;
    const net_enet_config listen = {
        .allocator = config->server_memory, .listen = ADDRESS, .peers_max = 3 * HOUSE_GUESTS_MAX};
    if (net_transport_enet_create(&listen, &made->transport) != NET_OK) return false;
    const net_server_config server = {.allocator = config->server_memory,
                                      .solo = &net_solo_part,
                                      .match = made->match,
                                      .transport = made->transport,
                                      .coder = config->coder,
                                      .clients_max = 2 * HOUSE_GUESTS_MAX};
    if (net_server_create(&server, &made->server) != NET_OK) return false;
    made->server->seq_first = config->seq_first;
    return true;
}

bool house_sit(house* at, uint32_t index) {
    guest* one = &at->guests[index];
    BASE_ASSERT(index < HOUSE_GUESTS_MAX && !one->client);
    base_reporter reporter = base_reporter_stderr();
    uint64_t seed = base_hash64_mix(at->config.seed, ++at->seats);
    *one = (guest){.house = at, .index = index, .seat = at->seats, .rng = base_rng_make(seed, 9)};
    net_match_config match = net_match_config_default(at->module);
    match.allocator = at->config.guest_memory;
    match.role = NET_ROLE_MIRROR;
    if (at->config.tick_rate_hz) match.tick_rate_hz = at->config.tick_rate_hz;
    if (net_match_create(&match, &reporter, &one->match) != NET_OK) return false;
    const net_enet_config dial = {.allocator = at->config.guest_memory, .peers_max = 1};
    if (net_transport_enet_create(&dial, &one->transport) != NET_OK) return false;
    const net_presenter_config presenter = {
        .allocator = at->config.guest_memory, .module = at->module, .is_predicting = index == 0};
    if (index < at->config.viewers &&
        net_presenter_create(&presenter, &reporter, &one->presenter) != NET_OK)
        return false;
    bool is_watched = at->watch && (at->config.watched == 0 || index < at->config.watched);
    const net_client_config client = {.allocator = at->config.guest_memory,
                                      .match = one->match,
                                      .transport = one->transport,
                                      .address = ADDRESS,
                                      .name = "guest",
                                      .is_bot = true,
                                      .seed = seed,
                                      .presenter = one->presenter,
                                      .solo = at->config.coder != NET_CODER_SHARED ? &net_solo_part
                                                                                   : NULL,
                                      .trace = is_watched ? watch_row : NULL,
                                      .trace_context = one};
    one->client = net_client_create(&client);
    return true;
}

static void add_traffic(net_transport* transport, house_traffic* to) {
    net_transport_stats stats;
    transport->ops->stats(transport, &stats);
    to->datagrams += stats.sent_datagrams;
    to->bytes += stats.sent_bytes;
    to->dropped += stats.sim_dropped;
}

void house_clear(house* at, uint32_t index) {
    guest* one = &at->guests[index];
    if (one->client) net_client_destroy(one->client);
    if (one->presenter) net_presenter_destroy(one->presenter);
    if (one->transport) {
        add_traffic(one->transport, &at->gone);
        one->transport->ops->destroy(one->transport);
    }
    if (one->match) net_match_destroy(one->match);
    one->client = NULL;
    one->presenter = NULL;
    one->transport = NULL;
    one->match = NULL;
}

void house_close(house* old) {
    for (uint32_t i = 0; i < HOUSE_GUESTS_MAX; i++)
        house_clear(old, i);
    if (old->server) net_server_destroy(old->server);
    if (old->transport) old->transport->ops->destroy(old->transport);
    if (old->match) net_match_destroy(old->match);
    if (old->module && !old->config.module) net_module_close(old->module);
    base_workers_destroy(old->workers);
    wire_set(false, 0);
}

void house_line_set(house* at, uint32_t index, const net_link_pair* line) {
    net_link_pair own = *line;
    own.up.seed = base_hash64_mix(at->config.seed, at->guests[index].seat * 2 + 100);
    own.down.seed = base_hash64_mix(at->config.seed, at->guests[index].seat * 2 + 101);
    at->guests[index].is_cut = own.up.loss_percent == 100;
    wire_link_set_one(socket_of(at->guests[index].transport), &own);
}

// ---- a step

static void shout(guest* one) {
    const house* at = one->house;
    bool is_late = net_match_tick(at->match) + 1 >= at->config.quiet_tick;
    if (is_late || net_client_player(one->client) == ECS_ENTITY_NONE ||
        net_client_get_phase(one->client) != NET_CLIENT_PLAYING ||
        one->shouts - one->shouts_seen >= HOUSE_SHOUTS_KEPT / 8 ||
        !base_rng_chance(&one->rng, SHOUT_CHANCE))
        return;
    uint32_t number = one->shouts + 1;
    if (net_client_send_event(one->client, SHOUT_MESSAGE, &number) != NET_OK) return;
    one->shouts = number;
    one->shout_us[number % HOUSE_SHOUTS_KEPT] = at->now_us;
}

static void step_guest(guest* one) {
    uint64_t now_us = one->house->now_us;
    net_client_service(one->client, now_us);
    if (net_client_get_phase(one->client) == NET_CLIENT_ENDED) return;
    if (now_us >= net_client_next_tick_us(one->client)) net_client_tick(one->client, now_us);
    if (one->presenter) (void)net_presenter_frame(one->presenter, now_us);
    if (!one->house->config.module) shout(one);
}

static uint64_t cpu_us(void) {
    struct timespec now;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    return (uint64_t)now.tv_sec * 1000000 + (uint64_t)now.tv_nsec / 1000;
}

static void step_server(house* at, bool is_tick) {
    const uint64_t begin_us = cpu_us();
    net_server_service(at->server, at->now_us);
    if (is_tick) net_server_tick(at->server, at->now_us);
    at->server_us += cpu_us() - begin_us;
    if (is_tick && at->watch) watch_server(at->watch, at);
}

void house_step(house* at) {
    const uint64_t begin_us = at->now_us;
    const uint32_t services = at->config.services ? at->config.services : 1;
    for (uint32_t turn = 1; turn <= services; turn++) {
        at->now_us = begin_us + at->tick_us * turn / services;
        wire_advance(at->now_us);
        step_server(at, turn == services);
        for (uint32_t i = 0; i < HOUSE_GUESTS_MAX; i++) {
            guest* one = &at->guests[i];
            if (!one->client) continue;
            step_guest(one);
            if (at->watch) watch_guest(at->watch, one);
        }
    }
}

bool house_is_full(const house* at) {
    for (uint32_t i = 0; i < at->config.guests; i++) {
        const net_client* client = at->guests[i].client;
        if (!client || net_client_get_phase(client) != NET_CLIENT_PLAYING ||
            net_client_player(client) == ECS_ENTITY_NONE)
            return false;
    }
    return true;
}

house_traffic house_get_traffic(const house* at) {
    house_traffic all = at->gone;
    add_traffic(at->transport, &all);
    for (uint32_t i = 0; i < HOUSE_GUESTS_MAX; i++)
        if (at->guests[i].transport) add_traffic(at->guests[i].transport, &all);
    return all;
}

bool house_is_guarded(const house* at) {
    return wire_is_guarded(socket_of(at->transport));
}
