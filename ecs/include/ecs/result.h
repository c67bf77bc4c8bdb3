// SPDX-License-Identifier: MIT
/// Results of the core: 0 is success, failures are negative. Each has a name and an advice.
#pragma once

#include "base/macros.h"

BASE_C_BEGIN

/// One list gives the enum and the advice.
#define ECS_RESULT_LIST(X)                                                                         \
    X(ECS_OK, 0, "success")                                                                        \
    X(ECS_ERR_FULL, -2, "a named limit is reached: raise it in ecs_limits")                        \
    X(ECS_ERR_STALE, -3, "the handle names no living entity: drop it")                             \
    X(ECS_ERR_UNKNOWN, -4, "no such name: register or load it first")                              \
    X(ECS_ERR_DUPLICATE, -5, "this name is registered already")                                    \
    X(ECS_ERR_TYPE, -6, "the types differ: the report names both")                                 \
    X(ECS_ERR_SYNTAX, -7, "the text is wrong: the report says file and line")                      \
    X(ECS_ERR_SEALED, -8, "registration is over: register before ecs_world_seal")                  \
    X(ECS_ERR_CYCLE, -9, "systems, templates or parents form a cycle: the report names it")        \
    X(ECS_ERR_MISSING, -10, "the entity has no such component")                                    \
    X(ECS_ERR_MALFORMED, -11, "saved bytes are damaged or from another schema")                    \
    X(ECS_ERR_TAKEN, -12, "the index is in use by another generation: destroy that one first")     \
    X(ECS_ERR_LOAD, -13, "a resource that it needs cannot be loaded: the report names it")         \
    X(ECS_ERR_TEXT, -14, "a text has a NUL in it, or more than 4,096 bytes: cut it")

typedef enum ecs_result {
#define ECS_RESULT_ENUM(name, value, text) name = value,
    ECS_RESULT_LIST(ECS_RESULT_ENUM)
#undef ECS_RESULT_ENUM
} ecs_result;

/// The advice of the list above, a static string.
const char* ecs_result_text(ecs_result result);

BASE_C_END
