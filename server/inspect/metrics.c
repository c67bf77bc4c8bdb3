// SPDX-License-Identifier: MIT
// One function for a family of metrics; write_all lists them in their order. A label has
// all its values from the start on, so that a rate is 0 and not missing before the first event.
#include "metrics.h"

#include "inspect/view.h"

#include "base/alloc.h"
#include "base/json.h"
#include "base/text.h"
#include "ecs/template.h"
#include "ecs/world.h"
#include "host/output.h"
#include "net/socket.h"

#include <inttypes.h>
#include <string.h>

#define MILLION UINT64_C(1000000)
/// Sessions whose packets are remembered from one look to the next.
#define PLACES_MAX (NET_CLIENTS_MAX + 64u)

static const uint32_t tick_bounds[SERVER_METRICS_BOUNDS_MAX] = {500,   1000,  2000,  4000,  8000,
                                                                16700, 33000, 66000, 250000};
static const uint32_t rtt_bounds[SERVER_METRICS_BOUNDS_MAX] = {
    10000, 20000, 50000, 100000, 150000, 200000, 300000, 500000, 1000000};
static const uint32_t loss_bounds[SERVER_METRICS_BOUNDS_MAX] = {0,     1000,   5000,   10000, 20000,
                                                                50000, 100000, 200000, 500000};

// What a client had sent and lost at the last look.
typedef struct seen_client {
    uint32_t client;
    uint64_t acked, lost;
} seen_client;

struct server_metrics {
    base_owner owner;
    server_histogram tick;
    server_histogram parts[NET_PART_COUNT];
    server_histogram rtt, loss;
    uint64_t late_us, carried_bytes;
    // The walk over clients, and the one over entities; each begins again after a round.
    uint64_t clients_us, entities_us;
    bool is_at_clients, is_at_entities;
    uint32_t place;
    ecs_entity entity;
    uint32_t counts[2][UINT16_MAX + 1]; // by template: of the last whole walk, of this one
    uint32_t counted;                   // templates up to the last one that had an entity
    uint32_t whole;                     // which is which
    bool has_counted;
    seen_client seen[PLACES_MAX];
};

void server_histogram_add(server_histogram* histogram, uint64_t millionths) {
    uint32_t at = 0;
    while (at < SERVER_METRICS_BOUNDS_MAX && millionths > histogram->bounds[at])
        at++;
    histogram->counts[at]++;
    histogram->sum += millionths;
}

server_metrics* server_metrics_create(void) {
    server_metrics* self = base_owner_create(NULL, sizeof *self);
    self->tick.bounds = tick_bounds;
    for (uint32_t i = 0; i < NET_PART_COUNT; i++)
        self->parts[i].bounds = tick_bounds;
    self->rtt.bounds = rtt_bounds;
    self->loss.bounds = loss_bounds;
    self->is_at_clients = self->is_at_entities = true;
    return self;
}

// ---- observing

void server_metrics_tick(server_metrics* self, const net_server* server, uint64_t took_us,
                         uint64_t late_us) {
    const uint64_t* times = net_server_get_times(server);
    server_histogram_add(&self->tick, took_us);
    for (uint32_t i = 0; i < NET_PART_COUNT; i++)
        server_histogram_add(&self->parts[i], times[i]);
    self->late_us = late_us;
}

// The loss is that of the packets whose fate was learned since the last look.
static void observe_client(server_metrics* self, const net_live_peer* live, uint32_t place) {
    if (live->is_spectator || live->acked + live->lost == 0) return;
    if (live->peer.rtt_ms > 0)
        server_histogram_add(&self->rtt, (uint64_t)(live->peer.rtt_ms * 1e3));
    if (place >= PLACES_MAX) return;
    seen_client* seen = &self->seen[place];
    if (seen->client != live->peer.client || live->acked < seen->acked || live->lost < seen->lost)
        *seen = (seen_client){.client = live->peer.client};
    const uint64_t lost = live->lost - seen->lost;
    const uint64_t all = lost + live->acked - seen->acked;
    if (all > 0) server_histogram_add(&self->loss, lost * MILLION / all);
    seen->acked = live->acked;
    seen->lost = live->lost;
}

static void pass_clients(server_metrics* self, net_server* server) {
    net_live_peer live;
    for (uint32_t i = 0; i < SERVER_METRICS_CLIENTS_PASS; i++) {
        if (!net_server_next_client(server, &self->place, &live)) {
            self->is_at_clients = false;
            self->place = 0;
            return;
        }
        observe_client(self, &live, self->place);
    }
}

static void pass_entities(server_metrics* self, const ecs_world* world) {
    for (uint32_t i = 0; i < SERVER_METRICS_ENTITIES_PASS; i++) {
        self->entity = ecs_entity_next(world, self->entity);
        if (self->entity == ECS_ENTITY_NONE) {
            self->is_at_entities = false;
            self->whole = !self->whole;
            self->has_counted = true;
            memset(self->counts[!self->whole], 0, self->counted * sizeof *self->counts[0]);
            return;
        }
        const ecs_template_id id = ecs_entity_template(world, self->entity);
        self->counts[!self->whole][id]++;
        if (id >= self->counted) self->counted = id + 1u;
    }
}

// Is a walk under way, or due to begin?
static bool is_walking(bool* is_under_way, uint64_t* begin_us, uint64_t now_us) {
    if (!*is_under_way && now_us < *begin_us + SERVER_METRICS_ROUND_US) return false;
    if (!*is_under_way || *begin_us == 0) *begin_us = now_us;
    return *is_under_way = true;
}

void server_metrics_pass(server_metrics* self, const server_subject* subject, uint64_t now_us) {
    if (is_walking(&self->is_at_clients, &self->clients_us, now_us))
        pass_clients(self, subject->server);
    if (is_walking(&self->is_at_entities, &self->entities_us, now_us))
        pass_entities(self, net_match_world(subject->match));
}

bool server_metrics_has_counted(const server_metrics* self) {
    return self->has_counted;
}

uint32_t server_metrics_entities(const server_metrics* self, ecs_template_id id) {
    return self->counts[self->has_counted ? self->whole : !self->whole][id];
}

// ---- lines

static void begin_family(base_bytes* text, const char* name, const char* type, const char* help) {
    base_json_put(text, "# HELP %s %s\n# TYPE %s %s\n", name, help, name, type);
}

// Prometheus' convention: a name in _total is a counter's.
static void begin_metric(base_bytes* text, const char* name, const char* help) {
    const char* end = strrchr(name, '_');
    begin_family(text, name, strcmp(end, "_total") == 0 ? "counter" : "gauge", help);
}

static void put_count(base_bytes* text, const char* name, const char* help, uint64_t value) {
    begin_metric(text, name, help);
    base_json_put(text, "%s %" PRIu64 "\n", name, value);
}

static void put_millionths(base_bytes* text, uint64_t value) {
    base_json_put(text, "%" PRIu64 ".%06" PRIu64, value / MILLION, value % MILLION);
}

static void put_seconds(base_bytes* text, const char* name, const char* help, uint64_t us) {
    begin_metric(text, name, help);
    base_json_put(text, "%s ", name);
    put_millionths(text, us);
    base_json_put(text, "\n");
}

// A backslash, a quote and the end of a line are escaped.
static void put_label(base_bytes* text, const char* value) {
    for (; *value; value++) {
        if (*value == '\n')
            base_bytes_write(text, "\\n", 2);
        else if (*value == '"' || *value == '\\')
            base_bytes_write(text, (const char[]){'\\', *value}, 2);
        else
            base_bytes_write(text, value, 1);
    }
}

static void put_labelled(base_bytes* text, const char* name, const char* label, const char* is,
                         uint64_t value) {
    base_json_put(text, "%s{%s=\"", name, label);
    put_label(text, is);
    base_json_put(text, "\"} %" PRIu64 "\n", value);
}

// `labels`: "" or "part=\"tick\",".
static void put_histogram(base_bytes* text, const char* name, const char* labels,
                          const server_histogram* histogram) {
    uint64_t count = 0;
    for (uint32_t i = 0; i < SERVER_METRICS_BOUNDS_MAX; i++) {
        count += histogram->counts[i];
        base_json_put(text, "%s_bucket{%sle=\"%g\"} %" PRIu64 "\n", name, labels,
                      histogram->bounds[i] * 1e-6, count);
    }
    count += histogram->counts[SERVER_METRICS_BOUNDS_MAX];
    base_json_put(text, "%s_bucket{%sle=\"+Inf\"} %" PRIu64 "\n", name, labels, count);
    const int labels_size = labels[0] ? (int)strlen(labels) - 1 : 0; // without the last comma
    const char* open = labels[0] ? "{" : "";
    const char* close = labels[0] ? "}" : "";
    base_json_put(text, "%s_sum%s%.*s%s ", name, open, labels_size, labels, close);
    put_millionths(text, histogram->sum);
    base_json_put(text, "\n%s_count%s%.*s%s %" PRIu64 "\n", name, open, labels_size, labels, close,
                  count);
}

// ---- families

static void put_build(base_bytes* text, const server_subject* subject) {
    const net_match_config* config = net_match_get_config(subject->match);
    begin_metric(text, "shoal_build_info", "Version of the server, its game and schema.");
    base_json_put(text, "shoal_build_info{version=\"");
    put_label(text, net_build_id());
    base_json_put(text, "\",game=\"");
    put_label(text, config->module->game->name);
    base_json_put(text, "\",schema=\"%016" PRIx64 "\"} 1\n",
                  net_schema_hash(net_match_schema(subject->match)));
    begin_metric(text, "shoal_match_info", "Identity of the match: that of its log and stream.");
    base_json_put(text, "shoal_match_info{identity=\"%016" PRIx64 "\"} 1\n", subject->identity);
}

static void put_ticks(const server_metrics* self, base_bytes* text, const server_subject* subject,
                      const server_request* request) {
    static const char name[] = "shoal_tick_duration_seconds";
    begin_family(text, name, "histogram",
                 "Duration of a tick: all of it (part=tick), and its parts on the loop's thread.");
    put_histogram(text, name, "part=\"tick\",", &self->tick);
    for (uint32_t i = 0; i < NET_PART_COUNT; i++) {
        char labels[64];
        (void)base_text_format(labels, sizeof labels, "part=\"%s\",", net_part_name((net_part)i));
        put_histogram(text, name, labels, &self->parts[i]);
    }
    put_count(text, "shoal_ticks_total", "Ticks run.", view_tick_of(subject, request));
    put_seconds(text, "shoal_tick_period_seconds", "From one tick to the next one.",
                MILLION / subject->tick_rate_hz);
    if (subject->follow) return; // its ticks are due when they come
    put_count(text, "shoal_ticks_given_up_total",
              "Ticks that were due and did not run while the process was stalled.",
              subject->ticks_given_up);
    const bool is_running =
        net_server_get_phase(subject->server) == NET_SERVER_RUNNING && !subject->is_paused;
    put_seconds(text, "shoal_tick_lag_seconds",
                "Delay of the newest tick after its due time; 0 if no tick is due.",
                is_running ? self->late_us : 0);
}

static void put_clients(base_bytes* text, const net_server_counters* counters) {
    begin_metric(text, "shoal_clients", "Clients in the match.");
    put_labelled(text, "shoal_clients", "kind", "player", counters->clients);
    put_labelled(text, "shoal_clients", "kind", "spectator", counters->spectators);
    put_count(text, "shoal_joins_total", "Clients that joined.", counters->joins);
    begin_metric(text, "shoal_leaves_total", "Clients that left, by reason.");
    for (uint32_t i = NET_END_NONE + 1; i < NET_END_COUNT; i++)
        if (i != NET_END_DIFFERS) // a client's word: no session ends with it here
            put_labelled(text, "shoal_leaves_total", "reason", net_end_name((net_end)i),
                         counters->ended[i]);
    begin_metric(text, "shoal_refusals_total", "Clients that were refused, by reason.");
    for (uint32_t i = 1; i < NET_REFUSAL_COUNT; i++)
        put_labelled(text, "shoal_refusals_total", "reason", net_refusal_name(i),
                     counters->refused[i]);
    put_count(text, "shoal_resumes_total", "Clients that resumed on a new connection.",
              counters->resumes);
}

static void put_entities(const server_metrics* self, base_bytes* text, const ecs_world* world) {
    static const char name[] = "shoal_entities";
    const uint32_t count = ecs_template_count(world);
    begin_metric(text, name, "Entities by template, counted about once a second.");
    for (uint32_t id = 1; id <= count && id <= SERVER_METRICS_TEMPLATES_MAX; id++)
        put_labelled(text, name, "template", ecs_template_get(world, (ecs_template_id)id)->name,
                     self->counts[self->whole][id]);
    uint64_t others = 0;
    for (uint32_t id = SERVER_METRICS_TEMPLATES_MAX + 1; id <= count; id++)
        others += self->counts[self->whole][id];
    if (count > SERVER_METRICS_TEMPLATES_MAX) put_labelled(text, name, "template", "other", others);
}

static void put_traffic(server_metrics* self, base_bytes* text, const server_subject* subject,
                        const net_server_counters* counters) {
    static const char sent[] = "shoal_sent_bytes_total";
    net_transport_stats stats;
    subject->transport->ops->stats(subject->transport, &stats);
    const uint64_t named = counters->state_bytes + counters->control_bytes;
    begin_metric(text, sent, "UDP payload: state packets, control messages, and the rest.");
    put_labelled(text, sent, "kind", "state", counters->state_bytes);
    put_labelled(text, sent, "kind", "control", counters->control_bytes);
    // Packets count when they are made, and may wait to be sent: a counter must not fall then.
    if (stats.sent_bytes > named + self->carried_bytes)
        self->carried_bytes = stats.sent_bytes - named;
    put_labelled(text, sent, "kind", "transport", self->carried_bytes);
    put_count(text, "shoal_received_bytes_total", "UDP payload received.", stats.recv_bytes);
}

static void put_log(base_bytes* text, const server_subject* subject) {
    if (!subject->log && !subject->lacks_log) return;
    const net_log_counters log = server_subject_log(subject);
    put_count(text, "shoal_log_bytes_total", "Bytes written to the event log.", log.bytes);
    put_count(text, "shoal_log_segments_total", "Segments of the log that were closed.",
              log.segments_closed);
    put_count(text, "shoal_log_segments_unstored_total",
              "Segments deleted before they were marked as stored.", log.segments_unstored);
    put_count(text, "shoal_log_commands_failed_total", "Failures of the on-close program.",
              log.commands_failed);
    put_count(text, "shoal_log_keyframes_total", "Keyframes in the log.", log.keyframes);
    put_count(text, "shoal_log_ticks_lost", "Ticks lost: neither in the log nor queued for it.",
              log.ticks_lost);
    put_count(text, "shoal_log_ticks_waited_total",
              "Ticks that ended while the disk accepted no writes.", log.ticks_waited);
    put_count(text, "shoal_log_saves_total", "Saves of the ring.", log.saves);
    put_count(text, "shoal_log_saves_failed_total", "Saves that failed.", log.saves_failed);
}

// A relay.
static void put_follow(base_bytes* text, const server_subject* subject) {
    const net_follow_report* follow = subject->follow;
    if (!follow || subject->standby) return;
    put_seconds(text, "shoal_relay_behind_seconds",
                "Match time at the source that is older than the delay and not yet shown.",
                follow->behind_us);
    put_seconds(text, "shoal_relay_silent_seconds", "Time since the last message from the source.",
                follow->silent_us);
    put_count(text, "shoal_relay_kept_bytes", "Ticks buffered for the delay.", follow->kept_bytes);
}

static void put_standby(base_bytes* text, const server_subject* subject) {
    const net_standby_report* standby = subject->standby;
    if (!standby) return;
    put_count(text, "shoal_standby", "1: this server is a standby of another server's match.", 1);
    const ecs_tick tick = net_match_tick(subject->match);
    put_count(text, "shoal_standby_lag_ticks", "Ticks in the stream that have not run yet.",
              standby->newest > tick ? standby->newest - tick : 0);
    put_count(text, "shoal_standby_lag_messages", "Messages of the stream still to be read.",
              standby->lag_messages);
    put_count(text, "shoal_standby_compared_total", "Ticks with an equal hash.", standby->compared);
    put_seconds(text, "shoal_standby_silent_seconds",
                "Time without a message while the broker answered.", standby->silence_us);
    put_count(text, "shoal_standby_connected", "1: connected to the stream's broker.",
              standby->is_connected);
    put_count(text, "shoal_standby_reconnects_total", "Reconnections.", standby->reconnects);
    put_count(text, "shoal_standby_waiting_messages",
              "Messages of the stream that were received and ignored.", standby->waiting);
}

static void put_stream(base_bytes* text, const server_subject* subject,
                       const server_request* request) {
    if (!subject->stream || subject->standby) return; // a standby does not write it
    const ecs_tick seen = view_tick_of(subject, request);
    const net_stream_status* status = &subject->stream->status;
    const bool is_up = status->state == NET_STREAM_OWNED && status->trouble == NET_STREAM_WELL;
    put_count(text, "shoal_stream_up", "1: the stream's broker accepts messages.", is_up);
    put_count(text, "shoal_stream_epoch", "Epoch of this server.", status->epoch);
    put_count(text, "shoal_stream_acked_sequence", "Newest message stored.",
              status->acked.sequence);
    put_count(text, "shoal_stream_acked_tick", "Newest tick stored completely.",
              status->acked_tick < seen ? status->acked_tick : seen);
    put_count(text, "shoal_stream_waiting_records", "Records of the log not stored yet.",
              subject->stream->records - status->acked.records);
    put_count(text, "shoal_stream_messages_total", "Messages stored.", status->messages);
    put_count(text, "shoal_stream_bytes_total", "Bytes of the stored messages.", status->bytes);
    put_count(text, "shoal_stream_repeats_total", "Messages sent again.", status->repeats);
    put_count(text, "shoal_stream_restarts_total", "Times that the stream began again.",
              status->restarts);
    put_count(text, "shoal_stream_reconnects_total", "Reconnections.", subject->stream->reconnects);
    if (subject->stream->safety != NET_STREAM_FREE)
        put_count(text, "shoal_stream_protected",
                  "1: clients get no tick before it is stored (--stream sync).",
                  subject->stream->safety == NET_STREAM_SAFE ||
                      subject->stream->safety == NET_STREAM_STILL);
    put_count(text, "shoal_stream_held_bytes", "Packets held back until then.",
              subject->stream->held_bytes);
    put_seconds(text, "shoal_stream_still_seconds_total",
                "Time the match was halted because nothing was stored.", subject->stream->still_us);
    put_seconds(text, "shoal_stream_ack_seconds", "Time to store the newest message.",
                status->ack_us);
    put_seconds(text, "shoal_stream_ack_seconds_total", "Sum of the times to store each message.",
                status->ack_us_total);
    put_count(text, "shoal_stream_waiting_bytes",
              "Records queued in memory; more are read from the log.",
              subject->stream->waiting_bytes);
    put_count(text, "shoal_stream_waiting_messages",
              "Messages of the broker that were received and ignored.", subject->stream->waiting);
}

// Those that follow the match of this server.
static void put_followers(base_bytes* text, const server_subject* subject) {
    if (!subject->stream || subject->standby) return;
    const net_stream_status* status = &subject->stream->status;
    put_count(text, "shoal_standbys",
              "Standbys that reported a tick of the last 2 s within 2 s and could take over.",
              status->standbys);
    put_count(text, "shoal_relays", "Relays that reported a tick of the last 2 s within 2 s.",
              status->relays);
    put_count(text, "shoal_stream_reports_refused_total", "Malformed reports of followers.",
              status->reports_refused);
    put_count(text, "shoal_takeovers_total", "Matches of other servers that were taken over here.",
              subject->stream->takeovers);
}

static void put_stall(base_bytes* text, uint64_t stalled_us) {
    put_seconds(
        text, "shoal_loop_stalled_seconds",
        "Time the main loop has been stalled, from 2 s on; metrics that need it are missing then.",
        stalled_us);
    put_seconds(text, "shoal_cpu_seconds_total", "CPU time of all threads of the process.",
                net_loop_cpu_us());
}

static void put_http(base_bytes* text, const server_inspect_counts* counts) {
    static const char* const classes[] = {"0xx", "1xx", "2xx", "3xx", "4xx", "5xx"};
    static const char name[] = "shoal_http_responses_total";
    put_count(text, "shoal_http_connections", "Connections to the inspector.", counts->connections);
    begin_metric(text, name, "Answers of the inspector, by status.");
    for (uint32_t i = 2; i < BASE_COUNT(classes); i++)
        put_labelled(text, name, "status", classes[i], counts->responses[i]);
    put_count(text, "shoal_http_frames_lost_total", "Frames of streams dropped for slow readers.",
              counts->frames_lost);
    put_count(text, "shoal_http_cut_total", "Answers and frames cut at their share of the tick.",
              counts->cuts);
    put_count(text, "shoal_http_lacks_total", "Connections refused for lack of file descriptors.",
              counts->lacks);
}

static void write_all(server_metrics* self, const server_subject* subject,
                      const server_request* request, base_bytes* text) {
    put_build(text, subject);
    put_stall(text, 0);
    // By the names that Prometheus' own libraries give them.
    const net_host_usage* usage = server_meter_usage(subject->meter);
    put_count(text, "process_resident_memory_bytes", "Resident memory of the process.",
              usage->memory_bytes);
    put_count(text, "process_open_fds", "Open file descriptors.", usage->descriptors);
    put_count(text, "process_max_fds", "Limit of open file descriptors.", usage->descriptors_max);
    put_ticks(self, text, subject, request);
    if (view_may_see_now(subject, request->right))
        put_entities(self, text, net_match_world(subject->match));
    // It waits for the threads that send: only then the counters stand still.
    static const char name[] = "shoal_dropped_total";
    uint64_t dropped[NET_DROP_COUNT];
    net_server_dropped(subject->server, dropped);
    begin_metric(text, name, "Items dropped, by reason (net/result.h).");
    for (uint32_t i = 0; i < NET_DROP_COUNT; i++)
        put_labelled(text, name, "reason", net_drop_name((net_drop)i), dropped[i]);
    const net_server_counters* counters = net_server_get_counters(subject->server);
    put_clients(text, counters);
    put_traffic(self, text, subject, counters);
    begin_family(text, "shoal_client_rtt_seconds", "histogram",
                 "Round trip times: each player counts about once a second.");
    put_histogram(text, "shoal_client_rtt_seconds", "", &self->rtt);
    begin_family(
        text, "shoal_client_loss_ratio", "histogram",
        "Share of lost state packets since the last sample: each player about once a second.");
    put_histogram(text, "shoal_client_loss_ratio", "", &self->loss);
    put_log(text, subject);
    put_follow(text, subject);
    put_stream(text, subject, request);
    put_followers(text, subject);
    put_standby(text, subject);
    if (subject->is_served) put_http(text, &subject->http);
}

void server_metrics_write_stalled(uint64_t stalled_us, const server_inspect_counts* http,
                                  base_bytes* text) {
    put_stall(text, stalled_us);
    put_http(text, http);
}

static void run_metrics(server_subject* subject, const server_request* request) {
    request->answer->type = SERVER_METRICS_TYPE;
    write_all(subject->metrics, subject, request, request->answer->json);
}

static const server_verb verbs[] = {
    {"metrics", "", "all counters, as Prometheus reads them", SERVER_READER, false, 0, run_metrics},
};
const server_verb_set server_metrics_verbs = {verbs, BASE_COUNT(verbs)};
