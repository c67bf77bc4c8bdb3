// SPDX-License-Identifier: MIT
/// One direction between a client and the server of the simulated network: a link for realtime
/// datagrams, and a queue of control messages that simulates resending. Control messages arrive in
/// the order in which they were queued.
#pragma once

#include "net/transport.h"

#include "base/hash.h"

#define NET_SIM_CONTROL_QUEUED_BYTES_MAX (256u * 1024u)

typedef enum net_sim_control_kind {
    NET_SIM_CONTROL_CONNECT,
    NET_SIM_CONTROL_ACCEPT,
    NET_SIM_CONTROL_MESSAGE,
    NET_SIM_CONTROL_GOODBYE,
} net_sim_control_kind;

typedef struct net_sim_control net_sim_control;
struct net_sim_control {
    net_sim_control* next;
    uint64_t attempt_us; ///< when the missing pieces were tried last
    uint64_t arrival_us; ///< UINT64_MAX while pieces are missing
    uint32_t epoch;
    uint32_t missing; ///< pieces
    uint32_t reason;
    uint32_t size;
    net_sim_control_kind kind;
    uint8_t bytes[];
};

typedef struct net_sim_path {
    const base_allocator* allocator;
    net_link* link;
    net_link_config config;
    base_rng rng; ///< of the control channel
    net_sim_control* first;
    net_sim_control* last;
    size_t queued_bytes;
    uint64_t arrived_us; ///< of the newest control message that arrived: keeps the order
    uint64_t control_lost;
} net_sim_path;

/// Make both queues empty. @return NET_OK; NET_ERR_MEMORY.
net_result net_sim_path_init(net_sim_path* made, const base_allocator* allocator,
                             const net_link_config* link, uint64_t seed);
void net_sim_path_deinit(net_sim_path* old);
/// Change the network; the random sequences go on.
void net_sim_path_config_set(net_sim_path* changed, const net_link_config* link);
/// Datagrams and pieces of control messages that did not arrive.
uint64_t net_sim_path_lost(const net_sim_path* asked);

/// Get the next control message that has arrived by now. @return NULL when none has.
net_sim_control* net_sim_path_control_peek(net_sim_path* along, uint64_t now_us);
/// Remove that message; the caller frees it with net_sim_control_free.
void net_sim_path_control_pop(net_sim_path* along);
/// Free all queued control messages.
void net_sim_path_clear_control(net_sim_path* cleared);
/// NULL is allowed.
void net_sim_control_free(const base_allocator* allocator, net_sim_control* message);

/// One side of a connection in the simulated network: what server and client endpoints have in
/// common.

typedef enum net_sim_side_state {
    NET_SIM_SIDE_CLOSED,
    NET_SIM_SIDE_CONNECTING,
    NET_SIM_SIDE_CONNECTED,
    NET_SIM_SIDE_LEAVING
} net_sim_side_state;

/// The state of one end of a connection.
typedef struct net_sim_side {
    net_sim_side_state state;
    uint32_t epoch;
    net_peer peer;
    uint64_t since_us; ///< of NET_SIM_SIDE_CONNECTING and NET_SIM_SIDE_LEAVING
    uint64_t sent_bytes;
} net_sim_side;

/// The common part of endpoints; first member of both kinds.
typedef struct net_sim_endpoint {
    net_transport base;
    net_sim* sim;
    uint64_t now_us;
    net_transport_stats stats;
    net_sim_control* borrowed; ///< given out by next()
    net_sim_path* borrowed_link;
} net_sim_endpoint;

typedef struct net_sim_client_end net_sim_client_end;
struct net_sim_client_end {
    net_sim_endpoint endpoint;
    net_sim_client_end* next;
    uint32_t index; ///< in order of creation
    uint32_t generation;
    uint64_t hash; ///< of its realtime datagrams, in both directions
    net_sim_path up, down;
    net_peer_identity identity; ///< what the server learns of it
    net_sim_side here;          ///< the client's view
    net_sim_side there;         ///< the server's view
    uint64_t
        gone_us; ///< when the other side was destroyed without a goodbye; UINT64_MAX: it exists
    bool is_destroyed; ///< the server still believes in it
};

typedef struct net_sim_server_end {
    net_sim_endpoint endpoint;
    uint32_t peers_max;
    net_sim_client_end** slots;
    uint32_t* generations;
    net_sim_client_end* cursor; ///< next() goes on here
} net_sim_server_end;

struct net_sim {
    const base_allocator* allocator;
    uint64_t seed;
    net_sim_server_end* server;
    net_sim_client_end* clients;
    uint32_t client_count; ///< ever
    uint64_t lost_before;  ///< on links that are gone
    uint64_t hash_before;  ///< sum of the hashes of clients that are gone
};

/// A number for the connection in `slot`; `generation` counts the connections of the slot.
net_peer net_sim_peer_make(uint32_t slot, uint32_t* generation);
/// Free what next() gave out. For next(), service() and destroy().
void net_sim_take_back(net_sim_endpoint* taker);
/// Queue a control message and count it. @return NET_OK; NET_ERR_FULL.
net_result net_sim_push_control(net_sim_endpoint* sender, net_sim_path* along,
                                net_sim_control_kind kind, uint32_t epoch, uint32_t reason,
                                const void* bytes, size_t size);
/// The send of an endpoint. `from` is its side of the connection with `owner`.
net_result net_sim_side_send(net_sim_endpoint* sender, net_sim_client_end* owner,
                             net_sim_side* from, net_channel channel, const void* bytes,
                             size_t size);
/// The disconnect of an endpoint.
void net_sim_side_disconnect(net_sim_endpoint* sender, net_sim_client_end* owner,
                             net_sim_side* from, uint32_t reason, bool now);
/// Close the side and write its DISCONNECTED. @return true.
bool net_sim_side_close(net_sim_side* of, uint32_t reason, net_transport_event* event);
/// Does the control message arrive before the realtime datagram that arrives at `link_us`?
bool net_sim_is_control_first(const net_sim_control* message, uint64_t link_us);
/// Receive the realtime datagram that has arrived. @return false when it belongs to no open
/// connection.
bool net_sim_receive_datagram(net_sim_endpoint* reader, net_sim_path* along, net_sim_side* at,
                              net_transport_event* event);
/// Receive a control message of kind MESSAGE. @return false when the side is not connected.
bool net_sim_receive_message(net_sim_endpoint* reader, net_sim_control* message, net_sim_side* at,
                             net_transport_event* event);
/// Is the connection over: a connect or a goodbye took too long, the other end was destroyed, or
/// the goodbye of this side has arrived?
bool net_sim_side_is_over(const net_sim_endpoint* here, const net_sim_client_end* owner,
                          const net_sim_path* out, const net_sim_side* at);
