// SPDX-License-Identifier: MIT
/// Requests on their way to the loop's thread, and answers on their way back.
///
/// The asking thread owns an order until it pushes it, and again once it popped it; in between the
/// loop's thread owns it. Both ways are queues without locks, so neither thread waits for the
/// other. An order keeps its buffers: nothing is allocated once they are large enough.
#pragma once

#include "verbs.h"

/// Of a tick's period, however many passes the loop makes in it; of a match with fewer ticks, of a
/// period of SERVER_ORDERS_PERIOD_US_MAX. An order that has begun is not stopped, the next ones
/// wait.
#define SERVER_ORDERS_PERIOD_US 200u
#define SERVER_ORDERS_PERIOD_US_MAX 16667u
/// An order begins with no less: else it is cut before it has something.
#define SERVER_ORDERS_LEFT_US_MIN 50u

typedef struct server_order {
    char verb[SERVER_VERB_BYTES];
    char names[SERVER_ARGUMENTS_MAX][SERVER_ARGUMENT_NAME_BYTES];
    size_t value_offsets[SERVER_ARGUMENTS_MAX];
    uint32_t argument_count;
    base_bytes values; ///< texts, each with its NUL
    server_right right;
    bool is_question;     ///< set it after server_order_begin
    server_answer answer; ///< its json is that of the order
    base_bytes json;
} server_order;

typedef struct server_orders server_orders;

/// Make `count` orders, 1 to 256 (asserted), for a loop with this many ticks a second (0: none).
/// @return NULL: the system has no descriptor left.
server_orders* server_orders_create(uint32_t count, uint64_t tick_rate_hz);
/// Neither thread uses it any more. NULL does nothing.
void server_orders_destroy(server_orders* orders);

// ---- the asking thread ----

/// Borrow order `index`, which is with the asking thread.
server_order* server_orders_get(server_orders* orders, uint32_t index);
/// Write a verb without arguments into an order, then add each argument.
/// @return false: a name or value is too long, has a NUL or is no UTF-8, or there are too many
/// arguments.
BASE_MUST_USE bool server_order_begin(server_order* order, const char* verb, size_t verb_bytes,
                                      server_right right);
BASE_MUST_USE bool server_order_add(server_order* order, const char* name, size_t name_bytes,
                                    const char* value, size_t value_bytes);
/// The body of a POST: a JSON object whose members are the arguments of a verb.
#define SERVER_BODY_DEPTH_MAX 8u

/// Add the members of the object in `text` to an order that has begun. A text stays as it is,
/// everything else becomes its JSON; null is no argument. An empty body has none.
/// @return NULL, or the sentence that says what is wrong; then some may have been added.
const char* server_body_read(const char* text, size_t size, server_order* order);
/// Give an order to the loop's thread.
void server_orders_push(server_orders* orders, uint32_t index);
/// A descriptor that is readable once something was asked, or may be answered again;
/// server_orders_run empties it.
int server_orders_asks(const server_orders* orders);
/// Take an answered order back. @return its index; UINT32_MAX: there is none now.
uint32_t server_orders_pop(server_orders* orders);
/// A descriptor that is readable once something was answered; server_orders_pop empties it.
int server_orders_descriptor(const server_orders* orders);

// ---- the loop's thread ----

/// Answer what waits by `run`, within what is left of the period. Without orders it costs two
/// loads.
void server_orders_run(server_orders* orders, server_run_fn run, server_subject* subject);
/// Answers that were cut, because their time was over.
uint64_t server_orders_cuts(const server_orders* orders);
