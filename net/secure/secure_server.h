// SPDX-License-Identifier: MIT
/// The server's end of the outer layer: bytes and addresses in, bytes and addresses out. It knows
/// neither sockets nor ENet.
///
/// Sessions are spread over lanes: slot S belongs to lane S modulo their number. Datagrams inside
/// of sessions, sending, holding and closing may run for different lanes at the same time; all
/// other functions, and the handshake, run alone.
///
/// Nothing is kept of an address until it has proved itself, and an answer is always smaller than
/// the question. Sessions are a fixed array. Nothing is allocated after create.
///
/// When all sessions are taken, a newcomer takes the place of the oldest one that was never held:
/// without keys a session costs its owner nothing. Such a session has its place for
/// NET_SECURE_OPENING_US all the same, or newcomers of one moment would end each other's sessions
/// and none would get in. That is time for a round trip and a lost datagram, which the client
/// repeats after 250 ms and ENet after 500. A newcomer that finds only younger ones gets no answer,
/// and sends its response again; only when all are held the server is full.
#pragma once

#include "secure/outer.h"

#include "base/alloc.h"
#include "net/limits.h"

#define NET_SECURE_SESSIONS_MAX 4095u
#define NET_SECURE_UNOPENED_US UINT64_C(5000000)  ///< a session that its user does not hold ends
#define NET_SECURE_OPENING_US UINT64_C(1000000)   ///< such a session keeps its place for so long
#define NET_SECURE_LINGER_US UINT64_C(2000000)    ///< the same after it was held
#define NET_SECURE_SILENT_US UINT64_C(60000000)   ///< a session without a datagram ends
#define NET_SECURE_RESUME_LIFE_S UINT64_C(604800) ///< of a resume token

/// The time, twice: since some start for all budgets, and since 1970 for tokens, which a server
/// alone looks at.
typedef struct net_secure_clock {
    uint64_t now_us, unix_s;
} net_secure_clock;

/// A session: slot in the low 12 bits, then its generation, 1..65535. 0 is none.
typedef uint32_t net_secure_peer;
#define NET_SECURE_PEER_SLOT(peer) ((peer)&0xFFFu)
#define NET_SECURE_PEER_GENERATION(peer) ((peer) >> 12)

typedef struct net_secure_server net_secure_server;

typedef struct net_secure_server_config {
    const base_allocator* allocator;
    uint32_t sessions_max;    ///< 1..NET_SECURE_SESSIONS_MAX (asserted)
    uint32_t lanes;           ///< 0: one; at most NET_LANES_MAX and sessions_max (asserted)
    uint32_t token_uses_max;  ///< 0: NET_TOKEN_USES_MAX
    uint32_t per_address_max; ///< sessions of one address, whatever its port; 0: no limit
    net_security security;    ///< the server's half; `entropy` must not be NULL (asserted)
    uint64_t now_us;
    /// Sends a CLOSE, of a session that the server ends by itself: in the handshake, in service and
    /// in stop, which run alone. NULL: nothing is sent.
    void (*send)(void* context, const net_address* to, const uint8_t* bytes, size_t size);
    void* send_context;
} net_secure_server_config;

BASE_MUST_USE net_secure_server* net_secure_server_create(const net_secure_server_config* config);
/// End all sessions with a CLOSE: the server will not be served any more.
void net_secure_server_stop(net_secure_server* server, uint64_t now_us);
/// Overwrite all keys and free everything; NULL is fine. Clients get no notice.
void net_secure_server_destroy(net_secure_server* server);

/// What came of a datagram.
typedef struct net_secure_received {
    net_secure_peer peer; ///< of `inner`
    const uint8_t* inner; ///< into the bytes of the datagram
    size_t inner_size;    ///< 0: there is nothing inside, or not for ENet
    bool is_packet;       ///< `inner` is a packet of the realtime channel, not ENet's
    size_t reply_size;    ///< 0: no answer
    net_address reply_to;
    uint8_t reply[NET_OUTER_ACCEPT_BYTES];
} net_secure_received;

/// Receive a datagram from the wire. It is decrypted in place. What is wrong with it is counted.
void net_secure_server_receive(net_secure_server* server, const net_secure_clock* clock,
                               const net_address* from, uint8_t* bytes, size_t size,
                               net_secure_received* received);
#define NET_SECURE_HELLO UINT32_MAX
#define NET_SECURE_NOWHERE (UINT32_MAX - 1)
/// Where does a datagram from the wire belong? @return the slot of its session, whose lane takes
/// it; NET_SECURE_HELLO: it is part of a handshake; NET_SECURE_NOWHERE: it is wrong, and counted.
uint32_t net_secure_server_route(net_secure_server* server, const uint8_t* bytes, size_t size);
/// Seal a datagram of ENet (DATA) or a packet of the realtime channel (STATE) to a session into
/// `out`, which has room for NET_SECURE_OVERHEAD_BYTES more.
/// @return the size; 0 when there is no such session.
size_t net_secure_server_send(net_secure_server* server, uint64_t now_us, net_secure_peer peer,
                              net_outer_type type, const void* bytes, size_t size, uint8_t* out,
                              net_address* to);
/// Call it several times a second: rotates secrets, ends sessions that are silent or not held, with
/// a CLOSE. Sessions end as of `held_us`, the service in which they were held last.
void net_secure_server_service(net_secure_server* server, uint64_t now_us, uint64_t held_us);
/// The user's connection inside of the session exists. Call it in each service before
/// net_secure_server_service. @return false when the session has ended: end the connection.
bool net_secure_server_hold(net_secure_server* server, uint64_t now_us, net_secure_peer peer);
/// Who is it? @return false when there is no such session.
bool net_secure_server_identity(const net_secure_server* server, net_secure_peer peer,
                                net_peer_identity* identity);
/// A connection whose encryption is not ours (a browser's, TLS) shows a token: does it count here,
/// from this address? It counts as used then. No session begins.
/// @return NET_SECURE_END_NONE: *identity, and *resume, with which the same player comes again;
///         else why not: counted. *later changes where it may join later matches with it, too.
net_secure_end net_secure_server_admit(net_secure_server* server, const net_secure_clock* clock,
                                       const net_address* from, const net_token* token,
                                       net_peer_identity* identity, net_token* resume,
                                       net_token* later);
/// Open sessions.
uint32_t net_secure_server_count(const net_secure_server* server);
/// Replace the keys: tokens of the new ring count from now on. Sessions stay. NULL or an empty
/// ring: the built-in key only.
void net_secure_server_keys_set(net_secure_server* server, const net_key_ring* keys);
/// While it stands by for another server, a REQUEST with a token that counts here is answered by
/// "not now", and no session begins. Off after create.
void net_secure_server_set_standby(net_secure_server* server, bool is_standby);
/// Valid until the next call.
const net_secure_stats* net_secure_server_stats(net_secure_server* server);
