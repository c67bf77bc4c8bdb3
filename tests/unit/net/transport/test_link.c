// SPDX-License-Identifier: MIT
#include "net/transport.h"

#include "hear.h"

enum { SAMPLES = 4000 };

static net_link* link_make(net_link_config config) {
    net_link* link = NULL;
    link = net_link_create(NULL, &config);
    return link;
}

#define LINK_CASE(name, ...)                                                                       \
    CASE_MADE(net_link, link, link_make((net_link_config){__VA_ARGS__}), base_owner_destroy(link), \
              name)

// Push numbered datagrams, one per millisecond.
static void push_numbers(net_link* link, uint32_t count) {
    for (uint32_t i = 0; i < count; i++)
        net_link_push(link, i * UINT64_C(1000), (net_link_tag){.number = i}, &i, sizeof i);
}

// @return the size of the datagram that is due, which is popped; 0: there is none.
static size_t pop(net_link* link, uint64_t now_us, net_link_tag* tag) {
    size_t size = 0;
    if (!net_link_peek(link, now_us, tag, &size)) return 0;
    net_link_pop(link);
    return size;
}

static bool pull(net_link* link, uint64_t now_us, uint32_t* number) {
    net_link_tag tag = {0};
    size_t size = 0;
    const uint8_t* bytes = net_link_peek(link, now_us, &tag, &size);
    if (!bytes) return false;
    assert_int_equal(size, sizeof *number);
    memcpy(number, bytes, sizeof *number);
    assert_int_equal(tag.number, *number);
    net_link_pop(link);
    return true;
}

LINK_CASE(a_perfect_link_delivers_everything_at_once_in_order, 0) {
    push_numbers(link, 100);
    uint32_t number = 0;
    for (uint32_t i = 0; i < 100; i++) {
        assert_int_equal(net_link_next_us(link), i * 1000);
        assert_true(pull(link, UINT64_MAX, &number));
        assert_int_equal(number, i);
    }
    assert_false(pull(link, UINT64_MAX, &number));
    assert_true(net_link_next_us(link) == UINT64_MAX);
}

LINK_CASE(loss_duplicates_and_reordering_come_as_often_as_configured, .loss_percent = 20,
          .duplicate_percent = 10, .reorder_percent = 5, .seed = 11) {
    push_numbers(link, SAMPLES);
    const net_link_stats* stats = net_link_get_stats(link);
    assert_int_equal(stats->sent, SAMPLES);
    assert_in_range(stats->lost, SAMPLES * 18 / 100, SAMPLES * 22 / 100);
    uint64_t alive = SAMPLES - stats->lost;
    assert_in_range(stats->duplicated, alive * 8 / 100, alive * 12 / 100);
    assert_in_range(stats->reordered, alive * 4 / 100, alive * 6 / 100);
    uint32_t number = 0;
    uint64_t pulled = 0;
    while (pull(link, UINT64_MAX, &number))
        pulled++;
    assert_int_equal(pulled, alive + stats->duplicated);
    assert_int_equal(stats->delivered, pulled);
    assert_int_equal(stats->overflowed, 0);
}

LINK_CASE(a_full_pool_loses_and_counts_what_comes, .delay_ms = 10000) {
    for (uint32_t i = 0; i < NET_LINK_DATAGRAMS_MAX; i++)
        net_link_push(link, 0, (net_link_tag){.number = i}, &i, sizeof i);
    assert_int_equal(net_link_get_stats(link)->overflowed, 0);
    uint32_t last = NET_LINK_DATAGRAMS_MAX;
    net_link_push(link, 0, (net_link_tag){.number = last}, &last, sizeof last);
    assert_int_equal(net_link_get_stats(link)->overflowed, 1);
    uint32_t number = 0;
    assert_true(pull(link, UINT64_MAX, &number));
    net_link_push(link, 0, (net_link_tag){.number = last}, &last, sizeof last);
    assert_int_equal(net_link_get_stats(link)->overflowed, 1);
    for (uint32_t i = 1; i <= NET_LINK_DATAGRAMS_MAX; i++) {
        assert_true(pull(link, UINT64_MAX, &number));
        assert_int_equal(number, i);
    }
}

LINK_CASE(a_datagram_beyond_the_largest_size_is_lost_and_counted, 0) {
    static const uint8_t bytes[NET_LINK_BYTES_MAX + 1] = {1};
    net_link_push(link, 0, (net_link_tag){0}, bytes, NET_LINK_BYTES_MAX - 1);
    net_link_push(link, 0, (net_link_tag){0}, bytes, NET_LINK_BYTES_MAX);
    net_link_push(link, 0, (net_link_tag){0}, bytes, NET_LINK_BYTES_MAX + 1);
    assert_int_equal(net_link_get_stats(link)->overflowed, 1);
    assert_int_equal(pop(link, 0, NULL), NET_LINK_BYTES_MAX - 1);
    assert_int_equal(pop(link, 0, NULL), NET_LINK_BYTES_MAX);
    assert_int_equal(pop(link, 0, NULL), 0);
}

LINK_CASE(a_borrowed_datagram_stays_the_first_until_it_is_popped, .delay_ms = 10) {
    uint32_t first = 1, second = 2;
    net_link_push(link, 50, (net_link_tag){.number = first}, &first, sizeof first);
    size_t size = 0;
    net_link_tag tag = {0};
    const uint8_t* bytes = net_link_peek(link, 10050, &tag, &size);
    net_link_push(link, 0, (net_link_tag){.number = second}, &second,
                  sizeof second); // would arrive earlier
    assert_ptr_equal(net_link_peek(link, 10050, &tag, &size), bytes);
    assert_int_equal(tag.number, first);
    net_link_pop(link);
    assert_non_null(net_link_peek(link, 10050, &tag, &size));
    assert_int_equal(tag.number, second);
    net_link_pop(link);
}

LINK_CASE(popping_what_was_not_peeked_is_a_mistake, 0) {
    expect_assert_failure(net_link_pop(link));
    net_link_config beyond = {.loss_percent = 101};
    expect_assert_failure(net_link_config_set(link, &beyond));
}

// The time of an outage counts from the first datagram. The time of the push decides whether a
// datagram is lost.
LINK_CASE(nothing_passes_an_outage, .delay_ms = 5, .outage_at_ms = 100, .outage_for_ms = 50) {
    const uint64_t begin_us = 7000000;
    assert_false(net_link_is_out(link, begin_us));
    static const struct {
        uint64_t at_us;
        bool passes;
    } sent[] = {{0, true},       {99999, true},  {100000, false},
                {149999, false}, {150000, true}, {1000000000, true}};
    for (size_t i = 0; i < BASE_COUNT(sent); i++) {
        uint64_t now_us = begin_us + sent[i].at_us;
        net_link_push(link, now_us, (net_link_tag){.number = i}, "x", 1);
        assert_int_equal(net_link_is_out(link, now_us), !sent[i].passes);
        assert_int_equal(pop(link, now_us + 5000, NULL) > 0, sent[i].passes);
    }
    assert_int_equal(net_link_get_stats(link)->lost, 2);
}

// ---- bursts, flips, holes, queues, ports

LINK_CASE(losses_in_bursts_have_their_mean_and_their_length, .loss_percent = 20, .burst_ms = 300,
          .seed = 4) {
    enum { LONG = 400000 }; // ms
    uint32_t bursts = 0;
    bool was_lost = false;
    for (uint32_t ms = 0; ms < LONG; ms++) {
        net_link_push(link, ms * UINT64_C(1000), (net_link_tag){.number = ms}, &ms, sizeof ms);
        uint32_t number = 0;
        bool is_lost = !pull(link, UINT64_MAX, &number);
        bursts += is_lost && !was_lost;
        was_lost = is_lost;
    }
    uint64_t lost = net_link_get_stats(link)->lost;
    assert_in_range(lost, LONG * 16 / 100, LONG * 24 / 100);
    assert_in_range(lost / bursts, 250, 350);
}

CASE(losses_of_all_or_nothing_are_exact) {
    static const struct {
        double loss_percent, burst_ms;
        uint64_t lost;
    } lines[] = {{0, 0, 0}, {100, 0, 1000}, {0, 1, 0}, {100, 1, 999}}; // a line begins without loss
    for (size_t i = 0; i < BASE_COUNT(lines); i++) {
        net_link* link = link_make((net_link_config){
            .loss_percent = lines[i].loss_percent, .burst_ms = lines[i].burst_ms, .seed = 4});
        push_numbers(link, 1000);
        assert_int_equal(net_link_get_stats(link)->lost, lines[i].lost);
        base_owner_destroy(link);
    }
}

LINK_CASE(a_long_silence_costs_a_bursty_line_no_time, .loss_percent = 50, .burst_ms = 50,
          .seed = 4) {
    for (uint64_t days = 0; days < 50; days++)
        net_link_push(link, days * UINT64_C(86400000000), (net_link_tag){0}, "x", 1);
    assert_in_range(net_link_get_stats(link)->lost, 10, 40);
}

static uint32_t count_bits(const uint8_t* bytes, size_t size) {
    uint32_t bits = 0;
    for (size_t i = 0; i < size * 8; i++)
        bits += bytes[i / 8] >> i % 8 & 1;
    return bits;
}

LINK_CASE(one_to_three_bits_of_some_datagrams_are_flipped, .flip_percent = 25, .seed = 9) {
    uint32_t by_count[NET_LINK_FLIPPED_BITS_MAX + 2] = {0}, ends = 0;
    for (uint32_t i = 0; i < SAMPLES; i++) {
        uint8_t zeros[2] = {0};
        net_link_push(link, 0, (net_link_tag){0}, zeros, sizeof zeros);
        size_t size = 0;
        const uint8_t* found = net_link_peek(link, 0, NULL, &size);
        assert_non_null(found);
        uint32_t bits = count_bits(found, size);
        by_count[bits < BASE_COUNT(by_count) ? bits : NET_LINK_FLIPPED_BITS_MAX + 1]++;
        ends |= (uint32_t)(found[0] & 1) | (uint32_t)(found[1] >> 6 & 2);
        net_link_pop(link);
    }
    assert_int_equal(by_count[NET_LINK_FLIPPED_BITS_MAX + 1], 0);
    assert_in_range(by_count[0], SAMPLES * 72 / 100, SAMPLES * 78 / 100);
    for (uint32_t bits = 1; bits <= NET_LINK_FLIPPED_BITS_MAX; bits++)
        assert_in_range(by_count[bits], SAMPLES * 6 / 100, SAMPLES * 11 / 100);
    assert_int_equal(ends, 3); // the first and the last bit, too
    assert_int_equal(net_link_get_stats(link)->flipped, SAMPLES - by_count[0]);
    net_link_push(link, 0, (net_link_tag){0}, NULL, 0);
}

LINK_CASE(only_datagrams_above_the_mtu_vanish, .mtu_bytes = 1252) {
    static const uint8_t bytes[1300];
    static const struct {
        size_t size;
        uint64_t lost;
    } sent[] = {{1, 0}, {1251, 0}, {1252, 0}, {1253, 1}, {1300, 2}};
    for (size_t i = 0; i < BASE_COUNT(sent); i++) {
        net_link_push(link, 0, (net_link_tag){0}, bytes, sent[i].size);
        assert_int_equal(net_link_get_stats(link)->lost, sent[i].lost);
    }
}

CASE(the_queue_is_as_long_as_configured) {
    static const struct {
        double queue_ms;
        uint64_t last_us;
    } lines[] = {{0, 501000}, {100, 101000}, {2000, 2001000}};
    for (size_t i = 0; i < BASE_COUNT(lines); i++) {
        // 72 bytes of payload and 28 of headers take a millisecond.
        net_link* link =
            link_make((net_link_config){.rate_kbit = 800, .queue_ms = lines[i].queue_ms});
        static const uint8_t bytes[72];
        for (uint32_t k = 0; k < 3000; k++)
            net_link_push(link, 0, (net_link_tag){0}, bytes, sizeof bytes);
        uint64_t last_us = 0, passed = 0;
        for (; net_link_next_us(link) != UINT64_MAX; passed++) {
            last_us = net_link_next_us(link);
            assert_int_equal(pop(link, UINT64_MAX, NULL), sizeof bytes);
        }
        assert_int_equal(last_us, lines[i].last_us);
        assert_int_equal(net_link_get_stats(link)->overflowed, 3000 - passed);
        base_owner_destroy(link);
    }
}

LINK_CASE(rebinding_is_due_once_in_each_interval, .rebind_ms = 1000, .seed = 3) {
    assert_false(net_link_rebind_is_due(link, 5000000)); // nothing was sent yet
    net_link_push(link, 5000000, (net_link_tag){0}, "x", 1);
    uint32_t count = 0, shortest = UINT32_MAX, longest = 0, last = 5000;
    for (uint32_t ms = 5000; ms < 505000; ms++) {
        if (!net_link_rebind_is_due(link, ms * UINT64_C(1000))) continue;
        uint32_t took = ms - last;
        last = ms;
        count++;
        if (took < shortest) shortest = took;
        if (took > longest) longest = took;
    }
    assert_in_range(count, 480, 520);
    assert_in_range(shortest, 500, 510);
    assert_in_range(longest, 1490, 1501);
    net_link_config_set(link, &(net_link_config){.seed = 3});
    assert_false(net_link_rebind_is_due(link, UINT64_C(1000000000)));
}

// ---- the text form

CASE(settings_are_read_in_any_order) {
    net_link_pair pair = {.up = {.loss_percent = 99}};
    assert_ok(net_link_config_parse("seed=7,rate=512,reorder=2,duplicate=1,jitter=20,"
                                    "delay=80,loss=5.5",
                                    NULL, &pair));
    assert_memory_equal(&pair.up, &pair.down, sizeof pair.up);
    assert_true(pair.up.loss_percent == 5.5 && pair.up.delay_ms == 80 && pair.up.jitter_ms == 20);
    assert_true(pair.up.duplicate_percent == 1 && pair.up.reorder_percent == 2);
    assert_true(pair.up.rate_kbit == 512 && pair.up.seed == 7);
    assert_ok(net_link_config_parse("rebind=20000,mtu=1252,queue=2000,flip=1,burst=300,"
                                    "outage_for=10000,outage_at=500",
                                    NULL, &pair));
    assert_true(pair.up.outage_at_ms == 500 && pair.up.outage_for_ms == 10000);
    assert_true(pair.up.burst_ms == 300 && pair.up.flip_percent == 1 && pair.up.queue_ms == 2000);
    assert_true(pair.up.mtu_bytes == 1252 && pair.up.rebind_ms == 20000);
    assert_ok(net_link_config_parse("", NULL, &pair));
    assert_true(pair.up.loss_percent == 0 && pair.up.seed == 0);
}

CASE(a_direction_wins_over_both_whichever_comes_first) {
    static const char* const texts[] = {"loss=5,up.loss=30,down.delay=7,delay=9",
                                        "down.delay=7,up.loss=30,delay=9,loss=5"};
    for (size_t i = 0; i < BASE_COUNT(texts); i++) {
        net_link_pair pair;
        assert_ok(net_link_config_parse(texts[i], NULL, &pair));
        assert_true(pair.up.loss_percent == 30 && pair.down.loss_percent == 5);
        assert_true(pair.up.delay_ms == 9 && pair.down.delay_ms == 7);
    }
    net_link_pair pair;
    assert_ok(net_link_config_parse("up.seed=3,down.loss=30", NULL, &pair));
    assert_true(pair.up.seed == 3 && pair.down.seed == 0);
    assert_true(pair.up.loss_percent == 0 && pair.down.loss_percent == 30);
}

CASE(presets_are_whole_lines_and_can_be_changed) {
    static const char* const presets[] = {"wifi", "4g", "bad", "satellite"};
    for (size_t i = 0; i < BASE_COUNT(presets); i++) {
        net_link_pair pair, changed;
        char text[64];
        assert_ok(net_link_config_parse(presets[i], NULL, &pair));
        assert_true(pair.up.delay_ms > 0 && pair.down.delay_ms > 0 && pair.up.loss_percent > 0);
        base_owner_destroy(link_make(pair.up));
        base_owner_destroy(link_make(pair.down));
        snprintf(text, sizeof text, "%s,loss=5,down.delay=1,seed=4", presets[i]);
        assert_ok(net_link_config_parse(text, NULL, &changed));
        pair.up.loss_percent = pair.down.loss_percent = 5;
        pair.up.seed = pair.down.seed = 4;
        pair.down.delay_ms = 1;
        assert_memory_equal(&pair, &changed, sizeof pair);
    }
}

#define ZEROS "0000000000000000000000000000000000000000000000000000000000000000"

CASE(a_wrong_setting_is_answered_with_the_nearest_or_the_range) {
    static const struct {
        net_result result;
        const char* said;
        const char* texts; // several, with spaces between
    } rows[] = {
        {NET_ERR_UNKNOWN, "did you mean loss?", "los=5"},
        {NET_ERR_UNKNOWN, "did you mean jitter?", "jiter=5"},
        {NET_ERR_UNKNOWN, "there are loss", "xyzzy=5"},
        {NET_ERR_MALFORMED, "no value", "loss up.loss"},
        {NET_ERR_MALFORMED, "from 0 to 100",
         "loss= loss=100.5 loss=-1 loss=nan down.loss=101 flip=101"},
        {NET_ERR_MALFORMED, "from 0 to 10000", "delay=10001"},
        {NET_ERR_MALFORMED, "0 for unlimited", "rate=0.5 mtu=1501"},
        {NET_ERR_MALFORMED, "from 0 to 3.6e+06", "outage_at=-1 outage_for=3600001"},
        {NET_ERR_UNKNOWN, "did you mean outage_for?", "outage_fro=1"},
        {NET_ERR_MALFORMED, "whole number", "seed=1.5 seed=-1"},
        {NET_ERR_MALFORMED, "twice", "loss=1,loss=2 up.loss=1,up.loss=2"},
        {NET_ERR_UNKNOWN, "no link setting", "up.los=1 up.=1 4g=5 up.4g ,loss=1"},
        {NET_ERR_MALFORMED, "0 for no bursts", "burst=0.5"},
        {NET_ERR_MALFORMED, "from 1 to 10000", "burst=10001"},
        {NET_ERR_MALFORMED, "0 for 500", "queue=10001"},
        {NET_ERR_MALFORMED, "from 64 to 1500", "mtu=63"},
        {NET_ERR_MALFORMED, "0 for never", "rebind=99"},
        {NET_ERR_UNKNOWN, "did you mean satellite?", "satelite"},
        {NET_ERR_MALFORMED, "not first", "loss=5,4g 4g,bad"},
        {NET_ERR_MALFORMED, "comma", "loss=1,"},
        {NET_ERR_MALFORMED, "too long",
         "loss=" ZEROS ZEROS ZEROS ZEROS ZEROS ZEROS ZEROS ZEROS "1"},
    };
    for (size_t i = 0; i < BASE_COUNT(rows); i++) {
        char text[600];
        int used = 0;
        for (const char* at = rows[i].texts; sscanf(at, "%599s%n", text, &used) == 1; at += used) {
            net_link_pair pair = {.up = {.loss_percent = 42}};
            assert_int_equal(net_link_config_parse(text, hear(), &pair), rows[i].result);
            if (!strstr(said.text, rows[i].said)) fail_msg("%s: said \"%s\"", text, said.text);
            assert_true(pair.up.loss_percent == 42);
        }
    }
    static const char* const limits[] = {"loss=0,rate=0,delay=10000",
                                         "loss=100,rate=1",
                                         "burst=1,queue=1,mtu=64,rebind=100",
                                         "burst=10000,queue=10000,mtu=1500,rebind=3600000",
                                         "burst=0,queue=0,mtu=0,rebind=0,flip=0",
                                         "flip=100"};
    net_link_pair pair;
    for (size_t i = 0; i < BASE_COUNT(limits); i++) {
        assert_ok(net_link_config_parse(limits[i], NULL, &pair));
        base_owner_destroy(link_make(pair.up));
    }
}
