// SPDX-License-Identifier: MIT ENet's own socket, clock and random functions, defined again.
// libenet.so calls them through its procedure linkage table, so the definitions of the executable
// win; nothing of ENet is patched. One place where every datagram passes, in both directions:
//
//   enet_socket_send    -> [guard] -> [out link of --net] -> kernel or virtual wire
//   enet_socket_receive <- [guard] <- [in link of --net] <- refuse empty, oversized, unanswerable
//
// ENet takes 0 from a receive for "no more datagrams" and a negative number for a failure of the
// whole host. So an empty datagram would end the drain, and a long one the service. Here neither is
// ever returned for a datagram: a refused datagram is counted and the next one is read. Errors of
// the kernel when sending count as loss.
//
// Left to transport_enet.c: the content of a datagram.
#include "socket/socket_state.h"

#include "net/transport.h"

#include "base/assert.h"
#include "base/hash.h"

#include <enet/enet.h>

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/random.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

// Refused datagrams that one receive steps over; the next call goes on.
enum { SKIPPED_MAX = 4096 };

// ---- the wire: kernel or virtual

static void wire_send(net_socket_entry* entry, const net_address* to, const void* bytes,
                      size_t size) {
    if (entry->is_virtual) {
        net_socket_virtual_send(entry, to, bytes, size);
        return;
    }
    struct sockaddr_in address = {.sin_family = AF_INET,
                                  .sin_port = htons(to->port),
                                  .sin_addr.s_addr = net_address_ipv4_host(to)};
    ssize_t sent = sendto(entry->descriptor, bytes, size, MSG_NOSIGNAL | MSG_DONTWAIT,
                          (const struct sockaddr*)&address, sizeof address);
    if (sent < 0) entry->stats.socket_errors++;
}

// Receive any datagram; *size is its true size even when `capacity` is too small.
static bool wire_receive(net_socket_entry* entry, net_address* from, void* bytes, size_t capacity,
                         size_t* size) {
    if (entry->is_virtual) return net_socket_virtual_receive(entry, from, bytes, capacity, size);
    for (int tries = 0; tries < SKIPPED_MAX; tries++) {
        struct sockaddr_in address = {0};
        socklen_t address_size = sizeof address;
        ssize_t got = recvfrom(entry->descriptor, bytes, capacity, MSG_DONTWAIT | MSG_TRUNC,
                               (struct sockaddr*)&address, &address_size);
        if (got >= 0) {
            *from = net_address_ipv4(address.sin_addr.s_addr, ntohs(address.sin_port));
            *size = (size_t)got;
            return true;
        }
        if (errno == EAGAIN || errno == EWOULDBLOCK) return false;
        if (errno == EINTR) continue;
        entry->stats.socket_errors++;
        if (errno == EBADF || errno == ENOTSOCK) return false;
    }
    return false;
}

// The next datagram that may reach the guard or ENet; 0 when there is none.
static size_t wire_receive_sound(net_socket_entry* entry, net_address* from, void* bytes,
                                 size_t capacity) {
    size_t size = 0;
    for (int skipped = 0; skipped < SKIPPED_MAX; skipped++) {
        if (!wire_receive(entry, from, bytes, capacity, &size)) return 0;
        if (size == 0)
            entry->stats.dropped_empty++;
        else if (size > NET_SOCKET_OUTER_BYTES_MAX || size > capacity)
            entry->stats.dropped_oversized++;
        else if (from->port == 0) // cannot be answered: the kernel refuses to send there
            entry->stats.socket_errors++;
        else
            return size;
    }
    return 0;
}

// ---- the bad network

static bool has_link(const net_socket_entry* entry) {
    return entry->has_link || net_socket_get_state()->has_link;
}

static net_link* link_get(net_link** link, const net_socket_entry* entry, uint64_t direction) {
    if (*link) return *link;
    const net_link_pair* pair = &net_socket_get_state()->link;
    net_link_config config = direction == 0 ? pair->up : pair->down;
    config.seed = base_hash64_mix(config.seed, (uint64_t)entry->number << 1 | direction);
    return net_link_create(NULL, &config, link) == NET_OK ? *link : NULL;
}

static void release_due(net_socket_entry* entry, uint64_t now_us) {
    uint64_t tag = 0;
    size_t size = 0;
    const uint8_t* bytes;
    while ((bytes = net_link_peek(entry->out, now_us, &tag, &size))) {
        net_address to = net_socket_tag_address(tag);
        wire_send(entry, &to, bytes, size);
        net_link_pop(entry->out);
    }
}

static size_t receive_through_link(net_socket_entry* entry, net_address* from, void* bytes,
                                   size_t capacity) {
    net_link* link = link_get(&entry->in, entry, 1);
    uint8_t buffer[NET_SOCKET_OUTER_BYTES_MAX];
    uint64_t now_us = net_socket_now_us(), tag = 0;
    size_t size = 0;
    for (uint32_t i = 0; link && i < NET_LINK_DATAGRAMS_MAX; i++) {
        size = wire_receive_sound(entry, from, buffer, sizeof buffer);
        if (size == 0) break;
        net_link_push(link, now_us, net_socket_tag(from), buffer, size);
    }
    const uint8_t* due = link ? net_link_peek(link, now_us, &tag, &size) : NULL;
    if (!due) return 0;
    *from = net_socket_tag_address(tag);
    if (size > capacity) size = capacity;
    memcpy(bytes, due, size);
    net_link_pop(link);
    return size;
}

static void expect_release(net_socket_state* state, const net_link* out) {
    uint64_t next_us = net_link_next_us(out);
    if (next_us < state->release_us) state->release_us = next_us;
}

// Every transport pumps in each service, so with many transports nearly always nothing is due.
void net_socket_pump(void) {
    net_socket_state* state = net_socket_get_state();
    net_socket_clock_pump();
    uint64_t now_us = net_socket_now_us();
    if (now_us < state->release_us) return;
    state->release_us = UINT64_MAX;
    const net_socket_table* const tables[] = {&state->real, &state->virtual};
    for (uint32_t t = 0; t < BASE_COUNT(tables); t++) {
        for (uint32_t i = 0; i < tables[t]->capacity; i++) {
            net_socket_entry* entry = tables[t]->entries[i];
            if (!entry || !entry->out) continue;
            release_due(entry, now_us);
            expect_release(state, entry->out);
        }
    }
}

uint64_t net_socket_next_us(void) {
    const net_socket_state* state = net_socket_get_state();
    const net_socket_table* const tables[] = {&state->real, &state->virtual};
    uint64_t next_us = UINT64_MAX, now_us = net_socket_now_us();
    for (uint32_t t = 0; t < BASE_COUNT(tables); t++) {
        for (uint32_t i = 0; i < tables[t]->capacity; i++) {
            const net_socket_entry* entry = tables[t]->entries[i];
            if (!entry) continue;
            const net_link* const links[] = {entry->out, entry->in, entry->wire};
            for (uint32_t l = 0; l < BASE_COUNT(links); l++) {
                uint64_t at_us = links[l] ? net_link_next_us(links[l]) : UINT64_MAX;
                if (at_us < next_us) next_us = at_us;
            }
        }
    }
    if (next_us == UINT64_MAX) return UINT64_MAX;
    return next_us > now_us ? next_us - now_us : 0;
}

// ---- ENet's functions: datagrams

// Outer datagrams: what the wire and --net see.
static void outer_send(net_socket_entry* entry, const net_address* to, const void* bytes,
                       size_t size) {
    entry->stats.sent_datagrams++;
    entry->stats.sent_bytes += size;
    net_link* link = has_link(entry) ? link_get(&entry->out, entry, 0) : NULL;
    if (!link) {
        wire_send(entry, to, bytes, size);
        return;
    }
    net_link_push(link, net_socket_now_us(), net_socket_tag(to), bytes, size);
    expect_release(net_socket_get_state(), link);
}

void net_socket_wire_send(int descriptor, const net_address* to, const void* bytes, size_t size) {
    BASE_ASSERT(to && bytes && size <= NET_SOCKET_OUTER_BYTES_MAX);
    net_socket_entry* entry = net_socket_entry_find(descriptor);
    if (entry) outer_send(entry, to, bytes, size);
}

static void inner_send(net_socket_entry* entry, const ENetAddress* address, const uint8_t* bytes,
                       size_t size) {
    if (!entry->has_guard) {
        net_address to = net_address_ipv4(address->host, address->port);
        outer_send(entry, &to, bytes, size);
        return;
    }
    const net_socket_guard* guard = &entry->guard;
    uint8_t out[NET_SOCKET_OUTER_BYTES_MAX];
    net_address to = {0};
    size_t sealed = guard->send(guard->context, net_socket_now_us(), address->host, address->port,
                                bytes, size, out, &to);
    BASE_ASSERT(sealed <= sizeof out);
    if (sealed > 0) outer_send(entry, &to, out, sealed);
}

// The next outer datagram, from the wire or from the link before it.
static size_t outer_receive(net_socket_entry* entry, net_address* from, uint8_t* bytes,
                            size_t capacity) {
    size_t size = has_link(entry) ? receive_through_link(entry, from, bytes, capacity)
                                  : wire_receive_sound(entry, from, bytes, capacity);
    if (size == 0) return 0;
    entry->stats.recv_datagrams++;
    entry->stats.recv_bytes += size;
    return size;
}

// What ENet gets of an outer datagram; 0: nothing.
static size_t open_outer(net_socket_entry* entry, const net_address* from, uint8_t* outer,
                         size_t size, const uint8_t** inner, ENetAddress* address) {
    if (entry->has_guard) {
        const net_socket_guard* guard = &entry->guard;
        size_t opened = guard->receive(guard->context, net_socket_now_us(), from, outer, size,
                                       inner, &address->host, &address->port);
        BASE_ASSERT(opened <= NET_DATAGRAM_BYTES_MAX);
        if (opened == 0) entry->stats.guard_kept++;
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
    net_socket_entry* entry = net_socket_entry_get(socket);
    uint8_t bytes[NET_LINK_BYTES_MAX];
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
        inner_send(entry, address, bytes, size);
    else
        entry->stats.socket_errors++;
    return (int)size;
}

int enet_socket_receive(ENetSocket socket, ENetAddress* address, ENetBuffer* buffers,
                        size_t count) {
    net_socket_entry* entry = net_socket_entry_get(socket);
    if (!entry || count == 0) return 0;
    uint8_t outer[NET_SOCKET_OUTER_BYTES_MAX];
    for (int skipped = 0; skipped < SKIPPED_MAX; skipped++) {
        net_address from = {0};
        const uint8_t* inner = NULL;
        ENetAddress seen = {0};
        size_t size = outer_receive(entry, &from, outer, sizeof outer);
        if (size == 0) return 0;
        size = open_outer(entry, &from, outer, size, &inner, &seen);
        if (size == 0 || size > buffers->dataLength) continue;
        memcpy(buffers->data, inner, size);
        if (address) *address = seen;
        return (int)size;
    }
    return 0;
}

// ---- ENet's functions: sockets

ENetSocket enet_socket_create(ENetSocketType type) {
    if (net_socket_get_state()->is_virtual) return net_socket_virtual_create();
    int kind = type == ENET_SOCKET_TYPE_DATAGRAM ? SOCK_DGRAM : SOCK_STREAM;
    int descriptor = socket(AF_INET, kind | SOCK_CLOEXEC, 0);
    if (descriptor < 0 || net_socket_entry_get(descriptor)) return descriptor;
    (void)close(descriptor);
    errno = ENOMEM;
    return -1;
}

void enet_socket_destroy(ENetSocket socket) {
    if (socket < 0) return;
    net_socket_forget(socket);
    if (socket < NET_SOCKET_VIRTUAL_FIRST) (void)close(socket);
}

int enet_socket_bind(ENetSocket socket, const ENetAddress* address) {
    ENetAddress any = {.host = ENET_HOST_ANY, .port = ENET_PORT_ANY};
    if (!address) address = &any;
    if (socket >= NET_SOCKET_VIRTUAL_FIRST) {
        net_socket_entry* entry = net_socket_entry_find(socket);
        net_address bound = net_address_ipv4(address->host, address->port);
        return entry && net_socket_virtual_bind(entry, &bound) ? 0 : -1;
    }
    struct sockaddr_in bound = {
        .sin_family = AF_INET, .sin_port = htons(address->port), .sin_addr.s_addr = address->host};
    return bind(socket, (const struct sockaddr*)&bound, sizeof bound);
}

int enet_socket_get_address(ENetSocket socket, ENetAddress* address) {
    if (socket >= NET_SOCKET_VIRTUAL_FIRST) {
        const net_socket_entry* entry = net_socket_entry_find(socket);
        if (!entry) return -1;
        *address =
            (ENetAddress){.host = net_address_ipv4_host(&entry->bound), .port = entry->bound.port};
        return 0;
    }
    struct sockaddr_in bound = {0};
    socklen_t size = sizeof bound;
    if (getsockname(socket, (struct sockaddr*)&bound, &size) != 0) return -1;
    *address = (ENetAddress){.host = bound.sin_addr.s_addr, .port = ntohs(bound.sin_port)};
    return 0;
}

static int set_timeout(int descriptor, int option, int ms) {
    struct timeval value = {.tv_sec = ms / 1000, .tv_usec = ms % 1000 * 1000};
    return setsockopt(descriptor, SOL_SOCKET, option, &value, sizeof value);
}

int enet_socket_set_option(ENetSocket socket, ENetSocketOption option, int value) {
    if (socket >= NET_SOCKET_VIRTUAL_FIRST) return 0;
    static const int names[] = {[ENET_SOCKOPT_BROADCAST] = SO_BROADCAST,
                                [ENET_SOCKOPT_RCVBUF] = SO_RCVBUF,
                                [ENET_SOCKOPT_SNDBUF] = SO_SNDBUF,
                                [ENET_SOCKOPT_REUSEADDR] = SO_REUSEADDR};
    switch (option) {
    case ENET_SOCKOPT_NONBLOCK: {
        int flags = fcntl(socket, F_GETFL);
        if (flags < 0) return -1;
        return fcntl(socket, F_SETFL, value ? flags | O_NONBLOCK : flags & ~O_NONBLOCK) < 0 ? -1
                                                                                            : 0;
    }
    case ENET_SOCKOPT_BROADCAST:
    case ENET_SOCKOPT_RCVBUF:
    case ENET_SOCKOPT_SNDBUF:
    case ENET_SOCKOPT_REUSEADDR:
        return setsockopt(socket, SOL_SOCKET, names[option], &value, sizeof value);
    case ENET_SOCKOPT_RCVTIMEO:
        return set_timeout(socket, SO_RCVTIMEO, value);
    case ENET_SOCKOPT_SNDTIMEO:
        return set_timeout(socket, SO_SNDTIMEO, value);
    default:
        return -1;
    }
}

// ---- ENet's functions: clock and chance

enet_uint32 enet_time_get(void) {
    net_socket_state* state = net_socket_get_state();
    state->time_calls++;
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
    if (state->is_virtual) return base_rng_u32(&state->virtual_rng);
    if (getrandom(&seed, sizeof seed, GRND_NONBLOCK) == (ssize_t)sizeof seed) return seed;
    return (enet_uint32)time(NULL) ^ (enet_uint32)getpid() << 16;
}

// Let libenet flush a host without peers: all it does is to ask for the time, here or elsewhere.
bool net_socket_is_installed(void) {
    static const ENetHost no_host;
    ENetHost probe = no_host;
    uint32_t before = net_socket_get_state()->time_calls;
    enet_host_flush(&probe);
    return net_socket_get_state()->time_calls != before;
}
