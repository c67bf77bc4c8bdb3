// SPDX-License-Identifier: MIT
/// What only executables link (target shoal_socket): the sockets below ENet, and the clock, the
/// signals and the one wait of a main loop.
#pragma once

#include "base/macros.h"
#include "net/token.h"
#include "net/transport.h"

BASE_C_BEGIN

// ---- sockets ----

/// The socket layer below ENet. net/socket/*.c defines ENet's own functions for sockets, clock and
/// random seed. It is linked into executables only, where libenet resolves them. Every datagram
/// passes here first: empty and oversized ones are dropped, errors of the kernel become loss, --net
/// simulates a bad network.
///
/// State: one per process, because ENet's functions have no context argument, and one more for each
/// net_socket_state. Threads: one at a time per state. Lanes are the exception: each may have its
/// own thread while no other function is called.

/// Sockets, clock and --net of a thread that has its own beside the process's: a server and its
/// players in one process. A transport belongs to the state that it was made in.
typedef struct net_socket_state net_socket_state;
/// @return a state without --net; the caller destroys it.
net_socket_state* net_socket_state_create(void);
/// No thread uses it any more, and its transports are destroyed. NULL does nothing.
void net_socket_state_destroy(net_socket_state* state);
/// The calling thread uses `state` from now on; NULL: that of the process, as each thread at first.
/// No lanes with threads of their own (net_server_config.is_threaded): those use the process's.
void net_socket_state_use(net_socket_state* state);

/// Lanes have descriptors from here on, beyond any real one.
#define NET_SOCKET_LANE_FIRST (1 << 25)

/// Does libenet really call this layer? net_transport_enet_create checks it.
bool net_socket_is_installed(void);

/// Simulate a bad network on every socket of this process, in both directions. NULL: none.
/// Datagrams on their way are lost.
void net_socket_link_set(const net_link_config* config);
/// The same with a config for each direction: `up` is what this process sends.
void net_socket_link_set_pair(const net_link_pair* pair);

#define NET_SOCKET_ADDRESSES_MAX 2u

/// How the next ENet host of this thread gets its socket.
typedef struct net_socket_plan {
    /// Where a server listens: one address, or one of each family. [::] alone hears IPv4 too. None:
    /// a client, of both families when the kernel has IPv6.
    net_address listen[NET_SOCKET_ADDRESSES_MAX];
    uint32_t listen_count;
    /// The socket becomes a lane of this open one instead: it sends through it, and receives what
    /// net_socket_lane_push gives it. It must be closed before.
    bool is_lane;
    int trunk;
    /// Datagrams of one system call, 1..64. With more than 1 the user calls net_socket_flush after
    /// each use of the host.
    uint32_t batch;
} net_socket_plan;
/// Give it just before enet_host_create; that uses it up. Without a plan a socket is IPv4 and sends
/// at once.
void net_socket_plan_next(const net_socket_plan* plan);
/// The addresses that a socket is bound to, at most NET_SOCKET_ADDRESSES_MAX. @return their number.
uint32_t net_socket_addresses(int descriptor, net_address* addresses);
/// The descriptors of the kernel to wait on, at most NET_SOCKET_ADDRESSES_MAX.
/// @return their number; 0 in virtual time.
uint32_t net_socket_descriptors(int descriptor, int* descriptors);

// Lanes: several ENet hosts behind one socket, the trunk. Its owner reads datagrams from the trunk
// and gives each to the lane that it belongs to.

/// Bytes of datagrams, with their addresses, that wait in a lane.
#define NET_SOCKET_LANE_BYTES (1u << 20)

/// Read the next datagram of a trunk, within its budget. *bytes is borrowed until the next call.
/// @return its size, 1..NET_SOCKET_OUTER_BYTES_MAX; 0: there is none now.
size_t net_socket_trunk_receive(int descriptor, net_address* from, const uint8_t** bytes);
/// Has a lane room for any datagram?
bool net_socket_lane_has_room(int descriptor);
/// Does a datagram wait in a lane?
bool net_socket_lane_has_rest(int descriptor);
/// Give a lane a datagram, copied. It must have room (asserted).
void net_socket_lane_push(int descriptor, const net_address* from, const uint8_t* bytes,
                          size_t size);

/// What may be read until the next call of net_socket_budget_set. The clock is asked once in 16
/// datagrams. What is over stays in the kernel's buffer.
typedef struct net_socket_budget {
    uint32_t datagrams;                 ///< of any kind, refused ones included
    uint64_t until_us;                  ///< of wall_us
    uint64_t (*wall_us)(void* context); ///< NULL: no clock
    void* context;
} net_socket_budget;
/// NULL: no limit. An unknown descriptor is ignored.
void net_socket_budget_set(int descriptor, const net_socket_budget* budget);
/// Microseconds of CLOCK_MONOTONIC for budgets; 0 in virtual time, which never asks a real clock.
uint64_t net_socket_wall_us(void);

/// Per-socket counters; zeros for an unknown descriptor.
typedef struct net_socket_stats {
    uint64_t sent_bytes, recv_bytes, sent_datagrams, recv_datagrams;
    uint64_t sim_dropped, dropped_empty, dropped_oversized, socket_errors;
    uint64_t send_calls, recv_calls; ///< system calls
} net_socket_stats;
void net_socket_get_stats(int descriptor, net_socket_stats* stats);

/// Longest datagram on the wire: what every IPv6 path carries in one piece.
#define NET_SOCKET_OUTER_BYTES_MAX 1232u

/// What is between the wire and ENet: it opens and seals datagrams. Its functions are called by
/// the thread that owns the host, and must not use ENet or the socket, except for
/// net_socket_wire_send. ENet sees only the addresses that the guard gives.
typedef struct net_socket_guard {
    void* context;
    /// A datagram of 1..NET_SOCKET_OUTER_BYTES_MAX bytes came; it may be decrypted in place.
    /// @return the bytes of the inner datagram, at most NET_DATAGRAM_BYTES_MAX; 0: ENet gets none
    ///         (part of a handshake, a packet, or dropped). *inner points into `bytes`; *host
    ///         (network order) and *port are the address that ENet sees.
    size_t (*receive)(void* context, const net_address* from, uint8_t* bytes, size_t size,
                      const uint8_t** inner, uint32_t* host, uint16_t* port);
    /// ENet sends to an address that `receive` or the transport gave; or, is_packet,
    /// net_socket_send_packet does.
    /// @return the bytes in `out` (capacity NET_SOCKET_OUTER_BYTES_MAX), 0: dropped. *to: where.
    size_t (*send)(void* context, bool is_packet, uint32_t host, uint16_t port,
                   const uint8_t* bytes, size_t size, uint8_t* out, net_address* to);
} net_socket_guard;

/// Send a packet of the realtime channel, which is no datagram of ENet: sealed by the guard, to the
/// address that ENet would give. At most NET_STATE_BYTES_MAX bytes (asserted);
/// failures are loss. The descriptor must have a guard (asserted).
void net_socket_send_packet(int descriptor, uint32_t host, uint16_t port, const void* bytes,
                            size_t size);
/// Put a guard (copied) on the socket of an ENet host. NULL: none; then ENet sees IPv4 addresses
/// as they are. The descriptor must be open (asserted).
void net_socket_guard_set(int descriptor, const net_socket_guard* guard);
/// Read until there is a datagram for ENet, which gets it at its next receive: the guard keeps what
/// is none. @return is there one?
bool net_socket_read_ahead(int descriptor);
/// Send a datagram as it is, past the guard: its own answers. Through --net as all others. At most
/// NET_SOCKET_OUTER_BYTES_MAX bytes (asserted); failures are loss.
void net_socket_wire_send(int descriptor, const net_address* to, const void* bytes, size_t size);
/// Send what waits in the batch of a socket. An unknown descriptor is ignored.
void net_socket_flush(int descriptor);
/// Microseconds of the layer's clock: CLOCK_MONOTONIC without stalls of the process, or virtual.
uint64_t net_socket_now_us(void);
/// Seconds since 1970; on the virtual wire a fixed day plus the virtual clock.
uint64_t net_socket_unix_s(void);
/// Secrets and nonces from the system's generator; on the virtual wire from its seed. A `fill` of
/// net_entropy: `context` is not used.
void net_socket_fill(void* context, void* bytes, size_t size);
/// Send the datagrams that the simulated network held back until now. Call it once per service.
void net_socket_pump(void);
/// Does the simulated network still hold datagrams of this process? What it holds at the end of the
/// process is lost.
bool net_socket_is_sending(void);
/// Microseconds until the next simulated datagram is due; 0 when datagrams were read and not given
/// to ENet yet; UINT64_MAX when nothing is on its way.
uint64_t net_socket_next_us(void);

// ---- the main loop ----

/// What a program's main loop needs of the operating system: a clock, signals as data, and one
/// wait. Linked into executables only (target shoal_socket); libraries get time as an argument.

#define NET_LOOP_SOCKETS_MAX 4096u

typedef struct net_loop {
    int signals; ///< signalfd for SIGINT and SIGTERM; for two more after net_loop_hear_operator
    BASE_ATOMIC(bool) is_reload_asked; ///< a SIGHUP came; the program sets it back
    BASE_ATOMIC(bool) is_status_asked; ///< a SIGUSR1 came; the program sets it back
    /// Another thread took a SIGTERM or SIGINT (host/sentry.h): the next wait returns true.
    BASE_ATOMIC(bool) is_end_asked;
    int sockets[NET_LOOP_SOCKETS_MAX];
    uint32_t socket_count;
    uint64_t rest_us; ///< sockets do not end a wait before: what comes until then is read at once
} net_loop;

/// Microseconds of CLOCK_MONOTONIC.
uint64_t net_loop_now_us(void);
/// Microseconds of processor time that all threads of this process took, in user code and in the
/// kernel.
uint64_t net_loop_cpu_us(void);
/// Milliseconds since 1970, for people.
uint64_t net_loop_unix_ms(void);
/// Block SIGINT and SIGTERM and receive them as data; ignore SIGPIPE; make stdout
/// line-buffered; raise the limit of open files to what the system allows. Signals are blocked for
/// the calling thread, so call it before other threads are made.
/// @return false when the system refuses (errno says why).
BASE_MUST_USE bool net_loop_init(net_loop* loop);
/// Receive SIGHUP (read files again) and SIGUSR1 (print the state) as data too. Without this call
/// both end the program. @return false when the system refuses (errno says why).
BASE_MUST_USE bool net_loop_hear_operator(net_loop* loop);
/// Close the signalfd; signals stay blocked.
void net_loop_deinit(net_loop* loop);
/// Wait until a socket is readable, a signal came, or `until_us` is reached (not at all when that
/// is past).
/// @return true when SIGINT or SIGTERM came since the last call.
bool net_loop_wait(net_loop* loop, uint64_t until_us);

BASE_C_END
