// SPDX-License-Identifier: MIT
/// Every limit of the network layer has a name here.
#pragma once

#include "base/macros.h"

#define NET_PROTOCOL_VERSION 3u
#define NET_TICK_RATE_HZ_MIN 1u
#define NET_TICK_RATE_HZ_MAX 240u
#define NET_TICK_RATE_HZ_DEFAULT 60u
#define NET_CATCH_UP_TICKS_MAX 5u ///< after a stall at most so many ticks are caught up
#define NET_MTU_BYTES 1200u
/// ENet turns a larger unsequenced packet into reliable fragments (1,173 B at mtu 1,200, measured).
#define NET_STATE_BYTES_MAX (NET_MTU_BYTES - 28u)
#define NET_CONTROL_BYTES_MAX 16384u ///< one message on channel 0, either way
#define NET_CLIENTS_MAX 4095u        ///< ENet's peer ids have 12 bits
#define NET_CLIENTS_DEFAULT 64u
#define NET_REPORTS_MAX 16384u         ///< peer reports kept; then the oldest ended ones give way
#define NET_PLAYER_NAME_BYTES_MAX 32u  ///< with the NUL
#define NET_PACKETS_IN_FLIGHT_MAX 256u ///< remembered per client, either way
#define NET_ROW_HISTORY_MAX 64u        ///< changed rows kept per entity; a base reaches so far
#define NET_BASE_AGE_MAX 254u          ///< ticks; older bases are coded as settled
#define NET_INPUT_BYTES_MAX 256u       ///< one packed input message
#define NET_INPUT_REDUNDANCY 8u        ///< last inputs repeated in each packet
#define NET_INPUT_RING 64u             ///< inputs waiting per client on the server
#define NET_INPUT_DEPTH_MAX 12u        ///< deeper rings skip the oldest: bounds the latency
#define NET_EVENTS_RELIABLE_MAX                                                                    \
    256u ///< waiting per client and direction; one more ends the session
#define NET_EVENTS_UNRELIABLE_MAX                                                                  \
    64u ///< per tick, client and direction; further ones are dropped, counted
#define NET_EVENT_PAYLOAD_BYTES_MAX 512u
#define NET_VARSIZE_BYTES_MAX                                                                      \
    12000u ///< one value of any length; clients have the default of a longer one
#define NET_VARSIZE_FLIGHT_BYTES_MAX                                                               \
    32768u                            ///< of such values, sent to a client and not acknowledged
#define NET_VARSIZE_FLIGHT_MAX 64u    ///< their number
#define NET_VARSIZE_WAITING_MAX 1024u ///< values that a client keeps for entities that are to come
#define NET_VARSIZE_WAITING_BYTES_MAX (1u << 20)
#define NET_EVENT_WAIT_TICKS_MAX                                                                   \
    120u ///< a client holds an event for an entity that is not there yet
#define NET_INPUT_REPEAT_MS_MAX                                                                    \
    500u ///< without any input the last one is repeated so long, then it rests
#define NET_REWIND_MS_MAX 500u          ///< lag compensation reaches so far back
#define NET_QUIET_MS_MAX 3000u          ///< a client that heard nothing for so long connects again
#define NET_RESUME_BYTES 16u            ///< the secret that brings a client back into its session
#define NET_SILENCE_MS_MAX 30000u       ///< without an acknowledgement of ours a client is dropped
#define NET_CONNECT_MS_MAX 5000u        ///< a client gives up when nobody answers
#define NET_STOP_MS_MAX 1500u           ///< the same after a signal
#define NET_RATE_BYTES_DEFAULT 256000u  ///< datagrams per client and second, at most
#define NET_RATE_BYTES_LIMIT 100000000u ///< nobody may ask for more
#define NET_SEND_DIVISOR_MAX 4u
#define NET_SETTLE_MS_MAX 10000u ///< after the last tick: for clients to acknowledge everything
#define NET_SETTINGS_MAX 64u
#define NET_MESSAGES_MAX 64u ///< of a module
#define NET_ACTIONS_MAX 64u  ///< of a module
#define NET_WORLD_HASH_EVERY_TICKS 60u
