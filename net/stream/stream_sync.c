// SPDX-License-Identifier: MIT
// A client may know of a tick what a standby would know if the server died now: what is stored.
//
//     tick T runs -> its end is appended -> stored -> released -> clients
//
// Without that (off) clients are ahead of the stream by the time of an acknowledgement, and there
// is one doubt only: a process that slept does not know whether another server has the match by
// now. It asks by appending, and shows its clients nothing until the answer is there.
#include "net/stream.h"

#define MS UINT64_C(1000)

// Since when a tick waits, and nothing was stored. A far broker stores something all the time, and
// a tick takes up to two of its answers. `is_owned` false: nothing is stored.
static void note_age(net_stream_sync* self, const net_stream_status* status, bool is_owned,
                     bool has_all, uint64_t now_us) {
    const bool has_moved = is_owned && status->acked.records > self->records;
    self->records = status->acked.records;
    if (has_moved || !self->waits) self->waited_us = now_us;
    self->waits = !is_owned || !has_all;
}

static void note_rest(net_stream_sync* self, ecs_tick stored, ecs_tick newest, uint64_t now_us) {
    const uint64_t rest_us = self->tick_us + NET_STREAM_REST_MS * MS;
    if (self->step_us > 0 && now_us - self->step_us > rest_us) {
        self->doubted = newest + 1;
        self->doubted_us = now_us;
    }
    self->step_us = now_us;
    const bool is_kept = self->is_on && self->safety != NET_STREAM_UNSAFE;
    const bool has_waited = !is_kept && now_us - self->doubted_us > NET_STREAM_DOUBT_MS * MS;
    if (stored >= self->doubted || has_waited) self->doubted = 0;
}

// STILL and UNSAFE last until all is stored again.
static net_stream_safety decide(const net_stream_sync* self, bool is_owned, bool is_over,
                                uint64_t now_us) {
    const bool is_late = self->waits && now_us - self->waited_us > self->limit_us;
    if (!self->is_on) return NET_STREAM_FREE;
    if (!self->waits) return NET_STREAM_SAFE;
    if (self->safety == NET_STREAM_UNSAFE) return NET_STREAM_UNSAFE;
    if (is_late && (self->goes_on || is_over)) return NET_STREAM_UNSAFE;
    if (self->goes_on) return NET_STREAM_SAFE;
    return is_late || !is_owned || self->safety == NET_STREAM_STILL ? NET_STREAM_STILL
                                                                    : NET_STREAM_SAFE;
}

void net_stream_sync_step(net_stream_sync* self, const net_stream_status* status, ecs_tick newest,
                          ecs_tick first, bool is_over, uint64_t now_us) {
    const bool is_owned = status->state == NET_STREAM_OWNED || status->state == NET_STREAM_ENDED;
    ecs_tick stored = status->acked_tick > first ? status->acked_tick : first;
    if (status->state == NET_STREAM_ENDED) stored = newest;
    note_age(self, status, is_owned, stored >= newest, now_us);
    note_rest(self, stored, newest, now_us);
    const net_stream_safety before = self->safety;
    self->safety = decide(self, is_owned, is_over, now_us);
    if (self->safety == NET_STREAM_UNSAFE && before != NET_STREAM_UNSAFE) self->unsafe = stored + 1;
    const bool is_free = self->safety == NET_STREAM_FREE || self->safety == NET_STREAM_UNSAFE;
    self->released = is_free && self->doubted == 0 ? UINT64_MAX : stored;
}
