// SPDX-License-Identifier: MIT
/// A connection to NATS that comes again until it is closed. The library comes again too, but gives
/// up for good after two refused logins and some errors of a broker: then a new one is made here,
/// on a thread of its own, because that waits.
///
/// Threads: any, but server_connection_look and server_connection_close on the one that polls.
#pragma once

#include "base/macros.h"

#include <nats/nats.h>

typedef struct server_connection server_connection;

/// Begin to connect, with options that name servers and credentials; they are its own from here on.
/// `wake` is called from any thread when something changed.
/// @return NULL when memory ran out or the system gives no thread.
server_connection* server_connection_create(natsOptions* options, bool has_one_server,
                                            void (*wake)(void* context), void* context);
/// A subscription's callbacks may come from now on, or come no more.
void server_connection_enter(server_connection* self);
void server_connection_leave(void* self);
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
