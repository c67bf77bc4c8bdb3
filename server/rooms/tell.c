// SPDX-License-Identifier: MIT
#include "tell.h"
#include "channel.h"
#include "program.h"

#include "host/output.h"
#include "log/log.h"

#include "base/hash.h"
#include "base/json.h"
#include "base/text.h"

#include <errno.h>
#include <inttypes.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#define TELL_US UINT64_C(1000000)
#define TELL_US_MIN UINT64_C(100000) // a game may publish in each tick
#define ANSWERS_MAX 64u              // that are read at a time
#define END_US UINT64_C(2000000)     // the last records and the result are waited for
#define END_LOOK_MS 5

extern const server_part server_part_tell;

typedef struct teller {
    int socket; // both ways; 0: there is no host
    struct sockaddr_un host;
    char match[32], address[NET_ENET_ADDRESS_TEXT_BYTES], http[NET_ADDRESS_TEXT_BYTES];
    uint64_t told_us;
    uint64_t sent_values; // a hash of those of the newest report
    server_channel* channel;
    base_bytes json;
} teller;

static teller* teller_of(const server_program* program) {
    return server_program_state(program, &server_part_tell);
}

static void send_to_host(void* context, const void* text, size_t size) {
    const teller* self = teller_of(context);
    (void)sendto(self->socket, text, size, MSG_NOSIGNAL, (const struct sockaddr*)&self->host,
                 sizeof self->host);
}

static bool admit(void* context, uint64_t now_us, net_game_player* player) {
    return server_channel_admit(teller_of(context)->channel, now_us, player);
}

static void move_player(void* context, uint32_t client, const char* address, const char* token,
                        const char* page) {
    const server_program* program = context;
    const net_result result =
        net_server_transfer(program->server, client, address, token, page, "");
    if (result != NET_OK)
        base_report(&program->reporter, NULL, 0, "warning: client %u is not moved to %s: %s",
                    client, address, net_result_text(result));
}

// FOLDER/reports is the host's; a match that is resumed binds its own name again.
static bool bind_answers(teller* self) {
    struct sockaddr_un at = {.sun_family = AF_UNIX};
    char* end = strrchr(self->host.sun_path, '/');
    const int folder = end ? (int)(end - self->host.sun_path) : 0;
    if (!base_text_format(at.sun_path, sizeof at.sun_path, "%.*s/matches/%s/answers", folder,
                          self->host.sun_path, self->match))
        return false;
    (void)unlink(at.sun_path);
    return bind(self->socket, (const struct sockaddr*)&at, sizeof at) == 0;
}

static int open_teller(server_program* program) {
    teller* self = teller_of(program);
    const char* text = getenv(SERVER_TELL_VARIABLE);
    self->host.sun_family = AF_UNIX;
    base_bytes_init(&self->json, NULL);
    if (!text || sscanf(text, "%31s %107[^\n]", self->match, self->host.sun_path) != 2)
        return NET_EXIT_CLEAN;
    self->socket = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    if (!bind_answers(self))
        base_report(&program->reporter, self->host.sun_path, 0,
                    "warning: the host cannot answer this match: %s", base_error_text(errno));
    self->channel = server_channel_create(&(server_channel_config){.match = self->match,
                                                                   .reporter = &program->reporter,
                                                                   .now_us = net_loop_now_us(),
                                                                   .context = program,
                                                                   .send = send_to_host,
                                                                   .move = move_player});
    program->is_hosted = true;
    program->admit = admit;
    program->watch_key = SERVER_TELL_WATCH_KEY;
    program->rest_us = NET_IDLE_EMPTY_MS * UINT64_C(1000); // its host is who watches it
    return NET_EXIT_CLEAN;
}

// ---- reports

static uint64_t hash_values(const net_match_told* told) {
    uint64_t hash = told->is_closed;
    for (uint32_t i = 0; i < told->value_count; i++) {
        hash = base_hash64(told->values[i].key, strlen(told->values[i].key) + 1, hash);
        hash = base_hash64(told->values[i].value, strlen(told->values[i].value) + 1, hash);
    }
    return hash;
}

// `told` NULL: of a match that began without a host.
static void write_report(server_program* program, const net_match_told* told, uint64_t now_us) {
    teller* self = teller_of(program);
    net_live_peer peer;
    uint32_t place = 0;
    char stream[17] = "";
    if (program->config.stream)
        (void)base_text_format(stream, sizeof stream, "%016" PRIx64, program->identity);
    base_bytes_clear(&self->json);
    base_json_write(&self->json, "{match=%s at_us='%ju' address=%s http=%s players=[", self->match,
                    now_us, self->address, self->http);
    while (net_server_next_client(program->server, &place, &peer))
        if (!peer.is_spectator && peer.identity.player != 0)
            base_json_write(&self->json, "'%ju'", peer.identity.player);
    base_json_write(&self->json, "] stream=%s standby=%i open=%i values={", stream,
                    program->ticks != NULL, !told || !told->is_closed);
    for (uint32_t i = 0; told && i < told->value_count; i++)
        base_json_write(&self->json, "%s=%s", told->values[i].key, told->values[i].value);
    base_json_write(&self->json, "}}");
}

static void tell(server_program* program, uint64_t now_us) {
    teller* self = teller_of(program);
    const net_match_told* told = net_match_get_told(program->match);
    if (self->socket <= 0 || now_us - self->told_us < TELL_US_MIN) return;
    // A match is resumed when its host knows that it had players.
    const uint64_t joins = net_server_get_counters(program->server)->joins;
    const uint64_t values = (told ? hash_values(told) : 0) + 2 * joins + (program->ticks != NULL);
    if (values == self->sent_values && now_us - self->told_us < TELL_US) return;
    self->told_us = now_us;
    self->sent_values = values;
    write_report(program, told, now_us);
    send_to_host(program, self->json.data, self->json.size);
}

static int begin_telling(server_program* program) {
    teller* self = teller_of(program);
    char words[1024];
    if (self->socket <= 0) return NET_EXIT_CLEAN;
    server_program_hear(program, self->socket);
    server_program_say(program, SERVER_SAYS_READY, words, sizeof words);
    const char* http = strstr(words, " http=http://");
    (void)net_transport_enet_address(program->enet, self->address, sizeof self->address);
    if (http) (void)sscanf(http, " http=http://%71s", self->http);
    tell(program, net_loop_now_us());
    return NET_EXIT_CLEAN;
}

// ---- requests

// A tick that a full disk left out is in no log, and a match that continues has another one.
static bool has_log_all(const server_program* program) {
    const server_log* log = server_log_of(program);
    return !log || !log->writer || net_log_get_counters(log->writer).ticks_lost == 0;
}

static void receive_answers(teller* self, uint64_t now_us) {
    char text[SERVER_CHANNEL_BYTES_MAX];
    for (uint32_t i = 0; i < ANSWERS_MAX; i++) {
        const ssize_t size = recv(self->socket, text, sizeof text, MSG_DONTWAIT);
        if (size < 0) return;
        server_channel_receive(self->channel, text, (size_t)size, now_us);
    }
}

// The match of another server is that one's to speak for.
static void pass(server_program* program, uint64_t now_us) {
    teller* self = teller_of(program);
    const net_match_told* told = net_match_get_told(program->match);
    if (self->socket <= 0) return;
    receive_answers(self, now_us);
    if (told && !program->ticks)
        server_channel_look(self->channel, told, net_match_tick(program->match), now_us);
    server_channel_pass(self->channel, has_log_all(program), now_us);
}

static int end_telling(server_program* program) {
    teller* self = teller_of(program);
    if (self->socket <= 0 || !program->match) return NET_EXIT_CLEAN;
    const uint64_t begin_us = net_loop_now_us();
    struct pollfd wait = {.fd = self->socket, .events = POLLIN};
    for (uint64_t now_us = begin_us; now_us - begin_us < END_US; now_us = net_loop_now_us()) {
        pass(program, now_us);
        if (!server_channel_waits(self->channel)) return NET_EXIT_CLEAN;
        server_program_keep(program);
        (void)poll(&wait, 1, END_LOOK_MS);
    }
    base_report(&program->reporter, NULL, 0,
                "warning: the host did not take all that this match has for it");
    return NET_EXIT_CLEAN;
}

static void say(const server_program* program, server_saying line, char* text, size_t bytes) {
    const teller* self = teller_of(program);
    if (self->socket <= 0 || line == SERVER_SAYS_READY) return;
    const server_channel_counters it = server_channel_count(self->channel);
    (void)base_text_format(text, bytes,
                           " records=%" PRIu64 " records_unknown=%" PRIu64 " records_kept=%" PRIu64
                           " records_refused=%" PRIu64 " moved=%" PRIu64 " moves_refused=%" PRIu64,
                           it.known, it.unknown, it.kept, it.conflicts, it.moved, it.refused);
}

static int close_teller(server_program* program) {
    teller* self = teller_of(program);
    if (self->socket > 0) close(self->socket);
    server_channel_destroy(self->channel);
    self->channel = NULL;
    base_bytes_deinit(&self->json);
    return NET_EXIT_CLEAN;
}

const server_part server_part_tell = {
    .name = "tell",
    .state_bytes = sizeof(teller),
    .at = {[SERVER_PREPARE] = open_teller,
           [SERVER_READY] = begin_telling,
           [SERVER_REPORT] = end_telling,
           [SERVER_CLOSE] = close_teller},
    .say = say,
    .pass = pass,
    .received = tell,
};
