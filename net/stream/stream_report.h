// SPDX-License-Identifier: MIT
/// What followers of a stream say of themselves some times a second, and its server while a message
/// of it waits: a message that the broker does not keep (proto/STREAM.md, "Reports"). Who hangs or
/// is gone says nothing, so what its connection looks like does not matter.
#pragma once

#include "net/stream.h"

#define NET_STREAM_REPORT_BYTES 19u
/// Followers whose newest reports are kept.
#define NET_STREAM_REPORTS_MAX 256u

typedef enum net_stream_role {
    NET_STREAM_STANDBY = 1,
    NET_STREAM_RELAY = 2,
    NET_STREAM_SERVER = 3, ///< it has the stream, lives, and waits for the broker
} net_stream_role;

typedef struct net_stream_report {
    net_stream_role role;
    bool is_able; ///< STANDBY: it would take over. Others: true
    uint64_t who; ///< drawn at random, not 0; STANDBY, SERVER: the writer of its claim
    /// STANDBY: newest that ran there and was the same. RELAY: newest that came. SERVER: its epoch.
    ecs_tick tick;
} net_stream_report;

void net_stream_report_write(const net_stream_report* report,
                             uint8_t bytes[NET_STREAM_REPORT_BYTES]);
/// Total. @return false for bytes that are no report.
BASE_MUST_USE bool net_stream_report_read(net_stream_report* report, const void* data, size_t size);
/// Send it when the time has come; then *due_us is the next one.
void net_stream_report_send(const net_broker* broker, const net_stream_report* report,
                            uint64_t* due_us, uint64_t now_us);

/// What was heard. Zeroed at the start.
typedef struct net_stream_reports {
    struct net_stream_heard {
        net_stream_report report;
        uint64_t us; ///< 0: the place is free
    } heard[NET_STREAM_REPORTS_MAX];
} net_stream_reports;

/// One of a server is left. @return false: it is none, or there is no place.
BASE_MUST_USE bool net_stream_reports_add(net_stream_reports* reports, const void* data,
                                          size_t size, uint64_t now_us);
/// Those in this role that are able, and said within NET_STREAM_REPORT_OLD_MS that they have
/// `from`, or a later tick.
uint32_t net_stream_reports_count(const net_stream_reports* reports, net_stream_role role,
                                  ecs_tick from, uint64_t now_us);
