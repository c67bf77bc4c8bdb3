// SPDX-License-Identifier: MIT
// The planted fault: the answer to net/core/fault.h, for the build of the libraries that asks at
// run time.
#include "faults.h"

#include "core/fault.h"

#include <string.h>

#ifdef SHOAL_FAULTS
static net_fault planted;
static uint32_t run_now;

bool faults_plant(const char* name) {
    static const char* const names[NET_FAULT_COUNT] = {
        [NET_FAULT_SKIP_APPLY] = "skip_apply",
        [NET_FAULT_STALE_ACK] = "stale_ack",
        [NET_FAULT_DROP_COMPONENT] = "drop_component",
        [NET_FAULT_LEAK_HIDDEN] = "leak_hidden",
        [NET_FAULT_LEAK_TIMING] = "leak_timing",
        [NET_FAULT_LEAK_AGE] = "leak_age",
        [NET_FAULT_NO_REPEAT] = "no_repeat",
        [NET_FAULT_NO_SESSION] = "no_session",
        [NET_FAULT_SAY_EARLY] = "say_early",
        [NET_FAULT_WALK_OTHER] = "walk_other",
        [NET_FAULT_TORN_GROUP] = "torn_group",
        [NET_FAULT_OVER_BUDGET] = "over_budget",
        [NET_FAULT_STARVE] = "starve",
        [NET_FAULT_WRONG_BASE2] = "wrong_base2",
        [NET_FAULT_BANDWIDTH_MISS] = "bandwidth_miss",
        [NET_FAULT_NO_RESYNC] = "no_resync",
        [NET_FAULT_STALE_RESEND] = "stale_resend",
        [NET_FAULT_GHOST] = "ghost",
        [NET_FAULT_WRONG_SHARE] = "wrong_share",
        [NET_FAULT_SOLO_OTHER] = "solo_other",
        [NET_FAULT_THREAD_OTHER] = "thread_other",
        [NET_FAULT_UNREPEATABLE] = "unrepeatable",
        [NET_FAULT_APPLY_OLD] = "apply_old",
        [NET_FAULT_LEAK_REFERENCE] = "leak_reference",
        [NET_FAULT_EVENT_TWICE] = "event_twice",
        [NET_FAULT_SCOPE_STUCK] = "scope_stuck",
        [NET_FAULT_WRONG_PROBE] = "wrong_probe",
        [NET_FAULT_VARSIZE_LOST] = "varsize_lost",
    };
    for (uint32_t i = 1; i < NET_FAULT_COUNT; i++) {
        if (strcmp(names[i], name) != 0) continue;
        planted = (net_fault)i;
        return true;
    }
    return false;
}

void faults_set_run(uint32_t run) {
    run_now = run;
}

bool net_fault_is_planted(net_fault fault) {
    // UNREPEATABLE shows only in the second of two runs.
    return fault == planted && (fault != NET_FAULT_UNREPEATABLE || run_now == 1);
}
#else
bool faults_plant(const char* name) {
    (void)name;
    return false;
}

void faults_set_run(uint32_t run) {
    (void)run;
}
#endif
