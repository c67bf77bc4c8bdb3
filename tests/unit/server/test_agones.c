// SPDX-License-Identifier: MIT
// One of a fleet of Agones, in virtual time: the SDK server is a list of answers.
#include "test.h"

#include "agones/agones.h"

#define PASS_US 10000u
#define LINES_MAX 64u

// What the SDK server was asked, and what it answers from now on.
typedef struct sidecar {
    uint32_t status[SERVER_REST_SLOTS]; ///< of each answer; 0: none, at once
    bool is_down;                       ///< with 0: nothing listens there
    bool is_silent[SERVER_REST_SLOTS];  ///< answers nothing
    bool is_open[SERVER_REST_SLOTS];    ///< a request waits for its answer
    uint32_t asked[SERVER_REST_SLOTS];
    uint64_t asked_us[SERVER_REST_SLOTS]; ///< the last time
    char last[SERVER_REST_SLOTS][SERVER_REST_BODY_BYTES];
    const char* lines[LINES_MAX]; ///< pieces that the watch says in the next poll
    uint32_t line_count, line_next;
    bool is_watch_over;
    uint32_t events; ///< answers of the poll that were not taken yet
    uint64_t now_us;
    base_report_first reported;
    base_reporter reporter;
    server_agones* agones;
} sidecar;

static void begin(void* context, server_rest_slot slot, const char* method, const char* path,
                  const char* body) {
    sidecar* self = context;
    assert_false(self->is_open[slot]);
    self->is_open[slot] = true;
    self->asked[slot]++;
    self->asked_us[slot] = self->now_us;
    assert_true(base_text_format(self->last[slot], sizeof self->last[slot], "%s %s %s", method,
                                 path, body ? body : "-"));
}

static void cancel(void* context, server_rest_slot slot) {
    sidecar* self = context;
    assert_true(self->is_open[slot]);
    self->is_open[slot] = false;
}

static void poll(void* context) {
    sidecar* self = context;
    self->events = SERVER_REST_SLOTS;
}

static bool next(void* context, server_rest_event* event) {
    sidecar* self = context;
    if (self->line_next < self->line_count && self->is_open[SERVER_REST_WATCH]) {
        const char* line = self->lines[self->line_next++];
        *event = (server_rest_event){.slot = SERVER_REST_WATCH, .data = line, .size = strlen(line)};
        return true;
    }
    while (self->events > 0) {
        const server_rest_slot slot = (server_rest_slot)--self->events;
        const bool is_watch = slot == SERVER_REST_WATCH;
        if (!self->is_open[slot] || self->is_silent[slot] || (is_watch && !self->is_watch_over))
            continue;
        self->is_open[slot] = false;
        if (is_watch) self->is_watch_over = false;
        *event = (server_rest_event){
            .slot = slot, .status = self->status[slot], .is_unsent = self->is_down};
        return true;
    }
    return false;
}

static void destroy(void* context) {}

static void begin_sidecar(sidecar* self) {
    *self = (sidecar){.now_us = 1000000};
    self->reporter = base_reporter_first(&self->reported);
    for (uint32_t i = 0; i < SERVER_REST_SLOTS; i++)
        self->status[i] = 200;
    const server_rest rest = {self, begin, cancel, poll, next, destroy};
    self->agones = server_agones_create(&rest, &self->reporter);
    assert_non_null(self->agones);
}

// Let time pass, with `players`.
static void run(sidecar* self, uint32_t ms, uint32_t players) {
    for (uint64_t end_us = self->now_us + ms * UINT64_C(1000); self->now_us < end_us;
         self->now_us += PASS_US)
        server_agones_pass(self->agones, self->now_us, players, 8);
}

static void hear(sidecar* self, const char* line) {
    assert_true(self->line_count < LINES_MAX);
    self->lines[self->line_count++] = line;
}

static void hear_now(sidecar* self, const char* line) {
    hear(self, line);
    run(self, 20, 0);
}

// After these ms it was asked so many times for that.
static void asks(sidecar* self, uint32_t ms, server_rest_slot slot, uint32_t count) {
    run(self, ms, 0);
    assert_int_equal(self->asked[slot], count);
}

// Nothing was asked before.
static void get_ready(sidecar* self) {
    server_agones_ask_ready(self->agones);
    run(self, 100, 0);
}

#define META "{\"result\":{\"object_meta\":{"
#define IS(state) META "},\"status\":{\"state\":\"" state "\"}}}\n"
#define ALLOCATED_AT(time)                                                                         \
    META "\"annotations\":{\"agones.dev/last-allocated\":\"" time                                  \
         "\"}},\"status\":{\"state\":\"Allocated\"}}}\n"

#define AGONES_CASE(name)                                                                          \
    CASE_WITH(sidecar, at, begin_sidecar(at), server_agones_destroy(at->agones), name)

AGONES_CASE(ready_is_asked_each_second_until_the_answer_is_200) {
    asks(at, 100, SERVER_REST_LIFE, 0); // not before the program says so
    at->status[SERVER_REST_LIFE] = 0;
    server_agones_ask_ready(at->agones);
    asks(at, 1500, SERVER_REST_LIFE, 2);
    at->status[SERVER_REST_LIFE] = 500;
    asks(at, 2000, SERVER_REST_LIFE, 4);
    assert_false(server_agones_is_answered(at->agones));
    assert_string_equal(at->reported.text,
                        "warning: agones: POST /ready: no answer; it is tried again");
    assert_int_equal(at->reported.count, 1); // said once
    at->status[SERVER_REST_LIFE] = 200;
    asks(at, 5000, SERVER_REST_LIFE, 5);
    assert_string_equal(at->last[SERVER_REST_LIFE], "POST /ready {}");
    assert_true(server_agones_is_answered(at->agones));
}

AGONES_CASE(a_sign_of_life_goes_out_every_two_seconds_while_the_loop_passes) {
    asks(at, 10000, SERVER_REST_HEALTH, 5);
    assert_string_equal(at->last[SERVER_REST_HEALTH], "POST /health {}");
    at->now_us += 60000000; // the loop stands still
    assert_int_equal(at->asked[SERVER_REST_HEALTH], 5);
    asks(at, 10, SERVER_REST_HEALTH, 6);
}

AGONES_CASE(lines_of_the_watch_come_in_pieces) {
    get_ready(at);
    hear(at, IS("Ready") "\n" META "\"labels\":{\"shoal.dev/set-lives\":\"7\",");
    hear_now(at, "\"shoal.dev/set-level\":\"2\",\"app\":\"x\"},\"annotations\":{\"shoal.dev/set-"
                 "lives\":\"-8\",\"shoal.dev/key-id\":\"3\"}},\"status\":{\"state\":\"Alloc");
    assert_null(server_agones_allocation(at->agones));
    hear_now(at, "ated\",\"address\":\"2001:db8::1\",\"ports\":[{\"port\":7001}]}}}\n");
    const server_watch_state* allocation = server_agones_allocation(at->agones);
    assert_non_null(allocation);
    assert_int_equal(allocation->setting_count, 2);
    assert_string_equal(allocation->settings[0], "lives=-8"); // an annotation wins
    assert_string_equal(allocation->settings[1], "level=2");
    assert_int_equal(allocation->key_id, 3);
    assert_string_equal(allocation->fault, "");
    assert_string_equal(at->last[SERVER_REST_ANNOTATION],
                        "PUT /metadata/annotation "
                        "{\"key\":\"shoal-public\",\"value\":\"[2001:db8::1]:7001\"}");
}

CASE(what_an_allocation_asks_for_and_cannot_be_is_its_fault) {
    static const char* const marks[] = {"\"shoal.dev/set-\":\"1\"",
                                        "\"shoal.dev/set-a=b\":\"1\"",
                                        "\"shoal.dev/key-id\":\"0\"",
                                        "\"shoal.dev/key-id\":\"256\"",
                                        "\"shoal.dev/key-id\":\"x\"",
                                        "\"shoal.dev/standby-of\":\"\"",
                                        "\"shoal.dev/standby-of\":\"0000000000000000\"",
                                        "\"shoal.dev/standby-of\":\"00000000CAFE0276\"",
                                        "\"shoal.dev/standby-of\":\"00000000cafe02761\""};
    server_watch_state state;
    char line[20000];
    for (uint32_t i = 0; i < BASE_COUNT(marks); i++) {
        (void)base_text_format(line, sizeof line,
                               META "\"labels\":{%s}},\"status\":{\"state\":\"Allocated\"}}}",
                               marks[i]);
        assert_true(server_watch_read(line, strlen(line), &state));
        assert_true(state.fault[0] != '\0');
    }
    for (uint32_t count = NET_SETTINGS_MAX - 1; count <= NET_SETTINGS_MAX + 1; count++) {
        size_t at = (size_t)snprintf(line, sizeof line, META "\"labels\":{");
        for (uint32_t i = 0; i < count; i++)
            at += (size_t)snprintf(line + at, sizeof line - at, "%s\"shoal.dev/set-k%u\":\"1\"",
                                   i ? "," : "", i);
        at += (size_t)snprintf(line + at, sizeof line - at,
                               "}},\"status\":{\"state\":\"Allocated\"}}}");
        assert_true(server_watch_read(line, at, &state));
        assert_true((state.fault[0] == '\0') == (count <= NET_SETTINGS_MAX));
    }
    // A value that is too long for a setting.
    (void)snprintf(line, sizeof line,
                   META "\"labels\":{\"shoal.dev/set-a\":\"%0*d\"}},\"status\":{\"state\":\"A\"}}}",
                   (int)SERVER_WATCH_SETTING_BYTES, 7);
    assert_true(server_watch_read(line, strlen(line), &state));
    assert_true(state.fault[0] != '\0');
}

AGONES_CASE(where_standbys_are_is_heard_in_any_state) {
    run(at, 100, 0);
    assert_string_equal(server_agones_standby_at(at->agones), "");
    hear_now(at, META "\"labels\":{\"shoal.dev/standby-of\":\"e0ffe1c8cafe0276\"},\"annotations\":{"
                      "\"shoal.dev/standby-at\":\"192.0.2.1:7,[::1]:8\"}},\"status\":{\"state\":"
                      "\"Allocated\"}}}\n");
    assert_string_equal(server_agones_standby_at(at->agones), "192.0.2.1:7,[::1]:8");
    hear_now(at, "what is no line\n");
    assert_string_equal(server_agones_standby_at(at->agones), "192.0.2.1:7,[::1]:8");
    hear_now(at, IS("Allocated") "\n");
    assert_string_equal(server_agones_standby_at(at->agones), "");
    server_watch_state state;
    static const char line[] =
        META "\"annotations\":{\"shoal.dev/standby-of\":\"e0ffe1c8cafe0276\"}},"
             "\"status\":{\"state\":\"Allocated\"}}}";
    assert_true(server_watch_read(line, sizeof line - 1, &state));
    assert_true(state.standby_of == 0xe0ffe1c8cafe0276 && state.fault[0] == '\0');
}

AGONES_CASE(what_is_no_line_of_the_watch_is_counted_and_said_once) {
    static const char* const lines[] = {"{\"error\":{\"code\":14}}\n", "\"Allocated\"\n", "[\n",
                                        META "},\"status\":{\"state\":7}}}\n", "\xff\xfe\n"};
    get_ready(at);
    for (uint32_t i = 0; i < BASE_COUNT(lines); i++)
        hear_now(at, lines[i]);
    assert_null(server_agones_allocation(at->agones));
    assert_int_equal(at->reported.count, 1);
    hear_now(at, ALLOCATED_AT("1"));
    assert_non_null(server_agones_allocation(at->agones));
}

AGONES_CASE(a_line_that_is_too_long_is_left_out_and_the_next_one_is_heard) {
    get_ready(at);
    static char piece[SERVER_WATCH_LINE_BYTES_MAX / 2 + 1];
    memset(piece, ' ', sizeof piece - 1);
    for (uint32_t i = 0; i < 2; i++) // as long as one may be
        hear(at, piece);
    hear(at, "\n");
    for (uint32_t i = 0; i < 3; i++)
        hear(at, piece);
    hear(at, "\n");
    hear_now(at, ALLOCATED_AT("1"));
    assert_non_null(server_agones_allocation(at->agones));
}

AGONES_CASE(an_allocation_of_before_is_not_taken_for_a_new_one) {
    hear(at, IS("Allocated")); // nothing was asked for yet
    run(at, 100, 0);
    server_agones_ask_ready(at->agones);
    assert_null(server_agones_allocation(at->agones));
    run(at, 20, 0);
    hear_now(at, ALLOCATED_AT("1"));
    assert_non_null(server_agones_allocation(at->agones));
    server_agones_ask_ready(at->agones); // the match is over
    hear_now(at, ALLOCATED_AT("1"));
    assert_null(server_agones_allocation(at->agones));
    hear_now(at, ALLOCATED_AT("2")); // the line between was lost
    assert_string_equal(server_agones_allocation(at->agones)->allocated_at, "2");
    server_agones_ask_ready(at->agones);
    run(at, 20, 0);
    hear(at, ALLOCATED_AT("2"));
    hear(at, IS("Ready"));
    hear_now(at, ALLOCATED_AT("2")); // a clock that stands still
    assert_non_null(server_agones_allocation(at->agones));
    assert_int_equal(at->asked[SERVER_REST_LIFE], 3);
}

AGONES_CASE(a_ready_whose_answer_is_lost_is_not_asked_again_once_the_watch_shows_it) {
    at->is_silent[SERVER_REST_LIFE] = true;
    get_ready(at);
    hear(at, IS("Ready"));
    hear_now(at, ALLOCATED_AT("1"));
    assert_non_null(server_agones_allocation(at->agones));
    at->is_silent[SERVER_REST_LIFE] = false;
    at->status[SERVER_REST_LIFE] = 0;
    asks(at, 5000, SERVER_REST_LIFE, 1);
}

// In its local mode the SDK server says Ready from the start.
AGONES_CASE(a_ready_that_never_got_there_is_asked_again_whatever_the_watch_shows) {
    at->status[SERVER_REST_LIFE] = 0;
    at->is_down = true;
    get_ready(at);
    hear_now(at, IS("Ready"));
    assert_false(server_agones_is_answered(at->agones));
    at->status[SERVER_REST_LIFE] = 500;
    run(at, 1000, 0);
    hear_now(at, IS("Ready"));
    assert_false(server_agones_is_answered(at->agones));
    at->status[SERVER_REST_LIFE] = 200;
    asks(at, 1000, SERVER_REST_LIFE, 3);
    assert_true(server_agones_is_answered(at->agones));
}

AGONES_CASE(an_sdk_server_that_forgot_is_told_again) {
    server_agones_annotate(at->agones, SERVER_AGONES_PUBLIC, "203.0.113.5:7000");
    server_agones_ask_ready(at->agones);
    hear(at, IS("Scheduled"));
    run(at, 3000, 4);
    assert_int_equal(at->asked[SERVER_REST_LIFE], 1);
    const uint32_t counters = at->asked[SERVER_REST_COUNTER];
    const uint32_t annotations = at->asked[SERVER_REST_ANNOTATION];
    at->is_watch_over = true;
    at->status[SERVER_REST_WATCH] = 0;
    run(at, 2000, 4);
    assert_int_equal(at->asked[SERVER_REST_WATCH], 2);
    assert_int_equal(at->asked[SERVER_REST_COUNTER], counters);
    hear(at, IS("Scheduled")); // ready was lost with it
    run(at, 3000, 4);
    assert_int_equal(at->asked[SERVER_REST_LIFE], 2);
    assert_int_equal(at->asked[SERVER_REST_COUNTER], counters + 1);
    assert_int_equal(at->asked[SERVER_REST_ANNOTATION], annotations + 1);
}

AGONES_CASE(players_are_told_once_a_second_and_as_text) {
    run(at, 10, 0);
    assert_string_equal(at->last[SERVER_REST_COUNTER],
                        "PATCH /v1beta1/counters/players {\"count\":\"0\",\"capacity\":\"8\"}");
    for (uint32_t i = 0; i < 100; i++) // one comes and goes all the time
        run(at, 50, i % 8 + 1);
    assert_in_range(at->asked[SERVER_REST_COUNTER], 5, 7);
    run(at, 2000, 3);
    assert_string_equal(at->last[SERVER_REST_COUNTER],
                        "PATCH /v1beta1/counters/players {\"count\":\"3\",\"capacity\":\"8\"}");
    const uint32_t asked = at->asked[SERVER_REST_COUNTER];
    run(at, 5000, 3);
    assert_int_equal(at->asked[SERVER_REST_COUNTER], asked);
    // A fleet without this counter is asked now and then.
    at->status[SERVER_REST_COUNTER] = 404;
    run(at, 25000, 4);
    assert_int_equal(at->asked[SERVER_REST_COUNTER], asked + 3);
}

AGONES_CASE(an_annotation_that_changes_on_its_way_is_said_again) {
    at->is_silent[SERVER_REST_ANNOTATION] = true;
    server_agones_annotate(at->agones, SERVER_AGONES_IDENTITY, "1");
    run(at, 100, 0);
    server_agones_annotate(at->agones, SERVER_AGONES_IDENTITY, "\"2\"");
    at->is_silent[SERVER_REST_ANNOTATION] = false;
    asks(at, 100, SERVER_REST_ANNOTATION, 2);
    assert_string_equal(at->last[SERVER_REST_ANNOTATION],
                        "PUT /metadata/annotation "
                        "{\"key\":\"shoal-identity\",\"value\":\"\\\"2\\\"\"}");
}

AGONES_CASE(a_shutdown_is_asked_until_it_is_answered) {
    server_agones_ask_ready(at->agones);
    at->is_silent[SERVER_REST_LIFE] = true;
    run(at, 100, 0);
    server_agones_ask_shutdown(at->agones); // ready is still on its way
    at->is_silent[SERVER_REST_LIFE] = false;
    at->status[SERVER_REST_LIFE] = 0;
    run(at, 1500, 0);
    at->status[SERVER_REST_LIFE] = 200;
    asks(at, 5000, SERVER_REST_LIFE, 4);
    assert_string_equal(at->last[SERVER_REST_LIFE], "POST /shutdown {}");
    assert_true(server_agones_is_answered(at->agones));
}
