// SPDX-License-Identifier: MIT
// A module's table, looked at once when it is opened, so that nobody has to look again: every function is
// there, every name is one that logs and options can carry, every message converts both ways.
//
// Contract versions: a program accepts its own version and any table that is not longer than the one it
// knows. Fields are only added at the end, so a shorter table of a later minor state reads as zero there.

#include "module_table.h"

#include "net/limits.h"
#include "proto/codec.h"

#include <string.h>

// Version 1 ends with human_input; a shorter table was never valid.
#define TABLE_BYTES_MIN (offsetof(net_game_module, human_input) + sizeof(void*))

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
        fault(check_, "a message has no name, or one of more than 63 bytes%s", "");
        return;
    }
    if (!is_name(message->event)) fault(check_, "message %s: no event", message->name);
    if (message->kind > NET_MESSAGE_TO_CLIENTS) fault(check_, "message %s: no kind", message->name);
    if (!message->to_wire || !message->from_wire) {
        fault(check_, "message %s: to_wire or from_wire is missing", message->name);
    }
    if (!message->descriptor ||
        message->descriptor->magic != PROTOBUF_C__MESSAGE_DESCRIPTOR_MAGIC) {
        fault(check_, "message %s: no protobuf descriptor", message->name);
    } else if (!proto_is_flat(message->descriptor)) {
        fault(check_, "message %s contains itself", message->name);
    }
    for (uint32_t i = 0; i < index; i++) {
        const net_message* other = &game->messages[i];
        if (other->name && strcmp(other->name, message->name) == 0) {
            fault(check_, "message %s is listed twice", message->name);
        }
        if (other->event && message->event && strcmp(other->event, message->event) == 0) {
            fault(check_, "event %s belongs to two messages", message->event);
        }
    }
}

static void check_messages(check* check_, const net_game_module* game) {
    if (game->message_count > NET_MESSAGES_MAX || (game->message_count && !game->messages)) {
        fault(check_, "the message table is %s", game->messages ? "too long" : "missing");
        return;
    }
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
    if (game->setting_count > NET_SETTINGS_MAX || (game->setting_count && !game->settings)) {
        fault(check_, "the settings table is %s", game->settings ? "too long" : "missing");
        return;
    }
    for (uint32_t i = 0; i < game->setting_count; i++) {
        const net_setting* setting = &game->settings[i];
        if (!is_word(setting->key, 31)) {
            fault(check_, "setting %s: a key is [a-z0-9_]{1,31}", setting->key);
            continue;
        }
        // Written so that NaN anywhere is refused; infinite ends are not numbers that a log can carry.
        bool is_ordered = setting->min <= setting->value_default &&
                          setting->value_default <= setting->max && setting->min >= -1e300 &&
                          setting->max <= 1e300;
        if (!is_ordered) fault(check_, "setting %s: default out of min..max", setting->key);
        for (uint32_t k = 0; k < i; k++) {
            if (game->settings[k].key && strcmp(game->settings[k].key, setting->key) == 0) {
                fault(check_, "setting %s is listed twice", setting->key);
            }
        }
    }
    if (game->action_count && !game->actions) fault(check_, "the action table is %s", "missing");
    for (uint32_t i = 0; game->actions && i < game->action_count; i++) {
        if (!is_name(game->actions[i].name)) fault(check_, "an action has no name%s", "");
    }
}

net_result net_module_table_check(const net_game_module* table, const char* file,
                                  const base_reporter* reporter, net_game_module* copy) {
    if (!table) {
        base_report(reporter, file, 0, "the module gives no table");
        return NET_ERR_MODULE;
    }
    if (table->contract_version != NET_GAME_CONTRACT_VERSION) {
        base_report(reporter, file, 0, "made for module contract %u, this program has %u",
                    table->contract_version, NET_GAME_CONTRACT_VERSION);
        return NET_ERR_MODULE;
    }
    if (table->size_bytes < TABLE_BYTES_MIN || table->size_bytes > sizeof(net_game_module)) {
        base_report(reporter, file, 0, "its table has %u bytes, this program takes %zu to %zu",
                    table->size_bytes, TABLE_BYTES_MIN, sizeof(net_game_module));
        return NET_ERR_MODULE;
    }
    memset(copy, 0, sizeof *copy);
    memcpy(copy, table, table->size_bytes);
    check check_ = {file, reporter, 0};
    if (!net_module_name_is_valid(copy->name)) {
        fault(&check_, "the name %s is not [a-z0-9_]{1,32}", copy->name);
    }
    if (!copy->title) fault(&check_, "the title is %s", "missing");
    if (!(copy->view_width > 0.0f && copy->view_width < 1e9f && copy->view_height > 0.0f &&
          copy->view_height < 1e9f)) {
        fault(&check_, "the view is %s", "empty");
    }
    check_functions(&check_, copy);
    check_messages(&check_, copy);
    check_settings(&check_, copy);
    return check_.faults ? NET_ERR_MODULE : NET_OK;
}
