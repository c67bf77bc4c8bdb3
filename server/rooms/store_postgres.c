// SPDX-License-Identifier: MIT
// libpq without its waiting calls, so that a server that hangs is left when the time is over.
#include "store.h"

#include "base/bytes.h"
#include "base/text.h"
#include "net/socket.h"

#include <inttypes.h>
#include <libpq-fe.h>
#include <poll.h>
#include <string.h>

static int postgres_fail(PGconn* server, const char* text, char* why) {
    const char* said = text ? text : PQerrorMessage(server);
    (void)base_text_format(why, SERVER_STORE_WHY_BYTES, "%.*s", (int)strcspn(said, "\n"), said);
    return -1;
}

static bool postgres_wait(PGconn* server, short events, uint64_t due_us) {
    struct pollfd one = {.fd = PQsocket(server), .events = events};
    const uint64_t now_us = net_loop_now_us();
    return now_us < due_us && poll(&one, 1, (int)((due_us - now_us) / 1000 + 1)) > 0;
}

// @return the answer; NULL: none until then.
static PGresult* postgres_answer(PGconn* server, uint64_t due_us) {
    for (int left; (left = PQflush(server)) != 0;)
        if (left < 0 || !postgres_wait(server, POLLOUT, due_us)) return NULL;
    while (PQisBusy(server))
        if (!postgres_wait(server, POLLIN, due_us) || !PQconsumeInput(server)) return NULL;
    return PQgetResult(server);
}

static bool postgres_read(PGresult* answer, server_record* found) {
    const int size = PQgetlength(answer, 0, 1);
    if (PQgetlength(answer, 0, 0) != 8 || size > (int)SERVER_RECORD_BYTES_MAX) return false;
    found->version = __builtin_bswap64(base_load_le64((const uint8_t*)PQgetvalue(answer, 0, 0)));
    found->size = (uint32_t)size;
    memcpy(found->bytes, PQgetvalue(answer, 0, 1), found->size);
    (void)base_text_copy(found->writer, sizeof found->writer, PQgetvalue(answer, 0, 2));
    return true;
}

static int postgres_run(void* connection, server_sql what, const server_record* given,
                        server_record* found, uint64_t due_us, char* why) {
    static const int counts[SERVER_SQL_COUNT] = {0, 2, 4, 5};
    static const int is_binary[] = {0, 0, 1, 0, 0};
    PGconn* server = connection;
    char player[24] = "", version[24] = "";
    const char* values[5] = {NULL, player, NULL, NULL, version};
    int sizes[5] = {0};
    if (given) {
        values[0] = given->game;
        values[2] = (const char*)given->bytes;
        values[3] = given->writer;
        sizes[2] = (int)given->size;
        (void)base_text_format(player, sizeof player, "%" PRIu64, given->player);
        (void)base_text_format(version, sizeof version, "%" PRIu64, given->version);
    }
    if (!PQsendQueryParams(server, server_sql_texts[what], counts[what], NULL, values, sizes,
                           is_binary, 1))
        return postgres_fail(server, NULL, why);
    PGresult* answer = postgres_answer(server, due_us);
    if (!answer)
        return postgres_fail(server, net_loop_now_us() < due_us ? NULL : "it does not answer", why);
    const ExecStatusType status = PQresultStatus(answer);
    const char* changed = PQcmdTuples(answer);
    int count = status == PGRES_TUPLES_OK ? PQntuples(answer) : changed[0] == '1';
    if (count > 0 && status == PGRES_TUPLES_OK && found && !postgres_read(answer, found))
        count = postgres_fail(server, "a record has an unknown form", why);
    if (status != PGRES_TUPLES_OK && status != PGRES_COMMAND_OK)
        count = postgres_fail(server, NULL, why);
    for (; answer; answer = postgres_answer(server, due_us)) // NULL ends the statement
        PQclear(answer);
    return count;
}

static void postgres_ignore(void* context, const char* notice) {
    (void)context, (void)notice; // "the table exists"
}

static void postgres_close(void* connection) {
    PQfinish(connection);
}

static void* postgres_open(const char* url, uint64_t due_us, char* why) {
    PGconn* server = PQconnectStart(url);
    PostgresPollingStatusType state = PGRES_POLLING_WRITING;
    (void)PQsetNoticeProcessor(server, postgres_ignore, NULL);
    while (PQstatus(server) != CONNECTION_BAD && state != PGRES_POLLING_OK &&
           state != PGRES_POLLING_FAILED &&
           postgres_wait(server, state == PGRES_POLLING_READING ? POLLIN : POLLOUT, due_us))
        state = PQconnectPoll(server);
    if (state == PGRES_POLLING_OK && PQsetnonblocking(server, 1) == 0) {
        // One who may not make the table may still use it.
        (void)postgres_run(server, SERVER_SQL_MAKE, NULL, NULL, due_us, why);
        return server;
    }
    const bool is_late = net_loop_now_us() >= due_us;
    (void)postgres_fail(server, is_late ? "it does not answer" : NULL, why);
    postgres_close(server);
    return NULL;
}

const server_database server_database_postgres = {"postgres://", postgres_open, postgres_run,
                                                  postgres_close};
