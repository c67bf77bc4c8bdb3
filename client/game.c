// SPDX-License-Identifier: MIT
// Which game it is, and its module.
//
// Without --game: greet with an empty name; the refusal says which game the server runs. It is a
// stranger's word, so it is opened by name alone, in the module path.
#include "players.h"

#include "base/text.h"

#include <string.h>

static int open_module(client_program* self, const char* name) {
    char path[2048];
    net_module_default_path(path, sizeof path);
    net_result result = net_module_open(name, path, &self->reporter, &self->module);
    if (result == NET_ERR_MEMORY) return CLIENT_EXIT_RUNTIME;
    return result == NET_OK ? CLIENT_EXIT_CLEAN : CLIENT_EXIT_USAGE;
}

static void await_refusal(client_program* self, net_client* client, const client_idle* idle) {
    while (net_client_get_phase(client) != NET_CLIENT_ENDED) {
        bool is_asked_to_end = net_loop_wait(&self->loop, net_loop_now_us() + 10000);
        if (idle && !idle->call(idle->context)) is_asked_to_end = true;
        if (is_asked_to_end) net_client_leave(client, net_loop_now_us());
        net_client_service(client, net_loop_now_us());
    }
}

static int ask_game(client_program* self, const client_idle* idle) {
    net_transport* transport = NULL;
    net_client* client = NULL;
    int code = CLIENT_EXIT_RUNTIME;
    if (client_transport_open(&transport) != NET_OK) return CLIENT_EXIT_RUNTIME;
    self->loop.socket_count = 0;
    client_transport_gather(&self->loop, transport);
    net_client_config config = {.transport = transport, .address = self->config.address};
    if (net_client_create(&config, &client) != NET_OK) goto out;
    await_refusal(self, client, idle);
    const char* game = net_client_refusal_game(client);
    if (net_client_get_end(client) != NET_CLIENT_END_REFUSED) {
        code = client_say_unreachable(self, client);
    } else if (game[0] == '\0' || strchr(game, '/') || strchr(game, '.')) {
        code = client_say_refused(self, client);
    } else {
        base_text_copy(self->game, sizeof self->game, game);
        code = CLIENT_EXIT_CLEAN;
    }
out:
    if (client) net_client_destroy(client);
    transport->ops->destroy(transport);
    return code;
}

int client_program_open_game(client_program* self, const client_idle* idle) {
    if (self->module) return CLIENT_EXIT_CLEAN;
    if (!self->config.game) {
        int code = ask_game(self, idle);
        if (code != CLIENT_EXIT_CLEAN) return code;
    }
    return open_module(self, self->config.game ? self->config.game : self->game);
}
