// SPDX-License-Identifier: MIT
// A log whose run differs, or that is damaged, can still be watched. The exit code reports it at
// the end.
#include "window/playback_play.h"

#define REFRESH_US 1000000u

bool client_playback_is_open(const client_playback* self) {
    return self->config->follow_s > 0 && !net_log_reader_info(self->reader)->is_closed;
}

// The log is opened again: that costs little, because only block headers are read.
net_result client_playback_refresh(client_playback* self, uint64_t now_us) {
    if (!client_playback_is_open(self) || now_us < self->refreshed_us + REFRESH_US) return NET_OK;
    self->refreshed_us = now_us;
    net_log_reader* reader = NULL;
    net_playback* playback = NULL;
    net_result result = net_log_reader_create(NULL, self->config->replay, NULL, &reader);
    if (!reader) return NET_OK;
    const net_log_info *now = net_log_reader_info(reader), *old = net_log_reader_info(self->reader);
    // Between its close record and its index a log looks cut.
    bool has_more = now->identity == old->identity && !(now->is_closed && now->is_cut) &&
                    (now->last_tick > old->last_tick || now->is_closed != old->is_closed);
    // What differs here was said when it was opened.
    result = has_more ? net_playback_create(reader, self->module, NULL, &playback) : NET_OK;
    if (!playback) {
        net_log_reader_destroy(reader);
        return result;
    }
    double tick = net_playback_tick(self->playback);
    net_playback_destroy(self->playback);
    net_log_reader_destroy(self->reader);
    self->playback = playback;
    self->reader = reader;
    return net_playback_seek(playback, tick);
}

bool client_playback_record(client_playback* self, net_result result) {
    self->is_diverged |= result == NET_ERR_DIVERGED;
    self->is_damaged |= result == NET_ERR_DAMAGED;
    if (result == NET_OK || result == NET_ERR_DIVERGED || result == NET_ERR_DAMAGED) return true;
    return base_report(self->reporter, self->config->replay, 0, "cannot continue: %s",
                       net_result_text(result));
}
