// SPDX-License-Identifier: MIT Resending without a protocol. A control message is cut into pieces
// of one mtu. Pieces that the path loses are tried again after one round trip (RETRY_US_MIN at
// least). The message arrives with its last piece, and never before the message in front of it.
// Acknowledgements are not simulated: a lost one would only cost bytes. The attempts of a message
// are computed when the receiver looks, for all the time that has passed, so a path that loses
// everything costs nothing.
#include "transport/sim_path.h"

#include "net/limits.h"

#include <string.h>

#define RETRY_US_MIN UINT64_C(100000)

net_result net_sim_path_init(net_sim_path* made, const base_allocator* allocator,
                             const net_link_config* link, uint64_t seed) {
    *made = (net_sim_path){.allocator = allocator, .config = *link, .rng = base_rng_make(seed, 1)};
    made->config.seed = seed;
    return net_link_create(allocator, &made->config, &made->link);
}

void net_sim_path_config_set(net_sim_path* changed, const net_link_config* link) {
    uint64_t seed = changed->config.seed;
    changed->config = *link;
    changed->config.seed = seed;
    net_link_config_set(changed->link, &changed->config);
}

void net_sim_control_free(const base_allocator* allocator, net_sim_control* message) {
    if (message) base_release(allocator, message, sizeof *message + message->size);
}

void net_sim_path_clear_control(net_sim_path* cleared) {
    while (cleared->first) {
        net_sim_control* message = cleared->first;
        cleared->first = message->next;
        net_sim_control_free(cleared->allocator, message);
    }
    cleared->last = NULL;
    cleared->queued_bytes = 0;
}

void net_sim_path_deinit(net_sim_path* old) {
    net_sim_path_clear_control(old);
    net_link_destroy(old->link);
    old->link = NULL;
}

uint64_t net_sim_path_lost(const net_sim_path* asked) {
    const net_link_stats* stats = net_link_get_stats(asked->link);
    return stats->lost + stats->overflowed + asked->control_lost;
}

static double path_draw(net_sim_path* drawn) {
    return base_rng_u32(&drawn->rng) * 0x1p-32;
}

// Try the missing pieces of one message as often as there was time for.
static void control_try(net_sim_path* along, net_sim_control* message, uint64_t now_us) {
    const net_link_config* config = &along->config;
    uint64_t retry_us = (uint64_t)((2 * config->delay_ms + config->jitter_ms) * 1000.0);
    if (retry_us < RETRY_US_MIN) retry_us = RETRY_US_MIN;
    while (message->missing > 0 && message->attempt_us <= now_us) {
        uint32_t lost = 0;
        for (uint32_t i = 0; i < message->missing; i++)
            lost += path_draw(along) * 100.0 < config->loss_percent;
        if (net_link_is_out(along->link, message->attempt_us)) lost = message->missing;
        along->control_lost += lost;
        message->missing = lost;
        if (lost > 0) {
            message->attempt_us += retry_us;
            continue;
        }
        double way_ms = config->delay_ms + path_draw(along) * config->jitter_ms;
        message->arrival_us = message->attempt_us + (uint64_t)(way_ms * 1000.0 + 0.5);
    }
}

// The control message that has arrived by now, NULL when none has.
net_sim_control* net_sim_path_control_peek(net_sim_path* along, uint64_t now_us) {
    for (net_sim_control* message = along->first; message; message = message->next)
        control_try(along, message, now_us);
    net_sim_control* first = along->first;
    if (!first || first->arrival_us == UINT64_MAX) return NULL;
    if (first->arrival_us < along->arrived_us) first->arrival_us = along->arrived_us;
    return first->arrival_us <= now_us ? first : NULL;
}

void net_sim_path_control_pop(net_sim_path* along) {
    net_sim_control* message = along->first;
    along->first = message->next;
    if (!along->first) along->last = NULL;
    along->queued_bytes -= message->size;
    along->arrived_us = message->arrival_us;
}

net_result net_sim_path_control_push(net_sim_path* along, uint64_t now_us,
                                     net_sim_control_kind kind, uint32_t epoch, uint32_t reason,
                                     const void* bytes, size_t size) {
    if (along->queued_bytes + size > NET_SIM_CONTROL_QUEUED_BYTES_MAX) return NET_ERR_FULL;
    net_sim_control* message = base_allocate(along->allocator, sizeof *message + size);
    if (!message) return NET_ERR_FULL;
    uint32_t pieces = (uint32_t)((size + NET_MTU_BYTES - 1) / NET_MTU_BYTES);
    *message = (net_sim_control){.attempt_us = now_us,
                                 .arrival_us = UINT64_MAX,
                                 .epoch = epoch,
                                 .missing = pieces > 0 ? pieces : 1,
                                 .reason = reason,
                                 .size = (uint32_t)size,
                                 .kind = kind};
    if (size > 0) memcpy(message->bytes, bytes, size);
    if (along->last)
        along->last->next = message;
    else
        along->first = message;
    along->last = message;
    along->queued_bytes += size;
    return NET_OK;
}
