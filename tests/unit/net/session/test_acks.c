// SPDX-License-Identifier: MIT
#include "session/acks.h"

#include "test.h"

static net_ack_result result; // of the newest call

static net_ack_sender* sender(uint16_t first, uint32_t packets) {
    static net_ack_sender send; // 6 kB; tests run one at a time
    net_ack_sender_init(&send, first, 0);
    for (uint32_t i = 0; i < packets; i++)
        assert_int_equal(net_ack_sender_add(&send, i * 1000), (uint16_t)(first + i));
    return &send;
}

static net_result receive(net_ack_sender* send, uint64_t now_us, uint16_t ack, uint64_t bits,
                          uint32_t delay_us) {
    return net_ack_sender_receive(send, now_us, ack, bits, delay_us, &result);
}

#define SENDER_CASE(name, ...) CASE_MADE(net_ack_sender, send, sender(__VA_ARGS__), (void)0, name)

SENDER_CASE(acknowledgements_come_out_newest_first_and_once, 65530, 20) {
    assert_ok(receive(send, 50000, 5, 0x3ff, 0));
    assert_int_equal(result.acked_count, 11);
    for (uint32_t i = 0; i < 11; i++)
        assert_int_equal(result.acked[i], (uint16_t)(5 - i));
    assert_ok(receive(send, 51000, 5, 0x3ff, 0));
    assert_int_equal(result.acked_count, 0);
    assert_int_equal(send->acked, 11);
}

SENDER_CASE(three_later_acknowledgements_declare_a_loss, 0, 8) {
    // Acknowledges 3 and 2.
    assert_ok(receive(send, 9000, 3, 0x1, 0));
    assert_int_equal(result.lost_count, 0);
    assert_ok(receive(send, 9000, 4, 0x3, 0));
    assert_int_equal(result.lost_count, 2);
    assert_int_equal(result.lost[0], 0); // oldest first
    assert_int_equal(result.lost[1], 1);
    assert_int_equal(send->lost, 2);
    assert_int_equal(send->acked, 3);
}

SENDER_CASE(a_late_acknowledgement_after_a_loss_still_counts, 0, 5) {
    assert_ok(receive(send, 9000, 4, 0x7, 0));
    assert_int_equal(result.lost_count, 1);
    assert_ok(receive(send, 9000, 0, 0, 0));
    assert_int_equal(result.acked_count, 1);
    assert_int_equal(send->lost, 0);
    assert_int_equal(send->late, 1);
}

CASE(what_flies_too_long_is_lost) {
    net_ack_sender* send = sender(0, 2); // sent at 0 and 1,000; 250 ms + 4 * 125 ms + 2 ticks
    net_ack_sender_expire(send, 770000, 10000, &result);
    assert_int_equal(result.lost_count, 0);
    net_ack_sender_expire(send, 770001, 10000, &result);
    assert_int_equal(result.lost_count, 1);
    assert_int_equal(result.lost[0], 0);
    net_ack_sender_expire(send, 900000, 10000, &result);
    assert_int_equal(result.lost_count, 1);
    assert_int_equal(result.lost[0], 1);
}

SENDER_CASE(forged_acknowledgements_are_refused_as_a_whole, 100, 5) {
    assert_int_equal(receive(send, 9000, 105, 0, 0), NET_ERR_MALFORMED);
    assert_int_equal(receive(send, 9000, 99, 0, 0), NET_ERR_MALFORMED);
    assert_int_equal(receive(send, 9000, 104, 0x10, 0), NET_ERR_MALFORMED);
    assert_int_equal(receive(send, 9000, 40000, 0, 0), NET_ERR_MALFORMED);
    assert_int_equal(send->forged, 4);
    assert_int_equal(send->acked, 0);
    assert_ok(receive(send, 9000, 104, 0xf, 0));
    assert_int_equal(result.acked_count, 5);
}

// A program that runs without a clock may be tens of thousands of packets ahead of its clients.
CASE(an_acknowledgement_from_half_the_circle_ago_is_stale_and_not_forged) {
    net_ack_sender* send = sender(100, 40000);
    assert_ok(receive(send, 9000, (uint16_t)(100 + 39999 - 32767), 0, 0));
    assert_int_equal(receive(send, 9000, (uint16_t)(100 + 39999 - 32768), 0, 0), NET_ERR_STALE);
    assert_int_equal(receive(send, 9000, 100, 0, 0), NET_ERR_STALE);
    // Its bits reach behind the first packet, so it is certainly forged.
    assert_int_equal(receive(send, 9000, 100, 1, 0), NET_ERR_MALFORMED);
    assert_int_equal(receive(send, 9000, 99, 0, 0), NET_ERR_MALFORMED);
    assert_int_equal(receive(send, 9000, (uint16_t)(100 + 40000), 0, 0), NET_ERR_MALFORMED);
    assert_int_equal(send->stale, 2);
    assert_int_equal(send->forged, 3);
    // After the numbers wrapped once, any number may have been sent.
    send = sender(0, 65535);
    assert_int_equal(receive(send, 9000, 65535, 0, 0), NET_ERR_MALFORMED);
    send = sender(0, 65536);
    assert_ok(receive(send, 9000, 65535, 0, 0));
    assert_int_equal(result.acked_count, 1);
    assert_int_equal(receive(send, 9000, 0, 0, 0), NET_ERR_STALE);
    assert_int_equal(result.acked_count, 0);
}

SENDER_CASE(an_acknowledgement_from_before_the_ring_is_ignored, 0, NET_PACKETS_IN_FLIGHT_MAX + 1) {
    assert_int_equal(send->lost, 1); // the packet that left the window
    assert_ok(receive(send, 9000, 0, 0, 0));
    assert_int_equal(result.acked_count, 0);
    assert_ok(receive(send, 9000, 1, 0, 0));
    assert_int_equal(result.acked_count, 1);
    assert_int_equal(send->forged, 0);
}

SENDER_CASE(the_round_trip_subtracts_the_delay_and_stays_in_its_range, 0, 10) {
    assert_int_equal(net_ack_sender_rtt_us(send), 250000);
    assert_ok(receive(send, 80000, 0, 0, 30000));
    assert_int_equal(net_ack_sender_rtt_us(send), 50000);
    assert_ok(receive(send, 91000, 1, 0, 0));
    assert_int_equal(net_ack_sender_rtt_us(send), 55000); // 50 + (90 - 50) / 8
    assert_ok(receive(send, 3000, 2, 0, UINT32_MAX));
    assert_in_range(net_ack_sender_rtt_us(send), NET_RTT_US_MIN, 55000);
    send = sender(0, 1);
    assert_ok(receive(send, 60000000, 0, 0, 0));
    assert_int_equal(net_ack_sender_rtt_us(send), NET_RTT_US_MAX);
    send = sender(0, 1);
    assert_ok(receive(send, 10, 0, 0, 0));
    assert_int_equal(net_ack_sender_rtt_us(send), NET_RTT_US_MIN);
}

CASE(the_receiver_tells_new_duplicate_and_old_apart) {
    net_ack_receiver recv = {0};
    assert_int_equal(net_ack_receiver_check(&recv, 65535), NET_ACK_NEW);
    net_ack_receiver_mark(&recv, 65535, 1000);
    assert_int_equal(net_ack_receiver_check(&recv, 65535), NET_ACK_DUPLICATE);
    net_ack_receiver_mark(&recv, 63, 2000); // 64 ahead, across the wrap
    assert_int_equal(recv.bits, UINT64_C(1) << 63);
    assert_int_equal(net_ack_receiver_check(&recv, 65535), NET_ACK_DUPLICATE);
    assert_int_equal(net_ack_receiver_check(&recv, 65534), NET_ACK_OLD);
    assert_int_equal(net_ack_receiver_check(&recv, 0), NET_ACK_NEW);
    net_ack_receiver_mark(&recv, 0, 3000);
    assert_int_equal(recv.newest, 63);
    assert_int_equal(recv.bits, UINT64_C(3) << 62);
    assert_int_equal(net_ack_receiver_delay_us(&recv, 2500), 500);
    for (uint32_t i = 0; i < 2; i++) // looking does not acknowledge
        assert_int_equal(net_ack_receiver_check(&recv, 63 + NET_ACK_JUMP_MAX), NET_ACK_NEW);
    assert_int_equal(net_ack_receiver_check(&recv, 64 + NET_ACK_JUMP_MAX), NET_ACK_OLD);
    net_ack_receiver_mark(&recv, 63 + 65, 4000);
    assert_int_equal(recv.bits, 0);
    assert_int_equal(recv.duplicates, 2);
    assert_int_equal(recv.old, 2);
}

CASE(both_sides_agree_over_a_random_channel) {
    base_rng rng = test_rng(7, 0);
    net_ack_sender* send = sender(60000, 0);
    net_ack_receiver recv = {0};
    static uint8_t arrived[20000];
    for (uint32_t i = 0; i < BASE_COUNT(arrived); i++) {
        uint16_t seq = net_ack_sender_add(send, i * UINT64_C(10000));
        arrived[i] = !base_rng_chance(&rng, 0.2);
        if (arrived[i] && net_ack_receiver_check(&recv, seq) == NET_ACK_NEW)
            net_ack_receiver_mark(&recv, seq, i * UINT64_C(10000));
        if (!recv.has_any || base_rng_chance(&rng, 0.3)) continue;
        assert_ok(receive(send, i * UINT64_C(10000) + 5000, recv.newest, recv.bits, 0));
        for (uint32_t k = 0; k < result.acked_count; k++)
            assert_true(arrived[i - (uint16_t)(seq - result.acked[k])]);
        for (uint32_t k = 0; k < result.lost_count; k++)
            assert_false(arrived[i - (uint16_t)(seq - result.lost[k])]);
    }
    assert_in_range((uint32_t)net_ack_receiver_loss_percent(&recv), 18, 22);
    assert_in_range(100 * send->lost / (send->acked + send->lost), 18, 22);
    assert_int_equal(send->forged, 0);
}
