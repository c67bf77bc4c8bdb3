# SPDX-License-Identifier: MIT
"""The generated text: the code that a person would write by hand, in the order of the source file.

Each system gets its declaration and a function over rows that calls it. When a system writes, and needs only
components that every row has, its loop becomes a function of its own. Compilers use `restrict` on parameters (gcc
ignores it on variables), and gcc makes vector code at -O2 from a loop over a fixed count of rows. With ES_SPAN the
user writes the loop.
"""
import emit_game
import game
from functions import COMPONENT, CONTEXT, COUNT, ENTITY, EVENT, HANDLER, PAYLOAD, QUERY, STAGE, SYSTEM
from out import Out, items

# ---- one function per file that registers its systems and handlers, in their order ----
LISTS = [('events', 'event_count', 'ES_ON_EVENT'), ('before', 'before_count', 'ES_BEFORE'), ('after', 'after_count', 'ES_AFTER'),
         ('tags', 'tag_count', 'ES_TAG'), ('track', 'track_count', 'ES_TRACK'), ('reads', 'read_count', 'ES_READS'),
         ('writes', 'write_count', 'ES_WRITES')]

def _access_of(param):
    is_optional = param.is_optional or param.default is not None
    return 'ECS_' + ('OPTIONAL_' if is_optional else '') + ('READ' if param.is_const else 'WRITE')

def _put_terms(out, function):
    if function.term_count == 0:
        return
    out.put(f'    static const ecs_term {function.name}_terms[] = {{\n')
    for param in function.of_kind(COMPONENT):
        out.put(f'        {{"{param.component}", "{param.component_type}", {_access_of(param)}}},\n')
    for annotation, access in ('ES_REQUIRE', 'ECS_REQUIRE'), ('ES_REQUIRE_NOT', 'ECS_REQUIRE_NOT'), ('ES_REQUIRE_ANY', 'ECS_ANY'):
        for text in function.list(annotation):
            name, _, c_type = text.rpartition(':')
            out.put(f'        {{"{name}", "{c_type}", {access}}},\n')
    if function.has('ES_ONLY'):
        out.put('        {NULL, NULL, ECS_ONLY},\n')
    out.put('    };\n')

def _put_desc(out, function):
    name, notes = function.name, function.notes
    out.put(f'        {{.name = "{name}",\n')
    if function.kind == SYSTEM:
        out.put(f'         .stage = "{notes.get("ES_STAGE", "act")}",\n         .run = {name}_rows,\n')
    else:
        out.put(f'         .on_event = {name}_rows,\n')
        if function.takes_runs:
            out.put(f'         .on_events = {name}_runs,\n')
    if function.term_count:
        out.put(f'         .terms = {name}_terms,\n         .term_count = {function.term_count},\n')
    out.put('         .context = context,\n')

    def put_text(field, annotation):
        if function.has(annotation):
            out.put(f'         .{field} = {notes[annotation]},\n')
    put_text('every_ticks', 'ES_EVERY')
    put_text('quantum', 'ES_QUANTUM')
    if function.kind == SYSTEM and function.is_confined:
        out.put('         .is_confined = true,\n')
    put_text('on_enter', 'ES_ON_ENTER')
    put_text('on_leave', 'ES_ON_LEAVE')
    put_text('first_update', 'ES_FIRST')
    for field, count, annotation in LISTS:
        if function.list(annotation):
            out.put(f'         .{field} = {name}_{field},\n         .{count} = {len(function.list(annotation))},\n')
    out.put('        },\n')

def _put_members(out, unit, function):
    """Functions that the user writes in full: on_enter, on_leave, first_update."""
    for annotation in 'ES_ON_ENTER', 'ES_ON_LEAVE', 'ES_FIRST':
        if function.has(annotation):
            out.put_line(unit.source, function.line)
            out.put(f'static void {function.notes[annotation]}(const ecs_stage* stage, const ecs_entity* entities, uint32_t count);\n')
            out.put_line_end()

def _put_register_head(out, unit, stem):
    """The head of the function: of a game it is seen by its table, in another file."""
    if not unit.game.name:
        out.put('// Before ecs_world_seal. `context` must live as long as the world.\n'
                f'static ecs_result {stem}_register_systems(ecs_world* world, void* context) {{\n')
        return
    access = 'static ' if unit.game.is_table else ''
    head = f'{access}ecs_result {unit.game.name}_register_{stem}(ecs_world* world, {unit.game.context}* context)'
    out.put(f'{head};\n{head} {{\n')

def _put_descs(out, functions):
    for function in functions:
        for field, _, annotation in LISTS:
            if function.list(annotation):
                names = items(f'"{name}"' for name in function.list(annotation))
                out.put(f'    static const char* const {function.name}_{field}[] = {{{names}}};\n')
        _put_terms(out, function)
    out.put('    const ecs_system_desc systems[] = {\n')
    for function in functions:
        _put_desc(out, function)
    out.put('    };\n'
            '    for (uint32_t i = 0; i < BASE_COUNT(systems); i++) {\n'
            '        ecs_result result = ecs_system_register(world, &systems[i]);\n'
            '        if (result) return result;\n'
            '    }\n')

def _put_systems(out, unit, stem):
    if not emit_game.registers(unit):
        return
    out.put('\n')
    for function in unit.functions:
        _put_members(out, unit, function)
    _put_register_head(out, unit, stem)
    for function in unit.functions:
        slot = game.find_query_slot(unit, function)
        if slot:
            out.put(f'    ecs_result {slot.field}_result = {slot.field}_create(world, &context->{slot.field});\n'
                    f'    if ({slot.field}_result) return {slot.field}_result;\n')
    functions = [function for function in unit.functions if function.kind != QUERY]
    if functions:
        _put_descs(out, functions)
    out.put('    return ECS_OK;\n}\n')

# ---- one function per file with ES_REGISTER_TYPES: types in the order of their structs, then events ----
def _has_ops(struct):
    return struct.is_boxed or struct.request

def _put_ops(out, struct):
    """The type owns no memory, so to create, to reset and to destroy are the same."""
    c_type = struct.c_type
    if _has_ops(struct):
        reset = f', .reset = {c_type}_clear' if struct.is_boxed else ''
        request = f', .request = {struct.request}' if struct.request else ''
        out.put(f'    static const ecs_type_ops {c_type}_ops = {{.create = {c_type}_clear, .destroy = {c_type}_clear{reset}{request}}};\n')

def _put_clear(out, struct):
    if _has_ops(struct):
        out.put(f'\nstatic void {struct.c_type}_clear(const ecs_type_context* context, void* value) {{\n'
                f'    static const {struct.c_type} empty;\n'
                '    (void)context;\n'
                f'    *({struct.c_type}*)value = empty;\n'
                '}\n')

def _put_fields(out, struct):
    out.put(f'    static const ecs_field {struct.c_type}_fields[] = {{\n')
    for field in struct.fields:
        out.put_line(struct.file, field.line)
        out.put(f'        {{"{field.name}", offsetof({struct.c_type}, {field.name}), {field.kind}, {field.count}, {{{field.mark.quant}}}}},\n')
    out.put_line_end()
    out.put('    };\n')

def _put_registering(out, what, more=None):
    """`more`: arguments of ecs_type_register_as, None for the plain call."""
    out.put(f'    for (uint32_t i = 0; i < BASE_COUNT({what}s); i++) {{\n'
            f'        ecs_{what}{"_id" if what == "type" else "_type"} id;\n'
            f'        ecs_result result = ecs_{what}_register{"_as" if more else ""}(world, &{what}s[i], {more or ""}&id);\n'
            '        if (result) {\n'
            f'            base_report(reporter, NULL, 0, "{what} %s: %s", {what}s[i].name, ecs_result_text(result));\n'
            '            return result;\n'
            '        }\n'
            '    }\n')

def _put_types(out, unit, stem):
    more, head = unit.game.values.get('register_types'), unit.game.heads.get('register_types')
    types = [struct for struct in unit.structs if struct.name]
    events = [(struct, event) for struct in unit.structs for event in struct.events]
    is_boxed = any(struct.is_boxed for struct in unit.structs)
    for struct in unit.structs:
        _put_clear(out, struct)
    if head:
        out.put(f'\n{head};\n')
    out.put('\n// Before templates are loaded. What is refused is reported.\n'
            f'static ecs_result {stem}_register_types(ecs_world* world, const base_reporter* reporter) {{\n')
    for struct in unit.structs:
        _put_fields(out, struct)
        _put_ops(out, struct)
    if types:
        out.put('    static const ecs_type_desc types[] = {\n')
        for struct in types:
            c_type, ops = struct.c_type, f'&{struct.c_type}_ops' if _has_ops(struct) else 'NULL'
            out.put(f'        {{"{struct.name}", sizeof({c_type}), _Alignof({c_type}), {c_type}_fields, BASE_COUNT({c_type}_fields), {ops}}},\n')
        out.put('    };\n')
    for struct, event in events:
        out.put_line(struct.file, struct.line)
        limit, most, advice = 'ECS_EVENT_BYTES_MAX', 2048, 'put larger values into a component'
        if event.message and ('input' in event.flags or 'reliable' not in event.flags):
            limit, most = 'NET_EVENT_STRUCT_BYTES_MAX', 256
            advice = 'an input has at most that many' if 'input' in event.flags else 'mark it reliable, then it may have 2048'
        out.put(f'    BASE_STATIC_ASSERT(sizeof({struct.c_type}) <= {most}, "event {event.name} has more than {most} bytes, {limit}: {advice}");\n')
    if events:
        out.put_line_end()
        out.put('    static const ecs_event_desc events[] = {\n')
        for struct, event in events:
            c_type, is_exported = struct.c_type, 'true' if event.is_exported else 'false'
            out.put(f'        {{"{event.name}", sizeof({c_type}), {c_type}_fields, BASE_COUNT({c_type}_fields), {is_exported}}},\n')
        out.put('    };\n')
    if is_boxed:
        out.put(f'    static const uint32_t flags[] = {{{items("ECS_TYPE_BOXED" if struct.is_boxed else "0" for struct in types)}}};\n')
    if types:
        _put_registering(out, 'type', 'flags[i], reporter, ' if is_boxed else None)
    if events:
        _put_registering(out, 'event')
    if not more:
        out.put('    return ECS_OK;\n}\n')
        return
    out.put_line(unit.source, unit.game.line)
    out.put(f'    return {more}(world, reporter);\n')
    out.put_line_end()
    out.put('}\n')

# ---- functions ----
def _param_text(param):
    """"const ecs_vec2* pos"."""
    const = 'const ' if param.is_const and param.is_pointer else ''
    return f'{const}{param.c_type}{"*" if param.is_pointer else ""} {param.name}'

def _has_loop(function):
    """Does it write, and does every row have all its components? Then the loop needs no checks."""
    components = function.of_kind(COMPONENT)
    is_sure = not any(param.is_optional or param.default is not None for param in components)
    is_writing = any(not param.is_const for param in components)
    return function.kind == SYSTEM and not function.is_span and is_sure and is_writing

def _put_declaration(out, unit, function):
    out.put(f'\n// {unit.file_name}:{function.line}\n')
    out.put_line(unit.source, function.line)
    params = items(map(_param_text, function.params)) or 'void'
    out.put(f'static inline {"bool" if function.returns_bool else "void"} {function.name}({params});\n')
    out.put_line_end()

def _columns(function, columns, indent):
    """The columns as local arrays."""
    return ''.join(f'{indent}{"const " if param.is_const else ""}{param.c_type}* {param.name} = {columns}[{i}];\n'
                   for i, param in enumerate(function.of_kind(COMPONENT)))

def _argument(function, param, rows):
    """Of a call for row i. `rows`: "rows->", or "" where its members are parameters."""
    name = param.name
    if param.kind == COMPONENT:
        if function.is_span:
            return name
        if param.is_optional:
            return f'{name} ? &{name}[i] : NULL'
        if param.default is not None:
            return f'{name} ? {name}[i] : ({param.default})'
        return f'&{name}[i]' if param.is_pointer else f'{name}[i]'
    return {STAGE: 'stage', EVENT: 'event', PAYLOAD: 'event->payload', COUNT: f'{rows}count',
            ENTITY: f'{rows}entities' if function.is_span else f'{rows}entities[i]',
            CONTEXT: name if function.kind == QUERY else 'stage->context'}[param.kind]

def _call(function, rows):
    return f'{function.name}({items(_argument(function, param, rows) for param in function.params)})'

def _put_loop(out, function):
    """Blocks of 8 rows, then the rest. Measured with two p3: blocks of 4 are as fast at -O2 and slower with AVX; blocks
    of 16 are a fifth slower, since gcc keeps an inner loop."""
    components, has_entity = function.of_kind(COMPONENT), function.of_kind(ENTITY)
    params = ['const ecs_stage* restrict stage'] * bool(function.of_kind(STAGE, CONTEXT)) + ['uint32_t count'] + \
        ['const ecs_entity* restrict entities'] * bool(has_entity) + \
        [f'{"const " if param.is_const else ""}{param.c_type}* restrict {param.name}' for param in components]
    steps = ['count -= 8'] + ['entities += 8'] * bool(has_entity) + [f'{param.name} += 8' for param in components]
    out.put(f'static BASE_NOINLINE void {function.name}_loop({items(params)}) {{\n'
            f'    for (; count >= 8; {items(steps)}) {{\n'
            '        for (uint32_t i = 0; i < 8; i++)\n'
            f'            {_call(function, "")};\n'
            '    }\n    for (uint32_t i = 0; i < count; i++)\n'
            f'        {_call(function, "")};\n}}\n')

def _put_loop_call(out, function):
    arguments = ['stage'] * bool(function.of_kind(STAGE, CONTEXT)) + ['rows->count'] + \
        ['rows->entities'] * bool(function.of_kind(ENTITY)) + \
        [f'rows->columns[{i}]' for i in range(len(function.of_kind(COMPONENT)))]
    out.put(f'    {function.name}_loop({items(arguments)});\n')

def _put_rows_function(out, unit, function):
    is_handler, has_rows = function.kind == HANDLER, function.term_count > 0
    if _has_loop(function):
        _put_loop(out, function)
    event = 'const ecs_event* event, ' if is_handler else ''
    out.put(f'static void {function.name}_rows(const ecs_stage* stage, {event}const ecs_rows* rows) {{\n')
    if not function.of_kind(STAGE, CONTEXT):
        out.put('    (void)stage;\n')
    if is_handler and not function.of_kind(EVENT, PAYLOAD):
        out.put('    (void)event;\n')
    if not has_rows:
        out.put('    (void)rows;\n')
    if _has_loop(function):
        _put_loop_call(out, function)
    else:
        out.put(_columns(function, 'rows->columns', '    '))
        is_loop = has_rows and not function.is_span
        if is_loop:
            out.put('    for (uint32_t i = 0; i < rows->count; i++)\n')
        out.put_line(unit.source, function.line)
        out.put(f'{"        " if is_loop else "    "}{_call(function, "rows->")};\n')
        out.put_line_end()
    out.put('}\n')

def _put_runs_function(out, function):
    """Events in a run come with the rows of their targets, which lie anywhere in the columns."""
    out.put(f'static void {function.name}_runs(const ecs_stage* stage, const ecs_event_run* run) {{\n')
    if not function.of_kind(STAGE, CONTEXT):
        out.put('    (void)stage;\n')
    out.put(_columns(function, 'run->columns', '    '))
    uses_event = function.of_kind(EVENT, PAYLOAD)
    if uses_event:
        out.put('    ecs_event one = {.type = run->type, .size = run->size};\n'
                '    const ecs_event* event = &one;\n')
    out.put('    for (uint32_t k = 0; k < run->count; k++) {\n'
            '        const uint32_t i = run->rows[k];\n')
    if uses_event:
        out.put('        one.target = run->entities[i];\n'
                '        one.payload = ecs_event_run_payload(run, k);\n')
    out.put(f'        {_call(function, "run->")};\n    }}\n}}\n')

# ---- queries ----
def _put_query(out, function):
    name, stem = function.name, function.name.removesuffix('_ecs_query')  # of "near_ecs_query" functions have "near"
    contexts = ''.join(', ' + _param_text(param) for param in function.of_kind(CONTEXT))
    out.put(f'static inline ecs_result {stem}_create(ecs_world* world, ecs_query** query) {{\n')
    _put_terms(out, function)
    out.put(f'    return ecs_query_create(world, {name}_terms, {function.term_count}, query);\n}}\n'
            f'static inline void {stem}_run(ecs_world* world, ecs_query* query{contexts}) {{\n'
            '    ecs_query_iter it = ecs_query_begin(world, query);\n'
            '    while (ecs_query_next(&it)) {\n')
    out.put(_columns(function, 'it.rows.columns', '        '))
    indent = '        '
    if not function.is_span:
        out.put(f'        for (uint32_t i = 0; i < it.rows.count; i++){" {" if function.returns_bool else ""}\n')
        indent = '            '
    call = _call(function, 'it.rows.')
    if function.returns_bool:
        out.put(f'{indent}if (!{call}) {{\n{indent}    ecs_query_end(&it);\n{indent}    return;\n{indent}}}\n')
        out.put('    }\n}\n' if function.is_span else '        }\n    }\n}\n')
    else:
        out.put(f'{indent}{call};\n    }}\n}}\n')
    out.put(f'static inline bool {stem}_find(ecs_world* world, ecs_query* query, ecs_entity wanted{contexts}) {{\n'
            '    ecs_query_iter it;\n'
            '    if (!ecs_query_find(world, query, wanted, &it)) return false;\n')
    out.put(_columns(function, 'it.rows.columns', '    '))
    if not function.is_span and function.of_kind(COMPONENT, ENTITY):
        out.put('    const uint32_t i = 0;\n')
    out.put(f'    {"(void)" if function.returns_bool else ""}{call};\n    return true;\n}}\n')

def emit(unit, stem):
    """The text of FILE.es.h. `stem`: "ball" for ball.c and for ball.h."""
    out = Out(unit.target)
    out.put(f'// Written by shoal-esgen from {unit.file_name}: change that file, not this one.\n')
    if unit.is_header:
        out.put('#pragma once\n\n#include "net/game.h"\n')
        emit_game.put_numbers(out, unit)
        return out.text()
    out.put('#pragma once\n\n#include "ecs/es.h"\n#include "ecs/system.h"\n')
    if unit.game.is_table:
        out.put('#include "ecs/need.h"\n')
        if unit.game.is_context_here:
            emit_game.put_numbers(out, unit)
    if unit.has_register_types:
        _put_types(out, unit, stem)
    if unit.has_messages:
        if any(field.is_text for struct in unit.structs for field in struct.fields):
            out.put('\n#include "base/text.h"\n\n#include <string.h>\n')
        emit_game.put_messages(out, unit)
    for function in unit.functions:
        _put_declaration(out, unit, function)
        if function.kind == QUERY:
            _put_query(out, function)
        else:
            _put_rows_function(out, unit, function)
        if function.takes_runs:
            _put_runs_function(out, function)
    _put_systems(out, unit, stem)
    if unit.game.is_table:
        emit_game.put_game(out, unit, stem)
    return out.text()
