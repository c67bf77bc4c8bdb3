// SPDX-License-Identifier: MIT
// --record: what the first player sees, as a log.
//
// A record has the ticks of the server. A step without a newer one may still have changed the
// world, by a late packet: then the change list is kept for the next. The first tick that came
// creates the file.
#include "program.h"

#include "base/assert.h"
#include "base/text.h"
#include "host/output.h"
#include "net/log.h"

static bool open_record(client_program* self) {
    net_log_options options = net_log_options_default();
    options.is_seen = true;
    self->has_record_failed =
        net_log_writer_create(NULL, self->config.record, &options, self->players[0].match,
                              net_build_id(), net_loop_unix_ms(), &self->reporter,
                              &self->record) != NET_OK;
    return !self->has_record_failed;
}

bool client_record_step(void* program) {
    client_program* self = program;
    const net_client* client = self->players[0].client;
    net_match* match = self->players[0].match;
    const ecs_tick tick = net_match_tick(match);
    if (tick == 0 || self->has_record_failed) return true;
    if (self->record && tick == self->recorded_tick) return false;
    BASE_ASSERT(tick > self->recorded_tick);
    if (!self->record && !open_record(self)) return true;
    static net_log_player players[NET_CLIENTS_MAX];
    uint32_t count = 0;
    for (uint32_t at = 0; (at = net_client_next_player(client, at)) != 0;) {
        net_log_player* player = &players[count++];
        *player = (net_log_player){.client = at};
        if (at == net_client_number(client) || at == net_client_watched(client))
            player->entity = net_client_player(client);
        (void)base_text_copy(player->name, sizeof player->name, net_client_player_name(client, at));
    }
    net_log_append_seen(self->record, match, players, count);
    self->recorded_tick = tick;
    return true;
}

int client_record_close(client_program* self) {
    char why[256];
    if (!self->record) return self->has_record_failed ? NET_EXIT_RUNTIME : NET_EXIT_CLEAN;
    (void)net_log_writer_finish(self->record);
    const bool has_failed = net_log_take_failure(self->record, why, sizeof why);
    if (has_failed) base_report(&self->reporter, self->config.record, 0, "%s", why);
    self->has_record_failed |= has_failed;
    (void)net_log_writer_destroy(self->record);
    self->record = NULL;
    self->recorded_tick = 0;
    return self->has_record_failed ? NET_EXIT_RUNTIME : NET_EXIT_CLEAN;
}
