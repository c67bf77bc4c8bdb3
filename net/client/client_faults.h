// SPDX-License-Identifier: MIT
/// Does a server still talk like a server? Its faults, and the time since it did something right.
///
/// A message that cannot be decoded, or that breaks the protocol, is a fault. Through an
/// authenticated connection no network makes one, so a client leaves a server of many faults, and
/// one that does nothing right any more. A plain struct; time is an argument.
#pragma once

#include "base/macros.h"

#define NET_CLIENT_FAULTS_MAX 32u        ///< within NET_CLIENT_FAULTS_MS; one more ends the session
#define NET_CLIENT_FAULTS_MS 10000u      ///< the window of NET_CLIENT_FAULTS_MAX
#define NET_CLIENT_FAULTS_ONLY_MS 10000u ///< so long only faults came: the session ends

typedef struct net_client_faults {
    uint64_t count;
    uint64_t at_us[NET_CLIENT_FAULTS_MAX]; ///< ring by count
    uint64_t only_us; ///< first fault since the last right message; with is_only
    bool is_only;
} net_client_faults;

/// A fault came. @return true: more than NET_CLIENT_FAULTS_MAX within NET_CLIENT_FAULTS_MS.
bool net_client_faults_add(net_client_faults* faults, uint64_t now_us);
/// A right message came: a state packet that was applied, a control message that was followed.
void net_client_faults_forgive(net_client_faults* faults);
/// Did only faults come for NET_CLIENT_FAULTS_ONLY_MS?
bool net_client_faults_only(const net_client_faults* faults, uint64_t now_us);
