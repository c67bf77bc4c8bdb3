# SPDX-License-Identifier: MIT
"""The module's table (net/game.h) and what it points to: messages, settings, actions, types, the registration of
all files, and functions that hand the context on by its own type."""
import re

import game
from functions import QUERY

def registers(unit):
    """Does the file register something: systems, or queries of its game's context?"""
    return any(function.kind != QUERY or game.find_query_slot(unit, function) for function in unit.functions)

# ---- the function that fills a game's context before its systems are registered ----
# All that is missing is reported by name, not only the first.

def _query_text(slot):
    field = slot.field
    text = f'    static const ecs_term {field}_terms[] = {{\n'
    for term in slot.terms:
        access = {'!': 'ECS_REQUIRE_NOT', '?': 'ECS_OPTIONAL_READ'}.get(term[0], 'ECS_READ')
        name, _, c_type = (term[1:] if term[0] in '!?' else term).rpartition(':')
        if c_type == 'tag' and access == 'ECS_READ':
            access = 'ECS_REQUIRE'
        text += f'        {{"{name}", "{c_type}", {access}}},\n'
    return text + ('    };\n'
                   '    if (!result)\n'
                   f'        result = ecs_query_create(world, {field}_terms, BASE_COUNT({field}_terms), &game->{field});\n')

def _step_text(unit, slot):
    source, component = slot.name, slot.terms[0]
    return (f'    if (!result && !ecs_template_quant(world, "{source}", "{component}", &quant)) {{\n'
            f'        base_report(reporter, "{unit.game.name}.blk", 0,\n'
            f'            "{source}: {component} is not rounded: it has no _min, _max and _step");\n'
            '        result = ECS_ERR_UNKNOWN;\n'
            '    }\n'
            f'    game->{slot.field} = {"quant" if slot.c_type == "ecs_quant" else "(float)quant.step"};\n')

def _put_find(out, unit):
    its = unit.game
    out.put('\n// Fill the fields of the context that name something of the world.\n'
            f'static ecs_result {its.name}_find_all(ecs_world* world, {its.context}* game,\n'
            '    const base_reporter* reporter) {\n'
            f'    ecs_need need = {{.world = world, .reporter = reporter, .place = "{its.name}"}};\n'
            '    (void)game;\n')
    for slot in its.of_kind(game.COMPONENT, game.TEMPLATE, game.EVENT):
        out.put(f'    game->{slot.field} = ecs_{slot.kind}_need(&need, "{slot.name}");\n')
    for slot in its.of_kind(game.VALUE):
        field = slot.field
        out.put(f'    const {slot.c_type}* {field}_value =\n'
                f'        ecs_value_need(&need, "{slot.name}", "{slot.terms[0]}", sizeof game->{field});\n'
                f'    if ({field}_value) game->{field} = *{field}_value;\n')
    for slot in its.of_kind(game.STEP):
        out.put(f'    (void)ecs_template_need(&need, "{slot.name}");\n')
    out.put('    ecs_result result = ecs_need_result(&need);\n')
    if its.find_slot(game.STEP):
        out.put('    ecs_quant quant = {0};\n')
    for slot in its.slots:
        if slot.kind == game.TAG:
            out.put(f'    game->{slot.field} = ecs_world_has_tag(world, "{slot.name}");\n')
        elif slot.kind == game.MEMORY:
            out.put(f'    if (ecs_world_has_tag(world, "{slot.name}"))\n'
                    f'        game->{slot.field} = ecs_world_context(world, sizeof *game->{slot.field});\n')
        elif slot.kind == game.STEP:
            out.put(_step_text(unit, slot))
        elif slot.kind == game.QUERY and slot.terms:
            out.put(_query_text(slot))
    out.put('    return result;\n}\n')

def _put_settings(out, unit):
    settings, name = unit.game.settings, unit.game.name
    if not settings:
        return
    out.put(f'\nstatic const net_setting {name}_setting_rows[] = {{\n')
    for field in settings.fields:
        out.put_line(settings.file, field.line)
        out.put(f'    {{"{field.name}", {field.mark.setting}}},\n')
    out.put_line_end()
    out.put('};\n\n'
            f'static void {name}_take_setting({settings.c_type}* settings, uint32_t index, double value) {{\n'
            '    switch (index) {\n')
    for i, field in enumerate(settings.fields):
        out.put(f'    case {i}:\n        settings->{field.name} = ({field.c_type})value;\n        break;\n')
    out.put('    default:\n        break;\n    }\n}\n')

def _put_take(out, unit):
    """What a match starts with, on a server and on a client."""
    its = unit.game
    out.put(f'\nstatic void {its.name}_take_start({its.context}* game, const net_game_start* start) {{\n'
            '    (void)game;\n    (void)start;\n')
    if its.find_slot(game.RATE):
        out.put('    game->tick_rate_hz = start->tick_rate_hz;\n')
    if its.find_slot(game.DT):
        out.put('    game->dt = start->dt;\n')
    if its.find_slot(game.SERVICES):
        out.put('    game->services = start->services;\n')
    settings = its.find_slot(game.SETTINGS)
    if settings:
        out.put('    for (uint32_t i = 0; i < start->setting_count; i++)\n'
                f'        {its.name}_take_setting(&game->{settings.field}, i, start->settings[i]);\n')
    out.put('}\n')

# ---- functions per event with ES_MESSAGE: between its payload and the struct that protoc-c makes ----
#
# to_wire assigns without a cast, so that the compiler warns of a field that has another type in the message. from_wire
# meets untrusted input: it refuses what the payload's type cannot hold, numbers that are not finite and what ES_RANGE
# excludes; ES_CLAMP moves a value to its limit. refusal says which field it was. A text that does not fit is refused.

SMALL_TYPES = {'int8_t': 'INT8', 'int16_t': 'INT16', 'uint8_t': 'UINT8', 'uint16_t': 'UINT16'}

def _is_real(field):
    return field.c_type in ('float', 'double')

def _is_unsigned(field):
    return field.c_type.startswith('u') or field.c_type == 'ecs_tick'

def _wire_name(field):
    return field.mark.message_name or field.name

def _limit(text):
    """As one operand: a word, a number with its sign, or in parentheses."""
    return text if re.fullmatch(r'-?[\w.]*', text, re.ASCII) else f'({text})'

def _said(text):
    """A text in C that names the limit. Characters and strings in it would need escapes."""
    return 'its limit' if '"' in text or '\\' in text else text

def _has_below(field):
    """Is there a value below the limit? Compilers warn of `unsigned < 0`."""
    return not _is_unsigned(field) or field.mark.min not in ('0', '0u')

def _value_text(field):
    cast = f'({field.c_type})' if field.c_type in SMALL_TYPES else ''
    more = ' != 0' if field.c_type == 'bool' else ''
    return f'to->{field.name} = {cast}from->{_wire_name(field)}{more};\n'

def _clamped_text(field):
    name, mark, text, before = _wire_name(field), field.mark, '', '    '
    for sign, limit in (('<', mark.min), ('>', mark.max)):
        if sign == '>' or _has_below(field):
            text += f'{before}if (from->{name} {sign} {_limit(limit)})\n        to->{field.name} = {_limit(limit)};\n'
            before = '    else '
    return f'{text}    else\n        {_value_text(field)}'

def _can_refuse(field):
    """What the payload cannot hold, and what ES_RANGE refuses."""
    mark = field.mark
    return not mark.is_local and (_is_real(field) or field.is_text or mark.limit == 'ES_RANGE' or
                                  (field.c_type in SMALL_TYPES and mark.limit != 'ES_CLAMP'))

def _refusal_text(field):
    name, mark, text = _wire_name(field), field.mark, ''
    if field.is_text:
        text += (f'    if (from->{name} && strlen(from->{name}) >= ({field.count}))\n'
                 f'        return "{name} is longer than {field.count} allows";\n')
    if _is_real(field):
        text += f'    if (from->{name} - from->{name} != 0) return "{name} is not finite";\n'
    if field.c_type in SMALL_TYPES and mark.limit != 'ES_CLAMP':
        small = SMALL_TYPES[field.c_type]
        below = '' if _is_unsigned(field) else f' < {small}_MIN || from->{name}'
        text += f'    if (from->{name}{below} > {small}_MAX)\n        return "{name} is no {field.c_type}";\n'
    if mark.limit == 'ES_RANGE':
        below = f'from->{name} < {_limit(mark.min)} || ' if _has_below(field) else ''
        text += (f'    if ({below}from->{name} > {_limit(mark.max)})\n'
                 f'        return "{name} is outside of {_said(mark.min)}..{_said(mark.max)}";\n')
    return text

def _put_refusals(out, struct, event):
    refused = [field for field in struct.fields if _can_refuse(field)]
    out.put(f'static const char* {event.name}_refusal(const ProtobufCMessage* message) {{\n')
    out.put_line(struct.file, struct.line)
    out.put(f'    const {event.message}* from = (const {event.message}*)message;\n' if refused else '    (void)message;\n')
    for field in refused:
        out.put_line(struct.file, field.line)
        out.put(_refusal_text(field))
    out.put_line_end()
    out.put('    return NULL;\n}\n\n')

def _taken_text(field):
    name = _wire_name(field)
    if field.is_text:
        return f'    if (from->{name}) (void)base_text_copy(to->{field.name}, sizeof to->{field.name}, from->{name});\n'
    return _clamped_text(field) if field.mark.limit == 'ES_CLAMP' else '    ' + _value_text(field)

def _put_message(out, struct, event):
    message, payload = event.message, struct.c_type
    fields = [field for field in struct.fields if not field.mark.is_local]
    out.put(f'\n// Event {event.name}, message {message}.\n'
            f'static void {event.name}_to_wire(const void* payload, ProtobufCMessage* message) {{\n')
    if fields:
        out.put(f'    const {payload}* from = payload;\n')
        out.put_line(struct.file, struct.line)
        out.put(f'    {message}* to = ({message}*)message;\n')
    else:
        out.put('    (void)payload;\n    (void)message;\n')
    for field in fields:
        out.put_line(struct.file, field.line)
        name = field.name
        # A text without its zero would be read past its end.
        value = f'(char*)(memchr(from->{name}, 0, sizeof from->{name}) ? from->{name} : "")' if field.is_text else f'from->{name}'
        out.put(f'    to->{_wire_name(field)} = {value};\n')
    out.put_line_end()
    out.put('}\n\n')
    _put_refusals(out, struct, event)
    out.put(f'static bool {event.name}_from_wire(const ProtobufCMessage* message, void* payload) {{\n'
            f'    if ({event.name}_refusal(message)) return false;\n')
    out.put(f'    const {message}* from = (const {message}*)message;\n    {payload}* to = payload;\n' if fields else
            '    (void)payload;\n')
    for field in fields:
        out.put_line(struct.file, field.line)
        out.put(_taken_text(field))
    out.put_line_end()
    out.put('    return true;\n}\n')

def _messages(unit):
    """Each event that has a message, with its payload, in the order of the module's table."""
    return [(struct, event) for struct in unit.structs for event in struct.events if event.message]

def put_messages(out, unit):
    for struct, event in _messages(unit):
        _put_message(out, struct, event)

# ---- numbers of messages, and a function to send each that goes to the server ----
def put_numbers(out, unit):
    name, settings = unit.game.name, unit.game.settings
    capitals = name.upper()
    out.put("\n/// Index of each message in the module's table; the number on the wire is one more.\nenum {\n")
    for event_name in [event.name for _, event in _messages(unit)] + ['COUNT']:
        out.put(f'    {capitals}_MESSAGE_{event_name.upper()},\n')
    out.put('};\n')
    if settings:
        out.put("\n/// Index of each setting in the module's table.\nenum {\n")
        for field_name in [field.name for field in settings.fields] + ['COUNT']:
            out.put(f'    {capitals}_SETTING_{field_name.upper()},\n')
        out.put('};\n')
    for struct, event in _messages(unit):
        if 'input' not in event.flags and not event.is_exported:
            out.put('\n/// Send it to the server. @return false when the queue is full, or while there is no server.\n'
                    f'static inline bool {name}_send_{event.name}(const net_player_context* view, const {struct.c_type}* payload) {{\n'
                    f'    return view->send && view->send(view->sender, {capitals}_MESSAGE_{event.name.upper()} + 1, payload);\n}}\n')
    out.put("\n/// @return the module's table, which net_game_module_get of its .so returns.\n"
            f'const net_game_module* {name}_module(void);\n')

# ---- the table ----
def _descriptor(unit, message):
    """Of "Breakout__PadInput", the part after the package in lower case with '_' between words:
    breakout__pad_input__descriptor. A package keeps its own spelling: "MyGame" is my_game."""
    name = unit.game.name
    package, inside, rest = message.partition('__')
    camel = ''.join(part[:1].upper() + part[1:] for part in name.split('_'))
    is_package = bool(inside) and package == camel
    text = inside + rest if is_package else message
    lower = re.sub(r'(?<=[^A-Z_])(?=[A-Z])', '_', text).lower()
    return (name if is_package else '') + lower + '__descriptor'

def _mode_of(event):
    if 'input' in event.flags:
        return 'NET_MESSAGE_INPUT'
    return 'NET_MESSAGE_TO_CLIENTS' if event.is_exported else 'NET_MESSAGE_TO_SERVER'

def _truth(value):
    return 'true' if value else 'false'

def _sounds(unit):
    return [event for struct in unit.structs for event in struct.events if event.sound]

def _put_message_rows(out, unit):
    out.put(f'\nstatic const net_message {unit.game.name}_message_rows[] = {{\n')
    for _, event in _messages(unit):
        name = event.name
        out.put(f'    {{"{event.message.split("__")[-1]}", &{_descriptor(unit, event.message)}, "{name}", {_mode_of(event)},\n'
                f'     {_truth("reliable" in event.flags)}, {name}_to_wire, {name}_from_wire, {_truth("late" in event.flags)}, {name}_refusal}},\n')
    out.put('};\n')

def _put_rows(out, unit):
    """Actions and sounds."""
    name = unit.game.name
    if unit.game.actions:
        out.put(f'\nstatic const net_action {name}_action_rows[] = {{\n')
        for constant, row in unit.game.actions:
            out.put(f'    [{constant}] = {{{row}}},\n')
        out.put('};\n')
    if _sounds(unit):
        out.put(f'\nstatic const net_sound {name}_sound_rows[] = {{\n')
        for event in _sounds(unit):
            out.put(f'    {{"{event.name}", {event.sound}}},\n')
        out.put('};\n')

def _kept(unit):
    return [(struct, event) for struct, event in _messages(unit) if 'kept' in event.flags]

def _put_keepers(out, unit):
    """The handler of an input that is kept."""
    name = unit.game.name
    for struct, event in _kept(unit):
        out.put(f'\nstatic void {name}_keep_input(const ecs_stage* stage, const ecs_event* event,\n'
                '    const ecs_rows* rows) {\n'
                f'    {struct.c_type}* kept = rows->columns[0];\n'
                '    (void)stage;\n'
                '    for (uint32_t i = 0; i < rows->count; i++)\n'
                f'        kept[i] = *(const {struct.c_type}*)event->payload;\n}}\n'
                f'\nstatic ecs_result {name}_register_input(ecs_world* world) {{\n'
                f'    static const char* const events[] = {{"{event.name}"}};\n'
                '    static const char* const tags[] = {"server|predict"};\n'
                f'    static const ecs_term terms[] = {{{{"input", "{struct.name}", ECS_WRITE}}}};\n'
                '    static const ecs_system_desc keeper = {.name = "keep_input", .events = events,\n'
                f'        .event_count = 1, .on_event = {name}_keep_input, .terms = terms,\n'
                '        .term_count = 1, .tags = tags, .tag_count = 1};\n'
                '    return ecs_system_register(world, &keeper);\n}\n')

def _put_registration(out, unit, stem):
    its, name = unit.game, unit.game.name
    setup, load = its.values.get('register_systems'), its.values.get('load')
    out.put('\n')
    for file in its.systems:
        out.put(f'ecs_result {name}_register_{file}(ecs_world* world, {its.context}* game);\n')
    out.put(f'static ecs_result {name}_register_all(ecs_world* world, void** context,\n'
            '    const base_reporter* reporter) {\n'
            f'    {its.context}* game = ecs_world_context(world, sizeof *game);\n'
            '    *context = game;\n')
    if its.find_slot(game.RATE):
        out.put('    game->tick_rate_hz = 60;\n')
    if its.find_slot(game.DT):
        out.put('    game->dt = 1.0f / 60.0f;\n')
    settings = its.find_slot(game.SETTINGS)
    if settings:
        out.put(f'    for (uint32_t i = 0; i < BASE_COUNT({name}_setting_rows); i++)\n'
                f'        {name}_take_setting(&game->{settings.field}, i, {name}_setting_rows[i].value_default);\n')
    out.put(f'    ecs_result result = {name}_find_all(world, game, reporter);\n')
    if setup:
        out.put(f'    if (!result) result = {setup}(world, game, reporter);\n')
    for _ in _kept(unit):
        out.put(f'    if (!result) result = {name}_register_input(world);\n')
    if load:
        out.put(f'    const ecs_loading_config loading = {{.load = {load}, .load_context = game}};\n'
                '    if (ecs_world_has_tag(world, "server")) ecs_loading_set(world, &loading);\n')
    for file in [stem] * registers(unit) + its.systems:
        out.put(f'    if (!result) result = {name}_register_{file}(world, game);\n')
    out.put('    return result;\n}\n')

# Functions of the contract, so that a game's own have the context's own type: result, parameters, arguments of the
# game's function.
HOOKS = {
    'player_join': ('ecs_entity', 'ecs_world* world, void* context, const net_game_player* player', 'world, context, player'),
    'player_leave': ('void', 'ecs_world* world, void* context, uint32_t client, ecs_entity entity',
                     'world, context, client, entity'),
    'bot_think': ('void', 'const net_player_context* view, void* input', 'view, input'),
    'human_input': ('void', 'const net_player_context* view, const net_controls* controls, void* input', 'view, controls, input'),
    'human_text': ('void', 'const net_player_context* view, const char* text', 'view, text'),
    'operator_said': ('void', 'ecs_world* world, void* context, const char* text', 'world, context, text'),
    'predict': ('uint32_t', 'ecs_world* world, void* context, ecs_entity player, net_predicted* entities, uint32_t capacity',
                'world, context, player, entities, capacity'),
    'restored': ('void', 'ecs_world* world, void* context', 'world, context'),
    'stop': ('void', 'ecs_world* world, void* context', 'world, context'),
    'save_state': ('ecs_result', 'ecs_world* world, void* context, base_bytes* bytes', 'world, context, bytes'),
    'load_state': ('ecs_result', 'ecs_world* world, void* context, base_reader* reader', 'world, context, reader'),
    'predict_area': ('bool', 'ecs_world* world, void* context, ecs_entity player, ecs_entity entity',
                     'world, context, player, entity'),
}
# Without one, players watch, and the player's entity is destroyed.
REQUIRED_HOOKS = {
    'player_join': '    (void)world;\n    (void)context;\n    (void)player;\n    return ECS_ENTITY_NONE; // all players watch\n}\n',
    'player_leave': '    (void)context;\n    (void)client;\n'
                    '    if (ecs_is_alive(world, entity)) (void)!ecs_destroy(world, entity);\n}\n'}
OTHER_HOOKS = {'start', 'mirror_start', 'settings_changed', 'register_systems', 'register_types', 'load'}

def _put_start(out, unit, key):
    name, value = unit.game.name, unit.game.values.get(key)
    out.put(f'static void {name}_hook_{key}(ecs_world* world, void* context, const net_game_start* begin) {{\n'
            f'    {name}_take_start(context, begin);\n')
    out.put_line(unit.source, unit.game.line)
    out.put(f'    {value}(world, context, begin);\n' if value else '    (void)world;\n')
    out.put_line_end()
    out.put('}\n')

def _put_hooks(out, unit):
    out.put('\n')
    for key in ['start', 'mirror_start'] + ['settings_changed'] * bool(unit.game.settings):
        _put_start(out, unit, key)
    for key, (result, params, arguments) in HOOKS.items():
        value = unit.game.values.get(key)
        if not value and key not in REQUIRED_HOOKS:
            continue
        out.put(f'static {result} {unit.game.name}_hook_{key}({params}) {{\n')
        if not value:
            out.put(REQUIRED_HOOKS[key])
            continue
        out.put_line(unit.source, unit.game.line)
        if value == 'net_predict_own':
            out.put('    (void)context;\n    return net_predict_own(world, player, entities, capacity);\n}\n')
        else:
            out.put(f'    {"" if result == "void" else "return "}{value}({arguments});\n}}\n')
        out.put_line_end()

def _put_table(out, unit, stem):
    its, name = unit.game, unit.game.name
    out.put(f'\nconst net_game_module* {name}_module(void) {{\n'
            '    static const net_game_module table = {\n'
            '        .contract_version = NET_GAME_CONTRACT_VERSION,\n'
            '        .size_bytes = sizeof(net_game_module),\n'
            '        .core_version = ECS_CORE_VERSION,\n'
            f'        .view_width = {its.width},\n        .view_height = {its.height},\n')
    if its.title != '""':
        out.put(f'        .name = "{name}",\n        .title = {its.title},\n')
    for what, is_there in ('message', True), ('setting', its.settings), ('action', its.actions), ('sound', _sounds(unit)):
        if is_there:
            out.put(f'        .{what}s = {name}_{what}_rows,\n'
                    f'        .{what}_count = BASE_COUNT({name}_{what}_rows),\n'
                    f'        .{what}_bytes = sizeof(net_{what}),\n')
    out.put(f'        .register_types = {stem}_register_types,\n'
            f'        .register_systems = {name}_register_all,\n'
            f'        .start = {name}_hook_start,\n'
            f'        .mirror_start = {name}_hook_mirror_start,\n')
    if its.settings:
        out.put(f'        .settings_changed = {name}_hook_settings_changed,\n')
    for key in HOOKS:
        if key in its.values or key in REQUIRED_HOOKS:
            out.put(f'        .{key} = {name}_hook_{key},\n')
    out.put_line(unit.source, its.line)
    for key, value in its.values.items():
        if key not in HOOKS and key not in OTHER_HOOKS:
            out.put(f'        .{key} = {value},\n')
    out.put_line_end()
    out.put('    };\n    return &table;\n}\n')

def put_game(out, unit, stem):
    _put_message_rows(out, unit)
    _put_rows(out, unit)
    for key, head in unit.game.heads.items():
        if head and key != 'register_types':  # that one is above the types
            out.put(f'\n{head};\n')
    _put_settings(out, unit)
    _put_find(out, unit)
    _put_take(out, unit)
    _put_keepers(out, unit)
    _put_registration(out, unit, stem)
    _put_hooks(out, unit)
    _put_table(out, unit, stem)
