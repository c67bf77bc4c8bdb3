# SPDX-License-Identifier: MIT
"""Headless Chromium behind its debugging pipe, for the tests of the site and of the inspector's page."""
import base64
import fcntl
import json
import os
import subprocess
import time


class Browser:
    """Chromium behind its debugging pipe: commands and events are JSON, each with a zero at its end."""

    def __init__(self, profile, pictures=None):
        self.pictures = pictures
        to_read, self.to = os.pipe()
        self.come, to_write = os.pipe()

        def place_pipes(): # where Chromium expects them; what is there now may be one of them
            source, target = fcntl.fcntl(to_read, fcntl.F_DUPFD, 10), fcntl.fcntl(to_write, fcntl.F_DUPFD, 10)
            os.dup2(source, 3)
            os.dup2(target, 4)

        # Chromium's sandbox wants rights that a container does not give; the pages are ours.
        self.process = subprocess.Popen(
            ["chromium", "--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--no-first-run",
             "--remote-debugging-pipe", f"--user-data-dir={profile}", "about:blank"],
            preexec_fn=place_pipes, close_fds=False, stderr=subprocess.DEVNULL, stdout=subprocess.DEVNULL)
        os.close(to_read)
        os.close(to_write)
        self.number, self.rest, self.said, self.loaded, self.session = 0, b"", [], False, None
        target = next(each for each in self.call("Target.getTargets")["targetInfos"] if each["type"] == "page")
        self.session = self.call("Target.attachToTarget", targetId=target["targetId"], flatten=True)["sessionId"]
        for domain in ("Page", "Runtime", "Log"):
            self.call(domain + ".enable")

    def receive(self):
        while b"\0" not in self.rest:
            part = os.read(self.come, 1 << 20)
            assert part, "Chromium has ended"
            self.rest += part
        line, _, self.rest = self.rest.partition(b"\0")
        message = json.loads(line)
        method = message.get("method")
        if method in ("Runtime.exceptionThrown", "Runtime.consoleAPICalled", "Log.entryAdded"):
            self.said.append(json.dumps(message["params"])[:500])
        self.loaded |= method == "Page.loadEventFired"
        return message

    def call(self, method, **arguments):
        self.number += 1
        message = {"id": self.number, "method": method, "params": arguments}
        if self.session:
            message["sessionId"] = self.session
        os.write(self.to, json.dumps(message).encode() + b"\0")
        while True:
            answer = self.receive()
            if answer.get("id") == self.number:
                assert "error" not in answer, answer
                return answer["result"]

    def open(self, url):
        self.loaded = False
        self.call("Page.navigate", url=url)
        while not self.loaded:
            self.receive()

    def value(self, script):
        try:
            return self.call("Runtime.evaluate", expression=script, returnByValue=True)["result"].get("value")
        except AssertionError as fault: # the page went while it was asked
            if "navigated" not in str(fault):
                raise
            return None

    def wait(self, script, seconds=60):
        """Until the script is true. @return its value."""
        until = time.monotonic() + seconds
        while True:
            value = self.value(script)
            if value:
                return value
            assert time.monotonic() < until, f"not within {seconds} s: {script}"
            time.sleep(0.03)

    def press(self, key, text=None):
        for kind in ("keyDown", "keyUp"):
            more = {"text": text} if text and kind == "keyDown" else {}
            code = {"Enter": 13, "ArrowLeft": 37, "ArrowRight": 39, "Home": 36, "End": 35, "Escape": 27}.get(key, 0)
            self.call("Input.dispatchKeyEvent", type=kind, key=key, windowsVirtualKeyCode=code, **more)

    def be(self, width, scheme):
        self.call("Emulation.setDeviceMetricsOverride", width=width, height=900, deviceScaleFactor=1, mobile=False)
        self.call("Emulation.setEmulatedMedia", features=[{"name": "prefers-color-scheme", "value": scheme}])

    def keep(self, name):
        if self.pictures:
            data = self.call("Page.captureScreenshot", format="png")["data"]
            with open(os.path.join(self.pictures, name + ".png"), "wb") as file:
                file.write(base64.b64decode(data))

    def end(self):
        self.process.kill()
        self.process.wait()
