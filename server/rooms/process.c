// SPDX-License-Identifier: MIT
// What the states of matches demand is done here, and what their processes tell becomes states. A
// match tells each second who is in it (tell.c); one that tells nothing for conf->hang_s is
// stopped. Its end comes by a pidfd, as that of a process which the host before started; the kernel
// takes the child away (SIGCHLD is ignored). Its output goes to files, so that it notices no end of
// a host.
//
//     FOLDER/matches/ID/  match  seats  keys  tokens  control  match.slog  out  err
//
// For the next host `match` is "GAME PID ADDRESS HTTP HAD_PLAYERS IS_ELSEWHERE STANDBY_HOST", or
// when it is over "- GAME IS_ELSEWHERE", and `seats` the JSON of its seats, of players whose seats
// are free again, and of the values for which joins asked; times are of this machine's clock since
// it started.
#include "host.h"
#include "tell.h"

#include "host/keys.h"

#include "base/file.h"
#include "base/json.h"
#include "base/text.h"
#include "net/socket.h"

#include <dirent.h>
#include <errno.h>
#include <inttypes.h>
#include <jansson.h>
#include <signal.h>
#include <sodium.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/un.h>

#define SECOND_US UINT64_C(1000000)
#define START_S_MAX 60   // a process that tells nothing is stopped
#define REPORTS_MAX 256u // in one turn of the loop
#define ARGUMENTS_MAX 96u

void server_host_watch(server_host* host, server_watch* watch, uint32_t events) {
    struct epoll_event event = {.events = events, .data.ptr = watch};
    if (watch->descriptor >= 0 &&
        epoll_ctl(host->epoll, EPOLL_CTL_MOD, watch->descriptor, &event) != 0)
        (void)epoll_ctl(host->epoll, EPOLL_CTL_ADD, watch->descriptor, &event);
}

void server_host_unwatch(server_host* host, server_watch* watch) {
    if (watch->descriptor < 0) return;
    (void)epoll_ctl(host->epoll, EPOLL_CTL_DEL, watch->descriptor, NULL);
    close(watch->descriptor);
    watch->descriptor = -1;
}

typedef char stream_text[2 * SERVER_HOST_PATH_BYTES];

const char* server_room_path(const server_room* room, const char* file, server_path_text path) {
    (void)base_text_format(path, sizeof(server_path_text), "%s/matches/%s%s",
                           room->host->conf.folder, room->id, file);
    return path;
}

// @return false, with errno.
static bool write_file(const server_room* room, const char* name, const char* text) {
    server_path_text path;
    const int file = base_file_overwrite(server_room_path(room, name, path));
    if (file < 0) return false;
    // After a short write the next one says why.
    for (ssize_t size; *text && (size = write(file, text, strlen(text))) > 0;)
        text += size;
    close(file);
    return !*text;
}

// Read its last bytes, at most text_bytes - 1. @return their number.
static size_t read_tail(const char* path, char* text, size_t text_bytes) {
    ssize_t size = -1;
    const int file = open(path, O_RDONLY | O_CLOEXEC);
    if (file >= 0) {
        (void)lseek(file, -(off_t)(text_bytes - 1), SEEK_END); // a shorter one is read from 0
        size = read(file, text, text_bytes - 1);
        close(file);
    }
    text[size > 0 ? size : 0] = '\0';
    return size > 0 ? (size_t)size : 0;
}

// ---- its seats, for the next host

void server_room_put_seats(base_bytes* json, const server_room* room) {
    base_json_write(json, "[");
    for (uint32_t i = 0; i < room->value_count; i++)
        if (!room->values[i].is_published)
            base_json_write(json, "{key=%s value=%s}", room->values[i].key, room->values[i].value);
    for (uint32_t i = 0; i < room->left_count && i < SERVER_ROOM_LEFT_MAX; i++)
        base_json_write(json, "{left='%ju'}", room->left[i]);
    for (uint32_t i = 0; i < room->seat_count; i++) {
        const server_seat* seat = &room->seats[i];
        base_json_write(json,
                        "{player='%ju' until_us='%ju' request=%s party=%s bytes=", seat->player,
                        seat->until_us, seat->request, seat->party);
        base_json_hex(json, seat->bytes, seat->size);
        base_json_write(json, "}");
    }
    base_json_write(json, "]");
}

bool server_room_save_seats(server_room* room) {
    base_bytes* json = server_host_text(room->host);
    room->has_news = true;
    server_room_put_seats(json, room);
    base_bytes_write(json, "", 1);
    return write_file(room, "/seats", (const char*)json->data);
}

void server_room_read_seats(server_rooms* rooms, server_room* room, const json_t* json,
                            uint64_t now_us) {
    const uint64_t until_us = now_us + SERVER_ROOM_SEAT_S * SECOND_US;
    const char *player, *until, *request, *party, *bytes, *key, *value;
    uint64_t number;
    bool is_whole = json_is_array(json);
    for (size_t i = 0; is_whole && i < json_array_size(json); i++) {
        json_t* one = json_array_get(json, i);
        size_t size = 0;
        bytes = "";
        if (json_unpack(one, "{s:s s:s}", "key", &key, "value", &value) == 0) {
            server_room_set_value(room, key, value);
            continue;
        }
        if (json_unpack(one, "{s:s}", "left", &player) == 0 &&
            base_text_parse_u64(player, &number)) {
            server_room_add_left(room, number);
            continue;
        }
        if (room->seat_count == SERVER_ROOM_SEATS_MAX) break;
        server_seat* seat = server_room_add_seat(rooms, room);
        is_whole = json_unpack(one, "{s:s s:s s:s s:s s?s}", "player", &player, "until_us", &until,
                               "request", &request, "party", &party, "bytes", &bytes) == 0 &&
                   sodium_hex2bin(seat->bytes, sizeof seat->bytes, bytes, strlen(bytes), NULL,
                                  &size, NULL) == 0 &&
                   base_text_parse_u64(player, &seat->player) &&
                   base_text_parse_u64(until, &seat->until_us) &&
                   base_text_copy(seat->request, sizeof seat->request, request) &&
                   base_text_copy(seat->party, sizeof seat->party, party);
        seat->size = (uint32_t)size;
        // Who was in is so again with the first report.
        if (seat->until_us == 0 || seat->until_us > until_us) seat->until_us = until_us;
    }
    if (is_whole) return;
    // Which seats are held is not known: for their time all are.
    for (room->seat_count = 0; room->seat_count < room->game.seats;)
        server_room_add_seat(rooms, room)->until_us = until_us;
}

void server_room_save(server_room* room) {
    const bool has_seats = server_room_save_seats(room);
    char text[512];
    if (room->state == SERVER_ROOM_OVER)
        (void)base_text_format(text, sizeof text, "- %s %d\n", room->game.name, room->is_elsewhere);
    else
        (void)base_text_format(text, sizeof text, "%s %" PRIu64 " %s %s %d %d %" PRIx64 "\n",
                               room->game.name, room->pid, room->address[0] ? room->address : "-",
                               room->address[0] ? room->http : "-", room->had_players,
                               room->is_elsewhere, room->standby_host);
    if (!has_seats || !write_file(room, "/match", text))
        base_report(&room->host->reporter, NULL, 0, "the folder of match %s: %s", room->id,
                    base_error_text(errno));
}

void server_room_signal(const server_room* room, int signal) {
    if (room->end.descriptor >= 0)
        (void)syscall(SYS_pidfd_send_signal, room->end.descriptor, signal, NULL, 0);
}

// ---- its start

void server_room_watch_key(const server_room* room, net_key* key) {
    key->id = SERVER_TELL_WATCH_KEY;
    net_key_derive(&room->key, "watch", 0, 0, key->bytes, sizeof key->bytes);
}

// The tokens of its inspector follow from its key, which does not follow from them.
static bool make_secrets(server_room* room) {
    static const char* const rights[] = {"reader", "operator"};
    char text[256], keys[2][NET_KEY_TEXT_BYTES];
    net_key watch;
    if (room->key.id == 0) net_key_make(1, net_entropy_system(), &room->key);
    server_room_watch_key(room, &watch);
    (void)net_key_print(&room->key, keys[0], sizeof keys[0]);
    (void)net_key_print(&watch, keys[1], sizeof keys[1]);
    (void)base_text_format(text, sizeof text, "%s\n%s\n", keys[0], keys[1]);
    bool is_written = write_file(room, "/keys", text);
    for (uint32_t i = 0; i < 2; i++) {
        uint8_t bytes[SERVER_ROOM_TOKEN_BYTES / 2];
        (void)crypto_generichash(bytes, sizeof bytes, (const uint8_t*)rights[i], strlen(rights[i]),
                                 room->key.bytes, sizeof room->key.bytes);
        sodium_bin2hex(room->tokens[i], SERVER_ROOM_TOKEN_BYTES, bytes, sizeof bytes);
    }
    (void)base_text_format(text, sizeof text, "reader %s\noperator %s\n", room->tokens[0],
                           room->tokens[1]);
    is_written = write_file(room, "/tokens", text) && is_written;
    explicit_bzero(text, sizeof text);
    explicit_bzero(keys, sizeof keys);
    net_key_wipe(&watch);
    return is_written;
}

static bool is_option(const char* word, const char* option) {
    const size_t size = strlen(option);
    return strncmp(word, option, size) == 0 && (word[size] == '\0' || word[size] == '=');
}

// Take out what a match that continues has from its server: settings; a standby has the stream.
// @return the URL of its stream; NULL: the options name none.
static const char* cut_words(const server_room* room, char* words[], bool continues) {
    const char* url = NULL;
    char **from = words, **to = words;
    for (uint32_t count; *from; from += count) {
        const bool is_set = is_option(*from, "--set"), is_stream = is_option(*from, "--stream");
        const char* value = strchr(*from, '=');
        count = (is_set || is_stream) && !value && from[1] ? 2 : 1;
        value = count == 2 ? from[1] : value ? value + 1 : "";
        const bool is_url = is_stream && strstr(value, "://");
        if (is_url) url = value;
        if ((is_set && continues) || (is_url && room->is_elsewhere)) continue;
        memmove(to, from, count * sizeof *to);
        to += count;
    }
    *to = NULL;
    return url;
}

// The variable with which its process finds the stream: its options may name it, else it is at the
// fleet's broker. @return false: there is none.
static bool make_stream(const server_room* room, const char* url, stream_text text) {
    const server_conf* conf = &room->host->conf;
    if (!room->is_elsewhere && (url || conf->standbys == 0)) return false;
    if (!url) url = conf->fleet;
    if (!room->is_elsewhere) return base_text_copy(text, sizeof(stream_text), url);
    const size_t end = strcspn(url, "?");
    return base_text_format(text, sizeof(stream_text), "%.*s/SHOAL_%s%s",
                            (int)(url[end - 1] == '/' ? end - 1 : end), url, room->stream,
                            url + end);
}

// The words of its command, cut in place. @return false: there are too many.
static bool make_command(const server_room* room, char* text, size_t text_bytes,
                         char* words[ARGUMENTS_MAX + 1], stream_text stream) {
    const server_conf* conf = &room->host->conf;
    const bool is_again = room->resumes > 0;
    // Without a player no tick was run, and there is nothing to continue.
    const bool has_log = is_again && room->had_players;
    const bool has_place = room->address[0] != '\0'; // it ran before, or another one did there
    const char* end = strchr(conf->listen, ']');     // of an address of IPv6
    const bool has_ports = strchr(end ? end : conf->listen, ':') != NULL;
    char hosts[1024] = "", start[64] = "", *rest;
    uint32_t count = 0;
    server_path_text path;
    (void)server_room_path(room, "", path);
    for (uint32_t i = 0; i < conf->hosts.count; i++)
        (void)base_text_format(hosts + strlen(hosts), sizeof hosts - strlen(hosts), ",host=%s",
                               conf->hosts.values[i]);
    if (room->game.seats_min > 0 && !has_log && !room->is_elsewhere)
        (void)base_text_format(start, sizeof start, "--min-clients=%" PRIu32, room->game.seats_min);
    const bool is_whole = base_text_format(
        text, text_bytes,
        "%s\n--game=%s\n%s%s%s\n--listen=%s%s\n--http=%s,token-file=%s/tokens%s\n"
        "--key-file=%s/keys\n--control=%s/control\n--log=%s/match.slog\n--max-clients=%" PRIu32
        "\n--pause-when-empty\n--tune=drain-s=%" PRIu64 "\n%s\n%s",
        room->host->program, room->game.module, has_log ? "--resume=" : "", has_log ? path : "",
        has_log ? "/match.slog" : "", has_place ? room->address : conf->listen,
        has_place || has_ports ? "" : ":0", has_place ? room->http : "127.0.0.1:0", path, hosts,
        path, path, path, room->game.seats, conf->drain_s, start, room->game.options);
    for (char* at = strstr(text, "\n--tune=drain-s="); at && *(at += strcspn(at, " \t"));)
        *at = '\n';
    for (char* word = strtok_r(text, "\n", &rest); word; word = strtok_r(NULL, "\n", &rest)) {
        if (count == ARGUMENTS_MAX) return false;
        words[count++] = word;
    }
    words[count] = NULL;
    const char* url = cut_words(room, words, has_log || room->is_elsewhere);
    if (!make_stream(room, url, stream)) stream[0] = '\0';
    return is_whole;
}

// The child before its exec, and that.
static void become_match(const server_room* room, char* words[], const char* stream) {
    server_path_text path;
    sigset_t none;
    sigemptyset(&none);
    (void)base_text_format(path, sizeof path, "%s %s/reports", room->id, room->host->conf.folder);
    // Not RLIMIT_AS: sanitizers and logs map much more than they write to.
    const struct rlimit memory = {room->game.memory_bytes, room->game.memory_bytes};
    if (memory.rlim_cur > 0) (void)setrlimit(RLIMIT_DATA, &memory);
    const int in = open("/dev/null", O_RDONLY | O_CLOEXEC);
    const bool is_told =
        setenv(SERVER_TELL_VARIABLE, path, 1) == 0 &&
        (!stream[0] ||
         (unsetenv("SHOAL_STREAM") == 0 &&
          setenv(room->is_elsewhere ? "SHOAL_STANDBY" : "SHOAL_STREAM", stream, 1) == 0));
    const int out =
        open(server_room_path(room, "/out", path), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
    const int err =
        open(server_room_path(room, "/err", path), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
    (void)signal(SIGCHLD, SIG_DFL);
    (void)signal(SIGPIPE, SIG_DFL);
    (void)sigprocmask(SIG_SETMASK, &none, NULL);
    (void)setpgid(0, 0); // ^C at the host's terminal is not for it
    if (is_told && dup2(in, 0) >= 0 && dup2(out, 1) >= 0 && dup2(err, 2) >= 0)
        (void)execv(words[0], words);
    _exit(127);
}

// Watch the process. @return false: it is gone; its number may be that of another one.
static bool follow_process(server_room* room, uint64_t pid) {
    room->end.descriptor = pid > 0 ? (int)syscall(SYS_pidfd_open, (pid_t)pid, 0) : -1;
    room->pid = room->end.descriptor >= 0 ? pid : 0;
    server_host_watch(room->host, &room->end, EPOLLIN);
    return room->pid != 0;
}

static void start_match(server_room* room, uint64_t now_us) {
    server_host* host = room->host;
    char text[8192], *words[ARGUMENTS_MAX + 1];
    server_path_text path;
    stream_text stream;
    pid_t pid = -1;
    (void)server_room_path(room, "", path);
    const bool has_command = make_command(room, text, sizeof text, words, stream);
    if (has_command && (mkdir(path, 0700) == 0 || errno == EEXIST) && make_secrets(room))
        pid = fork();
    if (pid == 0) become_match(room, words, stream);
    host->starts++;
    room->heard_us = now_us;
    room->state = SERVER_ROOM_STARTING;
    if (pid > 0 && follow_process(room, (uint64_t)pid)) {
        server_room_save(room);
        return;
    }
    if (has_command)
        base_report(&host->reporter, path, 0, "the match cannot be started: %s",
                    base_error_text(errno));
    else
        base_report(&host->reporter, path, 0,
                    "the match cannot be started: shorten options of game %s in host.conf: with "
                    "those of the host they have more than %u words",
                    room->game.name, ARGUMENTS_MAX);
    (void)server_rooms_ended(host->rooms, room, false, "its process cannot be started", now_us);
}

// ---- what it tells

static void reports_came(void* owner, uint32_t events) {
    server_host* host = owner;
    char text[SERVER_TELL_BYTES_MAX];
    (void)events;
    for (uint32_t i = 0; i < REPORTS_MAX; i++) {
        const ssize_t size = recv(host->reports.descriptor, text, sizeof text, MSG_DONTWAIT);
        if (size < 0) return;
        server_host_told(host, text, (size_t)size, net_loop_now_us());
    }
}

// ---- its end

// The last line of stderr says why.
static void find_why(const server_room* room, const char* begin, char* why, size_t why_bytes) {
    server_path_text path;
    char text[2048];
    size_t size = read_tail(server_room_path(room, "/err", path), text, sizeof text);
    while (size > 0 && text[size - 1] == '\n')
        text[--size] = '\0';
    const char* line = strrchr(text, '\n');
    line = line ? line + 1 : text;
    (void)base_text_format(why, why_bytes, "%s%s%s", begin, *line ? ": " : "", line);
}

static void process_ended(void* owner, uint32_t events) {
    server_room* room = owner;
    server_host* host = room->host;
    server_path_text path;
    char text[4096], why[sizeof room->why] = "it ended";
    if (events != 0) reports_came(host, 0); // its last ones
    (void)read_tail(server_room_path(room, "/out", path), text, sizeof text);
    const bool is_given = strncmp(text, "handover ", 9) == 0 || strstr(text, "\nhandover ");
    const bool is_orderly = is_given || strncmp(text, "done ", 5) == 0 || strstr(text, "\ndone ");
    // It was handed over, or was killed and has a standby.
    if (is_given || (!is_orderly && room->was_told && room->standby[0])) room->is_elsewhere = true;
    const bool may_be_elsewhere =
        host->conf.standbys > 0 && (room->standby[0] || !host->errands); // NULL: the host starts
    host->crashes += !is_orderly && !room->was_told;
    server_host_unwatch(host, &room->end);
    room->pid = 0;
    if (!is_orderly) find_why(room, "it crashed", why, sizeof why);
    const bool continues = server_rooms_ended(host->rooms, room, is_orderly || host->is_ending, why,
                                              net_loop_now_us());
    if (continues && may_be_elsewhere) server_standbys_hold(room, net_loop_now_us());
    if (!is_orderly)
        base_report(&host->reporter, NULL, 0, "warning: match %s of %s: %s%s", room->id,
                    room->game.name, why,
                    !continues         ? ""
                    : may_be_elsewhere ? ": its standby has it, or it is resumed"
                                       : ": it is resumed");
    room->was_told = false;
    server_room_save(room);
}

// ---- the loop

static void stop_hung(server_room* room, const char* begin) {
    room->host->hangs++;
    find_why(room, begin, room->why, sizeof room->why);
    base_report(&room->host->reporter, NULL, 0, "warning: match %s of %s is stopped: %s", room->id,
                room->game.name, room->why);
    room->state = SERVER_ROOM_LEAVING;
    room->was_told = true;
    room->heard_us = UINT64_MAX;
    server_room_signal(room, SIGKILL);
}

uint64_t server_host_tend(server_host* host, uint64_t now_us) {
    const uint64_t leave_us = (host->conf.drain_s + host->conf.hang_s) * SECOND_US;
    uint64_t due_us = now_us + SECOND_US;
    uint32_t starting = 0;
    if (!host->is_ending) server_rooms_pass(host->rooms, now_us);
    for (uint32_t i = 0; i < host->rooms->count; i++) {
        server_room* room = host->rooms->rooms[i];
        if (room->state == SERVER_ROOM_PLANNED && starting < SERVER_HOST_STARTS_MAX &&
            now_us >= room->hold_us) {
            room->host = host;
            room->end = (server_watch){-1, process_ended, room};
            start_match(room, now_us);
        }
        const bool is_up = room->state == SERVER_ROOM_RUNNING;
        starting += room->state == SERVER_ROOM_STARTING;
        if (is_up || room->state == SERVER_ROOM_STARTING) {
            const uint64_t until_us =
                room->heard_us + (is_up ? host->conf.hang_s : START_S_MAX) * SECOND_US;
            if (now_us >= until_us)
                stop_hung(room, is_up ? "it does not answer" : "it does not start");
            else if (until_us < due_us)
                due_us = until_us;
        } else if (room->state == SERVER_ROOM_LEAVING && !room->was_told) {
            room->was_told = true;
            room->heard_us = now_us;
            server_room_signal(room, SIGTERM);
        } else if (room->state == SERVER_ROOM_LEAVING && room->heard_us <= now_us &&
                   now_us - room->heard_us >= leave_us) {
            stop_hung(room, "it does not end");
        }
    }
    return due_us;
}

// ---- the host before

// Another process may have its number. The words of a command end with NULs.
static bool is_process_of(const char* pid, const char* id) {
    char path[64], text[8192];
    (void)base_text_format(path, sizeof path, "/proc/%s/cmdline", pid);
    const char* end = text + read_tail(path, text, sizeof text);
    for (const char* word = text; word < end; word += strlen(word) + 1)
        if (strstr(word, id)) return true;
    return false;
}

static void find_match(server_host* host, const char* id) {
    server_room_game game = {.most = 1};
    char text[512], pid[24];
    int had_players = 0, is_elsewhere = 0;
    server_path_text path;
    uint64_t number = 0;
    net_key_ring keys;
    server_room* room = server_rooms_add(host->rooms, &game, id);
    room->host = host;
    room->end = (server_watch){-1, process_ended, room};
    room->state = SERVER_ROOM_OVER;
    (void)read_tail(server_room_path(room, "/match", path), text, sizeof text);
    const int words = text[0] == '-' ? sscanf(text, "- %32s %d", game.name, &is_elsewhere)
                                     : sscanf(text, "%32s %20s %71s %71s %d %d %" SCNx64, game.name,
                                              pid, room->address, room->http, &had_players,
                                              &is_elsewhere, &room->standby_host);
    const server_room_game* known = server_rooms_game(host->rooms, game.name);
    room->game = known ? *known : game;
    room->is_elsewhere = is_elsewhere != 0;
    if (words < 5 || !base_text_parse_u64(pid, &number) || number > INT32_MAX ||
        !net_host_load_keys(server_room_path(room, "/keys", path), &keys, &host->reporter))
        return;
    room->key = keys.keys[0];
    net_key_ring_wipe(&keys);
    room->had_players = had_players != 0;
    room->heard_us = net_loop_now_us();
    room->state = room->address[0] == '-' ? SERVER_ROOM_STARTING : SERVER_ROOM_RUNNING;
    json_t* seats =
        json_load_file(server_room_path(room, "/seats", path), JSON_REJECT_DUPLICATES, NULL);
    server_room_read_seats(host->rooms, room, seats, room->heard_us);
    json_decref(seats);
    if (!make_secrets(room) || !is_process_of(pid, id) || !follow_process(room, number))
        process_ended(room, 0);
}

bool server_host_find_matches(server_host* host) {
    struct sockaddr_un at = {.sun_family = AF_UNIX};
    char path[SERVER_HOST_PATH_BYTES];
    const char* folder = host->conf.folder;
    // The name of a control socket has at most 107 bytes.
    if (!base_text_format(path, 108 - 26, "%s/matches", folder))
        return base_report(&host->reporter, NULL, 0, "folder has at most 73 bytes: %s", folder);
    (void)base_text_format(at.sun_path, sizeof at.sun_path, "%s/reports", folder);
    (void)unlink(at.sun_path);
    host->reports =
        (server_watch){socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0), reports_came, host};
    DIR* entries = mkdir(path, 0700) == 0 || errno == EEXIST ? opendir(path) : NULL;
    if (!entries || host->reports.descriptor < 0 ||
        bind(host->reports.descriptor, (const struct sockaddr*)&at, sizeof at) != 0)
        return base_report(&host->reporter, path, 0, "cannot use: %s", base_error_text(errno));
    server_host_watch(host, &host->reports, EPOLLIN);
    for (const struct dirent* entry; (entry = readdir(entries)) != NULL;) {
        if (strlen(entry->d_name) == SERVER_ROOM_ID_BYTES - 1 && entry->d_name[0] != '.')
            find_match(host, entry->d_name);
        server_rooms_forget(host->rooms); // it has the folders of all that ever were
    }
    closedir(entries);
    return true;
}
