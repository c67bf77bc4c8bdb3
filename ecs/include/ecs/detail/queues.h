// SPDX-License-Identifier: MIT
/// Detail: the part of a recorder (the queues of commands and events) that the inline functions of
/// command.h and event.h see. This is no interface, as fast.h.
///
/// Why it is in a public header: recording a command without values is one compare and three
/// stores, and a call would double its time. Only what is common is inline: a command that is like
/// the one before but for its target, and an event of the type of the one before whose payload is
/// one to four words. The rest, and every refusal, is behind a call.
#pragma once

#include "base/assert.h"
#include "ecs/component.h"

#include <string.h>

BASE_C_BEGIN

typedef enum ecs_command_op {
    ECS_COMMAND_CREATE,
    ECS_COMMAND_DESTROY,
    ECS_COMMAND_RECREATE,
    ECS_COMMAND_SET,
} ecs_command_op;

/// Where a value lies in a row of values.
typedef struct ecs_value_slot {
    uint32_t offset;
    uint32_t size;
    ecs_component_id component;
    bool has_handles; ///< of a plain type with fields of handles
} ecs_value_slot;

/// Where the next command goes if it is like the last one.
typedef struct ecs_command_view {
    ecs_entity* targets;    ///< by command: its target, or the placeholder of a creation
    uint32_t count;         ///< of commands
    uint32_t room;          ///< number of commands that may be reached without any other check
    uint32_t key;           ///< what the last commands have in common; 0: none may join them
    uint32_t created_count; ///< placeholders handed out
    uint32_t stride;        ///< bytes of a row of values
    uint8_t* row;           ///< where the values of the next command go
    const ecs_value_slot* slots;
} ecs_command_view;

/// Where the next event goes if it is of the type of the last one.
typedef struct ecs_event_view {
    uint8_t* next;   ///< its payload; its target is the word before
    uint8_t* end;    ///< `next` of the first that something may be in the way of
    uint32_t stride; ///< from one event to the next
    uint32_t key;    ///< ecs_event_key of the run of events that is open; 0: none may join it
} ecs_event_view;

/// What events in a row have in common; never 0. Only runs of 4 to 16 bytes in whole words, without
/// handles, are open to more.
static inline uint32_t ecs_event_key(uint16_t type, uint32_t size) {
    return (uint32_t)type << 16 | size;
}

/// What commands in a row have in common; never 0.
static inline uint32_t ecs_command_key(ecs_command_op op, ecs_template_id template_id,
                                       uint32_t init_count) {
    return (uint32_t)template_id << 16 | init_count << 3 | ((uint32_t)op + 1);
}

/// Copy a plain value that the caller has just put together, word by word: a load of 8 bytes that
/// spans two young stores of 4 would wait until both have left for the cache. A value smaller than
/// its component is a mistake (asserted where the compiler knows the value's object).
static inline __attribute__((always_inline)) void
ecs_detail_copy_value(uint8_t* target, const void* value, uint32_t size) {
    const uint8_t* source = (const uint8_t*)value;
    BASE_ASSERT(size <= __builtin_object_size(value, 0));
    if (size == 12) {
        memcpy(target, source, 4);
        memcpy(target + 4, source + 4, 4);
        memcpy(target + 8, source + 8, 4);
    } else if (size == 8) {
        memcpy(target, source, 4);
        memcpy(target + 4, source + 4, 4);
    } else if (size == 4) {
        memcpy(target, source, 4);
    } else {
        memcpy(target, source, size);
    }
}

/// The value of slot `i`, if `init` is of its component.
static inline __attribute__((always_inline)) bool
ecs_detail_command_value(const ecs_command_view* view, const ecs_init* init, uint32_t i) {
    const ecs_value_slot* slot = &view->slots[i];
    if (init->component != slot->component) return false;
    ecs_detail_copy_value(view->row + slot->offset, init->value, slot->size);
    return true;
}
/// Add a command of the same form as the last one. @return false: it has another form.
static inline __attribute__((always_inline)) bool
ecs_detail_command_join(ecs_command_view* view, ecs_command_op op, ecs_entity target,
                        ecs_template_id template_id, const ecs_init* inits, uint32_t init_count) {
    const uint32_t count = view->count;
    if (view->key != ecs_command_key(op, template_id, init_count) || count >= view->room)
        return false;
    for (uint32_t i = 0; i < init_count; i++)
        if (!ecs_detail_command_value(view, &inits[i], i)) return false;
    if (init_count > 0) view->row += view->stride;
    view->targets[count] = target;
    view->count = count + 1;
    return true;
}

/// One or two values of whole words, of which the compiler knows the size (ecs_words).
typedef struct ecs_command_words {
    ecs_component_id component[2];
    uint32_t count[2]; ///< words of each; 0: there is none
    uint32_t word[2][ECS_SLOT_WORDS_MAX];
} ecs_command_words;

/// Is value `i` the one that slot holds?
static inline __attribute__((always_inline)) bool
ecs_detail_command_fits(const ecs_value_slot* slot, const ecs_command_words* values, uint32_t i) {
    return slot->component == values->component[i] && slot->size == 4 * values->count[i];
}
/// ecs_detail_command_join with values that lie in registers: neither they nor the caller's inits
/// are written to memory and read again (a third less time).
static inline __attribute__((always_inline)) bool
ecs_detail_command_join_words(ecs_command_view* view, ecs_command_op op, ecs_entity target,
                              ecs_template_id template_id, const ecs_command_words* values) {
    const uint32_t count = view->count, init_count = values->count[1] > 0 ? 2 : 1;
    if (view->key != ecs_command_key(op, template_id, init_count) || count >= view->room)
        return false;
    const ecs_value_slot* slots = view->slots;
    if (!ecs_detail_command_fits(&slots[0], values, 0)) return false;
    if (init_count > 1 && !ecs_detail_command_fits(&slots[1], values, 1)) return false;
    uint8_t *row = view->row, *first = row + slots[0].offset;
    uint8_t* second = init_count > 1 ? row + slots[1].offset : NULL;
    view->row = row + view->stride;
    view->count = count + 1;
    view->targets[count] = target;
    ecs_words_store(first, values->word[0], values->count[0]);
    if (init_count > 1) ecs_words_store(second, values->word[1], values->count[1]);
    return true;
}

/// One more event of the type of the last one, with this many words. @return false when it is not,
/// or something is in the way.
static inline __attribute__((always_inline)) bool
ecs_detail_event_join(ecs_event_view* view, ecs_entity target, uint16_t type, const uint32_t* word,
                      uint32_t count) {
    uint8_t* place = view->next;
    if (__builtin_expect(view->key != ecs_event_key(type, 4 * count) || place >= view->end ||
                             ecs_entity_generation(target) == 0,
                         0))
        return false;
    memcpy(place - sizeof target, &target, sizeof target);
    ecs_words_store(place, word, count);
    view->next = place + view->stride;
    return true;
}

BASE_C_END
