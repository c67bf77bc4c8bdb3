#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""engines.py BUILD [PICTURES]: the examples of client/js with real engines in headless Chromium, beside bots.

npm fetches what their package.json pins, into a copy. Each shows and moves what the server has at 1280 and 360 px, reads worlds, is loaded
again as the same player, and says nothing on the console. tsc refuses misspelt names. 10,000 entities are read; the milliseconds are printed,
and those of the first picture, from the first byte of the page. PICTURES keeps PNG. Code 77: npm or its packages cannot be had."""
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import time

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.join(os.path.dirname(__file__), "../../scripts/site"))
from browser import Browser

BUILD = os.path.abspath(sys.argv[1])
PICTURES = os.path.abspath(sys.argv[2]) if len(sys.argv) > 2 else None
HERE = os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../client/js")
READ = """(() => {
    const times = [];
    let count, sum = 0;
    for (let i = 0; i < 100; i++) {
        const began = performance.now();
        count = 0;
        example.match.world.each("transform", "spawn", (entity, {position}, spawn) => { count++; sum += position.x + position.y + position.z + spawn.seed; });
        times.push(performance.now() - began);
    }
    times.sort((a, b) => a - b);
    return `entities=${count} read_ms_p50=${times[50].toFixed(2)} read_ms_least=${times[0].toFixed(2)}`;
})()"""
# Of the software renderer, and of a line that is silent while it draws.
NOT_OURS = ("software WebGL", "GL Driver Message", "note: connection lost", "note: back after")


class Example:
    def __init__(self, folder, engine, game, *options):
        self.out = open(os.path.join(folder, engine + ".out"), "w+", encoding="utf-8")
        self.processes = [subprocess.Popen(
            [BUILD + "/bin/shoal-server", "--game", game, *options, "--listen", "127.0.0.1:0", "--http", "127.0.0.1:0", "--log", "none",
             "--min-clients", "0"], stdout=self.out, stderr=subprocess.STDOUT, env={**os.environ, "SHOAL_MODULE_PATH": BUILD + "/lib/shoal/games"})]
        while not (ready := re.search(r"^ready listen=(\S+) .*http=(\S+)", self.said(), re.M)):
            assert self.processes[0].poll() is None, self.said()
            time.sleep(0.02)
        self.processes.append(subprocess.Popen([BUILD + "/bin/shoal-client", ready[1], "--headless", "--bots", "3"],
                                               stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL))
        web = subprocess.Popen(["node", HERE + "/serve.mjs", os.path.join(folder, engine), ready[2]], stdout=subprocess.PIPE, text=True)
        self.processes.append(web)
        self.url = web.stdout.readline().strip()

    def said(self):
        self.out.seek(0)
        return self.out.read()

    def end(self):
        for each in self.processes:
            each.kill()
            each.wait()


def show(page, width, height):
    """Without pictures for a person one pixel in six is drawn: by software each takes its time."""
    page.call("Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=1 if PICTURES else 0.4, mobile=width < 500)


def look(page, folder, engine, game, *options):
    example = Example(folder, engine, game, *options)
    try:
        page.said.clear()
        show(page, 1280, 900)
        page.open(example.url + "#name=Ann")
        page.wait("window.example?.count > 5 && example.match.player > 0", 120)
        player = page.value("example.match.client")
        page.value("window.at = example.match.world.tick")
        page.wait("example.match.world.tick > window.at + 10")
        page.keep(engine + "-1280")
        show(page, 360, 740)
        page.wait("innerWidth === 360 && document.querySelector('canvas').clientWidth <= 360")
        page.keep(engine + "-360")
        text = page.value("try { example.match.world.each('spwn', () => {}); } catch (fault) { fault.message }")
        assert "the game has no component 'spwn'" in text, text
        page.value("window.isOld = true, location.reload(), 1")
        page.wait("!window.isOld && window.example?.count > 5 && example.match.player > 0", 120)
        assert page.value("example.match.client") == player, "it is another player after the page was loaded again: " + example.said()
        wrong = [line for line in page.said if not any(each in line for each in NOT_OURS)]
        assert not wrong, wrong
        first_ms = page.value("example.first_ms - performance.getEntriesByType('navigation')[0].responseStart")
        print(f"{engine}: {game} is shown, first_picture_ms={first_ms:.0f} entities={page.value('example.count')}")
    finally:
        page.open("about:blank")
        example.end()


def read(page, folder):
    """By a page without a picture, so that no renderer takes the processor."""
    example = Example(folder, "bare", "cubes", "--set", "cubes=10000")
    try:
        page.open(example.url)
        page.wait("window.count?.() > 10000", 120)
        print("chromium: " + page.value(READ))
    finally:
        page.open("about:blank")
        example.end()


def types(folder):
    """A misspelt name is the compiler's error, a right one is none."""
    assert os.path.getsize(HERE + "/shoal.js") <= 20000, "shoal.js is too large"
    for name in ("shoal.js", "shoal.d.ts", "package.json"):
        shutil.copy(f"{HERE}/{name}", folder + "/types")
    with open(folder + "/types/cubes.d.ts", "w", encoding="utf-8") as file:
        subprocess.run(["node", HERE + "/types.mjs", BUILD + "/lib/shoal/web/cubes.wasm"], stdout=file, check=True)
    right = ('world.each("transform", "spawn?", (entity, {position}, spawn) => void (position.x + (spawn?.seed ?? entity)))',
             'world.watch("orbit", {change: (entity, orbit) => void (orbit.yaw + entity)})', "input.set({yaw: 1})")
    wrong = ('world.each("transfrom", () => {})', 'world.watch("orbt", {})', "input.set({yow: 1})")
    for lines, refused in ((right, 0), (wrong, len(wrong))):
        with open(folder + "/types/page.ts", "w", encoding="utf-8") as file:
            file.write('import {join} from "./shoal.js";\nimport type {Game} from "./cubes.js";\nconst match = await join<Game>("/play");\n')
            file.write("".join(f"match.{line};\n" for line in lines))
        ended = subprocess.run(["node", "node_modules/typescript/bin/tsc", "--noEmit", "--strict", "--target", "es2022", "--module", "nodenext", "page.ts"],
                               cwd=folder + "/types", capture_output=True, text=True, check=False)
        assert len(set(re.findall(r"^page\.ts\((\d+)", ended.stdout, re.M))) == refused, ended.stdout
    print("types: a misspelt component and input are refused")


def main():
    packages = ["typescript@5.9.3"]
    for engine in ("three", "phaser"):
        with open(f"{HERE}/examples/{engine}/package.json", encoding="utf-8") as file:
            packages += ["@".join(each) for each in json.load(file)["dependencies"].items()]
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder: # Chromium still ends
        npm = ["npm", "install", "--silent", "--no-audit", "--no-fund", "--prefix", folder, *packages]
        if subprocess.run(npm, stdout=subprocess.DEVNULL, check=False).returncode:
            print("SKIP: npm does not get " + " ".join(packages))
            sys.exit(77)
        for engine in ("three", "phaser"):
            shutil.copytree(f"{HERE}/examples/{engine}", f"{folder}/{engine}", ignore=shutil.ignore_patterns("node_modules"))
        for name in ("bare", "types"):
            os.mkdir(f"{folder}/{name}")
        for name in ("three", "phaser", "types"):
            os.symlink(folder + "/node_modules", f"{folder}/{name}/node_modules")
        with open(folder + "/bare/index.html", "w", encoding="utf-8") as file:
            file.write('<!doctype html><link rel="icon" href="data:,"><script type="module">import {join} from "/shoal.js"; const match = await join("/play");'
                       "window.example = {match}; window.count = () => { let count = 0; match.world.each('transform', 'spawn', () => count++); return count; };"
                       "setInterval(() => match.frame(), 16);</script>")
        types(folder)
        page = Browser(folder + "/profile", PICTURES)
        try:
            read(page, folder)
            look(page, folder, "phaser", "arena")
            look(page, folder, "three", "cubes", "--set", "cubes=300")
        finally:
            page.end()
    print("engines: passed")


if __name__ == "__main__":
    main()
