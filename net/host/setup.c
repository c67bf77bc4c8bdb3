// SPDX-License-Identifier: MIT
// Steps of setting up that server, client, replay and playback have in common.
#include "host/setup.h"

#include "host/secret.h"

#include "base/file.h"
#include "net/socket.h"

#include <errno.h>
#include <string.h>

enum { MODULE_PATH_BYTES_MAX = 2048 };

bool net_host_prepare(const base_reporter* reporter) {
    if (base_file_open_standard() && net_host_forbid_core()) return true;
    base_report(reporter, NULL, 0, "cannot prepare the process: %s", strerror(errno));
    return false;
}

net_result net_host_open_module(const char* name, const base_reporter* reporter,
                                net_module** module) {
    char path[MODULE_PATH_BYTES_MAX];
    net_module_default_path(path, sizeof path);
    return net_module_open(name, path, reporter, module);
}

bool net_host_simulate_network(const char* spec, const base_reporter* reporter) {
    if (!spec) return true;
    net_link_pair link;
    return net_link_config_parse(spec, reporter, &link) == NET_OK &&
           net_socket_link_set_pair(&link) == NET_OK;
}
