// SPDX-License-Identifier: MIT
/// Results of the network layer: 0 is success, failures are negative.
#pragma once

#include "base/macros.h"

BASE_C_BEGIN

#define NET_RESULT_LIST(X)                                                                         \
    X(NET_OK, 0, "success")                                                                        \
    X(NET_ERR_MEMORY, -1, "out of memory")                                                         \
    X(NET_ERR_FULL, -2, "a named limit is reached; try later or raise it")                         \
    X(NET_ERR_MALFORMED, -3, "bytes that break the protocol: drop them, count them")               \
    X(NET_ERR_STALE, -4, "older than what is known already: drop, do not acknowledge")             \
    X(NET_ERR_SCHEMA, -5, "templates, components or messages differ: use the same game files")     \
    X(NET_ERR_ADDRESS, -6, "the address cannot be resolved: write HOST:PORT or [IPv6]:PORT")       \
    X(NET_ERR_BIND, -7, "the address cannot be bound: choose another port")                        \
    X(NET_ERR_REFUSED, -8, "a public address needs keys: give them, or allow the built-in key")    \
    X(NET_ERR_CLOSED, -9, "the connection is closed")                                              \
    X(NET_ERR_MODULE, -10, "the game module cannot be used: the report says why")                  \
    X(NET_ERR_IO, -11, "the file cannot be read or written: the report says why")                  \
    X(NET_ERR_DAMAGED, -12, "the log is damaged: the report names block and ticks")                \
    X(NET_ERR_DIVERGED, -13, "the re-run gave other bits than the log")                            \
    X(NET_ERR_UNKNOWN, -14, "no such name: the report names the nearest")                          \
    X(NET_ERR_SOCKET, -15, "the interposed socket layer is missing or does not work")              \
    X(NET_ERR_VERSION, -16, "a later version wrote this: use a newer program")                     \
    X(NET_ERR_TOKEN, -17, "no sound key or token: make or ask for a new one")                      \
    X(NET_ERR_DISK, -18, "the disk is full or does not work: the report says why")

typedef enum net_result {
#define NET_RESULT_ENUM(name, value, text) name = value,
    NET_RESULT_LIST(NET_RESULT_ENUM)
#undef NET_RESULT_ENUM
} net_result;

/// "NET_ERR_FULL"... Static text.
const char* net_result_name(net_result result);
/// One sentence: what failed, and what to do. Static text.
const char* net_result_text(net_result result);

BASE_C_END
