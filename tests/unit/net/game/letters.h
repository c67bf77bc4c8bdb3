// SPDX-License-Identifier: MIT
/// The test game with letters: long texts that players send, and that the server copies to all. A
/// text begins with its number; each player's numbers follow one another. A copy begins with the
/// player's number before that.
#pragma once

#include "test.h"

#include "swarm.h"

#include "net/game.h"
#include "net/match.h"

#include "base/hash.h"

#include "swarm.pb-c.h"

enum { LETTERS_MAX = 2039, LETTERS_PLAYERS = 64 };

/// As long as an event may be. A longer text than fits lies in a buffer of the sender.
typedef struct letter {
    uint32_t client; ///< of a copy
    uint32_t length;
    char text[LETTERS_MAX + 1];
} letter;
_Static_assert(sizeof(letter) == ECS_EVENT_BYTES_MAX, "the longest");

/// What a mirror got so far: by player the number of the newest copy, and faults in their order.
typedef struct letters_heard {
    const ecs_world* world;
    uint32_t newest[LETTERS_PLAYERS], count, faults;
} letters_heard;
static letters_heard letters_of_world[16];

static inline letters_heard* letters_find(const ecs_world* world) {
    for (uint32_t i = 0; i < BASE_COUNT(letters_of_world); i++) {
        letters_heard* at = &letters_of_world[i];
        if (!at->world) at->world = world;
        if (at->world == world) return at;
    }
    fail_msg("too many worlds");
    return NULL;
}

/// The rest of a text says whether it is whole.
static inline letter letter_make(uint32_t client, uint32_t number, uint32_t length) {
    letter made = {.client = client, .length = length};
    snprintf(made.text, sizeof made.text, "%08u", number);
    for (uint32_t i = 8; i < length && i < LETTERS_MAX; i++)
        made.text[i] = (char)('a' + (number + i) % 26);
    return made;
}

static inline uint32_t letter_number(const letter* read) {
    const uint32_t number = (uint32_t)atoi(read->text);
    const letter whole = letter_make(read->client, number, read->length);
    return memcmp(whole.text, read->text, sizeof whole.text) == 0 ? number : 0;
}

static inline void letter_to_wire(const void* payload, ProtobufCMessage* message) {
    static _Thread_local char longest[4096];
    const letter* from = payload;
    Swarm__Line* to = (Swarm__Line*)message;
    snprintf(longest, sizeof longest, "%04u%s", from->client, from->text);
    for (size_t i = strlen(longest); i < from->length + 4; i++)
        longest[i] = 'z';
    longest[from->length + 4] = '\0';
    to->text = longest;
}

static inline bool letter_from_wire(const ProtobufCMessage* message, void* payload) {
    const Swarm__Line* from = (const Swarm__Line*)message;
    letter* to = payload;
    const size_t size = strlen(from->text);
    if (size < 4) return false;
    to->length = (uint32_t)size - 4;
    char client[5] = {0};
    memcpy(client, from->text, 4);
    to->client = (uint32_t)atoi(client);
    memcpy(to->text, from->text + 4, to->length < LETTERS_MAX ? to->length : LETTERS_MAX);
    return true;
}

static inline ecs_result letters_types(ecs_world* world, const base_reporter* reporter) {
    static const ecs_field FIELDS[] = {
        {"client", offsetof(letter, client), ECS_FIELD_U32, 1, {0, 0, 0}},
        {"length", offsetof(letter, length), ECS_FIELD_U32, 1, {0, 0, 0}},
        {"text", offsetof(letter, text), ECS_FIELD_U8, LETTERS_MAX + 1, {0, 0, 0}},
    };
    const ecs_event_desc sent = {"letter", sizeof(letter), FIELDS, 3, false};
    const ecs_event_desc copied = {"copied", sizeof(letter), FIELDS, 3, true};
    ecs_result result = swarm_module_get()->register_types(world, reporter);
    if (result == ECS_OK) result = ecs_event_register(world, &sent, &(ecs_event_type){0});
    return result == ECS_OK ? ecs_event_register(world, &copied, &(ecs_event_type){0}) : result;
}

// On the server: the state changes by each byte, and all get a copy.
static inline void letters_copy(const ecs_stage* stage, const ecs_event* event,
                                const ecs_rows* rows) {
    const letter* sent = event->payload;
    for (uint32_t i = 0; i < rows->count; i++) {
        uint32_t *newest = rows->columns[0], *sum = rows->columns[1];
        const uint32_t* client = rows->columns[2];
        assert_int_equal(letter_number(sent), newest[i] + 1);
        newest[i]++;
        sum[i] = sum[i] * 31 + (uint32_t)base_hash64(sent->text, sizeof sent->text, 1);
        const letter copy = letter_make(client[i], newest[i], sent->length);
        (void)ecs_event_broadcast(stage->world, ecs_event_find(stage->world, "copied"), &copy);
    }
}

static inline void letters_hear(const ecs_stage* stage, const ecs_event* event,
                                const ecs_rows* rows) {
    const letter* copy = event->payload;
    letters_heard* heard = letters_find(stage->world);
    const uint32_t number = letter_number(copy);
    uint32_t* newest = &heard->newest[copy->client % LETTERS_PLAYERS];
    if (number == 0 || (*newest > 0 && number != *newest + 1)) heard->faults++;
    *newest = number;
    heard->count++;
}

static inline ecs_result letters_systems(ecs_world* world, void** context,
                                         const base_reporter* reporter) {
    static const char *const SERVER[] = {"server"}, *const CLIENT[] = {"gameClient"};
    static const char *const LETTER[] = {"letter"}, *const COPIED[] = {"copied"};
    static const ecs_term TERMS[] = {{"shouts", "u32", ECS_WRITE},
                                     {"steered", "u32", ECS_WRITE},
                                     {"player_id", "u32", ECS_READ}};
    ecs_result result = swarm_module_get()->register_systems(world, context, reporter);
    const ecs_system_desc copy = {.name = "letters_copy",
                                  .terms = TERMS,
                                  .term_count = 3,
                                  .events = LETTER,
                                  .event_count = 1,
                                  .on_event = letters_copy,
                                  .tags = SERVER,
                                  .tag_count = 1};
    const ecs_system_desc hear = {.name = "letters_hear",
                                  .events = COPIED,
                                  .event_count = 1,
                                  .on_event = letters_hear,
                                  .tags = CLIENT,
                                  .tag_count = 1};
    if (result == ECS_OK) result = ecs_system_register(world, &copy);
    return result == ECS_OK ? ecs_system_register(world, &hear) : result;
}

/// Numbers of its two messages.
static inline uint32_t letters_sent(void) {
    return swarm_module_get()->message_count + 1;
}

static inline const net_game_module* letters_module_get(void) {
    static net_message messages[16];
    static net_game_module module;
    module = *swarm_module_get();
    memcpy(messages, module.messages, module.message_count * sizeof *messages);
    const net_message letter_of = {.name = "Letter",
                                   .descriptor = &swarm__line__descriptor,
                                   .event = "letter",
                                   .kind = NET_MESSAGE_TO_SERVER,
                                   .is_reliable = true,
                                   .to_wire = letter_to_wire,
                                   .from_wire = letter_from_wire};
    messages[module.message_count] = messages[module.message_count + 1] = letter_of;
    messages[module.message_count + 1].name = "Copied";
    messages[module.message_count + 1].event = "copied";
    messages[module.message_count + 1].kind = NET_MESSAGE_TO_CLIENTS;
    module.messages = messages;
    module.message_count += 2;
    module.register_types = letters_types;
    module.register_systems = letters_systems;
    return &module;
}
