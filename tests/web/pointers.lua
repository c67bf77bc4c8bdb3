-- Added to the rules of a game: what differs between machines inside, and may not outside. Components as keys,
-- the collector, texts of numbers, sort, faults and how deep they are.
local play_tick = on_tick
local function deeper(n) return 1 + deeper(n + 1) end

local function less(a, b) return a.n < b.n end

local function mix(sum, text)
    for i = 1, #text do sum = (sum * 31 + string.byte(text, i)) % 0x7fffffff end
    return sum
end

local function check_views(sum)
    local owners = {}
    for e, pos in each("pos") do
        assert(e.pos == pos and type(pos) == "userdata" and tostring(pos) == tostring(e.pos))
        assert(not e.vel or pos ~= e.vel)
        owners[pos] = e
        for i = 1, 9 do local waste = { e.pos, i .. "x" } end
        assert(owners[e.pos] == e)
    end
    for e, pos in each("pos") do
        assert(owners[pos] == e)
        sum = mix(sum, string.format("%.14g %5.2f %d", pos.x ^ 1.7, pos.y % 7.3, e))
    end
    return sum
end

local function check_sort(sum)
    local list = {}
    for i = 1, 120 do list[i] = { n = (i * 7919 + tick() * 31) % 1009 * 1.5 } end
    table.sort(list, less)
    for i = 2, #list do assert(list[i - 1].n <= list[i].n) end
    return mix(sum, table.concat({ list[1].n, list[60].n, list[120].n, 2 ^ 53, 1e300, 0.1, -0.0 }, " "))
end

function on_tick()
    play_tick()
    local now, first = tick(), nil
    if now % 8 ~= 3 then return end
    for e in each("worth") do first = first or e end
    local sum = check_sort(check_views(now))
    first.worth = sum % 16
    set(first, "vel", first.vel.x, first.vel.y + (sum % 64 - 32) / 64)
    if now % 56 == 3 then error("in each seventh of these") end
    if now == 1443 then deeper(1) end
    if now == 1411 then string.rep("x", 1 << 20) end
    if now == 1419 then string.find(string.rep("a", 200), string.rep("a?", 200) .. "b") end
    if now == 1435 then local rest = first.pos.z end
    if now == 1451 then while true do end end -- the last, since no on_tick follows
    first.worth = 15 - first.worth
end
