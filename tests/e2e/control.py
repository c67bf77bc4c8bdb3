#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Talks to a server's control socket.

control.py SOCKET lines          each line of stdin, and its answer; an answer's line follows its question's
control.py SOCKET pieces         half lines, many lines at once, lines that are too long, several connections
control.py SOCKET random SEED N URL  N orders by chance, by the socket or by POST; prints how many changed the match
control.py SOCKET idle PROCESS    connections that say and read nothing cost the server no time
control.py SOCKET soon            answers of a server with one tick a second come before its tick
control.py SOCKET top PROGRAM    the live table of PROGRAM (shoal-ctl) on a terminal that changes its size
"""
import fcntl
import json
import os
import pty
import random
import re
import select
import socket
import stat
import struct
import subprocess
import sys
import termios
import time
import urllib.error
import urllib.request

path = sys.argv[1]


def connect():
    connection = socket.socket(socket.AF_UNIX)
    connection.settimeout(60)
    connection.connect(path)
    return connection, connection.makefile("r", encoding="utf-8")


def ask(connection, reader, line):
    connection.sendall(line.encode() + b"\n")
    return json.loads(reader.readline())


def lines():
    connection, reader = connect()
    for line in sys.stdin:
        print(line.strip(), "->", json.dumps(ask(connection, reader, line.strip())))


def pieces():
    mode = os.lstat(path).st_mode
    assert stat.S_ISSOCK(mode) and stat.S_IMODE(mode) == 0o600, oct(mode)
    connection, reader = connect()
    other, other_reader = connect()
    for byte in b"sta":
        connection.send(bytes([byte]))
    assert "tick" in ask(other, other_reader, "status")  # the others do not wait for one that is half said
    connection.send(b"tus\r\n\n  \nstats\nstatus")
    assert "tick" in json.loads(reader.readline())
    assert "did you mean 'status'" in json.loads(reader.readline())["error"]
    connection.send(b" now\n")
    assert "no argument 'now'" in json.loads(reader.readline())["error"]
    # At most, and one more; the line behind it is heard.
    for size, wanted in ((8190, "there is no"), (8191, "longer than 8191"), (100000, "longer than 8191")):
        connection.sendall(b"x" * size + b"\nstatus\n")
        assert wanted in json.loads(reader.readline())["error"], size
        assert "tick" in json.loads(reader.readline())
    assert "not JSON" in ask(other, other_reader, "metrics")["error"]
    assert "not valid UTF-8" in ask(other, other_reader, "a\0b")["error"]
    other.sendall(b"\xff\xfe\n")
    assert "not valid UTF-8" in json.loads(other_reader.readline())["error"]
    # Who says no more gets the rest; a last line needs no end.
    other.sendall(b"status\nstatus")
    other.shutdown(socket.SHUT_WR)
    assert len(other_reader.readlines()) == 2
    # One that does not read hears nothing more, and the others do.
    deaf, _ = connect()
    deaf.setblocking(False)
    sent = 0
    try:
        while sent < 1 << 24:
            sent += deaf.send(b"status\n" * 1000)
    except BlockingIOError:
        pass
    assert sent < 1 << 24
    for _ in range(3):
        assert "tick" in ask(connection, reader, "status")
    deaf.close()
    for _ in range(20):  # its end is seen when it has its turn
        assert "tick" in ask(connection, reader, "status")
    # The 17th is closed at once.
    many = [connect() for _ in range(15)]
    assert all("tick" in ask(*one, "status") for one in many)
    last, last_reader = connect()
    assert last_reader.readline() == ""
    many.pop()[0].close()


def soon():
    begin = time.monotonic()
    for _ in range(3):
        connection, reader = connect()
        assert "tick" in ask(connection, reader, "status")
        assert "tick" in ask(connection, reader, "status")
        connection.sendall(b"clients\n" * 300)  # more than one pass runs
        for _ in range(300):
            reader.readline()
    took = time.monotonic() - begin
    assert took < 5, f"it took {took:.1f} s"  # at one tick a second six at least, if it waits for ticks


def processor_seconds(process):
    with open(f"/proc/{process}/stat", encoding="utf-8") as file:
        words = file.read().rpartition(")")[2].split()
    return (int(words[11]) + int(words[12])) / os.sysconf("SC_CLK_TCK")


def idle():
    """What was answered, or is not read, keeps no server busy."""
    silent, _ = connect()
    ended, reader = connect()
    assert "tick" in ask(ended, reader, "status")
    deaf, _ = connect()
    deaf.setblocking(False)
    try:
        while True:
            deaf.send(b"status\n" * 1000)
    except BlockingIOError:
        pass
    time.sleep(0.5)  # it runs what it has room for
    before = processor_seconds(sys.argv[3])
    time.sleep(2)
    took = processor_seconds(sys.argv[3]) - before
    assert took < 0.5, f"{took:.2f} s of 2 s"
    silent.close()


def some_order(chance):
    entity = "%d:1" % chance.randrange(300)
    return chance.choice([
        "set ball_speed=%g" % (chance.randrange(5, 20) / 10), "set pad_speed=%d" % chance.randrange(50, 3100),
        "set lives=x", "put %s hits %d" % (entity, chance.randrange(-2, 20)), "put %s pos 300, 200" % entity,
        "put %s vel %d, -200" % (entity, chance.randrange(-300, 300)), "put %s nothing 1" % entity, "mark here",
        "pause", "step 5", "resume", "net loss=%d" % chance.randrange(0, 120), "net off", "say hello",
        "ban address 203.0.113.0/24", "unban address 203.0.113.0/24", "kick 77", "reload", "status"])


# Of the verbs of some_order, in the order of a line; the last one takes the rest of it.
arguments = {"set": ["setting"], "put": ["entity", "path", "value"], "mark": ["name"], "step": ["ticks"], "net": ["spec"],
             "say": ["text"], "ban": ["who", "rest"], "unban": ["who", "rest"], "kick": ["client"]}


def post(line):
    verb, *rest = line.split(" ", 1)
    names = arguments.get(verb, [])
    values = rest[0].split(" ", len(names) - 1) if rest else []
    asked = urllib.request.Request(f"{sys.argv[5]}/api/v1/{verb}", json.dumps(dict(zip(names, values))).encode(),
                                   {"Content-Type": "application/json"})
    try:
        with urllib.request.urlopen(asked, timeout=60) as answer:
            return json.load(answer)
    except urllib.error.HTTPError as refused:
        return json.load(refused)


def order(connection, reader, line, by_post):
    return post(line) if by_post and line != "status" else ask(connection, reader, line)


def orders():
    chance = random.Random(int(sys.argv[3]))
    connection, reader = connect()
    done, refused, posted, count = 0, 0, 0, int(sys.argv[4])
    while done < count:
        # What seldom finds its entity is tried again.
        by_post = chance.random() < 0.5 and sys.argv[5] != ""
        answer = order(connection, reader, some_order(chance), by_post)
        done += "done" in answer
        posted += by_post and "done" in answer
        refused += "error" in answer
        assert ("error" in answer) != (len(answer) > 0 and "error" not in answer)
        assert refused < 10000, answer
    for line in ("net off", "resume"):
        assert "error" not in ask(connection, reader, line)
    print("done=%d posted=%d" % (done, posted))


def frames(terminal, seen, regex):
    """Read until the regex is there; the text so far."""
    while not re.search(regex, seen, re.S):
        assert select.select([terminal], [], [], 60)[0], seen
        seen += os.read(terminal, 65536).decode()
    return seen


def widest(text):
    # The last whole frame, without what moves the cursor.
    frame = text.split("\x1b[H")[-2]
    return max(len(re.sub(r"\x1b\[[0-9?]*[A-Za-z]", "", line)) for line in frame.split("\r\n")), frame.count("\r\n") + 1


def resize(terminal, columns, rows):
    fcntl.ioctl(terminal, termios.TIOCSWINSZ, struct.pack("HHHH", rows, columns, 0, 0))


def top():
    terminal, inside = pty.openpty()
    resize(terminal, 40, 5)
    program = subprocess.Popen([sys.argv[3], "--socket", path, "top"], stdin=inside, stdout=inside, stderr=inside)
    os.close(inside)
    seen = frames(terminal, "", "1049h.*(\x1b\\[H.*){2}")
    assert widest(seen) == (40, 5), widest(seen)
    resize(terminal, 100, 30)
    seen = frames(terminal, "", "waiting.*bot-1.*(\x1b\\[H.*){2}")
    assert widest(seen)[0] > 80 and widest(seen)[1] <= 30, widest(seen)
    os.write(terminal, b"xq")
    assert program.wait(60) == 0
    frames(terminal, "", "1049l")


{"top": top, "lines": lines, "pieces": pieces, "random": orders, "soon": soon, "idle": idle}[sys.argv[2]]()
