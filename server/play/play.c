// SPDX-License-Identifier: MIT
// Players in browsers: where the inspector is served, its port takes WebSocket connections, which
// join those of ENet before the server sees either.
#include "sockets.h"

#include "program.h"

#include "base/text.h"
#include "host/output.h"

#include <inttypes.h>

typedef struct server_play {
    server_sockets* sockets;
    net_transport* web;
} server_play;

const server_part server_part_play;

static server_play* play_of(const server_program* program) {
    return server_program_state(program, &server_part_play);
}

static net_secure_end admit(void* context, const net_address* from, const net_token* token,
                            net_peer_identity* identity, net_token* resume, net_token* later) {
    const server_program* program = context;
    return net_transport_enet_admit(program->enet, from, token, identity, resume, later);
}

static net_result open_transports(server_program* program, server_play* self) {
    const uint32_t room = NET_PEER_SLOTS - program->peers_max;
    self->sockets = server_sockets_create();
    if (!self->sockets) return NET_ERR_MEMORY;
    const net_web_config config = {
        .peers_max = program->peers_max < room ? program->peers_max : room,
        .slot_first = program->peers_max,
        .lanes = net_transport_lanes(program->transport),
        .peers_per_address_max = (uint32_t)program->config.clients_per_address_max,
        .io = server_sockets_io(self->sockets),
        .admit = admit,
        .admit_context = program,
    };
    net_result result = net_transport_web_create(&config, &self->web);
    if (result == NET_OK)
        server_program_wrap(program, net_transport_join_create(NULL, program->transport, self->web,
                                                               config.slot_first));
    return result;
}

static int open_play(server_program* program) {
    server_play* self = play_of(program);
    if (!program->config.http) return NET_EXIT_CLEAN;
    const net_result result = open_transports(program, self);
    if (result != NET_OK)
        return net_exit_report(NET_EXIT_RUNTIME, &program->reporter, NULL, "--http: %s",
                               net_result_text(result));
    program->upgrade = server_sockets_upgrade(self->sockets);
    server_program_hear(program, server_sockets_io(self->sockets).descriptor);
    return NET_EXIT_CLEAN;
}

// No thread sends now.
static void received(server_program* program, uint64_t now_us) {
    (void)now_us;
    server_play* self = play_of(program);
    if (self->web) server_sockets_take(self->sockets, self->web);
}

static void say(const server_program* program, server_saying line, char* text, size_t bytes) {
    const server_play* self = play_of(program);
    if (line == SERVER_SAYS_READY || !self->web) return;
    net_web_stats it;
    net_web_get_stats(self->web, &it);
    (void)base_text_format(text, bytes,
                           " web_connections=%" PRIu64 " web_refused=%" PRIu64 " web_stale=%" PRIu64
                           " web_too_fast=%" PRIu64 " web_malformed=%" PRIu64,
                           it.connections, it.refused, it.stale, it.too_fast, it.malformed);
}

static int close_play(server_program* program) {
    server_play* self = play_of(program);
    if (self->web) self->web->ops->destroy(self->web);
    server_sockets_destroy(self->sockets);
    *self = (server_play){0};
    return NET_EXIT_CLEAN;
}

const server_part server_part_play = {
    .name = "play",
    .state_bytes = sizeof(server_play),
    .at = {[SERVER_LISTENING] = open_play, [SERVER_CLOSE] = close_play},
    .received = received,
    .say = say,
};
