// SPDX-License-Identifier: MIT
// Each kind of mistake gets one line that names it.
#include "heard.h"
#include "match_made.h"
#include "check/mistaken.h"

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

static const char gone_says[] =
    "warning: event goal of system say_es is about an entity that died in the same tick: no client "
    "gets it; broadcast it, and mark it late if a field of it names the entity\n";
static const char inits_says[] =
    "warning: a creation of bird gives it component glow, which the template lacks: no entity is "
    "made; add the component to the template\n";

static const expectation expected[] = {
    // what is not sent or handled
    {"one key", 1, ALL,
     "warning: actions hop and left have the same key A: one press does both; give one of them "
     "another key"},
    {"one button", 1, ALL,
     "warning: actions left and duck have the same input of a game controller a: one press does "
     "both; give one of them another input of a game controller"},
    {"no sound", 1, ALL,
     "goal.wav: is missing: put goal.wav into the folder assets beside the game's sources, and "
     "build the game again"},
    {"no music", 1, ALL, "song.ogg: is missing: put song.ogg into the folder assets"},
    {"unknown tag", 1, ALL, "warning: system lost_es never runs: no world has all of its tags"},
    {"unknown stage", 1, ALL,
     "warning: system late_es never runs: no program runs the stage act2 here"},
    {"unknown optional", 1, ALL,
     "warning: system draw_es asks for an optional component glwo, which no template has: correct "
     "the name, or add it to a template, did you mean 'glow'?"},
    {"unknown excluded", 1, ALL,
     "warning: system draw_es excludes component glwo, which no template has: correct the name, or "
     "add it to a template, did you mean 'glow'?"},
    {"unsent by terms", 1, ALL,
     "warning: component glow of template paddle: system draw_es of the client reads it, system "
     "heat_es of the server writes it, and it is not replicated: clients see the template's value; "
     "add _replicate:b=yes, or, if draw_es is for the server alone, ES_TAG(server)"},
    {"unsent by handle", 1, ALL,
     "warning: component glow of template paddle: system draw_es of the client reads it, and it is "
     "not replicated: on the server it is 0.5, on a client 0 (entity 2:1); add _replicate:b=yes"},
    {"unsent in a box", 1, ALL,
     "it is not replicated: on the server it is {crew=1;shots=7}, on a client {crew=1;shots=0} "
     "(entity 2:1); add _replicate:b=yes"},
    {"no system takes kicks", 1, ALL,
     "warning: message Kick: no system of the server handles its event kick"},
    {"unused event", 1, ALL,
     "warning: event boom: no system handles it and no message carries it: to send it has no "
     "effect; add a handler with ES_ON_EVENT(boom), or ES_MESSAGE"},
    {"no client takes goals", 1, ALL,
     "warning: message Goal: no system of a client handles its event goal"},
    {"goals on the server", 1, ALL,
     "warning: message Goal: no system of a client handles its event goal, which is exported: the "
     "server handles it, so leave out exported\n"},
    {"kicks on clients", 2, LONG,
     "warning: message Kick: no system of the server handles its event kick: what clients send has "
     "no effect; clients handle it, so make it exported\n"},
    {"untracked input", 1, ALL,
     "warning: component steer of template paddle: system steer_es writes inputs into it, but it "
     "is not tracked, so a log cannot tell where a re-run differs: add _track:b=yes"},
    // the prediction, which handles it, differs then
    {"no system takes inputs", 2, ALL,
     "warning: message Steer: no system of the server handles its event steer: what clients send "
     "has no effect"},
    // inputs that only the server takes are unsent values too
    {"no prediction takes inputs", 3, ALL,
     "warning: prediction: no system with the tag predict handles the input event steer"},
    {"key name", 2, ALL,
     "warning: action hop: 'Spcae' names no key: correct the name, did you mean 'Space'?\n"},
    {"key name", 2, ALL,
     "warning: action hop: 'DPLfet' names no input of a game controller: correct the name, did "
     "you mean 'DPLeft'?\n"},
    // values that do not come back, or cannot be sent
    {"lost field", 1, ALL,
     "warning: message Steer: field dy of steer does not come back from the wire: see its to_wire "
     "and from_wire"},
    {"out of range", 1, ALL,
     "warning: component pos of template paddle: field y is 400 in tick 50 (entity 2:1), outside "
     "of its range -64..63.9375: clients get the limit"},
    {"not a number", 1, ALL,
     "warning: component pos of template paddle: field y is not a number in tick 50 (entity 2:1)"},
    {"infinite", 1, ALL,
     "warning: component pos of template paddle: field y is infinite in tick 50 (entity 2:1)"},
    {"a float in an int", 1, ALL,
     "warning: component lives of template bird: field value is 1106247680 in tick 50, which are "
     "the bits of a float: write a value of the component's own C type\n"},
    {"an int in a float", 1, ALL,
     "warning: component wing of template bird: field value is 4.203895393e-44 in tick 50, which "
     "are the bits of a whole number: write a value of the component's own C type\n"},
    // who writes what it may not
    {"a const is written", 1, ALL,
     "warning: system move_es declares that it only reads steer, and writes it"},
    {"a bot writes", 1, ALL, "warning: bot_think writes component pos of paddle (entity "},
    {"a picture writes", 1, ALL,
     "warning: a system of stage render writes component pos of paddle (entity 1:1), which the "
     "server sends: only the server may"},
    {"a client writes", 1, ALL,
     "warning: a system of the client writes what the server sends: client 1: entity "},
    {"a client writes", 1, ALL,
     "requested again; system tidy_es of the client writes it, and only the server may: "
     "ES_TAG(server)\n"},
    // The game's last system writes, so nothing opens the value for writing after it.
    {"slip", 1, ALL,
     "warning: component glow of entity 2:1 (paddle) was written past its tracking by system "
     "rule_es, in tick 31: clients and the log do not have it; write it by a column that is not "
     "const or by ecs_get_mut, and keep no pointers to values\n"},
    {"slip once", 1, ALL,
     "was written past its tracking by a part of the game that is not known, in tick 120: "},
    {"slip late", 1, ALL,
     "warning: component glow of entity 3:1 (paddle) was written past its tracking by a part of "
     "the game that is not known, in tick 120: "},
    // pictures
    {"a picture in act", 1, ALL,
     "warning: system draw_es draws in stage act, where there is no picture: add ES_STAGE(render)"},
    {"a sprite without a file", 1, ALL,
     "sihp.png: is missing: put sihp.png into the folder assets beside the game's sources, and "
     "build the game again"},
    // what decides differently
    {"a prediction of another speed", 1, ALL,
     "warning: prediction: component pos differs from the server's in "},
    {"an unpredicted system", 1, ALL,
     " rows: system drift_es of the server writes it and is not in the prediction: ES_TAG(server | "
     "predict)\n"},
    {"an unsent value decides", 2, ALL,
     "of the server, or need what is not replicated, as component glow, which system heat_es of "
     "the server writes\n"},
    {"a refused singleton", 1, ALL,
     " rows: predict_area refuses the singleton sky, so systems that ask for it never run in the "
     "prediction\n"},
    {"pos of birds", 1, ALL,
     "or what .start puts into the context: a client's worlds get it by .mirror_start\n"},
    {"rough positions", 1, ALL,
     "warning: prediction: system move_es leaves component pos between the steps that are sent of "
     "it, so the server continues with other numbers than clients: end with ecs_vec2_snap or "
     "ecs_snap, whose step is a field of the context: float grid ES_STEP(paddle, pos)\n"},
    {"a number outside decides", 1, ALL,
     "error: the log does not run again: tick 1 differs in component pos of entity 2:1: "
     "something besides inputs and the world's chance decides"},
    {"a context decides", 0, ALL,
     "error: a match that is restored after tick 25 differs in tick 50 in component pos of "
     "template paddle (entity 2:1, field y: -1.625,1, restored -1.625,0), first after rule_es: "
     "the game keeps state outside of its world (in its context, a static variable or a library), "
     "and no keyframe has it; keep it in a component, or in save_state and load_state "
     "(games/README.md, Libraries)\n"},
    {"a library", 0, ALL,
     "note: uses libhull.so.7 of the system: its bytes are part of the content hash\n"},
    // unknown names
    {"unknown term", 1, 0,
     "of draw_es: no template or module has a component 'poss', did you mean 'pos'?"},
    {"unknown event", 1, 0,
     "system 'goal_es' handles event 'gaol', which is not registered, did you mean 'goal'?"},
    {"unknown order", 1, 0,
     "system 'move_es' runs after 'move_se', which is not registered, did you mean 'move_es'?"},
    {"a large event", 1, 0, "the module's types: more than ECS_EVENT_BYTES_MAX, which is 256\n"},
    {"sound event", 1, 0,
     "the sound goal.wav is of event gaol, which the game does not register: correct the name, did "
     "you mean 'goal'?"},
    {"unknown need", 1, 0, "paddle: there is no component 'glwo', did you mean 'glow'?"},
    // a player's entity that is of no use
    {"a bird for a player", 1, LONG,
     "warning: player_join returns an entity of template bird, which lacks what system steer_es "
     "asks for: input steer has no effect; add its components to the template\n"},
    {"no player", 1, LONG,
     "warning: player_join returned no entity for any player: input steer has no effect, system "
     "steer_es asks for its row; return what ecs_try_create gives\n"},
    // what a world or a client refuses
    {"an odd creation", 1, ALL, inits_says},
    {"more than a tick takes", 2, ALL,
     "warning: 1 creations or other commands were refused, the world has 2 entities: it is full, "
     "or the queue of a tick is; destroy what is no longer needed\n"},
    {"more than a tick takes", 2, ALL,
     "warning: 1 events were refused: the queue of a tick is full; send fewer\n"},
    {"an event of the dying", 1, ALL, gone_says},
    {"an event before the death", 1, ALL, gone_says},
    {"more than a client takes", 1, LONG,
     "warning: client 1 \"Bot 1\" dropped: the game sends too many events: 256 wait for it, and "
     "one more Goal has no room; last sent by system rule_es: send fewer, or not reliably\n"},
    {"half text", 1, ALL,
     "warning: a message is not sent: Line: text is not valid UTF-8, it may be cut inside a "
     "character\n"},
    // and so no player has an entity
    {"an odd creation for a player", 2, LONG, inits_says},
    // what no client ever gets
    {"class unknown", 1, ALL,
     "paddle.blk:5: warning: component wing of template bird: no client gets the class ownr of its "
     "_visible: correct the name, or return its services->class_bit from .classes of the game's "
     "interest rules, did you mean 'owner'?\n"},
    {"class of other classes", 1, ALL,
     "paddle.blk:5: warning: component wing of template bird: no client gets the class ownr of its "
     "_visible: correct the name"},
    {"class of no owners", 1, ALL,
     "paddle.blk:5: warning: component wing of template bird: no client gets the class owner of "
     "its _visible: name the component with the client's number by .owner of the game's interest "
     "rules\n"},
    {"class of a template without owner", 1, ALL,
     "no client gets the class owner of its _visible: add component own, which .owner of the "
     "game's interest rules names, to the template\n"},
    {"class of the wrong owner", 2, ALL,
     "warning: component own, the owner of the game's interest rules, is 2 in the paddle of client "
     "1: values of class owner go to another client; write the `client` of player_join\n"},
    {"class of no teams", 1, ALL,
     "no client gets the class team of its _visible: name the component with the team by .team of "
     "the game's interest rules\n"},
    {"class always too far", 1, ALL,
     "warning: relevance returns NET_RELEVANT_ALWAYS for a paddle beyond the radius, where it is "
     "not asked, so clients do not get it: name a tag of it by .always, or a component by .groups, "
     "of the game's interest rules"},
    {"class without a position", 1, ALL,
     "warning: a client sees nothing by distance: its player's paddle has no component at, the "
     "position of the game's interest rules: add it, or call services->set_viewpoint\n"},
};

CASE(each_mistake_is_named_by_one_line) {
    for (size_t i = 0; i < BASE_COUNT(expected); i++) {
        const char* planted = expected[i].mistake;
        if (BASE_VALIDATE_ON && strncmp(planted, "slip", 4) == 0)
            continue; // there the step asserts it
        expect(&expected[i]);
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
