// SPDX-License-Identifier: MIT
/// Parts of a save (save.c, world.c), and what the parts of a restore share (restore.c). The form
/// of a save is described in save.c.
#pragma once

#include "base/workers.h"
#include "ecs/event.h"
#include "ecs/template.h"
#include "ecs/world.h"
#include "table/storage.h"
#include "type/type_registry.h"
#include "type/world.h"

#define ECS_SAVE_MAGIC 0x56534853u // "SHSV"
#define ECS_SAVE_VERSION 1u

/// What was registered, by name and layout. Templates composed at run time are not registration.
uint64_t ecs_schema_hash(const ecs_world* world);

// Cells of plain data in a save: blocks whose place is known before they are copied.

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

/// Values of a plain type from canonical bytes. @return false: the bytes are no values.
bool ecs_cells_restore(const ecs_type* type, void* cells, uint32_t count, const uint8_t* source);

/// Make a shadow that is created, or plain data, a copy of its value.
void ecs_shadow_copy(const ecs_world* world, const ecs_type* type, void* shadow, const void* cell);

// Parts with readers of their own.

/// No entities, commands and events; tracking forgot everything. Lists of members stay.
void ecs_world_empty(ecs_world* world);

/// Back to just after seal: no entities, archetypes, chunks, commands or held handles; indices
/// fresh. Values are destroyed; tracking is not told. Compiled queries and counters stay.
void ecs_storage_clear(ecs_world* world);
/// Free indices, generations and held handles as bytes. Read on a cleared storage, before entities
/// are placed; when they are, ecs_storage_settle_indices finds the free ones.
/// @return ECS_OK; ECS_ERR_MALFORMED.
void ecs_storage_write_indices(const ecs_world* world, base_bytes* bytes);
BASE_MUST_USE ecs_result ecs_storage_read_indices(ecs_world* world, base_reader* reader);
void ecs_storage_settle_indices(ecs_world* world);
/// What the parts of a restore share.
typedef struct ecs_restorer {
    ecs_world* world;
    base_reader reader;
    ecs_template_id* templates; ///< [saved id] -> id here
    uint32_t template_count;
    uint64_t grown_bytes;   ///< of objects that may take fewer bytes in a save
    bool has_entered;       ///< who lives here is in the lists of members
    ecs_save_blocks blocks; ///< plain data, which workers read
    bool is_damaged;        ///< they found bytes that are no values
} ecs_restorer;

/// What a template of the save is here; ECS_TEMPLATE_NONE: there is none.
static inline ecs_template_id ecs_restorer_template(const ecs_restorer* load, uint32_t saved) {
    return saved == 0 || saved > load->template_count ? ECS_TEMPLATE_NONE : load->templates[saved];
}
/// Count objects before they are made. @return false: beyond ECS_RESTORED_BYTES_MAX.
bool ecs_restorer_grow(ecs_restorer* load, const ecs_type* type, uint64_t count);
/// Queued commands. Read with an empty queue.
/// @return ECS_OK; ECS_ERR_MALFORMED, ECS_ERR_FULL: the caller clears the queue.
BASE_MUST_USE ecs_result ecs_commands_read(ecs_restorer* load);
/// Entities that wait for resources, after the held handles.
/// @return ECS_OK; ECS_ERR_MALFORMED; ECS_ERR_FULL.
BASE_MUST_USE ecs_result ecs_loading_read(ecs_restorer* load);
/// An event's type, which may wait in the queue, and its payload of ECS_EVENT_BYTES_MAX.
/// @return ECS_OK; ECS_ERR_MALFORMED.
BASE_MUST_USE ecs_result ecs_restorer_event(ecs_restorer* load, ecs_event_type* type,
                                            void* payload);
