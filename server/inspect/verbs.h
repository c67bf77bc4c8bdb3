// SPDX-License-Identifier: MIT
/// What can be asked of a match and ordered from outside: one table of verbs. The page, the control
/// socket and the console all use it.
///
/// A verb runs on the loop's thread between two ticks: it may read and change everything that the
/// subject names, needs no lock, and must be short. It fills an answer, which is JSON if it says
/// nothing else.
#pragma once

#include "subject.h"

#include "base/bytes.h"
#include "base/json.h"
#include "base/macros.h"

#define SERVER_ARGUMENTS_MAX 8u
#define SERVER_ARGUMENT_NAME_BYTES 32u        ///< with the NUL
#define SERVER_ARGUMENT_BYTES_MAX (64u << 10) ///< of one value, with the NUL
#define SERVER_VERB_BYTES 32u                 ///< of a verb's name, with the NUL
#define SERVER_STREAM_HZ_MAX 60u

/// What a caller may do. A reader gets no addresses, ids of players, inputs or logs: an answer
/// that would hold them leaves them out for a reader.
typedef enum server_right {
    SERVER_READER,
    SERVER_OPERATOR,
} server_right;

/// server_answer_begin empties it. Its buffer keeps its memory from one answer to the next.
typedef struct server_answer {
    int status;         ///< 200, or an error: 400, 403, 404, 409, 413, 429, 503
    const char* type;   ///< NULL: application/json
    base_bytes* json;   ///< or what `type` says
    uint32_t stream_hz; ///< of the verb: a question goes on at this rate; 0: this is all
} server_answer;

/// A question or an order. Texts are UTF-8, borrowed for the call.
typedef struct server_request {
    const char* verb;
    server_right right;
    bool is_question; ///< a GET: it changes nothing
    uint32_t argument_count;
    const char* names[SERVER_ARGUMENTS_MAX];
    const char* values[SERVER_ARGUMENTS_MAX];
    char given[SERVER_ARGUMENTS_MAX][SERVER_ARGUMENT_NAME_BYTES]; ///< of server_request_read
    uint64_t until_us;     ///< of net_loop_now_us: a list ends here, and says so ("cut":true)
    bool* is_cut;          ///< set when it was over before the list; NULL: no matter
    server_answer* answer; ///< what it fills, or is refused in; never NULL
} server_request;

/// How requests are answered: server_verb_run, or what a test puts in its place.
typedef void (*server_run_fn)(server_subject* subject, const server_request* request);

typedef struct server_verb {
    const char* name;
    /// Names of the arguments in the order in which a person writes them: "client [reason...]". One
    /// in brackets may be missing; the last one with three points takes the rest of the line.
    const char* arguments;
    const char* help; ///< one line
    server_right right;
    bool is_change;     ///< ordered, never asked: POST, no GET
    uint32_t stream_hz; ///< 0: answered once. Else GET goes on with a new answer this many times a
                        ///< second; an argument "hz" of the verb sets another rate
    server_run_fn run;
} server_verb;

/// The verbs of one file.
typedef struct server_verb_set {
    const server_verb* verbs;
    uint32_t count;
} server_verb_set;
extern const server_verb_set server_status_verbs;  ///< view_status.c
extern const server_verb_set server_client_verbs;  ///< view_clients.c
extern const server_verb_set server_schema_verbs;  ///< view_schema.c
extern const server_verb_set server_ledger_verbs;  ///< view_ledger.c
extern const server_verb_set server_query_verbs;   ///< view_query.c
extern const server_verb_set server_stream_verbs;  ///< view_stream.c
extern const server_verb_set server_metrics_verbs; ///< metrics.c
extern const server_verb_set server_steer_verbs;   ///< steer.c

/// @return how many verbs there are; verb `index` of them (below the count, asserted).
uint32_t server_verb_count(void);
const server_verb* server_verb_at(uint32_t index);
/// @return the verb; NULL: there is none of this name.
const server_verb* server_verb_find(const char* name);

/// Check a request against its verb (name, right, arguments) and run it.
/// A server_run_fn.
void server_verb_run(server_subject* subject, const server_request* request);
/// Read "VERB VALUE VALUE..." as a person writes it; `line` is cut into pieces that `request`
/// borrows. right, until_us and answer, which is set, stay as they are.
/// @return false: there is no such verb, or it has no more arguments; the answer says it.
BASE_MUST_USE bool server_request_read(server_request* request, char* line);

/// Read "10.0.0.2:7777,[fd00::2]:7777". Names are not looked up: that may take seconds.
/// @return false: too many, or one is none.
BASE_MUST_USE bool server_addresses_read(const char* text, net_address addresses[NET_STANDBYS_MAX],
                                         uint32_t* count);
/// @return the value of an argument; NULL: it is not given.
const char* server_request_find(const server_request* request, const char* name);
/// Read a number that is `value` when it is not given.
/// @return false: it is none, or outside of [min, max]; the answer says so.
BASE_MUST_USE bool server_request_number(const server_request* request, const char* name,
                                         uint64_t min, uint64_t max, uint64_t* value);
/// Drop what the answer has. It is JSON, and no stream.
static inline void server_answer_begin(server_answer* answer, int status) {
    base_bytes_clear(answer->json);
    *answer = (server_answer){.status = status, .json = answer->json};
}
/// Drop what the answer has, and make it {"error":"SENTENCE"} with this status. @return false.
bool server_refuse(const server_request* request, int status, const char* format, ...)
    BASE_PRINTF(3, 4);
