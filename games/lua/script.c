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

// ---- memory: pieces of the world's, which are cut into blocks of 2^n bytes ----

static uint32_t class_of(size_t bytes) {
    return bytes <= 16 ? 4 : (uint32_t)(64 - __builtin_clzll((unsigned long long)bytes - 1));
}

static size_t piece_bytes(uint32_t index) {
    return (size_t)1 << (SCRIPT_PIECE_CLASS + (index > 0 ? index - 1 : 0));
}

static void give_block(script* self, void* block, uint32_t class_) {
    *(void**)block = self->heap.unused[class_];
    self->heap.unused[class_] = block;
}

// A piece that was taken stays, and is the same one when the state was made afresh.
static bool add_piece(script* self) {
    const uint32_t index = self->heap.piece_count;
    if (index == SCRIPT_PIECES_MAX) return false;
    void** piece = &self->pieces[index];
    if (!*piece) *piece = ecs_world_context(self->world, piece_bytes(index));
    if (!*piece) return false;
    self->heap.piece_count++;
    give_block(self, *piece, class_of(piece_bytes(index)));
    return true;
}

static void* take_block(script* self, uint32_t class_) {
    void** const unused = self->heap.unused;
    uint32_t from = class_;
    while (from < SCRIPT_CLASSES && !unused[from]) {
        if (++from < SCRIPT_CLASSES) continue;
        if (!add_piece(self)) return NULL;
        from = class_;
    }
    if (from >= SCRIPT_CLASSES) return NULL;
    uint8_t* block = unused[from];
    unused[from] = *(void**)block;
    while (from-- > class_)
        give_block(self, block + ((size_t)1 << from), from);
    return block;
}

// Lua collects all its garbage when it gets NULL. This many steps cover the work.
#define COLLECTED_STEPS 1000000
#define TEXT_BYTES_PER_STEP 64

// Count the bytes of a text. Its head is left out: its size depends on the machine.
static void count_text(script* self, size_t bytes) {
    const size_t length = bytes - (8 + 2 * sizeof(void*));
    size_t* longest = self->heap.texts;
    self->steps += length / TEXT_BYTES_PER_STEP;
    if (length > longest[0]) {
        longest[1] = longest[0];
        longest[0] = length;
    } else if (length > longest[1]) {
        longest[1] = length;
    }
}

static void* allocate(void* context, void* block, size_t old_bytes, size_t bytes) {
    script* self = context;
    const bool is_text = !block && old_bytes == LUA_TSTRING;
    if (is_text && bytes > SCRIPT_TEXT_BYTES_MAX) return NULL;
    if (is_text) count_text(self, bytes);
    self->moved += bytes;
    const uint32_t class_ = class_of(bytes);
    uint32_t old_class = block ? class_of(old_bytes) : 0;
    if (block && bytes > 0 && class_ <= old_class) { // which cannot fail
        while (old_class-- > class_)
            give_block(self, (uint8_t*)block + ((size_t)1 << old_class), old_class);
        return block;
    }
    void* made = bytes > 0 ? take_block(self, class_) : NULL;
    if (bytes > 0 && !made) self->steps += COLLECTED_STEPS;
    if (!block || (bytes > 0 && !made)) return made;
    if (made) memcpy(made, block, old_bytes);
    give_block(self, block, old_class);
    return made;
}

// ---- afresh: a server's tick begins with the state as it was when the script was loaded ----

static bool keep_image(script* self) {
    size_t bytes = 0;
    for (uint32_t i = 0; i < self->heap.piece_count; i++)
        bytes += piece_bytes(i);
    uint8_t* image = self->image = ecs_world_context(self->world, bytes);
    self->first_heap = self->heap;
    for (uint32_t i = 0; image && i < self->heap.piece_count; image += piece_bytes(i++))
        memcpy(image, self->pieces[i], piece_bytes(i));
    return self->image != NULL;
}

// A call between two ticks, such as a join, belongs to the next tick, as it does in a save.
static void renew_state(script* self) {
    const ecs_tick tick = ecs_world_tick(self->world) + !self->is_in_stage;
    if (!self->image || tick == self->tick) return;
    const uint8_t* image = self->image;
    self->tick = tick;
    self->heap = self->first_heap;
    for (uint32_t i = 0; i < self->heap.piece_count; image += piece_bytes(i++))
        memcpy(self->pieces[i], image, piece_bytes(i));
}

void script_forget(script* self) {
    self->tick = 0; // of no call
}

// ---- faults ----

#define COUNTED_AT_ONCE 1000
#define COMPARED_BYTES_PER_STEP 512

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
    if (steps > 0) self->steps += steps < SCRIPT_STEPS_MAX ? (uint64_t)steps : SCRIPT_STEPS_MAX;
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

// It may compare two texts, and ends where the shorter one does.
double script_steps_of_one(const script* self) {
    return 1 + (double)(self->heap.texts[1] / COMPARED_BYTES_PER_STEP);
}

static void count_instructions(lua_State* L, lua_Debug* where) {
    const script* self = script_of(L);
    if (where->event == LUA_HOOKCOUNT) {
        script_count_steps(L, COUNTED_AT_ONCE * script_steps_of_one(self));
    } else if (where->event != LUA_HOOKLINE) {
        note_call(L, where);
    } else if (lua_getinfo(L, "S", where) && where->source[0] == '@') {
        self->line(self->line_context, where->source + 1, (uint32_t)where->currentline, true);
    }
}

static const char* const functions[] = {"on_start", "on_join", "on_leave",  "on_input",
                                        "on_tick",  "on_ask",  "on_tell",   "bot",
                                        "human",    "draw",    "predicted", NULL};

static uint32_t bit_of(const char* function) {
    uint32_t i = 0;
    while (functions[i] && strcmp(functions[i], function) != 0)
        i++;
    return 1u << i;
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
    else if (letter == 'd') { // bytes; NULL: nil
        const char* bytes = va_arg(self->arguments, const char*);
        const uint32_t size = va_arg(self->arguments, uint32_t);
        if (bytes)
            lua_pushlstring(L, bytes, size);
        else
            lua_pushnil(L);
    } else if (letter == 'b')
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
    if (!self->state || (self->left_out & bit_of(function))) return;
    call made = {.time = time, .function = function, .format = format};
    renew_state(self);
    va_start(made.arguments, format);
    if (!run_held(self, enter, &made, function) && self->steps >= SCRIPT_STEPS_MAX) {
        // It would not end in the next tick either.
        char text[128];
        self->left_out |= bit_of(function);
        (void)base_text_format(text, sizeof text,
                               "%s is left out from now on, until the script is saved again",
                               function);
        if (self->fault) self->fault(self->fault_context, NULL, 0, text);
    }
    va_end(made.arguments);
}

// ---- what a save has: the functions that are left out, of this script ----

void script_save(const script* self, base_bytes* bytes) {
    base_bytes_write_u64(bytes, self->text);
    base_bytes_write_u32(bytes, self->left_out);
}

void script_load(script* self, base_reader* reader) {
    const bool is_same = base_reader_u64(reader) == self->text;
    const uint32_t left_out = base_reader_u32(reader);
    self->left_out = is_same ? left_out : 0;
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
    script_bound(L, 3, "ltonumber\0ttostring\0");
    script_bound(L, 4,
                 "ffind\0pmatch\0ggmatch\0pgsub\0rrep\0llower\0lupper\0lreverse\0vbyte\0"
                 "aformat\0apack\0aunpack\0lpacksize\0");
    script_bound(L, 5, "iinsert\0dremove\0ssort\0mmove\0cconcat\0uunpack\0");
    script_bound(L, 6, "llen\0loffset\0vcodepoint\0ocodes\0");
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
    self->text = base_hash64(text, bytes, 0);
    if (!run_held(self, load_sandbox, &from, NULL)) self->state = NULL;
    if (!self->state) return;
    lua_gc(self->state, LUA_GCCOLLECT);
    if (self->role[0] == 's' && !keep_image(self)) self->state = NULL;
}
