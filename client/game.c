// SPDX-License-Identifier: MIT
// Find out which game the server runs, and open its module.
//
// Without --game the client greets with an empty game name, and the refusal carries the name of the
// server's game. That name is untrusted input: only a plain name is taken ([a-z0-9_]), and it is
// looked up in the module path only.
#include "players.h"

#include "base/assert.h"
#include "base/text.h"
#include "tools/setup.h"

#include <string.h>

static void await_refusal(client_program* self, net_client* client, const client_idle* idle) {
    while (net_client_get_phase(client) != NET_CLIENT_ENDED) {
        bool is_asked_to_end = net_loop_wait(&self->loop, net_loop_now_us() + 10000);
        if (idle && !idle->call(idle->context)) is_asked_to_end = true;
        if (is_asked_to_end) net_client_leave(client, net_loop_now_us());
        net_client_service(client, net_loop_now_us());
    }
}

static int ask_game(client_program* self, const client_idle* idle) {
    BASE_ASSERT(!self->module && !self->players && self->config.address);
    net_transport* transport = NULL;
    net_client* client = NULL;
    int code = NET_EXIT_RUNTIME;
    net_result result = client_transport_open(self, 0, &transport);
    if (result != NET_OK) {
        base_report(&self->reporter, NULL, 0, "cannot open a socket: %s", net_result_text(result));
        return NET_EXIT_RUNTIME;
    }
    self->loop.socket_count = 0;
    client_transport_gather(&self->loop, transport);
    net_client_config config = {
        .transport = transport, .address = self->config.address, .reporter = &self->reporter};
    result = net_client_create(&config, &client);
    if (result != NET_OK) {
        code = net_exit_report_setup(result, &self->reporter);
        goto out;
    }
    await_refusal(self, client, idle);
    client_transport_finish(&self->loop);
    const char* game = net_client_refusal_game(client);
    if (net_client_get_end(client) != NET_CLIENT_END_REFUSED) {
        code = client_report_unreachable(self, client);
    } else if (!net_module_name_is_valid(game)) {
        code = client_report_refused(self, client);
    } else {
        base_text_copy(self->game, sizeof self->game, game);
        code = NET_EXIT_CLEAN;
    }
out:
    if (client) net_client_destroy(client);
    transport->ops->destroy(transport);
    return code;
}

int client_program_open_game(client_program* self, const client_idle* idle) {
    if (self->module) return NET_EXIT_CLEAN;
    if (!self->config.game) {
        int code = ask_game(self, idle);
        if (code != NET_EXIT_CLEAN) return code;
    }
    const char* name = self->config.game ? self->config.game : self->game;
    net_result result = net_host_open_module(name, &self->reporter, &self->module);
    if (result == NET_OK)
        result = net_host_open_workers(self->module, NET_ROLE_MIRROR, self->config.threads,
                                       &self->reporter);
    return net_exit_report_setup(result, &self->reporter);
}
