// SPDX-License-Identifier: MIT
// shoal-host: any match of a game, please. One loop, one thread: the door, the matches' processes
// and sockets, signals.
#include "host.h"

#include "host/output.h"
#include "host/setup.h"

#include "base/assert.h"
#include "base/text.h"
#include "net/socket.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#define EVENTS_MAX 1024u // in one turn of the loop

// ---- the loop

// One event at a time: what handles it may free what a further one is of.
static void handle_events(server_host* self) {
    struct epoll_event event;
    for (uint32_t i = 0; i < EVENTS_MAX && epoll_wait(self->epoll, &event, 1, 0) == 1; i++) {
        server_watch* watch = event.data.ptr;
        watch->ready(watch->owner, event.events);
    }
}

// On SIGHUP: only the games change, not port and folder.
static void read_conf_again(server_host* self) {
    server_conf* conf = base_allocate_zero(&self->owner.allocator, sizeof *conf);
    if (server_conf_read(conf, self->conf_file, &self->reporter)) {
        server_rooms_set_games(self->rooms, conf->games, conf->game_count);
        base_report(&self->reporter, NULL, 0, "note: %s is read again: games=%" PRIu32,
                    self->conf_file, conf->game_count);
    }
    base_release(&self->owner.allocator, conf, sizeof *conf);
}

// A second signal ends them at once.
static void end_matches(server_host* self) {
    for (uint32_t i = 0; i < self->rooms->count; i++) {
        server_room* room = self->rooms->rooms[i];
        if (room->state == SERVER_ROOM_OVER) continue;
        if (self->is_ending) server_room_signal(room, SIGTERM);
        room->state = room->pid != 0 ? SERVER_ROOM_LEAVING : SERVER_ROOM_OVER;
        (void)base_text_copy(room->why, sizeof room->why, "the host ended");
    }
    self->is_ending = true;
}

static uint32_t count_processes(const server_host* self) {
    uint32_t count = 0;
    for (uint32_t i = 0; i < self->rooms->count; i++)
        count += self->rooms->rooms[i]->pid != 0;
    return count;
}

static void run_host(server_host* self, net_loop* loop) {
    uint64_t due_us = 0;
    loop->sockets[loop->socket_count++] = self->epoll;
    do {
        if (net_loop_wait(loop, due_us)) {
            if (self->conf.stop == SERVER_CONF_LEAVE) return;
            end_matches(self);
        }
        if (loop->is_reload_asked && !self->is_ending) read_conf_again(self);
        loop->is_reload_asked = false;
        handle_events(self);
        server_errands_pass(self, net_loop_now_us());
        due_us = server_host_tend(self, net_loop_now_us());
        const uint64_t door_us = server_door_pass(self, net_loop_now_us());
        if (door_us < due_us) due_us = door_us;
    } while (!self->is_ending || count_processes(self) > 0);
}

// ---- begin and end

// One host for a folder.
static bool lock_folder(const server_host* self) {
    char path[SERVER_HOST_PATH_BYTES];
    (void)mkdir(self->conf.folder, 0700);
    (void)base_text_format(path, sizeof path, "%s/lock", self->conf.folder);
    const int file = open(path, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600);
    if (file >= 0 && flock(file, LOCK_EX | LOCK_NB) == 0) return true; // until the process ends
    return base_report(&self->reporter, path, 0, "%s",
                       file >= 0 ? "another host uses this folder" : base_error_text(errno));
}

static bool find_program(server_host* self) {
    const ssize_t size =
        readlink("/proc/self/exe", self->program, sizeof self->program - sizeof "shoal-server");
    char* slash = size > 0 ? (self->program[size] = '\0', strrchr(self->program, '/')) : NULL;
    if (slash) memcpy(slash + 1, "shoal-server", sizeof "shoal-server");
    if (slash && access(self->program, X_OK) == 0) return true;
    return base_report(&self->reporter, NULL, 0, "there is no shoal-server beside this program");
}

static int serve(server_host* self, net_loop* loop) {
    char address[NET_ADDRESS_TEXT_BYTES];
    self->epoll = epoll_create1(EPOLL_CLOEXEC);
    server_rooms_set_games(self->rooms, self->conf.games, self->conf.game_count);
    (void)signal(SIGCHLD, SIG_IGN); // processes of matches are watched by pidfds
    if (self->epoll < 0 || !net_loop_init(loop) || !net_loop_hear_operator(loop))
        return net_exit_report(NET_EXIT_RUNTIME, &self->reporter, NULL, "%s",
                               base_error_text(errno));
    if (!lock_folder(self)) return NET_EXIT_BIND;
    if (!find_program(self) || !server_host_find_matches(self)) return NET_EXIT_RUNTIME;
    server_host_open_store(self);
    int code = server_door_open(self);
    if (code == NET_EXIT_CLEAN) code = server_errands_open(self);
    if (code != NET_EXIT_CLEAN) return code;
    (void)net_address_print(&self->bound, address, sizeof address);
    printf("ready http=http://%s games=%" PRIu32 "\n", address, self->rooms->game_count);
    run_host(self, loop);
    printf("done matches=%" PRIu64 " joins=%" PRIu64 " left=%" PRIu32 "\n", self->starts,
           self->joins[SERVER_JOIN_SEATED], count_processes(self));
    return NET_EXIT_CLEAN;
}

static bool check_words(void* values, const base_option_list* words,
                        const base_reporter* reporter) {
    server_host* self = values;
    if (words->count != 1) return base_report(reporter, NULL, 0, "name one file: host.conf");
    self->conf_file = words->values[0];
    return server_conf_read(&self->conf, self->conf_file, reporter);
}

int main(int argc, char** argv) {
    base_reporter reporter = base_reporter_stderr();
    if (!net_host_prepare(&reporter)) return NET_EXIT_RUNTIME;
    server_host* self = base_owner_create(NULL, sizeof *self);
    net_loop* loop = base_allocate_zero(&self->owner.allocator, sizeof *loop);
    base_option_list words = {.count = 0};
    self->reporter = reporter;
    base_bytes_init(&self->text, &self->owner.allocator);
    self->acceptor.listener = -1;
    self->rooms = server_rooms_create(net_entropy_system());
    const base_options options = {
        .program = "shoal-host",
        .version = net_build_id(),
        .usage = "host.conf",
        .about = "Starts, watches and resumes the matches of a machine, and gives players a seat.",
        .values = self,
        .check = check_words,
    };
    const base_options_result read = base_options_read(&options, argc, argv, &words, &reporter);
    const int code = read == BASE_OPTIONS_OK ? serve(self, loop) : net_exit_of_options(read);
    server_door_close(self);
    server_store_close(self->store);
    server_store_close(self->results);
    server_errands_close(self);
    server_rooms_destroy(self->rooms);
    base_owner_destroy(self);
    return code;
}
