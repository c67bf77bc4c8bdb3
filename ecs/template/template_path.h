// SPDX-License-Identifier: MIT
/// Private: paths of the files that templates import. Pure functions on text.
#pragma once

#include "ecs/template_files.h"

/// Turn `import`, as written in the file `from`, into a path of the source. It is relative to the
/// folder of `from`, or begins with a root ("%name/..."; "#..." is the source's own folder).
/// @return NULL and the path; else a constant text that says what is wrong.
BASE_MUST_USE const char* ecs_text_path_resolve(const ecs_template_source* source, const char* from,
                                                const char* import,
                                                char path[ECS_TEXT_PATH_BYTES_MAX]);
/// May a file name from a folder be part of a path? Hidden names and names with a special meaning
/// may not.
bool ecs_text_path_is_name(const char* name);
/// Does a name match a pattern of plain bytes, '*' (any number of bytes) and '?' (one byte)?
/// Without recursion: only the last '*' is tried again.
bool ecs_text_path_matches(const char* pattern, const char* name);
