-- SPDX-License-Identifier: MIT
-- The picture: a view of 1280 x 720 with the own fighter in its middle, eight of its units to one of the map.
local rocks = require "rocks"

local WIDTH, HEIGHT, SCALE, MAP, SIGHT, GHOST_SIGHT, HELP_S = 1280, 720, 8, 512, 72, 90, 20
local TEAMS = {[0] = {.75, .77, .82}, {1, .36, .36}, {.29, .62, 1}, {.35, .84, .47}, {1, .77, .25}}
local KITS = {[0] = {.36, .92, .55}, {1, .81, .36}, {.81, .47, 1}}
local WHITE, DARK = {1, 1, 1}, {.03, .04, .07}
local WELL, HURT, BAD = {.39, .9, .47}, {1, .82, .31}, {1, .35, .31}
local graphics, fonts, picture = love.graphics, {}, {}

-- ---- shapes ----

local function paint(color, alpha, shade)
    shade = shade or 1
    graphics.setColor(color[1] * shade, color[2] * shade, color[3] * shade, alpha or 1)
end

local function box(x, y, width, height, color, alpha)
    paint(color, alpha)
    graphics.rectangle("fill", x, y, width, height)
end

local function disc(x, y, radius, color, alpha, shade)
    paint(color, alpha, shade)
    graphics.circle("fill", x, y, radius, 32 + radius * 4)
end

local function ring(x, y, radius, width, color, alpha)
    paint(color, alpha)
    graphics.setLineWidth(width)
    graphics.circle("line", x, y, radius, 32 + radius * 4)
end

local function line(x, y, to_x, to_y, width, color, alpha, shade)
    paint(color, alpha, shade)
    graphics.setLineWidth(width)
    graphics.line(x, y, to_x, to_y)
end

-- From (x, y) `length` units in a direction.
local function barrel(pos, angle, length, width, color)
    line(pos.x, pos.y, pos.x + math.cos(angle) * length, pos.y + math.sin(angle) * length, width, color, 1, 1.25)
end

-- Text with its middle at x, from letters of twice the size, which stay sharp in a larger window.
local function say(text, x, y, size, color, alpha)
    fonts[size] = fonts[size] or graphics.newFont(size * 2)
    graphics.setFont(fonts[size])
    paint(color, alpha)
    graphics.print(text, x, y, 0, 0.5, 0.5, fonts[size]:getWidth(text) / 2)
end

-- ---- the world, in units of the map ----

local function draw_ground()
    box(0, 0, MAP, MAP, {.094, .118, .18})
    for at = 0, MAP, 16 do
        line(at, 0, at, MAP, 0.12, WHITE, at % 64 == 0 and .1 or .04)
        line(0, at, MAP, at, 0.12, WHITE, at % 64 == 0 and .1 or .04)
    end
    paint({.47, .55, .75}, .8)
    graphics.setLineWidth(0.6)
    graphics.rectangle("line", 0, 0, MAP, MAP)
    for team = 1, 4 do -- a base in each corner, and where its flag stands
        local is_right, is_low = team % 2 == 0, team > 2
        local x, y = is_right and MAP - 40 or 40, is_low and MAP - 40 or 40
        disc(x, y, 22, TEAMS[team], .12)
        ring(x, y, 21.6, 0.8, TEAMS[team], .45)
        ring(is_right and MAP - 128 or 128, is_low and MAP - 128 or 128, 3.8, 0.4, TEAMS[team], .6)
    end
    for _, rock in ipairs(rocks) do
        disc(rock.x + 0.7, rock.y + 0.9, rock.radius, DARK, .35)
        disc(rock.x, rock.y, rock.radius, {.26, .29, .38})
        disc(rock.x - rock.radius * .15, rock.y - rock.radius * .2, rock.radius * .75, {.33, .37, .47})
    end
end

-- Exact for comrades; of others the server tells three steps.
local function draw_health(pos, part, is_exact)
    box(pos.x - 1.8, pos.y - 3.1, 3.6, 0.5, DARK, .6)
    box(pos.x - 1.8, pos.y - 3.1, 3.6 * math.min(part, 1), 0.5, part > .66 and WELL or part > .33 and HURT or BAD,
        is_exact and 1 or .7)
end

local function draw_fighter(client, entity, own, angle)
    local pos, vel, team, owner, condition = entity.pos, entity.vel, entity.team, entity.owner, entity.condition
    if condition == 0 then return end
    local is_own, is_player, size = entity == own, owner ~= 0, entity:has("tank") and 2.4 or 1.5
    disc(pos.x + 0.3, pos.y + 0.4, size, DARK, .4)
    if is_own then ring(pos.x, pos.y, 2.3, 0.35, WHITE) end
    barrel(pos, is_own and angle or math.atan2(vel.y, vel.x), is_own and 3.2 or size * 1.6, 0.7, TEAMS[team])
    disc(pos.x, pos.y, size, is_player and WHITE or TEAMS[team], 1, is_player and 1 or .65)
    disc(pos.x, pos.y, size * 0.82, TEAMS[team])
    local is_exact = own ~= nil and own.team == team
    local part = is_exact and entity.health / 100 or condition / 3
    if part < 1 or is_own then draw_health(pos, part, is_exact) end
    if is_player then
        graphics.push()
        graphics.translate(pos.x, pos.y + 2.6)
        graphics.scale(1 / SCALE)
        say(client:player_name(owner) or "", 0, 0, 13, WHITE, is_own and 1 or .75)
        graphics.pop()
    end
end

local function draw_effect(effect)
    if effect.to_x then
        line(effect.x, effect.y, effect.to_x, effect.to_y, 3 * effect.left, WHITE, effect.left * 3)
    else
        ring(effect.x, effect.y, effect.size * (1 - effect.left * 2), 0.6, {1, .85, .6}, effect.left * 2.5)
    end
end

local function draw_world(client, world, own, scene)
    draw_ground()
    for entity in world:entities("kind") do
        local pos, kit = entity.pos, KITS[entity.kind] or WHITE
        disc(pos.x, pos.y, 2.4, kit, .2)
        disc(pos.x, pos.y, 1.1, kit)
        disc(pos.x, pos.y, 0.5, DARK, .8)
    end
    for entity in world:entities("condition") do
        if entity ~= own then draw_fighter(client, entity, own, scene.angle) end
    end
    if own and own:has("condition") then draw_fighter(client, own, own, scene.angle) end -- above all others
    for entity in world:entities("heading") do -- the turrets of tanks
        barrel(entity.pos, entity.heading, 4.2, 0.9, TEAMS[entity.team])
        disc(entity.pos.x, entity.pos.y, 1.4, TEAMS[entity.team], 1, .8)
    end
    for entity in world:entities("wait_tick") do ring(entity.pos.x, entity.pos.y, 1.2, 0.5, TEAMS[entity.team], .5) end
    for entity in world:entities("flag") do
        local x, y = entity.pos.x + 0.8, entity.pos.y
        line(x, y + 0.5, x, y - 5.5, 0.35, WHITE)
        paint(TEAMS[entity.team])
        graphics.polygon("fill", x, y - 5.5, x + 4, y - 4.2, x, y - 2.9)
    end
    for entity in world:entities("shot") do
        local pos, vel = entity.pos, entity.vel
        line(pos.x, pos.y, pos.x - vel.x * 0.06, pos.y - vel.y * 0.06, 0.5, TEAMS[entity.team], .6)
        disc(pos.x, pos.y, 0.45, WHITE)
    end
    for _, effect in ipairs(scene.effects) do draw_effect(effect) end
    local sight = own and own:has("wait_tick") and GHOST_SIGHT or SIGHT
    ring(scene.camera.x, scene.camera.y, sight + 50, 100, DARK, .85) -- the fog
    ring(scene.camera.x, scene.camera.y, sight, 0.3, {.5, .63, .86}, .5)
end

-- ---- the board, in units of the view ----

local function draw_scores(world, own)
    for entity in world:entities("score") do
        local score, color = entity.score, TEAMS[entity.score.team]
        local x, height = WIDTH / 2 - 244 + (score.team - 1) * 122, own and own.team == score.team and 5 or 2
        box(x, 10, 116, 40, DARK, .85)
        box(x, 50 - height, 116, height, color)
        say(score.kills + 25 * score.captures, x + 36, 13, 26, color)
        say(score.captures .. (score.captures == 1 and " flag" or " flags"), x + 84, 24, 12, WHITE, .7)
    end
end

local function draw_board(client, world, own, scene)
    draw_scores(world, own)
    for entity in world:entities("match") do
        local left = math.max(0, (entity.match.end_tick - client.shown_tick) / client.tick_rate)
        box(WIDTH / 2 - 70, 54, 140, 22, DARK, .85)
        say(("round %d   %d:%02d"):format(entity.match.round, left / 60, left % 60), WIDTH / 2, 56, 14, WHITE, .8)
    end
    local health = own and own:get("health")
    if health then
        box(20, HEIGHT - 64, 220, 48, DARK, .85)
        box(20, HEIGHT - 64, 2.2 * math.min(health, 100), 24, {.24, .65, .35})
        say("health " .. health, 130, HEIGHT - 61, 13, WHITE)
        say("shots " .. scene.ammo, 130, HEIGHT - 37, 13, WHITE)
    elseif own then
        say("you come back in a moment", WIDTH / 2, HEIGHT * .62, 18, WHITE)
    end
    local banner, help = scene.banner, math.min(1, HELP_S - scene.age)
    if banner.left > 0 then
        say(banner.text, WIDTH / 2, HEIGHT * .2, 40, TEAMS[banner.team], math.min(1, banner.left))
    end
    if help <= 0 then return end
    box(252, HEIGHT - 64, 776, 48, DARK, .85 * help)
    say("W A S D go    pointer aims, button shoots    E ray    R call the team    1 2 3 use    Escape leave",
        WIDTH / 2, HEIGHT - 50, 15, WHITE, help)
end

-- The view in the middle of the window, as large as it fits.
local function fit()
    local scale = math.min(graphics.getWidth() / WIDTH, graphics.getHeight() / HEIGHT)
    graphics.clear(DARK)
    graphics.translate((graphics.getWidth() - WIDTH * scale) / 2, (graphics.getHeight() - HEIGHT * scale) / 2)
    graphics.scale(scale)
end

function picture.wait(text)
    fit()
    say(text, WIDTH / 2, HEIGHT / 2, 18, WHITE)
end

function picture.draw(client, world, own, scene)
    fit()
    graphics.push()
    graphics.translate(WIDTH / 2, HEIGHT / 2)
    graphics.scale(SCALE)
    graphics.translate(-scene.camera.x, -scene.camera.y)
    draw_world(client, world, own, scene)
    graphics.pop()
    draw_board(client, world, own, scene)
end

return picture
