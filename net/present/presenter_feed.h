// SPDX-License-Identifier: MIT
/// What the client tells its viewer. A viewer that is NULL is never called.
#pragma once

#include "state/varsize.h"
#include "mirror/mirror.h"
#include "net/presenter.h"
#include "session/event_outbox.h"

/// Welcome came and the mirror was started (net_match_mirror_start): take rate and settings from it. It is
/// borrowed. Not called again when a session is resumed.
void net_viewer_begin(net_viewer* viewer, net_match* mirror);
/// For net_mirror_config: rows and ends of lives as they are decoded, stale ones too.
net_mirror_sink net_viewer_sink(net_viewer* viewer);
/// A packet was applied. After its rows and before its events. `left_out`: ticks before it that had no packet.
void net_viewer_packet(net_viewer* viewer, uint64_t now_us, ecs_tick tick, uint32_t left_out,
                       uint32_t input_used, uint32_t input_repeats, bool has_player_row);
/// A game event was taken in (reliable ones once and in order). The viewer delivers it in the view world
/// when event->tick is shown and its target is there.
void net_viewer_event(net_viewer* viewer, const net_outbox_entry* event);
/// A large value came that the mirror took: it is shown when its entity is.
void net_viewer_large(net_viewer* viewer, const net_large_message* message);
/// What had no room while it waited to be shown, to be told as lost; each once.
bool net_viewer_next_evicted(net_viewer* viewer, net_large_lost* lost);
void net_viewer_player(net_viewer* viewer, ecs_entity player);
/// An input was made, packed as it will be sent.
void net_viewer_input(net_viewer* viewer, uint64_t now_us, uint32_t number, const void* payload,
                      size_t size);
/// Let a human's input be made on the predicted world, when there is one: sets world and context.
void net_viewer_look(net_viewer* viewer, net_game_view* view);
/// The shown moment in ticks * 256, for InputPacket.view; 0 before the first frame.
uint64_t net_viewer_shown(const net_viewer* viewer);
