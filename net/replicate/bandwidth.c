// SPDX-License-Identifier: MIT
// Bandwidth accounting. One block of counters per account, so that adding is an addition at a fixed
// place.
//
// Invariant: added bits are in the account until it is closed, then in the total: none is lost,
// none is counted twice.
// Left to others: adding bits where they are written; printing.
#include "replicate/bandwidth.h"

#include "base/assert.h"

static size_t account_bytes(uint32_t component_count) {
    return (size_t)component_count * NET_COST_COUNT * sizeof(uint64_t);
}

bool net_bandwidth_init(net_bandwidth* bandwidth, const base_allocator* allocator,
                        uint32_t component_count) {
    BASE_ASSERT(component_count >= 1); // NET_BANDWIDTH_NONE has a place
    *bandwidth = (net_bandwidth){.allocator = allocator, .component_count = component_count};
    return net_bandwidth_open(bandwidth, &bandwidth->total);
}

void net_bandwidth_deinit(net_bandwidth* bandwidth) {
    base_release(bandwidth->allocator, bandwidth->total.bits,
                 account_bytes(bandwidth->component_count));
    bandwidth->total = (net_bandwidth_account){0};
}

bool net_bandwidth_open(net_bandwidth* bandwidth, net_bandwidth_account* account) {
    *account = (net_bandwidth_account){
        .bits = base_allocate_zero(bandwidth->allocator, account_bytes(bandwidth->component_count)),
        .component_count = bandwidth->component_count,
    };
    return account->bits != NULL;
}

void net_bandwidth_close(net_bandwidth* bandwidth, net_bandwidth_account* account) {
    if (!account->bits) return;
    net_bandwidth_sum_into(&bandwidth->total, account);
    base_release(bandwidth->allocator, account->bits, account_bytes(bandwidth->component_count));
    *account = (net_bandwidth_account){0};
}

void net_bandwidth_sum_into(net_bandwidth_account* total, const net_bandwidth_account* account) {
    BASE_ASSERT(total->component_count == account->component_count);
    for (uint32_t component = 0; component < account->component_count; component++) {
        for (uint32_t cost = 0; cost < NET_COST_COUNT; cost++)
            total->bits[component][cost] += account->bits[component][cost];
    }
}

uint64_t net_bandwidth_sum(const net_bandwidth_account* account) {
    uint64_t sum = 0;
    for (uint32_t component = 0; component < account->component_count; component++) {
        for (uint32_t cost = 0; cost < NET_COST_COUNT; cost++)
            sum += account->bits[component][cost];
    }
    return sum;
}

const char* net_cost_name(net_cost cost) {
    static const char* const names[] = {
        [NET_COST_CHANGE] = "change",   [NET_COST_REPEAT] = "repeat",
        [NET_COST_CREATE] = "create",   [NET_COST_ABSOLUTE] = "absolute",
        [NET_COST_HEAL] = "heal",       [NET_COST_HEAD] = "head",
        [NET_COST_DESTROY] = "destroy", [NET_COST_HEADER] = "header",
        [NET_COST_SAMPLE] = "sample",   [NET_COST_EVENT] = "event",
        [NET_COST_CONTROL] = "control", [NET_COST_VARSIZE] = "large",
        [NET_COST_FRAME] = "frame",     [NET_COST_TRANSPORT] = "transport",
    };
    _Static_assert(sizeof names / sizeof *names == NET_COST_COUNT, "a cost has no name");
    BASE_ASSERT((uint32_t)cost < NET_COST_COUNT);
    return names[cost];
}
