// SPDX-License-Identifier: MIT
// Two queues: the records that are kept, and what is known about times.
//
// A batch that arrives at t and ends at tick N bounds earlier ticks: T was made no later than
// t - (N - T) periods. Its `origin` is t - N periods. A later batch bounds the same ticks too, and
// the least origin is the best bound: a batch that is late adds nothing. A tick uses the bounds of
// later batches only, because a pause of the match delays all ticks after it. So the queue keeps
// rising origins, each with the last tick that it bounds: a new one removes those at the end that
// are not less.
#include "stream/log_delay.h"

#include "base/assert.h"

#include <string.h>

enum {
    ORIGINS_MAX = 64,           // pauses of the match within the delay; more are as one
    KEEP_BYTES_LEAST = 1 << 12, // below it nothing is moved
};

// Before each record that is kept.
typedef struct kept {
    uint32_t size;
    uint32_t kind;
    ecs_tick tick;
} kept;

typedef struct origin {
    ecs_tick last;
    int64_t us; // of tick 0, signed: it may lie before the clock's zero
} origin;

struct net_log_delay {
    const base_allocator* allocator;
    const net_log_feed* source;
    net_log_feed feed;
    int64_t tick_us, delay_us;
    ecs_tick ahead; // ticks that are read beyond the given ones
    uint64_t now_us;
    base_bytes bytes; // kept records, from `at` on
    size_t at;
    ecs_tick whole; // last tick of which all is kept; with an end the one behind it
    origin origins[ORIGINS_MAX];
    uint32_t origin_count;
    bool has_first; // `given` is set
    bool is_open;   // net_log_delay_open
    net_log_delay_report report;
};

static net_log_feed_state give(void* context, net_log_record* record);

net_result net_log_delay_create(const base_allocator* allocator, const net_log_feed* source,
                                uint32_t tick_rate_hz, uint64_t delay_us, uint64_t slack_us,
                                net_log_delay** out) {
    BASE_ASSERT(source && out && tick_rate_hz > 0);
    BASE_ASSERT(delay_us <= NET_LOG_DELAY_S_MAX * UINT64_C(1000000));
    net_log_delay* delay = base_allocate_zero(allocator, sizeof *delay);
    if (!delay) return NET_ERR_MEMORY;
    delay->allocator = allocator;
    delay->source = source;
    delay->feed = *source;
    delay->feed.context = delay;
    delay->feed.next = give;
    delay->tick_us = 1000000 / tick_rate_hz;
    delay->delay_us = (int64_t)(delay_us + slack_us);
    delay->ahead = (ecs_tick)(delay->delay_us / delay->tick_us) +
                   (ecs_tick)tick_rate_hz * NET_LOG_DELAY_AHEAD_S;
    delay->report.state = NET_LOG_FEED_NOTHING;
    base_bytes_init(&delay->bytes, allocator);
    *out = delay;
    return NET_OK;
}

void net_log_delay_destroy(net_log_delay* delay) {
    if (!delay) return;
    base_bytes_deinit(&delay->bytes);
    base_release(delay->allocator, delay, sizeof *delay);
}

const net_log_feed* net_log_delay_feed(net_log_delay* delay) {
    return &delay->feed;
}

net_log_delay_report net_log_delay_get_report(const net_log_delay* delay) {
    net_log_delay_report report = delay->report;
    report.bytes = delay->bytes.size - delay->at;
    return report;
}

// ---- the source

// Given records lie in front; they go when they are half of it, so each byte moves once.
static void drop_given(net_log_delay* delay) {
    base_bytes* bytes = &delay->bytes;
    if (delay->at < KEEP_BYTES_LEAST || delay->at * 2 < bytes->size) return;
    memmove(bytes->data, bytes->data + delay->at, bytes->size - delay->at);
    bytes->size -= delay->at;
    delay->at = 0;
}

static bool keep(net_log_delay* delay, const net_log_record* record) {
    const uint8_t* packed = record->body + record->body_bytes - record->size;
    const kept head = {.size = record->size, .kind = record->kind, .tick = record->tick};
    const size_t before = delay->bytes.size;
    base_bytes_write(&delay->bytes, &head, sizeof head);
    base_bytes_write(&delay->bytes, packed, record->size);
    if (delay->bytes.failed) delay->bytes.size = before;
    return !delay->bytes.failed;
}

static void add_origin(net_log_delay* delay, ecs_tick last) {
    const int64_t us = (int64_t)delay->now_us - (int64_t)last * delay->tick_us;
    uint32_t* count = &delay->origin_count;
    while (*count > 0 && delay->origins[*count - 1].us >= us)
        --*count;
    if (*count == ORIGINS_MAX) --*count; // later than it need be, never sooner
    delay->origins[(*count)++] = (origin){.last = last, .us = us};
}

// The ticks that were given need no origin.
static void drop_origins(net_log_delay* delay) {
    uint32_t first = 0;
    while (first < delay->origin_count && delay->origins[first].last <= delay->report.given)
        first++;
    delay->origin_count -= first;
    memmove(delay->origins, delay->origins + first, delay->origin_count * sizeof *delay->origins);
}

// @return false when memory ran out: the record is lost, and the feed ends before it.
static bool take_record(net_log_delay* delay, const net_log_record* record) {
    net_log_delay_report* report = &delay->report;
    report->came_us = delay->now_us;
    report->alive = record->kind == NET_LOG_KIND_ALIVE ? record->reason : 0;
    if (!delay->has_first) {
        delay->has_first = true;
        report->given = record->tick > 0 ? record->tick - 1 : 0;
        delay->whole = report->given;
    }
    if (record->kind == NET_LOG_KIND_END) delay->whole = report->newest = record->tick;
    if (record->kind == NET_LOG_KIND_CLOSE) delay->whole = record->tick + 1;
    return !net_log_kinds[record->kind].is_run || keep(delay, record);
}

net_result net_log_delay_poll(net_log_delay* delay, uint64_t now_us) {
    BASE_ASSERT(now_us >= delay->now_us);
    const ecs_tick before = delay->whole;
    delay->now_us = now_us;
    if (delay->report.came_us == 0) delay->report.came_us = now_us; // silence begins here
    drop_given(delay);
    drop_origins(delay);
    while (delay->report.state == NET_LOG_FEED_NOTHING &&
           delay->report.newest < delay->report.given + delay->ahead) {
        net_log_record record;
        const net_log_feed_state state = delay->source->next(delay->source->context, &record);
        if (state == NET_LOG_FEED_NOTHING) break;
        if (state != NET_LOG_FEED_RECORD)
            delay->report.state = state;
        else if (!take_record(delay, &record))
            delay->report.state = NET_LOG_FEED_FAILED;
    }
    if (delay->whole > before) add_origin(delay, delay->whole);
    return delay->bytes.failed ? NET_ERR_MEMORY : NET_OK;
}

// ---- the feed

// The tick that a kept record is due with: a control with the tick behind it.
static ecs_tick tick_of(const kept* head) {
    return head->tick + (head->kind == NET_LOG_KIND_CLOSE);
}

static bool peek(const net_log_delay* delay, kept* head) {
    if (delay->at == delay->bytes.size) return false;
    memcpy(head, delay->bytes.data + delay->at, sizeof *head);
    return true;
}

static int64_t due_us(const net_log_delay* delay, ecs_tick tick) {
    uint32_t i = 0;
    while (i < delay->origin_count && delay->origins[i].last < tick)
        i++;
    BASE_ASSERT(i < delay->origin_count);
    return delay->origins[i].us + (int64_t)tick * delay->tick_us + delay->delay_us;
}

uint64_t net_log_delay_due_us(const net_log_delay* delay) {
    kept head;
    if (!peek(delay, &head) || tick_of(&head) > delay->whole) return UINT64_MAX;
    const int64_t due = due_us(delay, tick_of(&head));
    return due > 0 ? (uint64_t)due : 0;
}

static net_log_feed_state give(void* context, net_log_record* record) {
    net_log_delay* delay = context;
    kept head;
    if (!peek(delay, &head)) return delay->report.state;
    if (!delay->is_open && tick_of(&head) > delay->whole) return delay->report.state;
    if (!delay->is_open && net_log_delay_due_us(delay) > delay->now_us) return NET_LOG_FEED_NOTHING;
    const uint8_t* packed = delay->bytes.data + delay->at + sizeof head;
    const bool is_read = net_log_record_read(record, packed, head.size);
    BASE_ASSERT(is_read); // it was one when it came
    delay->at += sizeof head + head.size;
    if (head.kind == NET_LOG_KIND_END) delay->report.given = head.tick;
    return NET_LOG_FEED_RECORD;
}

void net_log_delay_open(net_log_delay* delay) {
    delay->is_open = true;
}
