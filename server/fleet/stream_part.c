// SPDX-License-Identifier: MIT
// --stream as a part of the program: its options, and what the loop does for it.
#include "fleet.h"
#include "log/log.h"

#include "base/text.h"
#include "host/output.h"
#include "net/log.h"

typedef struct stream_part {
    server_stream* stream; // NULL: no --stream
    net_transport* hold;   // before the program's
    net_address address;   // where players reach it, without --listen public
} stream_part;

server_stream* server_stream_of(const server_program* program) {
    const stream_part* part = server_program_state(program, &server_part_stream);
    return part ? part->stream : NULL;
}

// The stream takes what the log's writer appends.
static int make_stream(server_program* self) {
    stream_part* part = server_program_state(self, &server_part_stream);
    net_stream_sync sync;
    if (!server_stream_read_sync(self->config.stream_sync ? self->config.stream_sync : "off",
                                 &self->reporter, &sync))
        return NET_EXIT_USAGE;
    if (sync.is_on && !self->config.stream) {
        base_report(&self->reporter, NULL, 0, "--stream sync: there is no --stream");
        return NET_EXIT_USAGE;
    }
    if (!self->config.stream) return NET_EXIT_CLEAN;
    sync.tick_us = UINT64_C(1000000) / self->config.tick_rate_hz;
    if (!server_log_is_wanted(&self->config)) {
        base_report(&self->reporter, NULL, 0,
                    "--stream: it needs a log, which is its source (not --log none)");
        return NET_EXIT_USAGE;
    }
    uint32_t addresses = (uint32_t)self->config.public_addresses.count;
    char text[NET_ENET_ADDRESS_TEXT_BYTES];
    const bool is_public = addresses > 0;
    if (!is_public && net_transport_enet_address(self->transport, text, sizeof text) &&
        net_address_parse(text, &part->address) == NET_OK)
        addresses = 1;
    part->stream = server_stream_create(&(server_stream_config){
        .url = self->config.stream,
        .log_file = server_log_of(self)->file,
        .addresses = is_public ? self->access.public_addresses : &part->address,
        .address_count = addresses,
        .key_id = self->access.key_name,
        .is_following = self->config.standby != NULL,
        .sync = sync,
        .reporter = &self->reporter,
    });
    if (!part->stream || net_transport_hold_create(NULL, self->transport, &part->hold) != NET_OK) {
        base_report(&self->reporter, NULL, 0, "%s", net_result_text(NET_ERR_MEMORY));
        return NET_EXIT_RUNTIME;
    }
    server_program_hear(self, server_stream_descriptor(part->stream));
    server_log_of(self)->tap = server_stream_tap(part->stream);
    self->outer = part->hold;
    self->fixed_game = "those that follow the stream have the game as it is now";
    return NET_EXIT_CLEAN;
}

static int begin_stream(server_program* self) {
    server_stream* stream = server_stream_of(self);
    if (!stream) return NET_EXIT_CLEAN;
    if (server_log_of(self)->has_file && self->config.standby)
        return server_stream_stand_by(stream, self->identity, server_standby_of(self)->standby);
    if (server_log_of(self)->has_file)
        return server_stream_begin(stream, self->identity, self->config.resume != NULL);
    base_report(&self->reporter, NULL, 0, "--stream: there is no log, which is its source");
    return NET_EXIT_RUNTIME;
}

static void pass(server_program* self, uint64_t now_us) {
    const stream_part* part = server_program_state(self, &server_part_stream);
    server_subject_of(self)->stream = server_stream_get(part->stream);
    if (server_stream_pass(part->stream, now_us) > 0) {
        self->is_over = true; // another server goes on with the match
        self->over_code = NET_EXIT_FENCED;
    }
    server_stream_keep_safe(part->stream, self->server, part->hold, net_match_tick(self->match),
                            net_loop_now_us());
}

static void say(const server_program* self, server_saying line, char* text, size_t bytes) {
    char url[512];
    if (line != SERVER_SAYS_READY || !server_stream_of(self)) return;
    server_stream_url(server_stream_of(self), url, sizeof url);
    (void)base_text_format(text, bytes, " stream=%s", url);
}

static int report(server_program* self) {
    server_stream_end(server_stream_of(self));
    return NET_EXIT_CLEAN;
}

static int stop_stream(server_program* self) {
    server_stream_destroy(server_stream_of(self)); // the log's tap
    return NET_EXIT_CLEAN;
}

static int close_hold(server_program* self) {
    net_transport* hold = ((stream_part*)server_program_state(self, &server_part_stream))->hold;
    if (hold) hold->ops->destroy(hold);
    return NET_EXIT_CLEAN;
}

const server_part server_part_stream = {
    .name = "stream",
    .state_bytes = sizeof(stream_part),
    .at = {[SERVER_LISTENING] = make_stream,
           [SERVER_OPENED] = begin_stream,
           [SERVER_REPORT] = report,
           [SERVER_STOP] = stop_stream,
           [SERVER_CLOSE] = close_hold},
    .say = say,
    .pass = pass,
};
