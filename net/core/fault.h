// SPDX-License-Identifier: MIT
/// Planted faults: each breaks one promise, so that a test can see that a check finds it. Programs
/// contain no fault: without SHOAL_FAULTS the compiler answers the question. With it the program
/// that links the library answers, so one build holds all faults (tests/scenario/faults.c).
#pragma once

#include "base/assert.h"

typedef enum net_fault {
    NET_FAULT_NONE,
    NET_FAULT_SKIP_APPLY,     ///< a component of an update does not reach the world
    NET_FAULT_STALE_ACK,      ///< an acknowledgement counts for the newest send
    NET_FAULT_DROP_COMPONENT, ///< a component of some entities never changes
    NET_FAULT_LEAK_HIDDEN,    ///< rows of some entities are not masked
    NET_FAULT_LEAK_TIMING,    ///< hidden changes are sent as empty records
    NET_FAULT_LEAK_AGE,       ///< a header shows that hidden changes happened
    NET_FAULT_TORN_GROUP,     ///< entities that travel together are sent apart
    NET_FAULT_OVER_BUDGET,    ///< tokens never run out
    NET_FAULT_STARVE,         ///< some slots are passed over
    NET_FAULT_WRONG_BASE2,    ///< the second base is not the named one
    NET_FAULT_BANDWIDTH_MISS, ///< destroys are not accounted
    NET_FAULT_NO_RESYNC,      ///< a requested resync is not sent
    NET_FAULT_STALE_RESEND,   ///< every loss makes an entity wait again
    NET_FAULT_GHOST,          ///< a lost destroy is not repeated
    NET_FAULT_WRONG_SHARE,    ///< encoded rows are shared between different classes
    NET_FAULT_SOLO_OTHER,     ///< rows that are not shared are encoded in another way
    NET_FAULT_THREAD_OTHER,   ///< the thread sends with another clock
    NET_FAULT_UNREPEATABLE,   ///< a bit that depends on nothing
    NET_FAULT_APPLY_OLD,      ///< older rows are applied over newer ones
    NET_FAULT_LEAK_REFERENCE, ///< handles are never released
    NET_FAULT_EVENT_TWICE,    ///< a known event is delivered again
    NET_FAULT_SCOPE_STUCK,    ///< nothing leaves a scope
    NET_FAULT_WRONG_PROBE,    ///< checksums of some rows are wrong
    NET_FAULT_VARSIZE_LOST,   ///< some variable-size values are not applied
    NET_FAULT_NO_REPEAT,      ///< lost rows are not sent again
    NET_FAULT_NO_SESSION,     ///< a client that comes back is not recognised
    NET_FAULT_SAY_EARLY,      ///< every client is reported to have everything
    NET_FAULT_WALK_OTHER,     ///< the walk for a client shows what is hidden
    NET_FAULT_COUNT
} net_fault;

#ifdef SHOAL_FAULTS
bool net_fault_is_planted(net_fault fault);
#elif defined(SHOAL_FAULT)
static inline bool net_fault_is_planted(net_fault fault) {
    return fault == SHOAL_FAULT;
}
#else
static inline bool net_fault_is_planted(net_fault fault) {
    (void)fault;
    return false;
}
#endif

/// Are whole-structure checks (net_*_validate) called by the functions that change a structure? Yes
/// in BASE_VALIDATE builds without planted faults: there each fault must reach the check that
/// claims to see it.
#if defined(SHOAL_FAULTS) || defined(SHOAL_FAULT)
#define NET_VALIDATE_ON 0
#else
#define NET_VALIDATE_ON BASE_VALIDATE_ON
#endif
