// SPDX-License-Identifier: MIT
/// Cells of plain data in a save: blocks whose place is known before they are copied
/// (save_cells.c).
#pragma once

#include "base/workers.h"
#include "table/storage.h"
#include "type/type_registry.h"
#include "type/world.h"

#define ECS_BLOCK_ROWS 2048u ///< at most; many cache lines, and enough blocks to share

/// Rows of one column, shadows too, as canonical bytes.
typedef struct ecs_save_block {
    const ecs_chunk* chunk;
    const ecs_type* type; ///< NULL: handles and templates of the rows
    uint32_t column;
    uint32_t track; ///< of the column or shadow; ECS_SLOT_NONE: it is not tracked
    uint32_t first, count;
    size_t offset; ///< in the save
} ecs_save_block;

/// Blocks that wait for workers. Begin with ecs_save_blocks_init.
typedef struct ecs_save_blocks {
    const base_allocator* allocator;
    base_workers* workers; ///< NULL: none waits, each is copied at once
    ecs_save_block* items;
    uint32_t count, capacity;
} ecs_save_blocks;

/// `amount` of work in all, `least` that is worth a second thread.
void ecs_save_blocks_init(ecs_save_blocks* blocks, const ecs_world* world, uint64_t amount,
                          uint64_t least);
void ecs_save_blocks_deinit(ecs_save_blocks* blocks);
/// @return false: the caller copies it now.
bool ecs_save_blocks_push(ecs_save_blocks* blocks, const ecs_save_block* block);
/// Call `work` for each that waits, with the number of its item; none waits afterwards.
void ecs_save_blocks_run(ecs_save_blocks* blocks, base_work_fn work, void* context);

/// Values of a plain type as canonical bytes, and back. @return false: the bytes are no values.
void ecs_cells_save(const ecs_type* type, const void* cells, uint32_t count, uint8_t* target);
bool ecs_cells_restore(const ecs_type* type, void* cells, uint32_t count, const uint8_t* source);
