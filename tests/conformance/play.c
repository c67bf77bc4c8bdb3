// SPDX-License-Identifier: MIT
// WIRE.md, "Transport" and "Session": a player that presses buttons and does not look at the match.
//
// One loop receives from ENet and sends an InputPacket once per tick. It ends when the connection
// does, which both sides close after the server's goodbye. Options make it drop datagrams on
// purpose, and change words of its mirror to see them resynced.
#include "play.h"

#include "outer.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { SILENCE_S = 90, FAULTS_PRINTED = 5, CORRUPT_FROM_TICK = 60 };

double now_s(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + (double)now.tv_nsec * 1e-9;
}

void fault(game_client* client, const char* what) {
    if (client->counts.malformed++ < FAULTS_PRINTED) fprintf(stderr, "fault: %s\n", what);
}

bool is_lost(game_client* client) {
    client->chance = client->chance * 6364136223846793005u + 1442695040888963407u;
    return (client->chance >> 33) % 100 < client->options->loss_percent;
}

// ENet calls this for every datagram before it looks at it. 1 drops the datagram.
static int ENET_CALLBACK intercept(ENetHost* host, ENetEvent* event) {
    game_client* client = host->peers[0].data;
    (void)event;
    if (!client || !client->mirror || !is_lost(client)) return 0;
    client->counts.lost_in++;
    return 1;
}

static void take_packet(void* context, const uint8_t* bytes, size_t size) {
    game_client* client = context;
    if (client->mirror && is_lost(client)) {
        client->counts.lost_in++;
        return;
    }
    const ENetPacket packet = {.data = (uint8_t*)(uintptr_t)bytes, .dataLength = size};
    receive_state(client, &packet);
}

static void receive(game_client* client, uint32_t wait_ms) {
    ENetEvent event;
    while (!client->is_over && enet_host_service(client->host, &event, wait_ms) > 0) {
        wait_ms = 0;
        if (event.type == ENET_EVENT_TYPE_CONNECT) {
            event.peer->mtu = 1200;
            send_hello(client);
        } else if (event.type == ENET_EVENT_TYPE_DISCONNECT) {
            client->is_over = true;
        } else if (event.type == ENET_EVENT_TYPE_RECEIVE) {
            if (event.channelID == CONTROL) receive_control(client, event.packet);
            enet_packet_destroy(event.packet);
        }
    }
}

// Change one word of the mirror, as a fault would. A probe must find it.
static void corrupt(game_client* client) {
    uint32_t interval = client->options->corrupt_ticks;
    if (interval == 0 || client->corrupted_slot || client->ticks < CORRUPT_FROM_TICK) return;
    if (client->ticks % interval != 0 || client->counts.resynced > 0) return;
    for (uint32_t slot = client->counts.corrupted; slot < 64; slot++) {
        if (!mirror_corrupt(client->mirror, slot)) continue;
        client->corrupted_slot = slot + 1;
        client->counts.corrupted++;
        return;
    }
}

static void run(game_client* client) {
    double start = now_s(), next = start;
    while (!client->is_over && !outer_is_closed() && now_s() - start < SILENCE_S) {
        double rest_ms = (next - now_s()) * 1000;
        receive(client, rest_ms > 1 ? (uint32_t)rest_ms : 0);
        if (now_s() < next) continue;
        // Run a little slower while inputs wait at the server, and a little faster while none wait.
        double rate = client->tick_rate_hz ? client->tick_rate_hz : 60;
        next += (client->input_depth > 3 ? 1.02 : client->input_depth < 2 ? 0.98 : 1) / rate;
        if (!client->mirror || client->has_goodbye) continue;
        client->ticks++;
        release_events(client);
        corrupt(client);
        send_inputs(client);
    }
}

static bool connect_to(game_client* client, const char* text) {
    char name[64];
    const char* colon = strrchr(text, ':');
    ENetAddress address;
    if (!colon || (size_t)(colon - text) >= sizeof name) return false;
    memcpy(name, text, (size_t)(colon - text));
    name[colon - text] = 0;
    if (enet_address_set_host(&address, name) != 0) return false;
    address.port = (uint16_t)atoi(colon + 1);
    client->host = enet_host_create(NULL, 1, 2, 0, 0);
    bool is_open = client->host && outer_connect(client->host->socket, &address);
    client->peer = is_open ? enet_host_connect(client->host, &address, 2, 0) : NULL;
    if (!client->peer) return false;
    client->peer->data = client;
    outer_set_packet(take_packet, client);
    enet_peer_timeout(client->peer, 20000, 15000, 60000);
    if (client->options->loss_percent > 0) client->host->intercept = intercept;
    return true;
}

static void report_rows(const mirror_counts* counts, const play_counts* own) {
    printf("conformance rows=%" PRIu64 " words=%" PRIu64 " creates=%" PRIu32 " recreates=%" PRIu32
           " destroys=%" PRIu32 " updates=%" PRIu32 " bases=%" PRIu32 " from_packet=%" PRIu32
           " absent=%" PRIu32 " second_rows=%" PRIu32 " settled=%" PRIu32 " from_default=%" PRIu32
           " late=%" PRIu32 " decoded=%" PRIu32 " encoded_again=%" PRIu32 " unequal=%" PRIu32
           " bytes=%" PRIu64 " solo=%" PRIu32 " third_rows=%" PRIu32 "\n",
           counts->rows, counts->words, counts->creates, counts->recreates, counts->destroys,
           counts->updates, counts->bases, counts->from_packet, counts->absent, counts->second_rows,
           counts->settled, counts->from_default, counts->late, own->decoded, own->encoded,
           own->unequal, own->bytes, counts->solo, counts->third_rows);
}

static bool report(const game_client* client) {
    uint32_t entities;
    uint64_t hash = mirror_scope_hash(client->mirror, &entities);
    mirror_counts counts = mirror_count(client->mirror);
    const play_counts* own = &client->counts;
    report_rows(&counts, own);
    printf("conformance id=%" PRIu32 " tick=%" PRIu64 " entities=%" PRIu32 " scope_hash=%016" PRIx64
           " game=%s schema=%s reason=%" PRIu32 " packets=%" PRIu32 " refused=%" PRIu32
           " doubled=%" PRIu32 " malformed=%" PRIu32 " lost_in=%" PRIu32 " lost_out=%" PRIu32
           " events=%" PRIu32 " events_dropped=%" PRIu32 " own_events=%" PRIu32
           " inputs_acked=%" PRIu32 " probes=%" PRIu32 " differing=%" PRIu32 " corrupted=%" PRIu32
           " resynced=%" PRIu32 " values=%" PRIu32 "\n",
           client->id, client->goodbye_tick, entities, hash, client->game->name,
           client->has_equal_schema ? "equal" : "other", client->goodbye_reason, own->packets,
           own->without_base, own->doubled, own->malformed, own->lost_in, own->lost_out,
           own->events, own->events_dropped, own->own, client->input_ack, own->probes,
           own->differing, own->corrupted, own->resynced, own->values);
    return own->malformed == 0;
}

static int play_with(game_client* client) {
    uint64_t hash = schema_hash(client->schema);
    client->has_equal_schema = hash == strtoull(client->options->schema_hash, NULL, 16);
    // Play in any case: the refusal names the item that differs.
    if (!client->has_equal_schema)
        fprintf(stderr, "schema %016" PRIx64 " is not the server's\n", hash);
    if (enet_initialize() != 0 || !connect_to(client, client->options->address)) return 1;
    run(client);
    if (client->mirror && client->has_goodbye) return report(client) ? 0 : 1;
    fprintf(stderr, "no goodbye\n");
    return 1;
}

int play(const play_options* options) {
    cf_tables* tables = tables_read(options->folder);
    bool is_own = strcmp(options->game, "vectors") == 0; // to see another schema refused
    game_tables* read = tables && !is_own ? game_read(options->game) : NULL;
    const game_tables* game = is_own ? game_find("vectors") : read;
    cf_schema* schema = tables && game ? schema_create(game, tables) : NULL;
    int code = 2;
    if (schema) {
        game_client client = {.options = options,
                              .game = schema_game(schema),
                              .schema = schema,
                              .chance = options->seed};
        client.held = calloc(EVENTS_MAX, sizeof *client.held);
        client.waiting = calloc(VALUES_MAX, sizeof *client.waiting);
        if (!client.held || !client.waiting) abort();
        code = play_with(&client);
        if (client.host) enet_host_destroy(client.host);
        if (client.mirror) mirror_destroy(client.mirror);
        for (uint32_t i = 0; i < client.waiting_count; i++)
            free(client.waiting[i].bytes);
        free(client.waiting);
        free(client.held);
        schema_destroy(schema);
    } else if (tables) {
        fprintf(stderr, "no schema in %s\n", options->game);
    }
    game_free(read);
    free(tables);
    return code;
}
