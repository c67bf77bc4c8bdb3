// SPDX-License-Identifier: MIT
// One thread has the writer and the broker. The simulation's thread pushes records into the tap and
// wakes the thread by an eventfd; the thread wakes the loop by another one when ticks were stored.
// The loop takes a copy of the status when the lock is free.
#include "fleet.h"
#include "log/log.h"
#include "stream_nats.h"

#include "base/assert.h"
#include "base/text.h"
#include "core/worker.h"
#include "net/socket.h"
#include "host/output.h"
#include "host/setup.h"

#include <inttypes.h>
#include <poll.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

#define MS UINT64_C(1000)
enum {
    BEGIN_MS = 2000,   // a server waits so long for its broker, then begins without
    RESUME_MS = 10000, // so long without anything new from a stream that goes on
    END_MS = 3000,
    AWAY_MS = 500, // of a broker that is away
    STEP_MS = 5,
    HANDOVER_MS = 2000,      // a standby claims within this time, or the match stays
    HANDOVER_STEP_MS = 5,    // its claim is looked for
    HANDOVER_AGAIN_MS = 500, // where its report was lost
    SYNC_MS_MIN = 20,
    SYNC_MS_MAX = 2000, // clients call again behind NET_QUIET_MS_MAX
};

struct server_stream {
    server_program* program;
    net_stream_tap* tap; // NULL: no --stream
    net_transport* hold; // the program's
    net_address address; // where players reach it, without --listen public
    server_nats* nats;
    net_broker broker;
    net_stream_writer* writer;
    int wake;              // an eventfd: the thread should look
    _Atomic bool is_woken; // it does
    int stored;            // an eventfd: the loop should look
    pthread_t thread;
    bool has_thread;
    _Atomic bool has_writer; // the thread; before that it waits
    _Atomic bool is_stopping;
    _Atomic bool is_restart_asked;

    pthread_mutex_t mutex;
    server_stream_counts shared; // under it, of the thread

    // Of the loop.
    server_stream_counts counts;
    net_stream_state said_state;
    uint64_t said_restarts;
    net_stream_trouble said_trouble;
    char said_text[sizeof((net_stream_status*)0)->text]; // of AWAY
    uint64_t said_acked; // records that were stored when the trouble was said
    uint64_t trouble_us; // since when it lasts
    net_stream_sync sync;
    bool has_first;
    ecs_tick first;    // of the match when this server began to write
    uint64_t still_us; // it stands still since then
    uint64_t pass_us;  // of the newest pass
    uint64_t empty_us; // when older followers read last that the match is empty

    uint64_t handover_us; // since when it hands the match over; 0: it does not
    uint64_t handover_said_us;
    bool was_not_taken; // no standby claimed
};

// ---- the thread ----

// From any thread. Once is enough until the thread looks.
static void wake(void* context) {
    server_stream* self = context;
    if (!atomic_exchange(&self->is_woken, true)) (void)eventfd_write(self->wake, 1);
}

static void wait_for_wake(server_stream* self, uint64_t until_us) {
    eventfd_t count;
    struct pollfd wanted = {.fd = self->wake, .events = POLLIN};
    const uint64_t now_us = net_loop_now_us();
    const uint64_t wait_ms = until_us > now_us ? (until_us - now_us + MS - 1) / MS : 0;
    if (wait_ms > 0) (void)poll(&wanted, 1, wait_ms < 1000 ? (int)wait_ms : 1000);
    (void)eventfd_read(self->wake, &count);
    atomic_store(&self->is_woken, false); // what comes from here on is looked at, or wakes again
}

static void share(server_stream* self) {
    const net_broker_status broker = self->broker.status(self->broker.context);
    const net_stream_status* status = net_stream_writer_status(self->writer);
    const server_stream_counts counts = {.status = *status,
                                         .records = net_stream_tap_records(self->tap),
                                         .reconnects = broker.reconnects,
                                         .waiting = broker.waiting,
                                         .waiting_bytes = net_stream_tap_waiting(self->tap)};
    const net_stream_status* told = &self->shared.status; // written here alone
    const bool is_told = told->acked_tick == status->acked_tick &&
                         told->has_older == status->has_older && told->standbys == status->standbys;
    pthread_mutex_lock(&self->mutex);
    self->shared = counts;
    pthread_mutex_unlock(&self->mutex);
    if (!is_told) (void)eventfd_write(self->stored, 1);
}

static void* run_stream(void* context) {
    server_stream* self = context;
    while (!atomic_load(&self->is_stopping)) {
        const bool has_writer = atomic_load(&self->has_writer);
        if (has_writer && atomic_exchange(&self->is_restart_asked, false))
            net_stream_writer_restart(self->writer);
        const uint64_t next_us =
            has_writer ? net_stream_writer_poll(self->writer, net_loop_now_us()) : UINT64_MAX;
        if (has_writer) share(self);
        wait_for_wake(self, next_us);
    }
    return NULL;
}

static bool start_thread(server_stream* self) {
    const int error = net_thread_start(&self->thread, run_stream, self);
    self->has_thread = error == 0;
    if (error != 0)
        base_report(&self->program->reporter, NULL, 0, "no thread for the stream: %s",
                    base_error_text(error));
    return self->has_thread;
}

// ---- beginning ----

// The lock is not waited for. @return false: the counts are those of before.
static bool take_counts(server_stream* self) {
    if (pthread_mutex_trylock(&self->mutex) != 0) return false;
    self->counts.status = self->shared.status;
    self->counts.records = self->shared.records;
    self->counts.reconnects = self->shared.reconnects;
    self->counts.waiting = self->shared.waiting;
    self->counts.waiting_bytes = self->shared.waiting_bytes;
    pthread_mutex_unlock(&self->mutex);
    return true;
}

static void make_writer(server_stream* self) {
    net_stream_writer_config config = {.broker = self->broker,
                                       .source = net_stream_tap_source(self->tap),
                                       .claim = {.key_id = self->program->access.key_name},
                                       .tick_us = self->sync.tick_us};
    while (config.claim.writer == 0)
        net_host_draw_secret(&config.claim.writer, sizeof config.claim.writer);
    const uint32_t given = self->program->config.public_addresses.count;
    const uint32_t count = given > 0 ? given : self->address.port != 0;
    const net_address* addresses =
        given > 0 ? self->program->access.public_addresses : &self->address;
    for (uint32_t i = 0; i < count && i < NET_STREAM_ADDRESSES_MAX; i++)
        config.claim.addresses[config.claim.address_count++] = addresses[i];
    self->writer = net_stream_writer_create(&config);
}

// What a stream that is there ends with.
typedef struct stream_end {
    net_stream_position position;
    ecs_tick tick; // the newest whole one
    bool is_closed;
    base_bytes last; // the newest record
} stream_end;

// @return false: the broker does not answer, or its stream cannot be followed (reported).
static bool read_stream(server_stream* self, net_stream_follower* follower, stream_end* end) {
    const net_stream_follower_info* info = net_stream_follower_get(follower);
    uint64_t progress_us = net_loop_now_us();
    for (;;) {
        const uint64_t now_us = net_loop_now_us();
        const uint8_t* data;
        uint32_t size;
        net_log_feed_state next;
        (void)net_stream_follower_poll(follower, now_us);
        while ((next = net_stream_follower_next(follower, &data, &size)) == NET_LOG_FEED_RECORD) {
            base_bytes_clear(&end->last);
            base_bytes_write(&end->last, data, size);
            progress_us = now_us;
        }
        end->position = info->position;
        end->tick = info->tick - info->is_in_tick;
        end->is_closed = info->is_closed;
        if (next == NET_LOG_FEED_FAILED)
            return base_report(&self->program->reporter, NULL, 0, "%s", info->text);
        // A ping was answered, and nothing is newer.
        if (info->is_closed || info->silence_us > 0) return true;
        if (now_us - progress_us > RESUME_MS * MS) {
            const net_broker_status status = self->broker.status(self->broker.context);
            return base_report(&self->program->reporter, NULL, 0,
                               "the stream's broker does not answer: %s", status.trouble);
        }
        wait_for_wake(self, now_us + STEP_MS * MS);
    }
}

static int resume(server_stream* self, net_stream_position* behind) {
    net_stream_follower* follower = net_stream_follower_create(NULL, &self->broker);
    stream_end end = {.is_closed = false};
    base_bytes_init(&end.last, NULL);
    bool goes_on = read_stream(self, follower, &end);
    base_owner_destroy(follower);
    if (goes_on && end.is_closed) {
        base_report(&self->program->reporter, NULL, 0,
                    "the stream of this match has its end: continue without --stream");
        goes_on = false;
    }
    if (goes_on)
        goes_on =
            net_stream_tap_resume(self->tap, end.position.records, end.last.data,
                                  (uint32_t)end.last.size, &self->program->reporter) == NET_OK;
    base_bytes_deinit(&end.last);
    *behind = end.position;
    self->first = end.tick; // what the log has behind it is not stored yet
    self->has_first = end.position.sequence > 0;
    return goes_on ? NET_EXIT_CLEAN : NET_EXIT_RUNTIME;
}

// A broker that is away does not keep a new match from its begin.
static int wait_for_claim(server_stream* self) {
    const uint64_t until_us = net_loop_now_us() + BEGIN_MS * MS;
    do {
        (void)poll(NULL, 0, STEP_MS);
        (void)take_counts(self);
    } while (self->counts.status.state <= NET_STREAM_CLAIMING && net_loop_now_us() < until_us);
    const net_stream_status* status = &self->counts.status;
    if (status->state == NET_STREAM_FAILED)
        return net_exit_report(NET_EXIT_RUNTIME, &self->program->reporter, NULL, "--stream: %s",
                               status->text);
    if (status->state == NET_STREAM_FENCED)
        return net_exit_report(NET_EXIT_FENCED, &self->program->reporter, NULL,
                               "fenced by epoch %" PRIu64, status->fenced_by);
    return NET_EXIT_CLEAN;
}

static int open_broker(server_stream* self, uint64_t identity) {
    const server_nats_config config = {.url = self->program->config.stream,
                                       .identity = identity,
                                       .creates = true,
                                       .wake = wake,
                                       .context = self};
    const net_result result = server_nats_open(&config, &self->program->reporter, &self->nats);
    if (result == NET_OK) self->broker = server_nats_broker(self->nats);
    return net_exit_of_setup(result);
}

static int claim_stream(server_stream* self, uint64_t identity, bool is_resumed) {
    BASE_ASSERT(!self->nats && !self->writer);
    net_stream_position behind = {.epoch = 0};
    int code = open_broker(self, identity);
    if (code == NET_EXIT_CLEAN && is_resumed) {
        code = resume(self, &behind);
        server_nats_write(self->nats, wake, self);
    }
    if (code != NET_EXIT_CLEAN) return code;
    const net_stream_source source = net_stream_tap_source(self->tap);
    const base_bytes* header = behind.sequence == 0 ? source.restart(source.context) : NULL;
    if (behind.sequence == 0 && !header)
        return net_exit_report(NET_EXIT_RUNTIME, &self->program->reporter,
                               server_log_of(self->program)->file,
                               "--stream: the log has not all of the match");
    make_writer(self);
    net_stream_writer_claim(self->writer, &behind, header ? header->data : NULL,
                            header ? header->size : 0);
    atomic_store(&self->has_writer, true);
    return start_thread(self) ? wait_for_claim(self) : NET_EXIT_RUNTIME;
}

// ---- standing by ----

// It reads and would claim on one connection, which is this part's from here on.
static int stand_by(server_stream* self, server_standby* standby) {
    BASE_ASSERT(!self->nats && !self->writer && standby->nats);
    self->nats = standby->nats;
    self->broker = server_nats_broker(self->nats);
    make_writer(self);
    net_standby_open(standby->standby, self->tap, self->writer);
    // Before the match is here: a server without this thread would never learn that it is fenced.
    return start_thread(self) ? NET_EXIT_CLEAN : NET_EXIT_RUNTIME;
}

void server_stream_go_on(server_stream* self) {
    BASE_ASSERT(net_stream_writer_status(self->writer)->state == NET_STREAM_OWNED);
    share(self);
    (void)take_counts(self); // no thread shares before it has the writer
    self->counts.takeovers++;
    server_nats_write(self->nats, wake, self);
    atomic_store(&self->has_writer, true);
    wake(self);
}

// ---- while the match runs ----

static bool goes_on(const server_stream* self) {
    return !self->sync.is_on || self->sync.goes_on;
}

static void say_trouble(server_stream* self, uint64_t now_us) {
    enum { PATIENCE_MS = 500 };
    const net_stream_status* status = &self->counts.status;
    const bool is_away = status->trouble == NET_STREAM_AWAY;
    if (status->trouble == self->said_trouble &&
        (!is_away || strcmp(status->text, self->said_text) == 0)) {
        self->trouble_us = 0;
        return;
    }
    if (self->trouble_us == 0) self->trouble_us = now_us;
    if (now_us - self->trouble_us < PATIENCE_MS * MS && status->trouble != NET_STREAM_WELL) return;
    const base_reporter* reporter = &self->program->reporter;
    if (self->said_trouble == NET_STREAM_WELL) self->said_acked = status->acked.records;
    self->said_trouble = status->trouble;
    self->trouble_us = 0;
    (void)base_text_copy(self->said_text, sizeof self->said_text, status->text);
    if (status->trouble == NET_STREAM_WELL)
        base_report(reporter, NULL, 0,
                    "note: the stream's broker is back; %" PRIu64 " records come late",
                    self->counts.records - self->said_acked);
    else
        base_report(reporter, NULL, 0, "warning: the stream's broker %s%s%s",
                    is_away                              ? "is away"
                    : status->trouble == NET_STREAM_FULL ? "is full and needs room"
                                                         : "does not answer",
                    goes_on(self) ? ", the match continues: " : ": ",
                    status->trouble != NET_STREAM_SLOW
                        ? status->text
                        : "it elects, or its disk is slow or full (after a full one, make room "
                          "and start it again)");
}

static void write_idle(const server_stream* self, net_idle why) {
    const net_observer* observer = &self->program->observer;
    observer->idle(observer->context, why);
}

// Who follows with an older build would take an empty match for dead.
static void pass_empty(server_stream* self, uint64_t now_us) {
    const bool is_older = self->counts.status.has_older && self->handover_us == 0 &&
                          net_server_is_empty(self->program->server);
    self->program->rest_us = (is_older ? NET_IDLE_MS : NET_IDLE_EMPTY_MS) * MS;
    if (!is_older || now_us - self->empty_us < NET_IDLE_MS * MS) return;
    self->empty_us = now_us;
    write_idle(self, NET_IDLE_EMPTY);
}

// ---- handing over ----
//
//     last tick -> flush -> "hand over" --- report, refusal ---> FENCED: the match is elsewhere
//                              '---------- HANDOVER_MS ---------> it goes on here
//
// No tick runs meanwhile, and nothing follows the word in the stream: a standby that is far from
// the broker claims right after it. A standby's report is a hint alone. What proves it is that the
// broker refuses the next record.

static uint64_t wake_us(const server_program* program) {
    (void)program;
    return net_loop_now_us() + HANDOVER_STEP_MS * MS;
}

static bool run_nothing(server_program* program, uint64_t now_us) {
    (void)program, (void)now_us;
    return false;
}

static const server_ticks handover_ticks = {.wake_us = wake_us, .run = run_nothing};

// A paused match stays paused at a standby, which waits until this server is silent.
static void write_handover(server_stream* self, uint64_t now_us) {
    const net_server* server = self->program->server;
    const bool is_paused = net_server_is_paused(server) && !net_server_is_empty(server);
    self->handover_said_us = now_us;
    write_idle(self, is_paused ? NET_IDLE_PAUSED : NET_IDLE_HANDOVER);
}

static bool begin_handover(server_stream* self, uint64_t now_us) {
    server_program* program = self->program;
    if (self->handover_us > 0) return true;
    if (program->ticks || self->counts.status.standbys == 0 || self->was_not_taken ||
        net_server_get_phase(program->server) > NET_SERVER_RUNNING)
        return false;
    (void)net_server_wait_sent(program->server, UINT64_MAX);
    self->handover_us = now_us;
    program->ticks = &handover_ticks;
    write_handover(self, now_us);
    return true;
}

static void pass_handover(server_stream* self, uint64_t now_us) {
    server_program* program = self->program;
    bool* is_asked = &server_subject_of(program)->is_handover_asked;
    if (*is_asked) (void)begin_handover(self, now_us);
    *is_asked = false;
    if (self->handover_us == 0 || program->is_over) return;
    const net_stream_status* status = &self->counts.status;
    const uint32_t again_ms =
        status->heard_epoch > status->epoch ? HANDOVER_STEP_MS : HANDOVER_AGAIN_MS;
    if (now_us - self->handover_us < HANDOVER_MS * MS) {
        if (now_us - self->handover_said_us >= again_ms * MS) write_handover(self, now_us);
        return;
    }
    base_report(&program->reporter, NULL, 0,
                "warning: no standby took the match within %d ms: it continues here", HANDOVER_MS);
    self->handover_us = 0;
    program->ticks = NULL;
    if (net_server_is_empty(program->server)) write_idle(self, NET_IDLE_EMPTY);
    self->was_not_taken = program->is_terminated; // then it ends, in order
    if (program->is_terminated) server_program_terminate(program, now_us);
}

static void say_handed_over(const server_stream* self, uint64_t epoch) {
    const ecs_tick tick = net_match_tick(self->program->match);
    printf("handover epoch=%" PRIu64 " tick=%" PRIu64 "\n", epoch, tick);
    (void)fflush(stdout);
    base_report(&self->program->reporter, NULL, 0,
                "note: handed over after tick %" PRIu64 ": another server continues the match as "
                "epoch %" PRIu64,
                tick, epoch);
}

static void pass_restart(server_stream* self) {
    const net_stream_status* status = &self->counts.status;
    bool* is_asked = &server_subject_of(self->program)->is_restream_asked;
    if (*is_asked) atomic_store(&self->is_restart_asked, true);
    if (*is_asked) wake(self);
    *is_asked = false;
    if (status->restarts > self->said_restarts)
        base_report(&self->program->reporter, NULL, 0,
                    "note: the stream began again as epoch %" PRIu64
                    ": all of the match is sent once more",
                    status->epoch);
    self->said_restarts = status->restarts;
}

static uint64_t pass_stream(server_stream* self, uint64_t now_us) {
    eventfd_t count;
    (void)eventfd_read(self->stored, &count);
    if (!take_counts(self)) (void)eventfd_write(self->stored, 1); // look again, at once
    const net_stream_status* status = &self->counts.status;
    pass_restart(self);
    if (status->state == NET_STREAM_OWNED || status->state == NET_STREAM_CLAIMING)
        say_trouble(self, now_us);
    if (status->state == self->said_state) return 0;
    self->said_state = status->state;
    if (status->state == NET_STREAM_FAILED)
        base_report(&self->program->reporter, NULL, 0,
                    "warning: the stream ended%s, and begins again when it can: %s",
                    goes_on(self) ? ", the match continues" : "", status->text);
    if (status->state != NET_STREAM_FENCED) return 0;
    if (self->handover_us > 0) {
        say_handed_over(self, status->fenced_by);
        return status->fenced_by;
    }
    base_report(&self->program->reporter, NULL, 0,
                "fenced by epoch %" PRIu64 ": another server continues this match; this one stops, "
                "and its log has ticks after %" PRIu64 " that are not the match's",
                status->fenced_by, status->acked_tick);
    return status->fenced_by;
}

// ---- what clients may know ----

static bool read_sync(const char* text, const base_reporter* reporter, net_stream_sync* sync) {
    uint64_t limit_ms = 0;
    int end = 0;
    *sync = (net_stream_sync){.is_on = strcmp(text, "off") != 0};
    if (!sync->is_on) return true;
    const bool is_read = sscanf(text, "%5" SCNu64 "%n", &limit_ms, &end) == 1;
    sync->goes_on = strcmp(text + end, "+go") == 0 || strcmp(text + end, ",go") == 0;
    if (!is_read || (text[end] && !sync->goes_on) || limit_ms < SYNC_MS_MIN ||
        limit_ms > SYNC_MS_MAX)
        return base_report(
            reporter, NULL, 0,
            "--stream sync: '%s' is neither off, nor MS or MS+go with MS of %d to %d", text,
            SYNC_MS_MIN, SYNC_MS_MAX);
    sync->limit_us = limit_ms * MS;
    return true;
}

static void say_safety(server_stream* self, net_stream_safety before, ecs_tick newest,
                       uint64_t now_us) {
    const base_reporter* reporter = &self->program->reporter;
    const net_stream_sync* sync = &self->sync;
    if (before == NET_STREAM_UNSAFE)
        base_report(reporter, NULL, 0,
                    "note: the match is safe again; a takeover would have lost ticks from %" PRIu64
                    " to %" PRIu64,
                    sync->unsafe, newest);
    if (before == NET_STREAM_STILL)
        base_report(reporter, NULL, 0, "note: the match continues, it was halted for %.1f s",
                    (double)(now_us - self->still_us) * 1e-6);
    if (sync->safety == NET_STREAM_UNSAFE)
        base_report(reporter, NULL, 0,
                    "warning: the match continues, and a takeover loses its ticks from %" PRIu64
                    " on: the stream takes none",
                    sync->unsafe);
    const uint64_t ack_us = self->counts.status.ack_us;
    if (sync->safety == NET_STREAM_STILL && ack_us > sync->limit_us)
        base_report(reporter, NULL, 0,
                    "warning: the match is halted after tick %" PRIu64 ": the broker takes %" PRIu64
                    " ms to answer, --stream sync needs more than that",
                    newest, ack_us / MS);
    else if (sync->safety == NET_STREAM_STILL)
        base_report(reporter, NULL, 0,
                    "warning: the match is halted after tick %" PRIu64
                    ": it is not stored (--stream sync)",
                    newest);
}

static void keep_safe(server_stream* self, uint64_t now_us) {
    net_server* server = self->program->server;
    const ecs_tick newest = net_match_tick(self->program->match);
    if (!atomic_load(&self->has_writer) || self->said_state == NET_STREAM_FENCED) return;
    net_server_set_epoch(server, self->counts.status.epoch);
    if (!self->has_first) self->first = newest;
    self->has_first = true;
    const net_stream_safety before = self->sync.safety;
    const bool is_over = net_server_get_phase(server) > NET_SERVER_RUNNING;
    net_stream_sync_step(&self->sync, &self->counts.status, newest, self->first, is_over, now_us);
    const bool is_still = self->sync.safety == NET_STREAM_STILL;
    if (is_still && before == NET_STREAM_STILL) self->counts.still_us += now_us - self->pass_us;
    self->pass_us = now_us;
    if (self->sync.safety != before) {
        say_safety(self, before, newest, now_us);
        if (is_still) self->still_us = now_us;
    }
    net_server_stand_still(server,
                           is_still ? "it waits until what happened is stored safely" : NULL);
    net_transport_hold_release(self->hold, self->sync.released);
    if (net_transport_hold_bytes(self->hold) > 0) net_server_send_released(server);
    self->counts.safety = self->sync.safety;
    self->counts.held_bytes = net_transport_hold_bytes(self->hold);
}

void server_stream_url(const server_stream* stream, char* text, size_t text_bytes) {
    server_nats_url(stream->nats, text, text_bytes);
}

static void end_stream(server_stream* self) {
    if (!self->has_thread || !atomic_load(&self->has_writer)) return;
    (void)take_counts(self);
    const bool is_away = self->counts.status.trouble == NET_STREAM_AWAY;
    const uint64_t until_us = net_loop_now_us() + (is_away ? AWAY_MS : END_MS) * MS;
    wake(self);
    for (; self->counts.status.state <= NET_STREAM_OWNED && net_loop_now_us() < until_us;
         (void)take_counts(self))
        (void)poll(NULL, 0, 1);
    const net_stream_status* status = &self->counts.status;
    if (status->state == NET_STREAM_ENDED || status->state >= NET_STREAM_FENCED) return;
    base_report(&self->program->reporter, NULL, 0,
                "warning: the stream lacks the last %" PRIu64 " records: its broker is away",
                net_stream_tap_records(self->tap) - status->acked.records);
}

// ---- the part ----

server_stream* server_stream_of(const server_program* program) {
    server_stream* self = server_program_state(program, &server_part_stream);
    return self && self->tap ? self : NULL;
}

static bool create_stream(server_stream* self, server_program* program, net_stream_sync sync) {
    self->program = program;
    self->sync = sync;
    self->wake = eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC);
    self->stored = eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC);
    self->said_state = NET_STREAM_OWNED;
    pthread_mutex_init(&self->mutex, NULL);
    const net_stream_tap_config tap = {.log_file = server_log_of(program)->file,
                                       .is_following = program->config.standby != NULL,
                                       .wake = wake,
                                       .context = self};
    self->tap = net_stream_tap_create(&tap);
    if (self->wake < 0 || self->stored < 0) return false;
    self->hold = net_transport_hold_create(NULL, program->transport);
    server_program_wrap(program, self->hold);
    return true;
}

// The stream takes what the log's writer appends.
static int make_stream(server_program* program) {
    server_stream* self = server_program_state(program, &server_part_stream);
    net_stream_sync sync;
    if (!read_sync(program->config.stream_sync ? program->config.stream_sync : "off",
                   &program->reporter, &sync))
        return NET_EXIT_USAGE;
    if (sync.is_on && !program->config.stream)
        return net_exit_report(NET_EXIT_USAGE, &program->reporter, NULL,
                               "--stream sync: there is no --stream");
    if (!program->config.stream) return NET_EXIT_CLEAN;
    sync.tick_us = UINT64_C(1000000) / program->config.tick_rate_hz;
    if (!server_log_is_wanted(&program->config))
        return net_exit_report(NET_EXIT_USAGE, &program->reporter, NULL,
                               "--stream: it needs a log, which is its source (not --log none)");
    char text[NET_ENET_ADDRESS_TEXT_BYTES];
    if (!net_transport_enet_address(program->enet, text, sizeof text) ||
        net_address_parse(text, &self->address) != NET_OK)
        self->address.port = 0;
    if (!create_stream(self, program, sync))
        return net_exit_report(NET_EXIT_RUNTIME, &program->reporter, NULL, "%s",
                               net_result_text(NET_ERR_MEMORY));
    server_program_hear(program, self->stored);
    server_log_of(program)->tap = net_stream_tap_log(self->tap);
    program->fixed_game = "those that follow the stream have the game as it is now";
    return NET_EXIT_CLEAN;
}

static int begin_stream(server_program* program) {
    server_stream* self = server_stream_of(program);
    if (!self) return NET_EXIT_CLEAN;
    if (!server_log_of(program)->has_file)
        return net_exit_report(NET_EXIT_RUNTIME, &program->reporter, NULL,
                               "--stream: there is no log, which is its source");
    return program->config.standby
               ? stand_by(self, server_standby_of(program))
               : claim_stream(self, program->identity, program->config.resume != NULL);
}

static void pass(server_program* program, uint64_t now_us) {
    server_stream* self = server_stream_of(program);
    if (!self) return;
    server_subject_of(program)->stream = &self->counts;
    if (pass_stream(self, now_us) > 0) {
        program->is_over = true; // another server goes on with the match
        program->over_code = self->handover_us > 0 ? NET_EXIT_CLEAN : NET_EXIT_FENCED;
    }
    keep_safe(self, net_loop_now_us());
    pass_handover(self, net_loop_now_us());
    pass_empty(self, now_us);
}

static bool terminate(server_program* program, uint64_t now_us) {
    server_stream* self = server_stream_of(program);
    return self && program->config.on_term == SERVER_ON_TERM_HANDOVER &&
           begin_handover(self, now_us);
}

static void say(const server_program* program, server_saying line, char* text, size_t bytes) {
    char url[SERVER_NATS_URL_BYTES];
    if (line != SERVER_SAYS_READY || !server_stream_of(program)) return;
    server_stream_url(server_stream_of(program), url, sizeof url);
    (void)base_text_format(text, bytes, " stream=%s", url);
}

static int report(server_program* program) {
    if (server_stream_of(program)) end_stream(server_stream_of(program));
    return NET_EXIT_CLEAN;
}

static int stop_stream(server_program* program) {
    server_stream* self = server_program_state(program, &server_part_stream);
    if (!self->program) return NET_EXIT_CLEAN;
    atomic_store(&self->is_stopping, true);
    wake(self);
    if (self->has_thread) pthread_join(self->thread, NULL);
    const net_log_counters* log = &server_log_of(program)->counted;
    if (self->writer && net_stream_writer_status(self->writer)->state == NET_STREAM_ENDED &&
        log->bytes > 0 && log->ticks_lost == 0 && log->commands_failed == 0)
        server_nats_end(self->nats, &program->reporter);
    base_owner_destroy(self->writer);
    server_nats_close(self->nats);
    if (program->config.standby) server_standby_of(program)->nats = NULL; // the same
    net_stream_tap_destroy(self->tap);
    self->tap = NULL;
    if (self->wake >= 0) close(self->wake);
    if (self->stored >= 0) close(self->stored);
    pthread_mutex_destroy(&self->mutex);
    return NET_EXIT_CLEAN;
}

const server_part server_part_stream = {
    .name = "stream",
    .state_bytes = sizeof(server_stream),
    .at = {[SERVER_LISTENING] = make_stream,
           [SERVER_OPENED] = begin_stream,
           [SERVER_REPORT] = report,
           [SERVER_STOP] = stop_stream},
    .say = say,
    .pass = pass,
    .terminate = terminate,
};
