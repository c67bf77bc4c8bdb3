// SPDX-License-Identifier: MIT
// Writes the seeds of fuzz_outer, fuzz_token, fuzz_cookie and fuzz_replay with our own encoders:
//     make_outer_corpus FOLDER
#include "outer_world.h"

#include "base/bytes.h"
#include "base/text.h"

static void save(const char* folder, const char* name, const base_bytes* bytes) {
    char path[512];
    FUZZ_CHECK(base_text_format(path, sizeof path, "%s/%s", folder, name));
    FILE* file = fopen(path, "wb");
    FUZZ_CHECK(file && !bytes->failed && fwrite(bytes->data, 1, bytes->size, file) == bytes->size);
    FUZZ_CHECK(fclose(file) == 0);
}

static void record(base_bytes* to, uint8_t operation, const void* bytes, uint8_t size) {
    base_bytes_write_u8(to, operation);
    base_bytes_write_u8(to, size);
    base_bytes_write(to, bytes, size);
}

static void save_outer(const char* folder) {
    static const uint8_t zero[60];
    outer_world world;
    base_bytes bytes;
    uint8_t out[OUTER_BYTES_MAX];
    net_address to;
    outer_world_init(&world, 1);
    base_bytes_init(&bytes, NULL);
    for (int i = 0; i < 4; i++)
        record(&bytes, 3, "a datagram of ENet", 18);
    record(&bytes, 5, "\x05", 1);
    record(&bytes, 4, "12345678", 8);
    record(&bytes, 4, "123456789", 9);
    record(&bytes, 4, "abcdefghijk", 11);
    save(folder, "outer/member", &bytes);
    base_bytes_clear(&bytes);
    record(&bytes, 6, zero, 59);
    record(&bytes, 6, zero, 60);
    record(&bytes, 6, "\0\1", 2);
    record(&bytes, 6, "\0\1", 3);
    record(&bytes, 5, "\x40", 1);
    record(&bytes, 6, zero, 60);
    save(folder, "outer/handshake", &bytes);
    base_bytes_clear(&bytes);
    size_t size = net_secure_client_send(&world.member, 1000000, "again", 5, out, &to);
    record(&bytes, 1, out, (uint8_t)size);
    record(&bytes, 0, out, (uint8_t)size);
    record(&bytes, 2, "\x08", 1);
    record(&bytes, 2, zero, 30);
    record(&bytes, 2, "\0\0\0\0\1", 5);
    save(folder, "outer/forged", &bytes);
    base_bytes_deinit(&bytes);
    outer_world_deinit(&world);
}

static void save_tokens(const char* folder) {
    outer_world world;
    base_bytes bytes;
    char text[NET_TOKEN_TEXT_BYTES], key[NET_KEY_TEXT_BYTES];
    outer_world_init(&world, 1);
    net_token token = outer_token(&world);
    base_bytes_init(&bytes, NULL);
    FUZZ_CHECK(net_token_print(&token, text, sizeof text));
    base_bytes_write_u8(&bytes, 0);
    base_bytes_write(&bytes, text, strlen(text));
    save(folder, "token/text", &bytes);
    base_bytes_clear(&bytes);
    FUZZ_CHECK(net_key_print(&world.ring.keys[0], key, sizeof key));
    base_bytes_write_u8(&bytes, 1);
    base_bytes_write(&bytes, "# keys\n", 7);
    base_bytes_write(&bytes, key, strlen(key));
    base_bytes_write(&bytes, "\n\n2", 3);
    base_bytes_write(&bytes, key + 1, strlen(key) - 1);
    save(folder, "token/keys", &bytes);
    base_bytes_clear(&bytes);
    base_bytes_write(&bytes, "\2\0\0\0", 4);
    save(folder, "token/sealed", &bytes);
    base_bytes_deinit(&bytes);
    outer_world_deinit(&world);
}

static void save_small(const char* folder) {
    static const uint8_t cookie[88] = {[84] = 0x80};
    base_bytes bytes;
    base_bytes_init(&bytes, NULL);
    base_bytes_write(&bytes, cookie, sizeof cookie);
    save(folder, "cookie/old", &bytes);
    base_bytes_clear(&bytes);
    base_bytes_write(&bytes, cookie, 82);
    save(folder, "cookie/sound", &bytes);
    static const uint64_t bases[] = {0, UINT64_C(1) << 32, (UINT64_C(1) << 48) - 1};
    static const char* const names[] = {"replay/begin", "replay/middle", "replay/end"};
    static const int steps[] = {2, 2, 0, 4, -2, -4, 2046, -2044, -2046, -2048, 2048, 7, 30000, -2};
    for (size_t i = 0; i < BASE_COUNT(bases); i++) {
        base_bytes_clear(&bytes);
        base_bytes_write_u64(&bytes, bases[i]);
        for (size_t k = 0; k < BASE_COUNT(steps); k++)
            base_bytes_write_u16(&bytes, (uint16_t)steps[k]);
        save(folder, names[i], &bytes);
    }
    base_bytes_deinit(&bytes);
}

int main(int argc, char** argv) {
    if (argc != 2) return 2;
    save_outer(argv[1]);
    save_tokens(argv[1]);
    save_small(argv[1]);
    return 0;
}
