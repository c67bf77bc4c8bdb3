// SPDX-License-Identifier: MIT
/// Records of players in a database: a few bytes for a player of a game, with a version. A thread
/// asks the database, so that the host's loop never waits: orders are pushed, and popped again with
/// their end when the descriptor is readable.
///
/// A record is kept by compare-and-set: it gets version V + 1 only while the kept one has version
/// V, or a later one that the same match wrote, which did not know that yet. One that was kept
/// already is kept when it is sent again. A database that is away answers
/// nothing: an order ends as AWAY after SERVER_STORE_WAIT_US, and the thread connects again.
#pragma once

#include "rooms.h"

#include "base/report.h"

#define SERVER_RECORD_BYTES_MAX 4096u
#define SERVER_STORE_ORDERS_MAX 1024u ///< that are pushed and not popped
#define SERVER_STORE_WAIT_US UINT64_C(2000000)
#define SERVER_STORE_WHY_BYTES 160u

typedef struct server_record {
    char game[SERVER_ROOM_NAME_BYTES];
    uint64_t player;
    uint64_t version;                  ///< 0: none is kept
    char writer[SERVER_ROOM_ID_BYTES]; ///< the match that kept it
    uint32_t size;
    uint8_t bytes[SERVER_RECORD_BYTES_MAX];
} server_record;

typedef enum server_store_end {
    SERVER_STORE_DONE,     ///< the record is that which is kept now
    SERVER_STORE_CONFLICT, ///< another version is kept
    SERVER_STORE_AWAY,     ///< the database did not answer, as `why` tells
    SERVER_STORE_END_COUNT
} server_store_end;

typedef struct server_store_order {
    uint64_t number;      ///< of the question
    bool is_keep;         ///< keep the record; else read it
    server_record record; ///< what is asked, by its writer; then what is known
    uint64_t due_us;
    server_store_end end;
    char why[SERVER_STORE_WHY_BYTES];
} server_store_order;

typedef struct server_store server_store;

/// What a thread does with orders; all of it is called on the thread.
typedef struct server_store_work {
    void (*run)(void* context, server_store_order* order); ///< sets its end
    /// Between orders. @return when it is called again at the latest. NULL: nothing to do.
    uint64_t (*rest)(void* context, uint64_t now_us);
    void (*close)(void* context);
} server_store_work;
/// Begin a thread. The work is borrowed.
server_store* server_store_begin(const server_store_work* work, void* context);

/// Begin with "sqlite:FILE" or "postgres://...".
/// @return NULL: this program was built without this database.
server_store* server_store_open(const char* url);
/// What was pushed is done first. NULL is allowed.
void server_store_close(server_store* store);
/// Readable when an order has ended.
int server_store_descriptor(const server_store* store);
/// The next order, to be filled and pushed, of one who has `count` that did not end: who has as
/// many as are free gets none, so that one leaves some for each other one.
/// @return NULL: there are too many.
server_store_order* server_store_next(server_store* store, uint32_t count);
/// Its due time is set.
void server_store_push(server_store* store, uint64_t now_us);
/// @return the oldest order that has ended, until the next call; NULL: there is none.
const server_store_order* server_store_pop(server_store* store);

/// The results of matches: a line for each at the end of FOLDER/results.jsonl. With a URL each line
/// is posted there too, in their order, until the answer is 2xx; FOLDER/results.sent is how many
/// bytes of the file were. Orders are results then. @return never NULL.
server_store* server_results_open(const char* folder, const char* url,
                                  const base_reporter* reporter);

// ---- databases, used by the thread

/// Numbers are texts in all statements but versions, so that each database has all of them.
typedef enum server_sql {
    SERVER_SQL_MAKE,
    SERVER_SQL_READ,   ///< game $1, player $2
    SERVER_SQL_INSERT, ///< and bytes $3, writer $4
    SERVER_SQL_UPDATE, ///< and the version before, $5
    SERVER_SQL_COUNT
} server_sql;
extern const char* const server_sql_texts[SERVER_SQL_COUNT];

typedef struct server_database {
    const char* begin; ///< of its URL
    /// @return the connection; NULL: `why` is set.
    void* (*open)(const char* url, uint64_t due_us, char* why);
    /// Run a statement with the values of `given`; READ sets all else of `found`.
    /// @return how many records it read or wrote; -1: it failed, `why` is set.
    int (*run)(void* connection, server_sql what, const server_record* given, server_record* found,
               uint64_t due_us, char* why);
    void (*close)(void* connection);
} server_database;
extern const server_database server_database_sqlite;
extern const server_database server_database_postgres; ///< of a build with libpq
