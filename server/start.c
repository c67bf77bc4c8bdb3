// SPDX-License-Identifier: MIT
// From options to an exit code: what shoal-server and shoal-relay have in common, and the parts.
#include "program.h"

#include "base/assert.h"
#include "host/output.h"

#include <errno.h>
#include <malloc.h>
#include <string.h>
#include <unistd.h>

// One thread for NET_LANE_CLIENTS players, but one core stays for the simulation. More threads than
// players would have nothing to do.
void server_config_choose_threads(server_config* config, uint64_t clients) {
    if (config->net_threads == SERVER_THREADS_UNSET) {
        const long cores = sysconf(_SC_NPROCESSORS_ONLN);
        const uint64_t spare = cores > 1 ? (uint64_t)cores - 1 : 0;
        config->net_threads = (clients + NET_LANE_CLIENTS - 1) / NET_LANE_CLIENTS;
        if (config->net_threads > spare) config->net_threads = spare;
        if (config->net_threads > NET_LANES_MAX) config->net_threads = NET_LANES_MAX;
    }
    if (config->net_threads > clients) config->net_threads = clients;
}

// ---- the parts

void* server_program_state(const server_program* self, const server_part* part) {
    for (uint32_t i = 0; server_parts[i]; i++)
        if (server_parts[i] == part) return self->states[i];
    return NULL;
}

int server_program_phase(server_program* self, server_phase phase) {
    int first = NET_EXIT_CLEAN;
    for (uint32_t i = 0; i < server_part_count; i++) {
        const uint32_t back = server_part_count - 1 - i;
        const server_part* part = server_parts[phase < SERVER_READY ? i : back];
        const int code = part->at[phase] ? part->at[phase](self) : NET_EXIT_CLEAN;
        if (first == NET_EXIT_CLEAN) first = code;
        if (phase < SERVER_READY && (first != NET_EXIT_CLEAN || self->is_over)) break;
    }
    return first;
}

void server_program_say(const server_program* self, server_saying line, char* text, size_t bytes) {
    text[0] = '\0';
    for (uint32_t i = server_part_count; i-- > 0;)
        if (server_parts[i]->say)
            server_parts[i]->say(self, line, text + strlen(text), bytes - strlen(text));
}

void server_program_hear(server_program* self, int descriptor) {
    net_loop* loop = &self->loop;
    if (loop->socket_count < NET_LOOP_SOCKETS_MAX) loop->sockets[loop->socket_count++] = descriptor;
}

void server_program_keep(server_program* self) {
    for (const server_part* const* part = server_parts; *part; part++)
        if ((*part)->keep) (*part)->keep(self, net_loop_now_us());
}

static void make_states(server_program* self) {
    for (uint32_t i = 0; server_parts[i]; i++) {
        BASE_ASSERT(i < SERVER_PARTS_MAX);
        self->states[i] = base_allocate_zero(&self->owner.allocator, server_parts[i]->state_bytes);
    }
}

// ---- the steps

static int run_matches(server_program* self) {
    int code = server_program_open(self);
    if (code == NET_EXIT_CLEAN && !self->is_over) {
        server_program_run(self);
        code = self->is_over ? self->over_code : server_program_report(self);
    }
    for (const server_part* const* part = server_parts; *part; part++)
        if ((*part)->over) (*part)->over(self, code);
    return code;
}

static int open_loop_and_run(server_program* self) {
    if (!net_loop_init(&self->loop) || !net_loop_hear_operator(&self->loop))
        return net_exit_report(NET_EXIT_RUNTIME, &self->reporter, NULL, "signals: %s",
                               base_error_text(errno));
    const int code = run_matches(self);
    server_program_close(self);
    return code;
}

static int read_options_and_run(server_program* self, server_config_fn read_config, int argc,
                                char** argv) {
    const base_options_result read = read_config(&self->config, argc, argv, &self->reporter);
    if (read != BASE_OPTIONS_OK) return net_exit_of_options(read);
    server_lines_configure(self->lines, self->config.log_format, self->config.levels);
    int code = open_loop_and_run(self);
    while (self->is_again) {
        const size_t kept = offsetof(server_program, module);
        memset((char*)self + kept, 0, sizeof *self - kept);
        for (uint32_t i = 0; server_parts[i]; i++)
            if (!server_parts[i]->end) memset(self->states[i], 0, server_parts[i]->state_bytes);
        code = open_loop_and_run(self);
    }
    net_key_ring_wipe(&self->kept_keys);
    return code;
}

int server_program_start(server_config_fn read_config, int argc, char** argv) {
    // Large blocks are pages of their own: what a match does not use of them costs nothing.
    (void)mallopt(M_MMAP_THRESHOLD, 1 << 17);
    server_program* self = base_owner_create(NULL, sizeof *self);
    self->lines = server_lines_create();
    make_states(self);
    self->reporter = *server_program_layer(self, SERVER_LAYER_SERVER);
    const int code = read_options_and_run(self, read_config, argc, argv);
    for (const server_part* const* part = server_parts; *part; part++)
        if ((*part)->end) (*part)->end(self);
    server_lines_destroy(self->lines);
    base_owner_destroy(self);
    return code;
}
