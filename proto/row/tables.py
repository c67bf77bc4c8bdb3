# SPDX-License-Identifier: MIT
"""tables.py ROWS.md OUT.c: the codes of rows, made from the lengths that the page lists (proto/tables.h has their shape)."""
import re
import sys

LENGTH_MAX, RESERVED = 12, (1 << 12) // 32
SMALL, CODE_BITS, LENGTH_BITS, QUICK_BITS, SCALES, WHOLE = 128, 20, 5, 6, 28, 37
# Name, the end of the symbols that occur in each row, the first of them, is 00000 free?
TABLES = [('number_plain', [39] * 31, 0, False), ('number_other', [39] * 31, 1, False), ('head', [2] * 6 + [4] * 21, 0, True),
          ('drive', [3] * 4 + [5] * 10 + [9] * 20, 0, True), ('mask_first', [2, 4, 8, 16], 0, True),
          ('mask_other', [4, 8, 16], 1, False), ('field', [4, 8, 16], 1, False)]

def make_row(name, digits, end, first, is_reserved):
    """Codes by rising length, then symbol, from all ones downwards: the first bit on the wire lowest, below it the length."""
    lengths, codes, place = [int(digit, 16) for digit in digits], [0] * end, 1 << LENGTH_MAX
    for length, symbol in sorted((length, symbol) for symbol, length in enumerate(lengths) if length > 0):
        place -= 1 << LENGTH_MAX >> length
        bits = max(place, 0) >> (LENGTH_MAX - length)
        codes[symbol] = int(f'{bits:0{length}b}'[::-1], 2) << 4 | length
    if len(lengths) != end or 0 in lengths[first:] or any(lengths[:first]) or max(lengths) > LENGTH_MAX or place < RESERVED * is_reserved:
        sys.exit(f'{sys.argv[1]}: tables {name}: {digits} gives no prefix codes of {end - first} symbols')
    return codes

def log(value):
    """Half octaves of a value of at least 1."""
    octave = value.bit_length() - 1
    return 2 * octave + (value << 1 >> octave & 1)

def make_small(codes, scale, difference):
    """The whole code of a small difference, as row.c writes it, and how far it may be longer than one of its whole word."""
    size, is_less = abs(difference), difference < 0
    symbol = 2 * size - (difference > 0) if size < 4 else size + 3 if size < 8 else log(size) + 5
    bits, length, low = codes[symbol] >> 4, codes[symbol] & 15, (symbol - 7) // 2 if symbol >= 11 else 0
    if symbol >= 7:
        bits |= (size % (1 << low) << 1 | is_less) << length
        length += low + 1
    change = int((4 * log(2 * size + 1) - (3 * scale + 8)) / 2) # towards 0, as in C
    return bits | length << CODE_BITS | change % 128 << (CODE_BITS + LENGTH_BITS), (length - (codes[WHOLE] & 15)) * (symbol >= 11)

def find_quick(codes, bits):
    """The symbol + 1 whose code the next bits begin with; 0: a longer code, or none."""
    return next((i + 1 for i, code in enumerate(codes) if 0 < code & 15 <= QUICK_BITS and bits % (1 << (code & 15)) == code >> 4), 0)

with open(sys.argv[1], encoding='utf-8') as page:
    lists = dict(re.findall(r'^tables (\w+)\n([0-9a-f \n]+)$', page.read(), re.MULTILINE))
made = {}
for name, ends, first, is_reserved in TABLES:
    rows = lists.get(name, '').split()
    if len(rows) != len(ends):
        sys.exit(f'{sys.argv[1]}: tables {name}: {len(rows)} rows, {len(ends)} are needed')
    made[name] = [make_row(name, digits, end, first, is_reserved) for digits, end in zip(rows, ends)]
small = [[make_small(made['number_plain'][scale], scale, i) for i in range(-SMALL, SMALL)] for scale in range(SCALES)]
made['small'] = [[code for code, _ in row] for row in small]
made['quick'] = [[find_quick(codes, bits) for bits in range(1 << QUICK_BITS)] for codes in made['number_plain'] + made['number_other']]
with open(sys.argv[2], 'w', encoding='utf-8') as out:
    out.write('// Made by tables.py.\n#include "proto/tables.h"\n\nstatic const proto_tables builtin = {\n')
    for name, rows in made.items():
        out.write(f'.{name} = {{\n' + ''.join('{' + ','.join(f'{code}u' for code in row) + '},\n' for row in rows) + '},\n')
    out.write(f'.small_bits_min = {max(longer for row in small for _, longer in row)},\n}};\n\n'
              'const proto_tables* proto_tables_builtin(void) {\n    return &builtin;\n}\n')
