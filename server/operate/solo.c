// SPDX-License-Identifier: MIT
// Solo code as a part of a server.
#include "program.h"

#include "host/output.h"
#include "net/solo.h"

static int give_solo(server_program* self) {
    self->solo = &net_solo_part;
    return NET_EXIT_CLEAN;
}

const server_part server_part_solo = {.name = "solo", .at = {[SERVER_LISTENING] = give_solo}};
