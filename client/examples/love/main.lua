-- SPDX-License-Identifier: MIT
-- Arena in another engine: LÖVE draws what the server shows, its keyboard and pointer play, and its speakers sound.
--
--     shoal-server --game arena --tick-rate 30
--     love client/examples/love 127.0.0.1:7777 name=Ada net=loss=5,delay=80
--
-- F12 keeps a picture in shot=FILE.png. bot=yes lets the game's own bot play; fps=N slows the frames.
local here = love.filesystem.getSource() -- where an installation has shoal.lua, and where the sources do
package.path = here .. "/../../../../shoal/lua/?.lua;" .. here .. "/../../lua/?.lua;" .. package.path
local shoal, picture, tones = require "shoal", require "picture", require "tones"

local SIGHT = 72
local TEAM_NAMES = {[0] = "NOBODY", "RED", "BLUE", "GREEN", "YELLOW"}
local MESSAGES = {r = {"Rally"}}
for i, key in ipairs {"1", "2", "3"} do MESSAGES[key] = {"Use", {kind = i - 1}} end
for i, key in ipairs {"z", "x", "c", "v"} do MESSAGES[key] = {"Say", {phrase = i - 1}} end
local options, client, frames = {}, nil, 0
-- What the picture shows besides the world.
local scene = {camera = {x = 256, y = 256}, angle = 0, ammo = 0, age = 0, effects = {}, banner = {left = 0}}

local function down(...) return love.keyboard.isDown(...) and 1 or 0 end

local function think()
    local move_x = 127 * (down("d", "right") - down("a", "left"))
    local move_y = 127 * (down("s", "down") - down("w", "up"))
    local x, y = love.mouse.getPosition() -- the own fighter is in the middle
    x, y = x - love.graphics.getWidth() / 2, y - love.graphics.getHeight() / 2
    if x ~= 0 or y ~= 0 then scene.angle = math.atan2(y, x) end
    client.input.ArenaInput = {move_x = move_x, move_y = move_y, is_raying = love.keyboard.isDown("e"),
                               aim = math.floor(scene.angle / (2 * math.pi) * 4096 + 0.5) % 4096,
                               is_firing = love.mouse.isDown(1) or love.keyboard.isDown("space")}
end

local function hear(event)
    local place = event.target and event.target:get("pos") or event.values.x and event.values or scene.camera
    local near = 1 - ((place.x - scene.camera.x) ^ 2 + (place.y - scene.camera.y) ^ 2) ^ 0.5 / SIGHT
    if event.name == "Hit" then
        tones.play(event.is_fatal and "killed" or "hit", near)
        table.insert(scene.effects, {x = place.x, y = place.y, size = event.is_fatal and 5 or 2.5, left = 0.4})
    elseif event.name == "Ray" then
        tones.play("ray", near)
        table.insert(scene.effects, {x = event.from_x / 4, y = event.from_y / 4, to_x = event.to_x / 4,
                                     to_y = event.to_y / 4, left = 0.3})
    elseif event.name == "FlagMoved" then
        tones.play("flag", 1)
    elseif event.name == "RoundOver" then
        tones.play("round", 1)
        local text = ("%s WINS ROUND %d WITH %d"):format(TEAM_NAMES[event.winner], event.round, event.points)
        scene.banner = {text = text, left = 4, team = event.winner}
    end
end

local function finish()
    if client.world then
        print(("client id=%d tick=%d entities=%d game=%s mirror_hash=%s frames=%d sounds=%d end=%s"):format(
            client.number, client.tick, client.world.count, client.game, client.hash, frames, tones.played,
            client.ending))
    end
    local is_well = client.ending == "left" or client.ending == "goodbye"
    if not is_well then io.stderr:write(client.text, "\n") end
    love.event.quit(is_well and 0 or 6)
end

-- Receive until the next frame is due; without fps the display decides when that is.
local function receive()
    local now = love.timer.getTime()
    local ends = now + (options.fps and 1 / options.fps or 0)
    repeat
        client:service((ends - now) * 1000)
        now = love.timer.getTime()
    until client.phase == shoal.ENDED or now >= ends
end

function love.load(arguments)
    io.stdout:setvbuf("line")
    for _, argument in ipairs(arguments) do
        local name, value = argument:match("^(%w+)=(.*)$")
        options[name or "address"] = value or argument
    end
    local flags = shoal.SHOW + shoal.PREDICT + (options.bot and shoal.BOT + shoal.THINK or 0)
    client = shoal.Client(options.address or "127.0.0.1:7777",
                          {name = options.name, network = options.net, flags = flags})
end

function love.keypressed(key)
    if key == "escape" then client:leave() end
    if key == "f12" then scene.is_kept = true end
    if MESSAGES[key] and client.phase == shoal.PLAYING then client:send(unpack(MESSAGES[key])) end
end

function love.update(dt)
    receive()
    if client.phase == shoal.ENDED then return finish() end
    if client.phase ~= shoal.PLAYING then return end
    if not options.bot then think() end
    for event in client:events() do hear(event) end
    scene.age, scene.banner.left = scene.age + dt, scene.banner.left - dt
    for i = #scene.effects, 1, -1 do
        scene.effects[i].left = scene.effects[i].left - dt
        if scene.effects[i].left <= 0 then table.remove(scene.effects, i) end
    end
    local gun = client.player and client.player:get("gun")
    if gun and gun.ammo < scene.ammo then tones.play("fire", 0.5) end
    scene.ammo = gun and gun.ammo or 0
end

local function keep()
    scene.is_kept = false
    local file, tick, camera = assert(io.open(options.shot or "arena.png", "wb")), client.shown_tick, scene.camera
    love.graphics.captureScreenshot(function(image) -- called at the end of the frame
        file:write(image:encode("png"):getString())
        file:close()
        print(("shot tick=%.3f camera=%.5f,%.5f ammo=%d"):format(tick, camera.x, camera.y, scene.ammo))
    end)
end

function love.draw()
    local world = client.phase == shoal.PLAYING and client:frame()
    if not world then return picture.wait(client.text ~= "" and client.text or "connecting") end
    frames = frames + 1
    local own = client.player and world:entity(client.player.handle)
    scene.camera = own and own:get("pos") or scene.camera
    if own and options.bot then scene.angle = own:get("aim") or 0 end
    picture.draw(client, world, own, scene)
    if scene.is_kept then keep() end
end

-- The message goes where it can be read and copied, and the program ends.
function love.errorhandler(message)
    io.stderr:write(debug.traceback(tostring(message), 2), "\n")
    return function() return 1 end
end
