// SPDX-License-Identifier: MIT
// serve: the inspector's page for a log, without a match. The page has the log's bytes and the
// game's code; from here it gets nothing but what is in the header.
#include "replay/replay.h"

#include "inspect/inspect.h"

#include "base/json.h"
#include "net/log_bytes.h"
#include "host/output.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#define PASS_US 20000u
#define FOLLOW_US UINT64_C(1000000) // the log may have grown

/// What the page is answered from.
typedef struct served {
    server_subject subject; ///< the first member: answers find the log by it
    const net_log_info* info;
    uint64_t follow_us;
} served;

// A server_run_fn. A log has a state, and nothing that could be asked of a match.
static void answer(server_subject* subject, const server_request* request) {
    const served* self = (const served*)subject;
    const bool is_stream = strcmp(request->verb, "events") == 0;
    base_bytes* json = request->answer->json;
    server_answer_begin(request->answer, 200);
    if (is_stream) {
        request->answer->type = "text/event-stream";
        request->answer->stream_hz = 1;
        base_json_put(json, "event: status\ndata: ");
    }
    if (is_stream || strcmp(request->verb, "status") == 0) {
        const net_log_info* info = self->info;
        base_json_write(
            json,
            "{game=%s build=%s schema='%016jx' phase='log' is_paused=false is_empty=false "
            "tick='%ju' tick_rate_hz=%u may_edit=false right=%s warnings=[]}",
            info->game, info->build, info->schema_hash, info->last_tick, info->tick_rate_hz,
            request->right == SERVER_OPERATOR ? "operator" : "reader");
    } else if (server_verb_find(request->verb))
        server_refuse(request, 409, "a log is shown here: no match runs that could answer");
    else
        server_refuse(request, 404, "there is no such verb");
    if (is_stream) base_json_put(json, "\n\n");
}

// Of a log that is written now, what its queue has comes with its blocks.
static bool open_live(server_replay* self) {
    net_log_reader* live;
    if (net_log_reader_info(self->reader)->is_closed || !net_log_is_written(self->file))
        return false;
    if (net_log_reader_create_to(NULL, self->file, NET_LOG_LIVE, &self->reporter, &live) != NET_OK)
        return true;
    net_log_reader_destroy(self->reader);
    self->reader = live;
    return true;
}

static int open_page(server_replay* self, served* log, server_inspect** inspect) {
    const bool is_live = open_live(self);
    const net_log_info* info = net_log_reader_info(self->reader);
    *log = (served){.info = info};
    log->subject.tick_rate_hz = info->tick_rate_hz;
    return server_inspect_open(&(server_inspect_config){.listen = self->http,
                                                        .token_file = self->http_token_file,
                                                        .hosts = self->http_hosts,
                                                        .game = info->game,
                                                        .log_file = self->file,
                                                        .is_live = is_live,
                                                        .is_hiding = is_live,
                                                        .is_elsewhere = true,
                                                        .tick_rate_hz = info->tick_rate_hz,
                                                        .subject = &log->subject,
                                                        .run = answer,
                                                        .reporter = &self->reporter},
                               inspect);
}

// The status of a log that grows follows its newest block.
static void follow(server_replay* self, served* log, uint64_t now_us) {
    if (log->info->is_closed || now_us < log->follow_us) return;
    log->follow_us = now_us + FOLLOW_US;
    net_log_reader_follow(self->reader);
    log->info = net_log_reader_info(self->reader);
}

int server_replay_serve(server_replay* self) {
    served log = {0};
    server_inspect* inspect;
    char address[NET_ADDRESS_TEXT_BYTES + 16];
    if (!net_loop_init(&self->loop))
        return net_exit_report(NET_EXIT_RUNTIME, &self->reporter, NULL, "signals: %s",
                               strerror(errno));
    int code = open_page(self, &log, &inspect);
    if (code == NET_EXIT_CLEAN) {
        server_inspect_address(inspect, address, sizeof address);
        printf("ready http=%s game=%s\n", address, log.info->game);
        while (!net_loop_wait(&self->loop, net_loop_now_us() + PASS_US)) {
            server_inspect_pass(inspect, false);
            follow(self, &log, net_loop_now_us());
        }
        server_inspect_close(inspect);
    }
    net_loop_deinit(&self->loop);
    self->is_repaired = true; // its damage is what the page shows
    return code;
}
