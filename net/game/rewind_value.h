// SPDX-License-Identifier: MIT
/// A component's value between two ticks, as clients show it: rounded as for the wire, then
/// interpolated.
#pragma once

#include "proto/layout.h"

/// One component of a row layout, and how it moves.
typedef struct net_rewind_component {
    const proto_layout* layout;
    uint32_t component; ///< its position in the layout
    float teleport;     ///< a longer step per tick is a jump; 0: it never jumps
} net_rewind_component;

/// Write the value at `fraction` (0..1) of the way between two values of neighbouring ticks. `to`
/// NULL, or a jump between them: `from`. All three have the type's memory form; only the fields of
/// `value` are written.
void net_rewind_value(const net_rewind_component* component, const uint8_t* from, const uint8_t* to,
                      float fraction, uint8_t* value);
