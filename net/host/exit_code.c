// SPDX-License-Identifier: MIT
// From results to exit codes: one function for each situation, because one result can mean two
// things. A name that does not exist is a wrong option; the same result inside of a log is still a
// wrong --game.
#include "host/exit_code.h"

#include "wire.pb-c.h"

int net_exit_of_replay(net_result result) {
    switch (result) {
    case NET_OK:
        return NET_EXIT_CLEAN;
    case NET_ERR_SCHEMA:
    case NET_ERR_VERSION:
        return NET_EXIT_MISMATCH;
    case NET_ERR_DIVERGED:
        return NET_EXIT_DIVERGED;
    case NET_ERR_UNKNOWN:
    case NET_ERR_MODULE:
        return NET_EXIT_USAGE;
    default:
        return NET_EXIT_RUNTIME;
    }
}

int net_exit_of_setup(net_result result) {
    if (result == NET_OK) return NET_EXIT_CLEAN;
    return result == NET_ERR_MEMORY ? NET_EXIT_RUNTIME : NET_EXIT_USAGE;
}

int net_exit_report_setup(net_result result, const base_reporter* reporter) {
    if (result == NET_ERR_MEMORY) base_report(reporter, NULL, 0, "%s", net_result_text(result));
    return net_exit_of_setup(result);
}

int net_exit_of_refusal(uint32_t reason) {
    switch (reason) {
    case SHOAL__WIRE__REFUSED_REASON__REFUSED_PROTOCOL:
    case SHOAL__WIRE__REFUSED_REASON__REFUSED_SCHEMA:
    case SHOAL__WIRE__REFUSED_REASON__REFUSED_GAME:
        return NET_EXIT_MISMATCH;
    default:
        return NET_EXIT_CONNECT;
    }
}
