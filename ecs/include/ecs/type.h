// SPDX-License-Identifier: MIT
/// Component types: size, table of fields, and a table of functions for types that own memory.
///
/// The datablock's own types (b i i64 u8 u16 u32 u64 r p2 p3 p4 ip2 ip3 ip4 c m t eid tag, list<T>
/// of each of them but tag, array, object) exist in every world; a module registers C structs
/// beside them. Templates, tracking, replication, logs and dumps treat both alike: they see fields.
#pragma once

#include "base/report.h"
#include "ecs/entity.h"
#include "ecs/limits.h"
#include "ecs/result.h"
#include "ecs/value.h"

BASE_C_BEGIN

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

/// How a field is rounded for the wire. All zero means exact: all bits of its kind. With bits > 0
/// the wire holds q in [0, 2^bits - 1], and the value is min + q * step. A value outside the range
/// becomes the nearest limit. For integers step is 1.
typedef struct ecs_quant {
    double min;
    double step;  ///< > 0 when bits > 0
    uint8_t bits; ///< 0 (exact) or 1..32
} ecs_quant;

/// The range of an angle in radians is [-pi, pi): its end is its beginning. To round such a
/// value wraps it, and interpolation goes the short way.
#define ECS_ANGLE_MIN (-3.14159265358979323846)
#define ECS_ANGLE_STEP(bits) (6.28318530717958647692 / (double)(UINT64_C(1) << (bits)))
static inline bool ecs_quant_is_angle(const ecs_quant* quant) {
    return quant->bits > 0 && quant->bits <= 32 && quant->min == ECS_ANGLE_MIN &&
           quant->step == ECS_ANGLE_STEP(quant->bits);
}
/// @return the value that clients get for `value`, as a float has it. A game that ends a tick with
///         it continues from the same number as a client. Exact without bits.
float ecs_quantise(const ecs_quant* quant, float value);

/// One field of a struct type.
typedef struct ecs_field {
    const char* name; ///< [A-Za-z0-9_.-], at most ECS_NAME_BYTES_MAX - 1 bytes
    uint32_t offset;  ///< offsetof
    ecs_field_kind kind;
    uint32_t count; ///< elements of an inline array; 1 for a scalar
    ecs_quant quant;
} ecs_field;

/// Bytes of one element of a kind: 1, 2, 4 or 8.
uint32_t ecs_field_kind_bytes(ecs_field_kind kind);
/// "f32", "entity"... Static text.
const char* ecs_field_kind_name(ecs_field_kind kind);
static inline bool ecs_field_kind_is_real(ecs_field_kind kind) {
    return kind == ECS_FIELD_F32 || kind == ECS_FIELD_F64;
}

/// One element of a field, in the widest type of its family.
typedef struct ecs_number {
    ecs_field_kind kind;
    union {
        int64_t whole;    ///< I8 to I64
        uint64_t natural; ///< BOOL (0 or 1), U8 to U64, ENTITY (the handle)
        double real;      ///< F32, F64
    };
} ecs_number;
/// Read the element that lies at `memory`, aligned or not.
ecs_number ecs_number_get(ecs_field_kind kind, const void* memory);
/// The number itself, exact for every kind.
long double ecs_number_value(const ecs_number* number);
/// Write a number into an element of any kind, aligned or not: towards 0, and clamped to what the
/// kind holds. A bool is whether it is not 0. @return true: it was clamped, or is no number.
bool ecs_number_put(ecs_field_kind kind, void* memory, const ecs_number* number);
/// Write a number as a datablock spells it: "1.5", "-3", "yes", "12:3" (index and generation of an
/// entity), "none". A float gets the shortest text that reads back as the same bits.
void ecs_number_text(const ecs_number* number, char* text, size_t text_bytes);
bool ecs_number_equal(const ecs_number* a, const ecs_number* b); ///< bit by bit; all NaN are equal

/// What the functions of a type may use.
typedef struct ecs_type_context {
    const base_allocator* allocator;
} ecs_type_context;

/// What a value may need before its entity can be created: a model, a sound, a level.
typedef struct ecs_resource {
    char kind[ECS_RESOURCE_KIND_BYTES_MAX]; ///< "mesh"; may be empty
    char name[ECS_RESOURCE_NAME_BYTES_MAX]; ///< "cube.glb"; empty: none
} ecs_resource;

/// Functions of a type that is more than plain bytes. Only create and destroy are required; the
/// others have defaults that work on fields. A type without a table is plain data. memcpy moves a
/// value unless `move` is given. The functions of a boxed type get the object, not the cell.
typedef struct ecs_type_ops {
    void (*create)(const ecs_type_context* context, void* value);
    void (*destroy)(const ecs_type_context* context, void* value);
    /// Make `target`, which holds no value yet, a copy.
    void (*copy)(const ecs_type_context* context, void* target, const void* source);
    bool (*equal)(const void* a, const void* b);
    /// Make `target`, which holds a value, equal to `source`.
    void (*assign)(const ecs_type_context* context, void* target, const void* source);
    void (*move)(const ecs_type_context* context, void* target, void* source);
    /// Compare and assign in one step: make `shadow` equal to `current`. @return true when they
    /// differed.
    bool (*replicate_compare)(const ecs_type_context* context, void* shadow, const void* current);
    /// Write the canonical bytes: what is hashed, saved and sent. The same on every machine.
    void (*write)(const void* value, base_bytes* bytes);
    /// Read what write wrote; `value` holds a value before and after. @return false for damaged
    /// bytes.
    bool (*read)(const ecs_type_context* context, void* value, base_reader* reader);
    /// Boxed types only: the object goes back to its pool and is given out again as it is, so make
    /// it equal to what `create` makes. It may keep the memory it owns. Without reset, objects are
    /// destroyed and created again.
    void (*reset)(const ecs_type_context* context, void* value);
    /// A number that changes with every change of the value. `copy` and `replicate_compare` carry
    /// it over; `read` takes one that differs when the bytes differ. Equal numbers save the compare
    /// of values.
    uint64_t (*version)(const void* value);
    /// Resources that a value needs (loader.h): fill `resources`, zeroed, `capacity` at most.
    /// @return how many it needs; more than `capacity`: the creation is ECS_ERR_FULL.
    uint32_t (*request)(const void* value, ecs_resource* resources, uint32_t capacity);
    /// A hash of the value with a seed, where the bytes of `write` cannot be hashed: the image of a
    /// library has padding, or pointers. Equal values have equal hashes on every machine, and what
    /// `read` reads has the hash of what was written. With `hash` and without `equal` values are
    /// equal when their hashes are. NULL: the canonical bytes are hashed.
    uint64_t (*hash)(const void* value, uint64_t seed);
    /// Write a value as text, with a NUL and without spaces, for dumps and messages: at most
    /// `bytes`, which are more than 0. @return false when it was cut. NULL: its fields.
    bool (*format)(const void* value, char* text, size_t bytes);
} ecs_type_ops;

typedef enum ecs_type_flag {
    /// Objects lie in a pool of the type and never move; a column holds pointers to them. Systems
    /// and ecs_get give `T* const*`; values for create and set are passed as `T* const*` and
    /// copied. Use it for objects that other code points at, and for those too large for columns.
    ECS_TYPE_BOXED = 1u << 0,
} ecs_type_flag;

/// What a caller registers.
typedef struct ecs_type_desc {
    const char* name;        ///< "RigidBody"; copied
    uint32_t size;           ///< sizeof; 0 for a tag
    uint32_t align;          ///< _Alignof, at most 64
    const ecs_field* fields; ///< copied; may be empty only with ops or for a tag
    uint32_t field_count;
    const ecs_type_ops* ops; ///< NULL for plain data; must outlive the world
} ecs_type_desc;

/// What the world knows about a type. Borrowed, valid until the world is destroyed.
typedef struct ecs_type {
    char name[ECS_NAME_BYTES_MAX];
    ecs_type_id id;
    uint32_t size, align; ///< bytes of a cell; the cell of a boxed type is a pointer
    uint32_t field_count;
    const ecs_field* fields; ///< by rising offset; for a boxed type in the object
    const ecs_type_ops* ops; ///< NULL: plain data. Never NULL for a boxed type
    bool is_dense;           ///< fields cover every byte: memcmp tells equality
    uint64_t layout_hash; ///< names, kinds, counts and order of fields; the same on every machine
    uint32_t object_size; ///< sizeof of the registered type
    struct ecs_box* box;  ///< the pool of a boxed type; NULL: values lie in the column
    /// Private: hash of an object, by its functions or a faster one of the canonical bytes; NULL:
    /// they are written and hashed.
    uint64_t (*hash)(const void* value, uint64_t seed);
} ecs_type;

/// The value of a cell: the cell itself, or the object it points at. Borrowed as the cell is.
static inline const void* ecs_type_object(const ecs_type* type, const void* cell) {
    return type->box ? *(void* const*)cell : cell;
}
static inline void* ecs_type_object_mut(const ecs_type* type, void* cell) {
    return type->box ? *(void**)cell : cell;
}

/// Is it a variable-size component: it has functions, lies in its column, and its canonical bytes
/// can be read back? Such a value is replicated as a whole; plain data is replicated by its fields.
static inline bool ecs_type_is_varsize(const ecs_type* type) {
    if (!type->ops || type->box) return false;
    return type->ops->write || type->field_count > 0;
}

/// Register a struct type, before ecs_world_seal. The description is copied; its ops must outlive
/// the world. *id is the new id, ECS_TYPE_NONE on failure; `id` may be NULL.
/// @return ECS_OK; ECS_ERR_DUPLICATE (a built-in or registered type has the name: choose another);
///         ECS_ERR_TYPE (larger than ECS_TYPE_BYTES_MAX, or ECS_BOXED_BYTES_MAX when boxed; a field
///         outside the struct or over another one; a quantisation out of range; ops without create
///         or destroy: correct the description); ECS_ERR_FULL (ECS_TYPES_MAX types); ECS_ERR_SEALED
///         (register earlier).
BASE_MUST_USE ecs_result ecs_type_register(ecs_world* world, const ecs_type_desc* desc,
                                           ecs_type_id* id);
/// As ecs_type_register, with flags (ecs_type_flag) and a reporter that gets the reason of a
/// refusal (may be NULL).
BASE_MUST_USE ecs_result ecs_type_register_as(ecs_world* world, const ecs_type_desc* desc,
                                              uint32_t flags, const base_reporter* reporter,
                                              ecs_type_id* id);
/// Find a type by name. Not counted as a name look-up; do it at registration.
/// @return ECS_TYPE_NONE when there is none.
ecs_type_id ecs_type_find(const ecs_world* world, const char* name);
/// Get a type by id. @return NULL for an unknown id.
const ecs_type* ecs_type_get(const ecs_world* world, ecs_type_id id);
uint32_t ecs_type_count(const ecs_world* world); ///< ids run 1..count

// Each `value` below is a cell, also of a boxed type: what ecs_get and ecs_find return.

/// Append the canonical bytes of one value: fields in order, little-endian, every NaN the same, -0
/// kept, no padding; types with ops use their write. The same on every machine.
void ecs_type_write(const ecs_type* type, const void* value, base_bytes* bytes);
/// Read what ecs_type_write wrote into a created (or zeroed plain) value. The bytes may be foreign.
/// @return false for damaged bytes.
BASE_MUST_USE bool ecs_type_read(const ecs_type* type, const ecs_type_context* context, void* value,
                                 base_reader* reader);
/// Hash of the canonical bytes with a seed; types with ops use their hash. For plain types and
/// containers the bytes are not built.
uint64_t ecs_type_hash(const ecs_type* type, const void* value, uint64_t seed);
/// Compare two values at full precision, by fields; types with ops by their equal or hash. NaN
/// equals every NaN; 0 differs from -0.
bool ecs_type_equal(const ecs_type* type, const void* a, const void* b);
/// Write a value as text ("330,-550") into a fixed buffer, with a NUL. @return false when it was
/// cut.
bool ecs_type_format(const ecs_type* type, const void* value, char* target, size_t target_bytes);

/// Components are pairs of name and type. A datablock file registers the components it uses; a
/// module may register them before.
typedef uint16_t ecs_component_id;
#define ECS_COMPONENT_NONE 0u

/// What the world knows about a component. Borrowed, valid until the world is destroyed.
typedef struct ecs_component {
    char name[ECS_NAME_BYTES_MAX];
    ecs_component_id id;
    ecs_type_id type;
    uint64_t name_hash; ///< base_hash64_text(name)
} ecs_component;

/// Register a component. *id is its id, ECS_COMPONENT_NONE on failure; `id` may be NULL.
/// @return ECS_OK, also when the same pair exists (same id);
///         ECS_ERR_TYPE (the name has another type); ECS_ERR_UNKNOWN (no such type, or a bad name);
///         ECS_ERR_FULL (ECS_COMPONENTS_MAX components); ECS_ERR_SEALED (register earlier).
BASE_MUST_USE ecs_result ecs_component_register(ecs_world* world, const char* name,
                                                ecs_type_id type, ecs_component_id* id);
/// Find a component by name. Counted (ecs_counters.name_lookups): do it at registration, never in a
/// tick.
/// @return ECS_COMPONENT_NONE when there is none.
ecs_component_id ecs_component_find(ecs_world* world, const char* name);
/// Get a component by id. @return NULL for an unknown id.
const ecs_component* ecs_component_get(const ecs_world* world, ecs_component_id id);
uint32_t ecs_component_count(const ecs_world* world); ///< ids run 1..count

BASE_C_END
