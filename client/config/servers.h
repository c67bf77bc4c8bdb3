// SPDX-License-Identifier: MIT
/// The list of servers: a file with a name and an address a line.
///
///     # those at home
///     Living room     192.168.1.20:7777
///     game.example    game.example:7777
///
/// The last word of a line is the address, all before it the name. What follows # is a comment.
#pragma once

#include "base/macros.h"
#include "base/report.h"

#define CLIENT_SERVERS_MAX 64u
#define CLIENT_SERVERS_BYTES_MAX 65536u  ///< of the file
#define CLIENT_SERVER_NAME_BYTES 48u     ///< with the NUL
#define CLIENT_SERVER_ADDRESS_BYTES 256u ///< with the NUL
#define CLIENT_SERVERS_PATH_BYTES_MAX 1024u

typedef struct client_server {
    char name[CLIENT_SERVER_NAME_BYTES];       ///< only what a person may be shown
    char address[CLIENT_SERVER_ADDRESS_BYTES]; ///< HOST:PORT
} client_server;

typedef struct client_servers {
    client_server entries[CLIENT_SERVERS_MAX];
    uint32_t count;
} client_servers;

/// Is this HOST:PORT? Checks the form only.
bool client_is_address(const char* text);
/// Write the place of a file of the user: $XDG_CONFIG_HOME/shoal/FILE, or ~/.config/shoal/FILE.
/// @return false: neither variable is set, or the path is too long.
BASE_MUST_USE bool client_place(const char* file, char* path, size_t path_bytes);
/// Read a list. `file`: for messages. @return false: a line is not right, or there are too many
/// (reported with its number and what to write); `servers` is undefined then.
BASE_MUST_USE bool client_servers_parse(char* text, const char* file, const base_reporter* reporter,
                                        client_servers* servers);
/// The same from a file. @return false: reported.
BASE_MUST_USE bool client_servers_read(const char* file, const base_reporter* reporter,
                                       client_servers* servers);
