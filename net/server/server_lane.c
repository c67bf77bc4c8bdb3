// SPDX-License-Identifier: MIT
// Threads of lanes. The first lane has none: who calls net_server_run_lanes does its work, the
// caller's thread when packets are received, the net half's thread when they are sent. The two
// never overlap: receiving begins when the net half is collected.
#include "server/server_lane.h"

#include "server/server_state.h"
#include "server/session_report.h"
#include "core/worker.h"

#include "base/assert.h"

static void run_worker(void* context) {
    net_server_lane* lane = context;
    lane->work(lane);
}

net_result net_server_open_lanes(net_server* server, bool is_threaded) {
    const uint32_t count = net_transport_lanes(server->config.transport);
    BASE_ASSERT(count <= NET_LANES_MAX);
    server->lanes = base_allocate_zero(server->allocator, count * sizeof *server->lanes);
    if (!server->lanes) return NET_ERR_MEMORY;
    server->lane_count = count;
    server->little = NET_LANES_LITTLE;
    for (uint32_t i = 0; i < count; i++) {
        net_server_lane* lane = &server->lanes[i];
        lane->server = server;
        lane->number = i;
        lane->capacity = server->session_count;
        lane->places = base_allocate(server->allocator, lane->capacity * sizeof *lane->places);
        lane->has_codec =
            proto_codec_init(&lane->codec, server->allocator, PROTO_UNPACK_CLIENT_BYTES_MAX);
        if (!lane->places || !lane->has_codec ||
            net_match_reader_init(server->config.match, server->allocator, &lane->reader) !=
                NET_OK ||
            !proto_codec_reserve(&lane->codec) || !proto_codec_reserve(&lane->reader.codec))
            return NET_ERR_MEMORY;
        if (is_threaded && i > 0)
            lane->worker = net_worker_create(server->allocator, run_worker, lane);
    }
    return NET_OK;
}

void net_server_close_lanes(net_server* server) {
    for (uint32_t i = 0; i < server->lane_count; i++) {
        net_server_lane* lane = &server->lanes[i];
        net_worker_destroy(lane->worker);
        base_release(server->allocator, lane->places, lane->capacity * sizeof *lane->places);
        base_release(server->allocator, lane->queue, lane->queue_capacity);
        BASE_ARRAY_RELEASE(server->allocator, lane->deferred, lane->deferred_capacity);
        net_match_reader_deinit(&lane->reader);
        if (lane->has_codec) proto_codec_deinit(&lane->codec);
    }
    base_release(server->allocator, server->lanes, server->lane_count * sizeof *server->lanes);
    server->lanes = NULL;
    server->lane_count = 0;
}

void net_server_run_lanes(net_server* server, net_server_lane_fn work, bool is_little) {
    for (uint32_t i = 1; i < server->lane_count && !is_little; i++) {
        net_server_lane* lane = &server->lanes[i];
        lane->work = work;
        if (lane->worker) net_worker_start(lane->worker);
    }
    for (uint32_t i = 0; i < server->lane_count; i++)
        if (is_little || !server->lanes[i].worker) work(&server->lanes[i]);
    for (uint32_t i = 1; i < server->lane_count && !is_little; i++)
        if (server->lanes[i].worker) net_worker_wait(server->lanes[i].worker);
}

void net_server_count_lanes(net_server* server) {
    for (uint32_t i = 0; i < server->lane_count; i++) {
        net_server_lane* lane = &server->lanes[i];
        server->counters.state_packets += lane->state_packets;
        server->counters.state_bytes += lane->state_bytes;
        server->counters.resyncs += lane->resyncs;
        lane->state_packets = lane->state_bytes = lane->resyncs = 0;
        if (lane->differing_client)
            net_server_report_difference(server, lane->differing_client, lane->differing_entity);
        lane->differing_client = 0;
        net_server_drop(server, NET_DROP_SEND, lane->sends_refused);
        lane->sends_refused = 0;
        for (uint32_t k = 0; k < NET_DROP_COUNT; k++) {
            net_server_drop(server, (net_drop)k, lane->dropped[k]);
            lane->dropped[k] = 0;
        }
    }
}
