-- Stars for points, and one player who is "it": who touches others takes a point from them and hands it on.
-- All that lasts is in components (e.score): a value that a function keeps in a local or a table is refused.
actions = { a = "brake" } -- what is written on its button
WIDTH, HEIGHT, RADIUS, SPEED, STARS = 960, 540, 14, 260, 12

local function clamp(x, low, high)
    return math.max(low, math.min(high, x))
end

local function squared(a, b) -- their distance
    return (a.pos.x - b.pos.x) ^ 2 + (a.pos.y - b.pos.y) ^ 2
end

local function near(a, b, reach)
    return squared(a, b) < reach ^ 2
end

local function new_star()
    local angle = random() * 2 * math.pi
    create("star", {
        pos = { random(40, WIDTH - 40), random(40, HEIGHT - 40) },
        vel = { 40 * math.cos(angle), 40 * math.sin(angle) },
        worth = random(1, 3),
    })
end

function on_start()
    for _ = 1, STARS do new_star() end
end

function on_join(client, name, is_bot)
    local is_first = true
    for _ in each("owner") do is_first = false end
    return create("player", { pos = { random(60, WIDTH - 60), random(60, HEIGHT - 60) }, owner = client, it = is_first })
end

function on_leave(e)
    if not e or not e.it then return end
    for other in each("owner") do -- somebody else is it
        if other ~= e then other.it = true return end
    end
end

-- On the server, and at once in the window of the player: so it writes the player alone, and draws no chance.
function on_input(e, input)
    local speed = input.a and 0 or e.it and SPEED * 1.15 or SPEED
    local vx = e.vel.x + (input.x * speed - e.vel.x) * 0.2
    local vy = e.vel.y + (input.y * speed - e.vel.y) * 0.2
    set(e, "vel", vx, vy)
    set(e, "pos", clamp(e.pos.x + vx * dt, RADIUS, WIDTH - RADIUS), clamp(e.pos.y + vy * dt, RADIUS, HEIGHT - RADIUS))
end

function on_tick()
    for star, pos, vel in each("pos", "vel", "worth") do
        if pos.x < 20 or pos.x > WIDTH - 20 then vel.x = -vel.x end
        if pos.y < 20 or pos.y > HEIGHT - 20 then vel.y = -vel.y end
        set(star, "pos", clamp(pos.x + vel.x * dt, 20, WIDTH - 20), clamp(pos.y + vel.y * dt, 20, HEIGHT - 20))
        for e in each("owner") do
            if near(e, star, RADIUS + 9) then
                e.score = e.score + star.worth
                tell(e, "star", pos.x, pos.y, star.worth)
                destroy(star)
                new_star()
                break
            end
        end
    end
    for e in each("owner") do
        for other in each("owner") do
            if e.it and e ~= other and tick() > other.safe_until and near(e, other, 2 * RADIUS) then
                e.it, other.it, e.safe_until = false, true, tick() + 60
                other.score = math.max(0, other.score - 1)
                tell(nil, "caught", e.owner, other.owner)
                break
            end
        end
    end
end

-- A bot has its client's world. Who is it goes for players, the others for stars that nobody else is nearer to.
function bot(me, input)
    local best, goal = 1e9, nil
    for e in each("pos") do
        local d = squared(e, me)
        local is_wanted = e ~= me and (me.it and e.owner or not me.it and e.worth)
        if is_wanted and e.worth then
            for other in each("owner") do
                if other ~= me and squared(other, e) < d then d = d + 1e5 end
            end
        end
        if is_wanted and d < best then best, goal = d, e end
    end
    if not goal then return end
    local dx, dy = goal.pos.x - me.pos.x, goal.pos.y - me.pos.y
    local length = math.max(1, math.sqrt(dx * dx + dy * dy))
    input.x, input.y = dx / length, dy / length
end

-- The picture: a function of the entities, and of `memory`.
function on_tell(e, what, a, b, c)
    if what == "star" then memory.flash = { x = a, y = b, text = "+" .. math.floor(c), until_ = tick() + 40 } end
    if what == "caught" then memory.news = { by = math.floor(a), whom = math.floor(b) } end
end

function draw(me)
    rect(0, 0, WIDTH, HEIGHT, 0x141826)
    for x = 60, WIDTH, 60 do line(x, 0, x, HEIGHT, 1, 0x1e2436) end
    for y = 60, HEIGHT, 60 do line(0, y, WIDTH, y, 1, 0x1e2436) end
    for e, pos in each("pos", "worth") do
        local glow = 2 * math.sin(time() * 4 + pos.x)
        circle(pos.x, pos.y, 13 + glow, 0xffd75e, 0.15)
        circle(pos.x, pos.y, 4 + 2 * e.worth, 0xffd75e)
    end
    for e, pos, owner in each("pos", "owner") do
        if e.it then circle(pos.x, pos.y, RADIUS + 6, 0xff5252, 0.35) end
        if tick() < e.safe_until then circle(pos.x, pos.y, RADIUS + 4, 0xffffff, 0.25) end
        circle(pos.x, pos.y, RADIUS, e == me and 0x6ee787 or e.it and 0xff5252 or 0x5aa9ff)
        text(pos.x, pos.y - RADIUS - 18, 13, 0xdfe6f5, player_name(owner) .. "  " .. e.score, 0.5)
    end
    local flash, news = memory.flash, memory.news
    if flash and tick() < flash.until_ then text(flash.x, flash.y - (40 - flash.until_ + tick()), 18, 0xffd75e, flash.text, 0.5) end
    if news then text(WIDTH / 2, 12, 15, 0xdfe6f5, player_name(news.by) .. " caught " .. player_name(news.whom), 0.5) end
    if me and me.it then text(WIDTH / 2, HEIGHT - 30, 16, 0xff8a80, "You are it: catch somebody", 0.5) end
end
