// SPDX-License-Identifier: MIT
/// Where a session comes from, and how often one player or one address may open a session.
#pragma once

#include "server/session.h"

#define NET_ADMISSION_SETS 1024u ///< of addresses and players that opened a session lately
#define NET_ADMISSION_WAYS 4u

/// A bucket of NET_SESSIONS_MAX sessions, for one player or one address.
typedef struct net_admission_bucket {
    uint64_t key;     ///< 0: unused
    uint64_t full_us; ///< when it is full again
} net_admission_bucket;

typedef struct net_admission {
    uint64_t salt; ///< of the places in the table: a client cannot choose collisions
    net_admission_bucket buckets[NET_ADMISSION_SETS][NET_ADMISSION_WAYS];
} net_admission;

/// Learn from the transport what is at the other end of a new connection.
void net_session_identify(net_server* server, net_session* session);
/// A session begins: take it from the bucket of its player or address. @return 0; or microseconds
/// to wait: nothing was taken.
uint64_t net_session_take_pace(net_server* server, const net_session* session);
/// May `session` be resumed now? Counts the attempt.
bool net_session_may_resume(net_server* server, net_session* session);
/// The session ended because its client broke rules: the next one of this player or address waits.
void net_session_punish(net_server* server, const net_session* session);
