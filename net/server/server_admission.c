// SPDX-License-Identifier: MIT
// Who may come in.
//
// When the server is full, the least active member gives its place to a new client. A member is
// active when it acknowledges something new and sends inputs. A member that plays does both, so it
// is never evicted. Neither is one in a blackout of ten seconds.
#include "server/server_state.h"

#include "core/fault.h"
#include "game/match.h"
#include "replicate/repl_state.h"
#include "state/varsize.h"

#include "net/token.h"

#include "base/assert.h"
#include "base/text.h"

#define GREETING_MS_MIN 1000u // a connection has at least this time for its hello, in any crowd

// ---- places

static bool is_greeting(const net_session* session) {
    return session->state == NET_SESSION_GREETING || session->state == NET_SESSION_ASKED;
}

static uint32_t count_origin(const net_server* server, uint64_t origin,
                             bool (*is_counted)(const net_session* session)) {
    uint32_t count = 0;
    for (const net_session* other = NULL; origin != 0 && (other = net_server_next(server, other));)
        count += other->origin == origin && is_counted(other);
    return count;
}

bool net_server_is_crowded(const net_server* server, const net_session* session) {
    return count_origin(server, session->origin, is_greeting) >
           server->config.clients_per_address_max;
}

bool net_server_free_greeting(net_server* server) {
    net_session* oldest = NULL;
    for (net_session* session = NULL; (session = net_server_next(server, session));) {
        if (!is_greeting(session) ||
            !net_server_is_older(server, session->since_us, GREETING_MS_MIN))
            continue;
        if (!oldest || session->since_us < oldest->since_us) oldest = session;
    }
    if (!oldest) return false;
    net_server_drop(server, NET_DROP_GREETING_LATE, 1);
    net_session_end(server, oldest, NET_END_TIMEOUT);
    return true;
}

// ---- life

static uint64_t age_us(const net_server* server, uint64_t since_us) {
    return server->now_us > since_us ? server->now_us - since_us : 0;
}

static uint64_t beyond(uint64_t us, uint32_t ms, uint64_t rank) {
    return us >= ms * UINT64_C(1000) ? rank << 56 | us : 0;
}

// The lifeless get the highest numbers: those that never acknowledged anything, then by how long
// nothing new was acknowledged, then those that never sent an input. 0: it plays.
static uint64_t lifelessness(const net_server* server, const net_session* session) {
    const net_ack_sender* sent = &session->out.sent;
    uint64_t joined_us = age_us(server, session->joined_us);
    if (!net_session_has_player(session)) return 0;
    if (!sent->has_ack) return beyond(joined_us, NET_LIFE_FIRST_MS, 3);
    uint64_t silent = beyond(age_us(server, sent->last_ack_us), NET_LIFE_SILENT_MS, 2);
    if (silent || session->inputs.received > 0) return silent;
    return beyond(joined_us, NET_LIFE_INPUT_MS, 1);
}

static bool evict(net_server* server) {
    net_session* victim = NULL;
    uint64_t most = 0;
    for (net_session* session = NULL; (session = net_server_next(server, session));) {
        uint64_t rank = session ? lifelessness(server, session) : 0;
        if (rank <= most) continue;
        most = rank;
        victim = session;
    }
    if (!victim) return false;
    net_server_drop(server, NET_DROP_EVICTED, 1);
    net_session_end(server, victim, NET_END_EVICTED);
    return true;
}

static bool has_room(net_server* server, bool is_player) {
    if (!is_player) return server->counters.spectators < server->config.spectators_max;
    return server->counters.clients < server->config.clients_max || evict(server);
}

// ---- checks

void net_server_check_ban(net_server* server, const net_session* session, net_refusal* refusal) {
    const net_peer_identity* who = &session->identity;
    const net_ban* ban = net_bans_find(server->config.bans, &who->address, who->player, who->key);
    if (!ban) return;
    net_server_drop(server, NET_DROP_BANNED, 1);
    refusal->reason = SHOAL__WIRE__REFUSED_REASON__REFUSED_BANNED;
    (void)base_text_format(refusal->text, sizeof refusal->text,
                           "you are banned from this server%s%s", ban->reason[0] ? ": " : "",
                           ban->reason);
}

void net_server_check_join(net_server* server, net_session* session, bool is_here,
                           net_refusal* refusal) {
    const bool is_player = !session->is_spectator;
    const char* members = is_player ? "players" : "spectators";
    const uint32_t here = count_origin(
        server, session->origin, is_player ? net_session_is_player : net_session_is_spectator);
    session->retry_ms = (uint32_t)((net_session_take_pace(server, session) + 999) / 1000);
    if (session->retry_ms > 0) {
        net_server_drop(server, NET_DROP_JOIN_FLOOD, 1);
        (void)base_text_format(refusal->text, sizeof refusal->text,
                               "too many sessions in a short time: try again in %u s",
                               session->retry_ms / 1000 + 1);
    } else if (is_here) {
        return;
    } else if (session->origin != 0 && here >= server->config.clients_per_address_max) {
        net_server_drop(server, NET_DROP_ADDRESS_FULL, 1);
        (void)base_text_format(refusal->text, sizeof refusal->text,
                               "%u %s of your address are here already", here, members);
    } else if (is_player && server->config.is_following) {
        (void)base_text_copy(refusal->text, sizeof refusal->text,
                             "this server shows the match of another one: watch it (--spectate), "
                             "or play there");
    } else if (is_player && session->identity.key != 0 &&
               session->identity.key == server->config.watch_key) {
        (void)base_text_copy(refusal->text, sizeof refusal->text,
                             "this token is for a spectator: watch (--spectate), or join by the "
                             "host");
    } else if (!is_player && server->config.spectators_max == 0) {
        (void)base_text_copy(refusal->text, sizeof refusal->text,
                             "this server takes no spectators (its option: --spectators N)");
    } else if (is_player && server->clients_named + 1 >= NET_SPECTATOR_FIRST) {
        // A log or a stream of others may have any number.
        (void)base_text_copy(refusal->text, sizeof refusal->text,
                             "this match has no number for another player");
    } else if (!has_room(server, is_player)) {
        (void)base_text_format(
            refusal->text, sizeof refusal->text, "the server is full (%u %s): try later",
            is_player ? server->config.clients_max : server->config.spectators_max, members);
    } else {
        return;
    }
    refusal->reason = SHOAL__WIRE__REFUSED_REASON__REFUSED_FULL;
}

// ---- bans while the server runs

uint32_t net_server_enforce_bans(net_server* server) {
    net_server_collect(server);
    uint32_t ended = 0;
    for (net_session* session = NULL; (session = net_server_next(server, session));) {
        if (session->state == NET_SESSION_FREE || session->state == NET_SESSION_CLOSING) continue;
        const net_peer_identity* who = &session->identity;
        if (!net_bans_find(server->config.bans, &who->address, who->player, who->key)) continue;
        net_server_drop(server, NET_DROP_BANNED, 1);
        net_session_end(server, session, NET_END_BANNED);
        ended++;
    }
    return ended;
}

net_result net_server_ban(net_server* server, const net_ban* ban, uint32_t* ended) {
    *ended = 0;
    if (!server->config.bans) return NET_ERR_CLOSED;
    net_result result = net_bans_add(server->config.bans, ban);
    if (result == NET_OK) *ended = net_server_enforce_bans(server);
    return result;
}

// Sessions outlive their connections.
//
//     PLAYING --(the transport lost it)--> AWAY --(30 s)--> gone
//        ^  |                               |
//        |  +--(hello with its secret)--+   |
//        +------------------------------+---+
//
// An AWAY session keeps its player, replication state, acknowledgements and queues. Nothing is
// sent. Packets in flight count as lost, so the replication state sends their rows again, against
// bases that the client still has. A client may come back before the server notices that its old
// connection is lost: a secret counts more than a connection.
//
// Secrets are compared in a time that does not depend on them. Invariant: an AWAY session has no
// peer.

#define HEARD_MS 1000u          // a client is heard for so long after a datagram
#define FLOOD_REPORTED_MS 2000u // of too much, before the operator is informed

// Packets in flight count as lost: they do not arrive, or no acknowledgement does.
static void lose_packets(net_server* server, net_session* session) {
    BASE_ASSERT(session->out.repl && session->out.varsize);
    const uint64_t later_us = server->now_us + UINT64_C(1000) * NET_SILENCE_MS_MAX;
    net_ack_sender_expire(&session->out.sent, later_us, server->tick_us, &server->acks);
    for (uint32_t i = 0; i < server->acks.lost_count; i++)
        (void)net_repl_state_lost(session->out.repl, server->acks.lost[i]);
    net_varsize_sender_resume(session->out.varsize);
}

static void report_away(net_server* server, net_session* session, const char* why) {
    if (session->is_quiet) return;
    session->is_quiet = true;
    char who[NET_WHO_BYTES];
    base_report(net_ration_take(&server->ration, NET_RATION_AWAY, server->now_us), NULL, 0,
                "note: %s is away: %s", net_server_who(session->client, session->name, who), why);
}

void net_session_lose(net_server* server, net_session* session) {
    BASE_ASSERT(session->state == NET_SESSION_PLAYING);
    // One that starts again comes a second time.
    if (!session->is_renewed) report_away(server, session, "its connection is lost");
    if (session->out.repl) lose_packets(server, session);
    net_session_set_peer(server, session, 0);
    net_session_set_state(server, session, NET_SESSION_AWAY, "connection_lost");
}

static void report_back(net_server* server, const net_session* session) {
    char who[NET_WHO_BYTES];
    base_report(net_ration_take(&server->ration, NET_RATION_BACK, server->now_us), NULL, 0,
                "note: %s is back after %.1f s",
                net_server_who(session->client, session->name, who),
                (double)age_us(server, session->received_us) * 1e-6);
}

void net_session_mark_received(net_server* server, net_session* session) {
    if (session->is_quiet) report_back(server, session);
    session->is_quiet = false;
    session->received_us = server->now_us;
}

static void report_flood(net_server* server, net_session* session) {
    if (session->flood_us == 0) session->is_flood_reported = false;
    if (session->is_flood_reported || session->flood_us < FLOOD_REPORTED_MS * 1000u) return;
    session->is_flood_reported = true;
    char who[NET_WHO_BYTES];
    base_report(net_ration_take(&server->ration, NET_RATION_LIMITED, server->now_us), NULL, 0,
                "note: %s is rate-limited: it sends more than is read",
                net_server_who(session->client, session->name, who));
}

void net_session_watch(net_server* server, net_session* session) {
    // Time counts only while its datagrams come: a client in a blackout is not deaf. A resumption
    // does not help, an acknowledgement of something new does.
    const uint64_t heard_us = UINT64_C(1000) * HEARD_MS;
    if (session->deaf_ack_us != session->out.sent.last_ack_us) session->deaf_us = 0;
    session->deaf_ack_us = session->out.sent.last_ack_us;
    bool is_heard = server->now_us - session->received_us <= heard_us;
    const net_ack_sender* sent = &session->out.sent;
    bool has_newest = sent->has_ack && (uint16_t)(sent->newest_acked + 1) == sent->next;
    if (is_heard && sent->count > 0 && !has_newest) session->deaf_us += server->tick_us;
    // A burst is forgiven: its time is paid back while less comes.
    if (session->is_flooding)
        session->flood_us += server->tick_us;
    else
        session->flood_us -=
            session->flood_us < server->tick_us ? session->flood_us : server->tick_us;
    session->is_flooding = false;
    report_flood(server, session);
    if (net_server_is_older(server, session->received_us, NET_QUIET_MS_MAX))
        report_away(server, session, "nothing received");
}

// The last byte of a secret says how often the place was taken; a key makes the others.
net_session* net_server_find_secret(net_server* server, const uint8_t* secret, bool* is_elsewhere) {
    enum { TURN = NET_RESUME_BYTES - 1 };
    if (net_fault_is_planted(NET_FAULT_NO_SESSION)) return NULL;
    net_session* found = NULL;
    for (net_session* session = NULL; (session = net_server_next(server, session));) {
        if (!net_session_is_in_match(session)) continue;
        uint32_t difference = 0;
        for (uint32_t k = 0; k < TURN; k++)
            difference |= (uint32_t)(session->resume[k] ^ secret[k]);
        if (difference == 0) found = session;
    }
    if (!found) return NULL;
    // How often it was where it joined, its client alone knows.
    if (found->is_expected && !found->received.has_any) found->resume[TURN] = secret[TURN];
    *is_elsewhere = found->resume[TURN] != secret[TURN];
    return found;
}

// Where it joined it said so too; only now it is known here. Those that are back already have it in
// their rosters otherwise.
static void take_hello_of(net_server* server, net_session* session, const net_session* greeting) {
    const bool is_news = session->is_bot != greeting->is_bot;
    session->has_solo = greeting->has_solo;
    session->rate_requested = greeting->rate_requested;
    session->is_bot = greeting->is_bot;
    session->memory = greeting->memory;
    net_session_choose_code(server, session);
    for (net_session* other = NULL; is_news && (other = net_server_next(server, other));)
        if (other->has_roster) other->is_roster_due = true;
}

static net_result give_place(net_server* server, const net_player* player) {
    if (server->counters.clients >= server->config.clients_max) return NET_ERR_FULL;
    net_session* session = net_server_add_away(server, player->client, player->name);
    if (!session) return NET_ERR_FULL;
    net_interest_add_client(server->interest, session->client);
    session->is_bot = player->is_bot;
    session->identity.player = player->kept.player_id; // of a token of the back end
    net_interest_hold(server->interest, session->client, true);
    server->is_recalling = true;
    return NET_OK;
}

net_result net_server_expect(net_server* server, uint32_t client, uint64_t now_us) {
    BASE_ASSERT(server->phase == NET_SERVER_HOLDING && !server->config.step);
    server->now_us = now_us;
    const net_player* player = net_match_find_player(server->config.match, client);
    BASE_ASSERT(player);
    return give_place(server, player);
}

net_result net_server_take_over(net_server* server, uint64_t now_us) {
    BASE_ASSERT(server->config.is_following && server->phase <= NET_SERVER_RUNNING);
    net_match* match = server->config.match;
    net_server_collect(server);
    server->config.is_following = false;
    server->now_us = now_us;
    server->clients_named = net_match_client_last(match);
    // So far they were about players who are not here.
    net_interest_requests_renew(&match->requests);
    for (uint32_t i = 0; i < match->player_count; i++) {
        match->players[i].is_homeless = give_place(server, &match->players[i]) != NET_OK;
        server->homeless += match->players[i].is_homeless;
    }
    return server->homeless > 0 ? NET_ERR_FULL : NET_OK;
}

// Its client has the world of another server of the match, and that goes on here.
static void rebase(net_server* server, net_session* session) {
    uint32_t input, event;
    net_match_get_numbers(server->config.match, session->client, &input, &event);
    session->inputs.newest = session->inputs.used = input;
    session->inbox.newest = event;
    session->inbox.is_open = event == 0;
    session->is_rebasing = true;
}

// A player has one place. With the built-in key a client names itself, so only a token of a back
// end says who it is.
net_session* net_server_find_same(net_server* server, const net_session* greeting) {
    const net_peer_identity* who = &greeting->identity;
    if (who->player == 0 || who->key == 0 || greeting->is_spectator) return NULL;
    for (net_session* session = NULL; (session = net_server_next(server, session));)
        if (net_session_is_player(session) && session->identity.player == who->player &&
            (session->identity.key == who->key || session->is_expected))
            return session;
    return NULL;
}

// Its client has nothing of it any more. The match does not notice, so its log has nothing of it.
static void begin_again(net_server* server, net_session* session, const char* why) {
    net_session_set_peer(server, session, 0);
    if (session->state == NET_SESSION_PLAYING)
        net_session_set_state(server, session, NET_SESSION_AWAY, why);
    net_interest_hold(server->interest, session->client, true);
    session->is_expected = false;
    net_session_renew(server, session);
}

// The connection of before gets a session that only says goodbye.
bool net_session_take_place(net_server* server, net_session* first, net_session* greeting) {
    if (!net_session_is_in_match(first)) {
        net_session_end(server, first, NET_END_ELSEWHERE);
        return false;
    }
    const net_peer before = first->peer;
    char who[NET_WHO_BYTES];
    base_report(net_ration_take(&server->ration, NET_RATION_BACK, server->now_us), NULL, 0,
                "note: %s joined elsewhere", net_server_who(first->client, first->name, who));
    begin_again(server, first, "joined_elsewhere");
    first->resume[NET_RESUME_BYTES - 1]++;
    take_hello_of(server, first, greeting);
    net_session_resume(server, first, greeting);
    net_session* leaving = before ? net_server_add_session(server, before) : NULL;
    if (leaving) net_session_end(server, leaving, NET_END_ELSEWHERE);
    return true;
}

void net_session_resume_anew(net_server* server, net_session* session, net_session* greeting) {
    if (!session->is_renewed || session->received.has_any) {
        net_transport* transport = server->config.transport;
        const net_peer before = session->peer;
        begin_again(server, session, "starts_again");
        if (before) transport->ops->disconnect(transport, before, NET_END_TIMEOUT, true);
        take_hello_of(server, session, greeting);
    }
    net_session_resume(server, session, greeting);
}

void net_session_resume(net_server* server, net_session* session, net_session* greeting) {
    BASE_ASSERT(net_session_is_in_match(session) && greeting->state == NET_SESSION_GREETING);
    if (session->state == NET_SESSION_PLAYING) {
        net_transport* transport = server->config.transport;
        transport->ops->disconnect(transport, session->peer, NET_END_TIMEOUT, true);
        if (session->out.repl) lose_packets(server, session);
        net_session_set_peer(server, session, 0);
        net_session_set_state(server, session, NET_SESSION_AWAY, "connection_replaced");
    }
    const net_peer peer = greeting->peer;
    net_session_set_state(server, greeting, NET_SESSION_CLOSING, "resumed_another");
    net_session_set_peer(server, greeting, 0);
    net_session_set_peer(server, session, peer);
    session->identity = greeting->identity;
    session->origin = greeting->origin;
    net_session_set_state(server, session, NET_SESSION_PLAYING, "resumed");
    session->packet_credit = NET_PACKETS_BURST_MAX;
    net_session_gone(server, greeting, "resumed_another");
    server->counters.resumes++;
    const bool is_anew = session->is_renewed && !session->received.has_any;
    session->is_renewed = is_anew;
    if (is_anew && session->is_expected) take_hello_of(server, session, greeting);
    if (is_anew) net_session_renew(server, session);
    // A match that goes on from far back, as with --at, would stand still on its client's screen.
    const ecs_tick tick = net_match_tick(server->config.match);
    const bool is_rebased = is_anew && session->is_expected && session->memory.tick != 0 &&
                            session->memory.tick <= tick + NET_REBASE_TICKS_MAX;
    if (is_rebased) rebase(server, session);
    // A client that resumes again and again gets a welcome each time, but no line is printed and no
    // roster sent.
    bool is_quiet = net_session_has_resumed_just_now(server, session);
    // Also when the loss was not noticed. Who starts again comes twice.
    if (!is_quiet && !(is_anew && session->resume_us != 0)) report_back(server, session);
    session->is_quiet = false;
    session->received_us = server->now_us;
    if (server->phase == NET_SERVER_SETTLING && !server->is_settle_prolonged) {
        server->is_settle_prolonged = true;
        server->phase_us = server->now_us;
    }
    if (!net_session_welcome(server, session,
                             is_rebased ? NET_SESSION_REBASED
                             : is_anew  ? NET_SESSION_NEW
                                        : NET_SESSION_RESUMED))
        return;
    if (session->was_rebased) net_session_send_rebased(server, session);
    session->out.rate.paid = net_server_sent_bytes(server, session);
    if (is_quiet) {
        session->is_roster_due = true;
        net_server_drop(server, NET_DROP_RESUME_QUIET, 1);
        return;
    }
    session->resume_us = server->now_us ? server->now_us : 1;
    net_session_send_roster(server, session);
}
