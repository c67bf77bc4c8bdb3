// SPDX-License-Identifier: MIT
/// The sockets of players in browsers: streams of net/websocket.h. The thread of HTTP hands them
/// over; the loop's thread reads and writes them, its lanes write.
#pragma once

#include "net/websocket.h"

#include "inspect/upgrade.h"

typedef struct server_sockets server_sockets;

/// @return NULL: the system has no descriptor left.
server_sockets* server_sockets_create(void);
/// After the transport, which closed its streams; closes what was not taken yet. NULL does nothing.
void server_sockets_destroy(server_sockets* sockets);
/// What the thread of HTTP gives them to.
const server_upgrade* server_sockets_upgrade(server_sockets* sockets);
/// For net_web_config.
net_web_io server_sockets_io(server_sockets* sockets);
/// Add to the transport what was handed over. Before its service.
void server_sockets_take(server_sockets* sockets, net_transport* web);
