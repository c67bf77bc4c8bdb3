# SPDX-License-Identifier: MIT
"""A client of a Shoal server, and a reader of its event logs, in Python: one file, nothing to build.

    import shoal
    with shoal.Client("127.0.0.1:7777", name="Ada", flags=shoal.BOT) as client:
        for tick in client.play():
            for entity in client.world.entities("pos"):
                print(tick, entity, entity["pos"])
            client.input["PadInput"] = {"move": 127}

    for record in shoal.Log("match.slog").records():  # JSON as dict
        print(record)

It loads libshoal_client.so (client/library/include/shoal_client.h) from SHOAL_LIBRARY, from the folders beside this
file, or from where the system looks. One thread of a process makes all calls.
"""

import ctypes
import json
import os
import pathlib
from ctypes import (CFUNCTYPE, POINTER, Structure, byref, c_char_p, c_double, c_int32, c_int64, c_size_t, c_uint32,
                    c_uint64, c_void_p, create_string_buffer)

ABI_VERSION = 1
ASKING, CONNECTING, PLAYING, RESUMING, ENDED = range(5)
END_NAMES = ("none", "goodbye", "left", "lost", "unreachable", "refused", "failed", "transferred")
NEWEST, SHOWN = range(2)
BOT, THINK, SHOW, PREDICT = 1, 2, 4, 8
INPUT, TO_SERVER, TO_CLIENTS = range(3)
ERR_FULL, ERR_CLOSED, ERR_DIVERGED, ERR_UNKNOWN = -2, -9, -13, -14
_REALS = (9, 10)
_BOOL = 0

_Report = CFUNCTYPE(None, c_void_p, c_char_p)
_Line = CFUNCTYPE(c_int32, c_void_p, c_char_p)


class Error(Exception):
    """What the library refused, with its sentence."""


class _Options(Structure):
    _fields_ = [("size_bytes", c_size_t), ("address", c_char_p), ("name", c_char_p), ("game", c_char_p),
                ("game_path", c_char_p), ("token", c_char_p), ("network", c_char_p), ("report", _Report),
                ("report_context", c_void_p), ("seed", c_uint64), ("flags", c_uint32), ("rate_bytes_max", c_uint32)]


# NAME: result, arguments. P: an object of the library.
_P, _T, _U, _I = c_void_p, c_char_p, c_uint32, c_int32
_FUNCTIONS = {
    "abi_version": (_U,), "version": (_T,), "result_text": (_T, _I),
    "client_create": (_P, POINTER(_Options)), "client_destroy": (None, _P), "client_service": (_I, _P, _U),
    "client_leave": (None, _P), "client_follow": (_I, _P), "client_phase": (_I, _P), "client_end": (_I, _P), "client_text": (_T, _P),
    "client_game": (_T, _P), "client_number": (_U, _P), "client_tick": (c_uint64, _P), "client_tick_rate": (_U, _P),
    "client_player": (_U, _P), "client_player_name": (_T, _P, _U), "client_hash": (c_uint64, _P),
    "client_figure": (_I, _P, _T, POINTER(c_double)), "client_world": (_P, _P, _I), "client_frame": (_I, _P),
    "client_shown_tick": (c_double, _P), "client_message": (_U, _P, _T), "client_message_count": (_U, _P),
    "client_message_name": (_T, _P, _U), "client_message_kind": (_I, _P, _U), "client_message_shape": (_P, _P, _U),
    "client_set": (_I, _P, _U, _I, POINTER(c_double), _U), "client_send": (_I, _P, _U),
    "client_next_event": (_U, _P), "client_event_tick": (c_uint64, _P), "client_event_target": (_U, _P),
    "client_event_read": (_U, _P, _I, POINTER(c_double), _U),
    "world_component": (_U, _P, _T), "world_component_count": (_U, _P), "world_component_name": (_T, _P, _U),
    "world_component_type": (_T, _P, _U), "world_component_shape": (_P, _P, _U), "world_tick": (c_uint64, _P),
    "world_entity_count": (_U, _P), "world_next": (_U, _P, _U, _U), "world_has": (_I, _P, _U),
    "world_template": (_T, _P, _U), "world_read": (_U, _P, _U, _U, _I, POINTER(c_double), _U),
    "world_read_whole": (_U, _P, _U, _U, _I, POINTER(c_int64), _U),
    "world_text": (_I, _P, _U, _U, _T, c_size_t),
    "shape_field": (_I, _P, _T), "shape_field_count": (_U, _P), "shape_field_name": (_T, _P, _I),
    "shape_field_kind": (_I, _P, _I), "shape_field_elements": (_U, _P, _I),
    "log_open": (_P, _T, _T, _T), "log_close": (None, _P), "log_result": (_I, _P), "log_text": (_T, _P),
    "log_word": (_T, _P, _T), "log_number": (_I, _P, _T, POINTER(c_uint64)), "log_lines": (_I, _P, _Line, _P),
    "log_step": (_I, _P), "log_world": (_P, _P), "log_state_hash": (c_uint64, _P),
}


def _candidates():
    if os.environ.get("SHOAL_LIBRARY"):
        yield os.environ["SHOAL_LIBRARY"]
    here = pathlib.Path(__file__).resolve().parent
    for folder in (here, *here.parents):
        for place in ("", "lib", "build/lib"):
            if (folder / place / "libshoal_client.so.1").exists():
                yield str(folder / place / "libshoal_client.so.1")
    yield "libshoal_client.so.1"


class _Library:
    """The functions by name, loaded with the first use."""

    def __init__(self):
        self._loaded = None

    def __getattr__(self, name):
        if self._loaded is None:
            path = next(_candidates())
            loaded = ctypes.CDLL(path)
            for function, (result, *arguments) in _FUNCTIONS.items():
                entry = getattr(loaded, "shoal_" + function)
                entry.restype, entry.argtypes = result, arguments
            if loaded.shoal_abi_version() != ABI_VERSION:
                raise Error(f"{path} has version {loaded.shoal_abi_version()} of the ABI, not {ABI_VERSION}")
            self._loaded = loaded
        return getattr(self._loaded, "shoal_" + name)


_lib = _Library()


def version():
    """Of the library: "0.1.0"."""
    return _lib.version().decode()


def _bytes(text):
    return None if text is None else os.fsencode(text)


def _text(value):
    return None if value is None else value.decode("utf-8", "replace")


def _check(result):
    if result != 0:
        raise Error(_text(_lib.result_text(result)))


class _Shape:
    """The fields of a component or message: name, kind, number of elements."""

    def __init__(self, pointer):
        self.fields = [(_text(_lib.shape_field_name(pointer, i)), _lib.shape_field_kind(pointer, i),
                        _lib.shape_field_elements(pointer, i)) for i in range(_lib.shape_field_count(pointer))]

    def index(self, name):
        for i, field in enumerate(self.fields):
            if field[0] == name:
                return i
        raise KeyError(f"no field '{name}'; there are {', '.join(field[0] for field in self.fields)}")

    def pack(self, read_real, read_whole):
        """All fields: {"x": 1.0}; of a scalar its value."""
        result = {}
        for i, (name, kind, count) in enumerate(self.fields):
            values = (read_real if kind in _REALS or read_whole is None else read_whole)(i, count)
            if values is None:
                return None
            if kind not in _REALS:
                values = [int(value) for value in values]
            if kind == _BOOL:
                values = [bool(value) for value in values]
            result[name] = values[0] if count == 1 else values
        return result["value"] if list(result) == ["value"] else result


class Entity:
    """A handle in a world. entity["pos"] is {"x": 1.0, "y": 2.0}; KeyError where there is none."""

    def __init__(self, world, handle):
        self.world, self.handle = world, handle

    @property
    def template(self):
        return _text(_lib.world_template(self.world._pointer, self.handle))

    @property
    def is_alive(self):
        return bool(_lib.world_has(self.world._pointer, self.handle))

    def get(self, component, default=None):
        try:
            return self[component]
        except KeyError:
            return default

    def __contains__(self, component):
        """"pos" in entity: it lives and has one. Also for tags, which have no value."""
        try:
            has_value = bool(self.world.fields(component))
        except KeyError:
            return False
        if has_value:
            return self.get(component) is not None
        return any(entity == self for entity in self.world.entities(component))

    def __getitem__(self, component):
        number, shape = self.world._component(component)

        def read(function, kind):
            def values_of(field, count):
                values = (kind * count)()
                return list(values) if function(self.world._pointer, self.handle, number, field, values,
                                                count) == count else None
            return values_of

        value = shape.pack(read(_lib.world_read, c_double), read(_lib.world_read_whole, c_int64))
        if value is None or (not shape.fields and not self.text(component)):
            raise KeyError(f"entity {self} has no '{component}'")
        return value if shape.fields else self.text(component)

    def text(self, component):
        """Any value as text: "330,-550"."""
        number, _ = self.world._component(component)
        buffer = create_string_buffer(4096)
        _lib.world_text(self.world._pointer, self.handle, number, buffer, len(buffer))
        return _text(buffer.value)

    def __eq__(self, other):
        return isinstance(other, Entity) and other.handle == self.handle

    def __hash__(self):
        return hash(self.handle)

    def __repr__(self):
        return f"{self.handle & 0x3FFFFF}:{self.handle >> 22}"


class World:
    """Entities, components and fields by name. Values are those of the moment of the call."""

    def __init__(self, pointer):
        self._pointer = pointer
        self._components = {}

    def _component(self, name):
        if name not in self._components:
            number = _lib.world_component(self._pointer, _bytes(name))
            if number == 0:
                raise KeyError(f"the game has no component '{name}'; it has {', '.join(self.components())}")
            self._components[name] = number, _Shape(_lib.world_component_shape(self._pointer, number))
        return self._components[name]

    @property
    def tick(self):
        return _lib.world_tick(self._pointer)

    def __len__(self):
        return _lib.world_entity_count(self._pointer)

    def components(self):
        """{"pos": "p2", ...}"""
        return {_text(_lib.world_component_name(self._pointer, i)): _text(_lib.world_component_type(self._pointer, i))
                for i in range(1, _lib.world_component_count(self._pointer) + 1)}

    def fields(self, component):
        return [field[0] for field in self._component(component)[1].fields]

    def entities(self, component=None):
        """All that have a component (None: all), by rising index."""
        number = self._component(component)[0] if component else 0
        handle = _lib.world_next(self._pointer, number, 0)
        while handle:
            yield Entity(self, handle)
            handle = _lib.world_next(self._pointer, number, handle)


class Event:
    """A message of the server: event.name, event["score"]."""

    def __init__(self, name, tick, target, values):
        self.name, self.tick, self.target, self.values = name, tick, target, values

    def __getitem__(self, field):
        return self.values[field]

    def __repr__(self):
        return f"{self.name}{self.values}"


class _Input:
    """client.input["PadInput"] = {"move": 127}: sent in each tick until it is set again."""

    def __init__(self, client):
        self._client = client

    def __setitem__(self, message, values):
        self._client._fill(message, values)


class Client:
    """A player. `flags`: BOT, THINK, SHOW, PREDICT."""

    def __init__(self, address, *, name=None, game=None, game_path=None, token=None, network=None, seed=0, flags=0,
                 rate_bytes_max=0, report=None):
        self._report = _Report(lambda _, text: report(_text(text))) if report else _Report()
        options = _Options(ctypes.sizeof(_Options), _bytes(address), _bytes(name), _bytes(game), _bytes(game_path),
                           _bytes(token), _bytes(network), self._report, None, seed, flags, rate_bytes_max)
        self._pointer = _lib.client_create(byref(options))
        if not self._pointer:
            raise Error("no client: out of memory, or no address")
        self._worlds, self._messages = {}, {}
        self.input = _Input(self)

    def close(self):
        if self._pointer:
            _lib.client_destroy(self._pointer)
        self._pointer = None

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()

    def service(self, wait_ms=10):
        """Receive and run ticks; waits at most so long. Returns the phase."""
        return _lib.client_service(self._pointer, wait_ms)

    def play(self, wait_ms=10):
        """Yield each new tick until the session ends. Raises Error when it never began."""
        newest, was_playing = 0, False
        while self.service(wait_ms) != ENDED:
            if self.phase == PLAYING and self.tick > newest:
                newest, was_playing = self.tick, True
                yield newest
        if not was_playing:
            raise Error(self.text)

    def follow(self):
        """After the end "transferred": play on in the match that the server named. Worlds and entities of before are gone."""
        _check(_lib.client_follow(self._pointer))
        self._worlds, self._messages = {}, {}

    def leave(self):
        """Say goodbye, and wait for the end."""
        _lib.client_leave(self._pointer)
        while self.service(10) != ENDED:
            pass

    phase = property(lambda self: _lib.client_phase(self._pointer))
    end = property(lambda self: END_NAMES[_lib.client_end(self._pointer)])
    text = property(lambda self: _text(_lib.client_text(self._pointer)))
    game = property(lambda self: _text(_lib.client_game(self._pointer)))
    number = property(lambda self: _lib.client_number(self._pointer))
    tick = property(lambda self: _lib.client_tick(self._pointer))
    tick_rate = property(lambda self: _lib.client_tick_rate(self._pointer))
    hash = property(lambda self: _lib.client_hash(self._pointer))
    shown_tick = property(lambda self: _lib.client_shown_tick(self._pointer))
    world = property(lambda self: self._world(NEWEST))

    @property
    def player(self):
        """The player's own entity; None before it is here."""
        handle = _lib.client_player(self._pointer)
        return Entity(self.world, handle) if handle else None

    def _world(self, which):
        pointer = _lib.client_world(self._pointer, which)
        if not pointer:
            return None
        return self._worlds.setdefault(pointer, World(pointer))

    def frame(self):
        """The world to draw at this moment (SHOW); None while there is nothing to show."""
        return self._world(SHOWN) if _lib.client_frame(self._pointer) else None

    def player_name(self, number):
        return _text(_lib.client_player_name(self._pointer, number))

    def figure(self, name):
        value = c_double()
        if _lib.client_figure(self._pointer, _bytes(name), byref(value)) != 0:
            raise KeyError(f"no figure '{name}'")
        return value.value

    def messages(self, kind=None):
        """Names of the game's messages."""
        count = _lib.client_message_count(self._pointer)
        return [_text(_lib.client_message_name(self._pointer, i)) for i in range(1, count + 1)
                if kind is None or _lib.client_message_kind(self._pointer, i) == kind]

    def _message(self, name):
        if name not in self._messages:
            number = _lib.client_message(self._pointer, _bytes(name))
            if number == 0:
                raise KeyError(f"the game has no message '{name}'; it has {', '.join(self.messages())}")
            self._messages[name] = number, _Shape(_lib.client_message_shape(self._pointer, number))
        return self._messages[name]

    def _fill(self, message, values):
        number, shape = self._message(message)
        for name, value in values.items():
            elements = list(value) if isinstance(value, (list, tuple, bytes)) else [value]
            array = (c_double * len(elements))(*[float(getattr(element, "handle", element)) for element in elements])
            _check(_lib.client_set(self._pointer, number, shape.index(name), array, len(elements)))
        return number

    def send(self, message, **values):
        """Queue a message for the server. Returns False when the queue is full."""
        result = _lib.client_send(self._pointer, self._fill(message, values))
        if result != ERR_FULL:
            _check(result)
        return result == 0

    def events(self):
        """What came since the last call, oldest first."""
        number = _lib.client_next_event(self._pointer)
        while number:
            name = _text(_lib.client_message_name(self._pointer, number))

            def read(field, count):
                values = (c_double * count)()
                return list(values) if _lib.client_event_read(self._pointer, field, values, count) == count else None

            target = _lib.client_event_target(self._pointer)
            yield Event(name, _lib.client_event_tick(self._pointer), Entity(self.world, target) if target else None,
                        self._message(name)[1].pack(read, None))
            number = _lib.client_next_event(self._pointer)


class Log:
    """An event log: its header, its records, and the match run again."""

    _NUMBERS = ("tick_rate", "seed", "first_tick", "last_tick", "started_unix_ms", "schema_hash", "is_cut",
                "is_damaged", "lost_bytes")

    def __init__(self, file, *, game=None, game_path=None):
        self._pointer = _lib.log_open(_bytes(file), _bytes(game), _bytes(game_path))
        if not self._pointer:
            raise Error("no log: out of memory, or no file")
        result = _lib.log_result(self._pointer)
        if result != 0:
            text = self.text
            self.close()
            raise Error(text or _text(_lib.result_text(result)))
        self._world = None

    def close(self):
        if self._pointer:
            _lib.log_close(self._pointer)
        self._pointer = None

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()

    text = property(lambda self: _text(_lib.log_text(self._pointer)))
    game = property(lambda self: _text(_lib.log_word(self._pointer, b"game")))
    build = property(lambda self: _text(_lib.log_word(self._pointer, b"build")))
    state_hash = property(lambda self: _lib.log_state_hash(self._pointer))

    @property
    def info(self):
        """The numbers of the header."""
        info = {}
        for name in self._NUMBERS:
            value = c_uint64()
            _check(_lib.log_number(self._pointer, _bytes(name), byref(value)))
            info[name] = value.value
        return info

    def lines(self, each):
        """Call each(text) with every line of JSON; False from it stops."""
        failures = []

        def pass_line(_, line):
            try:
                return 0 if each(_text(line)) is False else 1
            except Exception as failure:  # it must not pass through C
                failures.append(failure)
                return 0

        result = _lib.log_lines(self._pointer, _Line(pass_line), None)
        if failures:
            raise failures[0]
        _check(result)

    def records(self):
        """All records as dicts: the header, then each tick. The whole log at once."""
        found = []
        self.lines(lambda line: found.append(json.loads(line)))
        return found

    def replay(self):
        """Run the match again; yields its world after each tick. Raises Error where the log says otherwise."""
        while True:
            result = _lib.log_step(self._pointer)
            if result == ERR_CLOSED:
                return
            if result != 0:
                raise Error(self.text or _text(_lib.result_text(result)))
            self._world = self._world or World(_lib.log_world(self._pointer))
            yield self._world
