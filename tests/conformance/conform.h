// SPDX-License-Identifier: MIT
/// A client written from proto/WIRE.md alone. It shares no line with our libraries, so that the page, and
/// not our code, is what two programs have in common; check.sh proves that nothing of ours is included.
///
/// Limits: one client, templates from tables in schema.c, no memory that grows while playing but rows.
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

// ---- bits.c: "Bits" and "Quantisation" ----------------------------------------------------------

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

uint64_t element_canonical(const cf_element* element, uint64_t word);

/// Of a unit quaternion: `words` are the number of its largest part, then the three others.
void rotation_quantise(const float parts[4], uint32_t bits, uint64_t words[4]);
void rotation_restore(const uint64_t words[4], uint32_t bits, float parts[4]);
bool rotation_is_canonical(const uint64_t words[4], uint64_t q_max);

// ---- tables.c: "Tables" ---------------------------------------------------------------------------------

typedef enum table_name {
    TABLE_NUMBER_PLAIN,
    TABLE_NUMBER_FIRST,
    TABLE_NUMBER_OTHER,
    TABLE_HEAD,
    TABLE_HEAD_REST,
    TABLE_LEAD,
    TABLE_LEAD_REST,
    TABLE_DRIVE_PLAIN,
    TABLE_DRIVE_FIRST,
    TABLE_MASK_FIRST,
    TABLE_MASK_OTHER,
    TABLE_FIELD,
    TABLES
} table_name;

enum { SYMBOLS_MAX = 39, TABLE_ROWS_MAX = 84, EXPECTED_COUNT = 28 };

/// Codes of the symbols of one row of a table.
typedef struct cf_prefix {
    uint32_t count;
    uint8_t lengths[SYMBOLS_MAX];
    uint16_t codes[SYMBOLS_MAX]; ///< highest bit first on the wire
} cf_prefix;

typedef struct cf_tables {
    cf_prefix rows[TABLES][TABLE_ROWS_MAX];
    uint32_t row_counts[TABLES];
    int expected[EXPECTED_COUNT];
} cf_tables;

/// The tables that the page prints. NULL: it cannot be read, or lacks some; stderr says what.
cf_tables* tables_read(const char* page_path);
uint32_t prefix_read(const cf_prefix* prefix, bit_stream* bits);
void prefix_write(const cf_prefix* prefix, uint32_t symbol, bit_stream* bits);

// ---- row_*.c: "Row code" ----------------------------------------------------------------------------------

enum { ELEMENTS_MAX = 256, COMPONENTS_MAX = 64 };

typedef enum part_shape { SHAPE_LINEAR, SHAPE_ROTATION, SHAPE_EMPTY, SHAPE_MIXED } part_shape;

typedef struct cf_layout {
    uint32_t component_count;
    const char* names[COMPONENTS_MAX];
    const char* integrals[COMPONENTS_MAX]; ///< name of what a component is the integral of, or NULL
    bool is_rotation[COMPONENTS_MAX];
    uint32_t first[COMPONENTS_MAX]; ///< of its elements
    uint32_t count[COMPONENTS_MAX];
    uint32_t element_count;
    cf_element elements[ELEMENTS_MAX];
    // by layout_finish
    const cf_tables* tables;
    part_shape shape[COMPONENTS_MAX];
    int source[COMPONENTS_MAX]; ///< of what is driven; -1: it is not
    bool is_source[COMPONENTS_MAX];
    int64_t drive[ELEMENTS_MAX], drive_zero[ELEMENTS_MAX]; ///< K and Z of what is driven
} cf_layout;

/// What a row is coded against.
typedef struct cf_bases {
    const uint64_t *base, *base2; ///< the second may be NULL
    uint32_t ticks, ticks2;
} cf_bases;

/// tick_rate_hz 0: not known, nothing is driven.
void layout_finish(cf_layout* layout, const cf_tables* tables, uint32_t tick_rate_hz);
void row_read(const cf_layout* layout, const cf_bases* bases, uint64_t* row, bit_stream* bits);
void row_write(const cf_layout* layout, const cf_bases* bases, const uint64_t* row,
               bit_stream* bits);
/// In a list: is the next one absent? If so it has been read, else nothing was.
bool row_read_absent(bit_stream* bits);
void row_write_absent(bit_stream* bits);

// ---- schema.c: "Schema hash" ------------------------------------------------------------------------

typedef struct template_row {
    char name[256]; ///< of the parts, joined with +
    uint32_t part_count;
    uint8_t parts[8]; ///< wire numbers
    cf_layout layout;
    uint64_t defaults[ELEMENTS_MAX];
} template_row;

typedef struct cf_schema cf_schema;

/// "breakout", "arena", or "vectors": the templates that WIRE.md prints. NULL: none of them. `tables` stay
/// the caller's.
cf_schema* schema_create(const char* game, const cf_tables* tables);
/// Of Welcome, before templates are found by their numbers.
void schema_set_rate(cf_schema* schema, uint32_t tick_rate_hz);
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

// ---- header.c: "State" --------------------------------------------------------------------------------

typedef struct cf_header {
    uint16_t seq;
    bool is_whole;
    uint64_t tick;
    bool has_ack;
    uint16_t ack;
    uint32_t delay; ///< in units of 64 us
    bool has_input;
    uint32_t input_used, input_repeats, input_depth;
    bool has_event_ack;
    uint32_t event_ack;
    uint32_t player_age;
    bool has_sample;
    uint32_t sample_slot, sample_age, sample_hash;
    bool has_body;
} cf_header;

/// What low bits are completed from.
typedef struct cf_known {
    bool has_tick;
    uint64_t tick, input, event;
} cf_known;

/// @return false: refused. After it the bits stand at the body, or all are read.
bool header_read(bit_stream* bits, const cf_known* known, cf_header* header);
void header_write(bit_stream* bits, const cf_header* header);
/// The rest is padding: at most 7 bits, all 0.
bool is_padding(bit_stream* bits);

// ---- body.c and mirror.c: "State body" and "Scope hash" --------------------------------------------------------

typedef struct cf_mirror cf_mirror;

typedef enum body_result { BODY_DECODED, BODY_WITHOUT_BASE, BODY_MALFORMED } body_result;
typedef enum sample_result { SAMPLE_NOT_THERE, SAMPLE_EQUAL, SAMPLE_DIFFERS } sample_result;

cf_mirror* mirror_create(cf_schema* schema, uint32_t index_max);
void mirror_destroy(cf_mirror* mirror);
/// Take the body of a packet, read to its end; NULL: it has none. `again`, when not NULL, gets what was decoded,
/// encoded once more.
body_result mirror_take(cf_mirror* mirror, uint16_t seq, uint64_t tick, bit_stream* body,
                        bit_stream* again);
/// Newest tick of a decoded packet. @return false: none yet.
bool mirror_tick(const cf_mirror* mirror, uint64_t* tick);
/// What an event of `tick` that needs this entity is to do.
typedef enum entity_state { ENTITY_HERE, ENTITY_TO_COME, ENTITY_GONE } entity_state;
entity_state mirror_find(const cf_mirror* mirror, uint32_t handle, uint64_t tick);
/// Who lives in a slot; 0: nobody.
uint32_t mirror_handle(const cf_mirror* mirror, uint32_t slot);
/// Falsify a word of what this client shows of a slot, as a fault of its own would. @return false: nobody is there.
bool mirror_plant(cf_mirror* mirror, uint32_t slot);
/// Is what is shown of a slot its newest row?
bool mirror_is_true(const cf_mirror* mirror, uint32_t slot);
sample_result mirror_sample(const cf_mirror* mirror, const cf_header* header);
uint64_t mirror_scope_hash(const cf_mirror* mirror, uint32_t* entities);

/// How often each part of the format was seen, so that a test can ask for all of them.
typedef struct mirror_counts {
    uint32_t creates, recreates, destroys, updates, late;
    uint32_t bases, settled, from_default, from_packet, second_rows, absent;
    uint64_t rows, words;
} mirror_counts;
mirror_counts mirror_count(const cf_mirror* mirror);

// ---- large.c: "Large values" -----------------------------------------------------------------------------

typedef struct cf_varsize cf_varsize;

/// NULL: no value of this type.
cf_varsize* varsize_read(const char* type_name, const uint8_t* bytes, size_t size);
void varsize_destroy(cf_varsize* value);
/// The bytes it was read from. @return how many.
size_t varsize_write(const cf_varsize* value, uint8_t* bytes);
/// As the page's vectors print a value; at most 16 times its bytes and as many more.
void varsize_print(const cf_varsize* value, char* text);

// ---- the two commands --------------------------------------------------------------------------------

int vectors_check(const char* page_path);
typedef struct play_options {
    const char *page_path, *address, *schema_hash;
    const char* game;      ///< whose tables are told; of "vectors" the hello says breakout
    uint32_t loss_percent; ///< of datagrams that come and of packets that go, dropped on purpose
    uint32_t seed;         ///< of that
    uint32_t plant_ticks;  ///< falsify the mirror every so many of our ticks; 0: never
    uint32_t rate_bytes_max;
} play_options;

int play(const play_options* options);
