// SPDX-License-Identifier: MIT
/// A recorder: the queues that one range of a system records into (recorder.c).
#pragma once

#include "event/command_queue.h"
#include "event/event_queue.h"

/// Queues of its own, and the event types of the world. Begin with zero. Placeholders count from 1
/// in each recorder: no other recorder may name them.
typedef struct ecs_recorder {
    ecs_commands commands;
    ecs_events events;
} ecs_recorder;

/// Learn the event types of a sealed world.
void ecs_recorder_init(const ecs_world* world, ecs_recorder* recorder);
/// Give all memory back; what is recorded is dropped.
void ecs_recorder_deinit(ecs_world* world, ecs_recorder* recorder);
/// From now on what is recorded through `view`, a copy of the world, goes to the recorder, as
/// commands of this system and job.
void ecs_recorder_bind(ecs_world* view, ecs_recorder* recorder, uint32_t system, uint32_t job);
/// Events of the recorder go to the end of the world's queue, then its commands are applied, and
/// both agree about placeholders. The recorder is empty then. Between systems.
void ecs_recorder_take(ecs_world* world, ecs_recorder* recorder);
