// SPDX-License-Identifier: MIT
// A ring of orders: [popped, ended) wait for the loop, [ended, pushed) for the thread. Both run an
// order in its place.
#include "store.h"

#include "base/assert.h"
#include "base/text.h"
#include "core/worker.h"
#include "fleet/backoff.h"
#include "net/socket.h"

#include <poll.h>
#include <pthread.h>
#include <string.h>
#include <sys/eventfd.h>
#include <time.h>
#include <unistd.h>

#include "rooms_parts.h"

#define REST_US UINT64_C(3600000000)
#define LEAST_US UINT64_C(250000) // for an order that waited behind others
#define BACKOFFS_MAX 4u           // then it tries again each two seconds or so

const char* const server_sql_texts[SERVER_SQL_COUNT] = {
    [SERVER_SQL_MAKE] = "CREATE TABLE IF NOT EXISTS shoal_records (game TEXT NOT NULL, "
                        "player TEXT NOT NULL, version BIGINT NOT NULL, bytes BYTEA NOT NULL, "
                        "writer TEXT NOT NULL, PRIMARY KEY (game, player))",
    [SERVER_SQL_READ] = "SELECT version, bytes, writer FROM shoal_records "
                        "WHERE game = $1 AND player = $2",
    [SERVER_SQL_INSERT] = "INSERT INTO shoal_records (game, player, version, bytes, writer) "
                          "VALUES ($1, $2, 1, $3, $4) ON CONFLICT DO NOTHING",
    [SERVER_SQL_UPDATE] = "UPDATE shoal_records SET version = version + 1, bytes = $3, "
                          "writer = $4 WHERE game = $1 AND player = $2 AND version = $5",
};

struct server_store {
    base_owner owner;
    const server_store_work* work;
    void* context;
    pthread_t thread;
    pthread_mutex_t lock;
    pthread_cond_t wake;
    int ended_event;
    bool is_closing;
    uint64_t pushed, ended, popped, lent; // lent: popped, and read until the next pop
    server_store_order* orders;
};

// ---- records, on the thread

typedef struct records {
    base_owner owner;
    const server_database* database;
    const char* url;
    void* connection; // NULL: none
    server_backoff backoff;
    uint64_t retry_us;
    char why[SERVER_STORE_WHY_BYTES]; // the newest failure
} records;

static bool records_connect(records* self, server_store_order* order) {
    uint64_t now_us = net_loop_now_us();
    const uint64_t wait_us = self->retry_us < order->due_us ? self->retry_us : order->due_us;
    if (self->connection) return true;
    if (now_us < wait_us) (void)poll(NULL, 0, (int)((wait_us - now_us) / 1000 + 1));
    now_us = net_loop_now_us();
    if (now_us < self->retry_us || now_us >= order->due_us) return false;
    self->connection = self->database->open(self->url, order->due_us, self->why);
    if (self->connection) server_backoff_up(&self->backoff, net_loop_now_us());
    return self->connection != NULL;
}

static void records_disconnect(records* self) {
    const uint64_t now_us = net_loop_now_us();
    if (self->connection) self->database->close(self->connection);
    self->connection = NULL;
    if (self->backoff.failures > BACKOFFS_MAX) self->backoff.failures = BACKOFFS_MAX;
    self->retry_us = now_us + 1000 * server_backoff_failed(&self->backoff, now_us, 0);
}

static int records_ask(records* self, const server_store_order* order, server_sql what,
                       const server_record* given, server_record* found) {
    return self->database->run(self->connection, what, given, found, order->due_us, self->why);
}

// @return 1: it is kept; 0: it is not; -1: it failed on the way, and may be kept.
static int records_keep(records* self, server_store_order* order) {
    server_record *record = &order->record, found = {.version = 0};
    const uint64_t before = record->version;
    if (records_ask(self, order, SERVER_SQL_READ, record, &found) < 0) return -1;
    const bool is_own = strcmp(found.writer, record->writer) == 0 && found.version > before;
    const bool is_kept = (is_own || found.version == before + 1) && found.size == record->size &&
                         memcmp(found.bytes, record->bytes, found.size) == 0;
    record->version = found.version;
    if (is_kept || (found.version != before && !is_own)) return is_kept;
    const server_sql what = found.version == 0 ? SERVER_SQL_INSERT : SERVER_SQL_UPDATE;
    const int count = records_ask(self, order, what, record, NULL);
    record->version = count < 0 ? before : found.version + (count > 0);
    return count;
}

// @return false: it failed on the way.
static bool records_try(records* self, server_store_order* order) {
    server_record found = {.version = 0};
    if (order->is_keep) {
        const int count = records_keep(self, order);
        if (count == 0) order->end = SERVER_STORE_CONFLICT;
        return count >= 0;
    }
    if (records_ask(self, order, SERVER_SQL_READ, &order->record, &found) < 0) return false;
    order->record.version = found.version;
    order->record.size = found.size;
    memcpy(order->record.bytes, found.bytes, found.size);
    return true;
}

static void records_run(void* context, server_store_order* order) {
    records* self = context;
    const uint64_t least_us = net_loop_now_us() + LEAST_US;
    order->end = SERVER_STORE_DONE;
    if (self->connection && order->due_us < least_us) order->due_us = least_us;
    do {
        if (records_connect(self, order) && records_try(self, order)) return;
        if (self->connection || net_loop_now_us() >= self->retry_us) records_disconnect(self);
    } while (net_loop_now_us() < order->due_us);
    order->end = SERVER_STORE_AWAY;
    (void)base_text_copy(order->why, sizeof order->why, self->why);
}

static void records_close(void* context) {
    records* self = context;
    if (self->connection) self->database->close(self->connection);
    base_owner_destroy(self);
}

server_store* server_store_open(const char* url) {
    static const server_database* const databases[] = {ROOMS_DATABASES};
    static const server_store_work work = {records_run, NULL, records_close};
    size_t i = 0;
    while (strncmp(url, databases[i]->begin, strlen(databases[i]->begin)) != 0)
        if (++i == BASE_COUNT(databases)) return NULL;
    records* self = base_owner_create(NULL, sizeof *self);
    self->database = databases[i];
    self->url = url;
    return server_store_begin(&work, self);
}

// ---- the thread

// With the lock. An order, the end, or the time ends it.
static void store_rest(server_store* self) {
    (void)pthread_mutex_unlock(&self->lock);
    const uint64_t now_us = net_loop_now_us();
    const uint64_t due_us =
        self->work->rest ? self->work->rest(self->context, now_us) : now_us + REST_US;
    const struct timespec due = {.tv_sec = (time_t)(due_us / 1000000),
                                 .tv_nsec = (long)(due_us % 1000000 * 1000)};
    (void)pthread_mutex_lock(&self->lock);
    if (self->ended == self->pushed && !self->is_closing)
        (void)pthread_cond_timedwait(&self->wake, &self->lock, &due);
}

static void* store_work(void* context) {
    server_store* self = context;
    const uint64_t one = 1;
    (void)pthread_mutex_lock(&self->lock);
    for (;;) {
        if (self->ended == self->pushed) {
            if (self->is_closing) break;
            store_rest(self);
            continue;
        }
        server_store_order* order = &self->orders[self->ended % SERVER_STORE_ORDERS_MAX];
        (void)pthread_mutex_unlock(&self->lock);
        self->work->run(self->context, order);
        (void)pthread_mutex_lock(&self->lock);
        self->ended++;
        (void)!write(self->ended_event, &one, sizeof one);
    }
    (void)pthread_mutex_unlock(&self->lock);
    self->work->close(self->context);
    return NULL;
}

// ---- the loop

server_store* server_store_begin(const server_store_work* work, void* context) {
    server_store* self = base_owner_create(NULL, sizeof *self);
    self->work = work;
    self->context = context;
    self->orders =
        base_allocate_zero(&self->owner.allocator, SERVER_STORE_ORDERS_MAX * sizeof *self->orders);
    self->ended_event = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    (void)pthread_mutex_init(&self->lock, NULL);
    net_condition_init(&self->wake);
    const int failed = net_thread_start(&self->thread, store_work, self);
    BASE_ASSERT(!failed && self->ended_event >= 0);
    return self;
}

void server_store_close(server_store* self) {
    if (!self) return;
    (void)pthread_mutex_lock(&self->lock);
    self->is_closing = true;
    (void)pthread_cond_signal(&self->wake);
    (void)pthread_mutex_unlock(&self->lock);
    (void)pthread_join(self->thread, NULL);
    (void)pthread_cond_destroy(&self->wake);
    (void)pthread_mutex_destroy(&self->lock);
    close(self->ended_event);
    base_owner_destroy(self);
}

int server_store_descriptor(const server_store* self) {
    return self->ended_event;
}

// The thread changes neither `pushed` nor `popped`.
server_store_order* server_store_next(server_store* self) {
    if (self->pushed - self->popped == SERVER_STORE_ORDERS_MAX) return NULL;
    return &self->orders[self->pushed % SERVER_STORE_ORDERS_MAX];
}

void server_store_push(server_store* self, uint64_t now_us) {
    BASE_ASSERT(server_store_next(self));
    server_store_next(self)->due_us = now_us + SERVER_STORE_WAIT_US;
    (void)pthread_mutex_lock(&self->lock);
    self->pushed++;
    (void)pthread_cond_signal(&self->wake);
    (void)pthread_mutex_unlock(&self->lock);
}

const server_store_order* server_store_pop(server_store* self) {
    uint64_t count;
    self->popped = self->lent;
    (void)!read(self->ended_event, &count, sizeof count);
    (void)pthread_mutex_lock(&self->lock);
    const bool has_one = self->popped < self->ended;
    (void)pthread_mutex_unlock(&self->lock);
    self->lent += has_one;
    return has_one ? &self->orders[self->popped % SERVER_STORE_ORDERS_MAX] : NULL;
}
