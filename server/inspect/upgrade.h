// SPDX-License-Identifier: MIT
/// A connection of HTTP that becomes one of WebSocket (RFC 6455, 4.2), and who takes it then.
#pragma once

#include "net/token.h"

#define SERVER_UPGRADE_PATH "/play/socket"
#define SERVER_PLAY_PATH "/play"             ///< the page that asks for it
#define SERVER_UPGRADE_FIRST_BYTES_MAX 1024u ///< that may come with the request

/// Takes connections from the thread of HTTP. Constant, and alive as long as the inspector.
typedef struct server_upgrade {
    void* context;
    /// A socket of its own, which the function closes or keeps, and what came after the request.
    void (*take)(void* context, int descriptor, const net_address* from, const uint8_t* first,
                 size_t first_size);
} server_upgrade;

/// What `key` (Sec-WebSocket-Key) is answered with. @return false: it is no such key.
bool server_upgrade_accept(const char* key, char accept[29]);
