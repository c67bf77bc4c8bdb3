// SPDX-License-Identifier: MIT
// Another schema makes a run impossible. A game that differs only in what it does runs the log
// until a hash differs; from then on a run would show another match.
#include "playback/playback_source.h"

#include "base/assert.h"
#include "net/playback.h"

#include <string.h>

net_result net_playback_source_create(net_log_reader* reader, const net_module* module,
                                      const base_reporter* reporter, net_playback_source* source) {
    const net_log_info* info = net_log_reader_info(reader);
    const ecs_tick every =
        info->keyframe_count > 0 ? NET_PLAYBACK_NEAR_TICKS : NET_PLAYBACK_SAVE_TICKS;
    *source = (net_playback_source){0};
    net_result result = net_playback_run_create(reader, module, reporter, every,
                                                NET_PLAYBACK_SAVE_BYTES_MAX, &source->run);
    if (result != NET_ERR_SCHEMA || strcmp(info->game, module->game->name) != 0) return result;
    net_result values = net_playback_values_create(reader, reporter, &source->values);
    if (values == NET_ERR_MEMORY) return values;
    if (values != NET_OK) return result; // both reasons are reported
    base_report(reporter, net_log_reader_file(reader), 0,
                "warning: the match is not run again: its values are shown as the log has them");
    return NET_OK;
}

net_result net_playback_source_give_up(net_playback_source* source, net_log_reader* reader,
                                       const base_reporter* reporter) {
    BASE_ASSERT(source->run && !source->values);
    net_result result = net_playback_values_create(reader, NULL, &source->values);
    if (result != NET_OK) return result == NET_ERR_MEMORY ? result : NET_OK;
    net_playback_values_report(source->values, reporter);
    source->diverged = net_playback_run_diverged(source->run);
    net_playback_run_destroy(source->run);
    source->run = NULL;
    base_report(reporter, net_log_reader_file(reader), 0,
                "warning: the match is not run on: its values are shown as the log has them");
    return NET_OK;
}

void net_playback_source_destroy(net_playback_source* source) {
    net_playback_run_destroy(source->run);
    net_playback_values_destroy(source->values);
    *source = (net_playback_source){0};
}

net_result net_playback_source_to(net_playback_source* source, ecs_tick tick, bool is_through) {
    if (source->values) return net_playback_values_to(source->values, tick);
    return is_through ? net_playback_run_through(source->run, tick)
                      : net_playback_run_to(source->run, tick);
}

net_result net_playback_source_step(net_playback_source* source) {
    return source->values ? net_playback_values_step(source->values)
                          : net_playback_run_step(source->run);
}

bool net_playback_source_has_jumped(const net_playback_source* source) {
    return source->values ? net_playback_values_has_jumped(source->values)
                          : net_playback_run_has_jumped(source->run);
}

net_result net_playback_source_return(net_playback_source* source) {
    return source->values ? net_playback_values_return(source->values)
                          : net_playback_run_return(source->run);
}

net_match* net_playback_source_match(const net_playback_source* source) {
    return source->run ? net_playback_run_match(source->run) : NULL;
}

ecs_tick net_playback_source_tick(const net_playback_source* source) {
    return source->values ? net_playback_values_tick(source->values)
                          : net_playback_run_tick(source->run);
}

ecs_tick net_playback_source_last(const net_playback_source* source) {
    return source->values ? net_playback_values_last(source->values)
                          : net_playback_run_last(source->run);
}

ecs_tick net_playback_source_diverged(const net_playback_source* source) {
    return source->run ? net_playback_run_diverged(source->run) : source->diverged;
}

net_match_config net_playback_source_config(const net_playback_source* source,
                                            const net_module* module, const net_log_info* info) {
    if (source->run) return *net_match_get_config(net_playback_run_match(source->run));
    net_match_config config = net_match_config_default(module);
    config.tick_rate_hz = info->tick_rate_hz;
    config.replicated_index_max = info->replicated_index_max;
    for (uint32_t i = 0; i < info->setting_count; i++)
        (void)!net_match_setting_apply(&config, info->settings[i], NULL);
    return config;
}
