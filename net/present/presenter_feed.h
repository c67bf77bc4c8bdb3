// SPDX-License-Identifier: MIT
/// What the client tells its presenter. A presenter that is NULL is never called.
#pragma once

#include "state/varsize.h"
#include "mirror/mirror.h"
#include "net/game.h"
#include "net/presenter.h"
#include "session/event_outbox.h"

/// Welcome came and the mirror was started (net_match_mirror_start): take rate and settings from it. It is
/// borrowed. Not called again when a session is resumed.
void net_presenter_begin(net_presenter* presenter, net_match* mirror);
/// For net_mirror_config: rows and ends of lives as they are decoded, stale ones too.
net_mirror_sink net_presenter_sink(net_presenter* presenter);
/// A packet was applied. After its rows and before its events. `left_out`: ticks before it that had no packet.
void net_presenter_packet(net_presenter* presenter, uint64_t now_us, ecs_tick tick,
                          uint32_t left_out, uint32_t input_used, uint32_t input_repeats,
                          bool has_player_row);
/// A game event was taken in (reliable ones once and in order). The presenter delivers it in the view world
/// when event->tick is shown and its target is there.
void net_presenter_event(net_presenter* presenter, const net_event_outbox_entry* event);
/// A large value came that the mirror took: it is shown when its entity is.
void net_presenter_varsize(net_presenter* presenter, const net_varsize_message* message);
/// What had no room while it waited to be shown, to be told as lost; each once.
bool net_presenter_next_evicted(net_presenter* presenter, net_varsize_lost* lost);
void net_presenter_player(net_presenter* presenter, ecs_entity player);
/// An input was made, packed as it will be sent.
void net_presenter_input(net_presenter* presenter, uint64_t now_us, uint32_t number,
                         const void* payload, size_t size);
/// Let a human's input be made on the predicted world, when there is one: sets world and context.
void net_presenter_look(net_presenter* presenter, net_player_context* view);
/// The shown moment in ticks * 256, for InputPacket.view; 0 before the first frame.
uint64_t net_presenter_shown(const net_presenter* presenter);
