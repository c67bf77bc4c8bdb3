// SPDX-License-Identifier: MIT
// A snapshot in shared code, read again (WIRE.md, "State body"). Only what a client would look up
// comes from the writer: whose slot it is, and the base rows.
#include "explain/explain.h"

#include "base/assert.h"

typedef struct apart {
    const net_piece_sink* to;
    net_repl_state* repl;
    const net_snapshot_writer* writer;
    net_encoded_rows* rows;
    proto_bit_reader* reader;
    uint64_t from; // where the next piece begins
} apart;

const char* net_cost_name(net_cost cost) {
    static const char* const names[] = {
        [NET_COST_CHANGE] = "change",   [NET_COST_REPEAT] = "repeat",
        [NET_COST_CREATE] = "create",   [NET_COST_ABSOLUTE] = "absolute",
        [NET_COST_HEAL] = "heal",       [NET_COST_HEAD] = "head",
        [NET_COST_DESTROY] = "destroy", [NET_COST_HEADER] = "header",
        [NET_COST_SAMPLE] = "sample",   [NET_COST_EVENT] = "event",
        [NET_COST_CONTROL] = "control", [NET_COST_VARSIZE] = "large",
        [NET_COST_FRAME] = "frame",     [NET_COST_TRANSPORT] = "transport",
    };
    _Static_assert(sizeof names / sizeof *names == NET_COST_COUNT, "a cost has no name");
    BASE_ASSERT((uint32_t)cost < NET_COST_COUNT);
    return names[cost];
}

// The bits since the piece before. `slot`: UINT32_MAX: of no entity.
static void say(apart* a, const char* what, net_cost cause, uint32_t depth, uint32_t slot,
                int64_t number) {
    net_piece piece = {.bits = (uint32_t)(a->reader->offset_bits - a->from),
                       .depth = depth,
                       .cause = cause,
                       .what = what,
                       .place = NET_PIECE_NO_COMPONENT,
                       .has_number = true,
                       .number = number};
    a->from = a->reader->offset_bits;
    if (slot != UINT32_MAX) {
        piece.entity = a->repl->handles[slot];
        const net_history_entity* entity =
            net_history_find(a->repl->replicator->history, ecs_entity_index(piece.entity));
        piece.row_template = entity && entity->handle == piece.entity ? entity->row_template : NULL;
    }
    net_piece_add(a->to, &piece);
}

static uint32_t read_golomb(apart* a, const char* what, net_cost cause, uint32_t order) {
    const uint32_t value = proto_bits_read_golomb(a->reader, order);
    say(a, what, cause, 1, UINT32_MAX, value);
    return value;
}

static uint32_t read_bits(apart* a, const char* what, uint32_t count) {
    const uint32_t value = (uint32_t)proto_bits_read(a->reader, count);
    say(a, what, NET_COST_HEAD, 1, UINT32_MAX, value);
    return value;
}

static void read_gap(apart* a, net_cost cause, uint32_t order, uint32_t slot) {
    const uint32_t gap = proto_bits_read_golomb(a->reader, order);
    say(a, cause == NET_COST_DESTROY ? "gap to the slot, destroyed" : "gap to the slot", cause, 2,
        slot, gap);
}

// ---- rows ----

static void read_row(apart* a, const net_record_group* run, bool is_create, uint32_t slot) {
    const net_encoded_row_key key = net_repl_state_key(a->repl, a->writer, run, is_create, slot);
    const net_row_template* row_template =
        net_template_of(a->repl->replicator->history, a->repl->handles[slot]);
    const proto_layout* layout = &row_template->layout;
    const uint32_t* packed;
    proto_packed_base against;
    uint64_t rows[3][PROTO_ROW_FIELDS_MAX];
    uint32_t bits[PROTO_ROW_COMPONENTS_MAX];
    if (net_encoded_rows_sources(a->rows, &key, &packed, &against) != NET_ENCODED_ROW_OK) {
        a->reader->failed = true; // it was encoded in this tick
        return;
    }
    const proto_row_base base = proto_row_unpack_base(layout, &against, &rows[1]);
    const uint64_t begin = a->reader->offset_bits;
    proto_row_read(layout, &base, rows[0], a->reader, bits);
    const uint64_t end = a->reader->offset_bits;
    uint64_t of_components = 0;
    for (uint32_t c = 0; c < layout->component_count; c++)
        of_components += bits[c];
    a->reader->offset_bits = end - of_components;
    BASE_VALIDATE(a->reader->offset_bits >= begin);
    say(a, "head of the row", NET_COST_HEAD, 2, slot, 0);
    net_piece piece = {.depth = 3,
                       .cause = net_piece_cause(a->repl, run, is_create, slot),
                       .what = "value",
                       .entity = a->repl->handles[slot],
                       .row_template = row_template,
                       .row = rows[0]};
    for (uint32_t i = 0; i < layout->component_count; i++) {
        piece.place = layout->order[i];
        piece.component = layout->components[piece.place].key;
        piece.bits = bits[piece.place];
        net_piece_add(a->to, &piece);
    }
    a->reader->offset_bits = a->from = end;
}

// ---- lists and runs ----

static void read_destroys(apart* a) {
    const net_record_group* run = &a->writer->runs[NET_RUN_DESTROY];
    const net_cost cause = run->count > 0 ? NET_COST_DESTROY : NET_COST_HEAD;
    if (read_golomb(a, "destroyed entities", cause, NET_SNAPSHOT_LIST_ORDER) == 0) return;
    (void)proto_bits_read(a->reader, NET_SNAPSHOT_ORDER_BITS);
    say(a, "order of gaps", cause, 1, UINT32_MAX, run->order);
    for (net_run_cursor at = net_run_begin(a->writer, run); net_run_next(&at);)
        read_gap(a, cause, run->order, at.slot);
}

static void read_create_head(apart* a, const net_create_state* state, uint32_t slot) {
    const ecs_entity handle = a->repl->handles[slot];
    const net_row_template* row_template = net_template_of(a->repl->replicator->history, handle);
    if (!proto_bits_read(a->reader, 1)) (void)proto_bits_read(a->reader, a->writer->index_bits);
    say(a, "index", NET_COST_HEAD, 2, slot, ecs_entity_index(handle));
    if (!proto_bits_read(a->reader, 1)) (void)proto_bits_read(a->reader, ECS_GENERATION_BITS);
    say(a, "generation", NET_COST_HEAD, 2, slot, ecs_entity_generation(handle));
    const bool is_same = proto_bits_read(a->reader, 1) != 0;
    BASE_VALIDATE(is_same == (row_template == state->row_template));
    const uint32_t parts =
        is_same ? 0 : (uint32_t)proto_bits_read(a->reader, NET_SNAPSHOT_PARTS_BITS) + 1;
    for (uint32_t i = 0; i < parts; i++)
        (void)proto_bits_read(a->reader, a->writer->number_bits);
    say(a, "template", NET_COST_HEAD, 2, slot, row_template->parts[0]);
}

static void read_creates(apart* a) {
    const net_record_group* run = &a->writer->runs[NET_RUN_CREATE];
    if (read_golomb(a, "created entities", NET_COST_HEAD, NET_SNAPSHOT_LIST_ORDER) == 0) return;
    (void)read_bits(a, "order of gaps", NET_SNAPSHOT_ORDER_BITS);
    net_create_state state = {.index_next = 1};
    for (net_run_cursor at = net_run_begin(a->writer, run); net_run_next(&at);) {
        const ecs_entity handle = a->repl->handles[at.slot];
        read_gap(a, NET_COST_HEAD, run->order, at.slot);
        read_create_head(a, &state, at.slot);
        read_row(a, run, true, at.slot);
        state = (net_create_state){ecs_entity_index(handle) + 1,
                                   net_template_of(a->repl->replicator->history, handle)};
    }
}

static void read_listed(apart* a, const net_record_group* run) {
    for (uint32_t w = 0; w < (a->writer->slot_end + 63) / 64; w++) {
        for (uint64_t left = run->list[w]; left && !a->reader->failed; left &= left - 1) {
            const uint32_t slot = w * 64 + base_bit_lowest(left);
            if (proto_row_read_absent(a->reader))
                say(a, "absent", NET_COST_HEAD, 2, slot, 0);
            else
                read_row(a, run, false, slot);
        }
    }
}

static void read_run(apart* a, const net_record_group* run) {
    (void)read_bits(a, "kind of run", NET_SNAPSHOT_KIND_BITS);
    if (run->kind == NET_SNAPSHOT_BY_PACKET)
        (void)read_bits(a, "packets back to the base", NET_SNAPSHOT_BACK_BITS);
    if (run->kind == NET_SNAPSHOT_BY_AGE)
        (void)read_bits(a, "age of the base", NET_SNAPSHOT_AGE_BITS);
    if (run->kind != NET_SNAPSHOT_ABSOLUTE)
        (void)read_golomb(a, "ticks to the second base", NET_COST_HEAD, NET_SNAPSHOT_BASE2_ORDER);
    if (run->kind == NET_SNAPSHOT_BY_PACKET)
        read_listed(a, run);
    else {
        (void)read_golomb(a, "records behind the first", NET_COST_HEAD, NET_SNAPSHOT_RUN_ORDER);
        (void)read_bits(a, "order of gaps", NET_SNAPSHOT_ORDER_BITS);
        for (net_run_cursor at = net_run_begin(a->writer, run); net_run_next(&at);) {
            read_gap(a, NET_COST_HEAD, run->order, at.slot);
            read_row(a, run, false, at.slot);
        }
    }
}

bool net_pieces_read(net_repl_state* repl, const proto_bit_writer* output, uint64_t first_bit,
                     const net_piece_sink* sink) {
    if (repl->solo && repl->replicator->solo->take_apart(repl->solo, repl, sink, &first_bit))
        return true;
    net_replicator_lane* lane = &repl->replicator->lanes[repl->lane];
    proto_bit_reader reader = {
        .data = output->data, .offset_bits = first_bit, .size_bits = output->size_bits};
    apart a = {.to = sink,
               .repl = repl,
               .writer = &lane->writer,
               .rows = &lane->encoded_rows,
               .reader = &reader,
               .from = first_bit};
    read_destroys(&a);
    read_creates(&a);
    (void)read_golomb(&a, "runs", NET_COST_HEAD, NET_SNAPSHOT_LIST_ORDER);
    for (uint32_t i = NET_RUN_FIRST; i < lane->writer.run_count && !reader.failed; i++)
        if (lane->writer.runs[i].count > 0) read_run(&a, &lane->writer.runs[i]);
    BASE_ASSERT(!reader.failed && reader.offset_bits == reader.size_bits);
    return false;
}
