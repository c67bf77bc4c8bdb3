# SPDX-License-Identifier: MIT
"""Compare a picture of the example for LÖVE with the log of the match:

    love.py LOG ROCKS TICK CAMERA_X CAMERA_Y SHOAL_PIXELS PICTURE

The fighters of the log must have the colours of their teams where they were at TICK, the player of client 1 is in the
middle with its barrel towards the pointer, it went to the right and shot, and no fighter was inside of a rock."""
import math
import subprocess
import sys
import shoal

log, rocks, tick, camera_x, camera_y, pixels, picture = sys.argv[1:]
tick, camera = float(tick), (float(camera_x), float(camera_y))
rocks = [tuple(map(float, line.split())) for line in open(rocks)]
TEAMS = [(191, 196, 209), (255, 92, 92), (74, 158, 255), (89, 214, 120), (255, 196, 64)]
SCALE, WIDTH, HEIGHT, SIGHT, RADIUS = 8, 1280, 720, 72, 1.5


def look(places):
    """The size of the picture, and its colours at places."""
    text = "".join(f"{round(x)} {round(y)}\n" for x, y in places)
    lines = subprocess.run([pixels, picture], input=text, capture_output=True, text=True, check=True).stdout.split("\n")
    return lines[0], [tuple(map(int, line.split()[:3])) for line in lines[1:] if line]


def is_near(color, wanted):
    return all(abs(a - b) <= 40 for a, b in zip(color, wanted))


before, after, own, touching = {}, {}, [], 0
for world in shoal.Log(log).replay():
    fighters = {e.handle: (e["pos"]["x"], e["pos"]["y"], e["team"], e.template) for e in world.entities("condition")
                if e["condition"]}
    if world.tick % 3 == 0:
        for x, y, *_ in fighters.values():
            away = min(math.dist((x, y), rock[:2]) - rock[2] - RADIUS for rock in rocks)
            assert away > -0.1, f"a fighter is inside of a rock, at {x} {y}"
            touching += away < 0.1
    if world.tick == math.floor(tick):
        before = fighters
    if world.tick == math.floor(tick) + 1:
        after = fighters
    player = next((e for e in world.entities("owner") if e["owner"] == 1), None)
    if player and "gun" in player:
        own.append((player["pos"]["x"], player["gun"]["ammo"], player["team"]))
assert touching, "no fighter walks along a rock"
assert own[-1][0] > own[0][0], f"the key moved nothing: {own[0]} {own[-1]}"
assert min(ammo for _, ammo, _ in own) < own[0][1], f"the button shot nothing: {own[0]} {own[-1]}"

# Where fighters were between two ticks, as far as the picture has them free of the board and of the edge of sight.
places, wanted = [], []
part = tick - math.floor(tick)
for handle, (x, y, team, template) in before.items():
    if handle not in after or template == "arena_tank":
        continue
    x, y = x + (after[handle][0] - x) * part, y + (after[handle][1] - y) * part
    at = ((x - camera[0]) * SCALE + WIDTH / 2, (y - camera[1]) * SCALE + HEIGHT / 2)
    if 10 < at[0] < WIDTH - 10 and 90 < at[1] < HEIGHT - 80 and 4 < math.dist((x, y), camera) < SIGHT - 4:
        places.append(at)
        wanted.append(TEAMS[team])
size, colors = look(places)
right = sum(is_near(color, team) for color, team in zip(colors, wanted))
assert size == f"{WIDTH}x{HEIGHT}", size
assert len(places) >= 5 and right >= 0.8 * len(places), f"{right} of {len(places)} fighters: {list(zip(places, colors, wanted))}"

# The own fighter: its colour, a white ring, and its barrel upwards. Between two frames it may be a pixel beside the middle.
ring = [[(WIDTH / 2 + radius * SCALE * math.cos(angle), HEIGHT / 2 + radius * SCALE * math.sin(angle)) for radius in (2.1, 2.2, 2.3, 2.4, 2.5)]
        for angle in (0, 0.6, 2.6, math.pi)]
_, colors = look([(WIDTH / 2, HEIGHT / 2), (WIDTH / 2, HEIGHT / 2 - 2.9 * SCALE)] + sum(ring, []))
assert is_near(colors[0], TEAMS[own[0][2]]), f"the own fighter is {colors[0]}"
white = sum(any(is_near(color, (255, 255, 255)) for color in colors[2 + 5 * i:7 + 5 * i]) for i in range(len(ring)))
assert white >= 3, f"no ring around the own fighter: {colors[2:]}"
print(f"{right} of {len(places)} fighters have their colour, the own one went {own[-1][0] - own[0][0]:.1f} units, "
      f"{touching} were beside a rock")
