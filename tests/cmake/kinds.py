# SPDX-License-Identifier: MIT
"""A player of two kinds of `shoal-server new`, who looks for what its client should not have.

    kinds.py turn ADDRESS LOG SERVER     sleeps for a turn, tries moves that are refused, leaves when it has the turn in the
                                         second round, ends the process SERVER, and reads the log, which has all cards
    kinds.py top-down ADDRESS SOURCE     stands still; walls are read from the .c
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
    """A move and the answer to it: one that must be refused, or to draw when there is none now."""
    hand, is_turn = cards(own["hand"]), table["turn"] == own.handle
    strange = [card for card in range(32) if card not in hand]
    wrong = [card for card in hand if card // 8 != table["top"] // 8 and card % 8 != table["top"] % 8]
    moves = [(strange[0], 2)] + [(card, 3) for card in wrong] + [(DRAW, 0)] if is_turn else [(DRAW, 1)]
    return first(move for move in moves if move[1] not in reasons)


def play_cards(address):
    """@return the tick at which it left, and its number."""
    reasons, others, backs, sent, left, rounds, before = set(), set(), 0, None, None, 0, 0
    asleep = is_woken = None  # the cards with which it lets its first turn pass
    with shoal.Client(address, name="Python", flags=shoal.BOT) as client:
        for tick in client.play():
            own, place = client.player, first(client.world.entities("table"))
            if left or own is None or place is None:
                continue
            rounds += before == 0 and place["table"]["turn"] != 0
            before = place["table"]["turn"]
            for entity in client.world.entities("hand"):
                if entity == own:
                    assert len(cards(entity["hand"])) == entity["cards"], f"own cards in tick {tick}"
                else:
                    others.add(entity["hand"])
                    backs = max(backs, entity["cards"])
            if not is_woken:
                is_turn = place["table"]["turn"] == own.handle
                asleep = own["cards"] if is_turn and asleep is None else asleep
                is_woken = asleep is not None and not is_turn
                assert not is_woken or own["cards"] == asleep + 1, "who is late draws a card"
                continue
            if sent and own["answer"] == sent[1]:
                reasons |= {sent[1]} & set(REASONS)
                sent = None
            if reasons == set(REASONS) and rounds >= 2 and place["table"]["turn"] == own.handle:
                left = (tick, client.number)
                client.leave()
            elif sent is None or tick > sent[2]:
                move = choose(own, place["table"], reasons)
                if move:
                    client.send("Move", card=move[0])
                    sent = (*move, tick + 30)
    assert left, f"refused: {[REASONS[reason] for reason in reasons]}"
    assert others == {0}, f"cards of others reached this client: {others}"
    assert backs >= 5, "nobody had cards"
    return left


def read_cards(file, tick, number):
    """What the server had: the hands of all, rounds one after the other, and turns without the one that left."""
    hands, turns, rounds, before = set(), set(), 0, 0
    with shoal.Log(file) as log:
        for world in log.replay():
            table = first(world.entities("table"))["table"]
            players = list(world.entities("hand"))
            hands |= {entity["hand"] for entity in players}
            rounds += before == 0 and table["turn"] != 0
            before = table["turn"]
            if world.tick > tick + 60:
                turns.add(table["client"])
                assert number not in {entity["owner"] for entity in players}, "it did not leave"
    assert len(hands) > 20, "the log has no hands"
    assert len(turns) == 2 and number not in turns, f"turns after {number} left: {turns}"
    assert rounds >= 2, f"{rounds} rounds"
    print(f"turn: refused={len(REASONS)} seen_of_others=0 hands={len(hands)} rounds={rounds}")


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
    numbers = re.findall(r"\{\{(\d+), (\d+)\}, \{(\d+), (\d+)\}\}", open(source).read())
    walls = [((int(a), int(b)), (int(c), int(d))) for a, b, c, d in numbers]
    sighted, seen, ticks = {}, 0, 0  # when each was in sight
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
                sighted[entity] = tick if is_in_sight(eye, pos, walls) else sighted.get(entity, tick)
                # The server looks every four ticks.
                assert tick - sighted[entity] <= 8, f"tick {tick}: {pos} is behind a wall, seen from {eye}"
            if seen >= 10 and seen < 3 * ticks:
                client.leave()
    assert len(walls) >= 12 and 10 <= seen < 3 * ticks, f"{len(walls)} walls, {seen} seen in {ticks} ticks"
    print("top-down: all that was seen was in sight")


if sys.argv[1] == "top-down":
    look(*sys.argv[2:])
else:
    gone = play_cards(sys.argv[2])
    time.sleep(1.5)  # the others go on
    os.kill(int(sys.argv[4]), signal.SIGTERM)
    while os.path.exists(f"/proc/{sys.argv[4]}"):
        time.sleep(0.02)
    read_cards(sys.argv[3], *gone)
