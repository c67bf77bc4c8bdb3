// SPDX-License-Identifier: MIT
/// Game events of a tick on their way to clients.
#pragma once

#include "server/session.h"

/// Keep an event of the world for all clients that see its target, when the module exports its
/// type. On the caller's thread, after the step. Counts an event that does not fit.
void net_server_add_event(net_server* server, const ecs_event* event);
/// In the net half, before the replicator publishes: note which clients see the targets that this
/// tick destroyed. They still get the events about them.
void net_server_mark_seen(net_server* server);
/// In the net half, after the replicator published: queue the events that session `place` of the
/// hand-over may see. A full queue of reliable events marks the session as failed: none may be lost
/// silently.
void net_server_queue_events(net_server* server, uint32_t place);
