// SPDX-License-Identifier: MIT
// The planted fault: the answer to net/core/fault.h, for the build of the libraries that asks at
// run time.
#include "faults.h"

#include "core/fault.h"

#include <strings.h>

#ifdef SHOAL_FAULTS
static net_fault planted;
static uint32_t run_now;

bool faults_plant(const char* name) {
    static const char* const names[NET_FAULT_COUNT] = {
#include "fault_names.h" // of CMake, from core/fault.h
    };
    for (uint32_t i = 1; i < NET_FAULT_COUNT; i++)
        if (strcasecmp(names[i], name) == 0) planted = (net_fault)i;
    return planted != NET_FAULT_NONE;
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
