// SPDX-License-Identifier: MIT
/// One direction between a client and the server of the simulated network: a link for realtime
/// datagrams, and a queue of control messages that simulates resending. Control messages arrive in
/// the order in which they were queued.
#pragma once

#include "net/link.h"

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

/// Queue a control message, copied. @return NET_OK; NET_ERR_FULL (NET_SIM_CONTROL_QUEUED_BYTES_MAX
/// wait, or memory ran
///         out: nothing was queued).
net_result net_sim_path_control_push(net_sim_path* along, uint64_t now_us,
                                     net_sim_control_kind kind, uint32_t epoch, uint32_t reason,
                                     const void* bytes, size_t size);
/// Get the next control message that has arrived by now. @return NULL when none has.
net_sim_control* net_sim_path_control_peek(net_sim_path* along, uint64_t now_us);
/// Remove that message; the caller frees it with net_sim_control_free.
void net_sim_path_control_pop(net_sim_path* along);
/// Free all queued control messages.
void net_sim_path_clear_control(net_sim_path* cleared);
/// NULL is allowed.
void net_sim_control_free(const base_allocator* allocator, net_sim_control* message);
