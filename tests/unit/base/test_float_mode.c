// SPDX-License-Identifier: MIT
#include "test.h"

#include "base/workers.h"
#include "float_hosts.h"

#include <stdatomic.h>

// A volatile value is not computed by the compiler.
static float divide(float a, float b) {
    volatile float x = a, y = b;
    return x / y;
}

static float divide_standard(float a, float b) {
    BASE_FLOAT_MODE_HELD const base_float_mode host = base_float_mode_set();
    if (b == 3.0f) return divide(a, b);
    return divide(a, b);
}

CASE(the_standard_mode_is_held_to_each_return) {
    for (uint32_t i = 0; i < BASE_COUNT(float_hosts); i++) {
        base_float_mode_restore(&float_hosts[i]);
        const float third = divide_standard(1.0f, 3.0f), small = divide_standard(0x1p-126f, 4.0f);
        const float other_third = divide(1.0f, 3.0f), other_small = divide(0x1p-126f, 4.0f);
        assert_true(float_hosts_end(float_hosts[i]) && float_hosts_end(BASE_FLOAT_MODE_STANDARD));
        assert_true(third == 0x1.555556p-2f && small == 0x1p-128f);
        assert_int_equal(other_third != third || other_small != small, i > 0);
    }
}

typedef struct workshop {
    _Atomic uint32_t begun;
    base_float_mode modes[2]; // of the owner, of the worker
} workshop;

// The owner's item ends when the worker has one.
static void look(void* context, uint32_t item, uint32_t worker) {
    workshop* self = context;
    self->modes[worker] = base_float_mode_get();
    atomic_fetch_add(&self->begun, 1);
    while (atomic_load(&self->begun) < 2)
        ;
}

CASE(workers_have_the_standard_mode_whatever_their_owner_has) {
    for (uint32_t i = 0; i < BASE_COUNT(float_hosts); i++) {
        workshop self = {.begun = 0};
        base_float_mode_restore(&float_hosts[i]);
        base_workers* workers = base_workers_create(NULL, 2);
        assert_non_null(workers);
        base_workers_run(workers, look, &self, 2);
        base_workers_destroy(workers);
        assert_true(float_hosts_end(float_hosts[i]));
        assert_int_equal((self.modes[0] ^ float_hosts[i]) & BASE_FLOAT_MODE_BITS, 0);
        assert_int_equal((self.modes[1] ^ BASE_FLOAT_MODE_STANDARD) & BASE_FLOAT_MODE_BITS, 0);
    }
}
