// SPDX-License-Identifier: MIT
// The numbers of a script, and all that Lua asks of libm, of clocks and of files: its objects are
// linked against these. So `x ^ y` and `x % y` have the same bits on every machine.
#include "script.h"

#include "base/math.h"

// A function of the C library: its name there, and here.
#define INSTEAD_OF(name, type, ours, arguments)                                                    \
    type ours arguments __asm__(name);                                                             \
    type ours arguments

INSTEAD_OF("frexp", double, script_split, (double x, int* exponent)) {
    *exponent = 0;
    if (x == 0 || x - x != 0) return x;
    for (; __builtin_fabs(x) >= 1; x *= 0.5)
        ++*exponent;
    for (; __builtin_fabs(x) < 0.5; x *= 2)
        --*exponent;
    return x;
}

// Exact, as every remainder is: |y| * 2^k is taken away where it fits, from the greatest k down.
INSTEAD_OF("fmod", double, script_rest, (double x, double y)) {
    double left = __builtin_fabs(x), by = __builtin_fabs(y);
    if (!(by > 0) || !(left < __builtin_inf())) return __builtin_nan("");
    double step = by;
    while (step <= left * 0.5)
        step *= 2;
    for (; step >= by && left >= by; step *= 0.5)
        if (left >= step) left -= step;
    return __builtin_copysign(left, x);
}

// The whole part of y by squares, the rest by square roots: one for each bit.
INSTEAD_OF("pow", double, script_power, (double x, double y)) {
    if (y != y) return x == 1 ? x : y;
    const double up = __builtin_fabs(y) < 0x1p1000 ? __builtin_fabs(y) : 0x1p1000;
    double part = script_rest(up, 1), root = x, result = 1;
    for (double n = up - part; n > 0; x *= x, n /= 2)
        if (script_rest(n, 2) == 1) result *= x, n--;
    for (; part > 0; part *= 2) {
        root = __builtin_sqrt(root);
        if (part >= 0.5) result *= root, part -= 0.5;
    }
    return y < 0 ? 1 / result : result;
}

// tostring({}) is "table: 0x1".
INSTEAD_OF("__wrap_lua_topointer", const void*, script_address, (lua_State * L, int index)) {
    (void)L, (void)index;
    return (const void*)1;
}
// No time, and no files: 0 and NULL.
INSTEAD_OF("time", long, script_time, (const void* target)) {
    (void)target;
    return 0;
}
INSTEAD_OF("clock", long, script_clock, (void)) {
    return 0;
}
INSTEAD_OF("fopen64", void*, script_open_file, (const char* name, const char* mode)) {
    return (void)name, (void)mode, NULL;
}
INSTEAD_OF("freopen64", void*, script_reopen_file,
           (const char* name, const char* mode, const void* file)) {
    return (void)name, (void)mode, (void)file, NULL;
}
#ifdef __wasm__ // what a function that returns twice returned (__wasm_longjmp)
static uint32_t script_returned;
INSTEAD_OF("setTempRet0", void, script_set_returned, (uint32_t value)) {
    script_returned = value;
}
INSTEAD_OF("getTempRet0", uint32_t, script_get_returned, (void)) {
    return script_returned;
}
#else
// Lua makes its seed from addresses by this; it decides when a table grows.
INSTEAD_OF("__wrap_luaS_hash", unsigned, script_seed, (void)) {
    return 1;
}
// An archive of Lua may not be made for shared objects: what it names must lie in this one.
#define NO_FILE(name)                                                                              \
    extern void* const script_##name __asm__(#name);                                               \
    void* const script_##name = NULL
NO_FILE(stdin);
NO_FILE(stdout);
NO_FILE(stderr);
#endif

// ---- math ----

static int compute(lua_State* L) {
    const double x = luaL_checknumber(L, 1);
    const char what = (char)lua_tointeger(L, lua_upvalueindex(1));
    lua_pushnumber(L, what == 'q'   ? __builtin_sqrt(x)
                      : what == 's' ? (double)base_sin((float)x)
                      : what == 'c' ? (double)base_cos((float)x)
                                    : (double)base_atan2((float)x, (float)luaL_optnumber(L, 2, 1)));
    return 1;
}

void script_push_numbers(lua_State* L) {
    static const char* const names[] = {"sin", "cos", "atan", "qrt"};
    lua_newtable(L);
    for (uint32_t i = 0; i < BASE_COUNT(names); i++) {
        lua_pushinteger(L, names[i][0]);
        lua_pushcclosure(L, compute, 1);
        lua_setfield(L, -2, names[i][0] == 'q' ? "sqrt" : names[i]);
    }
}
