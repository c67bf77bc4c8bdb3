// SPDX-License-Identifier: MIT
// The newest report of each follower, and how old it is by the hearer's clock. A place is
// free again when its follower said nothing for NET_STREAM_REPORT_OLD_MS.
//
//     u8 version, u8 role, u8 is_able, u64 who, u64 tick, what later versions append
#include "stream/stream_report.h"

#include "base/assert.h"
#include "base/bytes.h"

#define MS UINT64_C(1000)

enum { VERSION = 1 };

void net_stream_report_write(const net_stream_report* report,
                             uint8_t bytes[NET_STREAM_REPORT_BYTES]) {
    BASE_ASSERT(report->who != 0);
    bytes[0] = VERSION;
    bytes[1] = (uint8_t)report->role;
    bytes[2] = report->is_able;
    base_store_le64(bytes + 3, report->who);
    base_store_le64(bytes + 11, report->tick);
}

bool net_stream_report_read(net_stream_report* report, const void* data, size_t size) {
    const uint8_t* bytes = data;
    if (size < NET_STREAM_REPORT_BYTES || bytes[0] != VERSION || bytes[2] > 1) return false;
    *report = (net_stream_report){.role = (net_stream_role)bytes[1],
                                  .is_able = bytes[2],
                                  .who = base_load_le64(bytes + 3),
                                  .tick = base_load_le64(bytes + 11)};
    return report->who != 0 && report->role >= NET_STREAM_STANDBY &&
           report->role <= NET_STREAM_SERVER;
}

void net_stream_report_send(const net_broker* broker, const net_stream_report* report,
                            uint64_t* due_us, uint64_t now_us) {
    uint8_t bytes[NET_STREAM_REPORT_BYTES];
    if (now_us < *due_us) return;
    *due_us = now_us + NET_STREAM_REPORT_MS * MS;
    net_stream_report_write(report, bytes);
    broker->report(broker->context, bytes, sizeof bytes);
}

static bool is_heard(const struct net_stream_heard* heard, uint64_t now_us) {
    return heard->us > 0 && now_us - heard->us < NET_STREAM_REPORT_OLD_MS * MS;
}

bool net_stream_reports_add(net_stream_reports* self, const void* data, size_t size,
                            uint64_t now_us) {
    net_stream_report report;
    struct net_stream_heard* place = NULL;
    if (!net_stream_report_read(&report, data, size)) return false;
    if (report.role == NET_STREAM_SERVER) return true;
    for (uint32_t i = 0; i < NET_STREAM_REPORTS_MAX; i++) {
        struct net_stream_heard* at = &self->heard[i];
        const bool is_own = is_heard(at, now_us) && at->report.who == report.who;
        if (is_own || (!place && !is_heard(at, now_us))) place = at;
        if (is_own) break;
    }
    if (!place) return false;
    *place = (struct net_stream_heard){report, now_us};
    return true;
}

uint32_t net_stream_reports_count(const net_stream_reports* self, net_stream_role role,
                                  ecs_tick from, uint64_t now_us) {
    uint32_t count = 0;
    for (uint32_t i = 0; i < NET_STREAM_REPORTS_MAX; i++) {
        const net_stream_report* report = &self->heard[i].report;
        count += is_heard(&self->heard[i], now_us) && report->role == role && report->is_able &&
                 report->tick >= from;
    }
    return count;
}
