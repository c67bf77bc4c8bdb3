// SPDX-License-Identifier: MIT
// The view of a playback gets what a client on a perfect network would get: the quantised rows that
// changed, values of variable size, and the events that go to all clients.
#include "playback/playback_feed.h"

#include "ecs/change.h"
#include "net/match_messages.h"

static void send_event(net_playback_feed* feed, net_match* match, net_scene* scene,
                       const ecs_event* event) {
    uint32_t message = net_match_message_of(match, event->type);
    if (message == 0) return;
    const net_message* known = &feed->game->messages[message - 1];
    net_event_outbox_entry entry = {
        .message = message, .tick = net_match_tick(match), .target = event->target};
    size_t size;
    // A server does not send an event that is too long, so the view does not get it.
    if (net_match_pack(match, message, event->payload, entry.payload, sizeof entry.payload,
                       &size) != NET_OK)
        return;
    entry.size = (uint32_t)size;
    if (known->is_reliable) entry.number = ++feed->event_number;
    net_scene_event(scene, &entry);
}

typedef struct showing {
    net_scene* scene;
    uint64_t versions[NET_VARSIZE_FLIGHT_MAX];
    uint32_t count;
} showing;

static net_result show_varsize(void* context, const net_varsize_message* message) {
    showing* to = context;
    net_result result = net_scene_varsize(to->scene, message);
    if (result == NET_OK) to->versions[to->count++] = message->version;
    return result;
}

// Each value arrives as soon as it is sent.
static net_result send_varsize(net_playback_feed* feed, const ecs_world* world, ecs_tick tick,
                               net_scene* scene) {
    net_result result = net_varsize_source_step(feed->varsize, world, tick);
    if (result != NET_OK) return result;
    uint32_t count;
    const net_history_event* events = net_history_events(feed->history, &count);
    for (uint32_t i = 0; i < count; i++)
        if (events[i].kind == NET_HISTORY_SPAWNED)
            net_varsize_sender_enter(feed->varsize_view, events[i].handle, UINT32_MAX, tick);
    showing to = {.scene = scene};
    do {
        to.count = 0;
        net_varsize_sender_publish(feed->varsize_view, UINT32_MAX, show_varsize, &to);
        for (uint32_t i = 0; i < to.count; i++)
            (void)net_varsize_sender_ack(feed->varsize_view, to.versions[i]);
    } while (to.count > 0);
    return net_varsize_sender_is_broken(feed->varsize_view) ? NET_ERR_MEMORY : NET_OK;
}

net_result net_playback_feed_step(net_playback_feed* feed, net_match* match, net_scene* scene) {
    ecs_world* world = net_match_world(match);
    ecs_tick tick = net_match_tick(match);
    // The first step takes the whole world; events of the ticks before it are over.
    bool is_first = net_history_step_count(feed->history) == 0;
    net_result result = net_history_step(feed->history, world, tick);
    if (result != NET_OK) return result;
    uint32_t count;
    const net_history_event* events = net_history_events(feed->history, &count);
    for (uint32_t i = 0; i < count; i++) {
        if (events[i].kind == NET_HISTORY_DESPAWNED) {
            net_scene_gone(scene, events[i].handle, tick);
            continue;
        }
        const net_history_entity* entity =
            net_history_find(feed->history, ecs_entity_index(events[i].handle));
        uint64_t row[PROTO_ROW_FIELDS_MAX];
        proto_row_unpack(&entity->row_template->layout, net_history_newest(entity), row);
        net_scene_row(scene, entity->handle, entity->row_template, tick, row);
    }
    result = send_varsize(feed, world, tick, scene);
    if (result != NET_OK) return result;
    net_scene_packet(scene, tick);
    ecs_changes changes = ecs_changes_get(world);
    for (uint32_t i = 0; i < changes.event_count && !is_first; i++)
        send_event(feed, match, scene, &changes.events[i]);
    return NET_OK;
}

net_result net_playback_feed_open(net_playback_feed* feed, net_playback_run* run) {
    if (feed->rows && feed->rows_number == net_playback_run_match_number(run)) return NET_OK;
    net_playback_feed_close(feed);
    feed->rows_number = net_playback_run_match_number(run);
    return net_rows_create(feed->allocator, net_match_world(net_playback_run_match(run)),
                           feed->reporter, &feed->rows);
}

void net_playback_feed_close(net_playback_feed* feed) {
    net_playback_feed_leave(feed);
    net_rows_destroy(feed->rows);
    feed->rows = NULL;
}

net_result net_playback_feed_enter(net_playback_feed* feed, uint32_t indices) {
    feed->event_number = 0;
    net_result result = net_history_create(feed->allocator, feed->rows, indices, &feed->history);
    if (result == NET_OK)
        result = net_varsize_source_create(feed->allocator, feed->rows, indices, feed->reporter,
                                           &feed->varsize);
    if (result == NET_OK) result = net_varsize_sender_create(feed->varsize, &feed->varsize_view);
    return result;
}

void net_playback_feed_leave(net_playback_feed* feed) {
    net_history_destroy(feed->history);
    net_varsize_sender_destroy(feed->varsize_view);
    net_varsize_source_destroy(feed->varsize);
    feed->history = NULL;
    feed->varsize_view = NULL;
    feed->varsize = NULL;
}
