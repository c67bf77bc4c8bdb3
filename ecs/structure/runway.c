// SPDX-License-Identifier: MIT
// The runway: what the next creations of one template need, made ahead.
//
// Entities often come in series of one template. Filling one row touches every column once, a line
// here and a line there; filling many rows column by column runs at the speed of memory. So while a
// template repeats, the next 1, 2, 4 .. 1,024 rows after the count get its defaults. And for as
// many as may follow without any check handles are taken, listed and counted ahead: there are rows,
// indices that need no new page, room in tracking's lists. A creation is left with a row, a record
// and the values that differ. Handles go back (ecs_runway_return) before a caller could see them,
// and before an index comes free: each creation gets the handle that it would get alone.
// The processor must see that a column goes on: with 64 rows at most create_single_30k takes 1.7
// times its twin instead of 1.2.
//
// Off, create_1m takes three times as long, create_single_30k 2.7 times. One index after the other:
// 111 instructions an entity in create_1m instead of 82.
//
//     | rows that live | handles, defaults | defaults | zeros up to clean_end | ...
//                      ^ count             ^ + left   ^ end
//
// There is at most one in a world, on the tail chunk of an archetype of plain types that no handler
// listens to. It is closed before a walk, which finds zeros there (ecs_storage_tidy), and before
// anything else touches the chunk's end. A runway that was closed before its end has misjudged the
// series: the next one starts small.
#include "base/assert.h"
#include "structure/transition.h"

#include <string.h>

enum { LENGTH_MAX = 1024, BYTES_MAX = 1 << 20 };

// Put defaults into the next rows of the chunk: a single one where no runway goes on.
static void extend(ecs_runway* runway, ecs_chunk* chunk, uint32_t row, const ecs_binding* binding) {
    uint32_t length = 1;
    if (runway->chunk == chunk) {
        length = runway->length == 0 ? 1 : runway->length * 2;
        if (length > LENGTH_MAX || length * (chunk->bytes / chunk->capacity) > BYTES_MAX)
            length = (length + 1) / 2;
        runway->length = length;
    }
    // At a multiple of `length`, as clean_end: no row is made zero and then filled.
    uint32_t end = (row + length) / length * length;
    if (end > chunk->capacity) end = chunk->capacity;
    ecs_chunk_clean(chunk, end);
    ecs_rows_spread(chunk, row, end - row, binding);
    runway->chunk = chunk;
    runway->end = end;
}

static uint32_t least(uint32_t a, uint32_t b) {
    return a < b ? a : b;
}

// Take the handles of the next rows, the same as one by one while nothing dies meanwhile.
static void take_handles(ecs_world* world, uint32_t range, uint32_t row) {
    ecs_storage* storage = world->storage;
    ecs_runway* runway = &storage->runway;
    ecs_entity_list* born = &world->tracker->created;
    ecs_entity* handles = runway->chunk->entities + row;
    const uint32_t ready = ecs_index_ready(world, range);
    runway->run = least(runway->run * 2 + (runway->run == 0), LENGTH_MAX);
    uint32_t count = least(runway->run, runway->end - row);
    count = least(count, born->capacity - born->count);
    count = least(count, ready > 0 ? ready : 1); // the first of a new page
    runway->indices = &storage->ranges[range];
    runway->before = *runway->indices;
    ecs_handles_take(world, range, count, handles);
    memcpy(born->items + born->count, handles, count * sizeof *handles);
    born->count += count;
    storage->entity_count += count;
    runway->left = count;
}

ecs_result ecs_runway_prepare(ecs_world* world, ecs_template_id template_id) {
    ecs_storage* storage = world->storage;
    ecs_runway* runway = &storage->runway;
    const ecs_binding* binding = &storage->bindings[template_id];
    const uint32_t range = binding->is_replicated && !world->is_mirror ? 0 : 1;
    BASE_ASSERT(storage->held.count == 0);
    if (ecs_index_available(world, range) == 0) return ECS_ERR_FULL;
    const ecs_entity_list* born = &world->tracker->created;
    if (born->count == born->capacity) ecs_track_reserve(world, 1, 0, 0);
    ecs_chunk* chunk = NULL;
    ecs_result result = ecs_row_reserve(world, binding->archetype, &chunk);
    if (result != ECS_OK) return result;
    if (runway->template_id != template_id) {
        ecs_runway_close(world);
        *runway = (ecs_runway){.template_id = template_id};
    }
    const uint32_t row = ecs_chunk_count(storage, chunk);
    if (runway->chunk != chunk || row == runway->end) extend(runway, chunk, row, binding);
    take_handles(world, range, row);
    runway->rows = &storage->chunk_counts[chunk->id];
    runway->row_count = &chunk->archetype->row_count;
    runway->entities = chunk->entities;
    runway->place = chunk->id << ECS_ROW_BITS;
    runway->lookup = chunk->lookup;
    runway->is_tracked = chunk->archetype->track_count > 0;
    return ECS_OK;
}

void ecs_runway_validate(const ecs_world* world) {
    const ecs_storage* storage = world->storage;
    const ecs_runway* runway = &storage->runway;
    const ecs_entity_list* born = &world->tracker->created;
    if (runway->left == 0) return;
    BASE_ASSERT(runway->chunk && storage->held.count == 0);
    BASE_ASSERT(!runway->chunk->archetype->has_ops && !runway->chunk->archetype->notify);
    const uint32_t row = ecs_chunk_count(storage, runway->chunk);
    BASE_ASSERT(runway->left <= runway->end - row);
    BASE_ASSERT(runway->rows == &storage->chunk_counts[runway->chunk->id]);
    for (uint32_t i = 0; i < runway->left; i++) {
        const ecs_entity handle = runway->entities[row + i];
        BASE_ASSERT(!ecs_is_alive(world, handle) &&
                    born->items[born->count - runway->left + i] == handle);
    }
}
