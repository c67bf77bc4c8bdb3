# SPDX-License-Identifier: MIT
"""What a game declares in C and shoal-esgen completes: the context with its ids and queries, the settings, the
actions, and the module's table.

    ES_GAME_CONTEXT(tag)
    typedef struct tag_game {
        ecs_component_id pos, is_it ES_NAME(it);
        ecs_query* runners ES_QUERY("pos:p2 !it:tag");
        tag_settings settings;
        float anything_else;
    } tag_game;
    ES_SYSTEMS(pad, ball, rules);
    ES_GAME("Tag", 1200, 800, .start = tag_start, .player_join = tag_player_join);

The context is read with tolerance: a field of a type that means nothing here is the game's own.
"""
from words import HEAD_BYTES_MAX, IDENTIFIER, INCLUDE, LIST_MAX, STRING, TEXT_BYTES_MAX, Fault
import structs

# What shoal-esgen fills in a field of a game's context.
COMPONENT, TEMPLATE, EVENT = 'component', 'template', 'event'
QUERY = 'query'        # by ES_QUERY, or by the function of its name in one of the files
TAG = 'tag'            # bool with ES_IF_TAG
MEMORY = 'memory'      # a pointer with ES_IF_TAG: zeroed memory in worlds with the tag
VALUE = 'value'        # ES_VALUE: the default of template `name`, component terms[0]
STEP = 'step'          # float or ecs_quant with ES_STEP: template `name`, component terms[0]
SETTINGS = 'settings'  # a struct with ES_SETTINGS
RATE, DT, SERVICES = 'rate', 'dt', 'services'  # uint32_t tick_rate_hz, float dt, const net_game_services* services

IDS = {'ecs_component_id': COMPONENT, 'ecs_template_id': TEMPLATE, 'ecs_event_type': EVENT}
FILLED_TYPES = {*IDS, 'ecs_query', 'bool', 'uint32_t', 'net_game_services', 'float', 'ecs_quant'}

SHAPE = 'ES_GAME takes ("Title", width, height, .field = value...)'
# Fields of net_game_module that shoal-esgen fills by itself.
FILLED_KEYS = {
    'contract_version', 'size_bytes', 'core_version', 'name', 'title', 'view_width', 'view_height', 'messages',
    'message_count', 'message_bytes', 'settings', 'setting_count', 'setting_bytes', 'actions', 'action_count', 'action_bytes'}

class Slot:
    def __init__(self, kind, field, name='', c_type=''):
        self.kind, self.field, self.name, self.c_type = kind, field, name, c_type
        self.terms = []  # of ES_QUERY; the component of ES_VALUE and ES_STEP

class Game:
    """What its context's struct, its settings, its actions and ES_GAME say."""

    def __init__(self):
        self.name = self.context = ''  # name: of ES_GAME_CONTEXT, "" when the file belongs to no game
        self.is_context_here = self.is_table = False
        self.slots, self.settings, self.actions = [], None, []  # an action: its constant and its row
        self.line = 0                  # of ES_GAME; without it, of ES_SYSTEMS
        self.title = self.width = self.height = ''
        self.values = {}               # ".start = f": of "start" "f"
        self.heads = {}                # of a key whose value is a static function of the file: its head
        self.systems = []              # files, in the order of a tick

    def find_slot(self, kind):
        return next((slot for slot in self.slots if slot.kind == kind), None)

    def of_kind(self, *kinds):
        return [slot for slot in self.slots if slot.kind in kinds]

# ---- the context ----
class Declarator:
    """One name of a declaration: "pos", "rect_size ES_NAME(rectSize)", "flags[2] ES_NAME(a, b)"."""

    def __init__(self, game, span):
        self.word = span[0]
        at = next((i for i in range(1, len(span)) if span[i].is_annotation()), len(span))
        self.is_array = '[' in span.part(1, at).texts()
        self.mark = self.inside = None
        if at == len(span):
            return
        self.mark = span[at]
        close = span.match(at + 1) if at + 1 < len(span) else None
        if close is None or close + 1 != len(span):
            raise Fault(self.mark.line, f'{game.context}: one mark with (...) may follow a name')
        self.inside = span.part(at + 2, close)

    def is_marked(self, text):
        return self.mark is not None and self.mark.text == text

def _add_ids(game, kind, span, one):
    """The names of an array's elements, or the one name."""
    field, is_named = one.word.text, one.is_marked('ES_NAME')
    place = f'{game.context}.{field}'
    if (one.mark and not is_named) or (one.is_array and not is_named):
        raise Fault(one.word.line, f'{place}: ' + ('an id takes ES_NAME(name) alone' if one.mark else
                                                   'an array of ids says their names: ES_NAME(a, b)'))
    names = [item.name() for item in (one.inside if is_named else span.part(0, 1)).items()]
    if not one.is_array and len(names) != 1:
        raise Fault(one.word.line, f'{place} is one id and has {len(names)} names')
    for i, name in enumerate(names):
        game.slots.append(Slot(kind, f'{field}[{i}]' if one.is_array else field, name))

def _add_one(game, kind, mark, span, one, c_type=''):
    if one.mark and not (mark and one.is_marked(mark)):
        raise Fault(one.mark.line, f'{one.mark.text} does not belong here')
    slot = Slot(kind, span.part(0, 1).name(), c_type=c_type)
    if one.mark and kind == QUERY:  # "pos:p2 vel:p2 !dead:tag ?hits:i"
        text = one.inside.join()
        slot.terms = [term for term in text.split(' ') if term]
        if len(one.inside) != 1 or one.inside[0].kind != STRING or not slot.terms or len(slot.terms) > LIST_MAX or \
                len(text) > TEXT_BYTES_MAX or not all(':' in term for term in slot.terms):
            raise Fault(one.mark.line, f"ES_QUERY takes one text of up to {LIST_MAX} components as name:type, below "
                                       f"{TEXT_BYTES_MAX + 1} bytes; '!' before one that must be missing, '?' before one that may be")
    elif one.mark and kind in (STEP, VALUE):
        items = list(one.inside.items())
        if len(items) < 2:
            raise Fault(one.mark.line, f'{mark} takes (template, component)' + (', or (template, component.field)' if kind == STEP else ''))
        slot.name, slot.terms = items[0].name(), [one.inside.part(len(items[0]) + 1).name()]
    elif one.mark:
        slot.name = one.inside.name()
    game.slots.append(slot)

def _add_slot(game, c_type, is_pointer, span, one):
    name = one.word.text
    if is_pointer:
        if c_type == 'ecs_query':
            _add_one(game, QUERY, 'ES_QUERY', span, one)
        elif c_type == 'net_game_services' and name == 'services':
            _add_one(game, SERVICES, None, span, one)
        elif one.mark:
            _add_one(game, MEMORY, 'ES_IF_TAG', span, one)
    elif one.is_marked('ES_VALUE'):
        _add_one(game, VALUE, 'ES_VALUE', span, one, c_type)
    elif c_type in IDS:
        _add_ids(game, IDS[c_type], span, one)
    elif c_type in ('float', 'ecs_quant') and one.mark:
        _add_one(game, STEP, 'ES_STEP', span, one, c_type)
    elif c_type == 'bool' and one.mark:
        _add_one(game, TAG, 'ES_IF_TAG', span, one)
    elif game.settings and c_type == game.settings.c_type:
        _add_one(game, SETTINGS, None, span, one)
    elif (c_type, name) == ('uint32_t', 'tick_rate_hz'):
        _add_one(game, RATE, None, span, one)
    elif (c_type, name) == ('float', 'dt'):
        _add_one(game, DT, None, span, one)

def _read_declaration(unit, span):
    """One declaration without its ';'. Of those that are the game's own nothing is asked."""
    game = unit.game
    while len(span) and span[0].text in ('const', 'struct'):
        span = span.part(1)
    if len(span) == 0:
        return
    c_type, texts = span[0].text, span.texts()
    is_own = c_type not in FILLED_TYPES and not (game.settings and c_type == game.settings.c_type)
    if is_own and 'ES_VALUE' not in texts and 'ES_IF_TAG' not in texts:
        return
    for item in span.part(1).items():
        is_pointer = item.texts()[:1] == ['*']
        item = item.part(1) if is_pointer else item
        with unit.catching():
            if len(item):
                one = Declarator(game, item)
                if one.mark or one.word.kind == IDENTIFIER:
                    _add_slot(game, c_type, is_pointer, item, one)

def _read_context(unit, span, is_here):
    game = unit.game
    close = span.match(1)
    if close is None or game.name:
        raise Fault(span.line, 'ES_GAME_CONTEXT takes the name of the game' if close is None else
                    'a file has one ES_GAME_CONTEXT, with its headers')
    game.name = span.part(2, close).name()
    game.context, body, end = structs.find_typedef(span.part(close + 1), span.line, 'struct', 'ES_GAME_CONTEXT belongs')
    game.is_context_here = is_here
    first = depth = 0
    for i, word in enumerate(body):
        depth += (word.text == '{') - (word.text == '}')
        if depth == 0 and word.text == ';':
            with unit.catching():
                _read_declaration(unit, body.part(first, i))
            first = i + 1
    return close + 1 + end

# ---- settings and actions ----
def _read_settings(unit, span):
    if unit.game.settings:
        raise Fault(span.line, 'a game has one ES_SETTINGS')
    made = unit.game.settings = structs.Struct(span.line, unit.file)
    made.c_type, body, end = structs.find_typedef(span.part(1), span.line, 'struct', 'ES_SETTINGS belongs')
    structs.read_fields(unit, made, body)
    for field in made.fields:
        if field.count != '1' or field.c_type == 'ecs_entity' or not field.mark.setting:
            unit.fault(field.line, f'{made.c_type}.{field.name}: a setting is a number or a bool with '
                                   'ES_SETTING(default, min, max, "help")')
    return 1 + end

def _read_action(game, span):
    """One enumerator: NAME [= value] [ES_ACTION("name", "keys", "help"[, "pads"])]."""
    at = next((i for i, word in enumerate(span) if word.is_annotation()), None)
    if at is None:
        return
    mark = span.part(at)
    is_right = mark[0].text == 'ES_ACTION' and len(mark) in (8, 10) and mark.match(1) == len(mark) - 1 and \
        all(mark[i].kind == STRING for i in range(2, len(mark), 2))
    if not is_right:
        raise Fault(mark.line, 'an action is marked ES_ACTION("name", "keys", "help"), or with inputs of a game controller: '
                               'ES_ACTION("name", "keys", "help", "A,LeftX-")')
    constant, row = span.part(0, 1).name(), mark.part(2, len(mark) - 1).copy()
    if row is None:
        raise Fault(mark.line, f"an action's texts are longer than {TEXT_BYTES_MAX} bytes")
    game.actions.append((constant, row if len(mark) == 10 else row + ', NULL'))

def _read_actions(unit, span):
    _, body, end = structs.find_typedef(span.part(1), span.line, 'enum', 'ES_ACTIONS belongs')
    for item in body.items():
        with unit.catching():
            _read_action(unit.game, item)
    return 1 + end

def read_types(unit, span, is_near, is_here):
    """The types of the file or of a header: ES_TYPE, ES_STRUCT, ES_EVENT, and what a game declares. Of two for one C
    type the first is used. Of a header that is not `is_near`, one that a header includes, only names of types count."""
    at = 0
    while at < len(span):
        begun, at = at, at + 1
        if not span[begun].is_annotation():
            continue
        rest = span.part(begun)
        with unit.catching():
            if rest[0].text == 'ES_GAME_CONTEXT' and rest[1].text == '(':
                at = begun + max(1, _read_context(unit, rest, is_here))
            elif rest[0].text == 'ES_SETTINGS':
                at = begun + max(1, _read_settings(unit, rest))
            elif rest[0].text == 'ES_ACTIONS':
                at = begun + max(1, _read_actions(unit, rest))
            else:
                at = begun + max(1, structs.read_type(unit, rest, is_near))

# ---- ES_GAME and ES_SYSTEMS: what the module's table says beside what the game's types say ----
def _read_pair(game, span):
    """".start = breakout_start". @return False: it has another shape."""
    if len(span) < 4 or span[0].text != '.' or span[2].text != '=' or len(game.values) == LIST_MAX:
        return False
    key = span.part(1, 2).name()
    if key in FILLED_KEYS:
        raise Fault(span.line, f'.{key} is written by shoal-esgen')
    value = span.part(3).expression()
    if value is not None:
        game.values[key] = value
    return value is not None

def read_table(unit, span):
    """ES_GAME(...) or ES_SYSTEMS(...) at file level."""
    game, close = unit.game, span.close(0)
    inside = span.part(2, close)
    if span[0].text == 'ES_SYSTEMS':
        game.line = game.line if game.is_table else span.line
        for item in inside.items():
            if len(game.systems) == LIST_MAX:
                raise Fault(span.line, f'more than {LIST_MAX} files with systems')
            game.systems.append(item.name())
        return
    if game.is_table:
        raise Fault(span.line, 'a file has one ES_GAME')
    game.is_table, game.line = True, span.line
    items = list(inside.items())
    for i, item in enumerate(items):
        text = item.expression()
        is_right = i > 0 or item.texts() and item[0].kind == STRING and len(item) == 1
        if i >= 3:
            is_right = _read_pair(game, item)
        if not is_right or (i < 3 and text is None):
            raise Fault(item.line, SHAPE)
        if i < 3:
            setattr(game, ('title', 'width', 'height')[i], text)
    if len(items) < 3:
        raise Fault(span.line, SHAPE)

def find_query_slot(unit, function):
    """The field of the game's context that a query function fills; None: there is none."""
    for slot in unit.game.of_kind(QUERY):
        if function.kind == 'query' and function.name == slot.field + '_ecs_query':
            return slot
    return None

def _find_head(span, name):
    """The head of a static function of the file: the table is above its body."""
    first = braces = 0
    for at, word in enumerate(span):
        braces += word.text == '{'
        braces -= word.text == '}' and braces > 0
        if braces > 0:
            continue
        if word.text in ('}', ';') or word.kind == INCLUDE:
            first = at + 1
        if word.text != name or span[at + 1].text != '(':
            continue
        close = span.match(at + 1)
        static = next((i for i in range(first, at) if span[i].text == 'static'), None)
        if close is not None and static is not None:
            return span.part(static, close + 1).copy(HEAD_BYTES_MAX) or ''
    return ''

def _check_order(span, key, value):
    """FILE.es.h has the table: a variable that a value names is above that include."""
    name, include, depth = value.removeprefix('&'), None, 0
    for at, word in enumerate(span):
        depth += word.text in ('{', '(')
        depth -= depth > 0 and word.text in ('}', ')')
        if word.kind == INCLUDE and word.text.endswith('.es.h'):
            include = word
        if depth > 0 or word.text != name:
            continue
        if not include:
            return
        if span[at + 1].text in ('=', '['):
            raise Fault(word.line, f'.{key} = {value}: {name} must be above the include of {include.text}, which has the table')

def _check_structs(unit, span):
    """FILE.es.h needs the members of the structs that it registers."""
    include = next((word for word in reversed(list(span)) if word.kind == INCLUDE and word.text.endswith('.es.h')), None)
    for struct in unit.structs if include and unit.has_register_types else ():
        if struct.file == unit.source and struct.line > include.line:
            unit.fault(struct.line, f'struct {struct.c_type} must be above the include of {include.text}, which registers it')

def check(unit, span):
    game = unit.game
    _check_structs(unit, span)
    if (game.is_table or game.systems) and not game.name:
        raise Fault(game.line, "ES_GAME and ES_SYSTEMS need the game's context: a struct with ES_GAME_CONTEXT in this file or in "
                               'a header that it includes by "name"')
    inputs = sum('input' in event.flags for struct in unit.structs for event in struct.events)
    if game.is_table and inputs != 1:
        unit.fault(game.line, 'a game has exactly one message that is its input: ES_MESSAGE(Game__Input, input); ' f'here are {inputs}')
    for key, value in game.values.items():
        game.heads[key] = _find_head(span, value)
        with unit.catching():
            _check_order(span, key, value)
    # A query without ES_QUERY has its function in this file, or in one of several.
    for slot in game.of_kind(QUERY) if game.is_table and not game.systems else ():
        if not slot.terms and slot not in [find_query_slot(unit, function) for function in unit.functions]:
            unit.fault(game.line, f'{game.context}.{slot.field}: say ES_QUERY(...), or write {slot.field}_ecs_query')
