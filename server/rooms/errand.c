// SPDX-License-Identifier: MIT
#include "errand.h"

#include "host.h"
#include "peers.h"

#include "base/hash.h"
#include "base/json.h"
#include "base/text.h"
#include "host/output.h"
#include "net/socket.h"

#include <inttypes.h>
#include <jansson.h>
#include <stdio.h>
#include <string.h>
#include <sys/epoll.h>
#include <time.h>

#include "rooms_parts.h"

#define MS UINT64_C(1000)
#define ANSWER_US (5000 * MS) // its match starts
#define REPEATS_MAX 2u
#define TRIES_MAX 4u
#define LISTEN_US (20 * MS)
#define PATIENCE_US (1000 * MS) // a broker that is away is no news before
#define SWEEP_US (60000 * MS)   // one page of the broker's list of streams
#define MESSAGES_MAX 64u        // in one turn: matches are listened to meanwhile
#define ROWS 16384u             // words that are remembered; the newest of a row stays

typedef enum errand_step {
    ERRAND_OWN, // here, as NEAR and ANY
    ERRAND_KNOWN,
    ERRAND_NEAR,
    ERRAND_FIND,
    ERRAND_FOUND,
    ERRAND_FILL,
    ERRAND_JOIN,
    ERRAND_ANY,
} errand_step;

typedef struct server_errands {
    server_peers* peers;
    server_watch watch;
    uint64_t number;
    uint64_t listen_us, sweep_us;
    uint64_t sweep_number; // of the newest question for streams
    uint64_t sweep_offset;
    bool was_up;
    double seats;        // of hosts that answered, a mean of the newest ones; 0: none did
    uint64_t differs_us; // since when they are not the same; 0: they are
    struct {
        uint64_t word, host;
    } rows[ROWS];
} server_errands;

// ---- who has what

static uint64_t hash_word(const server_join* join, const char* kind, const char* word) {
    char text[2 * SERVER_ROOM_WORD_BYTES + SERVER_ROOM_NAME_BYTES];
    if (!word || !word[0]) return 0;
    return base_text_format(text, sizeof text, "%s %s %s", kind, join->game, word)
               ? base_hash64_text(text) | 1
               : 0;
}

void server_errand_begin(server_errand* self, const server_join* join) {
    *self = (server_errand){
        .words = {hash_word(join, "r", join->request), hash_word(join, "p", join->party)}};
}

void server_errands_seated(server_host* host, const server_join* join) {
    server_errand errand;
    server_errand_begin(&errand, join);
    if (!host->is_in_fleet || (errand.words[0] | errand.words[1]) == 0) return;
    const uint64_t seated[] = {host->name, errand.words[0], errand.words[1]};
    host->broker->send(host->errands->peers, "shoal.seated", 0, seated, sizeof seated);
}

static void learn_seats(server_errands* self, const server_peer_message* message) {
    uint64_t seated[3];
    if (message->size != sizeof seated) return;
    memcpy(seated, message->text, sizeof seated);
    for (uint32_t i = 1; i < 3; i++) {
        self->rows[seated[i] % ROWS].word = seated[i];
        self->rows[seated[i] % ROWS].host = seated[0];
    }
}

static uint64_t find_host(const server_errands* self, const server_errand* errand) {
    for (uint32_t i = 0; i < 2; i++) {
        const uint64_t word = errand->words[i];
        if (word != 0 && self->rows[word % ROWS].word == word) return self->rows[word % ROWS].host;
    }
    return 0;
}

// Cut the first line off. @return false: there is none, or it is too long.
static bool split_head(const char** text, size_t* size, char head[24]) {
    const char* end = *size > 0 ? memchr(*text, '\n', *size) : NULL;
    if (!end || !base_text_format(head, 24, "%.*s", (int)(end - *text), *text)) return false;
    *size -= (size_t)(end + 1 - *text);
    *text = end + 1;
    return true;
}

// ---- questions

// So many seats may a host have that takes a match which is to be started; the last one asked may
// have any number, where this host has more than others.
static uint32_t choose_limit(const server_host* host, const server_errand* errand,
                             const char* game_name) {
    const server_room_game* game = server_rooms_game(host->rooms, game_name);
    const bool has_room =
        game && server_rooms_have(host->rooms, game, SERVER_REACH_ANY, net_loop_now_us());
    const uint32_t own = has_room ? server_rooms_seats(host->rooms) : UINT32_MAX;
    const double mean = host->errands->seats;
    if (mean <= 0 || own <= mean) return own;
    return errand->tries < TRIES_MAX ? (uint32_t)mean : UINT32_MAX;
}

uint64_t server_errands_ask(server_host* host, const char* subject, const void* text, size_t size) {
    server_errands* self = host->errands;
    host->broker->send(self->peers, subject, ++self->number, text, size);
    return self->number;
}

static void send_answer(server_host* host, const char* reply, const void* text, size_t size) {
    host->broker->answer(host->errands->peers, reply, text, size);
}

static void ask_hosts(server_host* host, server_errand* errand, const server_join* join,
                      const char* subject, const void* body, size_t size) {
    base_bytes* text = server_host_text(host);
    base_json_put(text, "%" PRIu32 "\n", choose_limit(host, errand, join->game));
    base_bytes_write(text, body, size);
    errand->number = server_errands_ask(host, subject, text->data, text->size);
}

bool server_errand_next(server_host* host, server_errand* self, server_join* join, const void* body,
                        size_t size, uint64_t now_us) {
    const bool has_filter = join->match || join->value_count > 0;
    if (!host->is_in_fleet || !server_rooms_is_name(join->game)) self->step = ERRAND_ANY;
    while (self->step < ERRAND_ANY) {
        const uint32_t step = self->step++;
        const uint64_t at = step == ERRAND_KNOWN ? find_host(host->errands, self) : self->found;
        char subject[SERVER_PEER_SUBJECT_BYTES] = "shoal.find";
        if (step == ERRAND_OWN || step == ERRAND_NEAR) {
            join->reach = step == ERRAND_OWN ? SERVER_REACH_OWN : SERVER_REACH_FILL;
            return false;
        }
        const bool is_skipped = step == ERRAND_FIND   ? !has_filter
                                : step == ERRAND_FILL ? has_filter
                                : step == ERRAND_JOIN ? join->match != NULL
                                                      : at == 0 || at == host->name;
        if (is_skipped) continue;
        self->tries += step == ERRAND_JOIN;
        if (step == ERRAND_KNOWN || step == ERRAND_FOUND)
            (void)base_text_format(subject, sizeof subject, "shoal.host.%016" PRIx64, at);
        else if (step != ERRAND_FIND)
            (void)base_text_format(subject, sizeof subject, "shoal.%s.%.32s",
                                   step == ERRAND_FILL ? "fill" : "join", join->game);
        self->until_us = now_us + (step == ERRAND_FIND ? SERVER_ERRAND_LIST_MS * MS : ANSWER_US);
        ask_hosts(host, self, join, subject, body, size);
        return true;
    }
    self->number = 0;
    join->reach = SERVER_REACH_ANY;
    return false;
}

void server_errand_repeat(server_errand* self) {
    self->number = 0;
    if (self->step == ERRAND_FOUND) return; // none has the match
    self->step = self->repeats++ < REPEATS_MAX ? ERRAND_OWN : ERRAND_ANY;
}

int server_errand_read(server_host* host, server_errand* self, const char** text, size_t* size) {
    char head[24];
    int status;
    uint32_t seats;
    if (!split_head(text, size, head)) return 0;
    if (self->step == ERRAND_FOUND) { // the answer to FIND
        self->found = sscanf(head, "%" SCNx64, &self->found) == 1 ? self->found : 0;
        return 0;
    }
    if (sscanf(head, "%3d %9" SCNu32, &status, &seats) != 2 || status < 200 || status > 599)
        return 0;
    const bool is_last = self->step == ERRAND_FOUND + 1; // of a match that has a host
    const bool is_join = self->step == ERRAND_JOIN + 1;
    double* mean = &host->errands->seats;
    if (is_join) *mean += *mean > 0 ? (seats - *mean) / 8 : seats;
    if (is_join && status != 200 && self->tries < TRIES_MAX) self->step = ERRAND_JOIN;
    json_t* json = json_loadb(*text, *size, 0, NULL);
    const bool is_answer = json_is_object(json) && (status == 200 || (is_last && self->found != 0));
    json_decref(json);
    return is_answer ? status : 0;
}

void server_errands_answer_join(server_host* host, const char* reply, int status, const void* bytes,
                                size_t size) {
    base_bytes text;
    base_bytes_init(&text, NULL);
    base_json_put(&text, "%d %" PRIu32 "\n", status, server_rooms_seats(host->rooms));
    base_bytes_write(&text, bytes, size);
    send_answer(host, reply, text.data, text.size);
    base_bytes_deinit(&text);
}

// ---- streams that are over

// The broker dropped all that a stream had, because it is old. A server that lives writes each
// second, so this one is gone, and nothing is left to follow.
static void sweep_streams(server_host* host, const server_peer_message* message) {
    server_errands* self = host->errands;
    const time_t old = time(NULL) - 10;
    struct tm utc;
    char before[32], subject[SERVER_PEER_SUBJECT_BYTES];
    json_t* json = json_loadb(message->text, message->size, 0, NULL);
    const json_t* streams = json_object_get(json, "streams");
    (void)strftime(before, sizeof before, "%Y-%m-%dT%H:%M:%S", gmtime_r(&old, &utc));
    for (size_t i = 0; i < json_array_size(streams); i++) {
        const char *name, *newest;
        json_int_t messages, last;
        if (json_unpack(json_array_get(streams, i), "{s:{s:s} s:{s:I s:I s:s}}", "config", "name",
                        &name, "state", "messages", &messages, "last_seq", &last, "last_ts",
                        &newest) != 0 ||
            strncmp(name, "SHOAL_", 6) != 0 || strspn(name + 6, "0123456789abcdef") != 16 ||
            name[22] != '\0' || messages != 0 || last == 0 || strncmp(newest, before, 19) >= 0)
            continue;
        (void)base_text_format(subject, sizeof subject, "$JS.API.STREAM.DELETE.%s", name);
        host->broker->send(self->peers, subject, 0, "", 0);
    }
    self->sweep_offset += json_array_size(streams);
    if (json_array_size(streams) == 0 ||
        self->sweep_offset >= (uint64_t)json_integer_value(json_object_get(json, "total")))
        self->sweep_offset = 0;
    json_decref(json);
}

// ---- what comes

// @return the body of the question; its texts are borrowed by the join. NULL: it has another form.
static json_t* read_question(const char* text, size_t size, uint32_t* seats, server_join* join) {
    uint64_t number = 0;
    char head[24];
    if (!split_head(&text, &size, head) || !base_text_parse_u64(head, &number)) return NULL;
    json_t* json = json_loadb(text, size, JSON_REJECT_DUPLICATES, NULL);
    *seats = number < UINT32_MAX ? (uint32_t)number : UINT32_MAX;
    if (json && !server_join_read(json, join)) return json;
    json_decref(json);
    return NULL;
}

static void answer_question(server_host* host, const server_peer_message* message,
                            server_reach reach, bool is_find) {
    server_join join = {.reach = reach};
    uint32_t seats;
    char answer[24];
    json_t* json = read_question(message->text, message->size, &seats, &join);
    if (is_find) { // whether a match that fits is here
        (void)base_text_format(answer, sizeof answer, "%" PRIx64 "\n", host->name);
        if (json && server_rooms_look(host->rooms, &join))
            send_answer(host, message->reply, answer, strlen(answer));
    } else if (!json || host->is_ending || !message->reply[0] ||
               (reach == SERVER_REACH_ANY && server_rooms_seats(host->rooms) > seats)) {
        server_errands_answer_join(host, message->reply, 421, "", 0);
    } else {
        server_door_asked(host, message->reply, &join);
    }
    json_decref(json);
}

static void answer_list(server_host* host, const char* reply) {
    enum { PIECE = 200000 }; // below what a broker takes
    base_bytes* json = server_host_text(host);
    base_json_write(json, "[");
    for (uint32_t i = 0; i < host->rooms->count; i++) {
        if (server_forms_show(host->rooms->rooms[i]))
            server_forms_put_room(json, host->rooms->rooms[i], false, host->page);
        if (json->size < PIECE && i + 1 < host->rooms->count) continue;
        base_json_write(json, "]");
        send_answer(host, reply, json->data, json->size);
        base_bytes_clear(json);
        base_json_write(json, "[");
    }
}

static void handle_message(server_host* host, const server_peer_message* message) {
    server_errands* self = host->errands;
    const char* word = strchr(message->subject, '.');
    if (!word && message->number == self->sweep_number)
        sweep_streams(host, message);
    else if (!word && server_standbys_answered(host, message))
        return;
    else if (!word)
        server_door_answered(host, message->number, message->is_nobody ? NULL : message->text,
                             message->size);
    else if (strcmp(word, ".seated") == 0)
        learn_seats(self, message);
    else if (strncmp(word, ".standby.", 9) == 0) {
        if (server_standbys_asked(host, message->text, message->size))
            send_answer(host, message->reply, host->text.data, host->text.size);
    } else if (strcmp(word, ".list") == 0)
        answer_list(host, message->reply);
    else
        answer_question(host, message,
                        strncmp(word, ".join.", 6) == 0 ? SERVER_REACH_ANY : SERVER_REACH_FILL,
                        strcmp(word, ".find") == 0);
}

static void listen_to_games(server_host* host, uint64_t now_us) {
    static const char* const kinds[] = {"join", "fill", "standby"};
    char subject[SERVER_PEER_SUBJECT_BYTES];
    for (uint32_t i = 0; i < host->rooms->game_count; i++) {
        const server_room_game* game = &host->rooms->games[i];
        for (uint32_t k = 0; k < BASE_COUNT(kinds); k++) {
            const server_reach reach = k == 1 ? SERVER_REACH_FILL : SERVER_REACH_ANY;
            const bool is_wanted = !host->is_ending && (k < 2 || host->conf.standbys > 0) &&
                                   server_rooms_have(host->rooms, game, reach, now_us);
            (void)base_text_format(subject, sizeof subject, "shoal.%s.%s", kinds[k], game->name);
            host->broker->listen(host->errands->peers, subject, true, is_wanted);
        }
    }
}

static void say_connection(server_host* host, uint64_t now_us) {
    server_errands* self = host->errands;
    const bool is_up = host->is_in_fleet;
    if (self->differs_us == 0 || is_up == self->was_up) self->differs_us = now_us;
    if (is_up == self->was_up || (!is_up && now_us - self->differs_us < PATIENCE_US)) return;
    self->was_up = is_up;
    base_report(&host->reporter, NULL, 0,
                is_up ? "note: the fleet's broker is back"
                      : "warning: the fleet's broker is away: this host seats players alone");
}

void server_errands_pass(server_host* host, uint64_t now_us) {
    server_errands* self = host->errands;
    server_peer_message message;
    if (!self) return;
    if (now_us >= self->listen_us) {
        self->listen_us = now_us + LISTEN_US;
        listen_to_games(host, now_us);
    }
    host->is_in_fleet = host->broker->pass(self->peers);
    say_connection(host, now_us);
    if (host->is_in_fleet && now_us >= self->sweep_us) {
        base_bytes* text = server_host_text(host);
        base_json_write(text, "{offset=%ju}", self->sweep_offset);
        self->sweep_us = now_us + SWEEP_US;
        self->sweep_number =
            server_errands_ask(host, "$JS.API.STREAM.LIST", text->data, text->size);
    }
    for (uint32_t i = 0; i < MESSAGES_MAX && host->broker->next(self->peers, &message); i++)
        handle_message(host, &message);
    server_standbys_pass(host, now_us);
}

static void peers_ready(void* owner, uint32_t events) {
    (void)events;
    server_errands_pass(owner, net_loop_now_us());
}

// ---- life

static bool choose_page(server_host* host) {
    char address[NET_ADDRESS_TEXT_BYTES];
    const server_conf* conf = &host->conf;
    if (conf->fleet_page) return base_text_copy(host->page, sizeof host->page, conf->fleet_page);
    (void)net_address_print(&host->bound, address, sizeof address);
    return base_text_format(host->page, sizeof host->page, "http://%s%s",
                            conf->public_name ? conf->public_name : "",
                            conf->public_name ? strrchr(address, ':') : address) &&
           (conf->public_name || !net_address_is_wildcard(&host->bound));
}

// A name is looked up here alone, since that waits.
static bool find_own_address(server_host* host) {
    char text[SERVER_HOST_BYTES_MAX + NET_ADDRESS_TEXT_BYTES];
    const char *listen = host->conf.listen, *end = strchr(listen, ']');
    server_room room = {.host = host};
    (void)base_text_format(room.address, sizeof room.address, "%.*s:1",
                           (int)(end ? (size_t)(end + 1 - listen) : strcspn(listen, ":")), listen);
    memcpy(host->asked, host->page, sizeof host->asked);
    server_room_print_address(&room, text, sizeof text);
    return net_address_resolve_one(NULL, text, &host->own) == NET_OK ||
           base_report(&host->reporter, host->conf_file, 0,
                       "standbys: players would not reach them: %.*s is not found",
                       (int)strlen(text) - 2, text);
}

int server_errands_open(server_host* host) {
    char subject[SERVER_PEER_SUBJECT_BYTES];
    if (!host->conf.fleet) return NET_EXIT_CLEAN;
    server_errands* self = host->errands = base_allocate_zero(&host->owner.allocator, sizeof *self);
    if (!choose_page(host) || server_gate_origin(host->page) == 0)
        return net_exit_report(NET_EXIT_USAGE, &host->reporter, host->conf_file,
                               "fleet: add ,page=http://NAME[:PORT]: where players reach this "
                               "host's HTTP");
    if (!host->broker) host->broker = ROOMS_BROKER;
    if (!host->broker)
        return net_exit_report(NET_EXIT_USAGE, &host->reporter, host->conf_file,
                               "fleet: this program was built without libnats-dev");
    self->peers = host->broker->create(host->conf.fleet, &host->reporter);
    if (!self->peers) return NET_EXIT_USAGE;
    net_entropy_system()->fill(NULL, &host->name, sizeof host->name);
    host->name |= 1;
    (void)base_text_format(subject, sizeof subject, "shoal.host.%016" PRIx64, host->name);
    host->broker->listen(self->peers, subject, false, true);
    if (host->conf.standbys > 0 && !find_own_address(host)) return NET_EXIT_USAGE;
    if (host->conf.standbys > 0) {
        (void)base_text_format(subject, sizeof subject, "shoal.standby.host.%016" PRIx64,
                               host->name);
        host->broker->listen(self->peers, subject, false, true);
    }
    host->broker->listen(self->peers, "shoal.seated", false, true);
    host->broker->listen(self->peers, "shoal.find", false, true);
    host->broker->listen(self->peers, "shoal.list", false, true);
    self->watch = (server_watch){host->broker->descriptor(self->peers), peers_ready, host};
    server_host_watch(host, &self->watch, EPOLLIN);
    self->was_up = true;
    return NET_EXIT_CLEAN;
}

void server_errands_close(server_host* host) {
    if (!host->errands) return;
    if (host->errands->peers) host->broker->destroy(host->errands->peers);
    base_release(&host->owner.allocator, host->errands, sizeof *host->errands);
    host->errands = NULL;
}
