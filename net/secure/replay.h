// SPDX-License-Identifier: MIT
/// Which numbers of datagrams came already: each is accepted once. Numbers begin at 1; those that
/// are NET_REPLAY_BITS or more behind the newest count as seen.
#pragma once

#include "base/macros.h"

#define NET_REPLAY_BITS 1024u

typedef struct net_replay {
    uint64_t newest;
    uint64_t seen[NET_REPLAY_BITS / 64]; ///< bit `number % NET_REPLAY_BITS`
} net_replay;

/// Ask before the datagram is authenticated; nothing changes.
bool net_replay_is_new(const net_replay* replay, uint64_t number);
/// Remember a number that is_new accepted and that was authenticated.
void net_replay_add(net_replay* replay, uint64_t number);
