// SPDX-License-Identifier: MIT
// Runs of commands that move or end rows of one archetype, column by column.
//
// One by one, a recreate touches every column of two tables for the row that goes and for the row
// that fills the hole, and each waits for the one before. A run of commands on plain rows of one
// archetype is applied in four passes instead: find the rows, copy whole column segments into the
// target, point records at them, close all holes of the source at once.
//
// The order of rows decides the bits of the simulation, so it is exactly the order that one by one
// would give. That order can be told without touching data: with n rows and k removals only the
// last k rows ever move, so a walk over two small arrays finds who ends up in which hole:
//
//     rows      a b c d | e f g      remove b, f, c: window of k = 3
//     b goes    a g c d | e f        g fills the hole of b
//     f goes    a g c d | e          f was last
//     c goes    a g e d |            e fills the hole of c: two copies in all, g -> 1 and e -> 2
//
// Each survivor of the window is copied once, to a place below the window, so no copy overwrites
// what a later one reads. An entity named twice ends a run, so does whatever would not simply
// succeed; where handlers or member lists exist there are no runs, since each must see one change
// at a time. What does not fit a run goes the common way (transition.c), as do runs too short to
// pay.
//
// Invariants: `seen` is all zero between calls. Nothing is changed before all memory is there.
#include "base/assert.h"
#include "core/world_internal.h"
#include "entity/batch.h"
#include "event/command_queue.h"
#include "hierarchy/hierarchy_lists.h"
#include "structure/transition.h"
#include "table/archetype.h"
#include "table/bytes.h"
#include "table/chunk.h"
#include "table/handle.h"
#include "table/index.h"
#include "table/record.h"
#include "table/row.h"
#include "table/runway.h"
#include "table/storage.h"
#include "track/track.h"

#include <string.h>

enum { RUN_MIN = 4, BLOCK_ROWS = 256, RECORD_AHEAD = 24 };
#define GONE UINT32_MAX

// Rows that lie next to each other in one chunk.
typedef struct row_span {
    const ecs_chunk* chunk;
    uint32_t row;
    uint32_t count;
} row_span;

// A survivor of the window and its hole.
typedef struct row_move {
    ecs_chunk *from, *to;
    uint32_t from_row, to_row;
} row_move;

// Rows of an archetype counted through its chunks: all but the tail have rows_max rows, a power of
// two.
static uint32_t chunk_shift(const ecs_archetype* archetype) {
    return (uint32_t)__builtin_ctz(archetype->rows_max);
}

static bool reserve_scratch(ecs_world* world, const ecs_archetype* archetype, uint32_t count) {
    BASE_ASSERT(count > 0);
    ecs_batch* batch = &world->commands->batch;
    uint32_t words = (uint32_t)((archetype->row_count + 63) / 64);
    uint32_t old_words = batch->seen_capacity;
    if (!BASE_ARRAY_RESERVE(world->allocator, batch->items, batch->item_capacity, count) ||
        !BASE_ARRAY_RESERVE(world->allocator, batch->seen, batch->seen_capacity, words))
        return false;
    if (batch->seen_capacity > old_words)
        memset(batch->seen + old_words, 0, (batch->seen_capacity - old_words) * sizeof(uint64_t));
    return true;
}

void ecs_batch_deinit(ecs_world* world) {
    ecs_batch* batch = &world->commands->batch;
    BASE_ARRAY_RELEASE(world->allocator, batch->items, batch->item_capacity);
    BASE_ARRAY_RELEASE(world->allocator, batch->seen, batch->seen_capacity);
    *batch = (ecs_batch){0};
}

static bool are_values_there(const ecs_world* world, const ecs_archetype* archetype,
                             const ecs_command* command) {
    for (uint32_t i = 0; i < command->init_count; i++) {
        ecs_component_id component = ecs_command_value_at(command, i)->component;
        if (component >= world->storage->slot_count || archetype->slots[component] == ECS_SLOT_NONE)
            return false;
    }
    return true;
}

// The run from command `first` on: living entities of one plain archetype, each once. Fills
// items[].row. @return its length; 0 when there is none or memory ran out.
static uint32_t collect(ecs_world* world, uint32_t first, uint32_t head, const ecs_binding* binding,
                        ecs_archetype** source) {
    ecs_storage* storage = world->storage;
    const ecs_commands* commands = world->commands;
    const ecs_command *like = &commands->items[head], *command = NULL;
    const uint32_t index_max = binding && binding->is_replicated && !world->is_mirror
                                   ? world->limits.replicated_index_max
                                   : ECS_INDEX_MAX;
    const bool has_families = world->storage->links.pages && like->op == ECS_COMMAND_DESTROY;
    uint64_t *seen = NULL, word = 0; // `word` is seen[word_at], kept at hand while rows are near
    ecs_batch_item* items = NULL;
    uint32_t count = 0, word_at = 0, end = first, chunk_id = UINT32_MAX, base = 0;
    for (uint32_t i = first; i < commands->count; i++, count++) {
        if (i + RECORD_AHEAD < commands->count)
            __builtin_prefetch(
                ecs_record_at(storage, ecs_entity_index(commands->targets[i + RECORD_AHEAD])), 1);
        if (i == end) {
            command = &commands->items[head];
            end = ecs_command_end(commands, head++);
            if (command->op != like->op || command->template_id != like->template_id ||
                (command->init_count > 0 &&
                 (!binding || !are_values_there(world, binding->archetype, command))))
                break;
        }
        ecs_entity entity = commands->targets[i];
        if (ecs_entity_is_placeholder(entity)) entity = ecs_command_resolve(world, entity);
        const ecs_record* record = ecs_record_find(storage, entity);
        if (!record || ecs_entity_index(entity) > index_max) break;
        if (has_families && ecs_hierarchy_has_family(world, entity)) break;
        if (record->place >> ECS_ROW_BITS != chunk_id) {
            const ecs_chunk* chunk = ecs_record_chunk(storage, record);
            if (count == 0) {
                *source = chunk->archetype;
                if (chunk->archetype->has_ops || chunk->archetype->notify ||
                    (binding && chunk->archetype == binding->archetype) ||
                    !reserve_scratch(world, chunk->archetype, commands->count - first))
                    return 0;
                seen = commands->batch.seen;
                items = commands->batch.items;
            }
            if (chunk->archetype != *source) break;
            chunk_id = chunk->id;
            base = chunk->index << chunk_shift(*source);
        }
        uint32_t row = base | ecs_record_row(record);
        if (row / 64 != word_at) {
            seen[word_at] = word;
            word_at = row / 64;
            word = seen[word_at];
        }
        if (word >> (row % 64) & 1) break;
        word |= 1ull << (row % 64);
        items[count].row = row;
    }
    word_at = UINT32_MAX;
    for (uint32_t i = 0; i < count; i++) {
        if (items[i].row / 64 == word_at) continue;
        word_at = items[i].row / 64;
        seen[word_at] = 0;
    }
    return count;
}

// Closing holes

// Who fills which hole: afterwards items[w].place is where row `keep + w` goes, or GONE.
static void plan_moves(ecs_batch_item* items, uint32_t count, uint32_t keep) {
    BASE_ASSERT(count > 0 && keep > 0);
    for (uint32_t w = 0; w < count; w++) {
        items[w].occupant = w;
        items[w].place = keep + w;
    }
    for (uint32_t i = 0; i < count; i++) {
        uint32_t row = items[i].row;
        uint32_t place = row < keep ? row : items[row - keep].place;
        uint32_t last = items[count - 1 - i].occupant;
        items[last].place = place;
        if (place >= keep) items[place - keep].occupant = last;
        if (row >= keep) items[row - keep].place = GONE;
    }
}

static void move_rows(ecs_world* world, const row_move* moves, uint32_t count) {
    BASE_ASSERT(count <= BLOCK_ROWS);
    if (count == 0) return;
    const ecs_archetype* archetype = moves[0].from->archetype;
    for (uint32_t c = 0; c < archetype->column_count + archetype->track_count; c++) {
        const uint32_t size = archetype->sizes[c];
        for (uint32_t i = 0; i < count && size > 0; i++)
            ecs_bytes_copy(ecs_chunk_cell(moves[i].to, c, moves[i].to_row),
                           ecs_chunk_cell(moves[i].from, c, moves[i].from_row), size);
    }
    for (uint32_t i = 0; i < count; i++) {
        ecs_chunk* to = moves[i].to;
        ecs_entity moved = moves[i].from->entities[moves[i].from_row];
        to->entities[moves[i].to_row] = moved;
        ecs_record_mut(world->storage, ecs_entity_index(moved))->place =
            to->id << ECS_ROW_BITS | moves[i].to_row;
    }
    for (uint32_t i = 0; i < count && archetype->track_count > 0; i++)
        ecs_chunk_move_marks(moves[i].to, moves[i].to_row, moves[i].from, moves[i].from_row);
}

// Take all rows of the run out; their cells are no longer created. Uses up the items.
static void remove_rows(ecs_world* world, ecs_archetype* archetype, uint32_t count) {
    BASE_ASSERT(count <= archetype->row_count);
    ecs_batch_item* items = world->commands->batch.items;
    const uint32_t shift = chunk_shift(archetype), mask = archetype->rows_max - 1;
    const uint32_t keep = (uint32_t)archetype->row_count - count;
    for (uint32_t i = 0; i < count && archetype->track_count > 0; i++)
        ecs_chunk_clear_mark(archetype->chunks[items[i].row >> shift], items[i].row & mask);
    if (keep > 0) plan_moves(items, count, keep);
    row_move moves[BLOCK_ROWS];
    uint32_t pending = 0;
    for (uint32_t w = 0; w < count && keep > 0; w++) {
        if (items[w].place == GONE) continue;
        BASE_ASSERT(items[w].place < keep);
        moves[pending++] = (row_move){
            .from = archetype->chunks[(keep + w) >> shift],
            .to = archetype->chunks[items[w].place >> shift],
            .from_row = (keep + w) & mask,
            .to_row = items[w].place & mask,
        };
        if (pending < BLOCK_ROWS) continue;
        move_rows(world, moves, pending);
        pending = 0;
    }
    move_rows(world, moves, pending);
    ecs_archetype_truncate(world, archetype, keep);
}

// Into the target

// The rows of commands [first, first + count) of the run as spans. @return how many.
static uint32_t find_spans(const ecs_archetype* source, const ecs_batch_item* items, uint32_t count,
                           row_span* spans) {
    BASE_ASSERT(count <= BLOCK_ROWS);
    const uint32_t shift = chunk_shift(source), mask = source->rows_max - 1;
    uint32_t made = 0;
    for (uint32_t i = 0; i < count; i++) {
        uint32_t row = items[i].row;
        if (i > 0 && row == items[i - 1].row + 1 && (row & mask) != 0) {
            spans[made - 1].count++;
            continue;
        }
        spans[made++] = (row_span){source->chunks[row >> shift], row & mask, 1};
    }
    return made;
}

static void copy_spans(uint8_t* to, uint32_t column, uint32_t size, const row_span* spans,
                       uint32_t span_count) {
    for (uint32_t i = 0; i < span_count; i++) {
        const void* from = ecs_chunk_cell(spans[i].chunk, column, spans[i].row);
        if (spans[i].count == 1)
            ecs_bytes_copy(to, from, size);
        else
            memcpy(to, from, (size_t)size * spans[i].count);
        to += (size_t)size * spans[i].count;
    }
}

// Recreates of rows of one archetype: commands from number `first` on.
typedef struct recreation {
    ecs_archetype* source;
    const ecs_binding* binding;
    ecs_template_id template_id;
    uint32_t first;
    uint32_t head; ///< header of the commands that are filled in now
} recreation;

// The values of commands [command, command + count).
static void set_block_values(ecs_world* world, ecs_chunk* chunk, uint32_t row, uint32_t count,
                             recreation* run, uint32_t command) {
    const ecs_commands* commands = world->commands;
    for (uint32_t i = 0; i < count;) {
        const uint32_t end = ecs_command_end(commands, run->head) - command;
        const ecs_command* like = &commands->items[run->head];
        ecs_init inits[ECS_TEMPLATE_COMPONENTS_MAX];
        if (like->init_count > 0) ecs_command_unpack(world, like, inits);
        ecs_row_set_plain(chunk, row + i, inits, like->init_count);
        if (end > count) return;
        i = end;
        run->head++;
    }
}

// Cells of rows [row, row + count) of the target: what the source has too, else defaults, then the
// commands' values. A shadow starts as its value. `done` commands of the run are there already.
static void fill_block(ecs_world* world, ecs_chunk* chunk, uint32_t row, uint32_t count,
                       recreation* run, uint32_t done) {
    const ecs_archetype *archetype = chunk->archetype, *source = run->source;
    row_span spans[BLOCK_ROWS];
    uint32_t span_count = find_spans(source, world->commands->batch.items + done, count, spans);
    for (uint32_t c = 0; c < archetype->column_count; c++) {
        uint16_t from = source->slots[archetype->columns[c].component];
        uint8_t* to = ecs_chunk_cell(chunk, c, row);
        if (from == ECS_SLOT_NONE)
            ecs_cells_spread(to, run->binding->defaults[c], chunk->sizes[c], count);
        else if (chunk->sizes[c] > 0)
            copy_spans(to, from, chunk->sizes[c], spans, span_count);
    }
    set_block_values(world, chunk, row, count, run, run->first + done);
    for (uint32_t t = 0; t < archetype->track_count; t++) {
        uint32_t column = archetype->tracked[t];
        memcpy(ecs_chunk_cell(chunk, archetype->column_count + t, row),
               ecs_chunk_cell(chunk, column, row), (size_t)chunk->sizes[column] * count);
    }
    ecs_entity* entities = chunk->entities + row;
    for (uint32_t i = 0; i < span_count; i++) {
        memcpy(entities, spans[i].chunk->entities + spans[i].row,
               spans[i].count * sizeof *entities);
        entities += spans[i].count;
    }
}

// Records, and the lists of tracking.
static void settle_block(ecs_world* world, ecs_chunk* chunk, uint32_t row, uint32_t count,
                         ecs_template_id template_id) {
    ecs_entity_list* recreated = &world->tracker->recreated;
    const ecs_entity* entities = chunk->entities + row;
    ecs_rows_settle(world->storage, chunk, row, row + count, template_id);
    if (chunk->archetype->track_count == 0) {
        memcpy(recreated->items + recreated->count, entities, count * sizeof(ecs_entity));
        recreated->count += count;
        return;
    }
    for (uint32_t i = 0; i < count; i++)
        ecs_track_arrived(world, entities[i], chunk, row + i);
}

static bool recreate_run(ecs_world* world, recreation* run, uint32_t count) {
    BASE_ASSERT(count >= RUN_MIN && run->binding && run->source);
    ecs_archetype *target = run->binding->archetype, *source = run->source;
    const ecs_batch_item* items = world->commands->batch.items;
    const uint32_t shift = chunk_shift(source), mask = source->rows_max - 1;
    if (!ecs_row_reserve_lists(world, 0, count) ||
        ecs_archetype_reserve(world, target, count) != ECS_OK)
        return false;
    for (uint32_t i = 0; i < count && source->track_count > 0; i++)
        ecs_track_count_row(world, source->chunks[items[i].row >> shift], items[i].row & mask,
                            false);
    for (uint32_t done = 0; done < count;) {
        ecs_chunk* chunk = ecs_archetype_tail(world, target);
        uint32_t wanted = chunk->capacity - ecs_chunk_count(world->storage, chunk);
        if (wanted > count - done) wanted = count - done;
        if (wanted > BLOCK_ROWS) wanted = BLOCK_ROWS;
        uint32_t row = ecs_chunk_append(world, chunk, wanted);
        fill_block(world, chunk, row, wanted, run, done);
        settle_block(world, chunk, row, wanted, run->template_id);
        done += wanted;
    }
    remove_rows(world, source, count);
    return true;
}

static void destroy_run(ecs_world* world, uint32_t count, ecs_archetype* source) {
    BASE_ASSERT(count >= RUN_MIN && count <= source->row_count);
    ecs_storage* storage = world->storage;
    const ecs_batch_item* items = world->commands->batch.items;
    const uint32_t shift = chunk_shift(source), mask = source->rows_max - 1;
    for (uint32_t i = 0; i < count; i++) {
        ecs_chunk* chunk = source->chunks[items[i].row >> shift];
        uint32_t row = items[i].row & mask;
        ecs_entity entity = chunk->entities[row];
        ecs_row_list_destroying(world, chunk, row, entity);
        *ecs_record_mut(storage, ecs_entity_index(entity)) =
            (ecs_record){.life = (uint16_t)ecs_entity_generation(entity)};
        storage->entity_count--;
        if (storage->held.count > 0) ecs_held_destroyed(world, entity);
        ecs_index_free(world, storage, ecs_entity_index(entity));
    }
    remove_rows(world, source, count);
}

uint32_t ecs_batch_apply(ecs_world* world, uint32_t first, uint32_t head, uint32_t* looked_at) {
    const ecs_commands* commands = world->commands;
    const ecs_command* command = &commands->items[head];
    *looked_at = 1;
    bool is_recreate = command->op == ECS_COMMAND_RECREATE;
    if (!is_recreate && command->op != ECS_COMMAND_DESTROY) return 0;
    if (commands->count - first < RUN_MIN ||
        (ecs_command_end(commands, head) == first + 1 && command[1].op != command->op))
        return 0;
    // Archetypes are numbered in the order of making: a dead entity makes none.
    if (!ecs_is_alive(world, ecs_command_resolve(world, commands->targets[first]))) return 0;
    ecs_binding* binding = NULL;
    if (is_recreate && (ecs_row_bind(world, command->template_id, &binding) != ECS_OK ||
                        binding->archetype->has_ops || binding->archetype->notify))
        return 0;
    recreation run = {NULL, binding, command->template_id, first, head};
    uint32_t count = collect(world, first, head, binding, &run.source);
    if (count > 1) *looked_at = count;
    if (count < RUN_MIN) return 0;
    ecs_structure_check(world);
    ecs_runway_close(world);
    if (!is_recreate)
        destroy_run(world, count, run.source);
    else if (!recreate_run(world, &run, count))
        return 0;
    return count;
}
