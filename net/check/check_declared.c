// SPDX-License-Identifier: MIT
// What the declarations of server and client contradict.
//
// A component that a client's system reads and that is not replicated has the template's default on
// a client. That is right for constants and for what clients compute themselves. It is a mistake
// when a system of the server writes it and none of the client does.
#include "check/check_internal.h"

#include "ecs/inspect.h"

#include <string.h>

static bool is_present_in(net_match* match, const char* system) {
    ecs_user user = {0};
    bool is_present = false;
    while (match && ecs_inspect_system(net_match_world(match), &user, &is_present))
        if (is_present && strcmp(user.name, system) == 0) return true;
    return false;
}

// No program runs other stages than these.
static void check_stages(net_checker* self, net_match* match) {
    const ecs_world* world = match ? net_match_world(match) : NULL;
    const char* stage = NULL;
    for (uint32_t i = 0; world && (stage = ecs_stage_name(world, i)); i++) {
        const char* system = ecs_stage_system_name(world, i, 0);
        const bool is_drawn = match == self->view && strcmp(stage, "render") == 0;
        if (!system || is_drawn || strcmp(stage, "act") == 0) continue;
        net_check_report(self, "stage", stage,
                         "system %s never runs: no program runs the stage %s here (stages are act, "
                         "and render where there are pictures)",
                         system, stage);
    }
}

void net_check_systems(net_checker* self) {
    ecs_user user = {0};
    bool is_present;
    while (ecs_inspect_system(net_match_world(self->server), &user, &is_present)) {
        if (is_present || is_present_in(self->view, user.name) ||
            is_present_in(self->predict, user.name))
            continue;
        net_check_report(self, "tags", user.name,
                         "system %s never runs: no world has all of its tags (server; gameClient, "
                         "with pictures render too; predict, if the module predicts)",
                         user.name);
    }
    check_stages(self, self->server);
    check_stages(self, self->view);
    check_stages(self, self->predict);
}

static bool has_handler(net_match* match, const char* event) {
    if (!match) return false;
    ecs_world* world = net_match_world(match);
    const ecs_event_type type = ecs_event_find(world, event);
    ecs_user user = {0};
    return type != ECS_EVENT_NONE && ecs_inspect_handler(world, type, &user);
}

void net_check_handlers(net_checker* self) {
    for (uint32_t i = 0; i < self->game->message_count; i++) {
        const net_message* message = &self->game->messages[i];
        const char* event = message->event;
        if (message->kind == NET_MESSAGE_TO_CLIENTS) {
            if (!has_handler(self->view, event) && !has_handler(self->predict, event))
                net_check_report(self, "handler", event,
                                 "message %s: no system of a client handles its event %s",
                                 message->name, event);
            continue;
        }
        if (!has_handler(self->server, event))
            net_check_report(
                self, "handler", event,
                "message %s: no system of the server handles its event %s: what clients "
                "send has no effect",
                message->name, event);
        if (message->kind == NET_MESSAGE_INPUT && self->predict &&
            !has_handler(self->predict, event))
            net_check_report(
                self, "handler of predict", event,
                "prediction: no system with the tag predict handles the input event %s", event);
    }
}

static const ecs_template_component* find_component(const ecs_template* source,
                                                    ecs_component_id component) {
    for (uint32_t i = 0; i < source->component_count; i++)
        if (source->components[i].component == component) return &source->components[i];
    return NULL;
}

static bool is_written_by(const ecs_world* world, ecs_component_id component, const char* system) {
    ecs_user user = {0};
    while (ecs_inspect_user(world, component, ECS_USE_WRITE, &user))
        if (strcmp(user.name, system) == 0) return true;
    return false;
}

static void check_input_of(net_checker* self, const char* system, ecs_component_id component) {
    ecs_world* world = net_match_world(self->server);
    if (!is_written_by(world, component, system)) return;
    for (uint32_t id = 1; id <= ecs_template_count(world); id++) {
        const ecs_template* source = ecs_template_get(world, (ecs_template_id)id);
        const ecs_template_component* found = find_component(source, component);
        if (!found || !ecs_inspect_matches(world, system, source->id)) continue;
        if (found->flags & (ECS_COMPONENT_TRACKED | ECS_COMPONENT_REPLICATED)) continue;
        const char* name = ecs_component_get(world, component)->name;
        net_check_report(
            self, "input", name,
            "component %s of template %s: system %s writes inputs into it, but it is "
            "not tracked, so a log cannot tell where a re-run differs: add _track:b=yes",
            name, source->name, system);
    }
}

void net_check_inputs(net_checker* self) {
    ecs_world* world = net_match_world(self->server);
    for (uint32_t i = 0; i < self->game->message_count; i++) {
        if (self->game->messages[i].kind != NET_MESSAGE_INPUT) continue;
        const ecs_event_type type = ecs_event_find(world, self->game->messages[i].event);
        ecs_user handler = {0};
        while (type != ECS_EVENT_NONE && ecs_inspect_handler(world, type, &handler))
            for (uint32_t id = 1; id <= ecs_component_count(world); id++)
                check_input_of(self, handler.name, (ecs_component_id)id);
    }
}

// A template that both systems match, whose component stays on the server; NULL: none.
static const ecs_template* find_unsent(const net_checker* self, ecs_component_id component,
                                       const ecs_world* client, const char* reader,
                                       const char* writer) {
    ecs_world* world = net_match_world(self->server);
    for (uint32_t id = 1; id <= ecs_template_count(world); id++) {
        const ecs_template* source = ecs_template_get(world, (ecs_template_id)id);
        const ecs_template_component* found = find_component(source, component);
        if (!found || !source->is_replicated || (found->flags & ECS_COMPONENT_REPLICATED)) continue;
        if (ecs_inspect_matches(client, reader, source->id) &&
            ecs_inspect_matches(world, writer, source->id))
            return source;
    }
    return NULL;
}

static void check_reads_of(net_checker* self, const ecs_world* client, ecs_component_id component) {
    ecs_world* world = net_match_world(self->server);
    const char* name = ecs_component_get(world, component)->name;
    ecs_user reader = {0}, own = {0};
    if (ecs_inspect_user(client, component, ECS_USE_WRITE, &own)) return;
    while (ecs_inspect_user(client, component, ECS_USE_READ, &reader)) {
        ecs_user writer = {0};
        while (ecs_inspect_user(world, component, ECS_USE_WRITE, &writer)) {
            const ecs_template* source =
                find_unsent(self, component, client, reader.name, writer.name);
            if (!source) continue;
            net_check_report(
                self, "reads", name,
                "component %s of template %s: system %s of the client reads it, system "
                "%s of the server writes it, and it is not replicated: clients see the "
                "template's value; add _replicate:b=yes",
                name, source->name, reader.name, writer.name);
        }
    }
}

void net_check_reads(net_checker* self) {
    ecs_world* world = net_match_world(self->server);
    ecs_world* view = net_match_world(self->view);
    ecs_world* predict = self->predict ? net_match_world(self->predict) : NULL;
    for (uint32_t id = 1; id <= ecs_component_count(world); id++) {
        const ecs_component_id component = (ecs_component_id)id;
        const char* name = ecs_component_get(world, component)->name;
        // Worlds of one module number their components alike, unless it registers by role.
        if (ecs_component_find(view, name) == component) check_reads_of(self, view, component);
        if (predict && ecs_component_find(predict, name) == component)
            check_reads_of(self, predict, component);
    }
}
