// SPDX-License-Identifier: MIT
// One file, in write-ahead mode: it may be read and copied meanwhile.
#include "store.h"

#include "base/text.h"
#include "net/socket.h"

#include <inttypes.h>
#include <sqlite3.h>
#include <string.h>

static int sqlite_fail(sqlite3* file, char* why) {
    (void)base_text_copy(why, SERVER_STORE_WHY_BYTES, sqlite3_errmsg(file));
    return -1;
}

static void sqlite_close(void* connection) {
    (void)sqlite3_close(connection);
}

static int sqlite_run(void* connection, server_sql what, const server_record* given,
                      server_record* found, uint64_t due_us, char* why) {
    sqlite3* file = connection;
    sqlite3_stmt* it = NULL;
    char player[24] = "";
    const uint64_t now_us = net_loop_now_us();
    (void)sqlite3_busy_timeout(file, now_us < due_us ? (int)((due_us - now_us) / 1000) : 0);
    if (sqlite3_prepare_v2(file, server_sql_texts[what], -1, &it, NULL) != SQLITE_OK)
        return sqlite_fail(file, why);
    if (given) {
        (void)base_text_format(player, sizeof player, "%" PRIu64, given->player);
        const char* const texts[] = {given->game, player, given->writer};
        static const char* const names[] = {"$1", "$2", "$4"};
        for (size_t i = 0; i < BASE_COUNT(texts); i++)
            (void)sqlite3_bind_text(it, sqlite3_bind_parameter_index(it, names[i]), texts[i], -1,
                                    SQLITE_STATIC);
        (void)sqlite3_bind_blob(it, sqlite3_bind_parameter_index(it, "$3"), given->bytes,
                                (int)given->size, SQLITE_STATIC);
        (void)sqlite3_bind_int64(it, sqlite3_bind_parameter_index(it, "$5"),
                                 (sqlite3_int64)given->version);
    }
    const int end = sqlite3_step(it);
    int count = end == SQLITE_ROW ? 1 : end == SQLITE_DONE ? 0 : sqlite_fail(file, why);
    if (end == SQLITE_ROW && found) {
        const int size = sqlite3_column_bytes(it, 1);
        found->version = (uint64_t)sqlite3_column_int64(it, 0);
        found->size = (uint32_t)size;
        (void)base_text_copy(found->writer, sizeof found->writer,
                             (const char*)sqlite3_column_text(it, 2));
        if (size > (int)SERVER_RECORD_BYTES_MAX)
            count = -1;
        else if (size > 0)
            memcpy(found->bytes, sqlite3_column_blob(it, 1), found->size);
    }
    if (end == SQLITE_DONE && what != SERVER_SQL_READ) count = sqlite3_changes(file);
    (void)sqlite3_finalize(it);
    return count;
}

static void* sqlite_open(const char* url, uint64_t due_us, char* why) {
    sqlite3* file = NULL;
    if (sqlite3_open(url + strlen(server_database_sqlite.begin), &file) == SQLITE_OK &&
        sqlite3_exec(file, "PRAGMA journal_mode = WAL", NULL, NULL, NULL) == SQLITE_OK &&
        sqlite_run(file, SERVER_SQL_MAKE, NULL, NULL, due_us, why) >= 0)
        return file;
    (void)sqlite_fail(file, why);
    sqlite_close(file);
    return NULL;
}

const server_database server_database_sqlite = {"sqlite:", sqlite_open, sqlite_run, sqlite_close};
