// SPDX-License-Identifier: MIT
// Code that the programs share: exit codes, the build id, files, and the line about dropped data.
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "hear.h"

#include "host/output.h"
#include "host/setup.h"

// Setting up fails by configuration or by memory.
CASE(results_have_the_documented_exit_codes) {
    static const struct {
        net_result result;
        int of_replay, of_setup; // -1: it does not happen there
    } rows[] = {{NET_OK, 0, 0},          {NET_ERR_DAMAGED, 1, -1}, {NET_ERR_IO, 1, 2},
                {NET_ERR_MEMORY, 1, 1},  {NET_ERR_UNKNOWN, 2, 2},  {NET_ERR_MODULE, 2, -1},
                {NET_ERR_SCHEMA, 4, -1}, {NET_ERR_VERSION, 4, -1}, {NET_ERR_DIVERGED, 5, -1}};
    for (size_t i = 0; i < BASE_COUNT(rows); i++) {
        assert_int_equal(net_exit_of_replay(rows[i].result), rows[i].of_replay);
        if (rows[i].of_setup >= 0)
            assert_int_equal(net_exit_of_setup(rows[i].result), rows[i].of_setup);
    }
}

CASE(the_ports_of_a_range_come_one_after_the_other) {
    static const struct {
        const char* text;
        uint32_t n;
        const char* one; // NULL: there is none
    } rows[] = {{"127.0.0.1:7777", 0, "127.0.0.1:7777"},
                {"127.0.0.1:7777", 1, NULL},
                {"0.0.0.0:7000-7999", 0, "0.0.0.0:7000"},
                {"0.0.0.0:7000-7999", 999, "0.0.0.0:7999"},
                {"0.0.0.0:7000-7999", 1000, NULL},
                {"[::1]:999-1000", 1, "[::1]:1000"},
                {"match-1.example:7000-7000", 0, "match-1.example:7000"},
                {"match-1.example:7000-7000", 1, NULL},
                {"0.0.0.0:7000-7001,[::]:7000-7001", 1, "0.0.0.0:7001,[::]:7001"},
                {"0.0.0.0:65535-65536", 0, NULL},
                {"0.0.0.0:0-7", 0, NULL},
                {"0.0.0.0:7999-7000", 0, NULL},
                {"0.0.0.0:7000-", 0, NULL},
                {"0.0.0.0:-7000", 0, NULL},
                {"0.0.0.0:7000-7x", 0, NULL},
                {"", 0, ""}};
    for (size_t i = 0; i < BASE_COUNT(rows); i++) {
        char one[NET_HOST_LISTEN_BYTES];
        const bool is_there = net_host_listen_at(rows[i].text, rows[i].n, one);
        print_message("%s %u\n", rows[i].text, (unsigned)rows[i].n);
        assert_int_equal(is_there, rows[i].one != NULL);
        if (is_there) assert_string_equal(one, rows[i].one);
    }
    char text[NET_HOST_LISTEN_BYTES + 8];
    memset(text, 'a', sizeof text);
    text[sizeof text - 1] = '\0';
    assert_false(net_host_listen_at(text, 0, (char[NET_HOST_LISTEN_BYTES]){0}));
}

// The numbers are those of wire.proto.
CASE(a_refusal_for_another_game_is_a_mismatch_and_a_full_server_is_not) {
    static const uint32_t reasons[] = {1, 2, 3, 4, 5, 4000000000u};
    for (size_t i = 0; i < BASE_COUNT(reasons); i++)
        assert_int_equal(net_exit_of_refusal(reasons[i]), i < 3 ? 4 : 6);
}

CASE(the_build_id_names_version_and_commit_in_63_bytes) {
    const char* id = net_build_id();
    assert_true(strncmp(id, "shoal-" SHOAL_VERSION "-", strlen("shoal-" SHOAL_VERSION "-")) == 0);
    assert_in_range(strlen(id), 1, 63);
    assert_int_equal(strcspn(id, " /\n"), strlen(id));
}

CASE(a_file_at_its_size_limit_is_an_error_and_no_signal) {
    const base_reporter reporter = base_reporter_stderr();
    struct rlimit before;
    FILE* file = tmpfile();
    assert_non_null(file);
    assert_true(net_host_prepare(&reporter));
    assert_int_equal(getrlimit(RLIMIT_FSIZE, &before), 0);
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &(struct rlimit){1, before.rlim_max}), 0);
    assert_int_equal(write(fileno(file), "ab", 2), 1);
    assert_int_equal(write(fileno(file), "b", 1), -1);
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &before), 0);
    fclose(file);
}

CASE(an_unknown_game_is_reported) {
    net_module* module = NULL;
    assert_int_equal(net_host_open_module("no_such_game", hear(), &module), NET_ERR_UNKNOWN);
    assert_said("no_such_game");
    assert_null(module);
}

CASE(a_wrong_network_spec_is_reported_and_none_is_right) {
    const base_reporter* reporter = hear();
    assert_true(net_host_simulate_network(NULL, reporter));
    assert_int_equal(said.count, 0);
    assert_false(net_host_simulate_network("loss=lots", reporter));
    assert_int_equal(said.count, 1);
}

static bool write_two_lines(void* context, void* file) {
    net_host_write_line(file, context);
    net_host_write_line(file, "two");
    return true;
}

static bool write_half(void* context, void* file) {
    net_host_write_line(file, "half");
    return false;
}

CASE(a_file_gets_the_lines_that_were_written) {
    char path[] = "/tmp/shoal-host-XXXXXX", text[32] = {0};
    int descriptor = mkstemp(path);
    assert_true(descriptor >= 0);
    assert_true(net_host_write_file(path, write_two_lines, "one", hear()));
    assert_int_equal(read(descriptor, text, sizeof text - 1), 8);
    assert_string_equal(text, "one\ntwo\n");
    assert_int_equal(said.count, 0);
    close(descriptor);
    unlink(path);
}

CASE(a_file_that_cannot_be_written_is_reported) {
    assert_false(net_host_write_file("/no/such/folder/file", write_two_lines, "one", hear()));
    assert_string_equal(said.text, "/no/such/folder/file: error: No such file or directory");
    assert_false(net_host_write_file("/dev/full", write_two_lines, "one", hear()));
    assert_string_equal(said.text, "/dev/full: error: cannot be written: No space left on device");
    assert_false(net_host_write_file("/dev/null", write_half, NULL, hear()));
    assert_string_equal(said.text,
                        "/dev/null: error: cannot be written: its content is not complete");
}

CASE(results_that_could_not_be_written_are_no_success) {
    static const char* const names[] = {"/dev/null", "/dev/full"};
    for (int i = 0; i < 2; i++) {
        const base_reporter* reporter = hear();
        FILE* file = fopen(names[i], "w");
        assert_non_null(file);
        (void)setvbuf(file, NULL, _IOLBF, BUFSIZ);
        net_host_write_line(file, "one");
        assert_int_equal(net_exit_of_results(NET_EXIT_CLEAN, file, reporter),
                         i == 0 ? NET_EXIT_CLEAN : NET_EXIT_RUNTIME);
        assert_int_equal(said.count, i);
        assert_int_equal(net_exit_of_results(NET_EXIT_DIVERGED, file, reporter), NET_EXIT_DIVERGED);
        fclose(file);
    }
}

CASE(a_link_is_not_followed_when_a_file_is_written) {
    char victim[] = "/tmp/shoal-host-XXXXXX", name[64], text[8] = {0};
    int descriptor = mkstemp(victim);
    assert_int_equal(write(descriptor, "kept", 4), 4);
    snprintf(name, sizeof name, "%s.link", victim);
    assert_int_equal(symlink(victim, name), 0);
    assert_false(net_host_write_file(name, write_two_lines, "one", hear()));
    assert_said("it is a link");
    void* file = NULL;
    assert_false(net_host_open_file(name, hear(), &file));
    assert_null(file);
    assert_int_equal(said.count, 1);
    unlink(name);
    assert_true(net_host_open_file(name, NULL, &file));
    fclose(file);
    struct stat status;
    assert_int_equal(lstat(name, &status), 0);
    assert_int_equal(status.st_mode & 07777, 0600);
    assert_int_equal(pread(descriptor, text, sizeof text, 0), 4);
    assert_string_equal(text, "kept");
    close(descriptor);
    unlink(name);
    unlink(victim);
}

CASE(dropped_data_is_one_line_or_none) {
    uint64_t dropped[NET_DROP_COUNT] = {0};
    net_transport_stats stats = {0};
    const base_reporter* reporter = hear();
    net_host_report_dropped(dropped, &stats, reporter);
    net_host_report_dropped(dropped, NULL, reporter);
    assert_int_equal(said.count, 0);
    dropped[NET_DROP_FLOOD] = 3;
    stats.dropped_empty = 2;
    stats.sim_dropped = 5;
    net_host_report_dropped(dropped, &stats, reporter);
    assert_string_equal(said.text, "note: dropped flood=3 socket_empty=2 network=5");
    net_host_report_dropped(dropped, NULL, hear());
    assert_string_equal(said.text, "note: dropped flood=3");
}
