// SPDX-License-Identifier: MIT
// One thread has the writer and the broker. The simulation's thread pushes records into the tap and
// writes one byte into a pipe; the loop takes a copy of the status when the lock is free.
#include "stream.h"

#include "stream_nats.h"

#include "base/assert.h"
#include "base/text.h"
#include "net/socket.h"
#include "tools/output.h"
#include "tools/setup.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define MS UINT64_C(1000)
enum {
    BEGIN_MS = 2000,   // a server waits so long for its broker, then begins without
    RESUME_MS = 10000, // so long without anything new from a stream that goes on
    END_MS = 3000,
    AWAY_MS = 500, // of a broker that is away
    STEP_MS = 5,
};

struct server_stream {
    server_stream_config config;
    net_stream_tap* tap;
    server_nats* nats;
    net_broker broker;
    net_stream_writer* writer;
    base_bytes header;
    int wake[2];
    _Atomic bool is_woken; // a byte is in the pipe
    pthread_t thread;
    bool has_thread;
    _Atomic bool is_stopping;

    pthread_mutex_t mutex;
    server_stream_counts shared; // under it, of the thread

    // Of the loop.
    server_stream_counts counts;
    net_stream_state said_state;
    net_stream_trouble said_trouble;
    uint64_t said_acked; // records that were stored when the trouble was said
    uint64_t trouble_us; // since when it lasts
};

// ---- the thread ----

// From any thread. One byte is enough until the thread looks.
static void wake(void* context) {
    server_stream* self = context;
    if (!atomic_exchange(&self->is_woken, true)) (void)!write(self->wake[1], "", 1);
}

static void wait_for_wake(server_stream* self, uint64_t until_us) {
    char bytes[256];
    struct pollfd wanted = {.fd = self->wake[0], .events = POLLIN};
    const uint64_t now_us = net_loop_now_us();
    const uint64_t wait_ms = until_us > now_us ? (until_us - now_us + MS - 1) / MS : 0;
    if (wait_ms > 0) (void)poll(&wanted, 1, wait_ms < 1000 ? (int)wait_ms : 1000);
    while (read(self->wake[0], bytes, sizeof bytes) == (ssize_t)sizeof bytes)
        ;
    atomic_store(&self->is_woken, false); // what comes from here on is looked at, or wakes again
}

static void share(server_stream* self) {
    const net_broker_status broker = self->broker.status(self->broker.context);
    const server_stream_counts counts = {.status = *net_stream_writer_status(self->writer),
                                         .records = net_stream_tap_records(self->tap),
                                         .reconnects = broker.reconnects};
    pthread_mutex_lock(&self->mutex);
    self->shared = counts;
    pthread_mutex_unlock(&self->mutex);
}

static void* run(void* context) {
    server_stream* self = context;
    while (!atomic_load(&self->is_stopping)) {
        const uint64_t next_us = net_stream_writer_poll(self->writer, net_loop_now_us());
        share(self);
        wait_for_wake(self, next_us);
    }
    return NULL;
}

static bool start_thread(server_stream* self) {
    sigset_t all, before;
    sigfillset(&all);
    sigdelset(&all, SIGBUS); // the guard of the log's queue
    pthread_sigmask(SIG_SETMASK, &all, &before);
    const int error = pthread_create(&self->thread, NULL, run, self);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    self->has_thread = error == 0;
    if (error != 0)
        base_report(self->config.reporter, NULL, 0, "no thread for the stream: %s",
                    strerror(error));
    return self->has_thread;
}

// ---- beginning ----

static void take_counts(server_stream* self) {
    if (pthread_mutex_trylock(&self->mutex) != 0) return; // the newest ones were good
    self->counts = self->shared;
    pthread_mutex_unlock(&self->mutex);
}

static int make_writer(server_stream* self) {
    net_stream_writer_config config = {.broker = self->broker,
                                       .source = net_stream_tap_source(self->tap)};
    while (config.claim.writer == 0)
        net_host_draw_secret(NULL, &config.claim.writer, sizeof config.claim.writer);
    for (uint32_t i = 0; i < self->config.address_count && i < NET_STREAM_ADDRESSES_MAX; i++)
        config.claim.addresses[config.claim.address_count++] = self->config.addresses[i];
    if (net_stream_writer_create(&config, &self->writer) == NET_OK) return NET_EXIT_CLEAN;
    base_report(self->config.reporter, NULL, 0, "%s", net_result_text(NET_ERR_MEMORY));
    return NET_EXIT_RUNTIME;
}

// What a stream that is there ends with.
typedef struct stream_end {
    net_stream_position position;
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
        net_stream_next next;
        (void)net_stream_follower_poll(follower, now_us);
        while ((next = net_stream_follower_next(follower, &data, &size)) ==
               NET_STREAM_NEXT_RECORD) {
            base_bytes_clear(&end->last);
            base_bytes_write(&end->last, data, size);
            progress_us = now_us;
        }
        end->position = info->position;
        end->is_closed = info->is_closed;
        if (next == NET_STREAM_NEXT_FAILED) {
            base_report(self->config.reporter, NULL, 0, "%s", info->text);
            return false;
        }
        // A ping was answered, and nothing is newer.
        if (info->is_closed || info->silence_us > 0) return true;
        if (now_us - progress_us > RESUME_MS * MS) {
            const net_broker_status status = self->broker.status(self->broker.context);
            base_report(self->config.reporter, NULL, 0, "the stream's broker does not answer: %s",
                        status.trouble);
            return false;
        }
        wait_for_wake(self, now_us + STEP_MS * MS);
    }
}

static int resume(server_stream* self, net_stream_position* behind) {
    net_stream_follower* follower;
    stream_end end = {.is_closed = false};
    base_bytes_init(&end.last, NULL);
    if (net_stream_follower_create(NULL, &self->broker, &follower) != NET_OK)
        return NET_EXIT_RUNTIME;
    bool goes_on = read_stream(self, follower, &end);
    net_stream_follower_destroy(follower);
    if (goes_on && end.is_closed) {
        base_report(self->config.reporter, NULL, 0,
                    "the stream of this match has its end: go on without --stream");
        goes_on = false;
    }
    if (goes_on)
        goes_on = net_stream_tap_resume(self->tap, end.position.records, end.last.data,
                                        (uint32_t)end.last.size, self->config.reporter) == NET_OK;
    base_bytes_deinit(&end.last);
    *behind = end.position;
    return goes_on ? NET_EXIT_CLEAN : NET_EXIT_RUNTIME;
}

// A broker that is away does not keep a new match from its begin.
static int wait_for_claim(server_stream* self) {
    const uint64_t until_us = net_loop_now_us() + BEGIN_MS * MS;
    do {
        (void)poll(NULL, 0, STEP_MS);
        take_counts(self);
    } while (self->counts.status.state <= NET_STREAM_CLAIMING && net_loop_now_us() < until_us);
    const net_stream_status* status = &self->counts.status;
    if (status->state == NET_STREAM_FAILED) {
        base_report(self->config.reporter, NULL, 0, "--stream: %s", status->text);
        return NET_EXIT_RUNTIME;
    }
    if (status->state == NET_STREAM_FENCED) {
        base_report(self->config.reporter, NULL, 0, "fenced by epoch %" PRIu64, status->fenced_by);
        return NET_EXIT_FENCED;
    }
    return NET_EXIT_CLEAN;
}

int server_stream_begin(server_stream* self, uint64_t identity, bool is_resumed) {
    BASE_ASSERT(!self->nats && !self->writer);
    const server_nats_config config = {.url = self->config.url,
                                       .identity = identity,
                                       .creates = true,
                                       .wake = wake,
                                       .context = self};
    const net_result result = server_nats_open(&config, self->config.reporter, &self->nats);
    if (result != NET_OK) return result == NET_ERR_MEMORY ? NET_EXIT_RUNTIME : NET_EXIT_USAGE;
    self->broker = server_nats_broker(self->nats);
    net_stream_position behind = {.epoch = 0};
    int code = NET_EXIT_CLEAN;
    if (is_resumed) {
        code = resume(self, &behind);
        server_nats_close(self->nats); // answers to the follower are not for the writer
        self->nats = NULL;
        if (code != NET_EXIT_CLEAN) return code;
        if (server_nats_open(&config, self->config.reporter, &self->nats) != NET_OK)
            return NET_EXIT_RUNTIME;
        self->broker = server_nats_broker(self->nats);
    }
    if (code == NET_EXIT_CLEAN && behind.sequence == 0 &&
        net_stream_tap_header(self->tap, &self->header, self->config.reporter) != NET_OK)
        code = NET_EXIT_RUNTIME;
    if (code == NET_EXIT_CLEAN) code = make_writer(self);
    if (code != NET_EXIT_CLEAN) return code;
    const bool is_first = behind.sequence == 0;
    net_stream_writer_claim(self->writer, &behind, is_first ? self->header.data : NULL,
                            is_first ? self->header.size : 0);
    return start_thread(self) ? wait_for_claim(self) : NET_EXIT_RUNTIME;
}

// ---- standing by ----

int server_stream_stand_by(server_stream* self, uint64_t identity, net_standby* standby) {
    BASE_ASSERT(self->config.is_following && !self->nats && !self->writer);
    const server_nats_config config = {
        .url = self->config.url, .identity = identity, .wake = wake, .context = self};
    const net_result result = server_nats_open(&config, self->config.reporter, &self->nats);
    if (result != NET_OK) return result == NET_ERR_MEMORY ? NET_EXIT_RUNTIME : NET_EXIT_USAGE;
    self->broker = server_nats_broker(self->nats);
    const int code = make_writer(self);
    if (code == NET_EXIT_CLEAN) net_standby_open(standby, self->tap, self->writer);
    return code;
}

void server_stream_go_on(server_stream* self) {
    BASE_ASSERT(net_stream_writer_status(self->writer)->state == NET_STREAM_OWNED);
    share(self);
    (void)!start_thread(self);
}

// ---- while the match runs ----

static void say_trouble(server_stream* self, uint64_t now_us) {
    enum { PATIENCE_MS = 500 };
    const net_stream_status* status = &self->counts.status;
    if (status->trouble == self->said_trouble) {
        self->trouble_us = 0;
        return;
    }
    if (self->trouble_us == 0) self->trouble_us = now_us;
    if (now_us - self->trouble_us < PATIENCE_MS * MS && status->trouble != NET_STREAM_WELL) return;
    const base_reporter* reporter = self->config.reporter;
    if (self->said_trouble == NET_STREAM_WELL) self->said_acked = status->acked.records;
    self->said_trouble = status->trouble;
    self->trouble_us = 0;
    switch (status->trouble) {
    case NET_STREAM_AWAY:
        base_report(reporter, NULL, 0,
                    "warning: the stream's broker is away, the match goes on: %s", status->text);
        return;
    case NET_STREAM_SLOW:
        base_report(reporter, NULL, 0,
                    "warning: the stream's broker does not answer, the match goes on");
        return;
    case NET_STREAM_FULL:
        base_report(reporter, NULL, 0,
                    "warning: the stream's broker is full, the match goes on: make room there");
        return;
    default:
        base_report(reporter, NULL, 0,
                    "note: the stream's broker is back; %" PRIu64 " records come late",
                    self->counts.records - self->said_acked);
    }
}

uint64_t server_stream_pass(server_stream* self, uint64_t now_us) {
    if (!self) return 0;
    take_counts(self);
    const net_stream_status* status = &self->counts.status;
    if (status->state == NET_STREAM_OWNED || status->state == NET_STREAM_CLAIMING)
        say_trouble(self, now_us);
    if (status->state == self->said_state) return 0;
    self->said_state = status->state;
    if (status->state == NET_STREAM_FAILED)
        base_report(self->config.reporter, NULL, 0,
                    "the stream ended, the match goes on without: %s", status->text);
    if (status->state != NET_STREAM_FENCED) return 0;
    base_report(self->config.reporter, NULL, 0,
                "fenced by epoch %" PRIu64
                ": another server goes on with this match; this one stops, and its log has ticks "
                "behind %" PRIu64 " that are not the match's",
                status->fenced_by, status->acked_tick);
    return status->fenced_by;
}

const server_stream_counts* server_stream_get(const server_stream* stream) {
    return stream ? &stream->counts : NULL;
}

void server_stream_url(const server_stream* stream, char* text, size_t text_bytes) {
    char url[SERVER_NATS_URL_BYTES];
    server_nats_url(stream->nats, url);
    (void)base_text_copy(text, text_bytes, url);
}

void server_stream_end(server_stream* self) {
    if (!self || !self->has_thread) return;
    take_counts(self);
    const bool is_away = self->counts.status.trouble == NET_STREAM_AWAY;
    const uint64_t until_us = net_loop_now_us() + (is_away ? AWAY_MS : END_MS) * MS;
    wake(self);
    for (take_counts(self);
         self->counts.status.state <= NET_STREAM_OWNED && net_loop_now_us() < until_us;
         take_counts(self))
        (void)poll(NULL, 0, 1);
    const net_stream_status* status = &self->counts.status;
    if (status->state == NET_STREAM_ENDED || status->state >= NET_STREAM_FENCED) return;
    base_report(self->config.reporter, NULL, 0,
                "warning: the stream lacks the last %" PRIu64 " records: its broker is away",
                net_stream_tap_records(self->tap) - status->acked.records);
}

// ---- life ----

net_log_tap server_stream_tap(server_stream* stream) {
    return net_stream_tap_log(stream->tap);
}

server_stream* server_stream_create(const server_stream_config* config) {
    server_stream* self = calloc(1, sizeof *self);
    if (!self) return NULL;
    self->config = *config;
    self->wake[0] = self->wake[1] = -1;
    self->said_state = NET_STREAM_OWNED;
    base_bytes_init(&self->header, NULL);
    pthread_mutex_init(&self->mutex, NULL);
    const net_stream_tap_config tap = {.log_file = config->log_file,
                                       .is_following = config->is_following,
                                       .wake = wake,
                                       .context = self};
    const bool has_pipe = pipe(self->wake) == 0;
    for (uint32_t i = 0; has_pipe && i < 2; i++) {
        (void)fcntl(self->wake[i], F_SETFL, O_NONBLOCK);
        (void)fcntl(self->wake[i], F_SETFD, FD_CLOEXEC);
    }
    if (has_pipe && net_stream_tap_create(&tap, &self->tap) == NET_OK) return self;
    server_stream_destroy(self);
    return NULL;
}

void server_stream_destroy(server_stream* self) {
    if (!self) return;
    atomic_store(&self->is_stopping, true);
    wake(self);
    if (self->has_thread) pthread_join(self->thread, NULL);
    net_stream_writer_destroy(self->writer);
    server_nats_close(self->nats);
    net_stream_tap_destroy(self->tap);
    base_bytes_deinit(&self->header);
    for (uint32_t i = 0; i < 2; i++)
        if (self->wake[i] >= 0) close(self->wake[i]);
    pthread_mutex_destroy(&self->mutex);
    free(self);
}
