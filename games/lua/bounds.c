// SPDX-License-Identifier: MIT
// One call of string.find, string.rep or table.move is one instruction to Lua, and may take hours.
// Here such a call counts as the steps that it may take at most, before it is made.
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

static double steps_of(lua_State* L, char what) {
    size_t n = 0, size = 0;
    if (what == 'r') return (double)luaL_checkinteger(L, 2);
    if (what == 'm') return (double)luaL_checkinteger(L, 3) - (double)luaL_checkinteger(L, 2);
    if (what == 't') return lua_istable(L, 1) ? 20 * (double)luaL_len(L, 1) : 0;
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

// Upvalue 1 is what it is, 2 the function of Lua, which has none.
static int call_bounded(lua_State* L) {
    const char what = (char)lua_tointeger(L, lua_upvalueindex(1));
    const double steps = steps_of(L, what);
    script_count_steps(L, steps);
    const int results = lua_tocfunction(L, lua_upvalueindex(2))(L);
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
