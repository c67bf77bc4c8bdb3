// SPDX-License-Identifier: MIT
// --local: bots that look at the server's own world, and whose inputs count in the next tick. There
// is no network and there are no mirrors, which are two thirds of the work with many entities.
#include "make_log_parts.h"

#include "base/assert.h"
#include "base/hash.h"
#include "base/rng.h"
#include "ecs/change.h"
#include "net/match.h"

#include <string.h>

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

static void join(maker_local* self, net_tick_inputs* begin) {
    const uint32_t client = ++self->maker->named;
    local_bot* bot = &self->bots[self->count++];
    char* name = self->names[begin->join_count];
    open_bot(self, bot, client);
    make_log_name(client, name);
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

net_result make_log_local_open(maker* made, maker_local** local) {
    *local = base_allocate_zero(NULL, sizeof **local);
    if (!*local) return NET_ERR_MEMORY;
    (*local)->maker = made;
    return NET_OK;
}

void make_log_local_close(maker_local* local) {
    if (local) base_release(NULL, local, sizeof *local);
}

bool make_log_local_step(maker_local* self, bool is_change) {
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
        join(self, &begin);
    net_log_append_begin(made->log, &begin);
    net_match_apply(match, &begin);
    net_match_step(match);
    net_log_append_end(made->log, match);
    ecs_changes_clear(net_match_world(match));
    return !net_match_lacks_memory(match);
}
