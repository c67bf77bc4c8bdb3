// SPDX-License-Identifier: MIT
#include "tell.h"
#include "program.h"

#include "host/output.h"

#include "base/json.h"
#include "base/text.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#define TELL_US UINT64_C(1000000)

extern const server_part server_part_tell;

typedef struct teller {
    int socket; // 0: there is no host
    struct sockaddr_un host;
    char match[32], address[NET_ENET_ADDRESS_TEXT_BYTES], http[NET_ADDRESS_TEXT_BYTES];
    uint64_t told_us;
    base_bytes json;
} teller;

static teller* teller_of(const server_program* program) {
    return server_program_state(program, &server_part_tell);
}

static int open_teller(server_program* program) {
    teller* self = teller_of(program);
    const char* text = getenv(SERVER_TELL_VARIABLE);
    self->host.sun_family = AF_UNIX;
    base_bytes_init(&self->json, NULL);
    if (text && sscanf(text, "%31s %107[^\n]", self->match, self->host.sun_path) == 2)
        self->socket = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    return NET_EXIT_CLEAN;
}

static void tell(server_program* program, uint64_t now_us) {
    teller* self = teller_of(program);
    net_live_peer peer;
    uint32_t place = 0;
    if (self->socket <= 0 || now_us - self->told_us < TELL_US) return;
    self->told_us = now_us;
    base_bytes_clear(&self->json);
    base_json_write(&self->json, "{match=%s at_us='%ju' address=%s http=%s players=[", self->match,
                    now_us, self->address, self->http);
    while (net_server_next_client(program->server, &place, &peer))
        if (!peer.is_spectator && peer.identity.player != 0)
            base_json_write(&self->json, "'%ju'", peer.identity.player);
    base_json_write(&self->json, "]}");
    (void)sendto(self->socket, self->json.data, self->json.size, MSG_NOSIGNAL,
                 (const struct sockaddr*)&self->host, sizeof self->host);
}

static int begin_telling(server_program* program) {
    teller* self = teller_of(program);
    char words[1024];
    server_program_say(program, SERVER_SAYS_READY, words, sizeof words);
    const char* http = strstr(words, " http=http://");
    (void)net_transport_enet_address(program->enet, self->address, sizeof self->address);
    if (http) (void)sscanf(http, " http=http://%71s", self->http);
    tell(program, net_loop_now_us());
    return NET_EXIT_CLEAN;
}

static int close_teller(server_program* program) {
    teller* self = teller_of(program);
    if (self->socket > 0) close(self->socket);
    base_bytes_deinit(&self->json);
    return NET_EXIT_CLEAN;
}

const server_part server_part_tell = {
    .name = "tell",
    .state_bytes = sizeof(teller),
    .at = {[SERVER_PREPARE] = open_teller,
           [SERVER_READY] = begin_telling,
           [SERVER_CLOSE] = close_teller},
    .received = tell,
};
