// SPDX-License-Identifier: MIT
// The two entries: the worlds of a client beside the server's.
#include "net/check.h"

#include "check/check_internal.h"

#include "base/assert.h"

static net_result make_world(net_checker* self, net_role role, net_match** match) {
    net_match_config config = net_match_config_default(self->config->module);
    config.allocator = self->config->allocator;
    config.role = role;
    config.has_render = role == NET_ROLE_MIRROR;
    config.workers = NULL;
    return net_match_create(&config, self->config->reporter, match);
}

static net_result open(net_checker* self, const net_check_config* config, net_match* server) {
    BASE_ASSERT(config && config->module);
    *self = (net_checker){.config = config,
                          .allocator = config->allocator,
                          .game = config->module->game,
                          .server = server};
    net_result result = NET_OK;
    if (!server) result = make_world(self, NET_ROLE_SERVER, &self->server);
    if (result == NET_OK) result = make_world(self, NET_ROLE_MIRROR, &self->view);
    if (result == NET_OK && self->game->predict)
        result = make_world(self, NET_ROLE_PREDICT, &self->predict);
    return result;
}

static void check_all_declared(net_checker* self) {
    self->result.templates = ecs_template_count(net_match_world(self->server));
    self->result.components = ecs_component_count(net_match_world(self->server));
    net_check_systems(self);
    net_check_handlers(self);
    net_check_inputs(self);
    net_check_reads(self);
    net_check_messages(self);
}

static void close(net_checker* self) {
    net_match_destroy(self->predict);
    net_match_destroy(self->view);
}

net_result net_check_declared(const net_check_config* config, net_match* match,
                              net_check_result* result) {
    BASE_ASSERT(match && result);
    net_checker self;
    net_result code = open(&self, config, match);
    if (code == NET_OK) check_all_declared(&self);
    close(&self);
    *result = self.result;
    return code;
}

net_result net_check_play(const net_check_config* config, net_check_result* result) {
    BASE_ASSERT(config->log_file && result);
    net_checker self;
    net_result code = open(&self, config, NULL);
    if (code == NET_OK) check_all_declared(&self);
    if (code == NET_OK) code = net_check_match(&self);
    close(&self);
    net_match_destroy(self.server);
    *result = self.result;
    return code;
}
