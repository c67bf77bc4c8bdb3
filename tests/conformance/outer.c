// SPDX-License-Identifier: MIT
// WIRE.md, "Outer layer", with libsodium alone. ENet's two socket functions are defined here, so
// that all of ENet passes through a session. This client plays for less than ten minutes, so its
// own key never changes; the server's may.
#include "outer.h"

#include "window.h"

#include <netinet/in.h>
#include <poll.h>
#include <sodium.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>

enum {
    HELLO = 1200,
    SEALED = 512,
    CHALLENGE = 89,
    ACCEPT = 651,
    HEAD = 11,
    INPUT_HEAD = 5,
    STATE_HEAD = 3,
    TAG = 16,
    DATAGRAM_MAX = 1232,
    TRIES = 20,
    TRY_MS = 250,
};

static struct {
    struct sockaddr_in server;
    uint8_t client_random[16], token_client_key[32], token_server_key[32];
    uint8_t hello[HELLO];
    bool is_open, is_closed;
    uint8_t session[4];
    uint8_t send_key[32];
    uint64_t sent;
    cf_window window; // what the server sends
    outer_packet_fn packet;
    void* context;
} outer;

static void put(uint8_t* at, uint64_t value, int bytes) {
    for (int i = 0; i < bytes; i++)
        at[i] = (uint8_t)(value >> 8 * i);
}

static uint64_t get(const uint8_t* at, int bytes) {
    uint64_t value = 0;
    for (int i = 0; i < bytes; i++)
        value |= (uint64_t)at[i] << 8 * i;
    return value;
}

// "Tokens": sealed with the built-in key.
static void write_request(void) {
    uint8_t plain[SEALED - TAG] = {0}, data[18];
    uint8_t* hello = outer.hello;
    randombytes_buf(outer.client_random, 16);
    randombytes_buf(outer.token_client_key, 32);
    randombytes_buf(outer.token_server_key, 32);
    put(plain, 1 + randombytes_uniform(1000000), 8);
    memcpy(plain + 8, outer.token_client_key, 32);
    memcpy(plain + 40, outer.token_server_key, 32);
    hello[0] = 0;
    hello[1] = 1;
    memcpy(hello + 2, outer.client_random, 16);
    hello[18] = 0;
    memcpy(hello + 19, "SHOAL\0\0\0", 8);
    put(hello + 27, (uint64_t)time(NULL) + 3600, 8);
    randombytes_buf(hello + 35, 24);
    data[0] = 1;
    memcpy(data + 1, hello + 19, 16);
    data[17] = 0;
    crypto_aead_xchacha20poly1305_ietf_encrypt(hello + 59, NULL, plain, sizeof plain, data,
                                               sizeof data, NULL, hello + 35,
                                               (const uint8_t*)"shoal dev key: this is no secret");
}

static void hash(uint8_t* out, size_t out_size, const uint8_t key[32], const char* label,
                 const uint8_t* bytes, size_t size) {
    crypto_generichash_state state;
    crypto_generichash_init(&state, key, 32, out_size);
    crypto_generichash_update(&state, (const uint8_t*)label, strlen(label));
    crypto_generichash_update(&state, bytes, size);
    crypto_generichash_final(&state, out, out_size);
}

static bool take_challenge(const uint8_t* bytes) {
    uint8_t data[17] = {1}, *hello = outer.hello;
    memcpy(data + 1, outer.client_random, 16);
    if (crypto_aead_xchacha20poly1305_ietf_decrypt(hello + 572, NULL, NULL, bytes + 25, 48 + TAG,
                                                   data, sizeof data, bytes + 1,
                                                   outer.token_server_key) != 0)
        return false;
    hello[0] = 2;
    hash(hello + HELLO - 16, 16, outer.token_client_key, "shoal response", hello, HELLO - 16);
    return true;
}

static void derive(uint8_t key[32], const uint8_t token_key[32], uint8_t direction,
                   const uint8_t session_random[16]) {
    uint8_t bytes[1 + 24 + 16 + 16] = {direction};
    memcpy(bytes + 1, outer.hello + 572, 24);
    memcpy(bytes + 25, outer.client_random, 16);
    memcpy(bytes + 41, session_random, 16);
    hash(key, 32, token_key, "shoal session", bytes, sizeof bytes);
}

static bool take_accept(uint8_t* bytes) {
    uint8_t key[32];
    derive(key, outer.token_server_key, 1, bytes + HEAD);
    derive(outer.send_key, outer.token_client_key, 0, bytes + HEAD);
    if (!window_decrypt(key, bytes, ACCEPT, HEAD + 16, get(bytes + 5, 6))) return false;
    window_begin(&outer.window, key);
    memcpy(outer.session, bytes + 1, 4);
    return outer.is_open = true;
}

static void to_server(ENetSocket socket, const uint8_t* bytes, size_t size) {
    (void)sendto(socket, bytes, size, 0, (const struct sockaddr*)&outer.server,
                 sizeof outer.server);
}

static size_t from_server(ENetSocket socket, uint8_t* bytes) {
    for (;;) {
        ssize_t got = recvfrom(socket, bytes, DATAGRAM_MAX, MSG_DONTWAIT, NULL, NULL);
        if (got < 0) return 0;
        if (got > STATE_HEAD + TAG) return (size_t)got;
    }
}

bool outer_connect(ENetSocket socket, const ENetAddress* server) {
    uint8_t bytes[DATAGRAM_MAX];
    if (sodium_init() < 0) return false;
    outer.server = (struct sockaddr_in){
        .sin_family = AF_INET, .sin_port = htons(server->port), .sin_addr.s_addr = server->host};
    write_request();
    for (int i = 0; i < TRIES && !outer.is_open; i++) {
        size_t size;
        struct pollfd wait = {.fd = socket, .events = POLLIN};
        to_server(socket, outer.hello, HELLO);
        if (poll(&wait, 1, TRY_MS) <= 0) continue;
        while (!outer.is_open && (size = from_server(socket, bytes)) > 0) {
            if (outer.hello[0] == 0 && size == CHALLENGE && bytes[0] == 1)
                (void)take_challenge(bytes);
            else if (outer.hello[0] == 2 && size == ACCEPT && bytes[0] == 5)
                (void)take_accept(bytes);
        }
    }
    return outer.is_open;
}

bool outer_is_closed(void) {
    return outer.is_closed;
}

// ---- inside of the session

static size_t seal(uint8_t type, const uint8_t* plain, size_t size, uint8_t* out) {
    uint8_t nonce[12] = {0};
    size_t head = type == 16 ? INPUT_HEAD : HEAD;
    out[0] = type;
    outer.sent++;
    memcpy(out + 1, outer.session, type == 16 ? 2 : 4);
    put(out + (type == 16 ? 3 : 5), outer.sent, type == 16 ? 2 : 6);
    put(nonce + 4, outer.sent, 8);
    crypto_aead_chacha20poly1305_ietf_encrypt(out + head, NULL, plain, size, out, head, NULL, nonce,
                                              outer.send_key);
    return head + size + TAG;
}

static void seal_to_server(ENetSocket socket, uint8_t type, const uint8_t* plain, size_t size) {
    uint8_t out[DATAGRAM_MAX];
    to_server(socket, out, seal(type, plain, size, out));
}

void outer_set_packet(outer_packet_fn packet, void* context) {
    outer.packet = packet;
    outer.context = context;
}

void outer_send_packet(ENetSocket socket, const uint8_t* bytes, size_t size) {
    seal_to_server(socket, 16, bytes, size);
}

static double clock_s(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + (double)now.tv_nsec * 1e-9;
}

static bool open_data(uint8_t* bytes, size_t size) {
    bool is_state = (bytes[0] & 0xf7) == 17;
    if (!is_state && memcmp(bytes + 1, outer.session, 4) != 0) return false;
    return window_open(&outer.window, bytes, size, clock_s());
}

int enet_socket_send(ENetSocket socket, const ENetAddress* address, const ENetBuffer* buffers,
                     size_t count) {
    uint8_t plain[DATAGRAM_MAX];
    size_t size = 0;
    (void)address;
    for (size_t i = 0; i < count; i++) {
        if (size + buffers[i].dataLength > DATAGRAM_MAX - HEAD - TAG) return 0;
        memcpy(plain + size, buffers[i].data, buffers[i].dataLength);
        size += buffers[i].dataLength;
    }
    seal_to_server(socket, 3, plain, size);
    return (int)size;
}

int enet_socket_receive(ENetSocket socket, ENetAddress* address, ENetBuffer* buffers,
                        size_t count) {
    uint8_t bytes[DATAGRAM_MAX];
    size_t size;
    (void)count;
    while ((size = from_server(socket, bytes)) > 0) {
        uint8_t type = bytes[0] & 0xF7;
        if (type != 17 && ((type != 3 && type != 4 && type != 7) || size <= HEAD + TAG)) continue;
        if (!open_data(bytes, size)) continue;
        if (type == 17) {
            outer.packet(outer.context, bytes + STATE_HEAD, size - STATE_HEAD - TAG);
            continue;
        }
        size -= HEAD + TAG;
        if (type == 4) {
            outer.is_closed = true;
            return 0;
        }
        if (type == 7) {
            seal_to_server(socket, 7, bytes + HEAD, size);
            continue;
        }
        if (size > buffers->dataLength) continue;
        memcpy(buffers->data, bytes + HEAD, size);
        address->host = outer.server.sin_addr.s_addr;
        address->port = ntohs(outer.server.sin_port);
        return (int)size;
    }
    return 0;
}

// ---- the handshake of VECTORS.md

static bool is_equal(const uint8_t* made, const uint8_t* bytes, size_t size, size_t expected) {
    return size == expected && memcmp(made, bytes, size) == 0;
}

static bool take_begin(const uint8_t* bytes) {
    memcpy(outer.hello, bytes, 59);
    memcpy(outer.client_random, bytes + 2, 16);
    for (uint8_t i = 0; i < 32; i++) {
        outer.token_client_key[i] = (uint8_t)(0x40 + i);
        outer.token_server_key[i] = (uint8_t)(0x60 + i);
    }
    return true;
}

bool outer_check(const char* name, uint8_t* bytes, size_t size) {
    uint8_t out[DATAGRAM_MAX];
    if (strcmp(name, "sealed") == 0) {
        memset(&outer, 0, sizeof outer);
        memcpy(outer.hello + 59, bytes, SEALED);
    }
    if (strcmp(name, "request_begin") == 0) return size == 59 && take_begin(bytes);
    if (strcmp(name, "challenge") == 0) return size == CHALLENGE && take_challenge(bytes);
    if (strcmp(name, "response_from_572") == 0) return is_equal(outer.hello + 572, bytes, size, 48);
    if (strcmp(name, "response_signature") == 0)
        return is_equal(outer.hello + HELLO - 16, bytes, size, 16);
    if (strcmp(name, "accept") == 0) return size == ACCEPT && take_accept(bytes);
    if (strcmp(name, "first_data") != 0) return true;
    return is_equal(out, bytes, seal(3, (const uint8_t*)"ENet", 4, out), size);
}
