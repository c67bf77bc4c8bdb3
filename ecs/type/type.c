// SPDX-License-Identifier: MIT
// The registry of types. A description is checked once and copied, with its fields sorted by
// offset. After that all code may rely on it: fields lie inside the struct, do not overlap and are
// aligned; names are short and valid. The arrays are allocated at their limit, so pointers into
// them stay valid.
//
// Types are registered by game modules, which are loaded at run time. So the checks return
// ECS_ERR_TYPE and do not assert: `shoal-server check` reports what is wrong with a module.
#include "type/type_registry.h"

#include "base/assert.h"
#include "base/hash.h"
#include "base/text.h"
#include "ecs/limits.h"
#include "ecs/result.h"
#include "type/world.h"

#include <math.h>
#include <string.h>

// Advice of results, from the list in ecs/result.h, and the default limits.

const char* ecs_result_text(ecs_result result) {
    switch (result) { ECS_RESULT_LIST(BASE_CASE_TEXT) }
    return "no such result";
}

ecs_limits ecs_limits_default(void) {
    return (ecs_limits){
        .replicated_index_max = 65535,
        .local_entities_max = 1048576,
        .events_per_flush_max = 65536,
        .events_queued_max = 65536,
        .commands_queued_max = 65536,
    };
}

// Pools of boxed objects. The address of an object decides nothing: no code orders by it, so pools
// may reuse memory in any order.

enum { FIRST_SLAB_BYTES = 4096, FIRST_SLAB_OBJECTS = 64 };

// `ops` must outlive the box.
static ecs_box* box_create(const base_allocator* allocator, const ecs_type_ops* ops, uint32_t size,
                           uint32_t align) {
    BASE_ASSERT(size > 0 && align > 0 && (align & (align - 1)) == 0);
    ecs_box* box = base_allocate_zero(allocator, sizeof *box);
    box->allocator = allocator;
    box->ops = ops;
    box->size = size;
    box->stride = (size + align - 1) & ~(align - 1);
    atomic_flag_clear(&box->lock);
    return box;
}

// Destroy the objects of the pool. Every one was returned (asserted). NULL is accepted.
static void box_destroy(ecs_box* box) {
    if (!box) return;
    BASE_ASSERT(box->live == 0);
    ecs_type_context context = {box->allocator};
    for (uint32_t i = 0; ecs_box_keeps_objects(box) && i < box->free_count; i++)
        box->ops->destroy(&context, box->free[i]);
}

static void lock(ecs_box* box) {
    while (atomic_flag_test_and_set_explicit(&box->lock, memory_order_acquire)) {
    }
}

static void unlock(ecs_box* box) {
    atomic_flag_clear_explicit(&box->lock, memory_order_release);
}

// Add a slab, and room in `free` for all its objects.
static void grow(ecs_box* box) {
    BASE_ASSERT(box->room <= box->free_capacity || box->room == 0);
    BASE_ASSERT(box->slab_count < ECS_BOX_SLABS_MAX);
    uint32_t first = FIRST_SLAB_BYTES / box->stride;
    if (first < 1) first = 1;
    if (first > FIRST_SLAB_OBJECTS) first = FIRST_SLAB_OBJECTS;
    uint32_t count = box->slab_count ? box->slabs[box->slab_count - 1].count * 2 : first;
    if (count > (1u << 24)) count = 1u << 24;
    BASE_ARRAY_RESERVE(box->allocator, box->free, box->free_capacity, box->room + count);
    uint8_t* memory = base_allocate(box->allocator, (size_t)count * box->stride);
    box->slabs[box->slab_count++] = (ecs_box_slab){memory, count};
    box->fresh = 0;
    box->room += count;
}

void* ecs_box_take(ecs_box* box, bool* is_made) {
    BASE_ASSERT(box && is_made);
    void* memory = NULL;
    *is_made = false;
    lock(box);
    if (box->free_count) {
        memory = box->free[--box->free_count];
        *is_made = ecs_box_keeps_objects(box);
    } else {
        if (!box->slab_count || box->fresh == box->slabs[box->slab_count - 1].count) grow(box);
        memory = box->slabs[box->slab_count - 1].memory + (size_t)box->stride * box->fresh++;
    }
    box->live++;
    unlock(box);
    return memory;
}

void ecs_box_return(ecs_box* box, void* memory) {
    BASE_ASSERT(box && memory);
    lock(box);
    BASE_ASSERT(box->live > 0 && box->free_count < box->free_capacity);
    box->free[box->free_count++] = memory;
    box->live--;
    unlock(box);
}

const uint8_t ecs_field_kind_table[ECS_FIELD_KIND_COUNT] = {
    [ECS_FIELD_BOOL] = 1, [ECS_FIELD_I8] = 1,  [ECS_FIELD_I16] = 2, [ECS_FIELD_I32] = 4,
    [ECS_FIELD_I64] = 8,  [ECS_FIELD_U8] = 1,  [ECS_FIELD_U16] = 2, [ECS_FIELD_U32] = 4,
    [ECS_FIELD_U64] = 8,  [ECS_FIELD_F32] = 4, [ECS_FIELD_F64] = 8, [ECS_FIELD_ENTITY] = 4,
};

const char* ecs_field_kind_name(ecs_field_kind kind) {
    static const char* const names[] = {"bool", "i8",  "i16", "i32", "i64", "u8",
                                        "u16",  "u32", "u64", "f32", "f64", "entity"};
    _Static_assert(BASE_COUNT(names) == ECS_FIELD_KIND_COUNT, "name the new kind");
    BASE_ASSERT(kind < ECS_FIELD_KIND_COUNT);
    return names[kind];
}

uint32_t ecs_field_kind_bytes(ecs_field_kind kind) {
    BASE_ASSERT((unsigned)kind < ECS_FIELD_KIND_COUNT);
    return ecs_field_kind_table[kind];
}

bool ecs_name_is_valid(const char* name) {
    size_t size = 0;
    for (; name[size]; size++) {
        char c = name[size];
        bool is_word = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
        if (!is_word && c != '_' && c != '.' && c != '-') return false;
        if (size + 1 >= ECS_NAME_BYTES_MAX) return false;
    }
    return size > 0;
}

bool ecs_quant_is_valid(const ecs_quant* quant, ecs_field_kind kind) {
    BASE_ASSERT(quant);
    if (quant->bits == 0) return true;
    if (kind == ECS_FIELD_BOOL || kind == ECS_FIELD_ENTITY) return false;
    uint32_t bits = 8 * ecs_field_kind_bytes(kind);
    if (quant->bits > 32 || quant->bits > bits) return false;
    if (!isfinite(quant->min) || !isfinite(quant->step) || !(quant->step > 0)) return false;
    if (ecs_field_kind_is_real(kind)) {
        double top = quant->min + quant->step * (double)((UINT64_C(1) << quant->bits) - 1);
        double limit = kind == ECS_FIELD_F32 ? 3.402823466e38 : 1.7976931348623157e308;
        return quant->min >= -limit && top <= limit;
    }
    // Integers: whole numbers, and the smallest one is a value of the kind.
    if (quant->step != 1) return false;
    bool is_signed = kind >= ECS_FIELD_I8 && kind <= ECS_FIELD_I64;
    double high =
        is_signed ? (double)(UINT64_C(1) << (bits - 1)) : 2 * (double)(UINT64_C(1) << (bits - 1));
    double low = is_signed ? -high : 0;
    if (quant->min < low || quant->min >= high) return false;
    return quant->min < 0 ? (double)(int64_t)quant->min == quant->min
                          : (double)(uint64_t)quant->min == quant->min;
}

static bool field_is_valid(const ecs_field* field, uint32_t struct_bytes) {
    if (!field->name || !ecs_name_is_valid(field->name)) return false;
    if ((unsigned)field->kind >= ECS_FIELD_KIND_COUNT || field->count == 0) return false;
    uint32_t bytes = ecs_field_kind_bytes(field->kind);
    if (field->offset % bytes != 0 || field->offset > struct_bytes) return false;
    if (field->count > (struct_bytes - field->offset) / bytes) return false;
    return ecs_quant_is_valid(&field->quant, field->kind);
}

// @return why the functions are refused; NULL when they are right.
static const char* ops_fault(const ecs_type_desc* desc, uint32_t flags) {
    const ecs_type_ops* ops = desc->ops;
    if (!ops) return NULL;
    if (!ops->create || !ops->destroy) return "functions need at least create and destroy";
    if (!ops->write != !ops->read) return "write and read come together";
    if (ops->reset && !(flags & ECS_TYPE_BOXED)) return "reset is for boxed types";
    return NULL;
}

static const char* fields_fault(const ecs_type_desc* desc) {
    if (desc->field_count > ECS_FIELDS_MAX) return "it has more than ECS_FIELDS_MAX fields";
    for (uint32_t i = 0; i < desc->field_count; i++) {
        if (!field_is_valid(&desc->fields[i], desc->size)) return "a field makes no sense";
        for (uint32_t j = 0; j < i; j++)
            if (strcmp(desc->fields[i].name, desc->fields[j].name) == 0)
                return "two fields have the same name";
    }
    return NULL;
}

// @return why a description is refused; NULL when it is right.
static const char* desc_fault(const ecs_type_desc* desc, uint32_t flags) {
    if (!ecs_name_is_valid(desc->name)) return "its name is not valid";
    const char* fault = ops_fault(desc, flags);
    if (fault) return fault;
    bool is_boxed = flags & ECS_TYPE_BOXED;
    if (flags & ~(uint32_t)ECS_TYPE_BOXED) return "it has an unknown flag";
    if (!is_boxed && desc->size > ECS_TYPE_BYTES_MAX)
        return "it is larger than 65536 bytes: register it boxed (ECS_TYPE_BOXED)";
    if (is_boxed && desc->size > ECS_BOXED_BYTES_MAX) return "it is larger than 16 MiB";
    if (desc->size == 0 && (desc->field_count > 0 || desc->ops || is_boxed))
        return "a tag (size 0) has no fields, no functions and no box";
    if (desc->size == 0) return NULL;
    if (desc->field_count == 0 && !desc->ops) return "it has neither fields nor functions";
    if (desc->align == 0 || desc->align > 64 || (desc->align & (desc->align - 1)) != 0)
        return "its alignment is not a power of two up to 64";
    return desc->size % desc->align != 0 ? "its size is not a multiple of its alignment" : NULL;
}

// Copy fields by rising offset, with their names after them, in one block.
static ecs_field* copy_fields(const base_allocator* allocator, const ecs_type_desc* desc) {
    ecs_field* fields =
        base_allocate_zero(allocator, desc->field_count * (sizeof(ecs_field) + ECS_NAME_BYTES_MAX));
    char* names = (char*)(fields + desc->field_count);
    for (uint32_t i = 0; i < desc->field_count; i++) {
        ecs_field field = desc->fields[i];
        (void)base_text_copy(names, ECS_NAME_BYTES_MAX, field.name);
        field.name = names;
        names += ECS_NAME_BYTES_MAX;
        uint32_t at = i;
        for (; at > 0 && fields[at - 1].offset > field.offset; at--)
            fields[at] = fields[at - 1];
        fields[at] = field;
    }
    return fields;
}

// Without sizes and offsets: canonical bytes have none, and a world of another machine has others.
uint64_t ecs_fields_hash(uint64_t hash, const ecs_field* fields, uint32_t count) {
    for (uint32_t i = 0; i < count; i++) {
        hash = base_hash64_mix(hash, base_hash64_text(fields[i].name));
        hash = base_hash64_mix(hash, (uint64_t)fields[i].kind << 32 | fields[i].count);
    }
    return hash;
}

static ecs_result refuse_type(const base_reporter* reporter, const ecs_type_desc* desc,
                              const char* fault) {
    base_report(reporter, NULL, 0, "type '%.80s' is refused: %s", desc->name, fault);
    return ECS_ERR_TYPE;
}

ecs_result ecs_type_register(ecs_world* world, const ecs_type_desc* desc, ecs_type_id* id) {
    return ecs_type_register_as(world, desc, 0, NULL, id);
}

// The functions of a boxed type without any: storage must not treat it as plain data.
static const ecs_type_ops boxed_plain_ops = {0};

// Check that sorted fields do not overlap. *is_dense becomes false when there are bytes between
// them.
static bool are_apart(const ecs_field* fields, const ecs_type_desc* desc, bool* is_dense) {
    uint32_t end = 0;
    for (uint32_t i = 0; i < desc->field_count; i++) {
        if (fields[i].offset < end) return false;
        *is_dense = *is_dense && fields[i].offset == end;
        end = fields[i].offset + fields[i].count * ecs_field_kind_bytes(fields[i].kind);
    }
    *is_dense = *is_dense && end == desc->size;
    return true;
}

const char* ecs_type_make(ecs_world* world, const ecs_type_desc* desc, ecs_type* type) {
    bool is_dense = true;
    const char* fault = fields_fault(desc);
    if (fault) return fault;
    const ecs_field* fields = desc->field_count ? copy_fields(world->allocator, desc) : NULL;
    if (!are_apart(fields, desc, &is_dense)) return "two fields overlap";
    *type =
        (ecs_type){.size = desc->size,
                   .align = desc->size ? desc->align : 1,
                   .field_count = desc->field_count,
                   .fields = fields,
                   .is_dense = is_dense && !desc->ops,
                   .object_size = desc->size,
                   .layout_hash = ecs_fields_hash(desc->field_count, fields, desc->field_count)};
    (void)base_text_copy(type->name, sizeof type->name, desc->name);
    return NULL;
}

ecs_result ecs_type_add(ecs_world* world, const ecs_type_desc* desc, uint32_t flags,
                        const base_reporter* reporter, ecs_type_id* id) {
    BASE_ASSERT(world->types->type_count < ECS_TYPES_MAX);
    ecs_types* types = world->types;
    const bool is_boxed = flags & ECS_TYPE_BOXED;
    ecs_type** page = &types->type_pages[types->type_count / ECS_TYPE_PAGE];
    if (!*page) *page = base_allocate(world->allocator, ECS_TYPE_PAGE * sizeof **page);
    ecs_type* type = &(*page)[types->type_count % ECS_TYPE_PAGE];
    const char* fault = ecs_type_make(world, desc, type);
    if (fault) return refuse_type(reporter, desc, fault);
    type->id = (ecs_type_id)++types->type_count;
    type->ops = is_boxed && !desc->ops ? &boxed_plain_ops : desc->ops;
    type->hash = desc->ops ? desc->ops->hash : NULL;
    if (is_boxed) {
        type->box = box_create(world->allocator, desc->ops, desc->size, desc->align);
        type->size = (uint32_t)sizeof(void*);
        type->align = _Alignof(void*);
    }
    if (id) *id = type->id;
    return ECS_OK;
}

ecs_result ecs_type_register_as(ecs_world* world, const ecs_type_desc* desc, uint32_t flags,
                                const base_reporter* reporter, ecs_type_id* id) {
    BASE_ASSERT(world && desc && desc->name);
    BASE_ASSERT(desc->field_count == 0 || desc->fields);
    if (id) *id = ECS_TYPE_NONE;
    if (world->is_sealed) return ECS_ERR_SEALED;
    const char* fault = desc_fault(desc, flags);
    if (fault) return refuse_type(reporter, desc, fault);
    if (ecs_type_find(world, desc->name) != ECS_TYPE_NONE) return ECS_ERR_DUPLICATE;
    if (world->types->type_count == ECS_TYPES_MAX) return ECS_FULL(world, ECS_TYPES_MAX);
    return ecs_type_add(world, desc, flags, reporter, id);
}

ecs_type_id ecs_type_find(const ecs_world* world, const char* name) {
    BASE_ASSERT(name);
    const ecs_types* types = world->types;
    for (uint32_t id = 1; id <= types->type_count; id++)
        if (strcmp(ecs_type_at(types, id)->name, name) == 0) return (ecs_type_id)id;
    return ECS_TYPE_NONE;
}

const ecs_type* ecs_type_get(const ecs_world* world, ecs_type_id id) {
    if (id == ECS_TYPE_NONE || id > world->types->type_count) return NULL;
    return ecs_type_at(world->types, id);
}

uint32_t ecs_type_count(const ecs_world* world) {
    return world->types->type_count;
}

void ecs_types_deinit(ecs_world* world) {
    for (uint32_t id = 1; id <= world->types->type_count; id++)
        box_destroy(ecs_type_at(world->types, id)->box);
}

// Names of components. A name has one type in a world, for templates, systems and modules alike.
// Ids follow the order of registration, so the same files give the same ids on every machine.

ecs_component_id ecs_component_seek(const ecs_world* world, const char* name, uint64_t name_hash) {
    BASE_ASSERT(name);
    uint32_t cursor = 0;
    for (;;) {
        uint32_t id = base_table_next(&world->types->component_names, name_hash, &cursor);
        if (id == BASE_TABLE_NONE) return ECS_COMPONENT_NONE;
        if (strcmp(ecs_component_at(world->types, id)->name, name) == 0)
            return (ecs_component_id)id;
    }
}

ecs_result ecs_component_register(ecs_world* world, const char* name, ecs_type_id type,
                                  ecs_component_id* id) {
    BASE_ASSERT(world && name);
    if (id) *id = ECS_COMPONENT_NONE;
    if (world->is_sealed) return ECS_ERR_SEALED;
    if (!ecs_type_get(world, type) || !ecs_name_is_valid(name)) return ECS_ERR_UNKNOWN;
    ecs_types* types = world->types;
    uint64_t hash = base_hash64_text(name);
    ecs_component_id found = ecs_component_seek(world, name, hash);
    if (found != ECS_COMPONENT_NONE) {
        if (ecs_component_at(types, found)->type != type) return ECS_ERR_TYPE;
        if (id) *id = found;
        return ECS_OK;
    }
    if (types->component_count == ECS_COMPONENTS_MAX) return ECS_FULL(world, ECS_COMPONENTS_MAX);
    ecs_component** page = &types->component_pages[types->component_count / ECS_TYPE_PAGE];
    if (!*page) *page = base_allocate(world->allocator, ECS_TYPE_PAGE * sizeof **page);
    base_table_reserve(&types->component_names, world->allocator, types->component_count + 1);
    ecs_component* component = ecs_component_at(types, ++types->component_count);
    *component = (ecs_component){
        .id = (ecs_component_id)types->component_count, .type = type, .name_hash = hash};
    (void)base_text_copy(component->name, sizeof component->name, name);
    base_table_add(&types->component_names, hash, component->id);
    if (id) *id = component->id;
    return ECS_OK;
}

const char* ecs_component_hint(const ecs_world* world, const char* name,
                               char hint[BASE_HINT_BYTES]) {
    base_nearest nearest = base_nearest_begin(name);
    for (uint32_t id = 1; id <= ecs_component_count(world); id++)
        base_nearest_offer(&nearest, ecs_component_get(world, (ecs_component_id)id)->name);
    return base_nearest_hint(&nearest, hint);
}

ecs_component_id ecs_component_find(ecs_world* world, const char* name) {
    BASE_ASSERT(world && name);
    world->counters.name_lookups++;
    return ecs_component_seek(world, name, base_hash64_text(name));
}

const ecs_component* ecs_component_get(const ecs_world* world, ecs_component_id id) {
    if (id == ECS_COMPONENT_NONE || id > world->types->component_count) return NULL;
    return ecs_component_at(world->types, id);
}

uint32_t ecs_component_count(const ecs_world* world) {
    return world->types->component_count;
}
