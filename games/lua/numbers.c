// SPDX-License-Identifier: MIT
// The numbers of a script, and all that Lua asks of libm, of clocks and of files: its objects are
// linked against these. So `x ^ y` and `x % y` have the same bits on every machine.
#include "script.h"

#include "base/math.h"

#include <string.h>

// A function of the C library: its name there, and here.
#define INSTEAD_OF(name, type, ours, arguments)                                                    \
    type ours arguments __asm__(name);                                                             \
    type ours arguments

#define MANTISSA_BITS 52
#define EXPONENT_MAX 0x7ff

// A number that is above 0 and finite is the result * 2^*exponent, without a loop over its size.
static uint64_t script_mantissa(double x, int* exponent) {
    uint64_t bits;
    memcpy(&bits, &x, sizeof bits);
    const int raw = (int)(bits >> MANTISSA_BITS) & EXPONENT_MAX;
    const uint64_t one = UINT64_C(1) << MANTISSA_BITS, part = bits & (one - 1);
    *exponent = (raw ? raw : 1) - (EXPONENT_MAX / 2 + MANTISSA_BITS);
    return raw ? part | one : part;
}

// x * 2^exponent, which is a number that has these bits.
static double script_scale(double x, int exponent) {
    for (; exponent > 1000; exponent -= 1000)
        x *= 0x1p1000;
    for (; exponent < -1000; exponent += 1000)
        x *= 0x1p-1000;
    const uint64_t bits = (uint64_t)(exponent + EXPONENT_MAX / 2) << MANTISSA_BITS;
    double step;
    memcpy(&step, &bits, sizeof step);
    return x * step;
}

INSTEAD_OF("frexp", double, script_split, (double x, int* exponent)) {
    *exponent = 0;
    if (x == 0 || x - x != 0) return x;
    const uint64_t whole = script_mantissa(x, exponent);
    const int bits = 64 - __builtin_clzll(whole);
    *exponent += bits;
    return __builtin_copysign(script_scale((double)whole, -bits), x);
}

__extension__ typedef unsigned __int128 wide;

static uint64_t script_times(uint64_t a, uint64_t b, uint64_t unit) {
    return (uint64_t)((wide)a * b % unit);
}

// Exact, as every remainder is: of whole numbers, times 2^(difference of the exponents) by squares.
INSTEAD_OF("fmod", double, script_rest, (double x, double y)) {
    double left = __builtin_fabs(x), by = __builtin_fabs(y);
    if (!(by > 0) || !(left < __builtin_inf())) return __builtin_nan("");
    if (left < by) return x;
    int high, low;
    uint64_t rest = script_mantissa(left, &high);
    const uint64_t unit = script_mantissa(by, &low);
    rest %= unit;
    uint64_t two = 2 % unit;
    for (int n = high - low; n > 0 && rest > 0; n /= 2, two = script_times(two, two, unit))
        if (n & 1) rest = script_times(rest, two, unit);
    return __builtin_copysign(script_scale((double)rest, low), x);
}

// The whole part of y by squares, the rest by square roots: one for each bit. From 2^63 on a whole
// part gives 0, 1 or infinity, and is even.
INSTEAD_OF("pow", double, script_power, (double x, double y)) {
    if (y != y) return x == 1 ? x : y;
    const double up = __builtin_fabs(y) < 0x1p63 ? __builtin_fabs(y) : 0x1p63;
    uint64_t n = (uint64_t)up;
    double part = up - (double)n, root = x, result = 1;
    for (; n > 0; x *= x, n /= 2)
        if (n & 1) result *= x;
    for (bool is_last = false; part > 0 && !is_last; part *= 2) {
        const double next = __builtin_sqrt(root);
        is_last = !(next < root || next > root); // of 0, 1, infinity and NaN
        if (part >= 0.5 || is_last) result *= next, part -= 0.5;
        root = next;
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

// Of what a local was and is: 0 is no number, 1 a whole one, 2 a float, 3 one with a sign at 0.
static int number_kind(lua_State* L) {
    const bool is_float = lua_type(L, 1) == LUA_TNUMBER && !lua_isinteger(L, 1);
    const double x = is_float ? lua_tonumber(L, 1) : 1;
    lua_pushinteger(L, is_float ? 2 + (x == 0 && __builtin_signbit(x)) : lua_isinteger(L, 1));
    return 1;
}

// The largest or smallest of the arguments.
static int choose(lua_State* L) {
    const bool is_largest = lua_toboolean(L, lua_upvalueindex(1));
    int best = 1;
    (void)luaL_checknumber(L, 1);
    for (int i = 2; i <= lua_gettop(L); i++) {
        (void)luaL_checknumber(L, i);
        if (lua_compare(L, is_largest ? best : i, is_largest ? i : best, LUA_OPLT)) best = i;
    }
    lua_pushvalue(L, best);
    return 1;
}

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
    for (int is_largest = 0; is_largest < 2; is_largest++) {
        lua_pushboolean(L, is_largest);
        lua_pushcclosure(L, choose, 1);
        lua_setfield(L, -2, is_largest ? "max" : "min");
    }
    lua_pushcfunction(L, number_kind);
    lua_setfield(L, -2, "number_kind");
}
