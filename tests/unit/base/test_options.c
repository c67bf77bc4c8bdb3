// SPDX-License-Identifier: MIT
#include "text_table.h"

#include "base/options.h"

#include <unistd.h>

// A small program: one option of each kind, and what its targets hold after a reading.
typedef struct program {
    bool fast;
    const char* game;
    const char* config;
    uint64_t tick_rate;
    double loss;
    base_option_list sets;
    uint32_t sync;
    const char* log;
    uint64_t keep;
    bool is_kept;
    const char* file;
    base_option options[9];
    base_options table;
    char config_text[512];
    uint8_t sources[13];
    base_option_list words;
    base_report_first report;
    base_options_result result;
} program;
#define FIELD(name) BASE_OPTION_FIELD(program, name)

static bool check_together(void* values, const base_option_list* words,
                           const base_reporter* reporter) {
    const program* p = values;
    if (!p->fast || p->tick_rate != 7) return true;
    return base_report(reporter, NULL, 0, "--fast at 7 Hz with %u words", words->count);
}

static void setup(program* p) {
    memset(p, 0, sizeof *p);
    p->tick_rate = 60;
    const base_option options[] = {
        {"fast", FIELD(fast), NULL, "Run without waiting", 0, 0},
        {"game", FIELD(game), "NAME", "What to play", 0, 0},
        {"config", FIELD(config), "FILE", "Read options from a file", 0, 0},
        {"tick-rate", FIELD(tick_rate), "HZ", "Ticks per second", 1, 1000},
        {"loss", FIELD(loss), "PERCENT", "Packets to lose", 0, 100},
        {"set", FIELD(sets), "KEY=VALUE", "Settings of the game", 0, 0},
        {"sync", FIELD(sync), "second|block|end", "When to sync", 0, 0},
    };
    memcpy(p->options, options, sizeof options);
    p->table = (base_options){.program = "prog",
                              .usage = "[options] WORD...",
                              .about = "A program.",
                              .options = p->options,
                              .count = 7,
                              .values = p,
                              .check = check_together,
                              .common = "fast game config tick-rate loss",
                              .config_text = p->config_text,
                              .config_text_bytes = sizeof p->config_text,
                              .sources = p->sources};
}

// Adds --log, whose value has keys, and --tune, which has keys alone, under two headings.
static void add_keys(program* p) {
    static const base_option options[] = {
        {"log", FIELD(log), "FILE,KEY=VALUE", "The log", 0, 0},
        {"tune", BASE_OPTION_KEYS, 0, "KEY=VALUE", "For experts", 0, 0},
    };
    static const base_option log_keys[] = {
        {"keep", FIELD(keep), "N", "Files that stay", 0, 9},
        {"kept", FIELD(is_kept), NULL, "Delete nothing", 0, 0},
        {"set", FIELD(sets), "TEXT", "Marks", 0, 0},
    };
    static const base_option tune_keys[] = {{"file", FIELD(file), "FILE", "A file", 0, 0}};
    static const base_option_keys keys[] = {{"log", log_keys, 3}, {"tune", tune_keys, 1}};
    static const base_option_group groups[] = {{"play", "fast"}, {"log", "sync"}};
    memcpy(p->options + 7, options, sizeof options);
    p->table.count = 9;
    p->table.keys = keys;
    p->table.keys_count = 2;
    p->table.groups = groups;
    p->table.group_count = 2;
}

// Reads `line`, cut at spaces, as the command line. Text options borrow from the static copy.
static void run_any(program* p, const char* line) {
    static char copy[512];
    char* argv[32] = {"prog"};
    int argc = 1;
    assert_in_range(snprintf(copy, sizeof copy, "%s", line), 0, sizeof copy - 1);
    for (char* word = strtok(copy, " "); word; word = strtok(NULL, " "))
        argv[argc++] = word;
    setup(p);
    add_keys(p);
    base_reporter reporter = base_reporter_first(&p->report);
    p->result = base_options_read(&p->table, argc, argv, &p->words, &reporter);
}

static void run(program* p, const char* line) {
    run_any(p, line);
    assert_string_equal(p->report.text, "");
    assert_int_equal(p->result, BASE_OPTIONS_OK);
}

// The same with a variable of the environment.
static void run_in(program* p, const char* name, const char* value, const char* line) {
    setenv(name, value, 1);
    run_any(p, line);
    unsetenv(name);
}

static void expect_shown(const program* p, uint32_t option, const char* expected) {
    char value[64];
    base_options_value(&p->table, &p->options[option], value, sizeof value);
    assert_string_equal(value, expected);
}

static void expect_error(const char* line, const char* message) {
    program p;
    run_any(&p, line);
    assert_int_equal(p.result, BASE_OPTIONS_ERROR);
    assert_string_equal(p.report.text, message);
    assert_int_equal(p.report.count, 1);
}

static void write_config(char* path, const char* text) {
    strcpy(path, "/tmp/test_options_XXXXXX");
    int file = mkstemp(path);
    assert_true(file >= 0);
    assert_int_equal(write(file, text, strlen(text)), strlen(text));
    close(file);
}

static void expect_config_error(const char* text, const char* message) {
    char path[64], line[128], expected[256];
    program p;
    write_config(path, text);
    snprintf(line, sizeof line, "--config %s", path);
    run_any(&p, line);
    unlink(path);
    snprintf(expected, sizeof expected, "%s%s", path, message);
    assert_int_equal(p.result, BASE_OPTIONS_ERROR);
    assert_string_equal(p.report.text, expected);
}

/// All of a section of options.txt.
static void expect_errors(const char* section) {
    text_table table = text_table_open(TEXT_TABLE, section);
    const char* asked;
    for (const char* said; (said = text_table_next(&table, &asked));) {
        if (strncmp(said, "FILE", 4) == 0)
            expect_config_error(asked, said + 4);
        else
            expect_error(asked, said);
    }
}

#define PROGRAM_CASE(name) CASE_WITH(program, p, setup(p), (void)p, name)

PROGRAM_CASE(no_arguments_leave_the_defaults) {
    run(p, "");
    assert_int_equal(p->tick_rate, 60);
    assert_false(p->fast);
    assert_null(p->game);
    assert_int_equal(p->words.count, 0);
}

PROGRAM_CASE(every_kind_is_read_in_both_forms) {
    run(p, "-5 --fast --game cubes --tick-rate=30 --loss 2.5 --set a=1 two --set=b=2 --sync end "
           "-- --fast -");
    assert_true(p->fast);
    assert_string_equal(p->game, "cubes");
    assert_int_equal(p->tick_rate, 30);
    assert_true(p->loss == 2.5);
    assert_int_equal(p->sets.count, 2);
    assert_string_equal(p->sets.values[0], "a=1");
    assert_string_equal(p->sets.values[1], "b=2");
    assert_int_equal(p->words.count, 4);
    assert_string_equal(p->words.values[0], "-5");
    assert_string_equal(p->words.values[1], "two");
    assert_string_equal(p->words.values[2], "--fast");
    assert_string_equal(p->words.values[3], "-");
    assert_int_equal(p->sync, 2);
    run(p, "--fast --fast=no");
    assert_false(p->fast);
}

CASE(wrong_arguments_are_told) {
    expect_errors("wrong_arguments_are_told");
}

PROGRAM_CASE(an_option_has_a_value_and_keys) {
    run(p, "--log /a=b.slog,keep=3,kept,set=net=debug,set=2 --tune file=f --set 3");
    assert_string_equal(p->log, "/a=b.slog");
    assert_int_equal(p->keep, 3);
    assert_true(p->is_kept);
    assert_int_equal(p->sets.count, 3); // the key and the option are one list
    assert_string_equal(p->sets.values[0], "net=debug");
    assert_string_equal(p->file, "f");
    expect_shown(p, 7, "/a=b.slog");
    assert_int_equal(p->sources[9], BASE_OPTION_BY_COMMAND_LINE);
    assert_int_equal(p->sources[12], BASE_OPTION_BY_COMMAND_LINE);
    run(p, "--log a,b-1.slog,keep=3");
    assert_string_equal(p->log, "a,b-1.slog");
    run(p, "--log tcp://b:1,c,d:2/?e=f,kept");
    assert_string_equal(p->log, "tcp://b:1,c,d:2/?e=f");
    assert_true(p->is_kept);
    expect_error("--log a.slog,kep",
                 "prog: error: log has no key 'kep', did you mean 'keep'? (keep=N, "
                 "kept, set=TEXT...)");
    run(p, "--log b.slog --log keep=3 --log kept=no");
    assert_string_equal(p->log, "b.slog");
    assert_int_equal(p->keep, 3);
    run_in(p, "SHOAL_LOG", "a.slog,keep=2", "--log kept");
    assert_string_equal(p->log, "a.slog");
    assert_int_equal(p->keep, 2);
    assert_true(p->is_kept);
    assert_int_equal(p->sources[9], BASE_OPTION_BY_ENVIRONMENT);
    assert_int_equal(p->sources[10], BASE_OPTION_BY_COMMAND_LINE);
    assert_int_equal(p->sources[12], BASE_OPTION_BY_DEFAULT);
}

CASE(wrong_keys_are_told) {
    expect_errors("wrong_keys_are_told");
    char line[600] = "--log ";
    memset(line + 6, 'a', 490);
    setenv("SHOAL_LOG", line, 1);
    expect_error(line, "prog: error: log is longer than 15 bytes");
    unsetenv("SHOAL_LOG");
}

// With and without the name of its option.
CASE(what_is_a_key_now_is_refused_as_an_option) {
    expect_errors("what_is_a_key_now_is_refused_as_an_option");
    static const char* const gone[][2] = {
        {"SHOAL_LOG_KEEP",
         "SHOAL_LOG_KEEP: error: unknown option log-keep: write SHOAL_LOG=keep=1"},
        {"SHOAL_FILE", "SHOAL_FILE: error: unknown option file: write SHOAL_TUNE=file=1"}};
    for (uint32_t i = 0; i < BASE_COUNT(gone); i++) {
        setenv(gone[i][0], "1", 1);
        expect_error("", gone[i][1]);
        unsetenv(gone[i][0]);
    }
}

PROGRAM_CASE(help_has_headings_and_keys) {
    add_keys(p);
    p->table.common = "fast log";
    char help[2048];
    (void)base_options_help(&p->table, false, help, sizeof help);
    assert_string_equal(help, "usage: prog [options] WORD...\n"
                              "A program.\n"
                              "play: --game, --config, --tick-rate, --loss, --set\n"
                              "  --fast                Run without waiting\n"
                              "log: --sync, --tune\n"
                              "  --log FILE,KEY=VALUE  The log\n"
                              "  --help                Print this. Environment: --some-name is "
                              "SHOAL_SOME_NAME.\n"
                              "  --check-options       Only check the options. --help=all "
                              "explains all, and their keys.\n");
    (void)base_options_help(&p->table, true, help, sizeof help);
    assert_non_null(strstr(help, "\nlog:\n  --sync"));
    assert_non_null(strstr(help, "  --log FILE,KEY=VALUE     The log\n"
                                 "      keep=N               Files that stay (default 0)\n"
                                 "      kept                 Delete nothing\n"));
    (void)base_options_manual(&p->table, help, sizeof help);
    assert_non_null(strstr(help, ".SS log\n"));
    assert_non_null(strstr(help, ".B \\-\\-log keep=N\nFiles that stay (default 0), 0 to 9\n"));
}

PROGRAM_CASE(limits_belong_to_the_range) {
    run(p, "--tick-rate 1");
    run(p, "--tick-rate 1000 --loss 0");
    expect_error("--tick-rate 0", "prog: error: tick-rate is outside of 1 to 1000: '0'");
    expect_error("--tick-rate 1001", "prog: error: tick-rate is outside of 1 to 1000: '1001'");
}

// The same argument `count` times.
static void run_repeated(program* p, char* argument, int count) {
    char* argv[67] = {"prog"};
    for (int i = 1; i <= count; i++)
        argv[i] = argument;
    setup(p);
    base_reporter reporter = base_reporter_first(&p->report);
    p->result = base_options_read(&p->table, count + 1, argv, &p->words, &reporter);
}

PROGRAM_CASE(lists_have_sixty_four_places) {
    for (int count = 63; count <= 64; count++) {
        run_repeated(p, "--set=x", count);
        assert_int_equal(p->result, BASE_OPTIONS_OK);
        assert_int_equal(p->sets.count, count);
        run_repeated(p, "word", count);
        assert_int_equal(p->result, BASE_OPTIONS_OK);
        assert_int_equal(p->words.count, count);
    }
    run_repeated(p, "--set=x", 65);
    assert_int_equal(p->result, BASE_OPTIONS_ERROR);
    assert_string_equal(p->report.text, "prog: error: set is given more than 64 times");
    run_repeated(p, "word", 65);
    assert_int_equal(p->result, BASE_OPTIONS_ERROR);
    assert_string_equal(p->report.text, "prog: error: unexpected argument 'word'");
}

PROGRAM_CASE(words_are_errors_where_none_are_wanted) {
    char* argv[] = {"prog", "word"};
    assert_int_equal(base_options_read(&p->table, 2, argv, NULL, NULL), BASE_OPTIONS_ERROR);
}

PROGRAM_CASE(the_command_line_beats_the_environment) {
    setenv("SHOAL_TICK_RATE", "20", 1);
    setenv("SHOAL_FAST", "1", 1);
    setenv("SHOAL_SET", "from=environment", 1);
    run(p, "--set a=1");
    assert_int_equal(p->tick_rate, 20);
    assert_true(p->fast);
    assert_int_equal(p->sets.count, 1);
    assert_string_equal(p->sets.values[0], "a=1");
    run(p, "--tick-rate 30 --fast=false");
    assert_int_equal(p->tick_rate, 30);
    assert_false(p->fast);
    assert_string_equal(p->sets.values[0], "from=environment");
    setenv("SHOAL_TICK_RATE", "fast", 1);
    expect_error(
        "", "SHOAL_TICK_RATE: error: tick-rate needs a natural number from 1 to 1000, not 'fast'");
    unsetenv("SHOAL_TICK_RATE");
    unsetenv("SHOAL_FAST");
    unsetenv("SHOAL_SET");
}

PROGRAM_CASE(the_environment_beats_the_config_file) {
    char path[64], line[128];
    write_config(path, "# a comment\n\n  tick-rate = 10\r\nloss=1.5\ngame = big cubes  \n"
                       "fast = yes\nset = a=1\nset = b=2");
    snprintf(line, sizeof line, "--config=%s --loss 3", path);
    run_in(p, "SHOAL_FAST", "0", line);
    assert_int_equal(p->result, BASE_OPTIONS_OK);
    assert_int_equal(p->tick_rate, 10);
    assert_true(p->loss == 3);
    assert_string_equal(p->game, "big cubes");
    assert_false(p->fast);
    assert_int_equal(p->sets.count, 2);
    assert_string_equal(p->sets.values[1], "b=2");
    static const char* const sources[] = {"environment",  "file", "command line", "file",
                                          "command line", "file", "default"};
    const char* const values[] = {"false", "big cubes", path, "10", "3", "a=1 b=2", "second"};
    for (uint32_t i = 0; i < 7; i++) {
        expect_shown(p, i, values[i]);
        assert_string_equal(base_option_source_name(p->sources[i]), sources[i]);
    }
    char cut[5];
    base_options_value(&p->table, &p->options[5], cut, sizeof cut);
    assert_string_equal(cut, "a=1 ");
    run_in(p, "SHOAL_CONFIG", path, "");
    assert_int_equal(p->tick_rate, 10);
    unlink(path);
}

PROGRAM_CASE(a_value_is_shown_without_a_password) {
    run(p, "--game nats://me:right@host/X --set a=http://me:right@host --set b=2");
    expect_shown(p, 1, "nats://host/X");
    expect_shown(p, 5, "a=http://host b=2");
    assert_string_equal(p->game, "nats://me:right@host/X");
    expect_error("--gmae=nats://me:right@h",
                 "prog: error: unknown option --gmae, did you mean --game?");
}

CASE(wrong_config_files_are_told) {
    expect_errors("wrong_config_files_are_told");
    char text[513];
    memset(text, '#', 512);
    text[512] = '\0';
    expect_config_error(text, ": error: longer than 511 bytes");
}

PROGRAM_CASE(help_shows_every_option_and_its_default) {
    p->game = "breakout";
    char help[2048];
    size_t size = base_options_help(&p->table, false, help, sizeof help);
    assert_int_equal(size, strlen(help));
    assert_string_equal(help, "usage: prog [options] WORD...\n"
                              "A program.\n"
                              "  --fast           Run without waiting\n"
                              "  --game NAME      What to play (default breakout)\n"
                              "  --config FILE    Read options from a file\n"
                              "  --tick-rate HZ   Ticks per second (default 60)\n"
                              "  --loss PERCENT   Packets to lose (default 0)\n"
                              "  --help=all explains: --set, --sync\n"
                              "  --help           Print this. Environment: --some-name is "
                              "SHOAL_SOME_NAME.\n"
                              "  --check-options  Only check the options.\n");
    (void)base_options_help(&p->table, true, help, sizeof help);
    assert_non_null(strstr(help, "\n  --set KEY=VALUE...       Settings of the game\n"));
    assert_non_null(strstr(help, "\n  --sync second|block|end  When to sync (default second)\n"));
    assert_null(strstr(help, "--help=all"));
    char small[10];
    assert_int_equal(base_options_help(&p->table, false, small, sizeof small), size);
    assert_string_equal(small, "usage: pr");
    assert_int_equal(base_options_help(&p->table, false, NULL, 0), size);
}

PROGRAM_CASE(the_manual_has_every_option) {
    p->table.program = "prog sub";
    p->table.about = ".A-program";
    char page[4096];
    const size_t size = base_options_manual(&p->table, page, sizeof page);
    assert_int_equal(size, strlen(page));
    assert_non_null(strstr(page, ".TH PROG\\-SUB 1 "));
    assert_non_null(strstr(page, "prog\\-sub \\- \\&.A\\-program\n")); // no request of roff
    assert_non_null(strstr(page, ".B prog sub\n"));
    assert_non_null(
        strstr(page, ".B \\-\\-tick\\-rate HZ\nTicks per second (default 60), 1 to 1000\n"));
    for (uint32_t i = 0; i < p->table.count; i++) {
        char line[64] = ".B \\-\\-";
        strncat(line, p->options[i].name, strcspn(p->options[i].name, "-"));
        assert_non_null(strstr(page, line));
    }
    char small[10];
    assert_int_equal(base_options_manual(&p->table, small, sizeof small), size);
    assert_int_equal(strlen(small), 9);
}

CASE(many_options_fit_a_screen) {
    enum { COUNT = 50 };
    static uint64_t target = 5;
    base_option options[COUNT];
    char text[] = "a line of help that is as long as a line of help can be, and then it is over it";
    for (int i = 0; i < COUNT; i++)
        options[i] = (base_option){
            i < 12 ? "some-option" : "rare-option", BASE_OPTION_U64, 0, "N", text, 0, 0};
    base_options table = {.program = "prog",
                          .about = "A.",
                          .options = options,
                          .count = COUNT,
                          .values = &target,
                          .common = "some-option"};
    char help[4096];
    assert_true(base_options_help(&table, false, help, sizeof help) < sizeof help);
    int lines = 0;
    for (char* line = help; *line; lines++) {
        char* end = strchr(line, '\n');
        assert_true(end - line <= 100);
        line = end + 1;
    }
    assert_true(lines <= 24);
}

PROGRAM_CASE(help_is_asked_for_before_anything_is_read) {
    run_in(p, "SHOAL_TICK_RATE", "wrong", "--fast --help --nonsense");
    assert_int_equal(p->result, BASE_OPTIONS_HELP);
    assert_false(p->fast);
    run(p, "--game --help");
    assert_string_equal(p->game, "--help");
}

// One line of output is all that it does.
PROGRAM_CASE(options_are_checked_and_nothing_else_is_done) {
    run_any(p, "word --check-options --tick-rate 30");
    assert_int_equal(p->result, BASE_OPTIONS_HELP);
    assert_int_equal(p->tick_rate, 30);
    run(p, "-- --check-options");
    assert_string_equal(p->words.values[0], "--check-options");
    expect_error("--check-options --tick-rate 0",
                 "prog: error: tick-rate is outside of 1 to 1000: '0'");
    expect_error("--check-options --fast --tick-rate 7 word", "error: --fast at 7 Hz with 1 words");
    expect_error("--fast --tick-rate 7", "error: --fast at 7 Hz with 0 words");
    expect_error("--chek-options",
                 "prog: error: unknown option --chek-options, did you mean --check-options?");
}

PROGRAM_CASE(broken_tables_are_mistakes) {
    char* argv[] = {"prog"};
    p->table.count = BASE_OPTIONS_MAX + 1;
    expect_assert_failure((void)!base_options_read(&p->table, 1, argv, NULL, NULL));
    setup(p);
    p->table.values = NULL;
    expect_assert_failure((void)!base_options_read(&p->table, 1, argv, NULL, NULL));
    setup(p);
    p->options[5].help = NULL;
    expect_assert_failure((void)!base_options_read(&p->table, 1, argv, NULL, NULL));
}
