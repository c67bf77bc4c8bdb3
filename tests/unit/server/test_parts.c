// SPDX-License-Identifier: MIT
// The phases of the parts of a server, on a table of three parts that write down their turns.
#include "test.h"

#include "host/output.h"
#include "program.h"

static char turns[64];
static int code_of_b;
static bool b_is_over;

static int turn(const char* name, int code) {
    strcat(turns, name);
    return code;
}
static int turn_a(server_program* program) {
    return turn("a", NET_EXIT_CLEAN);
}
static int turn_b(server_program* program) {
    program->is_over = b_is_over;
    return turn("b", code_of_b);
}
static int turn_c(server_program* program) {
    return turn("c", code_of_b == NET_EXIT_CLEAN ? NET_EXIT_CLEAN : NET_EXIT_DIVERGED);
}
static void say_a(const server_program* program, server_saying line, char* text, size_t bytes) {
    (void)snprintf(text, bytes, "%s", line == SERVER_SAYS_READY ? " a=1" : "");
}
static void say_c(const server_program* program, server_saying line, char* text, size_t bytes) {
    (void)snprintf(text, bytes, " c=%d", (int)line);
}

#define EACH_PHASE(fn)                                                                             \
    { [SERVER_PREPARE] = fn, [SERVER_OPENED] = fn, [SERVER_READY] = fn, [SERVER_CLOSE] = fn }
static const server_part part_a = {.name = "a", .at = EACH_PHASE(turn_a), .say = say_a};
static const server_part part_b = {.name = "b", .at = EACH_PHASE(turn_b)};
static const server_part part_c = {.name = "c", .at = EACH_PHASE(turn_c), .say = say_c};
static const server_part absent = {.name = "absent"};
const server_part* const server_parts[] = {&part_a, &part_b, &part_c, NULL};
const uint32_t server_part_count = 3;

static server_program program;

static int run(server_phase phase, int code, bool is_over) {
    turns[0] = '\0';
    program = (server_program){.is_over = false};
    code_of_b = code;
    b_is_over = is_over;
    return server_program_phase(&program, phase);
}

CASE(parts_open_in_their_order_and_close_backwards) {
    assert_int_equal(run(SERVER_PREPARE, NET_EXIT_CLEAN, false), NET_EXIT_CLEAN);
    assert_string_equal(turns, "abc");
    assert_int_equal(run(SERVER_OPENED, NET_EXIT_CLEAN, false), NET_EXIT_CLEAN);
    assert_string_equal(turns, "abc");
    assert_int_equal(run(SERVER_READY, NET_EXIT_CLEAN, false), NET_EXIT_CLEAN);
    assert_string_equal(turns, "cba");
    assert_int_equal(run(SERVER_MATCH, NET_EXIT_CLEAN, false), NET_EXIT_CLEAN);
    assert_string_equal(turns, ""); // none has this phase
}

CASE(a_fault_ends_the_opening_and_no_close) {
    assert_int_equal(run(SERVER_PREPARE, NET_EXIT_USAGE, false), NET_EXIT_USAGE);
    assert_string_equal(turns, "ab");
    assert_int_equal(run(SERVER_CLOSE, NET_EXIT_USAGE, false), NET_EXIT_DIVERGED); // the first one
    assert_string_equal(turns, "cba");
}

CASE(a_part_that_ends_the_program_in_silence_is_the_last_one) {
    assert_int_equal(run(SERVER_OPENED, NET_EXIT_CLEAN, true), NET_EXIT_CLEAN);
    assert_string_equal(turns, "ab");
}

CASE(words_of_all_parts_make_one_line) {
    char text[32];
    server_program_say(&program, SERVER_SAYS_READY, text, sizeof text);
    assert_string_equal(text, " c=0 a=1");
    server_program_say(&program, SERVER_SAYS_DONE, text, sizeof text);
    assert_string_equal(text, " c=2");
}

CASE(a_part_that_is_not_in_the_table_has_no_state) {
    int own;
    program.states[1] = &own;
    assert_ptr_equal(server_program_state(&program, &part_b), &own);
    assert_null(server_program_state(&program, &absent));
}

CASE(no_transport_of_a_part_is_lost) {
    net_transport enet = {.lanes = 1}, join = {.around = &enet}, hold = {.around = &join},
                  past = {.around = &enet};
    program = (server_program){.enet = &enet, .transport = &enet};
    server_program_wrap(&program, &join);
    expect_assert_failure(server_program_wrap(&program, &past)); // as --stream did to browsers
    server_program_wrap(&program, &hold);
    assert_ptr_equal(program.transport, &hold);
}
