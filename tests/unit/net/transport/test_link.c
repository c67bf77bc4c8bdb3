// SPDX-License-Identifier: MIT
#include "net/link.h"

#include "test.h"

#include <stdio.h>
#include <string.h>

enum { SAMPLES = 4000 };

static net_link* link_make(net_link_config config) {
    net_link* link = NULL;
    assert_int_equal(net_link_create(NULL, &config, &link), NET_OK);
    return link;
}

// Push numbered datagrams, one per millisecond.
static void push_numbers(net_link* link, uint32_t count) {
    for (uint32_t i = 0; i < count; i++)
        net_link_push(link, i * UINT64_C(1000), i, &i, sizeof i);
}

static bool pull(net_link* link, uint64_t now_us, uint32_t* number) {
    uint64_t tag = 0;
    size_t size = 0;
    const uint8_t* bytes = net_link_peek(link, now_us, &tag, &size);
    if (!bytes) return false;
    assert_int_equal(size, sizeof *number);
    memcpy(number, bytes, sizeof *number);
    assert_int_equal(tag, *number);
    net_link_pop(link);
    return true;
}

static void a_perfect_link_delivers_everything_at_once_in_order(void** state) {
    (void)state;
    net_link* link = link_make((net_link_config){0});
    push_numbers(link, 100);
    uint32_t number = 0;
    for (uint32_t i = 0; i < 100; i++) {
        assert_int_equal(net_link_next_us(link), i * 1000);
        assert_true(pull(link, UINT64_MAX, &number));
        assert_int_equal(number, i);
    }
    assert_false(pull(link, UINT64_MAX, &number));
    assert_true(net_link_next_us(link) == UINT64_MAX);
    net_link_destroy(link);
}

static void datagrams_of_one_instant_come_in_order_of_sending(void** state) {
    (void)state;
    net_link* link = link_make((net_link_config){.delay_ms = 20});
    for (uint32_t i = 0; i < 1000; i++)
        net_link_push(link, 5, i, &i, sizeof i);
    uint32_t number = 0;
    assert_false(pull(link, 20004, &number));
    for (uint32_t i = 0; i < 1000; i++) {
        assert_true(pull(link, 20005, &number));
        assert_int_equal(number, i);
    }
    net_link_destroy(link);
}

static void delay_and_jitter_stay_in_their_range_and_fill_it(void** state) {
    (void)state;
    net_link* link = link_make((net_link_config){.delay_ms = 80, .jitter_ms = 20, .seed = 3});
    uint64_t shortest = UINT64_MAX, longest = 0, sum = 0;
    for (uint32_t i = 0; i < SAMPLES; i++) {
        net_link_push(link, 0, i, &i, sizeof i);
        uint64_t took_us = net_link_next_us(link);
        uint32_t number = 0;
        assert_true(pull(link, took_us, &number));
        if (took_us < shortest) shortest = took_us;
        if (took_us > longest) longest = took_us;
        sum += took_us;
    }
    assert_in_range(shortest, 80000, 80100);
    assert_in_range(longest, 99900, 100000);
    assert_in_range(sum / SAMPLES, 89500, 90500);
    net_link_destroy(link);
}

static void loss_duplicates_and_reordering_come_as_often_as_configured(void** state) {
    (void)state;
    net_link* link = link_make((net_link_config){
        .loss_percent = 20, .duplicate_percent = 10, .reorder_percent = 5, .seed = 11});
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
    net_link_destroy(link);
}

static void a_held_back_datagram_is_overtaken(void** state) {
    (void)state;
    net_link* link = link_make((net_link_config){.reorder_percent = 10, .seed = 5});
    push_numbers(link, 1000);
    uint32_t number = 0, last = 0, overtaken = 0;
    while (pull(link, UINT64_MAX, &number)) {
        overtaken += number < last;
        last = number;
    }
    assert_in_range(overtaken, 50, 150);
    net_link_destroy(link);
}

static uint64_t order_of_arrival(uint64_t seed) {
    net_link* link = link_make((net_link_config){.loss_percent = 10,
                                                 .delay_ms = 50,
                                                 .jitter_ms = 30,
                                                 .duplicate_percent = 10,
                                                 .reorder_percent = 10,
                                                 .seed = seed});
    push_numbers(link, 1000);
    uint64_t order = 0;
    uint32_t number = 0;
    while (pull(link, UINT64_MAX, &number))
        order = order * 1099511628211u + number;
    net_link_destroy(link);
    return order;
}

static void the_same_seed_gives_the_same_order(void** state) {
    (void)state;
    assert_true(order_of_arrival(7) == order_of_arrival(7));
    assert_true(order_of_arrival(7) != order_of_arrival(8));
}

static void loss_of_zero_and_of_a_hundred_percent_are_exact(void** state) {
    (void)state;
    net_link* link = link_make((net_link_config){.loss_percent = 100});
    push_numbers(link, 1000);
    assert_int_equal(net_link_get_stats(link)->lost, 1000);
    net_link_config_set(link, &(net_link_config){.loss_percent = 0});
    push_numbers(link, 1000);
    assert_int_equal(net_link_get_stats(link)->lost, 1000);
    net_link_destroy(link);
}

static void changing_the_loss_leaves_the_later_jitter_alone(void** state) {
    (void)state;
    net_link* quiet = link_make((net_link_config){.jitter_ms = 50, .seed = 9});
    net_link* lossy = link_make((net_link_config){.jitter_ms = 50, .loss_percent = 60, .seed = 9});
    push_numbers(quiet, 100);
    push_numbers(lossy, 100);
    uint32_t number = 0;
    while (pull(quiet, UINT64_MAX, &number) || pull(lossy, UINT64_MAX, &number))
        continue;
    net_link_config_set(lossy, &(net_link_config){.jitter_ms = 50, .seed = 9});
    net_link_push(quiet, 0, 0, NULL, 0);
    net_link_push(lossy, 0, 0, NULL, 0);
    assert_int_equal(net_link_next_us(quiet), net_link_next_us(lossy));
    net_link_destroy(quiet);
    net_link_destroy(lossy);
}

static void a_full_pool_loses_and_counts_what_comes(void** state) {
    (void)state;
    net_link* link = link_make((net_link_config){.delay_ms = 10000});
    for (uint32_t i = 0; i < NET_LINK_DATAGRAMS_MAX; i++)
        net_link_push(link, 0, i, &i, sizeof i);
    assert_int_equal(net_link_get_stats(link)->overflowed, 0);
    uint32_t last = NET_LINK_DATAGRAMS_MAX;
    net_link_push(link, 0, last, &last, sizeof last);
    assert_int_equal(net_link_get_stats(link)->overflowed, 1);
    uint32_t number = 0;
    assert_true(pull(link, UINT64_MAX, &number));
    net_link_push(link, 0, last, &last, sizeof last);
    assert_int_equal(net_link_get_stats(link)->overflowed, 1);
    for (uint32_t i = 1; i <= NET_LINK_DATAGRAMS_MAX; i++) {
        assert_true(pull(link, UINT64_MAX, &number));
        assert_int_equal(number, i);
    }
    net_link_destroy(link);
}

static void a_datagram_beyond_the_largest_size_is_lost_and_counted(void** state) {
    (void)state;
    static const uint8_t bytes[NET_LINK_BYTES_MAX + 1] = {1};
    net_link* link = link_make((net_link_config){0});
    net_link_push(link, 0, 0, bytes, NET_LINK_BYTES_MAX - 1);
    net_link_push(link, 0, 0, bytes, NET_LINK_BYTES_MAX);
    net_link_push(link, 0, 0, bytes, NET_LINK_BYTES_MAX + 1);
    assert_int_equal(net_link_get_stats(link)->overflowed, 1);
    size_t size = 0;
    assert_non_null(net_link_peek(link, 0, NULL, &size));
    assert_int_equal(size, NET_LINK_BYTES_MAX - 1);
    net_link_pop(link);
    assert_non_null(net_link_peek(link, 0, NULL, &size));
    assert_int_equal(size, NET_LINK_BYTES_MAX);
    net_link_pop(link);
    assert_null(net_link_peek(link, 0, NULL, &size));
    net_link_destroy(link);
}

static void the_rate_spaces_datagrams_and_bounds_the_queue(void** state) {
    (void)state;
    // 972 + 28 bytes of headers are 8,000 bits: 10 ms at 800 kbit/s.
    static const uint8_t bytes[972] = {0};
    net_link* link = link_make((net_link_config){.rate_kbit = 800});
    for (uint32_t i = 0; i < 100; i++)
        net_link_push(link, 0, i, bytes, sizeof bytes);
    const net_link_stats* stats = net_link_get_stats(link);
    assert_int_equal(stats->overflowed, 100 - 51); // 500 ms of queue, and the one being sent
    for (uint32_t i = 1; i <= 51; i++) {
        assert_int_equal(net_link_next_us(link), i * 10000);
        size_t size = 0;
        assert_non_null(net_link_peek(link, i * 10000, NULL, &size));
        net_link_pop(link);
    }
    assert_true(net_link_next_us(link) == UINT64_MAX);
    net_link_destroy(link);
}

static void a_borrowed_datagram_stays_the_first_until_it_is_popped(void** state) {
    (void)state;
    net_link* link = link_make((net_link_config){.delay_ms = 10});
    uint32_t first = 1, second = 2;
    net_link_push(link, 50, first, &first, sizeof first);
    size_t size = 0;
    uint64_t tag = 0;
    const uint8_t* bytes = net_link_peek(link, 10050, &tag, &size);
    net_link_push(link, 0, second, &second, sizeof second); // would arrive earlier
    assert_ptr_equal(net_link_peek(link, 10050, &tag, &size), bytes);
    assert_int_equal(tag, first);
    net_link_pop(link);
    assert_non_null(net_link_peek(link, 10050, &tag, &size));
    assert_int_equal(tag, second);
    net_link_pop(link);
    net_link_destroy(link);
}

static void popping_what_was_not_peeked_is_a_mistake(void** state) {
    (void)state;
    base_assert_handler_set(test_assert_handler);
    net_link* link = link_make((net_link_config){0});
    expect_assert_failure(net_link_pop(link));
    net_link_config beyond = {.loss_percent = 101};
    expect_assert_failure(net_link_config_set(link, &beyond));
    net_link_destroy(link);
    base_assert_handler_set(NULL);
}

static void* nothing(void* context, size_t size, size_t align) {
    (void)context;
    (void)size;
    (void)align;
    return NULL;
}

static void creating_without_memory_says_so(void** state) {
    (void)state;
    base_allocator none = {.allocate = nothing};
    net_link* link = NULL;
    assert_int_equal(net_link_create(&none, &(net_link_config){0}, &link), NET_ERR_MEMORY);
    assert_null(link);
    net_link_destroy(NULL);
}

// The time of an outage counts from the first datagram. The time of the push decides whether a
// datagram is lost.
static void nothing_passes_an_outage(void** state) {
    (void)state;
    const net_link_config config = {.delay_ms = 5, .outage_at_ms = 100, .outage_for_ms = 50};
    net_link* link = NULL;
    assert_int_equal(net_link_create(NULL, &config, &link), NET_OK);
    const uint64_t begin_us = 7000000;
    assert_false(net_link_is_out(link, begin_us));
    static const struct {
        uint64_t at_us;
        bool passes;
    } sent[] = {{0, true},       {99999, true},  {100000, false},
                {149999, false}, {150000, true}, {1000000000, true}};
    for (size_t i = 0; i < BASE_COUNT(sent); i++) {
        uint64_t now_us = begin_us + sent[i].at_us;
        net_link_push(link, now_us, i, "x", 1);
        assert_int_equal(net_link_is_out(link, now_us), !sent[i].passes);
        size_t size;
        bool has_passed = net_link_peek(link, now_us + 5000, NULL, &size) != NULL;
        assert_int_equal(has_passed, sent[i].passes);
        if (has_passed) net_link_pop(link);
    }
    assert_int_equal(net_link_get_stats(link)->lost, 2);
    net_link_destroy(link);
}

static void settings_are_read_in_any_order(void** state) {
    (void)state;
    net_link_config config = {.loss_percent = 99};
    assert_int_equal(net_link_config_parse("seed=7,rate=512,reorder=2,duplicate=1,jitter=20,"
                                           "delay=80,loss=5.5",
                                           NULL, &config),
                     NET_OK);
    assert_true(config.loss_percent == 5.5 && config.delay_ms == 80 && config.jitter_ms == 20);
    assert_true(config.duplicate_percent == 1 && config.reorder_percent == 2);
    assert_true(config.rate_kbit == 512 && config.seed == 7);
    assert_int_equal(net_link_config_parse("outage_for=10000,outage_at=500", NULL, &config),
                     NET_OK);
    assert_true(config.outage_at_ms == 500 && config.outage_for_ms == 10000);
    assert_int_equal(net_link_config_parse("", NULL, &config), NET_OK);
    assert_true(config.loss_percent == 0 && config.seed == 0);
}

static void a_wrong_setting_is_answered_with_the_nearest_or_the_range(void** state) {
    (void)state;
    static const struct {
        const char* text;
        net_result result;
        const char* said;
    } cases[] = {
        {"los=5", NET_ERR_UNKNOWN, "did you mean loss?"},
        {"jiter=5", NET_ERR_UNKNOWN, "did you mean jitter?"},
        {"xyzzy=5", NET_ERR_UNKNOWN, "there are loss"},
        {"loss", NET_ERR_MALFORMED, "no value"},
        {"loss=", NET_ERR_MALFORMED, "from 0 to 100"},
        {"loss=100.5", NET_ERR_MALFORMED, "from 0 to 100"},
        {"loss=-1", NET_ERR_MALFORMED, "from 0 to 100"},
        {"loss=nan", NET_ERR_MALFORMED, "from 0 to 100"},
        {"delay=10001", NET_ERR_MALFORMED, "from 0 to 10000"},
        {"rate=0.5", NET_ERR_MALFORMED, "0 for unlimited"},
        {"outage_at=-1", NET_ERR_MALFORMED, "from 0 to 3.6e+06"},
        {"outage_for=3600001", NET_ERR_MALFORMED, "from 0 to 3.6e+06"},
        {"outage_fro=1", NET_ERR_UNKNOWN, "did you mean outage_for?"},
        {"seed=1.5", NET_ERR_MALFORMED, "whole number"},
        {"seed=-1", NET_ERR_MALFORMED, "whole number"},
        {"loss=1,loss=2", NET_ERR_MALFORMED, "twice"},
        {"loss=1,", NET_ERR_MALFORMED, "comma"},
        {",loss=1", NET_ERR_UNKNOWN, "no link setting"},
        {"loss=0000000000000000000000000000000000000000000000000000000000000001", NET_ERR_MALFORMED,
         "too long"},
    };
    for (size_t i = 0; i < BASE_COUNT(cases); i++) {
        base_report_first first;
        base_reporter reporter = base_reporter_first(&first);
        net_link_config config = {.loss_percent = 42};
        assert_int_equal(net_link_config_parse(cases[i].text, &reporter, &config), cases[i].result);
        if (!strstr(first.text, cases[i].said))
            fail_msg("%s: said \"%s\"", cases[i].text, first.text);
        assert_true(config.loss_percent == 42);
    }
    net_link_config config;
    assert_int_equal(net_link_config_parse("loss=0,rate=0,delay=10000", NULL, &config), NET_OK);
    assert_int_equal(net_link_config_parse("loss=100,rate=1", NULL, &config), NET_OK);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        TEST(a_perfect_link_delivers_everything_at_once_in_order),
        TEST(datagrams_of_one_instant_come_in_order_of_sending),
        TEST(delay_and_jitter_stay_in_their_range_and_fill_it),
        TEST(loss_duplicates_and_reordering_come_as_often_as_configured),
        TEST(a_held_back_datagram_is_overtaken),
        TEST(the_same_seed_gives_the_same_order),
        TEST(loss_of_zero_and_of_a_hundred_percent_are_exact),
        TEST(changing_the_loss_leaves_the_later_jitter_alone),
        TEST(a_full_pool_loses_and_counts_what_comes),
        TEST(a_datagram_beyond_the_largest_size_is_lost_and_counted),
        TEST(the_rate_spaces_datagrams_and_bounds_the_queue),
        TEST(a_borrowed_datagram_stays_the_first_until_it_is_popped),
        TEST(popping_what_was_not_peeked_is_a_mistake),
        TEST(creating_without_memory_says_so),
        TEST(nothing_passes_an_outage),
        TEST(settings_are_read_in_any_order),
        TEST(a_wrong_setting_is_answered_with_the_nearest_or_the_range),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
