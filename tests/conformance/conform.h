// SPDX-License-Identifier: MIT
/// A client written from proto/WIRE.md alone. It shares no line with our libraries, so that the page, and
/// not our code, is what two programs have in common; check.sh proves that nothing of ours is included.
///
/// Limits: one client, templates from tables in schema.c, no memory that grows while playing but rows.
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

// ---- bits.c: "Bits", "Quantisation" and "Row" -------------------------------------------------------

/// Reads or writes; reading past the end gives zeros and sets `failed`, as does writing past it.
typedef struct bit_stream {
    uint8_t* data;
    size_t size_bits;
    size_t at;
    bool failed;
} bit_stream;

bit_stream bits_over(uint8_t* data, size_t bytes);
uint64_t bits_read(bit_stream* bits, uint32_t count);
void bits_write(bit_stream* bits, uint64_t value, uint32_t count);
uint32_t golomb_read(bit_stream* bits, uint32_t order);
void golomb_write(bit_stream* bits, uint32_t order, uint32_t value);

/// The page's numbers of kinds.
enum { K_BOOL, K_I8, K_I16, K_I32, K_I64, K_U8, K_U16, K_U32, K_U64, K_F32, K_F64, K_ENTITY };

/// One element of one field of a row.
typedef struct cf_element {
    int kind;
    uint32_t bits;
    bool is_exact;
    double min, step;
    uint64_t q_max;
} cf_element;

/// bits 0: exact. @return false when the page refuses such a declaration.
bool element_make(cf_element* made, int kind, uint32_t bits, double min, double step);
/// `value` is the number, or for an exact float its bits are taken from `float_bits`.
uint64_t element_quantise_f32(const cf_element* element, uint32_t float_bits);
uint32_t element_restore_f32(const cf_element* element, uint64_t word);
uint64_t element_of_number(const cf_element* element, double number);

enum { ELEMENTS_MAX = 256, COMPONENTS_MAX = 64 };

typedef struct cf_layout {
    uint32_t component_count;
    const char* names[COMPONENTS_MAX];
    uint32_t first[COMPONENTS_MAX]; ///< of its elements
    uint32_t count[COMPONENTS_MAX];
    uint32_t element_count;
    cf_element elements[ELEMENTS_MAX];
} cf_layout;

void row_read(const cf_layout* layout, const uint64_t* base, uint64_t* row, bit_stream* bits);
void row_write(const cf_layout* layout, const uint64_t* base, const uint64_t* row,
               bit_stream* bits);

// ---- schema.c: "Schema hash" ------------------------------------------------------------------------

typedef struct template_row {
    char name[256]; ///< of the parts, joined with +
    uint32_t part_count;
    uint8_t parts[8]; ///< wire numbers
    cf_layout layout;
    uint64_t defaults[ELEMENTS_MAX];
} template_row;

typedef struct cf_schema cf_schema;

/// "breakout", or "vectors": the templates that WIRE.md prints. NULL: neither.
cf_schema* schema_create(const char* game);
void schema_destroy(cf_schema* schema);
uint64_t schema_hash(const cf_schema* schema);
/// of one item, "template dot". @return false: there is none.
bool schema_item(const cf_schema* schema, const char* name, uint64_t* hash);
uint32_t schema_item_count(const cf_schema* schema);
const char* schema_item_name(const cf_schema* schema, uint32_t position);
uint32_t schema_wire_bits(const cf_schema* schema); ///< W
/// NULL: no such part, or more than are remembered.
const template_row* schema_find(cf_schema* schema, const uint8_t* parts, uint32_t part_count);
/// protobuf-c's description, as the page hashes it.
uint64_t descriptor_hash(const void* descriptor);

// ---- mirror.c: "State body" and "Scope hash" --------------------------------------------------------

typedef struct cf_mirror cf_mirror;

typedef enum body_result { BODY_DECODED, BODY_WITHOUT_BASE, BODY_MALFORMED } body_result;

cf_mirror* mirror_create(cf_schema* schema, uint32_t index_max);
void mirror_destroy(cf_mirror* mirror);
body_result mirror_take(cf_mirror* mirror, uint64_t tick, uint8_t* body, size_t bytes);
uint64_t mirror_scope_hash(const cf_mirror* mirror, uint32_t* entities);

/// How often each part of the format was seen, so that a test can ask for all of them.
typedef struct mirror_counts {
    uint32_t creates, recreates, destroys, updates, bases, settled, from_default, late;
} mirror_counts;
mirror_counts mirror_count(const cf_mirror* mirror);

// ---- the two commands --------------------------------------------------------------------------------

int vectors_check(const char* page_path);
/// `game` names the tables whose schema is told; the hello always says breakout.
int play(const char* address, const char* expected_schema_hash, const char* game);
