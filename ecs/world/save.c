// SPDX-License-Identifier: MIT
// Save, restore and the hash of everything.
//
// A save holds what decides the future and nothing else: tick, random state, templates in use, free
// indices and handles, archetypes in order of making, rows in order, values in canonical bytes,
// shadows, queued commands and events. The hash of everything is the hash of these bytes, fed in
// pieces, so it needs no memory for the whole. A value whose type has a hash goes in by that hash.
//
// Rows and archetypes keep their order: systems walk in it, so it decides the bits of the future.
//
// A column stores the shadows first and the values that differ after them. On the way back the
// shadow's value passes through the cell, the shadow is copied from it, and only then the newer
// value is read. So shadows are copies of their values, as types with versions need.
//
// A save does not contain the registration; a hash of it is in the head, and bytes of another
// registration are refused. Templates composed at run time are saved by their parts.
//
//     u32 magic, u32 version, u64 schema hash, u64 tick, u64 x 2 random state,
//     templates, indices, archetypes, commands, events,
//     members that entered and left, when systems have member lists
//
// The way back is in restore.c.
#include "world/save.h"

#include "base/assert.h"
#include "base/hash.h"
#include "ecs/save.h"
#include "event/command_queue.h"
#include "event/event_queue.h"
#include "event/systems.h"
#include "structure/loading.h"
#include "table/entity.h"

#include <string.h>

// Cells of plain data in a save.
//
// The bytes that a block takes follow from its type and its rows. So one thread lays a save out
// from front to back, and workers fill in the blocks, or read them; the bytes are those of one
// thread. What has no such size (texts, lists, values that differ from their shadows) is written
// and read by the thread that lays out.

void ecs_save_blocks_init(ecs_save_blocks* blocks, const ecs_world* world, uint64_t amount,
                          uint64_t least) {
    *blocks = (ecs_save_blocks){.allocator = world->allocator,
                                .workers = base_workers_worth(world->workers, amount, least)};
}

void ecs_save_blocks_deinit(ecs_save_blocks* blocks) {
    BASE_ARRAY_RELEASE(blocks->allocator, blocks->items, blocks->capacity);
}

bool ecs_save_blocks_push(ecs_save_blocks* blocks, const ecs_save_block* block) {
    if (!blocks->workers) return false;
    BASE_ARRAY_RESERVE(blocks->allocator, blocks->items, blocks->capacity, blocks->count + 1);
    blocks->items[blocks->count++] = *block;
    return true;
}

void ecs_save_blocks_run(ecs_save_blocks* blocks, base_work_fn work, void* context) {
    if (blocks->count > 0) base_workers_run(blocks->workers, work, context, blocks->count);
    blocks->count = 0;
}

// Could one of the words be a NaN? Infinite floats and numbers that look alike are suspected too.
static bool may_have_nan(const uint8_t* data, size_t bytes) {
    const uint64_t exponents = UINT64_C(0x7F8000007F800000);
    const uint64_t one = UINT64_C(0x0080000000800000); // carries out of an exponent of ones
    uint64_t sums = 0;
    for (; bytes >= 8; bytes -= 8, data += 8) {
        uint64_t words;
        memcpy(&words, data, 8);
        sums |= (words & exponents) + one;
    }
    uint32_t last = 0;
    memcpy(&last, data, bytes);
    sums |= (last & exponents) + one;
    return (sums & UINT64_C(0x8000000080000000)) != 0;
}

// Canonical bytes of a dense type are its memory, on a little-endian machine and as long as nothing
// in it has a second spelling, as NaN and bool do.
static bool is_canonical(const ecs_type* type, const uint8_t* data, size_t bytes) {
#if defined(__BYTE_ORDER__) && __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
    bool has_floats = false;
    if (!type->is_dense) return false;
    for (uint32_t i = 0; i < type->field_count; i++) {
        const ecs_field_kind kind = type->fields[i].kind;
        if (kind == ECS_FIELD_BOOL || kind == ECS_FIELD_F64) return false;
        has_floats |= kind == ECS_FIELD_F32;
    }
    return !has_floats || !may_have_nan(data, bytes);
#else
    (void)type, (void)data, (void)bytes;
    return false;
#endif
}

// Values of a plain type as canonical bytes.
static void cells_save(const ecs_type* type, const void* cells, uint32_t count, uint8_t* target) {
    const size_t bytes = (size_t)type->size * count;
    if (is_canonical(type, cells, bytes)) {
        memcpy(target, cells, bytes);
        return;
    }
    const size_t each = ecs_type_canonical_bytes(type);
    base_bytes out = {.data = target, .capacity = each * count};
    for (uint32_t i = 0; i < count; i++)
        ecs_type_write(type, (const uint8_t*)cells + (size_t)type->size * i, &out);
    BASE_ASSERT(out.data == target && out.size == out.capacity);
}

bool ecs_cells_restore(const ecs_type* type, void* cells, uint32_t count, const uint8_t* source) {
    const size_t bytes = (size_t)type->size * count;
    if (is_canonical(type, source, bytes)) {
        memcpy(cells, source, bytes);
        return true;
    }
    base_reader reader = base_reader_make(source, (size_t)ecs_type_canonical_bytes(type) * count);
    for (uint32_t i = 0; i < count; i++)
        if (!ecs_type_read(type, NULL, (uint8_t*)cells + (size_t)type->size * i, &reader))
            return false;
    return true;
}

// Writing. With a hasher, finished bytes go there and are forgotten.
typedef struct saver {
    const ecs_world* world;
    base_bytes* bytes;
    base_hasher* hasher;
    ecs_save_blocks blocks; // plain data, which workers fill in
    bool differs;           // they found a value that differs from its shadow without a mark
} saver;

// A hash of everything has the hash of a value whose type has one: its bytes may differ in what
// does not count.
static void write_value(const saver* save, const ecs_type* type, const void* cell) {
    if (save->hasher && type->ops && type->ops->hash)
        base_bytes_write_u64(save->bytes, ecs_type_hash(type, cell, 0));
    else
        ecs_type_write(type, cell, save->bytes);
}

// The command queue as bytes, for saves and for the hash of a whole world.
//
// Components go before values, so that a reader knows how much memory the values take before it
// makes the first one. Placeholders are kept as they are: they name creations of the same queue.

static void write_commands(const saver* save) {
    base_bytes* bytes = save->bytes;
    const ecs_commands* commands = save->world->commands;
    base_bytes_write_varint(bytes, commands->view.created_count);
    base_bytes_write_varint(bytes, commands->view.count);
    for (uint32_t i = 0, head = 0; i < commands->view.count; i++) {
        if (i == ecs_command_end(commands, head)) head++;
        const ecs_command* command = &commands->items[head];
        const ecs_command_values* values = command->values;
        const uint32_t init_count = ecs_command_init_count(command);
        base_bytes_write_u8(bytes, command->op);
        base_bytes_write_varint(bytes, command->system);
        base_bytes_write_varint(bytes, command->job);
        base_bytes_write_u16(bytes, command->template_id);
        base_bytes_write_u32(bytes, commands->view.targets[i]);
        base_bytes_write_varint(bytes, init_count);
        for (uint32_t k = 0; k < init_count; k++)
            base_bytes_write_u16(bytes, values->slots[k].component);
        for (uint32_t k = 0; k < init_count; k++)
            write_value(save, ecs_component_type(save->world, values->slots[k].component),
                        ecs_command_value(values, i - command->first, k));
    }
}

bool ecs_restorer_grow(ecs_restorer* load, const ecs_type* type, uint64_t count) {
    if (!ecs_type_is_plain(type))
        load->grown_bytes += count * (type->box ? type->box->size : type->size);
    return load->grown_bytes <= ECS_RESTORED_BYTES_MAX;
}

// The inits of one command: defaults of their types first, then read over.
static ecs_result read_inits(ecs_restorer* load, ecs_command* command, uint64_t count) {
    ecs_world* world = load->world;
    ecs_component_id components[ECS_TEMPLATE_COMPONENTS_MAX] = {0};
    if (count > ECS_TEMPLATE_COMPONENTS_MAX) return ECS_ERR_MALFORMED;
    for (uint32_t i = 0; i < count; i++) {
        components[i] = base_reader_u16(&load->reader);
        const ecs_type* type = ecs_component_type(world, components[i]);
        if (load->reader.failed || !type) return ECS_ERR_MALFORMED;
        if (!ecs_restorer_grow(load, type, 1)) return ECS_ERR_FULL;
    }
    ecs_command_make_values(world, command, components, (uint32_t)count);
    ecs_type_context context = {world->allocator};
    for (uint32_t i = 0; i < count; i++)
        if (!ecs_type_read(ecs_component_type(world, components[i]), &context,
                           ecs_command_value(command->values, 0, i), &load->reader))
            return ECS_ERR_MALFORMED;
    return ECS_OK;
}

// An entity field of a saved command is a handle, none, or a placeholder of this queue.
static bool is_target_valid(ecs_command_op op, ecs_entity entity, uint64_t created,
                            uint64_t created_count) {
    if (op == ECS_COMMAND_CREATE) return entity == created + 1;
    return !ecs_entity_is_placeholder(entity) || ecs_entity_index(entity) <= created_count;
}

ecs_result ecs_commands_read(ecs_restorer* load) {
    ecs_world* world = load->world;
    base_reader* reader = &load->reader;
    ecs_commands* commands = world->commands;
    BASE_ASSERT(commands->view.count == 0);
    uint64_t created_count = base_reader_varint(reader);
    uint64_t count = base_reader_varint(reader);
    if (reader->failed || created_count > count || count > world->limits.commands_queued_max)
        return ECS_ERR_MALFORMED;
    uint64_t created = 0;
    for (uint64_t i = 0; i < count; i++) {
        uint8_t op = base_reader_u8(reader);
        uint64_t system = base_reader_varint(reader);
        uint64_t job = base_reader_varint(reader);
        uint32_t saved = base_reader_u16(reader);
        ecs_entity entity = base_reader_u32(reader);
        uint64_t init_count = base_reader_varint(reader);
        if (reader->failed || op > ECS_COMMAND_SET || system > UINT32_MAX || job > UINT32_MAX ||
            (op == ECS_COMMAND_SET && init_count != 1) ||
            (op == ECS_COMMAND_DESTROY && init_count != 0) ||
            !is_target_valid((ecs_command_op)op, entity, created, created_count))
            return ECS_ERR_MALFORMED;
        ecs_command* command = ecs_command_push(world, (ecs_command_op)op, entity);
        BASE_ASSERT(command); // the count was checked
        command->system = (uint32_t)system;
        command->job = (uint32_t)job;
        command->template_id = ecs_restorer_template(load, saved);
        if (saved != ECS_TEMPLATE_NONE && command->template_id == ECS_TEMPLATE_NONE)
            return ECS_ERR_MALFORMED;
        if (op == ECS_COMMAND_CREATE) created++;
        ecs_result result = read_inits(load, command, init_count);
        if (result != ECS_OK) return result;
    }
    commands->view.created_count = (uint32_t)created;
    return created == created_count ? ECS_OK : ECS_ERR_MALFORMED;
}

// Entities that wait for resources, as bytes.
//
// Nothing is written when no entity waits: the saved state of handles holds how many do. The state
// of the loader belongs to the process and not to the world: after a restore every resource is
// requested again, unless this process knows it already.
//
//     each: handle, template, values as in commands (components first), parked events

// Saves (save.c): nothing at all in a world where no entity waits.
static void write_loading(const saver* save) {
    base_bytes* bytes = save->bytes;
    const ecs_loading* loading = save->world->loading;
    for (uint32_t at = loading->first; at != 0; at = loading->slots[at - 1].next) {
        const ecs_pending* pending = &loading->slots[at - 1];
        base_bytes_write_u32(bytes, pending->entity);
        base_bytes_write_u16(bytes, pending->template_id);
        base_bytes_write_varint(bytes, pending->value_count);
        for (uint32_t i = 0; i < pending->value_count; i++)
            base_bytes_write_u16(bytes, pending->values[i].component);
        for (uint32_t i = 0; i < pending->value_count; i++)
            write_value(save, ecs_component_type(save->world, pending->values[i].component),
                        pending->values[i].cell);
        base_bytes_write_varint(bytes, pending->parked_count);
        for (uint32_t i = 0; i < pending->parked_bytes;) {
            const ecs_parked_head* head = (const void*)(pending->parked + i);
            base_bytes_write_u16(bytes, head->type);
            ecs_type_write(&save->world->events->kinds[head->type - 1]->type, head + 1, bytes);
            i += ecs_parked_bytes(head->size);
        }
    }
}

static ecs_result read_values(ecs_restorer* load, ecs_pending* pending) {
    ecs_world* world = load->world;
    base_reader* reader = &load->reader;
    ecs_type_context context = {world->allocator};
    ecs_component_id components[ECS_TEMPLATE_COMPONENTS_MAX];
    const ecs_template* template_ = ecs_template_get(world, pending->template_id);
    uint64_t count = base_reader_varint(reader);
    if (reader->failed || count > template_->component_count) return ECS_ERR_MALFORMED;
    for (uint32_t i = 0; i < count; i++) {
        components[i] = base_reader_u16(reader);
        bool is_new = true;
        for (uint32_t k = 0; k < i; k++)
            is_new = is_new && components[k] != components[i];
        if (reader->failed || !is_new || !ecs_template_find_component(template_, components[i]))
            return ECS_ERR_MALFORMED;
    }
    for (uint32_t i = 0; i < count; i++) {
        void* cell = ecs_pending_add_value(world, pending, components[i]);
        if (!ecs_type_read(ecs_component_type(world, components[i]), &context, cell, reader))
            return ECS_ERR_MALFORMED;
    }
    return ECS_OK;
}

ecs_result ecs_restorer_event(ecs_restorer* load, ecs_event_type* type, void* payload) {
    ecs_type_context context = {load->world->allocator};
    *type = base_reader_u16(&load->reader);
    if (load->reader.failed || !ecs_event_is_queued(load->world->events, *type))
        return ECS_ERR_MALFORMED;
    memset(payload, 0, ECS_EVENT_BYTES_MAX);
    const ecs_type* kind = &load->world->events->kinds[*type - 1]->type;
    return ecs_type_read(kind, &context, payload, &load->reader) ? ECS_OK : ECS_ERR_MALFORMED;
}

static ecs_result read_parked(ecs_restorer* load, ecs_pending* pending) {
    ecs_world* world = load->world;
    base_reader* reader = &load->reader;
    uint64_t count = base_reader_varint(reader);
    if (reader->failed || count > world->limits.events_queued_max - world->loading->parked_count)
        return reader->failed ? ECS_ERR_MALFORMED : ECS_ERR_FULL;
    for (uint32_t i = 0; i < count; i++) {
        _Alignas(16) uint8_t payload[ECS_EVENT_BYTES_MAX];
        ecs_event_type type;
        ecs_result result = ecs_restorer_event(load, &type, payload);
        if (result != ECS_OK) return result;
        ecs_pending_park(world, pending, type, payload, world->events->kinds[type - 1]->size);
    }
    return ECS_OK;
}

static ecs_result read_one(ecs_restorer* load) {
    ecs_world* world = load->world;
    ecs_entity entity = base_reader_u32(&load->reader);
    ecs_template_id template_id = ecs_restorer_template(load, base_reader_u16(&load->reader));
    const ecs_held_handle* entry = load->reader.failed ? NULL : ecs_held_find(world, entity);
    if (!entry || entry->pending != ECS_PENDING_AWAITED || template_id == ECS_TEMPLATE_NONE)
        return ECS_ERR_MALFORMED;
    ecs_pending* pending = ecs_pending_add(world, entity, template_id);
    ecs_result result = read_values(load, pending);
    result = result == ECS_OK ? read_parked(load, pending) : result;
    return result == ECS_OK ? ecs_pending_renew(world, pending) : result;
}

ecs_result ecs_loading_read(ecs_restorer* load) {
    ecs_world* world = load->world;
    uint32_t count = world->loading->awaited;
    if (count > world->limits.commands_queued_max) return ECS_ERR_FULL;
    for (uint32_t i = 0; i < count; i++) {
        ecs_result result = read_one(load);
        if (result != ECS_OK) return result;
    }
    world->loading->awaited = 0;
    return ECS_OK;
}

enum {
    DRAIN_BYTES = 64 << 10,
    HEAD_BYTES = sizeof(ecs_entity) + sizeof(ecs_template_id),
    SHARED_ENTITIES_MIN = 4096, // fewer are saved by one thread: waking another costs more
};

static void drain(const saver* save, size_t bytes_min) {
    if (save->hasher && save->bytes->size >= bytes_min) {
        base_hasher_add(save->hasher, save->bytes->data, save->bytes->size);
        base_bytes_clear(save->bytes);
    }
}

static uint64_t hash_quant(uint64_t hash, const ecs_quant* quant) {
    uint64_t words[2];
    memcpy(&words[0], &quant->min, 8);
    memcpy(&words[1], &quant->step, 8);
    hash = base_hash64_mix(hash, words[0]);
    hash = base_hash64_mix(hash, words[1]);
    return base_hash64_mix(hash, quant->bits);
}

static uint64_t hash_template(const ecs_world* world, uint64_t hash,
                              const ecs_template* template_) {
    hash = base_hash64_mix(hash, base_hash64_text(template_->name));
    for (uint32_t i = 0; i < template_->component_count; i++) {
        const ecs_template_component* part = &template_->components[i];
        const ecs_component* component = ecs_component_get(world, part->component);
        hash = base_hash64_mix(hash, component->name_hash);
        hash = base_hash64_mix(hash, part->flags);
        hash = hash_quant(hash, &part->quant);
        hash = ecs_type_hash(ecs_type_get(world, component->type), part->value, hash);
    }
    return hash;
}

uint64_t ecs_schema_hash(const ecs_world* world) {
    uint64_t hash = ECS_SAVE_VERSION;
    for (uint32_t id = 1; id <= ecs_type_count(world); id++) {
        const ecs_type* type = ecs_type_get(world, (ecs_type_id)id);
        hash = base_hash64_mix(hash, base_hash64_text(type->name));
        hash = base_hash64_mix(hash, type->layout_hash);
    }
    for (uint32_t id = 1; id <= ecs_component_count(world); id++) {
        const ecs_component* component = ecs_component_get(world, (ecs_component_id)id);
        hash = base_hash64_mix(hash, base_hash64_mix(component->name_hash, component->type));
    }
    for (uint32_t id = 1; id <= ecs_template_count(world); id++) {
        const ecs_template* template_ = ecs_template_get(world, (ecs_template_id)id);
        if (template_->part_count <= 1) hash = hash_template(world, hash, template_);
    }
    for (uint32_t i = 0; i < world->events->kind_count; i++)
        hash = base_hash64_mix(hash, world->events->kinds[i]->type.layout_hash);
    return base_hash64_mix(hash, world->is_mirror);
}

// The highest template id that the state names. Later ones may be composed or not: no difference.
static uint32_t template_id_max(const ecs_world* world) {
    const ecs_storage* storage = world->storage;
    uint32_t id_max = 0;
    for (uint32_t i = 0; i < storage->archetype_count; i++) {
        uint32_t id = storage->archetypes[i]->made_by;
        id_max = id > id_max ? id : id_max;
    }
    for (uint32_t i = 0; i < ECS_PAGES; i++) {
        const ecs_record_page* page = storage->pages[i];
        for (uint32_t k = 0; page != storage->zero_page && k < ECS_PAGE_RECORDS; k++)
            if (page->records[k].life & ECS_LIFE_CREATED && page->records[k].template_id > id_max)
                id_max = page->records[k].template_id;
    }
    for (uint32_t i = 0; i < world->commands->item_count; i++) {
        uint32_t id = world->commands->items[i].template_id;
        id_max = id > id_max ? id : id_max;
    }
    for (uint32_t i = 0; i < world->loading->slot_count; i++) {
        uint32_t id = world->loading->slots[i].template_id;
        id_max = id > id_max ? id : id_max;
    }
    return id_max;
}

static void write_templates(const saver* save) {
    uint32_t count = template_id_max(save->world);
    base_bytes_write_varint(save->bytes, count);
    for (uint32_t id = 1; id <= count; id++) {
        const ecs_template* template_ = ecs_template_get(save->world, (ecs_template_id)id);
        bool is_composed = template_->part_count > 1;
        base_bytes_write_u8(save->bytes, is_composed ? (uint8_t)template_->part_count : 0);
        for (uint32_t i = 0; i < template_->part_count && is_composed; i++)
            base_bytes_write_u16(save->bytes, template_->parts[i]);
    }
}

static const uint8_t* cells_of(const ecs_save_block* block) {
    return ecs_chunk_cell(block->chunk, block->column, block->first);
}

// Handle and template of each row.
static void put_heads(const ecs_world* world, const ecs_save_block* block, uint8_t* target) {
    const ecs_entity* entities = block->chunk->entities + block->first;
    for (uint32_t i = 0; i < block->count; i++, target += HEAD_BYTES) {
        const uint64_t head = entities[i] | (uint64_t)ecs_entity_template(world, entities[i])
                                                << 8 * sizeof *entities;
        for (uint32_t k = 0; k < HEAD_BYTES; k++)
            target[k] = (uint8_t)(head >> 8 * k);
    }
}

static void put_block(const ecs_world* world, const ecs_save_block* block, uint8_t* target) {
    if (block->type)
        cells_save(block->type, cells_of(block), block->count, target);
    else
        put_heads(world, block, target);
}

// Are the values of these rows those of their shadows?
static bool is_same_rows(const ecs_type* type, const uint8_t* values, const uint8_t* shadows,
                         uint32_t count) {
    const size_t size = type->size;
    if (type->is_dense && ecs_type_is_plain(type) && memcmp(values, shadows, size * count) == 0)
        return true;
    for (uint32_t i = 0; i < count; i++)
        if (!ecs_type_equal(type, values + size * i, shadows + size * i)) return false;
    return true;
}

// A block whose place is reserved, on any thread. Nothing marks a row of it as written.
static void fill_block(void* context, uint32_t item, uint32_t worker) {
    (void)worker;
    saver* save = context;
    const ecs_save_block* block = &save->blocks.items[item];
    put_block(save->world, block, save->bytes->data + block->offset);
    if (block->track == ECS_SLOT_NONE) return;
    const ecs_archetype* archetype = block->chunk->archetype;
    const uint8_t* values =
        ecs_chunk_cell(block->chunk, archetype->tracked[block->track], block->first);
    if (!is_same_rows(block->type, values, cells_of(block), block->count))
        __atomic_store_n(&save->differs, true, __ATOMIC_RELAXED);
}

// Rows of one column of plain data, or with type NULL the heads of the rows: now, or by workers.
static void write_blocks(saver* save, const ecs_save_block* all) {
    const size_t each = all->type ? ecs_type_canonical_bytes(all->type) : HEAD_BYTES;
    ecs_save_block block = *all;
    for (uint32_t left = all->count; left > 0; left -= block.count, block.first += block.count) {
        block.count = left < ECS_BLOCK_ROWS ? left : ECS_BLOCK_ROWS;
        block.offset = save->bytes->size;
        uint8_t* target = base_bytes_extend(save->bytes, each * block.count);
        if (!ecs_save_blocks_push(&save->blocks, &block)) put_block(save->world, &block, target);
        drain(save, DRAIN_BYTES);
    }
}

// The rows of a column of values or shadows. `track`: of a shadow.
static void write_cells(saver* save, const ecs_type* type, const ecs_chunk* chunk, uint32_t column,
                        uint32_t track) {
    const uint32_t count = ecs_chunk_count(save->world->storage, chunk);
    if (ecs_type_is_plain(type)) {
        write_blocks(save, &(ecs_save_block){chunk, type, column, track, 0, count, 0});
        return;
    }
    for (uint32_t row = 0; row < count; row++)
        write_value(save, type, ecs_chunk_cell(chunk, column, row));
    drain(save, DRAIN_BYTES);
}

// Is it left to fill_block to find out whether the values of a column differ from their shadows?
static bool is_left(const saver* save, const ecs_type* type, const ecs_chunk* chunk,
                    uint32_t track) {
    return save->blocks.workers && ecs_type_is_plain(type) && chunk->written[track] == 0 &&
           *ecs_chunk_summary(chunk, track) == 0;
}

// The values, told first; then those that were written since, each with the row's distance to the
// one before, ended by a distance of 0.
static void write_tracked(saver* save, const ecs_archetype* archetype, uint32_t column) {
    const ecs_column* info = &archetype->columns[column];
    uint32_t shadow = archetype->column_count + info->track;
    for (uint32_t k = 0; k < archetype->chunk_count; k++) {
        const ecs_chunk* chunk = archetype->chunks[k];
        const bool is_checked = is_left(save, info->type, chunk, info->track);
        write_cells(save, info->type, chunk, shadow, is_checked ? info->track : ECS_SLOT_NONE);
    }
    uint64_t at = 1;
    uint64_t last = 0;
    for (uint32_t k = 0; k < archetype->chunk_count; k++) {
        const ecs_chunk* chunk = archetype->chunks[k];
        uint32_t count = ecs_chunk_count(save->world->storage, chunk);
        // Most columns of most saves: nothing was written since the last tracking.
        const bool is_same =
            is_left(save, info->type, chunk, info->track) ||
            is_same_rows(info->type, chunk->columns[column], chunk->columns[shadow], count);
        for (uint32_t row = 0; row < count && !is_same; row++) {
            const void* value = ecs_chunk_cell(chunk, column, row);
            if (!ecs_type_equal(info->type, value, ecs_chunk_cell(chunk, shadow, row))) {
                base_bytes_write_varint(save->bytes, at + row - last);
                write_value(save, info->type, value);
                last = at + row;
            }
        }
        at += count;
        drain(save, DRAIN_BYTES);
    }
    base_bytes_write_varint(save->bytes, 0);
}

static void write_archetype(saver* save, const ecs_archetype* archetype) {
    base_bytes_write_u16(save->bytes, archetype->made_by);
    base_bytes_write_varint(save->bytes, archetype->row_count);
    for (uint32_t k = 0; k < archetype->chunk_count; k++) {
        const ecs_chunk* chunk = archetype->chunks[k];
        const uint32_t count = ecs_chunk_count(save->world->storage, chunk);
        write_blocks(save,
                     &(ecs_save_block){.chunk = chunk, .track = ECS_SLOT_NONE, .count = count});
    }
    for (uint32_t column = 0; column < archetype->column_count; column++) {
        if (archetype->columns[column].size == 0) continue;
        if (archetype->columns[column].track != ECS_SLOT_NONE) {
            write_tracked(save, archetype, column);
            continue;
        }
        for (uint32_t k = 0; k < archetype->chunk_count; k++)
            write_cells(save, archetype->columns[column].type, archetype->chunks[k], column,
                        ECS_SLOT_NONE);
    }
}

static void write_events(const saver* save) {
    const ecs_events* events = save->world->events;
    base_bytes_write_varint(save->bytes, ecs_events_count(events));
    ecs_event_walk walk = {.at = events->head};
    for (const uint8_t* payload; (payload = ecs_events_next(events, &walk)) != NULL;) {
        base_bytes_write_u32(save->bytes, ecs_event_target(payload));
        base_bytes_write_u16(save->bytes, (uint16_t)walk.kind->id);
        ecs_type_write(&walk.kind->type, payload, save->bytes);
    }
}

static void write_world(saver* save) {
    const ecs_world* world = save->world;
    base_bytes_write_u32(save->bytes, ECS_SAVE_MAGIC);
    base_bytes_write_u32(save->bytes, ECS_SAVE_VERSION);
    base_bytes_write_u64(save->bytes, ecs_schema_hash(world));
    base_bytes_write_u64(save->bytes, world->tick);
    base_bytes_write_u64(save->bytes, world->rng.state);
    base_bytes_write_u64(save->bytes, world->rng.stream);
    write_templates(save);
    ecs_storage_write_indices(world, save->bytes);
    drain(save, DRAIN_BYTES);
    base_bytes_write_varint(save->bytes, world->storage->archetype_count);
    for (uint32_t i = 0; i < world->storage->archetype_count; i++)
        write_archetype(save, world->storage->archetypes[i]);
    write_commands(save);
    write_events(save);
    write_loading(save);
    ecs_membership_write(world, save->bytes);
}

void ecs_world_save(const ecs_world* world, base_bytes* bytes) {
    BASE_ASSERT(world->is_sealed && world->fast.stage_depth == 0);
    const size_t begin = bytes->size;
    saver save = {.world = world, .bytes = bytes};
    ecs_save_blocks_init(&save.blocks, world, ecs_world_entity_count(world), SHARED_ENTITIES_MIN);
    write_world(&save);
    ecs_save_blocks_run(&save.blocks, fill_block, &save);
    ecs_save_blocks_deinit(&save.blocks);
    if (save.differs) { // a write that tracking did not see: by one thread, which compares all
        bytes->size = begin;
        save.blocks.workers = NULL;
        write_world(&save);
    }
}

uint64_t ecs_world_hash(const ecs_world* world) {
    BASE_ASSERT(world->is_sealed && world->fast.stage_depth == 0);
    base_hasher hasher;
    base_hasher_init(&hasher, 0);
    saver save = {.world = world, .bytes = world->tracker->scratch, .hasher = &hasher};
    base_bytes_clear(save.bytes);
    write_world(&save);
    drain(&save, 0);
    return base_hasher_end(&hasher);
}
