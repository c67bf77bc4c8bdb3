// SPDX-License-Identifier: MIT
// What lists and runs of a snapshot have in common: numbers, slots, rows.
#include "mirror/snapshot_decoder.h"

#include "base/assert.h"

#include <string.h>
#include "mirror/packed_row.h"

bool net_decode_fail(net_decoder* d, net_result result) {
    if (d->result == NET_OK) d->result = result;
    return false;
}

bool net_decode_is_readable(net_decoder* d) {
    bool has_failed = d->reader->failed || (d->is_coded && d->solo->failed);
    return has_failed ? net_decode_fail(d, NET_ERR_MALFORMED) : true;
}

bool net_decode_miss_base(net_decoder* d, const net_mirror_slot* slot) {
    d->misses_base = true;
    d->is_overtaken = slot && slot->is_known && slot->tick >= d->tick;
    return net_decode_fail(d, NET_ERR_MALFORMED);
}

// In solo code: read a number of 0..most. Otherwise it is `value`, and noted.
uint32_t net_decode_take(net_decoder* d, uint32_t field, uint64_t situation, uint32_t value,
                         uint32_t most) {
    if (!d->solo) return value;
    int64_t number = proto_solo_number(d->solo, field, situation, value);
    if (number >= 0 && number <= most) return (uint32_t)number;
    net_decode_fail(d, NET_ERR_MALFORMED);
    if (d->is_coded) d->solo->failed = true;
    return 0;
}

uint32_t net_decode_read_golomb(net_decoder* d, uint32_t order) {
    return d->is_coded ? 0 : proto_bits_read_golomb(d->reader, order);
}

uint32_t net_decode_read_bits(net_decoder* d, uint32_t count) {
    return d->is_coded ? 0 : (uint32_t)proto_bits_read(d->reader, count);
}

uint32_t net_decode_read_count(net_decoder* d, uint32_t list, uint32_t order) {
    return net_decode_take(d, PROTO_SOLO_COUNT, proto_solo_situation(list, 0),
                           net_decode_read_golomb(d, order), UINT32_MAX);
}

// Name a slot: each at most once in a snapshot.
net_mirror_slot* net_decode_name_slot(net_decoder* d, uint32_t number) {
    net_mirror_slot* slot = net_mirror_slot_at(d->mirror, number);
    if (!slot) {
        net_decode_fail(d, NET_ERR_MEMORY);
        return NULL;
    }
    if (slot->stamp == d->mirror->snapshot_number) {
        net_decode_fail(d, NET_ERR_MALFORMED);
        return NULL;
    }
    slot->stamp = d->mirror->snapshot_number;
    return slot;
}

// Read the next slot of a list or run.
net_mirror_slot* net_decode_read_slot(net_decoder* d, uint32_t list, uint32_t order, uint32_t* next,
                                      uint32_t* number) {
    uint32_t gap = net_decode_take(d, PROTO_SOLO_GAP, proto_solo_situation(list, 0),
                                   net_decode_read_golomb(d, order), UINT32_MAX);
    if (!net_decode_is_readable(d)) return NULL;
    uint32_t index_max = d->mirror->index_max;
    if (gap >= index_max || *next + gap >= index_max) {
        net_decode_fail(d, NET_ERR_MALFORMED);
        return NULL;
    }
    *number = *next + gap;
    *next = *number + 1;
    return net_decode_name_slot(d, *number);
}

net_mirror_record* net_decode_add_record(net_decoder* d, net_mirror_record record) {
    net_mirror* mirror = d->mirror;
    if (mirror->record_count == mirror->record_capacity &&
        !BASE_ARRAY_RESERVE(&mirror->memory.allocator, mirror->records, mirror->record_capacity,
                            mirror->record_count + 1)) {
        net_decode_fail(d, NET_ERR_MEMORY);
        return NULL;
    }
    mirror->records[mirror->record_count] = record;
    return &mirror->records[mirror->record_count++];
}

static bool add_packed(net_decoder* d, const proto_layout* layout, const uint64_t* row) {
    net_mirror* mirror = d->mirror;
    if (!BASE_ARRAY_RESERVE(&mirror->memory.allocator, mirror->packed, mirror->packed_capacity,
                            mirror->packed_size + NET_PACKED_ROW_BYTES_MAX))
        return net_decode_fail(d, NET_ERR_MEMORY);
    mirror->packed_size += net_packed_row_write(layout, row, mirror->packed + mirror->packed_size);
    return true;
}

// Code or note the row with all that both sides know of it.
static void take_row(net_decoder* d, const net_mirror_record* record, const proto_row_base* base,
                     uint64_t* row) {
    proto_solo_third third = {.row = d->base3, .ticks = d->third_ticks};
    bool has_third = d->third_ticks > 0;
    if (record->kind == NET_MIRROR_CREATE) {
        has_third = d->has_like;
        third = (proto_solo_third){.row = d->like};
    }
    const proto_layout* layout = &record->row_template->layout;
    proto_solo_row(d->solo, net_solo_template(record->row_template), layout, base,
                   has_third ? &third : NULL, row);
    if (record->kind != NET_MIRROR_CREATE) return;
    memcpy(d->like, row, layout->field_count * sizeof *row);
    d->has_like = true;
}

// Decode a row and add its record.
bool net_decode_read_row(net_decoder* d, net_mirror_record record, const proto_row_base* base) {
    BASE_ASSERT(record.row_template && base->base);
    net_mirror* mirror = d->mirror;
    const proto_layout* layout = &record.row_template->layout;
    uint32_t word_count = mirror->word_count + layout->field_count;
    if (word_count > NET_SNAPSHOT_WORDS_MAX) return net_decode_fail(d, NET_ERR_MALFORMED);
    mirror->word_count = word_count;
    record.row_first = mirror->packed_size;
    if (!net_decode_add_record(d, record)) return false;
    uint64_t row[PROTO_ROW_FIELDS_MAX];
    if (d->is_coded) {
        take_row(d, &record, base, row);
        return net_decode_is_readable(d) && add_packed(d, layout, row);
    }
    uint32_t bits[PROTO_ROW_COMPONENTS_MAX];
    proto_row_read(layout, base, row, d->reader, bits);
    if (d->solo && !d->reader->failed) take_row(d, &record, base, row);
    for (uint32_t c = 0; c < layout->component_count; c++)
        mirror->parts[layout->components[c].key].here += bits[c];
    return net_decode_is_readable(d) && add_packed(d, layout, row);
}
