// SPDX-License-Identifier: MIT
// shoal-replay repair: a whole log out of a damaged or cut one.
#include "replay/replay.h"

#include "host/exit_code.h"
#include "net/log_tools.h"

#include <inttypes.h>
#include <stdio.h>

static bool has_output(const server_replay* self) {
    if (!self->output)
        base_report(&self->reporter, NULL, 0, "%s: name the new log with --output", self->command);
    return self->output != NULL;
}

int server_replay_repair(server_replay* self) {
    const net_log_info* info = net_log_reader_info(self->reader);
    if (!has_output(self)) return NET_EXIT_USAGE;
    if (info->is_closed && !info->is_cut && !info->is_damaged) {
        base_report(&self->reporter, self->file, 0, "note: it is whole, nothing is to be repaired");
        return NET_EXIT_CLEAN;
    }
    const net_log_copy_config config = {.output = self->output};
    net_log_copy_result made;
    net_result result = net_log_copy(self->reader, &config, &self->reporter, &made);
    if (result != NET_OK) return net_exit_of_replay(result);
    if (made.unfinished_tick > 0)
        base_report(&self->reporter, self->file, 0,
                    "note: tick %" PRIu64 ", in which the server died, is left out; `shoal-replay "
                    "verify --through-crash` runs it from this file",
                    made.unfinished_tick);
    printf("repaired file=%s ticks=%" PRIu64 " last_tick=%" PRIu64 " queue_records=%" PRIu64
           " damaged_blocks=%" PRIu64 " lost_bytes=%" PRIu64 "\n",
           self->output, made.ticks, made.last_tick, info->queue_records, info->damaged_blocks,
           info->lost_bytes);
    self->is_damaged = false; // the new one is not
    return NET_EXIT_CLEAN;
}
