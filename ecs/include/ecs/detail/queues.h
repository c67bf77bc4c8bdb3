// SPDX-License-Identifier: MIT
/// Detail: the part of a recorder (the queues of commands and events) that the inline functions of
/// command.h and event.h see. This is no interface, as fast.h.
///
/// Why it is in a public header: recording a command without values is one compare and three
/// stores, and a call would double its time. Only what is common is inline: a command that is like
/// the one before but for its target, and an event whose payload is one or two words. The rest, and
/// every refusal, is behind a call.
#pragma once

#include "ecs/component.h"

#include <string.h>

BASE_C_BEGIN

typedef enum ecs_command_op {
    ECS_COMMAND_CREATE,
    ECS_COMMAND_DESTROY,
    ECS_COMMAND_RECREATE,
    ECS_COMMAND_SET,
    ECS_COMMAND_ADD, ///< a sparse component; without values: its template's default
    ECS_COMMAND_REMOVE,
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

/// In front of each payload in the queue of events.
typedef struct ecs_event_head {
    ecs_entity target;
    unsigned type : 15;
    unsigned size : 16;      ///< of the payload
    unsigned unresolved : 1; ///< target or payload names a placeholder
} ecs_event_head;
BASE_STATIC_ASSERT(sizeof(ecs_event_head) == 8, "payloads keep the alignment of the heads");

/// Where the next event goes.
typedef struct ecs_event_view {
    uint8_t* queue; ///< heads and payloads
    size_t tail;
    size_t capacity;
    uint32_t count;   ///< of events that wait
    uint32_t maximum; ///< of them
    /// By type: the head of an event whose payload is 4 or 8 bytes without handles; else zero.
    const ecs_event_head* heads;
} ecs_event_view;

/// What commands in a row have in common; never 0. `kind`: their template; the component of an add
/// or remove.
static inline uint32_t ecs_command_key(ecs_command_op op, uint16_t kind, uint32_t init_count) {
    return (uint32_t)kind << 16 | init_count << 3 | ((uint32_t)op + 1);
}

/// Copy a plain value that the caller has just put together, word by word: a load of 8 bytes that
/// spans two young stores of 4 would wait until both have left for the cache.
static inline __attribute__((always_inline)) void
ecs_detail_copy_value(uint8_t* target, const void* value, uint32_t size) {
    const uint8_t* source = (const uint8_t*)value;
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

/// One more command like the last one. @return false when it is not like it.
static inline bool ecs_detail_command_join(ecs_command_view* view, ecs_command_op op,
                                           ecs_entity target, uint16_t kind, const ecs_init* inits,
                                           uint32_t init_count) {
    const uint32_t count = view->count;
    if (view->key != ecs_command_key(op, kind, init_count) || count >= view->room) return false;
    if (init_count > 0) {
        uint8_t* row = view->row;
        for (uint32_t i = 0; i < init_count; i++) {
            const ecs_value_slot* slot = &view->slots[i];
            if (inits[i].component != slot->component) return false;
            ecs_detail_copy_value(row + slot->offset, inits[i].value, slot->size);
        }
        view->row = row + view->stride;
    }
    view->targets[count] = target;
    view->count = count + 1;
    return true;
}

BASE_C_END
