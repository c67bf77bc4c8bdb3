// SPDX-License-Identifier: MIT
/// How many connection attempts reach ENet, which walks all its peers for each.
///
/// For a socket with a guard, where an attempt comes inside a session and the host that ENet sees
/// names the session. A client that connects again does it in a new session: a session with a
/// connected peer may not begin another connection.
#pragma once

#include "core/ration.h"
#include "secure/secure_client.h"
#include "secure/secure_server.h"

#include "net/token.h"
#include "net/transport.h"

#include "base/macros.h"

#define NET_CONNECTS_PER_SECOND 256u       ///< of all sessions, and as many at once
#define NET_SESSION_CONNECTS_PER_SECOND 2u ///< of one session; a client repeats once a second
#define NET_SESSION_CONNECTS_BURST 4u
#define NET_CONNECT_PLACES 4096u ///< sessions with a ration of their own

/// Zeroed at first.
typedef struct net_connect_gate {
    net_budget all;
    struct {
        uint32_t host;
        net_budget budget;
    } sessions[NET_CONNECT_PLACES];
} net_connect_gate;

/// An attempt from `host` (network order) comes. @return false: drop it.
bool net_connect_gate_pass(net_connect_gate* gate, uint32_t host, uint64_t now_us);

/// Joins three things: the socket layer, the outer layer (net/secure) and ENet. Every datagram of
/// the wire passes here, sealed on one side and open on the other.
///
/// ENet sees a made-up address for each session: the host is 10.0.0.0 plus the slot of the session,
/// the port is its generation. So a client that moves keeps its connection, and a connection never
/// gets a datagram of another session.

typedef struct net_enet_secure {
    int descriptor; ///< of the socket
    net_entropy entropy;
    uint64_t (*unix_s)(void* context);
    void* unix_context;
    net_secure_clock clock;    ///< of the newest service
    net_secure_server* server; ///< of a server
    uint64_t* sent_bytes;      ///< of a server: on the wire, by slot of the session
    uint16_t* peers;           ///< of a server: ENet's peer + 1, by slot of the session; 0: none
    uint32_t session_count;
    const net_bans* bans; ///< of a server; NULL: there are none
    uint64_t dropped_banned;
    net_secure_client client; ///< of a client
    uint16_t attempt;         ///< of the client: the port that ENet sees
    bool is_connecting;       ///< the client's user waits for the outer layer
    bool is_lane;             ///< `server`, `sent_bytes` and `peers` are another one's
    /// Of a host: gets the packets of the realtime channel, from a made-up address.
    void (*take_packet)(void* taker, uint32_t host, uint16_t port, const uint8_t* bytes,
                        size_t size);
    void* taker;
} net_enet_secure;

/// Stand between the socket of a host and ENet from now on; take_packet and taker are set. Not
/// `has_guard`: the socket of a server is a trunk, use net_enet_secure_route.
/// The allocator of the config owns what it has.
void net_enet_secure_init(net_enet_secure* secure, int descriptor, const net_enet_config* config,
                          bool has_guard);
/// Stand between a lane and its ENet host, with the sessions of the trunk.
void net_enet_secure_init_lane(net_enet_secure* secure, int descriptor,
                               const net_enet_secure* trunk);
/// Accept a datagram that the trunk received; a handshake is answered. @return the slot of the
/// session that it is for; UINT32_MAX: for none.
uint32_t net_enet_secure_route(net_enet_secure* trunk, const net_address* from, uint8_t* bytes,
                               size_t size);
/// ENet's peer of a made-up address; UINT32_MAX: none connected from there.
uint32_t net_enet_secure_find(const net_enet_secure* secure, uint32_t host);
/// Before the socket is closed: a server's sessions end, and their clients learn it.
void net_enet_secure_stop(net_enet_secure* secure);
/// After the socket is closed.
void net_enet_secure_deinit(net_enet_secure* secure);
/// Once per service, after all connections are held: time passes, the client sends.
void net_enet_secure_service(net_enet_secure* secure);
/// The same for a trunk, before its lanes hold their connections: sessions end as of the service
/// before, when all were held.
void net_enet_secure_service_trunk(net_enet_secure* secure);
/// Is the session of this made-up address open? A server's session lives while this is asked.
/// `now_us`: of the socket layer's clock.
bool net_enet_secure_hold(net_enet_secure* secure, uint64_t now_us, uint32_t host, uint16_t port);
/// The client begins to connect; it opened no session before that counts.
void net_enet_secure_connect(net_enet_secure* secure, const net_address* addresses, uint32_t count);
/// The made-up address of the client's server.
uint32_t net_enet_secure_server_host(void);
/// Bytes that a server sent to the slot of a made-up address so far, resends and outer layer
/// included. It counts on when another session takes the slot.
uint64_t net_enet_secure_sent_bytes(const net_enet_secure* secure, uint32_t host);
/// The session of a made-up address of a server.
net_secure_peer net_enet_secure_peer(uint32_t host, uint16_t port);
