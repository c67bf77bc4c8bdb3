// SPDX-License-Identifier: MIT
// What the files of the socket layer share: one entry per descriptor, and the state of the process.
#pragma once

#include "transport/socket_pipe.h"

#include "net/socket.h"

// Datagrams in order of arrival: a head, then the bytes. It is empty when both ends are equal.
typedef struct net_socket_ring {
    uint8_t* bytes; // NET_SOCKET_LANE_BYTES
    uint32_t first, end;
} net_socket_ring;

typedef struct net_socket_entry {
    int descriptor;
    uint32_t number; // of creation in this process: seeds the links
    // Where it is, or shall be, bound.
    net_address bound[NET_SOCKET_ADDRESSES_MAX];
    uint32_t bound_count;
    bool is_server;                                   // bound by its user, so that others find it
    net_socket_pipe* pipes[NET_SOCKET_ADDRESSES_MAX]; // of the kernel; the first is `descriptor`
    uint32_t pipe_count;
    uint32_t turn; // the pipe to read next
    bool has_budget;
    net_socket_budget budget; // `datagrams` counts down
    net_link* out;            // bad network, towards the wire; NULL when there is none
    net_link* in;             // bad network, from the wire
    bool has_guard;
    net_socket_guard guard;
    struct net_socket_entry* trunk; // of a lane; NULL: it is none
    net_socket_ring ring;           // of a lane: what waits for it
    net_socket_stats stats;
    // Read before ENet asked for it (net_socket_read_ahead).
    uint8_t ahead[NET_DATAGRAM_BYTES_MAX];
    uint32_t ahead_bytes; // 0: none
    uint32_t ahead_host;
    uint16_t ahead_port;
} net_socket_entry;

typedef struct net_socket_table {
    net_socket_entry** entries; // by descriptor, NULL where there is none
    uint32_t capacity;
} net_socket_table;

struct net_socket_state {
    const net_socket_calls* calls; // NULL: the kernel's, with its clock
    net_socket_table real;
    net_socket_table lanes; // by descriptor - NET_SOCKET_LANE_FIRST
    uint32_t created;
    bool has_plan;
    net_socket_plan plan;
    uint8_t received[NET_SOCKET_OUTER_BYTES_MAX]; // from a link
    bool has_link;
    net_link_pair link;
    _Atomic uint64_t release_us; // no out link has anything due before; lanes lower it
    uint64_t pumped_us;          // real clock at the last pump, 0 before the first
    uint64_t skipped_us;         // what stalls took out of the clock
    uint32_t time_offset_ms;
    bool is_probing; // enet_time_get counts its calls
    uint32_t time_calls;
};

// What the calling thread uses; the single exception to the rule against globals (net/socket.h says
// why).
net_socket_state* net_socket_get_state(void);
// The entry of a descriptor, made when there is none.
net_socket_entry* net_socket_entry_get(int descriptor);
net_socket_entry* net_socket_entry_find(int descriptor);
void net_socket_forget(int descriptor);
// Descriptor of a new lane; -1 with errno.
int net_socket_lane_create(const net_socket_plan* plan);
// A lane's next datagram, as net_socket_outer_receive.
size_t net_socket_lane_receive(net_socket_entry* entry, net_address* from, uint8_t** bytes);
// Once per service: takes stalls out of the clock.
void net_socket_clock_pump(void);

// Outer datagrams: what the wire and --net see.
void net_socket_outer_send(net_socket_entry* entry, const net_address* to, const void* bytes,
                           size_t size);
// The next one of sound size, 1..NET_SOCKET_OUTER_BYTES_MAX. *bytes is borrowed until the next
// call. @return 0 when there is none.
size_t net_socket_outer_receive(net_socket_entry* entry, net_address* from, uint8_t** bytes);

// socket_rebind.c: another port for a client's socket, under the same descriptors. Does nothing for
// a server's, whose clients would not find it.
void net_socket_rebind(net_socket_entry* entry);
