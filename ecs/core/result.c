// SPDX-License-Identifier: MIT
// Names and advice of results, from the list in ecs/result.h, and the default limits.
#include "ecs/result.h"

#include "ecs/limits.h"

const char* ecs_result_name(ecs_result result) {
    switch (result) { ECS_RESULT_LIST(BASE_CASE_NAME) }
    return "ECS_ERR_?";
}

const char* ecs_result_text(ecs_result result) {
    switch (result) { ECS_RESULT_LIST(BASE_CASE_TEXT) }
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
