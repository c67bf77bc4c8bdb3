-- SPDX-License-Identifier: MIT
--- A client of a Shoal server for LuaJIT (LÖVE, Defold, OpenResty, plain luajit): one file, nothing to build.
--
--     local shoal = require "shoal"
--     local client = shoal.Client("127.0.0.1:7777", {name = "Ada", flags = shoal.BOT})
--     for tick in client:play() do
--         for entity in client.world:entities("pos") do print(tick, entity, entity.pos.x) end
--         client.input.PadInput = {move = 127}
--     end
--
-- It loads libshoal_client.so (client/library/include/shoal_client.h) from SHOAL_LIBRARY, from the folders beside this
-- file, or from where the system looks. One thread of a process makes all calls.
local ffi = require "ffi"
local bit = require "bit"

-- Made from the header: tests/cxx/exports.sh compares them, and writes this again with --write.
ffi.cdef [[
enum { SHOAL_ABI_VERSION = 1 };
typedef struct shoal_client shoal_client;
typedef struct shoal_log shoal_log;
typedef struct shoal_world shoal_world;
typedef struct shoal_shape shoal_shape;
typedef uint32_t shoal_entity;
enum {
    SHOAL_OK = 0,
    SHOAL_ERR_MEMORY = -1,
    SHOAL_ERR_FULL = -2,
    SHOAL_ERR_SCHEMA = -5,
    SHOAL_ERR_CLOSED = -9,
    SHOAL_ERR_MODULE = -10,
    SHOAL_ERR_IO = -11,
    SHOAL_ERR_DAMAGED = -12,
    SHOAL_ERR_DIVERGED = -13,
    SHOAL_ERR_UNKNOWN = -14,
    SHOAL_ERR_VERSION = -16,
};
enum {
    SHOAL_ASKING = 0,
    SHOAL_CONNECTING = 1,
    SHOAL_PLAYING = 2,
    SHOAL_RESUMING = 3,
    SHOAL_ENDED = 4,
};
enum {
    SHOAL_END_NONE = 0,
    SHOAL_END_GOODBYE = 1,
    SHOAL_END_LEFT = 2,
    SHOAL_END_LOST = 3,
    SHOAL_END_UNREACHABLE = 4,
    SHOAL_END_REFUSED = 5,
    SHOAL_END_FAILED = 6,
    SHOAL_END_TRANSFERRED = 7,
};
enum {
    SHOAL_NEWEST = 0,
    SHOAL_SHOWN = 1,
};
enum {
    SHOAL_BOT = 1,
    SHOAL_THINK = 2,
    SHOAL_SHOW = 4,
    SHOAL_PREDICT = 8,
};
enum {
    SHOAL_BOOL = 0,
    SHOAL_I8 = 1,
    SHOAL_I16 = 2,
    SHOAL_I32 = 3,
    SHOAL_I64 = 4,
    SHOAL_U8 = 5,
    SHOAL_U16 = 6,
    SHOAL_U32 = 7,
    SHOAL_U64 = 8,
    SHOAL_F32 = 9,
    SHOAL_F64 = 10,
    SHOAL_HANDLE = 11,
};
enum {
    SHOAL_INPUT = 0,
    SHOAL_TO_SERVER = 1,
    SHOAL_TO_CLIENTS = 2,
};
uint32_t shoal_abi_version(void);
const char* shoal_version(void);
const char* shoal_result_text(int32_t result);
typedef void (*shoal_memory_fn)(void* context, size_t bytes);
void shoal_memory_handler_set(shoal_memory_fn handler, void* context);
typedef struct shoal_client_options {
    size_t size_bytes;
    const char* address;
    const char* name;
    const char* game;
    const char* game_path;
    const char* token;
    const char* network;
    void (*report)(void* context, const char* text);
    void* report_context;
    uint64_t seed;
    uint32_t flags;
    uint32_t rate_bytes_max;
} shoal_client_options;
shoal_client* shoal_client_create(const shoal_client_options* options);
void shoal_client_destroy(shoal_client* client);
int32_t shoal_client_service(shoal_client* client, uint32_t wait_ms);
void shoal_client_leave(shoal_client* client);
int32_t shoal_client_follow(shoal_client* client);
int32_t shoal_client_phase(const shoal_client* client);
int32_t shoal_client_end(const shoal_client* client);
const char* shoal_client_text(const shoal_client* client);
const char* shoal_client_game(const shoal_client* client);
uint32_t shoal_client_number(shoal_client* client);
uint64_t shoal_client_tick(const shoal_client* client);
uint32_t shoal_client_tick_rate(const shoal_client* client);
shoal_entity shoal_client_player(const shoal_client* client);
const char* shoal_client_player_name(const shoal_client* client, uint32_t number);
uint64_t shoal_client_hash(shoal_client* client);
int32_t shoal_client_figure(shoal_client* client, const char* name, double* value);
shoal_world* shoal_client_world(shoal_client* client, int32_t which);
int32_t shoal_client_frame(shoal_client* client);
double shoal_client_shown_tick(const shoal_client* client);
uint32_t shoal_client_message(const shoal_client* client, const char* name);
uint32_t shoal_client_message_count(const shoal_client* client);
const char* shoal_client_message_name(const shoal_client* client, uint32_t message);
int32_t shoal_client_message_kind(const shoal_client* client, uint32_t message);
const shoal_shape* shoal_client_message_shape(const shoal_client* client,
                                                        uint32_t message);
int32_t shoal_client_set(shoal_client* client, uint32_t message, int32_t field,
                                   const double* values, uint32_t count);
int32_t shoal_client_send(shoal_client* client, uint32_t message);
uint32_t shoal_client_next_event(shoal_client* client);
uint64_t shoal_client_event_tick(const shoal_client* client);
shoal_entity shoal_client_event_target(const shoal_client* client);
uint32_t shoal_client_event_read(const shoal_client* client, int32_t field,
                                           double* values, uint32_t capacity);
uint32_t shoal_world_component(const shoal_world* world, const char* name);
uint32_t shoal_world_component_count(const shoal_world* world);
const char* shoal_world_component_name(const shoal_world* world, uint32_t component);
const char* shoal_world_component_type(const shoal_world* world, uint32_t component);
const shoal_shape* shoal_world_component_shape(const shoal_world* world,
                                                         uint32_t component);
uint64_t shoal_world_tick(const shoal_world* world);
uint32_t shoal_world_entity_count(const shoal_world* world);
shoal_entity shoal_world_next(const shoal_world* world, uint32_t component,
                                        shoal_entity after);
int32_t shoal_world_has(const shoal_world* world, shoal_entity entity);
const char* shoal_world_template(const shoal_world* world, shoal_entity entity);
uint32_t shoal_world_read(const shoal_world* world, shoal_entity entity,
                                    uint32_t component, int32_t field, double* values,
                                    uint32_t capacity);
uint32_t shoal_world_read_whole(const shoal_world* world, shoal_entity entity,
                                          uint32_t component, int32_t field, int64_t* values,
                                          uint32_t capacity);
int32_t shoal_world_text(const shoal_world* world, shoal_entity entity,
                                   uint32_t component, char* text, size_t text_bytes);
int32_t shoal_shape_field(const shoal_shape* shape, const char* name);
uint32_t shoal_shape_field_count(const shoal_shape* shape);
const char* shoal_shape_field_name(const shoal_shape* shape, int32_t field);
int32_t shoal_shape_field_kind(const shoal_shape* shape, int32_t field);
uint32_t shoal_shape_field_elements(const shoal_shape* shape, int32_t field);
shoal_log* shoal_log_open(const char* file, const char* game, const char* game_path);
void shoal_log_close(shoal_log* log);
int32_t shoal_log_result(const shoal_log* log);
const char* shoal_log_text(const shoal_log* log);
const char* shoal_log_word(const shoal_log* log, const char* name);
int32_t shoal_log_number(const shoal_log* log, const char* name, uint64_t* value);
typedef int32_t (*shoal_line_fn)(void* context, const char* line);
int32_t shoal_log_lines(shoal_log* log, shoal_line_fn line, void* context);
int32_t shoal_log_step(shoal_log* log);
shoal_world* shoal_log_world(shoal_log* log);
uint64_t shoal_log_state_hash(shoal_log* log);
]]

-- Beside this file, in a lib or build/lib beside or above it, or where the system looks.
local function library_path()
    local named = os.getenv("SHOAL_LIBRARY")
    if named and named ~= "" then return named end
    local folder = debug.getinfo(1, "S").source:match("^@(.*)/") or "."
    for _ = 1, 6 do
        for _, place in ipairs {"/", "/lib/", "/build/lib/"} do
            local file = io.open(folder .. place .. "libshoal_client.so.1")
            if file then
                file:close()
                return folder .. place .. "libshoal_client.so.1"
            end
        end
        folder = folder .. "/.."
    end
    return "libshoal_client.so.1"
end

local path = library_path()
local C = ffi.load(path)
if C.shoal_abi_version() ~= C.SHOAL_ABI_VERSION then
    error(("%s has version %d of the ABI, not %d"):format(path, C.shoal_abi_version(), C.SHOAL_ABI_VERSION))
end

local END_NAMES = {[0] = "none", "goodbye", "left", "lost", "unreachable", "refused", "failed", "transferred"}

local function text_of(pointer)
    return pointer ~= nil and ffi.string(pointer) or nil
end

local function check(result)
    if result ~= C.SHOAL_OK then error(text_of(C.shoal_result_text(result)), 0) end
end

-- A class: attributes are computed when they are read, everything else is a method.
local function class(attributes, methods)
    return {__index = function(self, name)
        local attribute = attributes[name]
        if attribute then return attribute(self) end
        return methods[name]
    end}
end

-- The fields of a component or message, with room for the elements of the longest.
local function shape_of(pointer)
    local shape, longest = {}, 1
    for i = 0, C.shoal_shape_field_count(pointer) - 1 do
        local field = {name = text_of(C.shoal_shape_field_name(pointer, i)), at = i,
                       kind = C.shoal_shape_field_kind(pointer, i), count = C.shoal_shape_field_elements(pointer, i)}
        shape[i + 1], longest = field, math.max(longest, field.count)
    end
    shape.reals, shape.wholes = ffi.new("double[?]", longest), ffi.new("int64_t[?]", longest)
    shape.is_scalar = #shape == 1 and shape[1].name == "value"
    return shape
end

local function names_of(shape)
    local names = {}
    for i, field in ipairs(shape) do names[i] = field.name end
    return names
end

local function field_of(shape, name)
    for _, field in ipairs(shape) do
        if field.name == name then return field end
    end
    error(("no field '%s'; there are %s"):format(name, table.concat(names_of(shape), ", ")), 0)
end

local function is_wide(field) return field.kind == C.SHOAL_I64 or field.kind == C.SHOAL_U64 end

local function element(shape, field, i)
    if field.kind == C.SHOAL_I64 then return shape.wholes[i] end
    if field.kind == C.SHOAL_U64 then return ffi.cast("uint64_t", shape.wholes[i]) end
    if field.kind == C.SHOAL_BOOL then return shape.reals[i] ~= 0 end
    return shape.reals[i]
end

-- All fields: {x = 1, y = 2}; of a scalar its value. `read` fills shape.reals, of 64-bit fields shape.wholes.
-- nil: there is no value.
local function pack(shape, read)
    local result = {}
    for _, field in ipairs(shape) do
        if read(field) ~= field.count then return nil end
        local value = element(shape, field, 0)
        if field.count ~= 1 then
            value = {}
            for i = 1, field.count do value[i] = element(shape, field, i - 1) end
        end
        if shape.is_scalar then return value end
        result[field.name] = value
    end
    return result
end

-- ---- Entity: a handle in a world ----

local entity_attributes, entity_methods = {}, {}
-- entity.pos is {x = 1, y = 2}; nil: it has none. A name that the game does not have is an error.
local Entity = {
    __index = function(self, name)
        local attribute = entity_attributes[name]
        if attribute then return attribute(self) end
        return entity_methods[name] or self.world:_read(self, name)
    end,
    __eq = function(one, other) return one.handle == other.handle end,
    __tostring = function(self)
        return ("%d:%d"):format(bit.band(self.handle, 0x3FFFFF), bit.rshift(self.handle, 22))
    end,
}

local function entity_of(world, handle) return setmetatable({world = world, handle = handle}, Entity) end

function entity_attributes:template() return text_of(C.shoal_world_template(self.world._pointer, self.handle)) end
function entity_attributes:is_alive() return C.shoal_world_has(self.world._pointer, self.handle) == 1 end

--- The value of a component; nil where the entity or the game has none.
function entity_methods:get(component)
    if C.shoal_world_component(self.world._pointer, component) == 0 then return nil end
    return self.world:_read(self, component)
end

--- Does it live and have the component? Also for tags, which have no value.
function entity_methods:has(component)
    if C.shoal_world_component(self.world._pointer, component) == 0 then return false end
    if #self.world:fields(component) > 0 then return self:get(component) ~= nil end
    for other in self.world:entities(component) do
        if other == self then return true end
    end
    return false
end

--- Any value as text: "330,-550".
function entity_methods:text(component)
    local buffer = ffi.new("char[4096]")
    C.shoal_world_text(self.world._pointer, self.handle, self.world:_component(component).number, buffer, 4096)
    return ffi.string(buffer)
end

-- ---- World: entities, components and fields by name; values are those of the moment of the call ----

local world_attributes, world_methods = {}, {}
local World = class(world_attributes, world_methods)

function world_attributes:tick() return tonumber(C.shoal_world_tick(self._pointer)) end
function world_attributes:count() return C.shoal_world_entity_count(self._pointer) end

function world_methods:_component(name)
    local component = self._components[name]
    if component then return component end
    local number = C.shoal_world_component(self._pointer, name)
    if number == 0 then
        local names = {}
        for other in pairs(self:components()) do names[#names + 1] = other end
        table.sort(names)
        error(("the game has no component '%s'; it has %s"):format(name, table.concat(names, ", ")), 0)
    end
    component = {number = number, shape = shape_of(C.shoal_world_component_shape(self._pointer, number))}
    self._components[name] = component
    return component
end

function world_methods:_read(entity, name)
    local component = self:_component(name)
    local shape, number = component.shape, component.number
    if #shape == 0 then -- a type that only text can say
        local text = entity:text(name)
        return text ~= "" and text or nil
    end
    return pack(shape, function(field)
        if is_wide(field) then
            return C.shoal_world_read_whole(self._pointer, entity.handle, number, field.at, shape.wholes, field.count)
        end
        return C.shoal_world_read(self._pointer, entity.handle, number, field.at, shape.reals, field.count)
    end)
end

--- {pos = "p2", ...}
function world_methods:components()
    local types = {}
    for i = 1, C.shoal_world_component_count(self._pointer) do
        types[text_of(C.shoal_world_component_name(self._pointer, i))] =
            text_of(C.shoal_world_component_type(self._pointer, i))
    end
    return types
end

function world_methods:fields(component) return names_of(self:_component(component).shape) end

--- An entity by its handle (of a component, an event, another world); nil: it does not live here.
function world_methods:entity(handle)
    return C.shoal_world_has(self._pointer, handle) == 1 and entity_of(self, handle) or nil
end

--- All that have a component (nil: all), by rising index: for entity in world:entities("pos") do
function world_methods:entities(component)
    local number, handle = component and self:_component(component).number or 0, 0
    return function()
        handle = C.shoal_world_next(self._pointer, number, handle)
        return handle ~= 0 and entity_of(self, handle) or nil
    end
end

-- ---- Client: a player ----

local client_attributes, client_methods = {}, {}
local Client = class(client_attributes, client_methods)
local Event = {__index = function(self, field) return rawget(self, "values")[field] end}
-- client.input.PadInput = {move = 127}: sent in each tick until it is set again.
local Input = {__newindex = function(self, message, values) rawget(self, 1):_fill(message, values) end}

local shoal = {C = C}

--- Options by name: name, game, game_path, token, network, seed, flags, rate_bytes_max. Flags are added:
--- shoal.BOT, shoal.THINK, shoal.SHOW, shoal.PREDICT.
function shoal.Client(address, options)
    local given = ffi.new("shoal_client_options", {size_bytes = ffi.sizeof("shoal_client_options"), address = address})
    for name, value in pairs(options or {}) do
        if name:find("^report") then error("no report in Lua: client.text is the newest line", 2) end
        given[name] = value
    end
    local pointer = C.shoal_client_create(given)
    if pointer == nil then error("no client: out of memory, or no address", 2) end
    local client = {_pointer = ffi.gc(pointer, C.shoal_client_destroy), _worlds = {}, _messages = {}}
    client.input = setmetatable({client}, Input)
    return setmetatable(client, Client)
end

--- "0.1.0", of the library.
function shoal.version() return text_of(C.shoal_version()) end

--- End it now, without a goodbye. Its worlds are empty then.
function client_methods:close()
    if self._pointer ~= nil then C.shoal_client_destroy(ffi.gc(self._pointer, nil)) end
    self._pointer = nil
    for _, world in pairs(self._worlds) do world._pointer = nil end
end

--- Receive and run ticks; waits at most so long. Returns the phase. With 0: once a frame.
function client_methods:service(wait_ms) return C.shoal_client_service(self._pointer, wait_ms or 10) end

--- Each new tick until the session ends: for tick in client:play() do. An error says why it never began.
function client_methods:play(wait_ms)
    local newest, was_playing = 0, false
    return function()
        while self:service(wait_ms) ~= C.SHOAL_ENDED do
            if self.phase == C.SHOAL_PLAYING and self.tick > newest then
                newest, was_playing = self.tick, true
                return newest
            end
        end
        if not was_playing then error(self.text, 0) end
    end
end

--- After the end "transferred": play on in the match that the server named. Worlds and entities of before are gone.
function client_methods:follow()
    local result = C.shoal_client_follow(self._pointer)
    if result ~= C.SHOAL_OK then error(text_of(C.shoal_result_text(result)), 2) end
    for _, world in pairs(self._worlds) do world._pointer = nil end
    self._worlds, self._messages = {}, {}
end

--- Say goodbye, and wait for the end.
function client_methods:leave()
    C.shoal_client_leave(self._pointer)
    repeat until self:service(10) == C.SHOAL_ENDED
end

function client_attributes:phase() return C.shoal_client_phase(self._pointer) end
function client_attributes:ending() return END_NAMES[C.shoal_client_end(self._pointer)] end
function client_attributes:text() return text_of(C.shoal_client_text(self._pointer)) end
function client_attributes:game() return text_of(C.shoal_client_game(self._pointer)) end
function client_attributes:number() return C.shoal_client_number(self._pointer) end
function client_attributes:tick() return tonumber(C.shoal_client_tick(self._pointer)) end
function client_attributes:tick_rate() return C.shoal_client_tick_rate(self._pointer) end
function client_attributes:shown_tick() return C.shoal_client_shown_tick(self._pointer) end
--- 16 digits, as in the server's lines: a number of Lua cannot hold it.
function client_attributes:hash() return bit.tohex(C.shoal_client_hash(self._pointer), 16) end
function client_attributes:world() return self:_world(C.SHOAL_NEWEST) end
--- The player's own entity; nil before it is here.
function client_attributes:player()
    return self.world and self.world:entity(C.shoal_client_player(self._pointer))
end

function client_methods:_world(which)
    local pointer = C.shoal_client_world(self._pointer, which)
    if pointer == nil then return nil end
    local world = self._worlds[which]
    if not world or world._pointer ~= pointer then -- it holds the client, which owns the pointer
        world = setmetatable({_pointer = pointer, _client = self, _components = {}}, World)
        self._worlds[which] = world
    end
    return world
end

--- The world to draw at this moment (shoal.SHOW); nil while there is nothing to show.
function client_methods:frame()
    return C.shoal_client_frame(self._pointer) == 1 and self:_world(C.SHOAL_SHOWN) or nil
end

function client_methods:player_name(number) return text_of(C.shoal_client_player_name(self._pointer, number)) end

function client_methods:figure(name)
    local value = ffi.new("double[1]")
    local result = C.shoal_client_figure(self._pointer, name, value)
    if result ~= C.SHOAL_OK then error(("no figure '%s'"):format(name), 0) end
    return value[0]
end

--- Names of the game's messages; of one kind: shoal.INPUT, shoal.TO_SERVER, shoal.TO_CLIENTS.
function client_methods:messages(kind)
    local names = {}
    for i = 1, C.shoal_client_message_count(self._pointer) do
        if not kind or C.shoal_client_message_kind(self._pointer, i) == kind then
            names[#names + 1] = text_of(C.shoal_client_message_name(self._pointer, i))
        end
    end
    return names
end

function client_methods:_message(name)
    local message = self._messages[name]
    if message then return message end
    local number = C.shoal_client_message(self._pointer, name)
    if number == 0 then
        error(("the game has no message '%s'; it has %s"):format(name, table.concat(self:messages(), ", ")), 0)
    end
    message = {number = number, shape = shape_of(C.shoal_client_message_shape(self._pointer, number))}
    self._messages[name] = message
    return message
end

-- Numbers, truths, entities, and lists of them.
local function number_of(value)
    if type(value) == "boolean" then return value and 1 or 0 end
    return type(value) == "table" and value.handle or value
end

function client_methods:_fill(name, values)
    local message = self:_message(name)
    for field, value in pairs(values) do
        local list = type(value) == "table" and getmetatable(value) ~= Entity and value or {value}
        local numbers = ffi.new("double[?]", #list)
        for i, each in ipairs(list) do numbers[i - 1] = number_of(each) end
        check(C.shoal_client_set(self._pointer, message.number, field_of(message.shape, field).at, numbers, #list))
    end
    return message.number
end

--- Queue a message for the server. Returns false when the queue is full: try the next tick.
function client_methods:send(message, values)
    local result = C.shoal_client_send(self._pointer, self:_fill(message, values or {}))
    if result ~= C.SHOAL_ERR_FULL then check(result) end
    return result == C.SHOAL_OK
end

--- What came since the last call, oldest first: for event in client:events() do print(event.name, event.score)
function client_methods:events()
    return function()
        local number = C.shoal_client_next_event(self._pointer)
        if number == 0 then return nil end
        local name = text_of(C.shoal_client_message_name(self._pointer, number))
        local shape, target = self:_message(name).shape, C.shoal_client_event_target(self._pointer)
        local values = pack(shape, function(field)
            local count = C.shoal_client_event_read(self._pointer, field.at, shape.reals, field.count)
            for i = 0, is_wide(field) and count - 1 or -1 do shape.wholes[i] = shape.reals[i] end
            return count
        end)
        return setmetatable({name = name, tick = tonumber(C.shoal_client_event_tick(self._pointer)), values = values,
                             target = target ~= 0 and entity_of(self.world, target) or nil}, Event)
    end
end

-- shoal.PLAYING is SHOAL_PLAYING of the header, and so on.
return setmetatable(shoal, {__index = function(_, name) return C["SHOAL_" .. name] end})
