// SPDX-License-Identifier: MIT

#include "test.h"

#include "session/event_queue.h"

static Shoal__Wire__GameEvent events[NET_EVENTS_RELIABLE_MAX + NET_EVENTS_UNRELIABLE_MAX];
static Shoal__Wire__GameEvent* pointers[NET_EVENTS_RELIABLE_MAX + NET_EVENTS_UNRELIABLE_MAX];

static const uint8_t payload[NET_EVENT_PAYLOAD_BYTES_MAX + 1] = {1, 2, 3};

static uint32_t fill(net_event_outbox* box, uint32_t capacity, size_t budget) {
    size_t used = 0;
    uint32_t count = net_event_outbox_fill(box, events, pointers, capacity, budget, &used);
    size_t bytes = 0;
    for (uint32_t i = 0; i < count; i++) {
        size_t size = shoal__wire__game_event__get_packed_size(pointers[i]);
        bytes += size + (size < 128 ? 2 : 3); // with tag and length in the packet
    }
    assert_true(used <= budget);
    assert_true(bytes <= used);
    return count;
}

static void push(net_event_outbox* box, bool is_reliable, uint32_t message) {
    assert_ok(net_event_outbox_push(box, is_reliable, false, message, 9, 0, payload, 3));
}

#define OUTBOX_CASE(name)                                                                          \
    CASE_WITH(net_event_outbox, box, net_event_outbox_init(box, NULL),                             \
              net_event_outbox_deinit(box), name)

OUTBOX_CASE(reliable_events_are_numbered_from_one_and_ride_until_acknowledged) {
    assert_true(box->reliable.count == 0);
    for (uint32_t i = 0; i < 3; i++)
        push(box, true, 10 + i);
    for (uint32_t round = 0; round < 2; round++) {
        assert_int_equal(fill(box, 32, 1000), 3);
        for (uint32_t i = 0; i < 3; i++) {
            assert_int_equal(pointers[i]->number, i + 1);
            assert_int_equal(pointers[i]->message, 10 + i);
            assert_int_equal(pointers[i]->tick, 9);
            assert_int_equal(pointers[i]->payload.len, 3);
            assert_memory_equal(pointers[i]->payload.data, payload, 3);
        }
        net_event_outbox_drop_unreliable(box);
    }
    assert_true(net_event_outbox_acked(box, 2));
    assert_int_equal(fill(box, 32, 1000), 1);
    assert_int_equal(pointers[0]->number, 3);
    assert_true(net_event_outbox_acked(box, 3));
    assert_true(box->reliable.count == 0);
}

OUTBOX_CASE(a_large_event_in_front_is_not_overtaken) {
    assert_ok(net_event_outbox_push(box, true, false, 1, 1, 0, payload, NET_EVENT_PART_BYTES_MAX));
    push(box, true, 2);
    push(box, false, 3);
    assert_int_equal(fill(box, 32, 100), 0);
    assert_int_equal(fill(box, 32, 600), 3);
}

OUTBOX_CASE(the_number_of_events_of_a_packet_is_bounded) {
    for (uint32_t i = 0; i < 6; i++) {
        push(box, true, 1);
        push(box, false, 2);
    }
    assert_int_equal(fill(box, 4, 1000), 4);
    assert_int_equal(fill(box, 8, 1000), 8);
    assert_int_equal(fill(box, 32, 1000), 6 + 4);
    assert_int_equal(fill(box, 0, 1000), 0);
}

OUTBOX_CASE(payloads_are_taken_up_to_their_limit) {
    for (uint32_t is_reliable = 0; is_reliable < 2; is_reliable++) {
        uint32_t max = is_reliable ? NET_EVENT_PAYLOAD_BYTES_MAX : NET_EVENT_PART_BYTES_MAX;
        assert_ok(net_event_outbox_push(box, is_reliable, false, 1, 1, 0, NULL, 0));
        assert_ok(net_event_outbox_push(box, is_reliable, false, 1, 1, 0, payload, max - 1));
        assert_ok(net_event_outbox_push(box, is_reliable, false, 1, 1, 0, payload, max));
        assert_int_equal(net_event_outbox_push(box, is_reliable, false, 1, 1, 0, payload, max + 1),
                         NET_ERR_MALFORMED);
    }
    assert_int_equal(box->number_next, 4);
    assert_int_equal(box->refused, 0);
}

OUTBOX_CASE(the_queue_of_reliable_events_is_full_at_its_limit) {
    for (uint32_t i = 0; i < NET_EVENTS_RELIABLE_MAX; i++)
        push(box, true, i);
    assert_int_equal(net_event_outbox_push(box, true, false, 1, 1, 0, NULL, 0), NET_ERR_FULL);
    assert_int_equal(box->refused, 1);
    assert_int_equal(box->number_next, NET_EVENTS_RELIABLE_MAX + 1);
    assert_true(net_event_outbox_acked(box, 1));
    push(box, true, 999);
    assert_int_equal(net_event_outbox_push(box, true, false, 1, 1, 0, NULL, 0), NET_ERR_FULL);
    assert_int_equal(fill(box, NET_EVENTS_RELIABLE_MAX, 100000), NET_EVENTS_RELIABLE_MAX);
    for (uint32_t i = 0; i < NET_EVENTS_RELIABLE_MAX; i++)
        assert_int_equal(pointers[i]->number, i + 2);
    assert_int_equal(pointers[NET_EVENTS_RELIABLE_MAX - 1]->message, 999);
}

OUTBOX_CASE(further_unreliable_events_of_a_tick_are_refused_and_counted) {
    for (uint32_t i = 0; i < NET_EVENTS_UNRELIABLE_MAX; i++)
        push(box, false, i);
    assert_int_equal(net_event_outbox_push(box, false, false, 1, 1, 0, NULL, 0), NET_ERR_FULL);
    assert_int_equal(box->refused, 1);
    net_event_outbox_drop_unreliable(box);
    push(box, false, 1);
}

OUTBOX_CASE(order_survives_growth_of_a_ring_that_has_wrapped) {
    uint32_t acked = 0;
    for (uint32_t i = 1; i <= 200; i++) {
        push(box, true, i);
        if (i % 3 == 0) assert_true(net_event_outbox_acked(box, ++acked));
    }
    uint32_t count = fill(box, NET_EVENTS_RELIABLE_MAX, 100000);
    assert_int_equal(count, 200 - acked);
    for (uint32_t i = 0; i < count; i++) {
        assert_int_equal(pointers[i]->number, acked + 1 + i);
        assert_int_equal(pointers[i]->message, acked + 1 + i);
    }
}

OUTBOX_CASE(a_long_event_travels_in_parts_and_holds_those_behind_it) {
    const uint32_t size = NET_EVENT_PAYLOAD_BYTES_MAX - 9, part = NET_EVENT_PART_BYTES_MAX;
    uint8_t whole[NET_EVENT_PAYLOAD_BYTES_MAX], got[NET_EVENT_PAYLOAD_BYTES_MAX] = {0};
    for (uint32_t i = 0; i < size; i++)
        whole[i] = (uint8_t)(i % 251);
    push(box, true, 5);
    assert_ok(net_event_outbox_push(box, true, false, 6, 9, 3, whole, size));
    push(box, true, 7);
    push(box, false, 8);
    assert_int_equal(fill(box, 32, 88), 2); // a part has no room, nor is it overtaken
    assert_int_equal(pointers[1]->message, 8);
    uint32_t first[2];
    for (uint32_t round = 0; round < 2; round++) {
        uint32_t bits = 0;
        for (uint32_t i = 0; i < 5; i++) {
            assert_int_equal(fill(box, 32, 600), 2);
            const Shoal__Wire__GameEvent* event = pointers[1];
            assert_int_equal(event->number, 2);
            assert_int_equal(event->whole_bytes, size);
            assert_int_equal(event->payload.len, event->part < 4 ? part : part - 9);
            memcpy(got + event->part * part, event->payload.data, event->payload.len);
            bits |= 1u << event->part;
            if (i == 0) first[round] = event->part;
        }
        assert_int_equal(bits, 31);
    }
    assert_int_not_equal(first[0], first[1]); // losses with the rhythm of the rounds meet another
    assert_memory_equal(got, whole, size);
    assert_true(net_event_outbox_acked(box, 2));
    assert_int_equal(fill(box, 32, 600), 1);
    assert_int_equal(pointers[0]->message, 7);
    assert_int_equal(pointers[0]->whole_bytes, 0);
}
