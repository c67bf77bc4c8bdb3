// SPDX-License-Identifier: MIT
// What a page hears again and again: events in words, lines for the operator, and where entities
// are.
#include "view.h"

#include "base/text.h"
#include "logtools/log_values.h"

#include <inttypes.h>
#include <string.h>

enum {
    EVENTS_HZ = 5,
    EVENT_CLIENTS_MAX = 256,
    LINES_DEFAULT = 200,
    POSITIONS_HZ = 30,
    POSITIONS_MAX = 16384,   ///< of a frame
    POSITIONS_WHOLE = 10000, ///< more entities than these may be cut, and begin elsewhere each time
    FLAGS_AT = 12,
    POSITIONS_STEPS = 256, ///< entities between two looks at the time
};

// ---- events ----

static void put_event(server_subject* subject, const server_request* request, const char* name) {
    base_bytes* json = request->answer->json;
    base_json_put(json, "id: %" PRIu64 "\nevent: %s\ndata: ", view_tick_of(subject, request), name);
    if (strcmp(name, "status") == 0)
        view_put_status(json, subject, request, true);
    else if (strcmp(name, "clients") == 0)
        view_put_clients(json, subject, request, 0, EVENT_CLIENTS_MAX);
    else {
        // Only where the lines end now: who lacks some asks for them by "log", and loses none.
        uint64_t first, end;
        server_lines_range(subject->lines, &first, &end);
        base_json_write(json, "{newest='%ju'}", end - 1);
    }
    base_json_put(json, "\n\n");
}

static void run_events(server_subject* subject, const server_request* request) {
    static const char* const names[] = {"status", "clients", "log"};
    const char* of = server_request_find(request, "of");
    bool is_asked[BASE_COUNT(names)] = {false};
    uint64_t hz = EVENTS_HZ;
    if (!server_request_number(request, "hz", 1, SERVER_STREAM_HZ_MAX, &hz)) return;
    if (!of) of = "status,clients";
    for (const char* at = of;; at++) {
        const size_t size = strcspn(at, ",");
        bool is_known = false;
        for (uint32_t i = 0; i < BASE_COUNT(names); i++)
            if (strlen(names[i]) == size && memcmp(names[i], at, size) == 0)
                is_known = is_asked[i] = true;
        if (!is_known) {
            server_refuse(request, 400, "'of' names status, clients and log, not '%s'", at);
            return;
        }
        at += size;
        if (!*at) break;
    }
    request->answer->type = "text/event-stream";
    for (uint32_t i = 0; i < BASE_COUNT(names); i++)
        if (is_asked[i]) put_event(subject, request, names[i]);
}

// ---- lines for the operator ----

// Which of the names it is. @return false: none; the answer says it.
static bool find_name(const server_request* request, const char* argument, const char* const* names,
                      uint32_t count, uint32_t* found) {
    const char* name = server_request_find(request, argument);
    if (!name || server_lines_find_name(names, count, name, found)) return true;
    return server_refuse(request, 400, "there is no %s '%s'", argument, name);
}

static void run_log(server_subject* subject, const server_request* request) {
    uint64_t after = 0, limit = LINES_DEFAULT, first, end, rows = 0;
    uint32_t level = SERVER_LEVEL_DEBUG, layer = SERVER_LAYER_COUNT;
    if (!server_request_number(request, "after", 0, UINT64_MAX, &after) ||
        !server_request_number(request, "limit", 1, SERVER_LINES_MAX, &limit) ||
        !find_name(request, "level", server_level_names, SERVER_LEVEL_COUNT, &level) ||
        !find_name(request, "layer", server_layer_names, SERVER_LAYER_COUNT, &layer))
        return;
    base_bytes* json = request->answer->json;
    server_lines_range(subject->lines, &first, &end);
    uint64_t number = after >= first ? after + 1 : first;
    base_json_write(json, "{lines=[");
    for (; number < end && rows < limit && json->size < VIEW_BYTES_MAX; number++) {
        server_line line;
        if (rows > 0 && view_is_late(request)) break;
        if (!server_lines_get(subject->lines, number, &line) || line.level > level ||
            (layer != SERVER_LAYER_COUNT && line.layer != layer))
            continue;
        base_json_write(
            json, "{n='%ju' time_ms='%ju' tick='%ju' level=%s layer=%s file=%s line=%u text=%s}",
            line.number, line.unix_ms, line.tick, server_level_names[line.level],
            server_layer_names[line.layer], line.file, line.line, line.message);
        rows++;
    }
    base_json_write(json, "] cut=%i next='%ju'}", number < end,
                    number < end ? number - 1 : end - 1);
}

// ---- positions ----

// @return is it a place, taken or not?
static bool add_place(const ecs_world* world, ecs_component_id id, const char* rule,
                      bool is_replicated, net_log_where* place) {
    net_log_field fields[ECS_FIELDS_MAX];
    const ecs_component* component = ecs_component_get(world, id);
    if (ecs_type_is_varsize(ecs_type_get(world, component->type))) return false;
    const net_log_component described = net_log_component_make(world, id, fields);
    return net_log_where_add(place, &described, rule, is_replicated);
}

// The component of the game's rules; else the best of those that the request may see.
static bool choose_place(const server_subject* subject, const server_request* request,
                         net_log_where* place) {
    const ecs_world* world = net_match_world(subject->match);
    const net_interest_rules* rules = net_match_get_config(subject->match)->module->game->interest;
    const char* rule = rules && rules->position ? rules->position : "pos";
    const ecs_component_id id = view_find_component(world, rule, strlen(rule), NULL);
    if (id != ECS_COMPONENT_NONE && add_place(world, id, rule, true, place)) return true;
    for (uint32_t i = 1; i <= ecs_template_count(world); i++) {
        const ecs_template* it = ecs_template_get(world, (ecs_template_id)i);
        for (uint32_t k = 0; k < it->component_count; k++) {
            const ecs_template_component* part = &it->components[k];
            if (!view_may_see(request, part)) continue;
            (void)add_place(world, part->component, rule, part->flags & ECS_COMPONENT_REPLICATED,
                            place);
            if (place->rank >= NET_LOG_WHERE_NAMED) return true;
        }
    }
    return place->rank > 0;
}

static bool find_place(const server_subject* subject, const server_request* request,
                       net_log_where* place) {
    const ecs_world* world = net_match_world(subject->match);
    const char* name = server_request_find(request, "component");
    if (!name) {
        if (choose_place(subject, request, place)) return true;
        return server_refuse(request, 404, "no component is a position of 2 or 3 floats: name one");
    }
    char hint[BASE_HINT_BYTES];
    base_nearest nearest = base_nearest_begin(name);
    const ecs_component_id id = view_find_component(world, name, strlen(name), &nearest);
    if (id != ECS_COMPONENT_NONE && add_place(world, id, NULL, true, place)) return true;
    if (id == ECS_COMPONENT_NONE)
        server_refuse(request, 400, "no component \"%s\"%s", name,
                      base_nearest_hint(&nearest, hint));
    else
        server_refuse(request, 400, "%s is not a position: 2 or 3 floats", name);
    return false;
}

static bool may_show(const server_request* request, const ecs_world* world, ecs_entity entity,
                     ecs_component_id id) {
    if (request->right == SERVER_OPERATOR) return true;
    const ecs_template* is_a = ecs_template_get(world, ecs_entity_template(world, entity));
    const ecs_template_component* component = ecs_template_find_component(is_a, id);
    return component && view_may_see(request, component);
}

// By the game's rules of interest. 0: none, or the request may not see it.
static uint16_t team_of(const server_subject* subject, const server_request* request,
                        ecs_entity entity) {
    const ecs_world* world = net_match_world(subject->match);
    const net_interest_rules* rules = net_match_get_config(subject->match)->module->game->interest;
    if (!rules || !rules->team) return 0;
    const ecs_component_id id = view_find_component(world, rules->team, strlen(rules->team), NULL);
    const void* cell = ecs_find(world, entity, id);
    if (!cell || !may_show(request, world, entity, id)) return 0;
    uint32_t team = 0;
    memcpy(&team, cell, ecs_type_get(world, ecs_component_get(world, id)->type)->size);
    return team <= UINT16_MAX ? (uint16_t)team : UINT16_MAX;
}

static void put_position(const server_subject* subject, const server_request* request,
                         base_bytes* frame, const net_log_where* place, ecs_entity entity) {
    const ecs_world* world = net_match_world(subject->match);
    if (!may_show(request, world, entity, (ecs_component_id)place->component)) return;
    const void* cell = ecs_find(world, entity, (ecs_component_id)place->component);
    if (!cell) return;
    const ecs_component* component = ecs_component_get(world, (ecs_component_id)place->component);
    const ecs_type* type = ecs_type_get(world, component->type);
    const uint8_t* object = ecs_type_object(type, cell);
    float at[3] = {0};
    uint32_t count = 0;
    for (const ecs_field* field = &type->fields[place->part.field]; count < place->part.count;
         field++) {
        const uint8_t* element = object + field->offset;
        for (uint32_t k = 0; k < field->count; k++, element += ecs_field_kind_bytes(field->kind))
            at[count++] = (float)ecs_number_get(field->kind, element).real;
    }
    base_bytes_write_u32(frame, entity);
    base_bytes_write_u16(frame, ecs_entity_template(world, entity));
    base_bytes_write_u16(frame, team_of(subject, request, entity));
    for (uint32_t i = 0; i < 3; i++) {
        uint32_t bits;
        memcpy(&bits, &at[i], sizeof bits);
        base_bytes_write_u32(frame, bits);
    }
}

static uint32_t choose_first(const server_subject* subject, uint32_t places) {
    const uint64_t chance = net_match_tick(subject->match) * UINT64_C(0x9E3779B97F4A7C15) >> 32;
    return (uint32_t)(chance % places);
}

// All that a client sees, in any order; what is cut begins where the tick says.
static bool put_scope(server_subject* subject, const server_request* request,
                      const net_log_where* place, uint32_t client, base_bytes* frame) {
    const ecs_world* world = net_match_world(subject->match);
    ecs_entity list[POSITIONS_MAX];
    const uint32_t count = net_server_list_scope(subject->server, client, list, POSITIONS_MAX);
    const uint32_t most = count < POSITIONS_MAX ? count : POSITIONS_MAX;
    const uint32_t first = count <= POSITIONS_STEPS ? 0 : choose_first(subject, most);
    bool is_cut = count > POSITIONS_MAX;
    for (uint32_t i = 0; i < most; i++) {
        const ecs_entity entity = list[(first + i) % most];
        if (i % POSITIONS_STEPS == POSITIONS_STEPS - 1 && view_is_late(request)) {
            is_cut = true;
            break;
        }
        if (ecs_is_alive(world, entity)) put_position(subject, request, frame, place, entity);
    }
    return is_cut;
}

// A frame that is cut begins where the tick says, so that each has its turn.
static bool put_world(server_subject* subject, const server_request* request,
                      const net_log_where* place, base_bytes* frame) {
    const ecs_world* world = net_match_world(subject->match);
    const uint32_t count = ecs_world_entity_count(world);
    const uint32_t most = ecs_world_limits(world)->replicated_index_max;
    const uint32_t places = most / 2 < count ? most : count * 2;
    const ecs_entity first =
        count <= POSITIONS_WHOLE
            ? ECS_ENTITY_NONE
            : ecs_entity_make(choose_first(subject, places) + 1, ECS_GENERATION_MAX);
    const size_t bytes_max = frame->size + (size_t)POSITIONS_MAX * 20;
    ecs_entity at = first;
    bool is_round = first == ECS_ENTITY_NONE;
    for (uint32_t step = 1;; step++) {
        at = ecs_entity_next(world, at);
        if (at == ECS_ENTITY_NONE) {
            if (is_round) return false;
            is_round = true;
            continue;
        }
        if (first != ECS_ENTITY_NONE && is_round && ecs_entity_index(at) > ecs_entity_index(first))
            return false;
        put_position(subject, request, frame, place, at);
        if (frame->size >= bytes_max) return true;
        if (step % POSITIONS_STEPS == 0 && view_is_late(request)) return true;
    }
}

static void run_positions(server_subject* subject, const server_request* request) {
    uint64_t hz = POSITIONS_HZ;
    net_live_peer peer;
    const bool has_client = server_request_find(request, "client") != NULL;
    net_log_where place = {0};
    if (!view_may_look(subject, request) ||
        !server_request_number(request, "hz", 1, SERVER_STREAM_HZ_MAX, &hz) ||
        !find_place(subject, request, &place) ||
        (has_client && !view_find_client(subject, request, "client", &peer)))
        return;
    base_bytes* frame = request->answer->json;
    base_bytes_write_u32(frame, 0); // the length, when it is known
    base_bytes_write_u64(frame, net_match_tick(subject->match));
    base_bytes_write_u32(frame, 0);
    const bool is_cut = has_client ? put_scope(subject, request, &place, peer.peer.client, frame)
                                   : put_world(subject, request, &place, frame);
    request->answer->type = "application/octet-stream";
    const uint32_t size = (uint32_t)frame->size - 4;
    for (uint32_t i = 0; i < 4; i++)
        frame->data[i] = (uint8_t)(size >> 8 * i);
    frame->data[FLAGS_AT] = (uint8_t)(is_cut + 2 * (place.part.count == 3));
}

static const server_verb verbs[] = {
    {"events", "[of] [hz]", "status, clients and the end of the log, repeatedly", SERVER_READER,
     false, EVENTS_HZ, run_events},
    {"log", "[after] [level] [layer] [limit]", "the newest lines of the program", SERVER_OPERATOR,
     false, 0, run_log},
    {"positions", "[component] [client] [hz]", "where entities are, as bytes", SERVER_READER, false,
     POSITIONS_HZ, run_positions},
};
const server_verb_set server_stream_verbs = {verbs, BASE_COUNT(verbs)};
