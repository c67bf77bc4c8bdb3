// SPDX-License-Identifier: MIT
// A step is one tick of the server, then as many ticks of each client as are due, in the order of
// their joins. The clock moves at the beginning of a step only.
//
// A client that connects or leaves between two steps has a line without delay for that moment: all
// of the greeting happens at one time. So it changes nothing for other clients and costs no tick.
#include "check/sim_match.h"

#include "server/server_state.h"

#include "net/client.h"
#include "net/result.h"
#include "net/transport.h"

#include "base/assert.h"
#include "base/hash.h"
#include "base/text.h"

#define START_US UINT64_C(1000000)
#define ADDRESS "sim:1"
#define SPARE_PLACES 16u ///< for clients whose goodbye is not confirmed yet

enum {
    ROUNDS_MAX = 64,  // of messages, to connect or to leave
    CATCH_UP_MAX = 4, // ticks of a client in one step
};

typedef struct sim_member {
    net_match* mirror;
    net_transport* transport;
    net_client* client; ///< NULL: a free place
    uint32_t number;
    bool is_leaving;
} sim_member;

struct net_sim_match {
    net_sim_match_config config;
    const base_allocator* allocator;
    net_sim* sim;
    net_transport* transport;
    net_server* server;
    sim_member* members; // in the order of their joins; places_max
    uint32_t count, places_max;
    uint64_t now_us, tick_us;
    uint64_t datagrams_gone, bytes_gone; // of clients that are gone
};

net_result net_sim_match_create(const net_sim_match_config* config, net_sim_match** match) {
    BASE_ASSERT(config && match && config->module && config->match);
    BASE_ASSERT(config->clients_max >= 1 && config->clients_max <= NET_CLIENTS_MAX);
    net_sim_match* made = base_allocate_zero(config->allocator, sizeof *made);
    if (!made) return NET_ERR_MEMORY;
    made->config = *config;
    made->allocator = config->allocator;
    made->now_us = START_US;
    made->tick_us = 1000000 / net_match_get_config(config->match)->tick_rate_hz;
    uint32_t places = config->clients_max + SPARE_PLACES;
    made->places_max = places < NET_CLIENTS_MAX ? places : NET_CLIENTS_MAX;
    made->members = base_allocate_zero(made->allocator, made->places_max * sizeof *made->members);
    net_result result = made->members ? NET_OK : NET_ERR_MEMORY;
    if (result == NET_OK)
        result = net_sim_create(made->allocator, config->link.up.seed, &made->sim);
    if (result == NET_OK) result = net_sim_server(made->sim, made->places_max, &made->transport);
    const net_server_config server = {.allocator = config->allocator,
                                      .match = config->match,
                                      .transport = made->transport,
                                      .observer = config->observer,
                                      .clients_max = config->clients_max,
                                      .ticks_max = config->ticks_max,
                                      .step = config->step,
                                      .step_context = config->step_context};
    if (result == NET_OK) result = net_server_create(&server, &made->server);
    if (result != NET_OK) {
        net_sim_match_destroy(made);
        return result;
    }
    *match = made;
    return NET_OK;
}

static void close_member(net_sim_match* match, sim_member* member) {
    net_client_destroy(member->client);
    if (member->transport) {
        net_transport_stats stats;
        member->transport->ops->stats(member->transport, &stats);
        match->datagrams_gone += stats.sent_datagrams;
        match->bytes_gone += stats.sent_bytes;
        member->transport->ops->destroy(member->transport);
    }
    net_match_destroy(member->mirror);
    *member = (sim_member){0};
}

// The place of a member that is gone is closed up, so that the order stays that of the joins.
static void remove_member(net_sim_match* match, uint32_t place) {
    close_member(match, &match->members[place]);
    match->count--;
    memmove(match->members + place, match->members + place + 1,
            (match->count - place) * sizeof *match->members);
    match->members[match->count] = (sim_member){0};
}

void net_sim_match_destroy(net_sim_match* match) {
    if (!match) return;
    for (uint32_t i = 0; i < match->count; i++)
        close_member(match, &match->members[i]);
    net_server_destroy(match->server);
    if (match->transport) match->transport->ops->destroy(match->transport);
    net_sim_destroy(match->sim);
    if (match->members)
        base_release(match->allocator, match->members, match->places_max * sizeof *match->members);
    base_release(match->allocator, match, sizeof *match);
}

static sim_member* find_member(const net_sim_match* match, uint32_t client) {
    for (uint32_t i = 0; i < match->count; i++)
        if (match->members[i].number == client) return &match->members[i];
    return NULL;
}

static const net_session* find_session(const net_sim_match* match, uint32_t client) {
    for (uint32_t i = 0; i < match->server->session_count; i++) {
        const net_session* session = match->server->sessions[i];
        if (session && session->state != NET_SESSION_FREE && session->client == client)
            return session;
    }
    return NULL;
}

static void set_line(const net_sim_match* match, const sim_member* member) {
    net_link_pair line = match->config.link;
    line.up.seed = base_hash64_mix(match->config.link.up.seed, member->number * UINT64_C(2));
    line.down.seed = base_hash64_mix(match->config.link.up.seed, member->number * UINT64_C(2) + 1);
    net_sim_link_set_pair(member->transport, &line);
}

static void exchange(net_sim_match* match, const sim_member* member) {
    net_client_service(member->client, match->now_us);
    net_server_service(match->server, match->now_us);
}

static net_result make_mirror(const net_sim_match* match, sim_member* member) {
    net_match_config config = net_match_config_default(match->config.module);
    config.allocator = match->allocator;
    config.role = NET_ROLE_MIRROR;
    config.replicated_index_max = net_match_get_config(match->config.match)->replicated_index_max;
    return net_match_create(&config, match->config.reporter, &member->mirror);
}

static net_result make_member(net_sim_match* match, const net_game_player* player,
                              sim_member* member) {
    const net_link_config perfect = {0};
    net_result result = make_mirror(match, member);
    if (result == NET_OK) result = net_sim_client(match->sim, &perfect, &member->transport);
    if (result != NET_OK) return result;
    if (player->player_id != 0 || player->user_bytes != 0) {
        net_peer_identity identity = {.player = player->player_id, .key = 1};
        BASE_ASSERT(player->user_bytes <= sizeof identity.user);
        if (player->user_bytes > 0) memcpy(identity.user, player->user_data, player->user_bytes);
        identity.user_bytes = (uint16_t)player->user_bytes;
        net_sim_identity_set(member->transport, &identity);
    }
    uint64_t seed = net_match_get_config(match->config.match)->seed;
    const net_client_config client = {.allocator = match->allocator,
                                      .match = member->mirror,
                                      .transport = member->transport,
                                      .address = ADDRESS,
                                      .name = player->name,
                                      .is_bot = player->is_bot,
                                      .seed = base_hash64_mix(seed, player->client)};
    return net_client_create(&client, &member->client);
}

net_result net_sim_match_join(net_sim_match* match, const net_game_player* player) {
    BASE_ASSERT(player->client > match->server->clients_named);
    // Before an endpoint is made: their numbers are part of what follows.
    if (match->count == match->places_max ||
        net_server_get_counters(match->server)->clients == match->config.clients_max)
        return NET_ERR_FULL;
    sim_member* member = &match->members[match->count];
    *member = (sim_member){.number = player->client};
    match->count++;
    match->server->clients_named = player->client - 1;
    net_result result = make_member(match, player, member);
    const net_session* session = NULL;
    for (uint32_t i = 0; result == NET_OK && i < ROUNDS_MAX && !session; i++) {
        exchange(match, member);
        session = find_session(match, player->client);
        if (session && session->state != NET_SESSION_ACCEPTED) session = NULL;
    }
    if (result == NET_OK && (!session || strcmp(session->name, player->name) != 0))
        result = NET_ERR_REFUSED;
    if (result == NET_OK)
        set_line(match, member);
    else
        remove_member(match, match->count - 1);
    return result;
}

void net_sim_match_leave(net_sim_match* match, uint32_t client) {
    sim_member* member = find_member(match, client);
    if (!member || member->is_leaving) return;
    const net_link_pair perfect = {.up.seed = client};
    net_sim_link_set_pair(member->transport, &perfect);
    net_client_leave(member->client, match->now_us);
    member->is_leaving = true;
    for (uint32_t i = 0; i < ROUNDS_MAX; i++) {
        exchange(match, member);
        if (net_client_get_phase(member->client) == NET_CLIENT_ENDED) break;
    }
}

static void step_member(const net_sim_match* match, const sim_member* member) {
    net_client_service(member->client, match->now_us);
    for (uint32_t i = 0; i < CATCH_UP_MAX; i++) {
        if (net_client_get_phase(member->client) == NET_CLIENT_ENDED) return;
        if (match->now_us < net_client_next_tick_us(member->client)) return;
        net_client_tick(member->client, match->now_us);
    }
}

void net_sim_match_step(net_sim_match* match) {
    match->now_us += match->tick_us;
    net_server_service(match->server, match->now_us);
    net_server_tick(match->server, match->now_us);
    for (uint32_t i = 0; i < match->count;) {
        step_member(match, &match->members[i]);
        if (net_client_get_phase(match->members[i].client) == NET_CLIENT_ENDED)
            remove_member(match, i);
        else
            i++;
    }
}

const net_server* net_sim_match_server(const net_sim_match* match) {
    return match->server;
}

ecs_tick net_sim_match_tick(const net_sim_match* match) {
    return net_match_tick(match->config.match);
}

uint32_t net_sim_match_entities(const net_sim_match* match) {
    return ecs_world_entity_count(net_match_world(match->config.match));
}

net_match* net_sim_match_mirror(net_sim_match* match, uint32_t client) {
    const sim_member* member = find_member(match, client);
    return member ? member->mirror : NULL;
}

ecs_tick net_sim_match_mirror_tick(const net_sim_match* match, uint32_t client) {
    const sim_member* member = find_member(match, client);
    return member ? net_client_tick_newest(member->client) : 0;
}

net_sim_match_sent net_sim_match_get_sent(const net_sim_match* match) {
    net_transport_stats stats;
    match->transport->ops->stats(match->transport, &stats);
    net_sim_match_sent sent = {.datagrams = match->datagrams_gone + stats.sent_datagrams,
                               .bytes = match->bytes_gone + stats.sent_bytes,
                               .lost = stats.sim_dropped,
                               .hash = net_sim_datagram_hash(match->sim)};
    for (uint32_t i = 0; i < match->count; i++) {
        const net_transport* transport = match->members[i].transport;
        transport->ops->stats(transport, &stats);
        sent.datagrams += stats.sent_datagrams;
        sent.bytes += stats.sent_bytes;
    }
    return sent;
}
