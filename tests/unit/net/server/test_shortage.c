// SPDX-License-Identifier: MIT
// Memory runs out at the k-th allocation, for every k: while a match starts, clients join, play,
// resume and leave, and everything is shut down. Each time the process ends with a report and exit
// code 1.
//
// The default run takes a sample of k; SHOAL_TEST_SCALE=10 takes all. To repeat one:
// test_shortage PART K
#define TABLE_SEATS 3u
#include "session_table.h"

#include <enet/enet.h>
#include <sys/wait.h>

enum {
    TICKS = 360,
    SECOND_JOINS = 20, // and has an outage until it resumes
    OUTAGE_AT_MS = 1600,
    OUTAGE_MS = 3500,
    FIRST_LEAVES = 60,
    THIRD_JOINS = 62,
    STOP = 330,
    SAMPLE = 40, // of k, in a default run
    FULL_SCALE = 10,
    LOG_RING_BYTES = 1 << 20,
};

// PART_WIRE plays over ENet on the virtual wire: its memory is that of ENet and of the transports.
typedef enum shortage_part { PART_SERVER, PART_CLIENT, PART_WIRE, PART_COUNT } shortage_part;
static const char* const part_names[PART_COUNT] = {"server", "client", "wire"};

static scarce_memory memories[PART_COUNT]; // that of the server is the table's own

static scarce_memory* memory_of(table* at, shortage_part part) {
    return part == PART_SERVER ? &at->memory : &memories[part];
}

static char log_file[64];

static int sync_nothing(void* context, int fd) {
    (void)context, (void)fd;
    return 0;
}

static net_result open_log(table* at) {
    const net_log_options options = {
        .waiting_bytes = LOG_RING_BYTES, .is_manual = true, .ops.sync = sync_nothing};
    return net_log_writer_create(&at->memory.allocator, log_file, &options, at->match, "test", 1,
                                 NULL, &at->log);
}

static net_result open_server(table* at) {
    net_match_config match = net_match_config_default(at->module);
    match.allocator = &at->memory.allocator;
    match.seed = 7;
    net_result result = net_match_create(&match, NULL, &at->match);
    if (result == NET_OK) result = open_log(at);
    return result == NET_OK ? table_listen(at, TABLE_ADDRESS) : result;
}

// ENet gives a block back without its size, so that is kept in front of it.
enum { SIZE_BYTES = 16 };

static void* ENET_CALLBACK wire_allocate(size_t size) {
    uint8_t* block = base_allocate(&memories[PART_WIRE].allocator, size + SIZE_BYTES);
    errno = block ? errno : ENOMEM;
    if (!block) return NULL;
    memcpy(block, &size, sizeof size);
    return block + SIZE_BYTES;
}

static void ENET_CALLBACK wire_release(void* memory) {
    if (!memory) return;
    size_t size;
    uint8_t* block = (uint8_t*)memory - SIZE_BYTES;
    memcpy(&size, block, sizeof size);
    base_release(&memories[PART_WIRE].allocator, block, size + SIZE_BYTES);
}

static void open_seat(table* at, uint32_t index) {
    table_seat* seat = &at->seats[index];
    net_link_config link = {.delay_ms = 5, .loss_percent = 2};
    if (index == 1) {
        link.outage_at_ms = OUTAGE_AT_MS;
        link.outage_for_ms = OUTAGE_MS;
    }
    net_client_config client = table_client(at, "member");
    client.allocator = &memories[PART_CLIENT].allocator;
    if (table_line(at, seat, &link) == NET_OK) (void)seat_meet(seat, at->module, client);
}

static void play_match(table* at) {
    at->seat_count = TABLE_SEATS;
    open_seat(at, 0);
    for (int tick = 0; tick < TICKS && !table_is_over(at); tick++) {
        if (tick == SECOND_JOINS) open_seat(at, 1);
        if (tick == THIRD_JOINS) open_seat(at, 2);
        if (tick == FIRST_LEAVES && at->seats[0].client)
            net_client_leave(at->seats[0].client, at->now_us);
        if (tick == STOP) net_server_stop(at->server, at->now_us);
        table_step(at);
        if (net_server_get_phase(at->server) == NET_SERVER_ENDED) break;
    }
    net_server_stop(at->server, at->now_us);
    table_run_out(at, 200);
    for (uint32_t i = 0; i < TABLE_SEATS && !table_is_over(at); i++)
        if (at->seats[i].client) net_client_leave(at->seats[i].client, at->now_us);
    table_run_out(at, 200);
    assert_true(table_is_over(at));
    assert_false(net_server_has_failed(at->server));
}

// Whatever happened, the log is whole up to its last tick.
static void check_log(void) {
    net_log_reader* reader = files_reader(log_file);
    assert_int_equal(net_log_reader_info(reader)->lost_bytes, 0);
    net_log_reader_destroy(reader);
    unlink(log_file);
}

// @return the calls that the part made.
static uint64_t play(shortage_part part, uint64_t fail_at) {
    static table at;
    static swarm_wild wild;
    for (int i = 0; i < PART_COUNT; i++)
        scarce_init(&memories[i], 0, true);
    (void)swarm_wild_make(&wild, SWARM_RADIUS | SWARM_OWNER);
    wild.module.is_rewinding = true;
    table_prepare(&at, (table_config){.seed = 7,
                                      .game = &wild.module,
                                      .templates = swarm_wild_templates(),
                                      .is_enet = part == PART_WIRE,
                                      .wire = &memories[PART_WIRE].allocator,
                                      .has_accounts = true,
                                      .has_no_solo = true});
    scarce_init(memory_of(&at, part), fail_at, true);
    assert_ok(open_server(&at));
    play_match(&at);
    table_close(&at);
    check_log();
    for (int i = 0; i < PART_COUNT; i++)
        assert_int_equal(memories[i].bytes, 0);
    return memory_of(&at, part)->calls;
}

// The report of a child that lacks memory in call `k`, and its exit code.
static void end_at(shortage_part part, uint64_t k) {
    int out[2], status = 0;
    char text[64] = "";
    assert_int_equal(pipe(out), 0);
    const pid_t child = fork();
    if (child == 0) {
        dup2(out[1], STDERR_FILENO);
        base_memory_handler_set(NULL, NULL);
        (void)play(part, k);
        _exit(0);
    }
    close(out[1]);
    const ssize_t got = read(out[0], text, sizeof text - 1);
    close(out[0]);
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFEXITED(status) && WEXITSTATUS(status) == 1);
    assert_true(got > 0 && strncmp(text, "out of memory: ", 15) == 0);
    unlink(log_file);
}

static void sweep(shortage_part part) {
    uint64_t calls = play(part, 0);
    uint32_t count = test_scaled(SAMPLE, 12);
    uint64_t stride = count >= calls || count >= FULL_SCALE * SAMPLE ? 1 : calls / count;
    print_message("%s: %llu allocations, every %llu. fails\n", part_names[part],
                  (unsigned long long)calls, (unsigned long long)stride);
    for (uint64_t k = 1; k <= calls; k += stride)
        end_at(part, k);
}

CASE(a_server_without_memory_ends_with_a_report) {
    sweep(PART_SERVER);
}

CASE(a_client_without_memory_ends_with_a_report) {
    sweep(PART_CLIENT);
}

CASE(a_wire_without_memory_ends_with_a_report) {
    sweep(PART_WIRE);
}

int main(int argc, char** argv) {
    const ENetCallbacks callbacks = {.malloc = wire_allocate, .free = wire_release};
    assert_int_equal(enet_initialize_with_callbacks(ENET_VERSION, &callbacks), 0);
    snprintf(log_file, sizeof log_file, "/tmp/shoal-shortage-%d.slog", (int)getpid());
    if (argc == 3) {
        shortage_part part = PART_SERVER;
        while (part < PART_WIRE && strcmp(argv[1], part_names[part]) != 0)
            part++;
        (void)play(part, strtoull(argv[2], NULL, 10));
        return 0;
    }
    return test_run();
}
