#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""inspector.py BUILD [PICTURES]: does the inspector's page show a real match?

A server with eight bots; headless Chromium opens each view, by keys, and reads what stands there. An edit, a seek, a server
that restarts, a reader's token, telephones, dark and light. The console must stay empty. With PICTURES each view is kept
there as PNG."""
import ctypes
import json
import os
import re
import shutil
import struct
import subprocess
import sys
import tempfile
import time
import urllib.request

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.join(os.path.dirname(__file__), "../../scripts/site"))
from browser import Browser

BUILD = os.path.abspath(sys.argv[1])
PICTURES = os.path.abspath(sys.argv[2]) if len(sys.argv) > 2 else None
BOTS = 8
READER, OPERATOR = "reader-of-a-test-0123456789", "operator-of-a-test-0123456789"
VIEWS = ["match", "overview", "clients", "replication", "world", "systems", "log"]
WIDTH_MAX, DELAY_S = 360, 2
CLOCK = "document.querySelector('.clock').textContent.split('·')[0].replaceAll(',', '')"
PICTURE = "(canvas => { const copy = new OffscreenCanvas(canvas.width, canvas.height).getContext('2d', {willReadFrequently: true}); copy.drawImage(canvas, 0, 0); const data = new Uint32Array(copy.getImageData(0, 0, canvas.width, canvas.height).data.buffer); let sum = 1; for (let i = 0; i < data.length; i++) sum = sum * 31 + data[i] | 0; return sum; })(document.querySelector('.stage canvas'))"
ROWS = "document.querySelectorAll('#view tbody tr:not(.gap)').length"


def missing():
    """What this machine lacks, as a sentence, or nothing."""
    if not shutil.which("chromium"):
        return "there is no chromium"
    said = subprocess.run([BUILD + "/bin/shoal-server", "--help"], capture_output=True, text=True, check=False).stdout
    return None if "--http" in said else "the server was built without the inspector (libmicrohttpd-dev, libjansson-dev)"


class Program:
    """A program that serves the page, and what it said when it was ready."""

    def __init__(self, folder, *command):
        self.out = open(os.path.join(folder, "server.out"), "w+", encoding="utf-8")
        self.processes = []
        self.start(folder, self.out, *command)
        until = time.monotonic() + 60
        while not (ready := re.search(r"^ready .*", self.said(), re.M)):
            assert time.monotonic() < until and self.processes[0].poll() is None, "the server is not ready: " + self.said()
            time.sleep(0.02)
        self.ready = dict(word.split("=", 1) for word in ready[0].split()[1:])
        self.address = self.ready["http"]

    def start(self, folder, out, name, *options):
        self.processes.append(subprocess.Popen([f"{BUILD}/bin/{name}", *options], stdout=out, stderr=subprocess.DEVNULL, cwd=folder))

    def said(self):
        self.out.seek(0)
        return self.out.read()

    def end(self):
        for each in self.processes:
            each.kill()
            each.wait()
        self.out.close()


class Match(Program):
    """A server, and its bots."""

    def __init__(self, folder, port=0, more=(), game="arena"):
        super().__init__(folder, "shoal-server", "--game", game, "--listen", "127.0.0.1:0", "--http", f"127.0.0.1:{port}", "--log", os.path.join(folder, game + ".slog"), *more)
        self.start(folder, subprocess.DEVNULL, "shoal-client", self.ready["listen"], "--bots", str(BOTS if game == "arena" else 2))

    def ask(self, name, values=None):
        request = urllib.request.Request(f"{self.address}/api/v1/{name}", json.dumps(values).encode() if values else None,
                                         {"Authorization": "Bearer " + OPERATOR, "Content-Type": "application/json"})
        with urllib.request.urlopen(request) as answer:
            return json.load(answer)


def write_tokens(folder):
    name = os.path.join(folder, "tokens")
    with open(os.open(name, os.O_WRONLY | os.O_CREAT, 0o600), "w", encoding="utf-8") as file:
        file.write(f"reader {READER}\noperator {OPERATOR}\n")
    return name


class Page(Browser):
    """The page in a browser, with words for what a person does there."""

    def at(self, place):
        return f"document.querySelector({place!r})"

    def has(self, place, text):
        self.wait(f"({self.at(place)}?.textContent ?? '').includes({text!r})")

    def click(self, place):
        self.wait(f"{self.at(place)} && ({self.at(place)}.click(), true)")

    def click_text(self, text):
        self.wait(f"(each => each && (each.click(), true))([...document.querySelectorAll('button')].find(each => each.textContent.includes({text!r}) && !each.disabled))")

    def write(self, place, text):
        self.value(f"{self.at(place)}.focus(), {self.at(place)}.select()")
        self.call("Input.insertText", text=text)

    def view(self, name):
        key = str(VIEWS.index(name) + 1)
        self.press("Escape") # out of a field
        self.press(key, key)
        self.has("#title", name.capitalize())

    def touch(self, place, part=0.5):
        """A finger on an element, at a part of its width."""
        x, y = self.wait(f"(box => box && [box.x + box.width * {part}, box.y + box.height / 2])({self.at(place)}?.getBoundingClientRect())")
        self.call("Input.dispatchTouchEvent", type="touchStart", touchPoints=[{"x": x, "y": y}])
        self.call("Input.dispatchTouchEvent", type="touchEnd", touchPoints=[])

    def tick(self):
        return self.wait(f"Number({CLOCK}) || 0")


def check_eyes(page):
    """A client's picture of a tick is another one than a spectator's, which comes back."""
    whole = page.value(PICTURE)
    page.press("c", "c")
    page.has(".over", "what client ")
    page.wait(f"{PICTURE} !== {whole}")
    page.value("(eyes => { eyes.value = '0'; eyes.dispatchEvent(new Event('change')); })(document.querySelector('[aria-label^=Whose]'))")
    page.wait(f"{PICTURE} === {whole}")


def check_speeds(page):
    """From a quarter on: slowly, and so quickly that the newest tick is there at once."""
    choose = "(speeds => {{ speeds.value = '{}'; speeds.dispatchEvent(new Event('change')); }})(document.querySelector('[aria-label=Speed]'))"
    page.value(choose.format("0.1"))
    tick, began = page.tick(), time.monotonic()
    page.press(" ", " ")
    page.wait(f"Number({CLOCK}) >= {tick + 3}")
    assert time.monotonic() - began > 0.3, "a tenth of the speed is as fast as the match"
    page.value(choose.format("64"))
    page.has(".deck", "● Live") # it plays up to the newest tick


def check_mark(page, match):
    """An operator's mark stands on the timeline."""
    tick = int(match.ask("mark", {"name": "first blood"})["before_tick"])
    page.wait(f"Number({CLOCK}) > {tick + 70}") # marks are read once a second
    page.press(" ", " ")
    place = "(slider => [slider.getBoundingClientRect(), ...['min', 'max'].map(end => Number(slider.getAttribute('aria-value' + end)))])(document.querySelector('.deck canvas'))"
    page.wait(f"(([box, first, last]) => {{ document.querySelector('.deck canvas').dispatchEvent(new PointerEvent('pointermove', {{clientX: box.x + ({tick} - first) / (last - first) * box.width, clientY: box.y + 14}})); return document.querySelector('.hover-tip')?.textContent.includes('first blood'); }})({place})")
    page.press("End")


def check_orders(page):
    """Kick one, then ban one: all bots have its address."""
    page.view("clients")
    page.wait(f"{ROWS} >= {BOTS}")
    page.click("#view tbody tr.pick")
    for verb, said in (("Kick", "was kicked"), ("Ban", "is banned")):
        if verb == "Ban":
            page.click("#view tbody tr.pick:not(.faded):not(.chosen)")
        page.click_text(verb)
        page.click("#view tbody tr.pick.chosen") # the same client again: the question stays
        page.click_text(verb + ": sure?")
        page.has("#notice", said)


def check_match(page):
    page.view("match")
    tick = page.tick()
    page.wait(f"Number({CLOCK}) > {tick}")
    page.press(" ", " ")
    page.wait("document.querySelector('[aria-label^=Play]').dataset.icon === 'play'")
    time.sleep(0.15)
    tick = page.tick()
    for key, wanted in (("ArrowRight", tick + 1), ("ArrowLeft", tick)):
        page.press(key)
        page.wait(f"document.querySelector('.clock').textContent.startsWith(({wanted}).toLocaleString('en'))")
    assert f"tick={tick}" in page.value("location.hash"), "the link does not hold the tick: " + page.value("location.hash")
    picture = page.value("document.querySelector('.stage .pill').textContent")
    if picture != "map": # the game's own code is there
        check_eyes(page)
    slider = ".deck canvas" # seek to the first quarter
    x, y, wide, first, last = page.value(f"(slider => [slider.getBoundingClientRect().x, slider.getBoundingClientRect().y, slider.clientWidth, ...['min', 'max'].map(end => Number(slider.getAttribute('aria-value' + end)))])({page.at(slider)})")
    for kind in ("mousePressed", "mouseReleased"):
        page.call("Input.dispatchMouseEvent", type=kind, x=x + wide / 4, y=y + 14, button="left", clickCount=1)
    quarter = first + (last - first) / 4
    page.wait(f"Math.abs({page.at(slider)}.getAttribute('aria-valuenow') - {quarter}) < {max(3, (last - first) / 8)}")
    page.wait(f"Number(location.hash.match(/tick=([0-9]*)/)[1]) === Number({CLOCK})") # the seek has ended, also when it was near
    colours = page.value("(canvas => { const seen = new Set(), data = canvas.getContext('2d').getImageData(0, 0, canvas.width, canvas.height).data; for (let i = 0; i < data.length; i += 4) seen.add(data[i] << 16 | data[i + 1] << 8 | data[i + 2]); return seen.size; })(document.querySelector('.stage canvas'))")
    assert colours > 4, f"the picture of the match has {colours} colours"
    check_speeds(page)
    page.press("End")
    page.has(".deck", "● Live")
    if picture != "map":
        page.click_text("Verify")
        page.has(".over", "all hashes are equal")
    return picture


def measure_behind(page):
    """Seconds that the live picture is behind the server's match."""
    page.tick()
    seen = []
    for _ in range(8):
        page.value("window.behind = null, fetch('api/v1/status').then(answer => answer.json()).then(status => { window.behind = [(Number(status.tick) - Number(document.querySelector('.clock').textContent.split('·')[0].replaceAll(',', ''))) / status.tick_rate_hz]; }), 1")
        seen.append(page.wait("window.behind")[0])
    return sorted(seen)[len(seen) // 2]


def check_figures(page):
    page.view("overview")
    page.wait(f"[...document.querySelectorAll('.tile')].some(tile => tile.textContent.includes('Players{BOTS} of'))")
    page.has("#view", "arena_soldier")
    page.view("clients")
    page.wait(f"{ROWS} >= {BOTS}")
    page.click_text("Its own")
    page.wait("/^Seen/.test(document.querySelector('.section + .section .verdict b')?.textContent ?? '')")
    page.write(".side input", "999999:1")
    page.click_text("Why?")
    page.wait("document.querySelectorAll('.chain li.no, .side .section + .section .problem:not(:empty)').length")
    page.view("replication")
    page.has("#view", "pos")
    page.wait(f"{ROWS} > 3")
    for by in ("Template", "Cause", "Client", "Entity"):
        page.click_text(by)
        page.wait(f"{ROWS} > 0 && [...document.querySelectorAll('#view button')].find(each => each.textContent === {by!r}).getAttribute('aria-pressed') === 'true'")
    page.click_text("Take the next packet")
    page.has("#view", "parts")
    page.view("systems")
    page.wait(f"{ROWS} > 3 && [...document.querySelectorAll('#view .bar i')].some(bar => parseFloat(bar.style.width) > 50)")
    page.be(360, "light") # a phone shows the figures without scrolling
    page.wait("document.querySelector('#systems tbody td.number').getBoundingClientRect().right < 250")
    page.be(1280, "dark")


def check_world(page):
    page.view("overview")
    page.press("/", "/")
    page.has("#title", "World")
    page.call("Input.insertText", text="pos, health where heath < 101")
    page.has("#view .problem", "health")
    page.write(".query", "pos, health, template=arena_soldier where health > 0")
    page.wait(f"{ROWS} > 9 && document.querySelector('#view .problem').textContent === ''")
    page.write(".query", "pos, team, template=arena_flag where team > 0") # flags live as long as the match
    page.wait(f"{ROWS} === 4")
    page.click("#view tbody tr.pick")
    page.has(".side h2", "arena_flag")
    assert "entity=" in page.value("location.hash"), "the link does not hold the entity"
    page.click("[aria-label^='Edit team']")
    page.wait("document.querySelectorAll('.component input').length")
    was = page.value("document.querySelector('.component input').value")
    wanted = "2" if was == "1" else "1"
    page.write(".component input", wanted)
    page.press("Enter", "\r")
    page.has("#notice", "The change is in the log")
    page.wait(f"[...document.querySelectorAll('.component')].find(each => each.textContent.startsWith('team')).querySelector('dd').textContent === {wanted!r}")


def check_log(page):
    page.view("log")
    page.has(".lines", "joined from 127.0.0.1")
    page.click_text("Options")
    page.wait("[...document.querySelectorAll('#view tr')].some(row => /--http.*command line/.test(row.textContent))")
    page.click_text("Lines")


def check_looks(page):
    """No view is wider than a telephone; colours follow the system's, until the switch says otherwise."""
    grounds = []
    for scheme in ("dark", "light"):
        page.be(WIDTH_MAX, scheme)
        for name in VIEWS:
            page.view(name)
            time.sleep(0.05)
            wide = page.value("Math.max(document.documentElement.scrollWidth, document.querySelector('#view').scrollWidth)")
            assert wide <= WIDTH_MAX, f"{name} is {wide} pixels wide on a screen of {WIDTH_MAX}"
        grounds.append(page.value("getComputedStyle(document.body).backgroundColor"))
    page.press("t", "t")
    assert page.value("getComputedStyle(document.body).backgroundColor") == grounds[0] != grounds[1], grounds
    page.press("t", "t")
    page.press("t", "t")
    page.press("?", "?")
    page.has("dialog[open]", "Space")
    page.press("?", "?")
    page.wait("!document.querySelector('dialog[open]')")


def check_reader(page, folder):
    """A reader's link on a telephone: the match plays, later than it is, and obeys fingers. A page that sleeps while parts of the
    log are deleted goes on."""
    match = Match(folder, game="breakout", more=["--http-token-file", write_tokens(folder), "--http", f"delay={DELAY_S}", "--log-segment-s", "1", "--log", "keep=2"])
    try:
        page.call("Emulation.setTouchEmulationEnabled", enabled=True)
        page.be(WIDTH_MAX, "dark")
        page.open("about:blank")
        page.open(f"{match.address}/#token={READER}")
        page.has("#right", "read only")
        page.wait("document.querySelector('.stage .pill')?.textContent")
        assert page.value("document.querySelector('.stage .pill').textContent") != "map", page.value("document.querySelector('.over').textContent")
        tick = page.tick()
        page.wait(f"Number({CLOCK}) > {tick + 10}")
        behind = (match.ask("status")["tick"], page.tick())
        assert int(behind[0]) - behind[1] >= DELAY_S * 60, f"the match is at {behind[0]}, a reader has {behind[1]}"
        assert page.value("Math.max(document.documentElement.scrollWidth, document.querySelector('#view').scrollWidth)") <= WIDTH_MAX
        page.touch("[aria-label^=Play]")
        page.wait("document.querySelector('[aria-label^=Play]').dataset.icon === 'play'")
        picture, tick = page.value(PICTURE), page.tick()
        page.touch(".deck canvas", 0.1)
        page.wait(f"Number({CLOCK}) < {tick} && {PICTURE} !== {picture}")
        page.keep("reader_360_dark")
        page.touch("[aria-label^=Play]")
        page.touch(".deck button:last-child")
        page.has(".deck", "● Live")
        tick = page.tick()
        # Meanwhile segments are written and only two kept.
        page.call("Network.enable")
        page.call("Network.emulateNetworkConditions", offline=True, latency=0, downloadThroughput=-1, uploadThroughput=-1)
        until = int(match.ask("status")["tick"]) + 60 * 4
        while int(match.ask("status")["tick"]) < until:
            time.sleep(0.1)
        page.call("Network.emulateNetworkConditions", offline=False, latency=0, downloadThroughput=-1, uploadThroughput=-1)
        page.wait(f"Number({CLOCK}) > {tick + 60 * 3}")
        page.wait("!document.querySelector('.over .bad')")
    finally:
        page.call("Emulation.setTouchEmulationEnabled", enabled=False)
        match.end()


def check_restart(page, folder, match):
    """The server goes, and comes back at the same place, later with tokens."""
    page.view("overview")
    port = match.address.rsplit(":", 1)[1]
    match.end()
    shutil.copy(os.path.join(folder, "arena.slog"), os.path.join(folder, "file.slog")) # for check_file
    page.has("#notice", "asks again")
    match = Match(folder, port)
    page.has("#notice", "restarted")
    page.wait("document.querySelector('#connection').className === 'live'")
    match.end()
    match = Match(folder, port, ["--http-token-file", write_tokens(folder)])
    page.wait("document.querySelector('#ask-token').open")
    page.write("#token", READER)
    page.press("Enter", "\r")
    page.has("#right", "read only")
    page.wait("!document.querySelector('#right').hidden")
    page.open("about:blank")
    page.open(f"{match.address}/#view=world&token={OPERATOR}")
    page.wait("document.querySelector('#connection').className === 'live' && document.querySelector('#right').hidden")
    assert OPERATOR not in page.value("location.href"), "the token stays in the address"
    return match


def crc(data):
    """CRC-32C."""
    value = 0xffffffff
    for byte in data:
        value ^= byte
        for _ in range(8):
            value = value >> 1 ^ 0x82f63b78 * (value & 1)
    return value ^ 0xffffffff


def change_seed(source, target):
    """Another seed in the header of a log (proto/LOG.md), with right checksums: it runs again to other hashes."""
    with open(source, "rb") as file:
        data = file.read()
    head = bytearray(data[16:88])
    flags, stored, size = head[9], *struct.unpack_from("<II", head, 12)
    record = data[88:88 + stored]
    if flags & 1:
        library, buffer = ctypes.CDLL("libzstd.so.1"), ctypes.create_string_buffer(size)
        assert library.ZSTD_decompress(buffer, ctypes.c_size_t(size), record, ctypes.c_size_t(stored)) == size
        record = buffer.raw
    record, at = bytearray(record), 0

    def varint():
        nonlocal at
        value = shift = 0
        while True:
            byte = record[at]
            at += 1
            value |= (byte & 127) << shift
            shift += 7
            if byte < 128:
                return value
    varint() # the record's length
    while (key := varint()) >> 3 != 7:
        at += {0: 0, 1: 8, 2: 0, 5: 4}[key & 7]
        if key & 7 in (0, 2):
            value = varint()
            at += value if key & 7 == 2 else 0
    record[at] ^= 2
    head[9] = 0
    struct.pack_into("<III", head, 12, len(record), len(record), 1)
    struct.pack_into("<I", head, 64, crc(record))
    struct.pack_into("<I", head, 68, crc(head[:68]))
    with open(target, "wb") as file:
        file.write(data[:16] + head + record + data[88 + stored:])


def check_other_files(page, folder):
    """What a client recorded; and a log that runs again to other hashes than it has: the page says so and shows the log's."""
    for name, sentence in (("seen", "cannot run again"), ("changed", "hashes differ, the first at tick 1")):
        match = Program(folder, "shoal-replay", "serve", os.path.join(folder, name + ".slog"))
        try:
            page.open("about:blank")
            page.open(match.address + "/")
            page.has("#facts", "log of")
            page.tick()
            page.press("End")
            page.wait(f"Number({CLOCK}) > 0.7 * document.querySelector('.deck canvas').getAttribute('aria-valuemax')")
            page.click_text("Verify")
            page.has(".over .bad", sentence)
            page.keep("file_" + name)
            picture = page.value(PICTURE)
            page.press("Home")
            page.wait(f"{PICTURE} !== {picture}")
        finally:
            match.end()


def check_file(page, folder, match):
    """A log on its own: the view of the match shows it, the others have nothing to show."""
    match.end()
    match = Program(folder, "shoal-replay", "serve", os.path.join(folder, "file.slog"))
    page.open("about:blank")
    page.open(match.address + "/#view=overview")
    page.has("#facts", "log of")
    page.has("#title", "Match")
    assert page.value("document.querySelectorAll('#views a:not([hidden])').length") == 1
    page.wait("document.querySelector('.stage .pill')?.textContent")
    if page.value("document.querySelector('.stage .pill').textContent") != "map":
        page.tick()
    return match


def keep_pictures(page, address):
    for name in VIEWS + ["options"]:
        for width, scheme in ((1280, "dark"), (1280, "light"), (360, "dark"), (360, "light")):
            page.be(width, scheme)
            page.open("about:blank")
            page.open(f"{address}/#view={'log&show=options' if name == 'options' else name}" + {"world": "&q=pos, vel, health&entity=" + page.entity, "clients": "&client=3&entity=" + page.entity}.get(name, "").replace(" ", "%20"))
            time.sleep(2.5)
            if name == "replication":
                page.click_text("Take the next packet")
                time.sleep(1)
            page.keep(f"{name}_{width}_{scheme}")


def main():
    lacks = missing()
    if lacks:
        print("the inspector's page is not tested:", lacks)
        return
    began = time.monotonic()
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder:
        match, page = Match(folder, more=["--allow-edits"]), None
        try:
            makers = [subprocess.Popen([f"{BUILD}/bin/{name}", "--game", "arena", *options.split()], cwd=folder, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) for name, options in
                      (("shoal-client", "--local --headless --bots 2 --ticks 240 --record seen.slog"), ("shoal-server", "--fast --ticks 600 --min-clients 0 --listen 127.0.0.1:0 --log short.slog"))]
            page = Page(os.path.join(folder, "profile"), PICTURES)
            page.be(1280, "dark")
            opened = time.monotonic()
            page.open(match.address + "/#view=overview")
            page.wait("document.querySelector('.tile .figure span')?.textContent")
            first = time.monotonic() - opened
            picture = check_match(page)
            if picture != "map":
                check_mark(page, match)
            behind = measure_behind(page)
            check_figures(page)
            check_world(page)
            page.entity = page.value("new URLSearchParams(location.hash.slice(1)).get('entity')")
            check_log(page)
            check_looks(page)
            # Chromium notes each refusal that this test asks for.
            said = [line for line in page.said if not re.search(r"status of 4\d\d.*(/why|/query|/packet)", line)]
            assert not said, "the console is not empty: " + said[0]
            took = time.monotonic() - began
            if PICTURES:
                keep_pictures(page, match.address)
            page.be(1280, "dark")
            check_orders(page)
            match = check_restart(page, folder, match)
            match = check_file(page, folder, match)
            if picture != "map":
                for each in makers:
                    assert each.wait() == 0, each.args
                change_seed(os.path.join(folder, "short.slog"), os.path.join(folder, "changed.slog"))
                check_other_files(page, folder)
                check_reader(page, folder)
            # What the browser itself says of a server that is away is expected; our own scripts say nothing.
            ours = [line for line in page.said if '"network"' not in line]
            assert not ours, "the console is not empty: " + ours[0]
        except AssertionError:
            if page:
                page.keep("failed")
            raise
        finally:
            if page:
                page.end()
            match.end()
    print(f"inspector: {len(VIEWS)} views, {picture}, {behind:.2f} s behind, first figures after {first:.2f} s, {took:.1f} s, with restarts {time.monotonic() - began:.1f} s")


main()
