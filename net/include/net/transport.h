// SPDX-License-Identifier: MIT
/// The datagram interface: what net needs of a network, and nothing of who provides it.
///
/// Two channels: reliable in order, and unsequenced datagrams that may be lost, doubled or reordered.
/// Providers: transport_enet (real sockets) and transport_sim (seeded, virtual time). Time is an
/// argument. Threads: one thread owns a transport.
#pragma once

#include "net/limits.h"
#include "net/result.h"
#include "base/alloc.h"

/// A connection: slot and generation in one number; 0 is none. Never reused while it may be stored.
typedef uint32_t net_peer;

/// The low bits of a net_peer are its slot: connections that live at one time have different ones.
#define NET_PEER_SLOT_BITS 12u
#define NET_PEER_SLOTS (1u << NET_PEER_SLOT_BITS)

typedef enum net_channel { NET_CHANNEL_CONTROL = 0, NET_CHANNEL_REALTIME = 1 } net_channel;

typedef enum net_transport_event_kind {
    NET_TRANSPORT_CONNECTED,
    NET_TRANSPORT_DISCONNECTED, ///< the other side went, timed out, or never answered; also the end of
    ///< a disconnect of ours that is not `now` (heard, or given up after 5 s)
    NET_TRANSPORT_RECEIVED,
} net_transport_event_kind;

typedef struct net_transport_event {
    net_transport_event_kind kind;
    net_peer peer;
    net_channel channel;
    uint32_t reason;      ///< of a disconnect: what the other side said, 0 for a time-out
    const uint8_t* bytes; ///< of RECEIVED; borrowed until next, service or destroy is called
    size_t size;
} net_transport_event;

typedef struct net_transport_stats {
    uint64_t sent_bytes; ///< UDP payload bytes of all datagrams
    uint64_t recv_bytes;
    uint64_t recv_reliable_bytes; ///< of messages that came on channel 0, with resends counted once
    uint64_t sent_datagrams;
    uint64_t recv_datagrams;
    uint64_t sim_dropped;   ///< datagrams that the simulated network lost (both directions here)
    uint64_t dropped_empty; ///< refused by the socket layer: zero bytes
    uint64_t dropped_oversized; ///< refused by the socket layer: longer than NET_DATAGRAM_BYTES_MAX
    uint64_t socket_errors;     ///< errnos that were treated as loss
    uint64_t service_errors;    ///< negative returns of ENet, counted, never fatal
    uint64_t peers_reset;       ///< by the watchdog: stuck states
    uint64_t send_refused;      ///< sends that a full queue or a size limit refused
    uint64_t dropped_malformed; ///< datagrams that no transport of ours writes, kept from ENet
    uint64_t dropped_stale;     ///< datagrams of an attempt to connect that was given up
} net_transport_stats;

/// UDP payload of any datagram that reaches ENet.
#define NET_DATAGRAM_BYTES_MAX 1232u

typedef struct net_transport net_transport;

typedef struct net_transport_ops {
    /// Drain the socket, move timers. Never fails: trouble is counted.
    void (*service)(net_transport* transport, uint64_t now_us);
    /// The next thing that happened. @return false when there is nothing more now.
    bool (*next)(net_transport* transport, net_transport_event* event);
    /// @return NET_OK; NET_ERR_CLOSED; NET_ERR_FULL (256 KB are queued; or 0 bytes, or more than
    ///         NET_CONTROL_BYTES_MAX or NET_STATE_BYTES_MAX: nothing was sent).
    net_result (*send)(net_transport* transport, net_peer peer, net_channel channel,
                       const void* bytes, size_t size);
    /// Begin to connect (clients; may wait for DNS). @return NET_OK, then CONNECTED or, after
    ///         NET_CONNECT_MS_MAX, DISCONNECTED follows; NET_ERR_ADDRESS; NET_ERR_FULL (no peer left, or
    ///         a server).
    net_result (*connect)(net_transport* transport, const char* address, net_peer* peer);
    /// Say goodbye after all queued reliable messages are out; the peer can be sent nothing more, and
    /// DISCONNECTED follows. With `now` at once: the queue is dropped, the other side is told in one
    /// datagram that may be lost, the peer is invalid when the call returns and no event follows.
    void (*disconnect)(net_transport* transport, net_peer peer, uint32_t reason, bool now);
    /// Put everything queued on the wire.
    void (*flush)(net_transport* transport);
    /// Totals of this transport.
    void (*stats)(const net_transport* transport, net_transport_stats* stats);
    /// Sockets to wait on with ppoll; 0 when there is none (virtual time). Writes at most `capacity`.
    uint32_t (*sockets)(const net_transport* transport, int* descriptors, uint32_t capacity);
    void (*destroy)(net_transport* transport);
} net_transport_ops;

/// Providers embed this first.
struct net_transport {
    const net_transport_ops* ops;
};
