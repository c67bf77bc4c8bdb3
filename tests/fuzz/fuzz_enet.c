// SPDX-License-Identifier: MIT
// A whole server behind ENet, driven by scripts of datagrams: an honest client plays, and an
// intruder with a connection of its own sends what it likes, below ENet and above.
//
// An input is a list of records {u8 operation, u8 size, bytes[size]}. Operation % 10:
//   0  bytes as a datagram from an address that nothing is known of
//   1  bytes as a datagram of the intruder, with its peer and session numbers
//   2  ENet commands of the intruder, four bytes each: kind, channel, distance of the sequence
//      number from the one that the server expects, length of the payload
//   3  the first byte is the number of ticks that pass
//   4  bytes on the control channel, 5: on the realtime channel
//   6  a good hello, 7: an input packet with the bytes as input
//   8  an event with the bytes, 9: the intruder hangs up and calls again
// One record in four is followed by a tick.
//
// Invariants for any input: nothing aborts, the service never fails, the honest client has
// everything at the end and gets its goodbye, every place is free then, and what the server
// allocated is bounded.
#include "fuzz.h"

#include "raw_client.h"
#include "swarm.h"

#include "base/quota.h"
#include "net/client.h"
#include "net/match.h"
#include "net/server.h"
#include "net/transport.h"
#include "transport/socket_state.h"
#include "transport/enet_peers.h"

#include <arpa/inet.h>
#include <enet/enet.h>

enum {
    PORT = 7777,
    PEERS = 4,
    TICK_US = 16667,
    END_US = 200000, // long: what waits for its time at the end waits for few ticks
    RECORDS_MAX = 64,
    TICKS_MAX = 20,
    INDEX_MAX = 256,
    END_TICKS_MAX = 300,
    DATAGRAM_BYTES_MAX = 1232,
};
#define ADDRESS "127.0.0.1:7777"
#define SERVER_BYTES_MAX ((size_t)64 << 20)

typedef struct stage {
    net_module* module;
    base_quota memory; // of the server and its match
    net_match *server_match, *client_match;
    net_transport *server_transport, *client_transport, *intruder_transport;
    net_server* server;
    net_client* client;
    raw_client intruder;
    uint64_t now_us;
    uint32_t ticks;
} stage;

// ---- the seam: how bytes of the intruder reach the server's ENet ----
// Today they are inner datagrams on the wire. With a layer of encryption below, they go through
// the intruder's own keys here.

static const ENetPeer* intruder_peer(const stage* at) {
    const ENetHost* there = net_transport_enet_host(at->server_transport);
    const ENetHost* here = net_transport_enet_host(at->intruder_transport);
    const ENetPeer* own = &here->peers[0];
    for (size_t i = 0; i < there->peerCount; i++)
        if (there->peers[i].connectID == own->connectID &&
            there->peers[i].state != ENET_PEER_STATE_DISCONNECTED)
            return &there->peers[i];
    return NULL;
}

static void deliver(const ENetPeer* from, const uint8_t* bytes, size_t size) {
    (void)net_socket_virtual_inject(from->address.host, from->address.port, PORT, bytes, size);
}

// ---- the stage ----

static void tick_after(stage* at, uint32_t us) {
    at->now_us += us;
    net_socket_virtual_advance(at->now_us);
    net_server_service(at->server, at->now_us);
    net_server_tick(at->server, at->now_us);
    net_client_service(at->client, at->now_us);
    net_client_tick(at->client, at->now_us);
    raw_client_service(&at->intruder, at->now_us);
}

static void tick(stage* at) {
    at->ticks++;
    tick_after(at, TICK_US);
}

static void call_again(stage* at) {
    raw_client* from = &at->intruder;
    if (from->peer) from->transport->ops->disconnect(from->transport, from->peer, 0, true);
    from->peer = 0;
    from->is_connected = from->is_gone = false;
    (void)from->transport->ops->connect(from->transport, ADDRESS, &from->peer);
    for (uint32_t i = 0; i < 8 && !from->is_connected; i++)
        tick(at);
}

static void open_server(stage* at) {
    net_match_config match = net_match_config_default(at->module);
    match.replicated_index_max = INDEX_MAX;
    match.allocator = &at->memory.allocator;
    match.role = NET_ROLE_SERVER;
    match.seed = 1;
    match.settings[0] = 1e9;
    FUZZ_CHECK(net_match_create(&match, NULL, &at->server_match) == NET_OK);
    net_enet_config enet = {.listen = ADDRESS, .peers_max = PEERS};
    FUZZ_CHECK(net_transport_enet_create(&enet, &at->server_transport) == NET_OK);
    const net_server_config server = {.allocator = &at->memory.allocator,
                                      .match = at->server_match,
                                      .transport = at->server_transport,
                                      .clients_max = PEERS};
    FUZZ_CHECK(net_server_create(&server, &at->server) == NET_OK);
}

static void open_client(stage* at) {
    net_match_config match = net_match_config_default(at->module);
    match.replicated_index_max = INDEX_MAX;
    match.role = NET_ROLE_MIRROR;
    FUZZ_CHECK(net_match_create(&match, NULL, &at->client_match) == NET_OK);
    net_enet_config enet = {.peers_max = 1};
    FUZZ_CHECK(net_transport_enet_create(&enet, &at->client_transport) == NET_OK);
    const net_client_config client = {.match = at->client_match,
                                      .transport = at->client_transport,
                                      .address = ADDRESS,
                                      .name = "beside",
                                      .is_bot = true,
                                      .seed = 1};
    FUZZ_CHECK(net_client_create(&client, &at->client) == NET_OK);
    FUZZ_CHECK(net_transport_enet_create(&enet, &at->intruder_transport) == NET_OK);
    raw_client_open(&at->intruder, at->intruder_transport);
}

static void begin(stage* at) {
    *at = (stage){.now_us = 1000000};
    base_quota_init(&at->memory, NULL, SERVER_BYTES_MAX);
    net_socket_virtual_set(true, 1);
    net_socket_virtual_advance(at->now_us);
    FUZZ_CHECK(net_module_wrap(swarm_module_get(), swarm_templates(), "swarm.blk", NULL,
                               &at->module) == NET_OK);
    open_server(at);
    open_client(at);
    (void)at->intruder_transport->ops->connect(at->intruder_transport, ADDRESS, &at->intruder.peer);
    for (int i = 0; i < 12 && net_client_get_phase(at->client) != NET_CLIENT_PLAYING; i++)
        tick(at);
    FUZZ_CHECK(at->intruder.is_connected);
    FUZZ_CHECK(net_client_get_phase(at->client) == NET_CLIENT_PLAYING);
}

static void end(stage* at) {
    net_client_destroy(at->client);
    raw_client_close(&at->intruder);
    net_server_destroy(at->server);
    net_match_destroy(at->server_match);
    net_match_destroy(at->client_match);
    at->client_transport->ops->destroy(at->client_transport);
    at->intruder_transport->ops->destroy(at->intruder_transport);
    at->server_transport->ops->destroy(at->server_transport);
    net_module_close(at->module);
    FUZZ_CHECK(at->memory.used_bytes == 0);
    net_socket_virtual_set(false, 0);
}

// ---- records ----

static void put_u16(uint8_t* to, uint32_t value) {
    to[0] = (uint8_t)(value >> 8);
    to[1] = (uint8_t)value;
}

// Header of a datagram of this peer. @return its bytes.
static size_t put_header(uint8_t* to, const ENetPeer* peer, uint32_t flags) {
    put_u16(to, (uint32_t)peer->incomingSessionID << ENET_PROTOCOL_HEADER_SESSION_SHIFT |
                    (flags & ENET_PROTOCOL_HEADER_FLAG_MASK) | peer->incomingPeerID);
    if (!(flags & ENET_PROTOCOL_HEADER_FLAG_SENT_TIME)) return 2;
    put_u16(to + 2, flags);
    return 4;
}

// Append one command. @return its bytes.
static size_t put_command(uint8_t* to, const ENetPeer* peer, const uint8_t* four) {
    const uint32_t kind = four[0] % ENET_PROTOCOL_COMMAND_COUNT;
    const uint32_t channel = four[1] % 4 == 3 ? 0xFF : four[1] % 4;
    const bool is_known = channel < peer->channelCount;
    const uint32_t expected = is_known ? peer->channels[channel].incomingReliableSequenceNumber + 1u
                                       : peer->outgoingReliableSequenceNumber;
    const size_t size = enet_protocol_command_size((enet_uint8)kind);
    memset(to, four[3], size);
    to[0] = (uint8_t)(kind | (four[0] & 0xC0));
    to[1] = (uint8_t)channel;
    put_u16(to + 2, expected + four[2] - 128u);
    size_t payload = 0;
    switch (kind) {
    case ENET_PROTOCOL_COMMAND_SEND_RELIABLE:
        payload = four[3];
        put_u16(to + 4, (uint32_t)payload);
        break;
    case ENET_PROTOCOL_COMMAND_SEND_UNRELIABLE:
    case ENET_PROTOCOL_COMMAND_SEND_UNSEQUENCED:
        payload = four[3];
        put_u16(to + 4, four[2]);
        put_u16(to + 6, (uint32_t)payload);
        break;
    case ENET_PROTOCOL_COMMAND_SEND_FRAGMENT:
    case ENET_PROTOCOL_COMMAND_SEND_UNRELIABLE_FRAGMENT:
        payload = four[3] / 4u;
        put_u16(to + 4, expected); // start
        put_u16(to + 6, (uint32_t)payload);
        memset(to + 8, 0, 16);
        to[11] = (uint8_t)(1 + four[3] % 16); // of so many fragments
        to[15] = (uint8_t)(four[2] % 16);     // this one
        put_u16(to + 18, (1u + four[3] % 16u) * (uint32_t)payload);
        put_u16(to + 22, (four[2] % 16u) * (uint32_t)payload);
        break;
    default:
        break;
    }
    memset(to + size, four[1], payload);
    return size + payload;
}

static void send_commands(const stage* at, const uint8_t* bytes, size_t size) {
    uint8_t datagram[DATAGRAM_BYTES_MAX];
    const ENetPeer* peer = intruder_peer(at);
    if (!peer || size < 1) return;
    size_t used = put_header(datagram, peer, (uint32_t)bytes[0] << 8);
    for (size_t i = 1; i + 4 <= size && used + 300 < sizeof datagram; i += 4)
        used += put_command(datagram + used, peer, bytes + i);
    deliver(peer, datagram, used);
}

static void send_as_intruder(const stage* at, const uint8_t* bytes, size_t size) {
    uint8_t datagram[256];
    const ENetPeer* peer = intruder_peer(at);
    if (!peer || size < 2) return;
    memcpy(datagram, bytes, size);
    (void)put_header(datagram, peer, (uint32_t)(bytes[0] & 0x40) << 8);
    deliver(peer, datagram, size);
}

static void send_packet(stage* at, const uint8_t* bytes, size_t size, bool is_event) {
    raw_client* from = &at->intruder;
    net_input_packet packet = raw_client_packet(from);
    if (!is_event)
        raw_client_inputs(from, packet, packet.seq, size ? 1 + bytes[0] % 8u : 1, bytes, size);
    else if (size >= 2)
        raw_client_event(from, packet, bytes[0], bytes[1], bytes + 2, size - 2);
}

static void run_record(stage* at, uint8_t operation, const uint8_t* bytes, size_t size,
                       uint32_t number) {
    switch (operation % 10) {
    case 0:
        (void)net_socket_virtual_inject(htonl(0x0A000001), (uint16_t)(1000 + number % 3), PORT,
                                        bytes, size);
        break;
    case 1:
        send_as_intruder(at, bytes, size);
        break;
    case 2:
        send_commands(at, bytes, size);
        break;
    case 3:
        for (uint32_t i = 0; size > 0 && i < bytes[0] && at->ticks < TICKS_MAX; i++)
            tick(at);
        break;
    case 4:
    case 5:
        (void)raw_client_send_bytes(
            &at->intruder, operation % 10 == 4 ? NET_CHANNEL_CONTROL : NET_CHANNEL_REALTIME, bytes,
            size);
        break;
    case 6:
        raw_client_hello(&at->intruder, NET_PROTOCOL_VERSION,
                         net_schema_hash(net_match_schema(at->server_match)), "swarm", "intruder");
        break;
    case 7:
        send_packet(at, bytes, size, false);
        break;
    case 8:
        send_packet(at, bytes, size, true);
        break;
    default:
        call_again(at);
        break;
    }
}

static void check_end(stage* at) {
    net_server_stop(at->server, at->now_us);
    uint32_t left = END_TICKS_MAX;
    while (left > 0 && (net_server_get_phase(at->server) != NET_SERVER_ENDED ||
                        net_client_get_phase(at->client) != NET_CLIENT_ENDED)) {
        tick_after(at, END_US);
        left--;
    }
    FUZZ_CHECK(left > 0);
    net_client_report report = net_client_get_report(at->client);
    FUZZ_CHECK(report.end == NET_CLIENT_END_GOODBYE);
    FUZZ_CHECK(report.packets_malformed == 0 && report.bad_transitions == 0);
    FUZZ_CHECK(net_server_get_counters(at->server)->clients == 0);
    for (uint32_t i = 0; i < net_server_report_count(at->server); i++) {
        const net_peer_report* peer = net_server_report(at->server, i);
        FUZZ_CHECK(peer->end != NET_END_NONE);
        if (peer->client != report.client || peer->tick != report.tick) continue;
        FUZZ_CHECK(peer->scope.hash == report.scope.hash);
    }
    net_transport_stats stats;
    at->server_transport->ops->stats(at->server_transport, &stats);
    FUZZ_CHECK(stats.service_errors == 0);
    FUZZ_CHECK(at->memory.refused == 0);
}

int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
    stage at;
    begin(&at);
    uint32_t number = 0;
    for (size_t offset = 0; size - offset >= 2 && number < RECORDS_MAX && at.ticks < TICKS_MAX;
         number++) {
        size_t length = data[offset + 1];
        if (length > size - offset - 2) length = size - offset - 2;
        run_record(&at, data[offset], data + offset + 2, length, number);
        if (number % 4 == 3) tick(&at);
        offset += 2 + length;
    }
    tick(&at);
    check_end(&at);
    end(&at);
    return 0;
}
