// SPDX-License-Identifier: MIT
// One message at a time, as the stream numbers them. The broker's own delivery may lose, double and
// stop without a word: what is not the next message is left, and a newer one, or the answer to a
// ping, shows that a message is missing. Then it is read from there again.
//
// A server whose stream failed begins it again as the next epoch, from the match's first record on.
// A message of a later epoch that does not follow shows it. All is read again then, and what was
// given before is skipped. So the match here continues where it is.
#include "stream/follow.h"
#include "stream/stream_frame.h"

#include "base/assert.h"
#include "base/text.h"

#include <inttypes.h>

#define MS UINT64_C(1000)
#define PING_US (NET_STREAM_PING_MS * MS)
#define PING_ANSWER_US (NET_STREAM_PING_ANSWER_MS * MS)
#define PING_LOST_US (1000 * MS)
#define PING_REST_US (NET_STREAM_PING_REST_MS * MS)
#define QUIET_US_MIN (20 * MS)
#define QUIET_US_MAX (150 * MS) // nothing came: a server that waits says so more often
#define READ_AGAIN_US (20 * MS) // after a gap; of several in vain each waits twice as long
#define READ_DOUBLED_MAX 5u
#define READ_LOST_US (500 * MS) // the broker has more, and nothing comes
#define READS_GONE 4u           // in vain, and the broker begins with a later message
// Two answered pings belong together when they were asked within this time.
#define TOGETHER_US (2 * PING_US + PING_ANSWER_US)
// A broker that answers again: a server that lives sends its message once more within this time.
#define GRACE_US (NET_STREAM_ANSWER_MS * MS)
#define AGAIN_US_MAX (NET_STREAM_AGAIN_MS_MAX * MS)

struct net_stream_follower {
    base_owner owner;
    net_broker broker;
    net_stream_follower_info info;
    base_bytes header;
    net_log_order order;
    bool has_failed;
    uint64_t now_us; // of the newest poll

    uint8_t* memory; // the message whose records are given
    net_stream_frame frame;
    size_t offset;
    uint64_t taken; // records of it
    uint64_t sequence;
    bool has_message;

    uint64_t request, read_request, ping_request; // 0: none is out
    uint64_t reconnects;
    bool must_read;
    uint32_t vain_reads; // in a row that did not give the next message
    uint64_t read_due_us;
    uint64_t came_us;     // the newest message, or the begin of the newest read
    uint64_t gap_us;      // between two messages, a mean of the newest ones
    bool rests;           // pings do, while messages come
    uint64_t patience_us; // beyond its gaps

    uint64_t ping_us;   // when it was asked
    uint64_t good_us;   // when the newest one was asked that counts
    uint64_t silent_us; // from here on nothing came, and pings counted
    uint64_t grace_us;  // until then no silence counts: the broker was away
    uint64_t lost_us;   // since when there is no connection; 0: there is one
    uint64_t end;       // of the stream: the newest message, as last heard
    uint64_t late_us;   // when the first of the late ones in a row was asked; 0: the newest was not

    uint64_t epoch_again; // that showed that it began again: the same one shows nothing else
    uint32_t passed_open; // records of the open tick that were given before
};

static void fail_follower(net_stream_follower* self, const char* text) {
    self->has_failed = true;
    self->has_message = false;
    (void)base_text_copy(self->info.text, sizeof self->info.text, text);
}

static void fail_at(net_stream_follower* self, const char* what) {
    char text[sizeof self->info.text];
    (void)base_text_format(text, sizeof text, "message %" PRIu64 " of the stream %s",
                           self->info.position.sequence + 1, what);
    fail_follower(self, text);
}

static void count_no_silence(net_stream_follower* self) {
    self->info.silence_us = 0;
    self->silent_us = self->good_us = 0;
}

static void count_lag(net_stream_follower* self) {
    const uint64_t have = self->info.position.sequence;
    self->info.lag_messages = self->end > have ? self->end - have : 0;
}

// ---- messages ----

static const char* find_fault(const net_stream_follower* self) {
    const net_stream_position* position = &self->info.position;
    const net_stream_frame* frame = &self->frame;
    const bool is_claim = frame->kind == NET_STREAM_KIND_CLAIM;
    if (position->epoch == 0)
        return is_claim && frame->header && frame->number == 1 ? NULL : "does not begin a match";
    if (is_claim && frame->epoch <= position->epoch) return "claims an epoch that was before";
    if (is_claim && frame->epoch != position->epoch + 1)
        return "claims an epoch that is not the next one: no server wrote it";
    if (!is_claim && frame->epoch != position->epoch) return "is of an epoch without a claim";
    if (frame->number != position->records + 1) return "does not have the next record";
    return NULL;
}

static void read_again(net_stream_follower* self, uint64_t at_us) {
    self->must_read = true;
    self->read_due_us = at_us;
    self->read_request = 0;
}

static void read_later(net_stream_follower* self, uint64_t now_us) {
    const uint32_t vain = self->vain_reads++;
    read_again(self,
               now_us + (READ_AGAIN_US << (vain < READ_DOUBLED_MAX ? vain : READ_DOUBLED_MAX)));
}

// Does this message, which does not follow, show that the stream began again? Then it is read so.
static bool begin_again(net_stream_follower* self, const net_stream_frame* frame, uint64_t now_us) {
    net_stream_follower_info* info = &self->info;
    const bool is_claim = frame->kind == NET_STREAM_KIND_CLAIM;
    if (info->position.epoch == 0 || frame->epoch <= info->position.epoch ||
        frame->epoch <= self->epoch_again || (is_claim && !frame->header))
        return false;
    self->epoch_again = frame->epoch;
    self->passed_open = info->open_records;
    info->is_passing = info->tick > 0 || info->open_records > 0;
    info->position = (net_stream_position){.epoch = 0};
    self->order = (net_log_order){0};
    self->vain_reads = 0;
    count_no_silence(self);
    read_again(self, now_us);
    return true;
}

static bool read_message(net_stream_follower* self, const net_broker_answer* answer) {
    if (answer->size > NET_STREAM_MESSAGE_BYTES_MAX) return false;
    memcpy(self->memory, answer->data, answer->size);
    return net_stream_frame_read(&self->frame, self->memory, answer->size);
}

static void take_message(net_stream_follower* self, const net_broker_answer* answer,
                         uint64_t now_us) {
    const uint64_t gap_us = now_us - self->came_us;
    self->gap_us = (7 * self->gap_us + (gap_us < QUIET_US_MAX ? gap_us : QUIET_US_MAX)) / 8;
    self->came_us = now_us;
    self->sequence = answer->sequence;
    self->info.is_waiting = false;
    count_no_silence(self);
    if (!read_message(self, answer)) {
        fail_at(self, "has another form: no server of this version wrote it");
        return;
    }
    const char* fault = find_fault(self);
    if (fault && begin_again(self, &self->frame, now_us)) return;
    if (fault && self->frame.epoch < self->info.position.epoch) {
        read_later(self, now_us); // the broker lost what came after it
        return;
    }
    self->vain_reads = 0;
    if (fault) {
        fail_at(self, fault);
    } else if (self->frame.kind == NET_STREAM_KIND_CLAIM) {
        net_stream_follower_info* info = &self->info;
        const net_stream_frame* frame = &self->frame;
        if (self->header.size == 0)
            base_bytes_write(&self->header, frame->header, frame->header_bytes);
        info->claim = frame->claim;
        info->is_claim_new = !frame->header;
        info->position.epoch = frame->epoch;
        info->position.sequence = self->sequence;
        count_lag(self);
    } else {
        self->has_message = true;
        self->offset = 0;
        self->taken = 0;
    }
}

// What is before it was lost on the way, or the broker does not have it: nothing is missing of a
// number that it gave to a message and then refused that.
static void take_later(net_stream_follower* self, const net_broker_answer* answer,
                       uint64_t now_us) {
    if (answer->is_first && read_message(self, answer)) {
        const bool follows = !find_fault(self);
        if (follows) take_message(self, answer, now_us);
        if (follows || begin_again(self, &self->frame, now_us)) return;
    }
    read_later(self, now_us);
    if (!answer->is_first || self->vain_reads < READS_GONE) return;
    char text[sizeof self->info.text];
    (void)base_text_format(text, sizeof text,
                           "is gone, the broker keeps what is after %" PRIu64
                           ": who begins now cannot follow this match (its server's log has all of "
                           "it); give longer ones ?hours=72 of --stream",
                           answer->sequence - 1);
    fail_at(self, text);
}

// ---- pings ----

// Nothing newer was in the stream when the ping was asked, or later.
static void count_silence(net_stream_follower* self) {
    if (self->ping_us < self->grace_us || self->ping_us < self->came_us + self->patience_us) return;
    const bool goes_on = self->good_us > 0 && self->ping_us - self->good_us <= TOGETHER_US;
    if (!goes_on || self->silent_us == 0) self->silent_us = self->ping_us;
    self->good_us = self->ping_us;
    self->info.silence_us = self->ping_us - self->silent_us;
}

static void note_away(net_stream_follower* self, uint64_t now_us) {
    count_no_silence(self);
    self->grace_us = now_us + GRACE_US;
}

static void note_late(net_stream_follower* self, bool is_late, uint64_t now_us) {
    if (!is_late)
        self->late_us = 0;
    else if (self->late_us == 0)
        self->late_us = self->ping_us;
    self->info.late_us = is_late ? now_us - self->late_us : 0;
}

// A claim has no tick, and other bytes are refused when they are read. @return the broker has what
// was read, and nothing else.
static bool hear_end(net_stream_follower* self, const net_broker_answer* answer, uint64_t now_us) {
    net_stream_follower_info* info = &self->info;
    net_stream_frame frame;
    net_log_record record;
    const uint8_t* data;
    size_t offset = 0;
    info->heard_us = self->ping_us;
    self->end = answer->sequence;
    count_lag(self);
    bool is_same = answer->sequence == info->position.sequence;
    if (!net_stream_frame_read(&frame, answer->data, answer->size)) return is_same;
    if (frame.epoch != info->position.epoch) is_same = false;
    if (answer->sequence <= info->position.sequence) (void)begin_again(self, &frame, now_us);
    while (frame.kind == NET_STREAM_KIND_RECORDS &&
           net_stream_frame_next(&frame, &offset, &record, &data)) {
        const bool is_next = record.kind == NET_LOG_KIND_BEGIN || record.kind == NET_LOG_KIND_ALIVE;
        info->end_tick = record.tick - (is_next && record.tick > 0);
    }
    return is_same;
}

static void take_ping(net_stream_follower* self, const net_broker_answer* answer, uint64_t now_us) {
    net_stream_follower_info* info = &self->info;
    self->ping_request = 0;
    if (answer->code == NET_BROKER_REFUSED) {
        fail_follower(self, answer->text);
        return;
    }
    if (answer->code != NET_BROKER_DONE) {
        note_away(self, now_us);
        return;
    }
    const bool is_late = now_us - self->ping_us > PING_ANSWER_US;
    note_late(self, is_late, now_us);
    // A broker that has less lost it, and the server of the match begins the stream again.
    const bool is_same = hear_end(self, answer, now_us);
    if (is_same && !info->is_passing && !is_late)
        count_silence(self);
    else
        count_no_silence(self);
    const bool is_stuck = info->lag_messages > 0 && now_us - self->came_us > READ_LOST_US;
    if (is_stuck && !self->must_read) read_again(self, now_us);
}

// A server that is alive sends something in each gap, which says more than an answered ping.
// @return when the next ping is due because nothing came; 0: pings do not rest.
static uint64_t quiet_from_us(const net_stream_follower* self) {
    const uint64_t usual_us = self->gap_us + self->gap_us / 2;
    const uint64_t quiet_us = usual_us < QUIET_US_MIN   ? QUIET_US_MIN
                              : usual_us > QUIET_US_MAX ? QUIET_US_MAX
                                                        : usual_us;
    const bool rests = self->rests && self->info.position.sequence > 0 &&
                       self->info.lag_messages == 0 && !self->must_read && self->late_us == 0;
    return rests ? self->came_us + quiet_us + self->patience_us : 0;
}

static void ping(net_stream_follower* self, uint64_t now_us) {
    if (self->ping_request > 0 && now_us - self->ping_us < PING_LOST_US) return;
    const uint64_t rest_us =
        now_us < quiet_from_us(self) ? PING_REST_US + self->patience_us : PING_US;
    if (self->ping_us > 0 && now_us - self->ping_us < rest_us) return;
    if (self->ping_request > 0) note_away(self, now_us);
    self->ping_request = ++self->request;
    self->ping_us = now_us;
    self->broker.last(self->broker.context, self->request, false);
}

// The server that has the stream waits: a sign of life. Those of others say nothing here.
static void take_report(net_stream_follower* self, const net_broker_answer* answer) {
    net_stream_report report;
    if (!net_stream_report_read(&report, answer->data, answer->size) ||
        report.role != NET_STREAM_SERVER || report.who != self->info.claim.writer ||
        report.tick != self->info.position.epoch)
        return;
    self->info.is_waiting = true;
    count_no_silence(self);
}

// ---- the machine ----

static void take_answers(net_stream_follower* self, uint64_t now_us) {
    net_broker_answer answer;
    while (!self->has_failed && !self->has_message &&
           self->broker.take(self->broker.context, &answer)) {
        if (answer.code == NET_BROKER_REPORT)
            take_report(self, &answer);
        else if (self->ping_request > 0 && answer.request == self->ping_request)
            take_ping(self, &answer, now_us);
        else if (self->read_request > 0 && answer.request == self->read_request) {
            const uint64_t next = self->info.position.sequence + 1;
            if (answer.code == NET_BROKER_REFUSED) {
                fail_follower(self, answer.text);
            } else if (answer.code != NET_BROKER_MESSAGE) {
                read_later(self, now_us);
            } else if (answer.sequence == next) {
                take_message(self, &answer, now_us);
            } else if (answer.sequence > next) {
                take_later(self, &answer, now_us);
            }
        }
    }
}

uint64_t net_stream_follower_poll(net_stream_follower* self, uint64_t now_us) {
    if (self->has_failed || self->info.is_closed) return UINT64_MAX;
    self->now_us = now_us;
    take_answers(self, now_us);
    if (self->has_failed) return UINT64_MAX;
    if (self->good_us > 0 && now_us > self->good_us + TOGETHER_US + PING_ANSWER_US)
        count_no_silence(self);
    const net_broker_status status = self->broker.status(self->broker.context);
    if (status.reconnects != self->reconnects) {
        self->reconnects = status.reconnects;
        self->ping_request = 0;
        read_again(self, now_us);
    }
    if (!status.is_connected) {
        if (self->ping_us > 0) {
            // The server may have lost the broker as well. It waits before it connects again, up to
            // twice the time for which the broker was away.
            if (self->lost_us == 0) self->lost_us = now_us;
            const uint64_t wait_us = 2 * (now_us - self->lost_us);
            note_away(self, now_us);
            self->grace_us += wait_us < AGAIN_US_MAX ? wait_us : AGAIN_US_MAX;
        }
        note_late(self, false, now_us);
        return now_us + PING_US;
    }
    self->lost_us = 0;
    // Nothing is read before it is known how much there is.
    if (self->must_read && self->info.heard_us > 0 && now_us >= self->read_due_us) {
        self->must_read = false;
        self->came_us = now_us;
        self->read_request = ++self->request;
        self->broker.read(self->broker.context, self->request, self->info.position.sequence + 1);
    }
    ping(self, now_us);
    const uint64_t quiet_us = quiet_from_us(self);
    const uint64_t due_us =
        quiet_us > now_us && quiet_us < now_us + PING_US ? quiet_us : now_us + PING_US;
    return self->must_read && self->read_due_us < due_us ? self->read_due_us : due_us;
}

static bool enters_tick(const net_log_record* record) {
    return record->kind == NET_LOG_KIND_BEGIN || record->kind == NET_LOG_KIND_CONTROL;
}

// The info is about what was given before. @return it was.
static bool pass_over(net_stream_follower* self, const net_log_record* record) {
    net_stream_follower_info* info = &self->info;
    const ecs_tick end = info->tick - info->is_in_tick;
    const bool is_old = record->tick <= end && record->kind != NET_LOG_KIND_CLOSE;
    if (!info->is_passing) return false;
    if (!is_old && self->passed_open == 0) return info->is_passing = false;
    self->passed_open -= !is_old && enters_tick(record);
    const bool has_end = !is_old || (record->kind == NET_LOG_KIND_END && record->tick == end);
    info->is_passing = !has_end || self->passed_open > 0;
    return true;
}

// Its last record was read: so was the message.
static void end_message(net_stream_follower* self) {
    net_stream_position* position = &self->info.position;
    self->has_message = false;
    position->sequence = self->sequence;
    position->records += self->frame.count;
    count_lag(self);
}

net_log_feed_state net_stream_follower_next(net_stream_follower* self, const uint8_t** data,
                                            uint32_t* size) {
    net_stream_follower_info* info = &self->info;
    if (self->has_failed) return NET_LOG_FEED_FAILED;
    if (info->is_closed) return NET_LOG_FEED_END;
    if (!self->has_message) return NET_LOG_FEED_NOTHING;
    net_log_record record;
    bool is_passed = true;
    while (is_passed && self->has_message) {
        const bool has_record = net_stream_frame_next(&self->frame, &self->offset, &record, data);
        BASE_ASSERT(has_record);
        if (!net_log_order_add(&self->order, &record)) {
            fail_at(self, "has records that no log has in this order");
            return NET_LOG_FEED_FAILED;
        }
        is_passed = pass_over(self, &record);
        if (++self->taken == self->frame.count) end_message(self);
    }
    if (is_passed) return NET_LOG_FEED_NOTHING;
    *size = record.size;
    if (record.kind == NET_LOG_KIND_END || record.kind == NET_LOG_KIND_ALIVE)
        info->is_claim_new = false;
    info->open_records += enters_tick(&record);
    if (record.kind == NET_LOG_KIND_END) info->open_records = 0;
    info->tick = self->order.tick;
    info->is_in_tick = self->order.is_in_tick;
    info->is_closed = self->order.is_closed;
    return NET_LOG_FEED_RECORD;
}

void net_stream_follower_expect(net_stream_follower* follower, uint64_t patience_us) {
    follower->rests = true;
    follower->patience_us = patience_us;
}

void net_stream_follower_restart_silence(net_stream_follower* follower) {
    count_no_silence(follower);
    follower->ping_request = 0;
}

const uint8_t* net_stream_follower_header(const net_stream_follower* follower, size_t* size) {
    *size = follower->header.size;
    return follower->header.size > 0 ? follower->header.data : NULL;
}

const net_stream_follower_info* net_stream_follower_get(const net_stream_follower* follower) {
    return &follower->info;
}

// ---- as a feed ----

static net_log_feed_state next_of_feed(void* context, net_log_record* record) {
    net_stream_follower* self = context;
    const uint8_t* data;
    uint32_t size;
    net_log_feed_state next;
    while ((next = net_stream_follower_next(self, &data, &size)) == NET_LOG_FEED_NOTHING) {
        (void)net_stream_follower_poll(self, self->now_us);
        if (!self->has_message && !self->has_failed) break;
    }
    if (next != NET_LOG_FEED_RECORD) return next;
    const bool is_read = net_log_record_read(record, data, size);
    BASE_ASSERT(is_read); // the message was checked
    return NET_LOG_FEED_RECORD;
}

net_log_feed net_stream_follower_feed(net_stream_follower* follower) {
    BASE_ASSERT(follower->header.size > 0);
    return (net_log_feed){.context = follower,
                          .header = follower->header.data,
                          .header_bytes = follower->header.size,
                          .next = next_of_feed};
}

// ---- life ----

net_stream_follower* net_stream_follower_create(const base_allocator* allocator,
                                                const net_broker* broker) {
    BASE_ASSERT(broker->read && broker->last && broker->take);
    net_stream_follower* follower = base_owner_create(allocator, sizeof *follower);
    allocator = &follower->owner.allocator;
    follower->broker = *broker;
    follower->must_read = true;
    base_bytes_init(&follower->header, allocator);
    follower->memory = base_allocate(allocator, NET_STREAM_MESSAGE_BYTES_MAX);
    return follower;
}
