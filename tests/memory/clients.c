// SPDX-License-Identifier: MIT
// clients: what a client of arena takes, counted by allocator, in virtual time.
//
//   memory_clients ARENA.blk [--full N] [--thin N] [--seconds S] [--loss P] [--delay MS]
//       [--solo]
//
// Each client has an allocator of its own for its match and its session; transports are not
// counted. The most bytes that any of them ever held must stay below the limit of its kind. So must
// the bytes of the server for each of them, beyond those that it held for its match alone.
#include "scarce.h"
#include "text_file.h"

#include "tool_options.h"
#include "ecs/ecs.h"
#include "net/client.h"
#include "net/transport.h"
#include "net/match.h"
#include "net/server.h"
#include "net/solo.h"

#include <inttypes.h>

#define TICK_RATE_HZ 30u
#define TICK_US 33333u
#define CLIENTS_MAX 512u       ///< of each kind
#define SOLO_BYTES_MAX 1258291 ///< more of any client that reads solo code
#define EMPTY_TICKS 60u        ///< until all that moves has its history

// Bytes; `each`: for each client of the match, since all see each other.
typedef struct allowance {
    int64_t alone, each;
} allowance;
static const allowance FULL_MAX = {835584, 680}; // of a client with a world: 1.1 MB with 400
static const allowance THIN_MAX = {540672, 640}; // of a client that keeps rows alone
static const allowance SEAT_MAX = {49152, 66};   // of the server, for each client

const net_game_module* arena_module(void);

typedef struct member {
    scarce_memory bytes;
    net_match* match; // NULL: it is thin
    net_transport* transport;
    net_client* client;
} member;

typedef struct room {
    uint64_t full, thin, seconds, seed;
    double loss_percent, delay_ms;
    bool is_solo;
    scarce_memory bytes; // of the server and its match
    int64_t bytes_empty; // without clients
    net_module* module;
    net_match *match, *like; // `like`: its schema is that of all clients
    net_sim* sim;
    net_transport* transport;
    net_server* server;
    member members[2 * CLIENTS_MAX];
    uint64_t now_us;
} room;

static bool open_server(room* self, const char* blk) {
    base_reporter reporter = base_reporter_stderr();
    char* text = text_file_read(blk);
    if (!text) return false;
    net_result result =
        net_module_wrap(arena_module(), text, "arena.blk", &reporter, &self->module);
    free(text);
    if (result != NET_OK) return false;
    scarce_init(&self->bytes);
    net_match_config config = net_match_config_default(self->module);
    config.allocator = &self->bytes.allocator;
    config.role = NET_ROLE_SERVER;
    config.seed = self->seed;
    config.tick_rate_hz = TICK_RATE_HZ;
    if (net_match_create(&config, &reporter, &self->match) != NET_OK) return false;
    config.allocator = NULL;
    config.role = NET_ROLE_MIRROR;
    if (net_match_create(&config, &reporter, &self->like) != NET_OK) return false;
    self->sim = net_sim_create(NULL, self->seed);
    const uint32_t clients = (uint32_t)(self->full + self->thin);
    if (net_sim_server(self->sim, clients + 2, &self->transport) != NET_OK) return false;
    const net_server_config server = {.allocator = &self->bytes.allocator,
                                      .match = self->match,
                                      .transport = self->transport,
                                      .clients_max = clients,
                                      .solo = &net_solo_part,
                                      .coder = self->is_solo ? NET_CODER_SOLO : NET_CODER_SHARED};
    return net_server_create(&server, &self->server) == NET_OK;
}

static bool open_member(room* self, uint32_t index) {
    member* one = &self->members[index];
    base_reporter reporter = base_reporter_stderr();
    scarce_init(&one->bytes);
    const bool is_thin = index >= self->full;
    net_match_config config = net_match_config_default(self->module);
    config.allocator = &one->bytes.allocator;
    config.role = NET_ROLE_MIRROR;
    config.tick_rate_hz = TICK_RATE_HZ;
    config.like = self->like;
    if (!is_thin && net_match_create(&config, &reporter, &one->match) != NET_OK) return false;
    const net_link_config link = {.loss_percent = self->loss_percent,
                                  .delay_ms = self->delay_ms,
                                  .jitter_ms = self->delay_ms / 10,
                                  .seed = self->seed * 10 + index};
    one->transport = net_sim_client(self->sim, &link);
    const net_client_config client = {
        .allocator = &one->bytes.allocator,
        .match = is_thin ? self->like : one->match,
        .is_thin = is_thin,
        .transport = one->transport,
        .address = "sim",
        .name = "bot",
        .solo = &net_solo_part,
        .is_bot = true,
        .seed = self->seed + index,
    };
    one->client = net_client_create(&client);
    return true;
}

static void close_all(room* self) {
    for (uint32_t i = 0; i < 2 * CLIENTS_MAX; i++) {
        member* one = &self->members[i];
        if (one->client) net_client_destroy(one->client);
        if (one->transport) one->transport->ops->destroy(one->transport);
        if (one->match) net_match_destroy(one->match);
        BASE_ASSERT(one->bytes.bytes == 0);
    }
    if (self->server) net_server_destroy(self->server);
    if (self->transport) self->transport->ops->destroy(self->transport);
    if (self->sim) net_sim_destroy(self->sim);
    if (self->like) net_match_destroy(self->like);
    if (self->match) net_match_destroy(self->match);
    if (self->module) net_module_close(self->module);
}

static void step_server(room* self) {
    self->now_us += TICK_US;
    net_server_service(self->server, self->now_us);
    net_server_tick(self->server, self->now_us);
}

static void step(room* self) {
    step_server(self);
    for (uint32_t i = 0; i < self->full + self->thin; i++) {
        net_client* client = self->members[i].client;
        net_client_service(client, self->now_us);
        if (net_client_get_phase(client) == NET_CLIENT_PLAYING &&
            self->now_us >= net_client_next_tick_us(client))
            net_client_tick(client, self->now_us);
    }
}

static int64_t limit_of(const room* self, allowance of) {
    return of.alone + of.each * (int64_t)(self->full + self->thin) +
           (self->is_solo ? SOLO_BYTES_MAX : 0);
}

// Print the clients of one kind. @return false: one of them held too much, or nothing came.
static bool check(room* self, const char* kind, uint32_t first, uint32_t end, int64_t limit) {
    int64_t sum = 0, most = 0;
    uint64_t entities = 0, updates = 0;
    for (uint32_t i = first; i < end; i++) {
        const scarce_memory* bytes = &self->members[i].bytes;
        net_client_report report = net_client_get_report(self->members[i].client);
        sum += bytes->bytes;
        entities += report.scope.entities;
        updates += report.updates;
        if (bytes->bytes_peak > most) most = bytes->bytes_peak;
    }
    if (end == first) return true;
    const uint32_t count = end - first;
    printf("%s clients=%" PRIu32 " entities=%" PRIu64 " updates=%" PRIu64 " bytes=%" PRId64
           " bytes_max=%" PRId64 "\n",
           kind, count, entities / count, updates / count, sum / count, most);
    if (most > limit) printf("FAILED: a client holds more than %" PRId64 " bytes\n", limit);
    if (updates == 0) printf("FAILED: nothing came\n");
    return most <= limit && updates > 0;
}

static bool check_server(const room* self) {
    const int64_t clients = (int64_t)(self->full + self->thin);
    const int64_t each = (self->bytes.bytes - self->bytes_empty) / (clients ? clients : 1);
    printf("server bytes_empty=%" PRId64 " bytes_each=%" PRId64 "\n", self->bytes_empty, each);
    const int64_t limit = limit_of(self, SEAT_MAX);
    if (each > limit) printf("FAILED: more than %" PRId64 " bytes for each client\n", limit);
    return each <= limit;
}

#define FIELD(name) BASE_OPTION_FIELD(room, name)

int main(int argc, char** argv) {
    static room self = {
        .full = 4, .thin = 20, .seconds = 10, .loss_percent = 2, .delay_ms = 50, .seed = 1};
    const base_option table[] = {
        {"full", FIELD(full), "N", "clients with a world", 0, CLIENTS_MAX},
        {"thin", FIELD(thin), "N", "clients without", 0, CLIENTS_MAX},
        {"seconds", FIELD(seconds), "S", "of the match", 1, 36000},
        {"loss", FIELD(loss_percent), "P", "percent, each way", 0, 0},
        {"delay", FIELD(delay_ms), "MS", "each way", 0, 0},
        {"solo", FIELD(is_solo), NULL, "code the packets of each client solo", 0, 0},
        {"seed", FIELD(seed), "N", "of match, network and bots", 0, 0},
    };
    base_option_list words = {0};
    const tool about = {"memory_clients", "ARENA.blk [options]",
                        "Bytes of the clients of a match, in virtual time."};
    const int code = tool_options_read(about, table, &self, argc, argv, &words);
    if (code >= 0) return code;
    if (words.count != 1) return 2;
    const uint32_t full = (uint32_t)self.full, all = (uint32_t)(self.full + self.thin);
    bool is_right = open_server(&self, words.values[0]);
    for (uint32_t tick = 0; is_right && tick < EMPTY_TICKS; tick++)
        step_server(&self);
    self.bytes_empty = self.bytes.bytes;
    for (uint32_t i = 0; is_right && i < all; i++)
        is_right = open_member(&self, i);
    for (uint64_t tick = 0; is_right && tick < self.seconds * TICK_RATE_HZ; tick++)
        step(&self);
    if (is_right) {
        is_right = check(&self, "full", 0, full, limit_of(&self, FULL_MAX));
        is_right = check(&self, "thin", full, all, limit_of(&self, THIN_MAX)) && is_right;
        is_right = check_server(&self) && is_right;
    }
    close_all(&self);
    return is_right ? 0 : 1;
}
