// SPDX-License-Identifier: MIT
// What a client has of one entity, and what of it waits, in words of net/explain.h. What was sent
// and acknowledged of a component is found by its rows: the newest one, that of the newest packet
// with the entity, and that of the newest acknowledged one.
#include "explain/explain.h"
#include "replicate/repl_state.h"

#include <string.h>

// The whole tick of its low bits, which is not in the future.
static ecs_tick whole_tick(const net_repl_state* repl, uint32_t low) {
    const ecs_tick now = net_replicator_now(repl->replicator);
    return now - (uint32_t)((uint32_t)now - low);
}

static bool is_carried(const net_repl_state* repl, uint32_t back, uint32_t slot) {
    return (net_repl_carried(repl, back)[slot >> 6] >> (slot & 63) & 1) != 0;
}

// The packets with the slot, in its present epoch. @return tick of the newest that is not lost; 0:
// none is known.
static ecs_tick explain_packets(const net_repl_state* repl, uint32_t slot, net_explanation* out) {
    ecs_tick sent = 0;
    for (uint32_t back = 1; back <= net_repl_state_backs(repl); back++) {
        if (!is_carried(repl, back, slot)) continue;
        const net_packet_state state = net_repl_packet_state(repl, back);
        const ecs_tick tick = whole_tick(repl, net_repl_packet_tick(repl, back));
        if (!out->has_packet) {
            out->has_packet = true;
            out->packet_seq = (uint16_t)(repl->seq_next - back);
            out->packet_tick = tick;
            out->is_packet_acked = state == NET_PACKET_ACKED;
            out->is_packet_lost = state == NET_PACKET_LOST;
        }
        out->packets_flying += state == NET_PACKET_FLYING;
        if (sent == 0 && state != NET_PACKET_LOST) sent = tick;
        if (out->acked_tick == 0 && state == NET_PACKET_ACKED) out->acked_tick = tick;
    }
    if (out->acked_tick == 0 && net_set_has(repl, NET_SET_BASED, slot))
        out->acked_tick = whole_tick(repl, repl->bases[slot]);
    return sent ? sent : out->acked_tick;
}

// Its place among those that wait; 0: it is not one of them.
static uint32_t find_rank(net_repl_state* repl, uint32_t slot) {
    net_snapshot_writer* writer = &repl->replicator->lanes[repl->lane].writer;
    if (!net_snapshot_writer_reserve(writer, repl->slot_end, 0)) return 0;
    uint64_t* held = net_snapshot_writer_set(writer, NET_LANE_HELD);
    memset(held, 0, net_repl_state_words(repl) * sizeof *held);
    net_repl_state_mark_full(repl, held);
    net_repl_state_find_held(repl, held);
    if (!net_repl_state_order(repl, held, UINT32_MAX)) return 0;
    for (uint32_t i = 0; i < writer->ranked_count; i++)
        if (writer->ranked[i] == slot) return i + 1;
    return 0;
}

static net_has explain_has(const net_repl_state* repl, uint32_t slot, bool is_sent) {
    const bool is_pending = net_set_has(repl, NET_SET_PENDING, slot);
    if (net_set_has(repl, NET_SET_GOING, slot))
        return is_pending ? NET_HAS_DESTROY_WAITS : NET_HAS_DESTROY_SENT;
    if (net_set_has(repl, NET_SET_LIVE, slot)) return NET_HAS_LIVE;
    return is_sent ? NET_HAS_CREATE_SENT : NET_HAS_CREATE_WAITS;
}

// What keeps it out of the newest packet, as far as its own state says; the rest is the session's.
static net_held explain_held(const net_repl_state* repl, uint32_t slot,
                             const net_explanation* out) {
    const uint64_t bit = UINT64_C(1) << (slot & 63);
    const uint32_t w = slot >> 6;
    const ecs_tick now = net_replicator_now(repl->replicator);
    if (net_repl_state_backs(repl) > 0 && is_carried(repl, 1, slot)) return NET_HELD_NOT;
    if (!out->waits) return NET_HELD_NOTHING;
    if (net_repl_state_created(repl, w, bit) & bit) return NET_HELD_CREATE;
    if (out->packets_flying >= NET_REPL_STATE_FLYING_MAX) return NET_HELD_FLYING;
    const bool is_late = out->waits_since == now && (out->is_repeat || out->is_resync);
    return out->newest_packet_tick == 0 || is_late ? NET_HELD_LATER : NET_HELD_BUDGET;
}

// @return false: there is no row of this tick, or it is forgotten.
static bool has_row(const net_history_entity* entity, ecs_tick now, ecs_tick tick, uint32_t classes,
                    uint64_t* row) {
    return tick != 0 && net_history_read(entity, now, tick, classes, row);
}

static bool is_same(const proto_row_component* component, const uint64_t* a, const uint64_t* b) {
    return memcmp(a + component->field_first, b + component->field_first,
                  component->field_count * sizeof *a) == 0;
}

static void explain_components(const net_repl_state* repl, uint32_t slot, ecs_tick sent,
                               net_explanation* out) {
    const net_replicator* replicator = repl->replicator;
    const net_history_entity* entity =
        net_history_find(replicator->history, ecs_entity_index(out->entity));
    if (!entity || entity->handle != out->entity) return;
    const ecs_tick now = net_replicator_now(replicator);
    const uint32_t classes = repl->classes[slot];
    uint64_t rows[3][PROTO_ROW_FIELDS_MAX];
    if (!net_history_read(entity, now, now, classes, rows[0])) return;
    const bool is_sent = has_row(entity, now, sent, classes, rows[1]) && !out->is_resync;
    const bool is_acked = has_row(entity, now, out->acked_tick, classes, rows[2]);
    out->changed = net_history_changed(entity, classes);
    for (uint32_t i = 0; i < out->component_count; i++) {
        net_explained_component* to = &out->components[i];
        const proto_row_component* component = &entity->row_template->layout.components[i];
        if (to->is_varsize || !to->is_visible) continue;
        to->waits = !is_sent || !is_same(component, rows[0], rows[1]);
        to->is_unconfirmed = is_sent && (!is_acked || !is_same(component, rows[1], rows[2]));
    }
}

// The components of its template, whether the client has it or not.
static void list_components(const net_repl_state* repl, net_explanation* out) {
    const net_history_entity* entity =
        net_history_find(repl->replicator->history, ecs_entity_index(out->entity));
    if (!entity || entity->handle != out->entity) return;
    const net_rows* rows = repl->replicator->rows;
    const net_row_template* of = entity->row_template;
    _Static_assert(PROTO_ROW_COMPONENTS_MAX + NET_ROW_VARSIZE_MAX <= NET_EXPLAINED_COMPONENTS_MAX,
                   "there is room for all");
    const uint32_t in_row = of->layout.component_count;
    for (uint32_t i = 0; i < in_row + of->varsize_count; i++) {
        const bool is_varsize = i >= in_row;
        const uint32_t class_ = is_varsize ? of->varsizes[i - in_row].class_ : of->classes[i];
        const uint32_t key =
            is_varsize ? of->varsizes[i - in_row].component : of->layout.components[i].key;
        out->components[out->component_count++] = (net_explained_component){
            .name = net_rows_component_of(rows, (ecs_component_id)key).name,
            .class_name = net_rows_class_name(rows, class_),
            .component = (ecs_component_id)key,
            .is_visible = (out->classes >> class_ & 1) != 0,
            .is_varsize = is_varsize,
        };
    }
}

void net_repl_state_explain(net_repl_state* repl, net_explanation* out) {
    const ecs_tick now = net_replicator_now(repl->replicator);
    uint32_t slot = net_repl_state_find_slot(repl, ecs_entity_index(out->entity));
    if (slot != UINT32_MAX && repl->handles[slot] != out->entity) slot = UINT32_MAX;
    out->slot = slot;
    out->waiting = repl->pending_count;
    if (net_repl_state_backs(repl) > 0)
        out->newest_packet_tick = whole_tick(repl, net_repl_packet_tick(repl, 1));
    out->held = NET_HELD_SCOPE;
    if (slot != UINT32_MAX && repl->members[slot].index != 0) {
        out->is_in_scope = true;
        out->classes = repl->members[slot].classes;
        out->weight = repl->members[slot].weight;
        out->entered = net_interest_entered(&repl->members[slot], now);
    }
    list_components(repl, out);
    if (slot == UINT32_MAX) return;
    const ecs_tick sent = explain_packets(repl, slot, out);
    out->has = explain_has(repl, slot, sent != 0);
    out->is_resync = net_set_has(repl, NET_SET_RESYNC, slot);
    out->is_repeat = net_set_has(repl, NET_SET_REPEAT, slot);
    out->waits = net_set_has(repl, NET_SET_PENDING, slot);
    if (out->waits) {
        out->waits_since = whole_tick(repl, repl->since[slot]);
        out->is_overdue = now - out->waits_since >= NET_REPL_STATE_OVERDUE_TICKS;
        out->rank = find_rank(repl, slot);
    }
    const uint32_t age =
        out->is_resync || out->has != NET_HAS_LIVE ? 0 : net_repl_state_base_age(repl, slot);
    out->base_tick = age ? now - age : 0;
    out->held = explain_held(repl, slot, out);
    explain_components(repl, slot, sent, out);
}
