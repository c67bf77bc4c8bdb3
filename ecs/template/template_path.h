// SPDX-License-Identifier: MIT
/// Private: paths of the files that templates import. Pure functions on text.
#pragma once

#include "ecs/template_files.h"

/// `import` as written in the file `from`, as a path of the source: relative to the folder of `from`, or
/// from a root ("%name/..."; "#..." is the source's own folder).
/// @return NULL and the path; else what is wrong with it, constant.
BASE_MUST_USE const char* ecs_text_path_resolve(const ecs_template_source* source, const char* from,
                                                const char* import,
                                                char path[ECS_TEXT_PATH_BYTES_MAX]);
/// May a name that a folder has be part of a path? Hidden ones and those that spell something else may not.
bool ecs_text_path_is_name(const char* name);
/// Does a name match a pattern of plain bytes, '*' (any, also none) and '?' (one)? Linear in time but for
/// one step back per '*'.
bool ecs_text_path_matches(const char* pattern, const char* name);
