// SPDX-License-Identifier: MIT
// client/library/game.c for a program that has its game in it: the one game, and its templates as text.
#include <base/text.h>
#include <net/match.h>
#include <shoal_client.h>

#include <cstring>

extern "C" {
const net_game_module* net_game_module_get(void);

struct library_reports {
    char text[BASE_REPORT_BYTES_MAX];
    void (*next)(void* context, const char* text);
    void* next_context;
};
net_result library_open_game(const char* game, const char* path, const base_reporter* reporter,
                             net_module** module);
base_reporter library_reporter(library_reports* reports);
}

namespace {

const char templates[] =
#include "templates.inc"
    ;

void keep_report(void* context, const char* /*file*/, uint32_t /*line*/, const char* message) {
    auto* reports = static_cast<library_reports*>(context);
    base_text_copy(reports->text, sizeof reports->text, message);
    if (reports->next != nullptr) reports->next(reports->next_context, reports->text);
}

} // namespace

net_result library_open_game(const char* game, const char* /*path*/, const base_reporter* reporter,
                             net_module** module) {
    const net_game_module* linked = net_game_module_get();
    if (std::strcmp(game, linked->name) == 0)
        return net_module_wrap(linked, templates, "breakout.blk", reporter, module);
    base_report(reporter, nullptr, 0, "this client has the game %s only", linked->name);
    return NET_ERR_UNKNOWN;
}

base_reporter library_reporter(library_reports* reports) {
    base_reporter reporter = {keep_report, reports};
    return reporter;
}

uint32_t shoal_abi_version(void) {
    return SHOAL_ABI_VERSION;
}

const char* shoal_version(void) {
    return SHOAL_VERSION;
}

const char* shoal_result_text(int32_t result) {
    return net_result_text(static_cast<net_result>(result));
}
