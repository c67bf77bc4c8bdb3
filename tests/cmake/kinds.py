# SPDX-License-Identifier: MIT
"""A player of three kinds of `shoal-server new`, who looks for what its client should not have.

    kinds.py turn ADDRESS LOG SERVER     sleeps for a turn, tries moves that are refused, leaves when it has the turn in the
                                         second round, ends the process SERVER, and reads the log, which has all cards
    kinds.py top-down ADDRESS SOURCE     stands still; walls are read from its map
    kinds.py rts ADDRESS LOG SOURCE      sends its units to a mine in the middle, behind walls of its map; then reads in the
                                         log what its team could see
    kinds.py hand LOG NAME               what a person did with mouse and keys: box, orders, wheel, units
"""
import os
import re
import signal
import sys
import time

import shoal

REASONS = {1: "not your turn", 2: "not your card", 3: "wrong colour and number"}
DRAW = 32


def first(entities):
    return next(iter(entities), None)


def cards(mask):
    return [card for card in range(32) if mask >> card & 1]


def choose(own, table, reasons):
    """A move and the answer to it: one that must be refused; else one that a bot would make, so that rounds end."""
    hand, is_turn = cards(own["hand"]), table["turn"] == own.handle
    strange = [card for card in range(32) if card not in hand]
    wrong = [card for card in hand if card // 8 != table["top"] // 8 and card % 8 != table["top"] % 8]
    right = [card for card in hand if card not in wrong] + [DRAW]
    moves = [(strange[0], 2)] + [(card, 3) for card in wrong] + [(right[0], 0)] if is_turn else [(DRAW, 1)]
    return first(move for move in moves if move[1] not in reasons)


def play_cards(address):
    """@return the tick at which it left, and its number."""
    reasons, others, backs, sent, left = set(), set(), 0, None, None
    asleep = is_woken = None  # the cards with which it lets its first turn pass
    with shoal.Client(address, name="Python", flags=shoal.BOT) as client:
        for tick in client.play():
            own, place = client.player, first(client.world.entities("table"))
            if left or own is None or place is None:
                continue
            players = list(client.world.entities("hand"))
            for entity in players:
                if entity == own:
                    assert len(cards(entity["hand"])) == entity["cards"], f"own cards in tick {tick}"
                else:
                    others.add(entity["hand"])
                    backs = max(backs, entity["cards"])
            if not is_woken:
                if place["table"]["turn"] == own.handle and asleep is None:
                    asleep = own["cards"]
                is_woken = asleep is not None and own["cards"] != asleep
                assert not is_woken or own["cards"] > asleep, "who is late draws a card"
                continue
            if sent and own["answer"] == sent[1]:
                reasons |= {sent[1]} & set(REASONS)
                sent = None
            is_second = any(entity["wins"] for entity in players)
            if reasons == set(REASONS) and is_second and place["table"]["turn"] == own.handle:
                left = (tick, client.number)
                client.leave()
            elif sent is None or tick > sent[2]:
                move = choose(own, place["table"], reasons)
                if move:
                    client.send("Move", card=move[0])
                    sent = (*move, tick + 30)
    assert left, f"refused: {[REASONS[reason] for reason in reasons]}"
    assert others == {0}, f"cards of others reached this client: {others}"
    assert backs >= 3, "nobody had cards"
    return left


def read_cards(file, tick, number):
    """What the server had: the hands of all, rounds one after the other, and whose turns were after the one left."""
    hands, turns, rounds, before, is_gone = set(), set(), 0, 0, False
    with shoal.Log(file) as log:
        for world in log.replay():
            table = first(world.entities("table"))["table"]
            players = list(world.entities("hand"))
            hands |= {entity["hand"] for entity in players}
            rounds += before == 0 and table["turn"] != 0
            before = table["turn"]
            is_here = number in {entity["owner"] for entity in players}
            assert not (is_gone and is_here), "it came back"
            is_gone = world.tick > tick and not is_here
            if is_gone and table["turn"]:
                turns.add(table["client"])
    return hands, turns, rounds


def is_free(start, end, walls):
    """Is there no wall between two points?"""
    for low, high in walls:
        enter, leave = 0.0, 1.0
        for axis in (0, 1):
            way = end[axis] - start[axis]
            near, far = ((edge[axis] - start[axis]) / way if way else (-1e9 if edge[axis] <= start[axis] else 1e9)
                         for edge in (low, high))
            enter, leave = max(enter, min(near, far)), min(leave, max(near, far))
        if enter < leave:
            return False
    return True


def is_in_sight(eye, pos, walls):
    way = (pos[0] - eye[0], pos[1] - eye[1])
    length = max(1.0, (way[0] ** 2 + way[1] ** 2) ** 0.5)
    side = (-way[1] / length * 10.0, way[0] / length * 10.0)
    return any(is_free(eye, (pos[0] + part * side[0], pos[1] + part * side[1]), walls) for part in (-1, 0, 1))


def look(address, source):
    rows = enumerate(open(source).read().splitlines())  # doors count as open: they change
    walls = [((16 * run.start(), 16 * y), (16 * run.end(), 16 * y + 16)) for y, row in rows for run in re.finditer("#+", row)]
    sighted, seen, ticks, before = {}, 0, 0, 0  # when each was in sight
    with shoal.Client(address, name="Python", flags=shoal.BOT) as client:
        for tick in client.play():
            own = client.player
            if own is None:
                continue
            eye = (own["pos"]["x"], own["pos"]["y"])
            others = [entity for entity in client.world.entities("score") if entity != own]
            seen, ticks = seen + len(others), ticks + 1
            for entity in others:
                pos = (entity["pos"]["x"], entity["pos"]["y"])
                # A busy machine leaves ticks out: what was in sight in them is not known.
                is_sighted = tick > before + 2 or is_in_sight(eye, pos, walls)
                sighted[entity] = tick if is_sighted else sighted.get(entity, tick)
                # The server looks every four ticks.
                assert tick - sighted[entity] <= 8, f"tick {tick}: {pos} is behind a wall, seen from {eye}"
            before = tick
            if seen >= 10 and seen < 3 * ticks:
                client.leave()
    assert len(walls) >= 12 and 10 <= seen < 3 * ticks, f"{len(walls)} walls, {seen} seen in {ticks} ticks"
    print("top-down: all that was seen was in sight")


SIGHT, UNIT, MINE = 220.0, 10.0, (960, 640)


def place_of(entity):
    return entity["pos"]["x"], entity["pos"]["y"]


def distance(a, b):
    return ((a[0] - b[0]) ** 2 + (a[1] - b[1]) ** 2) ** 0.5


def play_war(address):
    """@return its number, and for each tick the enemies that it had."""
    had, number = {}, None
    with shoal.Client(address, name="Python", flags=shoal.BOT) as client:
        for tick in client.play():
            own = client.player
            if own is None:
                continue
            number = own["owner"]
            had[tick] = [entity.handle for entity in client.world.entities("health") if entity["team"] != own["team"]]
            others = [entity for entity in client.world.entities("gold") if entity != own]
            assert {entity["gold"] for entity in others} <= {240} and own["gold"] != 240 or tick < 300, "gold of others"
            client.input["Input"] = {"number": 1 + tick // 120, "units": own["army"], "x": MINE[0], "y": MINE[1], "is_training": True}
            if tick > 1800:
                client.leave()
    return number, had


def read_war(file, source, number, had):
    """What it had was near its team, what was near for long it had; no two units stay at one place, none in a wall; its
    units obeyed."""
    rows = open(source).read().splitlines()
    last, since, ticks, seen, stacked, longest, own_seen = {}, {}, 0, 0, {}, 0, []
    with shoal.Log(file) as log:
        for world in log.replay():
            bodies = [(entity.handle, place_of(entity), entity["team"]) for entity in world.entities("health")]
            own = next((entity for entity in world.entities("gold") if entity["owner"] == number), None)
            if own is None:
                continue
            eyes = [place for _, place, team in bodies if team == own["team"]]
            for handle, place, team in bodies:
                if team == own["team"]:
                    continue
                reach = min(distance(place, eye) for eye in eyes)
                if reach < SIGHT + 5:
                    last[handle] = world.tick
                if reach < SIGHT - 5:
                    since.setdefault(handle, world.tick)
                else:
                    since.pop(handle, None)
                # The teams look every six ticks, the server every four, and a client gets a packet every few ticks.
                if handle in since and world.tick - since[handle] > 60 and world.tick in had:
                    assert handle in had[world.tick], f"tick {world.tick}: {handle} is {reach:.0f} away since {since[handle]} and was not sent"
            for handle in had.get(world.tick, []):
                seen += 1
                assert world.tick - last.get(handle, -99) <= 48, f"tick {world.tick}: {handle} was sent from the fog"
            units = [(entity.handle, place_of(entity)) for entity in world.entities("number")]
            for _, (x, y) in units:
                assert rows[int(y / 32)][int(x / 32)] == ".", f"tick {world.tick}: a unit is in a wall at {x}, {y}"
            if world.tick % 10 == 0:  # for how many looks two are nearer than three quarters of their size
                stacked = {(a, b): stacked.get((a, b), 0) + 1 for i, (a, at) in enumerate(units) for b, place in units[:i]
                           if distance(at, place) < 1.5 * UNIT}
                longest = max([longest, *stacked.values()])
            own_seen = [place_of(entity) for entity in world.entities("number") if entity["owner"] == number] or own_seen
            ticks += 1
    assert ticks > 1000 and seen > 100, f"{ticks} ticks, {seen} enemies seen"
    assert longest <= 6, f"two units were at one place for {longest * 10} ticks"
    assert min(distance(place, MINE) for place in own_seen) < 100, f"no unit is at the mine: {own_seen}"
    print(f"rts: all that was seen was near the team; units make room within {longest * 10} ticks")


def read_hand(file, name):
    """A box selected units, two right clicks and the wheel between them: the same place, then one farther out."""
    orders = {}
    with shoal.Log(file) as log:
        for world in log.replay():
            for own in world.entities("gold"):
                given = own["input"]
                if own["owner"] == int(name) and given["number"]:
                    orders.setdefault(given["number"], (given["x"] - own["pos"]["x"], given["units"], own["army"]))
    assert sorted(orders) == [1, 2, 3], f"orders: {orders}"
    assert all(units and units & army == units for _, units, army in orders.values()), f"no units: {orders}"
    near, again, far = (orders[number][0] for number in (1, 2, 3))
    assert near > 50 and abs(near - again) < 3 and far > 4.5 * near, f"orders: {orders}"  # without the wheel 4 times
    print("hand: box, orders and wheel")


if sys.argv[1] == "top-down":
    look(*sys.argv[2:])
elif sys.argv[1] == "rts":
    read_war(*sys.argv[3:], *play_war(sys.argv[2]))
elif sys.argv[1] == "hand":
    read_hand(*sys.argv[2:])
else:
    gone = play_cards(sys.argv[2])
    all_hands, after = set(), set()
    while len(after) < 2 or len(all_hands) <= 20:  # the others go on
        time.sleep(0.2)
        all_hands, after, played = read_cards(sys.argv[3], *gone)
    os.kill(int(sys.argv[4]), signal.SIGTERM)
    while os.path.exists(f"/proc/{sys.argv[4]}"):
        time.sleep(0.02)
    all_hands, after, played = read_cards(sys.argv[3], *gone)
    assert len(after) == 2 and gone[1] not in after, f"turns after {gone[1]} left: {after}"
    assert played >= 2, f"{played} rounds"
    print(f"turn: refused={len(REASONS)} seen_of_others=0 hands={len(all_hands)} rounds={played}")
