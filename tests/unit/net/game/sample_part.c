// SPDX-License-Identifier: MIT
// A library as others write them, for modules of test_module.

#include <math.h>
#include <stdlib.h>

double sample_part(double value);

static double part_last[8];
static _Thread_local int part_calls;

double sample_part(double value) {
    part_last[part_calls++ & 7] = value;
    return pow(value, part_last[rand() & 7]);
}
