#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""stream.py STREAM.md: a reader of streams, written from the page and log.proto alone. It reads the messages and reports
among the page's vectors and says what they are; each has to be what the page says of it, and its id has to follow."""
import ipaddress
import re
import sys

KINDS = {1: "begin", 2: "end", 3: "close", 5: "control", 6: "alive"}


def varint(data, at):
    value = shift = 0
    while True:
        value |= (data[at] & 127) << shift
        at, shift = at + 1, shift + 7
        if data[at - 1] < 128:
            return value, at


def fields(data):
    """Each (number, value) of a message of Protocol Buffers."""
    at = 0
    while at < len(data):
        key, at = varint(data, at)
        if key & 7 == 0:
            value, at = varint(data, at)
        elif key & 7 == 1:
            value, at = int.from_bytes(data[at:at + 8], "little"), at + 8
        else:
            assert key & 7 == 2, f"wire type {key & 7}"
            size, at = varint(data, at)
            value, at = data[at:at + size], at + size
            assert len(value) == size
        yield key >> 3, value


def say_claim(body):
    said, addresses = {"writer": 0, "key_id": 0}, []
    for number, value in fields(body):
        if number in (1, 2):
            said[("writer", "key_id")[number - 1]] = value
        elif number == 3:
            assert len(value) == 18
            ip = ipaddress.IPv6Address(value[:16])
            addresses.append(f"{ip.ipv4_mapped or f'[{ip}]'}:{int.from_bytes(value[16:], 'big')}")
        elif number == 4:
            said["header_bytes"] = len(value)
    assert said["writer"] and len(addresses) <= 4
    return said, f"key_id={said['key_id']} addresses={','.join(addresses)} header_bytes={said.get('header_bytes', 0)}"


def say_records(body):
    at, said = 0, []
    while at < len(body):
        size, at = varint(body, at)
        assert 1 <= size <= 524288 and at + size <= len(body)
        (kind, record), = fields(body[at:at + size])
        inside = dict(fields(record))
        assert kind in KINDS and not (kind == 2 and 5 in inside), "the end of a tick has its sums"
        said.append(f"{KINDS[kind]}:{inside.get(1, 0)}")
        at += size
    assert said
    return "records=" + ",".join(said)


def read(data, writer):
    """@return what the message is, its id, and the writer from here on."""
    assert data[0] == 1 and data[1] in (1, 2) and len(data) > 18
    epoch, number = int.from_bytes(data[2:10], "little"), int.from_bytes(data[10:18], "little")
    assert epoch > 0 and number > 0
    if data[1] == 2:
        claim, text = say_claim(data[18:])
        writer = claim["writer"]
    else:
        text = say_records(data[18:])
    return f"epoch={epoch} number={number} {text}", f"{epoch:x}-{' rc'[data[1]]}{number:x}-{writer:016x}", writer


def read_report(data):
    role, is_able = data[1], data[2]
    who, tick = int.from_bytes(data[3:11], "little"), int.from_bytes(data[11:19], "little")
    assert data[0] == 1 and role in (1, 2, 3) and is_able < 2 and who and len(data) >= 19
    counts = f" counts_s={data[19]}" if len(data) > 19 else ""
    return f"role={('standby', 'relay', 'server')[role - 1]} is_able={is_able} who={who:016x} tick={tick}{counts}"


def main():
    with open(sys.argv[1], encoding="utf-8") as page:
        vectors = dict(re.findall(r"^stream ([a-z_]+)=(.*)$", page.read(), re.M))
    names = [name for name in vectors if not name.endswith(("_id", "_says"))]
    writer = None
    reports = [name for name in names if name.startswith("report_")]
    for name in reports:
        assert read_report(bytes.fromhex(vectors[name])) == vectors[name + "_says"], name
        names.remove(name)
    for name in names:
        says, message_id, writer = read(bytes.fromhex(vectors[name]), writer)
        assert says == vectors[name + "_says"], f"{name}: {says}"
        assert message_id == vectors[name + "_id"], f"{name}: {message_id}"
    assert len(names) >= 3 and len(reports) >= 2 and len(vectors) == 3 * len(names) + 2 * len(reports)
    print(f"stream: {len(names)} messages and {len(reports)} reports are what the page says")


if __name__ == "__main__":
    main()
