# SPDX-License-Identifier: MIT
"""C text as words with their lines, and what all readers of words share: faults and names.

Comments, blanks and preprocessor lines are left out. Only two preprocessor lines matter: #include "name",
since types may be there, and #if 0, whose lines are skipped. Both branches of any other #if are read, so a
system inside a condition is always registered (ecs/ESGEN.md). Lines that end with a backslash are joined
before anything else, as a compiler does it. A file is bytes: each byte is one character here (latin-1).
"""
import bisect
import contextlib
import difflib
import itertools
import re
import sys

NAME_BYTES_MAX = 127  # ECS_NAME_BYTES_MAX without the NUL
TEXT_BYTES_MAX = 127
HEAD_BYTES_MAX = 511
LIST_MAX = 32

IDENTIFIER, NUMBER, STRING, PUNCTUATION, INCLUDE = 'identifier', 'number', 'string', 'punctuation', 'include'

QUOTED = r'"(?:[^"\\\n]|\\.)*"|' r"'(?:[^'\\\n]|\\.)*'"
WORD = re.compile(
    r'(?P<blank>[ \t\r\f\v]+|//[^\n]*|/\*.*?\*/)|(?P<newline>\n)|(?P<open>/\*)|(?P<string>' + QUOTED + r''')|(?P<quote>["'])|'''
    r'(?P<identifier>[A-Za-z_]\w*)|(?P<number>\d[\w.]*)|(?P<punctuation>.)', re.ASCII | re.DOTALL)
DIRECTIVE = re.compile(r'#[ \t]*(\w*)', re.ASCII)
IS_ZERO = re.compile(r'[ \t]*0(?=[\s/]|\Z)')
PIECE = re.compile(r'//[^\n]*|/\*.*?\*/|(?P<open>/\*)|(?P<quoted>' + QUOTED + r''')|[^\n/"']+|[^\n]''', re.DOTALL)
NEXT_DIRECTIVE = re.compile(r'\n[ \t]*#[ \t]*(\w*)', re.ASCII)

class Fault(Exception):
    """What is wrong, as a sentence at a line of the user's file; line 0: of the file as a whole."""

    def __init__(self, line, text):
        super().__init__(text)
        self.line = line

class Word:
    __slots__ = ('kind', 'line', 'text', 'begin', 'end')

    def __init__(self, kind, line, text, begin):
        self.kind, self.line, self.text, self.begin, self.end = kind, line, text, begin, begin + len(text)

    def is_annotation(self):
        return self.kind == IDENTIFIER and len(self.text) > 3 and self.text.startswith('ES_')

class Lines:
    """The file's line of each place in its text without the ends of continued lines."""

    def __init__(self, text):
        pieces = re.split(r'\\[ \t]*\r?\n', text)  # blanks before the end count as none, as for compilers
        self.text = ''.join(pieces)
        self.splices = list(itertools.accumulate(map(len, pieces[:-1])))
        self.newlines = [match.start() for match in re.finditer('\n', self.text)]

    def line_of(self, place):
        return 1 + bisect.bisect_left(self.newlines, place) + bisect.bisect_right(self.splices, place)

def _skip_disabled(text, at):
    """From #if 0 to its #else, #elif or #endif. The lines between need not be C."""
    depth = 0
    for found in NEXT_DIRECTIVE.finditer(text, at):
        name = found.group(1)
        if depth == 0 and name in ('endif', 'else', 'elif'):
            return _line_end(text, found.end())
        depth += (name in ('if', 'ifdef', 'ifndef')) - (name == 'endif')
    return len(text)

def _line_end(text, at):
    end = text.find('\n', at)
    return len(text) if end < 0 else end

def _read_directive(lines, at, words):
    """Go past a preprocessor line with its comments. @return the place after it."""
    text = lines.text
    name = DIRECTIVE.match(text, at)
    if name.group(1) == 'if' and IS_ZERO.match(text, name.end()):
        return _skip_disabled(text, at)
    is_include = name.group(1) == 'include'
    at = name.end()
    while piece := PIECE.match(text, at):
        if piece.group('open'):
            raise Fault(lines.line_of(at), 'this comment never ends')
        if piece.group('quoted'):
            if is_include and text[at] == '"':
                words.append(Word(INCLUDE, lines.line_of(at), piece.group()[1:-1], at + 1))
            is_include = False
        at = piece.end()
    return at

def read_words(text):
    """The words of a file. The last one is an empty one, so that a word has one after it."""
    if text.startswith('\xef\xbb\xbf'):  # some editors begin UTF-8 with it
        text = text[3:]
    lines = Lines(text)
    text, words, at, is_line_start = lines.text, [], 0, True
    while found := WORD.match(text, at):
        kind = found.lastgroup
        if kind == 'newline':
            is_line_start = True
        elif kind == 'open' or kind == 'quote':
            raise Fault(lines.line_of(at), f'this {"comment" if kind == "open" else "text"} never ends')
        elif kind != 'blank':
            if found.group() == '#' and is_line_start:
                at = _read_directive(lines, at, words)
                is_line_start = False
                continue
            words.append(Word(kind, lines.line_of(at), found.group(), at))
            is_line_start = False
        at = found.end()
    words.append(Word('end', lines.line_of(len(text)), '', len(text)))
    return words

class Span:
    """Words [first, end) of a file: `words` is shared, so that each word has its neighbours."""

    __slots__ = ('words', 'first', 'end')

    def __init__(self, words, first=0, end=None):
        self.words, self.first, self.end = words, first, len(words) if end is None else end

    def __len__(self):
        return self.end - self.first

    def __iter__(self):
        return iter(self.words[self.first:self.end])

    def __getitem__(self, i):
        """The i-th word; after the end, too, as long as the file has words."""
        return self.words[min(self.first + i, len(self.words) - 1)]

    def part(self, first, end=None):
        return Span(self.words, self.first + first, self.end if end is None else self.first + end)

    def texts(self):
        return [word.text for word in self]

    @property
    def line(self):
        return self[0].line

    def match(self, at):
        """The index of the parenthesis that closes the one at `at`; None when there is none."""
        depth = 0
        for i in range(self.first + at, self.end):
            text = self.words[i].text
            depth += text == '('
            if depth == 0:
                return None
            if text == ')':
                depth -= 1
                if depth == 0:
                    return i - self.first
        return None

    def close(self, at):
        """The index of the parenthesis that closes ES_SOMETHING(...) at `at`."""
        found = self.match(at + 1) if at + 1 < len(self) else None
        if found is None:
            raise Fault(self[at].line, f'{self[at].text} needs (...)')
        return found

    def items(self):
        """The items of a list, between commas outside of parentheses."""
        depth, begin = 0, self.first
        for i in range(self.first, self.end):
            text = self.words[i].text
            depth += (text == '(') - (text == ')' and depth > 0)
            if text == ',' and depth == 0:
                yield Span(self.words, begin, i)
                begin = i + 1
        yield Span(self.words, begin, self.end)

    def join(self):
        """Without blanks and quotes."""
        return ''.join(word.text[1:-1] if word.kind == STRING else word.text for word in self)

    def copy(self, bytes_max=TEXT_BYTES_MAX):
        """As in the file, with one blank for blanks and comments. None: it is too long."""
        text, before = [], None
        for word in self:
            if before and before.end != word.begin:
                text.append(' ')
            text.append(word.text)
            before = word
        text = ''.join(text)
        return text if len(text) <= bytes_max else None

    def expression(self):
        """The same of an expression that may be between parentheses in C; None of others."""
        depth = []
        for word in self:
            if word.kind == INCLUDE:
                return None
            if word.kind != PUNCTUATION:
                continue
            if word.text in '([{':
                depth.append(')]}'['([{'.index(word.text)])
            elif word.text in ')]}':
                if not depth or depth.pop() != word.text:
                    return None
            elif word.text not in '+-*/%&|^~!<>=?:,.':
                return None
        return None if depth or len(self) == 0 else self.copy()

    def name(self):
        """A name of the world: letters, digits and _.-+:<>@|."""
        text = self.join()
        if len(text) > NAME_BYTES_MAX:
            raise Fault(self.line, f'a name is longer than {NAME_BYTES_MAX} bytes')
        if not text:
            raise Fault(self.line, 'a name is missing here')
        if not re.fullmatch(r'[\w.\-+:<>@|]*', text, re.ASCII):
            raise Fault(self.line, f"a name is made of letters, digits and _.-+:<>@, '{text}' is not")
        return text

def nearest(word, known):
    """The known word that was probably meant; None: there is none."""
    found = difflib.get_close_matches(word, known, 1)
    return found[0] if found else None

SIZED_TYPES = {'int': 'int32_t', 'unsigned': 'uint32_t', 'signed': 'int32_t', 'short': 'int16_t', 'long': 'int64_t',
               'char': 'int8_t or uint8_t', 'size_t': 'uint64_t', '_Bool': 'bool'}

def shown(text):
    """Without characters that control a terminal or have no width."""
    text = text.encode('latin-1').decode('utf-8', 'replace')
    return ''.join(c if c.isprintable() else '?' for c in text)

class Report:
    """Counts faults, and prints them as FILE:LINE: error: TEXT."""

    def __init__(self, file, stream=sys.stderr):
        self.file, self.stream, self.count = file, stream, 0

    def fault(self, line, text):
        self.count += 1
        place = f'{self.file}:{line}' if line else self.file
        print(shown(f'{place}: error: {text}'), file=self.stream)

    @contextlib.contextmanager
    def catching(self):
        """Report a fault of what is inside, and go on after it."""
        try:
            yield
        except Fault as fault:
            self.fault(fault.line, str(fault))
