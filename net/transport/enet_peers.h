// SPDX-License-Identifier: MIT
/// For tests and measurements: the host of an ENet transport.
#pragma once

#include "transport/enet_secure.h"
#include "transport/datagram_filter.h"

#include "net/socket.h"
#include "net/transport.h"

#include <enet/enet.h>

/// The ENetHost, of a server with lanes that of the first one. To be read only.
void* net_transport_enet_host(net_transport* transport);

/// The state of an ENet transport, and the care of its peers.

#define NET_ENET_NEVER_US UINT64_MAX
#define NET_ENET_RESEND_BYTES_BURST 65536.0
/// Of each connection: state and control.
#define NET_ENET_CHANNELS 2
/// The kernel's buffer of a socket, for each direction.
#define NET_ENET_SOCKET_BYTES (4 * 1024 * 1024)

typedef enum net_enet_slot_state {
    NET_ENET_SLOT_FREE,
    NET_ENET_SLOT_CONNECTING,
    NET_ENET_SLOT_CONNECTED,
    NET_ENET_SLOT_LEAVING
} net_enet_slot_state;

typedef struct net_enet_slot {
    net_enet_slot_state state;
    uint32_t generation;
    bool is_lost;         ///< reset by us: the user gets DISCONNECTED next
    uint32_t connect_id;  ///< of the connection that stuck_us is about
    uint64_t stuck_us;    ///< since when it is neither free nor connected
    size_t queued_bytes;  ///< of packets that ENet holds
    uint64_t sent_before; ///< count of its slot of the outer layer when it connected
    uint32_t resent_ms;   ///< resends before this time of ENet's clock are counted
    double resend_tokens; ///< bytes of resends whose wait is clamped
    uint64_t heard_us;    ///< arrival of its newest datagram
    uint64_t deaf_us;     ///< heard for so long without an acknowledgement of `waits_for`
    uint16_t waits_for;   ///< the oldest control message that is not acknowledged
    bool is_waiting;      ///< there is one
    uint32_t lost_reason; ///< of is_lost
    uint32_t reason;      ///< that we gave; while LEAVING
    net_repeat_ration repeats;
} net_enet_slot;

/// A packet of the realtime channel that came.
typedef struct net_enet_waiting {
    uint32_t at, size;   ///< of its bytes
    uint32_t index;      ///< of the peer
    uint32_t connect_id; ///< of its connection
} net_enet_waiting;

typedef struct net_enet_transport {
    net_transport base;
    base_owner* owner; ///< of the transport itself, too
    const base_allocator* allocator;
    ENetHost* host;
    bool is_server;
    uint32_t slot_count;
    uint32_t lost_count; ///< slots with is_lost
    uint32_t passes_left;
    uint32_t service_us_max;
    const net_resolver* resolver;
    uint64_t (*wall_us)(void* context); ///< NULL: none
    void* wall_context;
    uint64_t due_us;     ///< of the program's next tick
    uint64_t until_us;   ///< of this service
    uint64_t now_us;     ///< of the newest service
    uint64_t checked_us; ///< when all peers were looked at
    net_enet_slot* slots;
    net_enet_secure secure;
    net_connect_gate* gate; ///< of a server
    ENetPacket* borrowed;
    bool is_read;        ///< ENet found nothing more, and packets that came before are given out
    bool has_events;     ///< ENet had one, and may have more
    bool has_queued;     ///< something that ENet shall send
    uint64_t stepped_us; ///< of the service in which ENet worked last
    bool is_lane;        ///< the lane returns its packets, not next()
    /// Packets that came past ENet, in the order of arrival.
    net_enet_waiting* waiting;
    uint32_t waiting_count, waiting_capacity;
    uint32_t waiting_next; ///< not given out yet
    uint8_t* bytes;        ///< of `waiting`; grows to its peak
    uint32_t bytes_count, bytes_capacity;
    net_transport_stats stats;
} net_enet_transport;

/// Make the transport of one host: all of a client or of a server, or one of `config->lanes` parts
/// of a server whose trunk is `trunk`.
/// @return NET_OK; NET_ERR_ADDRESS; NET_ERR_BIND; NET_ERR_REFUSED; NET_ERR_SOCKET; NET_ERR_MEMORY;
///         NET_ERR_FULL.
BASE_MUST_USE net_result net_enet_host_create(const net_enet_config* config,
                                              const net_enet_secure* trunk, uint32_t lane,
                                              net_enet_transport** transport);
/// List at most `capacity` of the system's descriptors behind ENet's `descriptor`.
/// @return how many.
uint32_t net_enet_list_descriptors(int descriptor, int* descriptors, uint32_t capacity);
/// Ask the kernel for buffers of NET_ENET_SOCKET_BYTES; it may grant less.
void net_enet_size_buffers(int descriptor);
/// Set what the socket counted, and what was dropped before it was read.
void net_enet_read_socket(const net_enet_secure* secure, net_transport_stats* stats);
/// Begin a service of one host, which ends at `until_us`; then its next() returns the events.
void net_enet_host_service(net_enet_transport* owner, uint64_t now_us, uint64_t until_us);
/// Resolve "ADDR:PORT" or "ADDR:PORT,ADDR:PORT" into the plan, and check that a server with these
/// keys may listen there. @return NET_OK, NET_ERR_ADDRESS, NET_ERR_REFUSED.
BASE_MUST_USE net_result net_enet_plan_listen(const net_enet_config* config, net_socket_plan* plan);
/// Let ENet begin, and check that its functions are ours. @return false when they are not.
bool net_enet_is_ready(void);
/// Is it the transport of one host?
bool net_enet_is_host(const net_transport* transport);

/// Once per service, for every peer: mtu, resend times, leaked accounts, and the watchdog.
void net_enet_check_peers(net_enet_transport* owner, uint64_t now_us);
/// Receive a packet of the realtime channel, copied (net_enet_secure.take_packet).
void net_enet_take_packet(void* owner, uint32_t host, uint16_t port, const uint8_t* bytes,
                          size_t size);
/// The next packet whose connection is still the one it came from. Borrowed until the next service
/// or call of next(). @return false: none waits.
bool net_enet_take_waiting(net_enet_transport* owner, net_transport_event* event);
/// Drop the packets that wait.
void net_enet_forget_waiting(net_enet_transport* owner);
/// The connection of the slot is lost: the user gets DISCONNECTED next, with `reason`.
void net_enet_lose(net_enet_transport* owner, net_enet_slot* lost, uint32_t reason);
/// ENet calls it for every datagram. @return 1: dropped; 0: go on. The host finds its transport
/// through the first peer, because ENet has no context argument.
int net_enet_intercept(ENetHost* host, ENetEvent* event);

/// The wall-clock time of one service of an ENet transport.

/// After the host is made.
void net_enet_budget_init(net_enet_transport* owner, const net_enet_config* config);
/// When a service that begins now has to end, in microseconds of wall_us.
uint64_t net_enet_budget_until(const net_enet_transport* owner);
/// A service begins.
void net_enet_budget_begin(net_enet_transport* owner, uint64_t until_us);
/// Asked before each call of ENet. @return true: nothing more is read or handed out in this
/// service.
bool net_enet_budget_is_over(net_enet_transport* owner);
