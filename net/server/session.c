// SPDX-License-Identifier: MIT
// The life of a session.
//
//     FREE -> GREETING -> (ASKED) -> ACCEPTED -> PLAYING -> CLOSING -> FREE
//                                                  | ^
//     FREE --(a match goes on here)--------------> AWAY (server_admission.c)
//
// ARROWS has every legal change of state. Each arrow back to FREE goes through net_session_gone, so
// a match never keeps a player whose session is over. Each end goes through
// net_session_close_report first, so a peer report is closed exactly once.
//
// Read net_session_end first. Left to others: what a message does (server_receive.c), the way back
// (server_admission.c), the figures of a report (session_report.c).

#include "replicate/repl_state.h"
#include "game/match.h"
#include "server/server_state.h"
#include "state/rows.h"
#include "state/varsize.h"

#include "net/token.h"

#include "base/assert.h"
#include "base/hash.h"
#include "base/text.h"

#include <string.h>

#define TO(state) (1u << NET_SESSION_##state)

static const uint8_t ARROWS[NET_SESSION_STATE_COUNT] = {
    [NET_SESSION_FREE] = TO(GREETING) | TO(AWAY),
    [NET_SESSION_GREETING] = TO(ASKED) | TO(ACCEPTED) | TO(CLOSING) | TO(FREE),
    [NET_SESSION_ASKED] = TO(CLOSING) | TO(FREE),
    [NET_SESSION_ACCEPTED] = TO(PLAYING) | TO(CLOSING) | TO(FREE),
    [NET_SESSION_PLAYING] = TO(AWAY) | TO(CLOSING) | TO(FREE),
    [NET_SESSION_AWAY] = TO(PLAYING) | TO(CLOSING),
    [NET_SESSION_CLOSING] = TO(FREE),
};

void net_session_set_state(net_server* server, net_session* session, net_session_state to,
                           const char* reason) {
    BASE_ASSERT(to < NET_SESSION_STATE_COUNT);
    BASE_ASSERT(ARROWS[session->state] >> to & 1u);
    // An AWAY session has no connection, a PLAYING one has: the net half sends to it.
    BASE_ASSERT(to != NET_SESSION_AWAY || session->peer == 0);
    BASE_ASSERT(to != NET_SESSION_PLAYING || session->peer != 0);
    net_session_trace_state(server, session, to, reason);
    const bool was_member = net_session_is_member(session);
    session->state = to;
    const bool is_member = net_session_is_member(session);
    net_server_counters* counters = &server->counters;
    *(session->is_spectator ? &counters->spectators : &counters->clients) +=
        (uint32_t)is_member - (uint32_t)was_member;
    if (counters->clients > counters->clients_peak) counters->clients_peak = counters->clients;
    if (!is_member) server->name_keys[session->place] = (net_name_key){0};
    session->since_us = server->now_us;
}

static net_session** place_of(net_server* server, net_peer peer) {
    return &server->by_slot[peer & (NET_PEER_SLOTS - 1)];
}

void net_session_set_peer(net_server* server, net_session* session, net_peer peer) {
    net_session** before = place_of(server, session->peer);
    if (session->peer && *before == session) *before = NULL;
    session->peer = peer;
    if (peer == 0) return;
    *place_of(server, peer) = session;
    session->lane = net_transport_lane(server->config.transport, peer);
    if (session->out.repl) net_repl_state_set_lane(session->out.repl, session->lane);
}

net_session* net_server_find_session(net_server* server, net_peer peer) {
    net_session* session = *place_of(server, peer);
    return session && peer != 0 && session->peer == peer ? session : NULL;
}

net_session* net_server_find_number(const net_server* server, uint32_t client) {
    for (net_session* session = NULL; client && (session = net_server_next(server, session));)
        if (session->client == client && session->state != NET_SESSION_FREE) return session;
    return NULL;
}

// Where a session comes from, and how often one may be opened.
//
// Every limit counts by player when the transport knows one, else by origin: the IPv4 address or
// the IPv6 /64. Loopback has no origin, and with clients_per_address_max 0 no address has one: then
// only players are counted.
//
// A pace is a budget (core/ration.h). The table has a fixed size and 4 ways.
// The bucket that is full first gives its place. A flood has the latest moment, so it is kept.

#define PACE_BURST_US (NET_SESSIONS_WINDOW_MS * UINT64_C(1000))

// ---- identity

// 0: not counted.
static uint64_t origin_of(const net_server* server, const net_peer_identity* identity) {
    const net_address* at = &identity->address;
    static const net_address NOWHERE = {.port = 0};
    if (server->config.clients_per_address_max == 0 || net_address_is_loopback(at) ||
        memcmp(at->ip, NOWHERE.ip, sizeof at->ip) == 0)
        return 0;
    uint64_t half = 0; // of IPv6 the network; IPv4 lies in the other half
    memcpy(&half, at->ip + (net_address_is_ipv4(at) ? 8 : 0), sizeof half);
    return base_hash64_mix(half, net_address_is_ipv4(at) ? 4 : 6) | 1;
}

// ---- pace

static uint64_t pace_key(const net_session* session) {
    // With the built-in key a client names itself.
    if (session->identity.player != 0 && session->identity.key != 0)
        return base_hash64_mix(session->identity.player, 1) | 1;
    return session->origin;
}

static net_admission_bucket* find_bucket(net_server* server, uint64_t key) {
    net_admission* admission = server->admission;
    uint64_t hash = base_hash64_mix(admission->salt, key);
    net_admission_bucket* set = admission->buckets[hash % NET_ADMISSION_SETS];
    net_admission_bucket* least = &set[0];
    for (uint32_t i = 0; i < NET_ADMISSION_WAYS; i++) {
        if (set[i].key == key) return &set[i];
        if (set[i].sessions.full_us < least->sessions.full_us) least = &set[i];
    }
    *least = (net_admission_bucket){.key = key};
    return least;
}

// @return how long to wait; 0: one was taken.
static uint64_t take_pace(net_budget* pace, const net_server* server) {
    const uint32_t most =
        server->config.sessions_max ? server->config.sessions_max : NET_SESSIONS_MAX;
    const net_budget_rate rate = {(uint32_t)(PACE_BURST_US / most), most};
    if (net_budget_take(pace, rate, server->now_us)) return 0;
    return pace->full_us - server->now_us - (uint64_t)rate.every_us * (most - 1);
}

bool net_session_may_resume(net_server* server, net_session* session) {
    return take_pace(&session->pace, server) == 0;
}

uint64_t net_session_take_pace(net_server* server, const net_session* session) {
    uint64_t key = pace_key(session);
    return key ? take_pace(&find_bucket(server, key)->sessions, server) : 0;
}

// A slot whose player still has to leave the match keeps its client number until the next tick.
static net_session* find_free(net_server* server) {
    for (uint32_t i = 0; i < server->session_count; i++) {
        net_session* session = server->sessions[i];
        if (!session) {
            session = base_allocate_zero(server->allocator, sizeof *session);
            session->place = i;
            server->sessions[i] = session;
            return session;
        }
        if (session->state == NET_SESSION_FREE && !session->must_leave_match) return session;
    }
    return NULL;
}

// Sight: changes of a client's scope, where the game asks for them. They are found by the net half.
#define SIGHTS_WAITING_MAX 4096 // and twice the scope; then it starts again

static void add_sight(net_server* server, net_sights* sights, ecs_entity entity, bool is_seen) {
    BASE_ARRAY_RESERVE(server->allocator, sights->items, sights->capacity, sights->count + 1);
    sights->items[sights->count++] = (net_sight){.entity = entity, .is_seen = is_seen};
}

static void note_sight(net_session* session, ecs_entity entity, bool is_seen) {
    net_server* server = session->out.server;
    if (!server->config.match->sight_message || session->is_spectator) return;
    add_sight(server, &session->out.sights, entity, is_seen);
}

// An entity that becomes the player knows nothing yet: all that is in sight.
static void restate_sights(net_server* server, net_session* session) {
    const uint32_t count = session->out.repl->member_count;
    ecs_entity* entities = base_allocate(server->allocator, (count + 1) * sizeof *entities);
    net_repl_state_list(session->out.repl, entities);
    add_sight(server, &session->sights, ECS_ENTITY_NONE, false);
    for (uint32_t i = 0; i < count; i++)
        add_sight(server, &session->sights, entities[i], true);
    base_release(server->allocator, entities, (count + 1) * sizeof *entities);
}

void net_session_collect_sights(net_server* server, net_session* session) {
    net_sights* from = &session->out.sights;
    const net_match* match = server->config.match;
    if (!match->sight_message || session->is_spectator) return;
    const ecs_entity player = net_match_player(match, session->client);
    const uint32_t scope = session->out.repl->member_count;
    if (player != session->sight_player || session->sights.count > SIGHTS_WAITING_MAX + 2 * scope) {
        session->sight_player = player;
        session->sights.count = from->count = 0;
        if (player != ECS_ENTITY_NONE) restate_sights(server, session);
    }
    for (uint32_t i = 0; i < from->count && player != ECS_ENTITY_NONE; i++)
        add_sight(server, &session->sights, from->items[i].entity, from->items[i].is_seen);
    from->count = 0;
}

static void release_sights(net_server* server, net_sights* sights) {
    BASE_ARRAY_RELEASE(server->allocator, sights->items, sights->capacity);
    *sights = (net_sights){0};
}

static void deinit_queues(net_server* server, net_session* session) {
    release_sights(server, &session->out.sights);
    release_sights(server, &session->sights);
    net_event_outbox_deinit(&session->out.outbox);
    net_event_inbox_deinit(&session->inbox);
    net_input_queue_deinit(&session->inputs);
}

static void init_queues(net_server* server, net_session* session) {
    net_event_outbox_init(&session->out.outbox, server->allocator);
    net_event_inbox_init(&session->inbox, server->allocator);
    net_input_queue_init(&session->inputs, server->allocator);
    net_ack_sender_init(&session->out.sent, 0, server->now_us);
    session->received = (net_ack_receiver){.has_any = false};
}

// The secret with which its client may come back.
static void make_secret(net_server* server, net_session* session) {
    if (server->config.secret)
        server->config.secret(server->config.secret_context, session->client, session->resume,
                              sizeof session->resume);
    else
        net_server_draw(server, session->resume, sizeof session->resume);
}

static net_session* begin_session(net_server* server) {
    net_session* session = find_free(server);
    if (!session) return NULL;
    const uint32_t place = session->place;
    memset(session, 0, sizeof *session);
    session->place = place;
    session->report = UINT32_MAX;
    session->received_us = server->now_us;
    session->packet_credit = NET_PACKETS_BURST_MAX;
    session->control_credit = NET_CONTROL_BYTES_BURST_MAX;
    init_queues(server, session);
    return session;
}

net_session* net_server_add_session(net_server* server, net_peer peer) {
    BASE_ASSERT(peer != 0);
    net_session* session = begin_session(server);
    if (!session) return NULL;
    net_session_set_peer(server, session, peer);
    net_session_set_state(server, session, NET_SESSION_GREETING, "connected");
    (void)net_transport_identity(server->config.transport, session->peer, &session->identity);
    session->origin = origin_of(server, &session->identity);
    return session;
}

net_session* net_server_add_away(net_server* server, uint32_t client, const char* name) {
    net_session* session = begin_session(server);
    if (!session) return NULL;
    // In the order of their numbers, so that this one is the next that is given.
    const uint32_t named = server->clients_named;
    BASE_ASSERT(client > 0 && client <= named);
    server->clients_named = client - 1;
    net_session_open_report(server, session);
    server->clients_named = named;
    (void)base_text_copy(session->name, sizeof session->name, name);
    session->is_quiet = session->is_renewed = session->is_expected = true;
    session->joined_us = server->now_us;
    const net_name_key key =
        net_name_distinguish(session->name, server->name_keys, server->session_count);
    net_session_set_state(server, session, NET_SESSION_AWAY, "expected");
    server->name_keys[session->place] = key;
    make_secret(server, session);
    return session;
}

net_result net_session_send_encoded(net_server* server, net_session* session, const char* name,
                                    const uint8_t* bytes, size_t size) {
    // The transport belongs to the net half until it is collected.
    BASE_ASSERT(!server->out.is_uncollected);
    net_transport* transport = server->config.transport;
    net_result result =
        size > 0 ? transport->ops->send(transport, session->peer, NET_CHANNEL_CONTROL, bytes, size)
                 : NET_ERR_FULL;
    if (result != NET_OK) {
        net_server_drop(server, NET_DROP_SEND, 1);
        return result;
    }
    net_session_trace_packet(server, session, server->now_us, NET_TRACE_SENT, name, 0, size);
    server->counters.control_bytes += size;
    const net_send_tap* tap = server->config.tap;
    if (tap) tap->message(server, session, ECS_ENTITY_NONE, 0, size);
    return NET_OK;
}

net_result net_session_send_control(net_server* server, net_session* session,
                                    const ProtobufCMessage* message) {
    const Shoal__Wire__ServerControl control =
        net_control_wrap(&shoal__wire__server_control__descriptor, message);
    uint8_t bytes[NET_CONTROL_BYTES_MAX];
    const size_t size = proto_encode(&control.base, bytes, sizeof bytes);
    return net_session_send_encoded(server, session, net_control_name(&control.base), bytes, size);
}

void net_server_draw(net_server* server, void* bytes, size_t size) {
    if (server->config.entropy) {
        server->config.entropy(bytes, size);
        return;
    }
    for (size_t i = 0; i < size; i++)
        ((uint8_t*)bytes)[i] = (uint8_t)(base_rng_u32(&server->rng) >> 24);
}

bool net_session_welcome(net_server* server, net_session* session, net_session_start start) {
    net_match* match = server->config.match;
    const net_match_config* config = net_match_get_config(match);
    double settings[NET_SETTINGS_MAX];
    memcpy(settings, config->settings, sizeof settings);
    Shoal__Wire__Welcome welcome = SHOAL__WIRE__WELCOME__INIT;
    welcome.client = session->client;
    welcome.tick_rate_hz = config->tick_rate_hz;
    welcome.replicated_index_max = ecs_world_limits(net_match_world(match))->replicated_index_max;
    welcome.n_settings = config->module->game->setting_count;
    welcome.settings = settings;
    welcome.resume = (ProtobufCBinaryData){sizeof session->resume, session->resume};
    welcome.is_resumed = start != NET_SESSION_NEW;
    welcome.is_rebased = start == NET_SESSION_REBASED;
    welcome.is_solo = session->is_solo;
    welcome.reads_short = true;
    welcome.is_spectator = session->is_spectator;
    welcome.epoch = server->epoch;
    welcome.standbys = (ProtobufCBinaryData){server->standby_bytes, server->standbys};
    if (net_session_send_control(server, session, &welcome.base) == NET_OK) return true;
    net_session_end(server, session, NET_END_TIMEOUT);
    return false;
}

// One client more costs what each of the others costs. Those that came just now have not shown it.
static bool has_room_for_solo(const net_server* server, const net_session* session) {
    uint32_t count = 0, known = 0;
    for (const net_session* other = NULL; (other = net_server_next(server, other));) {
        if (other == session || !net_session_is_player(other) || !other->is_solo) continue;
        count++;
        known += other->state == NET_SESSION_PLAYING &&
                 net_server_is_older(server, other->since_us, NET_SOLO_KNOWN_MS);
    }
    return net_solo_has_room(count, known, net_server_solo_rows_per_s(server));
}

static bool is_rate_short(const net_server* server, const net_session* session) {
    net_rate rate;
    net_rate_init(&rate, 0, net_server_rate_max(server), session->rate_requested);
    return rate.rate_max <= NET_SOLO_RATE_BYTES_MAX;
}

void net_session_choose_code(net_server* server, net_session* session) {
    const net_coder coder = server->config.coder;
    session->is_solo = server->config.solo && session->has_solo && coder != NET_CODER_SHARED;
    // The time that solo code takes belongs to players who can be sent little.
    if (session->is_solo && coder != NET_CODER_SOLO)
        session->is_solo = !session->is_spectator && is_rate_short(server, session) &&
                           has_room_for_solo(server, session);
}

// Without keys a client wrote its token itself, so nothing in it counts.
static net_game_player describe_player(const net_session* session) {
    const net_peer_identity* who = &session->identity;
    const bool has_key = who->key != 0;
    return (net_game_player){.client = session->client,
                             .name = session->name,
                             .is_bot = session->is_bot,
                             .player_id = has_key ? who->player : 0,
                             .user_data = who->user,
                             .user_bytes = has_key ? who->user_bytes : 0};
}

bool net_session_is_admitted(const net_server* server, const net_session* session,
                             net_game_player* player) {
    const net_server_config* config = &server->config;
    *player = describe_player(session);
    // A log without a host cannot say what one knew.
    return !config->admit || !net_match_get_told(config->match) || player->player_id == 0 ||
           config->admit(config->admit_context, server->now_us, player);
}

void net_session_accept(net_server* server, net_session* session) {
    _Static_assert(NET_CLIENTS_MAX + NET_SERVER_SPARE_SESSIONS <= NET_NAMES_MAX, "all are asked");
    BASE_ASSERT(session->state == NET_SESSION_GREETING && session->client == 0);
    net_session_open_report(server, session);
    net_name_key key = {0}; // a spectator's name is in no roster
    if (!session->is_spectator)
        key = net_name_distinguish(session->name, server->name_keys, server->session_count);
    net_session_set_state(server, session, NET_SESSION_ACCEPTED, "accepted");
    server->name_keys[session->place] = key;
    make_secret(server, session);
    net_session_choose_code(server, session);
    net_game_player player; // the answer may be there for the next tick
    if (!session->is_spectator) (void)net_session_is_admitted(server, session, &player);
    (void)net_session_welcome(server, session, NET_SESSION_NEW);
}

static void send_goodbye(net_server* server, net_session* session, net_end end, uint64_t hash) {
    Shoal__Wire__Goodbye goodbye = SHOAL__WIRE__GOODBYE__INIT;
    if (session->transfer) goodbye = *session->transfer;
    goodbye.tick = net_match_tick(server->config.match);
    goodbye.reason = (uint32_t)end;
    if (session->end_reason[0]) goodbye.text = session->end_reason;
    goodbye.scope_hash = hash;
    if (end == NET_END_BANNED) {
        const net_peer_identity* who = &session->identity;
        const net_ban* ban =
            net_bans_find(server->config.bans, &who->address, who->player, who->key);
        if (ban) goodbye.text = (char*)(uintptr_t)ban->reason; // encoding only reads it
    }
    (void)net_session_send_control(server, session, &goodbye.base);
    net_transport* transport = server->config.transport;
    transport->ops->disconnect(transport, session->peer, (uint32_t)end, false);
}

static void drop_replication(net_session* session) {
    net_varsize_sender_destroy(session->out.varsize);
    net_repl_state_destroy(session->out.repl);
    session->out.varsize = NULL;
    session->out.repl = NULL;
}

void net_session_renew(net_server* server, net_session* session) {
    BASE_ASSERT(net_session_is_in_match(session));
    drop_replication(session);
    net_session_add_dropped(session, server->counters.dropped);
    deinit_queues(server, session);
    session->out = (net_session_out){.repl = NULL};
    init_queues(server, session);
    session->has_player_sent = session->has_roster = false;
    session->refusal[0] = '\0';
    session->is_renewed = true;
    session->sight_player = ECS_ENTITY_NONE;
    session->is_rebasing = session->was_rebased = false;
    session->joined_us = server->now_us; // no sign of life can be there yet
}

void net_session_ask_again(net_server* server, net_session* session) {
    if (session->state == NET_SESSION_ACCEPTED) net_session_end(server, session, NET_END_EXCHANGED);
    if (!net_session_is_in_match(session)) {
        drop_replication(session); // of one that is closing
        return;
    }
    if (session->state == NET_SESSION_PLAYING) {
        send_goodbye(server, session, NET_END_EXCHANGED, 0);
        net_session_set_peer(server, session, 0);
        net_session_set_state(server, session, NET_SESSION_AWAY, "exchanged");
    }
    session->resume_us = 0; // it comes back at once because the server asks it to
    session->is_expected = false;
    net_session_renew(server, session);
}

void net_session_end(net_server* server, net_session* session, net_end end) {
    BASE_ASSERT(end != NET_END_NONE);
    if (session->state == NET_SESSION_FREE || session->state == NET_SESSION_CLOSING) return;
    const char* reason = net_end_name(end);
    if (session->state == NET_SESSION_AWAY) {
        // No connection, so no goodbye.
        net_session_close_report(server, session, end == NET_END_GOODBYE ? NET_END_TIMEOUT : end);
        net_session_set_state(server, session, NET_SESSION_CLOSING, reason);
        net_session_gone(server, session, reason);
        return;
    }
    net_session_close_report(server, session, end);
    if (end == NET_END_DEAF) net_server_drop(server, NET_DROP_DEAF, 1);
    if (end == NET_END_DEAF || end == NET_END_FAULT) {
        // The client broke rules: the next session of this player or address waits.
        uint64_t key = pace_key(session);
        if (key != 0) find_bucket(server, key)->sessions.full_us = server->now_us + PACE_BURST_US;
    }
    net_transport* transport = server->config.transport;
    if (end == NET_END_TIMEOUT || end == NET_END_DEAF) {
        // A silent client will not confirm a goodbye either: do not wait for it.
        transport->ops->disconnect(transport, session->peer, (uint32_t)end, true);
        net_session_set_state(server, session, NET_SESSION_CLOSING, reason);
        net_session_gone(server, session, reason);
        return;
    }
    send_goodbye(server, session, end, net_session_scope_hash(server, session));
    net_session_set_state(server, session, NET_SESSION_CLOSING, reason);
}

// What a client leaves behind.
//
// Joins and leaves walk the world: a client's scope is gathered, and hashed for the report. Who
// connects and leaves again and again must not slow the tick down, so each of these is rationed in
// entities, not in time: a tick does the same on any machine.
//
// A replication state that is left behind is abandoned at once (nothing is written for it). Few are
// destroyed per tick, since a large one releases much memory. There is a place for each session;
// when more leave than were destroyed, the oldest goes at once.

enum { DESTROYED_PER_TICK = 2 };

static void destroy_first(net_server* server) {
    net_repl_state_destroy(server->leavers[0]);
    server->leaver_count--;
    memmove(server->leavers, server->leavers + 1, server->leaver_count * sizeof *server->leavers);
}

void net_server_destroy_leavers(net_server* server) {
    BASE_ASSERT(!server->out.is_uncollected);
    for (uint32_t i = 0; i < DESTROYED_PER_TICK && server->leaver_count > 0; i++)
        destroy_first(server);
}

void net_server_close_leavers(net_server* server) {
    while (server->leaver_count > 0)
        destroy_first(server);
}

void net_session_gone(net_server* server, net_session* session, const char* reason) {
    BASE_ASSERT(session->state != NET_SESSION_FREE && session->state != NET_SESSION_AWAY);
    // Without a goodbye: the transport gave up on the connection.
    if (session->state != NET_SESSION_CLOSING)
        net_session_close_report(server, session, NET_END_TIMEOUT);
    if (server->config.tap) server->config.tap->leave(server, session);
    if (session->out.repl) {
        net_varsize_sender_destroy(session->out.varsize);
        BASE_ASSERT(!server->out.is_uncollected);
        if (server->leaver_count == server->session_count) destroy_first(server);
        net_repl_state_abandon(session->out.repl);
        server->leavers[server->leaver_count++] = session->out.repl;
        session->out.repl = NULL;
    }
    net_interest_remove_client(server->interest, session->client);
    session->out.varsize = NULL;
    deinit_queues(server, session);
    net_session_set_state(server, session, NET_SESSION_FREE, reason);
    net_session_set_peer(server, session, 0);
}

void net_session_strike(net_server* server, net_session* session) {
    net_server_drop(server, NET_DROP_MALFORMED, 1);
    session->strike_us[session->strikes++ % NET_STRIKES_MAX] = server->now_us;
    if (session->strikes < NET_STRIKES_MAX) return;
    uint64_t oldest_us = session->strike_us[session->strikes % NET_STRIKES_MAX];
    if (server->now_us - oldest_us > NET_STRIKE_MS * 1000u) return;
    if (session->refusal[0])
        (void)base_text_copy(session->end_reason, sizeof session->end_reason, session->refusal);
    net_session_end(server, session, NET_END_FAULT);
}

// Variable-size components of a server's clients: values that travel on the control channel beside
// snapshots.
//
// They are sent in the net half, by what is left of a share of the client's rate. Their bytes are
// paid for out of its tokens bit by bit: a long value must not silence the snapshots behind it.

#define RATE_SHARE 4.0 ///< values may use one part in so many of a client's rate

static void watch_enter(void* context, ecs_entity entity, uint32_t classes, ecs_tick tick) {
    net_session* session = context;
    net_varsize_sender_enter(session->out.varsize, entity, classes, tick);
    note_sight(session, entity, true);
}

static void watch_reclass(void* context, ecs_entity entity, uint32_t classes) {
    net_varsize_sender_reclass(((net_session*)context)->out.varsize, entity, classes);
}

static void watch_leave(void* context, ecs_entity entity) {
    net_session* session = context;
    net_varsize_sender_leave(session->out.varsize, entity);
    note_sight(session, entity, false);
}

void net_session_open_varsize(net_server* server, net_session* session) {
    net_session_out* out = &session->out;
    BASE_ASSERT(out->repl && !out->varsize);
    out->server = server;
    out->varsize = net_varsize_sender_create(server->varsize);
    out->varsize_debt = 0;
    const net_repl_state_watch watch = {
        .context = session, .enter = watch_enter, .reclass = watch_reclass, .leave = watch_leave};
    if (session->is_rebasing)
        net_varsize_sender_rebase(out->varsize, net_match_tick(server->config.match));
    net_repl_state_set_watch(out->repl, &watch);
}

typedef struct sending {
    net_server* server;
    net_session* session;
} sending;

// A client that does not have the entity yet could only store the value aside. No
// net_session_send_control: its counters belong to the other half, and a refused value is no drop,
// since it is sent again.
static net_result send_value(void* context, const net_varsize_message* message) {
    _Static_assert(NET_VARSIZE_BYTES_MAX + NET_VARSIZE_FRAME_BYTES_MAX <= NET_CONTROL_BYTES_MAX,
                   "a value must fit one message");
    const sending* to = context;
    net_session_out* out = &to->session->out;
    if (!net_repl_state_has(out->repl, message->handle)) return NET_ERR_STALE;
    Shoal__Wire__VarsizeValue value = SHOAL__WIRE__VARSIZE_VALUE__INIT;
    value.entity = message->handle;
    value.component = message->number;
    value.version = message->version;
    value.since = message->since;
    value.is_default = message->is_default;
    value.value = (ProtobufCBinaryData){message->size, (uint8_t*)(uintptr_t)message->bytes};
    const Shoal__Wire__ServerControl control =
        net_control_wrap(&shoal__wire__server_control__descriptor, &value.base);
    size_t bytes = 0;
    net_result result =
        net_control_send(to->server->config.transport, to->session->peer, &control.base, &bytes);
    if (result != NET_OK) return result;
    net_session_trace_packet(to->server, to->session, to->server->out.now_us, NET_TRACE_SENT,
                             "varsize", message->number, bytes);
    out->varsize_debt += (double)bytes;
    out->rate.paid += bytes + NET_RATE_OVERHEAD_BYTES;
    const net_send_tap* tap = to->server->config.tap;
    if (tap)
        tap->message(to->server, to->session, message->handle,
                     net_rows_varsize(to->server->rows, message->number), bytes);
    return NET_OK;
}

void net_session_send_varsize(net_server* server, net_session* session) {
    net_session_out* out = &session->out;
    if (out->has_failed || out->summary.is_away || out->summary.is_deaf) return;
    double share = out->rate.rate * (double)server->tick_us * 1e-6 / RATE_SHARE;
    double paid = out->varsize_debt < share ? out->varsize_debt : share;
    out->varsize_debt -= paid;
    out->rate.tokens -= paid;
    // A debt makes the next value wait; a higher rate would not.
    if (out->varsize_debt > 0) out->rate.was_short = true;
    sending to = {server, session};
    net_varsize_sender_publish(out->varsize, (uint32_t)share + 1, send_value, &to);
}

bool net_session_apply_varsize_ack(net_session* session, const Shoal__Wire__VarsizeAck* ack) {
    net_varsize_sender* sender = session->out.varsize;
    if (!sender) return false;
    for (size_t i = 0; i < ack->n_versions; i++)
        if (!net_varsize_sender_ack(sender, ack->versions[i])) return false;
    for (size_t i = 0; i < ack->n_lost; i++) {
        const Shoal__Wire__VarsizeLost* lost = ack->lost[i];
        if (!net_varsize_sender_lost(sender, lost->entity, lost->component, lost->version))
            return false;
    }
    return true;
}
