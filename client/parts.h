// SPDX-License-Identifier: MIT
/// What this client has beside the core. NULL: that part is left out.
#pragma once

#include "program.h"

typedef struct client_parts {
    const struct net_solo* solo;
    bool (*record_step)(void* program); ///< log: record.h
    int (*close_record)(client_program* program);
    int (*replay)(const client_config* config, const base_reporter* reporter, net_loop* loop);
    int (*list)(client_program* program);
    int (*open_local)(client_program* program, client_local** local);
    void (*close_local)(client_local* local, net_loop* loop);
    net_module* (*take_local)(client_local* local);
    int (*show)(client_program* program);
} client_parts;

extern const client_parts client_parts_here;
