// SPDX-License-Identifier: MIT
/// What the client feeds to its presenter. A client without a presenter calls none of this.
#pragma once

#include "mirror/mirror.h"
#include "present/predict.h"
#include "present/scene.h"
#include "session/event_queue.h"
#include "state/varsize.h"

#include "net/game.h"
#include "net/client.h"

/// Take rate and settings from the mirror, after welcome. It is borrowed. Not called again when a
/// session is resumed.
void net_presenter_begin(net_presenter* presenter, net_match* mirror);
/// @return The sink for net_mirror_config: it gets rows and ends of incarnations as they are
///         decoded, stale ones too.
net_mirror_sink net_presenter_sink(net_presenter* presenter);
/// Note a packet that was applied, after its rows and before its events. `left_out`: ticks before
/// it that had no packet.
void net_presenter_packet(net_presenter* presenter, uint64_t now_us, ecs_tick tick,
                          uint32_t left_out, uint32_t input_used, uint32_t input_repeats,
                          bool has_player_row);
/// Add a game event (reliable ones once and in order). The presenter delivers it in the view world
/// when event->tick is shown and its target exists.
void net_presenter_event(net_presenter* presenter, const net_event_outbox_entry* event);
/// Add a variable-size value that the mirror accepted: it is shown when its entity is.
void net_presenter_varsize(net_presenter* presenter, const net_varsize_message* message);
/// Get a value that had no room while it waited to be shown; each once. The client requests it
/// again.
bool net_presenter_next_evicted(net_presenter* presenter, net_varsize_lost* lost);
/// Set the own entity.
void net_presenter_player(net_presenter* presenter, ecs_entity player);
/// Predict an input, packed as it will be sent.
void net_presenter_input(net_presenter* presenter, uint64_t now_us, uint32_t number,
                         const void* payload, size_t size);
/// Set world and context for human_input to the predicted world, when there is one.
void net_presenter_look(net_presenter* presenter, net_player_context* player);
/// @return What it shows, for a viewer that has no client: it is fed and moved by that alone, after
/// net_match_mirror_start. Borrowed.
net_scene* net_presenter_scene(net_presenter* presenter);
/// @return The prediction; NULL: the module predicts nothing. Borrowed.
net_predict* net_presenter_predict(net_presenter* presenter);
/// @return The shown moment in ticks * 256, for InputPacket.view; 0 before the first frame.
uint64_t net_presenter_shown(const net_presenter* presenter);
