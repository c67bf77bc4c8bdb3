// SPDX-License-Identifier: MIT
/// What every program does before it runs: open the game, set up the simulated network.
#pragma once

#include "net/match.h"
#include "net/server.h"

#define NET_HOST_DESCRIPTORS_MIN 64u ///< that a process may have

/// Call it first in main: the limit of open files is checked, descriptors 0 to 2 are open
/// (base/file.h), SIGXFSZ is ignored, and there will be no core file (host/keys.h).
/// @return false: reported.
BASE_MUST_USE bool net_host_prepare(const base_reporter* reporter);
/// Open the game of this name or file. A name is looked up in the module path
/// (net_module_default_path).
/// @return NET_OK (the caller closes the module); NET_ERR_UNKNOWN, NET_ERR_MODULE (reported through
///         `reporter`; NULL: silent); NET_ERR_MEMORY.
BASE_MUST_USE net_result net_host_open_module(const char* name, const base_reporter* reporter,
                                              net_module** module);
/// The same with the threads of --threads for its matches, in module->workers; 0: a number that
/// fits the machine and the systems of a world of this role. One thread needs none.
/// @return NET_OK (the caller calls net_host_close_game after the matches); NET_ERR_UNKNOWN,
///         NET_ERR_MODULE (reported); NET_ERR_MEMORY (also when the system has no thread left). A
///         game that is not open is NULL.
BASE_MUST_USE net_result net_host_open_game(const char* name, net_role role, uint64_t threads,
                                            const base_reporter* reporter, net_module** module);
/// Close module and threads. NULL does nothing.
void net_host_close_game(net_module* module);
/// Fill bytes of a secret, at most 256, from the kernel (net_server_config.entropy).
void net_host_draw_secret(void* bytes, size_t size);
/// Put the simulated network of --net under all sockets of this process. `spec` as in --help; NULL:
/// none.
/// @return false when the spec is wrong: reported.
BASE_MUST_USE bool net_host_simulate_network(const char* spec, const base_reporter* reporter);

#define NET_HOST_LISTEN_BYTES 256u

/// Write the address number `n` (from 0) of "ADDR:7000-7999", whose ports a program tries one after
/// the other. Of two with a comma between them both have such a range. An address without one is
/// its number 0. @return false: there is none, or the range is wrong.
BASE_MUST_USE bool net_host_listen_at(const char* text, uint32_t n,
                                      char one[NET_HOST_LISTEN_BYTES]);

/// What this process holds of the system now; 0: the system does not tell.
typedef struct net_host_usage {
    uint64_t memory_bytes; ///< resident
    uint64_t descriptors, descriptors_max;
} net_host_usage;
net_host_usage net_host_get_usage(void);
