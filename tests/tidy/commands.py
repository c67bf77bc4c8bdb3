#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""commands.py FOLDER-OF-PROGRAMS: each command of a page, in a block or in a line, that runs a program of ours is one
that the program takes (--check-options), and so is each line "key = value" of a .conf file; an option that a page names
alone is one of a program. Words in capitals stand for what a table says, ./play gives its arguments to shoal-client, and a
file of --config is one of the test."""
import os, re, shlex, subprocess, sys, tempfile

programs, root = os.path.abspath(sys.argv[1]), os.path.join(os.path.dirname(os.path.abspath(__file__)), "../..")
os.chdir(root)
# What was: a history, and the pages of a format that stays.
past = re.compile(r"\.github/CHANGELOG\.md|tests/formats/")
ours = re.compile(r"(?:\S*/)?(shoal-(?:server|client|replay|ctl|relay)|\./play)$")
conf_pages = {"server/SERVICE.md", "server/FLEET.md", "server/agones/README.md", "server/relay/README.md"}
words = {"N": "1", "S": "1", "T": "1", "TICK": "1", "MS": "100", "X": "1", "BYTES": "9000", "VERB": "status", "COMMAND": "info",
         "ADDR": "127.0.0.1:1", "ADDRESS": "127.0.0.1:1", "KIND": "field", "DIR": ".", "I:G": "1:1"}
own_of_play = {"--watch", "--no-page", "--page", "--phone"}


def spans(text):
    """(line, command) of each line of a block, without the column that explains it, and of each `span`."""
    is_block = False
    for number, line in enumerate(text.split("\n"), 1):
        if line.lstrip().startswith("```"):
            is_block = not is_block
        elif is_block or line.startswith("    "):
            yield number, re.sub(r"(?<=\S)(   *| #).*", "", line.strip())
        else:
            yield from ((number, span) for span in re.findall(r"`([^`]+)`", line))


def substitute(text):
    text = text.replace(r"\|", "|").replace("@name@", "hop").replace("@kind@", "field")
    text = re.sub(r'"?\$\([^)]*\)"?', "127.0.0.1:1", text)
    text = re.sub(r"[\[\]](?![:\]])(?<!:[\[\]])|(?<=[A-Z] )\.\.\.$|\s\.\.\.$", "", text)  # [--at T], but not [::]:7777
    text = re.sub(r"(?<=[\w/.=])\|[^\s`']+", "", text)  # auto|on|off
    text = re.sub(r"\b[A-Z]:(?:PORT|\d+)|\b(?:ADDR|HOST):(?:PORT|\d+)", "127.0.0.1:1", text)
    return re.sub(r"(?<=[=,])[A-Z]+(?=$|[\s,])", lambda word: words.get(word[0], word[0]), text)


def commands(text):
    """The arguments of each program of ours in a line of a shell, and the variables before it."""
    for part in re.split(r"\s[|>]|[;<]|&&|&$|\s2?>", substitute(text)):
        try:
            row = shlex.split(part.strip("$ ()"))
        except ValueError:
            continue
        at = next((i for i, word in enumerate(row) if ours.match(word)), None)
        if at is None:
            continue
        name, rest = ours.match(row[at])[1], [words.get(word, word) for word in row[at + 1:]]
        if name == "./play":
            name, rest = "shoal-client", ["--game", "hop", "--local"] + [word for word in rest if word not in own_of_play]
        yield name, rest, dict(word.split("=", 1) for word in row[:at] if re.match(r"[A-Z_]+=", word))


def check(name, rest, variables):
    """What is wrong with the command; "" when it is right."""
    for i, word in enumerate(rest[:-1]):
        if word == "--config":
            rest[i + 1] = conf
    at = 1 if name == "shoal-server" and rest and not rest[0].startswith("-") else 0  # a command of the program
    ran = subprocess.run([os.path.join(programs, name), *rest[:at], "--check-options", *rest[at:]], text=True,
                         env=os.environ | variables, stdin=subprocess.DEVNULL, capture_output=True, timeout=60)
    # `shoal-server --http` names the option.
    if ran.returncode == 0 and (ran.stdout == "ok options\n" or "--version" in rest) or f"{rest[-1:] and rest[-1]} needs a value: " in ran.stderr:
        return ""
    return ran.stderr.strip() or f"ended with {ran.returncode}: {ran.stdout}"


known = {"--help", "--version", "--check-options"}
for each in "server|server check|server keygen|server new|server schema|server token|client|replay|ctl|relay".split("|"):
    name, *command = each.split()
    page = subprocess.run([f"{programs}/shoal-{name}", *command, "--help=all"], text=True, capture_output=True, check=True)
    known |= set(re.findall(r"^  (--[a-z-]+)", page.stdout, re.M))
conf = os.path.join(tempfile.mkdtemp(), "shoal.conf")
pages = subprocess.run(["git", "ls-files", "*.md", "*.md.in"], text=True, capture_output=True, check=True).stdout.split()
of_host = {"public", "folder", "stop", "open", "players", "spare", "most", "fleet", "memory", "standbys"}  # in host.conf, which tests/e2e/rooms.sh reads
count, faults = 0, []
for page in (each for each in pages if not past.match(each)):
    with open(page, encoding="utf-8") as file:
        lines = list(spans(file.read()))
    for number, text in lines:
        setting = page in conf_pages and re.fullmatch(r"[a-z-]+ = \S+", text) and text.split()[0] not in of_host
        program = "shoal-relay" if text.startswith("source") else "shoal-server"
        rows = [(program, ["--config", conf], {})] if setting else list(commands(text))
        option = re.match(r"--[a-z][a-z-]*(?=$|[ ,`])", text)
        if option and option[0] not in known and re.match("(server|client|proto|net)/|README", page):
            faults.append(f"{page}:{number}: {text}: no program has this option")
        if len(text.split()) < 3 and not setting:
            rows = [row for row in rows if len(row[1]) > 1]  # a name of a program or of its command: none would run it
        with open(conf, "w", encoding="utf-8") as file:
            file.write(text if setting else "game = breakout")
        for row in rows:
            count += 1
            wrong = check(*row)
            if wrong:
                faults.append(f"{page}:{number}: {text}: {wrong}")
os.remove(conf)
os.rmdir(os.path.dirname(conf))
print(*faults, f"commands: {count}, {len(faults)} faults", sep="\n")
sys.exit(2 if count < 150 else bool(faults))
