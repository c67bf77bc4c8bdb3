// SPDX-License-Identifier: MIT
// The state of a match at a glance: times against the budget, who and what is there, bytes, and
// warnings in words.
#include "metrics.h"
#include "view.h"

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
    base_json_write(json, "parts=[");
    for (uint32_t i = 0; i < SERVER_METER_PARTS; i++) {
        double share;
        const server_timing* times = server_meter_part(meter, i, &share);
        base_json_write(json, "{name=%s p50_us=%f p99_us=%f max_us=%f share=%f}",
                        i == 0 ? "tick" : net_part_name((net_part)(i - 1)),
                        (double)server_timing_percentile(times, 50),
                        (double)server_timing_percentile(times, 99),
                        (double)server_timing_percentile(times, 100), share);
    }
    base_json_write(json, "]");
}

#define FIGURE(name)                                                                               \
    { #name, offsetof(server_second, name) }

static void put_history(base_bytes* json, const server_meter* meter) {
    static const struct {
        const char* name;
        size_t offset;
    } rows[] = {FIGURE(p50_us),     FIGURE(p99_us),     FIGURE(max_us),  FIGURE(cpu_us),
                FIGURE(sent_bytes), FIGURE(recv_bytes), FIGURE(clients), FIGURE(entities)};
    base_json_write(json, "history={every_s=1");
    for (uint32_t i = 0; i < BASE_COUNT(rows); i++) {
        base_json_write(json, "%s=[", rows[i].name);
        for (uint32_t k = 0; k < server_meter_seconds(meter); k++) {
            const char* second = (const char*)server_meter_second(meter, k);
            base_json_write(json, "%u", *(const uint32_t*)(second + rows[i].offset));
        }
        base_json_write(json, "]");
    }
    base_json_write(json, "}");
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
    for (uint32_t i = 0; i < count; i++)
        counts[i] = (template_count){(ecs_template_id)(i + 1),
                                     server_metrics_entities(metrics, (ecs_template_id)(i + 1))};
    qsort(counts, count, sizeof *counts, compare_counts);
    base_json_write(json, "templates=[");
    for (uint32_t i = 0; i < count && i < TEMPLATES_MAX && counts[i].count > 0; i++)
        base_json_write(json, "{name=%s entities=%u}", ecs_template_get(world, counts[i].id)->name,
                        counts[i].count);
    base_json_write(json, "] templates_cut=%i", !server_metrics_has_counted(metrics));
    base_release(NULL, counts, (count + 1) * sizeof *counts);
}

// ---- traffic ----

static void put_traffic(base_bytes* json, const server_subject* subject) {
    uint64_t dropped[NET_DROP_COUNT];
    net_transport_stats stats;
    net_server_dropped(subject->server, dropped); // it waits until the last tick is sent
    subject->transport->ops->stats(subject->transport, &stats);
    base_json_write(json, "sent_bytes='%ju' recv_bytes='%ju'", stats.sent_bytes, stats.recv_bytes);
    const uint32_t seconds = server_meter_seconds(subject->meter);
    const server_second* last =
        seconds > 0 ? server_meter_second(subject->meter, seconds - 1) : NULL;
    if (last)
        base_json_write(json, "sent_bytes_s=%u recv_bytes_s=%u", last->sent_bytes,
                        last->recv_bytes);
    base_json_write(json, "dropped=[");
    for (uint32_t i = 0; i < NET_DROP_COUNT; i++)
        if (dropped[i] > 0)
            base_json_write(json, "{reason=%s text=%s count='%ju' is_usual=%i}",
                            net_drop_name((net_drop)i), net_drop_text((net_drop)i), dropped[i],
                            net_drop_is_usual((net_drop)i));
    base_json_write(json, "]");
}

static void put_log(base_bytes* json, const server_subject* subject,
                    const server_request* request) {
    if (!subject->log && !subject->lacks_log) return;
    const net_log_counters counters = server_subject_log(subject);
    base_json_write(json, "log={");
    if (request->right == SERVER_OPERATOR && subject->log_file)
        base_json_write(json, "file=%s", subject->log_file);
    base_json_write(json,
                    "bytes='%ju' segments='%ju' keyframes='%ju' ticks_lost='%ju' waiting_s=%f "
                    "saves='%ju' saves_failed='%ju'}",
                    counters.bytes, counters.segments_closed + 1, counters.keyframes,
                    counters.ticks_lost,
                    (double)counters.ticks_waited / (double)subject->tick_rate_hz, counters.saves,
                    counters.saves_failed);
}

static void put_stream(base_bytes* json, const server_subject* subject) {
    if (!subject->stream || subject->standby) return;
    const net_stream_status* status = &subject->stream->status;
    base_json_write(json, "stream={epoch='%ju' waiting='%ju' standbys=%u relays=%u}", status->epoch,
                    subject->stream->records - status->acked.records, status->standbys,
                    status->relays);
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
        {counters->events_refused, "Events of the game were lost: their queue was full.",
         "Send fewer events in a tick, or raise events_queued_max."},
        {counters->commands_refused, "Commands of systems were refused: their queue was full.",
         "Record fewer commands in a tick, or raise commands_queued_max."},
        {counters->bad_transitions, "Handles were used in a state that does not allow it.",
         "shoal-server check NAME names the system."},
        {counters->loads_failed, "Entities were not created, because a resource failed.",
         "Look for the file in the lines of the log."},
        {counters->parents_cut, "Entities lost their parent, because it was below them.",
         "Set parents by ecs_hierarchy_set_parent, which refuses circles."},
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
    view_warn(json, "network", "Inputs or packets were dropped.",
              "Look at what was dropped; a slow server or bad lines drop inputs, attacks the rest.",
              "%" PRIu64 ", most of all %s: %s", unusual, net_drop_name((net_drop)most),
              net_drop_text((net_drop)most));
}

static void warn_of_clients(base_bytes* json, const server_subject* subject) {
    warn_of_drops(json, subject);
    const net_server_counters* counters = net_server_get_counters(subject->server);
    if (counters->refusals > 0)
        view_warn(json, "clients", "Clients were refused.",
                  "See the log lines for the reason: full, another version, no token, a ban.",
                  "%" PRIu64, counters->refusals);
    if (counters->drops > 0)
        view_warn(json, "clients", "Clients were dropped, or fell silent.",
                  "See their log lines, and loss and rate of the others.", "%" PRIu64,
                  counters->drops);
    const net_log_counters log = server_subject_log(subject);
    if (subject->lacks_log)
        view_warn(json, "log", "The match runs without a log: it could not be created.",
                  "See the log lines for the reason. A log begins at the next start.",
                  "%" PRIu64 " ticks", log.ticks_lost);
    else if (log.ticks_lost > 0)
        view_warn(json, "log", "Ticks are missing in the log: the disk was too slow.",
                  "Free space on the disk, or use a faster one.", "%" PRIu64 " ticks",
                  log.ticks_lost);
    if (log.saves_failed > 0)
        view_warn(json, "log", "Saves of the last seconds failed.", "Free space on the disk.",
                  "%" PRIu64, log.saves_failed);
}

static void warn_of_stream(base_bytes* json, const server_subject* subject) {
    static const struct {
        const char *text, *remedy;
    } rows[] = {
        [NET_STREAM_AWAY] = {"The stream's broker is unreachable: no standby could take over.",
                             "Check the broker: queued records are sent when it is back."},
        [NET_STREAM_SLOW] = {"The stream's broker does not answer: no standby could take over.",
                             "Check its disk. If it is full, free space and restart the broker."},
        [NET_STREAM_FULL] =
            {"The stream's broker is full: no standby could take over.",
             "Free space, or raise the limit of its account: queued records are sent then."},
    };
    if (!subject->stream) return;
    const net_stream_status* status = &subject->stream->status;
    if (status->state == NET_STREAM_FAILED)
        view_warn(json, "stream", "The stream ended: no standby could take over.",
                  "It begins again by itself once its reason is gone.", "%s", status->text);
    else if (status->trouble != NET_STREAM_WELL)
        view_warn(json, "stream", rows[status->trouble].text, rows[status->trouble].remedy,
                  "%" PRIu64 " records wait%s%s", subject->stream->records - status->acked.records,
                  status->trouble == NET_STREAM_SLOW ? "" : ": ",
                  status->trouble == NET_STREAM_SLOW ? "" : status->text);
}

// ---- all of it ----

static void put_head(base_bytes* json, const server_subject* subject,
                     const server_request* request) {
    static const char* const phases[] = {"holding", "running", "settling", "leaving", "ended"};
    const net_host_usage* usage = server_meter_usage(subject->meter);
    const uint32_t seconds = server_meter_seconds(subject->meter);
    const uint64_t up_us = net_loop_now_us() - subject->start_us;
    base_json_write(
        json,
        "game=%s build=%s schema='%016jx' identity='%016jx' phase=%s is_paused=%i is_empty=%i "
        "may_edit=%i right=%s tick='%ju' tick_rate_hz=%u budget_us=%u up_s=%f seconds=%u "
        "cpu_us_per_tick=%u memory_bytes='%ju' descriptors=%u descriptors_max=%u",
        net_match_get_config(subject->match)->module->game->name, net_build_id(),
        net_schema_hash(net_match_schema(subject->match)), subject->identity,
        phases[net_server_get_phase(subject->server)], subject->is_paused, subject->is_empty,
        subject->may_edit && request->right == SERVER_OPERATOR,
        request->right == SERVER_OPERATOR ? "operator" : "reader", view_tick_of(subject, request),
        (uint32_t)subject->tick_rate_hz, (uint32_t)budget_us(subject), (double)up_us * 1e-6,
        seconds, seconds ? server_meter_second(subject->meter, seconds - 1)->cpu_us : 0,
        usage->memory_bytes, (uint32_t)usage->descriptors, (uint32_t)usage->descriptors_max);
}

void view_put_status(base_bytes* json, server_subject* subject, const server_request* request,
                     bool is_brief) {
    const ecs_world* world = net_match_world(subject->match);
    const bool may_see = view_may_see_now(subject, request->right);
    base_json_write(json, "{");
    put_head(json, subject, request);
    const net_server_counters* counters = net_server_get_counters(subject->server);
    base_json_write(json,
                    "clients=%u clients_max=%u clients_peak=%u spectators=%u spectators_max=%u "
                    "joins='%ju' refusals='%ju' drops='%ju' resumes='%ju'",
                    counters->clients, subject->clients_max, counters->clients_peak,
                    counters->spectators, subject->spectators_max, counters->joins,
                    counters->refusals, counters->drops, counters->resumes);
    if (may_see) base_json_write(json, "entities=%u", ecs_world_entity_count(world));
    base_json_write(json, "entities_max=%u", ecs_world_limits(world)->replicated_index_max);
    put_parts(json, subject->meter);
    if (!is_brief && may_see) put_history(json, subject->meter);
    if (!is_brief && may_see) put_templates(json, world, subject->metrics);
    put_traffic(json, subject);
    put_log(json, subject, request);
    put_stream(json, subject);
    base_json_write(json, "warnings=[");
    warn_of_times(json, subject);
    warn_of_clients(json, subject);
    warn_of_stream(json, subject);
    if (may_see) warn_of_world(json, net_match_world(subject->match));
    base_json_write(json, "]");
    base_json_write(json, "}");
}

static void run_status(server_subject* subject, const server_request* request) {
    view_put_status(request->answer->json, subject, request, false);
}

static const server_verb verbs[] = {
    {"status", "", "the state of the match", SERVER_READER, false, 0, run_status},
};
const server_verb_set server_status_verbs = {verbs, BASE_COUNT(verbs)};
