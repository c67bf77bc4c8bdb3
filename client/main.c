// SPDX-License-Identifier: MIT
// shoal-client: one player in a window, many bots in one process, or the playback of a log.
//
// Wiring only: options, and which of the modes runs. Read run_client() first, then players.c.
#include "program.h"

#include "host/output.h"
#include "host/setup.h"

#include <errno.h>
#include <string.h>

static int play_headless(client_program* self) {
    int code = client_program_open_game(self, NULL, NULL);
    if (code != NET_EXIT_CLEAN) return code;
    for (;;) {
        code = client_players_open(self, NULL, 0);
        if (code != NET_EXIT_CLEAN) return code;
        client_players_run(self);
        if (!self->wants_reload) return client_players_finish(self);
        client_players_close(self);
        code = client_program_reload(self, NULL, NULL);
        if (code != NET_EXIT_CLEAN) return code;
    }
}

// Say which option needs a part that this client was built without. @return is one missing?
static bool misses_part(const client_program* self) {
    const client_config* config = &self->config;
    const client_parts* has = self->parts;
    const struct {
        bool is_missing;
        const char *option, *part;
    } needs[] = {{config->replay && !has->replay, "--replay", "playback"},
                 {config->record && !has->close_record, "--record", "log"},
                 {config->is_listing && !has->list, "--list", "list"},
                 {config->is_local && !has->open_local, "--local", "local"},
                 {config->is_rendering && !has->show, "--render",
                  "window (with libsdl2-dev and libstb-dev)"}};
    for (uint32_t i = 0; i < BASE_COUNT(needs); i++) {
        if (!needs[i].is_missing) continue;
        base_report(&self->reporter, NULL, 0, "%s: this client was built without the part %s",
                    needs[i].option, needs[i].part);
        return true;
    }
    return false;
}

static int run_client(client_program* self) {
    if (misses_part(self)) return NET_EXIT_USAGE;
    if (self->config.replay)
        return self->parts->replay(&self->config, &self->reporter, &self->loop);
    if (!net_host_load_tokens(self->config.token_file, &self->tokens, &self->reporter))
        return NET_EXIT_USAGE;
    if (!net_host_simulate_network(self->config.net, &self->reporter)) return NET_EXIT_USAGE;
    if (self->config.is_listing) return self->parts->list(self);
    if (self->config.is_rendering) self->parts->keep_faults(self);
    if (!net_host_open_file(self->config.trace, &self->reporter, &self->trace) ||
        !net_host_open_file(self->config.session_trace, &self->reporter, &self->session_trace))
        return NET_EXIT_RUNTIME;
    if (self->config.is_local) {
        int code = client_program_open_game(self, NULL, NULL);
        if (code == NET_EXIT_CLEAN) code = self->parts->open_local(self, &self->local);
        if (code != NET_EXIT_CLEAN) return code;
    }
    if (!self->config.is_rendering) return play_headless(self);
    return self->parts->show(self);
}

int main(int argc, char** argv) {
    base_reporter reporter = base_reporter_stderr();
    if (!net_host_prepare(&reporter)) return NET_EXIT_RUNTIME;
    client_program* self = base_owner_create(NULL, sizeof *self);
    self->reporter = reporter;
    self->parts = &client_parts_here;
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
            code = run_client(self);
            self->wants_reload = false;
            client_players_close(self);
            if (self->local) self->parts->close_local(self->local, &self->loop);
            net_host_wipe_tokens(&self->tokens);
            if (self->trace) fclose(self->trace);
            if (self->session_trace) fclose(self->session_trace);
            net_sentry_destroy(self->sentry);
            client_program_close_games(self);
            net_loop_deinit(&self->loop);
        }
        break;
    }
    base_owner_destroy(self);
    return code;
}
