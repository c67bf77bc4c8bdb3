// SPDX-License-Identifier: MIT
// Variable-size components of a server's clients: values that travel on the control channel beside
// snapshots.
//
// They are sent in the net half, by what is left of a share of the client's rate. Their bytes are
// paid for out of its tokens bit by bit: a long value must not silence the snapshots behind it.
#include "server/session_varsize.h"

#include "replicate/repl_state.h"
#include "server/server_state.h"
#include "server/session_trace.h"
#include "session/control.h"
#include "state/rows.h"
#include "state/varsize.h"

#include "base/assert.h"

#define RATE_SHARE 4.0 ///< values may use one part in so many of a client's rate

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
    BASE_ASSERT(out->repl && !out->varsize);
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

// A client that does not have the entity yet could only store the value aside. No
// net_session_send_control: its counters belong to the other half, and a refused value is no drop,
// since it is sent again.
static net_result send_value(void* context, const net_varsize_message* message) {
    _Static_assert(NET_VARSIZE_BYTES_MAX + NET_VARSIZE_FRAME_BYTES_MAX <= NET_CONTROL_BYTES_MAX,
                   "a value must fit one message");
    const sending* to = context;
    net_session_out* out = &to->session->out;
    if (!net_repl_state_has(out->repl, message->handle)) return NET_ERR_STALE;
    Shoal__Wire__VarsizeValue value = SHOAL__WIRE__VARSIZE_VALUE__INIT;
    value.entity = message->handle;
    value.component = message->number;
    value.version = message->version;
    value.since = message->since;
    value.is_default = message->is_default;
    value.value = (ProtobufCBinaryData){message->size, (uint8_t*)(uintptr_t)message->bytes};
    Shoal__Wire__ServerControl control = SHOAL__WIRE__SERVER_CONTROL__INIT;
    control.kind_case = SHOAL__WIRE__SERVER_CONTROL__KIND_VARSIZE;
    control.varsize = &value;
    size_t bytes = 0;
    net_result result =
        net_control_send(to->server->config.transport, to->session->peer, &control.base, &bytes);
    if (result != NET_OK) return result;
    net_session_trace_packet(to->server, to->session, to->server->out.now_us, NET_TRACE_SENT,
                             "varsize", message->number, bytes);
    out->varsize_debt += (double)bytes;
    net_rate_add_paid(&out->rate, bytes + NET_RATE_OVERHEAD_BYTES);
    net_bandwidth_account* account = net_repl_state_account(out->repl);
    if (account)
        net_bandwidth_add(account, net_rows_varsize(to->server->rows, message->number),
                          NET_COST_VARSIZE, 8 * bytes);
    return NET_OK;
}

void net_session_send_varsize(net_server* server, net_session* session) {
    net_session_out* out = &session->out;
    if (net_varsize_sender_is_broken(out->varsize)) out->has_failed = true;
    if (out->has_failed || out->summary.is_away || out->summary.is_deaf) return;
    double share = out->rate.rate * (double)server->tick_us * 1e-6 / RATE_SHARE;
    double paid = out->varsize_debt < share ? out->varsize_debt : share;
    out->varsize_debt -= paid;
    out->rate.tokens -= paid;
    // A debt makes the next value wait; a higher rate would not.
    if (out->varsize_debt > 0) net_rate_short(&out->rate);
    sending to = {server, session};
    net_varsize_sender_publish(out->varsize, (uint32_t)share + 1, send_value, &to);
}

bool net_session_apply_varsize_ack(net_session* session, const Shoal__Wire__VarsizeAck* ack) {
    net_varsize_sender* sender = session->out.varsize;
    if (!sender) return false;
    for (size_t i = 0; i < ack->n_versions; i++)
        if (!net_varsize_sender_ack(sender, ack->versions[i])) return false;
    for (size_t i = 0; i < ack->n_lost; i++) {
        const Shoal__Wire__VarsizeLost* lost = ack->lost[i];
        if (!net_varsize_sender_lost(sender, lost->entity, lost->component, lost->version))
            return false;
    }
    return true;
}
