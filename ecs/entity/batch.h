// SPDX-License-Identifier: MIT
/// Recorded commands applied (command.c), and runs of commands that are alike (command_batch.c).
#pragma once

#include "ecs/world.h"

/// Apply all recorded commands, inside of stages too; ecs_command_flush is this with its checks.
void ecs_commands_apply(ecs_world* world);

/// Apply the recreates or destroys of header `head` from command `first` on, as far as each would
/// simply succeed. The result is that of applying them one by one. @return commands done.
uint32_t ecs_batch_apply(ecs_world* world, uint32_t first, uint32_t head);
void ecs_batch_deinit(ecs_world* world);
