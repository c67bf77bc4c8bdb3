// SPDX-License-Identifier: MIT
#include "schema.h"

#include "base/bytes.h"
#include "tools/output.h"
#include "tools/setup.h"
#include "net/match.h"

#include <stdio.h>
#include <string.h>

static net_result print_schema(const net_module* module, const base_reporter* reporter) {
    const net_match_config config = net_match_config_default(module);
    net_match* match = NULL;
    net_result result = net_match_create(&config, reporter, &match);
    if (result != NET_OK) return result;
    base_bytes json;
    base_bytes_init(&json, NULL);
    result = net_match_print_schema(match, &json);
    if (result == NET_OK && fwrite(json.data, 1, json.size, stdout) != json.size)
        result = NET_ERR_IO;
    base_bytes_deinit(&json);
    net_match_destroy(match);
    return result;
}

int server_schema(int argc, char** argv, const base_reporter* reporter) {
    const bool has_option = argc == 2 && strcmp(argv[0], "--game") == 0;
    if (!has_option && argc != 1) {
        base_report(reporter, NULL, 0, "usage: shoal-server schema --game NAME");
        return NET_EXIT_USAGE;
    }
    net_module* module = NULL;
    net_result result = net_host_open_module(argv[argc - 1], reporter, &module);
    if (result == NET_OK) {
        result = print_schema(module, reporter);
        net_module_close(module);
    }
    return net_exit_report_setup(result, reporter);
}
