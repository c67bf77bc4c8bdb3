// SPDX-License-Identifier: MIT
/// What a client feeds to its presenter (net/client.h), which is a part: a table of functions with
/// which a presenter begins.
#pragma once

#include "mirror/mirror.h"
#include "session/event_queue.h"
#include "state/varsize.h"

#include "net/client.h"
#include "net/game.h"

typedef struct net_presenter_face {
    /// Take rate and settings from the mirror, after welcome. It is borrowed. Not called again when
    /// a session is resumed. @return the sink for net_mirror_config: it gets rows and ends of
    /// incarnations as they are decoded, stale ones too.
    net_mirror_sink (*begin)(net_presenter* presenter, net_match* mirror);
    /// Note a packet that was applied, after its rows and before its events. `left_out`: ticks
    /// before it that had no packet.
    void (*packet)(net_presenter* presenter, uint64_t now_us, ecs_tick tick, uint32_t left_out,
                   uint32_t input_used, uint32_t input_repeats, bool has_player_row);
    /// Add a game event (reliable ones once and in order). The presenter delivers it in the view
    /// world when event->tick is shown and its target exists.
    void (*event)(net_presenter* presenter, const net_event* event);
    /// Add a variable-size value that the mirror accepted: it is shown when its entity is.
    void (*varsize)(net_presenter* presenter, const net_varsize_message* message);
    /// Get a value that had no room while it waited to be shown; each once. The client requests it
    /// again.
    bool (*next_evicted)(net_presenter* presenter, net_varsize_lost* lost);
    /// Set the own entity.
    void (*player)(net_presenter* presenter, ecs_entity player);
    /// Predict an input, packed as it will be sent.
    void (*input)(net_presenter* presenter, uint64_t now_us, uint32_t number, const void* payload,
                  size_t size);
    /// Set the client's block for human_input; world and context to those of the predicted world,
    /// when there is one.
    void (*look)(net_presenter* presenter, net_player_context* player);
    /// @return the shown moment in ticks * 256, for InputPacket.view; 0 before the first frame.
    uint64_t (*shown)(const net_presenter* presenter);
} net_presenter_face;

static inline const net_presenter_face* net_presenter_face_of(const net_presenter* presenter) {
    return *(const net_presenter_face* const*)(const void*)presenter;
}
