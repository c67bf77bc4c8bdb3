// SPDX-License-Identifier: MIT
// Parts of shoal-server as a service that need no match: lines and histograms. tests/e2e/service.sh
// has the program.
#include "test.h"

#include "lines.h"
#include "inspect/metrics.h"

#include <fcntl.h>
#include <unistd.h>

// Lines go to stderr: to a file, while a case says some.
static int set_stderr(int descriptor) {
    const int before = dup(STDERR_FILENO);
    assert_true(before >= 0 && dup2(descriptor, STDERR_FILENO) == STDERR_FILENO);
    return before;
}

typedef struct spoken {
    FILE* file;
    int before;
    server_lines* lines;
    server_line line;
} spoken;

static void begin_lines(spoken* at) {
    at->file = tmpfile();
    assert_non_null(at->file);
    at->before = set_stderr(fileno(at->file));
    at->lines = server_lines_create();
    assert_non_null(at->lines);
}

static void end_lines(spoken* at) {
    close(set_stderr(at->before));
    close(at->before);
    fclose(at->file);
    server_lines_destroy(at->lines);
}

#define LINES_CASE(name) CASE_WITH(spoken, at, begin_lines(at), end_lines(at), name)

// The line of this number, which is there.
static const server_line* line_of(spoken* at, uint64_t number) {
    assert_true(server_lines_get(at->lines, number, &at->line));
    return &at->line;
}

LINES_CASE(the_ring_keeps_the_newest_lines) {
    const base_reporter* net = server_lines_reporter(at->lines, SERVER_LAYER_NET);
    uint64_t first, end;
    server_lines_range(at->lines, &first, &end);
    assert_true(first == 1 && end == 1);
    assert_false(server_lines_get(at->lines, 1, &at->line));
    for (uint32_t i = 1; i <= SERVER_LINES_MAX + 1; i++) {
        server_lines_set_tick(at->lines, 10 * i);
        base_report(net, NULL, 0, "note: number %u", i);
        server_lines_range(at->lines, &first, &end);
        assert_true(end == i + 1 && first == (i <= SERVER_LINES_MAX ? 1 : 2));
    }
    assert_false(server_lines_get(at->lines, 0, &at->line));
    assert_false(server_lines_get(at->lines, 1, &at->line)); // gave way
    (void)line_of(at, 2);
    assert_true(at->line.number == 2 && at->line.tick == 20 && at->line.level == SERVER_LEVEL_INFO);
    assert_true(at->line.layer == SERVER_LAYER_NET && at->line.file[0] == 0 && at->line.line == 0);
    assert_string_equal(at->line.message, "number 2");
    (void)line_of(at, SERVER_LINES_MAX + 1);
    assert_false(server_lines_get(at->lines, SERVER_LINES_MAX + 2, &at->line)); // not yet
}

LINES_CASE(a_line_has_its_level_its_place_and_the_end_of_a_long_file) {
    const base_reporter* game = server_lines_reporter(at->lines, SERVER_LAYER_GAME);
    char name[SERVER_LINE_FILE_BYTES + 1];
    memset(name, 'x', sizeof name);
    name[SERVER_LINE_FILE_BYTES] = 0;
    base_report(game, name + 1, 7, "broken");
    base_report(game, name, 0, "warning: odd");
    base_report(game, NULL, 0, "debug: hidden");
    (void)line_of(at, 1);
    assert_true(at->line.level == SERVER_LEVEL_ERROR && at->line.line == 7);
    assert_string_equal(at->line.file, name + 1);
    (void)line_of(at, 2);
    assert_true(at->line.level == SERVER_LEVEL_WARNING);
    assert_string_equal(at->line.file, name + 1); // one byte too long: its first one is gone
    assert_string_equal(at->line.message, "odd");
    assert_false(server_lines_get(at->lines, 3, &at->line));
}

// A reader that is stuck costs its lines, and no match.
CASE(a_full_pipe_loses_lines_and_says_how_many) {
    int ends[2];
    char text[4096];
    memset(text, '\n', sizeof text);
    assert_int_equal(pipe(ends), 0);
    assert_int_equal(fcntl(ends[1], F_SETFL, O_NONBLOCK), 0);
    while (write(ends[1], text, sizeof text) > 0)
        continue;
    assert_int_equal(fcntl(ends[1], F_SETFL, 0), 0); // as a server gets it
    const int before = set_stderr(ends[1]);
    server_lines* lines = server_lines_create();
    const base_reporter* net = server_lines_reporter(lines, SERVER_LAYER_NET);
    for (uint32_t i = 1; i <= 3; i++)
        base_report(net, NULL, 0, "note: number %u", i);
    assert_int_equal(fcntl(ends[0], F_SETFL, O_NONBLOCK), 0);
    while (read(ends[0], text, sizeof text) > 0)
        continue;
    base_report(net, NULL, 0, "note: number 4");
    const ssize_t size = read(ends[0], text, sizeof text - 1);
    close(set_stderr(before));
    close(before);
    assert_true(size > 0);
    text[size] = 0;
    assert_string_equal(text, "warning: 3 lines are missing here: stderr was not drained\n"
                              "note: number 4\n");
    // Memory has all of them.
    server_line line;
    assert_true(server_lines_get(lines, 2, &line));
    assert_string_equal(line.message, "number 2");
    assert_true(server_lines_get(lines, 5, &line));
    assert_string_equal(line.message, "number 4");
    server_lines_destroy(lines);
    close(ends[0]);
    close(ends[1]);
}

LINES_CASE(the_tail_of_a_crash_has_the_newest_lines_in_order) {
    for (uint32_t i = 1; i <= SERVER_LINES_TAIL_MAX + 1; i++)
        base_report(server_lines_reporter(at->lines, SERVER_LAYER_LOG), "a.slog", i, "note: %u", i);
    FILE* tail = tmpfile();
    server_lines_write_tail(at->lines, fileno(tail));
    rewind(tail);
    char text[256];
    for (uint32_t i = 2; i <= SERVER_LINES_TAIL_MAX + 1; i++) {
        unsigned number, line;
        assert_non_null(fgets(text, sizeof text, tail));
        assert_true(sscanf(text, "%*u:%*u:%*u.%*u 0 info log: a.slog:%u: %u\n", &line, &number) ==
                    2);
        assert_true(number == i && line == i);
    }
    assert_null(fgets(text, sizeof text, tail));
    fclose(tail);
}

CASE(an_observation_that_equals_a_bound_is_below_it) {
    static const uint32_t bounds[SERVER_METRICS_BOUNDS_MAX] = {1, 2, 3, 4, 5, 6, 7, 8, 100};
    server_histogram histogram = {.bounds = bounds};
    server_histogram_add(&histogram, 0);
    server_histogram_add(&histogram, 1);
    server_histogram_add(&histogram, 99);
    server_histogram_add(&histogram, 100);
    server_histogram_add(&histogram, 101);
    assert_true(histogram.counts[0] == 2 && histogram.counts[1] == 0);
    assert_true(histogram.counts[SERVER_METRICS_BOUNDS_MAX - 1] == 2);
    assert_true(histogram.counts[SERVER_METRICS_BOUNDS_MAX] == 1 && histogram.sum == 301);
}
