// SPDX-License-Identifier: MIT
// A log that differs or is damaged can still be watched. The exit code reports it at the end.
#include "playback/playback_state.h"

bool client_playback_note(client_playback* self, net_result result) {
    self->is_diverged |= result == NET_ERR_DIVERGED;
    self->is_damaged |= result == NET_ERR_DAMAGED;
    if (result == NET_OK || result == NET_ERR_DIVERGED || result == NET_ERR_DAMAGED) return true;
    base_report(self->reporter, self->config->replay, 0, "cannot go on: %s",
                net_result_text(result));
    return false;
}
