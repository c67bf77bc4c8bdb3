// SPDX-License-Identifier: MIT
// Each CHANGE_S seconds one bot leaves and another one comes, so that a log has joins and leaves
// all the way.
#include "make_log.h"

#include "host/output.h"
#include "host/setup.h"

#include "base/hash.h"
#include "base/report.h"
#include "base/rng.h"
#include "base/text.h"
#include "check/sim_match.h"
#include "ecs/change.h"
#include "ecs/save.h"
#include "net/log.h"
#include "net/match.h"
#include "net/result.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define LINE_DEFAULT "delay=20,jitter=3,seed=1"
#define CHANGE_S 300u
#define PROGRESS_S 60u ///< of the match
#define SETTLE_STEPS_MAX 20000u

typedef struct maker_local maker_local;

typedef struct maker {
    const make_log_config* config;
    base_reporter reporter;
    net_link_pair link;
    net_module* module;
    net_match* match;
    net_log_writer* log;
    net_sim_match* sim; // NULL with is_local
    maker_local* local;
    uint32_t named; // clients so far
} maker;

static void name_client(uint32_t client, char name[NET_PLAYER_NAME_BYTES_MAX]) {
    base_text_format(name, NET_PLAYER_NAME_BYTES_MAX, "bot %u", client);
}

// ---- --local

// Bots look at the server's own world, and their inputs count in the next tick. There is no network
// and no mirror, which are two thirds of the work with many entities.

enum { EVENTS_PER_TICK_MAX = 8 }; // of one bot

typedef struct local_event {
    uint8_t payload[NET_EVENT_PAYLOAD_BYTES_MAX];
} local_event;

typedef struct local_bot {
    struct maker_local* all;
    uint32_t client;
    uint64_t input_number;
    base_rng rng;
    _Alignas(16) uint8_t memory[NET_BOT_MEMORY_BYTES];
    uint8_t input[NET_INPUT_BYTES_MAX];
    local_event events[EVENTS_PER_TICK_MAX];
    net_tick_event sent[EVENTS_PER_TICK_MAX];
    uint32_t sent_count;
} local_bot;

struct maker_local {
    maker* maker;
    local_bot bots[MAKE_LOG_CLIENTS_MAX];
    uint32_t count;
    char names[MAKE_LOG_CLIENTS_MAX][NET_PLAYER_NAME_BYTES_MAX];
    net_game_player joins[MAKE_LOG_CLIENTS_MAX];
    net_tick_input inputs[MAKE_LOG_CLIENTS_MAX];
    net_tick_event events[MAKE_LOG_CLIENTS_MAX * EVENTS_PER_TICK_MAX];
    uint8_t scratch[ECS_EVENT_BYTES_MAX];
};

static bool send_event(void* sender, uint32_t message, const void* payload) {
    local_bot* bot = sender;
    net_match* match = bot->all->maker->match;
    if (bot->sent_count == EVENTS_PER_TICK_MAX) return false;
    local_event* event = &bot->events[bot->sent_count];
    size_t size;
    if (net_match_pack(match, message, payload, event->payload, sizeof event->payload, &size) !=
            NET_OK ||
        net_match_event_check(match, message, event->payload, size) != NET_OK)
        return false;
    bot->sent[bot->sent_count++] = (net_tick_event){.client = bot->client,
                                                    .message = message,
                                                    .payload = event->payload,
                                                    .size = (uint32_t)size};
    return true;
}

static void open_bot(maker_local* self, local_bot* bot, uint32_t client) {
    const uint64_t seed = self->maker->config->seed;
    memset(bot, 0, sizeof *bot);
    bot->all = self;
    bot->client = client;
    bot->rng = base_rng_make(base_hash64_mix(seed, client), 1);
}

static void local_join(maker_local* self, net_tick_inputs* begin) {
    const uint32_t client = ++self->maker->named;
    local_bot* bot = &self->bots[self->count++];
    char* name = self->names[begin->join_count];
    open_bot(self, bot, client);
    name_client(client, name);
    self->joins[begin->join_count++] =
        (net_game_player){.client = client, .name = name, .is_bot = true};
}

// What it sees is the newest state: the input is used in the next tick.
static void think(maker_local* self, local_bot* bot, net_tick_inputs* begin) {
    net_match* match = self->maker->match;
    const net_game_module* game = net_match_get_config(match)->module->game;
    const net_player_context player = {
        .size_bytes = sizeof player,
        .world = net_match_world(match),
        .context = net_match_context(match),
        .player = net_match_player(match, bot->client),
        .client = bot->client,
        .tick = net_match_tick(match),
        .dt = net_match_dt(match),
        .input_number = ++bot->input_number,
        .rng = &bot->rng,
        .memory = bot->memory,
        .send = send_event,
        .sender = bot,
    };
    size_t size = 0;
    memset(self->scratch, 0, sizeof self->scratch);
    bot->sent_count = 0;
    if (game->bot_think) game->bot_think(&player, self->scratch);
    (void)!net_match_pack(match, net_match_input_message(match), self->scratch, bot->input,
                          sizeof bot->input, &size);
    for (uint32_t i = 0; i < bot->sent_count; i++)
        self->events[begin->event_count++] = bot->sent[i];
    self->inputs[begin->input_count++] =
        (net_tick_input){.client = bot->client,
                         .number = (uint32_t)bot->input_number,
                         .payload = bot->input,
                         .size = (uint32_t)size,
                         .seen = game->is_rewinding ? net_match_tick(match) * 256 : 0};
}

static net_result local_open(maker* made, maker_local** local) {
    *local = base_allocate_zero(NULL, sizeof **local);
    if (!*local) return NET_ERR_MEMORY;
    (*local)->maker = made;
    return NET_OK;
}

static void local_close(maker_local* local) {
    if (local) base_release(NULL, local, sizeof *local);
}

static bool local_step(maker_local* self, bool is_change) {
    maker* made = self->maker;
    net_match* match = made->match;
    net_tick_inputs begin = {.tick = net_match_tick(match) + 1,
                             .joins = self->joins,
                             .events = self->events,
                             .inputs = self->inputs};
    const net_tick_leave leave = {.client = self->bots[0].client, .reason = NET_END_LEFT};
    begin.leaves = &leave;
    // Inputs lie in their bots, so bots move before they think.
    if (is_change) {
        begin.leave_count = 1;
        self->count--;
        memmove(self->bots, self->bots + 1, self->count * sizeof *self->bots);
    }
    for (uint32_t i = 0; i < self->count; i++)
        think(self, &self->bots[i], &begin);
    while (self->count < made->config->clients)
        local_join(self, &begin);
    net_log_append_begin(made->log, &begin);
    net_match_apply(match, &begin);
    net_match_step(match);
    net_log_append_end(made->log, match);
    ecs_changes_clear(net_match_world(match));
    return true;
}

// ---- a match on the simulated network

static net_result join(maker* self) {
    char name[NET_PLAYER_NAME_BYTES_MAX];
    self->named++;
    name_client(self->named, name);
    return net_sim_match_join(
        self->sim, &(net_game_player){.client = self->named, .name = name, .is_bot = true});
}

static net_result open_sim(maker* self, ecs_tick ticks) {
    const net_sim_match_config sim = {.module = self->module,
                                      .match = self->match,
                                      .observer = net_log_observer(self->log),
                                      .clients_max = self->config->clients + 1,
                                      .ticks_max = ticks,
                                      .link = self->link};
    net_result result = net_sim_match_create(&sim, &self->sim);
    for (uint32_t i = 0; i < self->config->clients && result == NET_OK; i++)
        result = join(self);
    return result;
}

static net_result open_all(maker* self, ecs_tick ticks) {
    const make_log_config* config = self->config;
    net_result result = net_link_config_parse(config->net ? config->net : LINE_DEFAULT,
                                              &self->reporter, &self->link);
    if (result == NET_OK)
        result = net_host_open_module(config->game, &self->reporter, &self->module);
    if (result != NET_OK) return result;
    net_match_config match = net_match_config_default(self->module);
    match.role = NET_ROLE_SERVER;
    match.seed = config->seed;
    match.tick_rate_hz = config->tick_rate_hz;
    result = net_match_create(&match, &self->reporter, &self->match);
    if (result == NET_OK)
        result = net_log_writer_create(NULL, config->output, NULL, self->match, net_build_id(), 0,
                                       &self->reporter, &self->log);
    if (result == NET_OK)
        result = config->is_local ? local_open(self, &self->local) : open_sim(self, ticks);
    return result;
}

static net_result step(maker* self, bool is_change) {
    if (self->local) return local_step(self->local, is_change) ? NET_OK : NET_ERR_MEMORY;
    net_result result = NET_OK;
    if (is_change) {
        net_sim_match_leave(self->sim, self->named + 1 - self->config->clients);
        result = join(self);
    }
    net_sim_match_step(self->sim);
    return result;
}

static net_result play(maker* self, ecs_tick ticks) {
    const uint32_t rate = self->config->tick_rate_hz;
    const bool has_progress = isatty(STDERR_FILENO);
    net_result result = NET_OK;
    for (ecs_tick tick = 1; tick <= ticks && result == NET_OK; tick++) {
        result = step(self, tick > 1 && (tick - 1) % (rate * CHANGE_S) == 0);
        net_log_wait_room(self->log);
        if (has_progress && tick % (rate * PROGRESS_S) == 0)
            fprintf(stderr, "\rmade %" PRIu64 " of %" PRIu64 " ticks", tick, ticks);
    }
    if (has_progress) fprintf(stderr, "\n");
    for (uint32_t i = 0; self->sim && i < SETTLE_STEPS_MAX; i++) {
        if (net_server_get_phase(net_sim_match_server(self->sim)) == NET_SERVER_ENDED) break;
        net_sim_match_step(self->sim);
    }
    return result;
}

static net_result close_log(maker* self) {
    char text[256];
    net_log_append_close(self->log, self->match);
    net_result result = net_log_writer_finish(self->log);
    if (result != NET_OK && net_log_take_failure(self->log, text, sizeof text))
        base_report(&self->reporter, self->config->output, 0, "%s", text);
    return result;
}

static void print(maker* self) {
    const net_sim_match_sent sent =
        self->sim ? net_sim_match_get_sent(self->sim) : (net_sim_match_sent){0};
    printf("made log=%s ticks=%" PRIu64 " clients=%u datagrams=%" PRIu64 " bytes=%" PRIu64
           " lost=%" PRIu64 " hash=%016" PRIx64 " state_hash=%016" PRIx64 "\n",
           self->config->output, net_match_tick(self->match), self->named, sent.datagrams,
           sent.bytes, sent.lost, sent.hash, ecs_world_state_hash(net_match_world(self->match)));
}

int make_log(const make_log_config* config) {
    maker self = {.config = config, .reporter = base_reporter_stderr()};
    ecs_tick ticks = (ecs_tick)(config->hours * 3600.0 * config->tick_rate_hz);
    net_result result = open_all(&self, ticks);
    if (result == NET_OK) result = play(&self, ticks);
    if (result == NET_OK) result = close_log(&self);
    if (result == NET_OK)
        print(&self);
    else
        base_report(&self.reporter, NULL, 0, "--make-log: %s", net_result_text(result));
    local_close(self.local);
    net_sim_match_destroy(self.sim);
    if (self.log) (void)!net_log_writer_destroy(self.log);
    net_match_destroy(self.match);
    if (self.module) net_module_close(self.module);
    return net_exit_of_setup(result);
}
