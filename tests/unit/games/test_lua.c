// SPDX-License-Identifier: MIT
// What a script in Lua may do, and what it hears when it may not. The module is opened as a file,
// as programs do.

#include "game/match.h"
#include "hear.h"
#include "match_made.h"
#include "text_table.h"

#include "ecs/template_files.h"

static const char templates[] =
    "file:t=\"rules.lua\"\n"
    "thing {\n"
    "  \"pos:p2\"{ _replicate:b=yes; _min:r=-8; _max:r=7.75; _step:r=0.25; value:p2=1,2 }\n"
    "  \"n:i\"{ _track:b=yes; value:i=7 } \"real:r\"{ _track:b=yes; value:r=0 }\n"
    "  \"on:b\"{ _track:b=yes; value:b=no } \"name:t\"{ _track:b=yes; value:t=\"it\" }\n"
    "  \"mate:eid\"{ _track:b=yes; value:eid=none } \"good:tag\"{}\n"
    "  \"spin:p3\"{ _track:b=yes; value:p3=1,2,3 } }\n"
    "rock { \"n:i\"{ _track:b=yes; value:i=1 } }\n";

static net_module* script_module(const char* rules) {
    static net_module* file; // stays open
    net_module* module;
    base_bytes pack;
    base_bytes_init(&pack, NULL);
    ecs_pack_add(&pack, "lua.blk", templates, strlen(templates));
    if (rules) ecs_pack_add(&pack, ":rules.lua", rules, strlen(rules));
    if (!file) assert_ok(net_module_open(GAMES_DIR "/lua.so", NULL, test_reporter(), &file));
    assert_ok(net_module_reopen_pack(file, pack.data, pack.size, test_reporter(), &module));
    base_bytes_deinit(&pack);
    return module;
}

// A fault at the start is an "error: ", one of a tick a finding.
static void without_error(char* text) {
    char* at = strstr(text, "error: ");
    if (at) memmove(at, at + 7, strlen(at + 7) + 1);
}

// `rules` are loaded and run for some ticks; the first fault has these words. "": there is none.
static void try_rules(const char* rules, const char* why) {
    net_module* module = script_module(rules);
    net_match_config config = net_match_config_default(module);
    net_match* match = NULL;
    const base_reporter* reporter = hear();
    const net_result result = net_match_create(&config, reporter, &match);
    if (match) {
        match->strays = reporter;
        for (uint32_t i = 0; i < 3; i++)
            net_match_step(match);
    }
    char expected[256];
    (void)snprintf(expected, sizeof expected, "%s", why);
    without_error(expected);
    without_error(said.text);
    if (!strstr(said.text, expected) || (!why[0] && said.count > 0))
        fail_msg("%s: %d \"%s\" lacks \"%s\"", rules, (int)result, said.text, why);
    net_match_destroy(match);
    net_module_close(module);
}

// A fault of the function that runs in each tick.
static void try_tick(const char* body, const char* why) {
    char rules[2048];
    assert_true((size_t)snprintf(rules, sizeof rules,
                                 "function on_start() create('thing') end\n"
                                 "function on_tick() for e in each('pos') do %s end end\n",
                                 body) < sizeof rules);
    try_rules(rules, why);
}

// All of a section of the file with scripts.
static void try_texts(const char* section, void (*try)(const char* script, const char* why)) {
    text_table table = text_table_open(TEXT_TABLE, section);
    const char* script;
    for (const char* why; (why = text_table_next(&table, &script));)
        try(script, strcmp(why, "no fault") ? why : "");
}

#define SCRIPTS_CASE(name, try)                                                                    \
    CASE(name) {                                                                                   \
        try_texts(#name, try);                                                                     \
    }

// Constants work as they did, from any function.
SCRIPTS_CASE(nothing_lasts_but_components, try_rules)

CASE(what_chance_or_a_machine_decides_is_not_there) {
    try_texts("what_chance_or_a_machine_decides_is_not_there", try_rules);
    static const char* const names[] = {
        "os",        "io",           "package", "debug",  "require",        "dofile",    "load",
        "loadfile",  "next",         "pcall",   "xpcall", "collectgarbage", "rawset",    "rawget",
        "coroutine", "getmetatable", "memory",  "rect",   "warn",           "loadstring"};
    char rules[128], why[64];
    for (uint32_t i = 0; i < BASE_COUNT(names); i++) {
        (void)snprintf(rules, sizeof rules, "function on_tick() return %s end", names[i]);
        (void)snprintf(why, sizeof why, "rules.lua:1: there is no %s", names[i]);
        try_rules(rules, why);
    }
    try_rules("\x1bLuaS", "attempt to load a binary chunk");
}

// Read and written with a point, whatever the locale; a test runs in that of its shell.
SCRIPTS_CASE(numbers_are_the_same_everywhere, try_rules)
SCRIPTS_CASE(a_number_is_a_number, try_tick)
SCRIPTS_CASE(a_call_ends, try_rules)

CASE(one_instruction_does_not_take_for_ever) {
    try_texts("one_instruction_does_not_take_for_ever", try_rules);
    static const char too_long[] = "rules.lua:1: the call takes more than 20000000 instructions";
    static const char* const calls[] = {"('a'):rep(2000):find('.-.-.-.-b')",
                                        "('a'):rep(5000):match('a*a*b')",
                                        "('a'):rep(5000):gsub('a-%d*b', '')",
                                        "('a'):rep(5000):gmatch('.*.*b')",
                                        "('a'):rep(99999):find(('a'):rep(9999), 1, true)",
                                        "(''):rep(2 ^ 40 // 1 | 0)",
                                        "table.move({}, 1, 1 << 40, 1)"};
    char rules[256];
    for (uint32_t i = 0; i < BASE_COUNT(calls); i++) {
        (void)snprintf(rules, sizeof rules, "function on_tick() local x = %s end", calls[i]);
        try_rules(rules, too_long);
    }
}

SCRIPTS_CASE(no_metamethod_hides_what_a_call_changed, try_rules)

// What one instruction costs at most: a script's expression, and the bytes or elements that one
// round of it handles.
typedef struct work {
    const char *name, *round;
    double size;
} work;

// So many steps of a machine on every input.
static const char constant[] =
    "assert error ipairs type setmetatable print get kind alive tick time after random player_name "
    "end_match publish open result transfer keep_record tell create destroy on_start on_tick "
    "string.len utf8.char math.abs math.atan "
    "math.ceil math.cos math.exp math.floor math.log math.sin math.sqrt";

#define TEXT 500000
#define LIST 200000
#define KEYS 65536

static const work works[] = {
    {"rawequal", "rawequal(long, other)", TEXT / 8},
    {"select", "select(2, table.unpack(list))", LIST},
    {"tonumber", "tonumber(long, 36)", TEXT},
    {"tostring", "tostring(1e-300)", 64},
    {"pairs", "pairs(few)", 1000},
    {"set", "set(e, 'name', text)", 4000},
    {"text_cut", "text_cut(long, TEXT - 1)", TEXT},
    {"each", "each('n')", 20000},
    {"string.byte", "long:byte(1, 200000)", LIST},
    {"string.char", "string.char(long:byte(1, 100))", 100},
    {"string.find", "long:find('y', 1, true)", TEXT / 8},
    {"string.match", "long:match('^y')", TEXT},
    {"string.gmatch", "long:gmatch('y')()", TEXT},
    {"string.gsub", "('x'):gsub('x', long)", TEXT},
    {"string.format", "('%.99f'):rep(20):format(table.unpack(big, 1, 20))", 4000},
    {"string.lower", "long:lower()", TEXT},
    {"string.upper", "long:upper()", TEXT},
    {"string.reverse", "long:reverse()", TEXT},
    {"string.rep", "long:rep(1)", TEXT},
    {"string.sub", "long:sub(2)", TEXT},
    {"string.pack", "string.pack('s', long)", TEXT},
    {"string.packsize", "string.packsize(spaces)", TEXT},
    {"string.unpack", "string.unpack(spaces, '')", TEXT},
    {"table.concat", "table.concat(list, '', 1, 50000)", 50000},
    {"table.insert", "table.insert(list, 1, 0)", LIST},
    {"table.remove", "table.remove(list, 1)", LIST},
    {"table.move", "table.move(list, 1, #list, 2)", LIST},
    {"table.pack", "table.pack(table.unpack(list))", LIST},
    {"table.unpack", "table.unpack(list)", LIST},
    {"table.sort", "table.sort(few, rawequal)", 1000},
    {"utf8.codepoint", "utf8.codepoint(long, 1, 200000)", LIST},
    {"utf8.codes", "walk(middles, 0)", TEXT},
    {"utf8.len", "utf8.len(long)", TEXT},
    {"utf8.offset", "utf8.offset(long, -TEXT)", TEXT},
    {"math.max", "math.max(table.unpack(list))", LIST},
    {"math.min", "math.min(table.unpack(list))", LIST},
    // What no function does.
    {"a .. b", "long .. 'x'", TEXT},
    {"a < b", "long < other", TEXT / 8},
    {"a == b", "long == other", TEXT / 8},
    {"a[b]", "map[other]", TEXT / 8},
    {"a + b", "digits + 1", 8},
    {"...", "pass(table.unpack(list))", LIST},
    {"return ...", "give(table.unpack(list))", LIST},
    {"a[b] = c", "map['a' .. i] = 1; map['a' .. i] = nil", KEYS},
};

// With so many bytes or elements in a step at most.
#define SIZE_PER_STEP 64.0
#define STEPS_MAX 20e6

static void list_rows(char* text, size_t room) {
    size_t at = 0;
    for (uint32_t i = 0; i < BASE_COUNT(works); i++)
        at += (size_t)snprintf(text + at, room - at, "['%s'] = 1, ", works[i].name);
    assert_true(at < room - 1);
}

CASE(each_function_of_a_script_has_its_cost) {
    static char rows[4096], rules[8192];
    list_rows(rows, sizeof rows);
    (void)snprintf(rules, sizeof rules,
                   "local rows = { %s } for name in ('%s'):gmatch('%%S+') do rows[name] = 1 end\n"
                   "local function look(where, t) for name, value in pairs(t) do\n"
                   "if type(value) == 'table' and value ~= _G then look(name .. '.', value) end\n"
                   "if type(value) == 'function' and not rows[where .. name] then\n"
                   "error('no row of works: ' .. where .. name, 0) end end end\n"
                   "look('', _G) assert(rows['table.sort'] and pairs(_G)())",
                   rows, constant);
    try_rules(rules, "");
    char sabotaged[sizeof rules + 64];
    (void)snprintf(sabotaged, sizeof sabotaged, "function string.new() end %s", rules);
    try_rules(sabotaged, "no row of works: string.new");
}

// What comes before the last line is within the bounds.
static void try_rounds(const work* one) {
    char rules[2048];
    (void)snprintf(
        rules, sizeof rules,
        "local TEXT = %d\n"
        "function on_start() for i = 1, 20000 do create('rock') end create('thing') end\n"
        "function on_tick() if tick() > 1 then return end\n"
        "local e for one in each('pos') do e = one end\n"
        "local list, few, big, map, walk, digits = {}, {}, {}, {}, utf8.codes('a'), '0123456789'\n"
        "for i = 1, %d do list[i] = i end for i = 1, 1000 do big[i], few[i] = 1e300, i end\n"
        "for i = 1, %d - 2 do map['k' .. i] = i end\n"
        "local long, text, other = ('%s'):rep(TEXT), ('x'):rep(4000) map[long] = 1\n"
        "local spaces, middles = long, long %s\n"
        "local function pass(...) return (...) end local function give(...) return 0, ... end "

        "for i = 1, %.0f do local x; %s%s end end",
        TEXT, LIST, KEYS,
        strstr(one->round, "spaces")    ? " "
        : strstr(one->round, "middles") ? "\\x80"
                                        : "x",
        strstr(one->round, "other") ? "other = ('x'):rep(TEXT - 1) .. 'x'" : "",
        SIZE_PER_STEP * STEPS_MAX / one->size + 1,
        strchr(one->round, ';') ? "" : "x = ", one->round);
    try_rules(rules, "rules.lua:10: the call takes more than 20000000 instructions");
}

CASE(work_counts_by_bytes_and_elements) {
    for (uint32_t i = 0; i < BASE_COUNT(works); i++)
        try_rounds(&works[i]);
}

SCRIPTS_CASE(huge_exponents_cost_no_more_than_others, try_rules)

CASE(a_length_that_is_a_function_bounds_nothing) {
    try_texts("a_length_that_is_a_function_bounds_nothing", try_rules);
    static const char* const calls[] = {"sort(t)", "remove(t)", "insert(t, 1, 1)", "concat(t)",
                                        "unpack(t)"};
    char rules[256];
    for (uint32_t i = 0; i < 2 * BASE_COUNT(calls); i++) {
        (void)snprintf(rules, sizeof rules,
                       "%s t = setmetatable({}, {__len = function() return 1 << 40 end})\n"
                       "function on_tick() table.%s end",
                       i % 2 ? "local" : "", calls[i / 2]);
        try_rules(rules, "rules.lua:2: a table with __len has no place here");
    }
}

SCRIPTS_CASE(few_tables_lead_to_each_other, try_rules)

CASE(a_fault_and_an_iterator_keep_nothing) {
    try_texts("a_fault_and_an_iterator_keep_nothing", try_rules);
    try_rules("local n = 0\nfunction on_tick() n = n + 1 error('at ' .. n, 0) end", "at 1 (in");
    assert_int_equal(said.count, 1); // three times the same
}

CASE(a_faulty_script_is_refused) {
    try_texts("a_faulty_script_is_refused", try_rules);
    try_rules(NULL, "no rules: add file:t=\"rules.lua\" to the .blk");
    net_module* module = script_module("x = 1 y ="); // and nothing is called then
    net_match_config config = net_match_config_default(module);
    net_match* match;
    assert_int_equal(net_match_create(&config, NULL, &match), NET_ERR_MODULE);
    config.role = NET_ROLE_MIRROR;
    assert_ok(net_match_create(&config, NULL, &match));
    net_match_destroy(match);
    net_module_close(module);
}

SCRIPTS_CASE(components_are_values, try_tick)

// A peer refuses what is no UTF-8: the match never sends it.
SCRIPTS_CASE(a_text_is_cut_between_letters, try_tick)
SCRIPTS_CASE(a_name_that_is_nearly_a_call_is_named, try_rules)

// Each line once, whatever its text is; the last one says that there may be more.
CASE(faults_are_counted_by_line) {
    char rules[1024] = "local lines = {\n";
    for (uint32_t i = 0; i < 20; i++)
        (void)snprintf(rules + strlen(rules), sizeof rules - strlen(rules),
                       "function() error(tick()) end,\n");
    (void)snprintf(rules + strlen(rules), sizeof rules - strlen(rules),
                   "}\nfunction on_tick() lines[tick() %% 20 + 1]() end");
    base_report_first last = {.count = 0};
    net_module* module = script_module(rules);
    net_match* match = match_made(module, (match_wanted){0});
    const base_reporter reporter = base_reporter_first(&last);
    match->strays = &reporter;
    for (uint32_t i = 0; i < 60; i++) {
        if (i == 16) last = (base_report_first){.count = 0};
        net_match_step(match);
    }
    assert_int_equal(last.count, 1);
    if (!strstr(last.text, "tick 17; said once); faults of further lines are not reported"))
        fail_msg("%s", last.text);
    net_match_destroy(match);
    net_module_close(module);
}

SCRIPTS_CASE(a_fault_has_the_line_of_the_script, try_tick)
SCRIPTS_CASE(entities_come_and_go_at_the_end_of_a_call, try_rules)
SCRIPTS_CASE(an_entity_that_comes_or_goes_is_as_it_was_until_then, try_tick)

static uint8_t lines[32]; // 1: it can run, 2: it did
static void note_line(void* context, const char* file, uint32_t line, bool has_run) {
    assert_string_equal(file, "rules.lua");
    assert_true(line < sizeof lines);
    lines[line] |= has_run ? 2 : 1;
}

CASE(a_check_gets_the_lines_that_can_run_and_those_that_did) {
    net_module* module = script_module("local function never()\n"
                                       "  return 1\n"
                                       "end\n"
                                       "-- a comment\n"
                                       "function on_start() create('thing') end\n"
                                       "function on_tick()\n"
                                       "  for e in each('pos') do\n"
                                       "    if tick() > 1000 then\n"
                                       "      never()\n"
                                       "    end\n"
                                       "  end\n"
                                       "  table.sort({}, function(a, b)\n"
                                       "    return a < b\n"
                                       "  end)\n"
                                       "end\n"
                                       "function on_leave(e)\n"
                                       "  destroy(e)\n"
                                       "end\n");
    net_match_config config = net_match_config_default(module);
    net_match* match = NULL;
    char never[64] = "";
    config.line = note_line;
    assert_ok(net_match_create(&config, test_reporter(), &match));
    net_match_step(match);
    for (uint32_t i = 0; i < sizeof lines; i++)
        if (lines[i] == 1) (void)snprintf(never + strlen(never), 8, " %u", i);
    assert_string_equal(never, " 2 9 13 17");
    assert_true(lines[5] & 2 && lines[8] & 2 && lines[4] == 0);
    net_match_destroy(match);
    net_module_close(module);
}

static uint32_t taken;
static size_t taken_bytes;
static void* count_allocate(void* context, size_t size, size_t align) {
    taken++;
    taken_bytes += size;
    return ((const base_allocator*)context)->allocate(NULL, size, align);
}
static void count_release(void* context, void* block, size_t size) {
    taken_bytes -= size;
    ((const base_allocator*)context)->release(NULL, block, size);
}

CASE(a_steady_tick_takes_no_memory) {
    const base_allocator heap = *base_allocator_heap();
    const base_allocator counting = {count_allocate, count_release, (void*)(uintptr_t)&heap};
    net_module* module = script_module(
        "function on_start() for i = 1, 300 do create('thing') end end\n"
        "function on_tick() for e, pos in each('pos') do set(e, 'pos', pos.x, pos.y + 0.25)\n"
        "local t = {tostring(e) .. tick(), x = pos.x} end end");
    net_match* match = match_made(module, (match_wanted){.allocator = &counting});
    for (uint32_t i = 0; i < 400; i++) {
        if (i == 200) taken = 0;
        net_match_step(match);
    }
    assert_int_equal(taken, 0);
    net_match_destroy(match);
    net_module_close(module);
}

// The same chance and the same bits, also when the match goes on in another world.
CASE(a_match_goes_on_from_its_world) {
    net_module* module = script_module(
        "function on_start() for i = 1, 20 do create('thing', {n = i}) end end\n"
        "function on_tick() for e, pos in each('pos') do\n"
        "set(e, 'pos', pos.x + random() - 0.5, pos.y + random(3) - 2)\n"
        "e.real = e.real + pos.x ^ 2 % 3 if random(40) == 1 then destroy(e) create('thing') end\n"
        "end local t = {} for i = 1, 500 do t[i] = {tostring(i)} end end");
    net_match* first = match_made(module, (match_wanted){.seed = 5});
    net_match* second = match_made(module, (match_wanted){.seed = 6});
    base_bytes save;
    base_bytes_init(&save, NULL);
    for (uint32_t i = 0; i < 60; i++)
        net_match_step(first);
    assert_ok(net_match_save(first, &save));
    assert_ok(net_match_restore(second, save.data, save.size));
    for (uint32_t i = 0; i < 60; i++) {
        net_match_step(first);
        net_match_step(second);
        assert_true(ecs_world_state_hash(net_match_world(first)) ==
                    ecs_world_state_hash(net_match_world(second)));
    }
    base_bytes_deinit(&save);
    net_match_destroy(first);
    net_match_destroy(second);
    net_module_close(module);
}

static void assert_same(net_match* first, net_match* second, uint32_t ticks) {
    for (uint32_t i = 0; i < ticks; i++) {
        net_match_step(first);
        net_match_step(second);
        assert_true(ecs_world_state_hash(net_match_world(first)) ==
                    ecs_world_state_hash(net_match_world(second)));
    }
}

// How much fits into the memory decides, and calls before leave much of it in pieces. Each save is
// restored into a match that has played on, and into one that has not.
CASE(what_calls_before_left_behind_decides_nothing) {
    net_module* module = script_module(
        "function on_start() create('thing') for i = 1, 3000 do local t = {i} end end\n"
        "local function deep(n) if n == 0 then return 0 end return 1 + deep(n - 1) end\n"
        "function on_join() create('rock', {n = deep(99)}) end\n"
        "function on_tick() for e in each('pos') do if tick() % 6 ~= 0 then local junk = {}\n"
        "for i = 1, 3000 do junk[i] = 'j' .. i .. tick() end e.real = deep(3000) else\n"
        "local t, x = {}, ('x'):rep(30000) e.n = 0\n"
        "for i = 1, 1e6 do t[i] = x .. i e.n = i end end end end");
    const base_reporter* reporter = hear();
    net_match* first = match_made(module, (match_wanted){.seed = 5});
    net_match* second = match_made(module, (match_wanted){.seed = 5});
    first->strays = second->strays = reporter;
    base_bytes save;
    base_bytes_init(&save, NULL);
    for (uint32_t at = 0; at < 12; at += 3) {
        assert_ok(net_match_save(first, &save));
        net_match_step(second);
        assert_ok(net_match_restore(second, save.data, save.size));
        const net_game_player player = {.client = at + 1, .name = "it"};
        net_match_join(first, &player);
        net_match_join(second, &player);
        assert_same(first, second, 3);
        base_bytes_clear(&save);
    }
    assert_non_null(strstr(said.text, "not enough memory"));
    base_bytes_deinit(&save);
    net_match_destroy(first);
    net_match_destroy(second);
    net_module_close(module);
}

static const char endless[] = "function on_start() create('thing') end\n"
                              "function on_tick() for e in each('pos') do e.n = e.n + 1\n"
                              "if tick() > 2 then while true do end end end end";

static int32_t number_of_thing(net_match* match) {
    ecs_world* world = net_match_world(match);
    const ecs_entity thing = ecs_entity_next(world, ECS_ENTITY_NONE);
    return *(const int32_t*)ecs_find(world, thing, ecs_component_find(world, "n"));
}

// Neither it nor a match that begins with its save waits for the bound again; a new script does.
CASE(a_function_that_does_not_end_is_left_out) {
    net_module* module = script_module(endless);
    const base_reporter* reporter = hear();
    net_match* first = match_made(module, (match_wanted){.seed = 5});
    net_match* second = match_made(module, (match_wanted){.seed = 5});
    first->strays = second->strays = reporter;
    for (uint32_t i = 0; i < 9; i++)
        net_match_step(first);
    assert_int_equal(number_of_thing(first), 7 + 3);
    assert_int_equal(said.count, 2);
    base_bytes save;
    base_bytes_init(&save, NULL);
    assert_ok(net_match_save(first, &save));
    assert_ok(net_match_restore(second, save.data, save.size));
    assert_same(first, second, 3);
    assert_int_equal(number_of_thing(second), 7 + 3);
    net_module* other =
        script_module("function on_tick() for e in each('pos') do e.n = 50 end end");
    net_match* third = NULL;
    assert_ok(net_match_create_from(first, other, reporter, &third));
    net_match_step(third);
    assert_int_equal(number_of_thing(third), 50);
    assert_int_equal(said.count, 2);
    base_bytes_deinit(&save);
    net_match_destroy(first);
    net_match_destroy(second);
    net_match_destroy(third);
    net_module_close(module);
    net_module_close(other);
}

// Blocks of each size up to the bound, and after the ticks of one size those of another.
CASE(sixty_four_megabytes_are_all) {
    const base_allocator heap = *base_allocator_heap();
    const base_allocator counting = {count_allocate, count_release, (void*)(uintptr_t)&heap};
    net_module* module = script_module("function on_tick() local size = 1 << tick() + 8\n"
                                       "local x, t = ('x'):rep(size - 100), {}\n"
                                       "for i = 1, 5e7 // size | 0 do t[i] = x .. i end end");
    const base_reporter* reporter = hear();
    taken_bytes = 0;
    net_match* match = match_made(module, (match_wanted){.allocator = &counting});
    match->strays = reporter;
    for (uint32_t i = 0; i < 11; i++)
        net_match_step(match);
    assert_int_equal(said.count, 0);
    assert_in_range(taken_bytes, 50u << 20, 66u << 20);
    net_match_destroy(match);
    net_module_close(module);
}

// What a person reads of a button is the script's, from the moment when the module is opened.
CASE(a_script_names_its_buttons) {
    const char* const faults[][2] = {
        {"{ a = 'jump',\n e = 'run' }", "rules.lua:2: actions: there is no button 'e'"},
        {"'jump'", "rules.lua:1: actions: there is no button '1'"},
        {"print", "rules.lua:1: actions: there is no button '1'"},
        {"{ a = 5 }", "the text for 'a' needs 1 to 31 bytes of UTF-8 in one line"},
        {"{ b = '' }", "the text for 'b' needs 1 to 31 bytes"},
        {"{ c = ('x'):rep(32) }", "the text for 'c' needs 1 to 31 bytes"},
        {"{ d = '\\xC3' }", "the text for 'd' needs 1 to 31 bytes"},
        {"{ up = 'a\\0b' }", "the text for 'up' needs 1 to 31 bytes"},
        {"setmetatable({}, {})\nactions.left = {}", "rules.lua:1: actions: the text for 'left'"}};
    char rules[128];
    net_module* module =
        script_module("actions = { d = ('x'):rep(31), a = 'spr\u00fcng', up = '^' }");
    const char* const texts[] = {"^",           "", "", "",
                                 "spr\u00fcng", "", "", "xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx"};
    assert_int_equal(module->game->action_count, BASE_COUNT(texts));
    for (uint32_t i = 0; i < BASE_COUNT(texts); i++)
        assert_string_equal(module->labels[i].text, texts[i]);
    assert_string_equal(module->game->actions[4].name, "a"); // of its keys
    net_module_close(module);
    for (uint32_t i = 0; i < BASE_COUNT(faults); i++) {
        (void)snprintf(rules, sizeof rules, "actions = %s", faults[i][0]);
        try_rules(rules, faults[i][1]);
        module = script_module(rules); // it is opened all the same
        net_module_close(module);
    }
    module = script_module("actions = { a = 'jump' }\nprint(player_name(1))\nmissing.x = 1");
    assert_string_equal(module->labels[4].text, "");
    net_module_close(module);
    try_rules("actions = { a = 'jump' } function on_tick() actions.a = 'run' end",
              "a table of the script cannot change");
}
