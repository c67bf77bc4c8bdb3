// SPDX-License-Identifier: MIT
// One Lua state for each world, and the calls into it.
//
// Exact: numbers and texts are read and written in the locale "C" whatever a host has set, and
// numbers.c is all that Lua gets of libm. The collector shows nothing, since there are neither __gc
// nor weak tables. A fault ends its call here and in each replay alike. A hook counts the
// instructions of a call, which are as many on every machine, so an endless loop ends the same.
#define _GNU_SOURCE
#include "script.h"

#include "base/hash.h"
#include "base/text.h"
#include "sandbox.h" // written by CMake from sandbox.lua

#include <locale.h>
#include <lualib.h>
#include <string.h>

script* script_of(lua_State* L) {
    return *(script**)lua_getextraspace(L);
}

// ---- memory: blocks of 2^n bytes; one that is given back waits in the list of its size ----

static uint32_t class_of(size_t bytes) {
    return bytes <= 16 ? 4 : (uint32_t)(64 - __builtin_clzll((unsigned long long)bytes - 1));
}

static void* take_block(script* self, uint32_t class_) {
    const size_t whole = (size_t)1 << class_;
    void** block = self->unused[class_];
    if (self->used + whole > SCRIPT_BYTES_MAX) return NULL;
    self->used += whole;
    if (block) {
        self->unused[class_] = *block;
        return block;
    }
    if (whole > SCRIPT_BLOCK_BYTES / 4) return ecs_world_context(self->world, whole);
    if ((size_t)(self->end - self->at) < whole) {
        self->at = ecs_world_context(self->world, SCRIPT_BLOCK_BYTES);
        if (!self->at) return self->end = NULL;
        self->end = self->at + SCRIPT_BLOCK_BYTES;
    }
    self->at += whole;
    return self->at - whole;
}

static void* allocate(void* context, void* block, size_t old_bytes, size_t bytes) {
    script* self = context;
    if (bytes > SCRIPT_BYTES_MAX) return NULL;
    if (!block && old_bytes == LUA_TSTRING && bytes > SCRIPT_TEXT_BYTES_MAX) return NULL;
    const uint32_t old_class = block ? class_of(old_bytes) : 0;
    if (block && bytes > 0 && class_of(bytes) == old_class) return block;
    void* made = bytes > 0 ? take_block(self, class_of(bytes)) : NULL;
    if (!block || (bytes > 0 && !made)) return made;
    if (made) memcpy(made, block, old_bytes < bytes ? old_bytes : bytes);
    *(void**)block = self->unused[old_class];
    self->unused[old_class] = block;
    self->used -= (size_t)1 << old_class;
    return made;
}

// ---- faults ----

#define COUNTED_AT_ONCE 1000

// Lua says "rules.lua:12: text". Of each line the first fault is said: its text may change.
void script_report(script* self, const char* text, const char* function) {
    char file[64] = "rules.lua", said[BASE_REPORT_BYTES_MAX];
    uint32_t line = 0;
    if (!text) text = "a fault without a text";
    const char* rest = strchr(text, ':');
    if (rest && rest[1] >= '1' && rest[1] <= '9') {
        (void)base_text_format(file, sizeof file, "%.*s", (int)(rest - text), text);
        for (rest++; *rest >= '0' && *rest <= '9'; rest++)
            line = line * 10 + (uint32_t)(*rest - '0');
        text = rest + strspn(rest, ": ");
    }
    const uint64_t place = line > 0 ? line : base_hash64_text(text);
    for (uint32_t i = 0; i < self->said_count; i++)
        if (self->said[i] == place) return;
    if (self->said_count > SCRIPT_SAID_MAX) return;
    const bool is_last = self->said_count == SCRIPT_SAID_MAX;
    self->said[self->said_count++] = place;
    (void)base_text_format(said, sizeof said, function ? "%s (in %s, tick %u; said once)%s" : "%s",
                           text, function, (uint32_t)ecs_world_tick(self->world),
                           is_last ? "; faults of further lines are not reported" : "");
    if (self->fault) self->fault(self->fault_context, file, line, said);
}

// A fault in sandbox.lua is one of the script's line that called it, by the name that it called.
static int place_fault(lua_State* L) {
    const char* text = lua_type(L, 1) == LUA_TSTRING ? lua_tostring(L, 1) : "";
    const char* rest = strncmp(text, "sandbox:", 8) == 0 ? strchr(text + 8, ':') : NULL;
    const char* found = rest && strstr(rest, "bad argument") ? strchr(rest, '(') : NULL;
    const char* called = "";
    lua_Debug at;
    for (int level = 1; rest && lua_getstack(L, level, &at); level++) {
        (void)lua_getinfo(L, "Sln", &at);
        if (at.currentline > 0 && strcmp(at.short_src, "sandbox") != 0) {
            lua_pushfstring(L, "%s:%d%s%s%s%s", at.short_src, at.currentline,
                            found ? ": bad argument to '" : rest, called, found ? "' " : "",
                            found ? found : "");
            break;
        }
        called = found && at.name ? at.name : "";
    }
    return 1;
}

void script_count_steps(lua_State* L, double steps) {
    script* self = script_of(L);
    if (steps > 0) self->steps += steps < SCRIPT_STEPS_MAX ? (uint32_t)steps : SCRIPT_STEPS_MAX;
    if (self->steps < SCRIPT_STEPS_MAX) return;
    const char* at = "";
    for (int level = 0; level < 4 && (!at[0] || strncmp(at, "sandbox:", 8) == 0); level++) {
        luaL_where(L, level);
        at = lua_tostring(L, -1);
    }
    lua_pushfstring(L, "%sthe call takes more than %d instructions: is a loop endless?", at,
                    SCRIPT_STEPS_MAX);
    lua_error(L);
}

// A check asks which lines run. All lines of the function on the stack's top can.
static int note_lines(lua_State* L) {
    const script* self = script_of(L);
    lua_Debug about;
    if (!self->line || !lua_isfunction(L, -1)) return 0;
    lua_pushvalue(L, -1);
    if (!lua_getinfo(L, ">S", &about) || about.source[0] != '@') return 0;
    lua_pushvalue(L, -1);
    (void)lua_getinfo(L, ">L", &about);
    for (lua_pushnil(L); lua_next(L, -2); lua_pop(L, 1))
        self->line(self->line_context, about.source + 1, (uint32_t)lua_tointeger(L, -2), false);
    lua_pop(L, 1);
    return 0;
}

// Functions are called, and given to each() and others, which may never call them.
static void note_call(lua_State* L, lua_Debug* where) {
    (void)lua_getinfo(L, "f", where);
    for (int i = 1; (void)note_lines(L), lua_pop(L, 1), lua_getlocal(L, where, i); i++) {
    }
}

static void count_instructions(lua_State* L, lua_Debug* where) {
    const script* self = script_of(L);
    if (where->event == LUA_HOOKCOUNT) {
        script_count_steps(L, COUNTED_AT_ONCE);
    } else if (where->event != LUA_HOOKLINE) {
        note_call(L, where);
    } else if (lua_getinfo(L, "S", where) && where->source[0] == '@') {
        self->line(self->line_context, where->source + 1, (uint32_t)where->currentline, true);
    }
}

static bool run_held(script* self, lua_CFunction run, void* argument, const char* function) {
    const locale_t host = uselocale(newlocale(LC_ALL_MASK, "C", (locale_t)0)); // takes no memory
    self->steps = 0;
    lua_sethook(self->state, count_instructions,
                LUA_MASKCOUNT | (self->line ? LUA_MASKLINE | LUA_MASKCALL : 0), COUNTED_AT_ONCE);
    lua_pushcfunction(self->state, place_fault);
    lua_pushcfunction(self->state, run);
    lua_pushlightuserdata(self->state, argument);
    const bool is_right = lua_pcall(self->state, 1, 0, 1) == LUA_OK;
    if (!is_right) script_report(self, lua_tostring(self->state, -1), function);
    lua_settop(self->state, 0);
    (void)uselocale(host);
    return is_right;
}

// ---- calls ----

static const char enter_key; // of the registry: enter() of sandbox.lua

typedef struct call {
    double time;
    const char *function, *format;
    va_list arguments;
} call;

static void push_argument(lua_State* L, call* self, char letter) {
    if (letter == 'n')
        lua_pushnumber(L, va_arg(self->arguments, double));
    else if (letter == 's')
        lua_pushstring(L, va_arg(self->arguments, const char*));
    else if (letter == 'b')
        lua_pushboolean(L, va_arg(self->arguments, int));
    else
        lua_pushinteger(L, va_arg(self->arguments, uint32_t));
    if (letter != 'e' || lua_tointeger(L, -1) != ECS_ENTITY_NONE) return;
    lua_pop(L, 1);
    lua_pushnil(L);
}

static int enter(lua_State* L) {
    call* self = lua_touserdata(L, 1);
    const char* at = self->format;
    lua_rawgetp(L, LUA_REGISTRYINDEX, &enter_key);
    lua_pushstring(L, self->function);
    lua_pushinteger(L, (lua_Integer)ecs_world_tick(script_of(L)->world));
    lua_pushnumber(L, self->time);
    for (; *at && *at != '>'; at++)
        push_argument(L, self, *at);
    const int results = *at ? (int)strlen(at + 1) : 0;
    lua_call(L, lua_gettop(L) - 2, results);
    for (int i = 2; i < 2 + results; i++) {
        void* target = va_arg(self->arguments, void*);
        if (lua_isnil(L, i)) continue;
        if (!lua_isnumber(L, i))
            luaL_error(L, "%s gives a %s where a number is needed", self->function,
                       luaL_typename(L, i));
        if (at[i - 1] == 'n')
            *(double*)target = luaL_checknumber(L, i);
        else
            *(uint32_t*)target = (uint32_t)luaL_checkinteger(L, i);
    }
    return 0;
}

void script_run(script* self, double time, const char* function, const char* format, ...) {
    if (!self->state) return;
    call made = {.time = time, .function = function, .format = format};
    va_start(made.arguments, format);
    (void)run_held(self, enter, &made, function);
    va_end(made.arguments);
}

// ---- loading ----

static int load_sandbox(lua_State* L) {
    const base_reader* text = lua_touserdata(L, 1);
    static const lua_CFunction libraries[] = {luaopen_base, luaopen_string, luaopen_table,
                                              luaopen_utf8, luaopen_debug};
    if (luaL_loadbufferx(L, script_sandbox, sizeof script_sandbox - 1, "=sandbox", "t"))
        return lua_error(L);
    for (uint32_t i = 0; i < BASE_COUNT(libraries); i++) {
        lua_pushcfunction(L, libraries[i]);
        lua_call(L, 0, 1);
    }
    script_bound(L, 4, "ffind\0pmatch\0ggmatch\0pgsub\0rrep\0");
    script_bound(L, 5, "tinsert\0tremove\0tsort\0mmove\0");
    script_push_numbers(L);
    script_push_world(L);
    lua_pushcfunction(L, note_lines);
    lua_setfield(L, -2, "note_lines");
    lua_pushlstring(L, (const char*)text->data, text->size);
    lua_call(L, 8, 1);
    lua_rawsetp(L, LUA_REGISTRYINDEX, &enter_key);
    return 0;
}

void script_open(script* self, const char* text, size_t bytes) {
    base_reader from = base_reader_make(text, bytes);
    self->state = lua_newstate(allocate, self);
    if (!self->state) return;
    *(script**)lua_getextraspace(self->state) = self;
    if (!run_held(self, load_sandbox, &from, NULL)) self->state = NULL;
}
