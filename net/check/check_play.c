// SPDX-License-Identifier: MIT
// A short match of two bots: a server and two clients on the simulated network, each client with a
// view and a prediction, and then the log of it again.
//
// The line loses nothing, so what differs has no excuse. Values and writes are looked at in each
// tick. The bots' chance follows from fixed seeds: a check gives the same findings each time.
#include "check/check_internal.h"

#include "base/assert.h"
#include "base/text.h"
#include "net/client.h"
#include "net/log_reader.h"
#include "net/log_writer.h"
#include "net/presenter.h"
#include "net/replay.h"
#include "net/server.h"
#include "net/transport_sim.h"
#include "present/predict.h"
#include "present/presenter_feed.h"

#include "ecs/inspect.h"

#include <string.h>

enum {
    BOTS = 2,
    DELAY_MS = 20,
    END_STEPS_MAX = 900,   // from the last tick to the last goodbye
    CATCH_UP_MAX = 4,      // ticks of a client in one step
    COMPARED_MIN = 20,     // rows, before a prediction is judged
    DIFFERING_PERCENT = 10 // of them, in one component
};
#define START_US UINT64_C(1000000)

typedef struct check_bot {
    struct check_table* table;
    net_match* mirror;
    net_presenter* presenter;
    net_transport* transport;
    net_client* client;
} check_bot;

typedef struct check_table {
    net_checker* self;
    net_sim* sim;
    net_transport* transport;
    net_server* server;
    net_log_writer* log;
    check_bot bots[BOTS];
    net_check_rows before;
    base_reporter writes, notes;
    uint64_t now_us, tick_us;
    bool is_sly;      // a system wrote what it declares as read
    bool is_compared; // the worlds at the end
    bool is_written;  // by a client, so that predictions and worlds differ too
    bool has_writer;  // and it is known which part of the module wrote
} check_table;

// ---- who writes ----

static void report_write(void* context, const char* file, uint32_t line, const char* message) {
    check_table* table = context;
    (void)file, (void)line;
    table->is_sly = true;
    net_check_report(table->self, "write", message, "%s", message);
}

// What clients and server say of entities that differ: the line loses nothing, so only a system of
// the client can have written.
static void report_note(void* context, const char* file, uint32_t line, const char* message) {
    check_table* table = context;
    (void)file, (void)line;
    const char* what = strstr(message, ": entity ");
    if (!what || table->has_writer || !strstr(message, "is not as the server has it")) return;
    table->is_written = true;
    static const char before[] = "component ";
    char name[ECS_NAME_BYTES_MAX] = "";
    const char* component = strstr(what, before);
    if (component) (void)base_text_copy(name, sizeof name, component + strlen(before));
    name[strcspn(name, " ")] = '\0';
    net_check_report(table->self, "mirror", name,
                     "a system of the client writes what the server sends%s", what);
}

static void report_change(check_table* table, const char* who, const net_check_change* change) {
    table->is_written = table->has_writer = true;
    net_check_report(table->self, who,
                     change->component ? change->component : change->template_name,
                     "%s writes %s%s of %s (entity %u:%u), which the server sends: only the server "
                     "may",
                     who, change->component ? "component " : "",
                     change->component ? change->component : "the life", change->template_name,
                     ecs_entity_index(change->entity), ecs_entity_generation(change->entity));
}

// All rows of a large world in each tick would take seconds.
static bool is_watched(const check_table* table, net_match* match) {
    enum { ROWS_PER_TICK = 200 };
    const uint32_t every = 1 + ecs_world_entity_count(net_match_world(match)) / ROWS_PER_TICK;
    return table->now_us / table->tick_us % every == 0;
}

static void think(void* context, const net_player_context* player, void* input) {
    check_bot* bot = context;
    check_table* table = bot->table;
    const net_game_module* game = table->self->game;
    if (!game->bot_think) return;
    const bool is_compared = is_watched(table, bot->mirror);
    if (is_compared) net_check_rows_take(&table->before, bot->mirror);
    game->bot_think(player, input);
    net_check_change change;
    if (is_compared && net_check_rows_differ(&table->before, bot->mirror, &change))
        report_change(table, "bot_think", &change);
}

// ---- pictures ----

static void draw_box(void* context, float x, float y, float width, float height, ecs_color color) {
    (void)context, (void)x, (void)y, (void)width, (void)height, (void)color;
}
static void draw_circle(void* context, float x, float y, float radius, ecs_color color) {
    (void)context, (void)x, (void)y, (void)radius, (void)color;
}
static void draw_line(void* context, float x0, float y0, float x1, float y1, float width,
                      ecs_color color) {
    (void)context, (void)x0, (void)y0, (void)x1, (void)y1, (void)width, (void)color;
}
static void draw_triangles(void* context, const float* points, const ecs_color* colors,
                           uint32_t count) {
    (void)context, (void)points, (void)colors, (void)count;
}
static void draw_text(void* context, float x, float y, float height, ecs_color color,
                      const char* text) {
    (void)context, (void)x, (void)y, (void)height, (void)color, (void)text;
}
static float text_width(void* context, float height, const char* text) {
    (void)context;
    return height * 0.5f * (float)strlen(text);
}
static const char* player_name(void* context, uint32_t client) {
    return net_client_player_name(context, client);
}

static void show(check_table* table, check_bot* bot) {
    if (!net_presenter_frame(bot->presenter, table->now_us)) return;
    net_match* view = net_presenter_match(bot->presenter);
    const net_draw draw = {.size_bytes = sizeof draw,
                           .context = bot->client,
                           .rect = draw_box,
                           .circle = draw_circle,
                           .line = draw_line,
                           .triangles = draw_triangles,
                           .text = draw_text,
                           .text_width = text_width,
                           .player = net_client_player(bot->client),
                           .time_s = (double)table->now_us * 1e-6,
                           .frame_dt_s = (float)table->tick_us * 1e-6f,
                           .player_name = player_name,
                           .tick = net_presenter_tick(bot->presenter),
                           .pixels_per_unit = 1};
    const bool is_compared = is_watched(table, view);
    if (is_compared) net_check_rows_take(&table->before, view);
    net_presenter_draw(bot->presenter, &draw);
    net_check_change change;
    if (is_compared && net_check_rows_differ(&table->before, view, &change))
        report_change(table, "a system of stage render", &change);
}

// ---- open and close ----

static net_result open_bot(check_table* table, uint32_t index) {
    check_bot* bot = &table->bots[index];
    const net_check_config* config = table->self->config;
    net_match_config mirror = net_match_config_default(config->module);
    mirror.allocator = config->allocator;
    mirror.role = NET_ROLE_MIRROR;
    mirror.workers = NULL;
    const net_presenter_config presenter = {
        .allocator = config->allocator, .module = config->module, .is_predicting = true};
    const net_link_config link = {.delay_ms = DELAY_MS, .seed = index + 1};
    bot->table = table;
    net_result result = net_match_create(&mirror, config->reporter, &bot->mirror);
    if (result == NET_OK)
        result = net_presenter_create(&presenter, config->reporter, &bot->presenter);
    if (result == NET_OK) result = net_sim_client(table->sim, &link, &bot->transport);
    if (result != NET_OK) return result;
    ecs_inspect_writes(net_match_world(bot->mirror), &table->writes);
    ecs_inspect_writes(net_match_world(net_presenter_match(bot->presenter)), &table->writes);
    net_predict* predict = net_presenter_predict(bot->presenter);
    if (predict) ecs_inspect_writes(net_match_world(net_predict_match(predict)), &table->writes);
    const net_client_config client = {.allocator = config->allocator,
                                      .match = bot->mirror,
                                      .transport = bot->transport,
                                      .address = "check",
                                      .name = index == 0 ? "Ada" : "Bob",
                                      .is_bot = true,
                                      .seed = index + 1,
                                      .input = think,
                                      .input_context = bot,
                                      .presenter = bot->presenter,
                                      .reporter = &table->notes};
    return net_client_create(&client, &bot->client);
}

static net_result open_table(check_table* table, net_checker* self) {
    const net_check_config* config = self->config;
    const net_match_config* match = net_match_get_config(self->server);
    *table = (check_table){.self = self,
                           .now_us = START_US,
                           .tick_us = 1000000u / match->tick_rate_hz,
                           .before = {.allocator = config->allocator},
                           .writes = {report_write, table},
                           .notes = {report_note, table}};
    ecs_inspect_writes(net_match_world(self->server), &table->writes);
    net_result result = net_log_writer_create(config->allocator, config->log_file, self->server,
                                              "check", 0, config->reporter, &table->log);
    if (result == NET_OK) result = net_sim_create(config->allocator, 1, &table->sim);
    if (result == NET_OK) result = net_sim_server(table->sim, BOTS, &table->transport);
    if (result != NET_OK) return result;
    const net_server_config server = {.allocator = config->allocator,
                                      .match = self->server,
                                      .transport = table->transport,
                                      .log = table->log,
                                      .clients_max = BOTS,
                                      .clients_min = BOTS,
                                      .ticks_max =
                                          config->ticks ? config->ticks : NET_CHECK_TICKS_DEFAULT,
                                      .reporter = &table->notes};
    result = net_server_create(&server, &table->server);
    for (uint32_t i = 0; i < BOTS && result == NET_OK; i++)
        result = open_bot(table, i);
    return result;
}

static void close_table(check_table* table) {
    for (uint32_t i = 0; i < BOTS; i++) {
        check_bot* bot = &table->bots[i];
        net_client_destroy(bot->client);
        net_presenter_destroy(bot->presenter);
        if (bot->transport) bot->transport->ops->destroy(bot->transport);
        net_match_destroy(bot->mirror);
    }
    if (table->log) (void)net_log_writer_destroy(table->log);
    net_server_destroy(table->server);
    if (table->transport) table->transport->ops->destroy(table->transport);
    net_sim_destroy(table->sim);
    net_check_rows_deinit(&table->before);
    ecs_inspect_writes(net_match_world(table->self->server), NULL);
}

// ---- the match ----

static void step_bot(check_table* table, check_bot* bot) {
    net_client_service(bot->client, table->now_us);
    for (uint32_t i = 0; i < CATCH_UP_MAX; i++) {
        if (net_client_get_phase(bot->client) == NET_CLIENT_ENDED) return;
        if (table->now_us < net_client_next_tick_us(bot->client)) break;
        net_client_tick(bot->client, table->now_us);
    }
    show(table, bot);
}

// Each client has everything now, and the match stands still.
static void compare_worlds(check_table* table) {
    net_checker* self = table->self;
    table->is_compared = true;
    if (table->is_written) return;
    net_check_rows_take(&table->before, self->server);
    for (uint32_t i = 0; i < BOTS; i++) {
        check_bot* bot = &table->bots[i];
        if (net_client_tick_newest(bot->client) != net_match_tick(self->server)) continue;
        if (!self->game->interest) net_check_hidden(self, bot->mirror);
        net_check_change change;
        // With rules of interest a client has less.
        if (self->game->interest || !net_check_rows_differ(&table->before, bot->mirror, &change))
            continue;
        net_check_report(
            self, "worlds", change.template_name,
            "at the end %s%s of %s (entity %u:%u) is not on a client what it is on the "
            "server",
            change.component ? "component " : "", change.component ? change.component : "the life",
            change.template_name, ecs_entity_index(change.entity),
            ecs_entity_generation(change.entity));
    }
}

static void step_table(check_table* table) {
    net_checker* self = table->self;
    table->now_us += table->tick_us;
    const net_server_phase before = net_server_get_phase(table->server);
    const ecs_tick tick = net_match_tick(self->server);
    net_server_service(table->server, table->now_us);
    net_server_tick(table->server, table->now_us);
    if (net_match_tick(self->server) != tick && is_watched(table, self->server))
        net_check_values(self);
    const bool is_leaving = net_server_get_phase(table->server) >= NET_SERVER_LEAVING;
    if (before == NET_SERVER_SETTLING && is_leaving && !table->is_compared) compare_worlds(table);
    for (uint32_t i = 0; i < BOTS; i++)
        step_bot(table, &table->bots[i]);
}

static void check_predictions(check_table* table) {
    net_checker* self = table->self;
    if (table->is_written) return;
    for (uint32_t i = 0; i < BOTS; i++) {
        const net_predict* predict = net_presenter_predict(table->bots[i].presenter);
        if (!predict) return;
        const uint64_t compared = net_predict_get_counters(predict)->compared;
        ecs_world* world = net_match_world(table->bots[i].mirror);
        for (uint32_t id = 1; id <= ecs_component_count(world); id++) {
            const uint32_t differs = net_predict_differs(predict, (ecs_component_id)id);
            if (compared < COMPARED_MIN || differs * 100u < compared * DIFFERING_PERCENT) continue;
            const char* name = ecs_component_get(world, (ecs_component_id)id)->name;
            net_check_report(
                self, "predict", name,
                "prediction: component %s differs from the server's in %u of %llu "
                "rows: systems with the tag predict do something else than those of the "
                "server, or need what is not replicated",
                name, differs, (unsigned long long)compared);
        }
    }
}

// ---- the log again ----

static net_result run_again(net_checker* self) {
    const net_check_config* config = self->config;
    net_log_reader* reader = NULL;
    net_verify_result verified;
    net_result result =
        net_log_reader_create(config->allocator, config->log_file, config->reporter, &reader);
    if (result != NET_OK) return result;
    result = net_log_verify(reader, config->module, 0, NULL, NULL, config->reporter, &verified);
    net_log_reader_destroy(reader);
    if (result != NET_ERR_DIVERGED) return result;
    net_check_report(
        self, "log", "diverged",
        "the log does not run again: tick %llu differs in component %s of entity %u:%u: "
        "something besides inputs and the world's chance decides (an address, memory "
        "that was not set, what is kept outside of the world)",
        (unsigned long long)verified.diverged_tick, verified.component,
        ecs_entity_index(verified.entity), ecs_entity_generation(verified.entity));
    return NET_OK;
}

static net_result close_log(check_table* table) {
    net_log_append_close(table->log, table->self->server);
    net_result result = net_log_writer_finish(table->log);
    char text[256];
    if (net_log_take_failure(table->log, text, sizeof text))
        base_report(table->self->config->reporter, table->self->config->log_file, 0, "%s", text);
    return result;
}

net_result net_check_match(net_checker* self) {
    check_table table;
    net_result result = open_table(&table, self);
    const uint32_t ticks = self->config->ticks ? self->config->ticks : NET_CHECK_TICKS_DEFAULT;
    for (uint32_t i = 0; result == NET_OK && i < ticks + END_STEPS_MAX; i++) {
        if (net_server_get_phase(table.server) == NET_SERVER_ENDED) break;
        step_table(&table);
    }
    if (result == NET_OK) {
        net_transport_stats stats;
        check_predictions(&table);
        table.transport->ops->stats(table.transport, &stats);
        self->result.ticks = net_match_tick(self->server);
        self->result.datagrams = stats.sent_datagrams + stats.recv_datagrams;
        result = close_log(&table);
    }
    close_table(&table);
    // In a validating build the replay, which reports to no check, would stop at such a write.
    if (result != NET_OK || (BASE_VALIDATE_ON && table.is_sly)) return result;
    return run_again(self);
}
