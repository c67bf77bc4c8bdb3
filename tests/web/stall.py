#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""stall.py HOST:PORT: a bad line of TCP before a server. Prints its own port. The first connection is cut at once. Every two seconds nothing passes for 300 ms; after
six seconds all connections are cut once."""
import selectors
import socket
import sys
import time

STALL_EVERY_S, STALL_S, CUT_AFTER_S = 2.0, 0.3, 6.0
host, port = sys.argv[1].rsplit(":", 1)
listener = socket.create_server(("127.0.0.1", 0))
print(f"port={listener.getsockname()[1]}", flush=True)
wakes = selectors.DefaultSelector()
wakes.register(listener, selectors.EVENT_READ)
others, began, was_cut = {}, None, False


def close(one):
    for each in (one, others.get(one)):
        if each in others:
            wakes.unregister(each)
            del others[each]
            each.close()


while True:
    for key, _ in wakes.select(0.05):
        if key.fileobj is listener:
            if not began:
                began = time.monotonic()
                listener.accept()[0].close()
                continue
            pair = listener.accept()[0], socket.create_connection((host, int(port)))
            for one, other in (pair, pair[::-1]):
                one.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
                others[one] = other
                wakes.register(one, selectors.EVENT_READ)
        elif key.fileobj in others:
            try:
                data = key.fileobj.recv(65536)
                others[key.fileobj].sendall(data)
            except OSError:
                data = b""
            if not data:
                close(key.fileobj)
    if began and (time.monotonic() - began) % STALL_EVERY_S > STALL_EVERY_S - STALL_S:
        time.sleep(STALL_S)
    if began and not was_cut and time.monotonic() - began > CUT_AFTER_S:
        was_cut = True
        for one in list(others):
            close(one)
