// SPDX-License-Identifier: MIT
// What comes to a client: the connection's own events, the control channel, state packets and their events.
//
// All of it is a stranger's until it is decoded and checked, the server's word as well: what cannot be is
// counted and dropped, and nothing of it acknowledged. What a body does to the world stands in mirror.c.
//
// A packet is taken in this order: its acknowledgement (good even if the body is not), the body, the checksum,
// what the presenter and the clock learn of it, events. Only then is it marked as received.
//
// Packets do not come with every tick: a server says nothing new NET_HEARTBEAT_HZ times a second, and may send
// at every so manieth tick only. What was left out is told from what was lost by the sequence numbers.
#include "client/client_internal.h"

#include "base/text.h"
#include "session/control.h"
#include "session/packet_header.h"

#include <string.h>

void net_client_malformed(net_client* client) {
    client->dropped[NET_DROP_MALFORMED]++;
}

// Both sides hang up after a last word, so that one lost acknowledgement does not leave the other waiting.
static void hang_up(net_client* client, net_client_end end) {
    net_transport* transport = client->config.transport;
    transport->ops->disconnect(transport, client->peer, NET_END_GOODBYE, false);
    net_client_begin_closing(client, end);
}

static void trace_update(void* context, ecs_entity entity, ecs_tick tick, uint64_t row_hash) {
    net_client* client = context;
    if (client->config.trace) {
        client->config.trace(client->config.trace_context, client->client, entity, tick, row_hash);
    }
}

static void take_roster(net_client* client, const Shoal__Wire__Roster* roster) {
    net_result result = net_roster_take(&client->roster, roster);
    if (result == NET_ERR_MALFORMED) net_client_malformed(client);
    if (result == NET_ERR_MEMORY) net_client_finish(client, NET_CLIENT_END_LOST);
}

// Settings are taken only as a whole, and only those that a server with our table could have.
static bool are_settings_right(const net_client* client, const Shoal__Wire__Welcome* welcome) {
    const net_game_module* game = net_match_get_config(client->config.match)->module->game;
    if (welcome->n_settings > game->setting_count) return false;
    for (size_t i = 0; i < welcome->n_settings; i++) {
        // Written so that NaN is refused.
        if (!(welcome->settings[i] >= game->settings[i].min &&
              welcome->settings[i] <= game->settings[i].max))
            return false;
    }
    return true;
}

static void take_welcome_back(net_client* client, const Shoal__Wire__Welcome* welcome) {
    if (!welcome->is_resumed || welcome->client != client->client) {
        net_client_malformed(client);
        return;
    }
    client->resumes++;
    base_report(client->config.reporter, NULL, 0, "note: back after %.1f s as client %u",
                net_client_quiet_s(client), client->client);
    net_roster_clear(&client->roster);
    client->heard_us = client->back_us = client->now_us;
    client->input_floor = client->input_number;
    net_pace_restart(&client->pace);
    net_meter_restart(&client->meter);
    client->phase = NET_CLIENT_PLAYING;
}

static void take_welcome(net_client* client, const Shoal__Wire__Welcome* welcome) {
    if (client->phase == NET_CLIENT_RESUMING) {
        take_welcome_back(client, welcome);
        return;
    }
    if (client->phase != NET_CLIENT_GREETING || !client->config.match || welcome->client == 0 ||
        welcome->tick_rate_hz < NET_TICK_RATE_HZ_MIN ||
        welcome->tick_rate_hz > NET_TICK_RATE_HZ_MAX || welcome->is_resumed ||
        (welcome->resume.len != 0 && welcome->resume.len != NET_RESUME_BYTES) ||
        !are_settings_right(client, welcome)) {
        net_client_malformed(client);
        return;
    }
    net_match_mirror_start(client->config.match, welcome->tick_rate_hz, welcome->settings,
                           (uint32_t)welcome->n_settings);
    net_rows_set_tick_rate(client->rows, welcome->tick_rate_hz);
    uint32_t index_max = ecs_limits_default().replicated_index_max;
    if (welcome->replicated_index_max && welcome->replicated_index_max < index_max) {
        index_max = welcome->replicated_index_max;
    }
    net_mirror_config config = {
        .allocator = client->allocator,
        .world = net_match_world(client->config.match),
        .rows = client->rows,
        .index_max = index_max,
        .trace = trace_update,
        .trace_context = client,
    };
    if (client->config.presenter) {
        net_presenter_begin(client->config.presenter, client->config.match);
        config.sink = net_presenter_sink(client->config.presenter);
    }
    if (net_mirror_create(&config, &client->mirror) != NET_OK ||
        net_client_open_varsize(client, index_max) != NET_OK) {
        net_client_finish(client, NET_CLIENT_END_LOST);
        return;
    }
    client->client = welcome->client;
    client->has_resume = welcome->resume.len > 0;
    if (client->has_resume) memcpy(client->resume, welcome->resume.data, NET_RESUME_BYTES);
    net_pace_init(&client->pace, welcome->tick_rate_hz);
    // From 1: an input packet with seq 0 and nothing in it would have no bytes at all (send_inputs).
    net_ack_sender_init(&client->sent, 1, client->now_us);
    client->phase = NET_CLIENT_PLAYING;
}

static void take_control(net_client* client, const uint8_t* bytes, size_t size) {
    const Shoal__Wire__ServerControl* control =
        (const Shoal__Wire__ServerControl*)proto_codec_decode(
            &client->codec, &shoal__wire__server_control__descriptor, bytes, size,
            NET_CONTROL_BYTES_MAX);
    if (!control) {
        net_client_malformed(client);
        return;
    }
    switch (control->kind_case) {
    case SHOAL__WIRE__SERVER_CONTROL__KIND_WELCOME:
        take_welcome(client, control->welcome);
        break;
    case SHOAL__WIRE__SERVER_CONTROL__KIND_REFUSED:
        client->refusal = (uint32_t)control->refused->reason;
        base_text_copy(client->refusal_text, sizeof client->refusal_text, control->refused->text);
        base_text_copy(client->refusal_game, sizeof client->refusal_game, control->refused->game);
        if (client->phase == NET_CLIENT_RESUMING)
            base_report(client->config.reporter, NULL, 0, "connection lost: %s",
                        client->refusal_text);
        net_client_begin_closing(client, client->phase == NET_CLIENT_RESUMING
                                             ? NET_CLIENT_END_LOST
                                             : NET_CLIENT_END_REFUSED);
        break;
    case SHOAL__WIRE__SERVER_CONTROL__KIND_ROSTER:
        if (client->phase == NET_CLIENT_PLAYING)
            take_roster(client, control->roster);
        else
            net_client_malformed(client);
        break;
    case SHOAL__WIRE__SERVER_CONTROL__KIND_VARSIZE:
        if (client->phase == NET_CLIENT_PLAYING)
            net_client_take_varsize(client, control->varsize);
        else
            net_client_malformed(client);
        break;
    case SHOAL__WIRE__SERVER_CONTROL__KIND_SCHEMA_QUESTION:
        if (client->config.match) {
            (void)net_control_send_answer(client->config.transport, client->peer,
                                          net_match_schema(client->config.match));
        }
        break;
    case SHOAL__WIRE__SERVER_CONTROL__KIND_GOODBYE:
        if (client->phase == NET_CLIENT_RESUMING) {
            hang_up(client, NET_CLIENT_END_LOST);
            break;
        }
        if (client->phase != NET_CLIENT_PLAYING) {
            client->refusal = SHOAL__WIRE__REFUSED_REASON__REFUSED_ENDED;
            base_text_copy(client->refusal_text, sizeof client->refusal_text,
                           "the match ended before it began for us");
            hang_up(client, NET_CLIENT_END_REFUSED);
            break;
        }
        // Dropped for silence or a fault is a lost connection, whatever the word.
        hang_up(client, control->goodbye->reason == NET_END_GOODBYE ||
                                control->goodbye->reason == NET_END_LEFT
                            ? NET_CLIENT_END_GOODBYE
                            : NET_CLIENT_END_LOST);
        break;
    default:
        net_client_malformed(client);
        break;
    }
}

// Message 0 is ours, the others are the module's.
static void deliver_event(net_client* client, const net_event_outbox_entry* event) {
    if (event->message == 0) {
        const Shoal__Wire__PlayerAssigned* assigned =
            (const Shoal__Wire__PlayerAssigned*)proto_codec_decode(
                &client->codec, &shoal__wire__player_assigned__descriptor, event->payload,
                event->size, NET_EVENT_PAYLOAD_BYTES_MAX);
        if (assigned) {
            client->player = assigned->entity;
            client->is_player_told = true;
            if (client->config.presenter)
                net_presenter_player(client->config.presenter, client->player);
        } else {
            net_client_malformed(client);
        }
        return;
    }
    if (net_match_server_event(client->config.match, event->message, event->target, event->payload,
                               event->size) != NET_OK) {
        net_client_malformed(client);
    }
}

void net_client_deliver_events(net_client* client) {
    const ecs_world* world = net_match_world(client->config.match);
    const net_event_outbox_entry* event;
    while ((event = net_event_inbox_next(&client->inbox, world)) != NULL) {
        net_event_outbox_entry copy = *event;
        deliver_event(client, &copy);
    }
}

// The presenter has its own times for events; own messages (0) are none.
static void take_game_event(net_client* client, const Shoal__Wire__GameEvent* event) {
    uint32_t count = client->inbox.count;
    net_event_needs needs = {0};
    bool is_new = event->number == 0 || event->number == client->inbox.newest + 1;
    if (is_new && event->message != 0)
        net_event_needs_of(client->config.match, event->message, event->payload.data,
                           event->payload.len, &needs);
    if (net_event_inbox_push_needs(&client->inbox, event, &needs) != NET_OK) {
        net_client_malformed(client);
        return;
    }
    if (!client->config.presenter || client->inbox.count == count || event->message == 0) return;
    net_presenter_event(client->config.presenter, &client->inbox.entries[count].event);
}

// Ticks between the newest packet before and this one that had no packet, as far as numbers tell.
static uint32_t ticks_left_out(net_client* client, const net_packet_header* header) {
    if (!client->has_tick_newest || header->tick > client->tick_newest) {
        uint16_t numbers = (uint16_t)(header->seq - client->tick_seq);
        ecs_tick ticks = header->tick - client->tick_newest;
        bool has_gap = client->has_tick_newest && ticks > numbers && ticks < UINT32_MAX;
        client->has_tick_newest = true;
        client->tick_newest = header->tick;
        client->tick_seq = header->seq;
        return has_gap ? (uint32_t)(ticks - numbers) : 0;
    }
    // Several of one tick: the next tick is counted from the last of them.
    if (header->tick == client->tick_newest &&
        (uint16_t)(header->seq - client->tick_seq) <= NET_ACK_JUMP_MAX)
        client->tick_seq = header->seq;
    return 0;
}

static void show_packet(net_client* client, const net_packet_header* header) {
    uint32_t left_out = ticks_left_out(client, header);
    if (!client->config.presenter) return;
    ecs_tick row_tick;
    bool has_player_row = net_mirror_entity_tick(client->mirror, client->player, &row_tick) &&
                          row_tick + header->player_age >= header->tick;
    net_presenter_packet(client->config.presenter, client->now_us, header->tick, left_out,
                         header->input_used, header->input_repeats, has_player_row);
}

// A world that is not what the server says: ask for the row, as long as no newer one came.
static void resync(net_client* client, ecs_entity entity) {
    net_client_resync* place = NULL;
    for (uint32_t i = 0; i < NET_CLIENT_HEALS_MAX; i++) {
        net_client_resync* one = &client->resyncs[i];
        if (one->entity == entity) return;
        if (one->entity == ECS_ENTITY_NONE && !place) place = one;
    }
    if (!place) return; // samples go round: it comes again
    *place = (net_client_resync){.entity = entity};
    (void)net_mirror_entity_tick(client->mirror, entity, &place->tick);
}

static void check_sample(net_client* client, const net_packet_header* header) {
    if (!header->has_probe) return;
    ecs_entity entity = ECS_ENTITY_NONE;
    switch (net_mirror_check_probe(client->mirror, header->probe_slot,
                                   header->tick - header->probe_age, header->probe_hash, &entity)) {
    case NET_MIRROR_UNKNOWN:
        return;
    case NET_MIRROR_EQUAL:
        break;
    case NET_MIRROR_DIFFERS:
        client->samples_differing++;
        resync(client, entity);
        break;
    }
    client->samples++;
}

// @return false when the packet must not be acknowledged.
static bool take_state(net_client* client, const Shoal__Wire__StatePacket* packet,
                       const net_packet_header* header, proto_bit_reader* body) {
    if (header->has_ack) {
        // The acknowledgement is about our packets and good even if the body is not.
        net_result result = net_ack_sender_receive(&client->sent, client->now_us, header->ack, 0,
                                                   header->ack_delay_us, &client->acks);
        if (result != NET_OK && result != NET_ERR_STALE) {
            net_client_malformed(client);
            return false;
        }
    }
    switch (net_mirror_read(client->mirror, header->seq, header->tick,
                            header->has_body ? body : NULL, NULL)) {
    case NET_OK:
        break;
    case NET_ERR_STALE:
        client->dropped[NET_DROP_STALE]++;
        return false;
    case NET_ERR_MALFORMED:
        net_client_malformed(client);
        return false;
    default:
        net_client_finish(client, NET_CLIENT_END_LOST);
        return false;
    }
    if (net_varsize_receiver_tick(client->varsize) != NET_OK) {
        net_client_finish(client, NET_CLIENT_END_LOST);
        return false;
    }
    check_sample(client, header);
    show_packet(client, header);
    if (header->has_input && header->input_used > 0) {
        net_pace_report(&client->pace, client->now_us, header->tick, header->input_depth,
                        header->input_repeats, net_ack_sender_rtt_us(&client->sent),
                        net_ack_receiver_loss_percent(&client->received)); // as the other way
    }
    if (header->has_input && header->tick >= net_mirror_tick(client->mirror))
        client->input_depth = header->input_depth;
    if (header->has_event_ack && !net_event_outbox_acked(&client->outbox, header->event_ack))
        net_client_malformed(client);
    for (size_t i = 0; i < packet->n_events; i++)
        take_game_event(client, packet->events[i]);
    return true;
}

static void take_realtime(net_client* client, const uint8_t* bytes, size_t size) {
    if (client->phase != NET_CLIENT_PLAYING) {
        client->dropped[NET_DROP_UNTIMELY]++;
        return;
    }
    const Shoal__Wire__StatePacket* packet = (const Shoal__Wire__StatePacket*)proto_codec_decode(
        &client->codec, &shoal__wire__state_packet__descriptor, bytes, size, NET_STATE_BYTES_MAX);
    if (!packet) {
        net_client_malformed(client);
        return;
    }
    const net_packet_header_near near = {
        .tick = net_mirror_tick(client->mirror),
        .has_tick = client->received.has_any,
        .input = client->input_number,
        .event = client->outbox.number_next - 1,
    };
    proto_bit_reader reader = proto_bit_reader_make(packet->state.data, packet->state.len);
    net_packet_header header;
    if (net_packet_header_read(&reader, &near, &header) != NET_OK) {
        net_client_malformed(client);
        return;
    }
    if (net_ack_receiver_check(&client->received, header.seq) != NET_ACK_NEW) return;
    net_meter_state(&client->meter, client->now_us, packet, header.tick, reader.offset_bits,
                    (uint64_t)(net_match_dt(client->config.match) * 1e6f));
    if (!take_state(client, packet, &header, &reader)) return;
    net_ack_receiver_mark(&client->received, header.seq, client->now_us);
    net_client_deliver_events(client);
}

void net_client_take_event(net_client* client, const net_transport_event* event) {
    switch (event->kind) {
    case NET_TRANSPORT_CONNECTED: {
        bool is_resuming = client->phase == NET_CLIENT_RESUMING;
        if (client->phase != NET_CLIENT_CONNECTING && !is_resuming) break;
        char name[NET_PLAYER_NAME_BYTES_MAX];
        net_control_clean_name(name, client->config.name ? client->config.name : "");
        if (!is_resuming) client->phase = NET_CLIENT_GREETING;
        // Somebody answers: the greeting has its own time.
        client->started_us = client->retry_us = client->now_us;
        (void)net_control_send_hello(
            client->config.transport, client->peer,
            client->config.match ? net_schema_hash(net_match_schema(client->config.match)) : 0,
            client->config.match ? net_match_get_config(client->config.match)->module->game->name
                                 : "",
            name, client->config.is_bot, client->config.rate_bytes_max,
            is_resuming ? client->resume : NULL);
        break;
    }
    case NET_TRANSPORT_DISCONNECTED:
        client->has_peer = false;
        if (client->phase == NET_CLIENT_RESUMING && !client->is_closing) {
            client->retry_us = client->now_us + NET_CLIENT_RETRY_MS * 1000u;
            break;
        }
        // Without a reason nobody meant it.
        if (client->phase == NET_CLIENT_PLAYING && !client->is_closing && event->reason == 0 &&
            client->has_resume && client->received.has_any) {
            net_client_begin_resuming(client);
            break;
        }
        net_client_finish(client, client->phase == NET_CLIENT_PLAYING ? NET_CLIENT_END_LOST
                                                                      : NET_CLIENT_END_UNREACHABLE);
        break;
    case NET_TRANSPORT_RECEIVED:
        if (client->is_closing) {
            client->dropped[NET_DROP_UNTIMELY]++;
            break;
        }
        if (client->phase != NET_CLIENT_RESUMING) client->heard_us = client->now_us;
        if (event->channel == NET_CHANNEL_CONTROL) {
            client->meter.control_bytes += event->size;
            take_control(client, event->bytes, event->size);
        } else {
            take_realtime(client, event->bytes, event->size);
        }
        break;
    }
}
