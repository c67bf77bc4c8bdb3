// SPDX-License-Identifier: MIT
/// Foreign text that a person is shown: names of players, sentences of a server, quotes in reports.
///
/// Not shown: bytes that are no UTF-8; control characters, which a terminal obeys (C0, DEL, C1);
/// characters that change the direction of what is around them, or that cannot be seen (the
/// list is in report.c). With these, one name could look like another.
#pragma once

#include "base/macros.h"

BASE_C_BEGIN

/// @return the size in bytes of the character at `at`, which is not the NUL; 1 for a byte that
///         begins no character. *code: the character, UINT32_MAX: none. *is_shown: may a person be
///         shown it?
uint32_t base_shown_next(const char* at, uint32_t* code, bool* is_shown);
/// Copy what may be shown, and cut it before the first character that does not fit; always
/// NUL-terminated when target_bytes is not 0.
/// @return true when `source` has a character that is shown and is no blank.
bool base_shown_copy(char* target, size_t target_bytes, const char* source);
/// Room for what base_shown_quote writes of `bytes` bytes, NULs included.
#define BASE_SHOWN_QUOTED_BYTES(bytes) (2 * (bytes) + 1)
/// Write what may be shown between quotes, with a backslash before each quote and backslash in it,
/// so that a line with a foreign name in it has one meaning. Cut before the first character that
/// does not fit; the second quote always fits. `target_bytes` is 3 or more (asserted).
/// @return target.
const char* base_shown_quote(char* target, size_t target_bytes, const char* source);

BASE_C_END
