// SPDX-License-Identifier: MIT
// A step is one tick of the server, then as many ticks of each client as are due, in the order of
// their joins. The clock moves at the beginning of a step only.
//
// A client that connects or leaves between two steps has a line without delay for that moment: all
// of the greeting happens at one time. So it changes nothing for other clients and costs no tick.
#include "check/sim_match.h"

#include "log/log_read.h"
#include "server/server_state.h"

#include "net/client.h"
#include "net/result.h"

#include "base/assert.h"
#include "base/hash.h"

#include <inttypes.h>
#include <string.h>

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
    net_game_player* known; ///< what a host knew at its join, with the bytes behind it
} sim_member;

struct net_sim_match {
    base_owner owner;
    net_sim_match_config config;
    net_sim* sim;
    net_transport* transport;
    net_server* server;
    sim_member* members; // in the order of their joins; places_max
    uint32_t count, places_max;
    uint64_t now_us, tick_us;
    uint64_t datagrams_gone, bytes_gone; // of clients that are gone
};

static sim_member* find_member(const net_sim_match* match, uint32_t client) {
    for (uint32_t i = 0; i < match->count; i++)
        if (match->members[i].number == client) return &match->members[i];
    return NULL;
}

// As the host did when the log was made.
static bool admit(void* context, uint64_t now_us, net_game_player* player) {
    const sim_member* member = find_member(context, player->client);
    const net_game_player* known = member ? member->known : NULL;
    (void)now_us;
    if (!known) return true;
    player->has_record = known->has_record;
    player->record_version = known->record_version;
    player->record = (const uint8_t*)(known + 1);
    player->record_bytes = known->record_bytes;
    player->transfer = player->record + known->record_bytes;
    player->transfer_bytes = known->transfer_bytes;
    return true;
}

static size_t known_bytes(const net_game_player* player) {
    return sizeof *player + player->record_bytes + player->transfer_bytes;
}

static void keep_known(net_sim_match* match, const net_game_player* player, sim_member* member) {
    if (!player->has_record && player->transfer_bytes == 0) return;
    member->known = base_allocate(&match->owner.allocator, known_bytes(player));
    *member->known = *player;
    uint8_t* bytes = (uint8_t*)(member->known + 1);
    if (player->record_bytes > 0) memcpy(bytes, player->record, player->record_bytes);
    if (player->transfer_bytes > 0)
        memcpy(bytes + player->record_bytes, player->transfer, player->transfer_bytes);
}

net_result net_sim_match_create(const net_sim_match_config* config, net_sim_match** match) {
    BASE_ASSERT(config && match && config->module && config->match);
    BASE_ASSERT(config->clients_max >= 1 && config->clients_max <= NET_CLIENTS_MAX);
    net_sim_match* made = base_owner_create(config->allocator, sizeof *made);
    made->config = *config;
    made->now_us = START_US;
    made->tick_us = 1000000 / net_match_get_config(config->match)->tick_rate_hz;
    uint32_t places = config->clients_max + SPARE_PLACES;
    made->places_max = places < NET_CLIENTS_MAX ? places : NET_CLIENTS_MAX;
    made->members =
        base_allocate_zero(&made->owner.allocator, made->places_max * sizeof *made->members);
    made->sim = net_sim_create(made->config.allocator, config->link.up.seed);
    net_result result = net_sim_server(made->sim, made->places_max, &made->transport);
    const net_server_config server = {.allocator = config->allocator,
                                      .match = config->match,
                                      .transport = made->transport,
                                      .observer = config->observer,
                                      .clients_max = config->clients_max,
                                      .ticks_max = config->ticks_max,
                                      .step = config->step,
                                      .step_context = config->step_context,
                                      .admit = admit,
                                      .admit_context = made};
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
    if (member->known)
        base_release(&match->owner.allocator, member->known, known_bytes(member->known));
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
    base_owner_destroy(match);
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

static net_result make_member(net_sim_match* match, const net_game_player* player,
                              sim_member* member) {
    const net_link_config perfect = {0};
    net_match_config config = net_match_config_default(match->config.module);
    config.allocator = match->config.allocator;
    config.role = NET_ROLE_MIRROR;
    config.replicated_index_max = net_match_get_config(match->config.match)->replicated_index_max;
    net_result result = net_match_create(&config, match->config.reporter, &member->mirror);
    if (result != NET_OK) return result;
    member->transport = net_sim_client(match->sim, &perfect);
    if (player->player_id != 0 || player->user_bytes != 0) {
        net_peer_identity identity = {.player = player->player_id, .key = 1};
        BASE_ASSERT(player->user_bytes <= sizeof identity.user);
        if (player->user_bytes > 0) memcpy(identity.user, player->user_data, player->user_bytes);
        identity.user_bytes = (uint16_t)player->user_bytes;
        net_sim_identity_set(member->transport, &identity);
    }
    uint64_t seed = net_match_get_config(match->config.match)->seed;
    const net_client_config client = {.allocator = match->config.allocator,
                                      .match = member->mirror,
                                      .transport = member->transport,
                                      .address = ADDRESS,
                                      .name = player->name,
                                      .is_bot = player->is_bot,
                                      .seed = base_hash64_mix(seed, player->client)};
    member->client = net_client_create(&client);
    return NET_OK;
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
    keep_known(match, player, member);
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

// ---- a log, sent again

// A log is sent again: two readers walk it. The replay applies its records and steps; the other
// reader is one tick ahead, so that a client is connected before the tick in which it joins, and
// gathers a hash of what entered the tick. The server hands over what its clients sent for the same
// tick. When both agree in every tick, the clients did here what the log's clients did.

#define SETTLE_STEPS_MAX 20000u ///< a server ends by itself long before

typedef struct resend {
    const net_log_resend_config* config;
    const base_reporter* reporter;
    net_log_resend_result* result;
    net_log_replay* replay;
    net_log_reader* ahead;
    net_log_cursor cursor;
    net_log_record record; // read ahead, of a later tick
    bool has_record;
    uint32_t client_last; // that joined
    net_sim_match* match;
    base_hasher begin; // of what enters the next tick, as the log has it
    net_result failure;
} resend;

// ---- what enters a tick, as a hash

// As a log has it. Why a client left has no effect. A bot that is sent the match again has seen
// other things and numbers its events in another way.
static void add_item(base_hasher* hasher, const net_log_item* item) {
    uint8_t bytes[NET_LOG_ITEM_BYTES_MAX + 4];
    proto_pb_writer written = {.data = bytes, .capacity = sizeof bytes};
    net_log_item entering = *item;
    entering.reason = 0;
    entering.seen = 0;
    if (entering.kind == NET_LOG_ITEM_EVENT) entering.number = 0;
    const bool has_room = net_log_item_write(&written, &entering);
    BASE_ASSERT(has_room);
    base_hasher_add(hasher, bytes, written.size);
}

// The same items as the server's clients gave them.
static uint64_t hash_begin(const net_tick_inputs* begin) {
    base_hasher hasher;
    base_hasher_init(&hasher, begin->tick);
    net_log_item item;
    for (uint32_t position = 0; net_log_begin_next(begin, &position, &item);)
        add_item(&hasher, &item);
    return base_hasher_end(&hasher);
}

// ---- the log, one tick ahead

static void join(resend* self, const net_log_item* item) {
    const net_game_player player = net_log_item_player(item);
    // The log is untrusted. The replay refuses the same record, one tick later.
    if (item->client <= self->client_last) {
        self->failure = NET_ERR_DAMAGED;
        base_report(self->reporter, self->ahead->file, 0,
                    "tick %" PRIu64 ": it has a join that no server writes", self->record.tick);
        return;
    }
    self->client_last = item->client;
    net_result result = net_sim_match_join(self->match, &player);
    if (result == NET_OK) self->result->clients++;
    // One that is refused here only misses its datagrams; the first tick that differs tells.
    if (result != NET_OK && result != NET_ERR_REFUSED && result != NET_ERR_FULL)
        self->failure = result;
}

static void read_begin(resend* self) {
    const net_log_record* record = &self->record;
    for (net_log_item_kind kind = NET_LOG_ITEM_LEAVE; kind <= NET_LOG_ITEM_INPUT; kind++) {
        size_t offset = 0;
        net_log_item item;
        while (self->failure == NET_OK && net_log_item_next(record, kind, &offset, &item)) {
            if (self->config->client != 0 && item.client != self->config->client) continue;
            if (kind == NET_LOG_ITEM_LEAVE) net_sim_match_leave(self->match, item.client);
            if (kind == NET_LOG_ITEM_JOIN) join(self, &item);
            add_item(&self->begin, &item);
        }
    }
}

// Read what enters the tick. @return false when the log has no such tick.
static bool read_tick(resend* self, ecs_tick tick) {
    bool is_there = false;
    base_hasher_init(&self->begin, tick);
    while (self->has_record || net_log_cursor_next(self->ahead, &self->cursor, &self->record)) {
        self->has_record = self->record.kind == NET_LOG_KIND_BEGIN && self->record.tick > tick;
        if (self->has_record) break;
        if (self->record.kind == NET_LOG_KIND_END && self->record.tick == tick) break;
        if (self->record.kind != NET_LOG_KIND_BEGIN) continue;
        is_there = true;
        read_begin(self);
    }
    if (self->cursor.has_failed) self->failure = NET_ERR_DAMAGED;
    return is_there && self->failure == NET_OK;
}

// ---- the match

static bool step(void* context, const net_tick_inputs* begin) {
    resend* self = context;
    net_log_resend_result* result = self->result;
    if (result->differs_tick == 0 && hash_begin(begin) != base_hasher_end(&self->begin))
        result->differs_tick = begin->tick;
    net_log_tick tick;
    net_result stepped = net_log_replay_step(self->replay, &tick);
    if (stepped != NET_OK) {
        self->failure = stepped;
        return false;
    }
    if (tick.lost_first > 0) { // its clients cannot follow over a gap
        self->failure = NET_ERR_DAMAGED;
        return false;
    }
    result->ticks++;
    const ecs_world* world = net_match_world(net_log_replay_match(self->replay));
    if (tick.has_end && result->diverged_tick == 0 &&
        ecs_world_state_hash(world) != tick.state_hash)
        result->diverged_tick = tick.tick;
    return true;
}

static void run_resend(resend* self, ecs_tick last, net_log_resend_fn each, void* context) {
    for (ecs_tick tick = 1; tick <= last; tick++) {
        if (!read_tick(self, tick)) break;
        net_sim_match_step(self->match);
        if (self->failure != NET_OK || (each && !each(context, self->match))) return;
    }
    if (self->failure != NET_OK || self->config->until > 0) return;
    const net_server* server = net_sim_match_server(self->match);
    for (uint32_t i = 0; i < SETTLE_STEPS_MAX; i++) {
        if (net_server_get_phase(server) == NET_SERVER_ENDED) break;
        net_sim_match_step(self->match);
    }
}

static net_result open_match(resend* self, const net_module* module,
                             const base_allocator* allocator, ecs_tick last) {
    const net_sim_match_config config = {.allocator = allocator,
                                         .module = module,
                                         .match = net_log_replay_match(self->replay),
                                         .clients_max = NET_CLIENTS_MAX,
                                         .ticks_max = self->config->until > 0 ? 0 : last,
                                         .link = self->config->link,
                                         .reporter = self->reporter,
                                         .step = step,
                                         .step_context = self};
    return net_sim_match_create(&config, &self->match);
}

net_result net_log_resend(net_log_reader* reader, const net_module* module,
                          const net_log_resend_config* config, net_log_resend_fn each,
                          void* context, const base_reporter* reporter,
                          net_log_resend_result* result_out) {
    BASE_ASSERT(reader && module && config && result_out);
    const base_allocator* allocator = reader->allocator;
    *result_out = (net_log_resend_result){0};
    resend self = {.config = config, .reporter = reporter, .result = result_out};
    const net_log_info* info = net_log_reader_info(reader);
    ecs_tick whole = info->last_tick;
    if (info->first_tick > 1)
        return BASE_REPORT_AS(NET_ERR_UNKNOWN, reporter, reader->file, 0,
                              "it begins with tick %" PRIu64
                              ": who had joined by then, and what they had "
                              "been sent, is not in it",
                              info->first_tick);
    ecs_tick last = config->until > 0 && config->until < whole ? config->until : whole;
    net_result result = net_log_reader_create(allocator, reader->file, NULL, &self.ahead);
    if (self.ahead) result = net_log_replay_create(reader, module, 0, reporter, &self.replay);
    if (result == NET_OK) result = open_match(&self, module, allocator, last);
    if (result == NET_OK) {
        self.cursor = net_log_cursor_begin(self.ahead);
        run_resend(&self, last, each, context);
        result = self.failure;
        result_out->sent = net_sim_match_get_sent(self.match);
        if (result == NET_OK && result_out->diverged_tick > 0) result = NET_ERR_DIVERGED;
        if (result == NET_OK && config->client > 0 && result_out->clients == 0)
            result = NET_ERR_UNKNOWN;
    }
    net_sim_match_destroy(self.match);
    net_log_replay_destroy(self.replay);
    net_log_reader_destroy(self.ahead);
    return result;
}
