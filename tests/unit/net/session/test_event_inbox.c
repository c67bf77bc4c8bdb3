// SPDX-License-Identifier: MIT

#include "ecs_parts.h"

#include "session/event_queue.h"

typedef struct fixture {
    net_event_inbox box;
    ecs_world* world;
    ecs_template_id template_id;
    ecs_entity known_handle; ///< for every index, since known_tick
    ecs_tick known_tick;     ///< 0: no record
} fixture;

static bool find_known(void* context, uint32_t index, ecs_entity* handle, ecs_tick* tick) {
    const fixture* at = context;
    *handle = at->known_handle;
    *tick = at->known_tick;
    return at->known_tick > 0;
}

static void open(fixture* at) {
    memset(at, 0, sizeof *at);
    at->world = world_of("stone { hp:i=1 }\n");
    assert_ok(ecs_world_seal(at->world, NULL));
    at->template_id = ecs_template_find(at->world, "stone");
    net_event_inbox_init(&at->box, NULL);
    at->box.find_known = find_known;
    at->box.find_known_context = at;
}

static void close(fixture* at) {
    net_event_inbox_deinit(&at->box);
    ecs_world_destroy(at->world);
}

static ecs_entity make(fixture* at) {
    ecs_entity entity = ECS_ENTITY_NONE;
    assert_ok(ecs_create(at->world, at->template_id, NULL, 0, &entity));
    return entity;
}

// Make a handle of a destroyed entity of the same template: it cannot be a target.
static ecs_entity make_dead(fixture* at) {
    ecs_entity entity = make(at);
    assert_ok(ecs_destroy(at->world, entity));
    return entity;
}

static void push_naming(fixture* at, uint32_t number, uint32_t message, ecs_entity target,
                        const ecs_entity* entities, uint32_t count, bool is_late) {
    Shoal__Wire__GameEvent event = SHOAL__WIRE__GAME_EVENT__INIT;
    uint8_t payload[2] = {(uint8_t)message, 5};
    event.number = number;
    event.message = message;
    event.target = target;
    event.tick = 77;
    event.payload.data = payload;
    event.payload.len = sizeof payload;
    net_event_needs needs = {.is_late = is_late, .count = count};
    for (uint32_t i = 0; i < count; i++)
        needs.entities[i] = entities[i];
    (void)net_event_inbox_push(&at->box, &event, &needs);
}

static void push(fixture* at, uint32_t number, uint32_t message, ecs_entity target) {
    push_naming(at, number, message, target, NULL, 0, false);
}

static uint32_t next(fixture* at) {
    const net_event* event = net_event_inbox_next(&at->box, at->world);
    if (!event) return 0;
    assert_int_equal(event->size, 2);
    assert_int_equal(event->payload[0], (uint8_t)event->message);
    assert_int_equal(event->tick, 77);
    return event->message;
}

static void age(fixture* at, uint32_t ticks) {
    for (uint32_t i = 0; i < ticks; i++)
        net_event_inbox_age(&at->box);
}

#define INBOX_CASE(name) CASE_WITH(fixture, at, open(at), close(at), name)

INBOX_CASE(reliable_events_come_once_and_in_order) {
    push(at, 2, 12, 0); // after a gap; the server will send it again
    assert_int_equal(next(at), 0);
    push(at, 1, 11, 0);
    push(at, 2, 12, 0);
    push(at, 1, 11, 0);
    push(at, 2, 12, 0);
    push(at, UINT32_MAX, 13, 0);
    assert_int_equal(at->box.newest, 2);
    assert_int_equal(net_event_inbox_done(&at->box), 0);
    assert_int_equal(next(at), 11);
    assert_int_equal(net_event_inbox_done(&at->box), 1);
    assert_int_equal(next(at), 12);
    assert_int_equal(net_event_inbox_done(&at->box), 2);
    assert_int_equal(next(at), 0);
    assert_int_equal(at->box.known, 4);
    assert_int_equal(at->box.dropped, 0);
}

INBOX_CASE(a_reliable_event_that_waits_holds_those_behind_it_but_no_unreliable_one) {
    ecs_entity dead = make_dead(at);
    push(at, 1, 11, dead);
    push(at, 2, 12, 0);
    push(at, 0, 13, 0);
    push(at, 0, 14, dead);
    push(at, 0, 15, 0);
    assert_int_equal(next(at), 13);
    assert_int_equal(next(at), 15);
    assert_int_equal(next(at), 0);
    net_event_line_next(&at->box.line, NULL)->target = make(at);
    assert_int_equal(next(at), 11);
    assert_int_equal(next(at), 12);
    assert_int_equal(next(at), 0);
    assert_int_equal(at->box.line.count, 1);
}

INBOX_CASE(beyond_the_limit_reliable_events_are_left_to_come_again) {
    uint32_t max = NET_EVENTS_RELIABLE_MAX;
    for (uint32_t i = 1; i <= max; i++)
        push(at, i, i, 0);
    assert_int_equal(at->box.newest, max);
    push(at, max + 1, max + 1, 0);
    push(at, 0, 9, 0);
    assert_int_equal(at->box.newest, max);
    assert_int_equal(at->box.line.count, max);
    assert_int_equal(at->box.full, 2); // both events
    assert_int_equal(next(at), 1);
    push(at, max + 1, max + 1, 0);
    assert_int_equal(at->box.newest, max + 1);
    for (uint32_t i = 2; i <= max + 1; i++)
        assert_int_equal(next(at), i);
    assert_int_equal(next(at), 0);
}

// Offer what a packet has. Whole, it is pushed.
static net_result offer(fixture* at, uint32_t number, uint32_t part, uint32_t bytes,
                        uint32_t whole) {
    static uint8_t payload[NET_EVENT_PAYLOAD_BYTES_MAX + 1];
    for (uint32_t i = 0; i < bytes; i++)
        payload[i] = (uint8_t)(number + (part * NET_EVENT_PART_BYTES_MAX + i) % 251);
    Shoal__Wire__GameEvent event = SHOAL__WIRE__GAME_EVENT__INIT;
    event.number = number;
    event.message = 7;
    event.payload = (ProtobufCBinaryData){bytes, payload};
    event.whole_bytes = whole;
    event.part = part;
    const net_result result = net_event_inbox_join(&at->box, &event);
    if (result == NET_OK) (void)net_event_inbox_push(&at->box, &event, NULL);
    return result;
}

// The next event is a collected one.
static void expect_whole(fixture* at, uint32_t number, uint32_t size) {
    const net_event* event = net_event_inbox_next(&at->box, at->world);
    assert_non_null(event);
    assert_int_equal(event->number, number);
    assert_int_equal(event->size, size);
    for (uint32_t i = 0; i < size; i++)
        assert_int_equal(event->payload[i], (uint8_t)(number + i % 251));
}

INBOX_CASE(payloads_are_taken_up_to_their_limit) {
    const uint32_t max = NET_EVENT_PART_BYTES_MAX;
    assert_ok(offer(at, 1, 0, max - 1, 0));
    assert_ok(offer(at, 2, 0, max, 0));
    assert_int_equal(offer(at, 3, 0, max + 1, 0), NET_ERR_MALFORMED);
    assert_int_equal(offer(at, 3, 1, 10, 0), NET_ERR_MALFORMED);
    assert_ok(offer(at, 3, 0, 0, 0));
    assert_int_equal(at->box.newest, 3);
    assert_null(at->box.parts); // who gets no parts has no memory for them
}

INBOX_CASE(parts_that_come_in_any_order_are_one_event) {
    const uint32_t max = NET_EVENT_PAYLOAD_BYTES_MAX, part = NET_EVENT_PART_BYTES_MAX;
    for (uint32_t size = max - 1; size <= max; size++) {
        const uint32_t number = size - max + 2, last = size - 4 * part;
        assert_int_equal(offer(at, number, 4, last, size), NET_ERR_STALE);
        assert_int_equal(offer(at, number, 1, part, size), NET_ERR_STALE);
        assert_int_equal(offer(at, number, 1, part, size), NET_ERR_STALE);
        assert_int_equal(offer(at, number, 0, part, size), NET_ERR_STALE);
        assert_int_equal(offer(at, number + 1, 2, part, size), NET_ERR_STALE); // not the next
        assert_int_equal(offer(at, number, 3, part, size), NET_ERR_STALE);
        assert_int_equal(net_event_inbox_done(&at->box), number - 1);
        assert_ok(offer(at, number, 2, part, size));
        assert_int_equal(net_event_inbox_done(&at->box), number - 1);
        assert_int_equal(offer(at, number, 2, part, size), NET_ERR_STALE); // it has come
        expect_whole(at, number, size);
        assert_int_equal(net_event_inbox_done(&at->box), number);
    }
    assert_int_equal(offer(at, 3, 0, part, part + 1), NET_ERR_STALE);
    assert_ok(offer(at, 3, 1, 1, part + 1));
    expect_whole(at, 3, part + 1);
    assert_ok(offer(at, 4, 0, 9, 0)); // a whole event follows
    expect_whole(at, 4, 9);
}

INBOX_CASE(parts_that_no_sender_makes_are_refused) {
    const uint32_t max = NET_EVENT_PAYLOAD_BYTES_MAX, part = NET_EVENT_PART_BYTES_MAX;
    assert_int_equal(offer(at, 1, 0, part, part), NET_ERR_MALFORMED); // it needs none
    assert_int_equal(offer(at, 1, 0, 1, 1), NET_ERR_MALFORMED);
    assert_int_equal(offer(at, 1, 0, part, max + 1), NET_ERR_MALFORMED);
    assert_int_equal(offer(at, 1, 0, part, UINT32_MAX), NET_ERR_MALFORMED);
    assert_int_equal(offer(at, 0, 0, part, max), NET_ERR_MALFORMED); // unreliable
    assert_int_equal(offer(at, 1, 5, part, max), NET_ERR_MALFORMED);
    assert_int_equal(offer(at, 1, UINT32_MAX, part, max), NET_ERR_MALFORMED);
    assert_int_equal(offer(at, 1, 0, part - 1, max), NET_ERR_MALFORMED);
    assert_int_equal(offer(at, 1, 4, part, max - 1), NET_ERR_MALFORMED);
    assert_int_equal(offer(at, 1, 0, part, max), NET_ERR_STALE);
    assert_int_equal(offer(at, 1, 1, part, max - 1), NET_ERR_MALFORMED); // another length
    assert_int_equal(at->box.newest, 0);
}

INBOX_CASE(a_collected_event_without_room_comes_again) {
    const uint32_t part = NET_EVENT_PART_BYTES_MAX, max = NET_EVENTS_RELIABLE_MAX;
    for (uint32_t i = 1; i <= max; i++)
        push(at, i, i, 0);
    assert_int_equal(offer(at, max + 1, 1, part, 2 * part), NET_ERR_STALE);
    assert_ok(offer(at, max + 1, 0, part, 2 * part));
    assert_int_equal(at->box.full, 1);
    assert_int_equal(at->box.newest, max);
    assert_int_equal(next(at), 1);
    assert_ok(offer(at, max + 1, 0, part, 2 * part));
    for (uint32_t i = 2; i <= max; i++)
        assert_int_equal(next(at), i);
    expect_whole(at, max + 1, 2 * part);
}

INBOX_CASE(a_target_that_is_no_handle_at_all_waits_and_goes) {
    push(at, 0, 11, UINT32_MAX);
    push(at, 0, 12, 0x80000001u);
    assert_int_equal(next(at), 0);
    age(at, NET_EVENT_WAIT_TICKS_MAX + 1);
    assert_int_equal(at->box.line.count, 0);
}

INBOX_CASE(an_event_waits_for_all_that_it_names) {
    ecs_entity names[NET_EVENT_ENTITIES_MAX];
    for (uint32_t i = 0; i < NET_EVENT_ENTITIES_MAX; i++)
        names[i] = make(at);
    uint32_t last = NET_EVENT_ENTITIES_MAX - 1;
    ecs_entity living = names[last];
    names[last] = make_dead(at);
    push_naming(at, 1, 11, living, names, NET_EVENT_ENTITIES_MAX, false);
    push(at, 2, 12, 0);
    assert_int_equal(next(at), 0);
    net_event* event = net_event_line_next(&at->box.line, NULL);
    ecs_entity* needs = (ecs_entity*)(void*)(event->payload + 4 - offsetof(net_event, payload) % 4);
    assert_int_equal(needs[last], names[last]);
    needs[last] = living;
    assert_int_equal(next(at), 11);
    assert_int_equal(next(at), 12);
    assert_int_equal(at->box.dropped, 0);
}

CASE_ROWS(fixture, at, open(at), close(at), is_named, 2,
          an_event_about_who_is_gone_since_holds_up_nobody) {
    ecs_entity dead = make_dead(at);
    if (is_named)
        push_naming(at, 1, 11, 0, &dead, 1, false);
    else
        push(at, 1, 11, dead);
    push(at, 2, 12, 0);
    assert_int_equal(next(at), 0);
    at->known_tick = 76; // the record is older than the event: the entity may still come
    assert_int_equal(next(at), 0);
    at->known_tick = 77;
    at->known_handle = dead; // the entity is there, but it loads
    assert_int_equal(next(at), 0);
    at->known_handle = ECS_ENTITY_NONE;
    assert_int_equal(next(at), 12);
    assert_int_equal(at->box.line.count, 0);
    assert_int_equal(at->box.dropped, 1);
}

INBOX_CASE(one_that_may_come_late_is_delivered_without_whom_it_names) {
    ecs_entity dead = make_dead(at);
    ecs_entity living = make(at);
    push_naming(at, 1, 11, living, &dead, 1, true);
    push_naming(at, 2, 12, dead, &living, 1, true);
    push(at, 3, 13, 0);
    assert_int_equal(next(at), 0);
    age(at, NET_EVENT_WAIT_TICKS_MAX);
    assert_int_equal(next(at), 0);
    age(at, 1);
    assert_int_equal(next(at), 11);
    assert_int_equal(next(at), 0); // the target is not there yet, so the event waits
    age(at, 2);
    assert_int_equal(next(at), 13);
    assert_int_equal(at->box.dropped, 1);
    // An event does not wait for an entity that is known to be destroyed.
    at->known_tick = 100;
    push_naming(at, 4, 14, living, &dead, 1, true);
    push_naming(at, 5, 15, dead, &living, 1, true);
    assert_int_equal(next(at), 14);
    assert_int_equal(next(at), 0);
    assert_int_equal(at->box.line.count, 0);
    assert_int_equal(at->box.dropped, 2);
}
