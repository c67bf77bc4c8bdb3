#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""A stand-in for the SDK server of Agones: the requests that shoal-server sends, and nothing else.

    sdk.py PORT     0: any

It prints the port and each request. A port is taken from the start, but refuses until `start`. Commands on stdin:

    start                  accept
    stop                   end all connections, refuse again
    fail N                 answer the next N requests with 500
    hang, go               answer nothing; answer again
    allocate NAME=VALUE... allocated, with these labels; @NAME=VALUE is an annotation
    state STATE            another state
"""
import itertools, json, socket, sys, threading

lock = threading.Condition()
clock = itertools.count(1)


class Sdk:
    def __init__(self, port):
        self.listener, self.connections, self.watches = None, set(), set()
        self.failures, self.hangs = 0, False
        self.labels, self.annotations, self.state, self.counter = {"agones.dev/fleet": "shoal"}, {}, "Scheduled", {}
        self.bind(port)

    def bind(self, port):
        self.listener = socket.socket()
        self.listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        self.listener.bind(("127.0.0.1", port))
        self.port = self.listener.getsockname()[1]

    def start(self):
        self.listener.listen()
        threading.Thread(target=self.accept, args=(self.listener,), daemon=True).start()

    def stop(self):
        self.listener.shutdown(socket.SHUT_RDWR)
        self.listener.close()
        for connection in list(self.connections):
            try:
                connection.shutdown(socket.SHUT_RDWR)
            except OSError:
                pass
        self.watches.clear()
        self.bind(self.port)

    def accept(self, listener):
        while True:
            try:
                connection, _ = listener.accept()
            except OSError:
                return
            with lock:
                self.connections.add(connection)
            threading.Thread(target=self.serve, args=(connection,), daemon=True).start()

    def server_line(self):
        meta = {"name": "shoal-1", "labels": self.labels, "annotations": self.annotations}
        status = {"state": self.state, "address": "192.0.2.7", "ports": [{"name": "game", "port": 7123}]}
        return json.dumps({"result": {"object_meta": meta, "status": status}}).encode() + b"\n"

    def publish(self):
        for watch in list(self.watches):
            self.send_line(watch, self.server_line())

    def send_line(self, watch, line):
        try:  # in two pieces, since lines may be cut anywhere
            for piece in (line[:40], line[40:]):
                watch.sendall(b"%x\r\n%s\r\n" % (len(piece), piece) if piece else b"")
        except OSError:
            self.watches.discard(watch)

    def serve(self, connection):
        file = connection.makefile("rb")
        try:
            while (head := file.readline()):
                method, path, _ = head.decode().split()
                length = 0
                while (line := file.readline().strip().lower()):
                    if line.startswith(b"content-length:"):
                        length = int(line.split(b":")[1])
                body = file.read(length).decode()
                with lock:
                    self.answer(connection, method, path, body)
        except (OSError, ValueError):
            pass
        with lock:
            self.connections.discard(connection)
            connection.close()

    def answer(self, connection, method, path, body):
        lock.wait_for(lambda: not self.hangs)
        code = 200
        if self.failures:
            self.failures, code = self.failures - 1, 500
        print(method, path, body or "-", code, flush=True)
        if code == 200 and (method, path) == ("GET", "/watch/gameserver"):
            connection.sendall(b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n")
            self.watches.add(connection)
            return self.send_line(connection, self.server_line())
        changed = code == 200 and self.change(method, path, json.loads(body))
        connection.sendall(b"HTTP/1.1 %d X\r\nContent-Length: 2\r\n\r\n{}" % (code if changed is not None else 404))
        if changed:
            self.publish()

    def change(self, method, path, body):
        """True: the server changed; None: there is no such request."""
        if (method, path) == ("POST", "/health"):
            return False
        if (method, path) in (("POST", "/ready"), ("POST", "/shutdown")):
            self.state = "Ready" if path == "/ready" else "Shutdown"
            return True
        if (method, path) == ("PATCH", "/v1beta1/counters/players"):
            assert isinstance(body["count"], str) and int(body["count"]) <= int(body["capacity"]), body
            return True
        if (method, path) == ("PUT", "/metadata/annotation"):
            assert "/" not in body["key"], body
            self.annotations["agones.dev/sdk-" + body["key"]] = body["value"]
            return True
        return None

    def command(self, verb, *words):
        if verb in ("start", "stop"):
            getattr(self, verb)()
        elif verb == "fail":
            self.failures = int(words[0])
        elif verb in ("hang", "go"):
            self.hangs = verb == "hang"
            lock.notify_all()
        elif verb == "allocate":
            for word in words:
                name, value = word.lstrip("@").split("=", 1)
                (self.annotations if word[0] == "@" else self.labels)[name] = value
            self.annotations["agones.dev/last-allocated"] = f"2026-01-01T00:00:{next(clock):02}Z"
            self.state = "Allocated"
            self.publish()
        elif verb == "state":
            self.state = words[0]
            self.publish()
        print("did", verb, flush=True)


sdk = Sdk(int(sys.argv[1]))
print("port", sdk.port, flush=True)
for text in sys.stdin:
    with lock:
        sdk.command(*text.split())
