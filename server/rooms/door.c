// SPDX-License-Identifier: MIT
// One port, one request of a connection (Connection: close): joins, lists, the page of all are
// answered here. /m/ID/REST goes to the match's HTTP as /REST: pages, answers, WebSocket. Its head
// is read once and written again; after it bytes go both ways, whatever they are.
#include "host.h"
#include "peers.h"

#include "base/json.h"
#include "base/text.h"
#include "host/output.h"
#include "net/socket.h"

#include <errno.h>
#include <inttypes.h>
#include <jansson.h>
#include <netinet/in.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>
#include <sys/epoll.h>
#include <unistd.h>

#include "rooms_page.h"

#define WAITING_MAX 1024u        // joins whose match starts
#define REQUEST_BYTES_MAX 16384u // of a head, and of a body
#define VISITS_MAX 8192u
#define ACCEPTS_MAX 256u // in one turn of the loop
#define PIECE_BYTES 65536u
#define READ_US UINT64_C(5000000)
#define ANSWER_US UINT64_C(30000000)
#define LOOK_US UINT64_C(1000000)

typedef enum visit_state {
    VISIT_READS,   // its request is not whole
    VISIT_ASKS,    // a join or a list, of other hosts
    VISIT_WAITS,   // a join whose match starts
    VISIT_ANSWERS, // `out` is sent, then it ends
    VISIT_PASSES,  // bytes go both ways, whatever they are
} visit_state;

// A connection, with one request.
typedef struct visit {
    server_watch client, match;
    server_host* host;
    net_address from;
    visit_state state;
    uint64_t until_us;  // it is closed then; UINT64_MAX: never
    base_bytes in, out; // from and to the client
    size_t in_sent, out_sent;
    size_t head_bytes; // 0: not whole. The head ends with one "\r\n" and a NUL then
    bool match_is_over;
    char room[SERVER_ROOM_ID_BYTES]; // of a join
    uint64_t player;
    server_errand errand;
    server_right right;                    // of a list: it has no room yet
    char reply[SERVER_PEER_SUBJECT_BYTES]; // a join of another host, without a client; "": no
    struct visit *next, **link;
} visit;

static void client_ready(void* owner, uint32_t events);
static void visit_run(visit* self, bool is_gone);
static void match_ready(void* owner, uint32_t events);

static visit* visit_open(server_host* host, int descriptor, const net_address* from) {
    visit* self = base_allocate_zero(&host->owner.allocator, sizeof *self);
    self->host = host;
    self->from = *from;
    self->client = (server_watch){descriptor, client_ready, self};
    self->match = (server_watch){-1, match_ready, self};
    self->until_us = net_loop_now_us() + READ_US;
    self->next = host->visits;
    self->link = &host->visits;
    if (self->next) self->next->link = &self->next;
    host->visits = self;
    host->visit_count++;
    base_bytes_init(&self->in, &host->owner.allocator);
    base_bytes_init(&self->out, &host->owner.allocator);
    server_host_watch(host, &self->client, EPOLLIN);
    return self;
}

static void visit_close(visit* self) {
    server_host* host = self->host;
    *self->link = self->next;
    if (self->next) self->next->link = self->link;
    host->visit_count--;
    host->waiting_count -= self->state == VISIT_WAITS || self->state == VISIT_ASKS;
    server_host_unwatch(host, &self->client);
    server_host_unwatch(host, &self->match);
    base_bytes_deinit(&self->in);
    base_bytes_deinit(&self->out);
    base_release(&host->owner.allocator, self, sizeof *self);
}

// ---- answers

static void visit_send(visit* self, int status, const char* type, const void* bytes, size_t size) {
    static const char further[] =
        "Cache-Control: no-store\r\nX-Content-Type-Options: nosniff\r\n"
        "Referrer-Policy: no-referrer\r\nCross-Origin-Resource-Policy: same-origin\r\n"
        "Content-Security-Policy: default-src 'self'; base-uri 'none'; form-action 'none'; "
        "frame-ancestors 'none'; img-src data:\r\n\r\n";
    if (self->reply[0]) {
        server_errands_answer_join(self->host, self->reply, status, bytes, size);
    } else {
        base_json_put(&self->out,
                      "HTTP/1.1 %d %s\r\nContent-Type: %s\r\nContent-Length: %zu\r\n"
                      "Connection: close\r\n",
                      status, status == 200 ? "OK" : "Refused", type ? type : "application/json",
                      size);
        base_bytes_write(&self->out, further, sizeof further - 1);
        if (strncmp((const char*)self->in.data, "HEAD ", 5) != 0)
            base_bytes_write(&self->out, bytes, size);
    }
    self->host->waiting_count -= self->state == VISIT_WAITS || self->state == VISIT_ASKS;
    self->errand.number = 0;
    self->state = VISIT_ANSWERS;
    self->until_us = net_loop_now_us() + ANSWER_US;
}

static void visit_refuse(visit* self, int status, const char* text) {
    base_bytes* json = server_host_text(self->host);
    base_json_write(json, "{error=%s}", text);
    visit_send(self, status, NULL, json->data, json->size);
}

// ---- the head

// The last one of this name: a proxy may add its own behind that of its client. NULL: none.
static const char* find_header(const visit* self, const char* name, size_t* value_bytes) {
    const size_t size = strlen(name);
    const char* found = NULL;
    for (const char* line = (const char*)self->in.data; (line = strstr(line, "\r\n"));) {
        line += 2;
        if (strncasecmp(line, name, size) == 0 && line[size] == ':') found = line + size + 1;
    }
    if (found) found += strspn(found, " \t");
    *value_bytes = found ? strcspn(found, "\r\n") : 0;
    return found;
}

static bool visit_header(const visit* self, const char* name, char* value, size_t value_bytes) {
    size_t size;
    const char* found = find_header(self, name, &size);
    return found && base_text_format(value, value_bytes, "%.*s", (int)size, found);
}

// `is_public`: who brings no token may come in, too.
static server_welcome visit_check(const visit* self, bool is_page, bool is_public) {
    static const char* const names[] = {"Host", "Origin", "Authorization"};
    char texts[BASE_COUNT(names)][SERVER_HOST_BYTES_MAX];
    const char* found[BASE_COUNT(names)];
    for (size_t i = 0; i < BASE_COUNT(names); i++)
        found[i] = visit_header(self, names[i], texts[i], sizeof texts[i]) ? texts[i] : NULL;
    const server_knock knock = {.host = found[0],
                                .origin = found[1],
                                .authorization = found[2],
                                .content_type =
                                    "application/json", // Origin keeps foreign pages out
                                .from = self->from,
                                .is_open = is_page || (is_public && !found[2]),
                                .is_post = strncmp((const char*)self->in.data, "POST ", 5) == 0};
    return server_gate_check(&self->host->gate, &knock, net_loop_now_us());
}

// ---- a join

// Behind a proxy of this machine the last address is the one that it saw.
static net_address find_origin(const visit* self) {
    char literal[NET_ADDRESS_TEXT_BYTES];
    net_address from = self->from;
    size_t at, size;
    const char* text = find_header(self, "X-Forwarded-For", &size);
    if (!text || !net_address_is_loopback(&from)) return from;
    for (at = size; at > 0 && !strchr(", ", text[at - 1]);)
        at--;
    if (base_text_format(literal, sizeof literal,
                         memchr(text + at, ':', size - at) ? "[%.*s]:1" : "%.*s:1",
                         (int)(size - at), text + at))
        (void)!net_address_parse(literal, &from);
    return from;
}

// Transfers name this host as the newest request did; one of a fleet has one name.
static void note_name(const visit* self) {
    server_host* host = self->host;
    char name[SERVER_HOST_BYTES_MAX], scheme[8] = "";
    if (host->page[0]) memcpy(host->asked, host->page, sizeof host->asked);
    if (host->page[0] || !visit_header(self, "Host", name, sizeof name)) return;
    const net_address from = find_origin(self);
    const bool is_loopback = strncasecmp(name, "localhost", 9) == 0 ||
                             strncmp(name, "127.", 4) == 0 || strncmp(name, "[::1]", 5) == 0;
    if (is_loopback && !net_address_is_loopback(&from)) return; // who is elsewhere means another
    (void)visit_header(self, "X-Forwarded-Proto", scheme, sizeof scheme);
    (void)base_text_format(host->asked, sizeof host->asked, "http%s://%s",
                           strcmp(scheme, "https") == 0 ? "s" : "", name);
}

static void send_seat(visit* self, const server_room* room, bool is_player) {
    base_bytes* json = server_host_text(self->host);
    note_name(self); // it may have waited
    base_json_write(json, "{");
    if (!server_room_put_seat(json, room, self->player, is_player ? "#join=" : NULL)) {
        visit_refuse(self, 503, "no token can be made");
        return;
    }
    base_json_write(json, "expires_s=%u seats=%u taken=%u}", SERVER_ROOM_SEAT_S, room->game.seats,
                    room->seat_count);
    visit_send(self, 200, NULL, json->data, json->size);
}

static void visit_answer_join(visit* self) {
    const server_room* room = server_rooms_find(self->host->rooms, self->room, strlen(self->room));
    if (room && room->state < SERVER_ROOM_RUNNING) return;
    if (room && room->state == SERVER_ROOM_RUNNING)
        send_seat(self, room, true);
    else
        visit_refuse(self, 503, room ? room->why : "the match ended");
}

// @return false: not within its reach.
static bool seat_player(visit* self, const server_join* join) {
    server_host* host = self->host;
    server_room* room = NULL;
    server_seat* seat = NULL;
    const server_join_end end =
        server_rooms_join(host->rooms, join, net_loop_now_us(), &room, &seat);
    if (end != SERVER_JOIN_SEATED && join->reach != SERVER_REACH_ANY && !self->reply[0])
        return false;
    host->joins[end]++;
    if (end != SERVER_JOIN_SEATED) {
        visit_refuse(self, server_join_ends[end].status, server_join_ends[end].text);
        return true;
    }
    server_errands_seated(host, join);
    if (room->host) (void)server_room_save_seats(room);
    self->player = seat->player;
    memcpy(self->room, room->id, sizeof self->room);
    self->host->waiting_count += self->state != VISIT_ASKS;
    self->errand.number = 0;
    self->state = VISIT_WAITS;
    self->until_us = UINT64_MAX;
    visit_answer_join(self);
    return true;
}

// Is another one asked for with the same words? Its answer comes first.
static bool has_twin(const visit* self) {
    const uint64_t* words = self->errand.words;
    for (const visit* at = self->host->visits; at; at = at->next)
        for (uint32_t i = 0; i < 2 && at != self && at->errand.number > 0; i++)
            if (words[i] != 0 && at->errand.words[i] == words[i]) return true;
    return false;
}

// One step further: here, or at another host.
static void visit_go_on(visit* self) {
    server_join join = {0};
    const char* body = (const char*)self->in.data + self->head_bytes;
    const size_t size = self->in.size - self->head_bytes;
    json_t* json = json_loadb(body, size, JSON_REJECT_DUPLICATES, NULL);
    const bool is_read = !server_join_read(json, &join); // as before
    if (self->state != VISIT_ASKS) {
        server_errand_begin(&self->errand, &join);
        self->until_us = UINT64_MAX;
        self->host->waiting_count++;
        self->state = VISIT_ASKS;
    }
    self->errand.until_us = 0;
    if (is_read && (self->errand.step > 0 || !has_twin(self)))
        while (!server_errand_next(self->host, &self->errand, &join, body, size, net_loop_now_us()))
            if (seat_player(self, &join)) break;
    json_decref(json);
}

// May its address ask once more? @return false: refused.
static bool visit_may_ask(visit* self) {
    server_host* host = self->host;
    const net_address from = find_origin(self);
    if (server_rate_accepts(&host->rate, &from, host->conf.joins, net_loop_now_us()) &&
        host->waiting_count < WAITING_MAX)
        return true;
    host->refused++;
    visit_refuse(self, 429, "too many joins: try again in some seconds");
    return false;
}

// @return the body of a request for a match; NULL: refused.
static json_t* visit_read(visit* self) {
    if (!visit_may_ask(self)) return NULL;
    json_t* body = json_loadb((const char*)self->in.data + self->head_bytes,
                              self->in.size - self->head_bytes, JSON_REJECT_DUPLICATES, NULL);
    if (!body) visit_refuse(self, 400, "the body is not JSON");
    return body;
}

static void join_match(visit* self, server_right right) {
    server_host* host = self->host;
    server_join join = {0};
    json_t* body = visit_read(self);
    if (!body) return;
    const char* fault = server_join_read(body, &join);
    if (fault)
        visit_refuse(self, 400, fault);
    else if (join.player != 0 && right != SERVER_OPERATOR)
        visit_refuse(self, 403, "only an operator's token names a player");
    else if (host->is_ending)
        visit_refuse(self, 503, "this host ends");
    else
        visit_go_on(self);
    json_decref(body);
}

// @return the match, which runs; NULL: refused.
static server_room* visit_find_match(visit* self, const char* id, size_t size) {
    server_room* room = server_rooms_find(self->host->rooms, id, size);
    const bool is_standby = room && room->is_elsewhere && room->state < SERVER_ROOM_LEAVING;
    if (room && room->state == SERVER_ROOM_RUNNING && !is_standby) return room;
    if (!room || is_standby)
        visit_refuse(self, 404, "there is no such match");
    else if (room->state >= SERVER_ROOM_LEAVING)
        visit_refuse(self, 410, "this match has ended");
    else
        visit_refuse(self, 503, "this match is not ready yet: try again");
    return NULL;
}

// A token without a seat: with it a client may watch.
static void watch_match(visit* self, server_right right) {
    json_t* body = visit_read(self);
    if (!body) return;
    const char* id = json_string_value(json_object_get(body, "match"));
    const server_room* room = visit_find_match(self, id ? id : "", id ? strlen(id) : 0);
    (void)right;
    net_entropy_system()->fill(NULL, &self->player, sizeof self->player);
    self->player |= 1;
    if (room) send_seat(self, room, false);
    json_decref(body);
}

// ---- lists

// A list has no body: at its place are the rows of other hosts.
static void visit_answer_list(visit* self) {
    base_bytes* json = server_host_text(self->host);
    server_forms_put_matches(json, self->host, self->right, self->in.data + self->head_bytes,
                             self->in.size - self->head_bytes);
    visit_send(self, 200, NULL, json->data, json->size);
}

static void list_matches(visit* self, server_right right) {
    static const char fleet[] = "GET /v1/matches?fleet";
    const bool is_of_fleet = self->host->is_in_fleet &&
                             strncmp((const char*)self->in.data, fleet, sizeof fleet - 1) == 0;
    self->right = right;
    if (is_of_fleet && !visit_may_ask(self)) return;
    self->in.size = self->head_bytes;
    if (!is_of_fleet) {
        visit_answer_list(self);
        return;
    }
    self->room[0] = '*';
    self->state = VISIT_ASKS;
    self->until_us = UINT64_MAX;
    self->host->waiting_count++;
    self->errand.number = server_errands_ask(self->host, "shoal.list", "", 0);
    self->errand.until_us = net_loop_now_us() + SERVER_ERRAND_LIST_MS * UINT64_C(1000);
}

// ---- other hosts

void server_door_answered(server_host* host, uint64_t number, const char* text, size_t size) {
    visit* self = host->visits;
    while (self && self->errand.number != number)
        self = self->next;
    if (!self || number == 0) return; // too late: a seat there is held for some seconds
    if (self->room[0] == '*') {       // of a list
        json_t* rows = text ? json_loadb(text, size, 0, NULL) : NULL;
        const bool is_list =
            json_array_size(rows) > 0 && text[0] == '[' && text[size - 1] == ']'; // no blanks
        if (is_list && self->in.size + size < SERVER_ERRAND_LISTS_BYTES_MAX) {
            base_bytes_write(&self->in, ",", 1);
            base_bytes_write(&self->in, text + 1, size - 2);
        }
        json_decref(rows);
        return;
    }
    const int status = text ? server_errand_read(host, &self->errand, &text, &size) : 0;
    if (status != 0)
        visit_send(self, status, NULL, text, size);
    else
        visit_go_on(self);
    if (self->state == VISIT_ANSWERS) visit_run(self, false);
}

void server_door_asked(server_host* host, const char* reply, const server_join* join) {
    static const net_address nowhere = {0};
    if (host->visit_count >= VISITS_MAX || host->waiting_count >= WAITING_MAX) {
        host->refused++;
        server_errands_answer_join(host, reply, 429, "", 0);
        return;
    }
    visit* self = visit_open(host, -1, &nowhere);
    (void)base_text_copy(self->reply, sizeof self->reply, reply);
    (void)seat_player(self, join);
    if (self->state == VISIT_ANSWERS) visit_close(self);
}

// ---- requests

static const struct {
    const char* request;
    bool is_public; // an open host wants no token
    void (*answer)(visit* visit, server_right right);
    void (*put)(base_bytes* text, const server_host* host);
    const char* type;
} routes[] = {
    {"POST /v1/join", true, join_match, NULL, NULL},
    {"POST /v1/watch", true, watch_match, NULL, NULL},
    {"GET /v1/matches", true, list_matches, NULL, NULL},
    {"GET /v1/targets", false, NULL, server_forms_put_targets, NULL},
    {"GET /metrics", false, NULL, server_forms_put_metrics,
     "text/plain; version=0.0.4; charset=utf-8"},
};

static bool is_request(const visit* self, const char* text) {
    const size_t size = strlen(text);
    const char* head = (const char*)self->in.data;
    return strncmp(head, text, size) == 0 && (head[size] == ' ' || head[size] == '?');
}

static void visit_answer(visit* self) {
    server_host* host = self->host;
    size_t page = 0, route = 0;
    while (page < BASE_COUNT(rooms_page) && !is_request(self, rooms_page[page].request))
        page++;
    while (route < BASE_COUNT(routes) && !is_request(self, routes[route].request))
        route++;
    const bool is_page = page < BASE_COUNT(rooms_page), is_route = route < BASE_COUNT(routes);
    const bool is_public =
        is_route && routes[route].is_public && host->conf.is_open && host->gate.has_tokens;
    const server_welcome welcome = visit_check(self, is_page, is_public);
    if (welcome.status == 200) note_name(self);
    if (!is_page && !is_route) {
        visit_refuse(self, 404, "there is nothing of this name and method");
    } else if (welcome.status != 200) {
        visit_refuse(self, welcome.status, welcome.error);
    } else if (is_page) {
        visit_send(self, 200, rooms_page[page].type, rooms_page[page].bytes, rooms_page[page].size);
    } else if (routes[route].answer) {
        routes[route].answer(self, welcome.right);
    } else {
        base_bytes* text = server_host_text(host);
        routes[route].put(text, host);
        visit_send(self, 200, routes[route].type, text->data, text->size);
    }
}

// ---- to a match

// Write the head for the match, without the begin of its path.
static void pass_head(visit* self, const char* rest, const server_room* room) {
    char upgrade[64];
    base_bytes head;
    const bool is_upgrade = visit_header(self, "Upgrade", upgrade, sizeof upgrade);
    const server_welcome welcome = visit_check(self, false, false);
    // The host's becomes the match's. One that is not known here may be the match's own.
    const char* token = welcome.status == 200 ? room->tokens[welcome.right] : NULL;
    const bool is_foreign = welcome.status == 401 || welcome.status == 429;
    const char *begin = (const char*)self->in.data, *line = strstr(rest, "\r\n") + 2;
    base_bytes_init(&head, &self->host->owner.allocator);
    base_bytes_write(&head, begin, strcspn(begin, " ") + 1);
    base_bytes_write(&head, rest, (size_t)(line - rest));
    if (token) base_json_put(&head, "Authorization: Bearer %s\r\n", token);
    if (!is_upgrade) base_json_put(&head, "Connection: close\r\n");
    for (size_t size; *line; line += size) {
        size = (size_t)(strstr(line, "\r\n") + 2 - line);
        const bool is_cut = (!is_upgrade && strncasecmp(line, "Connection:", 11) == 0) ||
                            (!is_foreign && strncasecmp(line, "Authorization:", 14) == 0);
        if (!is_cut) base_bytes_write(&head, line, size);
    }
    base_bytes_write(&head, "\r\n", 2);
    base_bytes_write(&head, self->in.data + self->head_bytes, self->in.size - self->head_bytes);
    base_bytes_deinit(&self->in);
    self->in = head;
}

static bool connect_to(visit* self, const server_room* room) {
    net_address at;
    struct sockaddr_in6 to;
    if (net_address_parse(room->http, &at) != NET_OK) return false;
    const uint32_t size = net_address_write(&at, false, &to);
    self->match.descriptor = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    return self->match.descriptor >= 0 &&
           (connect(self->match.descriptor, (const struct sockaddr*)&to, size) == 0 ||
            errno == EINPROGRESS);
}

// "/m/ID/REST HTTP/1.1"
static void pass_to_match(visit* self, const char* id) {
    const size_t size = strcspn(id, "/? \r");
    server_room* room = visit_find_match(self, id, size);
    if (!room) return;
    if (id[size] != '/') {
        visit_refuse(self, 404, "the page of a match is /m/ID/");
    } else if (!connect_to(self, room)) {
        visit_refuse(self, 503, "this match is not ready yet: try again");
    } else {
        pass_head(self, id + size, room);
        self->state = VISIT_PASSES;
        self->until_us = UINT64_MAX;
    }
}

// The head is whole when an empty line came, the body by its Content-Length.
static void look_at_request(visit* self) {
    char text[32];
    uint64_t body_bytes = 0;
    char* end = self->head_bytes == 0 ? strstr((char*)self->in.data, "\r\n\r\n") : NULL;
    if (end) {
        self->head_bytes = (size_t)((uint8_t*)end - self->in.data) + 4;
        end[2] = '\0';
    }
    const char* head = (const char*)self->in.data;
    const size_t had = strlen(head);
    if (self->head_bytes == 0 && had == self->in.size && had < REQUEST_BYTES_MAX) return;
    const char* path = head + strcspn(head, " \r");
    if (had + 2 != self->head_bytes || *path != ' ' || !strstr(path, " HTTP/1.")) {
        visit_refuse(self, 400, "this is no request of HTTP/1.1 with a head of at most 16 KiB");
    } else if (strncmp(path, " /m/", 4) == 0) {
        pass_to_match(self, path + 4);
    } else if (visit_header(self, "Transfer-Encoding", text, sizeof text) ||
               (visit_header(self, "Content-Length", text, sizeof text) &&
                !base_text_parse_u64(text, &body_bytes))) {
        visit_refuse(self, 400, "a body needs a Content-Length");
    } else if (body_bytes > REQUEST_BYTES_MAX) {
        visit_refuse(self, 413, "a body has at most 16 KiB");
    } else if (self->in.size - self->head_bytes >= body_bytes) {
        self->in.size = self->head_bytes + body_bytes;
        visit_answer(self);
    }
}

// ---- bytes

// Read a piece. @return true: that side is over.
static bool read_piece(int descriptor, base_bytes* into) {
    const size_t had = into->size;
    const ssize_t size = recv(descriptor, base_bytes_extend(into, PIECE_BYTES), PIECE_BYTES - 1, 0);
    into->size = had + (size > 0 ? (size_t)size : 0);
    into->data[into->size] = '\0';
    return size == 0 || (size < 0 && errno != EAGAIN && errno != EINTR);
}

// @return true: the other side takes no more.
static bool write_piece(int descriptor, base_bytes* from, size_t* sent) {
    if (from->size == 0) return false;
    const ssize_t size = send(descriptor, from->data + *sent, from->size - *sent, MSG_NOSIGNAL);
    if (size > 0) *sent += (size_t)size;
    if (*sent == from->size) {
        base_bytes_clear(from);
        *sent = 0;
    }
    return size < 0 && errno != EAGAIN && errno != EINTR;
}

static void visit_run(visit* self, bool is_gone) {
    const int client = self->client.descriptor, match = self->match.descriptor;
    if (self->state == VISIT_READS) {
        is_gone = read_piece(client, &self->in) || is_gone;
        if (!is_gone) look_at_request(self);
    } else if (self->state == VISIT_PASSES) {
        if (self->out.size == 0) self->match_is_over = read_piece(match, &self->out);
        if (self->in.size == 0) is_gone = read_piece(client, &self->in) || is_gone;
        self->match_is_over = write_piece(match, &self->in, &self->in_sent) || self->match_is_over;
    }
    is_gone = write_piece(client, &self->out, &self->out_sent) || is_gone;
    const bool is_over = self->match_is_over || self->state == VISIT_ANSWERS;
    if (is_gone || (is_over && self->out.size == 0)) {
        visit_close(self);
        return;
    }
    const bool passes = self->state == VISIT_PASSES && !is_over;
    const bool reads = self->state == VISIT_READS || (passes && self->in.size == 0);
    server_host_watch(self->host, &self->client,
                      (reads ? EPOLLIN : 0u) | (self->out.size > 0 ? EPOLLOUT : 0u));
    server_host_watch(self->host, &self->match,
                      (passes && self->out.size == 0 ? EPOLLIN : 0u) |
                          (passes && self->in.size > 0 ? EPOLLOUT : 0u));
}

static void client_ready(void* owner, uint32_t events) {
    visit_run(owner, (events & (EPOLLHUP | EPOLLERR)) != 0);
}

static void match_ready(void* owner, uint32_t events) {
    (void)events;
    visit_run(owner, false);
}

// ---- the port

void server_door_enter(server_host* host, int descriptor, const net_address* from) {
    if (host->visit_count < VISITS_MAX)
        visit_open(host, descriptor, from);
    else
        close(descriptor);
}

static void accept_connections(void* owner, uint32_t events) {
    server_host* host = owner;
    (void)events;
    for (uint32_t i = 0; i < ACCEPTS_MAX; i++) {
        struct sockaddr_storage from;
        socklen_t size = sizeof from;
        const int descriptor = server_acceptor_accept(&host->acceptor, (struct sockaddr*)&from,
                                                      &size, &host->reporter);
        if (descriptor < 0) return;
        (void)fcntl(descriptor, F_SETFL, fcntl(descriptor, F_GETFL) | O_NONBLOCK);
        const net_address address = net_address_read((const struct sockaddr*)&from);
        server_door_enter(host, descriptor, &address);
    }
}

uint64_t server_door_pass(server_host* host, uint64_t now_us) {
    if (now_us < host->look_us && host->waiting_count == 0) return host->look_us;
    host->look_us = now_us + LOOK_US;
    for (visit *at = host->visits, *next; at; at = next) {
        next = at->next;
        if (now_us >= at->until_us) {
            visit_close(at);
        } else if (at->state == VISIT_WAITS) {
            visit_answer_join(at);
            if (at->state != VISIT_WAITS) visit_run(at, false);
        } else if (at->state == VISIT_ASKS &&
                   (now_us >= at->errand.until_us || !host->is_in_fleet)) {
            if (at->errand.number > 0) server_errand_repeat(&at->errand);
            if (at->room[0] == '*')
                visit_answer_list(at);
            else
                visit_go_on(at);
            if (at->state == VISIT_ANSWERS) visit_run(at, false);
        } else if (at->state == VISIT_ASKS && at->errand.until_us < host->look_us) {
            host->look_us = at->errand.until_us;
        }
    }
    return host->look_us;
}

int server_door_open(server_host* host) {
    static const base_option_list no_pages = {.count = 0};
    net_entropy_system()->fill(NULL, &host->rate.seed, sizeof host->rate.seed);
    if (net_address_resolve_one(NULL, host->conf.http, &host->bound) != NET_OK)
        return net_exit_report(NET_EXIT_USAGE, &host->reporter, host->conf_file,
                               "http = %s: is not ADDR:PORT", host->conf.http);
    if (!server_gate_init(&host->gate, &host->bound, host->conf.token_file, &host->conf.hosts,
                          &no_pages, &host->reporter))
        return NET_EXIT_USAGE;
    if (!server_acceptor_listen(&host->acceptor, host->conf.http, &host->bound))
        return net_exit_report(NET_EXIT_BIND, &host->reporter, host->conf_file,
                               "http: cannot bind %s: %s", host->conf.http, base_error_text(errno));
    host->listener = (server_watch){host->acceptor.listener, accept_connections, host};
    server_host_watch(host, &host->listener, EPOLLIN);
    return NET_EXIT_CLEAN;
}

void server_door_close(server_host* host) {
    while (host->visits)
        visit_close(host->visits);
    server_acceptor_close(&host->acceptor);
    server_gate_deinit(&host->gate);
}
