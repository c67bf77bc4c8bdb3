// SPDX-License-Identifier: MIT
// Each kind of mistake gets one line that names it.
#include "heard.h"
#include "match_made.h"
#include "check/mistaken.h"
#include "text_table.h"

#include "log/log_files.h"

typedef struct expectation {
    const char* mistake;
    uint32_t warnings_max;
    ecs_tick ticks; // 0: the game is refused
    const char* says;
} expectation;

enum { ALL = NET_CHECK_TICKS_DEFAULT, LONG = NET_CHECK_TICKS_MAX };

static heard reported;
static const char* const findings = reported.text;

// `asked`: bots, ticks and settings.
static net_result check_as(const char* planted, net_check_config asked, net_check_result* result) {
    const base_reporter* reporter = heard_begin(&reported);
    log_files files;
    net_module* module = NULL;
    the_mistake = planted;
    calls_outside = 0;
    files_open(&files);
    assert_ok(
        net_module_wrap(mistaken_module(), mistaken_templates(), "paddle.blk", reporter, &module));
    if (is("a library")) module->needed = "libhull.so.7";
    asked.module = module;
    asked.file = "paddle.so";
    asked.reporter = reporter;
    asked.log_file = files.log;
    net_result code = net_check_play(&asked, result);
    net_module_close(module);
    files_close(&files);
    return code;
}

static net_result check(const char* planted, net_check_result* result) {
    return check_as(planted, (net_check_config){0}, result);
}

static void expect(const expectation* of) {
    net_check_result result = {.ticks = 0};
    const net_result code = check(of->mistake, &result);
    const net_result expected_code =
        strstr(findings, "\nerror: ") == NULL && strncmp(findings, "error: ", 7)
            ? of->ticks ? NET_OK : NET_ERR_MODULE
            : NET_ERR_DIVERGED;
    if (code != expected_code || !strstr(findings, of->says) ||
        result.warnings > of->warnings_max || result.ticks != of->ticks)
        fail_msg("%s, %u ticks: expected: %s\nsaid: %s", of->mistake, (unsigned)result.ticks,
                 of->says, findings);
}

CASE(a_game_without_mistakes_gets_no_line) {
    net_check_result result;
    assert_ok(check("none", &result));
    assert_string_equal(findings, "");
    assert_int_equal(result.warnings, 0);
    assert_int_equal(result.ticks, NET_CHECK_TICKS_DEFAULT);
    assert_int_equal(result.templates, 1);
    assert_int_equal(result.components, 3);
    assert_true(result.datagrams > 2 * NET_CHECK_TICKS_DEFAULT);
}

CASE(each_mistake_is_named_by_one_line) {
    text_table table = text_table_open(TEXT_TABLE, "mistakes");
    expectation of;
    for (const char* answer; (answer = text_table_next(&table, &of.mistake));) {
        char says[512], ticks[8];
        int words = 0;
        assert_int_equal(sscanf(answer, "%u %7s %n", &of.warnings_max, ticks, &words), 2);
        assert_true(base_text_format(says, sizeof says, "%s", answer + words));
        char* end = strchr(says, '$');
        if (end) *end = '\n';
        of.ticks = *ticks == '0' ? 0 : *ticks == 'A' ? ALL : LONG;
        of.says = says;
        if (BASE_VALIDATE_ON && strncmp(of.mistake, "slip", 4) == 0)
            continue; // there the step asserts it
        expect(&of);
    }
}

CASE(one_bot_leaves_and_one_comes_that_sends_nothing_at_first) {
    char happened[NET_CHECK_HAPPENED_BYTES] = "";
    net_check_result result;
    leaves_seen = 0;
    memset(inputs_seen, 0, sizeof inputs_seen);
    assert_ok(check_as("none", (net_check_config){.happened = happened}, &result));
    assert_string_equal(happened, "Bot 1 left in tick 61, Bot 3 came in tick 71");
    assert_true(leaves_seen > 0); // after tick 60, in the match and when it runs again
    // Runs of the log count, too: it is restored four times.
    assert_true(inputs_seen[1] > 40 && inputs_seen[2] > 100);
    assert_in_range(inputs_seen[3], 1, inputs_seen[2] / 4);
}

CASE(fields_that_change_places_are_both_named) {
    net_check_result result;
    assert_ok(check("swapped field", &result));
    assert_non_null(strstr(findings,
                           "field dx of steer does not come back from the wire, it changes "
                           "dy"));
    assert_non_null(strstr(findings,
                           "field dy of steer does not come back from the wire, it changes "
                           "dx"));
}

// Only the first bytes of a picture are looked at: 190 x 64 pixels.
CASE(frames_that_a_sheet_does_not_have_are_named) {
    static const uint8_t sheet[] = {0x89, 'P', 'N', 'G', '\r', '\n', 0x1a, '\n', 0, 0, 0, 13,
                                    'I',  'H', 'D', 'R', 0,    0,    0,    190,  0, 0, 0, 64};
    char folder[] = "/tmp/shoal_sheet_XXXXXX", before[512];
    assert_non_null(getcwd(before, sizeof before));
    assert_non_null(mkdtemp(folder));
    assert_true(chdir(folder) == 0 && mkdir("paddle", 0700) == 0);
    FILE* file = fopen("paddle/sheet.png", "wb");
    assert_non_null(file);
    assert_int_equal(fwrite(sheet, 1, sizeof sheet, file), sizeof sheet);
    assert_int_equal(fclose(file), 0);
    static const expectation frames = {
        "a sheet of odd frames", 1, ALL,
        "warning: sheet.png has 190 x 64 pixels, which are no 4 x 2 frames of one "
        "size: correct columns and rows, or the picture"};
    expect(&frames);
    assert_true(unlink("paddle/sheet.png") == 0 && rmdir("paddle") == 0);
    assert_true(chdir(before) == 0 && rmdir(folder) == 0);
}

CASE(a_system_without_rows_and_a_handler_without_events_are_named) {
    net_check_result result;
    assert_ok(check("no rows", &result));
    assert_string_equal(findings, "note: fly_es never had a row: what it does was not checked\n");
    assert_int_equal(result.warnings, 0);
    assert_int_equal(result.ticks, NET_CHECK_TICKS_MAX);
    assert_ok(check("no event", &result));
    assert_string_equal(findings,
                        "note: boom_es never had an event: what it does was not checked\n");
    assert_int_equal(result.warnings, 0);
    assert_int_equal(result.ticks, NET_CHECK_TICKS_MAX);
    assert_ok(check("late row", &result));
    assert_string_equal(findings, "");
    assert_int_equal(result.ticks, 300); // the next look after the bird of tick 290
    assert_ok(check_as("late row", (net_check_config){.ticks = 280}, &result));
    assert_string_equal(findings, "note: fly_es never had a row: what it does was not checked\n");
    assert_int_equal(result.ticks, 280);
}

CASE(lines_of_a_script_that_never_ran_are_named) {
    net_check_result result;
    assert_ok(check("a line that never runs", &result));
    assert_string_equal(findings, "rules.lua:5: note: line 5-7 never ran: what it does was not "
                                  "checked\n");
    assert_int_equal(result.ticks, NET_CHECK_TICKS_MAX);
    assert_int_equal(result.warnings, 0);
}

CASE(a_player_who_never_gets_another_entity_is_named) {
    static const expectation respawn = {
        "a player lost for good", 1, 660,
        "warning: a player has had no entity for 10 s: its paddle was "
        "destroyed in tick 41, and a player never gets another; keep the "
        "entity of player_join, and set it back to respawn\n"};
    expect(&respawn);
    net_check_result result;
    assert_ok(check_as("a player lost for good", (net_check_config){.ticks = 200}, &result));
    assert_int_equal(result.warnings, 0); // it may come back yet
}

CASE(bots_ticks_and_settings_are_the_callers) {
    static const char* const settings[] = {"speed=2"};
    net_check_result two, result;
    assert_ok(check_as("none", (net_check_config){.ticks = 30}, &two));
    assert_int_equal(two.ticks, 30);
    assert_ok(check_as("none", (net_check_config){.ticks = 30, .bots = 5}, &result));
    assert_int_equal(result.warnings, 0);
    assert_int_equal(result.ticks, 30);
    assert_true(result.datagrams > 2 * two.datagrams);
    const net_check_config set = {.settings = settings, .setting_count = 1};
    assert_int_equal(check_as("none", set, &result), NET_ERR_UNKNOWN);
    assert_non_null(strstr(findings, "paddle has no setting \"speed\""));
}

CASE(declarations_alone_are_checked_without_a_step) {
    const base_reporter* reporter = heard_begin(&reported);
    net_module* module = NULL;
    net_match* match = NULL;
    net_check_result result;
    the_mistake = "no system takes kicks";
    assert_ok(
        net_module_wrap(mistaken_module(), mistaken_templates(), "paddle.blk", reporter, &module));
    match = match_made(module, (match_wanted){0});
    const net_check_config asked = {.module = module, .reporter = reporter};
    assert_ok(net_check_declared(&asked, match, &result));
    assert_int_equal(result.warnings, 1);
    assert_int_equal(result.ticks, 0);
    assert_int_equal(net_match_tick(match), 0);
    net_match_destroy(match);
    net_module_close(module);
}
