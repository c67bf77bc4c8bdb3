// SPDX-License-Identifier: MIT
// A short match of bots: a server and its clients on the simulated network, each client with a view
// and a prediction, and then the log of it again.
//
// The line loses nothing, so what differs has no excuse. Values and writes are looked at in each
// tick. The bots' chance follows from fixed seeds: a check gives the same findings each time.
#include "check/check.h"

#include "core/ration.h"
#include "game/match.h"
#include "present/predict.h"
#include "present/presenter.h"
#include "state/row_template.h"
#include "state/schema.h"

#include "ecs/debug.h"
#include "ecs/inspect.h"

#include "base/assert.h"
#include "base/hash.h"
#include "base/text.h"

#include <string.h>

enum {
    DELAY_MS = 20,
    END_STEPS_MAX = 900,   // from the last tick to the last goodbye
    LEAVE_TICK = 60,       // after it one bot leaves
    ABSENT_TICKS = 30,     // of the one that joins, without an input
    LEAVE_ROUNDS_MAX = 16, // of messages
    COMPARED_MIN = 20,     // rows, before a prediction is checked
    DIFFERING_PERCENT = 10 // of them, in one component
};
#define START_US UINT64_C(1000000)

// ---- rows ----

typedef struct check_row {
    ecs_entity entity;
    uint32_t bytes;
    const char* name; // of its template
    uint64_t words[PROTO_ROW_FIELDS_MAX];
} check_row;

// The first difference.
typedef struct check_change {
    ecs_entity entity;
    const char* template_name;
    const char* component; // NULL: it is gone, or has another template
} check_change;

static const net_row_template* row_template_of(net_match* match, ecs_entity entity) {
    return net_rows_find(net_schema_rows(net_match_schema(match)),
                         ecs_entity_template(net_match_world(match), entity));
}

// Remember the rows of a world.
static void take_rows(check_rows* rows, net_match* match) {
    ecs_world* world = net_match_world(match);
    rows->match = match;
    rows->rows.size = 0;
    ecs_entity at = ecs_entity_next(world, ECS_ENTITY_NONE);
    for (; at != ECS_ENTITY_NONE; at = ecs_entity_next(world, at)) {
        const net_row_template* row_template = row_template_of(match, at);
        if (!row_template) continue;
        check_row row = {.entity = at, .name = ecs_template_get(world, row_template->id)->name};
        row.bytes = (uint32_t)offsetof(check_row, words) + row_template->layout.field_count * 8u;
        net_rows_read(row_template, world, at, row.words);
        base_bytes_write(&rows->rows, &row, row.bytes);
    }
}

// @return the first component of a row that changed, of those that every client has; NULL: none.
static const char* seen_change(const ecs_world* world, const net_row_template* row_template,
                               uint64_t changed, bool has_all) {
    const ecs_template* source = ecs_template_get(world, row_template->id);
    for (; changed; changed &= changed - 1) {
        const uint32_t key = row_template->layout.components[__builtin_ctzll(changed)].key;
        const ecs_template_component* component =
            ecs_template_find_component(source, (ecs_component_id)key);
        if (has_all || !component->visible || strcmp(component->visible, "public") == 0)
            return ecs_component_get(world, (ecs_component_id)key)->name;
    }
    return NULL;
}

// @return whether a remembered row is another one now; of another world's row: what every client
//         has of it.
static bool rows_differ(const check_rows* rows, net_match* match, check_change* change) {
    ecs_world* world = net_match_world(match);
    const check_row* row;
    for (size_t i = 0; i < rows->rows.size; i += row->bytes) {
        row = (const void*)(rows->rows.data + i);
        *change = (check_change){row->entity, row->name, NULL};
        if (!ecs_is_alive(world, row->entity)) return true;
        const net_row_template* row_template = row_template_of(match, row->entity);
        if (!row_template ||
            strcmp(ecs_template_get(world, row_template->id)->name, row->name) != 0)
            return true;
        uint64_t now[PROTO_ROW_FIELDS_MAX];
        net_rows_read(row_template, world, row->entity, now);
        const uint64_t changed = net_row_changed(row_template, row->words, now);
        change->component = seen_change(world, row_template, changed, rows->match == match);
        if (change->component) return true;
    }
    return false;
}

// ---- who writes ----

static void report_write(void* context, const char* file, uint32_t line, const char* message) {
    check_table* table = context;
    (void)file, (void)line;
    table->is_sly = true;
    net_check_report(table->self, "write", message, "%s", message);
}

static void report_stray(void* context, const char* file, uint32_t line, const char* message) {
    check_table* table = context;
    if (!file) net_check_report(table->self, "picture", message, "%s", message);
    if (file) net_check_fault(table->self, file, line, message);
    table->is_written |= file != NULL; // what a script left undone differs in predictions, too
}

// What clients and server find. The line loses nothing, so only a system of the client can have
// written where entities differ. The server says of each event and value once that it is unsent.
static void report_note(void* context, const char* file, uint32_t line, const char* message) {
    static const char* const topics[] = {[NET_FOUND_DROPPED] = "drop",
                                         [NET_FOUND_DIFFERS] = "mirror",
                                         [NET_FOUND_UNSENT] = "sent",
                                         [NET_FOUND_SLIP] = "slip",
                                         [NET_FOUND_ROUGH] = "rough"};
    check_table* table = context;
    const uint32_t found = file ? 0 : line & 0xff;
    const bool is_mirror = found == NET_FOUND_DIFFERS;
    if (found == 0 || (is_mirror && table->has_writer)) return;
    table->is_written |= is_mirror || found == NET_FOUND_SLIP; // so clients differ
    char number[16];
    (void)base_text_format(number, sizeof number, "%u", line);
    net_check_report(table->self, topics[found],
                     found == NET_FOUND_UNSENT || found == NET_FOUND_SLIP ? message : number,
                     "%s%s",
                     is_mirror ? "a system of the client writes what the server sends: " : "",
                     message + base_report_kind(message));
}

static void report_change(check_table* table, const char* who, const check_change* change) {
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

// What a person may type at its longest, at four places in its characters: a game that cuts it at a
// byte sends at most one text of four that is whole.
static void type_line(const check_bot* bot, const net_player_context* player) {
    enum { INPUTS_PER_LINE = 8 };
    const uint32_t number = (uint32_t)(player->input_number / INPUTS_PER_LINE);
    const net_game_module* game = bot->table->self->game;
    if (!game->human_text || !bot->is_typing || player->input_number % INPUTS_PER_LINE != 0) return;
    char line[NET_LINE_BYTES_MAX];
    (void)base_text_copy(line, sizeof line, &"xxx"[number % 4]);
    while (base_text_copy(line + strlen(line), sizeof line - strlen(line), "\xf0\x9f\x99\x82")) {
    }
    game->human_text(player, line);
}

static void think(void* context, const net_player_context* player, void* input) {
    check_bot* bot = context;
    check_table* table = bot->table;
    const net_game_module* game = table->self->game;
    type_line(bot, player);
    if (!game->bot_think) return;
    const bool is_compared = is_watched(table, bot->mirror);
    if (is_compared) take_rows(&table->before, bot->mirror);
    ecs_running_call("bot_think"); // until the client has looked at the memory
    game->bot_think(player, input);
    check_change change;
    if (is_compared && rows_differ(&table->before, bot->mirror, &change))
        report_change(table, "bot_think", &change);
}

// ---- pictures ----

// A drawing has the view as its context.
static check_table* table_of(const net_match* view) {
    return (check_table*)view->strays->context;
}

static const char* player_name(void* view, uint32_t client) {
    return net_client_player_name(table_of(view)->drawing->client, client);
}

static void report_image(void* context, const char* file, uint32_t line, const char* message) {
    check_table* table = context;
    (void)line;
    net_check_report(table->self, "picture", message, "%s: %s", file, message);
}

// Each picture is looked for once. @return NULL: there is no room for one more.
static const check_image* find_image(check_table* table, const char* name) {
    const uint64_t hash = base_hash64_text(name ? name : "");
    for (uint32_t i = 0; i < table->image_count; i++)
        if (table->images[i].hash == hash) return &table->images[i];
    if (table->image_count == NET_IMAGES_MAX) return NULL;
    check_image* image = &table->images[table->image_count++];
    const base_reporter reporter = {report_image, table};
    base_bytes bytes;
    base_bytes_init(&bytes, table->self->config->allocator);
    *image = (check_image){.hash = hash};
    image->is_there = net_image_read(table->self->config->module->asset_folder, name, &reporter,
                                     &bytes, &image->width, &image->height) == NET_OK;
    base_bytes_deinit(&bytes);
    return image;
}

static void draw_sprite(void* view, const net_sprite* sprite) {
    check_table* table = table_of(view);
    const check_image* image = find_image(table, sprite->image);
    if (!image)
        net_check_report(table->self, "picture", "", "the game draws more than %u pictures",
                         NET_IMAGES_MAX);
    if (!image || !image->is_there || sprite->part_width > 0.0f) return;
    const uint32_t columns = sprite->columns ? sprite->columns : 1;
    const uint32_t rows = sprite->rows ? sprite->rows : 1;
    if (image->width % columns == 0 && image->height % rows == 0) return;
    net_check_report(table->self, "sheet", sprite->image,
                     "%s has %u x %u pixels, which are no %u x %u frames of one size: correct "
                     "columns and rows, or the picture",
                     sprite->image, image->width, image->height, columns, rows);
}

static void show(check_table* table, check_bot* bot) {
    if (!net_presenter_frame(bot->presenter, table->now_us)) return;
    net_match* view = net_presenter_match(bot->presenter);
    net_draw draw = net_match_draw_nothing(view);
    draw.player = net_client_player(bot->client);
    draw.time_s = (double)table->now_us * 1e-6;
    draw.frame_dt_s = (float)table->tick_us * 1e-6f;
    draw.player_name = player_name;
    draw.tick = net_presenter_tick(bot->presenter);
    draw.sprite = draw_sprite;
    table->drawing = bot;
    const bool is_compared = is_watched(table, view);
    if (is_compared) take_rows(&table->before, view);
    net_presenter_draw(bot->presenter, &draw);
    check_change change;
    if (is_compared && rows_differ(&table->before, view, &change))
        report_change(table, "a system of stage render", &change);
}

// ---- open and close ----

static void inspect(check_table* table, net_match* match) {
    ecs_inspect_writes(net_match_world(match), &table->writes);
    match->strays = &table->strays;
    match->config.line = net_check_line;
    match->config.line_context = table->self;
}

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
    (void)base_text_format(bot->name, sizeof bot->name, "Bot %u", index + 1);
    net_result result = net_match_create(&mirror, config->reporter, &bot->mirror);
    // Its worlds were made before, with the caller's reporter.
    if (result == NET_OK) result = net_presenter_create(&presenter, &table->notes, &bot->presenter);
    if (result != NET_OK) return result;
    bot->transport = net_sim_client(table->sim, &link);
    inspect(table, bot->mirror);
    inspect(table, net_presenter_match(bot->presenter));
    net_predict* predict = net_presenter_predict(bot->presenter);
    if (predict) inspect(table, predict->match);
    const net_client_config client = {.allocator = config->allocator,
                                      .match = bot->mirror,
                                      .transport = bot->transport,
                                      .address = "check",
                                      .name = bot->name,
                                      .is_bot = true,
                                      .seed = index + 1,
                                      .input = think,
                                      .input_context = bot,
                                      .presenter = bot->presenter,
                                      .reporter = &table->notes};
    bot->client = net_client_create(&client);
    return NET_OK;
}

static net_result open_table(check_table* table, net_checker* self) {
    const net_check_config* config = self->config;
    const net_match_config* match = net_match_get_config(self->server);
    const uint32_t bots = config->bots ? config->bots : NET_CHECK_BOTS_DEFAULT;
    *table = (check_table){.self = self,
                           .bot_count = bots + NET_CHECK_LATE_BOTS,
                           .now_us = START_US,
                           .tick_us = 1000000u / match->tick_rate_hz,
                           .before.rows.allocator = config->allocator,
                           .writes = {report_write, table},
                           .notes = {report_note, table},
                           .strays = {report_stray, table}};
    inspect(table, self->server);
    net_result result =
        net_log_writer_create(config->allocator, config->log_file, NULL, self->server, "check", 0,
                              config->reporter, &table->log);
    table->sim = net_sim_create(config->allocator, 1);
    if (result == NET_OK) result = net_sim_server(table->sim, table->bot_count, &table->transport);
    if (result != NET_OK) return result;
    const net_server_config server = {.allocator = config->allocator,
                                      .match = self->server,
                                      .transport = table->transport,
                                      .observer = net_log_observer(table->log),
                                      .clients_max = table->bot_count,
                                      .clients_min = bots,
                                      .ticks_max =
                                          config->ticks ? config->ticks : NET_CHECK_TICKS_MAX,
                                      .reporter = &table->notes};
    result = net_server_create(&server, &table->server);
    table->bots[bots - 1].is_typing = true;
    table->bots[0].leaves =
        config->ticks && config->ticks < 2 * LEAVE_TICK ? config->ticks / 2 : LEAVE_TICK;
    table->bots[bots].joins = table->bots[0].leaves * 7 / 6;
    for (uint32_t i = 0; i < bots && result == NET_OK; i++)
        result = open_bot(table, i);
    return result;
}

static void close_table(check_table* table) {
    for (uint32_t i = 0; i < table->bot_count; i++) {
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
    base_bytes_deinit(&table->before.rows);
    ecs_inspect_writes(net_match_world(table->self->server), NULL);
    table->self->server->strays = NULL;
}

// ---- the match ----

static void note_happened(check_table* table, const check_bot* bot, const char* what) {
    char* text = table->self->config->happened;
    const size_t used = text ? strlen(text) : 0;
    if (text)
        (void)base_text_format(text + used, NET_CHECK_HAPPENED_BYTES - used, "%s%s %s in tick %llu",
                               used ? ", " : "", bot->name, what,
                               (unsigned long long)net_match_tick(table->self->server) + 1);
}

// At once, so that the tick is known: the next one has it.
static void leave(check_table* table, check_bot* bot) {
    bot->has_left = true;
    bot->lost = 0;
    note_happened(table, bot, "left");
    net_sim_link_set(bot->transport, &(net_link_config){.seed = 1});
    net_client_leave(bot->client, table->now_us);
    for (uint32_t i = 0; i < LEAVE_ROUNDS_MAX; i++) {
        net_server_service(table->server, table->now_us);
        net_client_service(bot->client, table->now_us);
    }
}

static net_result change_players(check_table* table) {
    net_result result = NET_OK;
    const ecs_tick tick = net_match_tick(table->self->server);
    if (net_server_get_phase(table->server) != NET_SERVER_RUNNING) return NET_OK;
    for (uint32_t i = 0; i < table->bot_count && result == NET_OK; i++) {
        check_bot* bot = &table->bots[i];
        if (bot->leaves > 0 && tick >= bot->leaves && !bot->has_left) leave(table, bot);
        if (bot->client || tick < bot->joins) continue;
        result = open_bot(table, i);
        note_happened(table, bot, "came");
    }
    return result;
}

static void step_bot(check_table* table, check_bot* bot) {
    if (!bot->client) return;
    net_client_service(bot->client, table->now_us);
    const ecs_tick tick = net_match_tick(table->self->server);
    if (bot->joins > 0 && tick < bot->joins + ABSENT_TICKS) return;
    net_client_catch_up(bot->client, table->now_us);
    if (net_client_get_phase(bot->client) != NET_CLIENT_ENDED) show(table, bot);
}

// Each client has everything now, and the match stands still.
static void compare_worlds(check_table* table) {
    net_checker* self = table->self;
    table->is_compared = true;
    if (table->is_written) return;
    take_rows(&table->before, self->server);
    for (uint32_t i = 0; i < table->bot_count; i++) {
        check_bot* bot = &table->bots[i];
        if (!bot->client || net_client_tick_newest(bot->client) != net_match_tick(self->server))
            continue;
        if (!self->game->interest) net_check_values(self, bot->mirror);
        check_change change;
        // With rules of interest a client has less.
        if (self->game->interest || !rows_differ(&table->before, bot->mirror, &change)) continue;
        net_check_report(
            self, "worlds", change.template_name,
            "at the end %s%s of %s (entity %u:%u) is not on a client what it is on the "
            "server",
            change.component ? "component " : "", change.component ? change.component : "the life",
            change.template_name, ecs_entity_index(change.entity),
            ecs_entity_generation(change.entity));
    }
}

static net_result step_table(check_table* table) {
    net_checker* self = table->self;
    table->now_us += table->tick_us;
    const net_server_phase before = net_server_get_phase(table->server);
    const ecs_tick tick = net_match_tick(self->server);
    const net_result result = change_players(table);
    net_server_service(table->server, table->now_us);
    net_server_tick(table->server, table->now_us);
    if (net_match_tick(self->server) != tick) net_check_look_at_players(table);
    if (net_match_tick(self->server) != tick && net_check_is_enough(table))
        net_server_stop(table->server, table->now_us);
    if (net_match_tick(self->server) != tick && is_watched(table, self->server))
        net_check_values(self, NULL);
    const bool is_leaving = net_server_get_phase(table->server) >= NET_SERVER_LEAVING;
    if (before == NET_SERVER_SETTLING && is_leaving && !table->is_compared) compare_worlds(table);
    for (uint32_t i = 0; i < table->bot_count; i++)
        step_bot(table, &table->bots[i]);
    return result;
}

// The first system of the server that writes a component of such rows and is not in the prediction;
// NULL: none.
static const char* find_unpredicted(const check_table* table, ecs_component_id component,
                                    ecs_template_id template_id) {
    const ecs_world* world = net_match_world(table->self->server);
    const ecs_world* predict = net_match_world(table->self->predict);
    ecs_user writer = {0};
    while (ecs_inspect_user(world, component, ECS_USE_WRITE, &writer)) {
        if (net_check_is_taken_by(world, writer.name, template_id) &&
            !net_check_is_written_by(predict, component, writer.name))
            return writer.name;
    }
    return NULL;
}

// A singleton of the server that is in no prediction; NULL: none.
static const char* find_refused(const check_table* table, const net_predict* predict) {
    const ecs_world* world = net_match_world(table->self->server);
    ecs_entity at = ecs_entity_next(world, ECS_ENTITY_NONE);
    for (; at != ECS_ENTITY_NONE; at = ecs_entity_next(world, at)) {
        const ecs_template* source = ecs_template_get(world, ecs_entity_template(world, at));
        if (source && source->is_singleton && source->is_replicated &&
            !ecs_is_alive(net_match_world(predict->match), at))
            return source->name;
    }
    return NULL;
}

// The system of the server that writes component *name of such rows, which predicted systems use
// and clients lack. What handlers write comes with inputs. NULL: none.
static const char* find_lacking(const check_table* table, ecs_template_id template_id,
                                const char** name) {
    ecs_world *world = net_match_world(table->self->server),
              *predict = net_match_world(table->self->predict);
    const ecs_template* source = ecs_template_get(world, template_id);
    for (uint32_t i = 0; source && i < source->component_count; i++) {
        const ecs_component_id id = source->components[i].component;
        ecs_user writer = {0}, own = {0}, event = {0}, reader = {0};
        const bool is_own = ecs_inspect_user(predict, id, ECS_USE_WRITE, &own);
        *name = ecs_component_get(world, id)->name;
        if (!(source->components[i].flags & ECS_COMPONENT_REPLICATED) &&
            ecs_inspect_user(world, id, ECS_USE_WRITE, &writer) &&
            (is_own ? !ecs_inspect_event(predict, own.name, &event)
                    : ecs_inspect_user(predict, id, ECS_USE_READ, &reader)))
            return writer.name;
    }
    return NULL;
}

static void report_prediction(check_table* table, const net_predict* predict,
                              ecs_component_id component) {
    const char* name = ecs_component_get(net_match_world(table->self->server), component)->name;
    const char* system = find_unpredicted(table, component, predict->differs_in[component]);
    const char* singleton = find_refused(table, predict);
    const char* lacking;
    const char* writer = find_lacking(table, predict->differs_in[component], &lacking);
    char why[4 * ECS_NAME_BYTES_MAX] = "systems with the tag predict do something else than those "
                                       "of the server, or need what is not replicated";
    if (system)
        (void)base_text_format(why, sizeof why,
                               "system %s of the server writes it and is not in the prediction: "
                               "ES_TAG(server | predict)",
                               system);
    else if (singleton && table->self->game->predict_area)
        (void)base_text_format(why, sizeof why,
                               "predict_area refuses the singleton %s, so systems that ask for it "
                               "never run in the prediction",
                               singleton);
    else if (writer)
        (void)base_text_format(why + strlen(why), sizeof why - strlen(why),
                               ", as component %s, which system %s of the server writes", lacking,
                               writer);
    else if (!table->self->game->mirror_start)
        (void)base_text_format(why + strlen(why), sizeof why - strlen(why),
                               ", or what .start puts into the context: a client's worlds get it "
                               "by .mirror_start");
    net_check_report(table->self, "predict", name,
                     "prediction: component %s differs from the server's in %u of %llu rows: %s",
                     name, predict->differs[component],
                     (unsigned long long)predict->counters.compared, why);
}

static void check_predictions(check_table* table) {
    if (table->is_written) return;
    for (uint32_t i = 0; i < table->bot_count; i++) {
        if (!table->bots[i].client) continue;
        const net_predict* predict = net_presenter_predict(table->bots[i].presenter);
        if (!predict) return;
        const uint64_t compared = predict->counters.compared;
        ecs_world* world = net_match_world(table->bots[i].mirror);
        for (uint32_t id = 1; id <= ecs_component_count(world); id++) {
            const uint32_t differs = predict->differs[id];
            if (compared < COMPARED_MIN || differs * 100u < compared * DIFFERING_PERCENT) continue;
            report_prediction(table, predict, (ecs_component_id)id);
        }
    }
}

// ---- the end ----

void net_check_say_stepped(const net_checker* self) {
    if (self->config->stepped) self->config->stepped(self->config->stepped_context);
}

static net_result close_log(check_table* table) {
    net_log_append_close(table->log, table->self->server);
    net_result result = net_log_writer_finish(table->log);
    char text[256];
    if (net_log_take_failure(table->log, text, sizeof text))
        base_report(table->self->config->reporter, table->self->config->log_file, 0, "%s", text);
    return result;
}

// What the world refused: it is counted, and a game rarely looks at the answer.
static void check_refused(check_table* table) {
    ecs_world* world = net_match_world(table->self->server);
    const ecs_counters* counters = ecs_world_counters(world);
    if (counters->commands_refused > 0 && !table->is_sly) // that says why
        net_check_report(table->self, "refused", "commands",
                         "%llu creations or other commands were refused, the world has %u "
                         "entities: it is full, or the queue of a tick is; destroy what is no "
                         "longer needed",
                         (unsigned long long)counters->commands_refused,
                         ecs_world_entity_count(world));
    if (counters->events_refused > 0)
        net_check_report(table->self, "refused", "events",
                         "%llu events were refused: the queue of a tick is full; send fewer",
                         (unsigned long long)counters->events_refused);
}

net_result net_check_match(net_checker* self) {
    check_table table;
    net_result result = open_table(&table, self);
    const uint32_t ticks = self->config->ticks ? self->config->ticks : NET_CHECK_TICKS_MAX;
    for (uint32_t i = 0; result == NET_OK && i < ticks + END_STEPS_MAX; i++) {
        if (net_server_get_phase(table.server) == NET_SERVER_ENDED) break;
        result = step_table(&table);
        net_check_say_stepped(self);
    }
    if (result == NET_OK) {
        net_transport_stats stats;
        check_predictions(&table);
        net_check_players(&table);
        check_refused(&table);
        net_check_note_unseen(&table);
        table.transport->ops->stats(table.transport, &stats);
        self->result.ticks = net_match_tick(self->server);
        self->result.datagrams = stats.sent_datagrams + stats.recv_datagrams;
        result = close_log(&table);
    }
    close_table(&table);
    // In a validating build the replay, which reports to no check, would stop at such a write.
    if (result != NET_OK || (BASE_VALIDATE_ON && table.is_sly)) return result;
    return net_check_log(self);
}
