// SPDX-License-Identifier: MIT
/// Variable-size values of a session (VARSIZE.md), in the order in which they come.
#pragma once

#include "games.h"

#include "wire.pb-c.h"

enum { VALUES_MAX = 1024 }; // that wait

/// A value whose entity is not yet as it needs it.
typedef struct waiting_value {
    uint32_t entity, component;
    uint64_t since;
    size_t size;
    uint8_t* bytes;
} waiting_value;

typedef struct cf_values {
    waiting_value waiting[VALUES_MAX]; ///< in order
    uint32_t waiting_count, applied;
    uint64_t version; ///< newest that arrived
} cf_values;

/// @return NULL: acknowledge it; else the fault, in words.
const char* values_take(cf_values* values, const cf_schema* schema, cf_mirror* mirror,
                        const Shoal__Wire__VarsizeValue* message);
/// After each body.
void values_release(cf_values* values, cf_mirror* mirror);
/// Forget all.
void values_end(cf_values* values);
