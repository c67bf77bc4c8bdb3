// SPDX-License-Identifier: MIT
// follow_stream URL LOG: reads a stream up to its close and compares each record with the log's.
//
//     same records=N messages=N epoch=N
#include "base/options.h"
#include "log/log_read.h"
#include "net/socket.h"
#include "stream/stream_frame.h"
#include "fleet/stream_nats.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <poll.h>

#define QUIET_US UINT64_C(60000000)

static uint8_t expected[NET_LOG_RECORD_BYTES_MAX];

static int fail(const char* text) {
    printf("differs: %s\n", text);
    return 1;
}

// @return its bytes as a stream has them; 0: the log has no further record.
static uint32_t next_of_log(net_log_reader* reader, net_log_cursor* cursor) {
    net_log_record record;
    while (net_log_cursor_next(reader, cursor, &record))
        if (net_log_kinds[record.kind].is_streamed)
            return net_stream_record_write(
                record.kind, record.body + record.body_bytes - record.size, record.size, expected);
    return 0;
}

static int compare(net_stream_follower* follower, net_log_reader* reader) {
    const net_stream_follower_info* info = net_stream_follower_get(follower);
    net_log_cursor cursor = net_log_cursor_begin(reader);
    uint64_t progress_us = net_loop_now_us();
    for (;;) {
        const uint8_t* data;
        uint32_t size;
        const uint64_t now_us = net_loop_now_us();
        (void)net_stream_follower_poll(follower, now_us);
        const net_log_feed_state next = net_stream_follower_next(follower, &data, &size);
        if (next == NET_LOG_FEED_FAILED) return fail(info->text);
        if (next == NET_LOG_FEED_END) break;
        if (next == NET_LOG_FEED_NOTHING) {
            if (now_us - progress_us > QUIET_US) return fail("nothing comes");
            (void)poll(NULL, 0, 1);
            continue;
        }
        progress_us = now_us;
        const uint32_t bytes = next_of_log(reader, &cursor);
        if (bytes != size || memcmp(data, expected, size) != 0) return fail("a record");
    }
    if (next_of_log(reader, &cursor) > 0) return fail("the log has more");
    printf("same records=%" PRIu64 " messages=%" PRIu64 " epoch=%" PRIu64 "\n",
           info->position.records, info->position.sequence, info->position.epoch);
    return 0;
}

int main(int argc, char** argv) {
    const base_reporter reporter = base_reporter_stderr();
    net_log_reader* reader;
    server_nats* nats;
    if (argc != 3) return 2;
    const server_nats_config config = {.url = argv[1]};
    (void)!net_log_reader_create(NULL, argv[2], &reporter, &reader);
    if (!reader || server_nats_open(&config, &reporter, &nats) != NET_OK) return 1;
    const net_broker broker = server_nats_broker(nats);
    net_stream_follower* follower = net_stream_follower_create(NULL, &broker);
    const int code = compare(follower, reader);
    base_owner_destroy(follower);
    server_nats_close(nats);
    net_log_reader_destroy(reader);
    return code;
}
