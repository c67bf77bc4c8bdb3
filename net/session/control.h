// SPDX-License-Identifier: MIT
/// Messages of the control channel: built, packed and sent in one call each.
#pragma once

#include "state/varsize.h"
#include "net/schema.h"
#include "net/transport.h"
#include "wire.pb-c.h"

/// A player's name as others see it: whole UTF-8 characters without control characters, cut to
/// NET_PLAYER_NAME_BYTES_MAX - 1 bytes, "player" when nothing is left. `wish` may be any bytes.
void net_control_clean_name(char name[NET_PLAYER_NAME_BYTES_MAX], const char* wish);

/// All of the following return what net_transport send returns; NET_ERR_FULL when the message outgrows
/// NET_CONTROL_BYTES_MAX.
net_result net_control_send_hello(net_transport* transport, net_peer peer, uint64_t schema_hash,
                                  const char* game, const char* name, bool is_bot,
                                  uint32_t rate_bytes_max,
                                  const uint8_t* resume); ///< NET_RESUME_BYTES, or NULL: a newcomer
net_result net_control_send_answer(net_transport* transport, net_peer peer,
                                   const net_schema* schema);
net_result net_control_send_welcome(net_transport* transport, net_peer peer,
                                    const Shoal__Wire__Welcome* welcome);
/// Who came and went, in as many messages as it takes.
net_result net_control_send_roster(net_transport* transport, net_peer peer,
                                   Shoal__Wire__RosterEntry* came, uint32_t came_count,
                                   uint32_t* went, uint32_t went_count);
net_result net_control_send_refused(net_transport* transport, net_peer peer,
                                    Shoal__Wire__RefusedReason reason, const char* text,
                                    const char* game);
net_result net_control_send_question(net_transport* transport, net_peer peer);
/// `*bytes`: of the message.
net_result net_control_send_varsize(net_transport* transport, net_peer peer,
                                    const net_varsize_message* message, size_t* bytes);
#define NET_VARSIZE_LOST_PER_ACK 64u
/// At most NET_VARSIZE_FLIGHT_MAX versions and NET_VARSIZE_LOST_PER_ACK lost ones.
net_result net_control_send_varsize_ack(net_transport* transport, net_peer peer, uint64_t* versions,
                                        uint32_t version_count, const net_varsize_lost* lost,
                                        uint32_t lost_count);
/// A goodbye, to a client (`is_server`) or to a server.
net_result net_control_send_goodbye(net_transport* transport, net_peer peer, bool is_server,
                                    uint64_t tick, uint32_t reason);
