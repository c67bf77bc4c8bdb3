// SPDX-License-Identifier: MIT
// The players of one process. Each has its own socket and its own world, so a bot here differs from
// a real client only in sharing a process. Thin bots have no worlds: they keep rows, and share the
// templates of one match. One loop runs all of them, on one thread.
#include "program.h"

#include "base/assert.h"
#include "base/text.h"
#include "host/output.h"
#include "host/setup.h"
#include "net/match.h"
#include "net/socket.h"
#include "net/transport.h"

#include <errno.h>
#include <inttypes.h>
#include <string.h>

#define SENDING_MS_MAX 1000u
#define SERVICE_US 10000u // longest time between two checks of the connections
#define SLACK_PER_PLAYER_US 50u
#define SLACK_US_MAX 4000u

// Players take the tokens of --token-file in turn; without one they have the built-in key.
// One that went on elsewhere has the token of there.
net_result client_program_open_transport(const client_program* self, uint32_t index,
                                         net_transport** transport) {
    const net_host_tokens* tokens = &self->tokens;
    const client_player* one = self->players ? &self->players[index] : NULL;
    net_enet_config enet = {.peers_max = 1};
    if (one && one->transfers.count > 0)
        enet.security.token = one->has_token ? &one->token : NULL;
    else if (tokens->count > 0)
        enet.security.token = &tokens->tokens[index % tokens->count];
    return net_transport_enet_create(&enet, transport);
}

void client_program_gather(net_loop* loop, net_transport* transport) {
    BASE_ASSERT(loop->socket_count <= NET_LOOP_SOCKETS_MAX);
    loop->socket_count += transport->ops->sockets(transport, loop->sockets + loop->socket_count,
                                                  NET_LOOP_SOCKETS_MAX - loop->socket_count);
}

const char* client_player_address(const client_program* self, uint32_t index) {
    const client_player* one = self->players ? &self->players[index] : NULL;
    return one && one->address[0] ? one->address : self->config.address;
}

// Sessions have ended. With --net the last acknowledgements are still on their way, and the server
// waits for them: send them, for 1 s at most. The loop forgets all sockets.
static void finish_sending(net_loop* loop) {
    uint64_t until_us = net_loop_now_us() + SENDING_MS_MAX * 1000u;
    loop->socket_count = 0; // what still comes is not read, and must not end the waits
    while (net_socket_is_sending() && net_loop_now_us() < until_us) {
        (void)net_loop_wait(loop, net_loop_now_us() + 5000u);
        net_socket_pump();
    }
}

// Why a session did not begin. @return the exit code.
static int report_refused(client_program* self, const net_client* client) {
    BASE_ASSERT(net_client_get_end(client) == NET_CLIENT_END_REFUSED);
    char text[256];
    uint32_t reason = net_client_refusal(client, text, sizeof text);
    base_report(&self->reporter, NULL, 0, "refused: %s", text);
    return net_exit_of_refusal(reason);
}

static int report_unreachable(client_program* self, uint32_t index, const net_client* client) {
    char text[256];
    (void)net_client_refusal(client, text, sizeof text);
    return net_exit_report(NET_EXIT_CONNECT, &self->reporter, NULL, "%s: %s",
                           client_player_address(self, index), text[0] ? text : NET_NO_ANSWER_TEXT);
}

// ---- which game ----
//
// Without --game the client greets with an empty game name, and the refusal carries the name of the
// server's game. That name is untrusted input: only a plain name is taken ([a-z0-9_]), and it is
// looked up in the module path only.

static void await_refusal(client_program* self, net_client* client, bool (*idle)(void*),
                          void* context) {
    while (net_client_get_phase(client) != NET_CLIENT_ENDED) {
        bool is_asked_to_end = net_loop_wait(&self->loop, net_loop_now_us() + 10000);
        if (idle && !idle(context)) is_asked_to_end = true;
        if (is_asked_to_end) net_client_leave(client, net_loop_now_us());
        net_client_service(client, net_loop_now_us());
    }
}

static int ask_game(client_program* self, bool (*idle)(void*), void* context) {
    net_transport* transport = NULL;
    int code = NET_EXIT_CLEAN;
    net_result result = client_program_open_transport(self, 0, &transport);
    if (result != NET_OK)
        return net_exit_report(NET_EXIT_RUNTIME, &self->reporter, NULL, "cannot open a socket: %s",
                               net_result_text(result));
    self->loop.socket_count = 0;
    client_program_gather(&self->loop, transport);
    net_client_config config = {.transport = transport,
                                .address = client_player_address(self, 0),
                                .reporter = &self->reporter};
    net_client* client = net_client_create(&config);
    await_refusal(self, client, idle, context);
    finish_sending(&self->loop);
    const char* game = net_client_refusal_game(client);
    if (net_client_get_end(client) != NET_CLIENT_END_REFUSED) {
        code = report_unreachable(self, 0, client);
    } else if (!net_module_name_is_valid(game)) {
        code = report_refused(self, client);
    } else {
        base_text_copy(self->game, sizeof self->game, game);
    }
    net_client_destroy(client);
    transport->ops->destroy(transport);
    return code;
}

// The module of a game by name: one that is open, or one more. @return NULL: reported.
static net_module* find_game(client_program* self, const char* name) {
    net_module* module = NULL;
    if (strcmp(self->module->game->name, name) == 0) return self->module;
    for (uint32_t i = 0; i < self->game_count; i++)
        if (strcmp(self->games[i]->game->name, name) == 0) return self->games[i];
    if (self->game_count == CLIENT_GAMES_MAX) {
        base_report(&self->reporter, NULL, 0, "%s: a client goes on to %u other games at most",
                    name, CLIENT_GAMES_MAX);
        return NULL;
    }
    if (net_host_open_game(name, NET_ROLE_MIRROR, self->config.threads, &self->reporter, &module) !=
        NET_OK)
        return NULL;
    return self->games[self->game_count++] = module;
}

// A client with a window follows a transfer to another game.
static int follow_first(client_program* self, bool (*idle)(void*), void* context) {
    const int code = ask_game(self, idle, context);
    net_module* module = code == NET_EXIT_CLEAN ? find_game(self, self->game) : NULL;
    if (!module) return code == NET_EXIT_CLEAN ? NET_EXIT_USAGE : code;
    for (uint32_t i = 0; i < self->game_count; i++)
        if (self->games[i] == module) self->games[i] = self->module;
    for (uint32_t i = 0; i < self->player_count; i++) {
        client_player* one = &self->players[i];
        one->module = one->has_eyes ? NULL : one->module ? one->module : self->module;
        if (one->module == module) one->module = NULL;
    }
    self->module = module;
    return NET_EXIT_CLEAN;
}

int client_program_reload(client_program* self, bool (*idle)(void*), void* context) {
    BASE_ASSERT(self->module && self->wants_reload);
    if (self->wants_follow) return follow_first(self, idle, context);
    net_result result = NET_OK;
    net_module *next = NULL, *old = self->reloaded ? self->reloaded : self->module;
    if (self->local)
        next = self->parts->take_local(self->local);
    else
        result = net_module_reopen(old, &self->reporter, &next);
    self->reloaded = NULL;
    if (!next) return net_exit_report_setup(result, &self->reporter);
    for (uint32_t i = 0; i < self->game_count; i++)
        if (self->games[i] == old) self->games[i] = next;
    for (uint32_t i = 0; i < self->player_count; i++)
        if (self->players[i].module == old) self->players[i].module = next;
    if (self->module == old) self->module = next;
    net_module_close(old);
    return net_exit_report_setup(result, &self->reporter);
}

void client_program_close_games(client_program* self) {
    while (self->game_count > 0)
        net_host_close_game(self->games[--self->game_count]);
    net_host_close_game(self->module);
    self->module = NULL;
}

int client_program_open_game(client_program* self, bool (*idle)(void*), void* context) {
    if (self->module) return NET_EXIT_CLEAN;
    if (!self->config.game) {
        int code = ask_game(self, idle, context);
        if (code != NET_EXIT_CLEAN) return code;
    }
    const char* name = self->config.game ? self->config.game : self->game;
    net_result result = net_host_open_game(name, NET_ROLE_MIRROR, self->config.threads,
                                           &self->reporter, &self->module);
    return net_exit_report_setup(result, &self->reporter);
}

// ---- the players ----
static void trace_update(void* context, uint32_t client, ecs_entity entity, ecs_tick tick,
                         uint64_t row_hash) {
    fprintf(context,
            "client=%" PRIu32 " entity=%" PRIu32 ":%" PRIu32 " tick=%" PRIu64 " row=%016" PRIx64
            "\n",
            client, ecs_entity_index(entity), ecs_entity_generation(entity), tick, row_hash);
}

// With --local the bots play besides the people, otherwise in their place.
uint32_t client_players_people(const client_program* self) {
    const client_config* config = &self->config;
    if (config->is_local && config->is_rendering) return (uint32_t)config->people;
    const bool has_one = config->bots == 0 && (config->thin_bots == 0 || config->is_rendering);
    return has_one ? (uint32_t)config->people : 0;
}

static uint32_t count_worlds(const client_program* self) {
    return client_players_people(self) + (uint32_t)self->config.bots;
}

bool client_player_is_spectator(const client_program* self, uint32_t index) {
    return self->config.is_spectating && (!self->config.is_local || index == 0);
}

bool client_player_is_person(const client_program* self, uint32_t index) {
    return index < client_players_people(self) && !client_player_is_spectator(self, index);
}

static net_result open_match(client_program* self, const client_player* one,
                             const base_allocator* memory, net_match** match) {
    net_match_config config = net_match_config_default(one->module ? one->module : self->module);
    config.allocator = memory;
    config.role = NET_ROLE_MIRROR;
    config.like = one->transfers.count == 0 ? self->like : NULL;
    const net_result result = net_match_create(&config, &self->reporter, match);
    if (match == &self->players->match && one->transfers.count == 0) self->like = *match;
    return result;
}

static int open_player(client_program* self, uint32_t index, const client_eyes* eyes) {
    client_player* one = &self->players[index];
    bool is_thin = index >= count_worlds(self);
    const bool is_recorded = self->config.record && index == 0 && one->transfers.count == 0;
    one->has_eyes = eyes != NULL;
    bool is_spectator = client_player_is_spectator(self, index);
    bool is_bot = !is_spectator && !client_player_is_person(self, index);
    const char* name = is_spectator ? "spectator" : is_bot ? "bot" : "player";
    if (self->config.name) name = self->config.name;
    bool is_one_of_many = is_thin || (self->config.bots > 1 && is_bot) ||
                          (self->config.bots > 1 && is_spectator && !self->config.is_local) ||
                          (is_bot && (self->config.is_local || !self->config.name)) ||
                          (!is_bot && index > 0);
    if (is_one_of_many)
        base_text_format(one->name, sizeof one->name, "%.20s-%" PRIu32, name, index + 1);
    else
        base_text_copy(one->name, sizeof one->name, name);
    if (!eyes && !one->memory) {
        one->memory = base_allocate_zero(&self->owner.allocator, sizeof *one->memory);
        base_quota_init(one->memory, NULL, NET_CLIENT_BYTES_MAX);
    }
    const base_allocator* memory = eyes ? &eyes->memory->allocator : &one->memory->allocator;
    net_result result = NET_OK;
    if (!is_thin && !one->is_asking)
        result = open_match(self, one, memory, &one->match);
    else if (is_thin && !self->thin_match)
        result = open_match(self, one, NULL, &self->thin_match);
    if (result != NET_OK) return net_exit_report_setup(result, &self->reporter);
    if (!one->transport && client_program_open_transport(self, index, &one->transport) != NET_OK)
        return net_exit_report(NET_EXIT_RUNTIME, &self->reporter, NULL, "cannot open a socket: %s",
                               strerror(errno));
    client_program_gather(&self->loop, one->transport);
    net_client_config config = {
        .allocator = memory,
        .match = is_thin ? self->thin_match : one->match,
        .is_thin = is_thin,
        .transport = one->transport,
        .address = client_player_address(self, index),
        .name = one->name,
        .is_bot = is_bot,
        .is_spectator = is_spectator,
        .watched = one->watched,
        .seed = self->config.seed + index,
        .rate_bytes_max = (uint32_t)self->config.rate_bytes_max,
        .secret = one->has_secret ? one->secret : NULL,
        .solo = self->parts->solo,
        .trace = self->trace ? trace_update : NULL,
        .trace_context = self->trace,
        .stepped = is_recorded ? self->parts->record_step : NULL,
        .stepped_context = self,
        .session_trace = self->session_trace ? net_host_write_trace : NULL,
        .session_trace_context = self->session_trace,
        .presenter = eyes ? eyes->presenter : NULL,
        .input = eyes ? eyes->input : NULL,
        .input_context = eyes ? eyes->input_context : NULL,
        .reporter = &self->reporter,
    };
    one->client = net_client_create(&config);
    return NET_EXIT_CLEAN;
}

int client_players_open(client_program* self, const client_eyes* eyes, uint32_t eyes_count) {
    BASE_ASSERT(self->module && (!self->players || self->wants_reload));
    BASE_ASSERT(eyes_count <= count_worlds(self)); // they belong to players with a world
    self->player_count = count_worlds(self) + (uint32_t)self->config.thin_bots;
    if (!self->players)
        BASE_ARRAY_RESERVE(&self->owner.allocator, self->players, self->player_capacity,
                           self->player_count);
    self->wants_reload = self->wants_follow = false;
    self->loop.socket_count = 0;
    int code = NET_EXIT_CLEAN;
    for (uint32_t i = 0; i < self->player_count && code == NET_EXIT_CLEAN; i++)
        code = open_player(self, i, i < eyes_count ? &eyes[i] : NULL);
    return code;
}

static void close_player(client_program* self, client_player* one) {
    one->has_secret =
        self->wants_reload && one->client && net_client_take_secret(one->client, one->secret);
    one->watched = self->wants_reload && one->client ? net_client_watched(one->client) : 0;
    net_client_destroy(one->client);
    one->client = NULL;
    const bool is_there = self->wants_reload && !(self->wants_follow && one->has_eyes);
    if (!is_there && one->transport) one->transport->ops->destroy(one->transport);
    if (!is_there) one->transport = NULL;
    if (!self->wants_reload) net_token_wipe(&one->token);
    if (one == &self->players[count_worlds(self)]) net_match_destroy(self->thin_match);
    if (one->match != self->like) net_match_destroy(one->match);
    one->match = NULL;
    if (one == self->players) {
        net_match_destroy(self->like);
        self->like = NULL;
    }
    base_release(&self->owner.allocator, one->memory, sizeof *one->memory);
    one->memory = NULL;
}

void client_players_close(client_program* self) {
    if (self->config.record) (void)self->parts->close_record(self);
    // The first match is the last to go: the others share its schema.
    for (uint32_t i = self->players ? self->player_count : 0; i-- > 0;)
        close_player(self, &self->players[i]);
    self->thin_match = NULL;
    if (self->wants_reload) return;
    BASE_ARRAY_RELEASE(&self->owner.allocator, self->players, self->player_capacity);
    self->players = NULL;
    self->player_capacity = 0;
    self->player_count = 0;
    self->loop.socket_count = 0;
}

static void gather_all(client_program* self) {
    self->loop.socket_count = 0;
    for (uint32_t i = 0; i < self->player_count; i++)
        client_program_gather(&self->loop, self->players[i].transport);
}

int client_players_join(client_program* self, const client_eyes* eyes) {
    const uint32_t index = client_players_people(self);
    const size_t behind = self->player_count - index; // bots
    BASE_ASSERT(self->local && self->players && index > 0 && index < CLIENT_PEOPLE_MAX);
    BASE_ARRAY_RESERVE(&self->owner.allocator, self->players, self->player_capacity,
                       self->player_count + 1);
    client_player* grown = self->players;
    memmove(grown + index + 1, grown + index, behind * sizeof *grown);
    grown[index] = (client_player){0};
    self->config.people++;
    self->player_count++;
    const int code = open_player(self, index, eyes);
    if (code == NET_EXIT_CLEAN) return code;
    close_player(self, &grown[index]);
    memmove(grown + index, grown + index + 1, behind * sizeof *grown);
    self->config.people--;
    self->player_count--;
    gather_all(self);
    return code;
}

// Each player's clock follows its own queue of inputs on the server. Without slack many bots would
// wake the loop at as many moments, and each wake-up checks all players. A player that is due
// within the slack ticks together with the first one.
static uint64_t slack_us(const client_program* self) {
    uint64_t slack = self->player_count > 1 ? self->player_count * SLACK_PER_PLAYER_US : 0;
    return slack < SLACK_US_MAX ? slack : SLACK_US_MAX;
}

uint64_t client_players_due_us(const client_program* self, uint64_t now_us) {
    uint64_t due_us = now_us + SERVICE_US;
    for (uint32_t i = 0; i < self->player_count; i++) {
        const net_client* client = self->players[i].client;
        if (net_client_get_phase(client) != NET_CLIENT_PLAYING) continue;
        uint64_t next_us = net_client_next_tick_us(client);
        if (next_us < due_us) due_us = next_us;
    }
    return due_us;
}

void client_players_tick(client_program* self, uint64_t now_us, uint64_t early_us) {
    uint64_t slack = slack_us(self);
    uint64_t until_us = now_us + (early_us > slack ? early_us : slack);
    net_sentry_busy(self->sentry);
    for (uint32_t i = 0; i < self->player_count; i++) {
        client_player* one = &self->players[i];
        // There is more than one tick when a round of the loop took longer than a tick: a display
        // that blocks must not set the tick rate.
        for (uint32_t count = 0; count < NET_CATCH_UP_TICKS_MAX; count++) {
            if (net_client_get_phase(one->client) != NET_CLIENT_PLAYING) break;
            if (net_client_next_tick_us(one->client) > until_us) break;
            net_client_tick(one->client, now_us);
            // Ticks count from the first state on: the wait before the match is not part of
            // --ticks.
            if (self->has_record_failed) net_client_leave(self->players[i].client, now_us);
            if (self->config.ticks && net_client_tick_newest(one->client) > 0 &&
                ++one->ticks >= self->config.ticks) {
                net_client_leave(one->client, now_us);
            }
        }
    }
    net_sentry_rest(self->sentry);
}

void client_players_leave(client_program* self, uint64_t now_us) {
    for (uint32_t i = 0; i < self->player_count; i++)
        net_client_leave(self->players[i].client, now_us);
}

// With many players a datagram comes every few microseconds, and each check reads all sockets. So
// the loop checks them at most once per slack. Signals still arrive meanwhile.
static bool rest(client_program* self, uint64_t until_us) {
    if (net_loop_now_us() >= until_us) return false;
    uint32_t sockets = self->loop.socket_count;
    self->loop.socket_count = 0;
    bool is_asked_to_end = net_loop_wait(&self->loop, until_us);
    self->loop.socket_count = sockets;
    return is_asked_to_end;
}

void client_players_run(client_program* self) {
    uint64_t looked_us = 0;
    for (;;) {
        if (rest(self, looked_us + slack_us(self))) client_players_leave(self, net_loop_now_us());
        uint64_t now_us = net_loop_now_us();
        uint64_t wake_us = client_players_due_us(self, now_us);
        uint64_t socket_us = net_socket_next_us();
        if (socket_us != UINT64_MAX && now_us + socket_us < wake_us) wake_us = now_us + socket_us;
        if (net_loop_wait(&self->loop, wake_us)) client_players_leave(self, net_loop_now_us());
        now_us = looked_us = net_loop_now_us();
        if (!client_players_service(self, now_us)) return;
        client_players_tick(self, now_us, 0);
    }
}

// Print the line of one client. @return its exit code; the highest code of all clients wins.
static int finish_player(client_program* self, uint32_t index) {
    client_player* one = &self->players[index];
    net_client_end end = net_client_get_end(one->client);
    if (end == NET_CLIENT_END_REFUSED) return report_refused(self, one->client);
    if (end == NET_CLIENT_END_UNREACHABLE) return report_unreachable(self, index, one->client);
    net_client_report report = net_client_get_report(one->client);
    if (report.client == 0) return NET_EXIT_CLEAN; // the client left before the welcome
    for (uint32_t i = 0; i < NET_DROP_COUNT; i++)
        self->dropped[i] += report.dropped[i];
    char line[NET_CLIENT_LINE_BYTES];
    if (net_client_line(one->client, line, sizeof line)) {
        fputs(line, stdout);
        if (one->transfers.count > 0) printf(" transfers=%" PRIu64, one->transfers.count);
        putchar('\n');
    }
    if (report.differs) return NET_EXIT_DIFFERS;
    return end == NET_CLIENT_END_LOST ? NET_EXIT_RUNTIME : NET_EXIT_CLEAN;
}

// ---- transfers ----

// Begin to go on where the server sent it. @return false: it stays.
static bool begin_transfer(client_program* self, uint32_t index, uint64_t now_us) {
    client_player* one = &self->players[index];
    const net_transfer* to = net_client_get_transfer(one->client);
    const net_result token =
        to && to->token[0] ? net_token_parse(to->token, &one->token) : NET_ERR_TOKEN;
    const bool is_right = to && (token == NET_OK || !to->token[0]);
    one->is_stuck = !is_right || !net_transfers_follow(&one->transfers, now_us);
    if (is_right && one->is_stuck)
        base_report(&self->reporter, NULL, 0, "%s was sent on %u times in a minute: it stays",
                    one->name, NET_TRANSFERS_MAX);
    if (one->is_stuck) return false;
    if (index == 0 && self->config.record) (void)self->parts->close_record(self);
    const int code = finish_player(self, index);
    if (code > self->code) self->code = code;
    (void)base_text_copy(one->address, sizeof one->address, to->address);
    one->has_token = token == NET_OK;
    one->has_secret = false;
    return true;
}

static bool find_next_game(client_program* self, client_player* one) {
    const char* game = net_client_refusal_game(one->client);
    if (net_client_get_end(one->client) == NET_CLIENT_END_REFUSED && net_module_name_is_valid(game))
        one->module = find_game(self, game);
    else
        one->module = NULL;
    one->is_stuck = one->module == NULL; // what went wrong is reported at its end
    return !one->is_stuck;
}

// A client without a window follows alone: it asks the server for its game, then plays.
static void follow(client_program* self, uint32_t index, uint64_t now_us) {
    client_player* one = &self->players[index];
    if (one->is_stuck || index >= count_worlds(self)) return;
    if (one->is_asking ? !find_next_game(self, one) : !begin_transfer(self, index, now_us)) return;
    const client_player before = *one;
    one->is_asking = !before.is_asking;
    one->client = NULL;
    one->match = NULL;
    one->transport = NULL;
    const int code = open_player(self, index, NULL);
    if (code == NET_EXIT_CLEAN) {
        net_client_destroy(before.client);
        if (before.match != self->like) net_match_destroy(before.match);
        before.transport->ops->destroy(before.transport);
    } else { // there is no memory or no socket: it ends as it does at the start
        net_match_destroy(one->match);
        if (one->transport) one->transport->ops->destroy(one->transport);
        *one = before;
        self->has_failed = true;
        self->code = code;
    }
    gather_all(self);
}

// Those who see something share the picture: they go on together.
static void follow_seen(client_program* self, uint64_t now_us) {
    uint32_t seen = 0, sent = 0;
    for (uint32_t i = 0; i < self->player_count; i++) {
        seen += self->players[i].has_eyes;
        sent += self->players[i].has_eyes && net_client_get_transfer(self->players[i].client);
    }
    if (seen == 0 || sent < seen || self->wants_reload) return;
    bool are_on_way = true;
    for (uint32_t i = 0; i < seen; i++)
        are_on_way = !self->players[i].is_stuck && begin_transfer(self, i, now_us) && are_on_way;
    self->wants_reload = self->wants_follow = are_on_way;
}

bool client_players_service(client_program* self, uint64_t now_us) {
    bool is_any_left = false;
    BASE_ASSERT(self->player_count > 0);
    net_sentry_busy(self->sentry);
    for (uint32_t i = 0; i < self->player_count && !self->has_failed; i++) {
        client_player* one = &self->players[i];
        net_client_service(one->client, now_us);
        if (net_client_get_phase(one->client) == NET_CLIENT_ENDED && !one->has_eyes)
            follow(self, i, now_us);
        if (net_client_get_phase(one->client) != NET_CLIENT_ENDED) is_any_left = true;
        if (net_client_get_end(one->client) != NET_CLIENT_END_EXCHANGED) continue;
        self->wants_reload = true;
        if (!self->reloaded) self->reloaded = one->module ? one->module : self->module;
    }
    follow_seen(self, now_us);
    net_sentry_rest(self->sentry);
    return is_any_left && !self->wants_reload && !self->has_failed;
}

static bool write_world(void* context, void* file) {
    const client_player* one = context;
    (void)net_world_digest_walk(net_match_schema(one->match), net_match_world(one->match),
                                net_host_write_line, file);
    return true;
}

int client_players_finish(client_program* self) {
    int code = NET_EXIT_CLEAN;
    if (self->config.record) code = self->parts->close_record(self);
    if (self->code > code) code = self->code;
    BASE_ASSERT(self->player_count > 0);
    finish_sending(&self->loop);
    for (uint32_t i = 0; i < self->player_count; i++) {
        int one = finish_player(self, i);
        if (one > code) code = one;
    }
    const char* file = self->config.dump_world;
    if (file && self->players[0].match) {
        client_player* first = &self->players[0];
        bool is_written = net_host_write_file(file, write_world, first, &self->reporter);
        if (!is_written && code == NET_EXIT_CLEAN) code = NET_EXIT_RUNTIME;
    }
    net_host_report_dropped(self->dropped, NULL, &self->reporter);
    return code;
}
