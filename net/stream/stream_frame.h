// SPDX-License-Identifier: MIT
/// Messages of a stream, written into fixed memory and read from untrusted bytes (proto/STREAM.md).
#pragma once

#include "log/log_record.h"
#include "net/stream.h"

#define NET_STREAM_VERSION 1u
#define NET_STREAM_HEAD_BYTES 18u
/// A message is never longer, whatever the broker takes.
#define NET_STREAM_MESSAGE_BYTES_MAX (1u << 20)
/// What a broker may count of its own headers.
#define NET_STREAM_BROKER_HEAD_BYTES 1024u

typedef enum net_stream_kind {
    NET_STREAM_KIND_RECORDS = 1,
    NET_STREAM_KIND_CLAIM = 2,
} net_stream_kind;

/// A checked message. Pointers borrow from its bytes.
typedef struct net_stream_frame {
    net_stream_kind kind;
    uint64_t epoch;  ///< from 1
    uint64_t number; ///< of its first record; of a claim: of the next one
    uint64_t count;  ///< of RECORDS, at least 1
    const uint8_t* body;
    size_t body_bytes;
    net_stream_claim claim;
    const uint8_t* header; ///< of a CLAIM; NULL: it has none
    size_t header_bytes;
} net_stream_frame;

/// Pack a record as the stream has it: the end of a tick goes without its sums. `target` has room
/// for `size` bytes. @return the bytes it took.
uint32_t net_stream_record_write(net_log_kind kind, const void* data, uint32_t size,
                                 uint8_t* target);

/// Begin a message. The writer's memory has room for NET_STREAM_HEAD_BYTES.
void net_stream_frame_begin(proto_pb_writer* message, net_stream_kind kind, uint64_t epoch,
                            uint64_t number);
/// Append a record. @return false when it does not fit: nothing was written.
BASE_MUST_USE bool net_stream_frame_add(proto_pb_writer* message, const void* data, uint32_t size);
/// Write a claim; `header` NULL: none. message->failed: it does not fit.
void net_stream_frame_claim(proto_pb_writer* message, uint64_t epoch, uint64_t number,
                            const net_stream_claim* claim, const void* header, size_t header_bytes);
/// Check all of a message, its records included. Total. @return false for bytes that no writer
/// writes.
BASE_MUST_USE bool net_stream_frame_read(net_stream_frame* frame, const void* data, size_t size);
/// Get the next record of a checked message of records; start with *offset 0. @return false at the
/// end.
bool net_stream_frame_next(const net_stream_frame* frame, size_t* offset, net_log_record* record,
                           const uint8_t** data);
/// The id of a message: no other one has it, of whatever epoch and writer.
void net_stream_frame_id(const net_stream_frame* frame, uint64_t writer,
                         char id[NET_BROKER_ID_BYTES]);

// ---- reports ----

// What followers of a stream say of themselves once a second, and its server while a message of it
// waits: a message that the broker does not keep (proto/STREAM.md, "Reports"). Who hangs or
// is gone says nothing, so what its connection looks like does not matter.

#define NET_STREAM_REPORT_BYTES 20u
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
    uint8_t counts_s; ///< seconds that it counts. SERVER: 0. 0 of a follower: its build is older
} net_stream_report;

void net_stream_report_write(const net_stream_report* report,
                             uint8_t bytes[NET_STREAM_REPORT_BYTES]);
/// Total. @return false for bytes that are no report.
BASE_MUST_USE bool net_stream_report_read(net_stream_report* report, const void* data, size_t size);
/// Send it when the time has come, a third of counts_s after the one before; *due_us is the next
/// time.
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
/// Those in this role that are able, and whose newest report counts and has `from` or a later tick.
uint32_t net_stream_reports_count(const net_stream_reports* reports, net_stream_role role,
                                  ecs_tick from, uint64_t now_us);
/// Does one of them not know NET_IDLE_EMPTY? It waits no longer for an empty match than for others.
bool net_stream_reports_has_older(const net_stream_reports* reports, uint64_t now_us);
