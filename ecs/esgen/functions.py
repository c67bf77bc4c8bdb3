# SPDX-License-Identifier: MIT
"""Finds the functions of a file that are systems; reads their annotations and binds their parameters.

Outside of all braces a file is a series of declarations, each ended by ';' or by the '}' of its body. The words
before a body are a head. A head whose function has one of the suffixes is a system. Bodies are skipped. Something
that only looks like a system (a declaration with annotations, old parameters, a wrong return type) is refused,
since a system that is silently ignored is hard to find.
"""
import re

from words import IDENTIFIER, INCLUDE, LIST_MAX, NAME_BYTES_MAX, SIZED_TYPES, STRING, Fault, nearest
import game

TERMS_MAX = 32  # ECS_QUERY_TERMS_MAX

SYSTEM, HANDLER, QUERY = 'system', 'handler', 'query'
SUFFIXES = {'_es_event_handler': HANDLER, '_ecs_query': QUERY, '_es': SYSTEM}

COMPONENT, STAGE, EVENT, PAYLOAD, ENTITY, COUNT, CONTEXT = 'component', 'stage', 'event', 'payload', 'entity', 'count', 'context'

BUILTIN_TYPES = {
    'bool': 'b', 'int32_t': 'i', 'int64_t': 'i64', 'uint8_t': 'u8', 'uint16_t': 'u16', 'uint32_t': 'u32',
    'uint64_t': 'u64', 'float': 'r', 'ecs_vec2': 'p2', 'ecs_vec3': 'p3', 'ecs_vec4': 'p4', 'ecs_ivec2': 'ip2',
    'ecs_ivec3': 'ip3', 'ecs_ivec4': 'ip4', 'ecs_color': 'c', 'ecs_matrix': 'm', 'ecs_string': 't', 'ecs_entity': 'eid',
    'ecs_object': 'object', 'ecs_array': 'array'}
ELEMENT_TYPES = set(BUILTIN_TYPES.values()) - {'object', 'array'}

# Each annotation of a function, and what it is followed by.
ANNOTATIONS = {
    'ES_STAGE': 'name', 'ES_TAG': 'list', 'ES_BEFORE': 'list', 'ES_AFTER': 'list', 'ES_REQUIRE': 'list',
    'ES_REQUIRE_NOT': 'list', 'ES_REQUIRE_ANY': 'list', 'ES_ON_EVENT': 'list', 'ES_TRACK': 'list', 'ES_EVERY': 'amount',
    'ES_QUANTUM': 'amount', 'ES_SPAN': 'flag', 'ES_ON_ENTER': 'function', 'ES_ON_LEAVE': 'function', 'ES_FIRST': 'function',
    'ES_ONLY': 'flag', 'ES_READS': 'list', 'ES_WRITES': 'list', 'ES_CONFINED': 'flag'}
OF_THE_FILE = ('ES_REGISTER_TYPES', 'ES_MESSAGES', 'ES_GAME', 'ES_SYSTEMS')

class Param:
    def __init__(self, line):
        self.kind, self.line = COMPONENT, line
        self.is_const = self.is_pointer = self.is_struct = self.is_optional = False
        self.type = self.name = self.component = self.component_type = self.element = ''
        self.default = None

    @property
    def c_type(self):
        return ('struct ' if self.is_struct else '') + self.type

class Function:
    def __init__(self, name, kind, line):
        self.name, self.kind, self.line = name, kind, line
        self.returns_bool = False
        self.params = []
        self.notes = {}  # of ANNOTATIONS: a list, a text, True

    def list(self, annotation):
        return self.notes.get(annotation, [])

    def has(self, *annotations):
        return any(self.notes.get(one) for one in annotations)

    def of_kind(self, *kinds):
        return [param for param in self.params if param.kind in kinds]

    @property
    def is_span(self):
        return self.has('ES_SPAN')

    @property
    def term_count(self):
        lists = self.list('ES_REQUIRE') + self.list('ES_REQUIRE_NOT') + self.list('ES_REQUIRE_ANY')
        return len(lists) + len(self.of_kind(COMPONENT)) + self.has('ES_ONLY')

    @property
    def is_declared_confined(self):
        return self.has('ES_CONFINED', 'ES_QUANTUM', 'ES_READS', 'ES_WRITES')

    @property
    def is_confined(self):
        """Does it touch only what it declares? It says so, or it gets nothing but columns."""
        return self.is_declared_confined or not (self.has('ES_ON_ENTER', 'ES_ON_LEAVE', 'ES_FIRST') or self.of_kind(STAGE, CONTEXT))

    @property
    def takes_runs(self):
        """Is it a handler of events that is called once for each row? Then it gets runs of them too."""
        return self.kind == HANDLER and bool(self.list('ES_ON_EVENT')) and not self.is_span and self.term_count > 0

# ---- annotations ----
def _read_amount(span, word):
    """A number above 0, or the name of a constant."""
    text = span.name()
    if not text[0].isdigit():
        is_right = not re.search(r'[.\-+:<>@|]', text)
    else:
        is_right = bool(re.fullmatch(r'\d+[uU]?', text)) and 0 < int(text.rstrip('uU')) < 2 ** 32
    if not is_right:
        raise Fault(span.words[span.first - 1].line, f"{word.text} takes a number above 0, not '{text}'")
    return text

def _read_annotation(unit, function, span, at):
    """@return the index of the last word of the annotation at `at`."""
    word = span[at]
    kind = ANNOTATIONS.get(word.text)
    if kind == 'flag':
        function.notes[word.text] = True
        return at
    if word.text in OF_THE_FILE:
        return at
    close = span.close(at)
    inside = span.part(at + 2, close)
    with unit.catching():
        if kind == 'list':
            names = function.notes.setdefault(word.text, [])
            for item in inside.items():
                if len(names) == LIST_MAX:
                    raise Fault(item.line, f'{word.text}: more than {LIST_MAX} names')
                with unit.catching():
                    names.append(item.name())
        elif kind == 'name':
            function.notes[word.text] = inside.name()
        elif kind == 'amount':
            function.notes[word.text] = _read_amount(inside, word)
        elif kind == 'function':
            if len(inside) != 1 or inside[0].kind != IDENTIFIER:
                raise Fault(span[at + 1].line, f'{word.text} takes the name of one function')
            function.notes[word.text] = inside.name()
        elif word.text != 'ES_TYPE':
            found = nearest(word.text, ANNOTATIONS)
            raise Fault(word.line, f'unknown annotation {word.text}' + (f': did you mean {found}?' if found else ''))
    return close

# ---- heads ----
def _kind_of(word):
    if word.kind == IDENTIFIER:
        for suffix, kind in SUFFIXES.items():
            if word.text.endswith(suffix) and len(word.text) > len(suffix):
                return kind
    return None

def _find_name(span):
    """The first word outside of parentheses that names a system and its parameters, or None."""
    at = 0
    while at + 1 < len(span):
        if span[at].text in ('=', 'typedef'):  # a variable, a type
            return None
        if span[at + 1].text == '(' and _kind_of(span[at]):
            return at
        if span[at].text == '(':
            at = span.match(at)
            if at is None:
                return None
        at += 1
    return None

def _read_specifiers(unit, function, span):
    """The words before the name: annotations, storage, attributes, return type."""
    is_static, is_right, at = False, True, 0
    while at < len(span):
        word = span[at]
        if word.is_annotation():
            at = _read_annotation(unit, function, span, at)
        elif word.text == 'static':
            is_static = True
        elif word.text == 'bool':
            function.returns_bool = True
        elif word.kind == IDENTIFIER and span[at + 1].text == '(' and at + 1 < len(span):
            at = span.match(at + 1)  # _find_name has seen that it is closed
        else:
            is_macro = word.kind == IDENTIFIER and not re.search('[a-z]', word.text)
            is_right &= word.text in ('void', 'inline') or is_macro or word.kind == STRING
        at += 1
    if not is_static:
        raise Fault(function.line, f'{function.name} must be static')
    if not is_right:
        more = ', or bool: false ends the walk' if function.kind == QUERY else ''
        raise Fault(function.line, f'{function.name} must return void{more}')

def _check_picture(unit, function, body):
    """Programs give a picture to the systems of stage render alone: elsewhere stage->user is NULL. The body is read
    to its end for this one slip, which is easily made and hard to find."""
    if function.kind == QUERY or function.notes.get('ES_STAGE') == 'render':
        return
    braces = 0
    for i, word in enumerate(body):
        braces += (word.text == '{') - (word.text == '}')
        if braces == 0:
            return
        is_user = unit.game.name and body.part(i, min(i + 4, len(body))).texts() == ['stage', '-', '>', 'user']
        if is_user or word.text == 'net_draw':
            what = 'stage->user' if is_user else 'net_draw'
            better = 'keep what it shows, and draw it in a system with ES_STAGE(render)' if function.kind == HANDLER else \
                'add ES_STAGE(render)'
            raise Fault(word.line, f'{function.name} takes the picture ({what}), which only stage render has: {better}')

def _read_definition(unit, head, body):
    name = _find_name(head)
    close = head.match(name + 1) if name is not None else None
    if close is None:
        return
    word = head[name]
    function = Function(head.part(name, name + 1).name(), _kind_of(word), word.line)
    if close + 1 != len(head):
        raise Fault(head[close].line, f'{function.name}: its body must follow its parameters')
    with unit.catching():
        _read_specifiers(unit, function, head.part(0, name))
    _read_params(unit, function, head.part(name + 2, close))
    for check in _check_require, _check_tags, _check_terms, _check_kind:
        with unit.catching():
            check(unit, function)
    if any(other.name == function.name for other in unit.functions):
        raise Fault(function.line, f'{function.name} is twice in this file')
    _check_picture(unit, function, body)
    unit.functions.append(function)

def _check_declaration(head):
    """A declaration is ignored, unless it looks as if it should be a system."""
    name = _find_name(head)
    close = head.match(name + 1) if name is not None else None
    if close is None:
        return
    for word in head.part(0, name):
        if word.is_annotation() and word.text != 'ES_TYPE' and word.text not in OF_THE_FILE:
            raise Fault(word.line, f'{word.text} belongs to the body of {head[name].text}, not to a declaration')
    after = head.part(close + 1)
    if len(after) > 1 and after[0].kind == IDENTIFIER and (after[1].kind == IDENTIFIER or after[1].text == '*'):
        raise Fault(head[name].line, f"{head[name].text}: write the parameters' types between the parentheses")

def read_functions(unit, span):
    """All functions of a file, after all types; and the marks that are about the file."""
    first = braces = parentheses = 0
    opening = span[0]
    for at, word in enumerate(span):
        is_outside = braces == 0 and parentheses == 0
        text = word.text
        if is_outside and text in ('ES_GAME', 'ES_SYSTEMS'):
            with unit.catching():
                game.read_table(unit, span.part(at))
        if braces == 0 and text == '(':
            opening = word if parentheses == 0 else opening
            parentheses += 1
        if braces == 0 and text == ')' and parentheses > 0:
            parentheses -= 1
        if parentheses > 0:
            continue  # the braces of a literal are no body
        if text == '{':
            if braces == 0:
                opening = word
                with unit.catching():
                    _read_definition(unit, span.part(first, at), span.part(at))
            braces += 1
        if text == '}' and braces > 0:
            braces -= 1
        if braces > 0:
            continue
        unit.has_register_types |= is_outside and text == 'ES_REGISTER_TYPES'
        unit.has_messages |= is_outside and text == 'ES_MESSAGES'
        if text == ';':
            with unit.catching():
                _check_declaration(span.part(first, at))
        if text in ('}', ';') or word.kind == INCLUDE:
            first = at + 1
    unit.has_register_types |= unit.game.is_table
    unit.has_messages |= unit.game.is_table
    with unit.catching():
        game.check(unit, span)
    if braces > 0 or parentheses > 0:
        raise Fault(opening.line, f'this {opening.text} is never closed (both branches of an #if are read, of #if 0 none)')

# ---- parameters: bound by their names, their C types and their annotations ----

# Names that the generated functions use themselves.
TAKEN = {False: ('i', 'rows', 'stage', 'event', 'count', 'entities'), True: ('i', 'it', 'world', 'query', 'wanted')}

def _bind_component(unit, function, param):
    name = function.name
    param.kind = COMPONENT
    # "brick__pos" -> "brick.pos"
    param.component = param.component or re.sub(r'(?<!^)__(?=.)', '.', param.name)
    if param.type == 'ecs_list':
        if param.element not in ELEMENT_TYPES:
            raise Fault(param.line, f'{name}: there is no list<{param.element}>' if param.element else
                        f'{name}: say what list {param.name} holds: ES_LIST(p2), for example')
        param.component_type = f'list<{param.element}>'
    else:
        param.component_type = unit.types.get(param.type) or BUILTIN_TYPES.get(param.type)
        if not param.component_type:
            raise Fault(param.line, f'{name}: no component type is a {param.type} (parameter {param.name}): say '
                                    f'ES_TYPE({param.type}, Name), or ES_CONTEXT before it')
        if param.element:
            raise Fault(param.line, f'{name}: ES_LIST is for parameters of type ecs_list')
    if param.is_optional and not param.is_pointer:
        raise Fault(param.line, f'{name}: ES_OPTIONAL is for pointers: {param.name} by value takes ES_DEFAULT(value)')
    if param.default is not None and param.is_pointer:
        raise Fault(param.line, f'{name}: ES_DEFAULT is for parameters by value: pointer {param.name} takes ES_OPTIONAL')
    if function.is_span and not param.is_pointer:
        raise Fault(param.line, f'{name}: with ES_SPAN {param.name} is an array: take a pointer')

def _bind(unit, function, param):
    name, is_query = function.name, function.kind == QUERY
    if param.kind == CONTEXT:
        if not param.is_pointer and not is_query:
            raise Fault(param.line, f'{name}: the context {param.name} must be a pointer')
    elif param.type == 'ecs_stage':
        param.kind = STAGE
        if is_query:
            raise Fault(param.line, f'{name}: a query runs outside of stages: hand the stage on as ES_CONTEXT')
    elif param.type == 'ecs_event':
        param.kind = EVENT
    elif function.kind == HANDLER and param.name in ('event', 'payload') and param.is_pointer and param.is_const:
        param.kind = PAYLOAD
    elif param.type == 'ecs_entity' and param.name in (('entity', 'eid') + (('entities', 'eids') if function.is_span else ())):
        param.kind = ENTITY
    elif function.is_span and param.name == 'count':
        param.kind = COUNT
    else:
        _bind_component(unit, function, param)
    is_held = param.kind == COMPONENT or (is_query and param.kind == CONTEXT)
    if is_held and param.name in TAKEN[is_query]:
        more = ' and say ES_NAME(component)' if param.kind == COMPONENT else ''
        raise Fault(param.line, f'{name}: what is generated has its own {param.name}: choose another name{more}')
    if param.kind == EVENT and function.kind != HANDLER:
        raise Fault(param.line, f'{name} gets no event')
    is_const_pointer = param.is_const and param.is_pointer
    if param.kind in (EVENT, STAGE) and not is_const_pointer:
        raise Fault(param.line, f'{name}: take const {param.type}* {param.name}')
    if param.kind == COUNT and (param.is_pointer or param.type != 'uint32_t'):
        raise Fault(param.line, f'{name}: take uint32_t count')
    if param.kind == ENTITY and (not is_const_pointer if function.is_span else param.is_pointer):
        raise Fault(param.line, f'{name}: {param.name} is ' + ('an array here: take const ecs_entity*' if function.is_span else 'a value'))
    if param.kind != COMPONENT and (param.is_optional or param.default is not None or param.component):
        raise Fault(param.line, f'{name}: {param.name} is no component')

def _read_param_annotation(param, span, at):
    """@return the index of the last word of the annotation."""
    word = span[at]
    if word.text == 'ES_OPTIONAL':
        param.is_optional = True
        return at
    if word.text == 'ES_CONTEXT':
        param.kind = CONTEXT
        return at
    close = span.match(at + 1) if at + 1 < len(span) else None
    inside = span.part(at + 2, close) if close else None
    if close and word.text == 'ES_NAME':
        param.component = inside.name()
    elif close and word.text == 'ES_LIST':
        param.element = inside.name()
    elif close and word.text == 'ES_DEFAULT':
        param.default = inside.expression()
    if not close or word.text not in ('ES_NAME', 'ES_LIST', 'ES_DEFAULT') or (word.text == 'ES_DEFAULT' and param.default is None):
        raise Fault(word.line, f'{word.text} is not understood here')
    return close

def _read_param(unit, function, span):
    if len(span) == 0:
        raise Fault(span.line, f'{function.name}: a parameter is missing here')
    param, plain, at, stars, is_odd = Param(span.line), [], 0, 0, False
    while at < len(span):
        word = span[at]
        if word.is_annotation():
            at = _read_param_annotation(param, span, at)
        elif word.text == 'const':
            param.is_const |= stars == 0
        elif word.text == 'struct' and not plain:
            param.is_struct = True
        elif word.text == '*':
            stars += 1
        elif word.kind == IDENTIFIER and len(plain) < 2 and word.text != 'restrict':
            plain.append(word)
        elif word.text != 'restrict':
            is_odd = True
        at += 1
    if plain and plain[0].text in SIZED_TYPES:
        text = plain[0].text
        raise Fault(plain[0].line, f'{function.name}: the size of {text} depends on the machine: say {SIZED_TYPES[text]}')
    if len(plain) < 2 or is_odd or stars > 1 or max(len(word.text) for word in plain) > NAME_BYTES_MAX:
        raise Fault(span.line, f'{function.name}: a parameter is a type, at most one star and a name: const ecs_vec2* pos')
    param.type, param.name = (word.text for word in plain)
    param.is_pointer = stars == 1
    param.is_const |= stars == 0
    _bind(unit, function, param)
    if param.kind == COMPONENT and param.component in (other.component for other in function.of_kind(COMPONENT)):
        raise Fault(param.line, f'{function.name} asks for component {param.component} twice')
    function.params.append(param)

def _read_params(unit, function, span):
    if span.texts() in ([], ['void']):
        return
    for item in span.items():
        with unit.catching():
            _read_param(unit, function, item)
    kinds = [param.kind for param in function.params]
    for i, param in enumerate(function.params):  # only components and contexts may appear more than once
        if param.kind not in (COMPONENT, CONTEXT) and param.kind in kinds[:i]:
            unit.fault(param.line, f'{function.name}: {param.name} is there already')

# ---- checks of a function as a whole: do its valid parts fit together? ----
def _check_require(unit, function):
    for text in function.list('ES_REQUIRE') + function.list('ES_REQUIRE_NOT') + function.list('ES_REQUIRE_ANY'):
        if not all(text.rpartition(':')):
            raise Fault(function.line, f"{function.name}: say the name and the type of '{text}': name:tag")

def _check_tags(unit, function):
    known = ('server', 'gameClient', 'predict', 'render')  # the worlds of a game have these, each some of them
    for text in function.list('ES_TAG'):
        tags = text.split('|')
        if '' in tags:
            raise Fault(function.line, f"{function.name}: a tag is missing beside | in '{text}'")
        for tag in tags if unit.game.name else ():
            if tag not in known:
                found = nearest(tag, known)
                raise Fault(function.line, f'{function.name}: no world of a game has the tag {tag}' +
                            (f', did you mean {found}?' if found else '') + ': there are server, gameClient, predict and render')

def _check_terms(unit, function):
    count, name = function.term_count, function.name
    if count > TERMS_MAX:
        raise Fault(function.line, f'{name} asks for {count} components, more than {TERMS_MAX}')
    if count > 0:
        return
    if function.kind == QUERY:
        raise Fault(function.line, f'{name} asks for no component: take one, or ES_REQUIRE')
    if function.of_kind(ENTITY) or function.is_span or function.has('ES_ON_ENTER', 'ES_ON_LEAVE', 'ES_FIRST'):
        raise Fault(function.line, f'{name} asks for no component, so there are no entities to call it with: take one, or ES_REQUIRE')

def _check_kind(unit, function):
    name, kind = function.name, function.kind
    has_events = function.has('ES_ON_EVENT', 'ES_TRACK')
    is_timed = function.has('ES_EVERY', 'ES_STAGE', 'ES_ON_ENTER', 'ES_ON_LEAVE', 'ES_FIRST')
    if kind == HANDLER and not has_events:
        raise Fault(function.line, f'{name} handles no event: add ES_ON_EVENT(name) or ES_TRACK(component)')
    if kind != HANDLER and has_events:
        raise Fault(function.line, f'{name} is no event handler: name it *_es_event_handler')
    if kind == HANDLER and is_timed:
        raise Fault(function.line, f'{name} is called on events: it has no stage, interval or turn')
    if kind != SYSTEM and function.is_declared_confined:
        raise Fault(function.line, f'{name} is no system: it runs while no other does')
    if kind == QUERY and (is_timed or function.has('ES_TAG', 'ES_BEFORE', 'ES_AFTER')):
        raise Fault(function.line, f'{name} is a query: it has neither stage nor tags nor order')
    if function.returns_bool and kind != QUERY:
        raise Fault(function.line, f'{name} must return void')
