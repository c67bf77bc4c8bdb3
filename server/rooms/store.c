// SPDX-License-Identifier: MIT
// Addresses of orders go to the thread by one pipe, and back by another one; each has room for all.
#define _GNU_SOURCE // pipe2

#include "store.h"

#include "base/assert.h"
#include "base/text.h"
#include "core/worker.h"
#include "net/socket.h"

#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <string.h>
#include <unistd.h>

#include "rooms_parts.h"

#define LEAST_US UINT64_C(250000) // for an order that waited behind others
#define RETRY_US UINT64_C(250000) // a database that is away

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
    int pushed[2], ended[2]; // pipes
    server_store_order *orders, *lent;
    server_store_order* free[SERVER_STORE_ORDERS_MAX];
    uint32_t free_count;
};

// ---- records, on the thread

typedef struct records {
    base_owner owner;
    const server_database* database;
    const char* url;
    void* connection; // NULL: none
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
    return self->connection != NULL;
}

static void records_disconnect(records* self) {
    if (self->connection) self->database->close(self->connection);
    self->connection = NULL;
    self->retry_us = net_loop_now_us() + RETRY_US;
}

// @return 1: it is kept; 0: it is not; -1: it failed on the way, and may be kept.
static int records_keep(records* self, server_store_order* order) {
    server_record* record = &order->record;
    const uint64_t before = record->version;
    int count;
    do { // again when another one was kept after it was read
        server_record found = {.version = 0};
        if (self->database->run(self->connection, SERVER_SQL_READ, record, &found, order->due_us,
                                self->why) < 0)
            return -1;
        const bool is_own = strcmp(found.writer, record->writer) == 0 && found.version > before;
        const bool is_kept = (is_own || found.version == before + 1) &&
                             found.size == record->size &&
                             memcmp(found.bytes, record->bytes, found.size) == 0;
        record->version = found.version;
        if (is_kept || (found.version != before && !is_own)) return is_kept;
        count = self->database->run(self->connection,
                                    found.version == 0 ? SERVER_SQL_INSERT : SERVER_SQL_UPDATE,
                                    record, NULL, order->due_us, self->why);
    } while (count == 0);
    record->version = count < 0 ? before : record->version + 1;
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
    if (self->database->run(self->connection, SERVER_SQL_READ, &order->record, &found,
                            order->due_us, self->why) < 0)
        return false;
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

// @return the next order; NULL: it is to end.
static server_store_order* store_wait(const server_store* self) {
    server_store_order* order;
    struct pollfd one = {.fd = self->pushed[0], .events = POLLIN};
    for (;;) {
        const ssize_t size = read(self->pushed[0], &order, sizeof order);
        if (size >= 0) return size > 0 ? order : NULL;
        const uint64_t now_us = net_loop_now_us();
        const uint64_t due_us = self->work->rest ? self->work->rest(self->context, now_us) : 0;
        const uint64_t wait_ms = due_us > now_us ? (due_us - now_us) / 1000 + 1 : 0;
        (void)poll(&one, 1, self->work->rest ? (int)wait_ms : -1);
    }
}

static void* store_work(void* context) {
    server_store* self = context;
    for (server_store_order* order; (order = store_wait(self));) {
        self->work->run(self->context, order);
        (void)!write(self->ended[1], &order, sizeof order);
    }
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
    for (uint32_t i = 0; i < SERVER_STORE_ORDERS_MAX; i++)
        self->free[self->free_count++] = &self->orders[i];
    const bool has_pipes = pipe2(self->pushed, O_CLOEXEC | O_NONBLOCK) == 0 &&
                           pipe2(self->ended, O_CLOEXEC | O_NONBLOCK) == 0;
    BASE_ASSERT(has_pipes && net_thread_start(&self->thread, store_work, self) == 0);
    return self;
}

void server_store_close(server_store* self) {
    if (!self) return;
    close(self->pushed[1]); // what was pushed is read before the end
    (void)pthread_join(self->thread, NULL);
    close(self->pushed[0]);
    close(self->ended[0]);
    close(self->ended[1]);
    base_owner_destroy(self);
}

int server_store_descriptor(const server_store* self) {
    return self->ended[0];
}

server_store_order* server_store_next(server_store* self, uint32_t count) {
    return count < self->free_count ? self->free[self->free_count - 1] : NULL;
}

void server_store_push(server_store* self, uint64_t now_us) {
    BASE_ASSERT(self->free_count > 0);
    server_store_order* order = self->free[--self->free_count];
    order->due_us = now_us + SERVER_STORE_WAIT_US;
    (void)!write(self->pushed[1], &order, sizeof order);
}

const server_store_order* server_store_pop(server_store* self) {
    if (self->lent) self->free[self->free_count++] = self->lent;
    self->lent = NULL;
    (void)!read(self->ended[0], &self->lent, sizeof self->lent);
    return self->lent;
}
