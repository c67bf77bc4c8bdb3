// SPDX-License-Identifier: MIT
// Signals and the one wait of a main loop.
//
// Signals arrive through a signalfd in the same ppoll as the datagrams: no handler, no global flag,
// and a signal during a wait ends the wait.
#define _GNU_SOURCE

#include "net/socket.h"

#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/signalfd.h>
#include <time.h>
#include <unistd.h>

bool net_loop_init(net_loop* loop) {
    memset(loop, 0, sizeof *loop);
    loop->signals = -1;
    signal(SIGPIPE, SIG_IGN);
    // A socket per bot: the soft limit of 1,024 descriptors is only a default.
    struct rlimit files;
    if (getrlimit(RLIMIT_NOFILE, &files) == 0 && files.rlim_cur < files.rlim_max) {
        files.rlim_cur = files.rlim_max;
        (void)setrlimit(RLIMIT_NOFILE, &files);
    }
    setvbuf(stdout, NULL, _IOLBF, 0);
    sigset_t mask;
    sigemptyset(&mask);
    sigaddset(&mask, SIGINT);
    sigaddset(&mask, SIGTERM);
    if (pthread_sigmask(SIG_BLOCK, &mask, NULL) != 0) return false;
    loop->signals = signalfd(-1, &mask, SFD_NONBLOCK | SFD_CLOEXEC);
    return loop->signals >= 0;
}

bool net_loop_hear_operator(net_loop* loop) {
    sigset_t mask;
    sigemptyset(&mask);
    sigaddset(&mask, SIGINT);
    sigaddset(&mask, SIGTERM);
    sigaddset(&mask, SIGHUP);
    sigaddset(&mask, SIGUSR1);
    return pthread_sigmask(SIG_BLOCK, &mask, NULL) == 0 &&
           signalfd(loop->signals, &mask, SFD_NONBLOCK | SFD_CLOEXEC) >= 0;
}

void net_loop_deinit(net_loop* loop) {
    if (loop->signals >= 0) close(loop->signals);
    loop->signals = -1;
}

static int poll_until(struct pollfd* polled, uint32_t count, uint64_t until_us) {
    uint64_t now_us = net_loop_now_us();
    uint64_t wait_us = until_us > now_us ? until_us - now_us : 0;
    struct timespec wait = {.tv_sec = (time_t)(wait_us / 1000000u),
                            .tv_nsec = (long)(wait_us % 1000000u) * 1000};
    return ppoll(polled, count, &wait, NULL);
}

bool net_loop_wait(net_loop* loop, uint64_t until_us) {
    struct pollfd polled[NET_LOOP_SOCKETS_MAX + 1];
    polled[0] = (struct pollfd){.fd = loop->signals, .events = POLLIN};
    for (uint32_t i = 0; i < loop->socket_count; i++)
        polled[i + 1] = (struct pollfd){.fd = loop->sockets[i], .events = POLLIN};
    if (atomic_exchange(&loop->is_end_asked, false)) return true;
    // An interrupted wait is as good as a finished one: the caller looks at the clock anyway.
    int ready = 0;
    if (loop->rest_us != 0)
        ready = poll_until(polled, 1, until_us < loop->rest_us ? until_us : loop->rest_us);
    loop->rest_us = 0;
    if (ready == 0) ready = poll_until(polled, loop->socket_count + 1, until_us);
    if (ready <= 0) return false;
    bool is_asked_to_end = false;
    struct signalfd_siginfo info;
    while (read(loop->signals, &info, sizeof info) == (ssize_t)sizeof info) {
        if (info.ssi_signo == SIGHUP)
            loop->is_reload_asked = true;
        else if (info.ssi_signo == SIGUSR1)
            loop->is_status_asked = true;
        else
            is_asked_to_end = true;
    }
    return is_asked_to_end;
}
