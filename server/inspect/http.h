// SPDX-License-Identifier: MIT
/// What the parts of the HTTP thread share: http.c, answer.c, respond.c, publish.c, files.c.
#pragma once

#include "acceptor.h"
#include "inspect.h"
#include "orders.h"
#include "route.h"

#include "net/log_bytes.h"
#include "net/socket.h"

#include <microhttpd.h>
#include <pthread.h>
#include <stdatomic.h>

#define HTTP_CONNECTIONS_MAX 64u
#define HTTP_SPARE_MAX 8u ///< beyond them: for /healthz and /readyz; others read that it is full
/// Of one address (of IPv6 its /64), except loopback, where proxies are.
#define HTTP_ADDRESS_CONNECTIONS_MAX 32u
#define HTTP_VISITS_MAX (HTTP_CONNECTIONS_MAX + HTTP_SPARE_MAX)
#define HTTP_STREAMS_MAX 56u ///< so that some connections stay for questions and orders
#define HTTP_PUBLICATIONS_MAX 16u
#define HTTP_READER_PUBLICATIONS_MAX 12u ///< the others are left to operators
#define HTTP_FRAMES_MAX (HTTP_VISITS_MAX + HTTP_PUBLICATIONS_MAX)
#define HTTP_PIECES_MAX 16u ///< of a spectator's record, kept for its next reader: 20 MB at most
#define HTTP_BODY_BYTES_MAX (64u << 10)
#define HTTP_HEADER_BYTES_MAX (32u << 10) ///< of a request; the answer's headers lie there too
#define HTTP_SEND_BUFFER_BYTES (64 << 10)
#define HTTP_IDLE_US UINT64_C(30000000) ///< for a whole request, and to take an answer
#define HTTP_FIRST_US UINT64_C(5000000) ///< for the headers of a connection's first request
#define HTTP_IDLE_FILE 10u ///< times as long for bytes of a log and the game's file, on a bad phone
#define HTTP_HEALTHY_US UINT64_C(2000000) ///< since the loop's newest pass

/// What a stream sends: one answer, kept while a connection still sends it.
typedef struct http_frame {
    base_bytes bytes;
    uint32_t users;
} http_frame;

/// An order that is repeated, and the connections that read its newest answer.
typedef struct http_publication {
    bool is_used, is_asked, has_ended;
    const char* type;
    uint64_t next_us, period_us;
    uint64_t sequence; ///< of `newest`, from 1
    http_frame* newest;
    uint32_t readers;
} http_publication;

typedef enum http_state {
    HTTP_IDLE,     ///< the headers of no request came yet: it may be closed to make room
    HTTP_BEGUN,    ///< its headers came
    HTTP_ASKED,    ///< its order is with the loop; the connection is suspended
    HTTP_ANSWERED, ///< the order came back
    HTTP_STREAM,   ///< it reads a publication
    HTTP_FOLLOWS,  ///< it waits for more of the log
} http_state;

/// A connection and its request. Its order has the same index.
typedef struct http_visit {
    server_inspect* inspect;
    struct MHD_Connection* connection; ///< NULL: the place is free
    int descriptor;
    net_address from;
    http_state state;
    uint64_t idle_us;  ///< of the config
    uint64_t rests_us; ///< since when it is HTTP_IDLE
    uint64_t until_us; ///< it has a whole request, or took what is sent, by then; 0: no limit
    server_welcome welcome;
    server_route route;
    char method[8];
    char path[512];
    base_bytes body;
    bool is_too_long;  ///< the body
    bool is_malformed; ///< it can be read in two ways: the connection is closed after its answer
    http_publication* publication;
    http_frame* frame; ///< that is sent; NULL: it waits for the next one
    size_t frame_sent;
    uint64_t sequence; ///< of the newest frame that it took
    bool is_waiting;   ///< suspended until there is a newer one
    bool is_with_loop; ///< its order: the place is taken until it comes back
    uint64_t follow_until_us;
    uint64_t look_us; ///< when a suspended one looks again; 0: it is not suspended
} http_visit;

/// Blocks of a spectator's record that were made.
typedef struct http_piece {
    uint32_t part; ///< 0: the place is free
    uint64_t from, next, used_us;
    base_bytes bytes;
} http_piece;

/// What was seen of a part of the log.
typedef struct http_places {
    uint32_t part; ///< 0: nothing
    net_log_places at;
} http_places;

struct server_inspect {
    server_inspect_config config;
    server_gate gate;
    server_orders* orders; ///< of the visits, then of the publications
    struct MHD_Daemon* daemon;
    pthread_t thread;
    bool has_thread;
    net_address bound;
    server_acceptor acceptor;
    int stop; ///< eventfd
    BASE_ATOMIC(bool) is_stopping;
    BASE_ATOMIC(bool) is_ready;
    BASE_ATOMIC(bool) is_standby; ///< the match is elsewhere until it takes it over
    BASE_ATOMIC(uint64_t) pass_us;
    BASE_ATOMIC(uint32_t) visit_count;  ///< written by the thread of HTTP, as what is counted below
    BASE_ATOMIC(uint64_t) responses[6]; ///< by the first digit of their status
    BASE_ATOMIC(uint64_t) frames_lost;
    BASE_ATOMIC(uint64_t) lacks;   ///< of the acceptor
    BASE_ATOMIC(uint64_t) tick;    ///< of the match
    BASE_ATOMIC(bool) is_followed; ///< the log, since the loop's newest pass
    uint64_t due_us;               ///< when the thread has to look again
    bool is_log_over;              ///< nothing writes it any more
    net_log_watch* watch;          ///< NULL: no reader asked yet
    uint64_t convert_until_us;     ///< of this turn
    http_places places[2][2];      ///< of the log, of its record: the newest part, the one before
    http_piece pieces[HTTP_PIECES_MAX];
    base_bytes scratch; ///< of files.c
    http_visit visits[HTTP_VISITS_MAX];
    http_publication publications[HTTP_PUBLICATIONS_MAX];
    http_frame frames[HTTP_FRAMES_MAX];
};

/// The thread looks again at `us` or before.
static inline void http_due(server_inspect* self, uint64_t us) {
    if (us < self->due_us) self->due_us = us;
}

/// Since when there is no pass of the loop, once that is HTTP_HEALTHY_US; 0: it makes its passes.
static inline uint64_t http_stalled_us(const server_inspect* self) {
    const uint64_t pass_us = self->pass_us; // first: the loop may pass in between
    const uint64_t age_us = net_loop_now_us() - pass_us;
    return age_us >= HTTP_HEALTHY_US ? age_us : 0;
}

// ---- places.c

/// Has the visit a place among those that ask something now, of all and of its address?
bool http_has_place(const http_visit* visit);
/// Of a connection that begins: close one that rests when few places are left; `from` NULL: of any
/// address.
void http_make_place(server_inspect* self, const net_address* from);

// ---- answer.c

/// An MHD callback: decode a path or an argument in place. @return its new length.
size_t http_unescape(void* inspect, struct MHD_Connection* connection, char* text);
/// The MHD callback for each request.
enum MHD_Result http_handle(void* inspect, struct MHD_Connection* connection, const char* url,
                            const char* method, const char* version, const char* upload,
                            size_t* upload_bytes, void** request);
// ---- respond.c

/// From now on the visit has this many times its idle limit for what it owes.
void http_limit(http_visit* visit, uint32_t times);

/// Add the headers that every response has; `type` NULL: JSON. @return false: no memory.
bool http_add_headers(struct MHD_Response* response, const char* type);
/// Answer with this response, which it releases; NULL: no memory. @return what MHD expects.
enum MHD_Result http_respond(http_visit* visit, int status, const char* type,
                             struct MHD_Response* response);
/// May the answer be packed by gzip?
bool http_takes_gzip(const http_visit* visit);
/// Answer with a file of the page or the game, which browsers keep and ask for again by its tag,
/// in quotes: 304 when they have it. `is_packed`: by gzip.
enum MHD_Result http_respond_kept(http_visit* visit, const char* type, const char* tag,
                                  bool is_packed, struct MHD_Response* response);
/// Answer with these bytes, copied.
enum MHD_Result http_send(http_visit* visit, int status, const char* type, const void* bytes,
                          size_t size);

/// Answer {"error":"ERROR"}: words of ours, without quotes.
enum MHD_Result http_send_error(http_visit* visit, int status, const char* error);

// ---- files.c

/// Answer one of the routes of logs. MHD calls it again for one that waits.
enum MHD_Result http_send_file(server_inspect* self, http_visit* visit);
/// Open the game's code for browsers, which lies in the folder "web" beside that of its module, or
/// in "build/web" there: NAME.wasm, or `is_packed` NAME.wasm.gz. @return -1: it is not there.
int http_open_game(const server_inspect* self, bool is_packed);
/// Let those that wait look again. @return when the next one does, UINT64_MAX: none waits.
uint64_t http_files_run(server_inspect* self, uint64_t now_us);

// ---- upgrade.c

/// Answer a request for a WebSocket connection.
enum MHD_Result http_upgrade(server_inspect* self, http_visit* visit);

// ---- publish.c

/// The visit's order was answered, and its verb goes on: send it this answer and all newer ones.
enum MHD_Result http_publish(server_inspect* self, http_visit* visit, uint32_t hz);
/// The order of a publication came back.
void http_publication_answered(server_inspect* self, uint32_t index);
/// Order again what is due. @return when the next one is, UINT64_MAX: none is.
uint64_t http_publications_run(server_inspect* self, uint64_t now_us);
/// The connection reads it no more.
void http_publication_leave(http_visit* visit);
