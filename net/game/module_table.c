// SPDX-License-Identifier: MIT
// Checking a module's table once, when it is opened, so that no other code has to: every function
// is present, every name fits into logs and options, every message converts both ways.
//
// Contract versions: a program accepts its own version and any table that is not longer than its
// own. Fields are added only at the end, so a shorter table reads as zero there. The elements of
// the arrays grow in the same way: they are copied one by one, by the size that the module was
// compiled with, into arrays of this program, so that the rest of the program indexes as usual.

#include "game/module_table.h"

#include "base/assert.h"
#include "proto/codec.h"

#include <string.h>

// Version 1 ends with human_input; a shorter table was never valid.
#define TABLE_BYTES_MIN (offsetof(net_game_module, human_input) + sizeof(void*))
_Static_assert(TABLE_BYTES_MIN == 144, "version 1 is frozen");

typedef struct check {
    const char* file;
    const base_reporter* reporter;
    uint32_t faults;
} check;

static void fault(check* check_, const char* what, const char* name) {
    check_->faults++;
    base_report(check_->reporter, check_->file, 0, what, name ? name : "(null)");
}

static bool is_word(const char* text, size_t bytes_max) {
    if (!text) return false;
    size_t length = strnlen(text, bytes_max + 1);
    if (length == 0 || length > bytes_max) return false;
    for (size_t i = 0; i < length; i++) {
        char c = text[i];
        if (!((c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '_')) return false;
    }
    return true;
}

bool net_module_name_is_valid(const char* name) {
    return is_word(name, NET_GAME_NAME_BYTES_MAX - 1);
}

static bool is_name(const char* text) {
    return text && text[0] && strnlen(text, ECS_NAME_BYTES_MAX) < ECS_NAME_BYTES_MAX;
}

static void check_functions(check* check_, const net_game_module* game) {
    if (!game->register_types) fault(check_, "the function %s is missing", "register_types");
    if (!game->register_systems) fault(check_, "the function %s is missing", "register_systems");
    if (!game->start) fault(check_, "the function %s is missing", "start");
    if (!game->player_join) fault(check_, "the function %s is missing", "player_join");
    if (!game->player_leave) fault(check_, "the function %s is missing", "player_leave");
}

static void check_message(check* check_, const net_game_module* game, uint32_t index) {
    const net_message* message = &game->messages[index];
    if (!is_name(message->name)) {
        fault(check_, "a message has no name, or one of more than 127 bytes%s", "");
        return;
    }
    if (!is_name(message->event)) fault(check_, "message %s: no event", message->name);
    if (message->kind > NET_MESSAGE_TO_CLIENTS) fault(check_, "message %s: no kind", message->name);
    if (!message->to_wire || !message->from_wire)
        fault(check_, "message %s: to_wire or from_wire is missing", message->name);
    if (!message->descriptor || message->descriptor->magic != PROTOBUF_C__MESSAGE_DESCRIPTOR_MAGIC)
        fault(check_, "message %s: no protobuf descriptor", message->name);
    else if (!proto_is_flat(message->descriptor))
        fault(check_, "message %s contains itself", message->name);
    for (uint32_t i = 0; i < index; i++) {
        const net_message* other = &game->messages[i];
        if (other->name && strcmp(other->name, message->name) == 0)
            fault(check_, "message %s is listed twice", message->name);
        if (other->event && message->event && strcmp(other->event, message->event) == 0)
            fault(check_, "event %s belongs to two messages", message->event);
    }
}

static void check_messages(check* check_, const net_game_module* game) {
    uint32_t inputs = 0;
    for (uint32_t i = 0; i < game->message_count; i++) {
        check_message(check_, game, i);
        inputs += game->messages[i].kind == NET_MESSAGE_INPUT;
    }
    if (inputs != 1)
        fault(check_, "%s message of kind input, there must be one",
              inputs ? "more than one" : "no");
}

static void check_settings(check* check_, const net_game_module* game) {
    for (uint32_t i = 0; i < game->setting_count; i++) {
        const net_setting* setting = &game->settings[i];
        if (!is_word(setting->key, 31)) {
            fault(check_, "setting %s: a key is [a-z0-9_]{1,31}", setting->key);
            continue;
        }
        // Written so that NaN is refused everywhere. A log cannot carry infinite limits.
        bool is_ordered = setting->min <= setting->value_default &&
                          setting->value_default <= setting->max && setting->min >= -1e300 &&
                          setting->max <= 1e300;
        if (!is_ordered) fault(check_, "setting %s: default out of min..max", setting->key);
        for (uint32_t k = 0; k < i; k++)
            if (game->settings[k].key && strcmp(game->settings[k].key, setting->key) == 0)
                fault(check_, "setting %s is listed twice", setting->key);
    }
}

static void check_actions(check* check_, const net_game_module* game) {
    for (uint32_t i = 0; i < game->action_count; i++)
        if (!is_name(game->actions[i].name)) fault(check_, "an action has no name%s", "");
}

// One array of the table: the module's, and this program's copy.
typedef struct array {
    const char* what;
    const void* from;
    uint32_t count, count_max;
    uint32_t bytes; // of the module's elements
    void* to;
    uint32_t to_bytes;
} array;

// @return false after a fault; nothing is copied then.
static bool copy_array(check* check_, const array* array_) {
    if (array_->count == 0) return true;
    const char* problem = NULL;
    if (!array_->from)
        problem = "missing";
    else if (array_->count > array_->count_max)
        problem = "too long";
    if (problem) {
        check_->faults++;
        base_report(check_->reporter, check_->file, 0, "the %s table is %s", array_->what, problem);
        return false;
    }
    // All elements contain pointers, so a compiler gives no other size.
    if (array_->bytes == 0 || array_->bytes > array_->to_bytes ||
        array_->bytes % _Alignof(void*) != 0) {
        check_->faults++;
        base_report(check_->reporter, check_->file, 0,
                    "an element of its %s table has %u bytes, this program takes %zu to %u",
                    array_->what, array_->bytes, _Alignof(void*), array_->to_bytes);
        return false;
    }
    for (uint32_t i = 0; i < array_->count; i++) {
        memcpy((uint8_t*)array_->to + (size_t)i * array_->to_bytes,
               (const uint8_t*)array_->from + (size_t)i * array_->bytes, array_->bytes);
    }
    return true;
}

static void copy_arrays(check* check_, net_module_table* copy) {
    net_game_module* game = &copy->game;
    const array messages = {
        "message",           game->messages, game->message_count,   NET_MESSAGES_MAX,
        game->message_bytes, copy->messages, sizeof *copy->messages};
    const array settings = {
        "settings",          game->settings, game->setting_count,   NET_SETTINGS_MAX,
        game->setting_bytes, copy->settings, sizeof *copy->settings};
    const array actions = {"action",           game->actions, game->action_count,   NET_ACTIONS_MAX,
                           game->action_bytes, copy->actions, sizeof *copy->actions};
    bool has_messages = copy_array(check_, &messages);
    bool has_settings = copy_array(check_, &settings);
    bool has_actions = copy_array(check_, &actions);
    game->messages = copy->messages;
    game->settings = copy->settings;
    game->actions = copy->actions;
    game->message_bytes = sizeof *copy->messages;
    game->setting_bytes = sizeof *copy->settings;
    game->action_bytes = sizeof *copy->actions;
    if (has_messages) check_messages(check_, game);
    if (has_settings) check_settings(check_, game);
    if (has_actions) check_actions(check_, game);
}

// The rules grow at their end like the table. All names may be NULL.
static void copy_interest(check* check_, net_module_table* copy) {
    const net_interest_rules* rules = copy->game.interest;
    if (!rules) return;
    const size_t bytes_min = offsetof(net_interest_rules, classes) + sizeof(void*);
    if (rules->size_bytes < bytes_min || rules->size_bytes > sizeof *rules) {
        check_->faults++;
        base_report(check_->reporter, check_->file, 0,
                    "its interest rules have %u bytes, this program takes %zu to %zu",
                    rules->size_bytes, bytes_min, sizeof *rules);
        copy->game.interest = NULL;
        return;
    }
    memcpy(&copy->interest, rules, rules->size_bytes);
    copy->game.interest = &copy->interest;
}

net_result net_module_table_check(const net_game_module* table, const char* file,
                                  const base_reporter* reporter, net_module_table* copy) {
    BASE_ASSERT(copy);
    if (!table) {
        base_report(reporter, file, 0, "the module gives no table");
        return NET_ERR_MODULE;
    }
    if (table->contract_version != NET_GAME_CONTRACT_VERSION) {
        base_report(reporter, file, 0, "made for module contract %u, this program has %u",
                    table->contract_version, NET_GAME_CONTRACT_VERSION);
        return NET_ERR_MODULE;
    }
    // A shorter table has no core version. For a longer one the core version is compared first,
    // because rebuilding the module helps then.
    bool has_core = table->size_bytes >= TABLE_BYTES_MIN;
    if (has_core && table->core_version != ECS_CORE_VERSION) {
        base_report(reporter, file, 0,
                    "built against core %u, this program has core %u: rebuild the module",
                    table->core_version, ECS_CORE_VERSION);
        return NET_ERR_MODULE;
    }
    if (!has_core || table->size_bytes > sizeof(net_game_module)) {
        base_report(reporter, file, 0, "its table has %u bytes, this program takes %zu to %zu",
                    table->size_bytes, TABLE_BYTES_MIN, sizeof(net_game_module));
        return NET_ERR_MODULE;
    }
    memset(copy, 0, sizeof *copy);
    net_game_module* game = &copy->game;
    memcpy(game, table, table->size_bytes);
    check check_ = {file, reporter, 0};
    if (!net_module_name_is_valid(game->name))
        fault(&check_, "the name %s is not [a-z0-9_]{1,32}", game->name);
    if (!game->title) fault(&check_, "the title is %s", "missing");
    if (!(game->view_width > 0.0f && game->view_width < 1e9f && game->view_height > 0.0f &&
          game->view_height < 1e9f))
        fault(&check_, "the view is %s", "empty");
    check_functions(&check_, game);
    copy_arrays(&check_, copy);
    copy_interest(&check_, copy);
    return check_.faults ? NET_ERR_MODULE : NET_OK;
}
