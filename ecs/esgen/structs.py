# SPDX-License-Identifier: MIT
"""Structs that are component types or payloads of events, with their fields.

    ES_STRUCT(BreakoutInput) ES_EVENT(pad_input)
    typedef struct breakout_input {
        int32_t move ES_QUANT(-127, 1, 8);
        ES_NAME(launch) bool is_launching;
    } breakout_input;

A field has a type whose size and meaning the core knows. Types that own memory are registered by hand.
"""
from words import IDENTIFIER, SIZED_TYPES, STRING, TEXT_BYTES_MAX, Fault, Span

FIELDS_MAX = 64  # ECS_FIELDS_MAX

FIELD_TYPES = {
    'bool': ('BOOL', 1), 'int8_t': ('I8', 1), 'int16_t': ('I16', 1), 'int32_t': ('I32', 1), 'int64_t': ('I64', 1),
    'uint8_t': ('U8', 1), 'uint16_t': ('U16', 1), 'uint32_t': ('U32', 1), 'uint64_t': ('U64', 1), 'float': ('F32', 1),
    'double': ('F64', 1), 'ecs_entity': ('ENTITY', 1), 'ecs_vec2': ('F32', 2), 'ecs_vec3': ('F32', 3),
    'ecs_vec4': ('F32', 4), 'ecs_ivec2': ('I32', 2), 'ecs_ivec3': ('I32', 3), 'ecs_ivec4': ('I32', 4),
    'ecs_color': ('U8', 4), 'ecs_matrix': ('F32', 12), 'ecs_tick': ('U64', 1),
    'char': ('U8', 1),  # a text of a message
}

# Annotations before and after a field: rounding on the wire, and its place in a message.
FORMS = {'ES_QUANT': ('(min, step, bits)', 3), 'ES_ANGLE': ('(bits)', 1), 'ES_CLAMP': ('(min, max)', 2),
         'ES_RANGE': ('(min, max)', 2), 'ES_NAME': ('(name)', 1), 'ES_SETTING': ('(default, min, max, "help")', 4),
         'ES_LOCAL': ('', 0)}

class Mark:
    """The annotations of a field."""

    def __init__(self):
        self.quant = '0, 0, 0'  # "-127, 1, 8"
        self.has_quant = self.is_angle = self.is_local = False
        self.limit = self.min = self.max = None  # limit: ES_CLAMP, ES_RANGE
        self.message_name = self.setting = ''    # of the field in the message, "" when it is the field's own

class Field:
    def __init__(self, name, line, c_type, count, mark):
        self.name, self.line, self.c_type, self.count, self.mark = name, line, c_type, count, mark
        self.kind = 'ECS_FIELD_' + FIELD_TYPES[c_type][0]

    @property
    def is_text(self):
        return self.c_type == 'char'

class Event:
    def __init__(self, name, is_exported):
        self.name, self.is_exported = name, is_exported
        self.message = self.sound = ''  # C type of the protobuf message; '"hit.wav", 0.8, 70' of ES_SOUND
        self.flags = set()              # words of ES_MESSAGE: input, kept, reliable, late

class Struct:
    def __init__(self, line, file):
        self.line, self.file = line, file
        self.c_type = self.name = self.request = ''  # name: "" when it is the payload of events alone
        self.is_boxed = False
        self.events, self.fields = [], []

    @property
    def has_message(self):
        return any(event.message for event in self.events)

# ---- marks of fields ----
def _read_mark(mark, span, at):
    """One annotation. @return the index after it."""
    word = span[at]
    if word.text not in FORMS:
        raise Fault(word.line, f'{word.text} is not understood here')
    form, count = FORMS[word.text]
    if count == 0:
        mark.is_local = True
        return at + 1
    close = span.match(at + 1) if at + 1 < len(span) else None
    inside = span.part(at + 2, close) if close else None
    items = list(inside.items()) if close else []
    texts = [item.expression() for item in items]
    whole = inside.copy() if close else None
    is_right = len(items) == count and None not in texts and whole is not None
    if is_right and word.text in ('ES_CLAMP', 'ES_RANGE'):
        if mark.limit:
            raise Fault(word.line, 'a field has one ES_CLAMP or one ES_RANGE')
        mark.limit, (mark.min, mark.max) = word.text, texts
    elif is_right and word.text == 'ES_QUANT':
        mark.quant, mark.has_quant = whole, True
    elif is_right and word.text == 'ES_ANGLE':
        mark.quant, mark.is_angle = f'ECS_ANGLE_MIN, ECS_ANGLE_STEP({whole}), {whole}', True
        is_right = len(mark.quant) <= TEXT_BYTES_MAX
    elif is_right and word.text == 'ES_SETTING':
        is_right, mark.setting = items[3][0].kind == STRING, whole
    elif is_right:
        is_right = len(inside) == 1 and inside[0].kind == IDENTIFIER
        mark.message_name = inside.name() if is_right else ''
    if not is_right:
        raise Fault(word.line, f'{word.text} takes {form}')
    return close + 1

def _take_marks(span):
    """@return the marks of a field's declaration, and the words between those before it and after it."""
    mark, at, end = Mark(), 0, len(span)
    while at < end and span[at].is_annotation():
        at = _read_mark(mark, span, at)
    first = at
    while at < end and not span[at].is_annotation():
        at += 1
    after, last = at, at
    while at < end and span[at].is_annotation():
        last, at = at, _read_mark(mark, span, at)
    if at < end:
        form = FORMS[span[last].text][0]
        raise Fault(span[last].line, f'{span[last].text}{form} belongs before or after a field')
    return mark, span.part(first, after)

# ---- fields ----
def _read_count(owner, span, type_count):
    """The elements of "x[2][N + 1]": "2 * (N + 1)"; a vector's own count comes first."""
    counts = [str(type_count)] if type_count > 1 or len(span) == 1 else []
    at = 1
    while at < len(span):
        close = next((i for i in range(at + 1, len(span)) if span[i].text in '[]'), None)
        size = span.part(at + 1, close).expression() if close and span[at].text == '[' and span[close].text == ']' else None
        if size is None:
            break
        counts.append(size if close == at + 2 else f'({size})')
        at = close + 1
    count = ' * '.join(counts)
    if at < len(span) or len(count) > TEXT_BYTES_MAX:
        raise Fault(span.line, f'{owner}: the count of an array is not understood')
    return count

def _read_declarator(target, c_type, mark, span):
    owner = target.c_type
    if len(span) == 0 or span[0].kind != IDENTIFIER or (len(span) > 1 and span[1].text != '['):
        raise Fault(span.line, f'{owner}: a field is a type and names, with [count] for an array: no pointers, no bits, no structs')
    if len(target.fields) == FIELDS_MAX:
        raise Fault(span.line, f'{owner} has more than {FIELDS_MAX} fields')
    name = span.part(0, 1).name()
    target.fields.append(Field(name, span.line, c_type, _read_count(owner, span, FIELD_TYPES[c_type][1]), mark))

def _read_field(unit, target, span):
    """One declaration without its ';'."""
    mark, span = _take_marks(span)
    while len(span) and span[0].text in ('const', 'volatile'):
        span = span.part(1)
    if len(span) == 0:
        return
    c_type, owner = span[0].text, target.c_type
    if c_type not in FIELD_TYPES:
        if c_type in SIZED_TYPES:
            raise Fault(span.line, f'{owner}: the size of {c_type} depends on the machine: say {SIZED_TYPES[c_type]}')
        raise Fault(span.line, f'{owner}: no field can be a {c_type}: take bool, a number like int32_t or float, ecs_entity, '
                               'a vector, or register the struct by hand')
    for item in span.part(1).items():
        with unit.catching():
            _read_declarator(target, c_type, mark, item)

def read_fields(unit, target, span):
    """The fields of a struct, the words between its braces."""
    first = 0
    for i, word in enumerate(span):
        if word.text == '{':
            raise Fault(word.line, f'{target.c_type}: a struct or union inside is registered by hand')
        if word.text == ';':
            with unit.catching():
                _read_field(unit, target, span.part(first, i))
            first = i + 1
    if not target.fields and unit.count == 0:
        raise Fault(target.line, f'{target.c_type} has no fields')

# ---- messages ----
def _check_field(target, field):
    """Does a field fit the messages of its struct?"""
    mark, is_message = field.mark, target.has_message
    place = f'{target.c_type}.{field.name}'
    if field.is_text:
        if not is_message or target.name or mark.is_local or mark.limit or mark.has_quant or field.count == '1' or '*' in field.count:
            raise Fault(field.line, f'{place}: a char is a text of a message: char {field.name}[BYTES], without limits, in the '
                                    'payload of an event that is no component')
    elif (mark.is_local or mark.limit or mark.message_name) and not is_message:
        raise Fault(field.line, f'{place} is marked for a message, but there is none: say ES_MESSAGE(type) after ES_EVENT')
    elif is_message and not mark.is_local and field.count != '1':
        raise Fault(field.line, f'{place}: a message has no vectors and arrays: make its parts fields of their own, or say ES_LOCAL')
    elif mark.limit and field.c_type in ('bool', 'ecs_entity'):
        raise Fault(field.line, f'{place}: ES_CLAMP and ES_RANGE are for numbers')
    elif mark.is_angle and field.c_type not in ('float', 'double'):
        raise Fault(field.line, f'{place}: ES_ANGLE is for float and double')

def _complete(target, field):
    """A range is said once: the limits of a message give the bits of a component's whole number, and the rounding
    of a component gives the limits of a message."""
    mark = field.mark
    is_whole = field.c_type not in ('bool', 'ecs_entity', 'float', 'double', 'char') and field.count == '1'
    if mark.is_local:
        return
    if mark.limit and not mark.has_quant and target.name and is_whole:
        mark.quant = f'{mark.min}, 1, ES_BITS(({mark.max}) - ({mark.min}))'
    elif not mark.limit and mark.has_quant and target.has_message:
        mark.limit, mark.min = 'ES_CLAMP', mark.quant.split(',')[0]
        mark.max = f'({field.c_type})ES_QUANT_MAX({mark.quant})'

# ---- structs ----
def _read_struct_name(target, span):
    """(Name), (Name, boxed) or (Name, request = function)."""
    name, *more = span.items()
    target.name = name.name()
    texts = [item.texts() for item in more]
    if texts == [['boxed']]:
        target.is_boxed = True
    elif len(texts) == 1 and texts[0][:2] == ['request', '='] and len(more[0]) == 3 and more[0][2].kind == IDENTIFIER:
        target.request = more[0].part(2).name()
    elif texts:
        raise Fault(span.words[span.first - 1].line, 'ES_STRUCT takes (Name), (Name, boxed) or (Name, request = function)')

def _read_event(target, span):
    name, *more = span.items()
    is_exported = [item.texts() for item in more] == [['exported']]
    line = span.words[span.first - 1].line
    if more and not is_exported:
        raise Fault(line, 'ES_EVENT takes (name) or (name, exported)')
    target.events.append(Event(name.name(), is_exported))

def _read_message(target, span):
    """ES_MESSAGE(Game__Hit, reliable): the C type, and words about the way."""
    line, event = span.words[span.first - 1].line, target.events[-1] if target.events else None
    if not event or event.message:
        raise Fault(line, 'ES_MESSAGE belongs after an ES_EVENT, which it is sent as')
    flags = span.texts()[1:]
    words = flags[1::2]
    if len(span) == 0 or span[0].kind != IDENTIFIER or flags[::2] != [','] * len(words) or len(set(words)) < len(words) or \
            not set(words) <= {'input', 'kept', 'reliable', 'late'}:
        raise Fault(line, 'ES_MESSAGE takes the C type of a protobuf message (Game__Hit for message Hit of package game), then '
                          'input, kept, reliable or late')
    event.flags = set(words)
    if 'kept' in words and not ('input' in words and target.name):
        raise Fault(line, 'only an input is kept, and its payload is a component too: ES_STRUCT(Name)')
    if any(c in event.name for c in '.-+:<>@'):
        raise Fault(line, f"event '{event.name}' has a message, so its name must be a name in C: functions have it")
    event.message = span.part(0, 1).name()

def _read_sound(target, span):
    """ES_SOUND("hit.wav", 0.8, 70): the file, the volume, how far it is heard."""
    line, event = span.words[span.first - 1].line, target.events[-1] if target.events else None
    if not event or event.sound:
        raise Fault(line, 'one ES_SOUND belongs after an ES_EVENT, which it is heard of')
    texts = span.texts()
    commas, text = texts.count(','), span.copy()
    if span[0].kind != STRING or texts[1:2] != [','] or commas > 2 or len(span) + 1 < 2 + 2 * commas or text is None:
        raise Fault(line, 'ES_SOUND takes a file of assets/, a volume of 0 to 1, and how far it is heard: ES_SOUND("hit.wav", 0.8) '
                          'is heard everywhere, ES_SOUND("hit.wav", 0.8, 70) fades')
    event.sound = text

READERS = {'ES_STRUCT': _read_struct_name, 'ES_EVENT': _read_event, 'ES_MESSAGE': _read_message, 'ES_SOUND': _read_sound}

def find_typedef(span, line, kind, mark):
    """The name of "typedef struct name {...} name;" (or enum) at the begin of the words, and its body between the braces."""
    texts = span.part(0, min(4, len(span))).texts()
    opening = texts.index('{') if '{' in texts else None
    depth, close = 0, None
    for i in range(opening, len(span)) if opening is not None else ():
        depth += (span[i].text == '{') - (span[i].text == '}')
        if depth == 0:
            close = i
            break
    if close is None or texts[:2] != ['typedef', kind] or span[close + 1].kind != IDENTIFIER or span[close + 2].text != ';':
        raise Fault(line, f'{mark} before typedef {kind} name {{...}} name;')
    return span.part(close + 1, close + 2).name(), span.part(opening + 1, close), close

def _read_struct(unit, span, is_near):
    """From the first annotation on. @return the index after its body."""
    made, at = Struct(span.line, unit.file), 0
    while span[at].text in READERS:
        close = span.close(at)
        READERS[span[at].text](made, span.part(at + 2, close))
        at = close + 1
    made.c_type, body, close = find_typedef(span.part(at), made.line, 'struct', 'ES_STRUCT and ES_EVENT belong')
    if made.name and not made.is_boxed:
        unit.types.setdefault(made.c_type, made.name)
    if is_near:
        with unit.catching():
            read_fields(unit, made, body)
        for field in made.fields:
            with unit.catching():
                _check_field(made, field)
                _complete(made, field)
        if all(other.c_type != made.c_type for other in unit.structs):
            unit.structs.append(made)
    return at + close

def _read_type(unit, span):
    """ES_TYPE(C type, Name)."""
    items = list(span.items())
    c_type = items[0].part(1) if items[0].texts()[:1] == ['struct'] else items[0]
    if len(items) < 2 or len(c_type) == 0 or len(items[1]) == 0:
        raise Fault(span.words[span.first - 1].line, 'ES_TYPE takes a C type and the name it is registered by')
    unit.types.setdefault(c_type.name(), span.part(len(items[0]) + 1).name())

def read_type(unit, span, is_near):
    """What begins with ES_STRUCT, ES_EVENT, ES_MESSAGE, ES_SOUND or ES_TYPE. @return the index after it; 0: nothing begins here."""
    if span[0].text in READERS:
        return _read_struct(unit, span, is_near)
    if span[0].text != 'ES_TYPE' or span[1].text != '(':
        return 0
    close = span.match(1)
    if close is None:
        raise Fault(span.line, 'this ( is never closed')
    _read_type(unit, span.part(2, close))
    return close + 1
