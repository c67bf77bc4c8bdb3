// SPDX-License-Identifier: MIT
/// Component types: size, field table, and (for types that own memory) a table of functions.
///
/// The datablock's own types (b i i64 u8 u16 u32 u64 r p2 p3 p4 ip2 ip3 ip4 c m t eid tag, list<T> of
/// each of them but tag, array, object) exist in every world; a module registers C structs beside them.
/// Both kinds look the same to templates, tracking, replication, logs and dumps: they see fields.
#pragma once

#include "base/report.h"
#include "ecs/entity.h"
#include "ecs/limits.h"
#include "ecs/result.h"
#include "ecs/value.h"

typedef struct ecs_world ecs_world;
typedef uint16_t ecs_type_id;
#define ECS_TYPE_NONE 0u

typedef enum ecs_field_kind {
    ECS_FIELD_BOOL, ///< one byte, 0 or 1
    ECS_FIELD_I8,
    ECS_FIELD_I16,
    ECS_FIELD_I32,
    ECS_FIELD_I64,
    ECS_FIELD_U8,
    ECS_FIELD_U16,
    ECS_FIELD_U32,
    ECS_FIELD_U64,
    ECS_FIELD_F32,
    ECS_FIELD_F64,
    ECS_FIELD_ENTITY, ///< ecs_entity
    ECS_FIELD_KIND_COUNT,
} ecs_field_kind;

/// How a field is rounded for the wire. Zero means exact: all bits of its kind.
/// With bits > 0 the wire holds q in [0, 2^bits - 1] and the value is min + q * step; values outside
/// the range are clamped. For integers step is 1.
typedef struct ecs_quant {
    double min;
    double step;  ///< > 0 when bits > 0
    uint8_t bits; ///< 0 (exact) or 1..32
} ecs_quant;

typedef struct ecs_field {
    const char* name;
    uint32_t offset; ///< offsetof
    ecs_field_kind kind;
    uint32_t count; ///< elements of an inline array; 1 for a scalar
    ecs_quant quant;
} ecs_field;

/// Bytes of one element of a kind: 1, 2, 4 or 8.
uint32_t ecs_field_kind_bytes(ecs_field_kind kind);

/// What functions of a type may use.
typedef struct ecs_type_context {
    const base_allocator* allocator;
} ecs_type_context;

/// What a value may need before its entity can live: a model, a sound, a level.
typedef struct ecs_resource {
    char kind[ECS_RESOURCE_KIND_BYTES_MAX]; ///< "mesh"; may be empty
    char name[ECS_RESOURCE_NAME_BYTES_MAX]; ///< "cube.glb"; empty: none
} ecs_resource;

/// Functions of a type that is more than plain bytes. Only create and destroy are required, the others
/// have defaults made of fields; a type without a table is plain data. A type is relocatable (memcpy
/// moves it) unless `move` is given. Of a boxed type they are given the object, not the cell.
typedef struct ecs_type_ops {
    void (*create)(const ecs_type_context* context, void* value);
    void (*destroy)(const ecs_type_context* context, void* value);
    /// Make `target` (uncreated memory) a copy. @return false when memory ran out.
    bool (*copy)(const ecs_type_context* context, void* target, const void* source);
    bool (*equal)(const void* a, const void* b);
    /// Make `target` (a created value) equal to `source`. @return false when memory ran out.
    bool (*assign)(const ecs_type_context* context, void* target, const void* source);
    void (*move)(const ecs_type_context* context, void* target, void* source);
    /// Compare and assign in one: make `shadow` equal to `current`. @return true when they differed.
    bool (*replicate_compare)(const ecs_type_context* context, void* shadow, const void* current);
    /// Canonical bytes: what is hashed, saved and sent.
    void (*write)(const void* value, base_bytes* bytes);
    /// The mirror of write; `value` stays created. @return false on damaged bytes, then it sets
    /// reader->failed, or when memory ran out, then it does not.
    bool (*read)(const ecs_type_context* context, void* value, base_reader* reader);
    /// Boxed types only: the object goes back to its pool and will be handed out again as it is, so make
    /// it what `create` makes; it may keep the memory it owns. Without it: destroyed, and created again.
    void (*reset)(const ecs_type_context* context, void* value);
    /// A number that another one follows with every change; `copy` and `replicate_compare` carry it over,
    /// `read` draws one that differs when the bytes do. Equal numbers spare the compare of values.
    uint64_t (*version)(const void* value);
    /// Resources that a value needs (loader.h): fill `resources`, zeroed, `capacity` at most.
    /// @return how many it needs; more than `capacity`: the creation is ECS_ERR_FULL.
    uint32_t (*request)(const void* value, ecs_resource* resources, uint32_t capacity);
} ecs_type_ops;

typedef enum ecs_type_flag {
    /// Objects live in a pool of the type and never move; a column holds pointers to them. Systems see
    /// `T* const*`, ecs_get gives `T* const*`, and values to create or set with are given as `T* const*`
    /// and copied. For what others point at, and for what is too large to lie in columns.
    ECS_TYPE_BOXED = 1u << 0,
} ecs_type_flag;

typedef struct ecs_type_desc {
    const char* name;        ///< "RigidBody"; copied
    uint32_t size;           ///< sizeof; 0 for a tag
    uint32_t align;          ///< _Alignof, at most 64
    const ecs_field* fields; ///< copied; may be empty only with ops or for a tag
    uint32_t field_count;
    const ecs_type_ops* ops; ///< NULL for plain data; must outlive the world
} ecs_type_desc;

/// What the world knows of a type. Borrowed, valid while the world lives.
typedef struct ecs_type {
    char name[ECS_NAME_BYTES_MAX];
    ecs_type_id id;
    uint32_t size, align; ///< of a cell: a boxed type's is a pointer
    uint32_t field_count;
    const ecs_field* fields; ///< rising offset; of a boxed type: in the object
    const ecs_type_ops* ops; ///< NULL: plain data. Never NULL for a boxed type
    bool is_dense;           ///< fields cover every byte: memcmp tells equality
    uint64_t layout_hash;    ///< names, kinds, counts and offsets of fields
    uint32_t object_size;    ///< sizeof of what was registered
    struct ecs_box* box;     ///< a boxed type's pool; NULL: values lie in the column
    /// Private: a faster hash of the canonical bytes; NULL: they are written and hashed.
    uint64_t (*hash)(const void* value, uint64_t seed);
} ecs_type;

/// What a cell stands for: itself, or the object that it points at.
static inline const void* ecs_type_object(const ecs_type* type, const void* cell) {
    return type->box ? *(void* const*)cell : cell;
}
static inline void* ecs_type_object_mut(const ecs_type* type, void* cell) {
    return type->box ? *(void**)cell : cell;
}

/// It has functions, lies in its column, and its canonical bytes can be read back: such a value is
/// replicated as a whole, where plain data is by its fields. Others cannot be.
static inline bool ecs_type_is_varsize(const ecs_type* type) {
    if (!type->ops || type->box) return false;
    return type->ops->write || type->field_count > 0;
}

/// Register a struct type.
/// @return ECS_OK; ECS_ERR_DUPLICATE (a built-in or registered name); ECS_ERR_FULL; ECS_ERR_TYPE
///         (size over ECS_TYPE_BYTES_MAX, of a boxed type ECS_BOXED_BYTES_MAX; a field outside the
///         struct or overlapping another, bits or step of a quantisation out of range, ops without create
///         or destroy); ECS_ERR_SEALED; ECS_ERR_MEMORY.
BASE_MUST_USE ecs_result ecs_type_register(ecs_world* world, const ecs_type_desc* desc,
                                           ecs_type_id* id);
/// The same with flags (ecs_type_flag) and somebody who is told why a description is refused (NULL:
/// nobody).
BASE_MUST_USE ecs_result ecs_type_register_as(ecs_world* world, const ecs_type_desc* desc,
                                              uint32_t flags, const base_reporter* reporter,
                                              ecs_type_id* id);
/// ECS_TYPE_NONE when there is none.
ecs_type_id ecs_type_find(const ecs_world* world, const char* name);
/// NULL for an unknown id.
const ecs_type* ecs_type_get(const ecs_world* world, ecs_type_id id);
uint32_t ecs_type_count(const ecs_world* world); ///< ids run 1..count

/// Fold one value into canonical bytes: fields in order, little-endian, NaN canonical, -0 kept; types
/// with ops use their write. The same on every machine, never struct padding.
void ecs_type_write(const ecs_type* type, const void* value, base_bytes* bytes);
/// Mirror of ecs_type_write into a created (or zeroed plain) value.
/// @return false on damaged bytes (reader->failed is set) or when memory ran out (it is not).
BASE_MUST_USE bool ecs_type_read(const ecs_type* type, const ecs_type_context* context, void* value,
                                 base_reader* reader);
/// Hash of the canonical bytes, without building them for plain types.
uint64_t ecs_type_hash(const ecs_type* type, const void* value, uint64_t seed);
/// Equality at full precision, by fields (NaN equals NaN of any payload, 0 differs from -0).
bool ecs_type_equal(const ecs_type* type, const void* a, const void* b);
/// The value as text "330,-550" into a fixed buffer; false when it was cut.
bool ecs_type_format(const ecs_type* type, const void* value, char* target, size_t target_bytes);

/// Components are (name, type) pairs. Datablock files register them by use; a module may beforehand.
typedef uint16_t ecs_component_id;
#define ECS_COMPONENT_NONE 0u

typedef struct ecs_component {
    char name[ECS_NAME_BYTES_MAX];
    ecs_component_id id;
    ecs_type_id type;
    uint64_t name_hash; ///< base_hash64_text(name)
} ecs_component;

/// @return ECS_OK also when the same pair exists (same id); ECS_ERR_TYPE when the name has another
///         type; ECS_ERR_UNKNOWN for an unknown type; ECS_ERR_FULL; ECS_ERR_SEALED.
BASE_MUST_USE ecs_result ecs_component_register(ecs_world* world, const char* name,
                                                ecs_type_id type, ecs_component_id* id);
/// Look a name up. Counted (ecs_counters.name_lookups): do it at registration, never in a tick.
ecs_component_id ecs_component_find(ecs_world* world, const char* name);
const ecs_component* ecs_component_get(const ecs_world* world,
                                       ecs_component_id id); ///< NULL if unknown
uint32_t ecs_component_count(const ecs_world* world);
