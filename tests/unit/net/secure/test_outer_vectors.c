// SPDX-License-Identifier: MIT
// proto/VECTORS.md, "Outer layer": they are made again by the code and compared, line by line.
#include "secure_world.h"

enum { LINES_MAX = 30, LINE_BYTES = 1400 };

typedef struct vectors {
    char lines[LINES_MAX][LINE_BYTES];
    uint32_t count;
} vectors;

// The inputs: `count` bytes that begin with `first` and rise by one.
static void rise(uint8_t* bytes, size_t count, uint8_t first) {
    for (size_t i = 0; i < count; i++)
        bytes[i] = (uint8_t)(first + i);
}

static void add(vectors* to, const char* what, const uint8_t* bytes, size_t size) {
    char* line = to->lines[to->count++];
    int used = snprintf(line, LINE_BYTES, "outer %s=", what);
    assert_in_range(to->count, 1, LINES_MAX);
    assert_true((size_t)used + 2 * size < LINE_BYTES);
    for (size_t i = 0; i < size; i++)
        snprintf(line + used + 2 * i, 3, "%02x", bytes[i]);
}

typedef struct reading {
    net_crypt_receiver receiver;
    uint64_t now_us;
} reading;

// Datagrams as a client may get them, one after the other: some it takes, some it drops.
static void add_read(vectors* to, reading* reader, const char* what, const net_crypt_sender* with,
                     uint64_t number, net_outer_type type) {
    uint8_t out[DATAGRAM_BYTES_MAX], *inner;
    net_crypt_sender sender = *with;
    size_t inner_size;
    bool is_newest, is_taken = strncmp(what, "read_taken", strlen("read_taken")) == 0;
    sender.number = sender.rekeyed_number = number - 1;
    net_crypt_plain plain = {.type = type, .session = 0xABCDE007, .bytes = "ENet", .size = 4};
    const size_t size = net_crypt_seal(&sender, 0, &plain, out);
    add(to, what, out, size);
    if (strstr(what, "_6_s_later")) reader->now_us += 6000000;
    net_crypt_result result = net_crypt_open(&reader->receiver, reader->now_us, out, size, 0,
                                             &inner, &inner_size, &is_newest);
    assert_int_equal(result == NET_CRYPT_OK, is_taken);
}

static void add_reads(vectors* to, const uint8_t key[32]) {
    reading reader = {.now_us = 0};
    net_crypt_sender first, second, other;
    net_crypt_receiver_init(&reader.receiver, key);
    net_crypt_sender_init(&first, key, 0);
    second = other = first;
    memcpy(second.key, reader.receiver.next.bytes, sizeof second.key);
    second.phase = other.phase = true;
    const net_outer_type data = NET_OUTER_DATA;
    add_read(to, &reader, "read_taken_2000", &first, 2000, data);
    add_read(to, &reader, "read_taken_1023_behind", &first, 977, data);
    add_read(to, &reader, "read_dropped_1024_behind", &first, 976, data);
    add_read(to, &reader, "read_dropped_again", &first, 2000, data);
    add_read(to, &reader, "read_dropped_other_phase_and_wrong_key", &other, 2001, data);
    add_read(to, &reader, "read_taken_6_s_later", &first, 2001, data);
    add_read(to, &reader, "read_taken_next_key", &second, 2003, data);
    add_read(to, &reader, "read_taken_old_key", &first, 2002, data);
    add_read(to, &reader, "read_dropped_number_of_the_old_key", &second, 2001, data);
    add_read(to, &reader, "read_taken_state_2005", &second, 2005, NET_OUTER_STATE);
    add_read(to, &reader, "read_taken_state_2004", &second, 2004, NET_OUTER_STATE);
}

// The end of the handshake: what the server accepts with, and what the client sends then.
static void add_begin(vectors* to, const uint8_t up[32], const uint8_t down[32]) {
    uint8_t random[16], resume[608], out[DATAGRAM_BYTES_MAX];
    net_crypt_sender server, client;
    rise(random, sizeof random, 0xC0);
    rise(resume, sizeof resume, 0);
    net_crypt_sender_init(&server, down, 0);
    net_crypt_sender_init(&client, up, 0);
    net_crypt_plain plain = {.type = NET_OUTER_ACCEPT,
                             .session = 0xABCDE007,
                             .clear = random,
                             .clear_size = sizeof random,
                             .bytes = resume,
                             .size = sizeof resume};
    size_t size = net_crypt_seal(&server, 0, &plain, out);
    add(to, "accept", out, size);
    plain = (net_crypt_plain){
        .type = NET_OUTER_DATA, .session = 0xABCDE007, .bytes = "ENet", .size = 4};
    size = net_crypt_seal(&client, 0, &plain, out);
    add(to, "first_data", out, size);
}

static void add_session(vectors* to, const uint8_t* client_random, const net_outer_proof* proof,
                        const net_token_private* token) {
    uint8_t random[16], up[32], down[32], out[DATAGRAM_BYTES_MAX];
    net_crypt_sender sender;
    rise(random, sizeof random, 0xC0);
    net_crypt_derive(token->client_key, NET_CRYPT_TO_SERVER, proof->server_random, client_random,
                     random, up);
    net_crypt_derive(token->server_key, NET_CRYPT_TO_CLIENT, proof->server_random, client_random,
                     random, down);
    add(to, "session_key_to_server", up, sizeof up);
    add(to, "session_key_to_client", down, sizeof down);
    net_crypt_sender_init(&sender, up, 0);
    sender.number = 0x010203040506 - 1;
    sender.rekeyed_number = sender.number;
    net_crypt_plain plain = {
        .type = NET_OUTER_DATA, .session = 0xABCDE007, .bytes = "ENet", .size = 4};
    size_t size = net_crypt_seal(&sender, 0, &plain, out);
    add(to, "data", out, size);
    plain.type = NET_OUTER_INPUT;
    sender.number--;
    size = net_crypt_seal(&sender, 0, &plain, out);
    add(to, "input", out, size);
    plain.type = NET_OUTER_DATA;
    size = net_crypt_seal(&sender, NET_CRYPT_REKEY_US, &plain, out);
    add(to, "next_key_to_server", sender.key, sizeof sender.key);
    add(to, "data_of_the_next_key", out, size);
    plain = (net_crypt_plain){.type = NET_OUTER_ACCEPT,
                              .session = 0xABCDE007,
                              .clear = random,
                              .clear_size = sizeof random,
                              .bytes = "608 bytes",
                              .size = 9};
    net_crypt_sender_init(&sender, down, 0);
    size = net_crypt_seal(&sender, 0, &plain, out);
    add(to, "accept_with_9_bytes", out, size);
    plain = (net_crypt_plain){.type = NET_OUTER_STATE, .bytes = "ENet", .size = 4};
    size = net_crypt_seal(&sender, 0, &plain, out);
    add(to, "state", out, size);
    add_reads(to, down);
    add_begin(to, up, down);
}

static void make(vectors* to) {
    net_token_private token = {.player_id = 0x0102030405060708, .address_count = 1};
    net_token shown = {.key_id = 7, .protocol = NET_TOKEN_PROTOCOL, .expiry_unix_s = 1800000000};
    uint8_t key[32], client_random[16], bytes[NET_OUTER_HELLO_BYTES], nonce[24];
    to->count = 0;
    rise(key, sizeof key, 0);
    rise(shown.nonce, sizeof shown.nonce, 0x20);
    rise(token.client_key, 32, 0x40);
    rise(token.server_key, 32, 0x60);
    memcpy(token.user_data, "team 1", 6);
    token.origin_key_id = 7;
    token.addresses[0] = address_of("192.0.2.1:7777");
    memcpy(shown.client_key, token.client_key, sizeof shown.client_key);
    net_token_seal(key, &token, &shown);
    add(to, "sealed", shown.sealed, sizeof shown.sealed);

    net_outer_proof proof = {.time_us = 0x1122334455};
    rise(client_random, 16, 0x80);
    rise(proof.server_random, 24, 0x90);
    rise(proof.cookie, 16, 0xB0);
    rise(nonce, sizeof nonce, 0xD0);
    net_outer_request_write(client_random, &shown, bytes);
    add(to, "request_begin", bytes, 59);
    net_outer_challenge_write(&proof, client_random, nonce, token.server_key, bytes);
    add(to, "challenge", bytes, NET_OUTER_CHALLENGE_BYTES);
    net_outer_response_write(client_random, &shown, &proof, bytes);
    add(to, "response_from_572", bytes + 572, 48);
    add(to, "response_signature", bytes + NET_OUTER_HELLO_BYTES - 16, 16);
    size_t size = net_outer_deny_write(NET_SECURE_END_VERSION, client_random, NULL, bytes);
    bytes[2] = bytes[3] = 0; // the version of the messages, which changes more often than this page
    add(to, "deny_unsigned", bytes, size);
    (void)net_outer_deny_write(NET_SECURE_END_FULL, client_random, token.server_key, bytes);
    add_session(to, client_random, &proof, &token);
}

CASE(the_page_has_the_vectors_of_the_code) {
    static vectors made;
    static char line[LINE_BYTES];
    make(&made);
    FILE* page = fopen(PROTO_FOLDER "/VECTORS.md", "r");
    assert_non_null(page);
    uint32_t equal = 0, found = 0;
    while (fgets(line, sizeof line, page)) {
        if (strncmp(line, "outer ", 6) != 0) continue;
        line[strcspn(line, "\n")] = '\0';
        equal += found < made.count && strcmp(line, made.lines[found]) == 0;
        found++;
    }
    fclose(page);
    if (equal != made.count || found != made.count) {
        for (uint32_t i = 0; i < made.count; i++)
            printf("%s\n", made.lines[i]);
        fail_msg("%u lines of the page, %u as above", found, equal);
    }
}
