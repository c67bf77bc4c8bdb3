// SPDX-License-Identifier: MIT
// A match: one world, one module, one order of things.
//
// Everything that drives a world goes through here - joins, leaves, inputs, events, steps - on the server,
// in each mirror, and when a log is run again. So the two runs of a log differ in nothing but who calls.
//
// An input arrives packed, becomes the module's struct (from_wire clamps it) and is posted as an event on
// the player's entity. The last struct of each client is kept: "the last one again" is what the log says
// for an input that did not come in time, and it must mean the same bytes in the re-run.
// Messages are unpacked by proto_codec alone, into its arena; packing uses one scratch message. A steady
// tick therefore allocates nothing here; joins may grow the player table.
//
// Invariants: players are sorted by client (numbers only rise, so a join appends); a message's number on
// the wire is its position in the module's table + 1.
// Left to others: who may join, when inputs are due, what is logged (server, inputs, log).

#include "net/match.h"

#include "base/assert.h"
#include "base/text.h"
#include "ecs/save.h"
#include "game/match_interest.h"
#include "net/schema.h"
#include "proto/codec.h"
#include "game/rewind.h"
#include "state/schema_rows.h"
#include "interest/interest_rules.h"

#include <string.h>

typedef struct player {
    uint32_t client;
    ecs_entity entity;
    char name[NET_PLAYER_NAME_BYTES_MAX];
    bool has_input;
    bool has_view;
    ecs_tick view_tick;                             // the present when the view was said
    uint64_t view;                                  // what the player saw, in ticks * 256
    _Alignas(8) uint8_t input[ECS_EVENT_BYTES_MAX]; // the input event's struct
} player;

struct net_match {
    net_match_config config;
    const net_game_module* game;
    ecs_world* world;
    net_schema* schema;
    void* context;
    float dt;
    proto_codec codec;
    bool has_codec;
    ecs_event_type events[NET_MESSAGES_MAX]; // by position
    uint32_t event_bytes[NET_MESSAGES_MAX];
    uint32_t message_of[ECS_EVENT_TYPES_MAX + 1]; // position + 1 by event type
    uint32_t input_message;                       // position + 1
    ProtobufCMessage* scratch;                    // room for the largest message
    size_t scratch_bytes;
    player* players;
    uint32_t player_count;
    uint32_t player_capacity;
    uint32_t client_last;
    net_rewind* rewind; // NULL: the module does not ask
    bool has_services;
    net_game_services services;
    net_match_interest interest;
    net_rewind_stats views;
};

// ---- settings ----

net_match_config net_match_config_default(const net_module* module) {
    BASE_ASSERT(module && module->game);
    net_match_config config = {
        .module = module,
        .role = NET_ROLE_SERVER,
        .tick_rate_hz = NET_TICK_RATE_HZ_DEFAULT,
    };
    for (uint32_t i = 0; i < module->game->setting_count; i++) {
        config.settings[i] = module->game->settings[i].value_default;
    }
    return config;
}

static net_result refuse_key(const net_game_module* game, const char* key,
                             const base_reporter* reporter) {
    const char* keys[NET_SETTINGS_MAX];
    for (uint32_t i = 0; i < game->setting_count; i++)
        keys[i] = game->settings[i].key;
    const char* nearest = base_text_nearest(key, keys, game->setting_count);
    if (nearest) {
        base_report(reporter, NULL, 0, "%s has no setting \"%s\", did you mean \"%s\"?", game->name,
                    key, nearest);
    } else {
        base_report(reporter, NULL, 0, "%s has no setting \"%s\"", game->name, key);
    }
    return NET_ERR_UNKNOWN;
}

net_result net_match_setting_apply(net_match_config* config, const char* key_value,
                                   const base_reporter* reporter) {
    BASE_ASSERT(config && config->module && key_value);
    const net_game_module* game = config->module->game;
    char key[64];
    size_t length = strcspn(key_value, "=");
    if (key_value[length] != '=' || length == 0 || length >= sizeof key) {
        base_report(reporter, NULL, 0, "\"%.64s\" is not KEY=VALUE", key_value);
        return NET_ERR_MALFORMED;
    }
    memcpy(key, key_value, length);
    key[length] = '\0';
    for (uint32_t i = 0; i < game->setting_count; i++) {
        const net_setting* setting = &game->settings[i];
        if (strcmp(setting->key, key) != 0) continue;
        double value;
        // Written so that NaN is refused.
        if (!base_text_parse_f64(key_value + length + 1, &value) ||
            !(value >= setting->min && value <= setting->max)) {
            base_report(reporter, NULL, 0, "%s must be a number from %g to %g", key, setting->min,
                        setting->max);
            return NET_ERR_MALFORMED;
        }
        config->settings[i] = value;
        return NET_OK;
    }
    return refuse_key(game, key, reporter);
}

// ---- create and destroy ----

static net_result fail(const base_reporter* reporter, const char* what, ecs_result result) {
    if (result == ECS_ERR_MEMORY) return NET_ERR_MEMORY;
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
    if (match->config.replicated_index_max) {
        config.limits.replicated_index_max = match->config.replicated_index_max;
    }
    ecs_result result = ecs_world_create(&config, &match->world);
    return result ? fail(reporter, "the world", result) : NET_OK;
}

static net_result register_game(net_match* match, const base_reporter* reporter) {
    const net_module* module = match->config.module;
    ecs_result result = match->game->register_types(match->world, reporter);
    if (result) return fail(reporter, "the module's types", result);
    net_template_reporter texts = {reporter, module->templates_file};
    const base_reporter text_reporter = net_template_reporter_make(&texts);
    result = ecs_template_load_pack(match->world, module->pack, module->pack_bytes, &text_reporter);
    if (result) return fail(reporter, module->templates_file, result);
    result = match->game->register_systems(match->world, &match->context, reporter);
    if (result) return fail(reporter, "the module's systems", result);
    result = ecs_world_seal(match->world, reporter);
    return result ? fail(reporter, "the module's systems", result) : NET_OK;
}

static net_result bind_messages(net_match* match, const base_reporter* reporter) {
    for (uint32_t i = 0; i < match->game->message_count; i++) {
        const net_message* message = &match->game->messages[i];
        ecs_event_type type = ecs_event_find(match->world, message->event);
        const ecs_event_desc* desc =
            type == ECS_EVENT_NONE ? NULL : ecs_event_get(match->world, type);
        if (!desc) {
            base_report(reporter, NULL, 0, "message %s: the event %s is not registered",
                        message->name, message->event);
            return NET_ERR_MODULE;
        }
        if (message->kind == NET_MESSAGE_TO_CLIENTS && !desc->is_exported) {
            base_report(reporter, NULL, 0, "message %s: the event %s must be exported",
                        message->name, message->event);
            return NET_ERR_MODULE;
        }
        match->events[i] = type;
        match->event_bytes[i] = desc->size;
        // Each side hears of what it sends: a server of events to clients, a mirror of those to the server.
        net_message_kind sent =
            match->config.role == NET_ROLE_SERVER ? NET_MESSAGE_TO_CLIENTS : NET_MESSAGE_TO_SERVER;
        if (message->kind == sent) match->message_of[type] = i + 1;
        if (message->kind == NET_MESSAGE_INPUT) match->input_message = i + 1;
        size_t bytes = message->descriptor->sizeof_message;
        if (bytes > match->scratch_bytes) match->scratch_bytes = bytes;
    }
    return NET_OK;
}

static net_result create_codec(net_match* match) {
    match->scratch = base_allocate_zero(match->config.allocator, match->scratch_bytes);
    if (!match->scratch) return NET_ERR_MEMORY;
    match->has_codec =
        proto_codec_init(&match->codec, match->config.allocator, PROTO_UNPACK_BYTES_MAX);
    return match->has_codec ? NET_OK : NET_ERR_MEMORY;
}

static player* find_player(const net_match* match, uint32_t client);

// What a player saw is as far behind the present now as it was when the player said it.
static ecs_tick answer_seen(void* context, uint32_t client, float* fraction) {
    const net_match* match = context;
    const player* from = find_player(match, client);
    ecs_tick present = net_rewind_tick(match->rewind);
    uint64_t moment = present * 256;
    if (from && from->has_view) moment = from->view + (present - from->view_tick) * 256;
    moment = net_rewind_clamp(match->rewind, moment);
    *fraction = (float)(moment % 256) / 256.0f;
    return moment / 256;
}

static bool answer_rewind(void* context, ecs_tick tick, float fraction, ecs_entity entity,
                          ecs_component_id component, void* value) {
    const net_match* match = context;
    return net_rewind_get(match->rewind, tick, fraction, entity, component, value);
}

// Without is_rewinding nothing is kept: everybody sees the present.
static ecs_tick answer_present(void* context, uint32_t client, float* fraction) {
    const net_match* match = context;
    (void)client;
    *fraction = 0.0f;
    return ecs_world_tick(match->world);
}

static bool answer_nothing(void* context, ecs_tick tick, float fraction, ecs_entity entity,
                           ecs_component_id component, void* value) {
    (void)context, (void)tick, (void)fraction, (void)entity, (void)component, (void)value;
    return false;
}

// Clients who are there or just joining; a module may ask before it has made the player.
static net_match_interest_request* ask_scope(net_match* match, uint32_t client) {
    bool is_there = client > 0 && (client == match->client_last || find_player(match, client));
    return is_there ? net_match_interest_ask(&match->interest, client) : NULL;
}

static void answer_set_groups(void* context, uint32_t client, uint64_t mask) {
    net_match_interest_request* asked = ask_scope(context, client);
    if (asked) asked->groups = mask;
}

static void answer_set_viewpoint(void* context, uint32_t client, const float position[3],
                                 float radius) {
    net_match_interest_request* asked = ask_scope(context, client);
    if (!asked) return;
    asked->has_viewpoint = position != NULL;
    asked->radius = position ? radius : 0.0f;
    memset(asked->position, 0, sizeof asked->position);
    if (position) memcpy(asked->position, position, sizeof asked->position);
}

static void answer_refresh_scope(void* context, uint32_t client) {
    net_match_interest_request* asked = ask_scope(context, client);
    if (asked) asked->is_refreshed = true;
}

static uint32_t answer_class_bit(void* context, const char* name) {
    const net_match* match = context;
    uint32_t class_ = net_rows_class(net_schema_rows(match->schema), name);
    return class_ < NET_CLASSES_MAX ? 1u << class_ : 0;
}

static net_result create_services(net_match* match, const base_reporter* reporter) {
    net_bound_rules rules;
    net_result result = net_bound_rules_bind(match->world, match->game->interest, reporter, &rules);
    if (result != NET_OK) return NET_ERR_MODULE;
    if (match->config.role != NET_ROLE_SERVER) return NET_OK;
    bool is_rewinding = match->game->is_rewinding;
    match->has_services = is_rewinding || match->game->interest;
    match->services = (net_game_services){.size_bytes = sizeof match->services,
                                          .context = match,
                                          .seen = is_rewinding ? answer_seen : answer_present,
                                          .rewind = is_rewinding ? answer_rewind : answer_nothing,
                                          .set_groups = answer_set_groups,
                                          .set_viewpoint = answer_set_viewpoint,
                                          .refresh_scope = answer_refresh_scope,
                                          .class_bit = answer_class_bit};
    if (!is_rewinding) return NET_OK;
    return net_rewind_create(match->config.allocator, net_schema_rows(match->schema), match->world,
                             match->config.tick_rate_hz, &match->rewind);
}

static void start_game(net_match* match) {
    const net_game_start start = {
        .size_bytes = sizeof start,
        .tick_rate_hz = match->config.tick_rate_hz,
        .dt = match->dt,
        .seed = match->config.seed,
        .settings = match->config.settings,
        .setting_count = match->game->setting_count,
        .services = match->has_services ? &match->services : NULL,
    };
    match->game->start(match->world, match->context, &start);
}

net_result net_match_create(const net_match_config* config, const base_reporter* reporter,
                            net_match** match_out) {
    BASE_ASSERT(config && config->module && match_out);
    BASE_ASSERT(config->tick_rate_hz >= NET_TICK_RATE_HZ_MIN &&
                config->tick_rate_hz <= NET_TICK_RATE_HZ_MAX);
    *match_out = NULL;
    net_match* match = base_allocate_zero(config->allocator, sizeof *match);
    if (!match) return NET_ERR_MEMORY;
    match->config = *config;
    match->game = config->module->game;
    match->dt = 1.0f / (float)config->tick_rate_hz;
    net_match_interest_init(&match->interest, config->allocator);
    net_result result = create_world(match, reporter);
    if (!result) result = register_game(match, reporter);
    if (!result) result = bind_messages(match, reporter);
    if (!result) result = create_codec(match);
    if (!result) {
        result = net_schema_create(config->allocator, match->world, match->game->messages,
                                   match->game->message_count, reporter, &match->schema);
    }
    if (!result) result = create_services(match, reporter);
    if (result) {
        net_match_destroy(match);
        return result;
    }
    if (config->role == NET_ROLE_SERVER) start_game(match);
    *match_out = match;
    return NET_OK;
}

void net_match_destroy(net_match* match) {
    if (!match) return;
    const base_allocator* allocator = match->config.allocator;
    net_rewind_destroy(match->rewind);
    net_match_interest_deinit(&match->interest);
    if (match->schema) net_schema_destroy(match->schema);
    if (match->has_codec) proto_codec_deinit(&match->codec);
    base_release(allocator, match->scratch, match->scratch_bytes);
    base_release(allocator, match->players, match->player_capacity * sizeof(player));
    if (match->world) ecs_world_destroy(match->world);
    base_release(allocator, match, sizeof *match);
}

net_result net_match_reload(net_match* match, const void* pack, size_t bytes,
                            const base_reporter* reporter, ecs_reload_report* report) {
    BASE_ASSERT(match->config.role == NET_ROLE_SERVER);
    net_template_reporter texts = {reporter, match->config.module->templates_file};
    const base_reporter text_reporter = net_template_reporter_make(&texts);
    ecs_result result =
        ecs_template_reload(match->world, pack, bytes, true, &text_reporter, report);
    if (result == ECS_OK) return NET_OK;
    return result == ECS_ERR_MEMORY ? NET_ERR_MEMORY : NET_ERR_MODULE;
}

// ---- asking ----

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

void net_match_set_tick_rate(net_match* match, uint32_t tick_rate_hz) {
    BASE_ASSERT(match->config.role != NET_ROLE_SERVER);
    BASE_ASSERT(tick_rate_hz >= NET_TICK_RATE_HZ_MIN && tick_rate_hz <= NET_TICK_RATE_HZ_MAX);
    match->config.tick_rate_hz = tick_rate_hz;
    match->dt = 1.0f / (float)tick_rate_hz;
}

void net_match_mirror_start(net_match* match, uint32_t tick_rate_hz, const double* settings,
                            uint32_t setting_count) {
    net_match_set_tick_rate(match, tick_rate_hz);
    for (uint32_t i = 0; i < setting_count && i < match->game->setting_count; i++) {
        match->config.settings[i] = settings[i];
    }
    if (!match->game->mirror_start) return;
    const net_game_start start = {
        .size_bytes = sizeof start,
        .tick_rate_hz = tick_rate_hz,
        .dt = match->dt,
        .settings = match->config.settings,
        .setting_count = match->game->setting_count,
    };
    match->game->mirror_start(match->world, match->context, &start);
}

uint32_t net_match_input_message(const net_match* match) {
    return match->input_message;
}

uint32_t net_match_input_bytes(const net_match* match) {
    return match->event_bytes[match->input_message - 1];
}

uint32_t net_match_message_of(const net_match* match, ecs_event_type type) {
    return type <= ECS_EVENT_TYPES_MAX ? match->message_of[type] : 0;
}

// ---- players ----

// Position of a client, or where it would be.
static uint32_t find_place(const net_match* match, uint32_t client) {
    uint32_t low = 0, high = match->player_count;
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        if (match->players[middle].client < client) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    return low;
}

static player* find_player(const net_match* match, uint32_t client) {
    uint32_t place = find_place(match, client);
    if (place >= match->player_count || match->players[place].client != client) return NULL;
    return &match->players[place];
}

void net_match_join(net_match* match, uint32_t client, const char* name, bool is_bot) {
    BASE_ASSERT(match->config.role == NET_ROLE_SERVER && name);
    BASE_ASSERT(client > match->client_last);
    match->client_last = client;
    const net_game_player joined = {
        .size_bytes = sizeof joined, .client = client, .name = name, .is_bot = is_bot};
    ecs_entity entity = match->game->player_join(match->world, match->context, &joined);
    // Going on without the player would be a world that no re-run of the log can reach.
    bool has_room =
        base_array_reserve(match->config.allocator, (void**)&match->players,
                           &match->player_capacity, match->player_count + 1, sizeof(player));
    BASE_ASSERT(has_room);
    player* added = &match->players[match->player_count++];
    memset(added, 0, sizeof *added);
    added->client = client;
    added->entity = entity;
    (void)base_text_copy(added->name, sizeof added->name, name);
}

void net_match_leave(net_match* match, uint32_t client) {
    BASE_ASSERT(match->config.role == NET_ROLE_SERVER);
    player* left = find_player(match, client);
    BASE_ASSERT(left);
    match->game->player_leave(match->world, match->context, client, left->entity);
    net_match_interest_forget(&match->interest, client);
    uint32_t place = (uint32_t)(left - match->players);
    memmove(left, left + 1, (match->player_count - place - 1) * sizeof *left);
    match->player_count--;
}

const char* net_match_player_name(const net_match* match, uint32_t client) {
    const player* found = find_player(match, client);
    return found ? found->name : NULL;
}

ecs_entity net_match_player(const net_match* match, uint32_t client) {
    const player* found = find_player(match, client);
    if (!found || !ecs_is_alive(match->world, found->entity)) return ECS_ENTITY_NONE;
    return found->entity;
}

const net_match_interest_request* net_match_interest_requests(net_match* match, uint32_t* count) {
    return net_match_interest_take(&match->interest, count);
}

const net_match_interest_request* net_match_interest_request_find(const net_match* match,
                                                                  uint32_t client) {
    return net_match_interest_find(&match->interest, client);
}

// ---- messages ----

typedef struct payload {
    _Alignas(16) uint8_t bytes[ECS_EVENT_BYTES_MAX];
} payload;

// Packed message -> the event's struct. false: no message, or the module refuses it.
static bool unpack(net_match* match, uint32_t position, const void* data, size_t size,
                   size_t size_max, payload* target) {
    const net_message* message = &match->game->messages[position];
    const ProtobufCMessage* unpacked =
        proto_codec_decode(&match->codec, message->descriptor, data, size, size_max);
    if (!unpacked) return false;
    memset(target, 0, sizeof *target);
    return message->from_wire(unpacked, target->bytes);
}

static bool is_kind(const net_match* match, uint32_t message, net_message_kind kind) {
    return message >= 1 && message <= match->game->message_count &&
           match->game->messages[message - 1].kind == kind;
}

net_result net_match_input_check(net_match* match, const void* data, size_t size) {
    payload target;
    bool is_right =
        unpack(match, match->input_message - 1, data, size, NET_INPUT_BYTES_MAX, &target);
    return is_right ? NET_OK : NET_ERR_MALFORMED;
}

net_result net_match_event_check(net_match* match, uint32_t message, const void* data,
                                 size_t size) {
    payload target;
    if (!is_kind(match, message, NET_MESSAGE_TO_SERVER)) return NET_ERR_MALFORMED;
    bool is_right = unpack(match, message - 1, data, size, NET_EVENT_PAYLOAD_BYTES_MAX, &target);
    return is_right ? NET_OK : NET_ERR_MALFORMED;
}

// Kept as far as it can matter, so that what a stranger says does not overflow later.
static void take_view(net_match* match, player* from, uint64_t view) {
    if (!match->rewind || view == 0) return;
    uint64_t moment = net_rewind_clamp(match->rewind, view);
    match->views.said++;
    match->views.ahead += view > moment;
    match->views.behind += view < moment;
    from->has_view = true;
    from->view = moment;
    from->view_tick = net_rewind_tick(match->rewind);
}

void net_match_input_seen(net_match* match, uint32_t client, const void* data, size_t size,
                          uint64_t view) {
    player* from = find_player(match, client);
    if (!from) return;
    if (data) {
        take_view(match, from, view);
        payload target;
        bool is_right =
            unpack(match, match->input_message - 1, data, size, NET_INPUT_BYTES_MAX, &target);
        BASE_ASSERT(is_right); // net_match_input_check said so
        memcpy(from->input, target.bytes, sizeof from->input);
        from->has_input = true;
    }
    if (!from->has_input || !ecs_is_alive(match->world, from->entity)) return;
    // A full queue refuses it and counts.
    (void)ecs_event_send(match->world, from->entity, match->events[match->input_message - 1],
                         from->input);
}

void net_match_input(net_match* match, uint32_t client, const void* data, size_t size) {
    net_match_input_seen(match, client, data, size, 0);
}

net_rewind_stats net_match_get_rewind_stats(const net_match* match) {
    return match->views;
}

void net_match_predict_input(net_match* match, ecs_entity entity, const void* data, size_t size) {
    BASE_ASSERT(match->config.role == NET_ROLE_PREDICT);
    payload target;
    if (!unpack(match, match->input_message - 1, data, size, NET_INPUT_BYTES_MAX, &target)) return;
    if (!ecs_is_alive(match->world, entity)) return;
    (void)ecs_event_send(match->world, entity, match->events[match->input_message - 1],
                         target.bytes);
}

void net_match_client_event(net_match* match, uint32_t client, uint32_t message, const void* data,
                            size_t size) {
    BASE_ASSERT(is_kind(match, message, NET_MESSAGE_TO_SERVER));
    payload target;
    bool is_right = unpack(match, message - 1, data, size, NET_EVENT_PAYLOAD_BYTES_MAX, &target);
    BASE_ASSERT(is_right); // net_match_event_check said so
    ecs_entity entity = net_match_player(match, client);
    if (entity == ECS_ENTITY_NONE) return;
    (void)ecs_event_send(match->world, entity, match->events[message - 1], target.bytes);
}

net_result net_match_server_event(net_match* match, uint32_t message, ecs_entity target,
                                  const void* data, size_t size) {
    BASE_ASSERT(match->config.role != NET_ROLE_SERVER);
    payload struct_;
    if (!is_kind(match, message, NET_MESSAGE_TO_CLIENTS)) return NET_ERR_MALFORMED;
    if (ecs_entity_is_placeholder(target)) return NET_ERR_MALFORMED;
    if (!unpack(match, message - 1, data, size, NET_EVENT_PAYLOAD_BYTES_MAX, &struct_)) {
        return NET_ERR_MALFORMED;
    }
    ecs_event_type type = match->events[message - 1];
    bool has_room = target == ECS_ENTITY_NONE
                        ? ecs_event_broadcast(match->world, type, struct_.bytes)
                        : ecs_event_send(match->world, target, type, struct_.bytes);
    return has_room ? NET_OK : NET_ERR_FULL;
}

// A handle that a server could have given to clients.
static bool is_replicated_handle(const net_match* match, ecs_entity entity) {
    uint32_t index = ecs_entity_index(entity);
    return index >= 1 && index <= ecs_world_limits(match->world)->replicated_index_max &&
           ecs_entity_generation(entity) >= 1;
}

uint32_t net_match_entities_of(const net_match* match, uint32_t message, const void* data,
                               ecs_entity* entities) {
    BASE_ASSERT(message >= 1 && message <= match->game->message_count);
    const ecs_event_desc* desc = ecs_event_get(match->world, match->events[message - 1]);
    uint32_t count = 0;
    for (uint32_t i = 0; i < desc->field_count; i++) {
        if (desc->fields[i].kind != ECS_FIELD_ENTITY) continue;
        for (uint32_t k = 0; k < desc->fields[i].count; k++) {
            ecs_entity entity;
            size_t at = desc->fields[i].offset + k * sizeof entity;
            memcpy(&entity, (const uint8_t*)data + at, sizeof entity);
            bool is_new = is_replicated_handle(match, entity);
            for (uint32_t other = 0; other < count; other++)
                is_new = is_new && entities[other] != entity;
            if (is_new) entities[count++] = entity;
        }
    }
    return count;
}

uint32_t net_match_entities_of_packed(net_match* match, uint32_t message, const void* data,
                                      size_t size, ecs_entity* entities) {
    payload struct_;
    if (message < 1 || message > match->game->message_count ||
        !unpack(match, message - 1, data, size, NET_EVENT_PAYLOAD_BYTES_MAX, &struct_))
        return 0;
    return net_match_entities_of(match, message, struct_.bytes, entities);
}

net_result net_match_pack(net_match* match, uint32_t message, const void* data, uint8_t* target,
                          size_t capacity, size_t* size) {
    BASE_ASSERT(message >= 1 && message <= match->game->message_count);
    const net_message* packed = &match->game->messages[message - 1];
    protobuf_c_message_init(packed->descriptor, match->scratch);
    packed->to_wire(data, match->scratch);
    *size = proto_encode(match->scratch, target, capacity);
    return *size > 0 || proto_encoded_bytes(match->scratch) == 0 ? NET_OK : NET_ERR_FULL;
}

// ---- time ----

void net_match_step_at(net_match* match, ecs_tick tick) {
    const ecs_step step = {.tick = tick, .dt = match->dt};
    ecs_world_step(match->world, &step);
    if (match->rewind) net_rewind_step(match->rewind, match->world, tick);
}

void net_match_step(net_match* match) {
    net_match_step_at(match, ecs_world_tick(match->world) + 1);
}

// ---- saves ----

// With its length in front: it is restored after the world, which takes all that is left.
static bool save_rewind(const net_match* match, base_bytes* bytes) {
    size_t mark = bytes->size;
    base_bytes_write_u64(bytes, 0);
    if (match->rewind) net_rewind_save(match->rewind, match->world, bytes);
    if (bytes->failed) return false;
    uint64_t size = bytes->size - mark - sizeof size;
    memcpy(bytes->data + mark, &size, sizeof size);
    return true;
}

net_result net_match_save(const net_match* match, base_bytes* bytes) {
    uint32_t input_bytes = net_match_input_bytes(match);
    base_bytes_write_u32(bytes, match->client_last);
    base_bytes_write_u32(bytes, match->player_count);
    for (uint32_t i = 0; i < match->player_count; i++) {
        const player* one = &match->players[i];
        base_bytes_write_u32(bytes, one->client);
        base_bytes_write_u32(bytes, one->entity);
        base_bytes_write_u8(bytes, one->has_input);
        base_bytes_write_u8(bytes, one->has_view);
        base_bytes_write_u64(bytes, one->view_tick);
        base_bytes_write_u64(bytes, one->view);
        base_bytes_write(bytes, one->name, sizeof one->name);
        base_bytes_write(bytes, one->input, input_bytes);
    }
    if (!save_rewind(match, bytes)) return NET_ERR_MEMORY;
    return !bytes->failed && ecs_world_save(match->world, bytes) == ECS_OK ? NET_OK
                                                                           : NET_ERR_MEMORY;
}

static net_result restore_players(net_match* match, base_reader* bytes) {
    uint32_t input_bytes = net_match_input_bytes(match);
    match->client_last = base_reader_u32(bytes);
    uint32_t count = base_reader_u32(bytes);
    if (count > base_reader_left(bytes)) return NET_ERR_MALFORMED;
    if (!base_array_reserve(match->config.allocator, (void**)&match->players,
                            &match->player_capacity, count, sizeof(player)))
        return NET_ERR_MEMORY;
    for (uint32_t i = 0; i < count; i++) {
        player* one = &match->players[i];
        memset(one, 0, sizeof *one);
        one->client = base_reader_u32(bytes);
        one->entity = base_reader_u32(bytes);
        one->has_input = base_reader_u8(bytes) != 0;
        one->has_view = base_reader_u8(bytes) != 0;
        one->view_tick = base_reader_u64(bytes);
        one->view = base_reader_u64(bytes);
        if (!base_reader_read(bytes, one->name, sizeof one->name) ||
            !base_reader_read(bytes, one->input, input_bytes))
            return NET_ERR_MALFORMED;
        if (one->client > match->client_last || (i > 0 && one->client <= one[-1].client))
            return NET_ERR_MALFORMED;
    }
    match->player_count = count;
    return NET_OK;
}

net_result net_match_restore(net_match* match, const void* data, size_t size) {
    base_reader bytes = base_reader_make(data, size);
    match->player_count = 0;
    net_result result = restore_players(match, &bytes);
    uint64_t rewind_bytes = 0;
    if (!base_reader_read(&bytes, &rewind_bytes, sizeof rewind_bytes) ||
        rewind_bytes > base_reader_left(&bytes)) {
        rewind_bytes = 0;
        if (result == NET_OK) result = NET_ERR_MALFORMED;
    }
    base_reader past = base_reader_make((const uint8_t*)data + bytes.offset, (size_t)rewind_bytes);
    size_t left = base_reader_left(&bytes) - (size_t)rewind_bytes;
    ecs_result restored =
        ecs_world_restore(match->world, (const uint8_t*)data + bytes.offset + rewind_bytes, left);
    if (result == NET_OK && restored != ECS_OK)
        result = restored == ECS_ERR_MEMORY ? NET_ERR_MEMORY : NET_ERR_MALFORMED;
    if (result == NET_OK && match->rewind &&
        !net_rewind_restore(match->rewind, match->world, &past))
        result = NET_ERR_MALFORMED;
    if (result != NET_OK) match->player_count = 0;
    return result;
}
