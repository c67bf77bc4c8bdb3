// SPDX-License-Identifier: MIT
// What a script in Lua may do, and what it hears when it may not. The module is opened as a file,
// as programs do.

#include "game/match.h"
#include "hear.h"
#include "match_made.h"

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

CASE(nothing_lasts_but_components) {
    try_rules("function on_tick() score = 1 end",
              "rules.lua:1: the global 'score' cannot change while the match runs: keep it in a "
              "component (in on_tick, tick 1; said once)");
    try_rules("local count = 0\nfunction on_tick()\n count = count + 1\n"
              " if count > 1 then error('it lasted') end\nend",
              "rules.lua:2: the local 'count' of the script was changed by this call");
    try_rules("local seen = {}\nfunction on_tick() if #seen > 0 then error('it lasted') end\n"
              "seen[1] = 1 end",
              "rules.lua:3: a table of the script cannot change while the match runs");
    try_rules("config = {deep = {speed = 3}}\nfunction on_tick() config.deep.speed = 4 end",
              "rules.lua:2: a table of the script cannot change");
    try_rules("local hidden = {}\nlocal function f() return hidden end\n"
              "function on_tick() f()[1] = 1 end",
              "rules.lua:3: a table of the script cannot change");
    try_rules("function on_tick() string.more = 1 end", "a table of the script cannot change");
    try_rules("function on_tick() _G.more = 1 end", "the global 'more' cannot change");
    try_rules("function on_tick() table.insert(_G, 1) end", "cannot change");
    try_rules("local c = setmetatable({}, {__index = {}}) function on_tick() c.x = 1 end",
              "a table of the script cannot change");
    // Constants work as they did, from any function.
    try_rules("local list, map = {3, 4, 5}, {b = 2, a = 1, [2] = 'x'}\n"
              "local class = {} class.__index = class function class:get() return self.v end\n"
              "local one = setmetatable({v = 9}, class)\n"
              "function on_tick() local sum, keys = #list, ''\n"
              "for i, v in ipairs(list) do sum = sum + v end\n"
              "for k in pairs(map) do keys = keys .. k end\n"
              "local new = setmetatable({v = 1}, class) new.v = 2\n"
              "assert(sum == 15 and keys == '2ab' and one:get() == 9 and new:get() == 2)\n"
              "assert(table.concat(list, ',') == '3,4,5' and table.unpack(list) == 3)\n"
              "end",
              "");
}

CASE(what_chance_or_a_machine_decides_is_not_there) {
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
    try_rules("x = math.random(3)", "there is no math.random: random() is the match's");
    try_rules("math.randomseed(1)", "there is no math.randomseed");
    try_rules("x = string.dump", "");
    try_rules("x = string.dump(print)", "attempt to call a nil value (field 'dump')");
    try_rules("\x1bLuaS", "attempt to load a binary chunk");
    try_rules("for k in pairs({[{}] = 1}) do end", "pairs: a key is a table, which has no order");
    try_rules("for k in pairs({[print] = 1}) do end", "pairs: a key is a function");
    try_rules("for k in pairs({[true] = 1}) do end", "pairs: a key is a boolean");
    try_rules("setmetatable({}, {__gc = print})", "__gc and __mode depend on the collector");
    try_rules("setmetatable({}, {__mode = 'k'})", "__gc and __mode depend on the collector");
    try_rules("local m = {} local t = setmetatable({}, m) m.__mode = 'k' t[{}] = 1", "");
    try_rules("assert(tostring({}) == 'table: 0x1' and tostring(print) == 'function: 0x1')\n"
              "assert(string.format('%p', {}) == string.format('%p', {}))",
              "");
    try_rules("local s = '' for k, v in pairs({b = 1, a = 2, [3] = 3, [1] = 4, ab = 5}) do\n"
              "s = s .. k .. v end assert(s == '1433a2ab5b1', s)",
              "");
}

CASE(numbers_are_the_same_everywhere) {
    // Read and written with a point, whatever the locale; a test runs in that of its shell.
    try_rules(
        "assert(tostring(0.5) == '0.5' and tonumber('2.25') == 2.25 and not tonumber('2,25'))\n"
        "assert(string.format('%.3f %g %5.1f', 0.5, 1e20, 2.25) == '0.500 1e+20   2.2')\n"
        "assert(('äß'):upper() == 'äß' and 'a' < 'b' and 'Z' < 'a')",
        "");
    try_rules("local function near(a, b) return a - b < 1e-11 * b and b - a < 1e-11 * b end\n"
              "assert(2 ^ 10 == 1024 and 2 ^ -2 == 0.25 and 9 ^ 0.5 == 3 and (-2) ^ 3 == -8)\n"
              "assert(0 ^ 0 == 1 and 1 ^ (0/0) == 1 and 0 ^ -1 == math.huge and (-2) ^ 0.3 ~= (-2) "
              "^ 0.3)\n"
              "assert(near(2 ^ 0.3, 1.2311444133449163) and near(10 ^ -0.7, 0.19952623149688797))\n"
              "assert(near(1e300 ^ 0.01, 1000) and near(math.exp(1), 2.718281828459045))\n"
              "assert(near(math.log(10), 2.302585092994046) and math.log(1) == 0)\n"
              "assert(near(-math.log(1e-310), 713.8013788281542))\n"
              "assert(7.5 % 2 == 1.5 and -7.5 % 2 == 0.5 and 7 % -3 == -2 and 1e300 % 7 == 1)\n"
              "assert(5.3 % math.huge == 5.3 and 1 % 0.0 ~= 1 % 0.0)\n"
              "assert(math.floor(-1.5) == -2 and math.ceil(1.2) == 2 and math.abs(-3) == 3)\n"
              "assert(math.max(1, 3, 2) == 3 and math.min(4, 2, 3) == 2 and math.sqrt(16) == 4)\n"
              "assert(math.sin(0) == 0 and math.cos(0) == 1 and math.atan(1, 1) > 0.78)",
              "");
    try_tick("e.real = 0/0", "rules.lua:2: real cannot become 0/0: it needs a number");
}

CASE(a_call_ends) {
    try_rules("function on_tick() while true do end end",
              "rules.lua:1: the call takes more than 20000000 instructions: is a loop endless?");
    try_rules("while true do end", "instructions: is a loop endless?");
    try_rules("function on_tick() local t = {} for i = 1, 1e9 do t[i] = i end end",
              "not enough memory");
    try_rules("function on_tick() return ('x'):rep(1e7) end", "not enough memory");
    try_rules("function on_tick() on_tick() end", "not enough memory");
    try_rules("function on_tick() error({}) end", "a fault without a text");
    try_rules("function on_tick() if tick() == 2 then error('now', 0) end end",
              "now (in on_tick, tick 2; said once)");
}

CASE(one_instruction_does_not_take_for_ever) {
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
    try_rules("function on_tick() local it = ('a'):rep(999):gmatch('a*b')\n"
              "for i = 1, 1e6 do it() end end",
              "rules.lua:2: the call takes more than");
    try_rules("function on_tick() local s = 'x' while true do s = s .. s end end",
              "not enough memory");
    try_rules("function on_tick() return ('x'):find(('x'):rep(257)) end",
              "the pattern is longer than 256 bytes");
    try_rules("setmetatable({}, {__close = print})", "so __close is not here");
    try_rules(
        "local s = 'key = value, other=2' local n = 0\n"
        "for k, v in s:gmatch('(%w+)%s*=%s*(%w+)') do n = n + #k + #v end assert(n == 14)\n"
        "assert(s:gsub('%%', '') == s and s:find('= v', 1, true) == 5 and s:match('%d$') == '2')\n"
        "local t = {3, 1, 2} table.sort(t) table.insert(t, 1, 0) table.remove(t)\n"
        "assert(table.concat(t, ' ') == '0 1 2' and ('ab'):rep(2, '-') == 'ab-ab')",
        "");
}

CASE(no_metamethod_hides_what_a_call_changed) {
    try_rules("local M = {__eq = function() return true end} local a = setmetatable({}, M)\n"
              "function on_tick() a = setmetatable({}, M) end",
              "the local 'a' of the script was changed by this call");
    try_rules("local n = 1\nfunction on_tick() n = n / 1 end", "the local 'n' of the script was");
    try_rules("local z = 0.0\nfunction on_tick() z = -z end", "the local 'z' of the script was");
    try_rules("local z = 0 / 0\nfunction on_tick() z = 0 / 0 end", "");
    try_rules("local t = setmetatable({n = 0}, {__index = function(t, k) t.n = t.n + 1 end})\n"
              "function on_tick() return t.next end",
              "a table of the script cannot change");
    try_rules("local t = setmetatable({n = 4}, {__index = function(t, k) return k .. t.n end})\n"
              "function on_tick() assert(t.n == 4 and t.m == 'm4') end",
              "");
}

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

CASE(huge_exponents_cost_no_more_than_others) {
    try_rules("function on_tick() for i = 1, 1e5 do local z = 1.0000001 ^ 1e300 end end", "");
    try_rules("function on_tick() for i = 1, 1e5 do local z = 1.7e308 % 3.7e-308 end end", "");
    try_rules(
        "local inf = 1 / 0\n"
        "assert(2 ^ 1e300 == inf and 0.5 ^ 1e300 == 0 and (-1) ^ 1e300 == 1)\n"
        "assert(1 ^ 1e300 == 1 and 2 ^ -1e300 == 0 and inf ^ 0.5 == inf and 0 ^ 1e-300 == 0)\n"
        "assert(3 ^ 5e-324 == 1 and (-8) ^ 0.3 ~= (-8) ^ 0.3)\n"
        "assert(1.7e308 % 5e-324 == 0 and 5e-324 % 3 == 5e-324 and 1e308 % 1e-5 < 1e-5)\n"
        "local t = {[5e-324] = 1, [1e308] = 2} assert(t[5e-324] == 1 and t[1e308] == 2)",
        "");
}

CASE(a_length_that_is_a_function_bounds_nothing) {
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
    try_rules("local t = setmetatable({}, {__len = function() return 3 end, __had = {1}})\n"
              "function on_tick() assert(#t == 3) table.sort(t) end",
              "a table with __len has no place here");
    try_rules("local list = {3, 4} function on_tick() assert(table.concat(list) == '34') end", "");
}

CASE(few_tables_lead_to_each_other) {
    try_rules("local t = {} for i = 1, 99 do t = setmetatable({}, {__index = t}) end",
              "rules.lua:1: error: setmetatable: more than 10 tables lead to this one by __index");
    try_rules("local t = {} for i = 1, 99 do local u = {} setmetatable(t, {__index = u}) t = u end",
              "by __index");
    try_rules("local t = print for i = 1, 99 do t = setmetatable({}, {__call = t}) end",
              "by __call");
    try_rules("local A = {} A.__index = A function A:f() return 7 end\n"
              "local B = setmetatable({}, A) B.__index = B local all = {}\n"
              "for i = 1, 99 do all[i] = setmetatable({}, B) end\n"
              "function on_tick() assert(all[99]:f() == 7) end",
              "");
}

CASE(a_fault_and_an_iterator_keep_nothing) {
    try_rules("local n = 0\nfunction on_tick() n = n + 1 error('at ' .. n, 0) end", "at 1 (in");
    assert_int_equal(said.count, 1); // three times the same
    try_rules("local n = 0\nfunction on_tick() n = n + 1 if n > 1 then create('rock') end\n"
              "for e in each('n') do error('it lasted', 0) end end",
              "the local 'n'");
    try_rules("local next_one = ('x'):rep(9):gmatch('()') function on_tick() next_one() end",
              "what gmatch or each gave cannot be kept");
    try_rules("walk = {each('pos')} function on_tick() walk[1]() end", "cannot be kept");
    try_rules("local start = {n = 3, pos = {2, 2}}\nfunction on_tick() create('thing', start) end\n"
              "function on_end() end function on_start() create('thing', {name = 'a' .. 1}) end",
              "");
    try_rules("local start = {n = 3} function on_start() create('thing', start) end\n"
              "function on_tick() for e, n in each('n') do assert(n == 3) end end",
              "");
    try_rules("local start = {n = 3} function on_tick()\n"
              "for e, n in each('n') do assert(n == 3) end create('thing', start) end",
              "");
    try_rules("function on_start() create('thing', {name = 5}) end",
              "name cannot become 5: it needs a text: tostring(x) makes one");
    try_rules("function on_start() create('thing', {name = '\\0'}) end", "name: a text has a NUL");
}

CASE(a_faulty_script_is_refused) {
    try_rules("function (", "rules.lua:1: error: <name> expected near '('");
    try_rules("x = nil + 1", "rules.lua:1: error: attempt to perform arithmetic on a nil value");
    try_rules("\n\nfunction on_start() create('thig') end",
              "rules.lua:3: error: there is no template 'thig', did you mean 'thing'?");
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

CASE(components_are_values) {
    try_tick("assert(e.pos.x == 1 and e.pos.y == 2 and e.n == 7 and e.on == false)\n"
             "assert(e.name == 'it' and e.mate == nil and e.good == true and e.spin.z == 3)\n"
             "local x, y = get(e, 'pos') assert(x == 1 and y == 2 and get(e, 'n') == 7)\n"
             "assert(kind(e) == 'thing' and alive(e) and not alive(77) and not alive(nil))",
             "");
    try_tick("if tick() > 1 then return end\n"
             "e.pos.x = 1.3 assert(e.pos.x == 1.25, 'as clients have it')\n"
             "e.pos = {3, 4} assert(e.pos.x == 3) e.pos = {y = 6, x = 5} assert(e.pos.y == 6)\n"
             "set(e, 'pos', 100, -0.4) local x, y = get(e, 'pos') assert(x == 7.75 and y == -0.5)\n"
             "e.n, e.on, e.name, e.mate = 9.7, true, 'new', e assert(e.n == 9 and e.on)\n"
             "assert(e.name == 'new' and e.mate == e) e.mate = nil assert(not e.mate)\n"
             "e.spin = {0.5, 0, 1} local s = e.spin s.y = 2 assert(e.spin.y == 2)",
             "");
    try_tick("local x = e.poss", "there is no component 'poss', did you mean 'pos'?");
    try_tick("local x = e.pos.z", "a p2 has no field 'z'");
    try_tick("e.pos = 'far'", "x cannot become the text 'far': it needs a number");
    try_tick("e.pos = {1}", "y cannot become nil: it needs a number");
    try_tick("e.pos = e.spin", "a p3 cannot become a p2");
    try_tick("e.name = {}", "name cannot become a table: it needs a text");
    try_tick("e.n = 'three'", "n cannot become the text 'three': it needs a whole number");
    try_tick("e.n = nil", "n cannot become nil: it needs a whole number");
    try_tick("e.mate = 'me'", "mate cannot become the text 'me': it needs an entity or nil");
    try_tick("e.pos.x = {}", "x cannot become a table: it needs a number");
    try_tick("e.name = 'a\\0b'", "rules.lua:2: name: a text has a NUL in it");
    try_tick("e.name = ('x'):rep(4097)", "rules.lua:2: name: a text has a NUL in it, or more than");
    try_tick("local x = (2 ^ 40).pos", "this number is not an entity");
    try_tick("local x = (77).pos.x", "attempt to index a nil value (field 'pos')");
    try_tick("local r = 5 r.n = 1", "n: ");
    try_tick("local p = e.pos destroy(e) create('rock') local q = p.x", "");
    try_tick("rect(1, 2, 3, 4, 5)", "there is no rect");
}

// A peer refuses what is no UTF-8: the match never sends it.
CASE(a_text_is_cut_between_letters) {
    try_tick("tell(nil, 'a', 1, 2, 3, 4, ('gr\xc3\xbc' .. '\xc3\x9f' .. 'e'):sub(1, 3))",
             "rules.lua:2: the message's text has a NUL or half a letter in it: text_cut(text, 95) "
             "cuts it between two letters (in on_tick, tick 1; said once)");
    try_tick("tell(nil, 'a\\0')", "rules.lua:2: the message's name has a NUL or half a letter");
    try_tick("tell(nil, ('x'):rep(32))",
             "the message's name has too many bytes: text_cut(text, 31)");
    try_tick("tell(nil, 'a', 1, 2, 3, 4, ('x'):rep(96))",
             "text has too many bytes: text_cut(text, 95)");
    try_tick("local s = 'gr\xc3\xbc\xe2\x82\xac\xf0\x9f\x99\x82!' for i = -1, 20 do\n"
             "local cut = text_cut(s, i) assert(#cut <= math.max(i, 0) and s:sub(1, #cut) == cut)\n"
             "assert(utf8.len(cut) and tell(e, cut, 1, 2, 3, 4, cut))\n"
             "if i == 3 then assert(cut == 'gr') end if i >= 12 then assert(cut == s) end end",
             "");
    try_tick("assert(after(3) == tick() + math.floor(3 / dt + 0.5) and after(0) == tick() + 1)\n"
             "assert(after(-1 / 0) == tick() + 1 and after(1 / dt) > tick()) after('soon')",
             "rules.lua:3: after takes seconds");
    try_tick("text_cut(5, 3)", "rules.lua:2: text_cut takes a text and a whole number of bytes");
    try_tick("text_cut('x', 2.5)", "rules.lua:2: text_cut takes a text and a whole number");
}

CASE(a_name_that_is_nearly_a_call_is_named) {
    try_rules("\nfunction onTick() end",
              "rules.lua:2: nothing calls 'onTick': did you mean 'on_tick'?");
    try_rules("function On_Start() end", "nothing calls 'On_Start': did you mean 'on_start'?");
    try_rules("function on_tcik() end", "nothing calls 'on_tcik': did you mean 'on_tick'?");
    try_rules("function Draw() end", "nothing calls 'Draw': did you mean 'draw'?");
    try_rules("function on_tik() end function on_tick() on_tik() end", "");
    try_rules("function on_ticks() end function on_tick() end", "");
    try_rules("function on_goal() end function place() end ticks = 5", "");
}

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

CASE(a_fault_has_the_line_of_the_script) {
    try_tick("math.max('a', 1)",
             "rules.lua:2: bad argument #1 to 'max' (number expected, got string)");
    try_tick("end_match()", "rules.lua:2: bad argument to 'end_match' (string expected");
    try_tick("random('a')", "rules.lua:2: bad argument to 'random' (number expected");
    try_tick("player_name('a')",
             "rules.lua:2: bad argument to 'player_name' (number expected, got string)");
    try_tick("assert(player_name(1) == '')", "");
}

CASE(entities_come_and_go_at_the_end_of_a_call) {
    try_tick("local new = create('thing', {n = 3, pos = {2, 2}}) assert(not alive(new))\n"
             "destroy(e) if tick() > 1 then assert(e.n == 3 and e.pos.x == 2) end\n"
             "assert(alive(e))",
             "");
    try_tick("local new = create('thing') new.n = 4", "n: ");
    try_rules(
        "function on_start() for i = 1, 5 do create('thing', {n = i}) end\n"
        "for e in each('pos') do if e.n % 2 == 0 then destroy(e) assert(not alive(e)) end end\n"
        "create('rock', {n = 40}) end\n"
        "function on_tick() local sum, rocks = 0, 0\n"
        "for e, pos, n in each('pos', 'n') do sum = sum + n + pos.x end\n"
        "for e, n in each('n', '!pos') do rocks = rocks + n end\n"
        "for e, good in each('good', 'n') do assert(good == true) end\n"
        "assert(sum == 12 and rocks == 40, sum)\n"
        "for a in each('n') do for b in each('n') do if a == b then break end end end end",
        "");
    try_rules("function on_start() create('thing', {speed = 1}) end",
              "there is no component 'speed'");
    try_rules("function on_start() create('rock', {pos = {1, 1}}) end", "create 'rock': ");
    try_rules("function on_tick() each() end", "string expected, got no value");
    try_rules("function on_start() for i = 1, 70000 do create('thing') end end",
              "create 'thing': ");
}

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
