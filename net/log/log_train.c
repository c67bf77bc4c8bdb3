// SPDX-License-Identifier: MIT
// How often the rows of a log use each symbol of the row code: what tables are trained from.
//
// A log holds no packets, so the match is run again. Each tick one of its players looks around: the
// rows that it sees, with the components that it may see, are coded as a server would, against rows
// of some ticks before. Future networks are unknown, so each row is counted
// with several such lags.
#include "base/assert.h"
#include "ecs/component.h"
#include "ecs/entity.h"
#include "interest/interest_manager.h"
#include "log/log_read.h"
#include "net/replay.h"
#include "proto/tables.h"
#include "state/schema_rows.h"

#include <string.h>

enum {
    LAGS = 4,
    TICKS = 256 /* whose rows are kept */,
    AHEAD = 64 /* numbers of clients */,
    RARE = 8,
    ROW_BYTES = NET_ROW_BYTES_MAX + 8
};

// One entity, and its rows of the last ticks.
typedef struct trained {
    ecs_entity entity;
    const net_row_template* row_template;
    ecs_tick born;
    size_t row_words; // kept: the template goes with the match, before the rows
    uint64_t* rows;   // [tick % TICKS][field]
} trained;

typedef struct training {
    const base_allocator* allocator;
    net_log_training* result;
    trained* entities; // by index
    uint32_t count;
    uint32_t lags[LAGS]; // ticks; 0: none
    const base_reporter* reporter;
    net_interest* interest;
    uint32_t viewer, client_last; // client numbers: who looks in this tick; 0: none
    net_result status;
} training;

static void forget(const training* self, trained* own) {
    if (own->rows)
        base_release(self->allocator, own->rows, own->row_words * TICKS * sizeof *own->rows);
    *own = (trained){0};
}

static uint64_t* row_at(const trained* own, ecs_tick tick) {
    return own->rows + tick % TICKS * own->row_words;
}

static void count_row(const training* self, const trained* own, const proto_row_base* against,
                      const uint64_t* row) {
    uint8_t bytes[ROW_BYTES];
    proto_bit_writer writer = proto_bit_writer_make(bytes, sizeof bytes);
    proto_row_count(&own->row_template->layout, against, row, &writer, self->result->counts);
    self->result->rows++;
    self->result->bits += writer.size_bits;
}

// A row of a tick as the viewer sees it.
static const uint64_t* seen_at(const trained* own, ecs_tick tick, uint32_t classes, uint64_t* row) {
    memcpy(row, row_at(own, tick), own->row_template->layout.field_count * sizeof *row);
    net_rows_mask(own->row_template, classes, row);
    return row;
}

static void count_lags(const training* self, const trained* own, ecs_tick tick, uint32_t classes) {
    uint64_t rows[3][PROTO_ROW_FIELDS_MAX];
    const uint64_t* row = seen_at(own, tick, classes, rows[0]);
    size_t bytes = own->row_template->layout.field_count * sizeof *row;
    if (tick == own->born) {
        proto_row_base against = {.base = own->row_template->defaults};
        count_row(self, own, &against, row);
    }
    for (uint32_t i = 0; i < LAGS; i++) {
        uint32_t lag = self->lags[i];
        if (lag == 0 || tick < own->born + lag) continue;
        proto_row_base against = {.base = seen_at(own, tick - lag, classes, rows[1]), .ticks = lag};
        if (memcmp(row, against.base, bytes) == 0) continue; // nothing would be sent
        // The row before the base: mostly of the tick before, else as far back again.
        uint32_t more = (tick + ecs_entity_index(own->entity)) % RARE ? 1 : lag;
        if (tick >= own->born + lag + more) {
            against.base2 = seen_at(own, tick - lag - more, classes, rows[2]);
            against.ticks2 = more;
        }
        count_row(self, own, &against, row);
    }
}

static bool visit(training* self, const ecs_world* world, ecs_entity entity, ecs_tick tick,
                  const net_row_template* row_template) {
    trained* own = &self->entities[ecs_entity_index(entity)];
    bool is_new = own->entity != entity || own->row_template != row_template;
    if (is_new) {
        forget(self, own);
        size_t words = row_template->layout.field_count + 1u; // a row may be empty
        uint64_t* rows = base_allocate_zero(self->allocator, words * TICKS * sizeof *rows);
        if (!rows) return false;
        *own = (trained){entity, row_template, tick, words, rows};
    }
    net_rows_read(row_template, world, entity, row_at(own, tick));
    if (self->viewer == 0) return true;
    uint32_t classes = net_interest_judge(self->interest, world, self->viewer, entity, false);
    if (classes != 0) count_lags(self, own, tick, classes);
    return true;
}

// The players take turns.
static bool choose_viewer(training* self, const net_match* match) {
    for (uint32_t i = 1; i <= AHEAD; i++)
        if (net_match_player_name(match, self->client_last + i)) self->client_last += i, i = 0;
    uint32_t viewer = self->viewer;
    self->viewer = 0;
    for (uint32_t i = 0; i < self->client_last && self->viewer == 0; i++) {
        viewer = viewer % self->client_last + 1;
        if (net_match_player(match, viewer) != ECS_ENTITY_NONE) self->viewer = viewer;
    }
    if (self->viewer == 0) return true;
    if (!net_interest_add_client(self->interest, self->viewer)) return false;
    net_interest_set_player(self->interest, self->viewer, net_match_player(match, self->viewer));
    return true;
}

static net_result create_interest(training* self, net_match* match, net_rows* rows) {
    const net_match_config* config = net_match_get_config(match);
    const net_interest_config interest = {
        .allocator = self->allocator,
        .rules = config->module->game->interest,
        .context = net_match_context(match),
        .world = net_match_world(match),
        .rows = rows,
        .index_max = self->count - 1,
        .tick_rate_hz = config->tick_rate_hz,
    };
    return net_interest_create(&interest, self->reporter, &self->interest);
}

static bool each_tick(void* context, net_match* match) {
    training* self = context;
    net_rows* rows = net_schema_rows(net_match_schema(match));
    const ecs_world* world = net_match_world(match);
    if (!self->interest) {
        net_rows_set_tick_rate(rows, net_match_get_config(match)->tick_rate_hz); // as a server does
        self->status = create_interest(self, match, rows);
    }
    if (self->status == NET_OK && !choose_viewer(self, match)) self->status = NET_ERR_MEMORY;
    for (ecs_entity at = ecs_entity_next(world, ECS_ENTITY_NONE);
         at != ECS_ENTITY_NONE && self->status == NET_OK; at = ecs_entity_next(world, at)) {
        if (ecs_entity_index(at) >= self->count) break; // they rise
        const net_row_template* row_template = net_rows_find(rows, ecs_entity_template(world, at));
        if (row_template && !visit(self, world, at, net_match_tick(match), row_template))
            self->status = NET_ERR_MEMORY;
    }
    if (self->viewer != 0 && self->status == NET_OK)
        net_interest_remove_client(self->interest, self->viewer);
    return self->status == NET_OK;
}

net_result net_log_train(net_log_reader* reader, const net_module* module,
                         const base_reporter* reporter, net_log_training* result) {
    BASE_ASSERT(reader && module && result);
    const net_log_info* info = net_log_reader_info(reader);
    training self = {.allocator = net_log_reader_allocator(reader),
                     .result = result,
                     .reporter = reporter,
                     .count = info->replicated_index_max + 1};
    static const uint32_t shares[LAGS] = {20, 10, 5, 3}; // of a second
    for (uint32_t i = 0; i < LAGS; i++) {
        uint32_t lag = info->tick_rate_hz / shares[i] > 0 ? info->tick_rate_hz / shares[i] : 1;
        bool is_new = i == 0 || lag > self.lags[i - 1];
        if (is_new && 2 * lag < TICKS) self.lags[i] = lag;
    }
    self.entities = base_allocate_zero(self.allocator, self.count * sizeof *self.entities);
    if (!self.entities) return NET_ERR_MEMORY;
    net_verify_result verified;
    net_result status = net_log_verify(reader, module, 0, each_tick, &self, reporter, &verified);
    if (self.interest) net_interest_destroy(self.interest);
    for (uint32_t i = 0; i < self.count; i++)
        forget(&self, &self.entities[i]);
    base_release(self.allocator, self.entities, self.count * sizeof *self.entities);
    return self.status == NET_OK ? status : self.status;
}
