// SPDX-License-Identifier: MIT
// Large values of a server's clients: what goes over the control channel beside the states.
//
// They go in the net half, by what is left of a share of the client's rate, and their bytes are paid for out
// of its tokens bit by bit: a long value must not silence the states behind it.
#include "server/server_internal.h"

#include "session/control.h"

#define RATE_SHARE 4.0 ///< one part in so many of a client's rate

static void watch_enter(void* context, ecs_entity entity, uint32_t classes, ecs_tick tick) {
    net_large_view_enter(context, entity, classes, tick);
}

static void watch_reclass(void* context, ecs_entity entity, uint32_t classes) {
    net_large_view_reclass(context, entity, classes);
}

static void watch_leave(void* context, ecs_entity entity) {
    net_large_view_leave(context, entity);
}

bool net_session_open_large(net_server* server, net_session* session) {
    net_session_out* out = &session->out;
    if (net_large_view_create(server->large, &out->large) != NET_OK) return false;
    out->large_debt = 0;
    const net_view_watch watch = {.context = out->large,
                                  .enter = watch_enter,
                                  .reclass = watch_reclass,
                                  .leave = watch_leave};
    net_view_set_watch(out->view, &watch);
    if (!net_large_view_is_broken(out->large)) return true;
    net_large_view_destroy(out->large);
    out->large = NULL;
    return false;
}

typedef struct sending {
    net_server* server;
    net_session* session;
} sending;

// A client that does not have the entity yet could only keep the value aside.
static net_result send_value(void* context, const net_large_message* message) {
    const sending* to = context;
    net_session_out* out = &to->session->out;
    if (!net_view_has(out->view, message->handle)) return NET_ERR_STALE;
    size_t bytes = 0;
    net_result result =
        net_control_send_large(to->server->config.transport, to->session->peer, message, &bytes);
    if (result != NET_OK) return result;
    out->large_debt += (double)bytes;
    net_ledger_account* account = net_view_account(out->view);
    if (account)
        net_ledger_add(account, net_rows_large(to->server->rows, message->number), NET_COST_LARGE,
                       8 * bytes);
    return NET_OK;
}

void net_session_send_large(net_server* server, net_session* session) {
    net_session_out* out = &session->out;
    if (net_large_view_is_broken(out->large)) out->has_failed = true;
    if (out->has_failed || out->told.is_away) return;
    double share = out->rate.rate * (double)server->tick_us * 1e-6 / RATE_SHARE;
    double paid = out->large_debt < share ? out->large_debt : share;
    out->large_debt -= paid;
    out->rate.tokens -= paid;
    // What was sent beyond the share makes the next value wait: a higher rate would let it go.
    if (out->large_debt > 0) net_rate_short(&out->rate);
    sending to = {server, session};
    net_large_view_publish(out->large, (uint32_t)share + 1, send_value, &to);
}

bool net_session_take_large_ack(net_session* session, const Shoal__Wire__LargeAck* ack) {
    net_large_view* view = session->out.large;
    if (!view) return false;
    for (size_t i = 0; i < ack->n_versions; i++)
        if (!net_large_view_ack(view, ack->versions[i])) return false;
    for (size_t i = 0; i < ack->n_lost; i++) {
        const Shoal__Wire__LargeLost* lost = ack->lost[i];
        if (!net_large_view_lost(view, lost->entity, lost->component, lost->version)) return false;
    }
    return true;
}
