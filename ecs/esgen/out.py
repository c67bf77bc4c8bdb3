# SPDX-License-Identifier: MIT
"""Text that is written piece by piece, and its #line marks: compilers name the user's own lines."""

def items(texts):
    return ', '.join(texts)

class Out:
    def __init__(self, target):
        self.target = target  # path of the written file; None: no line is marked
        self.pieces = []
        self.line_count = 0

    def put(self, text):
        self.pieces.append(text)
        self.line_count += text.count('\n')

    def _put_mark(self, file, line):
        file = file.replace('\\', '\\\\').replace('"', '\\"')
        self.put(f'#line {line} "{file}"\n')

    def put_line(self, file, line):
        """From here on, compilers name this line of the game's own text."""
        if self.target and file and line > 0:
            self._put_mark(file, line)

    def put_line_end(self):
        """From here on, they name the written file again."""
        if self.target:
            self._put_mark(self.target, self.line_count + 2)  # the line after the mark

    def text(self):
        return ''.join(self.pieces)
