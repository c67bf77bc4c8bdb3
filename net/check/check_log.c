// SPDX-License-Identifier: MIT
// The log of the match that check played: it must run again to the same bits, from its start and
// from its middle.
#include "check/check.h"

#include "net/log.h"
#include "net/match.h"

#include "base/text.h"

#include <string.h>

static void report_restored(net_checker* self, const net_verify_result* found) {
    char where[512] = "its chance, or what waits in it";
    if (found->template_name[0])
        (void)base_text_format(
            where, sizeof where,
            "component %s of template %s (entity %u:%u, field %s: %s, restored %s), first after %s",
            found->component, found->template_name, ecs_entity_index(found->entity),
            ecs_entity_generation(found->entity), found->field, found->log_value, found->value,
            found->system);
    else if (strcmp(found->component, "-") != 0)
        (void)base_text_format(where, sizeof where, "component %s", found->component);
    net_check_error(self, "a match that is restored after tick %llu differs in tick %llu in %s: %s",
                    (unsigned long long)found->restored_tick,
                    (unsigned long long)found->diverged_tick, where, found->note);
}

// A net_verify_tick_fn.
static bool each_tick(void* self, net_match* match) {
    (void)match;
    net_check_say_stepped(self);
    return true;
}

net_result net_check_log(net_checker* self) {
    const net_check_config* config = self->config;
    const base_reporter reporter = {net_check_fault, self};
    net_log_reader* reader = NULL;
    net_verify_result verified;
    net_result result =
        net_log_reader_create(config->allocator, config->log_file, &reporter, &reader);
    if (result != NET_OK) return result;
    result = net_log_verify(reader, config->module, 0, 0, each_tick, self, &reporter, &verified);
    net_log_reader_destroy(reader);
    if (result != NET_ERR_DIVERGED) return result;
    if (verified.restored_tick > 0) {
        report_restored(self, &verified);
        return result;
    }
    net_check_error(
        self,
        "the log does not run again: tick %llu differs in component %s of entity %u:%u: "
        "something besides inputs and the world's chance decides (an address, memory "
        "that was not set, what is kept outside of the world)",
        (unsigned long long)verified.diverged_tick, verified.component,
        ecs_entity_index(verified.entity), ecs_entity_generation(verified.entity));
    return result;
}
