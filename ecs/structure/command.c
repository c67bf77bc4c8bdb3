// SPDX-License-Identifier: MIT
// Recorded commands applied at a flush point, in the order of recording.
//
// Commands under one header are alike, so they are tried as one run first: creations go through the
// bulk path (transition.c), recreates and destroys column by column, values of one component into
// their cells. The result is that of one by one. A run ends where a command would not simply
// succeed; that one is applied alone, and reports why.
//
// Off, in ns a command: destroys 11 -> 130 (destroy_batch_1m), recreates 5.6 -> 31
// (add_batch_100k), creations 3.8 -> 14 (defer_flush_100k), with values 4.7 -> 24, values of one
// component 9.1 -> 24.
#include "base/assert.h"
#include "ecs/command.h"
#include "ecs/loader.h"
#include "event/event_queue.h"
#include "structure/hierarchy.h"
#include "structure/transition.h"
#include "table/entity.h"

#include <string.h>

// Runs of commands that move or end rows of one archetype, column by column.
//
// One by one, a recreate touches every column of two tables for the row that goes and for the row
// that fills the hole, and each waits for the one before. A run of commands on plain rows of one
// archetype is applied in passes instead: take the entities out of their records, copy whole column
// segments into the target, close all holes of the source at once.
//
// The order of rows decides the bits of the simulation, so it is exactly the order that one by one
// would give. That order can be told without touching data: with n rows and k removals only the
// last k rows ever move, so a walk over small arrays finds who ends up in which hole:
//
//     rows      a b c d | e f g      remove b, f, c: window of k = 3
//     b goes    a g c d | e f        g fills the hole of b
//     f goes    a g c d | e          f was last
//     c goes    a g e d |            e fills the hole of c: two copies in all, g -> 1 and e -> 2
//
// Each survivor of the window is copied once, to a place below the window, so no copy overwrites
// what a later one reads. The first pass writes the records, so an entity that is named twice no
// longer fits the run and ends it; so does whatever would not simply succeed. Where handlers or
// member lists exist there are no runs, since each must see one change at a time. What does not fit
// a run goes the common way (structure/), as do runs too short to pay.
//
// Invariant: nothing is changed before all memory is there.

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

// A run: commands from `first` on, whose rows leave `source`.
typedef struct batch_run {
    const ecs_entity* targets;
    uint32_t most; // commands of its header
    ecs_archetype* source;
    uint32_t first_place; // of its first row
    uint32_t* places;     // where each row was: chunk id and row, as in a record
} batch_run;

// What the passes over commands read again and again, in registers.
typedef struct run_reader {
    ecs_record_page* const* pages;
    const ecs_place* places;
    const ecs_world* world;
    const ecs_entity* targets;
    uint32_t most;
    uint32_t place; // of a row that is known to be of the source
} run_reader;

static run_reader reader_of(const ecs_world* world, const batch_run* run) {
    return (run_reader){.pages = world->storage->pages,
                        .places = world->storage->places,
                        .world = world,
                        .targets = run->targets,
                        .most = run->most,
                        .place = run->first_place};
}

static inline ecs_record* record_at(ecs_record_page* const* pages, ecs_entity entity) {
    const uint32_t index = ecs_entity_index(entity);
    return &pages[index >> ECS_PAGE_BITS]->records[index & (ECS_PAGE_RECORDS - 1)];
}

// The record of the entity of command `i`; NULL when it does not live, or not in the source. Asks
// for records some commands ahead. Those in order need no such request.
static inline __attribute__((always_inline)) ecs_record*
read_record(run_reader* reader, const ecs_archetype* source, uint32_t i, ecs_entity* entity) {
    ecs_entity target = reader->targets[i];
    if (i + RECORD_AHEAD < reader->most) {
        const ecs_entity ahead = reader->targets[i + RECORD_AHEAD];
        if (ahead != target + RECORD_AHEAD) __builtin_prefetch(record_at(reader->pages, ahead), 1);
    }
    if (__builtin_expect(ecs_entity_generation(target) == 0, 0))
        target = ecs_command_resolve(reader->world, target);
    *entity = target;
    ecs_record* record = record_at(reader->pages, target);
    if (record->life != (ecs_entity_generation(target) | ECS_LIFE_CREATED)) return NULL;
    const uint32_t place = record->place;
    if (__builtin_expect((place ^ reader->place) > ECS_ROW_MASK, 0)) {
        if (reader->places[place >> ECS_ROW_BITS].archetype != source) return NULL;
        reader->place = place;
    }
    return record;
}

// Is there a run? Looks at its first commands, and finds the source.
static bool is_run(const ecs_world* world, batch_run* run) {
    if (run->most < RUN_MIN) return false;
    const ecs_record* first =
        ecs_record_find(world->storage, ecs_command_resolve(world, run->targets[0]));
    if (!first) return false;
    run->first_place = first->place;
    run->source = world->storage->places[first->place >> ECS_ROW_BITS].archetype;
    run_reader reader = reader_of(world, run);
    for (uint32_t i = 1; i < RUN_MIN; i++) {
        ecs_entity entity;
        if (!read_record(&reader, run->source, i, &entity)) return false;
    }
    return !run->source->has_ops && !run->source->notify;
}

// Closing holes

// Who fills which hole when the rows go in this order: afterwards places[w] is where row `keep + w`
// goes, or GONE.
static void plan_moves(const uint32_t* rows, uint32_t* occupants, uint32_t* places, uint32_t count,
                       uint32_t keep) {
    BASE_ASSERT(count > 0 && keep > 0);
    for (uint32_t w = 0; w < count; w++) {
        occupants[w] = w;
        places[w] = keep + w;
    }
    for (uint32_t i = 0; i < count; i++) {
        const uint32_t row = rows[i];
        const uint32_t place = row < keep ? row : places[row - keep];
        const uint32_t last = occupants[count - 1 - i];
        places[last] = place;
        if (place >= keep) occupants[place - keep] = last;
        if (row >= keep) places[row - keep] = GONE;
    }
}

static void move_column(const row_move* moves, uint32_t count, uint32_t column, uint32_t size) {
#define MOVE(bytes)                                                                                \
    for (uint32_t i = 0; i < count; i++)                                                           \
    memcpy((uint8_t*)moves[i].to->columns[column] + (size_t)(bytes)*moves[i].to_row,               \
           (uint8_t*)moves[i].from->columns[column] + (size_t)(bytes)*moves[i].from_row, bytes)
    ECS_BY_SIZE(size, MOVE)
#undef MOVE
}

static void move_rows(ecs_world* world, const row_move* moves, uint32_t count) {
    BASE_ASSERT(count <= BLOCK_ROWS);
    if (count == 0) return;
    const ecs_archetype* archetype = moves[0].from->archetype;
    for (uint32_t c = 0; c < ecs_archetype_columns(archetype); c++)
        move_column(moves, count, c, archetype->sizes[c]);
    for (uint32_t i = 0; i < count; i++) {
        ecs_chunk* to = moves[i].to;
        ecs_entity moved = moves[i].from->entities[moves[i].from_row];
        to->entities[moves[i].to_row] = moved;
        ecs_record_mut(world->storage, ecs_entity_index(moved))->place =
            to->id << ECS_ROW_BITS | moves[i].to_row;
        if (archetype->track_count > 0)
            ecs_chunk_move_marks(to, moves[i].to_row, moves[i].from, moves[i].from_row);
    }
}

// Take the rows of the run out, whose cells are no longer created.
static void remove_rows(ecs_world* world, const batch_run* run, uint32_t count) {
    ecs_archetype* archetype = run->source;
    BASE_ASSERT(count > 0 && count <= archetype->row_count);
    // All but the tail have rows_max rows, a power of two: rows are counted through the chunks.
    const uint32_t shift = (uint32_t)__builtin_ctz(archetype->rows_max);
    const uint32_t mask = archetype->rows_max - 1;
    const uint32_t keep = (uint32_t)archetype->row_count - count;
    uint32_t* rows = run->places;
    uint32_t *occupants = rows + run->most, *to = occupants + run->most;
    const bool is_tracked = archetype->track_count > 0;
    for (uint32_t i = 0; i < count && (keep > 0 || is_tracked); i++) {
        ecs_chunk* chunk = world->storage->places[rows[i] >> ECS_ROW_BITS].chunk;
        const uint32_t row = rows[i] & ECS_ROW_MASK;
        if (is_tracked) ecs_chunk_clear_mark(chunk, row);
        rows[i] = chunk->index << shift | row;
    }
    if (keep > 0) plan_moves(rows, occupants, to, count, keep);
    row_move moves[BLOCK_ROWS];
    uint32_t pending = 0;
    for (uint32_t w = 0; w < count && keep > 0; w++) {
        if (to[w] == GONE) continue;
        BASE_ASSERT(to[w] < keep);
        moves[pending++] = (row_move){
            .from = archetype->chunks[(keep + w) >> shift],
            .to = archetype->chunks[to[w] >> shift],
            .from_row = (keep + w) & mask,
            .to_row = to[w] & mask,
        };
        if (pending < BLOCK_ROWS) continue;
        move_rows(world, moves, pending);
        pending = 0;
    }
    move_rows(world, moves, pending);
    ecs_archetype_truncate(world, archetype, keep);
}

// Recreates

// The archetype and template that the rows of a run go to.
typedef struct recreation {
    const ecs_binding* binding;
    ecs_template_id template_id;
    uint32_t index_max;
    const ecs_command* command;
    uint32_t nth; // of the run's first command in its header
} recreation;

// Up to BLOCK_ROWS rows of a run: their entities, and where they were.
typedef struct taken_rows {
    ecs_entity entities[BLOCK_ROWS];
    row_span spans[BLOCK_ROWS];
    uint32_t span_count;
} taken_rows;

// Point the records of the next `room` commands from `done` on at rows from `place` on. @return how
// many fit the run. Apart, so that its loop has the registers for itself.
static __attribute__((noinline)) uint32_t redirect(const ecs_world* world, const batch_run* run,
                                                   const recreation* to, uint32_t done,
                                                   uint32_t room, uint32_t place,
                                                   taken_rows* taken) {
    const ecs_archetype* source = run->source;
    const uint32_t index_max = to->index_max;
    const ecs_template_id template_id = to->template_id;
    uint32_t* old_places = run->places + done;
    run_reader reader = reader_of(world, run);
    reader.targets += done;
    reader.most -= done;
    uint32_t i = 0, spans = 0, next = 0, begin = 0;
    for (; i < room; i++) {
        ecs_entity entity;
        ecs_record* record = read_record(&reader, source, i, &entity);
        if (!record || ecs_entity_index(entity) > index_max) break;
        const uint32_t old = record->place;
        record->place = place + i;
        record->template_id = template_id;
        old_places[i] = old;
        taken->entities[i] = entity;
        // A span ends with its chunk: after its last row comes row 0 of another id. Its count is
        // written once: each row would wait for the store of the one before.
        if (i == 0 || old != next || (old & ECS_ROW_MASK) == 0) {
            if (i > 0) taken->spans[spans - 1].count = i - begin;
            begin = i;
            taken->spans[spans++] = (row_span){world->storage->places[old >> ECS_ROW_BITS].chunk,
                                               old & ECS_ROW_MASK, 0};
        }
        next = old + 1;
    }
    if (i > 0) taken->spans[spans - 1].count = i - begin;
    taken->span_count = spans;
    return i;
}

static void copy_spans(uint8_t* to, uint32_t column, uint32_t size, const row_span* spans,
                       uint32_t span_count, uint32_t count) {
    if (span_count == count) { // no two rows lie together
#define COPY(bytes)                                                                                \
    for (uint32_t i = 0; i < count; i++)                                                           \
    memcpy(to + (size_t)(bytes)*i,                                                                 \
           (const uint8_t*)spans[i].chunk->columns[column] + (size_t)(bytes)*spans[i].row, bytes)
        ECS_BY_SIZE(size, COPY)
#undef COPY
        return;
    }
    for (uint32_t i = 0; i < span_count; i++) {
        const size_t bytes = (size_t)size * spans[i].count;
        memcpy(to, ecs_chunk_cell(spans[i].chunk, column, spans[i].row), bytes);
        to += bytes;
    }
}

// Cells of rows [row, row + count) of the target: what the source has too, else defaults, then the
// commands' values. A shadow starts as its value. The hashes of tracked cells go with them.
static void fill_block(ecs_world* world, const batch_run* run, const recreation* to, uint32_t done,
                       const taken_rows* taken, ecs_chunk* chunk, uint32_t row, uint32_t count) {
    const ecs_archetype *archetype = chunk->archetype, *source = run->source;
    const row_span* spans = taken->spans;
    const uint32_t span_count = taken->span_count;
    for (uint32_t c = 0; c < archetype->column_count; c++) {
        const uint16_t from = source->slots[archetype->columns[c].component];
        uint8_t* cells = ecs_chunk_cell(chunk, c, row);
        if (from == ECS_SLOT_NONE)
            ecs_cells_spread(cells, to->binding->defaults[c], chunk->sizes[c], count);
        else if (chunk->sizes[c] > 0)
            copy_spans(cells, from, chunk->sizes[c], spans, span_count, count);
    }
    for (uint32_t t = 0; t < archetype->track_count; t++) {
        const uint32_t column = archetype->tracked[t];
        memcpy(ecs_chunk_cell(chunk, archetype->column_count + t, row),
               ecs_chunk_cell(chunk, column, row), (size_t)chunk->sizes[column] * count);
    }
    if (to->command->values) {
        const ecs_row_values values = ecs_command_rows(to->command->values, to->nth + done);
        ecs_rows_set(chunk, row, count, &values);
    }
    for (uint32_t i = 0; i < span_count && source->track_count > 0; i++)
        ecs_track_count_rows(world, spans[i].chunk, spans[i].row, spans[i].count, false);
    ecs_track_count_rows(world, chunk, row, count, true);
}

static uint32_t recreate_run(ecs_world* world, batch_run* run, const recreation* to) {
    ecs_archetype* target = to->binding->archetype;
    ecs_entity_list* recreated = &world->tracker->recreated;
    taken_rows taken;
    uint32_t done = 0, room = 0, found = 0;
    for (; done < run->most && found == room; done += found) {
        ecs_chunk* chunk = ecs_archetype_tail(world, target);
        const uint32_t row = ecs_chunk_count(world->storage, chunk);
        room = chunk->capacity - row;
        if (room > run->most - done) room = run->most - done;
        if (room > BLOCK_ROWS) room = BLOCK_ROWS;
        found = redirect(world, run, to, done, room, chunk->id << ECS_ROW_BITS | row, &taken);
        if (found == 0) break;
        (void)ecs_chunk_append(world, chunk, found);
        memcpy(chunk->entities + row, taken.entities, found * sizeof(ecs_entity));
        memcpy(recreated->items + recreated->count, taken.entities, found * sizeof(ecs_entity));
        recreated->count += found;
        fill_block(world, run, to, done, &taken, chunk, row, found);
    }
    return done;
}

// Destroys

// Take the entities out of their records and free their indices. @return how many fit the run.
static uint32_t end_run(ecs_world* world, const batch_run* run) {
    ecs_storage* storage = world->storage;
    const ecs_archetype* source = run->source;
    ecs_entity_list* destroyed = &world->tracker->destroyed;
    ecs_entity* dead = destroyed->items + destroyed->count;
    uint32_t* old_places = run->places;
    const bool has_families = storage->links.component != ECS_COMPONENT_NONE,
               has_held = storage->held.count > 0;
    run_reader reader = reader_of(world, run);
    uint32_t i = 0;
    for (; i < run->most; i++) {
        ecs_entity entity;
        ecs_record* record = read_record(&reader, source, i, &entity);
        if (!record || (has_families && ecs_hierarchy_has_family(world, entity))) break;
        old_places[i] = record->place;
        dead[i] = entity;
        *record = (ecs_record){.life = (uint16_t)ecs_entity_generation(entity)};
        if (has_held) ecs_held_destroyed(world, entity);
        ecs_index_free(world, storage, ecs_entity_index(entity));
    }
    destroyed->count += i;
    storage->entity_count -= i;
    for (uint32_t k = 0; k < i && source->track_count > 0; k++)
        ecs_track_count_row(world, storage->places[old_places[k] >> ECS_ROW_BITS].chunk,
                            old_places[k] & ECS_ROW_MASK, false);
    return i;
}

// Apply the recreates or destroys of header `head` from command `first` on, as far as each would
// simply succeed. The result is that of applying them one by one. A function of its own, so that
// its loops have all registers (inlined: destroy_batch_1m +4.7 % instructions). @return commands
// done.
static __attribute__((noinline)) uint32_t batch_apply(ecs_world* world, uint32_t first,
                                                      uint32_t head) {
    const ecs_commands* commands = world->commands;
    const ecs_command* command = &commands->items[head];
    batch_run run = {.targets = commands->view.targets + first,
                     .most = ecs_command_end(commands, head) - first};
    // Archetypes are numbered in the order of making: a dead entity makes none, so bind comes last.
    if (!is_run(world, &run)) return 0;
    enum { ARRAYS = 3 }; // rows, occupants, places (remove_rows)
    ecs_batch* batch = &world->commands->batch;
    BASE_ARRAY_RESERVE(world->allocator, batch->words, batch->capacity, run.most * ARRAYS);
    run.places = batch->words;
    uint32_t count = 0;
    ecs_structure_check(world);
    if (command->op == ECS_COMMAND_DESTROY) {
        ecs_track_reserve(world, 0, run.most, 0);
        ecs_runway_close(world);
        count = end_run(world, &run);
    } else {
        ecs_binding* binding = NULL;
        const ecs_command_values* values = command->values;
        if (ecs_row_bind(world, command->template_id, &binding) != ECS_OK ||
            binding->archetype == run.source || binding->archetype->has_ops ||
            binding->archetype->notify ||
            (values &&
             (values->has_placeholders ||
              !ecs_row_has_values(world, binding->archetype, values->slots, values->slot_count))) ||
            ecs_archetype_reserve(world, binding->archetype, run.most) != ECS_OK)
            return 0;
        ecs_track_reserve(world, 0, 0, run.most);
        const recreation to = {.binding = binding,
                               .template_id = command->template_id,
                               .index_max = binding->is_replicated && !world->is_mirror
                                                ? world->limits.replicated_index_max
                                                : ECS_INDEX_MAX,
                               .command = command,
                               .nth = first - command->first};
        ecs_runway_close(world);
        count = recreate_run(world, &run, &to);
    }
    if (count > 0) remove_rows(world, &run, count);
    return count;
}

static ecs_result apply(ecs_world* world, const ecs_command* command, uint32_t nth,
                        ecs_entity target) {
    ecs_init inits[ECS_TEMPLATE_COMPONENTS_MAX];
    const uint32_t init_count = ecs_command_init_count(command);
    ecs_command_unpack(world, command, nth, inits);
    if (command->op == ECS_COMMAND_CREATE) {
        return ecs_create(world, command->template_id, inits, init_count,
                          &world->commands->created[ecs_entity_index(target) - 1]);
    }
    ecs_entity entity = ecs_command_resolve(world, target);
    if (!ecs_is_alive(world, entity) && !ecs_loading_is_pending(world, entity))
        return ECS_ERR_STALE;
    switch ((ecs_command_op)command->op) {
    case ECS_COMMAND_DESTROY:
        return ecs_destroy(world, entity);
    case ECS_COMMAND_RECREATE:
        return ecs_recreate(world, entity, command->template_id, inits, init_count);
    case ECS_COMMAND_SET:
        return ecs_set(world, entity, inits[0].component, inits[0].value);
    case ECS_COMMAND_CREATE:
        break;
    }
    return ECS_ERR_UNKNOWN;
}

// All creations from command `first` of a header on. @return commands done: all, or 0 when they do
// not fit as a whole.
static uint32_t apply_creates(ecs_world* world, uint32_t first, uint32_t head) {
    ecs_commands* commands = world->commands;
    const ecs_command* command = &commands->items[head];
    const uint32_t count = ecs_command_end(commands, head) - first;
    const ecs_template_id template_id = command->template_id;
    ecs_binding* binding = NULL;
    if (count < 2 || ecs_row_bind(world, template_id, &binding) != ECS_OK ||
        binding->archetype->notify)
        return 0;
    const ecs_command_values* values = command->values;
    ecs_row_values rows = {0};
    if (values) {
        if (binding->archetype->has_ops || !values->is_plain || values->has_placeholders ||
            !ecs_row_has_values(world, binding->archetype, values->slots, values->slot_count))
            return 0;
        rows = ecs_command_rows(values, first - command->first);
    }
    ecs_entity* created = &commands->created[ecs_entity_index(commands->view.targets[first]) - 1];
    ecs_structure_check(world);
    if (ecs_structure_reserve_many(world, template_id, binding, count) != ECS_OK) return 0;
    ecs_structure_create_many(world, template_id, binding, count, values ? &rows : NULL, created);
    return count;
}

// Values of one component from command `first` of a header on, while the rows are there. Records
// and rows lie anywhere in memory, so both are asked for some commands ahead. @return commands
// done.
static uint32_t apply_sets(ecs_world* world, uint32_t first, uint32_t head) {
    enum { ROW_AHEAD = 10 };
    const ecs_storage* storage = world->storage;
    const ecs_commands* commands = world->commands;
    const ecs_command* command = &commands->items[head];
    const ecs_command_values* values = command->values;
    const uint32_t component = values->slots[0].component, size = values->slots[0].size;
    if (!values->is_plain || values->has_placeholders || component >= storage->slot_count) return 0;
    const ecs_entity* targets = commands->view.targets;
    const uint32_t end = ecs_command_end(commands, head);
    for (uint32_t i = first; i < end; i++) {
        if (i + RECORD_AHEAD < end)
            __builtin_prefetch(ecs_record_at(storage, ecs_entity_index(targets[i + RECORD_AHEAD])));
        const ecs_record* ahead =
            i + ROW_AHEAD < end ? ecs_record_find(storage, targets[i + ROW_AHEAD]) : NULL;
        if (ahead) {
            const ecs_place* place = &storage->places[ahead->place >> ECS_ROW_BITS];
            __builtin_prefetch((uint8_t*)place->chunk + place->slots[component].offset +
                                   (size_t)size * ecs_record_row(ahead),
                               1);
        }
        const ecs_record* record = ecs_record_find(storage, ecs_command_resolve(world, targets[i]));
        if (!record) return i - first;
        const ecs_place* place = &storage->places[record->place >> ECS_ROW_BITS];
        const ecs_slot* slot = &place->slots[component];
        if (slot->column == ECS_SLOT_NONE) return i - first;
        const uint32_t row = ecs_record_row(record);
        if (slot->track != ECS_SLOT_NONE) ecs_chunk_mark_row(place->chunk, slot->track, row);
        ecs_bytes_copy((uint8_t*)place->chunk + slot->offset + (size_t)size * row,
                       ecs_command_value(values, i - command->first, 0), size);
    }
    return end - first;
}

static uint32_t apply_run(ecs_world* world, uint32_t first, uint32_t head) {
    switch ((ecs_command_op)world->commands->items[head].op) {
    case ECS_COMMAND_CREATE:
        return apply_creates(world, first, head);
    case ECS_COMMAND_DESTROY:
    case ECS_COMMAND_RECREATE:
        return batch_apply(world, first, head);
    case ECS_COMMAND_SET:
        return apply_sets(world, first, head);
    }
    return 0;
}

void ecs_commands_apply(ecs_world* world) {
    ecs_commands* commands = world->commands;
    BASE_ASSERT(world->fast.walk_depth == 0 && !commands->is_flushing);
    commands->is_flushing = true;
    if (commands->created)
        memset(commands->created, 0, commands->view.created_count * sizeof *commands->created);
    ecs_commands_close(commands);
    bool is_creates_tried = false; // what did not fit as a whole is not tried again one shorter
    for (uint32_t i = 0, head = 0; i < commands->view.count;) {
        while (ecs_command_end(commands, head) <= i) {
            head++;
            is_creates_tried = false;
        }
        const uint32_t run = is_creates_tried ? 0 : apply_run(world, i, head);
        world->counters.commands_applied += run;
        i += run;
        if (run > 0) continue;
        const ecs_command* command = &commands->items[head];
        is_creates_tried = command->op == ECS_COMMAND_CREATE;
        ecs_result result = apply(world, command, i - command->first, commands->view.targets[i]);
        i++;
        if (result == ECS_OK)
            world->counters.commands_applied++;
        else if (result == ECS_ERR_STALE)
            world->counters.stale_handles++;
        else
            world->counters.commands_refused++;
    }
    ecs_events_resolve(world);
    ecs_commands_clear(world);
    ecs_runway_return(world);
    commands->is_flushing = false;
}

void ecs_command_flush(ecs_world* world) {
    BASE_ASSERT(world->fast.stage_depth == 0 && "inside a stage the flush points apply commands");
    ecs_commands_apply(world);
}
