// SPDX-License-Identifier: MIT
// The client: greets, mirrors, sends inputs, delivers events. Wiring of mirror, acknowledgements, queues
// and a match in role MIRROR to a transport; what a packet does to the world stands in mirror.c.
//
//     CONNECTING -> GREETING -> PLAYING -> ENDED
//                                 | ^
//                               RESUMING
//
// Resuming is a new connection for the same session: numbers, acknowledgements, queues and the mirror stay
// as they are, so that nothing but the connection begins anew. Meanwhile no inputs are made.
//
// A goodbye is answered by servicing the connection a little longer (is_closing), so that its
// acknowledgement leaves before the socket does.
#include "acks.h"
#include "control.h"
#include "inbox.h"
#include "meter.h"
#include "mirror.h"
#include "outbox.h"
#include "pace.h"
#include "roster.h"
#include "rows.h"
#include "viewer_feed.h"

#include "base/assert.h"
#include "base/text.h"
#include "net/client.h"
#include "proto/codec.h"

#include <string.h>

#define CLOSE_MS_MAX 1000u
#define RETRY_MS 500u // between two attempts to resume, when the first is turned away at once
#define EVENT_BYTES_MAX 600u
#define EVENTS_PER_PACKET_MAX 16u

typedef struct sent_input {
    uint32_t number;
    uint32_t size;
    uint8_t payload[NET_INPUT_BYTES_MAX];
} sent_input;

struct net_client {
    net_client_config config;
    const base_allocator* allocator;
    net_client_phase phase;
    net_client_end end;
    bool is_closing; // goodbye was said: wait for the connection to end
    uint64_t closing_us;
    uint64_t started_us; // first service
    uint64_t now_us;
    net_peer peer;
    bool has_peer;
    uint32_t client;
    uint8_t resume[NET_RESUME_BYTES]; // the secret of our session
    bool has_resume;
    uint64_t heard_us; // when anything came from the server; while resuming: before that
    uint64_t retry_us; // resuming: when to connect, or since when we do
    uint32_t resumes;
    net_roster roster;
    net_meter meter;
    uint32_t input_depth; // as last reported
    uint32_t refusal;
    char refusal_text[256];
    char refusal_game[NET_GAME_NAME_BYTES_MAX];
    ecs_entity player;
    bool is_player_told;
    net_rows* rows;
    net_mirror* mirror;
    net_acks_send sent;
    net_acks_recv received;
    net_acks_result acks; // scratch
    net_outbox outbox;
    net_inbox inbox;
    sent_input inputs[NET_INPUT_REDUNDANCY]; // ring by number
    uint32_t input_number;
    uint32_t
        input_floor;     // up to here they are of before the connection was lost: not sent any more
    uint64_t input_view; // what was seen when it was made, in ticks * 256
    net_pace pace;
    uint64_t ticks;
    uint64_t packets_malformed, packets_stale;
    uint64_t inputs_refused; // longer than NET_INPUT_BYTES_MAX
    base_rng rng;
    proto_codec codec;
    _Alignas(16) uint8_t bot_memory[NET_BOT_MEMORY_BYTES];
    _Alignas(16) uint8_t input_payload[ECS_EVENT_BYTES_MAX];
    uint8_t packet[NET_STATE_BYTES_MAX];
};

net_result net_client_create(const net_client_config* config, net_client** out) {
    BASE_ASSERT(config && config->transport && config->address && out);
    net_client* client = base_allocate_zero(config->allocator, sizeof *client);
    if (!client) return NET_ERR_MEMORY;
    client->config = *config;
    client->allocator = config->allocator;
    client->rng = base_rng_make(config->seed, 77);
    net_outbox_init(&client->outbox, client->allocator);
    net_inbox_init(&client->inbox, client->allocator);
    net_roster_init(&client->roster, client->allocator);
    net_acks_recv_init(&client->received);
    net_pace_init(&client->pace, config->match ? net_match_get_config(config->match)->tick_rate_hz
                                               : NET_TICK_RATE_HZ_DEFAULT);
    net_result result = NET_ERR_MEMORY;
    if (!proto_codec_init(&client->codec, client->allocator, PROTO_UNPACK_BYTES_MAX)) goto fail;
    if (config->match) {
        result =
            net_rows_create(client->allocator, net_match_world(config->match), NULL, &client->rows);
        if (result != NET_OK) goto fail;
    }
    *out = client;
    return NET_OK;
fail:
    net_client_destroy(client);
    return result;
}

void net_client_destroy(net_client* client) {
    if (!client) return;
    if (client->mirror) net_mirror_destroy(client->mirror);
    if (client->rows) net_rows_destroy(client->rows);
    net_outbox_deinit(&client->outbox);
    net_inbox_deinit(&client->inbox);
    net_roster_deinit(&client->roster);
    proto_codec_deinit(&client->codec);
    base_release(client->allocator, client, sizeof *client);
}

// The other side is told, if it still listens, so that it need not wait for its own timeouts.
static void finish(net_client* client, net_client_end end) {
    if (client->phase == NET_CLIENT_ENDED) return;
    if (client->end == NET_CLIENT_END_NONE) client->end = end;
    client->phase = NET_CLIENT_ENDED;
    if (!client->has_peer) return;
    net_transport* transport = client->config.transport;
    transport->ops->disconnect(transport, client->peer, NET_END_LEFT, true);
    client->has_peer = false;
}

static void begin_closing(net_client* client, net_client_end end) {
    if (client->end == NET_CLIENT_END_NONE) client->end = end;
    client->is_closing = true;
    client->closing_us = client->now_us;
}

// Both sides hang up after a last word, so that one lost acknowledgement does not leave the other waiting.
static void hang_up(net_client* client, net_client_end end) {
    net_transport* transport = client->config.transport;
    transport->ops->disconnect(transport, client->peer, NET_END_GOODBYE, false);
    begin_closing(client, end);
}

static void trace_update(void* context, ecs_entity entity, ecs_tick tick, uint64_t row_hash) {
    net_client* client = context;
    if (client->config.trace) {
        client->config.trace(client->config.trace_context, client->client, entity, tick, row_hash);
    }
}

static double quiet_s(const net_client* client) {
    return client->now_us > client->heard_us ? (double)(client->now_us - client->heard_us) * 1e-6
                                             : 0;
}

// The server is not told: for it the connection is lost, and the session stays.
static void drop_connection(net_client* client) {
    net_transport* transport = client->config.transport;
    if (client->has_peer) transport->ops->disconnect(transport, client->peer, 0, true);
    client->has_peer = false;
    client->retry_us = client->now_us;
}

static void begin_resuming(net_client* client) {
    base_report(client->config.reporter, NULL, 0,
                "note: connection lost: nothing heard for %.1f s, trying again", quiet_s(client));
    client->phase = NET_CLIENT_RESUMING;
    drop_connection(client);
}

// Once per service: what silence asks for.
static void look_after_connection(net_client* client) {
    const uint64_t now_us = client->now_us;
    const uint64_t quiet_us = now_us > client->heard_us ? now_us - client->heard_us : 0;
    if (client->is_closing || !client->has_resume) return;
    if (client->phase == NET_CLIENT_PLAYING && client->received.has_any &&
        quiet_us > NET_QUIET_MS_MAX * 1000u) {
        begin_resuming(client);
    }
    if (client->phase != NET_CLIENT_RESUMING) return;
    if (quiet_us > NET_SILENCE_MS_MAX * 1000u) {
        base_report(client->config.reporter, NULL, 0, "connection lost: nobody answers for %.1f s",
                    quiet_s(client));
        finish(client, NET_CLIENT_END_LOST);
        return;
    }
    if (client->has_peer && now_us - client->retry_us > NET_CONNECT_MS_MAX * 1000u)
        drop_connection(client);
    if (client->has_peer || now_us < client->retry_us) return;
    net_transport* transport = client->config.transport;
    client->has_peer =
        transport->ops->connect(transport, client->config.address, &client->peer) == NET_OK;
    client->retry_us = client->has_peer ? now_us : now_us + RETRY_MS * 1000u;
}

static void take_roster(net_client* client, const Shoal__Wire__Roster* roster) {
    net_result result = net_roster_take(&client->roster, roster);
    if (result == NET_ERR_MALFORMED) client->packets_malformed++;
    if (result == NET_ERR_MEMORY) finish(client, NET_CLIENT_END_LOST);
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
        client->packets_malformed++;
        return;
    }
    client->resumes++;
    base_report(client->config.reporter, NULL, 0, "note: back after %.1f s as client %u",
                quiet_s(client), client->client);
    net_roster_clear(&client->roster);
    client->heard_us = client->now_us;
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
        client->packets_malformed++;
        return;
    }
    net_match_mirror_start(client->config.match, welcome->tick_rate_hz, welcome->settings,
                           (uint32_t)welcome->n_settings);
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
    if (client->config.viewer) {
        net_viewer_begin(client->config.viewer, client->config.match);
        config.sink = net_viewer_sink(client->config.viewer);
    }
    if (net_mirror_create(&config, &client->mirror) != NET_OK) {
        finish(client, NET_CLIENT_END_LOST);
        return;
    }
    client->client = welcome->client;
    client->has_resume = welcome->resume.len > 0;
    if (client->has_resume) memcpy(client->resume, welcome->resume.data, NET_RESUME_BYTES);
    net_pace_init(&client->pace, welcome->tick_rate_hz);
    // From 1: an input packet with seq 0 and nothing in it would have no bytes at all (send_inputs).
    net_acks_send_init(&client->sent, 1, client->now_us);
    client->phase = NET_CLIENT_PLAYING;
}

static void take_control(net_client* client, const uint8_t* bytes, size_t size) {
    const Shoal__Wire__ServerControl* control =
        (const Shoal__Wire__ServerControl*)proto_codec_decode(
            &client->codec, &shoal__wire__server_control__descriptor, bytes, size,
            NET_CONTROL_BYTES_MAX);
    if (!control) {
        client->packets_malformed++;
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
        begin_closing(client, client->phase == NET_CLIENT_RESUMING ? NET_CLIENT_END_LOST
                                                                   : NET_CLIENT_END_REFUSED);
        break;
    case SHOAL__WIRE__SERVER_CONTROL__KIND_ROSTER:
        if (client->phase == NET_CLIENT_PLAYING)
            take_roster(client, control->roster);
        else
            client->packets_malformed++;
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
        client->packets_malformed++;
        break;
    }
}

// Message 0 is ours, the others are the module's.
static void deliver_event(net_client* client, const net_outbox_entry* event) {
    if (event->message == 0) {
        const Shoal__Wire__PlayerAssigned* assigned =
            (const Shoal__Wire__PlayerAssigned*)proto_codec_decode(
                &client->codec, &shoal__wire__player_assigned__descriptor, event->payload,
                event->size, NET_EVENT_PAYLOAD_BYTES_MAX);
        if (assigned) {
            client->player = assigned->entity;
            client->is_player_told = true;
            if (client->config.viewer) net_viewer_player(client->config.viewer, client->player);
        } else {
            client->packets_malformed++;
        }
        return;
    }
    if (net_match_server_event(client->config.match, event->message, event->target, event->payload,
                               event->size) != NET_OK) {
        client->packets_malformed++;
    }
}

static void deliver_events(net_client* client) {
    const ecs_world* world = net_match_world(client->config.match);
    const net_outbox_entry* event;
    while ((event = net_inbox_next(&client->inbox, world)) != NULL) {
        net_outbox_entry copy = *event;
        deliver_event(client, &copy);
    }
}

// The viewer has its own times for events; own messages (0) are none.
static void take_game_event(net_client* client, const Shoal__Wire__GameEvent* event) {
    uint32_t count = client->inbox.count;
    if (net_inbox_push(&client->inbox, event) != NET_OK) {
        client->packets_malformed++;
        return;
    }
    if (!client->config.viewer || client->inbox.count == count || event->message == 0) return;
    net_viewer_event(client->config.viewer, &client->inbox.entries[count].event);
}

static void show_packet(net_client* client, const Shoal__Wire__StatePacket* packet) {
    if (!client->config.viewer) return;
    ecs_tick row_tick;
    bool has_player_row = net_mirror_entity_tick(client->mirror, client->player, &row_tick) &&
                          row_tick + packet->player_age >= packet->tick;
    net_viewer_packet(client->config.viewer, client->now_us, packet->tick, packet->input_used,
                      packet->input_repeats, has_player_row);
}

// @return false when the packet must not be acknowledged.
static bool take_state(net_client* client, const Shoal__Wire__StatePacket* packet) {
    if (packet->has_ack) {
        // The acknowledgement is about our packets and good even if the body is not.
        if (packet->ack > UINT16_MAX ||
            net_acks_send_receive(&client->sent, client->now_us, (uint16_t)packet->ack, 0,
                                  packet->ack_delay_us, &client->acks) != NET_OK) {
            client->packets_malformed++;
            return false;
        }
    }
    switch (
        net_mirror_read(client->mirror, packet->tick, packet->body.data, packet->body.len, NULL)) {
    case NET_OK:
        break;
    case NET_ERR_STALE:
        client->packets_stale++;
        return false;
    case NET_ERR_MALFORMED:
        client->packets_malformed++;
        return false;
    default:
        finish(client, NET_CLIENT_END_LOST);
        return false;
    }
    show_packet(client, packet);
    if (packet->input_used > 0) {
        net_pace_report(&client->pace, client->now_us, packet->tick, packet->input_depth,
                        packet->input_repeats, net_acks_rtt_us(&client->sent),
                        net_acks_recv_loss_percent(&client->received)); // as the other way
    }
    if (packet->tick >= net_mirror_tick(client->mirror)) client->input_depth = packet->input_depth;
    if (!net_outbox_acked(&client->outbox, packet->event_ack)) client->packets_malformed++;
    for (size_t i = 0; i < packet->n_events; i++)
        take_game_event(client, packet->events[i]);
    return true;
}

static void take_realtime(net_client* client, const uint8_t* bytes, size_t size) {
    if (client->phase != NET_CLIENT_PLAYING) return;
    const Shoal__Wire__StatePacket* packet = (const Shoal__Wire__StatePacket*)proto_codec_decode(
        &client->codec, &shoal__wire__state_packet__descriptor, bytes, size, NET_STATE_BYTES_MAX);
    if (!packet || packet->seq > UINT16_MAX) {
        client->packets_malformed++;
        return;
    }
    uint16_t seq = (uint16_t)packet->seq;
    if (net_acks_recv_check(&client->received, seq) != NET_ACKS_NEW) return;
    net_meter_state(&client->meter, client->now_us, packet,
                    (uint64_t)(net_match_dt(client->config.match) * 1e6f));
    if (!take_state(client, packet)) return;
    net_acks_recv_mark(&client->received, seq, client->now_us);
    deliver_events(client);
}

static void take_event(net_client* client, const net_transport_event* event) {
    switch (event->kind) {
    case NET_TRANSPORT_CONNECTED: {
        bool is_resuming = client->phase == NET_CLIENT_RESUMING;
        if (client->phase != NET_CLIENT_CONNECTING && !is_resuming) break;
        char name[NET_PLAYER_NAME_BYTES_MAX];
        net_control_clean_name(name, client->config.name ? client->config.name : "");
        if (!is_resuming) client->phase = NET_CLIENT_GREETING;
        client->started_us = client->now_us; // somebody answers: the greeting has its own time
        (void)net_control_send_hello(
            client->config.transport, client->peer,
            client->config.match ? net_schema_hash(net_match_schema(client->config.match)) : 0,
            client->config.match ? net_match_get_config(client->config.match)->module->game->name
                                 : "",
            name, client->config.is_bot, is_resuming ? client->resume : NULL);
        break;
    }
    case NET_TRANSPORT_DISCONNECTED:
        client->has_peer = false;
        if (client->phase == NET_CLIENT_RESUMING && !client->is_closing) {
            client->retry_us = client->now_us + RETRY_MS * 1000u;
            break;
        }
        // Without a reason nobody meant it.
        if (client->phase == NET_CLIENT_PLAYING && !client->is_closing && event->reason == 0 &&
            client->has_resume && client->received.has_any) {
            begin_resuming(client);
            break;
        }
        finish(client, client->phase == NET_CLIENT_PLAYING ? NET_CLIENT_END_LOST
                                                           : NET_CLIENT_END_UNREACHABLE);
        break;
    case NET_TRANSPORT_RECEIVED:
        if (client->is_closing) break;
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

void net_client_service(net_client* client, uint64_t now_us) {
    client->now_us = now_us;
    net_transport* transport = client->config.transport;
    if (client->phase == NET_CLIENT_ENDED) return;
    transport->ops->service(transport, now_us);
    if (!client->has_peer && client->started_us == 0) {
        client->started_us = now_us ? now_us : 1;
        net_result result =
            transport->ops->connect(transport, client->config.address, &client->peer);
        if (result != NET_OK) {
            base_text_copy(client->refusal_text, sizeof client->refusal_text,
                           net_result_text(result));
            finish(client, NET_CLIENT_END_UNREACHABLE);
            return;
        }
        client->has_peer = true;
    }
    net_transport_event event;
    while (client->phase != NET_CLIENT_ENDED && transport->ops->next(transport, &event)) {
        take_event(client, &event);
    }
    look_after_connection(client);
    bool is_waiting =
        client->phase == NET_CLIENT_CONNECTING || client->phase == NET_CLIENT_GREETING;
    if (is_waiting && !client->is_closing && now_us > client->started_us &&
        now_us - client->started_us > NET_CONNECT_MS_MAX * 1000u) {
        finish(client, NET_CLIENT_END_UNREACHABLE);
    }
    // From the first packet on the server sends with every tick; before it, it may wait for others.
    if (client->phase == NET_CLIENT_PLAYING && client->received.has_any &&
        now_us > client->received.newest_us &&
        now_us - client->received.newest_us > NET_SILENCE_MS_MAX * 1000u) {
        finish(client, NET_CLIENT_END_LOST);
    }
    if (client->is_closing && now_us - client->closing_us > CLOSE_MS_MAX * 1000u) {
        finish(client, client->end);
    }
    transport->ops->flush(transport);
}

static bool send_event(void* sender, uint32_t message, const void* payload) {
    return net_client_send_event(sender, message, payload) == NET_OK;
}

static net_game_view make_view(net_client* client) {
    return (net_game_view){
        .size_bytes = sizeof(net_game_view),
        .world = net_match_world(client->config.match),
        .context = net_match_context(client->config.match),
        .player = client->player,
        .client = client->client,
        .tick = net_mirror_tick(client->mirror),
        .dt = net_match_dt(client->config.match),
        .input_number = client->input_number,
        .rng = &client->rng,
        .memory = client->bot_memory,
        .send = send_event,
        .sender = client,
    };
}

// An input is made every client tick from the moment the server told who we are.
static void sample_input(net_client* client) {
    const net_game_module* game = net_match_get_config(client->config.match)->module->game;
    client->input_number++;
    sent_input* slot = &client->inputs[client->input_number % NET_INPUT_REDUNDANCY];
    memset(client->input_payload, 0, sizeof client->input_payload);
    net_game_view view = make_view(client);
    net_viewer* viewer = client->config.viewer;
    if (client->config.input) {
        // A bot sees its mirror; whoever plays sees what is shown.
        if (viewer) net_viewer_look(viewer, &view);
        client->config.input(client->config.input_context, &view, client->input_payload);
    } else if (game->bot_think) {
        game->bot_think(&view, client->input_payload);
    }
    slot->number = client->input_number;
    // Only where the game decides by it. Without a viewer it was the mirror's newest tick.
    if (game->is_rewinding)
        client->input_view =
            viewer ? net_viewer_shown(viewer) : net_mirror_tick(client->mirror) * 256;
    size_t size;
    // Longer than an input may be: a resting one goes in its place (size 0), and the number goes on.
    if (net_match_pack(client->config.match, net_match_input_message(client->config.match),
                       client->input_payload, slot->payload, sizeof slot->payload,
                       &size) != NET_OK) {
        client->inputs_refused++;
    }
    slot->size = (uint32_t)size;
    if (viewer) net_viewer_input(viewer, client->now_us, slot->number, slot->payload, slot->size);
}

static void send_inputs(net_client* client) {
    Shoal__Wire__InputPacket packet = SHOAL__WIRE__INPUT_PACKET__INIT;
    ProtobufCBinaryData inputs[NET_INPUT_REDUNDANCY];
    Shoal__Wire__GameEvent events[EVENTS_PER_PACKET_MAX];
    Shoal__Wire__GameEvent* pointers[EVENTS_PER_PACKET_MAX];
    uint32_t count = client->input_number - client->input_floor;
    if (count > NET_INPUT_REDUNDANCY) count = NET_INPUT_REDUNDANCY;
    // Large inputs are repeated less often, so that events keep their room.
    size_t budget = NET_STATE_BYTES_MAX - EVENT_BYTES_MAX - 64;
    size_t used = 0;
    uint32_t fitting = 0;
    while (fitting < count) {
        uint32_t number = client->input_number - fitting;
        size_t bytes = client->inputs[number % NET_INPUT_REDUNDANCY].size + 3;
        if (used + bytes > budget) break;
        used += bytes;
        fitting++;
    }
    uint32_t first = client->input_number - fitting + 1;
    for (uint32_t i = 0; i < fitting; i++) {
        sent_input* input = &client->inputs[(first + i) % NET_INPUT_REDUNDANCY];
        inputs[i].data = input->payload;
        inputs[i].len = input->size;
    }
    size_t event_bytes = 0;
    packet.n_events = net_outbox_fill(&client->outbox, events, pointers, EVENTS_PER_PACKET_MAX,
                                      EVENT_BYTES_MAX, &event_bytes);
    packet.events = pointers;
    packet.seq = net_acks_send_add(&client->sent, client->now_us);
    packet.has_ack = client->received.has_any;
    packet.ack = client->received.newest;
    packet.ack_bits = client->received.bits;
    packet.ack_delay_us = net_acks_recv_delay_us(&client->received, client->now_us);
    packet.event_ack = client->inbox.newest;
    packet.input_first = fitting ? first : 0;
    packet.n_inputs = fitting;
    packet.inputs = inputs;
    packet.view = client->input_view;
    size_t size = proto_encode(&packet.base, client->packet, sizeof client->packet);
    BASE_ASSERT(size > 0 || proto_encoded_bytes(&packet.base) == 0);
    // Without bytes: seq 0 and nothing to say. It comes back to 0 for who waits long for a match to begin.
    if (size > 0)
        (void)client->config.transport->ops->send(client->config.transport, client->peer,
                                                  NET_CHANNEL_REALTIME, client->packet, size);
    net_outbox_drop_unreliable(&client->outbox);
}

void net_client_tick(net_client* client, uint64_t now_us, void* user) {
    client->now_us = now_us;
    net_pace_tick(&client->pace, now_us);
    if (client->phase != NET_CLIENT_PLAYING || client->is_closing) return;
    client->ticks++;
    uint64_t tick_us = (uint64_t)(net_match_dt(client->config.match) * 1e6f);
    net_acks_send_expire(&client->sent, now_us, tick_us, &client->acks);
    deliver_events(client);
    net_inbox_age(&client->inbox);
    // The mirror's own systems (effects, sounds); what they change of mirrored rows is theirs to answer for.
    net_match_step_at(client->config.match, net_mirror_tick(client->mirror), user);
    ecs_changes_clear(net_match_world(client->config.match));
    if (client->is_player_told && client->player != ECS_ENTITY_NONE) sample_input(client);
    send_inputs(client);
    client->config.transport->ops->flush(client->config.transport);
}

uint64_t net_client_next_tick_us(const net_client* client) {
    return net_pace_next_us(&client->pace);
}

void net_client_leave(net_client* client, uint64_t now_us) {
    client->now_us = now_us;
    if (client->phase == NET_CLIENT_ENDED || client->is_closing) return;
    if (client->phase != NET_CLIENT_PLAYING) {
        finish(client, NET_CLIENT_END_LEFT);
        return;
    }
    net_transport* transport = client->config.transport;
    send_inputs(client); // the last acknowledgements: the server then knows what we have
    (void)net_control_send_goodbye(transport, client->peer, false, 0, NET_END_LEFT);
    transport->ops->disconnect(transport, client->peer, NET_END_LEFT, false);
    begin_closing(client, NET_CLIENT_END_LEFT);
    transport->ops->flush(transport);
}

net_client_phase net_client_get_phase(const net_client* client) {
    return client->phase;
}
net_client_end net_client_get_end(const net_client* client) {
    return client->end;
}
ecs_tick net_client_tick_newest(const net_client* client) {
    return client->mirror ? net_mirror_tick(client->mirror) : 0;
}
ecs_entity net_client_player(const net_client* client) {
    return client->player;
}

uint32_t net_client_refusal(const net_client* client, char* text, size_t text_bytes) {
    base_text_copy(text, text_bytes, client->refusal_text);
    return client->refusal;
}

const char* net_client_refusal_game(const net_client* client) {
    return client->refusal_game;
}

net_result net_client_send_event(net_client* client, uint32_t message, const void* payload) {
    if (client->phase != NET_CLIENT_PLAYING || client->is_closing) return NET_ERR_CLOSED;
    const net_game_module* game = net_match_get_config(client->config.match)->module->game;
    BASE_ASSERT(message >= 1 && message <= game->message_count);
    BASE_ASSERT(game->messages[message - 1].kind == NET_MESSAGE_TO_SERVER);
    uint8_t bytes[NET_EVENT_PAYLOAD_BYTES_MAX];
    size_t size;
    net_result result =
        net_match_pack(client->config.match, message, payload, bytes, sizeof bytes, &size);
    if (result != NET_OK) return result;
    return net_outbox_push(&client->outbox, game->messages[message - 1].is_reliable, message,
                           net_mirror_tick(client->mirror), ECS_ENTITY_NONE, bytes, (uint32_t)size);
}

const char* net_client_player_name(const net_client* client, uint32_t number) {
    const net_roster_player* player = net_roster_find(&client->roster, number);
    return player ? player->name : NULL;
}

void net_client_get_meter(const net_client* client, net_client_meter* meter) {
    net_transport_stats stats;
    client->config.transport->ops->stats(client->config.transport, &stats);
    *meter = (net_client_meter){
        .in_bytes = stats.recv_bytes,
        .out_bytes = stats.sent_bytes,
        .in_datagrams = stats.recv_datagrams,
        .out_datagrams = stats.sent_datagrams,
        .body_bits = client->meter.body_bits,
        .record_bits = client->meter.body_bits,
        .event_bytes = client->meter.event_bytes,
        .control_bytes = client->meter.control_bytes,
        .rtt_ms = client->sent.has_rtt ? (double)net_acks_rtt_us(&client->sent) / 1000.0 : 0,
        .loss_percent = net_acks_recv_loss_percent(&client->received),
        .jitter_ms = client->meter.jitter_us / 1000.0,
        .quiet_us = client->now_us > client->heard_us ? client->now_us - client->heard_us : 0,
        .resumes = client->resumes,
        .input_depth = client->input_depth,
        .pace = client->pace.rate,
    };
    if (!client->mirror) return;
    uint32_t count = ecs_component_count(net_match_world(client->config.match));
    for (uint32_t id = 1; id <= count; id++)
        meter->record_bits -= net_mirror_component_bits(client->mirror, (ecs_component_id)id);
}

uint64_t net_client_component_bits(const net_client* client, ecs_component_id component) {
    return client->mirror ? net_mirror_component_bits(client->mirror, component) : 0;
}

net_client_report net_client_get_report(net_client* client) {
    net_client_report report = {.client = client->client, .end = client->end};
    net_transport_stats stats;
    client->config.transport->ops->stats(client->config.transport, &stats);
    report.sim_dropped = stats.sim_dropped;
    report.recv_bytes = stats.recv_bytes;
    report.recv_reliable_bytes = stats.recv_reliable_bytes;
    report.sent_bytes = stats.sent_bytes;
    report.rtt_ms = client->sent.has_rtt ? (double)net_acks_rtt_us(&client->sent) / 1000.0 : 0;
    report.loss_percent = net_acks_recv_loss_percent(&client->received);
    report.packets_malformed = client->packets_malformed;
    report.packets_stale = client->packets_stale;
    report.inputs_refused = client->inputs_refused;
    report.events_received = client->inbox.received;
    report.events_dropped = client->inbox.dropped;
    if (!client->mirror) return report;
    ecs_world* world = net_match_world(client->config.match);
    report.tick = net_mirror_tick(client->mirror);
    report.scope = net_scope_walk(net_match_schema(client->config.match), world, NULL, NULL);
    report.loading = ecs_handle_count(world, ECS_STATE_LOADING);
    report.allocated = ecs_handle_count(world, ECS_STATE_ALLOCATED);
    report.bad_transitions = ecs_world_counters(world)->bad_transitions;
    report.updates = net_mirror_get_counters(client->mirror)->updates;
    return report;
}
