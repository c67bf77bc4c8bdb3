// SPDX-License-Identifier: MIT
/// A client written from proto/WIRE.md and its pages alone. It shares no line with our
/// libraries. So the pages, and not our code, are what two programs have in common; play.sh checks
/// that nothing of ours is included.
///
/// Limits: one client; templates from the tables in games.c; only rows allocate memory while
///         playing.
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

// ---- bits.c: "Bits" and "Quantisation" ----------------------------------------------------------

/// A position for reading or writing. Past the end, reading gives zeros, and both set `failed`.
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

/// Kinds, with the numbers of the page.
enum { K_BOOL, K_I8, K_I16, K_I32, K_I64, K_U8, K_U16, K_U32, K_U64, K_F32, K_F64, K_ENTITY };

/// One element of one field of a row.
typedef struct cf_element {
    int kind;
    uint32_t bits;
    bool is_exact;
    bool is_elastic; ///< exact as well
    double min, step;
    uint64_t q_max;
} cf_element;

/// bits 0: exact. @return false when the page refuses such a declaration.
bool element_make(cf_element* made, int kind, uint32_t bits, double min, double step);
/// The word of an f32, given and returned as its bits.
uint64_t element_quantise_f32(const cf_element* element, uint32_t float_bits);
uint32_t element_restore_f32(const cf_element* element, uint64_t word);
/// The word of a number.
uint64_t element_of_number(const cf_element* element, double number);

uint64_t element_canonical(const cf_element* element, uint64_t word);

/// A unit quaternion: `words` are the number of its largest part, then the three others.
void rotation_quantise(const float parts[4], uint32_t bits, uint64_t words[4]);
void rotation_restore(const uint64_t words[4], uint32_t bits, float parts[4]);
bool rotation_is_canonical(const uint64_t words[4], uint64_t q_max);

// ---- tables.c: "Tables" ----

typedef enum table_name {
    TABLE_NUMBER_PLAIN,
    TABLE_NUMBER_OTHER,
    TABLE_HEAD,
    TABLE_DRIVE,
    TABLE_MASK_FIRST,
    TABLE_MASK_OTHER,
    TABLE_FIELD,
    TABLES
} table_name;

enum { SYMBOLS_MAX = 39, TABLE_ROWS_MAX = 34 };

/// Codes of the symbols of one row of a table.
typedef struct cf_prefix {
    uint32_t count;
    uint8_t lengths[SYMBOLS_MAX];
    uint16_t codes[SYMBOLS_MAX]; ///< highest bit first on the wire
} cf_prefix;

typedef struct cf_tables {
    cf_prefix rows[TABLES][TABLE_ROWS_MAX];
    uint32_t row_counts[TABLES];
} cf_tables;

/// Open a page of the folder proto/ for reading. @return NULL: that is reported on stderr.
FILE* page_open(const char* folder, const char* name);
/// The tables of ROWS.md. @return NULL: the page cannot be read or lacks a table (reported on
/// stderr).
cf_tables* tables_read(const char* folder);
uint32_t prefix_read(const cf_prefix* prefix, bit_stream* bits);
void prefix_write(const cf_prefix* prefix, uint32_t symbol, bit_stream* bits);

// ---- row_*.c: "Row code" ----

enum { MIDDLE_BYTES_MAX = 4096 };
enum { ELEMENTS_MAX = 256, COMPONENTS_MAX = 64, VARSIZES_MAX = 32 };

typedef enum part_shape {
    SHAPE_LINEAR,
    SHAPE_ROTATION,
    SHAPE_EMPTY,
    SHAPE_ELASTIC,
    SHAPE_MIXED
} part_shape;

typedef struct cf_layout {
    uint32_t component_count;
    const char* names[COMPONENTS_MAX];
    const char* integrals[COMPONENTS_MAX]; ///< name of the source; NULL: none
    bool is_rotation[COMPONENTS_MAX];
    uint32_t first[COMPONENTS_MAX]; ///< its first element
    uint32_t count[COMPONENTS_MAX];
    uint32_t element_count;
    cf_element elements[ELEMENTS_MAX];
    // set by layout_finish
    const cf_tables* tables;
    part_shape shape[COMPONENTS_MAX];
    int source[COMPONENTS_MAX]; ///< component number; -1: none
    bool is_source[COMPONENTS_MAX];
    int64_t drive[ELEMENTS_MAX], drive_zero[ELEMENTS_MAX]; ///< K and Z of the page
} cf_layout;

/// The rows that a row is coded against.
typedef struct cf_bases {
    const uint64_t *base, *base2; ///< base2 NULL: none
    uint32_t ticks, ticks2;
} cf_bases;

/// `tick_rate_hz` 0: not known, no component has a source.
void layout_finish(cf_layout* layout, const cf_tables* tables, uint32_t tick_rate_hz);
void row_read(const cf_layout* layout, const cf_bases* bases, uint64_t* row, bit_stream* bits);
void row_write(const cf_layout* layout, const cf_bases* bases, const uint64_t* row,
               bit_stream* bits);
/// Print what a reader finds before it reads a row: "kinds=... scales=... expected=...", as in the
/// vectors. Components with a source are expected with the source's words in `row`. `text` has
/// MIDDLE_BYTES_MAX.
void row_print_middle(const cf_layout* layout, const cf_bases* bases, const uint64_t* row,
                      char* text);
/// In a list: @return true: the next row is absent and was read; false: nothing was read.
bool row_read_absent(bit_stream* bits);
void row_write_absent(bit_stream* bits);

// ---- schema.c: "Schema hash" ----

typedef struct template_row {
    char name[256]; ///< names of the parts, joined with +
    uint32_t part_count;
    uint8_t parts[8]; ///< wire numbers
    cf_layout layout;
    uint64_t defaults[ELEMENTS_MAX];
    const char* varsizes[VARSIZES_MAX]; ///< names of those it has, by number; NULL: not this one
} template_row;

typedef struct cf_schema cf_schema;

typedef struct game_tables game_tables; // games.h

/// Both are borrowed.
cf_schema* schema_create(const game_tables* game, const cf_tables* tables);
/// Set the tick rate of Welcome. Call it before schema_find.
void schema_set_rate(cf_schema* schema, uint32_t tick_rate_hz);
void schema_destroy(cf_schema* schema);
/// The hash of one item, for example "template dot". @return false: no such item.
bool schema_item(const cf_schema* schema, const char* name, uint64_t* hash);
uint32_t schema_wire_bits(const cf_schema* schema); ///< W
/// @return NULL: no such part, or too many compositions.
const template_row* schema_find(cf_schema* schema, const uint8_t* parts, uint32_t part_count);
/// The descriptor hash of the page, from protobuf-c's descriptor.
uint64_t descriptor_hash(const void* descriptor);

// ---- header.c: "State" ----

typedef struct cf_header {
    uint16_t seq;
    bool is_whole;
    uint64_t tick;
    bool has_ack;
    uint16_t ack;
    uint32_t delay; ///< in units of 512 us
    bool has_input;
    uint32_t input_used, input_repeats, input_depth;
    bool has_event_ack;
    uint32_t event_ack;
    uint32_t player_age;
    bool has_probe;
    uint32_t probe_slot, probe_age, probe_hash;
    bool has_body;
} cf_header;

/// The known numbers that complete low bits.
typedef struct cf_known {
    bool has_tick;
    uint64_t tick, input, event;
    uint16_t seq, sent; ///< newest packet decoded, newest one sent
} cf_known;

/// The number with these low bits that is nearest to `known`.
uint64_t header_nearest(uint64_t low, uint32_t bits, uint64_t known);
/// @return true: `bits` are at the body, or all are read; false: refused.
bool header_read(bit_stream* bits, const cf_known* known, cf_header* header);
void header_write(bit_stream* bits, const cf_header* header);
/// @return true: the rest is padding, at most 7 bits, all 0.
bool is_padding(bit_stream* bits);

// ---- body.c and mirror.c: "State body" and "Scope hash" ----

typedef struct cf_mirror cf_mirror;
typedef struct cf_solo cf_solo; // solo.h

typedef enum body_result { BODY_DECODED, BODY_WITHOUT_BASE, BODY_MALFORMED } body_result;
typedef enum probe_result { PROBE_NOT_THERE, PROBE_EQUAL, PROBE_DIFFERS } probe_result;

cf_mirror* mirror_create(cf_schema* schema, uint32_t index_max);
/// Bodies begin with the head of solo code. Call it before the first one.
void mirror_use_solo(cf_mirror* mirror);
void mirror_destroy(cf_mirror* mirror);
/// Decode and apply the body of a packet; NULL: the packet has none. `again` (NULL: not wanted)
/// gets the decoded body, encoded again.
body_result mirror_apply(cf_mirror* mirror, uint16_t seq, uint64_t tick, bit_stream* body,
                         bit_stream* again);
/// The newest tick of a decoded packet. @return false: no packet yet.
bool mirror_tick(const cf_mirror* mirror, uint64_t* tick);
/// Whether an event of `tick` finds this entity.
typedef enum entity_state { ENTITY_HERE, ENTITY_TO_COME, ENTITY_GONE } entity_state;
entity_state mirror_find(const cf_mirror* mirror, uint32_t handle, uint64_t tick);
/// The handle of a slot; 0: it has no entity.
uint32_t mirror_handle(const cf_mirror* mirror, uint32_t slot);
/// Change a word of what this client shows of a slot, as a fault would. @return false: the slot has
/// no entity.
bool mirror_corrupt(cf_mirror* mirror, uint32_t slot);
/// @return true: the slot shows its newest row.
bool mirror_is_equal(const cf_mirror* mirror, uint32_t slot);
probe_result mirror_compare_probe(const cf_mirror* mirror, const cf_header* header);
uint64_t mirror_scope_hash(const cf_mirror* mirror, uint32_t* entities);

/// How often each part of the format was seen, so that a test can require all of them.
typedef struct mirror_counts {
    uint32_t creates, recreates, destroys, updates, late;
    uint32_t bases, settled, from_default, from_packet, second_rows, absent;
    uint32_t packets, solo, third_rows; ///< decoded; in solo code; rows with a third one
    uint64_t rows, words;
} mirror_counts;

typedef enum value_fate { VALUE_APPLIED, VALUE_WAITS, VALUE_DROPPED } value_fate;
/// Apply the bytes of a variable-size component, if the entity is as the value needs it.
value_fate mirror_value(cf_mirror* mirror, uint32_t handle, uint32_t component, uint64_t since,
                        const uint8_t* bytes, size_t size);

// ---- varsize.c: "Variable-size components" ----

typedef struct cf_varsize cf_varsize;

/// @return NULL: the bytes are no value of this type.
cf_varsize* varsize_read(const char* type_name, const uint8_t* bytes, size_t size);
void varsize_destroy(cf_varsize* value);
/// Write the bytes of a value. @return their count.
size_t varsize_write(const cf_varsize* value, uint8_t* bytes);
/// Print a value in the notation of the page's vectors. `text` has room for 16 times the value's
/// bytes, and 16 more.
void varsize_print(const cf_varsize* value, char* text);

// ---- vectors.c ----

/// Check all vectors of the folder proto/, print what differs. @return 0; 1: some differ; 2: a file
/// cannot be read.
int vectors_check(const char* folder);
/// Read all vectors, or all but those of solo code, up to the first that fails, and print nothing.
/// @return false: one failed.
bool vectors_are_read(const char* folder, bool without_solo);
/// The layout of a row's vector.
void vector_layout(const char* text, cf_layout* layout);

// ---- playing ----

typedef struct play_options {
    const char *folder, *address, *schema_hash;
    const char* game;       ///< file of the schema as JSON; "vectors": those templates of the page
    uint32_t loss_percent;  ///< share of datagrams and of own packets that are dropped on purpose
    uint32_t seed;          ///< of the loss
    uint32_t corrupt_ticks; ///< change a word of the mirror every so many ticks; 0: never
    uint32_t rate_bytes_max;
    uint32_t has_solo; ///< it says that it reads solo code
} play_options;

int play(const play_options* options);
