// SPDX-License-Identifier: MIT
// A build without libnats or jansson: --stream and --standby say so.
#include "stream_nats.h"

#include "base/assert.h"

net_result server_nats_open(const server_nats_config* config, const base_reporter* reporter,
                            server_nats** nats) {
    (void)config;
    *nats = NULL;
    base_report(reporter, NULL, 0,
                "this build has no NATS: it needs libnats-dev and libjansson-dev, and to be built "
                "again");
    return NET_ERR_UNKNOWN;
}

void server_nats_close(server_nats* nats) {
    BASE_ASSERT(!nats);
}

net_broker server_nats_broker(server_nats* nats) {
    (void)nats;
    return (net_broker){.context = NULL};
}

void server_nats_write(server_nats* nats, void (*wake)(void* context), void* context) {
    (void)nats, (void)wake, (void)context;
}

void server_nats_say(server_nats* nats, const base_reporter* reporter, uint64_t now_us) {
    (void)nats, (void)reporter, (void)now_us;
}

void server_nats_end(server_nats* nats, const base_reporter* reporter) {
    (void)nats, (void)reporter;
}

void server_nats_url(const server_nats* nats, char* text, size_t text_bytes) {
    (void)nats, (void)text_bytes;
    text[0] = 0;
}
