// SPDX-License-Identifier: MIT
// A match: one world, one module, one order of calls.
//
// Every driver of a world calls the functions here: a server, each world of a client, the replay of
// a log. So a match and its replay differ in their caller only. match_messages.c has joins and
// leaves, inputs and events.
//
// A steady tick allocates nothing here; joins may grow the table of players.
// Left to others: who
// may join, when inputs are due, the contents of a log (server/, session/, log/).
#include "game/match.h"

#include "interest/interest_rules.h"
#include "state/schema.h"

#include "ecs/debug.h"
#include "ecs/loader.h"
#include "ecs/save.h"

#include "base/assert.h"
#include "base/float_mode.h"
#include "base/shown.h"
#include "base/text.h"

#include <string.h>

// net_game_services: what a module may ask its match, and what it may request about interest.
//
// The answers depend on the match alone, so they are the same when a log is replayed. Requests
// change what clients get, never the world.

// ---- lag compensation ----

// What a player saw is as far behind the present now as it was when the input named it.
static ecs_tick seen(void* context, uint32_t client, float* fraction) {
    const net_match* match = context;
    const net_player* player = net_match_find_player(match, client);
    *fraction = 0.0f;
    if (!match->rewind) return ecs_world_tick(match->world); // every player saw the present
    ecs_tick present = match->rewind->tick;
    uint64_t moment = present * 256;
    if (player && player->has_seen) moment = player->seen + (present - player->seen_tick) * 256;
    moment = net_rewind_clamp(match->rewind, moment);
    *fraction = (float)(moment % 256) / 256.0f;
    return moment / 256;
}

static bool rewind_value(void* context, ecs_tick tick, float fraction, ecs_entity entity,
                         ecs_component_id component, void* value) {
    const net_match* match = context;
    return match->rewind && net_rewind_get(match->rewind, tick, fraction, entity, component, value);
}

// ---- interest ----

// NULL for a client that does not play. A client that is joining counts: the
// module may make requests before its player_join has returned.
static net_interest_request* add_request(net_match* match, uint32_t client) {
    bool is_playing =
        client > 0 && (client == match->joining || net_match_find_player(match, client));
    return is_playing && match->game->interest ? net_interest_requests_add(&match->requests, client)
                                               : NULL;
}

static void set_groups(void* context, uint32_t client, uint64_t mask) {
    net_interest_request* request = add_request(context, client);
    if (request) request->groups = mask;
}

static void set_viewpoint(void* context, uint32_t client, const float position[3], float radius) {
    net_interest_request* request = add_request(context, client);
    if (!request) return;
    request->has_viewpoint = position != NULL;
    request->radius = position ? radius : 0.0f;
    memset(request->position, 0, sizeof request->position);
    if (position) memcpy(request->position, position, sizeof request->position);
}

static void refresh_scope(void* context, uint32_t client) {
    net_interest_request* request = add_request(context, client);
    if (request) request->is_refreshed = true;
}

static uint32_t class_bit(void* context, const char* name) {
    net_match* match = context;
    uint32_t class_ = net_rows_class(net_schema_rows(match->schema), name);
    if (class_ >= NET_CLASSES_MAX) return 0;
    match->asked_classes |= 1u << class_;
    return 1u << class_;
}

// ---- ends ----

static void decide(net_match_end* end, const char* reason) {
    if (end->is_decided) return;
    end->is_decided = true;
    (void)base_shown_copy(end->reason, sizeof end->reason, reason ? reason : "");
}

static void end_match(void* context, const char* reason) {
    net_match* match = context;
    decide(&match->end, reason);
}

static void drop_player(void* context, uint32_t client, const char* reason) {
    net_match* match = context;
    net_player* player = net_match_find_player(match, client);
    if (client != 0 && client == match->joining)
        decide(&match->join_end, reason);
    else if (player)
        decide(&player->end, reason);
}

static void save_log(void* context, const char* name) {
    net_match* match = context;
    if (match->is_save_asked) return;
    match->is_save_asked = true;
    (void)base_text_copy(match->save_name, sizeof match->save_name, name ? name : "");
}

bool net_match_take_save(net_match* match, char name[NET_SAVE_NAME_BYTES]) {
    if (!match->is_save_asked) return false;
    match->is_save_asked = false;
    memcpy(name, match->save_name, sizeof match->save_name);
    return true;
}

bool net_match_take_dropped(net_match* match, net_match_dropped* dropped) {
    for (uint32_t i = 0; i < match->player_count; i++) {
        net_player* player = &match->players[i];
        if (!player->end.is_decided || player->end.is_taken) continue;
        player->end.is_taken = true;
        *dropped = (net_match_dropped){player->client, player->is_refused, player->end.reason};
        return true;
    }
    return false;
}

const char* net_match_end_reason(const net_match* match) {
    return match->end.is_decided ? match->end.reason : NULL;
}

// Check the interest rules; on a server prepare services and rewind. @return as above.
static net_result init_services(net_match* match, const base_reporter* reporter) {
    BASE_ASSERT(match->world && match->schema);
    net_bound_rules rules; // bound for its reports only; the server binds the rules again
    net_result result = net_bound_rules_bind(match->world, match->game->interest, reporter, &rules);
    if (result != NET_OK) return NET_ERR_MODULE;
    if (match->config.role != NET_ROLE_SERVER) return NET_OK;
    match->services = (net_game_services){.size_bytes = sizeof match->services,
                                          .context = match,
                                          .seen = seen,
                                          .rewind = rewind_value,
                                          .set_groups = set_groups,
                                          .set_viewpoint = set_viewpoint,
                                          .refresh_scope = refresh_scope,
                                          .class_bit = class_bit,
                                          .end_match = end_match,
                                          .drop_player = drop_player,
                                          .save_log = save_log,
                                          .player_name = net_match_find_name,
                                          .publish = net_match_publish,
                                          .open = net_match_open,
                                          .result = net_match_result,
                                          .transfer = net_match_transfer,
                                          .keep_record = net_match_keep_record};
    if (!match->game->is_rewinding) return NET_OK;
    match->rewind = net_rewind_create(&match->owner.allocator, net_schema_rows(match->schema),
                                      match->world, match->config.tick_rate_hz);
    return NET_OK;
}

// ---- a picture that is not there ----

// A system that lost its ES_STAGE(render) runs in a tick, and draws. It shows nothing, and does not
// end the program by a NULL: a check names it.

static void report_stray(const net_match* match) {
    ecs_where where;
    if (!match || !match->strays || !ecs_running_where(ecs_running_here(), &where) ||
        !where.stage || !where.system || strcmp(where.stage, "render") == 0)
        return;
    base_report(match->strays, NULL, 0,
                "system %s draws in stage %s, where there is no picture: add ES_STAGE(render)",
                where.system, where.stage);
}

static void no_rect(void* context, float x, float y, float width, float height, ecs_color color) {
    (void)x, (void)y, (void)width, (void)height, (void)color;
    report_stray(context);
}

static void no_circle(void* context, float x, float y, float radius, ecs_color color) {
    (void)x, (void)y, (void)radius, (void)color;
    report_stray(context);
}

static void no_line(void* context, float x0, float y0, float x1, float y1, float width,
                    ecs_color color) {
    (void)x0, (void)y0, (void)x1, (void)y1, (void)width, (void)color;
    report_stray(context);
}

static void no_triangles(void* context, const float* points, const ecs_color* colors,
                         uint32_t count) {
    (void)points, (void)colors, (void)count;
    report_stray(context);
}

static void no_text(void* context, float x, float y, float height, ecs_color color,
                    const char* text) {
    (void)x, (void)y, (void)height, (void)color, (void)text;
    report_stray(context);
}

static float no_width(void* context, float height, const char* text) {
    report_stray(context);
    return (float)strlen(text) * height * 0.55f;
}

static const char* no_name(void* context, uint32_t client) {
    (void)client;
    report_stray(context);
    return NULL;
}

static void no_sprite(void* context, const net_sprite* sprite) {
    (void)sprite;
    report_stray(context);
}

static float no_camera(void* context, float x, float y, float zoom) {
    (void)x, (void)y, (void)zoom;
    report_stray(context);
    return 1.0f;
}

net_draw net_match_draw_nothing(net_match* match) {
    return (net_draw){.size_bytes = sizeof(net_draw),
                      .context = match,
                      .rect = no_rect,
                      .circle = no_circle,
                      .line = no_line,
                      .triangles = no_triangles,
                      .text = no_text,
                      .text_width = no_width,
                      .player_name = no_name,
                      .pixels_per_unit = 1.0f,
                      .sprite = no_sprite,
                      .camera = no_camera,
                      .view_width = match ? match->game->view_width : 0.0f,
                      .view_height = match ? match->game->view_height : 0.0f};
}

// ---- create and destroy ----

static net_result fail_world(const ecs_world* world, const base_reporter* reporter,
                             const char* what, ecs_result result) {
    uint32_t max = 0;
    const char* limit = world && result == ECS_ERR_FULL ? ecs_world_full(world, &max) : NULL;
    if (limit)
        base_report(reporter, NULL, 0, "%s: more than %s, which is %u", what, limit, max);
    else
        base_report(reporter, NULL, 0, "%s: %s", what, ecs_result_text(result));
    return NET_ERR_MODULE;
}

static net_result create_world(net_match* match, const base_reporter* reporter) {
    const char* tags[2];
    ecs_world_config config = ecs_world_config_default();
    config.allocator = match->config.allocator;
    config.seed = match->config.seed;
    config.tags = tags;
    static const char* const tag_of_role[] = {
        [NET_ROLE_SERVER] = "server",
        [NET_ROLE_MIRROR] = "gameClient",
        [NET_ROLE_PREDICT] = "predict",
    };
    config.is_mirror = match->config.role != NET_ROLE_SERVER;
    tags[config.tag_count++] = tag_of_role[match->config.role];
    if (match->config.has_render) tags[config.tag_count++] = "render";
    if (match->config.replicated_index_max)
        config.limits.replicated_index_max = match->config.replicated_index_max;
    ecs_result result = ecs_world_create(&config, &match->world);
    return result ? fail_world(match->world, reporter, "the world", result) : NET_OK;
}

static net_result register_game(net_match* match, const base_reporter* reporter) {
    const net_module* module = match->config.module;
    ecs_result result = match->game->register_types(match->world, reporter);
    if (result) return fail_world(match->world, reporter, "the module's types", result);
    net_template_reporter texts = {reporter, module->templates_file};
    const base_reporter text_reporter = net_template_reporter_make(&texts);
    result = ecs_template_load_pack(match->world, module->pack, module->pack_bytes, &text_reporter);
    if (result) return fail_world(match->world, reporter, module->templates_file, result);
    result = match->game->register_systems(match->world, &match->context, reporter);
    match->has_stop = match->game->stop && (!result || match->context);
    if (result) return fail_world(match->world, reporter, "the module's systems", result);
    const net_result heard = net_sounds_create(&match->owner.allocator, match->game, match->world,
                                               match->config.has_render, reporter, &match->sounds);
    if (heard) return heard;
    result = ecs_world_seal(match->world, reporter);
    return result ? fail_world(match->world, reporter, "the module's systems", result) : NET_OK;
}

net_result net_match_create(const net_match_config* config, const base_reporter* reporter,
                            net_match** match_out) {
    BASE_FLOAT_MODE_HELD const base_float_mode host = base_float_mode_set();
    BASE_ASSERT(config && config->module && match_out);
    BASE_ASSERT(config->tick_rate_hz >= NET_TICK_RATE_HZ_MIN &&
                config->tick_rate_hz <= NET_TICK_RATE_HZ_MAX);
    *match_out = NULL;
    net_match* match = base_owner_create(config->allocator, sizeof *match);
    match->config = *config;
    match->game = config->module->game;
    if (reporter) match->reporter = *reporter;
    match->dt = 1.0f / (float)config->tick_rate_hz;
    match->requests.allocator = &match->owner.allocator;
    if (config->is_hosted)
        match->told = base_allocate_zero(&match->owner.allocator, sizeof *match->told);
    match->unseen = net_match_draw_nothing(match);
    net_result result = create_world(match, reporter);
    if (!result) result = register_game(match, reporter);
    if (!result) result = net_match_messages_init(match, reporter);
    if (!result && config->like) {
        BASE_ASSERT(config->like->config.module == config->module);
        match->schema =
            net_schema_create_like(&match->owner.allocator, match->world, config->like->schema);
    } else if (!result) {
        result = net_schema_create(&match->owner.allocator, match->world, match->game->messages,
                                   match->game->message_count, reporter, &match->schema);
        if (!result)
            net_schema_add_files(match->schema, config->module->files, config->module->file_count);
    }
    if (!result) result = init_services(match, reporter);
    if (!result) net_match_set_workers(match, config->workers);
    memcpy(match->first_settings, config->settings, sizeof match->first_settings);
    const net_game_start start = net_match_start(match);
    // What the texts say that a match begins with.
    net_template_reporter texts = {reporter, config->module->templates_file};
    const base_reporter text_reporter = net_template_reporter_make(&texts);
    if (!result && ecs_scene_create(match->world, &text_reporter) != ECS_OK)
        result = NET_ERR_MODULE;
    const base_reporter dropped = {0};
    match->starting = reporter ? reporter : &dropped;
    ecs_running_call("start");
    if (!result && config->role == NET_ROLE_SERVER)
        match->game->start(match->world, match->context, &start);
    ecs_running_call(NULL);
    match->starting = NULL;
    if (match->is_refused) result = NET_ERR_MODULE;
    if (result) {
        net_match_destroy(match);
        return result;
    }
    *match_out = match;
    return NET_OK;
}

void net_match_destroy(net_match* match) {
    if (!match) return;
    BASE_FLOAT_MODE_HELD const base_float_mode host = base_float_mode_set();
    ecs_running_call("stop");
    if (match->has_stop) match->game->stop(match->world, match->context);
    ecs_running_call(NULL);
    if (match->world) ecs_world_destroy(match->world);
    base_owner_destroy(match);
}

// ---- parts ----

ecs_world* net_match_world(net_match* match) {
    return match->world;
}
const net_schema* net_match_schema(const net_match* match) {
    return match->schema;
}
const net_match_config* net_match_get_config(const net_match* match) {
    return &match->config;
}
void* net_match_context(net_match* match) {
    return match->context;
}
ecs_tick net_match_tick(const net_match* match) {
    return ecs_world_tick(match->world);
}
float net_match_dt(const net_match* match) {
    return match->dt;
}

void net_match_mirror_start(net_match* match, uint32_t tick_rate_hz, const double* settings,
                            uint32_t setting_count, net_match_names names) {
    BASE_ASSERT(match->config.role != NET_ROLE_SERVER);
    BASE_ASSERT(tick_rate_hz >= NET_TICK_RATE_HZ_MIN && tick_rate_hz <= NET_TICK_RATE_HZ_MAX);
    match->config.tick_rate_hz = tick_rate_hz;
    match->dt = 1.0f / (float)tick_rate_hz;
    match->config.names = names;
    for (uint32_t i = 0; i < setting_count && i < match->game->setting_count; i++)
        match->config.settings[i] = settings[i];
    if (!match->game->mirror_start) return;
    net_game_start start = net_match_start(match);
    start.services = NULL;
    ecs_running_call("mirror_start");
    match->game->mirror_start(match->world, match->context, &start);
    ecs_running_call(NULL);
}

// ---- time ----

void net_match_step_at(net_match* match, ecs_tick tick) {
    BASE_FLOAT_MODE_HELD const base_float_mode host = base_float_mode_set();
    BASE_ASSERT(tick > ecs_world_tick(match->world) || match->config.role != NET_ROLE_SERVER);
    const ecs_step step = {.tick = tick, .dt = match->dt, .user = &match->unseen};
    // Before each tick, so that a loader of the game that counts on it is the same in a replay.
    (void)ecs_loading_poll(match->world);
    match->stepping = tick;
    ecs_world_step(match->world, &step);
    match->stepping = 0;
    if (match->rewind) net_rewind_step(match->rewind, match->world, tick, match->config.workers);
}

void net_match_set_workers(net_match* match, base_workers* workers) {
    match->config.workers = workers;
    ecs_world_set_workers(match->world, workers);
}

void net_match_step(net_match* match) {
    net_match_step_at(match, ecs_world_tick(match->world) + 1);
}

// Saves of a match: settings that an operator changed, players with what the module requested for
// them, known resources, then the past of lag compensation, the module's own state, then the world.
// The module reads its state last, when the world is there.
//
// Most of it is the same on every machine. Memory of plain structs are the last inputs and the past
// of lag compensation: the same where numbers of 8 bytes lie at multiples of 8 (x86-64, arm64,
// wasm32). The bytes may be foreign: every length is checked, and a test cuts them at each place.

enum { REQUEST_IS_THERE = 2 }; // 1: it has a viewpoint

// A server that begins here has to learn of all requests; a refresh is for one tick.
static void save_request(const net_match* match, uint32_t client, base_bytes* bytes) {
    const net_interest_request* request = net_interest_requests_find(&match->requests, client);
    base_bytes_write_u8(bytes, request ? REQUEST_IS_THERE | request->has_viewpoint : 0);
    if (!request) return;
    base_bytes_write_u64(bytes, request->groups);
    base_bytes_write(bytes, request->position, sizeof request->position);
    base_bytes_write(bytes, &request->radius, sizeof request->radius);
}

static net_result restore_request(net_match* match, uint32_t client, base_reader* bytes) {
    const uint8_t what = base_reader_u8(bytes);
    if (what == 0) return NET_OK; // and at the end of the bytes
    if (what < REQUEST_IS_THERE || what > (REQUEST_IS_THERE | 1)) return NET_ERR_MALFORMED;
    net_interest_request* request = net_interest_requests_add(&match->requests, client);
    request->has_viewpoint = what & 1;
    request->groups = base_reader_u64(bytes);
    bool is_read = base_reader_read(bytes, request->position, sizeof request->position) &&
                   base_reader_read(bytes, &request->radius, sizeof request->radius);
    return is_read ? NET_OK : NET_ERR_MALFORMED;
}

// Its length comes first.
static net_result save_state(const net_match* match, base_bytes* bytes) {
    const size_t mark = bytes->size + sizeof(uint32_t);
    if (!match->game->save_state) return NET_OK;
    base_bytes_write_u32(bytes, 0);
    ecs_running_call("save_state");
    const ecs_result result = match->game->save_state(match->world, match->context, bytes);
    ecs_running_call(NULL);
    BASE_ASSERT(bytes->size >= mark && "save_state appends");
    const size_t size = bytes->size - mark;
    if (result != ECS_OK)
        base_report(&match->reporter, NULL, 0, "the game's save_state failed: %s",
                    ecs_result_text(result));
    else if (size > NET_MODULE_SAVE_BYTES_MAX)
        base_report(
            &match->reporter, NULL, 0,
            "the game's save_state wrote %zu bytes, at most %u are saved: keep less outside "
            "of components",
            size, NET_MODULE_SAVE_BYTES_MAX);
    if (result != ECS_OK || size > NET_MODULE_SAVE_BYTES_MAX) return NET_ERR_MODULE;
    base_store_le32(bytes->data + mark - sizeof(uint32_t), (uint32_t)size);
    return NET_OK;
}

// What follows the length. The module's mistakes and foreign bytes look alike.
static net_result load_state(net_match* match, base_reader* state) {
    ecs_running_call("load_state");
    const ecs_result result = match->game->load_state(match->world, match->context, state);
    ecs_running_call(NULL);
    if (result == ECS_OK && !state->failed && base_reader_left(state) == 0) return NET_OK;
    base_report(&match->reporter, NULL, 0,
                "the game's load_state refused its part of a save: %s, at byte %zu of %zu",
                result != ECS_OK ? ecs_result_text(result)
                : state->failed  ? "it read more than there is"
                                 : "it did not read all of it",
                state->offset, state->size);
    return NET_ERR_MODULE;
}

void net_match_restored(net_match* match) {
    if (!match->game->restored) return;
    BASE_FLOAT_MODE_HELD const base_float_mode host = base_float_mode_set();
    ecs_running_call("restored");
    match->game->restored(match->world, match->context);
    ecs_running_call(NULL);
}

net_result net_match_save(const net_match* match, base_bytes* bytes) {
    BASE_FLOAT_MODE_HELD const base_float_mode host = base_float_mode_set();
    uint32_t input_bytes = net_match_input_bytes(match);
    base_bytes_write_u32(bytes, match->client_last);
    base_bytes_write_u32(bytes, match->player_count |
                                    (match->has_other_settings ? NET_MATCH_SAVE_SETTINGS : 0) |
                                    (match->game->save_state ? NET_MATCH_SAVE_STATE : 0));
    net_match_save_settings(match, bytes);
    for (uint32_t i = 0; i < match->player_count; i++) {
        const net_player* one = &match->players[i];
        base_bytes_write_u32(bytes, one->client);
        base_bytes_write_u32(bytes, one->entity);
        base_bytes_write_u8(bytes, one->has_input);
        base_bytes_write_u8(bytes, one->has_seen);
        base_bytes_write_u64(bytes, one->seen_tick);
        base_bytes_write_u64(bytes, one->seen);
        base_bytes_write(bytes, one->name, sizeof one->name);
        base_bytes_write(bytes, one->input, input_bytes);
        save_request(match, one->client, bytes);
    }
    net_match_save_told(match, bytes);
    ecs_resources_save(match->world, bytes);
    // The length comes first. The rewind is restored after the world, and the restore of a world
    // uses all bytes that are left.
    size_t mark = bytes->size;
    base_bytes_write_u64(bytes, 0);
    if (match->rewind) net_rewind_save(match->rewind, match->world, bytes, match->config.workers);
    uint64_t size = bytes->size - mark - sizeof size;
    memcpy(bytes->data + mark, &size, sizeof size);
    const net_result result = save_state(match, bytes);
    if (result == NET_OK) ecs_world_save(match->world, bytes);
    return result;
}

static net_result restore_players(net_match* match, base_reader* bytes, bool* has_state) {
    uint32_t input_bytes = net_match_input_bytes(match);
    match->client_last = base_reader_u32(bytes);
    uint32_t count = base_reader_u32(bytes);
    if (!net_match_restore_settings(match, (count & NET_MATCH_SAVE_SETTINGS) != 0, bytes))
        return NET_ERR_MALFORMED;
    *has_state = (count & NET_MATCH_SAVE_STATE) != 0;
    count &= ~(NET_MATCH_SAVE_SETTINGS | NET_MATCH_SAVE_STATE);
    if (count > base_reader_left(bytes)) return NET_ERR_MALFORMED;
    BASE_ARRAY_RESERVE(&match->owner.allocator, match->players, match->player_capacity, count);
    for (uint32_t i = 0; i < count; i++) {
        net_player* one = &match->players[i];
        memset(one, 0, sizeof *one);
        one->client = base_reader_u32(bytes);
        one->entity = base_reader_u32(bytes);
        one->has_input = base_reader_u8(bytes) != 0;
        one->has_seen = base_reader_u8(bytes) != 0;
        one->seen_tick = base_reader_u64(bytes);
        one->seen = base_reader_u64(bytes);
        if (!base_reader_read(bytes, one->name, sizeof one->name) ||
            !base_reader_read(bytes, one->input, input_bytes))
            return NET_ERR_MALFORMED;
        if (one->client == 0 || one->client > match->client_last ||
            (i > 0 && one->client <= one[-1].client))
            return NET_ERR_MALFORMED;
        net_result result = restore_request(match, one->client, bytes);
        if (result != NET_OK) return result;
    }
    match->player_count = count;
    return net_match_restore_told(match, bytes) ? NET_OK : NET_ERR_MALFORMED;
}

// The next `size` bytes; none when fewer are left.
static base_reader part_of(base_reader* bytes, uint64_t size) {
    const void* data = base_reader_skip(bytes, size < SIZE_MAX ? (size_t)size : SIZE_MAX);
    return base_reader_make(data, data ? (size_t)size : 0);
}

net_result net_match_restore(net_match* match, const void* data, size_t size) {
    BASE_FLOAT_MODE_HELD const base_float_mode host = base_float_mode_set();
    base_reader bytes = base_reader_make(data, size);
    match->player_count = match->requests.count = 0;
    match->end = (net_match_end){0}; // the module decides it again, as it did
    bool has_state = false;
    net_result result = restore_players(match, &bytes, &has_state);
    if (result == NET_OK && ecs_resources_restore(match->world, &bytes) != ECS_OK)
        result = NET_ERR_MALFORMED;
    uint64_t rewind_bytes = 0;
    (void)base_reader_read(&bytes, &rewind_bytes, sizeof rewind_bytes);
    base_reader past = part_of(&bytes, rewind_bytes);
    base_reader state = part_of(&bytes, has_state ? base_reader_u32(&bytes) : 0);
    const bool is_ours =
        !has_state || (match->game->load_state != NULL && state.size <= NET_MODULE_SAVE_BYTES_MAX);
    if (result == NET_OK && (bytes.failed || !is_ours)) result = NET_ERR_MALFORMED;
    ecs_result restored = ecs_world_restore(match->world, (const uint8_t*)data + bytes.offset,
                                            base_reader_left(&bytes));
    if (result == NET_OK && restored != ECS_OK) result = NET_ERR_MALFORMED;
    if (result == NET_OK && match->rewind)
        result = net_rewind_restore(match->rewind, match->world, &past);
    if (result == NET_OK) net_match_restored(match);
    if (result == NET_OK && has_state) result = load_state(match, &state);
    if (result != NET_OK) match->player_count = match->requests.count = 0;
    return result;
}

// Another module goes on.

// By their keys: another version of the game may have others, in another order, in other ranges.
static void take_settings(net_match_config* config, const net_match_config* from) {
    const net_game_module *game = config->module->game, *old = from->module->game;
    for (uint32_t i = 0; i < game->setting_count; i++) {
        const net_setting* setting = &game->settings[i];
        config->settings[i] = setting->value_default;
        for (uint32_t k = 0; k < old->setting_count; k++) {
            const double value = from->settings[k];
            if (strcmp(old->settings[k].key, setting->key) == 0 && value >= setting->min &&
                value <= setting->max)
                config->settings[i] = value;
        }
    }
}

// The newest inputs are structs of the old module, and there is no past yet.
static void take_players(net_match* match, const net_match* from) {
    BASE_ARRAY_RESERVE(&match->owner.allocator, match->players, match->player_capacity,
                       from->player_count);
    match->client_last = from->client_last;
    match->player_count = from->player_count;
    for (uint32_t i = 0; i < from->player_count; i++) {
        net_player* one = &match->players[i];
        *one = from->players[i];
        one->has_input = one->has_seen = false;
        memset(one->input, 0, sizeof one->input);
    }
    for (uint32_t i = 0; i < from->requests.count; i++) {
        const net_interest_request* kept = &from->requests.kept[i];
        *net_interest_requests_add(&match->requests, kept->client) = *kept;
    }
    net_match_copy_told(match, from);
}

// Its own state, when both modules know of one.
static net_result take_state(net_match* match, const net_match* from) {
    net_match_restored(match);
    if (!from->game->save_state || !match->game->load_state) return NET_OK;
    base_bytes bytes;
    base_bytes_init(&bytes, match->config.allocator);
    net_result result = save_state(from, &bytes);
    if (result == NET_OK) {
        base_reader reader = base_reader_make(bytes.data, bytes.size);
        (void)base_reader_u32(&reader);
        base_reader state = part_of(&reader, base_reader_left(&reader));
        result = load_state(match, &state);
    }
    base_bytes_deinit(&bytes);
    return result;
}

net_result net_match_create_from(const net_match* from, const net_module* module,
                                 const base_reporter* reporter, net_match** match_out) {
    BASE_ASSERT(from->config.role == NET_ROLE_SERVER && from->joining == 0);
    net_match_config config = from->config;
    config.module = module;
    config.like = NULL;
    take_settings(&config, &from->config);
    *match_out = NULL;
    net_match* match = NULL;
    net_result result = net_match_create(&config, reporter, &match);
    if (result != NET_OK) return result;
    match->requests.count = 0; // of its start
    const ecs_result taken = ecs_world_take_over(match->world, from->world, reporter);
    if (taken == ECS_OK) {
        take_players(match, from);
        result = take_state(match, from);
    } else {
        result = fail_world(match->world, reporter, "the match cannot continue with it", taken);
    }
    if (result != NET_OK) {
        net_match_destroy(match);
        return result;
    }
    ecs_changes_clear(match->world);
    *match_out = match;
    return NET_OK;
}
