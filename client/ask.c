// SPDX-License-Identifier: MIT
// Questions to the servers of a list.
//
// A question is a client without a match, as shoal-client uses to find out which game to load: the
// refusal has the name of the game, and an Info message before it the players. So a client that may
// not join a server learns nothing here either.
//
// The loop must not wait for a name server. A thread looks all names up, one after the other, and
// leaves a text with a number for each. It shares a block with the questions; who ends last frees
// it, so that nothing waits for the thread.
#include "ask.h"

#include "base/assert.h"
#include "base/shown.h"
#include "base/text.h"
#include "net/token.h"
#include "host/output.h"

#include <inttypes.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>

#define LIST_MS_MAX 15000u ///< then --list says what it knows
#define SERVICE_US 10000u

typedef enum lookup_state { LOOKUP_WAITS, LOOKUP_FOUND, LOOKUP_FAILED } lookup_state;

typedef struct lookup {
    atomic_int users;
    atomic_bool is_over;
    uint32_t count;
    atomic_int states[CLIENT_SERVERS_MAX]; ///< lookup_state; what follows is written before it
    char names[CLIENT_SERVERS_MAX][CLIENT_SERVER_ADDRESS_BYTES];
    char found[CLIENT_SERVERS_MAX][NET_ADDRESS_TEXT_BYTES];
} lookup;

typedef struct question {
    client_answer answer;
    net_transport* transport; ///< NULL: it is not asked now
    net_client* client;
    uint64_t next_us; ///< when it is asked
    bool is_known;    ///< it answered or failed once
} question;

struct client_ask {
    client_program* program;
    const client_servers* servers;
    lookup* lookup;
    uint32_t asked_count, next; ///< now; the one to look at first
    question questions[CLIENT_SERVERS_MAX];
};

// ---- names

static void leave_lookup(lookup* shared) {
    if (atomic_fetch_sub(&shared->users, 1) == 1) base_release(NULL, shared, sizeof *shared);
}

static bool find_name(lookup* shared, uint32_t index) {
    net_address address;
    return net_address_resolve_one(NULL, shared->names[index], &address) == NET_OK &&
           net_address_print(&address, shared->found[index], sizeof shared->found[index]);
}

static void* look_up(void* context) {
    lookup* shared = context;
    for (uint32_t i = 0; i < shared->count && !atomic_load(&shared->is_over); i++)
        if (atomic_load(&shared->states[i]) == LOOKUP_WAITS)
            atomic_store(&shared->states[i], find_name(shared, i) ? LOOKUP_FOUND : LOOKUP_FAILED);
    leave_lookup(shared);
    return NULL;
}

// Numbers need no thread.
static lookup* begin_lookup(const client_servers* servers) {
    lookup* shared = base_allocate_zero(NULL, sizeof *shared);
    bool has_names = false;
    atomic_init(&shared->users, 1);
    shared->count = servers->count;
    for (uint32_t i = 0; i < servers->count; i++) {
        const char* text = servers->entries[i].address;
        net_address address;
        (void)base_text_copy(shared->names[i], sizeof shared->names[i], text);
        const bool is_number = net_address_parse(text, &address) == NET_OK && find_name(shared, i);
        atomic_init(&shared->states[i], is_number ? LOOKUP_FOUND : LOOKUP_WAITS);
        has_names |= !is_number;
    }
    pthread_t thread;
    if (!has_names) return shared;
    atomic_fetch_add(&shared->users, 1);
    if (pthread_create(&thread, NULL, look_up, shared) == 0)
        pthread_detach(thread);
    else
        (void)look_up(shared); // slower: the list appears later
    return shared;
}

// ---- questions

client_ask* client_ask_create(client_program* program, const client_servers* servers) {
    BASE_ASSERT(servers->count <= CLIENT_SERVERS_MAX);
    client_ask* made = base_allocate_zero(NULL, sizeof *made);
    made->program = program;
    made->servers = servers;
    made->lookup = begin_lookup(servers);
    return made;
}

static void close_question(client_ask* ask, question* one) {
    if (!one->transport) return;
    net_client_destroy(one->client);
    one->transport->ops->destroy(one->transport);
    one->client = NULL;
    one->transport = NULL;
    ask->asked_count--;
}

void client_ask_destroy(client_ask* ask) {
    if (!ask) return;
    for (uint32_t i = 0; i < ask->servers->count; i++)
        close_question(ask, &ask->questions[i]);
    atomic_store(&ask->lookup->is_over, true);
    leave_lookup(ask->lookup);
    ask->program->loop.socket_count = 0;
    base_release(NULL, ask, sizeof *ask);
}

static void fail_question(question* one, uint64_t now_us, const char* why) {
    one->answer.has_answer = false;
    one->is_known = true;
    one->next_us = now_us + CLIENT_ASK_EVERY_MS * UINT64_C(1000);
    (void)base_text_copy(one->answer.why, sizeof one->answer.why, why);
}

static void begin_question(client_ask* ask, uint32_t index, uint64_t now_us) {
    question* one = &ask->questions[index];
    switch ((lookup_state)atomic_load(&ask->lookup->states[index])) {
    case LOOKUP_WAITS:
        return;
    case LOOKUP_FAILED:
        fail_question(one, now_us, "no such host");
        one->next_us = UINT64_MAX;
        return;
    case LOOKUP_FOUND:
        break;
    }
    net_result result = client_program_open_transport(ask->program, 0, &one->transport);
    if (result != NET_OK) {
        fail_question(one, now_us, net_result_text(result));
        return;
    }
    ask->asked_count++;
    const net_client_config config = {.transport = one->transport,
                                      .address = ask->lookup->found[index]};
    one->client = net_client_create(&config);
}

// The session of a question is over.
static void finish(client_ask* ask, question* one, uint64_t now_us) {
    const net_client* client = one->client;
    client_answer* answer = &one->answer;
    char why[sizeof answer->why];
    (void)net_client_refusal(client, why, sizeof why);
    const char* game = net_client_refusal_game(client);
    if (net_client_server_info(client, &answer->info) && net_module_name_is_valid(game)) {
        answer->has_answer = one->is_known = true;
        answer->why[0] = '\0';
        (void)base_text_copy(answer->game, sizeof answer->game, game);
        one->next_us = now_us + CLIENT_ASK_EVERY_MS * UINT64_C(1000);
    } else {
        fail_question(one, now_us, why[0] ? why : "no server answers");
    }
    close_question(ask, one);
}

void client_ask_service(client_ask* ask, uint64_t now_us) {
    const uint32_t count = ask->servers->count;
    for (uint32_t i = 0; i < count; i++) {
        question* one = &ask->questions[i];
        if (!one->client) continue;
        net_client_service(one->client, now_us);
        if (net_client_get_phase(one->client) == NET_CLIENT_ENDED) finish(ask, one, now_us);
    }
    // In turn, so that those without an answer do not keep others waiting.
    for (uint32_t i = 0; i < count && ask->asked_count < CLIENT_ASKS_MAX; i++) {
        const uint32_t index = (ask->next + i) % count;
        question* one = &ask->questions[index];
        if (one->transport || now_us < one->next_us) continue;
        begin_question(ask, index, now_us);
        if (one->transport) ask->next = index + 1;
    }
    ask->program->loop.socket_count = 0;
    for (uint32_t i = 0; i < count; i++)
        if (ask->questions[i].transport)
            client_program_gather(&ask->program->loop, ask->questions[i].transport);
}

const client_answer* client_ask_get(const client_ask* ask, uint32_t index) {
    BASE_ASSERT(index < ask->servers->count);
    return &ask->questions[index].answer;
}

bool client_ask_is_done(const client_ask* ask) {
    for (uint32_t i = 0; i < ask->servers->count; i++)
        if (!ask->questions[i].is_known) return false;
    return true;
}

// ---- the list in a terminal

bool client_ask_read(client_program* program, client_servers* servers) {
    char place[CLIENT_SERVERS_PATH_BYTES_MAX];
    const char* file = program->config.servers;
    if (!file && !client_place("servers", place, sizeof place))
        return base_report(&program->reporter, NULL, 0,
                           "no list of servers: neither HOME nor XDG_CONFIG_HOME says where it is "
                           "(use --servers FILE)");
    if (!client_servers_read(file ? file : place, &program->reporter, servers)) return false;
    if (servers->count > 0) return true;
    return base_report(&program->reporter, file ? file : place, 0,
                       "the list is empty: write a name and an address a line");
}

static void print_answer(const client_server* server, const client_answer* answer) {
    char name[BASE_SHOWN_QUOTED_BYTES(CLIENT_SERVER_NAME_BYTES)];
    char why[BASE_SHOWN_QUOTED_BYTES(sizeof answer->why)];
    printf("server name=%s address=%s", base_shown_quote(name, sizeof name, server->name),
           server->address);
    if (answer->has_answer)
        printf(" game=%s players=%" PRIu32 " players_max=%" PRIu32 " spectators=%" PRIu32
               " spectators_max=%" PRIu32 " ping_ms=%.1f\n",
               answer->game, answer->info.players, answer->info.players_max,
               answer->info.spectators, answer->info.spectators_max, answer->info.ping_ms);
    else
        printf(" error=%s\n", base_shown_quote(why, sizeof why,
                                               answer->why[0] ? answer->why : "no answer in time"));
}

int client_ask_list(client_program* program) {
    client_servers servers;
    if (!client_ask_read(program, &servers)) return NET_EXIT_USAGE;
    client_ask* ask = client_ask_create(program, &servers);
    const uint64_t end_us = net_loop_now_us() + LIST_MS_MAX * UINT64_C(1000);
    uint64_t now_us = net_loop_now_us();
    for (; now_us < end_us && !client_ask_is_done(ask); now_us = net_loop_now_us()) {
        client_ask_service(ask, now_us);
        if (net_loop_wait(&program->loop, now_us + SERVICE_US)) break;
    }
    int code = NET_EXIT_CONNECT;
    for (uint32_t i = 0; i < servers.count; i++) {
        print_answer(&servers.entries[i], client_ask_get(ask, i));
        if (client_ask_get(ask, i)->has_answer) code = NET_EXIT_CLEAN;
    }
    client_ask_destroy(ask);
    return code;
}
