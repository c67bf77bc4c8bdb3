// SPDX-License-Identifier: MIT
// One call of string.find, table.sort or table.unpack is one instruction to Lua, and may take
// hours. Here each function of a library whose work depends on its arguments has a letter: its call
// counts as the steps that it may take at most, before it is made, and so do the values that it
// returns. The bytes of texts that are made count where memory is taken (script.c), and what Lua
// itself does with many values at once where it is linked to these (script_count_...).
#define _GNU_SOURCE
#include "script.h"

#include <string.h>

#define PATTERN_BYTES_MAX 256

// A text of n bytes can be shared among k repeats, from each place, in (n + k + 1 over k + 1) ways.
static double steps_of_pattern(lua_State* L, size_t n) {
    size_t size, repeats = 1;
    const char* pattern = luaL_checklstring(L, 2, &size);
    luaL_argcheck(L, size <= PATTERN_BYTES_MAX, 2, "the pattern is longer than 256 bytes");
    for (size_t i = 0; i < size; i++) {
        const char next = i + 1 < size ? pattern[i + 1] : '\0';
        if (pattern[i] == '%' && next != 'b' && !(next >= '0' && next <= '9'))
            i++;
        else
            repeats += pattern[i] != '\0' && strchr("*+-?%", pattern[i]) != NULL;
    }
    double steps = 1 + (double)size / 4;
    for (size_t i = 1; i <= repeats && steps < SCRIPT_STEPS_MAX; i++)
        steps *= (double)(n + repeats) / (double)i;
    return steps;
}

#define VALUES_PER_STEP 4
#define BYTES_PER_STEP 4
#define FORMATTED_STEPS 20 // a number becomes a text
#define TABLE_BYTES_PER_STEP 64
#define HANDLED_STEPS 4 // an element of a table is read or written

static double range_of(lua_State* L, int first, int last, double length) {
    const double from = (double)luaL_optinteger(L, first, 1);
    return (lua_isnoneornil(L, last) ? length : (double)luaL_checkinteger(L, last)) - from + 1;
}

// i an element that is put in, d one that is taken out, s a sort, c a concat, u an unpack.
static double steps_of_table(lua_State* L, char what) {
    // A length that a function gives may be another one when the library asks again.
    const bool is_constant = luaL_getmetafield(L, 1, "__had") != LUA_TNIL;
    lua_settop(L, lua_gettop(L) - is_constant);
    if (lua_istable(L, 1) && luaL_getmetafield(L, 1, is_constant ? "__own_len" : "__len"))
        luaL_error(L, "a table with __len has no place here: copy its elements");
    const double length = lua_istable(L, 1) ? (double)luaL_len(L, 1) : 0;
    const bool is_at_end = what == 'i' ? lua_gettop(L) < 3 : lua_isnoneornil(L, 2);
    if (what == 'c') return HANDLED_STEPS * range_of(L, 3, 4, length);
    if (what == 'u') return range_of(L, 2, 3, length) / VALUES_PER_STEP;
    if (what == 's') {
        double rounds = 1;
        while (rounds < 40 && (double)(UINT64_C(1) << (uint32_t)rounds) < length)
            rounds++;
        return HANDLED_STEPS * length * rounds * script_steps_of_one(script_of(L));
    }
    return is_at_end ? 1 : HANDLED_STEPS * (1 + length);
}

static double steps_of(lua_State* L, char what) {
    size_t n = 0, size = 0;
    if (what == 'v' || what == 'o') return 1; // the values that it returns
    if (what == 'r') return (double)luaL_checkinteger(L, 2);
    if (what == 'm')
        return HANDLED_STEPS * ((double)luaL_checkinteger(L, 3) - (double)luaL_checkinteger(L, 2));
    if (strchr("idscu", what)) return steps_of_table(L, what);
    if (what == 't') return FORMATTED_STEPS;
    if (lua_type(L, 1) == LUA_TSTRING) n = lua_rawlen(L, 1);
    if (what == 'l') return (double)n / BYTES_PER_STEP;
    if (what == 'a') return FORMATTED_STEPS * ((double)n / 2 + 1);
    (void)luaL_checklstring(L, 1, &n);
    (void)luaL_checklstring(L, 2, &size);
    return what == 'f' && lua_toboolean(L, 4) ? (double)n * (double)size / 8
                                              : steps_of_pattern(L, n);
}

// What a search without an end costs again: upvalue 1 is the iterator of gmatch, 2 its steps.
static int iterate_bounded(lua_State* L) {
    lua_settop(L, 0);
    lua_pushvalue(L, lua_upvalueindex(1));
    lua_call(L, 0, LUA_MULTRET);
    if (lua_gettop(L) == 0 || lua_isnil(L, 1))
        script_count_steps(L, lua_tonumber(L, lua_upvalueindex(2)));
    return lua_gettop(L);
}

// The iterator of utf8.codes passes bytes that begin no character.
static int iterate_characters(lua_State* L) {
    size_t n = 0;
    (void)lua_tolstring(L, 1, &n);
    const double at = lua_tonumber(L, 2);
    lua_pushvalue(L, lua_upvalueindex(1));
    lua_insert(L, 1);
    lua_call(L, lua_gettop(L) - 1, LUA_MULTRET);
    const double next = lua_gettop(L) > 0 ? lua_tonumber(L, 1) : (double)n;
    script_count_steps(L, (next - at) / BYTES_PER_STEP);
    return lua_gettop(L);
}

// Upvalue 1 is what it is, 2 the function of Lua, which has none.
static int call_bounded(lua_State* L) {
    const char what = (char)lua_tointeger(L, lua_upvalueindex(1));
    const double steps = steps_of(L, what);
    script_count_steps(L, steps);
    const int results = lua_tocfunction(L, lua_upvalueindex(2))(L);
    if (what == 'v' || what == 'u') script_count_steps(L, (double)results / VALUES_PER_STEP);
    if (what == 'o') { // codes
        lua_pushvalue(L, -results);
        lua_pushcclosure(L, iterate_characters, 1);
        lua_replace(L, -results - 1);
    }
    if (what != 'g') return results;
    lua_pushnumber(L, steps);
    lua_pushcclosure(L, iterate_bounded, 2);
    return 1;
}

void script_bound(lua_State* L, int library, const char* names) {
    for (const char* at = names; *at; at += strlen(at) + 1) {
        lua_pushinteger(L, at[0]);
        lua_getfield(L, library, at + 1);
        lua_pushcclosure(L, call_bounded, 2);
        lua_setfield(L, library, at + 1);
    }
}

// ---- what Lua does with many values at once: its objects are linked against these ----

#define LINKED(name, type, arguments)                                                              \
    extern type script_real_##name arguments __asm__("__real_" #name);                             \
    type script_count_##name arguments __asm__("__wrap_" #name);                                   \
    type script_count_##name arguments

// `...` becomes values, and several values are returned.
LINKED(luaT_getvarargs, void, (lua_State * L, void* frame, void* to, int wanted)) {
    script_real_luaT_getvarargs(L, frame, to, wanted);
    if (wanted < 0) script_of(L)->steps += (uint64_t)lua_gettop(L) / VALUES_PER_STEP;
}
LINKED(luaD_poscall, void, (lua_State * L, void* frame, int results)) {
    if (results > 0) script_of(L)->steps += (uint64_t)results / VALUES_PER_STEP;
    script_real_luaD_poscall(L, frame, results);
}
// A number becomes a text.
LINKED(luaO_tostring, void, (lua_State * L, void* number)) {
    script_of(L)->steps += FORMATTED_STEPS;
    script_real_luaO_tostring(L, number);
}
// A table that has no place for a new key is counted and made again, however large it is.
LINKED(luaH_finishset, void,
       (lua_State * L, void* table, const void* key, const void* slot, void* element)) {
    const uint64_t moved = script_of(L)->moved;
    script_real_luaH_finishset(L, table, key, slot, element);
    script_of(L)->steps += (script_of(L)->moved - moved) / TABLE_BYTES_PER_STEP;
}
// A text is a number when it has at most this many bytes.
#define NUMERAL_BYTES_MAX 200
LINKED(luaO_str2num, size_t, (const char* text, void* number)) {
    return strnlen(text, NUMERAL_BYTES_MAX + 1) > NUMERAL_BYTES_MAX
               ? 0
               : script_real_luaO_str2num(text, number);
}
