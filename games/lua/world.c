// SPDX-License-Identifier: MIT
// The world and the picture as a script sees them. An entity is its handle, a whole number, and
// e.pos goes by the metatable of numbers. A component of one number or a text is that value. One of
// several numbers is a view, a userdata of entity and component, which reads and writes through. It
// stays the same one as long as a script has it, so it is equal to itself, and a key.
#include "script.h"

#include "base/math.h"
#include "base/report.h"
#include "base/text.h"
#include "net/draw.h"

#include <string.h>

static const char views_key; // of the registry: the views that a script has, by their bits

typedef struct value {
    _Alignas(16) uint8_t bytes[sizeof(ecs_vec4)];
} value;

#define INITS_MAX 32u
#define NAMES_MAX 8 // of each()
#define SAID_STEPS 1000
#define COPIED_PER_STEP 16 // entities, bytes of a text
#define PASSED_STEPS 4     // an entity that each() passes by

ecs_result script_find_names(script* self, ecs_world* world) {
    self->world = world;
    self->component_count = ecs_component_count(world);
    self->template_count = ecs_template_count(world);
    const size_t count = self->component_count + 1;
    self->queries = ecs_world_context(world, count * sizeof *self->queries);
    self->types = ecs_world_context(world, count * sizeof *self->types);
    self->quants =
        ecs_world_context(world, count * (self->template_count + 1) * sizeof *self->quants);
    self->is_sent = ecs_world_context(world, count * sizeof *self->is_sent);
    ecs_result result = ECS_OK;
    for (ecs_component_id i = 1; i < count && !result; i++) {
        const ecs_component* one = ecs_component_get(world, i);
        self->types[i] = ecs_type_get(world, one->type);
        const ecs_term term = {one->name, self->types[i]->name, ECS_REQUIRE};
        result = ecs_query_create(world, &term, 1, &self->queries[i]);
    }
    for (ecs_template_id t = 1; t <= self->template_count; t++) {
        const ecs_template* one = ecs_template_get(world, t);
        for (uint32_t i = 0; i < one->component_count; i++) {
            self->is_sent[one->components[i].component] |= one->is_replicated;
            if (one->components[i].quant.bits > 0)
                self->quants[t * count + one->components[i].component] = &one->components[i].quant;
        }
    }
    return result;
}

static const ecs_quant* quant_of(const script* self, ecs_template_id of, ecs_component_id id) {
    return of > self->template_count ? NULL : self->quants[of * (self->component_count + 1u) + id];
}

static ecs_entity check_entity(lua_State* L, int index) {
    const lua_Integer entity = lua_isnil(L, index) ? 0 : luaL_checkinteger(L, index);
    luaL_argcheck(L, entity >= 0 && entity <= UINT32_MAX, index, "this number is not an entity");
    return (ecs_entity)entity;
}

// The id of a name, from the function's upvalue: 1 has components, 2 templates.
static uint16_t check_name(lua_State* L, int index, int upvalue) {
    luaL_checktype(L, index, LUA_TSTRING);
    lua_pushvalue(L, index);
    if (lua_rawget(L, lua_upvalueindex(upvalue)) != LUA_TNIL) {
        const uint16_t id = (uint16_t)lua_tointeger(L, -1);
        lua_pop(L, 1);
        return id;
    }
    char hint[BASE_HINT_BYTES];
    base_nearest nearest = base_nearest_begin(lua_tostring(L, index));
    for (; lua_next(L, lua_upvalueindex(upvalue)); lua_pop(L, 1))
        base_nearest_offer(&nearest, lua_tostring(L, -2));
    return (uint16_t)luaL_error(L, "there is no %s '%s'%s", upvalue == 1 ? "component" : "template",
                                lua_tostring(L, index), base_nearest_hint(&nearest, hint));
}

// ---- values ----

static void push_number(lua_State* L, const ecs_field* field, const void* memory) {
    const ecs_number number = ecs_number_get(field->kind, memory);
    if (field->kind == ECS_FIELD_BOOL)
        lua_pushboolean(L, number.natural != 0);
    else if (field->kind == ECS_FIELD_F32 || field->kind == ECS_FIELD_F64)
        lua_pushnumber(L, number.real);
    else if (field->kind == ECS_FIELD_ENTITY && number.natural == ECS_ENTITY_NONE)
        lua_pushnil(L);
    else
        lua_pushinteger(L, (lua_Integer)number.natural);
}

static void refuse_value(lua_State* L, int index, const char* name, const char* needed) {
    const bool is_text = lua_type(L, index) == LUA_TSTRING;
    luaL_error(L, "%s cannot become %s%s%s: it needs %s", name, is_text ? "the text '" : "",
               lua_isnumber(L, index) && !is_text && !lua_rawequal(L, index, index) ? "0/0"
               : lua_istable(L, index)                                              ? "a table"
                                       : luaL_tolstring(L, index, NULL),
               is_text ? "'" : "", needed);
}

// A number that is rounded for clients is rounded here, so that a prediction goes on from the same.
static void put_number(lua_State* L, int index, const char* name, const ecs_field* field,
                       const ecs_quant* quant, void* memory) {
    ecs_number number = {.kind = ECS_FIELD_I64};
    const bool is_entity = field->kind == ECS_FIELD_ENTITY;
    int is_right = true;
    if (!lua_isnumber(L, index) && field->kind == ECS_FIELD_BOOL) {
        number.whole = lua_toboolean(L, index);
    } else if (lua_isinteger(L, index) || is_entity) {
        number.whole = lua_tointegerx(L, index, &is_right);
        is_right = is_right || lua_isnil(L, index);
    } else {
        number = (ecs_number){.kind = ECS_FIELD_F64, .real = lua_tonumberx(L, index, &is_right)};
        is_right = is_right && number.real == number.real;
    }
    const bool is_real = field->kind == ECS_FIELD_F32 || field->kind == ECS_FIELD_F64;
    if (!is_right)
        refuse_value(L, index, name,
                     is_entity ? "an entity or nil"
                     : is_real ? "a number"
                               : "a whole number");
    (void)ecs_number_put(field->kind, memory, &number);
    if (quant && field->kind == ECS_FIELD_F32)
        *(float*)memory = ecs_quantise(quant, *(float*)memory);
}

typedef struct view {
    ecs_entity entity;
    ecs_component_id id;
    const ecs_type* type;
    void* cell;
} view;

static void push_view(lua_State* L, uint64_t bits) {
    lua_rawgetp(L, LUA_REGISTRYINDEX, &views_key);
    if (lua_rawgeti(L, -1, (lua_Integer)bits) == LUA_TNIL) {
        lua_pop(L, 1);
        *(uint64_t*)lua_newuserdatauv(L, sizeof bits, 0) = bits;
        lua_getmetatable(L, -2);
        lua_setmetatable(L, -2);
        lua_pushvalue(L, -1);
        lua_rawseti(L, -3, (lua_Integer)bits);
    }
    lua_remove(L, -2);
}

static view check_view(lua_State* L, int index, bool is_write) {
    const script* self = script_of(L);
    const uint64_t bits = *(const uint64_t*)lua_touserdata(L, index);
    view of = {.entity = (ecs_entity)bits, .id = (ecs_component_id)(bits >> 32)};
    of.type = self->types[of.id];
    of.cell = is_write ? ecs_find_mut(self->world, of.entity, of.id)
                       : (void*)(uintptr_t)ecs_find(self->world, of.entity, of.id);
    if (!of.cell) luaL_error(L, "its entity is gone, or has no such component now");
    return of;
}

// Numbers from `index` on, {1, 2}, {x = 1, y = 2}, such a component, or a text, which is borrowed.
static void read_value(lua_State* L, int index, const char* name, const ecs_type* type,
                       const ecs_quant* quant, value* target) {
    const bool is_view = lua_isuserdata(L, index), is_table = lua_istable(L, index);
    *target = (value){0};
    if (type->id == ECS_ELEMENT_T) {
        size_t bytes;
        if (lua_type(L, index) != LUA_TSTRING) // the text of a number may be freed
            refuse_value(L, index, name, "a text: tostring(x) makes one of a number");
        char* text = (char*)(uintptr_t)lua_tolstring(L, index, &bytes);
        if (!ecs_string_is_valid(text, bytes))
            luaL_error(L, "%s: %s", name, ecs_result_text(ECS_ERR_TEXT));
        script_count_steps(L, (double)bytes / COPIED_PER_STEP);
        memcpy(target, &(ecs_string){text, (uint32_t)bytes, 0}, sizeof(ecs_string));
        return;
    }
    if (type->ops || type->size > sizeof *target)
        luaL_error(L, "a %s is none of the types that a script has", type->name);
    const view from = is_view ? check_view(L, index, false) : (view){.type = type};
    if (from.type != type) luaL_error(L, "a %s cannot become a %s", from.type->name, type->name);
    for (uint32_t i = 0; i < type->field_count; i++, lua_pop(L, 1)) {
        const ecs_field* field = &type->fields[i];
        if (is_view) {
            push_number(L, field, (uint8_t*)from.cell + field->offset);
        } else if (!is_table) {
            lua_pushvalue(L, index + (int)i);
        } else if (lua_getfield(L, index, field->name) == LUA_TNIL) {
            lua_pop(L, 1);
            lua_geti(L, index, i + 1);
        }
        put_number(L, lua_gettop(L), type->field_count > 1 ? field->name : name, field, quant,
                   target->bytes + field->offset);
    }
}

// @return false, with nil: the entity has it not, or is gone.
static bool push_component(lua_State* L, ecs_entity entity, ecs_component_id id) {
    const script* self = script_of(L);
    const ecs_type* type = self->types[id];
    const void* cell = ecs_find(self->world, entity, id);
    bool is_there = cell != NULL;
    if (type->size == 0) { // a tag has no cell
        const ecs_template_id of = ecs_entity_template(self->world, entity);
        is_there = of && ecs_template_find_component(ecs_template_get(self->world, of), id);
    }
    if (!is_there)
        lua_pushnil(L);
    else if (type->size == 0)
        lua_pushboolean(L, true);
    else if (type->id == ECS_ELEMENT_T)
        lua_pushstring(L, ecs_string_text(cell));
    else if (type->field_count == 1 && type->fields[0].count == 1)
        push_number(L, &type->fields[0], cell);
    else
        push_view(L, (uint64_t)id << 32 | entity);
    return is_there;
}

// A world of a client only shows; what comes and goes is the server's alone.
static script* check_writes(lua_State* L, bool is_structure) {
    script* self = script_of(L);
    if (self->view || self->role[0] == 'c' || (is_structure && self->role[0] != 's'))
        luaL_error(L, "only the server does this: send it by an input, or ask `if server then`");
    return self;
}

// ---- e.pos, e.pos.x, get(e, "pos"), set(e, "pos", x, y) ----

static int read_entity(lua_State* L) {
    (void)push_component(L, check_entity(L, 1), check_name(L, 2, 1));
    return 1;
}

static int write_entity(lua_State* L) {
    script* self = check_writes(L, false);
    const ecs_entity entity = check_entity(L, 1);
    const ecs_component_id id = check_name(L, 2, 1);
    value one;
    read_value(L, 3, lua_tostring(L, 2), self->types[id],
               quant_of(self, ecs_entity_template(self->world, entity), id), &one);
    const ecs_result result = ecs_set(self->world, entity, id, &one);
    if (result) luaL_error(L, "%s: %s", lua_tostring(L, 2), ecs_result_text(result));
    return 0;
}

static int read_numbers(lua_State* L) {
    (void)read_entity(L);
    if (!lua_isuserdata(L, -1)) return 1;
    const view of = check_view(L, -1, false);
    for (uint32_t i = 0; i < of.type->field_count; i++)
        push_number(L, &of.type->fields[i], (uint8_t*)of.cell + of.type->fields[i].offset);
    return (int)of.type->field_count;
}

static const ecs_field* check_field(lua_State* L, const ecs_type* type) {
    const char* name = luaL_checkstring(L, 2);
    for (uint32_t i = 0; i < type->field_count; i++)
        if (strcmp(type->fields[i].name, name) == 0) return &type->fields[i];
    luaL_error(L, "a %s has no field '%s'", type->name, name);
    return NULL;
}

static int read_view(lua_State* L) {
    const view of = check_view(L, 1, false);
    const ecs_field* field = check_field(L, of.type);
    push_number(L, field, (uint8_t*)of.cell + field->offset);
    return 1;
}

static int write_view(lua_State* L) {
    const script* self = check_writes(L, false);
    const view of = check_view(L, 1, true);
    const ecs_field* field = check_field(L, of.type);
    put_number(L, 3, field->name, field,
               quant_of(self, ecs_entity_template(self->world, of.entity), of.id),
               (uint8_t*)of.cell + field->offset);
    return 0;
}

// ---- entities ----

static int kind(lua_State* L) {
    const ecs_entity entity = lua_isinteger(L, 1) ? check_entity(L, 1) : ECS_ENTITY_NONE;
    lua_pushstring(L, ecs_entity_template_name(script_of(L)->world, entity)); // NULL: nil
    return 1;
}

static int create(lua_State* L) {
    const script* self = check_writes(L, true);
    const ecs_template_id of = check_name(L, 1, 2);
    value values[INITS_MAX];
    ecs_init inits[INITS_MAX];
    uint32_t count = 0;
    lua_settop(L, 2);
    if (luaL_getmetafield(L, 2, "__had") != LUA_TNIL) lua_replace(L, 2); // a constant's content
    luaL_checkstack(L, INITS_MAX + LUA_MINSTACK, NULL);
    for (lua_pushnil(L); lua_istable(L, 2) && lua_next(L, 2); count++) {
        luaL_argcheck(L, count < INITS_MAX, 2, "too many components");
        const int at = lua_gettop(L);
        const ecs_component_id id = check_name(L, at - 1, 1);
        read_value(L, at, lua_tostring(L, at - 1), self->types[id], quant_of(self, of, id),
                   &values[count]);
        inits[count] = (ecs_init){id, &values[count]};
        lua_insert(L, at - 1); // a text is borrowed until it was created
    }
    ecs_entity made = ECS_ENTITY_NONE;
    ecs_result result = ECS_ERR_FULL;
    if (self->is_in_stage)
        made = ecs_command_create(self->world, of, inits, count);
    else
        result = ecs_create(self->world, of, inits, count, &made);
    if (made == ECS_ENTITY_NONE)
        luaL_error(L, "create '%s': %s", lua_tostring(L, 1), ecs_result_text(result));
    lua_pushinteger(L, made);
    return 1;
}

static int destroy(lua_State* L) {
    const script* self = check_writes(L, true);
    if (self->is_in_stage)
        (void)ecs_command_destroy(self->world, check_entity(L, 1));
    else
        (void)!ecs_destroy(self->world, check_entity(L, 1));
    return 0;
}

// each("pos", "vel", "!dead"): in the order of the rows of the first. The entities are those of
// its begin, so the loop may create and destroy.
typedef struct walk {
    uint32_t count, at, name_count;
    ecs_component_id names[NAMES_MAX];
    bool is_without[NAMES_MAX];
    ecs_entity entities[];
} walk;

static int each_next(lua_State* L) {
    walk* over = lua_touserdata(L, lua_upvalueindex(1));
    const uint32_t begin = over->at + 1;
    while (over->at < over->count) {
        bool is_match = true;
        lua_settop(L, 0);
        lua_pushinteger(L, over->entities[over->at]);
        for (uint32_t i = 0; i < over->name_count && is_match; i++) {
            is_match =
                push_component(L, over->entities[over->at], over->names[i]) != over->is_without[i];
            if (over->is_without[i]) lua_pop(L, 1);
        }
        over->at++;
        if (!is_match) continue;
        if (over->at > begin) script_count_steps(L, PASSED_STEPS * (double)(over->at - begin));
        return lua_gettop(L);
    }
    if (over->at > begin) script_count_steps(L, PASSED_STEPS * (double)(over->at - begin));
    return 0;
}

static int each(lua_State* L) {
    const script* self = script_of(L);
    walk made = {.name_count = (uint32_t)lua_gettop(L)};
    luaL_argcheck(L, made.name_count <= NAMES_MAX, NAMES_MAX + 1, "too many names");
    for (uint32_t i = 0; i < made.name_count || i == 0; i++) {
        const int index = (int)i + 1;
        const char* name = luaL_checkstring(L, index);
        made.is_without[i] = name[0] == '!' && i > 0;
        lua_pushstring(L, name + made.is_without[i]);
        lua_replace(L, index);
        made.names[i] = check_name(L, index, 1);
        if (self->role[0] != 's' && !made.is_without[i] && !self->is_sent[made.names[i]])
            luaL_error(L,
                       "no client has a '%s': add _replicate:b=yes in the .blk, or ask `if "
                       "server then`",
                       lua_tostring(L, index));
    }
    ecs_query* query = self->queries[made.names[0]];
    const size_t room = ecs_query_count(self->world, query);
    script_count_steps(L, (double)room / COPIED_PER_STEP);
    walk* over = lua_newuserdatauv(L, sizeof made + room * sizeof made.entities[0], 0);
    memcpy(over, &made, sizeof made);
    for (ecs_query_iter it = ecs_query_begin(self->world, query); ecs_query_next(&it);) {
        memcpy(over->entities + over->count, it.rows.entities, it.rows.count * sizeof(ecs_entity));
        over->count += it.rows.count;
    }
    lua_pushcclosure(L, each_next, 1);
    return 1;
}

// ---- chance, messages ----

static int draw_random(lua_State* L) { // low and high, or none
    base_rng* rng = script_of(L)->rng;
    if (!rng)
        luaL_error(L, "no random numbers here: draw them in on_tick, keep them in a component");
    if (lua_isnoneornil(L, 1)) {
        lua_pushnumber(L, (double)base_rng_float(rng));
        return 1;
    }
    const lua_Integer low = luaL_checkinteger(L, 1), high = luaL_checkinteger(L, 2);
    luaL_argcheck(L, low <= high && low >= INT32_MIN && high <= INT32_MAX, 2, "an empty range");
    lua_pushinteger(L, base_rng_range(rng, (int32_t)low, (int32_t)high));
    return 1;
}

// What a peer would refuse: its session would end, or the message be lost.
static void check_text(lua_State* L, int index, char* target, size_t room) {
    size_t bytes;
    const char* text = luaL_optlstring(L, index, "", &bytes);
    const bool is_right = base_text_is_utf8(text, bytes);
    if (!is_right || !base_text_copy(target, room, text))
        luaL_error(L, "the message's %s has %s: text_cut(text, %d) cuts it between two letters",
                   index == 2 ? "name" : "text",
                   is_right ? "too many bytes" : "a NUL or half a letter in it", (int)room - 1);
}

// send(entity or nil, name, a, b, c, d, text): from the server to clients, else to the server.
static int send(lua_State* L) {
    const script* self = script_of(L);
    script_message message = {.entity = check_entity(L, 1)};
    double* const numbers[] = {&message.a, &message.b, &message.c, &message.d};
    (void)luaL_checkstring(L, 2);
    check_text(L, 2, message.name, sizeof message.name);
    check_text(L, 7, message.text, sizeof message.text);
    for (int i = 0; i < (int)BASE_COUNT(numbers); i++) {
        *numbers[i] = luaL_optnumber(L, 3 + i, 0);
        luaL_argcheck(L, *numbers[i] - *numbers[i] == 0, 3 + i, "the number is not finite");
    }
    if (self->view)
        lua_pushboolean(L, self->view->send &&
                               self->view->send(self->view->sender, SCRIPT_ASK, &message));
    else if (check_writes(L, true) && message.entity != ECS_ENTITY_NONE)
        lua_pushboolean(L, ecs_event_send(self->world, message.entity, self->tell, &message));
    else
        lua_pushboolean(L, ecs_event_broadcast(self->world, self->tell, &message));
    return 1;
}

// To the program: "end" ends the match with this reason, "say" prints a line, "fault" is one.
static int call_program(lua_State* L) {
    script* self = script_of(L);
    const net_game_services* services = self->services;
    const char* what = luaL_checkstring(L, 1);
    const char* text = luaL_checkstring(L, 2);
    const base_reporter plain = base_reporter_stderr();
    script_count_steps(L, SAID_STEPS);
    if (what[0] == 's') base_report(&plain, NULL, 0, "note: %s", text);
    if (what[0] == 'e' && services) services->end_match(services->context, text);
    if (what[0] == 'f') script_report(self, text, NULL);
    return 0;
}

// To the match's host: publish(key, value), open(yes), result(bytes), transfer(client, to, bytes),
// keep_record(client, bytes), as the services of the same names. @return was it done?
static int call_host(lua_State* L) {
    const net_game_services* to = script_of(L)->services;
    const char* what = luaL_checkstring(L, 1);
    const bool is_of_player = what[0] == 't' || what[0] == 'k';
    const uint32_t client = is_of_player ? (uint32_t)luaL_checkinteger(L, 2) : 0;
    const int last = what[0] == 'p' || what[0] == 'k' ? 3 : what[0] == 't' ? 4 : 2;
    size_t size = 0;
    const char* bytes = what[0] == 'o' ? NULL : luaL_optlstring(L, last, "", &size);
    bool is_done = to != NULL;
    script_count_steps(L, (double)size);
    if (!to) // a client's world
        is_done = false;
    else if (what[0] == 'p')
        is_done = to->publish(to->context, luaL_checkstring(L, 2), bytes);
    else if (what[0] == 'o')
        to->open(to->context, lua_toboolean(L, 2));
    else if (what[0] == 'r')
        is_done = to->result(to->context, bytes, size);
    else if (what[0] == 't')
        is_done = to->transfer(to->context, client, luaL_checkstring(L, 3), bytes, size);
    else
        is_done = to->keep_record(to->context, client, bytes, size);
    lua_pushboolean(L, is_done);
    return 1;
}

static int player_name(lua_State* L) { // nil: none plays
    const script* self = script_of(L);
    const lua_Integer client = luaL_checkinteger(L, 1);
    lua_pushstring(L, self->names ? self->player_name(self->names, (uint32_t)client) : NULL);
    return 1;
}

// label(i, text): of button i, as `actions` of the script has it; sandbox.lua checked both.
static int label(lua_State* L) {
    const script* self = script_of(L);
    if (self->labels)
        (void)base_text_copy(self->labels[luaL_checkinteger(L, 1) - 1].text, sizeof *self->labels,
                             luaL_checkstring(L, 2));
    return 0;
}

// ---- the picture: rect, circle, line (numbers, 0xRRGGBB[, how opaque]), text, sprite, view ----

static int draw(lua_State* L) {
    const net_draw* to = script_of(L)->draw;
    const char what = luaL_checkstring(L, 1)[0];
    const int count = what == 'r' ? 4 : what == 'l' || what == 's' ? 5 : 3;
    float n[5] = {0};
    if (!to) luaL_error(L, "only draw() draws");
    for (int i = 0; i < count; i++)
        n[i] = (float)luaL_checknumber(L, 2 + i);
    const float frame = what == 's' ? n[4] : 0;
    luaL_argcheck(L, frame >= 0 && frame < 0x1p31f, 6, "the frame is negative or too large");
    if (what == 'v') net_draw_camera(to, n[0], n[1], n[2]);
    if (what == 's')
        net_draw_sprite(to, (net_sprite){.x = n[0],
                                         .y = n[1],
                                         .width = n[2],
                                         .angle = n[3],
                                         .frame = (uint32_t)n[4],
                                         .image = luaL_checkstring(L, 7),
                                         .columns = (uint32_t)luaL_optinteger(L, 8, 0)});
    if (what == 'v' || what == 's') return 0;
    const lua_Integer rgb = luaL_checkinteger(L, 2 + count);
    const float opaque = what == 't' ? 1 : (float)luaL_optnumber(L, 3 + count, 1);
    const ecs_color color = {(uint8_t)(rgb >> 16), (uint8_t)(rgb >> 8), (uint8_t)rgb,
                             (uint8_t)(opaque > 0 ? base_min(opaque, 1) * 255 : 0)};
    if (what == 'r') to->rect(to->context, n[0], n[1], n[2], n[3], color);
    if (what == 'c') to->circle(to->context, n[0], n[1], n[2], color);
    if (what == 'l') to->line(to->context, n[0], n[1], n[2], n[3], n[4], color);
    if (what != 't') return 0;
    size_t bytes;
    const char* text = luaL_checklstring(L, 6, &bytes);
    script_count_steps(L, (double)bytes);
    const float part = (float)luaL_optnumber(L, 7, 0); // 0.5: x is its middle, 1: its end
    n[0] -= part * to->text_width(to->context, n[2], text);
    to->text(to->context, n[0], n[1], n[2], color, text);
    return 0;
}

// ---- tables ----

static void set_functions(lua_State* L, const luaL_Reg* functions) {
    ecs_world* world = script_of(L)->world;
    lua_newtable(L);
    lua_newtable(L);
    for (ecs_component_id i = 1; i <= ecs_component_count(world); i++) {
        lua_pushinteger(L, i);
        lua_setfield(L, -2, ecs_component_get(world, i)->name);
    }
    lua_newtable(L);
    for (ecs_template_id i = 1; i <= ecs_template_count(world); i++) {
        lua_pushinteger(L, i);
        lua_setfield(L, -2, ecs_template_get(world, i)->name);
    }
    luaL_setfuncs(L, functions, 2);
}

void script_push_world(lua_State* L) {
    static const luaL_Reg functions[] = {
        {"get", read_numbers},   {"set", write_entity}, {"kind", kind},
        {"create", create},      {"destroy", destroy},  {"each", each},
        {"random", draw_random}, {"send", send},        {"program", call_program},
        {"host", call_host},     {"draw", draw},        {"player_name", player_name},
        {"label", label},        {NULL, NULL}};
    static const luaL_Reg of_entity[] = {
        {"__index", read_entity}, {"__newindex", write_entity}, {NULL, NULL}};
    static const luaL_Reg of_view[] = {
        {"__index", read_view}, {"__newindex", write_view}, {NULL, NULL}};
    lua_pushinteger(L, 0);
    set_functions(L, of_entity);
    lua_setmetatable(L, -2); // of all numbers
    lua_pop(L, 1);
    lua_newtable(L);
    set_functions(L, of_view);
    lua_pushstring(L, "v"); // of the table, which does not keep them; each has its metatable
    lua_setfield(L, -2, "__mode");
    lua_setmetatable(L, -2);
    lua_rawsetp(L, LUA_REGISTRYINDEX, &views_key);
    set_functions(L, functions);
    lua_pushstring(L, script_of(L)->role);
    lua_setfield(L, -2, "role");
    lua_pushnumber(L, script_of(L)->dt);
    lua_setfield(L, -2, "dt");
}
