#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""play.py BUILD [PICTURES [film]]: does one play in a browser?

Headless Chromium opens /play of breakout and of arena, beside four bots of ENet, over a line whose round trip is 200 ms. Keys, a
finger on the stick, a line of chat, a tab that is loaded again; at the end its world is the server's. The console stays empty.
Then, long after its link has expired: a tab that is killed, "Play again", another name, the next match; and a server that dies.
With PICTURES what it looks like is kept there as PNG; "film" keeps a telephone in arena, five pictures a second (scripts/film)."""
import json
import math
import os
import re
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time
import urllib.request

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.join(os.path.dirname(__file__), "../../scripts/site"))
from browser import Browser

BUILD = os.path.abspath(sys.argv[1])
PICTURES = os.path.abspath(sys.argv[2]) if len(sys.argv) > 2 else None
BOTS, DELAY_S = 4, 0.1
NAME = "Ann"
LINK_S, TOLERANCE_S = 1, 5 # of a token
# Where the lowest such text of the picture is, in units of the game; null: it is not there. A call of a text is 5, color, x, y, height,
# bytes, text.
FIND = """window.findText = (text) => {
    const words = shoal.seen()?.words, wanted = new TextEncoder().encode(text);
    let lowest = -Infinity, found = null;
    if (!words) return null;
    const floats = new Float32Array(words.buffer, words.byteOffset, words.length), bytes = new Uint8Array(words.buffer, words.byteOffset, words.length * 4);
    for (let i = 0; i + 6 < words.length; i++)
        if (words[i] === 5 && words[i + 5] >= wanted.length && wanted.every((letter, k) => bytes[(i + 6) * 4 + words[i + 5] - wanted.length + k] === letter) && floats[i + 3] > lowest)
            [lowest, found] = [floats[i + 3], floats[i + 2]];
    return found;
}, true"""
# Frames and ms from a key to the first picture in which the player is elsewhere.
MOVES = """window.moved = null, (() => {
    let before, pressed = null, frames = 0;
    const look = () => {
        const at = findText('NAME');
        if (pressed === null) {
            before = at;
            pressed = performance.now();
            dispatchEvent(new KeyboardEvent('keydown', {code: 'CODE', key: 'CODE'}));
        } else if (++frames && at !== null && Math.abs(at - before) > 0.01)
            return void (window.moved = {frames, ms: performance.now() - pressed, by: at - before});
        requestAnimationFrame(look);
    };
    requestAnimationFrame(look);
})(), true"""


class Line(threading.Thread):
    """A line of TCP to a server on which all comes DELAY_S later, both ways."""

    def __init__(self, port):
        super().__init__(daemon=True)
        self.to = port
        self.listener = socket.create_server(("127.0.0.1", 0))
        self.port = self.listener.getsockname()[1]
        self.pairs = []
        self.start()

    def cut(self):
        for each in self.pairs:
            try:
                each.shutdown(socket.SHUT_RDWR)
            except OSError:
                pass

    def run(self):
        while True:
            one = self.listener.accept()[0]
            try:
                other = socket.create_connection(("127.0.0.1", self.to))
            except OSError: # the match is over
                one.close()
                continue
            self.pairs += one, other
            for source, target in ((one, other), (other, one)):
                source.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
                threading.Thread(target=self.carry, args=(source, target), daemon=True).start()

    def carry(self, source, target):
        waiting, wake = [], threading.Condition()

        def write():
            while True:
                with wake:
                    while not waiting:
                        wake.wait()
                    due, data = waiting.pop(0)
                time.sleep(max(0, due - time.monotonic()))
                try:
                    target.sendall(data)
                    if not data:
                        target.shutdown(socket.SHUT_WR)
                        return
                except OSError:
                    return
        threading.Thread(target=write, daemon=True).start()
        data = b"more"
        while data:
            try:
                data = source.recv(65536)
            except OSError:
                data = b""
            with wake:
                waiting.append((time.monotonic() + DELAY_S, data))
                wake.notify()


class Match:
    """A server with a page, and its bots."""

    def __init__(self, folder, game, seconds):
        self.out = open(os.path.join(folder, game + ".out"), "w+", encoding="utf-8")
        rate = {"breakout": 60, "arena": 30}[game]
        self.games = os.path.join(folder, "games") # a copy, which changes
        if not os.path.exists(self.games):
            shutil.copytree(BUILD + "/lib/shoal/games", self.games)
            os.symlink(os.path.abspath(BUILD + "/lib/shoal/web"), os.path.join(folder, "web"))
        self.processes = [subprocess.Popen(
            [BUILD + "/bin/shoal-server", "--game", game, "--tick-rate", str(rate), "--listen", "127.0.0.1:0", "--http", "127.0.0.1:0",
             "--log", "none", "--ticks", str(rate * seconds), "--min-clients", str(BOTS + 1)], stdout=self.out, stderr=subprocess.STDOUT,
            env={**os.environ, "SHOAL_MODULE_PATH": self.games})]
        until = time.monotonic() + 60
        while not (ready := re.search(r"^ready listen=(\S+) .*http=http://127.0.0.1:(\d+)", self.said(), re.M)):
            assert time.monotonic() < until, "the server is not ready: " + self.said()
            time.sleep(0.02)
        self.line, self.listen = Line(int(ready[2])), ready[1]

    def begin(self):
        """The page waits for them."""
        self.processes.append(subprocess.Popen([BUILD + "/bin/shoal-client", self.listen, "--headless", "--bots", str(BOTS)],
                                               stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL))

    def said(self):
        self.out.seek(0)
        return self.out.read()

    def end(self):
        for each in self.processes:
            each.kill()
            each.wait()
        self.out.close()


class Page(Browser):
    """The page in a browser, with words for what a person does there."""

    def open_match(self, match, is_cut=False):
        """A line that is cut before the match begins makes the page join again."""
        self.open("about:blank")
        self.open(f"http://127.0.0.1:{match.line.port}/play#name={NAME}")
        if is_cut:
            said = "document.querySelector('#said').textContent"
            self.wait(f"{said} === 'Waiting for the match'")
            match.line.cut()
            self.wait(f"{said}.includes('joining again')")
            self.wait("!window.shoal")
            self.said.clear() # Chromium says that a connection was cut
        match.begin()
        self.see()

    def see(self):
        self.wait("window.shoal?.first")
        self.value(FIND)
        self.wait(f"findText('{NAME}') !== null")

    def key(self, kind, key):
        self.call("Input.dispatchKeyEvent", type=kind, key=key, code=key, windowsVirtualKeyCode={"F1": 112}.get(key, 0))

    def lose_tab(self, url):
        """Its process is killed, as a phone does, and the page is opened again without the link."""
        os.write(self.to, json.dumps({"id": 0, "method": "Page.crash", "params": {}, "sessionId": self.session}).encode() + b"\0")
        while self.receive().get("method") != "Inspector.targetCrashed":
            pass
        self.open(url)
        self.see()

    def act(self, script, name=NAME):
        """What ends with the page loaded again."""
        self.value("shoal.isOld = true")
        self.value(script + ", 1")
        self.wait("window.shoal && !shoal.isOld && shoal.first", 120)
        self.value(FIND)
        self.wait(f"findText('{name}') !== null")

    def telephone(self, is_one, density=2):
        self.call("Emulation.setTouchEmulationEnabled", enabled=is_one, maxTouchPoints=2 if is_one else 1)
        self.call("Emulation.setDeviceMetricsOverride", width=360 if is_one else 1280, height=740, deviceScaleFactor=density if is_one else 1, mobile=is_one)

    def middle(self, place):
        return self.wait(f"(box => box && box.width && [box.x + box.width / 2, box.y + box.height / 2])(document.querySelector('{place}')?.getBoundingClientRect())")

    def touch(self, kind, *point):
        self.call("Input.dispatchTouchEvent", type=kind, touchPoints=[{"x": point[0], "y": point[1]}] if point else [])


def check_keys(page):
    """The player moves before the server could have answered."""
    time.sleep(1)
    page.value(MOVES.replace("NAME", NAME).replace("CODE", "ArrowLeft"))
    moved = page.wait("window.moved", 20)
    assert moved["ms"] < DELAY_S * 1000, f"a key moves the player after {moved['ms']:.0f} ms: the answer takes {DELAY_S * 2000:.0f}"
    page.value("dispatchEvent(new KeyboardEvent('keyup', {code: 'ArrowLeft', key: 'ArrowLeft'}))")
    print(f"  a key moves the player after {moved['frames']} frames, {moved['ms']:.0f} ms; the line takes {page.value('shoal.player.about().rttMs'):.0f} ms")


def check_again(page, number):
    """The tab is loaded again: the same player goes on."""
    page.value("location.reload(), 1")
    page.wait("!window.shoal")
    page.see()
    assert page.value("shoal.seen().client") == number, f"client {number} came back as {page.value('shoal.seen().client')}"


def check_exchanged(page, match, number):
    """The server takes another version of the game: the page goes on with its code, and the player too."""
    page.value("shoal.isOld = true")
    with open(match.games + "/breakout.blk", "a", encoding="utf-8") as file:
        file.write("// another version\n")
    match.processes[0].send_signal(signal.SIGHUP)
    page.wait("!window.shoal?.isOld")
    page.see()
    assert page.value("shoal.seen().client") == number, f"client {number} came back as {page.value('shoal.seen().client')}"
    page.said.clear() # Chromium says that a connection was cut


def check_stick(page):
    x, y = page.middle("#move")
    before = page.value(f"findText('{NAME}')")
    page.touch("touchStart", x, y)
    page.touch("touchMove", x + 50, y)
    page.wait(f"Math.abs((findText('{NAME}') ?? {before}) - {before}) > 5", 20)
    page.touch("touchEnd")
    assert page.value("document.documentElement.scrollWidth") <= 360, "the page is wider than a telephone"


def check_chat(page):
    page.value("document.querySelector('#chat-open').click()")
    page.call("Input.insertText", text="hello from a page")
    page.press("Enter", "\r")
    page.wait("findText('hello from a page') !== null", 20)
    page.wait("document.querySelector('#chat').hidden")


def check_end(page, match):
    page.wait("!document.querySelector('#again').hidden", 60)
    line = dict(word.split("=", 1) for word in page.value("shoal.line()").split() if "=" in word)
    match.processes[0].wait(30)
    wanted = re.search(rf"^peer id={line['id']} tick={line['tick']} .*scope_hash=(\S+) end=goodbye", match.said(), re.M)
    assert wanted and wanted[1] == line["mirror_hash"], (line, match.said())
    strange = [said for said in page.said if "client id=" not in said]
    assert not strange, strange
    page.said.clear()


def play(page, folder, game, seconds):
    match = Match(folder, game, seconds)
    try:
        page.telephone(False)
        page.open_match(match, game == "arena")
        print(f"{game}: the first picture after {page.value('shoal.first'):.0f} ms")
        number = page.value("shoal.seen().client")
        page.keep(game + "-1280")
        if game == "breakout":
            check_keys(page)
        page.key("keyDown", "F1")
        page.wait("!document.querySelector('#about').hidden && document.querySelector('#facts').textContent.includes('ms')")
        page.keep(game + "-1280-about")
        page.key("keyDown", "F1")
        if game == "arena":
            check_chat(page)
        check_again(page, number)
        if game == "breakout":
            check_exchanged(page, match, number)
        page.telephone(True)
        check_again(page, number)
        if game == "breakout":
            check_stick(page)
        page.keep(game + "-360")
        print("  a frame takes %.1f ms (median), %.1f ms (p99)" % tuple(page.value("(times => [times[times.length >> 1], times[Math.floor(times.length * 0.99)]])([...shoal.times].sort((a, b) => a - b))")))
        check_end(page, match)
        page.keep(game + "-360-end")
    finally:
        match.end()


def serve(folder, name, *options):
    """A server whose players need links. @return it, and a function of what it said."""
    out = open(os.path.join(folder, name + ".txt"), "w+", encoding="utf-8")
    process = subprocess.Popen([BUILD + "/bin/shoal-server", *options, "--key-file", folder + "/key", "--listen", "127.0.0.1:0",
                                "--log", f"{folder}/{name}.slog"], stdout=out, stderr=subprocess.STDOUT)

    def said(pattern):
        until = time.monotonic() + 120
        while True:
            out.seek(0)
            if found := re.search(pattern, out.read(), re.M):
                return found
            assert time.monotonic() < until and process.poll() is None, f"{name} does not say {pattern}"
            time.sleep(0.02)
    said("^ready ")
    return process, said


def link(folder):
    """@return a token, and when it is over."""
    token = subprocess.run([BUILD + "/bin/shoal-server", "token", "--key-file", folder + "/key", "--life", str(LINK_S), "--player", "5"],
                           check=True, capture_output=True, text=True).stdout.strip()
    return token, time.monotonic() + LINK_S + TOLERANCE_S + 1


def free_pages(count):
    sockets = [socket.create_server(("127.0.0.1", 0)) for _ in range(count)]
    pages = [f"127.0.0.1:{each.getsockname()[1]}" for each in sockets]
    for each in sockets:
        each.close()
    return pages


def come_back(page, folder):
    """Its link is over, and the player comes back all the same."""
    at, = free_pages(1)
    url, options = f"http://{at}/play", ("--game", "breakout", "--http", at)
    server, said = serve(folder, "first", *options)
    try:
        token, over = link(folder)
        page.open("about:blank")
        page.open(f"{url}#join={token}&name={NAME}")
        page.see()
        time.sleep(max(0, over - time.monotonic()))
        page.lose_tab(url)
        number = page.value("shoal.seen().client")
        page.value("Object.defineProperty(document, 'hidden', {get: () => true}), document.dispatchEvent(new Event('visibilitychange'))")
        page.lose_tab(url)
        assert page.value("shoal.seen().client") == number, "a page that was hidden lost its session"
        page.value("shoal.player.leave(performance.now())")
        page.wait("!document.querySelector('#again').hidden")
        page.act("document.querySelector('#again').click()")
        page.act("document.querySelector('#name').value = 'Bea', document.querySelector('#named').requestSubmit()", "Bea")
        server.send_signal(signal.SIGTERM)
        server.wait(60)
        page.wait("!document.querySelector('#again').hidden")
        server, said = serve(folder, "next", *options)
        page.act("document.querySelector('#again').click()", "Bea")
        said('^note: client 1 "Bea" joined')
        with urllib.request.urlopen(f"http://{at}/api/v1/clients/1", timeout=60) as answer:
            assert json.load(answer)["player_id"] == "5", "another player"
        print("  the link is over: a killed tab, Play again, another name and the next match have the same player")
    finally:
        server.kill()
        server.wait()
        page.said.clear()


def follow(page, folder):
    """Its server dies, and never comes back."""
    if not shutil.which("nats-server"):
        return print("SKIP: there is no nats-server")
    first, second, nats = free_pages(3)
    broker = subprocess.Popen(["nats-server", "-js", "-a", "127.0.0.1", "-p", nats.split(":")[1], "-sd", folder + "/js"], stderr=subprocess.DEVNULL)
    processes = [broker]
    try:
        server, said = serve(folder, "dies", "--game", "breakout", "--http", first, "--stream", f"nats://{nats}", "--stream", f"page=http://{second}/play")
        processes.append(server)
        standby, takes = serve(folder, "stands", "--standby", said(r" stream=(\S+)")[1], "--http", second, "--stream", f"page=http://{first}/play",
                               "--tune", "takeover-ms=1000")
        processes.append(standby)
        takes("^note: stands by")
        page.open("about:blank")
        page.open(f"http://{first}/play#join={link(folder)[0]}&name={NAME}")
        page.see()
        number, began = page.value("shoal.seen().client"), time.monotonic()
        server.kill()
        page.wait("shoal.player.home === 1 && shoal.player.about().resumes === 1 && shoal.seen().phase === 2", 60)
        assert page.value("shoal.seen().client") == number
        print(f"  the server dies: back at its standby after {time.monotonic() - began:.1f} s")
    finally:
        for each in processes:
            each.kill()
            each.wait()
        page.said.clear()


def film(page, folder):
    match = Match(folder, "arena", 25)
    try:
        page.telephone(True, 1)
        page.open_match(match)
        x, y = page.middle("#move")
        page.touch("touchStart", x, y)
        begin = time.monotonic()
        for i in range(30):
            at = i / 30 * 2 * math.pi
            page.touch("touchMove", x + 50 * math.cos(at), y - 50 * math.sin(at))
            time.sleep(max(0, begin + i / 5 - time.monotonic()))
            page.keep(f"film-{i:02}")
        page.touch("touchEnd")
        print(f"30 pictures in {time.monotonic() - begin:.1f} s")
    finally:
        match.end()


def main():
    if not shutil.which("chromium"):
        print("SKIP: there is no chromium")
        sys.exit(77)
    if not os.path.exists(BUILD + "/lib/shoal/web/arena.wasm"):
        print(f"SKIP: {BUILD} was built without -DSHOAL_WEB=ON")
        sys.exit(77)
    if PICTURES:
        os.makedirs(PICTURES, exist_ok=True)
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder: # Chromium still ends
        page = Page(os.path.join(folder, "profile"), PICTURES)
        try:
            if sys.argv[3:] == ["film"]:
                return film(page, folder)
            subprocess.run([BUILD + "/bin/shoal-server", "keygen", folder + "/key"], check=True, stdout=subprocess.DEVNULL)
            follow(page, folder)
            come_back(page, folder)
            play(page, folder, "breakout", 25)
            play(page, folder, "arena", 25)
        finally:
            page.end()
    print("passed: one plays in a browser")


main()
