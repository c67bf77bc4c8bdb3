#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""A bot for breakout in Python: it goes where the next ball will land. Then, with --log, it reads the log.

    python3 bot.py 127.0.0.1:7777 [--ticks N] [--name NAME] [--net SPEC]
    python3 bot.py --log match.slog
"""
import argparse
import os
import sys

# Where an installation has shoal.py, seen from its share/doc/shoal/examples. Beside this file it is found first.
sys.path.append(os.path.join(os.path.dirname(os.path.realpath(__file__)), "..", "..", "..", "shoal", "python"))
import shoal

FIELD_WIDTH, PAD_TOP = 1200.0, 756.0


def landing_x(ball, line):
    """Where a ball crosses a line, with the side walls as mirrors. None: it flies up."""
    pos, vel = ball["pos"], ball["vel"]
    if vel["y"] <= 1.0:
        return None
    x = (pos["x"] + vel["x"] * (line - pos["y"]) / vel["y"]) % (2 * FIELD_WIDTH)
    return 2 * FIELD_WIDTH - x if x > FIELD_WIDTH else x


def think(client, tick):
    pad = client.player
    if pad is None or "pos" not in pad:
        return
    middle = pad["pos"]["x"] + pad["rectSize"]["x"] / 2
    balls = [ball for ball in client.world.entities("vel") if ball.template == "breakout_ball"]
    is_holding = any(ball["owner"]["is_held"] and ball["owner"]["pad"] == pad.handle for ball in balls)
    coming = [(PAD_TOP - ball["pos"]["y"], landing_x(ball, PAD_TOP)) for ball in balls if not ball["owner"]["is_held"]]
    coming = sorted(place for place in coming if place[1] is not None)
    wanted = coming[0][1] if coming else middle
    client.input["PadInput"] = {"move": max(-127, min(127, (wanted - middle) * 4)),
                                "is_launching": is_holding and tick % 32 == 31}


def play(options):
    events = {}
    with shoal.Client(options.address, name=options.name, network=options.net, flags=shoal.BOT | shoal.SHOW,
                      report=lambda text: print(text, file=sys.stderr)) as client:
        ticks = frames = 0
        try:
            for tick in client.play():
                ticks += 1
                think(client, tick)
                frames += client.frame() is not None
                if ticks == 60:
                    client.send("Cheer", emote=3)
                for event in client.events():
                    events[event.name] = events.get(event.name, 0) + 1
                if ticks == options.ticks:
                    client.leave()
        except shoal.Error as error:
            sys.exit(f"bot.py: {error}")
        player = client.player
        score = player.get("player", {}).get("score", 0) if player else 0
        print(f"client id={client.number} tick={client.tick} entities={len(client.world)} game={client.game} "
              f"mirror_hash={client.hash:016x} score={score} frames={frames} "
              f"events={','.join(f'{name}:{events[name]}' for name in sorted(events))} end={client.end}")


def read(file):
    with shoal.Log(file) as log:
        records = log.records()
        joins = sum(len(record.get("begin", {}).get("joins", [])) for record in records)
        balls = 0
        for world in log.replay():
            balls = max(balls, sum(entity.template == "breakout_ball" for entity in world.entities("vel")))
        print(f"log game={log.game} ticks={log.info['last_tick']} records={len(records)} joins={joins} "
              f"balls_max={balls} state_hash={log.state_hash:016x}")


def main():
    parser = argparse.ArgumentParser(description="A breakout bot, and a reader of logs.")
    parser.add_argument("address", nargs="?")
    parser.add_argument("--ticks", type=int, default=0, help="leave after so many (0: stay)")
    parser.add_argument("--name", default="Python")
    parser.add_argument("--net", help="a bad network: loss=5,delay=80")
    parser.add_argument("--log", help="read this event log instead")
    options = parser.parse_args()
    if options.log:
        read(options.log)
    elif options.address:
        play(options)
    else:
        parser.error("an address, or --log FILE")


if __name__ == "__main__":
    main()
