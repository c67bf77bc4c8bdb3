// SPDX-License-Identifier: MIT
// The state of a match at a glance: times against the budget, who and what is there, bytes, and
// warnings in words.
#include "metrics.h"
#include "view.h"

#include "base/text.h"
#include "net/socket.h"
#include "host/output.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>

enum { TEMPLATES_MAX = 64 };

static uint64_t budget_us(const server_subject* subject) {
    return 1000000 / subject->tick_rate_hz;
}

// ---- times ----

static void put_parts(base_bytes* json, const server_meter* meter) {
    view_open(json, "parts", '[');
    for (uint32_t i = 0; i < SERVER_METER_PARTS; i++) {
        double share;
        const server_timing* times = server_meter_part(meter, i, &share);
        view_open(json, NULL, '{');
        view_text(json, "name", i == 0 ? "tick" : net_part_name((net_part)(i - 1)));
        view_f64(json, "p50_us", (double)server_timing_percentile(times, 50));
        view_f64(json, "p99_us", (double)server_timing_percentile(times, 99));
        view_f64(json, "max_us", (double)server_timing_percentile(times, 100));
        view_f64(json, "share", share);
        view_close(json, "}");
    }
    view_close(json, "]");
}

#define PUT_HISTORY(json, meter, field)                                                            \
    do {                                                                                           \
        view_open(json, #field, '[');                                                              \
        for (uint32_t i = 0; i < server_meter_seconds(meter); i++)                                 \
            view_u32(json, NULL, server_meter_second(meter, i)->field);                            \
        view_close(json, "]");                                                                     \
    } while (0)

static void put_history(base_bytes* json, const server_meter* meter) {
    view_open(json, "history", '{');
    view_u32(json, "every_s", 1);
    PUT_HISTORY(json, meter, p50_us);
    PUT_HISTORY(json, meter, p99_us);
    PUT_HISTORY(json, meter, max_us);
    PUT_HISTORY(json, meter, cpu_us);
    PUT_HISTORY(json, meter, sent_bytes);
    PUT_HISTORY(json, meter, recv_bytes);
    PUT_HISTORY(json, meter, clients);
    PUT_HISTORY(json, meter, entities);
    view_close(json, "}");
}

// ---- entities ----

typedef struct template_count {
    ecs_template_id id;
    uint32_t count;
} template_count;

static int compare_counts(const void* a, const void* b) {
    const template_count *x = a, *y = b;
    if (x->count != y->count) return x->count < y->count ? 1 : -1;
    return (x->id > y->id) - (x->id < y->id);
}

static void put_templates(base_bytes* json, const ecs_world* world, const server_metrics* metrics) {
    const uint32_t count = ecs_template_count(world);
    template_count* counts = base_allocate(NULL, (count + 1) * sizeof *counts);
    if (!counts) {
        json->failed = true;
        return;
    }
    for (uint32_t i = 0; i < count; i++)
        counts[i] = (template_count){(ecs_template_id)(i + 1),
                                     server_metrics_entities(metrics, (ecs_template_id)(i + 1))};
    qsort(counts, count, sizeof *counts, compare_counts);
    view_open(json, "templates", '[');
    for (uint32_t i = 0; i < count && i < TEMPLATES_MAX && counts[i].count > 0; i++) {
        view_open(json, NULL, '{');
        view_text(json, "name", ecs_template_get(world, counts[i].id)->name);
        view_u32(json, "entities", counts[i].count);
        view_close(json, "}");
    }
    view_close(json, "]");
    view_bool(json, "templates_cut", !server_metrics_has_counted(metrics));
    base_release(NULL, counts, (count + 1) * sizeof *counts);
}

// ---- traffic ----

static void put_traffic(base_bytes* json, const server_subject* subject) {
    uint64_t dropped[NET_DROP_COUNT];
    net_transport_stats stats;
    net_server_dropped(subject->server, dropped); // it waits until the last tick is sent
    subject->transport->ops->stats(subject->transport, &stats);
    view_u64(json, "sent_bytes", stats.sent_bytes);
    view_u64(json, "recv_bytes", stats.recv_bytes);
    const uint32_t seconds = server_meter_seconds(subject->meter);
    if (seconds > 0) {
        const server_second* last = server_meter_second(subject->meter, seconds - 1);
        view_u32(json, "sent_bytes_s", last->sent_bytes);
        view_u32(json, "recv_bytes_s", last->recv_bytes);
    }
    view_open(json, "dropped", '[');
    for (uint32_t i = 0; i < NET_DROP_COUNT; i++) {
        if (dropped[i] == 0) continue;
        view_open(json, NULL, '{');
        view_text(json, "reason", net_drop_name((net_drop)i));
        view_text(json, "text", net_drop_text((net_drop)i));
        view_u64(json, "count", dropped[i]);
        view_bool(json, "is_usual", net_drop_is_usual((net_drop)i));
        view_close(json, "}");
    }
    view_close(json, "]");
}

static void put_log(base_bytes* json, const server_subject* subject,
                    const server_request* request) {
    if (!subject->log && !subject->lacks_log) return;
    const net_log_counters counters = server_subject_log(subject);
    view_open(json, "log", '{');
    if (request->right == SERVER_OPERATOR && subject->log_file)
        view_text(json, "file", subject->log_file);
    view_u64(json, "bytes", counters.bytes);
    view_u64(json, "segments", counters.segments_closed + 1);
    view_u64(json, "keyframes", counters.keyframes);
    view_u64(json, "ticks_lost", counters.ticks_lost);
    view_f64(json, "waiting_s", (double)counters.ticks_waited / (double)subject->tick_rate_hz);
    view_u64(json, "saves", counters.saves);
    view_u64(json, "saves_failed", counters.saves_failed);
    view_close(json, "}");
}

static void put_stream(base_bytes* json, const server_subject* subject) {
    if (!subject->stream || subject->standby) return;
    const net_stream_status* status = &subject->stream->status;
    view_open(json, "stream", '{');
    view_u64(json, "epoch", status->epoch);
    view_u64(json, "waiting", subject->stream->records - status->acked.records);
    view_u32(json, "standbys", status->standbys);
    view_u32(json, "relays", status->relays);
    view_close(json, "}");
}

// ---- warnings ----

static void warn_of_times(base_bytes* json, const server_subject* subject) {
    double share;
    const uint64_t p99 = server_timing_percentile(server_meter_part(subject->meter, 0, &share), 99);
    const uint64_t budget = budget_us(subject);
    if (p99 <= budget) return;
    view_warn(json, "tick",
              "Ticks take longer than their time: the match runs late for all players.",
              "Look for the slowest system; give --threads, or a lower --tick-rate.",
              "p99 %.1f ms of %.1f ms", (double)p99 / 1000.0, (double)budget / 1000.0);
}

static void warn_of_world(base_bytes* json, const ecs_world* world) {
    const ecs_counters* counters = ecs_world_counters(world);
    const struct {
        uint64_t count;
        const char *text, *remedy;
    } rows[] = {
        {counters->events_refused, "Events of the game had no room and are lost.",
         "Send fewer events in a tick, or raise events_queued_max."},
        {counters->commands_refused, "Creations and other commands of systems had no room.",
         "Record fewer commands in a tick, or raise commands_queued_max."},
        {counters->bad_transitions, "Handles were used in a state that does not allow it.",
         "shoal-server check NAME names the system."},
        {counters->loads_failed, "Entities were not created, because a resource failed.",
         "Look for the file in the lines of the log."},
        {counters->parents_cut, "Entities lost their parent, because it was below them.",
         "Set parents by ecs_hierarchy_set_parent, which refuses circles."},
        {counters->changes_lost, "Memory ran out: changes are in no list.",
         "Restart the match with more memory."},
    };
    for (uint32_t i = 0; i < BASE_COUNT(rows); i++)
        if (rows[i].count > 0)
            view_warn(json, "world", rows[i].text, rows[i].remedy, "%" PRIu64 " times",
                      rows[i].count);
    const uint32_t most = ecs_world_limits(world)->replicated_index_max;
    const uint32_t count = ecs_world_entity_count(world);
    if (count > most / 10 * 9)
        view_warn(json, "world", "The world is nearly full: creations will fail.",
                  "Destroy what is not needed, or raise the limit of indices.",
                  "%" PRIu32 " of %" PRIu32, count, most);
}

static void warn_of_drops(base_bytes* json, const server_subject* subject) {
    uint64_t dropped[NET_DROP_COUNT], unusual = 0;
    uint32_t most = 0;
    net_server_dropped(subject->server, dropped);
    for (uint32_t i = 0; i < NET_DROP_COUNT; i++) {
        if (net_drop_is_usual((net_drop)i)) dropped[i] = 0;
        unusual += dropped[i];
        if (dropped[i] > dropped[most]) most = i;
    }
    if (unusual == 0) return;
    view_warn(json, "network", "Data had no effect that usually has one.",
              "Look at what was dropped; a slow server or bad lines drop inputs, attacks the rest.",
              "%" PRIu64 ", most of all %s: %s", unusual, net_drop_name((net_drop)most),
              net_drop_text((net_drop)most));
}

static void warn_of_clients(base_bytes* json, const server_subject* subject) {
    warn_of_drops(json, subject);
    const net_server_counters* counters = net_server_get_counters(subject->server);
    if (counters->refusals > 0)
        view_warn(json, "clients", "Clients were refused.",
                  "The lines of the log say why: full, another version, no token, a ban.",
                  "%" PRIu64, counters->refusals);
    if (counters->drops > 0)
        view_warn(json, "clients", "Clients were dropped, or fell silent.",
                  "Look at their lines in the log, and at loss and rate of the others.", "%" PRIu64,
                  counters->drops);
    const net_log_counters log = server_subject_log(subject);
    if (subject->lacks_log)
        view_warn(json, "log", "The match runs without a log: the disk refused it at the start.",
                  "Its lines say why. A log begins with the next start.", "%" PRIu64 " ticks",
                  log.ticks_lost);
    else if (log.ticks_lost > 0)
        view_warn(json, "log", "Ticks are missing in the log: the disk took none for too long.",
                  "Make room on the disk, or log to a faster one.", "%" PRIu64 " ticks",
                  log.ticks_lost);
    if (log.saves_failed > 0)
        view_warn(json, "log", "Saves of the last seconds failed.", "Make room on the disk.",
                  "%" PRIu64, log.saves_failed);
}

static void warn_of_stream(base_bytes* json, const server_subject* subject) {
    static const struct {
        const char *text, *remedy;
    } rows[] = {
        [NET_STREAM_AWAY] = {"The stream's broker is away: no standby could take over.",
                             "Look at the broker: what waits is sent when it is back."},
        [NET_STREAM_SLOW] = {"The stream's broker does not answer: no standby could take over.",
                             "Look at its disk. After a full one, make room and start it again."},
        [NET_STREAM_FULL] = {"The stream's broker is full: no standby could take over.",
                             "Make room, or raise the limit of its account: what waits is sent "
                             "then."},
    };
    if (!subject->stream) return;
    const net_stream_status* status = &subject->stream->status;
    if (status->state == NET_STREAM_FAILED)
        view_warn(json, "stream", "The stream ended: no standby could take over.",
                  "Its log has all of it: --resume goes on with the match.", "%s", status->text);
    else if (status->trouble != NET_STREAM_WELL)
        view_warn(json, "stream", rows[status->trouble].text, rows[status->trouble].remedy,
                  "%" PRIu64 " records wait%s%s", subject->stream->records - status->acked.records,
                  status->trouble == NET_STREAM_SLOW ? "" : ": ",
                  status->trouble == NET_STREAM_SLOW ? "" : status->text);
}

static void put_warnings(base_bytes* json, const server_subject* subject, bool may_see) {
    view_open(json, "warnings", '[');
    warn_of_times(json, subject);
    warn_of_clients(json, subject);
    warn_of_stream(json, subject);
    if (may_see) warn_of_world(json, net_match_world(subject->match));
    view_close(json, "]");
}

// ---- all of it ----

static void put_head(base_bytes* json, const server_subject* subject,
                     const server_request* request) {
    static const char* const phases[] = {"holding", "running", "settling", "leaving", "ended"};
    char schema[24], identity[24];
    const net_host_usage* usage = server_meter_usage(subject->meter);
    const uint32_t seconds = server_meter_seconds(subject->meter);
    const uint64_t up_us = net_loop_now_us() - subject->start_us;
    (void)base_text_format(schema, sizeof schema, "%016" PRIx64,
                           net_schema_hash(net_match_schema(subject->match)));
    view_text(json, "game", net_match_get_config(subject->match)->module->game->name);
    view_text(json, "build", net_build_id());
    view_text(json, "schema", schema);
    (void)base_text_format(identity, sizeof identity, "%016" PRIx64, subject->identity);
    view_text(json, "identity", identity);
    view_text(json, "phase", phases[net_server_get_phase(subject->server)]);
    view_bool(json, "is_paused", subject->is_paused);
    view_bool(json, "is_empty", subject->is_empty);
    view_bool(json, "may_edit", subject->may_edit && request->right == SERVER_OPERATOR);
    view_text(json, "right", request->right == SERVER_OPERATOR ? "operator" : "reader");
    view_tick(json, subject, request);
    view_u32(json, "tick_rate_hz", (uint32_t)subject->tick_rate_hz);
    view_u32(json, "budget_us", (uint32_t)budget_us(subject));
    view_f64(json, "up_s", (double)up_us * 1e-6);
    view_u32(json, "seconds", seconds);
    view_u32(json, "cpu_us_per_tick",
             seconds ? server_meter_second(subject->meter, seconds - 1)->cpu_us : 0);
    view_u64(json, "memory_bytes", usage->memory_bytes);
    view_u32(json, "descriptors", (uint32_t)usage->descriptors);
    view_u32(json, "descriptors_max", (uint32_t)usage->descriptors_max);
}

static void put_clients(base_bytes* json, const server_subject* subject) {
    const net_server_counters* counters = net_server_get_counters(subject->server);
    view_u32(json, "clients", counters->clients);
    view_u32(json, "clients_max", subject->clients_max);
    view_u32(json, "clients_peak", counters->clients_peak);
    view_u32(json, "spectators", counters->spectators);
    view_u32(json, "spectators_max", subject->spectators_max);
    view_u64(json, "joins", counters->joins);
    view_u64(json, "refusals", counters->refusals);
    view_u64(json, "drops", counters->drops);
    view_u64(json, "resumes", counters->resumes);
}

void view_put_status(base_bytes* json, server_subject* subject, const server_request* request,
                     bool is_brief) {
    const ecs_world* world = net_match_world(subject->match);
    const bool may_see = view_may_see_now(subject, request->right);
    view_open(json, NULL, '{');
    put_head(json, subject, request);
    put_clients(json, subject);
    if (may_see) view_u32(json, "entities", ecs_world_entity_count(world));
    view_u32(json, "entities_max", ecs_world_limits(world)->replicated_index_max);
    put_parts(json, subject->meter);
    if (!is_brief && may_see) put_history(json, subject->meter);
    if (!is_brief && may_see) put_templates(json, world, subject->metrics);
    put_traffic(json, subject);
    put_log(json, subject, request);
    put_stream(json, subject);
    put_warnings(json, subject, may_see);
    view_close(json, "}");
}

static void run_status(server_subject* subject, const server_request* request,
                       server_answer* answer) {
    view_put_status(answer->json, subject, request, false);
}

static const server_verb verbs[] = {
    {"status", "", "the state of the match", SERVER_READER, false, 0, run_status},
};
const server_verb_set server_status_verbs = {verbs, BASE_COUNT(verbs)};
