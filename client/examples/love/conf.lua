-- SPDX-License-Identifier: MIT
function love.conf(t)
    t.identity = "shoal-arena"
    t.version = "11.4"
    t.window.title = "Arena, drawn by LÖVE"
    t.window.width, t.window.height = 1280, 720
    t.window.resizable = true
    t.window.msaa = 4
    t.modules.joystick, t.modules.physics, t.modules.video = false, false, false
end
