-- SPDX-License-Identifier: MIT
-- The sounds, made here: from one frequency to another, with some noise, fading. tones.play(name, loudness).
local RATE, VOICES = 22050, 4 -- so many at once of each sound

local function tone(seconds, from, to, noise, loudness)
    local count, phase = math.floor(seconds * RATE), 0
    local data = love.sound.newSoundData(count, RATE, 16, 1)
    for i = 0, count - 1 do
        local part = i / count
        phase = phase + 2 * math.pi * (from + (to - from) * part) / RATE
        local wave = (1 - noise) * math.sin(phase) + noise * (math.random() * 2 - 1)
        data:setSample(i, wave * loudness * (1 - part) ^ 2)
    end
    local voices = {next = 1}
    for i = 1, VOICES do voices[i] = love.audio.newSource(data) end
    return voices
end

local sounds = {
    fire = tone(0.12, 900, 200, 0.2, 0.5), ray = tone(0.25, 1800, 300, 0.05, 0.5),
    hit = tone(0.10, 240, 120, 0.6, 0.6), killed = tone(0.5, 160, 40, 0.5, 0.9),
    flag = tone(0.6, 440, 880, 0, 0.5), round = tone(1.5, 330, 660, 0, 0.6),
}
local tones = {played = 0}

function tones.play(name, loudness)
    local voices = sounds[name]
    local voice = voices[voices.next]
    voices.next = voices.next % VOICES + 1
    voice:stop()
    voice:setVolume(math.max(0, math.min(1, loudness)))
    if loudness > 0 and voice:play() then tones.played = tones.played + 1 end
end

return tones
