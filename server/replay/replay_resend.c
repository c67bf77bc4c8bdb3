// SPDX-License-Identifier: MIT
// What clients had been sent. A log does not hold it: the match is run again and sent again, over
// the simulated network. `datagrams` compares whole runs, `show --client N` looks at one mirror.
#include "replay/replay.h"

#include "ecs/save.h"
#include "host/exit_code.h"
#include "net/sim_match.h"

#include <inttypes.h>
#include <stdio.h>

static bool read_line(const server_replay* self, net_link_pair* link) {
    *link = (net_link_pair){0};
    return !self->net || net_link_config_parse(self->net, &self->reporter, link) == NET_OK;
}

int server_replay_datagrams(server_replay* self) {
    net_log_resend_config config = {.until = self->tick};
    net_log_resend_result made;
    if (!read_line(self, &config.link)) return NET_EXIT_USAGE;
    net_result result =
        net_log_resend(self->reader, self->module, &config, NULL, NULL, &self->reporter, &made);
    if (result == NET_ERR_DIVERGED) printf("diverged tick=%" PRIu64 "\n", made.diverged_tick);
    if (result != NET_OK) return net_exit_of_replay(result);
    char same[64] = "yes";
    if (made.differs_tick > 0)
        snprintf(same, sizeof same, "no from_tick=%" PRIu64, made.differs_tick);
    printf("datagrams ticks=%" PRIu64 " clients=%u sent=%" PRIu64 " bytes=%" PRIu64 " lost=%" PRIu64
           " hash=%016" PRIx64 " as_in_the_log=%s\n",
           made.ticks, made.clients, made.sent.datagrams, made.sent.bytes, made.sent.lost,
           made.sent.hash, same);
    return NET_EXIT_CLEAN;
}
