// SPDX-License-Identifier: MIT
// shoal-replay diff A B: where two logs differ, and with the game in which values.
#include "replay/replay.h"

#include "tools/output.h"
#include "net/log.h"

#include <inttypes.h>
#include <stdio.h>

enum { VALUES_MAX = 20 };

int server_replay_diff(server_replay* self) {
    net_log_reader* other = NULL;
    net_result result = net_log_reader_create(NULL, self->second, &self->reporter, &other);
    if (!other) return net_exit_of_replay(result);
    net_log_diff_result found;
    result = net_log_diff(self->reader, other, self->module, VALUES_MAX, net_host_write_line,
                          stdout, &self->reporter, &found);
    self->is_damaged = net_log_reader_check(other) != NET_OK;
    const bool has_ticks = net_log_reader_info(other)->last_tick > 0 ||
                           net_log_reader_info(self->reader)->last_tick > 0;
    net_log_reader_destroy(other);
    if (result != NET_OK) return net_exit_of_replay(result);
    self->has_result = true;
    // Logs without a tick in common are not the same.
    const bool is_same = !found.is_other_game && found.state_tick == 0 && found.input_tick == 0 &&
                         (found.ticks > 0 || !has_ticks);
    printf("%s ticks=%" PRIu64 " differences=%" PRIu64 "\n", is_same ? "same" : "different",
           found.ticks, found.differences);
    return is_same ? NET_EXIT_CLEAN : NET_EXIT_DIVERGED;
}
