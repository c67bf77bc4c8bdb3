// SPDX-License-Identifier: MIT
// shoal-client: one player in a window, many bots in one process, or the playback of a log.
//
// Wiring only: options, and which of the modes runs. Read run() first, then players.c.
#include "ask.h"
#include "program.h"

#include "window/playback_play.h"

#include "host/output.h"
#include "host/setup.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

static int play_headless(client_program* self) {
    int code = client_program_open_game(self, NULL);
    if (code != NET_EXIT_CLEAN) return code;
    for (;;) {
        code = client_players_open(self, NULL, 0);
        if (code != NET_EXIT_CLEAN) return code;
        client_players_run(self);
        if (!self->wants_reload) return client_players_finish(self);
        client_players_close(self);
        code = client_program_reload(self);
        if (code != NET_EXIT_CLEAN) return code;
    }
}

static int run(client_program* self) {
    if (self->config.replay)
        return client_playback_play(&self->config, &self->reporter, &self->loop);
    if (!net_host_load_tokens(self->config.token_file, &self->tokens, &self->reporter))
        return NET_EXIT_USAGE;
    if (!net_host_simulate_network(self->config.net, &self->reporter)) return NET_EXIT_USAGE;
    if (self->config.is_listing) return client_ask_list(self);
    if (!net_host_open_file(self->config.trace, &self->reporter, &self->trace) ||
        !net_host_open_file(self->config.session_trace, &self->reporter, &self->session_trace))
        return NET_EXIT_RUNTIME;
    if (self->config.is_local) {
        int code = client_program_open_game(self, NULL);
        if (code == NET_EXIT_CLEAN) code = client_local_open(self, &self->local);
        if (code != NET_EXIT_CLEAN) return code;
    }
    if (!self->config.is_rendering) return play_headless(self);
#if SHOAL_HAS_WINDOW
    return client_window_play(self);
#else
    base_report(&self->reporter, NULL, 0,
                "this client was built without a window: install libsdl2-dev and libstb-dev, then "
                "build again");
    return NET_EXIT_USAGE;
#endif
}

static void release(client_program* self) {
    self->wants_reload = false;
    client_players_close(self);
    client_local_close(self->local, &self->loop);
    net_host_wipe_tokens(&self->tokens);
    if (self->trace) fclose(self->trace);
    if (self->session_trace) fclose(self->session_trace);
    net_sentry_destroy(self->sentry);
    net_host_close_game(self->module);
    net_loop_deinit(&self->loop);
}

int main(int argc, char** argv) {
    base_reporter reporter = base_reporter_stderr();
    if (!net_host_prepare(&reporter)) return NET_EXIT_RUNTIME;
    client_program* self = calloc(1, sizeof *self);
    if (!self) {
        base_report(&reporter, NULL, 0, "%s", net_result_text(NET_ERR_MEMORY));
        return NET_EXIT_RUNTIME;
    }
    self->reporter = reporter;
    int code = NET_EXIT_RUNTIME;
    switch (client_config_read(&self->config, argc, argv, &self->reporter)) {
    case BASE_OPTIONS_HELP:
        code = NET_EXIT_CLEAN;
        break;
    case BASE_OPTIONS_ERROR:
        code = NET_EXIT_USAGE;
        break;
    case BASE_OPTIONS_OK:
        if (!net_loop_init(&self->loop)) {
            base_report(&self->reporter, NULL, 0, "signals: %s", strerror(errno));
        } else {
            self->sentry = net_sentry_create(&(net_sentry_config){
                .loop = &self->loop, .program = "shoal-client", .reporter = self->reporter});
            code = run(self);
            release(self);
        }
        break;
    }
    free(self);
    return code;
}
