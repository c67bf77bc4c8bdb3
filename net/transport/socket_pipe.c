// SPDX-License-Identifier: MIT
// Batches of one descriptor: recvmmsg, sendmmsg, and UDP_SEGMENT (GSO) for a run of datagrams of
// equal length to one address, of which the last may be shorter.
//
// A receive that fills less than the batch has emptied the kernel's buffer: the next call says "no
// more" without asking again, and the one after it asks.
//
// An error when sending is loss. A full send buffer loses the rest of the batch, because the rest
// would meet the same buffer. Any other error loses one message, and the next one is tried. A
// refused run of segments turns segments off for this descriptor and goes out one by one: the route
// or the card cannot do it.
#define _GNU_SOURCE

#include "transport/socket_pipe.h"

#include "base/assert.h"

#include <errno.h>
#include <netinet/in.h>
#include <netinet/udp.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#ifndef UDP_SEGMENT
#define UDP_SEGMENT 103
#endif

enum {
    FAILURES_MAX = 64,     // of one receive, or of one flush, before it gives up
    RUN_BYTES_MAX = 65000, // of one message with segments: 65,535 with headers
    CONTROL_BYTES = CMSG_SPACE(sizeof(uint16_t)),
};

typedef struct slot {
    struct sockaddr_in6 name; // or a sockaddr_in
    uint32_t name_bytes;
    uint32_t size; // true size of a received one
    uint8_t bytes[NET_SOCKET_OUTER_BYTES_MAX];
} slot;

struct net_socket_pipe {
    const net_socket_calls* calls;
    int descriptor;
    bool is_ipv6;
    bool has_segments;
    bool is_shared; // the descriptor is another pipe's; there is no `in`
    bool is_empty;  // the last receive emptied the kernel's buffer
    uint32_t batch;
    uint32_t in_count, in_next;
    uint32_t out_count;
    slot* in; // `batch` of each, in one block
    slot* out;
};

// What sendmmsg gets: message m carries slots[first[m]] to slots[first[m + 1]].
typedef struct send_plan {
    struct mmsghdr messages[NET_SOCKET_BATCH_MAX];
    struct iovec pieces[NET_SOCKET_BATCH_MAX];
    _Alignas(struct cmsghdr) uint8_t control[NET_SOCKET_BATCH_MAX][CONTROL_BYTES];
    uint32_t first[NET_SOCKET_BATCH_MAX + 1];
    uint32_t count;
} send_plan;

static bool bind_kernel(int descriptor, bool is_ipv6, net_address* address) {
    struct sockaddr_in6 name;
    struct sockaddr* any = (struct sockaddr*)&name;
    socklen_t size = net_address_write(address, is_ipv6, &name);
    if (bind(descriptor, any, size) != 0 || getsockname(descriptor, any, &size) != 0) return false;
    address->port = net_address_read(any).port;
    return true;
}

static const net_socket_calls kernel_calls = {
    .receive = recvmmsg, .send = sendmmsg, .bind = bind_kernel, .close_socket = close};

static uint32_t limit_batch(const net_socket_calls* calls, uint32_t batch) {
    return calls->batch_max > 0 && calls->batch_max < batch ? calls->batch_max : batch;
}

net_socket_pipe* net_socket_pipe_create(const net_socket_calls* calls, int descriptor, bool is_ipv6,
                                        bool has_segments, uint32_t batch) {
    BASE_ASSERT(descriptor >= 0 && batch >= 1 && batch <= NET_SOCKET_BATCH_MAX);
    if (!calls) calls = &kernel_calls;
    batch = limit_batch(calls, batch);
    size_t size = sizeof(net_socket_pipe) + 2 * (size_t)batch * sizeof(slot);
    net_socket_pipe* made = base_allocate(NULL, size);
    *made = (net_socket_pipe){.calls = calls,
                              .descriptor = descriptor,
                              .is_ipv6 = is_ipv6,
                              .has_segments = has_segments,
                              .batch = batch};
    made->in = (slot*)(void*)(made + 1);
    made->out = made->in + batch;
    return made;
}

net_socket_pipe* net_socket_pipe_share(const net_socket_pipe* owner, uint32_t batch) {
    BASE_ASSERT(batch >= 1 && batch <= NET_SOCKET_BATCH_MAX);
    batch = limit_batch(owner->calls, batch);
    net_socket_pipe* made = base_allocate(NULL, sizeof *made + (size_t)batch * sizeof(slot));
    *made = (net_socket_pipe){.calls = owner->calls,
                              .descriptor = owner->descriptor,
                              .is_ipv6 = owner->is_ipv6,
                              .has_segments = owner->has_segments,
                              .is_shared = true,
                              .batch = batch};
    made->out = (slot*)(void*)(made + 1);
    return made;
}

void net_socket_pipe_destroy(net_socket_pipe* old, net_socket_stats* stats) {
    if (!old) return;
    net_socket_pipe_flush(old, stats);
    if (!old->is_shared) (void)old->calls->close_socket(old->descriptor);
    size_t slots = (old->is_shared ? 1u : 2u) * (size_t)old->batch;
    base_release(NULL, old, sizeof *old + slots * sizeof(slot));
}

int net_socket_pipe_descriptor(const net_socket_pipe* at) {
    return at->descriptor;
}

bool net_socket_pipe_is_ipv6(const net_socket_pipe* at) {
    return at->is_ipv6;
}

bool net_socket_pipe_bind(const net_socket_pipe* at, net_address* address) {
    return at->calls->bind(at->descriptor, at->is_ipv6, address);
}

// ---- in

static int receive_call(net_socket_pipe* at, struct mmsghdr* messages, net_socket_stats* stats) {
    for (int failures = 0; failures < FAILURES_MAX; failures++) {
        stats->recv_calls++;
        int got =
            at->calls->receive(at->descriptor, messages, at->batch, MSG_DONTWAIT | MSG_TRUNC, NULL);
        if (got >= 0) return got;
        if (errno == EAGAIN || errno == EWOULDBLOCK) return 0;
        if (errno == EINTR) continue;
        stats->socket_errors++;
        if (errno == EBADF || errno == ENOTSOCK) return 0;
    }
    return 0;
}

static void receive_batch(net_socket_pipe* at, net_socket_stats* stats) {
    struct mmsghdr messages[NET_SOCKET_BATCH_MAX];
    struct iovec pieces[NET_SOCKET_BATCH_MAX];
    memset(messages, 0, at->batch * sizeof *messages);
    for (uint32_t i = 0; i < at->batch; i++) {
        memset(&at->in[i].name, 0, sizeof at->in[i].name);
        pieces[i] = (struct iovec){at->in[i].bytes, sizeof at->in[i].bytes};
        messages[i].msg_hdr.msg_name = &at->in[i].name;
        messages[i].msg_hdr.msg_namelen = sizeof at->in[i].name;
        messages[i].msg_hdr.msg_iov = &pieces[i];
        messages[i].msg_hdr.msg_iovlen = 1;
    }
    int got = receive_call(at, messages, stats);
    at->in_next = 0;
    at->in_count = (uint32_t)got;
    for (int i = 0; i < got; i++)
        at->in[i].size = messages[i].msg_len;
    at->is_empty = at->in_count > 0 && at->in_count < at->batch;
}

bool net_socket_pipe_receive(net_socket_pipe* at, net_address* from, uint8_t** bytes, size_t* size,
                             net_socket_stats* stats) {
    BASE_ASSERT(!at->is_shared);
    if (at->in_next == at->in_count) {
        bool was_empty = at->is_empty;
        at->is_empty = false;
        if (was_empty) return false;
        receive_batch(at, stats);
        if (at->in_count == 0) return false;
    }
    slot* next = &at->in[at->in_next++];
    *from = net_address_read((const struct sockaddr*)&next->name);
    *bytes = next->bytes;
    *size = next->size;
    return true;
}

bool net_socket_pipe_has_rest(const net_socket_pipe* at) {
    return at->in_next < at->in_count;
}

// ---- out

// How many slots from `first` on go out as one message.
static uint32_t run_length(const net_socket_pipe* at, uint32_t first) {
    const slot* begin = &at->out[first];
    size_t bytes = begin->size;
    uint32_t end = first + 1;
    if (!at->has_segments || begin->size == 0) return 1;
    for (; end < at->out_count; end++) {
        const slot* next = &at->out[end];
        bytes += next->size;
        if (next->size == 0 || next->size > begin->size || bytes > RUN_BYTES_MAX) break;
        if (memcmp(&next->name, &begin->name, sizeof begin->name) != 0) break;
        if (next->size < begin->size) return end + 1 - first; // only the last may be shorter
    }
    return end - first;
}

static void plan_segments(const net_socket_pipe* at, send_plan* plan, uint32_t message) {
    struct msghdr* header = &plan->messages[message].msg_hdr;
    header->msg_control = plan->control[message];
    header->msg_controllen = CONTROL_BYTES;
    memset(plan->control[message], 0, CONTROL_BYTES);
    struct cmsghdr* control = CMSG_FIRSTHDR(header);
    control->cmsg_level = IPPROTO_UDP;
    control->cmsg_type = UDP_SEGMENT;
    control->cmsg_len = CMSG_LEN(sizeof(uint16_t));
    uint16_t segment = (uint16_t)at->out[plan->first[message]].size;
    memcpy(CMSG_DATA(control), &segment, sizeof segment);
}

static void plan_make(net_socket_pipe* at, uint32_t from, send_plan* plan) {
    plan->count = 0;
    for (uint32_t i = from; i < at->out_count;) {
        uint32_t length = run_length(at, i), message = plan->count++;
        struct msghdr* header = &plan->messages[message].msg_hdr;
        memset(&plan->messages[message], 0, sizeof plan->messages[message]);
        header->msg_name = &at->out[i].name;
        header->msg_namelen = at->out[i].name_bytes;
        header->msg_iov = &plan->pieces[i];
        header->msg_iovlen = length;
        plan->first[message] = i;
        if (length > 1) plan_segments(at, plan, message);
        for (; length > 0; length--, i++)
            plan->pieces[i] = (struct iovec){at->out[i].bytes, at->out[i].size};
    }
    plan->first[plan->count] = at->out_count;
}

// A message failed. @return the slot to go on with.
static uint32_t after_failure(net_socket_pipe* at, const send_plan* plan, uint32_t message,
                              int error, net_socket_stats* stats) {
    uint32_t first = plan->first[message], next = plan->first[message + 1];
    bool is_full = error == EAGAIN || error == EWOULDBLOCK || error == ENOBUFS;
    bool is_refused = error == EIO || error == EINVAL || error == EMSGSIZE || error == EOPNOTSUPP;
    if (error == EINTR) return first;
    if (is_refused && next - first > 1) {
        at->has_segments = false;
        return first;
    }
    if (is_full) next = at->out_count;
    stats->socket_errors += next - first;
    return next;
}

void net_socket_pipe_flush(net_socket_pipe* at, net_socket_stats* stats) {
    uint32_t from = 0;
    send_plan plan;
    for (int failures = 0; from < at->out_count && failures <= FAILURES_MAX;) {
        plan_make(at, from, &plan);
        uint32_t done = 0;
        while (done < plan.count) {
            stats->send_calls++;
            int sent = at->calls->send(at->descriptor, plan.messages + done, plan.count - done,
                                       MSG_NOSIGNAL | MSG_DONTWAIT);
            if (sent <= 0) break;
            done += (uint32_t)sent;
        }
        from = plan.first[done];
        if (done == plan.count) break;
        failures++;
        from = after_failure(at, &plan, done, errno, stats);
    }
    stats->socket_errors += at->out_count - from;
    at->out_count = 0;
}

void net_socket_pipe_send(net_socket_pipe* at, const net_address* to, const void* bytes,
                          size_t size, net_socket_stats* stats) {
    BASE_ASSERT(size <= NET_SOCKET_OUTER_BYTES_MAX);
    if (!at->is_ipv6 && !net_address_is_ipv4(to)) {
        stats->socket_errors++;
        return;
    }
    slot* next = &at->out[at->out_count++];
    next->name_bytes = net_address_write(to, at->is_ipv6, &next->name);
    next->size = (uint32_t)size;
    memcpy(next->bytes, bytes, size);
    if (at->out_count == at->batch) net_socket_pipe_flush(at, stats);
}
