-- What a script finds instead of Lua's own globals. script.c runs this file once in each state, before the script.
-- A script may not keep anything from one call to the next, so when it is loaded
--   its tables become empty ones that lead to what they had, and refuse to be written (freeze),
--   its locals are remembered, and guard() gives them back after each call.
local base, string, table, utf8, debug, math, api, text = ...
local file = "rules.lua"
local type, error, next, load, rawset, setmeta, select =
    base.type, base.error, base.next, base.load, base.rawset, base.setmetatable, base.select
local rawequal, number_kind = base.rawequal, math.number_kind
local sort, getupvalue, setupvalue = table.sort, debug.getupvalue, debug.setupvalue
local globals, is_loaded, actions_line = {}, false, 0
local content, free = {}, {} -- of frozen tables what they had; tables that stay open

-- Numbers in their order, then strings in that of their bytes.
local function less(a, b)
    local is_number = type(a) == "number"
    if is_number ~= (type(b) == "number") then return is_number end
    return a < b
end

function globals.pairs(t)
    if type(t) ~= "table" then error("pairs takes a table, not a " .. type(t), 2) end
    local keys, count = {}, 0
    for key in next, content[t] or t do
        local kind = type(key)
        if kind ~= "number" and kind ~= "string" then
            error("pairs: a key is a " .. kind .. ", which has no order: use numbers or strings as keys", 2)
        end
        count = count + 1
        keys[count] = key
    end
    sort(keys, less)
    local at = 0
    return function()
        while at < count do
            at = at + 1
            local value = t[keys[at]]
            if value ~= nil then return keys[at], value end
        end
    end
end

local function copy(from)
    local made = {}
    for key, value in next, from do made[key] = value end
    return made
end

-- How many tables lead to a table by __index (__newindex, __call): Lua follows them all in one instruction.
local leads = { __index = {}, __newindex = {}, __call = {} }
for _, counts in next, leads do setmeta(counts, { __mode = "k" }) end
local function count_leads(name, counts, t, to)
    local count = (counts[t] or 0) + 1
    while type(to) == "table" and count > (counts[to] or 0) do
        if count > 10 then error("setmetatable: more than 10 tables lead to this one by " .. name, 3) end
        counts[to], count = count, count + 1
        local meta = debug.getmetatable(to)
        to = meta and base.rawget(meta, name)
    end
end

-- The copy cannot be changed later. __gc and __mode would make chance visible, __close would go on after a fault.
function globals.setmetatable(t, meta)
    if type(t) ~= "table" or content[t] then error("setmetatable takes a table that may be changed", 2) end
    if meta == nil then return setmeta(t, nil) end
    local from = content[meta] or meta
    if from.__gc ~= nil or from.__mode ~= nil then
        error("setmetatable: __gc and __mode depend on the collector, and are not here", 2)
    elseif from.__close ~= nil then
        error("setmetatable: a fault ends the call at once, so __close is not here", 2)
    end
    for name, counts in next, leads do count_leads(name, counts, t, from[name]) end
    local made = copy(from)
    made.__metatable, made.__had = false, nil
    return setmeta(t, made)
end

local function floor(x)
    local whole = x // 1
    if whole >= -0x1p62 and whole <= 0x1p62 then return whole | 0 end
    return whole
end
math.floor, math.pi, math.huge = floor, 3.141592653589793, 1 / 0
math.number_kind = nil
math.maxinteger, math.mininteger = 0x7fffffffffffffff, ~0x7fffffffffffffff
-- ln(x) = 2 (s + s^3 / 3 + ...) with s = (x - 1) / (x + 1), for an x between 0.7 and 1.4 that halving gives.
function math.log(x)
    if not (x > 0) then return x == 0 and -1 / 0 or 0 / 0 end
    if x == 1 / 0 then return x end
    local halves, sum = 0, 0
    while x > 1.42 do x, halves = x / 2, halves + 1 end
    while x < 0.71 do x, halves = x * 2, halves - 1 end
    local s = (x - 1) / (x + 1)
    for k = 25, 1, -2 do sum = sum * s * s + 1 / k end
    return halves * 0.6931471805599453 + 2 * s * sum
end
function math.exp(x) return 2.718281828459045 ^ x end
function math.ceil(x) return -floor(-x) end
function math.abs(x) if x < 0 then return -x end return x end

string.dump = nil
for _, name in base.ipairs({ "assert", "error", "ipairs", "select", "tonumber", "tostring", "type", "rawequal" }) do
    globals[name] = base[name]
end
globals.string, globals.table, globals.utf8, globals.math = string, table, utf8, math
-- ---- the world; world.c has what these call ----

local tick, time = 0, 0.0
for _, name in base.ipairs({ "get", "set", "kind", "create", "destroy", "each" }) do globals[name] = api[name] end
globals.server, globals.dt = api.role == "server", api.dt
function globals.tick() return tick end
function globals.time() return time end
-- The tick in so many seconds, for a component: e.boom = after(3), and in on_tick: tick() == e.boom.
function globals.after(seconds)
    if type(seconds) ~= "number" or seconds ~= seconds then error("after takes seconds", 2) end
    local ticks = floor(seconds / api.dt + 0.5)
    return tick + (ticks > 1 and ticks or 1)
end
function globals.alive(e) return api.kind(e) ~= nil end
function globals.end_match(reason) api.program("end", reason) end
function globals.publish(key, value) return api.host("publish", key, value) end
function globals.open(yes) return api.host("open", yes) end
function globals.result(bytes) return api.host("result", bytes) end
function globals.transfer(client, to, bytes) return api.host("transfer", client, to, bytes) end
function globals.keep_record(client, bytes) return api.host("keep_record", client, bytes) end
function globals.player_name(client) return api.player_name(client) or "" end
function globals.random(low, high)
    if high == nil and low ~= nil then return api.random(1, low) end
    return api.random(low, high)
end
-- The begin of a text, of at most so many bytes, that ends between two letters of UTF-8.
function globals.text_cut(text, bytes)
    if type(text) ~= "string" or type(bytes) ~= "number" or bytes ~= floor(bytes) then
        error("text_cut takes a text and a whole number of bytes", 2)
    end
    while bytes > 0 and (string.byte(text, bytes + 1) or 0) & 0xC0 == 0x80 do bytes = bytes - 1 end
    return string.sub(text, 1, bytes > 0 and bytes or 0)
end
function globals.print(...)
    local line = debug.getinfo(2, "Sl")
    local words = { line.short_src .. ":" .. line.currentline .. ":" }
    for _, word in base.ipairs({ ... }) do words[#words + 1] = base.tostring(word) end
    api.program("say", table.concat(words, " "))
end
if globals.server then
    globals.tell = api.send
else -- where a player is, who may be predicted
    globals.memory, globals.ask = {}, api.send
    free[globals.memory] = true
end
if api.role == "client" then
    local draw = api.draw
    function globals.rect(x, y, width, height, color, opaque) draw("r", x, y, width, height, color, opaque) end
    function globals.circle(x, y, radius, color, opaque) draw("c", x, y, radius, color, opaque) end
    function globals.line(x0, y0, x1, y1, width, color, opaque) draw("l", x0, y0, x1, y1, width, color, opaque) end
    function globals.text(x, y, height, color, text, align) draw("t", x, y, height, color, text, align) end
    function globals.camera(x, y, zoom) draw("v", x, y, zoom) end
    function globals.sprite(image, x, y, width, angle, frame, columns) draw("s", x, y, width or 0, angle or 0, frame or 0, image, columns) end
end

-- An input is five numbers; here it is a table.
local buttons = { "up", "down", "left", "right", "a", "b", "c", "d", "up_pressed", "down_pressed", "left_pressed", "right_pressed",
    "a_pressed", "b_pressed", "c_pressed", "d_pressed", "pointer", "pointer_used", "pointer_right" }

local function open_input(bits, x, y, pointer_x, pointer_y)
    local input = { x = x, y = y, pointer_x = pointer_x, pointer_y = pointer_y }
    for i = 1, #buttons do input[buttons[i]] = bits >> (i - 1) & 1 == 1 end
    return input
end

local function think(f, me, ...)
    local input, bits = open_input(...), 0
    f(me, input)
    for i = 1, #buttons do
        if input[buttons[i]] then bits = bits | 1 << (i - 1) end
    end
    return bits, input.x, input.y, input.pointer_x, input.pointer_y
end

local ways = { bot = think, human = think, on_input = function(f, e, ...) f(e, open_input(...)) end }

local instead = {
    pcall = "a fault ends the call", xpcall = "a fault ends the call", require = "a game has one script",
    next = "pairs has a fixed order", rawset = "write t[key] = value", rawget = "read t[key]",
    os = "time() is the match's", io = "a script reads components", collectgarbage = "memory is the program's",
    coroutine = "what waits is kept in a component", load = "a game has one script", dofile = "a game has one script",
    debug = "print(...) says values", package = "a game has one script", getmetatable = "what decides is in components",
}
local function missing(where)
    return function(_, key)
        key = base.tostring(key)
        local hint = instead[key] and ": " .. instead[key] or ""
        if where == "math." and key:sub(1, 6) == "random" then hint = ": random() is the match's" end
        error("there is no " .. where .. key .. hint, 2)
    end
end
local nowhere, nowhere_in_math = missing(""), missing("math.")
setmeta(math, { __index = nowhere_in_math })

local env = setmeta({}, {
    __index = setmeta(globals, { __index = nowhere }),
    __newindex = function(_, key, value)
        if is_loaded then
            error("the global '" .. base.tostring(key) .. "' cannot change while the match runs: keep it in a component", 2)
        end
        if key == "actions" then actions_line = debug.getinfo(2, "l").currentline end
        rawset(globals, key, value)
    end,
    __metatable = false,
})
globals._G = env
content[env] = globals -- for pairs

local kept, kept_count = {}, 0 -- function, number of its local, value; three each
local seen = {}
local freeze

local function keep(f)
    api.note_lines(f)
    for i = 1, 255 do
        local name, value = getupvalue(f, i)
        if not name then return end
        if not rawequal(value, env) then
            kept[kept_count + 1], kept[kept_count + 2], kept[kept_count + 3] = f, i, value
            kept_count = kept_count + 3
            freeze(value)
        end
    end
end

local function refuse()
    error("a table of the script cannot change while the match runs: keep it in a component", 2)
end

function freeze(value)
    local kind = type(value)
    if value == nil or seen[value] or free[value] or rawequal(value, env) then return end
    if kind == "function" then
        seen[value] = true
        return keep(value)
    elseif kind == "userdata" then
        error(file .. ": what gmatch or each gave cannot be kept: call it in the function that uses it", 0)
    elseif kind ~= "table" then
        return
    end
    seen[value] = true
    local had, meta = copy(value), debug.getmetatable(value)
    for key, one in next, had do
        freeze(key)
        freeze(one)
    end
    local index, length = meta and meta.__index, meta and meta.__len
    if meta then
        for _, one in next, meta do freeze(one) end
        -- A function gets the table that refuses, and never its content.
        setmeta(had, { __index = type(index) == "function" and function(_, key) return index(value, key) end or index })
    end
    content[value] = had
    if rawequal(value, globals) then return end
    for key in next, had do value[key] = nil end
    local frozen = meta and copy(meta) or {}
    frozen.__index, frozen.__newindex, frozen.__len = had, refuse, length or function() return #had end
    frozen.__metatable, frozen.__had = false, had
    frozen.__own_len = length
    debug.setmetatable(value, frozen)
end

local function give_back()
    for i = 1, kept_count, 3 do setupvalue(kept[i], kept[i + 1], kept[i + 2]) end
end

local function guard()
    for i = 1, kept_count, 3 do
        local f, at = kept[i], kept[i + 1]
        local name, value = getupvalue(f, at)
        local was = kept[i + 2]
        -- No metamethod is asked. 1 is not 1.0, 0.0 not -0.0, and nan is nan.
        if not (rawequal(value, was) and number_kind(value) == number_kind(was) or value ~= value and was ~= was) then
            give_back() -- the others too
            error(file .. ":" .. debug.getinfo(f, "S").linedefined .. ": the local '" .. name ..
                "' of the script was changed by this call, and has its value from the beginning again: keep it in a component", 0)
        end
    end
end

for _, from in base.ipairs({ base, string, table, utf8, debug, math, api, globals, { refuse, nowhere, nowhere_in_math } }) do
    for _, f in next, from do
        if type(f) == "function" then seen[f] = true end -- what these keep is not the script's
    end
end
local run, why = load(text, "@" .. file, "t", env)
if not run then error(why, 0) end
run()
is_loaded = true

-- What a person reads of the buttons: actions = { a = "jump" }.
local actions, places = base.rawget(globals, "actions"), {}
for i = 1, 8 do places[buttons[i]] = i end
for name, label in next, type(actions) == "table" and actions or { actions } do
    local fault = nil
    if not places[name] then
        fault = "there is no button '" .. base.tostring(name) .. "': it is one of up, down, left, right, a, b, c, d"
    elseif type(label) ~= "string" or #label < 1 or #label > 31 or not utf8.len(label) or string.find(label, "%c") then
        fault = "the text for '" .. name .. "' needs 1 to 31 bytes of UTF-8 in one line"
    end
    if fault then error(file .. ":" .. actions_line .. ": actions: " .. fault, 0) end
    api.label(places[name], label)
end

-- A function that nothing calls, by a name that is nearly that of a call, would be mute.
local function is_near(a, b) -- but for capitals, "_", and one letter or two that are exchanged
    a, b = string.lower(a):gsub("_", ""), string.gsub(b, "_", "")
    while a ~= "" and a:byte() == b:byte() do a, b = a:sub(2), b:sub(2) end
    while a ~= "" and a:byte(-1) == b:byte(-1) do a, b = a:sub(1, -2), b:sub(1, -2) end
    return #a <= 1 and #b <= 1 or #a == 2 and a:reverse() == b
end
local calls = { "on_start", "on_join", "on_leave", "on_input", "on_tick", "on_ask", "on_tell", "draw", "bot", "human", "predicted" }
local doubts = {}
for name, f in next, globals do
    for _, call in base.ipairs(globals.server and type(f) == "function" and not seen[f] and calls or {}) do
        if name == call then break end
        if base.rawget(globals, call) == nil and is_near(name, call) and
            select(2, string.gsub(text, "%f[%w_]" .. name .. "%f[^%w_]", "")) == 1 then
            doubts[#doubts + 1] = file .. ":" .. debug.getinfo(f, "S").linedefined .. ": nothing calls '" .. name ..
                "': did you mean '" .. call .. "'?"
        end
    end
end
globals._G = nil
freeze(globals)
rawset(globals, "_G", env)

local was_left = true -- no: a fault ended the call before
local function leave(...)
    guard()
    was_left = true
    return ...
end

-- What script.c calls.
return function(name, new_tick, new_time, ...)
    tick, time = new_tick, new_time
    if name ~= "on_start" and doubts[1] then api.program("fault", table.remove(doubts)) end -- a fault of on_start refuses the match
    local f = base.rawget(globals, name)
    if not f then return end
    if not was_left then give_back() end
    was_left = false
    local way = ways[name]
    if way then return leave(way(f, ...)) end
    return leave(f(...))
end
