// SPDX-License-Identifier: MIT
// ENet's own datagram, clock and random functions, defined again.
// libenet.so calls them through its procedure linkage table, so the definitions of the executable
// win; nothing of ENet is patched. One place where every datagram passes, in both directions:
//
//   enet_socket_send    -> [guard] -> socket_outer.c -> kernel
//   enet_socket_receive <- [guard] <- socket_outer.c <- kernel
//
// ENet reads 0 from a receive as "no more datagrams" and a negative number for a failure of the
// whole host. So an empty datagram would end the drain, and a long one the service. Neither is ever
// returned for a datagram: a refused datagram is counted and the next one is read. Errors of
// the kernel when sending count as loss.
//
// Left to transport_enet.c: the content of a datagram.
#include "transport/socket_state.h"

#include "net/token.h"
#include "net/transport.h"

#include "base/assert.h"

#include <enet/enet.h>

#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <netinet/udp.h>
#include <string.h>
#include <sys/random.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#define VIRTUAL_UNIX_S UINT64_C(1800000000)

enum { SKIPPED_MAX = 16384 }; // datagrams without an inner one that a receive steps over

// ---- ENet's functions: datagrams

static void inner_send(net_socket_entry* entry, bool is_packet, uint32_t host, uint16_t port,
                       const uint8_t* bytes, size_t size) {
    if (!entry->has_guard) {
        net_address to = net_address_ipv4(host, port);
        net_socket_outer_send(entry, &to, bytes, size);
        return;
    }
    const net_socket_guard* guard = &entry->guard;
    uint8_t out[NET_SOCKET_OUTER_BYTES_MAX];
    net_address to = {0};
    size_t sealed = guard->send(guard->context, is_packet, host, port, bytes, size, out, &to);
    BASE_ASSERT(sealed <= sizeof out);
    if (sealed > 0) net_socket_outer_send(entry, &to, out, sealed);
}

void net_socket_send_packet(int descriptor, uint32_t host, uint16_t port, const void* bytes,
                            size_t size) {
    net_socket_entry* entry = net_socket_entry_find(descriptor);
    if (!entry) return; // no memory: loss
    BASE_ASSERT(entry->has_guard && size <= NET_STATE_BYTES_MAX);
    inner_send(entry, true, host, port, bytes, size);
}

// What ENet gets of an outer datagram; 0: nothing.
static size_t open_outer(net_socket_entry* entry, const net_address* from, uint8_t* outer,
                         size_t size, const uint8_t** inner, ENetAddress* address) {
    if (entry->has_guard) {
        const net_socket_guard* guard = &entry->guard;
        size_t opened = guard->receive(guard->context, from, outer, size, inner, &address->host,
                                       &address->port);
        BASE_ASSERT(opened <= NET_DATAGRAM_BYTES_MAX);
        return opened;
    }
    *inner = outer;
    *address = (ENetAddress){.host = net_address_ipv4_host(from), .port = from->port};
    if (net_address_is_ipv4(from)) return size;
    entry->stats.socket_errors++; // ENet alone has no words for it
    return 0;
}

int enet_socket_send(ENetSocket socket, const ENetAddress* address, const ENetBuffer* buffers,
                     size_t count) {
    net_socket_entry* entry = net_socket_entry_find(socket);
    uint8_t bytes[NET_DATAGRAM_BYTES_MAX];
    size_t size = 0;
    bool fits = address != NULL;
    for (size_t i = 0; i < count; i++) {
        if (fits && size + buffers[i].dataLength <= sizeof bytes)
            memcpy(bytes + size, buffers[i].data, buffers[i].dataLength);
        else
            fits = false;
        size += buffers[i].dataLength;
    }
    if (!entry) return (int)size; // no memory: loss
    if (fits)
        inner_send(entry, false, address->host, address->port, bytes, size);
    else
        entry->stats.socket_errors++;
    return (int)size;
}

bool net_socket_read_ahead(int descriptor) {
    net_socket_entry* entry = net_socket_entry_find(descriptor);
    for (int skipped = 0; entry && entry->ahead_bytes == 0 && skipped < SKIPPED_MAX; skipped++) {
        net_address from = {0};
        uint8_t* outer = NULL;
        const uint8_t* inner = NULL;
        ENetAddress seen = {0};
        size_t size = entry->trunk ? net_socket_lane_receive(entry, &from, &outer)
                                   : net_socket_outer_receive(entry, &from, &outer);
        if (size == 0) return false;
        size = open_outer(entry, &from, outer, size, &inner, &seen);
        if (size == 0 || size > sizeof entry->ahead) continue;
        memcpy(entry->ahead, inner, size);
        entry->ahead_bytes = (uint32_t)size;
        entry->ahead_host = seen.host;
        entry->ahead_port = seen.port;
    }
    return entry && entry->ahead_bytes > 0;
}

int enet_socket_receive(ENetSocket socket, ENetAddress* address, ENetBuffer* buffers,
                        size_t count) {
    if (count == 0 || !net_socket_read_ahead(socket)) return 0;
    net_socket_entry* entry = net_socket_entry_find(socket);
    const uint32_t size = entry->ahead_bytes;
    entry->ahead_bytes = 0;
    if (size > buffers->dataLength) return 0;
    memcpy(buffers->data, entry->ahead, size);
    if (address) *address = (ENetAddress){.host = entry->ahead_host, .port = entry->ahead_port};
    return (int)size;
}

// ---- ENet's functions: clock and chance

enet_uint32 enet_time_get(void) {
    net_socket_state* state = net_socket_get_state();
    if (state->is_probing) state->time_calls++;
    return (enet_uint32)(net_socket_now_us() / 1000) + state->time_offset_ms;
}

void enet_time_set(enet_uint32 time_ms) {
    net_socket_state* state = net_socket_get_state();
    state->time_offset_ms = time_ms - (enet_uint32)(net_socket_now_us() / 1000);
}

// ENet's own is the time in seconds, so an attacker could guess the identifiers of connections.
enet_uint32 enet_host_random_seed(void) {
    net_socket_state* state = net_socket_get_state();
    enet_uint32 seed = 0;
    if (state->calls) return state->calls->draw();
    if (getrandom(&seed, sizeof seed, GRND_NONBLOCK) == (ssize_t)sizeof seed) return seed;
    return (enet_uint32)time(NULL) ^ (enet_uint32)getpid() << 16;
}

uint64_t net_socket_unix_s(void) {
    const net_socket_state* state = net_socket_get_state();
    return state->calls ? VIRTUAL_UNIX_S + state->calls->now_us() / 1000000 : (uint64_t)time(NULL);
}

void net_socket_fill(void* context, void* bytes, size_t size) {
    (void)context;
    net_socket_state* state = net_socket_get_state();
    if (!state->calls) {
        const net_entropy* system = net_entropy_system();
        system->fill(system->context, bytes, size);
        return;
    }
    uint8_t* at = bytes;
    for (size_t i = 0; i < size; i++)
        at[i] = (uint8_t)state->calls->draw();
}

// Let libenet flush a host without peers: all it does is to ask for the time, here or elsewhere.
bool net_socket_is_installed(void) {
    static const ENetHost no_host;
    ENetHost probe = no_host;
    net_socket_state* state = net_socket_get_state();
    state->time_calls = 0;
    state->is_probing = true;
    enet_host_flush(&probe);
    state->is_probing = false;
    return state->time_calls > 0;
}

// ENet's functions that open, bind, set up and close sockets, defined
// again. ENet knows one IPv4 descriptor; the plan of net_socket_plan_next makes it one or two, of
// either family. ENet's own address is then only a request for "the addresses of the plan".

#ifndef UDP_SEGMENT
#define UDP_SEGMENT 103
#endif

void net_socket_plan_next(const net_socket_plan* plan) {
    BASE_ASSERT(plan && plan->listen_count <= NET_SOCKET_ADDRESSES_MAX);
    net_socket_get_state()->has_plan = true;
    net_socket_get_state()->plan = *plan;
}

uint32_t net_socket_addresses(int descriptor, net_address* addresses) {
    const net_socket_entry* entry = net_socket_entry_find(descriptor);
    if (!entry) return 0;
    for (uint32_t i = 0; i < entry->bound_count; i++)
        addresses[i] = entry->bound[i];
    return entry->bound_count;
}

uint32_t net_socket_descriptors(int descriptor, int* descriptors) {
    const net_socket_entry* entry = net_socket_entry_find(descriptor);
    if (!entry || net_socket_get_state()->calls) return 0;
    for (uint32_t i = 0; i < entry->pipe_count; i++)
        descriptors[i] = net_socket_pipe_descriptor(entry->pipes[i]);
    return entry->pipe_count;
}

// ---- opening

// `is_only`: an IPv6 socket that leaves IPv4 to another one.
static int open_family(bool is_ipv6, bool is_only) {
    const net_socket_calls* calls = net_socket_get_state()->calls;
    if (calls) return calls->open(is_ipv6, is_only);
    int descriptor = socket(is_ipv6 ? AF_INET6 : AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
    int only = is_only;
    if (!is_ipv6 || descriptor < 0) return descriptor;
    if (setsockopt(descriptor, IPPROTO_IPV6, IPV6_V6ONLY, &only, sizeof only) == 0)
        return descriptor;
    (void)close(descriptor);
    return -1;
}

static bool has_segments(int descriptor) {
    int off = 0;
    return !net_socket_get_state()->calls &&
           setsockopt(descriptor, IPPROTO_UDP, UDP_SEGMENT, &off, sizeof off) == 0;
}

// NULL without a descriptor.
static net_socket_pipe* pipe_make(int descriptor, bool is_ipv6, uint32_t batch) {
    if (descriptor < 0) return NULL;
    return net_socket_pipe_create(net_socket_get_state()->calls, descriptor, is_ipv6,
                                  has_segments(descriptor), batch);
}

// @return the number of pipes, 0 with errno.
static uint32_t open_pipes(const net_socket_plan* plan, net_socket_pipe** pipes) {
    for (uint32_t i = 0; i < plan->listen_count; i++) {
        bool is_ipv6 = !net_address_is_ipv4(&plan->listen[i]);
        pipes[i] = pipe_make(open_family(is_ipv6, plan->listen_count > 1), is_ipv6, plan->batch);
        if (pipes[i]) continue;
        if (i > 0) net_socket_pipe_destroy(pipes[0], &(net_socket_stats){0});
        return 0;
    }
    if (plan->listen_count > 0) return plan->listen_count;
    int descriptor = open_family(true, false);
    bool is_ipv6 = descriptor >= 0;
    if (!is_ipv6) descriptor = open_family(false, false);
    pipes[0] = pipe_make(descriptor, is_ipv6, plan->batch);
    return pipes[0] ? 1 : 0;
}

static int create_socket(const net_socket_plan* plan) {
    net_socket_pipe* pipes[NET_SOCKET_ADDRESSES_MAX] = {NULL};
    uint32_t count = 1;
    if (plan)
        count = open_pipes(plan, pipes);
    else
        pipes[0] = pipe_make(open_family(false, false), false, 1);
    if (count == 0 || !pipes[0]) return -1;
    int descriptor = net_socket_pipe_descriptor(pipes[0]);
    net_socket_entry* entry = net_socket_entry_get(descriptor);
    memcpy(entry->pipes, pipes, sizeof pipes);
    entry->pipe_count = count;
    return descriptor;
}

ENetSocket enet_socket_create(ENetSocketType type) {
    net_socket_state* state = net_socket_get_state();
    const net_socket_plan* plan = state->has_plan ? &state->plan : NULL;
    state->has_plan = false;
    if (type != ENET_SOCKET_TYPE_DATAGRAM) {
        errno = EPROTONOSUPPORT;
        return -1;
    }
    if (plan && plan->is_lane) return net_socket_lane_create(plan);
    int descriptor = create_socket(plan);
    net_socket_entry* entry = net_socket_entry_find(descriptor);
    if (!entry || !plan) return descriptor;
    memcpy(entry->bound, plan->listen, sizeof entry->bound);
    entry->bound_count = plan->listen_count;
    return descriptor;
}

// Flushes and closes all descriptors.
void enet_socket_destroy(ENetSocket socket) {
    net_socket_forget(socket);
}

// ---- binding

int enet_socket_bind(ENetSocket socket, const ENetAddress* address) {
    net_socket_entry* entry = net_socket_entry_find(socket);
    if (!entry) return -1;
    if (entry->trunk) return 0; // it is bound
    entry->is_server = true;
    if (entry->bound_count == 0) {
        entry->bound[0] = address ? net_address_ipv4(address->host, address->port)
                                  : net_address_ipv4(ENET_HOST_ANY, 0);
        entry->bound_count = 1;
    }
    for (uint32_t i = 0; i < entry->bound_count; i++) {
        if (!net_socket_pipe_bind(entry->pipes[i], &entry->bound[i])) return -1;
    }
    return 0;
}

int enet_socket_get_address(ENetSocket socket, ENetAddress* address) {
    const net_socket_entry* entry = net_socket_entry_find(socket);
    if (!entry) return -1;
    const net_address* first = &(entry->trunk ? entry->trunk : entry)->bound[0];
    *address = (ENetAddress){.host = net_address_ipv4_host(first), .port = first->port};
    return 0;
}

// ---- options

// Those that ENet's host and the transport set.
static int set_option(int descriptor, ENetSocketOption option, int value) {
    static const int names[] = {[ENET_SOCKOPT_BROADCAST] = SO_BROADCAST,
                                [ENET_SOCKOPT_RCVBUF] = SO_RCVBUF,
                                [ENET_SOCKOPT_SNDBUF] = SO_SNDBUF};
    switch (option) {
    case ENET_SOCKOPT_NONBLOCK: {
        int flags = fcntl(descriptor, F_GETFL);
        if (flags < 0) return -1;
        flags = value ? flags | O_NONBLOCK : flags & ~O_NONBLOCK;
        return fcntl(descriptor, F_SETFL, flags) < 0 ? -1 : 0;
    }
    case ENET_SOCKOPT_BROADCAST:
    case ENET_SOCKOPT_RCVBUF:
    case ENET_SOCKOPT_SNDBUF:
        return setsockopt(descriptor, SOL_SOCKET, names[option], &value, sizeof value);
    default:
        return -1;
    }
}

int enet_socket_set_option(ENetSocket socket, ENetSocketOption option, int value) {
    const net_socket_entry* entry = net_socket_entry_find(socket);
    int result = entry ? 0 : -1;
    if (entry && (entry->trunk || net_socket_get_state()->calls)) return 0; // the trunk's; none
    for (uint32_t i = 0; entry && i < entry->pipe_count; i++)
        if (set_option(net_socket_pipe_descriptor(entry->pipes[i]), option, value) != 0)
            result = -1;
    return result;
}
