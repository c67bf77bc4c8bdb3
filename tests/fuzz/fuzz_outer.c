// SPDX-License-Identifier: MIT
// Datagrams into the outer layer of a server with a live session, from an attacker who knows all
// that was sent, and from the member itself, who has the keys.
//
// An input is a list of records {u8 operation, u8 size, bytes[size]}:
//   0  the bytes, from an unknown address
//   1  the bytes, from the member's address
//   2  a datagram of the member, with the bytes added to it (modulo 256) from its begin on
//   3  the member's ENet says the bytes
//   4  the bytes sealed as another type of the session
//   5  time passes: first byte in tenths of a second
//   6  a request or response of 1,200 bytes with the bytes added from the begin on
//
// Invariants: an answer is never longer than what it answers, and an unknown address gets at most
// 0.35 of it; only what the member sealed is delivered, unchanged, and once; the member's session
// lives while it is held and not closed.

#include "outer_world.h"

#include "base/hash.h"

enum { RECORDS_MAX = 200 };

typedef struct fuzz_state {
    outer_world world;
    bool is_sealed; // the member sealed what comes next
} fuzz_state;

static void give(fuzz_state* at, const net_address* from, bool is_member, const uint8_t* bytes,
                 size_t size, const uint8_t* plain, size_t plain_size) {
    net_secure_received received;
    uint8_t copy[OUTER_BYTES_MAX];
    memcpy(copy, bytes, size);
    net_secure_server_receive(at->world.server, &at->world.clock, from, copy, size, &received);
    FUZZ_CHECK(received.reply_size <= size);
    if (!is_member) FUZZ_CHECK(received.reply_size * 100 <= size * 35);
    if (received.reply_size > 0) FUZZ_CHECK(net_address_equal(&received.reply_to, from));
    if (received.inner_size == 0) return;
    FUZZ_CHECK(at->is_sealed && received.peer == at->world.peer);
    FUZZ_CHECK(received.inner_size == plain_size && memcmp(received.inner, plain, plain_size) == 0);
    memcpy(copy, bytes, size);
    net_secure_server_receive(at->world.server, &at->world.clock, from, copy, size, &received);
    FUZZ_CHECK(received.inner_size == 0); // once
}

static void run_record(fuzz_state* at, uint8_t operation, const uint8_t* bytes, size_t size) {
    static const net_outer_type types[] = {NET_OUTER_CLOSE, NET_OUTER_PATH, NET_OUTER_ACCEPT,
                                           NET_OUTER_DATA};
    outer_world* world = &at->world;
    net_address unknown = world->member_address, to;
    uint8_t out[OUTER_BYTES_MAX];
    size_t out_size;
    unknown.ip[15] ^= 1;
    at->is_sealed = false;
    switch (operation % 7) {
    case 0:
    case 1:
        give(at, operation % 7 ? &world->member_address : &unknown, operation % 7, bytes, size,
             NULL, 0);
        return;
    case 2:
        out_size = net_secure_client_send(&world->member, world->clock.now_us, NET_OUTER_DATA,
                                          "hello", 5, out, &to);
        for (size_t i = 0; i < size && i < out_size; i++)
            out[i] = (uint8_t)(out[i] + bytes[i]);
        at->is_sealed = true; // a change is noticed, and no change is a datagram of the member
        give(at, &world->member_address, true, out, out_size, (const uint8_t*)"hello", 5);
        return;
    case 3:
        out_size = net_secure_client_send(&world->member, world->clock.now_us, NET_OUTER_DATA,
                                          bytes, size, out, &to);
        at->is_sealed = true;
        give(at, &world->member_address, true, out, out_size, bytes, size);
        return;
    case 4: {
        net_crypt_plain plain = {.type = types[size % BASE_COUNT(types)],
                                 .session = world->member.session,
                                 .bytes = bytes,
                                 .size = size};
        out_size = net_crypt_seal(&world->member.sender, world->clock.now_us, &plain, out);
        at->is_sealed = plain.type == NET_OUTER_DATA;
        give(at, &world->member_address, true, out, out_size, bytes, size);
        return;
    }
    case 5:
        world->clock.now_us += size > 0 ? bytes[0] * UINT64_C(100000) : 0;
        (void)net_secure_server_hold(world->server, world->clock.now_us, world->peer);
        net_secure_server_service(world->server, world->clock.now_us, world->clock.now_us);
        return;
    default:
        memcpy(out, size % 2 ? world->request : world->response, NET_OUTER_HELLO_BYTES);
        for (size_t i = 0; i < size; i++)
            out[i] = (uint8_t)(out[i] + bytes[i]);
        // The member's own response is answered by an acceptance, which is larger.
        give(at, size % 2 ? &unknown : &world->member_address, size % 2 == 0, out,
             NET_OUTER_HELLO_BYTES, NULL, 0);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
    fuzz_state at = {.is_sealed = false};
    // Keys that the input does not know: it cannot hold a datagram that is genuine.
    outer_world_init(&at.world, base_hash64(data, size, 1));
    fuzz_record next;
    for (uint32_t number = 0; number < RECORDS_MAX && fuzz_next(&data, &size, &next); number++)
        run_record(&at, next.operation, next.bytes, next.size);
    outer_world_deinit(&at.world);
    return 0;
}
