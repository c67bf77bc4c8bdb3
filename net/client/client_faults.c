// SPDX-License-Identifier: MIT
// The times of the newest faults in a ring; the oldest of them tells how long they took.
#include "client/client_faults.h"

bool net_client_faults_add(net_client_faults* faults, uint64_t now_us) {
    uint64_t* place = &faults->at_us[faults->count % NET_CLIENT_FAULTS_MAX];
    bool is_ring_full = faults->count >= NET_CLIENT_FAULTS_MAX;
    bool is_too_many = is_ring_full && now_us - *place <= NET_CLIENT_FAULTS_MS * 1000u;
    *place = now_us;
    faults->count++;
    if (!faults->is_only) faults->only_us = now_us;
    faults->is_only = true;
    return is_too_many;
}

void net_client_faults_forgive(net_client_faults* faults) {
    faults->is_only = false;
}

bool net_client_faults_only(const net_client_faults* faults, uint64_t now_us) {
    return faults->is_only && now_us > faults->only_us &&
           now_us - faults->only_us > NET_CLIENT_FAULTS_ONLY_MS * 1000u;
}
