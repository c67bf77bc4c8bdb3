// SPDX-License-Identifier: MIT
/// Datagrams and control messages between the two ends: the interface, the bad link, and its two
/// providers, the simulated network and ENet.
#pragma once

#include "base/alloc.h"
#include "base/report.h"
#include "base/rng.h"
#include "net/limits.h"
#include "net/result.h"
#include "net/token.h"

#include <string.h>

BASE_C_BEGIN

// ---- the interface ----

/// The datagram interface: all that net needs of a network.
///
/// Two channels: reliable in order, and unsequenced datagrams that may be lost, doubled or
/// reordered. Providers: ENet (real sockets) and the simulated network (seeded, virtual
/// time). Time is an argument, in microseconds.
///
/// Threads: one thread at a time uses a transport. Lanes are the exception. A connection belongs to
/// the lane that net_transport_lane names. While nothing else is called, different lanes may be
/// used at the same time: by `work`, `flush_lane`, and by `send` and `peer_sent_bytes` for their
/// connections.

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
    /// Of a client, after `ask`: one of those servers takes its session over. The connection is as
    /// it was: disconnect, and connect with the address of that server among others.
    NET_TRANSPORT_FOUND,
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
/// number plus a net_secure_end (net/token.h).
#define NET_TRANSPORT_SECURE 0x5EC00u

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
    /// Begin to connect; clients only. May block for a name lookup. "HOST:PORT,HOST:PORT" are
    /// servers of which one has the session; the first that answers counts.
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
    /// Of a client whose connection is open, which goes on: ask other servers, one datagram each,
    /// whether they take its session over; at most NET_STANDBYS_MAX (asserted). NULL: it cannot.
    void (*ask)(net_transport* transport, const net_address* others, uint32_t count);
    /// What is sent from now on is about this tick; 0: of none, it goes out at once, past what
    /// waits. NULL: nothing ever waits (net_transport_hold_create). While no lane is used.
    /// @return how many ticks wait for their release, this one included.
    uint64_t (*hold)(net_transport* transport, uint64_t tick);
} net_transport_ops;

/// Providers embed this as their first member, zeroed apart from what they set.
struct net_transport {
    const net_transport_ops* ops;
    net_transport* around; ///< the one below it, whose peers are its own; NULL: none
    uint32_t lanes;        ///< 0: one
    uint32_t waiting;      ///< datagrams that wait for work() since service()
};

/// @return the number of lanes, 1 or more.
static inline uint32_t net_transport_lanes(const net_transport* transport) {
    return transport->lanes ? transport->lanes : 1;
}
/// The lane of a connection; a client that connects again may get another one.
static inline uint32_t net_transport_lane(const net_transport* transport, net_peer peer) {
    return (peer & (NET_PEER_SLOTS - 1)) % net_transport_lanes(transport);
}

/// Add the counts of `more` to `sum`.
static inline void net_transport_stats_add(net_transport_stats* sum,
                                           const net_transport_stats* more) {
    enum { WORDS = sizeof *sum / sizeof(uint64_t) };
    BASE_STATIC_ASSERT(sizeof *sum == WORDS * sizeof(uint64_t), "counts alone");
    uint64_t to[WORDS], from[WORDS];
    memcpy(to, sum, sizeof to);
    memcpy(from, more, sizeof from);
    for (uint32_t i = 0; i < WORDS; i++)
        to[i] += from[i];
    memcpy(sum, to, sizeof to);
}

/// Ask for the identity of a peer. @return false, *identity is zeroed: it is not known.
static inline bool net_transport_identity(const net_transport* transport, net_peer peer,
                                          net_peer_identity* identity) {
    memset(identity, 0, sizeof *identity);
    return transport->ops->identity && transport->ops->identity(transport, peer, identity);
}

// ---- a transport that holds back ----

/// Around another transport: it keeps what its user sends until that may leave. So clients
/// never know more of a match than those who would go on with it. Only messages and packets wait;
/// the connections below live on, with their acknowledgements.
///
/// The user says by ops->hold of which tick it sends. What is about a tick that was released goes
/// through at once; the rest waits, in its order, until a flush of its lane after the release. A
/// message that the other transport has no room for then waits on, and those after it to the same
/// peer. disconnect without `now` waits behind what the peer shall still get; with `now` that is
/// dropped.
///
/// Memory: grows to what waits, NET_HOLD_BYTES_MAX for each lane at most; packets leave a quarter
/// of it to messages. Beyond that sends are refused with NET_ERR_FULL, as those of a full queue.

#define NET_HOLD_BYTES_MAX (8u << 20)
#define NET_HOLD_PACKET_BYTES_MAX (NET_HOLD_BYTES_MAX / 4 * 3)

/// Make it. `other` stays the caller's and must outlive it; everything is released at first.
BASE_MUST_USE net_transport* net_transport_hold_create(const base_allocator* allocator,
                                                       net_transport* other);
/// Ticks up to this one may leave; UINT64_MAX: all may. It may fall. From any thread.
void net_transport_hold_release(net_transport* hold, uint64_t tick);
/// Bytes that wait now. From any thread.
uint64_t net_transport_hold_bytes(const net_transport* hold);

// ---- the bad link ----

/// A bad network, seeded: loss (also in bursts), one-way delay, jitter, duplicates, reordering,
/// flipped bits, a rate with its queue, a hole for large datagrams, new source ports. One link is
/// one direction of one path. transport_sim uses it, and the socket layer below ENet does (--net).
///
/// The same seed and the same calls give the same deliveries, bit for bit, on every machine.
///
/// Memory: grows to the most datagrams at a time, NET_LINK_DATAGRAMS_MAX at most. Those without a
/// place are lost and counted.

#define NET_LINK_DATAGRAMS_MAX 4096u
#define NET_LINK_BYTES_MAX 1500u
#define NET_LINK_MS_MAX 10000.0
#define NET_LINK_OUTAGE_MS_MAX 3600000.0
#define NET_LINK_RATE_KBIT_MIN 1.0
#define NET_LINK_RATE_KBIT_MAX 10000000.0
#define NET_LINK_QUEUE_MS_MIN 1.0
#define NET_LINK_QUEUE_MS_DEFAULT 500.0
#define NET_LINK_BURST_MS_MIN 1.0
#define NET_LINK_MTU_BYTES_MIN 64.0
#define NET_LINK_REBIND_MS_MIN 100.0
#define NET_LINK_FLIPPED_BITS_MAX 3u ///< of one datagram

/// All zero: a perfect line.
typedef struct net_link_config {
    double loss_percent;      ///< 0..100
    double burst_ms;          ///< 0: each datagram is lost or not by itself; else losses come in
                              ///< bursts of this mean length (Gilbert-Elliott: a good state that
                              ///< loses nothing, a bad one that loses all), 1..10,000
    double delay_ms;          ///< one way, 0..10,000
    double jitter_ms;         ///< added uniformly in [0, jitter], 0..10,000
    double duplicate_percent; ///< delivered twice, the copy with its own jitter
    double reorder_percent;   ///< held back by one further delay of 1..(jitter + 10) ms
    double flip_percent;      ///< delivered with 1..NET_LINK_FLIPPED_BITS_MAX other bits
    double rate_kbit;         ///< 0: unlimited; else serialised at this rate (payload and 28 bytes
                              ///< of headers)
    double queue_ms;          ///< what comes while the queue before the rate is longer than
                              ///< this is lost, 1..10,000; 0: NET_LINK_QUEUE_MS_DEFAULT
    double mtu_bytes;         ///< longer UDP payloads vanish, 64..NET_LINK_BYTES_MAX; 0: none do
    double rebind_ms;         ///< net_link_rebind_is_due after this time, on average; 0: never
    double outage_at_ms;      ///< nothing passes from this time on, counted from the first datagram
    double outage_for_ms;     ///< duration of the outage; 0: no outage
    uint64_t seed;
} net_link_config;

/// Both directions, seen from the one that sends `up` and receives `down`.
typedef struct net_link_pair {
    net_link_config up, down;
} net_link_pair;

/// Parse "loss=5,burst=200,delay=80,jitter=20,duplicate=1,reorder=2,flip=1,rate=512,queue=2000,
/// mtu=1252,rebind=20000,outage_at=5000,outage_for=10000,seed=7": any subset in any order.
/// "up.loss=30" and "down.loss=30" set one direction and win over "loss=5". A preset may come
/// first, "4g" or "4g,loss=5": wifi, 4g, bad, satellite. What follows replaces its values.
/// @return NET_OK; NET_ERR_UNKNOWN (the report names the nearest key); NET_ERR_MALFORMED (range,
///         a key twice, no value, a preset that is not first). On failure `pair` is untouched.
BASE_MUST_USE net_result net_link_config_parse(const char* text, const base_reporter* reporter,
                                               net_link_pair* pair);

typedef struct net_link_stats {
    uint64_t sent;       ///< pushed
    uint64_t delivered;  ///< popped, twins included
    uint64_t lost;       ///< at random, in a burst or an outage, or longer than mtu_bytes
    uint64_t duplicated; ///< twins made
    uint64_t reordered;  ///< held back
    uint64_t flipped;    ///< given other bits
    /// Lost because memory, queue, NET_LINK_DATAGRAMS_MAX or NET_LINK_BYTES_MAX were too small.
    uint64_t overflowed;
} net_link_stats;

typedef struct net_link net_link;

/// Make a link (base_owner_destroy ends it). `allocator` NULL: the heap; the config must be one
/// that net_link_config_parse could give.
BASE_MUST_USE net_link* net_link_create(const base_allocator* allocator,
                                        const net_link_config* config);
/// Change the config. Datagrams on their way keep their arrival. Another seed starts its sequence
/// from the beginning.
void net_link_config_set(net_link* link, const net_link_config* config);
/// What a user of a link knows a datagram by: it comes out as it went in.
typedef struct net_link_tag {
    uint64_t number;
    net_address address;
} net_link_tag;
/// Send a datagram, copied.
void net_link_push(net_link* link, uint64_t now_us, net_link_tag tag, const void* bytes,
                   size_t size);
/// Get the next datagram that has arrived by now: the earliest, of equal ones the first sent. `tag`
/// may be NULL. Borrowed until net_link_pop. @return NULL when none has arrived.
const uint8_t* net_link_peek(net_link* link, uint64_t now_us, net_link_tag* tag, size_t* size);
/// Remove the datagram that net_link_peek gave.
void net_link_pop(net_link* link);
/// Arrival of the next datagram; UINT64_MAX when none is on its way.
uint64_t net_link_next_us(const net_link* link);
/// Is the link in its outage?
bool net_link_is_out(const net_link* link, uint64_t now_us);
/// Should the sender change its source port now, as behind a NAT that forgot it? True once for each
/// time that is due: every rebind_ms, each interval 50..150 % of it.
bool net_link_rebind_is_due(net_link* link, uint64_t now_us);
const net_link_stats* net_link_get_stats(const net_link* link);

// ---- the simulated network ----

/// A simulated network: many endpoints in one process, each a net_transport. Time is what service
/// is given; the same seed and the same calls give the same datagrams.

typedef struct net_sim net_sim;

/// Make a network without endpoints. `allocator` NULL: the heap.
BASE_MUST_USE net_sim* net_sim_create(const base_allocator* allocator, uint64_t seed);
/// Destroy the network, after all its transports (asserted). NULL is allowed.
void net_sim_destroy(net_sim* sim);
/// Make the server's endpoint for at most `peers_max` connections; free it with ops->destroy.
/// @return NET_OK; NET_ERR_FULL (there is a server already, or peers_max is not
///         1..NET_CLIENTS_MAX).
BASE_MUST_USE net_result net_sim_server(net_sim* sim, uint32_t peers_max,
                                        net_transport** transport);
/// Divide the connections of a server's endpoint among `lanes` lanes, 1..NET_LANES_MAX (asserted).
/// It changes nothing that is sent. The network's allocator is used by all of them.
void net_sim_lanes_set(net_transport* server, uint32_t lanes);
/// Make a client's endpoint; free it with ops->destroy. Both directions use `link`, copied; connect
/// ignores its address.
BASE_MUST_USE net_transport* net_sim_client(net_sim* sim, const net_link_config* link);
/// Change the link of a client's endpoint, for both directions from now on. Control messages know
/// loss, delay, jitter and outages; their losses do not come in bursts.
void net_sim_link_set(net_transport* client, const net_link_config* link);
/// The same for each direction: `up` is from the client to the server.
void net_sim_link_set_pair(net_transport* client, const net_link_pair* pair);
/// Set what the server learns of a client's endpoint, from now on. Without it each endpoint has an
/// address of its own in 198.18.0.0/15, and no player.
void net_sim_identity_set(net_transport* client, const net_peer_identity* identity);
/// A hash over all datagrams of the realtime channel, of each client in sending order: equal runs
/// have equal hashes.
uint64_t net_sim_datagram_hash(const net_sim* sim);

// ---- ENet ----

/// Real sockets by ENet, as a net_transport.

typedef struct net_enet_config {
    const base_allocator* allocator; ///< NULL: the heap; ENet itself always uses the heap
    /// "127.0.0.1:7777" for a server, "0.0.0.0:7777,[::]:7777" for one of both families on two
    /// sockets, "[::]:7777" on one. A name stands for the address of net_address_resolve_one. NULL
    /// for a client.
    const char* listen;
    uint32_t peers_max; ///< clients at once; 1 for a client
    /// Of a server: ENet hosts among which the connections are divided, behind one address and
    /// port, 1..NET_LANES_MAX (asserted) and at most peers_max. 0: one.
    uint32_t lanes;
    /// Of a server: datagrams of addresses on this list are dropped unread. Borrowed; it may change
    /// between services. net_server_config.bans is for players and keys too. NULL: there are none.
    const net_bans* bans;
    /// Connections of one address at a time, whatever their ports; 0: no limit (loopback). A client
    /// that comes back takes the place of its old connection. A closed one counts for 7 s at most.
    uint32_t peers_per_address_max;
    /// Of names in `listen` and in addresses to connect to. Borrowed. NULL: the system's.
    const net_resolver* resolver;
    /// Keys, tokens, bans. Zero is enough for loopback and for a private network: both sides use
    /// the built-in key.
    net_security security;
    /// Wall-clock time that one service, with the events of its next() calls, may take. What is not
    /// read then waits in the kernel's buffer. 0: NET_SERVICE_US_MAX.
    uint32_t service_us_max;
    /// The clock of that, in microseconds. NULL: CLOCK_MONOTONIC, and none in virtual time.
    uint64_t (*wall_us)(void* context);
    void* wall_context;
} net_enet_config;

/// Make a server (it listens at once) or a client. Free it with ops->destroy. Use one process-wide
/// thread for all ENet transports: ENet and the socket layer have global state.
/// @return NET_OK; NET_ERR_ADDRESS (`listen` is no ADDR:PORT, or has two of one family);
///         NET_ERR_BIND (errno says why: choose another port);
///         NET_ERR_REFUSED (a public address or a wildcard, but no keys, and the built-in key is
///         public: give keys, listen on a private address, or set allow_dev_key);
///         NET_ERR_SOCKET (no socket, or the socket layer is missing or failed its self-test: link
///         shoal_socket directly into the program; nothing is sent without encryption);
///         NET_ERR_FULL (peers_max is not 1..NET_CLIENTS_MAX).
BASE_MUST_USE net_result net_transport_enet_create(const net_enet_config* config,
                                                   net_transport** transport);
/// What the outer layer did and refused.
void net_transport_enet_secure_stats(const net_transport* transport, net_secure_stats* stats);
/// Replace the keys of a server while it runs; sessions stay. Without keys it accepts the built-in
/// key as after create.
void net_transport_enet_keys_set(net_transport* transport, const net_key_ring* keys);
/// A server that waits to take the place of another one: it answers "not now" to clients that
/// connect, and no connection begins. Off after create.
void net_transport_enet_standby_set(net_transport* transport, bool is_standby);
/// Does a token count here, of a connection of another transport of this server that encrypts by
/// itself? It counts as used then. *resume brings the same player back, from any address. *later
/// changes where it lets the player into later matches, too (net_security.again_s).
/// @return NET_SECURE_END_NONE; else why not, counted as those of ENet.
net_secure_end net_transport_enet_admit(net_transport* transport, const net_address* from,
                                        const net_token* token, net_peer_identity* identity,
                                        net_token* resume, net_token* later);
/// Tell when the program has to do something else, in the microseconds of wall_us: its next tick.
/// Services end by then, but have NET_SERVICE_US_MIN at least, so that a late program receives too.
/// UINT64_MAX: nothing is due.
void net_transport_enet_due(net_transport* transport, uint64_t due_us);
/// Enough for every text of net_transport_enet_address.
#define NET_ENET_ADDRESS_TEXT_BYTES (2 * NET_ADDRESS_TEXT_BYTES)
/// Write the address on which a server listens, as "127.0.0.1:40001"; of two with a comma between
/// them. @return false for a client, and when `text_bytes` is too small.
bool net_transport_enet_address(const net_transport* transport, char* text, size_t text_bytes);

BASE_C_END
