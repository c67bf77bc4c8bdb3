// SPDX-License-Identifier: MIT
// A game that is checked, and a match that goes on with another version of it.
#include "host/reload.h"

#include "check/check.h"

net_result net_host_check_game(net_match* match, const base_reporter* reporter) {
    const net_module* module = net_match_get_config(match)->module;
    const net_check_config config = {
        .module = module, .file = module->game->name, .reporter = reporter};
    net_check_result found = {0};
    const net_result result = net_check_declared(&config, match, &found);
    if (found.warnings > 0)
        base_report(reporter, NULL, 0,
                    "note: %u warnings about the game; shoal-server check FILE.so plays it and "
                    "says more",
                    found.warnings);
    return result;
}

bool net_host_reload(net_server* server, net_module** module, net_match** match, net_module** old,
                     const base_reporter* reporter) {
    const char* file = (*module)->templates_file;
    net_module* next = NULL;
    net_match* made = NULL;
    net_result result = net_module_reopen(*module, reporter, &next);
    if (result == NET_OK && !next)
        return base_report(reporter, file, 0,
                           "note: not reloaded: neither it nor the library changed");
    if (result == NET_OK) result = net_match_create_from(*match, next, reporter, &made);
    if (result == NET_OK) result = net_host_check_game(made, reporter);
    if (result == NET_OK) result = net_server_exchange(server, made);
    if (result != NET_OK) {
        base_report(reporter, file, 0, "not reloaded, the match continues as it was: %s",
                    result == NET_ERR_MODULE ? "its faults are above" : net_result_text(result));
        net_match_destroy(made);
        net_module_close(next);
        return false;
    }
    net_match_destroy(*match);
    *old = *module;
    *module = next;
    *match = made;
    base_report(reporter, file, 0, "note: reloaded: the match continues with it");
    return true;
}
