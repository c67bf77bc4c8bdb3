// SPDX-License-Identifier: MIT
// Reading a state body, all of it before anything is believed.
//
// A body says nothing about its own length in rows: where one record ends depends on the base row of that
// record. So one missing base makes the rest unreadable, and the whole body is refused. Refused for being
// late (the server will see a loss and send what is newest) or for being impossible; the difference is
// whether we know of something newer that explains what is missing: a packet older than the newest one,
// or an entity that has moved on since.
//
// A late body may be readable and yet speak of another life of an index than the present one, with another
// layout. Updates are sent only after a create of that life was acknowledged, so an update that is not
// younger than the first create we know of the present life belongs to another life: refused.
//
// Bounds: each record takes at least one bit, so there are at most 8 times as many records as bytes; rows
// of one body are at most NET_BODY_WORDS_MAX words; compositions at most NET_ROW_TEMPLATES_MAX.
#include "mirror_body.h"

#include "base/assert.h"

typedef struct decoder {
    net_mirror* mirror;
    ecs_tick tick;
    proto_bit_reader reader;
    uint32_t number_bits;
    net_result result;
    bool is_overtaken; // something newer explains what is missing
    bool misses_base;
    const net_row_template* entry; // of the create before
} decoder;

static bool fail(decoder* d, net_result result) {
    if (d->result == NET_OK) d->result = result;
    return false;
}

static bool is_readable(decoder* d) {
    return d->reader.failed ? fail(d, NET_ERR_MALFORMED) : true;
}

static net_mirror_entity* entity_at(net_mirror* mirror, uint32_t index) {
    if (!base_array_reserve(mirror->allocator, (void**)&mirror->entities, &mirror->entity_capacity,
                            index + 1, sizeof *mirror->entities))
        return NULL;
    return &mirror->entities[index];
}

// The next index of a list; each at most once in a body.
static net_mirror_entity* read_index(decoder* d, uint32_t order, uint32_t* next, uint32_t* index) {
    uint32_t gap = proto_bits_read_golomb(&d->reader, order);
    if (!is_readable(d)) return NULL;
    if (gap > d->mirror->index_max || *next + gap > d->mirror->index_max || *next + gap == 0) {
        fail(d, NET_ERR_MALFORMED);
        return NULL;
    }
    *index = *next + gap;
    *next = *index + 1;
    net_mirror_entity* entity = entity_at(d->mirror, *index);
    if (!entity) {
        fail(d, NET_ERR_MEMORY);
        return NULL;
    }
    if (entity->stamp == d->mirror->body_number) {
        fail(d, NET_ERR_MALFORMED);
        return NULL;
    }
    entity->stamp = d->mirror->body_number;
    return entity;
}

static bool add_record(decoder* d, net_mirror_record record) {
    net_mirror* mirror = d->mirror;
    if (!base_array_reserve(mirror->allocator, (void**)&mirror->records, &mirror->record_capacity,
                            mirror->record_count + 1, sizeof *mirror->records))
        return fail(d, NET_ERR_MEMORY);
    mirror->records[mirror->record_count++] = record;
    return true;
}

// Decode a row against `base` and add the record that it belongs to.
static bool read_row(decoder* d, net_mirror_record record, const uint64_t* base) {
    net_mirror* mirror = d->mirror;
    uint32_t field_count = record.entry->layout.field_count;
    if (mirror->word_count + field_count > NET_BODY_WORDS_MAX) return fail(d, NET_ERR_MALFORMED);
    if (!base_array_reserve(mirror->allocator, (void**)&mirror->words, &mirror->word_capacity,
                            mirror->word_count + field_count + 1, sizeof *mirror->words))
        return fail(d, NET_ERR_MEMORY);
    record.words_first = mirror->word_count;
    mirror->word_count += field_count;
    const proto_layout* layout = &record.entry->layout;
    uint32_t bits[PROTO_ROW_COMPONENTS_MAX];
    proto_row_decode_counted(layout, base, mirror->words + record.words_first, &d->reader, bits);
    for (uint32_t c = 0; c < layout->component_count; c++) {
        uint32_t key = layout->components[c].key;
        BASE_ASSERT(key <= ECS_COMPONENTS_MAX);
        mirror->component_bits[key] += bits[c];
    }
    return is_readable(d) && add_record(d, record);
}

static bool read_destroy(decoder* d, uint32_t order, uint32_t* next) {
    uint32_t index;
    if (!read_index(d, order, next, &index)) return false;
    uint32_t generation = (uint32_t)proto_bits_read(&d->reader, ECS_GENERATION_BITS);
    if (!is_readable(d)) return false;
    if (generation == 0) return fail(d, NET_ERR_MALFORMED);
    return add_record(d, (net_mirror_record){.kind = NET_MIRROR_DESTROY,
                                             .handle = ecs_entity_make(index, generation)});
}

static bool read_template(decoder* d) {
    uint32_t count = (uint32_t)proto_bits_read(&d->reader, NET_BODY_PARTS_BITS) + 1;
    uint16_t parts[1u << NET_BODY_PARTS_BITS];
    for (uint32_t i = 0; i < count; i++)
        parts[i] = (uint16_t)proto_bits_read(&d->reader, d->number_bits);
    if (!is_readable(d)) return false;
    d->entry = net_rows_compose(d->mirror->rows, parts, count);
    return d->entry ? true : fail(d, NET_ERR_MALFORMED);
}

static bool read_create(decoder* d, uint32_t order, uint32_t* next) {
    uint32_t index;
    if (!read_index(d, order, next, &index)) return false;
    uint32_t generation = (uint32_t)proto_bits_read(&d->reader, ECS_GENERATION_BITS);
    bool is_same = proto_bits_read(&d->reader, 1);
    if (!is_readable(d)) return false;
    if (generation == 0 || (is_same && !d->entry)) return fail(d, NET_ERR_MALFORMED);
    if (!is_same && !read_template(d)) return false;
    net_mirror_record record = {
        .kind = NET_MIRROR_CREATE, .handle = ecs_entity_make(index, generation), .entry = d->entry};
    return read_row(d, record, d->entry->defaults);
}

// The row that an age names, or NULL.
static const uint64_t* find_base(const decoder* d, const net_mirror_entity* entity, uint32_t age,
                                 ecs_tick* base_tick) {
    if (age > d->tick) return NULL;
    uint32_t position = net_row_ring_find(&entity->ring, d->tick - age);
    if (position == UINT32_MAX) return NULL;
    *base_tick = net_row_ring_tick(&entity->ring, position);
    if (age != NET_BODY_AGE_SETTLED && *base_tick != d->tick - age) return NULL;
    return net_row_ring_row(&entity->ring, position);
}

static bool read_update(decoder* d, uint32_t order, uint32_t* next, uint32_t age) {
    uint32_t index;
    net_mirror_entity* entity = read_index(d, order, next, &index);
    if (!entity) return false;
    bool is_this_life = entity->handle != ECS_ENTITY_NONE && entity->life_tick < d->tick;
    net_mirror_record record = {.kind = NET_MIRROR_UPDATE,
                                .handle = entity->handle,
                                .entry = entity->entry,
                                .has_base = age != 0};
    const uint64_t* base = NULL;
    if (is_this_life)
        base = age ? find_base(d, entity, age, &record.base_tick) : entity->entry->defaults;
    if (!base) {
        d->misses_base = true;
        d->is_overtaken = entity->is_known && entity->tick >= d->tick;
        return fail(d, NET_ERR_MALFORMED);
    }
    return read_row(d, record, base);
}

typedef bool (*read_fn)(decoder* d, uint32_t order, uint32_t* next);

static bool read_list(decoder* d, read_fn read) {
    uint32_t count = proto_bits_read_golomb(&d->reader, NET_BODY_LIST_ORDER);
    if (!is_readable(d)) return false;
    if (count == 0) return true;
    uint32_t next = 0, order = (uint32_t)proto_bits_read(&d->reader, NET_BODY_ORDER_BITS);
    while (count-- > 0)
        if (!read(d, order, &next)) return false;
    return true;
}

static bool read_run(decoder* d) {
    uint32_t age = 0, next = 0;
    if (proto_bits_read(&d->reader, 1)) {
        age = (uint32_t)proto_bits_read(&d->reader, NET_BODY_AGE_BITS);
        if (age == 0) return fail(d, NET_ERR_MALFORMED);
    }
    uint32_t more = proto_bits_read_golomb(&d->reader, NET_BODY_RUN_ORDER);
    uint32_t order = (uint32_t)proto_bits_read(&d->reader, NET_BODY_ORDER_BITS);
    if (!is_readable(d)) return false;
    do {
        if (!read_update(d, order, &next, age)) return false;
    } while (more-- > 0);
    return true;
}

static bool read_all(decoder* d) {
    if (!read_list(d, read_destroy) || !read_list(d, read_create)) return false;
    uint32_t runs = proto_bits_read_golomb(&d->reader, NET_BODY_LIST_ORDER);
    if (!is_readable(d)) return false;
    while (runs-- > 0)
        if (!read_run(d)) return false;
    uint64_t left = d->reader.size_bits - d->reader.offset_bits;
    if (left >= 8 || proto_bits_read(&d->reader, (uint32_t)left) != 0)
        return fail(d, NET_ERR_MALFORMED);
    return true;
}

net_result net_mirror_decode(net_mirror* mirror, ecs_tick tick, const uint8_t* body, size_t size) {
    mirror->record_count = 0;
    mirror->word_count = 0;
    mirror->body_number++;
    if (size == 0) return NET_OK;
    decoder d = {.mirror = mirror,
                 .tick = tick,
                 .reader = proto_bit_reader_make(body, size),
                 .number_bits = net_rows_number_bits(mirror->rows)};
    if (size > NET_BODY_BYTES_MAX)
        d.result = NET_ERR_MALFORMED;
    else if (read_all(&d))
        return NET_OK;
    if (d.result == NET_ERR_MEMORY) return d.result;
    mirror->counters.missing_bases += d.misses_base;
    bool is_late = (mirror->has_tick && tick < mirror->tick) || d.is_overtaken;
    return is_late ? NET_ERR_STALE : NET_ERR_MALFORMED;
}

uint64_t net_mirror_component_bits(const net_mirror* mirror, ecs_component_id component) {
    return component <= ECS_COMPONENTS_MAX ? mirror->component_bits[component] : 0;
}
