// SPDX-License-Identifier: MIT
// One player: its game, its worlds, its session. It asks which game the server runs, opens that,
// and plays; nothing blocks longer than the caller allows.
//
//     ASKING -> (the refusal names the game) -> CONNECTING -> PLAYING <-> RESUMING -> ENDED
#include "library.h"

#include "base/assert.h"
#include "base/text.h"
#include "net/transport.h"
#include "net/socket.h"
#include "net/match.h"

#include <poll.h>
#include <string.h>

#define SOCKETS_MAX 8u

static void fail_client(shoal_client* self, net_result result) {
    BASE_ASSERT(result != NET_OK && self->end == SHOAL_END_NONE);
    if (!self->reports.text[0])
        base_report(&self->reporter, NULL, 0, "%s", net_result_text(result));
    self->end = SHOAL_END_FAILED;
}

static void give_input(void* context, const net_player_context* player, void* input) {
    shoal_client* self = context;
    (void)player;
    const uint32_t message = net_match_input_message(self->match);
    if (message == 0 || message > self->messages.count) return;
    BASE_ASSERT(net_match_input_bytes(self->match) <= NET_INPUT_BYTES_MAX);
    memcpy(input, self->messages.list[message - 1].payload, net_match_input_bytes(self->match));
}

static bool gather_events(void* context) {
    shoal_client* self = context;
    library_messages_gather(&self->messages, self->match);
    return true;
}

static void close_session(shoal_client* self) {
    net_client_destroy(self->session);
    self->session = NULL;
    if (self->transport) self->transport->ops->destroy(self->transport);
    self->transport = NULL;
}

static net_result open_session(shoal_client* self) {
    BASE_ASSERT(!self->session && !self->transport);
    net_enet_config enet = {.peers_max = 1};
    if (self->has_token) enet.security.token = &self->token;
    net_result result = net_transport_enet_create(&enet, &self->transport);
    if (result != NET_OK) return result;
    net_client_config config = {
        .allocator = &self->memory.allocator,
        .match = self->match,
        .transport = self->transport,
        .address = self->address,
        .name = self->has_name ? self->name : NULL,
        .is_bot = (self->flags & SHOAL_BOT) != 0,
        .seed = self->seed,
        .input = self->flags & SHOAL_THINK ? NULL : give_input,
        .input_context = self,
        .presenter = self->presenter,
        .stepped = self->match ? gather_events : NULL,
        .stepped_context = self,
        .reporter = &self->reporter,
        .rate_bytes_max = self->rate_bytes_max,
    };
    self->session = net_client_create(&config);
    return NET_OK;
}

static net_result open_presenter(shoal_client* self) {
    const net_presenter_config config = {.allocator = &self->memory.allocator,
                                         .module = self->module,
                                         .is_predicting = (self->flags & SHOAL_PREDICT) != 0};
    const net_result result = net_presenter_create(&config, &self->reporter, &self->presenter);
    if (result == NET_OK)
        library_world_open(&self->shown, net_presenter_match(self->presenter),
                           &self->owner.allocator);
    return result;
}

// The game is known: its module, its worlds, and the session that plays.
static net_result open_game(shoal_client* self) {
    net_result result = library_open_game(self->game, self->has_path ? self->path : NULL,
                                          &self->reporter, &self->module);
    if (result != NET_OK) return result;
    net_match_config config = net_match_config_default(self->module);
    config.allocator = &self->memory.allocator;
    config.role = NET_ROLE_MIRROR;
    result = net_match_create(&config, &self->reporter, &self->match);
    if (result != NET_OK) return result;
    library_world_open(&self->newest, self->match, &self->owner.allocator);
    library_messages_open(&self->messages, self->match, &self->owner.allocator);
    if ((self->flags & SHOAL_SHOW)) result = open_presenter(self);
    if (result == NET_OK) result = open_session(self);
    return result;
}

static bool read_options(shoal_client* self, const shoal_client_options* options) {
    self->reports.next = options->report;
    self->reports.next_context = options->report_context;
    self->reporter = library_reporter(&self->reports);
    self->seed = options->seed;
    self->flags = options->flags;
    self->rate_bytes_max = options->rate_bytes_max;
    base_text_copy(self->address, sizeof self->address, options->address);
    if (options->name) base_text_copy(self->name, sizeof self->name, options->name);
    if (options->game) base_text_copy(self->game, sizeof self->game, options->game);
    if (options->game_path) base_text_copy(self->path, sizeof self->path, options->game_path);
    self->has_name = options->name != NULL;
    self->has_path = options->game_path != NULL;
    if (options->token) {
        const net_result result = net_token_parse(options->token, &self->token);
        if (result != NET_OK)
            base_report(&self->reporter, "token", 0, "%s", net_result_text(result));
        if (result != NET_OK) return false;
        self->has_token = true;
    }
    if (!options->network) return true;
    net_link_pair link;
    if (net_link_config_parse(options->network, &self->reporter, &link) != NET_OK) return false;
    net_socket_link_set_pair(&link);
    return true;
}

shoal_client* shoal_client_create(const shoal_client_options* options) {
    // What a caller of an older header does not have reads as zero.
    shoal_client_options read = {0};
    if (!options || options->size_bytes < offsetof(shoal_client_options, name)) return NULL;
    const size_t size = options->size_bytes < sizeof read ? options->size_bytes : sizeof read;
    memcpy(&read, options, size);
    if (!read.address) return NULL;
    shoal_client* self = base_owner_create(NULL, sizeof *self);
    base_quota_init(&self->memory, NULL, NET_CLIENT_BYTES_MAX);
    net_result result = read_options(self, &read) ? NET_OK : NET_ERR_UNKNOWN;
    if (result == NET_OK) {
        self->is_asking = !self->game[0];
        result = self->is_asking ? open_session(self) : open_game(self);
    }
    if (result != NET_OK) fail_client(self, result);
    return self;
}

static void close_game(shoal_client* self) {
    close_session(self);
    library_world_close(&self->newest, &self->owner.allocator);
    library_world_close(&self->shown, &self->owner.allocator);
    library_messages_close(&self->messages, &self->owner.allocator);
    net_presenter_destroy(self->presenter);
    net_match_destroy(self->match);
    net_module_close(self->module);
    self->presenter = NULL;
    self->match = NULL;
    self->module = NULL;
}

void shoal_client_destroy(shoal_client* self) {
    if (!self) return;
    close_game(self);
    net_token_wipe(&self->token);
    base_owner_destroy(self);
}

// ---- the loop ----

static void wait_for(shoal_client* self, uint32_t wait_ms) {
    const uint64_t now_us = net_loop_now_us();
    uint64_t until_us = now_us + (uint64_t)wait_ms * 1000u;
    if (net_client_get_phase(self->session) == NET_CLIENT_PLAYING) {
        const uint64_t tick_us = net_client_next_tick_us(self->session);
        if (tick_us < until_us) until_us = tick_us;
    }
    const uint64_t socket_us = net_socket_next_us();
    if (socket_us != UINT64_MAX && now_us + socket_us < until_us) until_us = now_us + socket_us;
    if (until_us <= now_us) return;
    int sockets[SOCKETS_MAX];
    struct pollfd polled[SOCKETS_MAX];
    const uint32_t count = self->transport->ops->sockets(self->transport, sockets, SOCKETS_MAX);
    BASE_ASSERT(count <= SOCKETS_MAX);
    for (uint32_t i = 0; i < count; i++)
        polled[i] = (struct pollfd){.fd = sockets[i], .events = POLLIN};
    (void)poll(polled, count, (int)((until_us - now_us + 999u) / 1000u));
}

// The server that refuses an unnamed game names its own. The name is foreign: only a plain one is
// looked up, and in the path only.
static void hear_game(shoal_client* self) {
    const char* game = net_client_refusal_game(self->session);
    if (net_client_get_end(self->session) != NET_CLIENT_END_REFUSED ||
        !net_module_name_is_valid(game))
        return;
    base_text_copy(self->game, sizeof self->game, game);
    self->is_asking = false;
    close_session(self);
    const net_result result = open_game(self);
    if (result != NET_OK) fail_client(self, result);
}

static void keep_reason(shoal_client* self) {
    char text[BASE_REPORT_BYTES_MAX];
    const net_client_end end = net_client_get_end(self->session);
    self->end = end == NET_CLIENT_END_EXCHANGED ? SHOAL_END_LOST : (int32_t)end;
    if (end == NET_CLIENT_END_EXCHANGED)
        base_report(&self->reporter, NULL, 0,
                    "the server continues with another version of the game: connect again");
    if (end != NET_CLIENT_END_REFUSED && end != NET_CLIENT_END_UNREACHABLE) return;
    (void)net_client_refusal(self->session, text, sizeof text);
    base_report(&self->reporter, NULL, 0, "%s: %s", self->address,
                text[0] ? text : NET_NO_ANSWER_TEXT);
}

int32_t shoal_client_service(shoal_client* self, uint32_t wait_ms) {
    if (!self) return SHOAL_ENDED;
    if (self->session && self->end == SHOAL_END_NONE) {
        wait_for(self, wait_ms);
        const uint64_t now_us = net_loop_now_us();
        net_client_service(self->session, now_us);
        net_client_catch_up(self->session, now_us);
        const bool has_ended = net_client_get_phase(self->session) == NET_CLIENT_ENDED;
        if (has_ended && self->is_asking) hear_game(self);
        if (self->session && net_client_get_phase(self->session) == NET_CLIENT_ENDED)
            keep_reason(self);
    }
    return shoal_client_phase(self);
}

void shoal_client_leave(shoal_client* self) {
    if (self && self->session) net_client_leave(self->session, net_loop_now_us());
}

int32_t shoal_client_follow(shoal_client* self) {
    const net_transfer* to = self && self->session ? net_client_get_transfer(self->session) : NULL;
    if (!to || self->end != SHOAL_END_TRANSFERRED) return SHOAL_ERR_CLOSED;
    if (!net_transfers_follow(&self->transfers, net_loop_now_us())) return SHOAL_ERR_FULL;
    base_text_copy(self->address, sizeof self->address, to->address);
    net_result result = to->token[0] ? net_token_parse(to->token, &self->token) : NET_OK;
    self->has_token = to->token[0] && result == NET_OK;
    close_game(self);
    self->end = SHOAL_END_NONE;
    self->is_asking = true;
    if (result == NET_OK) result = open_session(self);
    if (result != NET_OK) fail_client(self, result);
    return SHOAL_OK;
}

int32_t shoal_client_phase(const shoal_client* self) {
    if (!self || !self->session || self->end != SHOAL_END_NONE) return SHOAL_ENDED;
    if (self->is_asking) return SHOAL_ASKING;
    switch (net_client_get_phase(self->session)) {
    case NET_CLIENT_PLAYING:
        return SHOAL_PLAYING;
    case NET_CLIENT_RESUMING:
        return SHOAL_RESUMING;
    case NET_CLIENT_ENDED:
        return SHOAL_ENDED;
    default:
        return SHOAL_CONNECTING;
    }
}

int32_t shoal_client_end(const shoal_client* self) {
    BASE_STATIC_ASSERT((int)SHOAL_END_GOODBYE == (int)NET_CLIENT_END_GOODBYE &&
                           (int)SHOAL_END_REFUSED == (int)NET_CLIENT_END_REFUSED &&
                           (int)SHOAL_END_TRANSFERRED == (int)NET_CLIENT_END_TRANSFERRED,
                       "the ABI's ends are those of the client");
    return self ? self->end : SHOAL_END_FAILED;
}

// ---- state of the session ----

const char* shoal_client_text(const shoal_client* self) {
    return self ? self->reports.text : "";
}

const char* shoal_client_game(const shoal_client* self) {
    return self && self->module ? self->module->game->name : "";
}

uint32_t shoal_client_number(shoal_client* self) {
    return self && self->match && self->session ? net_client_number(self->session) : 0;
}

uint64_t shoal_client_tick(const shoal_client* self) {
    return self && self->match && self->session ? net_client_tick_newest(self->session) : 0;
}

uint32_t shoal_client_tick_rate(const shoal_client* self) {
    return self && self->match ? net_match_get_config(self->match)->tick_rate_hz : 0;
}

shoal_entity shoal_client_player(const shoal_client* self) {
    return self && self->match && self->session ? net_client_player(self->session) : 0;
}

const char* shoal_client_player_name(const shoal_client* self, uint32_t number) {
    return self && self->match && self->session ? net_client_player_name(self->session, number)
                                                : NULL;
}

uint64_t shoal_client_hash(shoal_client* self) {
    return self && self->match && self->session ? net_client_get_report(self->session).scope.hash
                                                : 0;
}

int32_t shoal_client_figure(shoal_client* self, const char* name, double* value) {
    if (value) *value = 0.0;
    if (!self || !self->session || !name || !value) return SHOAL_ERR_UNKNOWN;
    net_client_meter meter;
    net_presenter_meter shown = {0};
    net_client_get_meter(self->session, &meter);
    if (self->presenter) net_presenter_get_meter(self->presenter, &shown);
    const struct {
        const char* name;
        double value;
    } figures[] = {
        {"rtt_ms", meter.rtt_ms},
        {"loss_percent", meter.loss_percent},
        {"jitter_ms", meter.jitter_ms},
        {"in_bytes", (double)meter.in_bytes},
        {"out_bytes", (double)meter.out_bytes},
        {"quiet_ms", (double)meter.quiet_us / 1000.0},
        {"resumes", meter.resumes},
        {"input_depth", meter.input_depth},
        {"delay_ms", shown.delay_ms},
        {"lead_ms", shown.lead_ms},
        {"corrections", (double)shown.corrections},
        {"events_lost", (double)self->messages.events_lost},
    };
    for (uint32_t i = 0; i < BASE_COUNT(figures); i++) {
        if (strcmp(name, figures[i].name) != 0) continue;
        *value = figures[i].value;
        return SHOAL_OK;
    }
    return SHOAL_ERR_UNKNOWN;
}

shoal_world* shoal_client_world(shoal_client* self, int32_t which) {
    if (!self) return NULL;
    shoal_world* world = which == SHOAL_NEWEST  ? &self->newest
                         : which == SHOAL_SHOWN ? &self->shown
                                                : NULL;
    return world && world->match ? world : NULL;
}

int32_t shoal_client_frame(shoal_client* self) {
    return self && self->presenter && net_presenter_frame(self->presenter, net_loop_now_us());
}

double shoal_client_shown_tick(const shoal_client* self) {
    return self && self->presenter ? net_presenter_tick(self->presenter) : 0.0;
}
