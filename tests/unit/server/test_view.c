// SPDX-License-Identifier: MIT
// Each answer of the inspector: its fields, its errors, who may see what, bits, times and lines.
#include "viewer.h"

#include <inttypes.h>

// ---- each answer has what API.md says

typedef struct expected {
    const char* verb;
    const char* paths; ///< separated by blanks; "a.0: b c" is "a.0.b a.0.c", ":" ends that
    const char *name, *value, *second, *second_value;
} expected;

static const expected ANSWERS[] = {
    {.verb = "status",
     "game build schema phase is_paused is_empty may_edit right tick tick_rate_hz budget_us "
     "up_s seconds cpu_us_per_tick identity memory_bytes descriptors descriptors_max clients "
     "clients_max clients_peak spectators spectators_max joins refusals drops resumes entities "
     "entities_max parts.6.name parts.0: p50_us p99_us max_us share history: every_s p50_us "
     "p99_us : history.max_us.0 history.cpu_us.0 history.sent_bytes.0 history.recv_bytes.0 "
     "history.clients.0 history.entities.0 templates.0: name entities : templates_cut "
     "sent_bytes recv_bytes sent_bytes_s recv_bytes_s dropped warnings"},
    {.verb = "clients",
     "tick cut clients.0: client name kind state player rtt_ms jitter_ms loss_out_ratio "
     "loss_in_ratio sent_bytes_s rate_bytes_s rate_max_bytes_s is_held entities waiting "
     "waiting_ticks late_inputs warnings : clients.1.client clients.2.client"},
    {.verb = "clients",
     "client name kind state player rtt_ms since_s quiet_ms watches is_solo sent_tick "
     "acked_tick sent_bytes packets_sent packets_lost state_bytes rate_cuts rate_raises "
     "inputs_received inputs_missing inputs_skipped inputs_late inputs_repeated inputs_settled "
     "inputs_malformed input_depth strikes end warnings address player_id",
     "id",
     "1"},
    {.verb = "why",
     "client entity template tick sees rule rules.0: rule answer : turn_ticks owner team "
     "client_team groups client_groups looks_as has entered_tick changed_tick acked_tick "
     "base_tick packets_flying waits is_repeat is_resync is_overdue waits_since_tick priority "
     "rank waiting held newest_packet_tick components.0: name class visible varsize waits "
     "unconfirmed",
     "id",
     "1",
     "entity",
     PLAYER},
    {.verb = "templates",
     "cut templates.0: name id entities is_replicated is_singleton priority : "
     "templates.0.parts.0 templates.0: file line templates.0.components.0: name type tracked "
     "replicated interpolated rotation bits templates.0.components.1: min step "
     "templates.0.components.0: visible integral teleport value"},
    {.verb = "components",
     "cut components.0: name type bytes is_tag is_varsize replicated components.0.fields.0: "
     "name kind count bits components.0: readers writers"},
    {.verb = "systems",
     "tick timed seconds stages.0.name stages.0.systems.0: name order wave is_sync_point "
     "is_confined may_cut may_share every_ticks quantum reads writes events ticks rows mean_us "
     "max_us share handlers.0: name reads writes : handlers.0.events.0"},
    {.verb = "options", "options.0: name value source help is_hidden"},
    {.verb = "query",
     "q tick columns.0: name type : columns.1.name rows.0: entity template : rows.0.values.1 "
     "cut",
     "q",
     "pos, ?hp"},
    {.verb = "entities",
     "entity template tick is_replicated parent path children children_cut components.0: name "
     "type tracked replicated text components.0.fields.0: name kind value",
     "id",
     PLAYER},
    {.verb = "log", "lines.0: n time_ms tick level layer file line text : cut next"},
};

static void seat(viewer* self) {
    const net_peer_identity identity = {
        .address = net_address_ipv4(htonl(0xCB00714D), 50999),
        .player = UINT64_C(987654321987654321),
        .user_bytes = sizeof SECRET_USER - 1,
        .user = SECRET_USER,
    };
    for (uint32_t i = 0; i < 2; i++)
        net_sim_identity_set(table_sit(&self->table, NULL)->transport, &identity);
    net_sim_identity_set(table_watch(&self->table, NULL)->transport, &identity);
    base_report(server_lines_reporter(self->subject.lines, SERVER_LAYER_NET), SECRET_FILE, 3,
                "note: a line with " SECRET_ADDRESS);
    play(self, 150);
}

VIEW_CASE(each_answer_has_what_its_page_says, .seed = 1, .quiet = 1e9, .spectators_max = 1) {
    seat(self);
    for (uint32_t i = 0; i < BASE_COUNT(ANSWERS); i++) {
        char handle[32];
        const expected* it = &ANSWERS[i];
        answers(self, SERVER_OPERATOR, it->verb, it->name, player_of(self, it->value, handle),
                it->second, player_of(self, it->second_value, handle), NULL);
        char paths[2048];
        assert_in_range(snprintf(paths, sizeof paths, "%s", it->paths), 1, sizeof paths - 1);
        char whole[96], head[64] = "";
        for (char* path = strtok(paths, " "); path; path = strtok(NULL, " ")) {
            const size_t size = strlen(path) - 1;
            if (path[size] == ':')
                (void)snprintf(head, sizeof head, "%.*s%s", (int)size, path, size ? "." : "");
            else
                (void)need(self, (snprintf(whole, sizeof whole, "%s%s", head, path), whole));
        }
    }
}

// ---- errors

static const struct {
    const char *verb, *name, *value, *second, *second_value;
    int status;
    const char* says;
} WRONG[] = {
    {"nothing", NULL, NULL, NULL, NULL, 404, "nothing"},
    {"status", "x", "1", NULL, NULL, 400, "'x'"},
    {"clients", "id", "0", NULL, NULL, 400, "'id'"},
    {"clients", "id", "two", NULL, NULL, 400, "two"},
    {"clients", "id", "77", NULL, NULL, 404, "no client 77"},
    {"clients", "limit", "0", NULL, NULL, 400, "1 to 4096"},
    {"clients", "limit", "4097", NULL, NULL, 400, "1 to 4096"},
    {"why", "id", "77", "entity", "1:1", 404, "no client 77"},
    {"why", "id", "1", "entity", "x", 400, "17:1"},
    {"why", "id", "1", NULL, NULL, 400, "entity"},
    {"templates", "after", "x", NULL, NULL, 400, "'after'"},
    {"components", "after", "-1", NULL, NULL, 400, "'after'"},
    {"query", "q", "possum", NULL, NULL, 400, "column 1"},
    {"query", "q", "template=moat", NULL, NULL, 400, "did you mean 'mote'"},
    {"query", "q", "pos where pos = 1", NULL, NULL, 400, "pos.x"},
    {"query", "q", "pos where pos.z = 1", NULL, NULL, 400, "2 fields"},
    {"query", "q", "where hp = \"a\"", NULL, NULL, 400, "cannot be compared"},
    {"query", "q", "where target = 1", NULL, NULL, 400, "cannot be compared"},
    {"query", "q", "where no.x = 1", NULL, NULL, 400, "no component"},
    {"query", "limit", "0", NULL, NULL, 400, "1 to 1000"},
    {"query", "limit", "1001", NULL, NULL, 400, "1 to 1000"},
    {"query", "after", "1:0", NULL, NULL, 400, "'after'"},
    {"entities", "id", "1:1024", NULL, NULL, 400, "17:1"},
    {"entities", "id", "0:1", NULL, NULL, 400, "17:1"},
    {"entities", "id", "4194304", NULL, NULL, 400, "17:1"},
    {"entities", "id", "4194303", NULL, NULL, 404, "does not live"},
    {"entities", "id", ":", NULL, NULL, 400, "17:1"},
    {"events", "of", "status,clients,", NULL, NULL, 400, "'of'"},
    {"events", "hz", "61", NULL, NULL, 400, "1 to 60"},
    {"positions", "component", "hp", NULL, NULL, 400, "not a position"},
    {"positions", "component", "poss", NULL, NULL, 400, "did you mean 'pos'"},
    {"positions", "client", "0", NULL, NULL, 400, "'client'"},
    {"positions", "hz", "0", NULL, NULL, 400, "1 to 60"},
    {"log", "level", "loud", NULL, NULL, 400, "loud"},
    {"log", "layer", "cake", NULL, NULL, 400, "cake"},
    {"log", "limit", "2001", NULL, NULL, 400, "1 to 2000"},
};

VIEW_CASE(what_is_wrong_is_said_in_a_sentence, .seed = 1, .quiet = 1e9, .spectators_max = 1) {
    seat(self);
    for (uint32_t i = 0; i < BASE_COUNT(WRONG); i++) {
        const int status = ask(self, SERVER_OPERATOR, WRONG[i].verb, WRONG[i].name, WRONG[i].value,
                               WRONG[i].second, WRONG[i].second_value, NULL);
        (void)read_answer(self);
        const char* text = text_at(self, "error");
        if (status != WRONG[i].status || !strstr(text, WRONG[i].says))
            fail_msg("%s %s: %d %s", WRONG[i].verb, WRONG[i].value, status, text);
    }
}

// Verbs may come while the threads of the server still send the last tick.
VIEW_CASE(answers_wait_for_the_threads_of_the_server, .seed = 4, .quiet = 1e9, .is_threaded = true,
          .lanes = 2) {
    static const char* const verbs[] = {"status", "clients", "systems", "ledger", "events"};
    play_with(self, 2, 60);
    for (uint32_t i = 0; i < 100; i++) {
        table* at = &self->table;
        at->now_us += TABLE_TICK_US;
        net_server_service(at->server, at->now_us);
        net_server_tick(at->server, at->now_us);
        assert_int_equal(ask(self, SERVER_OPERATOR, verbs[i % BASE_COUNT(verbs)], NULL), 200);
        table_wait_sent(at);
        net_server_tick(at->server, at->now_us += TABLE_TICK_US);
        assert_int_equal(ask(self, SERVER_OPERATOR, "why", "id", "1", "entity", "1:1", NULL), 200);
        table_wait_sent(at);
        net_server_tick(at->server, at->now_us += TABLE_TICK_US);
        assert_int_equal(ask(self, SERVER_OPERATOR, "positions", "client", "1", NULL), 200);
        table_step(at);
    }
}

// ---- rights

static uint32_t count_secrets(const viewer* self) {
    static const char* const secrets[] = {SECRET_ADDRESS, SECRET_PLAYER, "db4da5f7ef412b1",
                                          SECRET_USER,    SECRET_FILE,   SECRET_SEED};
    uint32_t count = 0;
    for (uint32_t i = 0; i < BASE_COUNT(secrets); i++)
        count += says(self, secrets[i]);
    return count;
}

// All verbs that a reader may ask, each alone and with each value that could lead it somewhere.
static uint32_t count_secrets_of_all(viewer* self, server_right right) {
    static const struct {
        const char *name, *value;
    } arguments[] = {{NULL, NULL},           {"id", "1"},     {"id", "2"},
                     {"id", PLAYER},         {"id", "4095"},  {"of", "status,clients,log"},
                     {"q", "?hp, ?steered"}, {"client", "1"}, {"entity", PLAYER}};
    uint32_t count = 0, answers = 0;
    for (uint32_t i = 0; i < server_verb_count(); i++) {
        const server_verb* verb = server_verb_at(i);
        for (uint32_t k = 0; k < BASE_COUNT(arguments) && !verb->is_change; k++) {
            char handle[32];
            const int status = ask(self, right, verb->name, arguments[k].name,
                                   player_of(self, arguments[k].value, handle), NULL);
            answers += status == 200;
            count += count_secrets(self);
        }
    }
    assert_true(answers > 12);
    return count;
}

VIEW_CASE(a_reader_gets_no_address_id_file_or_seed, .seed = 5544332211, .quiet = 1e9,
          .spectators_max = 1) {
    seat(self);
    assert_true(count_secrets_of_all(self, SERVER_OPERATOR) > 3);
    assert_int_equal(count_secrets_of_all(self, SERVER_READER), 0);
    assert_int_equal(ask(self, SERVER_READER, "log", NULL), 403);
}

VIEW_CASE(a_reader_sees_what_is_replicated, .seed = 1, .quiet = 1e9) {
    play(self, 60);
    (void)ask(self, SERVER_READER, "query", "q", "steered, shouts", NULL); // only tracked
    (void)read_answer(self);
    assert_int_equal(json_array_size(need(self, "rows")), 0);
    answers(self, SERVER_READER, "query", "q", "pos, ?shouts", NULL);
    assert_true(json_array_size(need(self, "rows")) > 5);
    assert_int_equal(ask(self, SERVER_READER, "templates", NULL), 200);
    assert_false(says(self, "\"shouts\""));
    self->subject.reader_delay_s = 30;
    static const char* const closed[] = {"query", "positions"};
    for (uint32_t i = 0; i < BASE_COUNT(closed); i++) {
        assert_int_equal(ask(self, SERVER_READER, closed[i], NULL), 403);
        assert_int_equal(ask(self, SERVER_OPERATOR, closed[i], NULL), 200);
    }
    assert_int_equal(ask(self, SERVER_READER, "entities", "id", "1:1", NULL), 403);
}

// What a reader may know of the world now, by one answer of each kind.
static void check_what_a_reader_gets(viewer* self, bool may_see, ecs_tick tick) {
    static const struct {
        const char* verb;
        const char* paths; ///< of the world now
    } rows[] = {
        {"status", "entities templates.0.entities history.entities"},
        {"templates", "templates.0.entities"},
        {"clients", "clients.0.player clients.0.entities clients.0.waiting "
                    "clients.0.waiting_ticks"},
        {"systems", "stages.0.systems.0.rows"},
    };
    for (uint32_t i = 0; i < BASE_COUNT(rows); i++) {
        char paths[256];
        answers(self, SERVER_READER, rows[i].verb, NULL);
        (void)snprintf(paths, sizeof paths, "%s", rows[i].paths);
        for (char* path = strtok(paths, " "); path; path = strtok(NULL, " "))
            if ((get(self->root, path) != NULL) != may_see) fail_msg("%s.%s", rows[i].verb, path);
        json_t* at = get(self->root, "tick");
        if (at) assert_int_equal(strtoull(json_string_value(at), NULL, 10), tick);
    }
    static const char* const ways[] = {"component", "template", "entity",
                                       "both",      "cause",    "client"};
    for (uint32_t i = 0; i < BASE_COUNT(ways); i++)
        assert_int_equal(ask(self, SERVER_READER, "ledger", "by", ways[i], NULL),
                         may_see || i >= 4 ? 200 : 403);
    answers(self, SERVER_READER, "clients", "id", "1", NULL);
    assert_int_equal(get(self->root, "player") != NULL, may_see);
    assert_int_equal(get(self->root, "sent_tick") != NULL, may_see);
    assert_int_equal(ask(self, SERVER_READER, "metrics", NULL), 200);
    assert_int_equal(says(self, "shoal_entities{"), may_see);
    char line[64];
    (void)snprintf(line, sizeof line, "\nshoal_ticks_total %llu\n", (unsigned long long)tick);
    assert_true(says(self, line));
    assert_int_equal(ask(self, SERVER_READER, "events", NULL), 200);
    assert_int_equal(says(self, "\"entities\""), may_see);
    (void)snprintf(line, sizeof line, "id: %llu\n", (unsigned long long)tick);
    assert_true(says(self, line));
    // An operator has all of it.
    assert_int_equal(ask(self, SERVER_OPERATOR, "status", NULL), 200);
    assert_true(says(self, "\"history\"") && says(self, "\"templates\""));
    assert_int_equal(ask(self, SERVER_OPERATOR, "metrics", NULL), 200);
    assert_true(says(self, "shoal_entities{"));
}

VIEW_CASE(a_reader_who_watches_later_gets_nothing_of_now, .seed = 1, .quiet = 1e9) {
    play_with(self, 1, 150);
    const ecs_tick tick = net_match_tick(self->table.match);
    check_what_a_reader_gets(self, true, tick);
    self->subject.reader_delay_s = 1;
    check_what_a_reader_gets(self, false, tick - 60);
    self->subject.reader_delay_s = 30;
    check_what_a_reader_gets(self, false, 0);
}

static bool has_metric(viewer* self, const char* name) {
    char line[64];
    assert_int_equal(ask(self, SERVER_READER, "metrics", NULL), 200);
    snprintf(line, sizeof line, "\nshoal_%s ", name);
    return says(self, line);
}

// An alert that is about a server's stream or pace would fire on each standby and relay.
VIEW_CASE(a_program_has_the_metrics_that_say_something_about_it, .seed = 1, .quiet = 1e9) {
    const server_stream_counts stream = {.records = 0};
    const net_standby_report standby = {.newest = 1};
    const net_follow_report follow = {.behind_us = 2500000};
    play(self, 10);
    assert_true(has_metric(self, "tick_lag_seconds") && has_metric(self, "tick_period_seconds"));
    assert_false(has_metric(self, "stream_up") || has_metric(self, "standbys"));
    self->subject.stream = &stream;
    assert_true(has_metric(self, "stream_up"));
    self->subject.follow = &follow; // a relay has no stream of its own
    self->subject.stream = NULL;
    assert_true(has_metric(self, "relay_behind_seconds") && says(self, "behind_seconds 2.500000"));
    assert_false(has_metric(self, "tick_lag_seconds"));
    self->subject.stream = &stream; // a standby has one, that it does not write yet
    self->subject.standby = &standby;
    assert_true(has_metric(self, "standby_lag_ticks") && has_metric(self, "tick_period_seconds"));
    assert_false(has_metric(self, "stream_up") || has_metric(self, "stream_protected"));
    assert_false(has_metric(self, "standbys") || has_metric(self, "tick_lag_seconds"));
    assert_false(has_metric(self, "relay_behind_seconds"));
}

// A transport that is a number alone.
typedef struct number_transport {
    net_transport transport;
    uint64_t sent_bytes;
} number_transport;
static void number_stats(const net_transport* transport, net_transport_stats* stats) {
    *stats = (net_transport_stats){.sent_bytes = ((const number_transport*)transport)->sent_bytes};
}
static const net_transport_ops number_ops = {.stats = number_stats};
static uint64_t packet_bytes(const viewer* self) {
    uint64_t dropped[NET_DROP_COUNT];
    net_server_dropped(self->table.server, dropped); // waits for the threads that send
    const net_server_counters* counters = net_server_get_counters(self->table.server);
    return counters->state_bytes + counters->control_bytes;
}
static bool has_carried(viewer* self, uint64_t bytes) {
    char line[64];
    assert_int_equal(ask(self, SERVER_READER, "metrics", NULL), 200);
    snprintf(line, sizeof line, "{kind=\"transport\"} %" PRIu64 "\n", bytes);
    return says(self, line);
}
// A counter that falls is a restart to Prometheus.
VIEW_CASE(no_counter_falls_while_packets_wait_to_be_sent, .seed = 1, .quiet = 1e9) {
    play_with(self, 1, 30);
    number_transport wire = {{.ops = &number_ops}, packet_bytes(self) + 100};
    self->subject.transport = &wire.transport;
    assert_true(has_carried(self, 100));
    play(self, 30);
    assert_true(packet_bytes(self) > wire.sent_bytes);
    assert_true(has_carried(self, 100));
    wire.sent_bytes = packet_bytes(self) + 150;
    assert_true(has_carried(self, 150));
}

// The newest tick is long ago.
VIEW_CASE(a_match_that_is_paused_is_not_late, .seed = 1, .quiet = 1e9) {
    play(self, 10);
    server_metrics_tick(self->subject.metrics, self->table.server, 1000, 200000);
    assert_true(has_metric(self, "tick_lag_seconds") && says(self, "lag_seconds 0.200000"));
    self->subject.is_paused = true;
    assert_true(has_metric(self, "tick_lag_seconds") && says(self, "lag_seconds 0.000000"));
}

CASE(a_reader_looks_into_no_game_that_hides_things) {
    swarm_wild wild;
    viewer self;
    open_view(&self, (table_config){.seed = 1,
                                    .quiet = 1e9,
                                    .game = swarm_wild_make(&wild, SWARM_RADIUS | SWARM_TEAM),
                                    .templates = swarm_wild_templates()});
    (void)table_sit(&self.table, NULL);
    play(&self, 60);
    assert_int_equal(ask(&self, SERVER_READER, "query", NULL), 403);
    assert_int_equal(ask(&self, SERVER_READER, "why", "id", "1", "entity", "1:1", NULL), 403);
    assert_int_equal(ask(&self, SERVER_READER, "positions", NULL), 403);
    assert_int_equal(ask(&self, SERVER_OPERATOR, "query", NULL), 200);
    assert_int_equal(ask(&self, SERVER_OPERATOR, "why", "id", "1", "entity", "1:1", NULL), 200);
    check_what_a_reader_gets(&self, false, net_match_tick(self.table.match));
    close_view(&self);
}

// ---- bits

VIEW_CASE(bits_are_counted_from_the_first_question_on, .seed = 2, .quiet = 1e9) {
    static const char* const ways[] = {"both",     "component", "cause",
                                       "template", "client",    "entity"};
    play_with(self, 2, 60);
    answers(self, SERVER_OPERATOR, "ledger", NULL);
    assert_int_equal((int)number_at(self, "seconds"), 0);
    assert_int_equal(ask(self, SERVER_OPERATOR, "ledger", "by", "entity", NULL), 200);
    play(self, 60 + 200);
    for (uint32_t i = 0; i < BASE_COUNT(ways); i++) {
        double share = 0;
        uint64_t bits = 0;
        answers(self, SERVER_OPERATOR, "ledger", "by", ways[i], NULL);
        assert_string_equal(text_at(self, "by"), ways[i]);
        assert_in_range((int)number_at(self, "seconds"), 3, 4);
        json_t* lines = need(self, "lines");
        for (size_t k = 0; k < json_array_size(lines); k++) {
            json_t* line = json_array_get(lines, k);
            share += json_number_value(get(line, "share"));
            bits += strtoull(json_string_value(get(line, "bits")), NULL, 10);
            assert_true(json_is_string(get(line, "name")) && json_is_number(get(line, "bytes_s")));
        }
        if (share < 0.99 || share > 1.01) fail_msg("%s: shares are %g", ways[i], share);
        if (!is_true_at(self, "cut"))
            assert_true(bits == strtoull(text_at(self, "bits"), NULL, 10));
    }
    assert_int_equal(json_array_size(need(self, "history_bits")), 10);
    assert_int_equal(ask(self, SERVER_OPERATOR, "ledger", "by", "cake", NULL), 400);
    assert_true(says(self, "not 'cake'"));
}

VIEW_CASE(a_packet_is_taken_apart_without_gaps, .seed = 2, .quiet = 1e9) {
    play_with(self, 1, 60);
    assert_int_equal(ask(self, SERVER_OPERATOR, "packet", "client", "1", NULL), 404);
    play(self, 20);
    answers(self, SERVER_OPERATOR, "packet", "client", "1", NULL);
    json_t* parts = need(self, "parts");
    double end = 0;
    assert_true(json_array_size(parts) > 5);
    for (size_t i = 0; i < json_array_size(parts); i++) {
        json_t* part = json_array_get(parts, i);
        assert_true(json_number_value(get(part, "offset")) <= end);
        const double part_end =
            json_number_value(get(part, "offset")) + json_number_value(get(part, "bits"));
        if (part_end > end) end = part_end;
        assert_true(json_string_length(get(part, "name")) > 0);
        assert_true(json_is_string(get(part, "value")) && json_is_string(get(part, "component")));
    }
    assert_true(end == number_at(self, "bits"));
    assert_int_equal(ask(self, SERVER_READER, "packet", "client", "1", NULL), 403);
    assert_int_equal(ask(self, SERVER_OPERATOR, "packet", "client", "9", NULL), 404);
}

// ---- times

VIEW_CASE(times_of_the_last_minute_are_known, .seed = 2, .quiet = 1) {
    uint64_t parts[NET_PART_COUNT] = {10, 900, 0, 20, 30, 40};
    server_meter* meter = self->subject.meter;
    for (uint32_t i = 0; i < 60 * 60; i++)
        server_meter_tick(meter, i < 1800 ? 50000 : 1000, parts);
    answers(self, SERVER_OPERATOR, "status", NULL);
    assert_in_range((uint32_t)number_at(self, "parts.0.max_us"), 50000, 52000);
    assert_string_equal(text_at(self, "parts.2.name"), "step");
    assert_in_range((uint32_t)number_at(self, "parts.2.p50_us"), 900, 930);
    assert_string_equal(text_at(self, "warnings.0.of"), "tick");
    assert_non_null(strstr(text_at(self, "warnings.0.figure"), "of 16.7 ms"));
    for (uint32_t i = 0; i < 1800; i++) // the slow ones are older than a minute then
        server_meter_tick(meter, 1000, parts);
    answers(self, SERVER_OPERATOR, "status", NULL);
    assert_in_range((uint32_t)number_at(self, "parts.0.max_us"), 1000, 1040);
    assert_in_range((uint32_t)(number_at(self, "parts.2.share") * 1000), 899, 901);
    assert_int_equal(json_array_size(need(self, "warnings")), 0);
}

VIEW_CASE(a_stream_that_waits_or_ended_says_why, .seed = 2, .quiet = 1) {
    server_stream_counts counts = {.records = 7, .status.text = "the log has not all of it"};
    const struct {
        net_stream_state state;
        net_stream_trouble trouble;
        const char *text, *figure;
    } rows[] = {
        {NET_STREAM_OWNED, NET_STREAM_WELL, NULL, NULL},
        {NET_STREAM_OWNED, NET_STREAM_FULL, "broker is full", "7 records wait: the log has"},
        {NET_STREAM_OWNED, NET_STREAM_SLOW, "does not answer", "7 records wait"},
        {NET_STREAM_FAILED, NET_STREAM_WELL, "The stream ended", "the log has not all of it"},
    };
    self->subject.stream = &counts;
    for (uint32_t i = 0; i < BASE_COUNT(rows); i++) {
        counts.status.state = rows[i].state;
        counts.status.trouble = rows[i].trouble;
        answers(self, SERVER_READER, "status", NULL);
        assert_int_equal(json_array_size(need(self, "warnings")), rows[i].text != NULL);
        if (rows[i].text) assert_non_null(strstr(text_at(self, "warnings.0.text"), rows[i].text));
        if (rows[i].text)
            assert_non_null(strstr(text_at(self, "warnings.0.figure"), rows[i].figure));
        assert_int_equal(ask(self, SERVER_READER, "metrics", NULL), 200);
        assert_int_equal(says(self, "\nshoal_stream_up 1\n"), rows[i].text == NULL);
    }
    counts.status.ack_us_total = 2500000;
    self->subject.ticks_given_up = 12;
    assert_int_equal(ask(self, SERVER_READER, "metrics", NULL), 200);
    assert_true(says(self, "\nshoal_stream_ack_seconds_total 2.500000\n"));
    assert_true(says(self, "\nshoal_ticks_given_up_total 12\n"));
    self->subject.stream = NULL;
}

// The tick of its alert is in the metrics, and the page warns.
VIEW_CASE(a_log_that_the_disk_refused_is_missed, .seed = 2, .quiet = 1) {
    net_log_writer* log = self->subject.log;
    self->subject.log = NULL;
    table_step(&self->table);
    for (uint32_t lacks = 0; lacks < 2; lacks++) {
        char line[64];
        self->subject.lacks_log = lacks;
        answers(self, SERVER_READER, "status", NULL);
        assert_int_equal(json_array_size(need(self, "warnings")), lacks);
        if (lacks) assert_string_equal(text_at(self, "warnings.0.of"), "log");
        snprintf(line, sizeof line, "\nshoal_log_ticks_lost %u\n",
                 (unsigned)net_match_tick(self->table.match));
        assert_int_equal(ask(self, SERVER_READER, "metrics", NULL), 200);
        base_bytes_write(&self->json, "", 1);
        assert_int_equal(strstr((const char*)self->json.data, line) != NULL, lacks);
    }
    self->subject.log = log;
}

VIEW_CASE(seconds_are_kept_for_a_minute, .seed = 2, .quiet = 1) {
    server_meter* meter = self->subject.meter;
    ecs_world* world = net_match_world(self->table.match);
    uint64_t parts[NET_PART_COUNT] = {0};
    for (uint32_t second = 0; second <= 62; second++) {
        server_meter_pass(meter, self->table.server, self->table.transport, world,
                          5000000 + second * UINT64_C(1000000));
        assert_int_equal(server_meter_seconds(meter), second < 60 ? second : 60);
        server_meter_tick(meter, 1000 + second, parts);
        server_meter_pass(meter, self->table.server, self->table.transport, world,
                          5000000 + second * UINT64_C(1000000) + 999999);
    }
    assert_in_range(server_meter_second(meter, 0)->max_us, 1002, 1040);
    assert_true(server_meter_second(meter, 59)->max_us > server_meter_second(meter, 0)->max_us);
}

VIEW_CASE(systems_are_measured_while_somebody_asks, .seed = 2, .quiet = 1e9) {
    ecs_world* world = net_match_world(self->table.match);
    server_meter* meter = self->subject.meter;
    assert_int_equal(server_meter_watch(meter, world, 1000), 0);
    for (uint32_t i = 0; i < 30; i++)
        table_step(&self->table);
    assert_int_equal(server_meter_watch(meter, world, 500999), 499999);
    ecs_system_times times;
    assert_true(ecs_inspect_system_times(world, 0, 0, &times));
    assert_int_equal(times.ticks, 30);
    assert_true(times.ns > 0);
    // Ten seconds after the newest ask it ends.
    server_meter_pass(meter, self->table.server, self->table.transport, world, 10500998);
    assert_true(ecs_inspect_system_times(world, 0, 0, &times));
    assert_int_equal(times.ticks, 30);
    server_meter_pass(meter, self->table.server, self->table.transport, world, 11600999);
    assert_true(ecs_inspect_system_times(world, 0, 0, &times));
    assert_int_equal(times.ticks, 0);
    assert_int_equal(server_meter_watch(meter, world, 12000000), 0);
}

// ---- the log

VIEW_CASE(lines_are_read_once_and_by_level, .seed = 2, .quiet = 1) {
    const base_reporter* net = server_lines_reporter(self->subject.lines, SERVER_LAYER_NET);
    const base_reporter* log = server_lines_reporter(self->subject.lines, SERVER_LAYER_LOG);
    base_report(net, NULL, 0, "note: one");
    base_report(log, NULL, 0, "warning: two");
    base_report(net, NULL, 0, "three");
    answers(self, SERVER_OPERATOR, "log", "level", "warning", NULL);
    assert_int_equal(json_array_size(need(self, "lines")), 2);
    assert_string_equal(text_at(self, "lines.0.text"), "two");
    assert_string_equal(text_at(self, "lines.0.layer"), "log");
    answers(self, SERVER_OPERATOR, "log", "layer", "net", "limit", "1", NULL);
    assert_string_equal(text_at(self, "lines.0.text"), "one");
    assert_true(is_true_at(self, "cut"));
    char after[24];
    snprintf(after, sizeof after, "%s", text_at(self, "next"));
    answers(self, SERVER_OPERATOR, "log", "layer", "net", "after", after, NULL);
    assert_string_equal(text_at(self, "lines.0.text"), "three");
    assert_false(is_true_at(self, "cut"));
    snprintf(after, sizeof after, "%s", text_at(self, "next"));
    answers(self, SERVER_OPERATOR, "log", "after", after, NULL);
    assert_int_equal(json_array_size(need(self, "lines")), 0);
    assert_string_equal(text_at(self, "next"), after);
}
