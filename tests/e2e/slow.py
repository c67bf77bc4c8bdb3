#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""slow.py PORT MS: stands before 127.0.0.1:PORT; what a server answers there comes MS later. Prints its own port."""
import queue
import socket
import sys
import threading
import time


def send(waiting, to):
    while True:
        due, data = waiting.get()
        time.sleep(max(0, due - time.monotonic()))
        try:
            if data:
                to.sendall(data)
            else:
                to.shutdown(socket.SHUT_RDWR)
        except OSError:
            pass
        if not data:
            return


def pass_on(source, to, delay_s):
    waiting = queue.Queue()
    threading.Thread(target=send, args=(waiting, to), daemon=True).start()
    data = b"-"
    while data:
        try:
            data = source.recv(65536)
        except OSError:
            data = b""
        waiting.put((time.monotonic() + delay_s, data))


def main(port, delay_s):
    listener = socket.create_server(("127.0.0.1", 0))
    print(f"listen=127.0.0.1:{listener.getsockname()[1]}", flush=True)
    while True:
        near = listener.accept()[0]
        try:
            far = socket.create_connection(("127.0.0.1", port))
        except OSError:
            near.close()
            continue
        threading.Thread(target=pass_on, args=(near, far, 0), daemon=True).start()
        threading.Thread(target=pass_on, args=(far, near, delay_s), daemon=True).start()


main(int(sys.argv[1]), int(sys.argv[2]) / 1000)
