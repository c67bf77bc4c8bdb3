// SPDX-License-Identifier: MIT
// One message at a time. While its answer is missing, records gather in the source; so a slow
// broker gets fewer and longer messages, and the match goes on.
//
//     source -> build -> append -> DONE       -> the next one
//                          ^   |-> WRONG_LAST -> last: ours? DONE : FENCED
//                          |   |-> FULL, UNREADY, silence
//                          '---------'  the same bytes again, with the same id
//
// A message is built once. What a repeat sends is what the broker may have already, so an answer to
// an earlier try is an answer to this one.
#include "stream/stream_frame.h"

#include "base/assert.h"
#include "base/text.h"

#include <inttypes.h>

#define MS UINT64_C(1000)
#define ANSWER_US (NET_STREAM_ANSWER_MS * MS)
#define WAITS_US (NET_STREAM_WAITS_MS * MS)
#define FULL_US (100 * MS)         // a full broker is asked again
#define UNREADY_US (100 * MS)      // one that starts
#define IDLE_US (100 * MS)         // the connection is looked at, though there is nothing to send
#define MISSING_AGAIN_US (20 * MS) // a log whose files are being renamed is looked at again
#define MISSING_US (2 * 1000 * MS) // for so long
#define RESTART_US (NET_STREAM_RESTART_MS * MS)
#define LOST_US                                                                                    \
    (10 * 1000 * MS) // a broker that has less than it acknowledged may still be electing

struct net_stream_writer {
    base_owner owner;
    net_stream_writer_config config;
    net_stream_status status;

    proto_pb_writer message; // in flight, or to be sent
    net_stream_frame frame;  // what it is: kind, epoch, number, count
    char id[NET_BROKER_ID_BYTES];
    bool has_message;
    ecs_tick end_tick; // newest end in it; 0: none
    bool has_close;

    uint64_t request;       // the newest one; a follower with the same broker has lower numbers
    uint64_t first_append;  // the first try of this message
    uint64_t last_request;  // that asked for the newest message; 0: none did
    bool is_waiting;        // for an answer to either
    bool must_ask_last;     // before the message is sent again
    bool is_restarting;     // the message is a claim that begins the stream again
    bool is_restart_asked;  // by an operator
    uint64_t restart_us;    // of FAILED: when it is tried; 0: not known yet
    uint64_t asked_us;      // the newest request
    uint64_t first_us;      // the first try
    uint64_t due_us;        // the next try
    uint64_t said_us;       // that this message waits
    uint64_t reconnects;    // at the newest request
    uint64_t lost_since_us; // 0: the broker has all that it acknowledged
    net_stream_reports reports;
    uint64_t missing_since_us; // the next record, from the log; 0: it is there, or was not appended
};

static void fail_writer(net_stream_writer* self, const char* text) {
    const bool stays = self->is_restarting && self->status.state == NET_STREAM_OWNED;
    if (!stays) self->status.state = NET_STREAM_FAILED;
    self->is_restarting = self->has_message = self->is_waiting = false;
    self->restart_us = 0;
    (void)base_text_copy(self->status.text, sizeof self->status.text, text);
}

static bool is_sending(const net_stream_writer* self) {
    return self->status.state == NET_STREAM_CLAIMING || self->status.state == NET_STREAM_OWNED ||
           self->is_restarting;
}

// It had the stream, which may be another server's by now.
static bool has_lost(const net_stream_writer* self) {
    return self->status.state == NET_STREAM_FAILED &&
           self->status.acked.epoch == self->status.epoch;
}

// ---- messages ----

static void prepare(net_stream_writer* self) {
    net_stream_frame_id(&self->frame, self->config.claim.writer, self->id);
    self->has_message = true;
    self->must_ask_last = false;
    self->first_append = self->request + 1;
    self->first_us = self->said_us = 0;
    self->due_us = 0;
}

// Records that are there, as many as fit. @return false: there is none.
static bool build(net_stream_writer* self, uint64_t now_us) {
    const net_stream_source* source = &self->config.source;
    self->frame = (net_stream_frame){.kind = NET_STREAM_KIND_RECORDS,
                                     .epoch = self->status.epoch,
                                     .number = self->status.acked.records + 1};
    self->end_tick = 0;
    self->has_close = false;
    net_stream_frame_begin(&self->message, NET_STREAM_KIND_RECORDS, self->frame.epoch,
                           self->frame.number);
    net_stream_record record;
    net_stream_found found;
    while ((found = source->next(source->context, self->frame.number + self->frame.count,
                                 &record)) == NET_STREAM_FOUND_RECORD) {
        if (!net_stream_frame_add(&self->message, record.data, record.size)) break;
        self->frame.count++;
        if (record.end_tick > 0) self->end_tick = record.end_tick;
        self->has_close = self->has_close || record.is_close;
    }
    if (self->frame.count == 0) {
        if (found == NET_STREAM_FOUND_LOST) {
            if (self->missing_since_us == 0) self->missing_since_us = now_us;
            self->due_us = now_us + MISSING_AGAIN_US;
            if (now_us - self->missing_since_us >= MISSING_US)
                fail_writer(self, "the log has not all of the match");
        }
        return false;
    }
    self->missing_since_us = 0;
    prepare(self);
    return true;
}

// What the broker takes may differ after a restart. @return false: it takes too little.
static bool has_capacity(net_stream_writer* self, const net_broker_status* broker) {
    if (broker->payload_bytes_max == 0) return false;
    if (broker->payload_bytes_max < NET_BROKER_PAYLOAD_BYTES_MIN) {
        char text[sizeof self->status.text];
        (void)base_text_format(text, sizeof text,
                               "the broker takes messages of %" PRIu32
                               " bytes, and a record may need %u: raise its max_payload",
                               broker->payload_bytes_max, NET_BROKER_PAYLOAD_BYTES_MIN);
        fail_writer(self, text);
        return false;
    }
    const size_t room = broker->payload_bytes_max - NET_STREAM_BROKER_HEAD_BYTES;
    if (self->has_message && self->message.size > room) {
        fail_writer(self, "the broker takes shorter messages than before");
        return false;
    }
    self->message.capacity =
        room < NET_STREAM_MESSAGE_BYTES_MAX ? room : NET_STREAM_MESSAGE_BYTES_MAX;
    return true;
}

// ---- asking ----

static void ask(net_stream_writer* self, const net_broker_status* status, uint64_t now_us) {
    const net_broker* broker = &self->config.broker;
    self->request++;
    self->is_waiting = true;
    self->asked_us = now_us;
    self->reconnects = status->reconnects;
    if (self->must_ask_last) {
        self->last_request = self->request;
        broker->last(broker->context, self->request, true);
        return;
    }
    if (self->first_us == 0)
        self->first_us = now_us;
    else
        self->status.repeats++;
    const net_broker_append append = {.data = self->message.data,
                                      .size = self->message.size,
                                      .expected = self->status.acked.sequence,
                                      .id = self->id,
                                      .replaces = self->is_restarting};
    broker->append(broker->context, self->request, &append);
}

static void ask_later(net_stream_writer* self, net_stream_trouble trouble, uint64_t at_us) {
    if (trouble == NET_STREAM_AWAY)
        (void)base_text_copy(self->status.text, sizeof self->status.text,
                             "it is connected, and not ready");
    self->is_waiting = false;
    self->due_us = at_us;
    self->status.trouble = trouble;
}

// ---- answers ----

static void report_server(const net_stream_writer* self, uint64_t* due_us, uint64_t now_us) {
    const net_stream_report report = {.role = NET_STREAM_SERVER,
                                      .is_able = true,
                                      .who = self->status.writer,
                                      .tick = self->status.epoch};
    net_stream_report_send(&self->config.broker, &report, due_us, now_us);
}

// The server that had the stream reads at once that another one has it.
static void take_claimed(net_stream_writer* self, uint64_t now_us) {
    uint64_t due_us = 0;
    self->status.state = NET_STREAM_OWNED;
    self->status.restarts += self->is_restarting;
    self->is_restarting = false;
    if (self->status.epoch > 1) report_server(self, &due_us, now_us);
}

static void take_stored(net_stream_writer* self, uint64_t sequence, uint64_t now_us) {
    net_stream_status* status = &self->status;
    BASE_ASSERT(self->has_message && sequence == status->acked.sequence + 1);
    status->epoch = self->frame.epoch;
    status->acked = (net_stream_position){.epoch = status->epoch,
                                          .sequence = sequence,
                                          .records = self->frame.number + self->frame.count - 1};
    if (self->end_tick > status->acked_tick) status->acked_tick = self->end_tick;
    status->messages++;
    status->bytes += self->message.size;
    status->ack_us = now_us - self->first_us;
    status->ack_us_total += status->ack_us;
    status->trouble = NET_STREAM_WELL;
    self->has_message = self->is_waiting = self->must_ask_last = false;
    self->due_us = 0;
    self->lost_since_us = 0;
    if (self->frame.kind == NET_STREAM_KIND_CLAIM) take_claimed(self, now_us);
    if (self->has_close) status->state = NET_STREAM_ENDED;
}

static void fence(net_stream_writer* self, uint64_t epoch) {
    self->status.state = NET_STREAM_FENCED;
    self->status.fenced_by = epoch;
    self->status.trouble = NET_STREAM_WELL;
    self->has_message = self->is_waiting = self->is_restarting = false;
}

static bool is_own(const net_stream_writer* self, const net_stream_frame* frame) {
    return frame->kind == self->frame.kind && frame->epoch == self->frame.epoch &&
           frame->number == self->frame.number && frame->count == self->frame.count &&
           (frame->kind != NET_STREAM_KIND_CLAIM ||
            frame->claim.writer == self->config.claim.writer);
}

// A broker that was acknowledging and has less now: an election that is not over, or a lost disk.
// Only the server that has the stream begins it again.
static void take_less(net_stream_writer* self, uint64_t now_us) {
    if (self->status.state == NET_STREAM_CLAIMING && self->status.epoch > 1) {
        fence(self, self->status.acked.epoch);
        return;
    }
    if (self->lost_since_us == 0) self->lost_since_us = now_us;
    self->must_ask_last = false;
    ask_later(self, NET_STREAM_AWAY, now_us + UNREADY_US);
    if (now_us - self->lost_since_us >= LOST_US)
        fail_writer(self, "the broker lost messages that it had acknowledged");
}

static void write_claim(net_stream_writer* self, const void* header, size_t header_bytes) {
    BASE_ASSERT(header_bytes <= NET_STREAM_HEADER_BYTES_MAX);
    self->message.capacity = NET_BROKER_PAYLOAD_BYTES_MIN - NET_STREAM_BROKER_HEAD_BYTES;
    net_stream_frame_claim(&self->message, self->frame.epoch, self->frame.number,
                           &self->config.claim, header, header_bytes);
    BASE_ASSERT(!self->message.failed);
}

// No other server has written: the match from its first record on replaces the old messages.
static void replace_old(net_stream_writer* self, const net_broker_answer* answer) {
    const net_stream_source* source = &self->config.source;
    const base_bytes* header = source->restart(source->context);
    if (!header) {
        fail_writer(self, "the log has not all of the match: the stream cannot begin again");
        return;
    }
    write_claim(self, header->data, header->size);
    self->status.acked.sequence = answer->end;
    self->must_ask_last = self->is_waiting = false;
}

// After "wrong last sequence": whose message is the newest?
static void take_last(net_stream_writer* self, const net_broker_answer* answer, uint64_t now_us) {
    const uint64_t expected = self->status.acked.sequence;
    net_stream_frame newest;
    const bool has_newest = answer->code == NET_BROKER_DONE && answer->sequence > 0;
    const bool is_read = has_newest && net_stream_frame_read(&newest, answer->data, answer->size);
    const bool is_older = is_read && self->status.state == NET_STREAM_OWNED &&
                          newest.epoch < self->status.epoch; // the claim is gone
    if (answer->code == NET_BROKER_REFUSED) {
        fail_writer(self, answer->text);
    } else if (answer->code != NET_BROKER_DONE) {
        ask_later(self, NET_STREAM_AWAY, now_us + UNREADY_US);
    } else if (has_newest && !is_read) {
        fail_writer(self,
                    "its newest message has another form: no server of this version wrote it");
    } else if (self->is_restarting && is_read && is_own(self, &newest)) {
        self->status.acked.sequence = answer->sequence - 1;
        take_stored(self, answer->sequence, now_us);
    } else if (is_read && newest.epoch > self->status.epoch) {
        fence(self, newest.epoch);
    } else if (self->is_restarting) {
        replace_old(self, answer);
    } else if (answer->end < expected || is_older) {
        take_less(self, now_us);
    } else if (answer->sequence <= expected) {
        // Who answered does not know the newest one yet, or numbers have no message: a limit of an
        // account is looked at when it has one.
        self->must_ask_last = false;
        self->status.acked.sequence = answer->end;
        ask_later(self, self->status.trouble == NET_STREAM_FULL ? NET_STREAM_FULL : NET_STREAM_AWAY,
                  now_us + UNREADY_US);
    } else if (answer->sequence == expected + 1 && is_own(self, &newest)) {
        take_stored(self, answer->sequence, now_us);
    } else {
        fence(self, newest.epoch);
    }
}

static void take_appended(net_stream_writer* self, const net_broker_answer* answer,
                          uint64_t now_us) {
    switch (answer->code) {
    case NET_BROKER_DONE:
        if (answer->sequence == self->status.acked.sequence + 1)
            take_stored(self, answer->sequence, now_us);
        else
            fail_writer(self, "the broker numbers messages in another way");
        return;
    case NET_BROKER_WRONG_LAST:
        self->must_ask_last = true;
        self->is_waiting = false;
        self->due_us = self->is_restarting ? now_us + UNREADY_US : 0;
        return;
    case NET_BROKER_FULL:
        // Who writes cannot write either: its silence does not mean that it is dead.
        if (self->status.state == NET_STREAM_CLAIMING && self->status.epoch > 1) {
            fence(self, self->status.acked.epoch);
            self->status.trouble = NET_STREAM_FULL;
            return;
        }
        (void)base_text_copy(self->status.text, sizeof self->status.text, answer->text);
        ask_later(self, NET_STREAM_FULL, now_us + FULL_US);
        return;
    case NET_BROKER_REFUSED:
        fail_writer(self, answer->text);
        return;
    default:
        ask_later(self, NET_STREAM_AWAY, now_us + UNREADY_US);
    }
}

static void take_report(net_stream_writer* self, const net_broker_answer* answer, uint64_t now_us) {
    net_stream_report report;
    const bool is_read = net_stream_report_read(&report, answer->data, answer->size);
    // It was a standby a moment ago, and is not one of its own match.
    if (is_read && report.who == self->config.claim.writer) return;
    self->status.reports_refused +=
        !net_stream_reports_add(&self->reports, answer->data, answer->size, now_us);
    if (is_read && report.role == NET_STREAM_SERVER && report.tick > self->status.epoch)
        self->status.heard_epoch = report.tick;
}

static void take_answers(net_stream_writer* self, uint64_t now_us) {
    const net_broker* broker = &self->config.broker;
    net_broker_answer answer;
    while (broker->take(broker->context, &answer)) {
        if (answer.code == NET_BROKER_REPORT) take_report(self, &answer, now_us);
        if (!is_sending(self) || !self->has_message) continue;
        const bool is_last = answer.request == self->last_request;
        if (answer.request < self->first_append) continue; // of a message before
        if (is_last && self->must_ask_last)
            take_last(self, &answer, now_us);
        else if (!is_last && (!self->must_ask_last || answer.code == NET_BROKER_DONE))
            take_appended(self, &answer, now_us);
    }
}

// ---- the machine ----

static uint64_t send(net_stream_writer* self, const net_broker_status* broker, uint64_t now_us) {
    net_stream_status* status = &self->status;
    if (!broker->is_connected) {
        status->trouble = NET_STREAM_AWAY;
        (void)base_text_copy(status->text, sizeof status->text, broker->trouble);
        return now_us + IDLE_US;
    }
    if (!has_capacity(self, broker)) return now_us + IDLE_US;
    const bool is_new = broker->reconnects != self->reconnects;
    if (self->is_waiting && !is_new && now_us < self->asked_us + ANSWER_US)
        return self->asked_us + ANSWER_US;
    if (self->is_waiting && !is_new) status->trouble = NET_STREAM_SLOW;
    if (!self->is_waiting && now_us < self->due_us) return self->due_us;
    if (!self->has_message && !build(self, now_us)) {
        status->trouble = NET_STREAM_WELL;
        return self->due_us > now_us ? self->due_us : now_us + IDLE_US;
    }
    ask(self, broker, now_us);
    return now_us + ANSWER_US;
}

// Nothing comes of a server whose message waits, in a full broker or on a long way to it, or whose
// stream failed, and it lives. One that hangs has soon none that waits.
static uint64_t report_waiting(net_stream_writer* self, uint64_t now_us) {
    const bool waits = self->status.state == NET_STREAM_OWNED && self->has_message;
    if (!waits && !has_lost(self)) return UINT64_MAX;
    if (self->said_us == 0) self->said_us = now_us; // an answer that comes soon needs none
    uint64_t due_us = self->said_us + WAITS_US;
    if (now_us >= due_us) {
        report_server(self, &due_us, now_us);
        self->said_us = now_us;
    }
    return self->said_us + WAITS_US;
}

// Whether it can begin again or not, it is looked at: another server may have the match by now.
static void restart(net_stream_writer* self, uint64_t now_us) {
    const bool is_free = self->status.state == NET_STREAM_OWNED && !self->has_message;
    const bool is_asked = self->is_restart_asked && (is_free || has_lost(self));
    if (self->is_restarting || !(is_asked || has_lost(self))) return;
    if (self->restart_us == 0) self->restart_us = now_us + RESTART_US;
    if (!is_asked && now_us < self->restart_us) return;
    self->frame = (net_stream_frame){
        .kind = NET_STREAM_KIND_CLAIM, .epoch = self->status.epoch + 1, .number = 1};
    self->message.size = 0; // it is written when no other server has claimed
    prepare(self);
    self->end_tick = self->lost_since_us = self->missing_since_us = 0;
    self->is_restart_asked = self->has_close = self->is_waiting = false;
    self->must_ask_last = self->is_restarting = true;
    self->restart_us = 0;
}

uint64_t net_stream_writer_poll(net_stream_writer* self, uint64_t now_us) {
    take_answers(self, now_us);
    restart(self, now_us);
    uint64_t next_us = UINT64_MAX;
    if (is_sending(self) || has_lost(self)) {
        const net_broker_status status = self->config.broker.status(self->config.broker.context);
        const uint64_t send_us = is_sending(self) ? send(self, &status, now_us) : self->restart_us;
        const uint64_t report_us = status.is_connected ? report_waiting(self, now_us) : UINT64_MAX;
        next_us = send_us < report_us ? send_us : report_us;
    }
    // A standby is near when the newest stored tick that it has is not too old.
    net_stream_status* status = &self->status;
    const ecs_tick near = NET_STREAM_REPORT_COUNTS_S * 1000 * MS / self->config.tick_us + 1;
    const ecs_tick from = status->acked_tick > near ? status->acked_tick - near : 0;
    const bool is_owned = status->state == NET_STREAM_OWNED;
    const bool may_claim = is_owned && status->trouble == NET_STREAM_WELL;
    status->standbys =
        may_claim ? net_stream_reports_count(&self->reports, NET_STREAM_STANDBY, from, now_us) : 0;
    status->relays =
        is_owned ? net_stream_reports_count(&self->reports, NET_STREAM_RELAY, from, now_us) : 0;
    status->has_older = is_owned && net_stream_reports_has_older(&self->reports, now_us);
    return next_us;
}

void net_stream_writer_restart(net_stream_writer* self) {
    self->is_restart_asked = true;
}

void net_stream_writer_claim(net_stream_writer* self, const net_stream_position* behind,
                             const void* header, size_t header_bytes) {
    BASE_ASSERT(self->status.state == NET_STREAM_IDLE || self->status.state == NET_STREAM_FENCED);
    BASE_ASSERT((behind->sequence == 0) == (header != NULL));
    self->status = (net_stream_status){.state = NET_STREAM_CLAIMING,
                                       .epoch = behind->epoch + 1,
                                       .writer = self->config.claim.writer,
                                       .acked = *behind};
    self->frame = (net_stream_frame){
        .kind = NET_STREAM_KIND_CLAIM, .epoch = behind->epoch + 1, .number = behind->records + 1};
    self->end_tick = 0;
    self->has_close = false;
    write_claim(self, header, header_bytes);
    prepare(self);
    self->is_waiting = false;
    self->lost_since_us = 0;
}

const net_stream_status* net_stream_writer_status(const net_stream_writer* writer) {
    return &writer->status;
}

net_stream_writer* net_stream_writer_create(const net_stream_writer_config* config) {
    BASE_ASSERT(config->broker.append && config->broker.report && config->source.next);
    BASE_ASSERT(config->claim.writer != 0 && config->tick_us > 0);
    net_stream_writer* writer = base_owner_create(config->allocator, sizeof *writer);
    writer->config = *config;
    writer->request = UINT64_C(1) << 63;
    writer->status.writer = config->claim.writer;
    writer->message.data = base_allocate(&writer->owner.allocator, NET_STREAM_MESSAGE_BYTES_MAX);
    return writer;
}

// ---- what clients may know ----

// A client may know of a tick what a standby would know if the server died now: what is stored.
//
//     tick T runs -> its end is appended -> stored -> released -> clients
//
// Without that (off) clients are ahead of the stream by the time of an acknowledgement, and there
// is one doubt only: a process that slept does not know whether another server has the match by
// now. It asks by appending, and shows its clients nothing until the answer is there.

// STILL and UNSAFE last until all is stored again.
static net_stream_safety decide(const net_stream_sync* self, bool is_owned, bool is_over,
                                uint64_t now_us) {
    const uint64_t late_us = self->waits ? now_us - self->waited_us : 0;
    const bool is_late = late_us > self->limit_us;
    const bool is_lost = late_us > self->limit_us + NET_STREAM_STILL_MS * MS;
    if (!self->is_on) return NET_STREAM_FREE;
    if (!self->waits) return NET_STREAM_SAFE;
    if (self->safety == NET_STREAM_UNSAFE) return NET_STREAM_UNSAFE;
    if (is_lost || (is_late && (self->goes_on || is_over))) return NET_STREAM_UNSAFE;
    if (self->goes_on) return NET_STREAM_SAFE;
    return is_late || !is_owned || self->safety == NET_STREAM_STILL ? NET_STREAM_STILL
                                                                    : NET_STREAM_SAFE;
}

void net_stream_sync_step(net_stream_sync* self, const net_stream_status* status, ecs_tick newest,
                          ecs_tick first, bool is_over, uint64_t now_us) {
    const bool is_owned = status->state == NET_STREAM_OWNED || status->state == NET_STREAM_ENDED;
    ecs_tick stored = status->acked_tick > first ? status->acked_tick : first;
    if (status->state == NET_STREAM_ENDED) stored = newest;
    // Since when a tick waits, and nothing was stored. A far broker stores something all the time,
    // and a tick takes up to two of its answers. Without the stream nothing is stored.
    const bool has_moved = is_owned && status->acked.records > self->records;
    self->records = status->acked.records;
    if (has_moved || !self->waits) self->waited_us = now_us;
    self->waits = !is_owned || stored < newest;
    const uint64_t rest_us = self->tick_us + NET_STREAM_REST_MS * MS;
    if (self->step_us > 0 && now_us - self->step_us > rest_us) {
        self->doubted = newest + 1;
        self->doubted_us = now_us;
    }
    self->step_us = now_us;
    const bool is_kept = self->is_on && self->safety != NET_STREAM_UNSAFE;
    const bool has_waited = !is_kept && now_us - self->doubted_us > NET_STREAM_DOUBT_MS * MS;
    if (stored >= self->doubted || has_waited) self->doubted = 0;
    const net_stream_safety before = self->safety;
    self->safety = decide(self, is_owned, is_over, now_us);
    if (self->safety == NET_STREAM_UNSAFE && before != NET_STREAM_UNSAFE) self->unsafe = stored + 1;
    const bool is_free = self->safety == NET_STREAM_FREE || self->safety == NET_STREAM_UNSAFE;
    self->released = is_free && self->doubted == 0 ? UINT64_MAX : stored;
}
