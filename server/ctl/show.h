// SPDX-License-Identifier: MIT
/// Answers for people: a line for each value, a table for each list of objects.
#pragma once

#include "json.h"

/// Print an object to stdout.
void ctl_show(ctl_value object);
/// Print a row of a table in columns of these widths: negative ones are aligned to the left.
void ctl_show_row(const char* const* cells, const int* widths, uint32_t count);
/// Characters of a text, as a terminal counts them.
uint32_t ctl_text_width(const char* text);
