// SPDX-License-Identifier: MIT
// One descriptor of the kernel: datagrams go in and out in batches, so that a system call is paid
// once for many.
#pragma once

#include "net/socket.h"

#include "base/alloc.h"

struct mmsghdr;
struct timespec;

// Datagrams of one system call.
enum { NET_SOCKET_BATCH_MAX = 64 };

// The system below a socket, which tests replace: of one pipe, or of a thread's sockets and clock
// (tests/support/virtual_wire.h).
typedef struct net_socket_calls {
    int (*receive)(int descriptor, struct mmsghdr* messages, unsigned count, int flags,
                   struct timespec* timeout);
    int (*send)(int descriptor, struct mmsghdr* messages, unsigned count, int flags);
    // A port of 0 becomes the one that it gets. @return false with errno.
    bool (*bind)(int descriptor, bool is_ipv6, net_address* address);
    int (*close_socket)(int descriptor);
    // Of a thread's alone; `is_only`: IPv4 is left to another one.
    int (*open)(bool is_ipv6, bool is_only);
    bool (*rebind)(int descriptor);
    uint64_t (*now_us)(void);
    uint32_t (*draw)(void);
    uint32_t batch_max; // 0: NET_SOCKET_BATCH_MAX
} net_socket_calls;

typedef struct net_socket_pipe net_socket_pipe;

// Takes over an open UDP descriptor. `batch`: 1..NET_SOCKET_BATCH_MAX; with 1 each datagram is sent
// at once. `has_segments`: the kernel cuts one long buffer into datagrams (UDP_SEGMENT). `calls`
// NULL: the kernel's.
net_socket_pipe* net_socket_pipe_create(const net_socket_calls* calls, int descriptor, bool is_ipv6,
                                        bool has_segments, uint32_t batch);
// Another batch for sending through the descriptor of `owner`, which must outlive it. It receives
// nothing (asserted).
net_socket_pipe* net_socket_pipe_share(const net_socket_pipe* owner, uint32_t batch);
// Flush, close the descriptor unless it is shared. NULL is fine.
void net_socket_pipe_destroy(net_socket_pipe* old, net_socket_stats* stats);
int net_socket_pipe_descriptor(const net_socket_pipe* at);
bool net_socket_pipe_is_ipv6(const net_socket_pipe* at);
// Bind it; a port of 0 becomes the one that the kernel gives. @return false with errno.
bool net_socket_pipe_bind(const net_socket_pipe* at, net_address* address);

// The next datagram of any size. *size is its true size, also when it was cut to
// NET_SOCKET_OUTER_BYTES_MAX. *bytes is borrowed until the next call. @return false when the kernel
// had no more.
bool net_socket_pipe_receive(net_socket_pipe* at, net_address* from, uint8_t** bytes, size_t* size,
                             net_socket_stats* stats);
// Did the last system call bring datagrams that are not taken yet?
bool net_socket_pipe_has_rest(const net_socket_pipe* at);
// Put a datagram of at most NET_SOCKET_OUTER_BYTES_MAX bytes into the batch; a full one is sent.
// Datagrams to one address keep their order. Failures are loss, counted as socket_errors.
void net_socket_pipe_send(net_socket_pipe* at, const net_address* to, const void* bytes,
                          size_t size, net_socket_stats* stats);
void net_socket_pipe_flush(net_socket_pipe* at, net_socket_stats* stats);
