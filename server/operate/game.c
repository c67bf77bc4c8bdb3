// SPDX-License-Identifier: MIT
// The game of a match: its mistakes are said when it is opened, and its files are read again.
#include "program.h"

#include "host/output.h"
#include "host/reload.h"

static int check_game(server_program* self) {
    const base_reporter* game = server_program_layer(self, SERVER_LAYER_GAME);
    return net_exit_report_setup(net_host_check_game(self->match, game), game);
}

static void reload(server_program* self) {
    net_module* old = NULL;
    if (net_host_reload(self->server, &self->module, &self->match, &old,
                        server_program_layer(self, SERVER_LAYER_GAME)))
        net_module_close(old);
}

const server_part server_part_game = {
    .name = "game", .at = {[SERVER_BOUND] = check_game}, .reload = reload};
