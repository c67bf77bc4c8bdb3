// SPDX-License-Identifier: MIT
/// The life of a client's session: its phase, the control channel, silence, resumption, the end.
#pragma once

#include "net/client.h"
#include "net/trace.h"
#include "wire.pb-c.h"

#define NET_CLIENT_RETRY_MS                                                                        \
    500u ///< between two attempts to resume, when the first is refused at once

/// Change the phase. Asserts that the phases have this arrow. `reason`: static text, for the trace.
void net_client_set_phase(net_client* client, net_client_phase phase, const char* reason);
/// End at once. The server gets a disconnect, if it still listens, so that it does not wait for a
/// timeout.
void net_client_finish(net_client* client, net_client_end end);
/// A goodbye was sent or came: service the connection until it ends or for CLOSE_MS_MAX, then
/// finish.
void net_client_begin_closing(net_client* client, net_client_end end);
/// The connection is lost, the session is not: connect again. The client must have a secret.
void net_client_begin_resuming(net_client* client);
/// Once per service: resume after a silence, retry, give up.
void net_client_check_connection(net_client* client);
/// End at once because of what the server does, and report why. `why` completes a sentence.
void net_client_give_up(net_client* client, const char* why);
/// What came needs more than this client can have, or the world refused it. `result`: of the part
/// that failed. As net_client_give_up.
void net_client_overrun(net_client* client, net_result result);
/// Count a message that breaks the protocol. After too many of them
/// (client_faults.h) the service that runs, or the next one, ends the session.
void net_client_malformed(net_client* client);
/// Seconds since the newest datagram.
double net_client_quiet_s(const net_client* client);

/// Send a control message and trace it. @return what net_transport send returns.
net_result net_client_send_control(net_client* client, const Shoal__Wire__ClientControl* control);
/// Trace a packet; `name` is static text.
void net_client_trace_packet(const net_client* client, net_trace_kind kind, const char* name,
                             uint32_t number, size_t bytes);
/// Compare the whole world with the hash of a goodbye, and tell the operator what differs.
/// @return the reason with which the connection is closed: NET_END_GOODBYE, or NET_END_DIFFERS with
///         the place (WIRE.md, "Goodbye").
uint32_t net_client_compare(net_client* client, uint64_t hash);
