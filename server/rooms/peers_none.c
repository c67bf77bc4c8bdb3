// SPDX-License-Identifier: MIT
// A build without libnats: `fleet` of host.conf says so, and nothing else is called.
#include "peers.h"

server_peers* server_peers_create(const char* url, const base_reporter* reporter) {
    (void)url;
    base_report(reporter, NULL, 0,
                "fleet: this build has no NATS: it needs libnats-dev, and to be built again");
    return NULL;
}

void server_peers_destroy(server_peers* peers) {
    (void)peers;
}

int server_peers_descriptor(const server_peers* peers) {
    (void)peers;
    return -1;
}

bool server_peers_pass(server_peers* peers) {
    (void)peers;
    return false;
}

void server_peers_listen(server_peers* peers, const char* subject, bool is_group, bool is_wanted) {
    (void)peers, (void)subject, (void)is_group, (void)is_wanted;
}

void server_peers_send(server_peers* peers, const char* subject, uint64_t number, const void* bytes,
                       size_t size) {
    (void)peers, (void)subject, (void)number, (void)bytes, (void)size;
}

void server_peers_answer(server_peers* peers, const char* reply, const void* bytes, size_t size) {
    (void)peers, (void)reply, (void)bytes, (void)size;
}

bool server_peers_take(server_peers* peers, server_peer_message* message) {
    (void)peers, (void)message;
    return false;
}
