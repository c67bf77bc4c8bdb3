// SPDX-License-Identifier: MIT
// Steps of setting up that server, client, replay and playback have in common.
#include "host/setup.h"

#include "net/socket.h"

enum { MODULE_PATH_BYTES_MAX = 2048 };

net_result net_host_open_module(const char* name, const base_reporter* reporter,
                                net_module** module) {
    char path[MODULE_PATH_BYTES_MAX];
    net_module_default_path(path, sizeof path);
    return net_module_open(name, path, reporter, module);
}

bool net_host_simulate_network(const char* spec, const base_reporter* reporter) {
    if (!spec) return true;
    net_link_config link;
    return net_link_config_parse(spec, reporter, &link) == NET_OK &&
           net_socket_link_set(&link) == NET_OK;
}
