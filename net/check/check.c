// SPDX-License-Identifier: MIT
// The two entries: the worlds of a client beside the server's.
#include "check/check.h"

#include "game/match.h"
#include "game/module.h"
#include "ecs/inspect.h"

#include "base/assert.h"

#include <math.h>
#include <string.h>
#include <strings.h>

// What the declarations of server and client contradict.
//
// A component that a client's system reads and that is not replicated has the template's default on
// a client. That is right for constants and for what clients compute themselves. It is a mistake
// when a system of the server writes it and none of the client does.

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
                         "and render where there are pictures: ES_TAG(render))",
                         system, stage);
    }
}

static void check_systems(net_checker* self) {
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

// ES_OPTIONAL, ES_DEFAULT and ES_REQUIRE_NOT: a name that is wrong is no fault of the build.
static void check_optional(net_checker* self, net_match* match) {
    const ecs_world* world = match ? net_match_world(match) : NULL;
    ecs_user user = {0};
    const char* component = NULL;
    bool is_excluded;
    while (world && ecs_inspect_optional(world, &user, &component, &is_excluded)) {
        char hint[BASE_HINT_BYTES];
        base_nearest nearest = base_nearest_begin(component);
        for (uint32_t id = 1; id <= ecs_component_count(world); id++)
            base_nearest_offer(&nearest, ecs_component_get(world, (ecs_component_id)id)->name);
        net_check_report(self, "optional", component,
                         "system %s %s component %s, which no template has: correct the name, or "
                         "add it to a template%s",
                         user.name, is_excluded ? "excludes" : "asks for an optional", component,
                         base_nearest_hint(&nearest, hint));
    }
}

static bool has_handler(net_match* match, const char* event) {
    if (!match) return false;
    ecs_world* world = net_match_world(match);
    const ecs_event_type type = ecs_event_find(world, event);
    ecs_user user = {0};
    return type != ECS_EVENT_NONE && ecs_inspect_handler(world, type, &user);
}

// An event that no system handles and no message carries.
static void check_events(net_checker* self) {
    const ecs_world* world = net_match_world(self->server);
    for (uint32_t type = 1; type <= ecs_event_count(world); type++) {
        const char* event = ecs_event_get(world, (ecs_event_type)type)->name;
        bool is_carried = has_handler(self->server, event) || has_handler(self->view, event) ||
                          has_handler(self->predict, event);
        for (uint32_t i = 0; i < self->game->message_count && !is_carried; i++)
            is_carried = strcmp(self->game->messages[i].event, event) == 0;
        if (!is_carried)
            net_check_report(self, "event", event,
                             "event %s: no system handles it and no message carries it: to send "
                             "it has no effect; add a handler with ES_ON_EVENT(%s), or ES_MESSAGE",
                             event, event);
    }
}

static void check_handlers(net_checker* self) {
    check_events(self);
    for (uint32_t i = 0; i < self->game->message_count; i++) {
        const net_message* message = &self->game->messages[i];
        const char* event = message->event;
        if (message->kind == NET_MESSAGE_TO_CLIENTS) {
            if (!has_handler(self->view, event) && !has_handler(self->predict, event))
                net_check_report(self, "handler", event,
                                 "message %s: no system of a client handles its event %s%s",
                                 message->name, event,
                                 has_handler(self->server, event)
                                     ? ", which is exported: the server handles it, so leave out "
                                       "exported"
                                     : "");
            continue;
        }
        if (!has_handler(self->server, event))
            net_check_report(
                self, "handler", event,
                "message %s: no system of the server handles its event %s: what clients "
                "send has no effect%s",
                message->name, event,
                has_handler(self->view, event) && message->kind != NET_MESSAGE_INPUT
                    ? "; clients handle it, so make it exported"
                    : "");
        if (message->kind == NET_MESSAGE_INPUT && self->predict &&
            !has_handler(self->predict, event))
            net_check_report(
                self, "handler of predict", event,
                "prediction: no system with the tag predict handles the input event %s", event);
    }
}

// Keys of actions, as names between commas. Capitals are the same key.

static bool has_key(const char* keys, const char* key, size_t size) {
    for (size_t length; keys && *keys; keys += length + (keys[length] == ',')) {
        length = strcspn(keys, ",");
        if (size > 0 && length == size && strncasecmp(key, keys, size) == 0) return true;
    }
    return false;
}

static const char* names_of(const net_action* action, bool is_pad) {
    return is_pad ? action->pads : action->keys;
}

// What SDL, which a server lacks, calls keys and inputs of game controllers, one name after the
// other (test_controls.c compares).
static const char key_names[] =
    "Enter\0Esc\0Comma\0Bar\0Return\0Escape\0Backspace\0Tab\0Space\0CapsLock\0PrintScreen\0"
    "ScrollLock\0Pause\0Insert\0Home\0PageUp\0Delete\0End\0PageDown\0Right\0Left\0Down\0"
    "Up\0Numlock\0Application\0Power\0Execute\0Help\0Menu\0Select\0Stop\0Again\0Undo\0Cut\0"
    "Copy\0Paste\0Find\0Mute\0VolumeUp\0VolumeDown\0AltErase\0SysReq\0Cancel\0Clear\0"
    "Prior\0Separator\0Out\0Oper\0Clear / Again\0CrSel\0ExSel\0ThousandsSeparator\0"
    "DecimalSeparator\0CurrencyUnit\0CurrencySubUnit\0Left Ctrl\0Left Shift\0Left Alt\0"
    "Left GUI\0Right Ctrl\0Right Shift\0Right Alt\0Right GUI\0ModeSwitch\0AudioNext\0"
    "AudioPrev\0AudioStop\0AudioPlay\0AudioMute\0MediaSelect\0WWW\0Mail\0Calculator\0"
    "Computer\0AC Search\0AC Home\0AC Back\0AC Forward\0AC Stop\0AC Refresh\0AC Bookmarks\0"
    "BrightnessDown\0BrightnessUp\0DisplaySwitch\0KBDIllumToggle\0KBDIllumDown\0"
    "KBDIllumUp\0Eject\0Sleep\0App1\0App2\0AudioRewind\0AudioFastForward\0SoftLeft\0"
    "SoftRight\0Call\0EndCall\0";
static const char pad_names[] =
    "A\0B\0X\0Y\0Back\0Guide\0Start\0LeftStick\0RightStick\0LeftShoulder\0RightShoulder\0"
    "DPUp\0DPDown\0DPLeft\0DPRight\0Misc1\0Paddle1\0Paddle2\0Paddle3\0Paddle4\0Touchpad\0"
    "LeftTrigger\0RightTrigger\0LeftX-\0LeftX+\0LeftY-\0LeftY+\0RightX-\0RightX+\0RightY-\0"
    "RightY+\0";

// A character, a key of the number block, F1 and so on.
static bool is_of_many(const char* name) {
    static const char pad[] = "Keypad ";
    const size_t bytes = (uint8_t)name[0] < 0x80 ? 1 : (uint8_t)name[0] < 0xe0 ? 2 : 3;
    return strlen(name) <= bytes || strncasecmp(name, pad, sizeof pad - 1) == 0 ||
           ((name[0] | 32) == 'f' && name[1 + strspn(name + 1, "0123456789")] == '\0');
}

// Is it one of these names? Else they are offered as the nearest.
static bool is_among(const char* names, const char* name, base_nearest* nearest) {
    for (; *names; names += strlen(names) + 1) {
        if (strcasecmp(names, name) == 0) return true;
        base_nearest_offer(nearest, names);
    }
    return false;
}

bool net_check_is_input(bool is_pad, const char* name, base_nearest* nearest) {
    *nearest = base_nearest_begin(name);
    return is_pad ? is_among(pad_names, name, nearest)
                  : is_of_many(name) || is_among(key_names, name, nearest);
}

static void check_names_of(net_checker* self, uint32_t action, bool is_pad) {
    const net_action* actions = self->game->actions;
    const char* what = is_pad ? "input of a game controller" : "key";
    const char* at = names_of(&actions[action], is_pad);
    for (size_t size; at && *at; at += size + (at[size] == ',')) {
        char name[ECS_NAME_BYTES_MAX], hint[BASE_HINT_BYTES];
        base_nearest nearest;
        size = strcspn(at, ",");
        (void)base_text_format(name, sizeof name, "%.*s", (int)size, at);
        if (size > 0 && !net_check_is_input(is_pad, name, &nearest))
            net_check_report(self, "key name", name,
                             "action %s: '%s' names no %s: correct the name%s",
                             actions[action].name, name, what, base_nearest_hint(&nearest, hint));
        for (uint32_t k = 0; k < action; k++)
            if (has_key(names_of(&actions[k], is_pad), at, size))
                net_check_report(self, "key", actions[action].name,
                                 "actions %s and %s have the same %s %.*s: one press does "
                                 "both; give one of them another %s",
                                 actions[k].name, actions[action].name, what, (int)size, at, what);
    }
}

bool net_check_is_written_by(const ecs_world* world, ecs_component_id component,
                             const char* system) {
    ecs_user user = {0};
    while (ecs_inspect_user(world, component, ECS_USE_WRITE, &user))
        if (strcmp(user.name, system) == 0) return true;
    return false;
}

static void check_input_of(net_checker* self, const char* system, ecs_component_id component) {
    ecs_world* world = net_match_world(self->server);
    if (!net_check_is_written_by(world, component, system)) return;
    for (uint32_t id = 1; id <= ecs_template_count(world); id++) {
        const ecs_template* source = ecs_template_get(world, (ecs_template_id)id);
        const ecs_template_component* found = ecs_template_find_component(source, component);
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

static void check_inputs(net_checker* self) {
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
        const ecs_template_component* found = ecs_template_find_component(source, component);
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
                "template's value; add _replicate:b=yes, or, if %s is for the server alone, "
                "ES_TAG(server)",
                name, source->name, reader.name, writer.name, reader.name);
        }
    }
}

static void check_reads(net_checker* self) {
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

void net_check_fault(void* checker, const char* file, uint32_t line, const char* message) {
    net_checker* self = checker;
    char place[256];
    if (file && strcmp(file, self->config->log_file) != 0) {
        (void)base_text_format(place, sizeof place, "%s:%u", file, line);
        if (!net_check_is_first(self, "script", line > 0 ? place : message)) return;
        self->result.faults++;
    }
    base_report(self->config->reporter, file, line, "%s", message);
}

// Message fields that do not come back from the wire.
//
// A struct goes through to_wire, packing, unpacking and from_wire. Then each field gets some values
// in turn, while the others stay. A field that never changes on the other side is lost. from_wire
// may clamp or refuse: one value that comes through is enough.

typedef struct payload {
    _Alignas(16) uint8_t bytes[ECS_EVENT_BYTES_MAX];
} payload;

static const double values[] = {1, 2, 7, 100, -1, 0.25, 0.5, 3000, -50, 0};

static void put_element(const ecs_field* field, uint32_t element, double value, payload* target) {
    uint8_t* at = target->bytes + field->offset + element * ecs_field_kind_bytes(field->kind);
    ecs_number number = {.kind = ECS_FIELD_F64, .real = value};
    const ecs_entity entity = ecs_entity_make((uint32_t)fabs(value) + 1, 1);
    if (field->kind == ECS_FIELD_ENTITY)
        number = (ecs_number){.kind = ECS_FIELD_ENTITY, .natural = entity};
    (void)ecs_number_put(field->kind, at, &number);
}

static bool go_round(const net_checker* self, uint32_t message, const payload* from, payload* to) {
    uint8_t packed[NET_EVENT_PAYLOAD_BYTES_MAX];
    size_t size;
    return net_match_pack(self->server, message, from->bytes, packed, sizeof packed, &size) ==
               NET_OK &&
           net_match_unpack(self->server, message, packed, size, to->bytes);
}

static bool is_same(const ecs_field* field, uint32_t element, const payload* a, const payload* b) {
    const uint32_t bytes = ecs_field_kind_bytes(field->kind);
    const size_t at = field->offset + (size_t)element * bytes;
    return memcmp(a->bytes + at, b->bytes + at, bytes) == 0;
}

// The first field that is another one now; NULL: none is.
static const ecs_field* find_changed(const ecs_event_desc* event, const payload* a,
                                     const payload* b) {
    for (uint32_t i = 0; i < event->field_count; i++)
        for (uint32_t k = 0; k < event->fields[i].count; k++)
            if (!is_same(&event->fields[i], k, a, b)) return &event->fields[i];
    return NULL;
}

static void check_field(net_checker* self, uint32_t message, const ecs_event_desc* event,
                        const ecs_field* field, uint32_t element, const payload* base) {
    payload arrived;
    const ecs_field* other = NULL;
    uint32_t accepted = 0;
    if (!go_round(self, message, base, &arrived)) return;
    for (uint32_t i = 0; i < BASE_COUNT(values); i++) {
        payload sent = *base, got;
        put_element(field, element, values[i], &sent);
        if (memcmp(&sent, base, sizeof sent) == 0 || !go_round(self, message, &sent, &got))
            continue;
        accepted++;
        if (!is_same(field, element, &arrived, &got)) return;
        if (!other) other = find_changed(event, &arrived, &got);
    }
    if (accepted == 0) return;
    const net_message* known = &self->game->messages[message - 1];
    char name[2 * ECS_NAME_BYTES_MAX];
    (void)base_text_format(name, sizeof name, "%s.%s", known->name, field->name);
    net_check_report(self, "message", name,
                     "message %s: field %s of %s does not come back from the wire%s%s: see its "
                     "to_wire and from_wire",
                     known->name, field->name, event->name, other ? ", it changes " : "",
                     other ? other->name : "");
}

// A struct that from_wire takes: zeros, or one value in all fields. @return false: none was found.
static bool find_base(const net_checker* self, uint32_t message, const ecs_event_desc* event,
                      payload* base) {
    payload got;
    memset(base, 0, sizeof *base);
    if (go_round(self, message, base, &got)) return true;
    for (uint32_t v = 0; v < BASE_COUNT(values); v++) {
        memset(base, 0, sizeof *base);
        for (uint32_t i = 0; i < event->field_count; i++)
            for (uint32_t k = 0; k < event->fields[i].count; k++)
                put_element(&event->fields[i], k, values[v], base);
        if (go_round(self, message, base, &got)) return true;
    }
    return false;
}

// A text ends at its first zero, so that a change after it is rightly lost.
static bool has_text(const ProtobufCMessageDescriptor* descriptor) {
    for (unsigned i = 0; i < descriptor->n_fields; i++)
        if (descriptor->fields[i].type == PROTOBUF_C_TYPE_STRING) return true;
    return false;
}

static void check_messages(net_checker* self) {
    ecs_world* world = net_match_world(self->server);
    for (uint32_t i = 0; i < self->game->message_count; i++) {
        if (self->game->messages[i].descriptor->n_fields == 0) continue; // says that it happened
        const ecs_event_type type = ecs_event_find(world, self->game->messages[i].event);
        const ecs_event_desc* event = ecs_event_get(world, type);
        payload base;
        if (!event || !find_base(self, i + 1, event, &base)) continue;
        for (uint32_t k = 0; k < event->field_count; k++) {
            const ecs_field* field = &event->fields[k];
            check_field(self, i + 1, event, field, 0, &base);
            const bool is_text =
                field->kind == ECS_FIELD_U8 && has_text(self->game->messages[i].descriptor);
            if (field->count > 1 && !is_text)
                check_field(self, i + 1, event, field, field->count - 1, &base);
        }
    }
}

static void report_promise(void* context, const char* file, uint32_t line, const char* message) {
    (void)file, (void)line;
    if (base_report_kind(message) > 0) return; // a note is no warning
    net_check_report(context, "promise", message, "%s", message);
}

// What `shoal-server check` refuses before it plays: here the match runs all the same.
static void check_library(net_checker* self) {
    const net_module* module = self->config->module;
    const size_t stem = strlen(module->templates_file) - strlen(".blk");
    char file[1024];
    if (!module->library ||
        !base_text_format(file, sizeof file, "%.*s.so", (int)stem, module->templates_file))
        return;
    base_bytes code;
    base_bytes_init(&code, self->allocator);
    const base_reporter reporter = {report_promise, self};
    if (net_file_read(file, NET_MODULE_FILE_BYTES_MAX, NULL, &code) == NET_OK)
        (void)!net_module_check_bytes(code.data, code.size, file, &reporter);
    base_bytes_deinit(&code);
}

static void report_asset(void* context, const char* file, uint32_t line, const char* message) {
    (void)line;
    net_check_report(context, "asset", file, "%s: %s", file, message);
}

static void check_sound(net_checker* self, const char* name) {
    base_bytes bytes;
    base_bytes_init(&bytes, self->allocator);
    const base_reporter reporter = {report_asset, self};
    if (net_asset_read(self->config->module->asset_folder, name, &reporter, &bytes) == NET_OK &&
        !net_asset_is_sound(bytes.data, bytes.size))
        net_check_report(self, "asset", name,
                         "the sound %s is neither WAVE nor Ogg: save it again as one of these",
                         name);
    base_bytes_deinit(&bytes);
}

// A server without these files is right: only a player's window reads them.
static void check_sounds(net_checker* self) {
    for (uint32_t i = 0; i < self->game->sound_count; i++)
        check_sound(self, self->game->sounds[i].file);
    if (self->game->music) check_sound(self, self->game->music);
}

static net_result make_world(net_checker* self, net_role role, net_match** match) {
    net_match_config config = net_match_config_default(self->config->module);
    config.allocator = self->config->allocator;
    config.role = role;
    config.has_render = role == NET_ROLE_MIRROR;
    config.workers = NULL;
    config.line = net_check_line;
    config.line_context = self;
    // Clients get the settings from the server.
    for (uint32_t i = 0; role == NET_ROLE_SERVER && i < self->config->setting_count; i++) {
        const net_result result =
            net_match_setting_apply(&config, self->config->settings[i], self->config->reporter);
        if (result != NET_OK) return result;
    }
    return net_match_create(&config, self->config->reporter, match);
}

static net_result open_checker(net_checker* self, const net_check_config* config,
                               net_match* server) {
    BASE_ASSERT(config && config->module && config->bots <= NET_CHECK_BOTS_MAX);
    *self = (net_checker){.config = config,
                          .allocator = config->allocator,
                          .game = config->module->game,
                          .server = server};
    net_result result = NET_OK;
    if (!server) result = make_world(self, NET_ROLE_SERVER, &self->server);
    if (result == NET_OK) result = make_world(self, NET_ROLE_MIRROR, &self->view);
    if (result == NET_OK && self->game->predict)
        result = make_world(self, NET_ROLE_PREDICT, &self->predict);
    return result;
}

static void check_all_declared(net_checker* self) {
    self->result.templates = ecs_template_count(net_match_world(self->server));
    self->result.components = ecs_component_count(net_match_world(self->server));
    check_library(self);
    check_systems(self);
    check_optional(self, self->server);
    check_optional(self, self->view);
    check_optional(self, self->predict);
    check_handlers(self);
    for (uint32_t i = 0; i < self->game->action_count; i++) {
        check_names_of(self, i, false);
        check_names_of(self, i, true);
    }
    check_inputs(self);
    check_reads(self);
    check_messages(self);
}

static void close_checker(net_checker* self) {
    net_match_destroy(self->predict);
    net_match_destroy(self->view);
}

net_result net_check_declared(const net_check_config* config, net_match* match,
                              net_check_result* result) {
    BASE_ASSERT(match && result);
    net_checker self;
    net_result code = open_checker(&self, config, match);
    if (code == NET_OK) check_all_declared(&self);
    close_checker(&self);
    *result = self.result;
    return code;
}

net_result net_check_play(const net_check_config* config, net_check_result* result) {
    BASE_ASSERT(config->log_file && result);
    net_checker self;
    net_result code = open_checker(&self, config, NULL);
    if (code == NET_OK) check_all_declared(&self);
    if (code == NET_OK) check_sounds(&self);
    if (config->module->needed[0])
        base_report(config->reporter, config->file, 0,
                    "note: uses %s of the system: its bytes are part of the content hash",
                    config->module->needed);
    if (code == NET_OK) code = net_check_match(&self);
    close_checker(&self);
    net_match_destroy(self.server);
    *result = self.result;
    return code;
}
