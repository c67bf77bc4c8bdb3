// SPDX-License-Identifier: MIT
// net_game_services: what a module may ask its match, and what it may request about interest.
//
// The answers depend on the match alone, so they are the same when a log is replayed. Requests
// change what clients get, never the world.
#include "game/match_internal.h"
#include "game/match_services.h"

#include "base/assert.h"
#include "base/shown.h"
#include "base/text.h"
#include "interest/interest_rules.h"
#include "net/schema.h"
#include "state/schema_rows.h"

#include <string.h>

net_interest_requests* net_match_interest_requests(net_match* match) {
    return &match->requests;
}

// ---- lag compensation ----

// What a player saw is as far behind the present now as it was when the input named it.
static ecs_tick seen(void* context, uint32_t client, float* fraction) {
    const net_match* match = context;
    const net_player* player = net_match_find_player(match, client);
    ecs_tick present = net_rewind_tick(match->rewind);
    uint64_t moment = present * 256;
    if (player && player->has_seen) moment = player->seen + (present - player->seen_tick) * 256;
    moment = net_rewind_clamp(match->rewind, moment);
    *fraction = (float)(moment % 256) / 256.0f;
    return moment / 256;
}

static bool rewind_value(void* context, ecs_tick tick, float fraction, ecs_entity entity,
                         ecs_component_id component, void* value) {
    const net_match* match = context;
    return net_rewind_get(match->rewind, tick, fraction, entity, component, value);
}

// Without is_rewinding nothing is kept: every player saw the present.
static ecs_tick seen_present(void* context, uint32_t client, float* fraction) {
    const net_match* match = context;
    (void)client;
    *fraction = 0.0f;
    return ecs_world_tick(match->world);
}

static bool rewind_nothing(void* context, ecs_tick tick, float fraction, ecs_entity entity,
                           ecs_component_id component, void* value) {
    (void)context, (void)tick, (void)fraction, (void)entity, (void)component, (void)value;
    return false;
}

// ---- interest ----

// NULL for a client that does not play, and without memory. A client that is joining counts: the
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
    const net_match* match = context;
    uint32_t class_ = net_rows_class(net_schema_rows(match->schema), name);
    return class_ < NET_CLASSES_MAX ? 1u << class_ : 0;
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

net_result net_match_services_init(net_match* match, const base_reporter* reporter) {
    BASE_ASSERT(match->world && match->schema);
    net_bound_rules rules; // bound for its reports only; the server binds the rules again
    net_result result = net_bound_rules_bind(match->world, match->game->interest, reporter, &rules);
    if (result != NET_OK) return NET_ERR_MODULE;
    if (match->config.role != NET_ROLE_SERVER) return NET_OK;
    bool is_rewinding = match->game->is_rewinding;
    match->services = (net_game_services){.size_bytes = sizeof match->services,
                                          .context = match,
                                          .seen = is_rewinding ? seen : seen_present,
                                          .rewind = is_rewinding ? rewind_value : rewind_nothing,
                                          .set_groups = set_groups,
                                          .set_viewpoint = set_viewpoint,
                                          .refresh_scope = refresh_scope,
                                          .class_bit = class_bit,
                                          .end_match = end_match,
                                          .drop_player = drop_player,
                                          .save_log = save_log};
    if (!is_rewinding) return NET_OK;
    return net_rewind_create(&match->memory.allocator, net_schema_rows(match->schema), match->world,
                             match->config.tick_rate_hz, &match->rewind);
}
