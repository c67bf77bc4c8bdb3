// SPDX-License-Identifier: MIT
/// A library with a state of its own, as a physics engine is one: its world is memory that only it
/// reads, and more than what a game can ask for decides its next step.
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { CHAIN_LINKS = 16 };

typedef struct chain chain;

chain* chain_new(void); ///< NULL when memory ran out
void chain_free(chain* self);
void chain_push(chain* self, uint32_t link, float force);
void chain_step(chain* self, float dt);
float chain_at(const chain* self, uint32_t link);
void chain_put(chain* self, uint32_t link, float at);

/// The snapshot: all of it as memory has it, with bytes between fields that mean nothing.
size_t chain_image_bytes(void);
void chain_image_write(const chain* self, void* image);
/// @return false: no chain has such bytes.
bool chain_image_read(chain* self, const void* image);
/// Of the state alone.
uint64_t chain_hash(const chain* self);
