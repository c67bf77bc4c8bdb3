// SPDX-License-Identifier: MIT
// A log as what observes a server: the calls of net_observer are those of net/log.h.
#include "net/log.h"
#include "net/match.h"

static void append_begin(void* writer, const net_tick_inputs* inputs) {
    net_log_append_begin(writer, inputs);
}

static void append_rows(void* writer, net_match* match, const struct net_history* history) {
    net_log_append_end_rows(writer, match, history);
}

static net_result append_control(void* writer, const char* verb,
                                 const net_match_argument* arguments, uint32_t count) {
    return net_log_append_control(writer, verb, arguments, count);
}

static void append_alive(void* writer, net_idle why) {
    net_log_append_alive(writer, why);
}

static void save_ring(void* writer, const char* name) {
    (void)!net_log_save(writer, name); // the program says what becomes of it: net_log_take_saved
}

static bool may_exchange_match(const void* writer) {
    return net_log_may_exchange(writer);
}

static void exchange_match(void* writer, net_match* match) {
    net_log_exchange(writer, match);
}

net_observer net_log_observer(net_log_writer* writer) {
    if (!writer) return (net_observer){.context = NULL};
    return (net_observer){.context = writer,
                          .begin = append_begin,
                          .rows = append_rows,
                          .control = append_control,
                          .idle = append_alive,
                          .save = save_ring,
                          .may_exchange = may_exchange_match,
                          .exchange = exchange_match};
}
