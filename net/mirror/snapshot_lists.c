// SPDX-License-Identifier: MIT
// The lists of a snapshot: what was destroyed, and what was created, with its first rows.
#include "mirror/snapshot_decoder.h"

static bool read_destroy(net_decoder* d, uint32_t order, uint32_t* next) {
    uint32_t number;
    if (!net_decode_read_slot(d, NET_SOLO_LIST_DESTROYS, order, next, &number)) return false;
    return net_decode_add_record(d,
                                 (net_mirror_record){.kind = NET_MIRROR_DESTROY, .slot = number});
}

static int64_t take_create(net_decoder* d, uint32_t what, int64_t value) {
    if (!d->solo) return value;
    int64_t number =
        proto_solo_number(d->solo, PROTO_SOLO_CREATE, proto_solo_situation(what, 0), value);
    if (number >= -(int64_t)UINT32_MAX && number <= UINT32_MAX) return number;
    net_decode_fail(d, NET_ERR_MALFORMED);
    d->solo->failed = true;
    return 0;
}

static bool read_handle(net_decoder* d, ecs_entity* handle) {
    net_mirror* mirror = d->mirror;
    int64_t index = (int64_t)d->index + 1, generation = 1;
    if (!d->is_coded) {
        if (!proto_bits_read(d->reader, 1))
            index = (int64_t)proto_bits_read(d->reader, mirror->index_bits);
        if (!proto_bits_read(d->reader, 1))
            generation = (int64_t)proto_bits_read(d->reader, ECS_GENERATION_BITS);
    }
    index = d->index + 1 + take_create(d, NET_SOLO_CREATE_INDEX, index - d->index - 1);
    generation =
        d->generation + take_create(d, NET_SOLO_CREATE_GENERATION, generation - d->generation);
    if (!net_decode_is_readable(d)) return false;
    if (index <= 0 || index > mirror->index_max || generation <= 0 ||
        generation > ECS_GENERATION_MAX)
        return net_decode_fail(d, NET_ERR_MALFORMED);
    net_mirror_index* known = net_mirror_index_at(mirror, (uint32_t)index);
    if (!known) return net_decode_fail(d, NET_ERR_MEMORY);
    if (known->stamp == mirror->snapshot_number) return net_decode_fail(d, NET_ERR_MALFORMED);
    known->stamp = mirror->snapshot_number;
    d->index = (uint32_t)index;
    d->generation = (uint32_t)generation;
    *handle = ecs_entity_make(d->index, d->generation);
    return true;
}

static bool read_parts(net_decoder* d, uint16_t* parts, uint32_t* count) {
    enum { MORE_MAX = (1 << NET_SNAPSHOT_PARTS_BITS) - 1 };
    int64_t more =
        take_create(d, NET_SOLO_CREATE_PARTS, net_decode_read_bits(d, NET_SNAPSHOT_PARTS_BITS));
    if (more < 0 || more > MORE_MAX) return net_decode_fail(d, NET_ERR_MALFORMED);
    *count = (uint32_t)more + 1;
    for (uint32_t i = 0; i < *count; i++) {
        int64_t part =
            take_create(d, NET_SOLO_CREATE_PART, net_decode_read_bits(d, d->number_bits));
        if (part < 0 || part > UINT16_MAX) return net_decode_fail(d, NET_ERR_MALFORMED);
        parts[i] = (uint16_t)part;
    }
    return net_decode_is_readable(d);
}

static bool read_template(net_decoder* d) {
    bool is_other = d->is_coded || !proto_bits_read(d->reader, 1);
    uint16_t parts[1u << NET_SNAPSHOT_PARTS_BITS];
    uint32_t count = 0;
    int64_t other = take_create(d, NET_SOLO_CREATE_OTHER, is_other);
    if (other < 0 || other > 1) return net_decode_fail(d, NET_ERR_MALFORMED);
    is_other = other;
    if (!is_other)
        return d->row_template ? net_decode_is_readable(d) : net_decode_fail(d, NET_ERR_MALFORMED);
    d->has_like = false;
    if (!read_parts(d, parts, &count)) return false;
    d->row_template = net_rows_compose(d->mirror->rows, parts, count);
    return d->row_template ? true : net_decode_fail(d, NET_ERR_MALFORMED);
}

static bool read_create(net_decoder* d, uint32_t order, uint32_t* next) {
    net_mirror_record record = {.kind = NET_MIRROR_CREATE, .is_absolute = true};
    if (!net_decode_read_slot(d, NET_SOLO_LIST_CREATES, order, next, &record.slot)) return false;
    if (!read_handle(d, &record.handle) || !read_template(d)) return false;
    record.row_template = d->row_template;
    return net_decode_read_row(d, record, &(proto_row_base){.base = d->row_template->defaults});
}

typedef bool (*read_fn)(net_decoder* d, uint32_t order, uint32_t* next);

static bool read_list(net_decoder* d, uint32_t list, read_fn read) {
    uint32_t count = net_decode_read_count(d, list, NET_SNAPSHOT_LIST_ORDER);
    if (!net_decode_is_readable(d)) return false;
    if (count == 0) return true;
    uint32_t next = 0, order = net_decode_read_bits(d, NET_SNAPSHOT_ORDER_BITS);
    while (count-- > 0)
        if (!read(d, order, &next)) return false;
    return true;
}

bool net_decode_lists(net_decoder* d) {
    return read_list(d, NET_SOLO_LIST_DESTROYS, read_destroy) &&
           read_list(d, NET_SOLO_LIST_CREATES, read_create);
}
