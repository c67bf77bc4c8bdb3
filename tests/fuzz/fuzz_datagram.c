// SPDX-License-Identifier: MIT
// Raw datagrams into a live ENet host over the virtual wire, from unknown addresses and from the
// address of a connected client, between the ticks of an ordinary session.
//
// An input is a list of records {u8 operation, u8 size, bytes[size]}:
//   0  a datagram from an unknown address (the port depends on the position)
//   1  a datagram of the connected client, sealed by it, with its peer and session numbers
//   2  the same with unchanged bytes
//   3  the first byte is the number of ticks that pass
//   4  the client sends the bytes on channel 0, 5: on channel 1
//   6  the server sends a goodbye to all clients
//   7  ENet commands of the connected client, sealed by it, four bytes each: kind, channel,
//      distance of the sequence number from the one that the server expects, length of the payload
//
// Invariants for any input: the host never fails, no event names a missing peer, messages keep
// their limits, and after a quiet time every slot is free or connected and has nothing in its
// accounts.
#include "fuzz.h"

#include "net/transport.h"
#include "virtual_wire.h"
#include "transport/enet_peers.h"

#include <arpa/inet.h>
#include <enet/enet.h>

enum { PORT = 7777, PEERS = 4, TICK_US = 16667, RECORDS_MAX = 200, QUIET_TICKS = 400 };

typedef struct session {
    net_transport *server, *client;
    net_peer client_peer;
    net_peer known[PEERS]; // by slot: the peers that the user of the server knows
    uint64_t now_us;
} session;

static uint32_t slot_of(net_peer peer) {
    return peer & 0xFFF;
}

static void take_server_event(session* at, const net_transport_event* event) {
    uint32_t slot = slot_of(event->peer);
    FUZZ_CHECK(event->peer != 0 && slot < PEERS);
    if (event->kind == NET_TRANSPORT_CONNECTED) {
        FUZZ_CHECK(at->known[slot] == 0);
        at->known[slot] = event->peer;
        return;
    }
    FUZZ_CHECK(at->known[slot] == event->peer);
    if (event->kind == NET_TRANSPORT_DISCONNECTED) {
        at->known[slot] = 0;
        return;
    }
    size_t size_max =
        event->channel == NET_CHANNEL_CONTROL ? NET_CONTROL_BYTES_MAX : NET_STATE_BYTES_MAX;
    FUZZ_CHECK(event->channel <= NET_CHANNEL_REALTIME);
    FUZZ_CHECK(event->size > 0 && event->size <= size_max);
    (void)at->server->ops->send(at->server, event->peer, event->channel, event->bytes, event->size);
}

static void tick(session* at) {
    net_transport_event event;
    at->now_us += TICK_US;
    wire_advance(at->now_us);
    at->server->ops->service(at->server, at->now_us);
    while (at->server->ops->next(at->server, &event)) {
        take_server_event(at, &event);
        // An echo may have freed the event's bytes. They are not used any more.
    }
    at->client->ops->service(at->client, at->now_us);
    while (at->client->ops->next(at->client, &event))
        FUZZ_CHECK(event.peer == at->client_peer);
}

static void begin(session* at) {
    net_enet_config config = {.listen = "127.0.0.1:7777", .peers_max = PEERS};
    *at = (session){.now_us = 1000000};
    wire_set(true, 1);
    wire_advance(at->now_us);
    FUZZ_CHECK(net_transport_enet_create(&config, &at->server) == NET_OK);
    config = (net_enet_config){.peers_max = 1};
    FUZZ_CHECK(net_transport_enet_create(&config, &at->client) == NET_OK);
    FUZZ_CHECK(at->client->ops->connect(at->client, "127.0.0.1:7777", &at->client_peer) == NET_OK);
    for (int i = 0; i < 12; i++)
        tick(at);
    FUZZ_CHECK(at->known[0] != 0);
}

static void inject_sealed(const session* at, const uint8_t* bytes, size_t size) {
    uint8_t sealed[NET_DATAGRAM_BYTES_MAX];
    net_enet_secure* secure = &((net_enet_transport*)at->client)->secure;
    ENetAddress bound;
    net_address to;
    const ENetHost* client = net_transport_enet_host(at->client);
    FUZZ_CHECK(enet_socket_get_address(client->socket, &bound) == 0);
    size_t sealed_size = net_secure_client_send(&secure->client, at->now_us, NET_OUTER_DATA, bytes,
                                                size, sealed, &to);
    if (sealed_size == 0) return; // the session has ended
    (void)wire_inject(htonl(INADDR_LOOPBACK), bound.port, PORT, sealed, sealed_size);
}

static const ENetPeer* peer_of_client(const session* at) {
    return &((const ENetHost*)net_transport_enet_host(at->server))->peers[0];
}

static void inject_as_client(const session* at, const uint8_t* bytes, size_t size, bool is_raw) {
    uint8_t copy[256];
    memcpy(copy, bytes, size);
    if (!is_raw && size >= 2) { // the two flags stay; session and peer become those of the client
        copy[0] = (uint8_t)((copy[0] & 0xC0) | peer_of_client(at)->incomingSessionID << 4);
        copy[1] = 0;
    }
    inject_sealed(at, copy, size);
}

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

static void inject_commands(const session* at, const uint8_t* bytes, size_t size) {
    uint8_t datagram[NET_MTU_BYTES];
    const ENetPeer* peer = peer_of_client(at);
    if (size < 1) return;
    size_t used = put_header(datagram, peer, (uint32_t)bytes[0] << 8);
    for (size_t i = 1; i + 4 <= size && used + 300 < sizeof datagram; i += 4)
        used += put_command(datagram + used, peer, bytes + i);
    inject_sealed(at, datagram, used);
}

static void run_record(session* at, uint8_t operation, const uint8_t* bytes, size_t size,
                       uint32_t number) {
    switch (operation % 8) {
    case 0:
        (void)wire_inject(htonl(0x0A000001), (uint16_t)(1000 + number % 3), PORT, bytes, size);
        break;
    case 1:
    case 2:
        inject_as_client(at, bytes, size, operation % 8 == 2);
        break;
    case 3:
        for (uint32_t i = 0; size > 0 && i < bytes[0] % 32u; i++)
            tick(at);
        break;
    case 4:
    case 5:
        (void)at->client->ops->send(at->client, at->client_peer,
                                    operation % 8 == 4 ? NET_CHANNEL_CONTROL : NET_CHANNEL_REALTIME,
                                    bytes, size);
        break;
    case 6:
        for (uint32_t i = 0; i < PEERS; i++)
            if (at->known[i]) at->server->ops->disconnect(at->server, at->known[i], number, false);
        break;
    default:
        inject_commands(at, bytes, size);
        break;
    }
}

static void check_quiet(session* at) {
    const ENetHost* host = net_transport_enet_host(at->server);
    for (int i = 0; i < QUIET_TICKS; i++)
        tick(at);
    for (uint32_t i = 0; i < PEERS; i++) {
        const ENetPeer* peer = &host->peers[i];
        bool is_connected = peer->state == ENET_PEER_STATE_CONNECTED;
        FUZZ_CHECK(is_connected || peer->state == ENET_PEER_STATE_DISCONNECTED);
        FUZZ_CHECK(is_connected == (at->known[i] != 0));
        FUZZ_CHECK(peer->totalWaitingData <= host->maximumWaitingData + NET_CONTROL_BYTES_MAX);
        FUZZ_CHECK(peer->mtu == NET_MTU_BYTES);
    }
    net_transport_stats stats;
    at->server->ops->stats(at->server, &stats);
    FUZZ_CHECK(stats.service_errors == 0);
}

int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
    session at;
    begin(&at);
    fuzz_record next;
    for (uint32_t number = 0; number < RECORDS_MAX && fuzz_next(&data, &size, &next); number++) {
        run_record(&at, next.operation, next.bytes, next.size, number);
        if (number % 4 == 3) tick(&at);
    }
    check_quiet(&at);
    at.client->ops->destroy(at.client);
    at.server->ops->destroy(at.server);
    wire_set(false, 0);
    return 0;
}
