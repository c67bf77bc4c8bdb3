-- SPDX-License-Identifier: MIT
-- The map's rocks are no entities: each side makes them of constants, here as games/arena/map.c does, by PCG32.
local bit = require "bit"

local function next_number(rng)
    local old = rng.state
    rng.state = old * 6364136223846793005ULL + rng.stream
    local shifted = tonumber(bit.band(bit.rshift(bit.bxor(bit.rshift(old, 18), old), 27), 0xFFFFFFFFULL))
    return bit.ror(bit.tobit(shifted), tonumber(bit.rshift(old, 59))) % 4294967296
end

local function generator(seed, stream)
    local rng = {state = 0ULL, stream = stream * 2ULL + 1}
    next_number(rng)
    rng.state = rng.state + seed
    next_number(rng)
    return function(bound)
        local value
        repeat value = next_number(rng) until value >= 4294967296 % bound
        return value % bound
    end
end

local rocks = {}
for row = 0, 7 do
    for column = 0, 7 do
        local below = generator(row * 8 + column, 5)
        local x, y, radius = 18 + below(28), 18 + below(28), 4 + below(7)
        local is_base = (column == 0 or column == 7) and (row == 0 or row == 7)
        if not is_base and below(5) ~= 0 then
            rocks[#rocks + 1] = {x = column * 64 + x, y = row * 64 + y, radius = radius}
        end
    end
end
return rocks
