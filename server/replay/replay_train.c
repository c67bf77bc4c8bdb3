// SPDX-License-Identifier: MIT
// shoal-replay train LOG... --output NAME.tables: the codes of rows that suit one game.
#include "replay/replay.h"

#include "base/alloc.h"
#include "host/exit_code.h"
#include "host/setup.h"
#include "net/replay.h"
#include "proto/tables.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

// Each row of a table gets this share of a symbol of the built-in tables per symbol of the logs, so
// that what the logs do not show keeps a code of sensible length.
#define USUAL_SHARE 0.0003

typedef struct trainer {
    double counts[PROTO_TABLES_LENGTHS];
    uint8_t usual[PROTO_TABLES_LENGTHS], current[PROTO_TABLES_LENGTHS],
        lengths[PROTO_TABLES_LENGTHS];
    char text[PROTO_TABLES_TEXT_BYTES_MAX];
    net_log_training result;
} trainer;

static int read_log(server_replay* self, const char* file, trainer* made) {
    net_result result = net_log_reader_create(NULL, file, &self->reporter, &self->reader);
    if (!self->reader) return net_exit_of_replay(result);
    const net_log_info* info = net_log_reader_info(self->reader);
    const char* name = self->game ? self->game : info->game;
    if (!self->module) result = net_host_open_module(name, &self->reporter, &self->module);
    if (result == NET_OK)
        result = net_log_train(self->reader, self->module, &self->reporter, &made->result);
    net_log_reader_destroy(self->reader);
    self->reader = NULL;
    return net_exit_of_replay(result);
}

static int write_tables(server_replay* self, trainer* made) {
    double all = 0;
    for (uint32_t i = 0; i < PROTO_TABLES_LENGTHS; i++)
        all += made->counts[i];
    if (all <= 0) {
        base_report(&self->reporter, NULL, 0, "train: these logs have no replicated rows");
        return NET_EXIT_RUNTIME;
    }
    proto_tables_lengths(proto_tables_builtin(), made->usual);
    proto_tables_choose(made->counts, made->usual, all * USUAL_SHARE, made->lengths);
    proto_tables_text(made->lengths, made->text);
    FILE* out = fopen(self->output, "w");
    bool is_written = out && fputs(made->text, out) >= 0;
    if (out && fclose(out) != 0) is_written = false;
    if (!is_written) {
        base_report(&self->reporter, self->output, 0, "cannot be written: %s", strerror(errno));
        return NET_EXIT_RUNTIME;
    }
    double other = (double)made->result.bits, before = 0, after = 0; // other: beside the symbols
    proto_tables_lengths(self->module->tables ? self->module->tables : proto_tables_builtin(),
                         made->current);
    for (uint32_t i = 0; i < PROTO_TABLES_LENGTHS; i++) {
        other -= made->counts[i] * made->current[i];
        before += made->counts[i] * made->usual[i];
        after += made->counts[i] * made->lengths[i];
    }
    printf("trained rows=%" PRIu64 " bits_per_row=%.2f with_built_in=%.2f file=%s\n",
           made->result.rows, (other + after) / (double)made->result.rows,
           (other + before) / (double)made->result.rows, self->output);
    return NET_EXIT_CLEAN;
}

int server_replay_train(server_replay* self) {
    if (!self->output) {
        base_report(&self->reporter, NULL, 0, "train: name a file with --output");
        return NET_EXIT_USAGE;
    }
    trainer* made = base_allocate_zero(NULL, sizeof *made);
    if (!made) return NET_EXIT_RUNTIME;
    made->result.counts = made->counts;
    int code = NET_EXIT_CLEAN;
    for (uint32_t i = 1; i < self->logs->count && code == NET_EXIT_CLEAN; i++)
        code = read_log(self, self->logs->values[i], made);
    if (code == NET_EXIT_CLEAN) code = write_tables(self, made);
    if (self->module) net_module_close(self->module);
    base_release(NULL, made, sizeof *made);
    return code;
}
