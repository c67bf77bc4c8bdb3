#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""silent.py PORT HTTP: listens and says nothing, until the inspector at HTTP answered ten times between two connections."""
import socket
import sys
import threading
import time
import urllib.request

ANSWERS, REST_S, TRIES = 10, 0.05, 200
taken = []


def listen(port):
    listener = socket.create_server(("127.0.0.1", port))
    while True:
        taken.append(listener.accept())


def main():
    threading.Thread(target=listen, args=[int(sys.argv[1])], daemon=True).start()
    answers = before = 0
    for _ in range(TRIES):
        urllib.request.urlopen(f"{sys.argv[2]}/metrics", timeout=30).read()
        answers = answers + 1 if taken and len(taken) == before else 0
        before = len(taken)
        if answers == ANSWERS:
            return
        time.sleep(REST_S)
    sys.exit(f"never {ANSWERS} answers between two of {len(taken)} connections: the loop waits for the library")


main()
