// SPDX-License-Identifier: MIT
// The client: connects, mirrors, sends inputs, delivers events. This file wires the parts together.
//
// Where to read on: client_session.c (phases, silence, resumption), client_control.c (greeting and
// goodbye), client_receive.c (state packets), client_send.c (input packets), client_report.c
// (figures). What a state packet does to the world is in mirror/mirror.c.
#include "net/client.h"

#include "client/client_state.h"
#include "mirror/mirror.h"
#include "state/schema.h"
#include "state/varsize.h"

#include "base/assert.h"
#include "base/float_mode.h"
#include "base/text.h"
#include "net/match.h"

#include <string.h>

net_result net_client_create(const net_client_config* config, net_client** out) {
    BASE_ASSERT(config && config->transport && config->address && out);
    BASE_ASSERT(!config->match || net_match_get_config(config->match)->role == NET_ROLE_MIRROR);
    BASE_ASSERT(!config->presenter || config->match);
    BASE_ASSERT(!config->is_thin || (config->match && !config->presenter && !config->input));
    BASE_ASSERT(config->is_spectator || config->watched == 0);
    BASE_ASSERT(config->rate_bytes_max <= NET_RATE_BYTES_LIMIT);
    net_client* client = base_allocate_zero(config->allocator, sizeof *client);
    if (!client) return NET_ERR_MEMORY;
    client->config = *config;
    client->watched = config->watched;
    net_ration_init(&client->ration, config->reporter);
    client->allocator = config->allocator;
    client->rng = base_rng_make(config->seed, 77);
    memset(client->bot_guard, NET_CLIENT_GUARD, sizeof client->bot_guard);
    net_event_outbox_init(&client->outbox, client->allocator);
    net_event_inbox_init(&client->inbox, client->allocator);
    net_roster_init(&client->roster, client->allocator);
    client->ask_credit = NET_CLIENT_ASKS_MAX;
    if (config->secret) {
        memcpy(client->resume, config->secret, NET_RESUME_BYTES);
        client->has_resume = true;
        client->phase = NET_CLIENT_RESUMING;
    }
    net_pace_init(&client->pace, config->match ? net_match_get_config(config->match)->tick_rate_hz
                                               : NET_TICK_RATE_HZ_DEFAULT);
    if (config->match) client->rows = net_schema_rows(net_match_schema(config->match));
    if (!proto_codec_init(&client->codec, client->allocator, PROTO_UNPACK_SERVER_BYTES_MAX)) {
        net_client_destroy(client);
        return NET_ERR_MEMORY;
    }
    *out = client;
    return NET_OK;
}

void net_client_destroy(net_client* client) {
    if (!client) return;
    net_ration_end(&client->ration);
    net_varsize_receiver_destroy(client->varsize);
    if (client->mirror) net_mirror_destroy(client->mirror);
    net_event_outbox_deinit(&client->outbox);
    net_event_inbox_deinit(&client->inbox);
    net_roster_deinit(&client->roster);
    proto_codec_deinit(&client->codec);
    base_release(client->allocator, client, sizeof *client);
}

void net_client_service(net_client* client, uint64_t now_us) {
    BASE_FLOAT_MODE_HELD const base_float_mode host = base_float_mode_set();
    client->now_us = now_us;
    net_transport* transport = client->config.transport;
    if (client->phase == NET_CLIENT_ENDED) return;
    transport->ops->service(transport, now_us);
    if (client->started_us == 0 && client->phase == NET_CLIENT_RESUMING) {
        // The transport may still end the connection before.
        client->started_us = client->received_us = client->retry_us = now_us ? now_us : 1;
    } else if (!client->has_peer && client->started_us == 0) {
        client->started_us = now_us ? now_us : 1;
        net_result result =
            transport->ops->connect(transport, client->config.address, &client->peer);
        if (result != NET_OK) {
            base_text_copy(client->refusal_text, sizeof client->refusal_text,
                           net_result_text(result));
            net_client_finish(client, NET_CLIENT_END_UNREACHABLE);
            return;
        }
        client->has_peer = true;
    }
    net_transport_event event;
    // What is left comes with the next service: a flood must not keep the program from its ticks.
    for (uint32_t i = 0; i < NET_CLIENT_MESSAGES_MAX; i++) {
        if (client->phase == NET_CLIENT_ENDED || client->has_enough) break;
        if (!transport->ops->next(transport, &event)) break;
        net_client_receive(client, &event);
    }
    net_client_ack_varsize(client);
    net_client_check_connection(client);
    transport->ops->flush(transport);
}

// The mirror's own systems (effects, sounds). They must not change mirrored rows.
// @return false: the session ended.
static bool step_mirror(net_client* client) {
    net_match_step_at(client->config.match, net_mirror_tick(client->mirror));
    if (!client->config.stepped || client->config.stepped(client->config.stepped_context))
        ecs_changes_clear(net_match_world(client->config.match));
    if (!net_match_lacks_memory(client->config.match)) return true;
    base_report(client->config.reporter, NULL, 0, "out of memory: the session ends");
    net_client_finish(client, NET_CLIENT_END_LOST);
    return false;
}

void net_client_tick(net_client* client, uint64_t now_us) {
    BASE_FLOAT_MODE_HELD const base_float_mode host = base_float_mode_set();
    client->now_us = now_us;
    net_ration_report(&client->ration, now_us);
    net_pace_tick(&client->pace, now_us);
    if (client->phase != NET_CLIENT_PLAYING || client->is_closing) return;
    BASE_ASSERT(client->mirror && client->varsize && client->has_peer);
    uint64_t tick_us = (uint64_t)(net_match_dt(client->config.match) * 1e6f);
    net_ack_sender_expire(&client->sent, now_us, tick_us, &client->acks);
    net_client_deliver_events(client);
    net_event_inbox_age(&client->inbox);
    if (!client->config.is_thin && !step_mirror(client)) return;
    if (client->config.is_spectator)
        net_client_choose_watched(client);
    else if (client->is_player_known && client->player != ECS_ENTITY_NONE)
        net_client_make_input(client);
    net_client_send_inputs(client);
    client->config.transport->ops->flush(client->config.transport);
}

uint64_t net_client_next_tick_us(const net_client* client) {
    return net_pace_next_us(&client->pace);
}

void net_client_leave(net_client* client, uint64_t now_us) {
    client->now_us = now_us;
    if (client->phase == NET_CLIENT_ENDED || client->is_closing) return;
    if (client->phase != NET_CLIENT_PLAYING) {
        net_client_finish(client, NET_CLIENT_END_LEFT);
        return;
    }
    net_transport* transport = client->config.transport;
    net_client_send_inputs(client); // the last acknowledgements, for the server's report
    Shoal__Wire__Goodbye goodbye = SHOAL__WIRE__GOODBYE__INIT;
    goodbye.reason = NET_END_LEFT;
    (void)net_client_send_control(client, &goodbye.base);
    transport->ops->disconnect(transport, client->peer, NET_END_LEFT, false);
    net_client_begin_closing(client, NET_CLIENT_END_LEFT);
    transport->ops->flush(transport);
}

net_client_phase net_client_get_phase(const net_client* client) {
    return client->phase;
}
net_client_end net_client_get_end(const net_client* client) {
    return client->end;
}
uint32_t net_client_number(const net_client* client) {
    return client->client;
}
bool net_client_take_secret(net_client* client, uint8_t* secret) {
    const bool is_over =
        client->phase == NET_CLIENT_ENDED && client->end != NET_CLIENT_END_EXCHANGED;
    if (!client->has_resume || !client->has_played || is_over) return false;
    memcpy(secret, client->resume, NET_RESUME_BYTES);
    if (client->phase != NET_CLIENT_ENDED) net_client_end_exchanged(client);
    return true;
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

bool net_client_server_info(const net_client* client, net_server_info* info) {
    *info = client->info;
    return !client->config.match && client->end == NET_CLIENT_END_REFUSED;
}

const char* net_client_refusal_game(const net_client* client) {
    return client->refusal_game;
}
