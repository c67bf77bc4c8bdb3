// SPDX-License-Identifier: MIT
// What followers report, and who of them counts. Standbys of a whole match: test_standby.
#include "stream_world.h"

static net_stream_reports reports;

static bool hear(net_stream_role role, uint64_t who, ecs_tick tick, uint64_t now_us) {
    uint8_t bytes[NET_STREAM_REPORT_BYTES];
    const net_stream_report said = {role, true, who, tick, NET_STREAM_REPORT_COUNTS_S};
    net_stream_report_write(&said, bytes);
    return net_stream_reports_add(&reports, bytes, sizeof bytes, now_us);
}

static uint32_t count(net_stream_role role, ecs_tick from, uint64_t now_us) {
    return net_stream_reports_count(&reports, role, from, now_us);
}

CASE(a_report_reads_as_it_was_written) {
    const net_stream_report said = {NET_STREAM_STANDBY, true, 0xe0ffe1c8cafe0276, 7214, 15};
    uint8_t bytes[NET_STREAM_REPORT_BYTES + 1] = {0};
    net_stream_report read;
    net_stream_report_write(&said, bytes);
    assert_true(net_stream_report_read(&read, bytes, NET_STREAM_REPORT_BYTES));
    assert_true(read.role == said.role && read.is_able && read.who == said.who &&
                read.tick == said.tick && read.counts_s == said.counts_s);
    assert_true(net_stream_report_read(&read, bytes, sizeof bytes)); // of a later version
    assert_true(net_stream_report_read(&read, bytes, NET_STREAM_REPORT_BYTES - 1)); // an older one
    assert_int_equal(read.counts_s, 0);
}

CASE(bytes_that_are_no_report_are_refused) {
    const struct {
        uint32_t at;
        uint8_t value;
    } faults[] = {{0, 0}, {0, 2}, {1, 0}, {1, 4}, {2, 2}, {3, 0}};
    uint8_t bytes[NET_STREAM_REPORT_BYTES];
    net_stream_report read;
    for (uint32_t i = 0; i < BASE_COUNT(faults); i++) {
        net_stream_report_write(&(net_stream_report){NET_STREAM_RELAY, true, 1, 5, 3}, bytes);
        bytes[faults[i].at] = faults[i].value;
        assert_false(net_stream_report_read(&read, bytes, sizeof bytes));
    }
    net_stream_report_write(&(net_stream_report){NET_STREAM_RELAY, true, 1, 5, 3}, bytes);
    for (size_t size = 0; size + 1 < sizeof bytes; size++)
        assert_false(net_stream_report_read(&read, bytes, size));
}

CASE(who_is_silent_or_behind_does_not_count) {
    const uint64_t now_us = 5000 * MS, old_us = NET_STREAM_REPORT_COUNTS_S * 1000 * MS;
    reports = (net_stream_reports){0};
    assert_true(hear(NET_STREAM_STANDBY, 7, 100, now_us));
    assert_true(hear(NET_STREAM_RELAY, 8, 50, now_us));
    assert_true(hear(NET_STREAM_STANDBY, 7, 101, now_us)); // the same one
    assert_int_equal(count(NET_STREAM_STANDBY, 101, now_us), 1);
    assert_int_equal(count(NET_STREAM_STANDBY, 102, now_us), 0);
    assert_int_equal(count(NET_STREAM_RELAY, 51, now_us), 0);
    assert_int_equal(count(NET_STREAM_RELAY, 50, now_us + old_us - 1), 1);
    assert_int_equal(count(NET_STREAM_RELAY, 50, now_us + old_us), 0);
}

CASE(a_report_says_how_long_it_counts_and_one_of_an_older_build_does_not) {
    const uint64_t now_us = 5000 * MS;
    const net_stream_report said = {NET_STREAM_STANDBY, true, 7, 100, NET_STREAM_REPORT_EMPTY_S};
    uint8_t bytes[NET_STREAM_REPORT_BYTES];
    reports = (net_stream_reports){0};
    net_stream_report_write(&said, bytes);
    assert_true(net_stream_reports_add(&reports, bytes, sizeof bytes, now_us));
    const uint64_t over_us = now_us + NET_STREAM_REPORT_EMPTY_S * 1000 * MS;
    assert_int_equal(count(NET_STREAM_STANDBY, 100, over_us - 1), 1);
    assert_int_equal(count(NET_STREAM_STANDBY, 100, over_us), 0);
    assert_false(net_stream_reports_has_older(&reports, now_us));
    bytes[3] = 8;
    assert_true(net_stream_reports_add(&reports, bytes, sizeof bytes - 1, now_us));
    const uint64_t older_us = now_us + NET_STREAM_REPORT_COUNTS_S * 1000 * MS;
    assert_int_equal(count(NET_STREAM_STANDBY, 100, older_us - 1), 2);
    assert_true(net_stream_reports_has_older(&reports, older_us - 1));
    assert_false(net_stream_reports_has_older(&reports, older_us));
}

// The match is empty no more: its tick of long ago would not count.
CASE_WITH(stream_stage, self, stage_open(self), stage_close(self),
          a_report_is_sent_each_third_of_its_time_and_sooner_when_that_is_less) {
    net_stream_report report = {NET_STREAM_STANDBY, true, 7, 100, NET_STREAM_REPORT_EMPTY_S};
    uint64_t due_us = 0;
    net_stream_report_send(&self->broker, &report, &due_us, 1000 * MS);
    assert_int_equal(due_us, 6000 * MS);
    net_stream_report_send(&self->broker, &report, &due_us, 5999 * MS);
    assert_int_equal(due_us, 6000 * MS);
    net_stream_report_send(&self->broker, &report, &due_us, 6000 * MS);
    assert_int_equal(due_us, 11000 * MS);
    report.counts_s = NET_STREAM_REPORT_COUNTS_S;
    net_stream_report_send(&self->broker, &report, &due_us, 6500 * MS);
    assert_int_equal(due_us, 7500 * MS);
}

CASE(a_follower_gets_the_place_of_one_that_is_gone) {
    const uint64_t now_us = 5000 * MS, later_us = now_us + NET_STREAM_REPORT_COUNTS_S * 1000 * MS;
    reports = (net_stream_reports){0};
    for (uint64_t who = 1; who <= NET_STREAM_REPORTS_MAX; who++)
        assert_true(hear(NET_STREAM_RELAY, who, 5, now_us));
    assert_false(hear(NET_STREAM_RELAY, 999, 5, now_us));
    assert_true(hear(NET_STREAM_RELAY, 2, 6, later_us - 1));
    assert_true(hear(NET_STREAM_RELAY, 999, 5, later_us));
    assert_int_equal(count(NET_STREAM_RELAY, 0, later_us), 2);
}

// The newest one may be of the time when it was a standby itself.
CASE_WITH(stream_stage, self, stage_open_writer(self), stage_close(self),
          a_writer_counts_no_report_of_its_own) {
    const net_broker other = broker_sim_connect(self->sim);
    net_stream_report report = {NET_STREAM_STANDBY, true, self->script.mark, 5, 3};
    net_stream_writer_claim(self->writer, &the_start, "header", 6);
    for (uint32_t i = 0; i < 80; i++) {
        uint64_t due_us = 0;
        if (i == 20 || i == 60) net_stream_report_send(&other, &report, &due_us, self->now_us);
        broker_sim_run(self->sim, self->now_us += MS);
        (void)net_stream_writer_poll(self->writer, self->now_us);
        if (i == 50) assert_int_equal(self->status->standbys, 0);
        if (i == 50) report.who++;
    }
    assert_int_equal(self->status->standbys, 1);
    assert_int_equal(self->status->reports_refused, 0);
}

// Accounts decide from whom they come.
CASE_WITH(stream_stage, self, stage_open_writer(self), stage_close(self),
          a_writer_counts_what_it_refused) {
    const net_broker other = broker_sim_connect(self->sim);
    net_stream_writer_claim(self->writer, &the_start, "header", 6);
    for (uint32_t i = 0; i < 40; i++) {
        if (i == 20) other.report(other.context, "no report", 9);
        broker_sim_run(self->sim, self->now_us += MS);
        (void)net_stream_writer_poll(self->writer, self->now_us);
    }
    assert_int_equal(self->status->state, NET_STREAM_OWNED);
    assert_int_equal(self->status->reports_refused, 1);
    assert_int_equal(self->status->standbys + self->status->relays, 0);
}
