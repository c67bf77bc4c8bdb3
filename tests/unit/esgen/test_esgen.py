#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""What shoal-esgen reads, refuses and writes (S5.19, S3.5): the texts beside this file.

    test_esgen.py FOLDER_OF_ESGEN TOP_FOLDER

refused.txt: what is wrong is said at its line; found.txt: exactly the systems of a file are found; written.txt: what is
written has what it needs and no more; sample.expected is what a person would have written, to be read, not only
compared. After a wanted change: shoal-esgen -o sample.expected sample.c, and read the difference.
"""
import importlib.machinery
import importlib.util
import io
import os
import sys
import unittest

HERE = os.path.dirname(os.path.abspath(__file__))
TOOL, TOP = (sys.argv + ['', ''])[1:3]
sys.dont_write_bytecode = True
sys.path.insert(0, TOOL)
loader = importlib.machinery.SourceFileLoader('esgen', os.path.join(TOOL, 'shoal-esgen'))
esgen = importlib.util.module_from_spec(importlib.util.spec_from_loader('esgen', loader))
loader.exec_module(esgen)


def read(text):
    """@return what was found in a file x.c, and the first fault."""
    unit = esgen.Unit('x.c', None)
    unit.stream = io.StringIO()
    with unit.catching():
        esgen.read_unit(unit, text.encode().decode('latin-1'), [])
    return unit, unit.stream.getvalue().partition('\n')[0]


def texts(name):
    """Texts of a file. Lines that begin with ^ are after each, and say what is expected of it; ==== are remarks."""
    text, expected = '', []
    with open(os.path.join(HERE, name), encoding='utf-8') as file:
        for line in file:
            if line.startswith('===='):
                continue
            if line.startswith('^'):
                expected.append(line[1:].rstrip('\n'))
                continue
            if expected:
                yield text, expected
                text, expected = '', []
            text += line
    yield text, expected


class Esgen(unittest.TestCase):
    maxDiff = None

    def expect(self, text, said):
        self.assertEqual(read(text)[1], f'x.c:{said}' if said else '', text)

    def test_what_is_wrong_is_said_at_its_line(self):
        for text, (expected,) in texts('refused.txt'):  # "2 ..." is said of line 2, " ..." of line 1; " -": nothing is
            line, _, said = expected.partition(' ')
            self.expect(text, '' if said == '-' else f'{line or 1}: error: {said}')

    def test_exactly_the_systems_of_a_file_are_found(self):
        for text, (expected,) in texts('found.txt'):  # "= a_es b_es": these
            unit, said = read(text)
            self.assertEqual((said, [function.name for function in unit.functions]), ('', expected[1:].split()), text)

    def test_what_is_written_has_what_it_needs_and_no_more(self):
        for text, expected in texts('written.txt'):  # "+ ..." is written, with the lines "| ..." after it; "- ..." is not
            unit, said = read(text)
            self.assertEqual(said, '', text)
            written = esgen.emit.emit(unit, 'x')
            for line in '\n'.join(expected).replace('\n| ', '\1').replace('\n|', '\1').split('\n'):
                wanted = line[1:].removeprefix(' ').replace('\1', '\n')
                self.assertEqual(wanted in written, line[0] == '+', f'{written}\n{line}')

    def test_the_sample_becomes_the_expected_text(self):
        os.chdir(HERE)
        unit = esgen.Unit('sample.c', None)
        esgen.read_unit(unit, esgen.read_file('sample.c'), [])
        self.assertEqual(esgen.emit.emit(unit, 'sample'), esgen.read_file('sample.expected'))

    def test_preprocessor_lines_are_left_out(self):
        unit, said = read('#define OPEN {\n#define MANY \\\n  { \\\r\n { \\\n static void a_es(void) {\n#error don\'t\n'
                          '#define QUOTED "/*"\n#define TWO 2 /* goes on\n { */\n  # define INDENTED {\n#define LAST {')
        self.assertEqual((unit.functions, said), ([], ''))

    def test_lines_may_end_as_windows_ends_them(self):
        unit, said = read('\ufeff#include "a.h"\r\nES_TAG(server)\r\nstatic void a_es(\r\n  const float* f)\r\n{\r\n}\r\n')
        self.assertEqual(([function.name for function in unit.functions], said), (['a_es'], ''))

    def test_lines_are_counted_through_everything(self):
        unit, said = read('/* 1\n 2 */ #define X \\\n 3\n"a\\\n5";\n#if 0\n\'\n#endif\n// 9 \\\n10\nstatic void a_es(\n  const float* f) {}\n')
        self.assertEqual((said, [(one.line, one.params[0].line) for one in unit.functions]), ('', [(11, 12)]))

    def test_joined_lines_are_one_line_wherever_they_are_cut(self):
        text = ('static void plain_es(void) {}\nstatic vo@id hidd@en_e@s(void) {}\n/@* static void a_es(void) {} *@/ static void b_es(void) {}\n'
                '/@/ {\n#def@ine C {\n#i@f 0\n{\n#en@dif\nconst char* d = "\\@" {", e = \'\\@\'\';\nstatic void f_es(void) {}')
        for cut in '\\\n', '\\\r\n', '\\ \t\n', '\\\n\\\n':
            unit, said = read(text.replace('@', cut))
            self.assertEqual((said, [function.name for function in unit.functions]), ('', ['plain_es', 'hidden_es', 'b_es', 'f_es']))

    def test_the_lines_of_joined_lines_are_those_of_the_file(self):
        unit, said = read('int a \\\n; static void b_\\\nes(\\\n\\\r\nconst float* f) {}\nstatic void c_es(void) {}\n')
        lines = [(function.line, *(param.line for param in function.params)) for function in unit.functions]
        self.assertEqual((said, lines), ('', [(2, 5), (6,)]))

    def test_lists_and_fields_have_limits(self):
        def expect(head, item, between, limit, tail, said):  # at max - 1 and max nothing is said, at max + 1 this is
            for count in limit - 1, limit, limit + 1:
                self.expect(head + between.join(item.replace('#', str(i)) for i in range(count)) + tail, said if count > limit else '')
        expect('ES_TAG(', 't#', ', ', 32, ') static void a_es(void) {}', '1: error: ES_TAG: more than 32 names')
        expect('ES_STRUCT(A) typedef struct { float x', '#', ', y', 64, '; } a;', '1: error: a has more than 64 fields')
        expect('static void a_es(', 'float f#', ', ', 32, ') {}', '1: error: a_es asks for 33 components, more than 32')

    def test_names_have_a_limit(self):
        said = '1: error: a name is longer than 127 bytes'
        for before, after, wanted in (
                ('ES_STAGE(', ') static void a_es(void) {}', said), ('static void a_es(ES_NAME(', ') float f) {}', said),
                ('ES_STRUCT(', ') typedef struct { float f; } a;', said), ('ES_STRUCT(A) typedef struct { float ', '; } a;', said),
                ('static void a_es(float ', ') {}',
                 '1: error: a_es: a parameter is a type, at most one star and a name: const ecs_vec2* pos')):
            for size in 126, 127, 128:
                self.expect(before + 'n' * size + after, wanted if size == 128 else '')

    def test_the_manual_shows_what_is_compiled(self):
        manual, source, header, game = (esgen.read_file(os.path.join(TOP, path)) for path in (
            'ecs/ESGEN.md', 'tests/unit/esgen/manual.c', 'tests/unit/esgen/manual.h', 'tests/cmake/outside/dots.c'))
        blocks = [block.split('```')[0] for block in manual.split('```c\n')[1:]]
        self.assertGreaterEqual(len(blocks), 6)
        for block in blocks:  # test outside builds and plays the last one
            self.assertTrue(block in source or block in header or block in game, block)

    def test_the_header_has_a_line_for_each_kind_of_function_and_parameter(self):
        header = esgen.read_file(os.path.join(TOP, 'ecs/include/ecs/es.h'))
        for kind in ('*_es', '*_es_event_handler', '*_ecs_query', 'const ecs_stage* stage', 'const ecs_event* event',
                     'ecs_entity entity', 'uint32_t count', 'ES_CONTEXT T* name', 'anything else'):
            self.assertIn(f'\n///     {kind} ', header)


if __name__ == '__main__':
    unittest.main(argv=sys.argv[:1])
