// SPDX-License-Identifier: MIT
/// A connection to NATS that comes again until it is closed. The library comes again too, but gives
/// up for good after two refused logins and some errors of a broker: then a new one is made here,
/// on a thread of its own, because that waits.
///
/// Threads: any, but server_connection_look and server_connection_close on the one that polls.
#pragma once

#include "nats_url.h"

#include <nats/nats.h>

typedef struct server_connection server_connection;

/// Begin to connect. A broker that takes nothing for `write_ms` is away; 0: it is waited for.
/// `wake` is called from any thread when something changed.
/// @return NULL: nats_GetLastError has the reason, or else memory or threads ran out.
server_connection* server_connection_create(const server_nats_address* address, int64_t write_ms,
                                            void (*wake)(void* context), void* context);
/// Subscribe on the caller's connection; `group` NULL: every subscriber gets each message. The
/// callback may come until the connection is closed.
natsStatus server_connection_subscribe(server_connection* self, natsConnection* connection,
                                       const char* subject, const char* group,
                                       natsMsgHandler callback, void* context,
                                       natsSubscription** made);
bool server_connection_is_up(server_connection* self);
/// What the connection is now. `made`: the caller's from now on, in the place of the one before,
/// whose subscriptions are gone with it; NULL: still that one. `count`: connected so often.
/// `reason`: why it is not, in the words of the library; empty: not known.
/// @return is it connected?
bool server_connection_look(server_connection* self, natsConnection** made, uint64_t* count,
                            char* reason, size_t reason_bytes);
/// Once the caller has closed its connection and subscriptions. NULL does nothing.
/// @return false: threads of the library did not end in time and may call the caller's callbacks.
bool server_connection_close(server_connection* self);
