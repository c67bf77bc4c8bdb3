// SPDX-License-Identifier: MIT
/// Foreign text that a person is shown: names of players, sentences of a server, quotes in reports.
///
/// Not shown: bytes that are no UTF-8; control characters, which a terminal obeys (C0, DEL, C1);
/// characters that change the direction of what stands around them, or that cannot be seen (the
/// list stands in shown.c). With these, one name could look like another.
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

BASE_C_END
