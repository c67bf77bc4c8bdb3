// SPDX-License-Identifier: MIT
/// A join that goes to other hosts of the fleet (`fleet` in host.conf). No host knows the others:
///
///     here      its own seat, or that of its party
///     KNOWN     shoal.host.HOST  the host that said that it has this request, or party
///     here      a match with players and a free seat
///     FIND      shoal.find       a match of this id, or one that fits the filter
///     FOUND     shoal.host.HOST  the host that answered
///     FILL      shoal.fill.GAME  a host that has a match with players and a free seat
///     JOIN      shoal.join.GAME  a host that has room, and few seats taken
///     here      any match, or a new one
///
/// FILL and JOIN are queue groups, so the broker chooses. A host with more seats than the one that
/// asks, or than hosts had that answered it, declines JOIN: matches are spread more evenly than at
/// random. A question without an answer is asked again from the begin; the same request gets the
/// same seat.
#pragma once

#include "rooms.h"

#define SERVER_ERRAND_LIST_MS 200u ///< lists are gathered, a match is looked for
#define SERVER_ERRAND_LISTS_BYTES_MAX (8u << 20)

struct server_host;

typedef struct server_errand {
    uint32_t step;
    uint32_t repeats, tries; ///< of all, of JOIN
    uint64_t number;         ///< of the question that is out; 0: none
    uint64_t until_us;
    uint64_t words[2]; ///< hashes of request and party; 0: not given
    uint64_t found;    ///< the host that has the match; 0: not known
} server_errand;

/// Connect. @return NET_EXIT_CLEAN, also without `fleet`; or the exit code: reported.
BASE_MUST_USE int server_errands_open(struct server_host* host);
void server_errands_close(struct server_host* host);
/// Listen for what this host has room for, handle what came.
void server_errands_pass(struct server_host* host, uint64_t now_us);
/// Tell all hosts that this one has the seat.
void server_errands_seated(struct server_host* host, const server_join* join);
/// Ask the hosts that listen to the subject. @return the number of the answers.
uint64_t server_errands_ask(struct server_host* host, const char* subject, const void* text,
                            size_t size);
/// The answer to a join: its status and how many seats this host has taken come first.
void server_errands_answer_join(struct server_host* host, const char* reply, int status,
                                const void* bytes, size_t size);

void server_errand_begin(server_errand* errand, const server_join* join);
/// The next step; `body` is that of the join. @return false: try it here, as join->reach is now;
/// with SERVER_REACH_ANY that is the last one.
bool server_errand_next(struct server_host* host, server_errand* errand, server_join* join,
                        const void* body, size_t size, uint64_t now_us);
/// No answer came in time.
void server_errand_repeat(server_errand* errand);
/// An answer "STATUS SEATS\n{...}", or of FIND a host. @return its status, and its text; 0: go on.
int server_errand_read(struct server_host* host, server_errand* errand, const char** text,
                       size_t* size);
