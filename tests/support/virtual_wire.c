// SPDX-License-Identifier: MIT
// Sockets are numbers, a bound address is a name on the wire, and each socket has a perfect link as
// its receive buffer. Datagrams of wrong sizes pass unchanged: the layer above checks them, and
// tests check that.
#define _GNU_SOURCE
#include "virtual_wire.h"

#include "base/alloc.h"
#include "base/assert.h"
#include "base/hash.h"
#include "base/rng.h"

#include <arpa/inet.h>
#include <errno.h>
#include <string.h>
#include <sys/socket.h>

enum { FIRST_FREE_PORT = 49152, SOCKETS_MAX = 4097 };

typedef struct wire_socket {
    net_link* arrivals; // NULL: the number is free
    bool is_ipv6;
    bool is_only;      // IPv4 is another one's
    net_address bound; // port 0: it is not
} wire_socket;

typedef struct wire {
    wire_socket sockets[SOCKETS_MAX]; // by descriptor; 0 is none
    int end;                          // after the last one that was open
    uint64_t now_us, hash;
    base_rng rng;
    uint16_t port_next;
} wire;

// The calls have no context argument, as the kernel's have none.
static wire* wire_get(void) {
    static wire one;
    return &one;
}

// Does a socket hear datagrams to `to`? [::] hears both families.
static bool hears(const wire_socket* at, const net_address* to) {
    const net_address* bound = &at->bound;
    if (!at->arrivals || bound->port == 0 || bound->port != to->port) return false;
    if (net_address_is_wildcard(bound))
        return net_address_is_ipv4(to) ? !at->is_only || !at->is_ipv6 : at->is_ipv6;
    return net_address_is_wildcard(to) || net_address_equal(bound, to);
}

static wire_socket* find_bound(const net_address* address) {
    for (int i = 1; i < wire_get()->end; i++)
        if (hears(&wire_get()->sockets[i], address)) return &wire_get()->sockets[i];
    return NULL;
}

static int open_socket(bool is_ipv6, bool is_only) {
    for (int i = 1; i < SOCKETS_MAX; i++) {
        wire_socket* at = &wire_get()->sockets[i];
        if (at->arrivals) continue;
        *at = (wire_socket){.arrivals = net_link_create(NULL, &(net_link_config){0}),
                            .is_ipv6 = is_ipv6,
                            .is_only = is_only};
        if (!is_ipv6) at->bound = net_address_ipv4(INADDR_ANY, 0);
        if (wire_get()->end <= i) wire_get()->end = i + 1;
        return i;
    }
    errno = EMFILE;
    return -1;
}

static int close_socket(int descriptor) {
    base_owner_destroy(wire_get()->sockets[descriptor].arrivals);
    wire_get()->sockets[descriptor] = (wire_socket){.arrivals = NULL};
    return 0;
}

static bool bind_socket(int descriptor, bool is_ipv6, net_address* address) {
    (void)is_ipv6;
    net_address bound = *address;
    wire_get()->sockets[descriptor].bound.port = 0; // not heard by itself
    if (bound.port == 0) {
        do
            bound.port = wire_get()->port_next++;
        while (bound.port < FIRST_FREE_PORT || find_bound(&bound));
    } else if (find_bound(&bound)) {
        errno = EADDRINUSE;
        return false;
    }
    wire_get()->sockets[descriptor].bound = *address = bound;
    return true;
}

static void put_datagram(wire_socket* to, const net_address* from, const void* bytes, size_t size) {
    // Longer than any link carries: it is refused for its size either way.
    if (size > NET_LINK_BYTES_MAX) size = NET_LINK_BYTES_MAX;
    net_link_push(to->arrivals, wire_get()->now_us, (net_link_tag){.address = *from}, bytes, size);
}

// What a receiver sees as the sender.
static net_address source_of(int descriptor, bool is_ipv4) {
    wire_socket* from = &wire_get()->sockets[descriptor];
    if (from->bound.port == 0) (void)bind_socket(descriptor, from->is_ipv6, &from->bound);
    if (!net_address_is_wildcard(&from->bound)) return from->bound;
    return is_ipv4 ? net_address_ipv4(htonl(INADDR_LOOPBACK), from->bound.port)
                   : (net_address){.ip = {[15] = 1}, .port = from->bound.port};
}

static int send_datagrams(int descriptor, struct mmsghdr* messages, unsigned count, int flags) {
    (void)flags;
    for (unsigned i = 0; i < count; i++) {
        const struct iovec* piece = messages[i].msg_hdr.msg_iov;
        BASE_ASSERT(messages[i].msg_hdr.msg_iovlen == 1);
        const net_address to = net_address_read(messages[i].msg_hdr.msg_name);
        const net_address source = source_of(descriptor, net_address_is_ipv4(&to));
        const uint64_t head[] = {wire_get()->now_us, (uint64_t)source.port << 16 | to.port};
        wire_get()->hash = base_hash64(piece->iov_base, piece->iov_len,
                                       base_hash64(head, sizeof head, wire_get()->hash));
        wire_socket* target = find_bound(&to);
        if (target) put_datagram(target, &source, piece->iov_base, piece->iov_len);
    }
    return (int)count;
}

static int receive_datagram(int descriptor, struct mmsghdr* messages, unsigned count, int flags,
                            struct timespec* timeout) {
    (void)count, (void)flags, (void)timeout;
    wire_socket* at = &wire_get()->sockets[descriptor];
    struct msghdr* header = &messages->msg_hdr;
    net_link_tag tag;
    size_t size = 0;
    const uint8_t* found = net_link_peek(at->arrivals, wire_get()->now_us, &tag, &size);
    if (!found) {
        errno = EAGAIN;
        return -1;
    }
    (void)net_address_write(&tag.address, at->is_ipv6, header->msg_name);
    memcpy(header->msg_iov->iov_base, found,
           size < header->msg_iov->iov_len ? size : header->msg_iov->iov_len);
    messages->msg_len = (unsigned)size;
    net_link_pop(at->arrivals);
    return 1;
}

bool wire_rebind(int descriptor) {
    wire_socket* at = &wire_get()->sockets[descriptor];
    net_address bound = at->bound;
    if (bound.port == 0) return true;
    bound.port = 0;
    return bind_socket(descriptor, at->is_ipv6, &bound);
}

static uint64_t now_us(void) {
    return wire_get()->now_us;
}

static uint32_t draw(void) {
    return base_rng_u32(&wire_get()->rng);
}

static const net_socket_calls wire_calls = {.receive = receive_datagram,
                                            .send = send_datagrams,
                                            .bind = bind_socket,
                                            .close_socket = close_socket,
                                            .open = open_socket,
                                            .rebind = wire_rebind,
                                            .now_us = now_us,
                                            .draw = draw,
                                            .batch_max = 1};

void wire_set(bool is_virtual, uint64_t seed) {
    net_socket_state* state = net_socket_get_state();
    for (int i = 1; state->calls && i < wire_get()->end; i++)
        net_socket_forget(i);
    memset(wire_get(), 0, sizeof *wire_get());
    wire_get()->rng = base_rng_make(seed, 0);
    wire_get()->port_next = FIRST_FREE_PORT;
    state->calls = is_virtual ? &wire_calls : NULL;
    state->created = 0;
    state->pumped_us = 0;
    state->release_us = 0; // the next pump looks
    state->time_offset_ms = 0;
}

void wire_advance(uint64_t to_us) {
    BASE_ASSERT(net_socket_get_state()->calls && to_us >= wire_get()->now_us);
    wire_get()->now_us = to_us;
}

uint64_t wire_hash_get(void) {
    return wire_get()->hash;
}

uint16_t wire_port(int descriptor) {
    return wire_get()->sockets[descriptor].bound.port;
}

bool wire_inject_from(const net_address* from, uint16_t to_port, const void* bytes, size_t size) {
    wire_socket* target = find_bound(&(net_address){.port = to_port});
    if (target) put_datagram(target, from, bytes, size);
    return target != NULL;
}

bool wire_inject(uint32_t from_host, uint16_t from_port, uint16_t to_port, const void* bytes,
                 size_t size) {
    const net_address from = net_address_ipv4(from_host, from_port);
    return wire_inject_from(&from, to_port, bytes, size);
}

void wire_link_set_one(int descriptor, const net_link_pair* pair) {
    net_socket_entry* entry = net_socket_entry_get(descriptor);
    if (entry->out && entry->in) {
        net_link_config_set(entry->out, &pair->up);
        net_link_config_set(entry->in, &pair->down);
        return;
    }
    base_owner_destroy(entry->out);
    base_owner_destroy(entry->in);
    entry->out = net_link_create(NULL, &pair->up);
    entry->in = net_link_create(NULL, &pair->down);
}

bool wire_is_guarded(int descriptor) {
    const net_socket_entry* entry = net_socket_entry_find(descriptor);
    return entry && entry->has_guard;
}
