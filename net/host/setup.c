// SPDX-License-Identifier: MIT
// Steps of setting up that server, client, replay and playback have in common.
#include "host/setup.h"

#include "host/keys.h"

#include "net/socket.h"

#include "base/assert.h"
#include "base/file.h"
#include "base/text.h"
#include "base/float_mode.h"

#include <dirent.h>
#include <errno.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/random.h>
#include <sys/resource.h>
#include <unistd.h>

enum { MODULE_PATH_BYTES_MAX = 2048 };

bool net_host_prepare(const base_reporter* reporter) {
    (void)base_float_mode_set(); // a preloaded library may have set another; threads inherit it
    struct rlimit files;
    if (getrlimit(RLIMIT_NOFILE, &files) == 0 && files.rlim_cur < NET_HOST_DESCRIPTORS_MIN)
        return base_report(reporter, NULL, 0,
                           "the limit of open files is %" PRIu64
                           ", at least %u are needed: raise it (ulimit -n, LimitNOFILE)",
                           (uint64_t)files.rlim_cur, NET_HOST_DESCRIPTORS_MIN);
    // A file at its size limit is an error of its writer, not the end of the program.
    if (signal(SIGXFSZ, SIG_IGN) != SIG_ERR && base_file_open_standard() && net_host_forbid_core())
        return true;
    return base_report(reporter, NULL, 0, "cannot prepare the process: %s", base_error_text(errno));
}

// A secret that can be guessed is worse than a program that does not start.
void net_host_draw_secret(void* bytes, size_t size) {
    ssize_t drawn = getrandom(bytes, size, 0);
    BASE_ASSERT(drawn == (ssize_t)size); // the kernel gives up to 256 bytes in one piece
}

net_result net_host_open_module(const char* name, const base_reporter* reporter,
                                net_module** module) {
    char path[MODULE_PATH_BYTES_MAX];
    net_module_default_path(path, sizeof path);
    return net_module_open(name, path, reporter, module);
}

// The threads that the systems of a world of this role can use. @return as net_match_create.
static net_result find_threads(const net_module* module, net_role role, uint32_t* threads,
                               const base_reporter* reporter) {
    net_match_config config = net_match_config_default(module);
    config.role = role;
    net_match* match = NULL;
    const net_result result = net_match_create(&config, reporter, &match);
    if (result != NET_OK) return result;
    *threads = ecs_world_threads_max(net_match_world(match));
    net_match_destroy(match);
    return NET_OK;
}

static net_result open_workers(net_module* module, net_role role, uint64_t threads,
                               const base_reporter* reporter) {
    uint32_t wanted = (uint32_t)(threads < BASE_WORKERS_MAX ? threads : BASE_WORKERS_MAX);
    if (wanted == 0) wanted = base_workers_default(BASE_WORKERS_MAX);
    if (threads == 0 && wanted > 1) {
        uint32_t most = 1;
        const net_result result = find_threads(module, role, &most, reporter);
        if (result != NET_OK) return result;
        wanted = base_workers_default(most);
    }
    if (wanted == 1) return NET_OK;
    module->workers = base_workers_create(NULL, wanted);
    return module->workers ? NET_OK : NET_ERR_MEMORY;
}

net_result net_host_open_game(const char* name, net_role role, uint64_t threads,
                              const base_reporter* reporter, net_module** module) {
    net_result result = net_host_open_module(name, reporter, module);
    if (result != NET_OK) return result;
    result = open_workers(*module, role, threads, reporter);
    if (result == NET_OK) return NET_OK;
    net_module_close(*module);
    *module = NULL;
    return result;
}

void net_host_close_game(net_module* module) {
    if (!module) return;
    base_workers_destroy(module->workers);
    net_module_close(module);
}

bool net_host_simulate_network(const char* spec, const base_reporter* reporter) {
    if (!spec) return true;
    net_link_pair link;
    if (net_link_config_parse(spec, reporter, &link) != NET_OK) return false;
    net_socket_link_set_pair(&link);
    return true;
}

static bool choose_port(char part[NET_HOST_LISTEN_BYTES], uint32_t n) {
    char* port = strrchr(part, ':');
    char* dash = port ? strchr(port, '-') : NULL;
    uint64_t first, last;
    if (!dash) return n == 0;
    *dash = '\0';
    return base_text_parse_u64(port + 1, &first) && base_text_parse_u64(dash + 1, &last) &&
           first > 0 && last <= UINT16_MAX && first + n <= last &&
           base_text_format(port, NET_HOST_LISTEN_BYTES - (size_t)(port - part), ":%" PRIu64,
                            first + n);
}

bool net_host_listen_at(const char* text, uint32_t n, char one[NET_HOST_LISTEN_BYTES]) {
    char part[NET_HOST_LISTEN_BYTES];
    for (size_t used = 0;; text++) {
        const int size = (int)strcspn(text, ",");
        if (!base_text_format(part, sizeof part, "%.*s", size, text) || !choose_port(part, n) ||
            !base_text_format(one + used, NET_HOST_LISTEN_BYTES - used, "%s%.1s", part,
                              text + size))
            return false;
        used += strlen(one + used);
        text += size;
        if (*text == '\0') return true;
    }
}

net_host_usage net_host_get_usage(void) {
    net_host_usage usage = {0};
    unsigned long resident = 0;
    FILE* pages = fopen("/proc/self/statm", "re");
    if (pages && fscanf(pages, "%*u %lu", &resident) == 1)
        usage.memory_bytes = (uint64_t)resident * (uint64_t)sysconf(_SC_PAGESIZE);
    if (pages) fclose(pages);
    struct rlimit files;
    if (getrlimit(RLIMIT_NOFILE, &files) == 0) usage.descriptors_max = files.rlim_cur;
    DIR* folder = opendir("/proc/self/fd");
    if (!folder) { // without one left, all are taken
        usage.descriptors = errno == EMFILE ? usage.descriptors_max : 0;
        return usage;
    }
    while (readdir(folder))
        usage.descriptors++;
    closedir(folder);
    usage.descriptors -= 3; // ".", ".." and that of the folder
    return usage;
}
