// SPDX-License-Identifier: MIT
// Packets from the server. Each state packet is decoded and encoded again; the bytes must be equal.
#include "play.h"

#include <stdio.h>
#include <string.h>

static void receive_welcome(game_client* client, const Shoal__Wire__Welcome* welcome) {
    if (client->mirror || welcome->tick_rate_hz == 0 || welcome->replicated_index_max >= 1 << 22) {
        fault(client, "an impossible welcome");
        return;
    }
    client->id = welcome->client;
    client->tick_rate_hz = welcome->tick_rate_hz;
    schema_set_rate(client->schema, welcome->tick_rate_hz);
    client->mirror = mirror_create(client->schema, welcome->replicated_index_max);
    client->is_solo = welcome->is_solo;
    if (client->is_solo) mirror_use_solo(client->mirror);
}

static void receive_goodbye(game_client* client, const Shoal__Wire__Goodbye* goodbye) {
    client->has_goodbye = true;
    client->goodbye_tick = goodbye->tick;
    client->goodbye_reason = goodbye->reason;
    enet_peer_disconnect_later(client->peer, 0);
}

void receive_control(game_client* client, const ENetPacket* packet) {
    Shoal__Wire__ServerControl* message =
        shoal__wire__server_control__unpack(NULL, packet->dataLength, packet->data);
    if (!message) {
        fault(client, "a control message that cannot be read");
        return;
    }
    client->counts.controls++;
    switch (message->kind_case) {
    case SHOAL__WIRE__SERVER_CONTROL__KIND_WELCOME:
        receive_welcome(client, message->welcome);
        break;
    case SHOAL__WIRE__SERVER_CONTROL__KIND_SCHEMA_QUESTION:
        answer_schema_question(client);
        break;
    case SHOAL__WIRE__SERVER_CONTROL__KIND_REFUSED:
        fprintf(stderr, "refused: %s\n",
                message->refused->text); // the server closes the connection then
        break;
    case SHOAL__WIRE__SERVER_CONTROL__KIND_GOODBYE:
        receive_goodbye(client, message->goodbye);
        break;
    case SHOAL__WIRE__SERVER_CONTROL__KIND_VARSIZE:
        take_value(client, message->varsize);
        break;
    default:
        break; // the roster, or a message of a later version
    }
    shoal__wire__server_control__free_unpacked(message, NULL);
}

static bool was_received(const game_client* client, uint16_t seq) {
    uint16_t behind = (uint16_t)(client->newest_seq - seq);
    if (!client->has_received || behind > 32767) return false;
    return behind == 0 || (behind <= 64 && (client->received_bits >> (behind - 1) & 1));
}

static void record_received(game_client* client, uint16_t seq) {
    uint16_t ahead = (uint16_t)(seq - client->newest_seq);
    uint16_t behind = (uint16_t)(client->newest_seq - seq);
    if (!client->has_received || (ahead > 0 && ahead <= 32767)) {
        uint64_t before = client->has_received ? UINT64_C(1) : 0;
        client->received_bits = (ahead < 64 ? client->received_bits << ahead : 0) |
                                (ahead > 0 && ahead <= 64 ? before << (ahead - 1) : 0);
        client->has_received = true;
        client->newest_seq = seq;
        client->newest_arrival_s = now_s();
    } else if (behind > 0 && behind <= 64) {
        client->received_bits |= UINT64_C(1) << (behind - 1);
    }
}

static void compare_probe(game_client* client, const cf_header* header) {
    probe_result result = mirror_compare_probe(client->mirror, header);
    uint32_t handle = header->has_probe ? mirror_handle(client->mirror, header->probe_slot) : 0;
    bool is_corrupted = header->has_probe && client->corrupted_slot == header->probe_slot + 1;
    client->counts.probes += result == PROBE_EQUAL;
    if (result != PROBE_DIFFERS) return;
    client->counts.differing++;
    if (is_corrupted)
        client->is_found = true;
    else
        fault(client, "a probe differs that should be equal");
    if (client->resync_count < RESYNCS_MAX) client->resyncs[client->resync_count++] = handle;
}

static void use_header(game_client* client, const cf_header* header) {
    if (header->has_ack) {
        client->has_acked = true;
        client->acked_seq = header->ack;
    }
    if (header->has_input && header->input_used + header->input_depth >= client->input_ack) {
        client->input_ack = header->input_used + header->input_depth;
        client->input_depth = header->input_depth;
    }
    if (header->has_event_ack && header->event_ack >= 1) client->is_event_acked = true;
}

// Encode the packet again from what was read: the state by the page, the message around it by
// Protocol Buffers.
static void compare_again(game_client* client, Shoal__Wire__StatePacket* packet, uint8_t* state,
                          const bit_stream* again, const ENetPacket* received) {
    uint8_t bytes[PACKET_BYTES_MAX];
    packet->state.data = state;
    packet->state.len = (again->at + 7) / 8;
    bool is_equal = !again->failed &&
                    shoal__wire__state_packet__get_packed_size(packet) == received->dataLength &&
                    shoal__wire__state_packet__pack(packet, bytes) == received->dataLength &&
                    memcmp(bytes, received->data, received->dataLength) == 0;
    client->counts.encoded += is_equal;
    client->counts.unequal += !is_equal;
    if (!is_equal) fault(client, "a packet that encodes to other bytes");
}

static void receive_body(game_client* client, Shoal__Wire__StatePacket* packet,
                         const ENetPacket* received) {
    bit_stream bits = bits_over(packet->state.data, packet->state.len);
    uint8_t state[PACKET_BYTES_MAX] = {0};
    bit_stream again = bits_over(state, sizeof state);
    cf_known known = {
        .input = client->input_number, .event = 1, .seq = client->newest_seq, .sent = client->seq};
    cf_header header;
    known.has_tick = mirror_tick(client->mirror, &known.tick);
    if (!header_read(&bits, &known, &header)) {
        fault(client, "a header that cannot be read");
        return;
    }
    if (was_received(client, header.seq)) {
        client->counts.doubled++;
        return;
    }
    header_write(&again, &header);
    body_result result = mirror_apply(client->mirror, header.seq, header.tick,
                                      header.has_body ? &bits : NULL, &again);
    if (result == BODY_WITHOUT_BASE) client->counts.without_base++;
    if (result == BODY_MALFORMED) fault(client, "a body that cannot be read");
    if (result != BODY_DECODED) return;
    client->counts.decoded++;
    release_values(client);
    if (client->corrupted_slot && mirror_is_equal(client->mirror, client->corrupted_slot - 1)) {
        client->counts.resynced += client->is_found; // otherwise a change replaced it
        client->is_found = false;
        client->corrupted_slot = 0;
    }
    compare_probe(client, &header);
    record_received(client, header.seq);
    use_header(client, &header);
    for (size_t i = 0; i < packet->n_events; i++)
        receive_event(client, packet->events[i]);
    uint8_t* data = packet->state.data;
    if (!client->is_solo) compare_again(client, packet, state, &again, received);
    packet->state.data = data; // Protocol Buffers frees it
}

void receive_state(game_client* client, const ENetPacket* received) {
    if (!client->mirror) return;
    Shoal__Wire__StatePacket* packet = NULL;
    client->counts.packets++;
    client->counts.bytes += received->dataLength;
    if (received->dataLength <= PACKET_BYTES_MAX)
        packet = shoal__wire__state_packet__unpack(NULL, received->dataLength, received->data);
    if (!packet) {
        fault(client, "a state packet that cannot be read");
        return;
    }
    receive_body(client, packet, received);
    shoal__wire__state_packet__free_unpacked(packet, NULL);
}
