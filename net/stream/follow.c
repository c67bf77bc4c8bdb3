// SPDX-License-Identifier: MIT
// A tick of another server is run as one of this server: what entered it is given in place of what
// sessions sent, so log, rows and packets are made by the same code. Then the hash of its end is
// compared, which is in the source and was not copied from there.
#include "stream/follow.h"

#include "base/assert.h"
#include "base/text.h"
#include "log/log_read.h"
#include "replay/log_replay.h"
#include "stream/stream_frame.h"

#include <inttypes.h>
#include <string.h>

// ---- when a tick is due ----

// Two queues: the records that are kept, and what is known about times.
//
// A batch that arrives at t and ends at tick N bounds earlier ticks: T was made no later than
// t - (N - T) periods. Its `origin` is t - N periods. A later batch bounds the same ticks too, and
// the least origin is the best bound: a batch that is late adds nothing. A tick uses the bounds of
// later batches only, because a pause of the match delays all ticks after it. So the queue keeps
// rising origins, each with the last tick that it bounds: a new one removes those at the end that
// are not less.

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
    base_owner owner;
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
    bool is_open;   // the match goes on elsewhere: all that came is given, also of an open tick
    net_log_delay_report report;
};

static net_log_feed_state give_due(void* context, net_log_record* record);

net_log_delay* net_log_delay_create(const base_allocator* allocator, const net_log_feed* source,
                                    uint32_t tick_rate_hz, uint64_t delay_us, uint64_t slack_us) {
    BASE_ASSERT(source && tick_rate_hz > 0);
    BASE_ASSERT(delay_us <= NET_FOLLOW_DELAY_S_MAX * UINT64_C(1000000));
    net_log_delay* delay = base_owner_create(allocator, sizeof *delay);
    delay->source = source;
    delay->feed = *source;
    delay->feed.context = delay;
    delay->feed.next = give_due;
    delay->tick_us = 1000000 / tick_rate_hz;
    delay->delay_us = (int64_t)(delay_us + slack_us);
    delay->ahead = (ecs_tick)(delay->delay_us / delay->tick_us) +
                   (ecs_tick)tick_rate_hz * NET_LOG_DELAY_AHEAD_S;
    delay->report.state = NET_LOG_FEED_NOTHING;
    base_bytes_init(&delay->bytes, &delay->owner.allocator);
    return delay;
}

const net_log_feed* net_log_delay_feed(net_log_delay* delay) {
    return &delay->feed;
}

net_log_delay_report net_log_delay_get_report(const net_log_delay* delay) {
    net_log_delay_report report = delay->report;
    report.bytes = delay->bytes.size - delay->at;
    return report;
}

// Given records lie in front; they go when they are half of it, so each byte moves once.
static void drop_given(net_log_delay* delay) {
    base_bytes* bytes = &delay->bytes;
    if (delay->at < KEEP_BYTES_LEAST || delay->at * 2 < bytes->size) return;
    memmove(bytes->data, bytes->data + delay->at, bytes->size - delay->at);
    bytes->size -= delay->at;
    delay->at = 0;
}

static void keep(net_log_delay* delay, const net_log_record* record) {
    const uint8_t* packed = record->body + record->body_bytes - record->size;
    const kept head = {.size = record->size, .kind = record->kind, .tick = record->tick};
    base_bytes_write(&delay->bytes, &head, sizeof head);
    base_bytes_write(&delay->bytes, packed, record->size);
}

static void read_ahead(net_log_delay* delay, const net_log_record* record) {
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
    if (net_log_kinds[record->kind].is_run) keep(delay, record);
}

void net_log_delay_poll(net_log_delay* delay, uint64_t now_us) {
    BASE_ASSERT(now_us >= delay->now_us);
    const ecs_tick before = delay->whole;
    delay->now_us = now_us;
    if (delay->report.came_us == 0) delay->report.came_us = now_us; // silence begins here
    drop_given(delay);
    // The ticks that were given need no origin.
    uint32_t first = 0;
    while (first < delay->origin_count && delay->origins[first].last <= delay->report.given)
        first++;
    delay->origin_count -= first;
    memmove(delay->origins, delay->origins + first, delay->origin_count * sizeof *delay->origins);
    while (delay->report.state == NET_LOG_FEED_NOTHING &&
           delay->report.newest < delay->report.given + delay->ahead) {
        net_log_record record;
        const net_log_feed_state state = delay->source->next(delay->source->context, &record);
        if (state == NET_LOG_FEED_NOTHING) break;
        if (state == NET_LOG_FEED_RECORD)
            read_ahead(delay, &record);
        else
            delay->report.state = state;
    }
    if (delay->whole > before) {
        const int64_t us = (int64_t)delay->now_us - (int64_t)delay->whole * delay->tick_us;
        uint32_t* count = &delay->origin_count;
        while (*count > 0 && delay->origins[*count - 1].us >= us)
            --*count;
        if (*count == ORIGINS_MAX) --*count; // later than it need be, never sooner
        delay->origins[(*count)++] = (origin){.last = delay->whole, .us = us};
    }
}

// The tick that a kept record is due with: a control with the tick behind it.
static ecs_tick tick_of(const kept* head) {
    return head->tick + (head->kind == NET_LOG_KIND_CLOSE);
}

static bool peek(const net_log_delay* delay, kept* head) {
    if (delay->at == delay->bytes.size) return false;
    memcpy(head, delay->bytes.data + delay->at, sizeof *head);
    return true;
}

uint64_t net_log_delay_due_us(const net_log_delay* delay) {
    kept head;
    if (!peek(delay, &head) || tick_of(&head) > delay->whole) return UINT64_MAX;
    uint32_t i = 0;
    while (i < delay->origin_count && delay->origins[i].last < tick_of(&head))
        i++;
    BASE_ASSERT(i < delay->origin_count);
    const int64_t due =
        delay->origins[i].us + (int64_t)tick_of(&head) * delay->tick_us + delay->delay_us;
    return due > 0 ? (uint64_t)due : 0;
}

static net_log_feed_state give_due(void* context, net_log_record* record) {
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

// ---- a follower ----

enum { CONTROLS_MAX = 256 }; // of one tick

/// A block of a file has a second.
#define FILE_SLACK_US UINT64_C(1100000)
/// A broker that is there says 20 times a second where the stream ends.
#define UNHEARD_US UINT64_C(1000000)

struct net_follow {
    base_owner owner;
    net_follow_config config;
    base_reporter reporter;
    net_log_file_feed* file; // NULL: the caller's feed
    net_log_info info;       // of that feed
    net_stream_follower* stream;
    net_log_feed stream_feed;
    net_log_delay* delay;
    net_log_entering entering;
    net_match* match;                      // the caller's; NULL: not made
    net_log_record controls[CONTROLS_MAX]; // of the next tick
    uint32_t control_count;
    ecs_tick begin; // the match has these ticks of the stream; 0: it runs from tick 1
    uint64_t report_due_us;
    bool is_closed;
    net_follow_state end; // WAITS while the match goes on
};

static void create_delay(net_follow* self, const net_log_feed* feed, uint64_t slack_us) {
    self->delay =
        net_log_delay_create(&self->owner.allocator, feed, net_follow_info(self)->tick_rate_hz,
                             self->config.delay_us, slack_us);
}

static net_result open_feed(net_follow* self, const net_log_feed* feed) {
    net_log_demand demand;
    self->config.feed = feed;
    const net_result result =
        net_log_header_read(&self->info, feed->header, feed->header_bytes, &demand);
    if (result == NET_OK)
        create_delay(self, feed, 0);
    else if (result == NET_ERR_VERSION)
        base_report(&self->reporter, self->config.file, 0,
                    "a later version wrote it (build %s): follow with that version", demand.build);
    else
        base_report(&self->reporter, self->config.file, 0, "its header cannot be read");
    return result;
}

static net_result open_file(net_follow* self) {
    const net_result result = net_log_file_feed_create(self->config.allocator, self->config.file,
                                                       self->config.reporter, &self->file);
    if (result == NET_OK) create_delay(self, &self->file->feed, FILE_SLACK_US);
    return result;
}

net_result net_follow_find(net_follow* self, uint64_t now_us) {
    size_t size;
    BASE_ASSERT(self->stream && !self->delay);
    (void)net_stream_follower_poll(self->stream, now_us);
    if (net_stream_follower_header(self->stream, &size)) {
        self->stream_feed = net_stream_follower_feed(self->stream);
        return open_feed(self, &self->stream_feed);
    }
    const char* text = net_stream_follower_get(self->stream)->text;
    if (!text[0]) return NET_ERR_FULL;
    base_report(&self->reporter, self->config.file, 0, "%s", text);
    return NET_ERR_DAMAGED;
}

net_stream_follower* net_follow_stream(net_follow* self) {
    return self->stream;
}

net_result net_follow_create(const net_follow_config* config, net_follow** out) {
    BASE_ASSERT(config && config->file && out);
    BASE_ASSERT(config->delay_us <= NET_FOLLOW_DELAY_S_MAX * UINT64_C(1000000));
    *out = NULL;
    net_follow* self = base_owner_create(config->allocator, sizeof *self);
    const base_allocator* allocator = &self->owner.allocator;
    self->config = *config;
    if (config->reporter) self->reporter = *config->reporter;
    net_log_entering_init(&self->entering, allocator);
    net_result result = NET_OK;
    if (config->feed)
        result = open_feed(self, config->feed);
    else if (config->broker)
        self->stream = net_stream_follower_create(allocator, config->broker);
    else
        result = open_file(self);
    if (result != NET_OK) {
        net_follow_destroy(self);
        return result;
    }
    *out = self;
    return NET_OK;
}

void net_follow_destroy(net_follow* self) {
    if (!self) return;
    net_log_file_feed_destroy(self->file);
    base_owner_destroy(self);
}

const net_log_info* net_follow_info(const net_follow* self) {
    return self->file ? &self->file->reader->info : &self->info;
}

// The newest keyframe of which the delay is over for certain: a server makes no tick sooner than
// its rate allows.
static ecs_tick choose_begin(const net_follow* self, const net_log_info* info) {
    const uint64_t delay_us = self->config.delay_us + FILE_SLACK_US;
    const ecs_tick late = (ecs_tick)(delay_us * info->tick_rate_hz / 1000000u) + 1;
    if (self->config.is_whole || info->last_tick <= late) return 0;
    return info->last_tick - late;
}

static net_result make_match_at(net_follow* self, net_log_reader* reader, const char* file,
                                const net_module* module, net_match** match) {
    const net_log_info* info = net_log_reader_info(reader);
    net_log_replay* replay = NULL;
    if (info->segment_before > 0)
        return BASE_REPORT_AS(
            NET_ERR_MODULE, &self->reporter, file, 0,
            "the game was read again while the match ran: what it is since then is not "
            "followed");
    const net_result result =
        net_log_replay_create(reader, module, choose_begin(self, info), &self->reporter, &replay);
    if (result != NET_OK) return result;
    *match = net_log_replay_take(replay);
    net_log_replay_destroy(replay);
    if (*match) return NET_OK;
    base_report(&self->reporter, file, 0,
                "the templates and files of %s are others there: copy NAME.blk and the folder NAME "
                "from there",
                module->game->name);
    return NET_ERR_SCHEMA;
}

// The records up to the keyframe are read and passed over: that costs their bytes, not their ticks.
static net_result make_match_behind(net_follow* self, const net_module* module, net_match** match) {
    const char* file = self->config.begin_file;
    net_log_reader* reader = NULL;
    net_result result =
        net_log_reader_create(self->config.allocator, file, &self->reporter, &reader);
    if (!reader) return result;
    if (net_log_reader_info(reader)->identity == self->info.identity) {
        result = make_match_at(self, reader, file, module, match);
    } else {
        base_report(&self->reporter, file, 0, "it is the log of another match than %s",
                    self->config.file);
        result = NET_ERR_DIVERGED;
    }
    net_log_reader_destroy(reader);
    if (result == NET_OK) self->begin = net_match_tick(*match);
    return result;
}

net_result net_follow_make_match(net_follow* self, const net_module* module, net_match** match) {
    const net_log_feed* feed = self->config.feed;
    BASE_ASSERT(!self->match);
    *match = NULL;
    net_result result;
    if (self->file)
        result = make_match_at(self, self->file->reader, self->config.file, module, match);
    else if (self->config.begin_file)
        result = make_match_behind(self, module, match);
    else
        result = net_log_match_create(self->config.allocator, &self->info, feed->header,
                                      feed->header_bytes, self->config.file, module,
                                      &self->reporter, NULL, match);
    if (self->file && result == NET_OK) net_log_file_feed_begin(self->file, net_match_tick(*match));
    self->match = *match;
    return result;
}

uint64_t net_follow_due_us(const net_follow* self) {
    return net_log_delay_due_us(self->delay);
}

static uint64_t max_of(uint64_t a, uint64_t b) {
    return a > b ? a : b;
}

// Match time from its begin to the end of a tick.
static uint64_t time_of(const net_follow* self, ecs_tick tick) {
    return (tick < UINT32_MAX ? tick : UINT32_MAX) * UINT64_C(1000000) /
           net_follow_info(self)->tick_rate_hz;
}

net_follow_report net_follow_get_report(const net_follow* self, uint64_t now_us) {
    const net_log_delay_report delay = net_log_delay_get_report(self->delay);
    const net_stream_follower_info* stream =
        self->stream ? net_stream_follower_get(self->stream) : NULL;
    const uint64_t unheard_us = stream ? now_us - stream->heard_us : 0;
    // Of a file it is known what was there at the start, and what came.
    const ecs_tick heard = stream       ? stream->end_tick
                           : self->file ? net_follow_info(self)->last_tick
                                        : 0;
    const uint64_t end_us = max_of(time_of(self, heard) + unheard_us, time_of(self, delay.newest));
    const uint64_t shown_us = time_of(self, self->match ? net_match_tick(self->match) : 0) +
                              self->config.delay_us + (self->file ? FILE_SLACK_US : 0);
    const bool is_open = delay.came_us > 0 && delay.state == NET_LOG_FEED_NOTHING;
    return (net_follow_report){.newest = delay.newest,
                               .tick = self->match ? net_match_tick(self->match) : 0,
                               .end = max_of(heard, delay.newest),
                               .behind_us = end_us > shown_us ? end_us - shown_us : 0,
                               .silent_us = is_open ? now_us - delay.came_us : 0,
                               .kept_bytes = delay.bytes,
                               .is_cut = unheard_us > UNHEARD_US,
                               .is_waiting = stream && stream->is_waiting,
                               .reason = (net_idle)delay.alive};
}

// ---- a tick

static net_follow_state fail_follow(net_follow* self, ecs_tick tick, const char* text) {
    base_report(&self->reporter, self->config.file, 0, "tick %" PRIu64 ": %s", tick, text);
    return self->end = NET_FOLLOW_FAILED;
}

static net_follow_state do_controls(net_follow* self, net_server* server) {
    for (uint32_t i = 0; i < self->control_count; i++) {
        const net_log_record* record = &self->controls[i];
        net_match_argument arguments[NET_CONTROL_ARGUMENTS_MAX];
        const uint32_t count = net_log_arguments(record, arguments);
        if (net_server_control(server, record->verb, arguments, count, &self->reporter) == NET_OK)
            continue;
        char text[NET_CONTROL_VERB_BYTES_MAX + 64];
        (void)base_text_format(text, sizeof text, "the control '%s' cannot be done here",
                               record->verb);
        return fail_follow(self, record->tick, text);
    }
    self->control_count = 0;
    return NET_FOLLOW_RAN;
}

static net_follow_state run_tick(net_follow* self, net_server* server, uint64_t now_us,
                                 const net_log_record* end) {
    const net_follow_state state = do_controls(self, server);
    if (state != NET_FOLLOW_RAN) return state;
    net_server_follow(server, now_us, &self->entering.begin);
    if (net_server_has_failed(server)) return self->end = NET_FOLLOW_FAILED;
    if (net_log_is_same(net_match_world(self->match), end->state_hash,
                        end->has_world_hash ? &end->world_hash : NULL))
        return NET_FOLLOW_RAN;
    base_report(&self->reporter, self->config.file, 0,
                "the run here differs from the match in tick %" PRIu64
                ": shoal-replay verify of its server's log, run here, names component and entity",
                end->tick);
    return self->end = NET_FOLLOW_DIVERGED;
}

static net_follow_state take_begin(net_follow* self, const net_log_record* record) {
    if (record->tick != net_match_tick(self->match) + 1)
        return fail_follow(self, record->tick, "it does not follow the tick before");
    if (self->entering.begin.tick != record->tick)
        net_log_entering_clear(&self->entering, record->tick);
    if (net_log_entering_add(&self->entering, self->match, record) == NET_OK) return NET_FOLLOW_RAN;
    return fail_follow(self, record->tick, "it has a record that this game does not take");
}

static net_follow_state take_record(net_follow* self, const net_log_record* record) {
    if (record->kind == NET_LOG_KIND_CLOSE) self->is_closed = true;
    if (record->kind == NET_LOG_KIND_BEGIN) return take_begin(self, record);
    if (record->kind != NET_LOG_KIND_CONTROL) return NET_FOLLOW_RAN;
    if (self->control_count == CONTROLS_MAX)
        return fail_follow(self, record->tick, "it has more controls than one tick can have");
    self->controls[self->control_count++] = *record;
    return NET_FOLLOW_RAN;
}

net_follow_state net_follow_run(net_follow* self, net_server* server, uint64_t now_us) {
    const net_log_feed* feed = net_log_delay_feed(self->delay);
    net_log_record record;
    net_log_feed_state state;
    BASE_ASSERT(self->match);
    if (self->end != NET_FOLLOW_WAITS) return self->end;
    if (self->stream) (void)net_stream_follower_poll(self->stream, now_us);
    net_log_delay_poll(self->delay, now_us);
    if (self->stream && self->config.who != 0) {
        // A standby says more of itself (standby.c).
        const net_stream_report report = {.role = NET_STREAM_RELAY,
                                          .is_able = true,
                                          .who = self->config.who,
                                          .tick = net_log_delay_get_report(self->delay).newest,
                                          .counts_s = NET_STREAM_REPORT_COUNTS_S};
        net_stream_report_send(self->config.broker, &report, &self->report_due_us, now_us);
    }
    while ((state = feed->next(feed->context, &record)) == NET_LOG_FEED_RECORD) {
        if (self->begin > 0 && record.tick <= self->begin) continue;
        if (record.kind == NET_LOG_KIND_END) return run_tick(self, server, now_us, &record);
        if (take_record(self, &record) != NET_FOLLOW_RAN) return self->end;
    }
    if (state == NET_LOG_FEED_NOTHING) return NET_FOLLOW_WAITS;
    if (state == NET_LOG_FEED_FAILED && self->stream)
        base_report(&self->reporter, self->config.file, 0, "%s",
                    net_stream_follower_get(self->stream)->text);
    if (state == NET_LOG_FEED_FAILED) return self->end = NET_FOLLOW_FAILED;
    return self->end = self->is_closed ? NET_FOLLOW_ENDED : NET_FOLLOW_LOST;
}

// ---- the match goes on here

// What came of the tick that was not ended.
static net_follow_state run_open_tick(net_follow* self, net_server* server, uint64_t now_us) {
    const net_log_feed* feed = net_log_delay_feed(self->delay);
    const ecs_tick next = net_match_tick(self->match) + 1;
    net_log_record record;
    self->delay->is_open = true;
    while (feed->next(feed->context, &record) == NET_LOG_FEED_RECORD) {
        BASE_ASSERT(record.kind != NET_LOG_KIND_END);
        if (take_record(self, &record) != NET_FOLLOW_RAN) return self->end;
    }
    const net_follow_state state = do_controls(self, server);
    if (state != NET_FOLLOW_RAN || self->entering.begin.tick != next) return state;
    net_server_follow(server, now_us, &self->entering.begin);
    return net_server_has_failed(server) ? NET_FOLLOW_FAILED : NET_FOLLOW_RAN;
}

net_result net_follow_take_over(net_follow* self, net_server* server, uint64_t now_us) {
    BASE_ASSERT(self->match && self->end == NET_FOLLOW_WAITS && !self->is_closed);
    if (run_open_tick(self, server, now_us) != NET_FOLLOW_RAN) return NET_ERR_DAMAGED;
    const net_result result = net_server_take_over(server, now_us);
    if (result != NET_OK)
        base_report(&self->reporter, self->config.file, 0, "its players: %s",
                    net_result_text(result));
    return result;
}
