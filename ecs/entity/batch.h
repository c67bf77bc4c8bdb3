// SPDX-License-Identifier: MIT
/// Recorded commands applied (command.c), and runs of commands that are alike (command_batch.c).
#pragma once

#include "ecs/world.h"

/// Apply all recorded commands, inside of stages too; ecs_command_flush is this with its checks.
void ecs_commands_apply(ecs_world* world);

/// Apply the run of recreates or destroys that begins at command `first` of header `head`, if there
/// is one that would succeed as a whole. The result is that of applying its commands one by one.
/// `looked_at` is how many commands need no other try. @return commands done; 0: apply them one by
/// one.
uint32_t ecs_batch_apply(ecs_world* world, uint32_t first, uint32_t head, uint32_t* looked_at);
void ecs_batch_deinit(ecs_world* world);
