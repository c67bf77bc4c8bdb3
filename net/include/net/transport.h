// SPDX-License-Identifier: MIT
/// The datagram interface: all that net needs of a network.
///
/// Two channels: reliable in order, and unsequenced datagrams that may be lost, doubled or
/// reordered. Providers: net/transport_enet.h (real sockets) and net/transport_sim.h (seeded,
/// virtual time). Time is an argument, in microseconds.
///
/// Threads: one thread at a time uses a transport. Lanes are the exception. A connection belongs to
/// the lane that net_transport_lane names. While nothing else is called, different lanes may be
/// used at the same time: by `work`, `flush_lane`, and by `send` and `peer_sent_bytes` for their
/// connections.
#pragma once

#include "net/address.h"
#include "net/limits.h"
#include "net/result.h"
#include "base/alloc.h"

#include <string.h>

BASE_C_BEGIN

/// A connection: slot and generation in one number; 0 is none. A number is not given to another
/// connection before its slot was used 2^20 times.
typedef uint32_t net_peer;

/// The low bits of a net_peer are its slot. Two open connections never have the same slot.
#define NET_PEER_SLOT_BITS 12u
#define NET_PEER_SLOTS (1u << NET_PEER_SLOT_BITS)

typedef enum net_channel { NET_CHANNEL_CONTROL = 0, NET_CHANNEL_REALTIME = 1 } net_channel;

typedef enum net_transport_event_kind {
    NET_TRANSPORT_CONNECTED,
    /// The other side disconnected, timed out, or never answered. Also the end of our own
    /// disconnect without `now`: confirmed, or given up after 5 s.
    NET_TRANSPORT_DISCONNECTED,
    NET_TRANSPORT_RECEIVED,
    /// Of a client that connects: the server says, without proof, why it will fail. It goes on, and
    /// CONNECTED or DISCONNECTED follows.
    NET_TRANSPORT_NOTICE,
} net_transport_event_kind;

typedef struct net_transport_event {
    net_transport_event_kind kind;
    net_peer peer;
    net_channel channel;
    uint32_t reason;      ///< DISCONNECTED: that the other side gave; 0: timed out. NOTICE: why
    const uint8_t* bytes; ///< RECEIVED; borrowed until next, service or destroy is called
    size_t size;
} net_transport_event;

typedef struct net_transport_stats {
    uint64_t sent_bytes; ///< UDP payload bytes of all datagrams
    uint64_t recv_bytes;
    uint64_t recv_reliable_bytes; ///< of messages on the control channel; resends count once
    uint64_t sent_datagrams;
    uint64_t recv_datagrams;
    uint64_t sim_dropped;       ///< lost by the simulated network, both directions
    uint64_t dropped_empty;     ///< datagrams without bytes, refused below ENet
    uint64_t dropped_oversized; ///< datagrams above NET_DATAGRAM_BYTES_MAX, refused below ENet
    uint64_t socket_errors;     ///< errors of the kernel, treated as loss
    uint64_t service_errors;    ///< failures that ENet returned; never fatal
    uint64_t peers_reset;       ///< connections that the watchdog reset: stuck
    uint64_t dropped_banned;    ///< datagrams of addresses on the list of bans
    uint64_t peers_deaf;        ///< connections that ended with NET_TRANSPORT_DEAF
    uint64_t send_refused;      ///< sends refused by a full queue or a size limit
    uint64_t dropped_malformed; ///< datagrams that break the format, kept from ENet
    uint64_t dropped_repeats;  ///< datagrams that only repeat, above the ration of their connection
    uint64_t dropped_connects; ///< connection attempts beyond the ration of their session
    uint64_t services_cut;     ///< services that ended by their budget; the rest waits
} net_transport_stats;

/// The reason of DISCONNECTED when the server's own transport ended the connection: its datagrams
/// come, but for NET_DEAF_MS_MAX it acknowledged no control message that waits for it.
#define NET_TRANSPORT_DEAF 0xDEAFu

/// The reason of DISCONNECTED when the outer layer ended the connection or did not begin it: this
/// number plus a net_secure_end (net/security.h).
#define NET_TRANSPORT_SECURE 0x5EC00u

/// Who is at the other end of a connection, as far as the transport knows.
typedef struct net_peer_identity {
    net_address address;              ///< where its datagrams come from now
    uint64_t player;                  ///< of the token's back end; 0: unknown
    uint32_t key;                     ///< id of the key that sealed the token; 0: unknown
    uint32_t user_bytes;              ///< of `user`, without zeros at the end
    uint8_t user[NET_USER_BYTES_MAX]; ///< from the token: team, permissions...
} net_peer_identity;

/// Longest UDP payload that reaches ENet.
#define NET_DATAGRAM_BYTES_MAX 1232u

typedef struct net_transport net_transport;

typedef struct net_transport_ops {
    /// Empty the socket, move timers. Never fails: errors are counted.
    void (*service)(net_transport* transport, uint64_t now_us);
    /// Take the next event. @return false when there is none now.
    bool (*next)(net_transport* transport, net_transport_event* event);
    /// Queue a message, copied. Nothing is sent on failure.
    /// @return NET_OK; NET_ERR_CLOSED (no such connection: DISCONNECTED comes or came);
    ///         NET_ERR_FULL (256 KB are queued: try later; or no bytes, or more than
    ///         NET_CONTROL_BYTES_MAX or NET_STATE_BYTES_MAX: the caller's mistake).
    net_result (*send)(net_transport* transport, net_peer peer, net_channel channel,
                       const void* bytes, size_t size);
    /// Begin to connect; clients only. May block for a name lookup.
    /// @return NET_OK (CONNECTED follows or, after NET_CONNECT_MS_MAX, DISCONNECTED);
    ///         NET_ERR_ADDRESS (write HOST:PORT); NET_ERR_FULL (a connection is open or begun
    ///         already, or this is a server).
    net_result (*connect)(net_transport* transport, const char* address, net_peer* peer);
    /// Close the connection after all queued reliable messages are sent. Nothing more can be sent;
    /// DISCONNECTED follows. With `now` at once: the queue is dropped, one datagram that may be
    /// lost informs the other side, the peer is invalid when the call returns, and no event
    /// follows. An unknown peer is ignored.
    void (*disconnect)(net_transport* transport, net_peer peer, uint32_t reason, bool now);
    /// Send everything that is queued.
    void (*flush)(net_transport* transport);
    /// Between service and the first next: receive for one lane. Lanes for which it was not called
    /// are received by next. NULL: there is nothing to do.
    void (*work)(net_transport* transport, uint32_t lane);
    /// Send everything that is queued in one lane. NULL: there is nothing to do.
    void (*flush_lane)(net_transport* transport, uint32_t lane);
    /// Copy the totals of this transport.
    void (*stats)(const net_transport* transport, net_transport_stats* stats);
    /// Write the sockets to wait on with ppoll, at most `capacity`. @return their number; 0 in
    /// virtual time.
    uint32_t (*sockets)(const net_transport* transport, int* descriptors, uint32_t capacity);
    /// Close all connections without a goodbye and free the transport. Real ones of a server learn
    /// that they are closed from one datagram, which may be lost.
    void (*destroy)(net_transport* transport);
    /// Of a connection of a server. NULL: the transport does not know.
    /// @return false when there is no such connection; *identity is zeroed then.
    bool (*identity)(const net_transport* transport, net_peer peer, net_peer_identity* identity);
    /// Bytes of UDP payload sent to a peer since it connected, resends included; 0 for an unknown
    /// one. NULL: the transport does not count them.
    uint64_t (*peer_sent_bytes)(const net_transport* transport, net_peer peer);
} net_transport_ops;

/// Providers embed this as their first member, zeroed apart from what they set.
struct net_transport {
    const net_transport_ops* ops;
    uint32_t lanes;   ///< 0: one
    uint32_t waiting; ///< datagrams that wait for work() since service()
};

/// @return the number of lanes, 1 or more.
static inline uint32_t net_transport_lanes(const net_transport* transport) {
    return transport->lanes ? transport->lanes : 1;
}
/// The lane of a connection; a client that connects again may get another one.
static inline uint32_t net_transport_lane(const net_transport* transport, net_peer peer) {
    return (peer & (NET_PEER_SLOTS - 1)) % net_transport_lanes(transport);
}

/// Ask for the identity of a peer. @return false, *identity is zeroed: it is not known.
static inline bool net_transport_identity(const net_transport* transport, net_peer peer,
                                          net_peer_identity* identity) {
    memset(identity, 0, sizeof *identity);
    return transport->ops->identity && transport->ops->identity(transport, peer, identity);
}

BASE_C_END
