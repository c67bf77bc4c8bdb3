// SPDX-License-Identifier: MIT
// What the game is made of: templates, components, systems; and the options of the program.
#include "metrics.h"
#include "view.h"

#include "base/options.h"
#include "base/text.h"
#include "ecs/inspect.h"
#include "net/socket.h"

#include <string.h>

// ---- templates ----

// A list from the argument "after" on, cut when it is late or long.
static void put_page(server_subject* subject, const server_request* request, const char* key,
                     uint32_t count,
                     void (*put)(base_bytes* json, const server_subject* subject,
                                 const server_request* request, uint32_t id)) {
    uint64_t after = 0, id;
    if (!server_request_number(request, "after", 0, UINT16_MAX, &after)) return;
    base_bytes* json = request->answer->json;
    base_json_write(json, "{%s=[", key);
    for (id = after + 1; id <= count; id++) {
        if (id > after + 1 && (view_is_late(request) || json->size > VIEW_BYTES_MAX)) break;
        put(json, subject, request, (uint32_t)id);
    }
    base_json_write(json, "]");
    view_cut_at(json, id <= count, id - 1);
    base_json_write(json, "}");
}

static void put_quant(base_bytes* json, const ecs_quant* quant) {
    base_json_write(json, "bits=%u", quant->bits);
    if (quant->bits > 0) base_json_write(json, "min=%a step=%a", quant->min, quant->step);
}

static void put_template_component(base_bytes* json, const ecs_world* world, ecs_template_id id,
                                   const ecs_template_component* component) {
    const ecs_component* known = ecs_component_get(world, component->component);
    base_json_write(json, "{name=%s type=%s", known->name, ecs_type_get(world, known->type)->name);
    (void)view_remarks(json, world, id, component->component);
    base_json_write(json, "tracked=%i replicated=%i interpolated=%i rotation=%i",
                    component->flags & ECS_COMPONENT_TRACKED,
                    component->flags & ECS_COMPONENT_REPLICATED,
                    component->flags & ECS_COMPONENT_INTERPOLATED, component->is_rotation);
    put_quant(json, &component->quant);
    base_json_write(json, "visible=%s integral=%s teleport=%a value=", component->visible,
                    component->integral, (double)component->teleport);
    view_formatted(json, world, component->component, component->value);
    base_json_write(json, "}");
}

static const char* file_name(const char* path) {
    const char* slash = strrchr(path, '/');
    return slash ? slash + 1 : path;
}

static void put_template(base_bytes* json, const server_subject* subject,
                         const server_request* request, uint32_t number) {
    const ecs_world* world = net_match_world(subject->match);
    const ecs_template* it = ecs_template_get(world, (ecs_template_id)number);
    base_json_write(json, "{name=%s id=%u", it->name, it->id);
    if (view_may_see_now(subject, request->right))
        base_json_write(json, "entities=%u", server_metrics_entities(subject->metrics, it->id));
    base_json_write(json, "is_replicated=%i is_singleton=%i priority=%u parts=[", it->is_replicated,
                    it->is_singleton, it->importance);
    for (uint32_t i = 0; i < it->part_count; i++)
        base_json_write(json, "%s", ecs_template_get(world, it->parts[i])->name);
    base_json_write(json, "] file=%s line=%u components=[", file_name(it->file), it->line);
    for (uint32_t i = 0; i < it->component_count; i++)
        if (view_may_see(request, &it->components[i]))
            put_template_component(json, world, it->id, &it->components[i]);
    base_json_write(json, "]}");
}

static void run_templates(server_subject* subject, const server_request* request) {
    put_page(subject, request, "templates", ecs_template_count(net_match_world(subject->match)),
             put_template);
}

// ---- components ----

static void put_users(base_bytes* json, const ecs_world* world, ecs_component_id id, ecs_use use) {
    ecs_user user = {0};
    while (ecs_inspect_user(world, id, use, &user))
        base_json_write(json, "%s", user.name);
}

static bool is_replicated(const ecs_world* world, ecs_component_id id) {
    for (uint32_t i = 1; i <= ecs_template_count(world); i++) {
        const ecs_template_component* component =
            ecs_template_find_component(ecs_template_get(world, (ecs_template_id)i), id);
        if (component && (component->flags & ECS_COMPONENT_REPLICATED)) return true;
    }
    return false;
}

static void put_component(base_bytes* json, const server_subject* subject,
                          const server_request* request, uint32_t number) {
    const ecs_world* world = net_match_world(subject->match);
    const ecs_component_id id = (ecs_component_id)number;
    (void)request;
    const ecs_component* component = ecs_component_get(world, id);
    const ecs_type* type = ecs_type_get(world, component->type);
    base_json_write(json, "{name=%s type=%s bytes=%u is_tag=%i is_varsize=%i", component->name,
                    type->name, type->object_size, type->size == 0, ecs_type_is_varsize(type));
    view_first_remarks(json, world, id);
    base_json_write(json, "replicated=%i fields=[", is_replicated(world, id));
    for (uint32_t i = 0; i < type->field_count; i++) {
        base_json_write(json, "{name=%s kind=%s count=%u", type->fields[i].name,
                        ecs_field_kind_name(type->fields[i].kind), type->fields[i].count);
        put_quant(json, &type->fields[i].quant);
        base_json_write(json, "}");
    }
    base_json_write(json, "] readers=[");
    put_users(json, world, id, ECS_USE_READ);
    base_json_write(json, "] writers=[");
    put_users(json, world, id, ECS_USE_WRITE);
    base_json_write(json, "]}");
}

static void run_components(server_subject* subject, const server_request* request) {
    put_page(subject, request, "components", ecs_component_count(net_match_world(subject->match)),
             put_component);
}

// ---- systems ----

static void put_uses(base_bytes* json, const ecs_world* world, const char* system, ecs_use use) {
    ecs_user user = {0};
    while (ecs_inspect_use(world, system, use, &user))
        base_json_write(json, "%s", user.name);
}

static void put_touched(base_bytes* json, const ecs_world* world, const char* system) {
    ecs_user user = {0};
    base_json_write(json, "reads=[");
    put_uses(json, world, system, ECS_USE_READ);
    base_json_write(json, "] writes=[");
    put_uses(json, world, system, ECS_USE_WRITE);
    base_json_write(json, "] events=[");
    while (ecs_inspect_event(world, system, &user))
        base_json_write(json, "%s", user.name);
    base_json_write(json, "]");
}

static void put_times(base_bytes* json, const ecs_system_times* times, uint64_t whole_ns,
                      bool may_see) {
    base_json_write(json, "ticks='%ju'", times->ticks);
    if (may_see) base_json_write(json, "rows='%ju'", times->rows);
    base_json_write(json, "mean_us=%f max_us=%f share=%f",
                    times->ticks ? (double)times->ns / (double)times->ticks * 1e-3 : 0.0,
                    (double)times->ns_max * 1e-3,
                    whole_ns ? (double)times->ns / (double)whole_ns : 0.0);
}

static void put_system(base_bytes* json, const ecs_world* world, uint32_t order,
                       const ecs_system_info* info, const ecs_system_times* times,
                       uint64_t whole_ns, bool may_see) {
    base_json_write(json,
                    "{name=%s order=%u wave=%u is_sync_point=%i is_confined=%i may_cut=%i "
                    "may_share=%i every_ticks=%u quantum=%u",
                    info->name, order, info->wave, info->is_sync_point, info->is_confined,
                    info->may_cut, info->may_share, info->every_ticks, info->quantum);
    put_touched(json, world, info->name);
    put_times(json, times, whole_ns, may_see);
    base_json_write(json, "}");
}

static bool is_in_stage(const ecs_world* world, const char* system) {
    const char* name;
    for (uint32_t stage = 0; ecs_stage_name(world, stage); stage++)
        for (uint32_t i = 0; (name = ecs_stage_system_name(world, stage, i)) != NULL; i++)
            if (strcmp(name, system) == 0) return true;
    return false;
}

static uint64_t sum_times(const ecs_world* world) {
    uint64_t sum = 0;
    ecs_system_times times;
    for (uint32_t stage = 0; ecs_stage_name(world, stage); stage++)
        for (uint32_t i = 0; ecs_inspect_system_times(world, stage, i, &times); i++)
            sum += times.ns;
    return sum;
}

static void run_systems(server_subject* subject, const server_request* request) {
    ecs_world* world = net_match_world(subject->match);
    base_bytes* json = request->answer->json;
    const bool may_see = view_may_see_now(subject, request->right);
    const uint64_t watched_us = server_meter_watch(subject->meter, world, net_loop_now_us());
    const uint64_t whole_ns = sum_times(world);
    base_json_write(json, "{tick='%ju' timed=%i seconds=%f stages=[",
                    view_tick_of(subject, request), watched_us > 0, (double)watched_us * 1e-6);
    for (uint32_t stage = 0; ecs_stage_name(world, stage); stage++) {
        ecs_system_info info;
        ecs_system_times times;
        base_json_write(json, "{name=%s systems=[", ecs_stage_name(world, stage));
        for (uint32_t i = 0; ecs_stage_system_info(world, stage, i, &info) &&
                             ecs_inspect_system_times(world, stage, i, &times);
             i++)
            put_system(json, world, i, &info, &times, whole_ns, may_see);
        base_json_write(json, "]}");
    }
    base_json_write(json, "] handlers=[");
    // Those that only handle events: they have neither order nor time of their own.
    ecs_user user = {0};
    bool is_present;
    while (ecs_inspect_system(world, &user, &is_present)) {
        if (!is_present || is_in_stage(world, user.name)) continue;
        base_json_write(json, "{name=%s", user.name);
        put_touched(json, world, user.name);
        base_json_write(json, "}");
    }
    base_json_write(json, "]}");
}

// ---- options ----

// Texts may be addresses or files; the seed tells what will happen.
static bool is_hidden(const server_request* request, const base_option* option) {
    if (request->right == SERVER_OPERATOR || strcmp(option->name, "game") == 0) return false;
    return option->kind == BASE_OPTION_TEXT || option->kind == BASE_OPTION_LIST ||
           strcmp(option->name, "seed") == 0;
}

static void put_option(const server_request* request, base_bytes* json, const base_options* options,
                       const char* name, const base_option* option, uint32_t source) {
    char value[1024];
    const bool is_hidden_here = is_hidden(request, option);
    base_options_value(options, option, value, sizeof value);
    base_json_write(json, "{name=%s value=%s source=%s help=%s is_hidden=%i}", name,
                    is_hidden_here ? "(hidden)" : value,
                    base_option_source_name((base_option_source)options->sources[source]),
                    option->help, is_hidden_here);
}

// Options with a value, then the keys: "log keep".
static void run_options(server_subject* subject, const server_request* request) {
    base_bytes* json = request->answer->json;
    const base_options* options = subject->options;
    base_json_write(json, "{options=[");
    for (uint32_t i = 0; i < options->count; i++)
        if (options->options[i].kind != BASE_OPTION_KEYS)
            put_option(request, json, options, options->options[i].name, &options->options[i], i);
    uint32_t source = options->count;
    for (uint32_t i = 0; i < options->keys_count; i++) {
        for (uint32_t k = 0; k < options->keys[i].count; k++) {
            char name[64];
            const base_option* key = &options->keys[i].keys[k];
            (void)base_text_format(name, sizeof name, "%s %s", options->keys[i].name, key->name);
            put_option(request, json, options, name, key, source++);
        }
    }
    base_json_write(json, "]}");
}

static const server_verb verbs[] = {
    {"templates", "[after]", "the templates of the game, with defaults", SERVER_READER, false, 0,
     run_templates},
    {"components", "[after]", "the components, their fields and who uses them", SERVER_READER,
     false, 0, run_components},
    {"systems", "", "the systems in their order, with times while asked", SERVER_READER, false, 0,
     run_systems},
    {"options", "", "the options of the program and where each value came from", SERVER_READER,
     false, 0, run_options},
};
const server_verb_set server_schema_verbs = {verbs, BASE_COUNT(verbs)};
