# SPDX-License-Identifier: MIT
# Make a copy of a source of the client in which the variable `misreading` chooses one rule that is read wrongly.
#   awk -v source=row_plan.c -f misread.awk misreadings.txt row_plan.c
# A misreading is three lines of the list: "FILE: what the reader believes", "- text of the source", "+ expression in
# its place". The text stands in one line of the source, once. Two @ in it enclose the expression that is replaced;
# without them it is the whole text.
function fail(reason) {
    print "misread.awk: " source ": " reason > "/dev/stderr"
    failed = 1
    exit 1
}
# Longer texts come first, so that their parentheses are outside.
function add(text, expression, number,    i, first, last) {
    first = index(text, "@")
    last = first ? first + index(substr(text, first + 1), "@") : 0
    for (i = ++count; i > 1 && widths[i - 1] < (first ? last - first - 1 : length(text)); i--) {
        texts[i] = texts[i - 1]
        wrongs[i] = wrongs[i - 1]
        numbers[i] = numbers[i - 1]
        offsets[i] = offsets[i - 1]
        widths[i] = widths[i - 1]
    }
    texts[i] = first ? substr(text, 1, first - 1) substr(text, first + 1, last - first - 1) substr(text, last + 1) : text
    offsets[i] = first ? first - 1 : 0
    widths[i] = first ? last - first - 1 : length(text)
    wrongs[i] = expression
    numbers[i] = number
}
function mutated(line,    i, place, opened, closed, made) {
    for (i = 1; i <= count; i++) {
        place = index(line, texts[i])
        if (place == 0) continue
        if (++uses[i] > 1 || index(substr(line, place + 1), texts[i]) > 0) fail("more than once: " texts[i])
        place += offsets[i]
        opened[place] = opened[place] "(misreading == " numbers[i] " ? (" wrongs[i] ") : ("
        closed[place + widths[i]] = closed[place + widths[i]] "))"
    }
    made = ""
    for (i = 1; i <= length(line) + 1; i++)
        made = made closed[i] opened[i] substr(line, i, 1)
    return made
}
FNR == NR && /^[a-z_]+\.c: / { number++; is_own = index($0, source ": ") == 1; next }
FNR == NR && /^- / { right = substr($0, 3); next }
FNR == NR && /^\+ / { if (is_own) add(right, substr($0, 3), number); next }
FNR == NR { next }
{
    lines[++line_count] = mutated($0)
    if (/^#include/) last_include = line_count
}
END {
    if (failed) exit 1
    for (i = 1; i <= count; i++)
        if (uses[i] != 1) fail("not there: " texts[i])
    for (i = 1; i <= line_count; i++) {
        print lines[i]
        if (i == last_include) print "extern int misreading;"
    }
}
