// SPDX-License-Identifier: MIT
// Names and advice of results, from the list in ecs/result.h, and the default limits.
#include "ecs/result.h"

#include "ecs/limits.h"

const char* ecs_result_name(ecs_result result) {
    switch (result) {
#define NAME_CASE(name, value, text)                                                               \
    case name:                                                                                     \
        return #name;
        ECS_RESULT_LIST(NAME_CASE)
#undef NAME_CASE
    }
    return "ECS_ERR_?";
}

const char* ecs_result_text(ecs_result result) {
    switch (result) {
#define TEXT_CASE(name, value, text)                                                               \
    case name:                                                                                     \
        return text;
        ECS_RESULT_LIST(TEXT_CASE)
#undef TEXT_CASE
    }
    return "no such result";
}

ecs_limits ecs_limits_default(void) {
    return (ecs_limits){
        .replicated_index_max = 65535,
        .local_entities_max = 1048576,
        .events_per_flush_max = 65536,
        .events_queued_max = 65536,
        .commands_queued_max = 65536,
    };
}
