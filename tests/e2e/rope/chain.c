// SPDX-License-Identifier: MIT
#include "chain.h"

#include <stdlib.h>
#include <string.h>

#define STIFFNESS 40.0f
#define DAMPING 0.4f
#define WARMTH 0.5f // of a pull that the next step begins with
#define QUIET 0.001f
#define SLEEP_STEPS 30u

typedef struct chain_link {
    bool is_awake; // three bytes follow that mean nothing
    float at, speed, pull;
    uint16_t quiet_steps; // and two
} chain_link;

struct chain {
    chain_link links[CHAIN_LINKS];
};

// Memory as an allocator gives it: what nothing wrote differs from one process to the next.
chain* chain_new(void) {
    chain* self = malloc(sizeof *self);
    if (!self) return NULL;
    memset(self, (int)((uintptr_t)self >> 12), sizeof *self);
    for (uint32_t i = 0; i < CHAIN_LINKS; i++) {
        chain_link* one = &self->links[i];
        one->is_awake = true;
        one->at = one->speed = one->pull = 0.0f;
        one->quiet_steps = 0;
    }
    return self;
}

void chain_free(chain* self) {
    free(self);
}

void chain_push(chain* self, uint32_t link, float force) {
    self->links[link].speed += force;
    self->links[link].is_awake = true;
    self->links[link].quiet_steps = 0;
}

void chain_step(chain* self, float dt) {
    chain_link* links = self->links;
    for (uint32_t i = 0; i < CHAIN_LINKS; i++) {
        const float before = i > 0 ? links[i - 1].at : 0.0f;
        const float after = i + 1 < CHAIN_LINKS ? links[i + 1].at : 0.0f;
        links[i].pull = links[i].pull * WARMTH + (before + after - 2.0f * links[i].at) * STIFFNESS;
    }
    for (uint32_t i = 0; i < CHAIN_LINKS; i++) {
        chain_link* one = &links[i];
        const bool is_pulled = one->pull > QUIET || one->pull < -QUIET;
        one->quiet_steps = is_pulled ? 0 : (uint16_t)(one->quiet_steps + 1);
        one->is_awake = is_pulled || one->quiet_steps < SLEEP_STEPS;
        if (!one->is_awake) continue;
        one->speed += (one->pull - one->speed * DAMPING) * dt;
        one->at += one->speed * dt;
    }
}

float chain_at(const chain* self, uint32_t link) {
    return self->links[link].at;
}

void chain_put(chain* self, uint32_t link, float at) {
    self->links[link].at = at;
}

size_t chain_image_bytes(void) {
    return sizeof(chain);
}

void chain_image_write(const chain* self, void* image) {
    memcpy(image, self, sizeof *self);
}

bool chain_image_read(chain* self, const void* image) {
    const uint8_t* bytes = image;
    for (uint32_t i = 0; i < CHAIN_LINKS; i++)
        if (bytes[i * sizeof(chain_link) + offsetof(chain_link, is_awake)] > 1) return false;
    memcpy(self, image, sizeof *self);
    return true;
}

static uint64_t mix(uint64_t hash, const void* value, size_t size) {
    uint32_t word = 0;
    memcpy(&word, value, size);
    return (hash ^ word) * UINT64_C(0x100000001B3);
}

uint64_t chain_hash(const chain* self) {
    uint64_t hash = UINT64_C(0xCBF29CE484222325);
    for (uint32_t i = 0; i < CHAIN_LINKS; i++) {
        const chain_link* one = &self->links[i];
        hash = mix(hash, &one->is_awake, sizeof one->is_awake);
        hash = mix(hash, &one->at, sizeof one->at);
        hash = mix(hash, &one->speed, sizeof one->speed);
        hash = mix(hash, &one->pull, sizeof one->pull);
        hash = mix(hash, &one->quiet_steps, sizeof one->quiet_steps);
    }
    return hash;
}
