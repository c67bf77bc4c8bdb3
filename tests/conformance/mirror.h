// SPDX-License-Identifier: MIT
/// Private: what body.c (decoding) and mirror.c (applying) share.
#pragma once

#include "solo.h"

enum {
    ROWS_KEPT = 64,
    RECORDS_MAX = 32768,
    TAPE_MAX = 1 << 18,
    AGE_SETTLED = 255,
    LISTS_KEPT = 128,
    SECOND_MAX = 255,
    THIRD_MAX = 16,   // ticks from a third row to the base
    SLACK_TICKS = 16, // rows that are so much older than a base may be forgotten
};

typedef struct stamped_row {
    uint64_t tick;
    uint64_t* words;
} stamped_row;

typedef struct slot_value {
    uint8_t* bytes; ///< NULL: the default
    size_t size;
} slot_value;

typedef struct slot_state {
    bool is_alive;
    bool has_record; ///< a record was applied: last_tick is valid
    uint32_t handle;
    uint64_t last_tick;     ///< of the last applied record
    uint64_t begin_tick;    ///< lowest tick of a create received of this incarnation
    uint64_t previous_tick; ///< last_tick when this incarnation began; with has_previous
    bool has_previous;
    uint64_t forgotten_tick; ///< newest dropped row of this incarnation; with has_forgotten
    bool has_forgotten;
    const template_row* template;
    stamped_row rows[ROWS_KEPT]; ///< by rising tick; the newest is the current one
    uint32_t row_count;
    struct slot_state* last;         ///< a copy of this when the last incarnation ended; NULL: none
    uint64_t last_end_tick;          ///< of the record that ended it
    slot_value values[VARSIZES_MAX]; ///< by number
    uint64_t* world;                 ///< the words that this client shows; while is_alive
    uint64_t seen_body;              ///< number of the last body with a record of this slot
} slot_state;

typedef struct index_state {
    bool has_row;
    uint64_t last_tick;    ///< of the last applied create or update, in whatever slot
    uint64_t created_body; ///< number of the last body that creates it
    uint64_t record_tick;  ///< of the newest record of any kind; with has_record
    uint32_t handle;       ///< of that record; 0: a destroy
    bool has_record;
} index_state;

typedef struct packet_list {
    bool is_there;
    uint16_t seq;
    uint64_t tick;
    uint32_t* slots; ///< rising
    uint32_t count;
} packet_list;

typedef enum record_kind { RECORD_DESTROY, RECORD_CREATE, RECORD_UPDATE } record_kind;

typedef struct cf_record {
    record_kind kind;
    uint32_t slot;
    uint32_t handle;
    uint64_t oldest_tick; ///< of its base rows; with has_base
    bool has_base;
    bool is_absolute;
    bool is_past; ///< an update of the last incarnation: it changes nothing
    const template_row* template;
    uint64_t* words;
} cf_record;

typedef enum tape_kind { TAPE_BITS, TAPE_GOLOMB, TAPE_ABSENT, TAPE_ROW } tape_kind;

typedef struct tape_entry {
    tape_kind kind;
    uint32_t parameter; ///< bits or order
    uint64_t value;
    cf_bases bases;
    const cf_layout* layout;
    const uint64_t* words;
} tape_entry;

struct cf_mirror {
    cf_schema* schema;
    uint32_t index_max, index_bits;
    slot_state** slots;
    index_state* indices;
    packet_list lists[LISTS_KEPT]; ///< by seq mod LISTS_KEPT
    bool has_packet;
    uint16_t newest_seq;
    uint64_t body_number;
    uint64_t newest_tick;
    cf_record* records;
    uint32_t record_count;
    tape_entry* tape;
    uint32_t tape_count;
    mirror_counts counts;
    cf_solo* solo; // NULL: shared code
    // the body that is being read
    solo_body* solo_body; // NULL: there are no statistics
    bool is_coded;        // in solo code
    bit_stream* bits;
    uint16_t seq;
    uint64_t tick;
};

/// @return `memory`; aborts when it is NULL.
void* or_abort(void* memory);
/// Decode a body into `mirror->records`. Nothing else changes that has a meaning.
body_result body_read(cf_mirror* mirror);
/// Encode the decoded body again.
void body_write(const cf_mirror* mirror, bit_stream* again);
