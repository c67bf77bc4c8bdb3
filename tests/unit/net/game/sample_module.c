// SPDX-License-Identifier: MIT
// Modules with one fault each, for test_module. SAMPLE_FAULT chooses the fault.

#include "net/game.h"

#include "float_hosts.h"

#include <math.h>
#include <stdlib.h>
#include <time.h>

#define FAULT_GLOBAL 1
#define FAULT_IMPORTS 2
#define FAULT_SYMBOL 3
#define FAULT_VERSION 4
#define FAULT_THREAD 5
#define FAULT_CORE 6
#define FAULT_UNDEFINED 7
#define FAULT_FLOATS 8
#define FAULT_LIBRARY 9
#define FAULT_BESIDE 10 // beside a library
#define FAULT_NEEDED 11

#if SAMPLE_FAULT == FAULT_GLOBAL || SAMPLE_FAULT == FAULT_BESIDE
static int sample_counter = 3;
static char sample_buffer[100];
#endif
#if SAMPLE_FAULT == FAULT_THREAD
static _Thread_local int sample_per_thread;
#endif

#if SAMPLE_FAULT == FAULT_FLOATS
// As crtfastmath.o has it, which some compilers link.
__attribute__((constructor)) static void set_fast_math(void) {
    base_float_mode_restore(&float_hosts[BASE_COUNT(float_hosts) - 1]);
}
#endif

static const net_game_module module = {
    .contract_version = NET_GAME_CONTRACT_VERSION + (SAMPLE_FAULT == FAULT_VERSION),
    .size_bytes = sizeof(net_game_module),
    .core_version = ECS_CORE_VERSION + (SAMPLE_FAULT == FAULT_CORE),
    .name = "sample",
    .message_bytes = sizeof(net_message),
    .setting_bytes = sizeof(net_setting),
    .action_bytes = sizeof(net_action),
};

const net_game_module* net_game_module_get(void);
void human_input(void); // in a source that the module was built without
const net_game_module* sample_other(double value);
double sample_part(double value); // of a library
const net_game_module* breakout_module(void);

#if SAMPLE_FAULT == FAULT_SYMBOL
const net_game_module* sample_other(double value) {
    return value > 0 ? &module : NULL;
}
#else
const net_game_module* net_game_module_get(void) {
#if SAMPLE_FAULT == FAULT_GLOBAL
    sample_buffer[sample_counter++ % 100]++;
#endif
#if SAMPLE_FAULT == FAULT_THREAD
    sample_per_thread++;
#endif
#if SAMPLE_FAULT == FAULT_NEEDED
    return breakout_module();
#endif
    return &module;
}
const net_game_module* sample_other(double value) {
#if SAMPLE_FAULT >= FAULT_LIBRARY
    double (*volatile root)(double) = sqrt; // a call would be an instruction
    float (*volatile root_f)(float) = sqrtf;
    value = sample_part(root(value) + (double)root_f((float)value));
#endif
#if SAMPLE_FAULT == FAULT_BESIDE
    value += rand() + sample_counter++ + sample_buffer[7];
#endif
#if SAMPLE_FAULT == FAULT_IMPORTS
    value += pow(value, 3.5) + (double)sinf((float)value) + rand() + (double)time(NULL);
#endif
#if SAMPLE_FAULT == FAULT_UNDEFINED
    human_input();
#endif
#if SAMPLE_FAULT == FAULT_GLOBAL
    value += sample_counter + sample_buffer[7];
#endif
    return value > 0 ? &module : NULL;
}
#endif
