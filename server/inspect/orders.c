// SPDX-License-Identifier: MIT
// Two queues of indices. An order's own place is fixed, and its index is in one queue at most, so a
// queue never lacks room: it has as many places as there can be orders.
#include "orders.h"

#include "base/alloc.h"
#include "base/assert.h"
#include "base/text.h"
#include "net/socket.h"

#include <string.h>
#include <sys/eventfd.h>
#include <sys/timerfd.h>
#include <unistd.h>

#define ORDERS_MAX 256u

// One thread pushes, one pops.
typedef struct queue {
    BASE_ATOMIC(uint32_t) pushed, popped; // how often
    uint8_t list[ORDERS_MAX];
} queue;

struct server_orders {
    queue asked, answered;
    uint32_t count;
    int descriptor; // signals what was answered
    int asks;       // a timer: at once when something was asked, or when the next period begins
    uint64_t period_us, period_end_us, left_us; // of the loop's thread
    BASE_ATOMIC(uint64_t) cuts;                 // written by it
    server_order list[];
};

server_orders* server_orders_create(uint32_t count, uint64_t tick_rate_hz) {
    BASE_ASSERT(count > 0 && count <= ORDERS_MAX);
    server_orders* self =
        base_allocate_zero(NULL, sizeof(server_orders) + count * sizeof(server_order));
    self->count = count;
    self->descriptor = eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC);
    self->asks = timerfd_create(CLOCK_MONOTONIC, TFD_NONBLOCK | TFD_CLOEXEC);
    if (self->descriptor < 0 || self->asks < 0) {
        server_orders_destroy(self);
        return NULL;
    }
    self->period_us = SERVER_ORDERS_PERIOD_US_MAX;
    if (tick_rate_hz > 0 && 1000000 / tick_rate_hz < self->period_us)
        self->period_us = 1000000 / tick_rate_hz;
    for (uint32_t i = 0; i < count; i++)
        self->list[i].answer.json = &self->list[i].json;
    return self;
}

void server_orders_destroy(server_orders* self) {
    if (!self) return;
    if (self->descriptor >= 0) close(self->descriptor);
    if (self->asks >= 0) close(self->asks);
    for (uint32_t i = 0; i < self->count; i++) {
        base_bytes_deinit(&self->list[i].values);
        base_bytes_deinit(&self->list[i].json);
    }
    base_release(NULL, self, sizeof(server_orders) + self->count * sizeof(server_order));
}

server_order* server_orders_get(server_orders* self, uint32_t index) {
    BASE_ASSERT(index < self->count);
    return &self->list[index];
}

bool server_order_begin(server_order* order, const char* verb, size_t verb_bytes,
                        server_right right) {
    if (verb_bytes >= sizeof order->verb) return false;
    memcpy(order->verb, verb, verb_bytes);
    order->verb[verb_bytes] = 0;
    order->right = right;
    order->is_question = false;
    order->argument_count = 0;
    base_bytes_clear(&order->values);
    return true;
}

bool server_order_add(server_order* order, const char* name, size_t name_bytes, const char* value,
                      size_t value_bytes) {
    const uint32_t at = order->argument_count;
    if (at == SERVER_ARGUMENTS_MAX || name_bytes >= sizeof order->names[0] ||
        value_bytes >= SERVER_ARGUMENT_BYTES_MAX || !base_text_is_utf8(value, value_bytes) ||
        !base_text_is_utf8(name, name_bytes))
        return false;
    memcpy(order->names[at], name, name_bytes);
    order->names[at][name_bytes] = 0;
    order->value_offsets[at] = order->values.size;
    base_bytes_write(&order->values, value, value_bytes);
    base_bytes_write_u8(&order->values, 0);
    order->argument_count++;
    return true;
}

static void push_index(queue* self, uint32_t index) {
    self->list[self->pushed % ORDERS_MAX] = (uint8_t)index;
    self->pushed++;
}

static uint32_t pop_index(queue* self) {
    if (self->popped == self->pushed) return UINT32_MAX;
    const uint32_t index = self->list[self->popped % ORDERS_MAX];
    self->popped++;
    return index;
}

// Either thread may set it. One that is early only looks again.
static void wake_in(int timer, uint64_t us) {
    const struct itimerspec when = {
        .it_value = {.tv_sec = (time_t)(us / 1000000), .tv_nsec = (long)(us % 1000000 * 1000 + 1)}};
    (void)timerfd_settime(timer, 0, &when, NULL);
}

static void take_signal(int descriptor) {
    uint64_t count;
    (void)!read(descriptor, &count, sizeof count);
}

void server_orders_push(server_orders* self, uint32_t index) {
    BASE_ASSERT(index < self->count);
    push_index(&self->asked, index);
    wake_in(self->asks, 0);
}

uint32_t server_orders_pop(server_orders* self) {
    uint32_t index = pop_index(&self->answered);
    if (index != UINT32_MAX) return index;
    // What is pushed after this read signals again; what was pushed before it is found here.
    take_signal(self->descriptor);
    return pop_index(&self->answered);
}

int server_orders_asks(const server_orders* self) {
    return self->asks;
}

int server_orders_descriptor(const server_orders* self) {
    return self->descriptor;
}

// @return was it cut?
static bool answer(server_order* order, server_run_fn run, server_subject* subject,
                   uint64_t until_us) {
    bool is_cut = false;
    server_request request = {.verb = order->verb,
                              .right = order->right,
                              .is_question = order->is_question,
                              .argument_count = order->argument_count,
                              .until_us = until_us,
                              .is_cut = &is_cut,
                              .answer = &order->answer};
    for (uint32_t i = 0; i < order->argument_count; i++) {
        request.names[i] = order->names[i];
        request.values[i] = (const char*)order->values.data + order->value_offsets[i];
    }
    run(subject, &request);
    return is_cut;
}

void server_orders_run(server_orders* self, server_run_fn run, server_subject* subject) {
    take_signal(self->asks); // also when nothing waits: it may have been taken before it was said
    if (self->asked.popped == self->asked.pushed) return;
    const uint64_t now_us = net_loop_now_us();
    if (now_us >= self->period_end_us) {
        self->left_us = SERVER_ORDERS_PERIOD_US;
        self->period_end_us = now_us + self->period_us;
    }
    bool has_run = false;
    uint64_t at_us = now_us;
    const uint64_t until_us = now_us + self->left_us;
    while (at_us + SERVER_ORDERS_LEFT_US_MIN <= until_us) {
        const uint32_t index = pop_index(&self->asked);
        if (index == UINT32_MAX) break;
        self->cuts += answer(&self->list[index], run, subject, until_us);
        push_index(&self->answered, index);
        has_run = true;
        at_us = net_loop_now_us();
    }
    self->left_us = until_us > at_us ? until_us - at_us : 0;
    if (self->asked.popped != self->asked.pushed && self->left_us < SERVER_ORDERS_LEFT_US_MIN)
        wake_in(self->asks, self->period_end_us > at_us ? self->period_end_us - at_us : 0);
    if (has_run) {
        const uint64_t one = 1;
        (void)!write(self->descriptor, &one, sizeof one);
    }
}

uint64_t server_orders_cuts(const server_orders* self) {
    return self->cuts;
}
