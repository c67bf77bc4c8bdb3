// SPDX-License-Identifier: MIT
// The client's end of the control channel: the greeting, the welcome, the roster, goodbyes.
//
// What the server sends is untrusted too, until it is decoded and checked. A message that breaks
// the protocol is counted and dropped.
#include "client/client_state.h"

#include "client/presenter_face.h"
#include "state/rows.h"
#include "state/varsize.h"

#include "base/assert.h"
#include "base/shown.h"
#include "base/text.h"

#include <inttypes.h>
#include <string.h>

#define ANSWER_ITEMS_MAX 256u

void net_client_greet(net_client* client) {
    BASE_ASSERT(client->has_peer);
    client->has_answered = false;
    const net_match* match = client->config.match;
    char name[NET_PLAYER_NAME_BYTES_MAX];
    net_control_clean_name(name, client->config.name ? client->config.name : "");
    Shoal__Wire__Hello hello = SHOAL__WIRE__HELLO__INIT;
    hello.protocol = NET_PROTOCOL_VERSION;
    hello.name = name;
    hello.is_bot = client->config.is_bot;
    hello.rate_bytes_max = client->config.rate_bytes_max;
    hello.has_solo = client->config.solo != NULL;
    hello.is_spectator = client->config.is_spectator;
    if (match) {
        hello.schema_hash = net_schema_hash(net_match_schema(match));
        hello.game = (char*)(uintptr_t)net_match_get_config(match)->module->game->name;
    }
    if (client->phase == NET_CLIENT_RESUMING)
        hello.resume = (ProtobufCBinaryData){sizeof client->resume, client->resume};
    hello.starts_again = client->phase == NET_CLIENT_RESUMING && !client->mirror;
    if (client->phase == NET_CLIENT_RESUMING && client->mirror) {
        hello.tick = net_mirror_tick(client->mirror);
        hello.events = client->event_count;
        hello.event_tick = client->event_tick;
        hello.rate_bytes = client->rate_bytes;
    }
    (void)net_client_send_control(client, &hello.base);
    client->greeted_us = client->now_us;
}

// Both sides disconnect after a goodbye, so that one lost acknowledgement does not leave the other
// waiting.
static void hang_up(net_client* client, net_client_end end, uint32_t reason) {
    net_transport* transport = client->config.transport;
    transport->ops->disconnect(transport, client->peer, reason, false);
    net_client_begin_closing(client, end);
}

static void trace_update(void* context, ecs_entity entity, ecs_tick tick, uint64_t row_hash) {
    net_client* client = context;
    client->config.trace(client->config.trace_context, client->client, entity, tick, row_hash);
}

// ---- players, and the one that a spectator watches ----

uint32_t net_client_next_player(const net_client* client, uint32_t before) {
    for (uint32_t i = 0; i < client->roster.count; i++)
        if (client->roster.players[i].client > before) return client->roster.players[i].client;
    return 0;
}

const char* net_client_player_name(const net_client* client, uint32_t number) {
    const net_roster_player* player = net_roster_find(&client->roster, number);
    return player ? player->name : NULL;
}

static const char* find_name(const void* client, uint32_t number) {
    return net_client_player_name(client, number);
}

uint32_t net_client_watched(const net_client* client) {
    return client->watched;
}

void net_client_watch(net_client* client, uint32_t number) {
    BASE_ASSERT(client->config.is_spectator);
    client->watched = number;
    client->has_watched = false;
}

// A roster without players may be one that did not come yet.
void net_client_choose_watched(net_client* client) {
    if (client->roster.count > 0 && !net_roster_find(&client->roster, client->watched)) {
        const uint32_t next = net_client_next_player(client, client->watched);
        net_client_watch(client, next ? next : net_client_next_player(client, 0));
    }
    if (client->has_watched || client->watched == 0) return;
    Shoal__Wire__Watch watch = SHOAL__WIRE__WATCH__INIT;
    watch.client = client->watched;
    client->has_watched = net_client_send_control(client, &watch.base) == NET_OK;
}

// ---- values of variable size ----

// Variable-size components of a client: from the control channel into the mirror and the presenter.
//
// Acknowledgements are gathered during a service and sent in one message. A waiting value that was
// evicted, here or in the presenter, is reported as lost; the server sends it again.

#define LOST_PER_ACK 64u

// What the mirror knows of an index; `context` is the client. A net_known_incarnation_fn.
static bool known_incarnation(void* context, uint32_t index, ecs_entity* handle, ecs_tick* tick) {
    const net_client* client = context;
    return net_mirror_known_incarnation(client->mirror, index, handle, tick);
}

// A net_varsize_keep_fn of a thin client.
static void keep_value(void* context, ecs_entity entity, ecs_component_id component,
                       const void* bytes, uint32_t size) {
    const net_client* client = context;
    net_mirror_keep_value(client->mirror, entity, component, bytes, size);
}

// Begin, after the mirror was made.
static void open_varsize(net_client* client, uint32_t index_max) {
    BASE_ASSERT(client->mirror && !client->varsize);
    const net_varsize_receiver_config config = {
        .allocator = client->config.allocator,
        .world = net_match_world(client->config.match),
        .rows = client->rows,
        .keep = client->config.is_thin ? keep_value : NULL,
        .keep_context = client,
        .index_max = index_max,
        .known = known_incarnation,
        .known_context = client,
    };
    client->inbox.find_known = known_incarnation;
    client->inbox.find_known_context = client;
    client->varsize = net_varsize_receiver_create(&config);
}

static bool next_lost(net_client* client, net_varsize_lost* lost) {
    if (net_varsize_receiver_next_evicted(client->varsize, lost)) return true;
    return client->config.presenter && net_presenter_face_of(client->config.presenter)
                                           ->next_evicted(client->config.presenter, lost);
}

static void send_ack(net_client* client, const net_varsize_lost* lost, uint32_t lost_count) {
    BASE_ASSERT(client->varsize_ack_count <= NET_VARSIZE_FLIGHT_MAX && lost_count <= LOST_PER_ACK);
    Shoal__Wire__VarsizeLost entries[LOST_PER_ACK];
    Shoal__Wire__VarsizeLost* pointers[LOST_PER_ACK];
    for (uint32_t i = 0; i < lost_count; i++) {
        shoal__wire__varsize_lost__init(&entries[i]);
        entries[i].entity = lost[i].handle;
        entries[i].component = lost[i].number;
        entries[i].version = lost[i].version;
        pointers[i] = &entries[i];
    }
    Shoal__Wire__VarsizeAck ack = SHOAL__WIRE__VARSIZE_ACK__INIT;
    ack.n_versions = client->varsize_ack_count;
    ack.versions = client->varsize_acks;
    ack.n_lost = lost_count;
    ack.lost = pointers;
    (void)net_client_send_control(client, &ack.base);
}

void net_client_ack_varsize(net_client* client) {
    if (!client->varsize || client->phase != NET_CLIENT_PLAYING || !client->has_peer) return;
    for (;;) {
        net_varsize_lost lost[LOST_PER_ACK];
        uint32_t lost_count = 0;
        while (lost_count < LOST_PER_ACK && next_lost(client, &lost[lost_count]))
            lost_count++;
        if (lost_count == 0 && client->varsize_ack_count == 0) return;
        send_ack(client, lost, lost_count);
        client->varsize_ack_count = 0;
    }
}

// A value came.
static void receive_varsize(net_client* client, const Shoal__Wire__VarsizeValue* value) {
    const net_varsize_message message = {
        .handle = value->entity,
        .number = value->component,
        .version = value->version,
        .since = value->since,
        .is_default = value->is_default,
        .bytes = value->value.data,
        .size = (uint32_t)value->value.len,
    };
    net_result result = net_varsize_receiver_receive(client->varsize, &message);
    if (result != NET_OK) {
        net_client_malformed(client);
        return;
    }
    if (client->config.presenter)
        net_presenter_face_of(client->config.presenter)
            ->varsize(client->config.presenter, &message);
    BASE_ASSERT(client->varsize_ack_count < NET_VARSIZE_FLIGHT_MAX);
    client->varsize_acks[client->varsize_ack_count++] = message.version;
    if (client->varsize_ack_count == NET_VARSIZE_FLIGHT_MAX) net_client_ack_varsize(client);
}

// ---- the control channel ----

// Settings count only as a whole, and only when a server with the same table could have them.
static bool are_settings_right(const net_client* client, const Shoal__Wire__Welcome* welcome) {
    const net_game_module* game = net_match_get_config(client->config.match)->module->game;
    if (welcome->n_settings > game->setting_count) return false;
    for (size_t i = 0; i < welcome->n_settings; i++) {
        // This form refuses NaN.
        if (!(welcome->settings[i] >= game->settings[i].min &&
              welcome->settings[i] <= game->settings[i].max))
            return false;
    }
    return true;
}

// A server of the internet must not make its clients look for others in their own networks.
static bool may_be_asked(const net_address* address, const net_peer_identity* server,
                         bool is_known) {
    return address->port != 0 && !net_address_is_wildcard(address) &&
           !net_address_is_multicast(address) &&
           (!net_address_is_private(address) || !is_known ||
            net_address_is_private(&server->address));
}

// Servers that may take over. Those that cannot be asked are faults, and left out. A server that
// took over may know of none: then those of before stay (`keeps`).
static void take_standbys(net_client* client, const ProtobufCBinaryData* bytes, bool keeps) {
    net_address read[NET_STANDBYS_MAX];
    uint32_t count = 0;
    if (!net_control_read_addresses(bytes->data, bytes->len, read, &count)) {
        net_client_malformed(client);
        return;
    }
    net_peer_identity server;
    const bool is_known = net_transport_identity(client->config.transport, client->peer, &server);
    client->server = server.address;
    if (keeps && count == 0) return;
    client->standby_count = 0;
    for (uint32_t i = 0; i < count; i++) {
        if (may_be_asked(&read[i], &server, is_known))
            client->standbys[client->standby_count++] = read[i];
        else
            net_client_malformed(client);
    }
}

// ---- another server goes on with the match

// What the mirror was made with must be the same.
static bool is_same_match(const net_client* client, const Shoal__Wire__Welcome* welcome) {
    const net_match_config* config = net_match_get_config(client->config.match);
    const uint32_t count = config->module->game->setting_count;
    if (welcome->n_settings != count || welcome->tick_rate_hz != config->tick_rate_hz ||
        welcome->replicated_index_max != client->index_max)
        return false;
    for (uint32_t i = 0; i < count; i++)
        if (!(welcome->settings[i] == config->settings[i])) return false;
    return true;
}

static bool rebase(net_client* client, const Shoal__Wire__Welcome* welcome) {
    BASE_ASSERT(client->mirror && client->varsize);
    if ((welcome->is_solo && !client->config.solo) || !are_settings_right(client, welcome)) {
        net_client_malformed(client);
        return false;
    }
    if (!is_same_match(client, welcome)) { // it comes again, and starts again
        net_client_end_exchanged(client);
        return false;
    }
    net_mirror_rebase(client->mirror, welcome->is_solo ? client->config.solo : NULL);
    net_ack_sender_init(&client->sent, 1, client->now_us);
    client->received = (net_ack_receiver){.has_any = false};
    client->has_tick_newest = false;
    client->inbox.newest = client->inbox.part_number = 0;
    client->varsize_ack_count = 0;
    memset(client->resyncs, 0, sizeof client->resyncs);
    client->is_rebased = true;
    return true;
}

// It comes again when it may have been lost with a connection.
static void receive_rebased(net_client* client, const Shoal__Wire__Rebased* rebased) {
    if (client->phase != NET_CLIENT_PLAYING || !client->is_rebased) {
        net_client_malformed(client);
        return;
    }
    (void)net_mirror_end_rebase(client->mirror, rebased->tick);
}

static void receive_still(net_client* client, const Shoal__Wire__Still* still) {
    const bool was_still = client->still[0] != '\0';
    client->still_us = client->now_us;
    (void)base_shown_copy(client->still, sizeof client->still, still->text);
    const bool is_still = client->still[0] != '\0';
    if (is_still == was_still) return;
    const base_reporter* reporter =
        net_ration_take(&client->ration, NET_RATION_LOST, client->now_us);
    if (is_still)
        base_report(reporter, NULL, 0, "note: the match is halted: %s", client->still);
    else
        base_report(reporter, NULL, 0, "note: the match continues");
}

const char* net_client_still(const net_client* client) {
    return client->still[0] ? client->still : NULL;
}

static void resume(net_client* client, const Shoal__Wire__Welcome* welcome) {
    if (welcome->client != client->client) {
        net_client_malformed(client);
        return;
    }
    if (!welcome->is_resumed) { // another match went on while it was away
        net_client_end_exchanged(client);
        return;
    }
    if (welcome->is_rebased && !rebase(client, welcome)) return;
    client->resumes++;
    base_report(net_ration_take(&client->ration, NET_RATION_BACK, client->now_us), NULL, 0,
                "note: back after %.1f s as client %u", net_client_quiet_s(client), client->client);
    take_standbys(client, &welcome->standbys, welcome->is_rebased);
    client->still[0] = '\0';
    client->roster.count = 0;
    client->server_reads_short = welcome->reads_short;
    client->received_us = client->back_us = client->now_us;
    client->input_floor = client->input_number;
    client->has_watched = false;
    net_pace_restart(&client->pace);
    client->meter.has_arrival = false;
    net_client_set_phase(client, NET_CLIENT_PLAYING, "resumed");
}

// A server of an earlier release reads over the wish, and makes a player of it.
static bool is_taken_for_player(net_client* client, const Shoal__Wire__Welcome* welcome) {
    if (!client->config.is_spectator || welcome->is_spectator) return false;
    client->refusal = SHOAL__WIRE__REFUSED_REASON__REFUSED_FULL;
    base_text_copy(client->refusal_text, sizeof client->refusal_text,
                   "this server knows no spectators: it needs a newer shoal-server");
    hang_up(client, NET_CLIENT_END_REFUSED, NET_END_LEFT);
    return true;
}

static bool has_lost_its_match(net_client* client, const Shoal__Wire__Welcome* welcome) {
    if (client->phase == NET_CLIENT_RESUMING && welcome->epoch > 0 &&
        welcome->epoch < client->epoch)
        return true;
    if (welcome->epoch > client->epoch) client->epoch = welcome->epoch;
    return false;
}

static void receive_welcome(net_client* client, const Shoal__Wire__Welcome* welcome) {
    if (is_taken_for_player(client, welcome)) return;
    if (has_lost_its_match(client, welcome)) {
        net_client_leave_stale(client);
        return;
    }
    const bool is_anew = client->phase == NET_CLIENT_RESUMING && !client->mirror;
    if (client->phase == NET_CLIENT_RESUMING && !is_anew) {
        resume(client, welcome);
        return;
    }
    if ((client->phase != NET_CLIENT_GREETING && !is_anew) || !client->config.match ||
        welcome->client == 0 || welcome->tick_rate_hz < NET_TICK_RATE_HZ_MIN ||
        welcome->tick_rate_hz > NET_TICK_RATE_HZ_MAX || welcome->is_resumed ||
        (welcome->is_solo && !client->config.solo) ||
        (welcome->is_spectator && !client->config.is_spectator) ||
        (welcome->resume.len != 0 && welcome->resume.len != NET_RESUME_BYTES) ||
        !are_settings_right(client, welcome)) {
        net_client_malformed(client);
        return;
    }
    net_match_mirror_start(client->config.match, welcome->tick_rate_hz, welcome->settings,
                           (uint32_t)welcome->n_settings, (net_match_names){find_name, client});
    net_rows_set_tick_rate(client->rows, welcome->tick_rate_hz);
    uint32_t index_max = ecs_limits_default().replicated_index_max;
    if (welcome->replicated_index_max && welcome->replicated_index_max < index_max)
        index_max = welcome->replicated_index_max;
    net_mirror_config config = {
        .allocator = client->config.allocator,
        .world = client->config.is_thin ? NULL : net_match_world(client->config.match),
        .rows = client->rows,
        .index_max = index_max,
        .trace = client->config.trace ? trace_update : NULL,
        .trace_context = client,
        .solo = welcome->is_solo ? client->config.solo : NULL,
    };
    net_presenter* presenter = client->config.presenter;
    if (presenter)
        config.sink = net_presenter_face_of(presenter)->begin(presenter, client->config.match);
    client->mirror = net_mirror_create(&config);
    open_varsize(client, index_max);
    client->client = welcome->client;
    client->index_max = welcome->replicated_index_max;
    client->server_reads_short = welcome->reads_short;
    client->has_resume = welcome->resume.len > 0;
    if (client->has_resume) memcpy(client->resume, welcome->resume.data, NET_RESUME_BYTES);
    take_standbys(client, &welcome->standbys, false);
    client->still[0] = '\0';
    net_pace_init(&client->pace, welcome->tick_rate_hz);
    // From 1: an input packet with seq 0 and nothing in it would have no bytes at all
    // (send_inputs).
    net_ack_sender_init(&client->sent, 1, client->now_us);
    BASE_ASSERT(client->client != 0 && client->varsize);
    net_client_set_phase(client, NET_CLIENT_PLAYING, "welcome");
}

static void receive_info(net_client* client, const Shoal__Wire__Info* info) {
    client->info.players = info->players;
    client->info.players_max = info->players_max;
    client->info.spectators = info->spectators;
    client->info.spectators_max = info->spectators_max;
    client->refused_ms = info->retry_ms;
}

static void receive_refused(net_client* client, const Shoal__Wire__Refused* refused) {
    client->info.ping_ms = (double)(client->now_us - client->greeted_us) * 1e-3;
    client->refusal = (uint32_t)refused->reason;
    (void)base_shown_copy(client->refusal_text, sizeof client->refusal_text, refused->text);
    (void)base_shown_copy(client->refusal_game, sizeof client->refusal_game, refused->game);
    bool is_resuming = client->phase == NET_CLIENT_RESUMING && client->mirror;
    if (client->refused_ms > 0 && client->config.is_bot && client->phase == NET_CLIENT_GREETING) {
        net_client_greet_later(client, client->refused_ms);
        return;
    }
    if (is_resuming)
        base_report(net_ration_take(&client->ration, NET_RATION_LOST, client->now_us), NULL, 0,
                    "connection lost: %s", client->refusal_text);
    net_client_begin_closing(client, is_resuming ? NET_CLIENT_END_LOST : NET_CLIENT_END_REFUSED);
}

static void report_end(net_client* client, const Shoal__Wire__Goodbye* goodbye, bool is_orderly) {
    char text[NET_END_TEXT_BYTES];
    bool has_text = base_shown_copy(text, sizeof text, goodbye->text);
    if (is_orderly) {
        const bool is_transfer = goodbye->reason == NET_END_TRANSFERRED;
        if (has_text || is_transfer)
            base_report(client->config.reporter, NULL, 0, "note: %s%s%s",
                        is_transfer ? "going on in another match" : "the game ended the match",
                        has_text ? ": " : "", text);
        return;
    }
    base_report(net_ration_take(&client->ration, NET_RATION_LOST, client->now_us), NULL, 0,
                "connection lost: the server ended the session: %s%s%s",
                net_end_text((net_end)goodbye->reason), has_text ? ": " : "", text);
}

net_world_digest net_client_digest(net_client* client) {
    ecs_world* world = net_match_world(client->config.match);
    return client->config.is_thin
               ? net_mirror_digest(client->mirror, world)
               : net_world_digest_walk(net_match_schema(client->config.match), world, NULL, NULL);
}

// Compare the whole world with the hash of a goodbye, and tell the operator what differs.
// @return the reason with which the connection is closed: NET_END_GOODBYE, or NET_END_DIFFERS with
//         the place (WIRE.md, "Goodbye").
static uint32_t compare(net_client* client, uint64_t hash) {
    ecs_world* world = net_match_world(client->config.match);
    if (!client->config.is_thin && ecs_handle_count(world, ECS_STATE_LOADING) > 0)
        return NET_END_GOODBYE;
    if (net_client_digest(client).hash == hash) return NET_END_GOODBYE;
    client->differs = true;
    net_mirror_difference found = client->differing;
    for (uint32_t i = 0; i < NET_MIRROR_SWEEP_CALLS; i++) {
        net_mirror_difference here;
        if (!net_mirror_sweep(client->mirror, &here)) continue;
        found = here;
        break;
    }
    if (found.entity == ECS_ENTITY_NONE)
        return BASE_REPORT_AS(
            NET_END_DIFFERS, client->config.reporter, NULL, 0,
            "client %" PRIu32 ": our world differs from the server's in tick %" PRIu64
            ", though we have all as it was sent: the game wrote a value past its tracking",
            client->client, net_mirror_tick(client->mirror));
    const net_row_template* row_template =
        ecs_is_alive(world, found.entity)
            ? net_rows_find(client->rows, ecs_entity_template(world, found.entity))
            : NULL;
    uint32_t position = 0;
    for (uint32_t c = 0; row_template && c < row_template->layout.component_count; c++)
        if (row_template->layout.components[c].key == found.component) position = c + 1;
    base_report(client->config.reporter, NULL, 0,
                "client %" PRIu32 ": our world differs from the server's in tick %" PRIu64
                ": entity %" PRIu32 ":%" PRIu32 " (%s), component %s",
                client->client, net_mirror_tick(client->mirror), ecs_entity_index(found.entity),
                ecs_entity_generation(found.entity),
                row_template ? ecs_template_get(world, row_template->id)->name : "not known",
                position ? ecs_component_get(world, found.component)->name : "-");
    const uint32_t index = ecs_entity_index(found.entity);
    return NET_END_DIFFERS | (position & 0xff) << 8 | (index <= UINT16_MAX ? index << 16 : 0);
}

static void receive_goodbye(net_client* client, const Shoal__Wire__Goodbye* goodbye) {
    if (client->phase == NET_CLIENT_RESUMING) {
        hang_up(client, NET_CLIENT_END_LOST, NET_END_GOODBYE);
        return;
    }
    if (client->phase != NET_CLIENT_PLAYING) {
        client->refusal = SHOAL__WIRE__REFUSED_REASON__REFUSED_ENDED;
        base_text_copy(client->refusal_text, sizeof client->refusal_text,
                       "the match ended before it began for us");
        hang_up(client, NET_CLIENT_END_REFUSED, NET_END_GOODBYE);
        return;
    }
    if (goodbye->reason == NET_END_EXCHANGED) {
        net_client_end_exchanged(client);
        return;
    }
    if (goodbye->reason == NET_END_REFUSED) {
        client->refusal = NET_REFUSAL_BY_GAME;
        if (!base_shown_copy(client->refusal_text, sizeof client->refusal_text, goodbye->text))
            base_text_copy(client->refusal_text, sizeof client->refusal_text,
                           "the game refused this player");
        hang_up(client, NET_CLIENT_END_REFUSED, NET_END_GOODBYE);
        return;
    }
    // A goodbye because of silence or a fault is a lost connection, and so is one that cannot be
    // followed.
    const bool is_transfer = goodbye->reason == NET_END_TRANSFERRED &&
                             net_control_read_transfer(goodbye, &client->transfer);
    const bool is_orderly =
        is_transfer || goodbye->reason == NET_END_GOODBYE || goodbye->reason == NET_END_LEFT;
    report_end(client, goodbye, is_orderly);
    const bool is_comparable =
        is_orderly && goodbye->scope_hash != 0 && goodbye->tick == net_mirror_tick(client->mirror);
    hang_up(client,
            is_transfer  ? NET_CLIENT_END_TRANSFERRED
            : is_orderly ? NET_CLIENT_END_GOODBYE
                         : NET_CLIENT_END_LOST,
            is_comparable ? compare(client, goodbye->scope_hash) : NET_END_GOODBYE);
}

// As many items as a message holds. Items are sorted, so the first difference is named when it is
// among them; the server refuses the client either way.
//
// The answer is up to 300 times as long as the question. A server asks once after a hello; one that
// asks again wants our upload.
static void send_schema(net_client* client) {
    if (client->has_answered || client->phase == NET_CLIENT_PLAYING) {
        net_client_malformed(client);
        return;
    }
    client->has_answered = true;
    uint32_t count = 0;
    const net_schema_item* items = net_schema_items(net_match_schema(client->config.match), &count);
    if (count > ANSWER_ITEMS_MAX) count = ANSWER_ITEMS_MAX;
    Shoal__Wire__SchemaItem wire[ANSWER_ITEMS_MAX];
    Shoal__Wire__SchemaItem* pointers[ANSWER_ITEMS_MAX];
    size_t budget = NET_CONTROL_BYTES_MAX - 64;
    uint32_t fitting = 0;
    for (; fitting < count; fitting++) {
        shoal__wire__schema_item__init(&wire[fitting]);
        wire[fitting].name = (char*)(uintptr_t)items[fitting].name; // encoding only reads it
        wire[fitting].hash = items[fitting].hash;
        size_t bytes = shoal__wire__schema_item__get_packed_size(&wire[fitting]) + 4;
        if (bytes > budget) break;
        budget -= bytes;
        pointers[fitting] = &wire[fitting];
    }
    Shoal__Wire__SchemaAnswer answer = SHOAL__WIRE__SCHEMA_ANSWER__INIT;
    answer.n_items = fitting;
    answer.items = pointers;
    (void)net_client_send_control(client, &answer.base);
}

void net_client_receive_control(net_client* client, const uint8_t* bytes, size_t size) {
    const Shoal__Wire__ServerControl* control =
        (const Shoal__Wire__ServerControl*)proto_codec_decode(
            &client->codec, &shoal__wire__server_control__descriptor, bytes, size,
            NET_CONTROL_BYTES_MAX);
    if (!control) {
        net_client_trace_packet(client, NET_TRACE_RECEIVED, "malformed", 0, size);
        net_client_malformed(client);
        return;
    }
    net_client_trace_packet(client, NET_TRACE_RECEIVED, net_control_name(&control->base), 0, size);
    switch (control->kind_case) {
    case SHOAL__WIRE__SERVER_CONTROL__KIND_WELCOME:
        receive_welcome(client, control->welcome);
        break;
    case SHOAL__WIRE__SERVER_CONTROL__KIND_REFUSED:
        receive_refused(client, control->refused);
        break;
    case SHOAL__WIRE__SERVER_CONTROL__KIND_ROSTER:
        if (client->phase != NET_CLIENT_PLAYING ||
            net_roster_take(&client->roster, control->roster) != NET_OK)
            net_client_malformed(client);
        break;
    case SHOAL__WIRE__SERVER_CONTROL__KIND_VARSIZE:
        if (client->phase == NET_CLIENT_PLAYING)
            receive_varsize(client, control->varsize);
        else
            net_client_malformed(client);
        break;
    case SHOAL__WIRE__SERVER_CONTROL__KIND_SCHEMA_QUESTION:
        if (client->config.match) send_schema(client);
        break;
    case SHOAL__WIRE__SERVER_CONTROL__KIND_GOODBYE:
        receive_goodbye(client, control->goodbye);
        break;
    case SHOAL__WIRE__SERVER_CONTROL__KIND_STANDBYS:
        if (client->phase == NET_CLIENT_PLAYING)
            take_standbys(client, &control->standbys->addresses, false);
        else
            net_client_malformed(client);
        break;
    case SHOAL__WIRE__SERVER_CONTROL__KIND_REBASED:
        receive_rebased(client, control->rebased);
        break;
    case SHOAL__WIRE__SERVER_CONTROL__KIND_STILL:
        receive_still(client, control->still);
        break;
    case SHOAL__WIRE__SERVER_CONTROL__KIND_INFO:
        receive_info(client, control->info);
        break;
    default: // a message of a kind that a later server knows is skipped
        if (control->base.n_unknown_fields == 0) net_client_malformed(client);
        break;
    }
}
