// SPDX-License-Identifier: MIT
// Large values of a server's clients: what goes over the control channel beside the states.
//
// They go in the net half, by what is left of a share of the client's rate, and their bytes are paid for out
// of its tokens bit by bit: a long value must not silence the states behind it.
#include "server/server_internal.h"

#include "session/control.h"

#define RATE_SHARE 4.0 ///< one part in so many of a client's rate

static void watch_enter(void* context, ecs_entity entity, uint32_t classes, ecs_tick tick) {
    net_varsize_sender_enter(context, entity, classes, tick);
}

static void watch_reclass(void* context, ecs_entity entity, uint32_t classes) {
    net_varsize_sender_reclass(context, entity, classes);
}

static void watch_leave(void* context, ecs_entity entity) {
    net_varsize_sender_leave(context, entity);
}

bool net_session_open_varsize(net_server* server, net_session* session) {
    net_session_out* out = &session->out;
    if (net_varsize_sender_create(server->varsize, &out->varsize) != NET_OK) return false;
    out->varsize_debt = 0;
    const net_repl_state_watch watch = {.context = out->varsize,
                                        .enter = watch_enter,
                                        .reclass = watch_reclass,
                                        .leave = watch_leave};
    net_repl_state_set_watch(out->repl, &watch);
    if (!net_varsize_sender_is_broken(out->varsize)) return true;
    net_varsize_sender_destroy(out->varsize);
    out->varsize = NULL;
    return false;
}

typedef struct sending {
    net_server* server;
    net_session* session;
} sending;

// A client that does not have the entity yet could only keep the value aside.
static net_result send_value(void* context, const net_varsize_message* message) {
    const sending* to = context;
    net_session_out* out = &to->session->out;
    if (!net_repl_state_has(out->repl, message->handle)) return NET_ERR_STALE;
    size_t bytes = 0;
    net_result result =
        net_control_send_varsize(to->server->config.transport, to->session->peer, message, &bytes);
    if (result != NET_OK) return result;
    out->varsize_debt += (double)bytes;
    net_bandwidth_account* account = net_repl_state_account(out->repl);
    if (account)
        net_bandwidth_add(account, net_rows_varsize(to->server->rows, message->number),
                          NET_COST_VARSIZE, 8 * bytes);
    return NET_OK;
}

void net_session_send_varsize(net_server* server, net_session* session) {
    net_session_out* out = &session->out;
    if (net_varsize_sender_is_broken(out->varsize)) out->has_failed = true;
    if (out->has_failed || out->told.is_away) return;
    double share = out->rate.rate * (double)server->tick_us * 1e-6 / RATE_SHARE;
    double paid = out->varsize_debt < share ? out->varsize_debt : share;
    out->varsize_debt -= paid;
    out->rate.tokens -= paid;
    // What was sent beyond the share makes the next value wait: a higher rate would let it go.
    if (out->varsize_debt > 0) net_rate_short(&out->rate);
    sending to = {server, session};
    net_varsize_sender_publish(out->varsize, (uint32_t)share + 1, send_value, &to);
}

bool net_session_take_varsize_ack(net_session* session, const Shoal__Wire__VarsizeAck* ack) {
    net_varsize_sender* repl = session->out.varsize;
    if (!repl) return false;
    for (size_t i = 0; i < ack->n_versions; i++)
        if (!net_varsize_sender_ack(repl, ack->versions[i])) return false;
    for (size_t i = 0; i < ack->n_lost; i++) {
        const Shoal__Wire__VarsizeLost* lost = ack->lost[i];
        if (!net_varsize_sender_lost(repl, lost->entity, lost->component, lost->version))
            return false;
    }
    return true;
}
