// SPDX-License-Identifier: MIT
/// Every limit of the network layer has a name here.
#pragma once

#include "base/macros.h"

BASE_C_BEGIN

#define NET_PROTOCOL_VERSION 5u

// Time.
#define NET_TICK_RATE_HZ_MIN 1u
#define NET_TICK_RATE_HZ_MAX 240u
#define NET_TICK_RATE_HZ_DEFAULT 60u
#define NET_CATCH_UP_TICKS_MAX                                                                     \
    5u ///< ticks that a program catches up after a stall; more are given up

// Memory.
/// What a client keeps for its server, in all its worlds; then the session ends (base/quota.h).
#define NET_CLIENT_BYTES_MAX ((size_t)256 << 20)

/// What a module writes into a save of its match (net_game_module.save_state).
#define NET_MODULE_SAVE_BYTES_MAX (16u << 20)

#define NET_SERVICE_US_MAX 4000u ///< wall-clock time of receiving, per service of a transport
#define NET_SERVICE_US_MIN 500u  ///< the same when the next tick is due already

// Packets.
#define NET_MTU_BYTES 1200u
/// One state or input packet. ENet turns a larger one into reliable fragments (from 1,173 bytes on
/// at mtu 1,200, measured).
#define NET_STATE_BYTES_MAX (NET_MTU_BYTES - 28u)
/// Entities that travel together need at most this many bytes of a packet, or are sent in parts:
/// every second packet has this room for them.
#define NET_GROUP_BYTES_MAX 1032u
#define NET_CONTROL_BYTES_MAX 16384u ///< one control message, either way
#define NET_PACKETS_IN_FLIGHT_MAX                                                                  \
    256u ///< packets that a sender remembers, per client and direction
#define NET_RATE_BYTES_DEFAULT 256000u  ///< to one client, bytes a second
#define NET_RATE_BYTES_LIMIT 100000000u ///< the highest rate that can be configured
#define NET_SEND_DIVISOR_MAX 4u

// What a match says to its host, and gets of it.
#define NET_RECORD_BYTES_MAX 4096u ///< of a player between matches
#define NET_RECORD_MS_MAX 2000u    ///< a join waits so long for the host
#define NET_KEPT_S 60u             ///< of match time: a match that continues asks again to keep one
#define NET_EFFECTS_MAX 4096u      ///< records and transfers that a match knows at a time
#define NET_TRANSFER_BYTES_MAX 512u ///< that a game sends along with a player
#define NET_TRANSFER_TO_BYTES 65u   ///< of a game's or match's name, with the NUL
#define NET_RESULT_BYTES_MAX 4096u
#define NET_VALUES_MAX 16u
#define NET_VALUE_KEY_BYTES 33u ///< with the NUL
#define NET_VALUE_BYTES 65u     ///< the same

// Clients and sessions.
#define NET_CLIENTS_MAX 4095u ///< and connections of one transport: ENet's peer ids have 12 bits
#define NET_LANES_MAX 8u      ///< parts of a transport that threads work on at the same time
#define NET_LANE_CLIENTS 500u ///< a program that chooses the lanes itself makes one for so many
#define NET_CLIENTS_DEFAULT 64u
/// Clients that only watch, besides the players; together at most NET_CLIENTS_MAX.
#define NET_SPECTATORS_DEFAULT 8u                ///< of a program, when the game hides nothing
#define NET_SPECTATOR_FIRST UINT32_C(0x80000000) ///< their client numbers; players have lower ones
#define NET_WATCH_MS_MIN 250u                    ///< between two players that one spectator watches
#define NET_REPORTS_MAX 16384u        ///< peer reports; then the oldest closed one is evicted
#define NET_PLAYER_NAME_BYTES_MAX 32u ///< with the NUL
#define NET_SAVE_NAME_BYTES 33u       ///< of the name of saved seconds, with the NUL
#define NET_RESUME_BYTES 16u          ///< of the secret that brings a client back into its session
#define NET_USER_BYTES_MAX 256u       ///< user data of a token
#define NET_TRANSFER_ADDRESS_BYTES 256u ///< of the server where a player goes on, with the NUL
#define NET_TRANSFER_PAGE_BYTES 512u    ///< of its page
/// A client follows so many transfers within NET_TRANSFERS_MS: two matches must not play ping-pong.
#define NET_TRANSFERS_MAX 6u
#define NET_TRANSFERS_MS 60000u
#define NET_ATTEMPT_MS_MAX 15000u ///< all steps of a connection attempt together, up to welcome
#define NET_CONNECT_MS_MAX 5000u  ///< a connection attempt fails after this time without an answer
#define NET_QUIET_MS_MAX 3000u    ///< a client connects again after this time without a datagram
/// Servers that may take over from one, as it tells its clients. A client that knows some asks them
/// after NET_UNEASY_MS without a datagram, every NET_UNEASY_STEP_MS, and listens on.
#define NET_STANDBYS_MAX 4u
#define NET_UNEASY_MS 400u
#define NET_UNEASY_STEP_MS 100u
#define NET_STALE_MS 5000u ///< a client leaves a server out that lost its match
#define NET_STILL_MS 300u  ///< a server whose match stands still says so again
/// So many ticks more than a server that goes on with its match a client may have, and go on, too.
#define NET_REBASE_TICKS_MAX 64u
#define NET_SILENCE_MS_MAX 30000u ///< a session ends after this time without an acknowledgement
#define NET_DEAF_MS_MAX                                                                            \
    10000u ///< a client that is heard for so long and acknowledges nothing is dropped
#define NET_SETTLE_MS_MAX                                                                          \
    10000u                    ///< after the last tick: time for clients to acknowledge everything
#define NET_STOP_MS_MAX 1500u ///< the same after net_server_stop
#define NET_STOP_WHOLE_MS_MAX                                                                      \
    1900u                          ///< from net_server_stop to the end, also when no client answers
#define NET_STOP_AGAIN_MS_MAX 100u ///< from the second call to the end

// Admission. A server counts by player when a token names one, else by IPv4 address or IPv6 /64.
#define NET_ADDRESS_CLIENTS_DEFAULT 8u ///< players of one address, loopback apart
#define NET_SESSIONS_MAX 5u            ///< of one player or address within the window, usually
#define NET_SESSIONS_WINDOW_MS 10000u
#define NET_FLOOD_MS_MAX 10000u ///< a client that sends too much for so long is dropped
#define NET_JOINS_PER_TICK 32u  ///< begun per tick; the others wait
#define NET_JOINS_PER_ADDRESS_PER_TICK 4u
#define NET_LEAVES_PER_TICK 64u
#define NET_WORK_PER_TICK 10000 ///< entities in the first scopes of clients that joined, on average
#define NET_WORK_BURST 20000    ///< the same in one tick, and one scope more
#define NET_WALK_BURST 200000u  ///< entities that reports of leaving clients may walk at once
#define NET_WALK_PER_TICK 4000u ///< the same on average; further reports have no scope
// A member that shows no life gives its place when the server is full and a new client asks.
#define NET_LIFE_FIRST_MS 5000u   ///< it never acknowledged anything
#define NET_LIFE_SILENT_MS 12000u ///< it acknowledged nothing new
#define NET_LIFE_INPUT_MS 30000u  ///< it never sent an input

// Pictures and sounds of a game (net_asset_read).
#define NET_ASSET_NAME_BYTES 64u ///< of a name, with the NUL
#define NET_ASSET_BYTES_MAX ((size_t)16 << 20)
#define NET_IMAGES_MAX 256u               ///< pictures of a game that a program keeps
#define NET_IMAGE_SIDE_MAX 4096u          ///< pixels
#define NET_IMAGE_PIXELS_MAX (4u << 20)   ///< of one picture: 2048 x 2048
#define NET_IMAGES_PIXELS_MAX (16u << 20) ///< of all of them: 64 MiB
#define NET_SOUNDS_MAX 64u                ///< rows of a module's table
#define NET_HEARD_MAX 64u                 ///< sounds of one frame; the rest of a burst is not heard

// Rows.
#define NET_ROW_HISTORY_MAX 64u ///< rows that a client keeps per entity: bases reach back so far
/// A server remembers all changed rows of an entity for so long, in ticks within the limits below,
/// and the newest row for ever. Who acknowledges later than that gets absolute rows.
/// Rows without hidden classes stay longer, NET_ROW_HISTORY_COUNT of an entity: a world that
/// changes seldom has bases for clients whose turn comes seldom.
#define NET_ROW_HISTORY_MS 1000u
#define NET_ROW_HISTORY_TICKS_MIN 32u
#define NET_ROW_HISTORY_TICKS_MAX 64u
#define NET_ROW_HISTORY_COUNT 8u
#define NET_ROW_HISTORY_COUNT_TICKS 65535u ///< so old they may be
#define NET_BASE_AGE_MAX 254u              ///< ticks; an older base is coded as settled
#define NET_WORLD_HASH_EVERY_TICKS 600u

// Variable-size components. A client keeps the default of a value that is too long.
#define NET_VARSIZE_BYTES_MAX 12000u        ///< one value
#define NET_VARSIZE_FLIGHT_BYTES_MAX 32768u ///< sent to a client, not acknowledged
#define NET_VARSIZE_FLIGHT_MAX 64u          ///< values sent to a client, not acknowledged
#define NET_VARSIZE_WAITING_MAX 1024u       ///< values that a client keeps until their entity comes
#define NET_VARSIZE_WAITING_BYTES_MAX (1u << 20)

// Inputs.
#define NET_INPUT_BYTES_MAX 256u     ///< one input, encoded, and its struct
#define NET_INPUT_REDUNDANCY 8u      ///< newest inputs in a packet, at most
#define NET_INPUT_RING 64u           ///< inputs that wait on the server, per client
#define NET_INPUT_DEPTH_MAX 12u      ///< when more wait, old ones are skipped: bounds the latency
#define NET_INPUT_REPEAT_MS_MAX 500u ///< a missing input is replaced by the last one for this time
#define NET_REWIND_MS_MAX 500u       ///< lag compensation reaches back so far

// Events.
#define NET_EVENT_STRUCT_BYTES_MAX 256u   ///< of a message that is not reliable
#define NET_EVENT_PAYLOAD_BYTES_MAX 2560u ///< of a reliable one whose struct is larger, encoded
#define NET_EVENT_PART_BYTES_MAX 512u     ///< of any other; a longer one travels in parts
#define NET_EVENTS_RELIABLE_MAX                                                                    \
    256u ///< waiting per client and direction; one more ends the session
#define NET_EVENTS_UNRELIABLE_MAX 64u ///< per tick, client and direction; more are dropped
#define NET_EVENT_WAIT_TICKS_MAX 120u ///< an event waits so long for its entities

// Of a module.
#define NET_SETTINGS_MAX 64u
#define NET_MESSAGES_MAX 64u
#define NET_ACTIONS_MAX 64u

// Of options of a log, and of a standby.
#define NET_LOG_BUDGET_BYTES_DEFAULT (UINT64_C(2) << 30)
#define NET_LOG_SEGMENT_BYTES_DEFAULT (UINT64_C(256) << 20)
#define NET_LOG_RING_BYTES_DEFAULT (UINT64_C(64) << 20)
#define NET_LOG_RING_SECONDS_MAX 3600u
#define NET_LOG_KEYFRAME_SECONDS_DEFAULT 10u
#define NET_LOG_KEYFRAME_SECONDS_MAX 3600u
#define NET_STANDBY_TAKEOVER_MS_DEFAULT 300u

BASE_C_END
