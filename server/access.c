// SPDX-License-Identifier: MIT
// A banned address gets no answer: the transport drops its datagrams. A banned player or key gets a
// session just long enough to read why: net/server refuses it with the reason of the ban.
#include "access.h"

#include "program.h"

#include "base/assert.h"
#include "host/output.h"
#include "host/setup.h"
#include "host/keys.h"
#include "net/transport.h"

#include <errno.h>
#include <string.h>

static bool load_keys(server_program* self, net_key_ring* keys) {
    const bool is_kept = !self->config.key_file && self->kept_keys.count > 0;
    if (is_kept) *keys = self->kept_keys;
    if (!is_kept && !net_host_load_keys(self->config.key_file, keys, &self->reporter)) return false;
    if (keys->count == 0 || net_host_forbid_core()) return true;
    return base_report(&self->reporter, NULL, 0, "core files cannot be forbidden: %s",
                       strerror(errno));
}

bool server_addresses_resolve(const char* option, const base_option_list* given,
                              net_address addresses[NET_TOKEN_ADDRESSES_MAX],
                              const base_reporter* reporter) {
    if (given->count > NET_TOKEN_ADDRESSES_MAX)
        return base_report(reporter, NULL, 0, "--%s: at most %u", option, NET_TOKEN_ADDRESSES_MAX);
    for (uint32_t i = 0; i < given->count; i++) {
        net_result result = net_address_resolve_one(NULL, given->values[i], &addresses[i]);
        if (result == NET_OK) continue;
        return base_report(reporter, NULL, 0, "--%s %s: %s", option, given->values[i],
                           net_result_text(result));
    }
    return true;
}

static uint64_t name_key(const net_key* key) {
    uint8_t bytes[16];
    net_key_derive(key, "shoal key of a match", 0, 0, bytes, sizeof bytes);
    return base_load_le64(bytes);
}

// Secrets are made of the first key. Of a match that another server has that is the one which its
// claim names, wherever it stands in the file here. @return false: it is not there: reported.
static bool find_first_key(server_program* self) {
    net_key_ring* keys = &self->access.keys;
    const uint64_t wanted = self->access.key_name;
    if (!self->access.is_named) {
        if (keys->count > 0) self->access.key_name = name_key(&keys->keys[0]);
        return true;
    }
    for (uint32_t i = 0; i < keys->count; i++) {
        if (name_key(&keys->keys[i]) != wanted) continue;
        net_key first = keys->keys[i];
        keys->keys[i] = keys->keys[0];
        keys->keys[0] = first;
        net_key_wipe(&first);
        return true;
    }
    return base_report(
        &self->reporter, self->config.key_file, 0,
        wanted ? "it lacks the key of the match's server: no player could come back here"
               : "the match's server has no --key-file: no player could come back here");
}

int server_access_open(server_program* self) {
    if (!load_keys(self, &self->access.keys) || !find_first_key(self) ||
        !server_addresses_resolve("listen public", &self->config.public_addresses,
                                  self->access.public_addresses, &self->reporter))
        return NET_EXIT_USAGE;
    self->access.has_keys = self->access.keys.count > 0;
    if (self->config.agones_reuse && !self->config.key_file) self->kept_keys = self->access.keys;
    if (self->access.has_keys)
        net_key_derive(&self->access.keys.keys[0], "shoal sessions", 0, 0,
                       self->access.session_key.bytes, sizeof self->access.session_key.bytes);
    self->access.bans = net_bans_create(NULL);
    const char* file = self->config.bans;
    return file && net_bans_load(self->access.bans, file, &self->reporter) != NET_OK
               ? NET_EXIT_USAGE
               : NET_EXIT_CLEAN;
}

net_security server_access_security(server_program* self) {
    BASE_ASSERT(self->config.public_addresses.count <= NET_TOKEN_ADDRESSES_MAX);
    BASE_ASSERT(self->access.has_keys == (self->access.keys.count > 0)); // not yet wiped
    BASE_ASSERT(self->identity != 0);
    return (net_security){
        .keys = &self->access.keys,
        .allow_dev_key = self->config.allow_dev_key,
        .addresses = self->access.public_addresses,
        .address_count = self->config.public_addresses.count,
        // What a relay gives to a spectator opens no server of the match.
        .identity = self->config.follow ? 0 : self->identity,
        .again_s = self->config.follow ? 0 : self->config.again_s,
    };
}

void server_access_secret(void* program, uint32_t client, void* bytes, size_t size) {
    const server_program* self = program;
    BASE_ASSERT(self->access.has_keys && self->identity != 0 && client != 0 && bytes && size > 0);
    net_key_derive(&self->access.session_key, "shoal session", self->identity, client, bytes, size);
}

void server_access_wipe(server_program* self) {
    net_key_ring_wipe(&self->access.keys);
}

// @return false: it is not among them: reported.
static bool keep_chosen(const server_program* self, net_key_ring* keys) {
    if (self->access.key_id == 0) return true;
    const net_key* chosen = net_key_ring_find(keys, self->access.key_id);
    if (!chosen)
        return base_report(&self->reporter, NULL, 0, "there is no key with the number %u",
                           self->access.key_id);
    keys->keys[0] = *chosen;
    keys->count = 1;
    return true;
}

bool server_access_choose_key(server_program* self, uint8_t key_id) {
    if (!self->access.has_keys && key_id == 0) return true;
    net_key_ring keys = self->access.keys;
    self->access.key_id = key_id;
    const bool is_chosen =
        (!self->config.key_file || load_keys(self, &keys)) && keep_chosen(self, &keys);
    if (is_chosen) net_transport_enet_keys_set(self->enet, &keys);
    net_key_ring_wipe(&keys);
    return is_chosen;
}

static bool listens_on_loopback(const server_program* self) {
    char listen[NET_HOST_LISTEN_BYTES];
    net_address at;
    return net_host_listen_at(self->config.listen, 0, listen) &&
           net_address_resolve_one(NULL, listen, &at) == NET_OK && net_address_is_loopback(&at);
}

void server_access_report(const server_program* self) {
    if (self->access.has_keys) return;
    if (self->config.allow_dev_key)
        base_report(&self->reporter, NULL, 0,
                    "note: --allow-dev-key: every client that reaches this port may play, and "
                    "what is sent can be read and changed on its way");
    else if (!listens_on_loopback(self))
        base_report(&self->reporter, NULL, 0,
                    "note: no --key-file: players need no token, and only those of private "
                    "networks get in");
}

static void reload_keys(server_program* self) {
    if (!self->config.key_file) return;
    net_key_ring keys;
    if (load_keys(self, &keys) && keep_chosen(self, &keys)) {
        net_transport_enet_keys_set(self->enet, &keys);
        base_report(&self->reporter, self->config.key_file, 0, "note: reloaded: keys=%u",
                    keys.count);
    } else {
        base_report(&self->reporter, self->config.key_file, 0,
                    "not reloaded: the old keys stay, the fault is above");
    }
    net_key_ring_wipe(&keys);
}

void server_access_reload(server_program* self) {
    reload_keys(self);
    const char* file = self->config.bans;
    if (!file) return;
    if (net_bans_load(self->access.bans, file, &self->reporter) != NET_OK) {
        base_report(&self->reporter, file, 0,
                    "not reloaded: the old bans stay, the faults are above");
        return;
    }
    uint32_t ended = net_server_enforce_bans(self->server);
    base_report(&self->reporter, file, 0, "note: reloaded: bans=%u players ended=%u",
                net_bans_count(self->access.bans), ended);
}
