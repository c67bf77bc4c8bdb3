#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""line.py NAME [--delay-ms 60] [--loss PERCENT] [--stall MS,EVERY_MS [--cut]] [--rate KBIT] [--queue-ms 500]
        [--congestion cubic]

A line of IP packets between the network namespaces NAME-server (10.77.0.1) and NAME-client (10.77.0.2), which it makes and
removes: each packet is late, lost, held (--cut: lost) while the line stalls, or waits for those before it. UDP and TCP go the same way,
so TCP's own stack decides what a lost segment costs. Needs root and /dev/net/tun; a kernel without netem will do. It ends
by SIGTERM and prints what it carried. After each stall it notes, for each connection, what then arrives at once.
"""
import argparse
import collections
import ctypes
import fcntl
import heapq
import os
import random
import select
import signal
import statistics
import struct
import subprocess
import time

SIDES = ("server", "client")
CLONE_NEWNET, TUNSETIFF, IFF_TUN, IFF_NO_PI = 0x40000000, 0x400454CA, 1, 0x1000


def open_side(name, number, congestion):
    """A tun device in its own namespace; this process stays where it was."""
    space = f"{name}-{SIDES[number]}"
    subprocess.run(["ip", "netns", "add", space], check=True)
    libc, home = ctypes.CDLL(None, use_errno=True), os.open("/proc/self/ns/net", os.O_RDONLY)
    there = os.open(f"/run/netns/{space}", os.O_RDONLY)
    if libc.setns(there, CLONE_NEWNET) != 0:
        raise OSError(ctypes.get_errno(), "setns")
    tun = os.open("/dev/net/tun", os.O_RDWR | os.O_NONBLOCK)
    fcntl.ioctl(tun, TUNSETIFF, struct.pack("16sH22x", b"line", IFF_TUN | IFF_NO_PI))
    for words in (f"addr add 10.77.0.{number + 1}/24 dev line", "link set line up", "link set lo up",
                  f"route replace 10.77.0.0/24 dev line src 10.77.0.{number + 1} congctl {congestion}"):
        subprocess.run(["ip", *words.split()], check=True)
    libc.setns(home, CLONE_NEWNET)
    return tun


def about(packet):
    """Is it TCP, the client's port seen from the server, bytes of payload."""
    head = (packet[0] & 15) * 4
    is_tcp = packet[9] == 6
    payload = len(packet) - head - ((packet[head + 12] >> 4) * 4 if is_tcp else 8)
    return is_tcp, struct.unpack_from("!H", packet, head + 2)[0], payload


class Line:
    def __init__(self, options):
        self.options, self.due, self.number = options, [], 0
        self.free = [0.0, 0.0]
        self.count = collections.Counter()
        self.bursts = collections.defaultdict(lambda: [0, 0])
        self.tuns = [open_side(options.name, side, options.congestion) for side in (0, 1)]
        self.began = time.monotonic()

    def arrival(self, side, now, size):
        options = self.options
        at = now + options.delay_ms / 1000
        if options.rate:
            self.free[side] = max(self.free[side], now)
            if self.free[side] - now > options.queue_ms / 1000:
                return None
            self.free[side] += size * 8 / options.rate / 1000
            at += self.free[side] - now
        if options.stall:
            long, every = options.stall
            phase = (at - self.began) * 1000 % every
            if phase < long:
                if options.cut:
                    return None
                at += (long - phase) / 1000
        return at

    def take(self, side):
        while True:
            try:
                packet = os.read(self.tuns[side], 65536)
            except BlockingIOError:
                return
            if packet[0] >> 4 != 4 or packet[9] not in (6, 17):
                continue
            now = time.monotonic()
            is_tcp, port, payload = about(packet)
            name = ("tcp" if is_tcp else "udp") + ("_down" if side == 0 else "_up")
            self.count[name] += 1
            self.count[name + "_data"] += payload > 0
            self.count[name + "_bytes"] += len(packet)
            at = self.arrival(side, now, len(packet))
            if at is None or random.random() * 100 < self.options.loss:
                self.count[name + "_lost"] += 1
                continue
            if self.options.stall and side == 0 and payload > 0:
                stall = int((at - self.began) * 1000 // self.options.stall[1])
                if (at - self.began) * 1000 % self.options.stall[1] < self.options.stall[0] + 5:
                    burst = self.bursts[name, port, stall]
                    burst[0] += 1
                    burst[1] += payload
            self.number += 1
            heapq.heappush(self.due, (at, self.number, 1 - side, packet))

    def run(self):
        poll = select.epoll()
        for side, tun in enumerate(self.tuns):
            poll.register(tun, select.EPOLLIN)
        while not is_over:
            wait = self.due[0][0] - time.monotonic() if self.due else 0.1
            for tun, _ in poll.poll(max(wait, 0)):
                self.take(self.tuns.index(tun))
            while self.due and self.due[0][0] <= time.monotonic():
                _, _, side, packet = heapq.heappop(self.due)
                os.write(self.tuns[side], packet)

    def report(self):
        seconds = time.monotonic() - self.began
        print(f"line seconds={seconds:.1f}", *(f"{key}={count}" for key, count in sorted(self.count.items())))
        for kind in ("tcp_down", "udp_down"):
            for what in (0, 1):
                rows = sorted(burst[what] for (name, _, stall), burst in self.bursts.items() if name == kind and stall > 2)
                if rows:
                    print(f"burst kind={kind} of={('packets', 'bytes')[what]} n={len(rows)} mean={statistics.mean(rows):.1f} "
                          f"p50={rows[len(rows) // 2]} p99={rows[len(rows) * 99 // 100]} most={rows[-1]}")


def stop(*_):
    global is_over
    is_over = True


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("name")
    parser.add_argument("--delay-ms", type=float, default=60)
    parser.add_argument("--loss", type=float, default=0)
    parser.add_argument("--stall", type=lambda text: tuple(map(float, text.split(","))))
    parser.add_argument("--cut", action="store_true")
    parser.add_argument("--rate", type=float, default=0)
    parser.add_argument("--queue-ms", type=float, default=500)
    parser.add_argument("--congestion", default="cubic")
    options = parser.parse_args()
    signal.signal(signal.SIGTERM, stop)
    signal.signal(signal.SIGINT, stop)
    try:
        line = Line(options)
        print("ready listen=10.77.0.1", flush=True)
        line.run()
        line.report()
    finally:
        for side in SIDES:
            subprocess.run(["ip", "netns", "del", f"{options.name}-{side}"], check=False)


is_over = False
if __name__ == "__main__":
    main()
