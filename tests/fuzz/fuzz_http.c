// SPDX-License-Identifier: MIT
// What a browser, or what looks like one, sends to the inspector.
//
// An input is u8 operation, bytes:
//   0  the body of a POST    what is read is within the limits
//   1  a path                the parts of a route lie in the path
//   2  headers, one a line   without a token of the file there is no way in
//   3  a file of tokens      what is read has a token
#include "fuzz.h"

#include "inspect/orders.h"
#include "inspect/gate.h"
#include "inspect/route.h"

#define TEXT_BYTES 4096u

static void fuzz_body(char* text, size_t size) {
    server_order order = {0};
    FUZZ_CHECK(server_order_begin(&order, "put", 3, SERVER_OPERATOR));
    const char* error = server_body_read(text, size, &order);
    FUZZ_CHECK(order.argument_count <= SERVER_ARGUMENTS_MAX);
    for (uint32_t i = 0; i < order.argument_count && !error; i++) {
        const size_t at = order.value_offsets[i];
        FUZZ_CHECK(at < order.values.size);
        FUZZ_CHECK(memchr(order.values.data + at, 0, order.values.size - at));
        FUZZ_CHECK(memchr(order.names[i], 0, sizeof order.names[i]));
    }
    base_bytes_deinit(&order.values);
}

static void fuzz_path(char* text, size_t size) {
    size = strlen(text);
    const server_route route = server_route_find(text);
    FUZZ_CHECK(!route.id || (route.id > text && route.id + route.id_bytes <= text + size));
    if (route.kind == SERVER_ROUTE_NONE) FUZZ_CHECK(!route.is_open);
    if (route.kind == SERVER_ROUTE_PAGE) FUZZ_CHECK(server_page_find(text) != NULL);
}

static void fuzz_knock(char* text, size_t size) {
    (void)size;
    static const base_option_list hosts = {.values = {"shoal.example"}, .count = 1};
    server_gate gate = {.hosts = &hosts};
    char tokens[] = "reader 0123456789abcdef\noperator fedcba9876543210";
    char* lines[4] = {NULL};
    for (uint32_t i = 0; i < 4 && text; i++)
        lines[i] = strsep(&text, "\n");
    FUZZ_CHECK(server_gate_read(&gate, "tokens", tokens, NULL));
    const server_knock knock = {.host = lines[0],
                                .origin = lines[1] && lines[1][0] ? lines[1] : NULL,
                                .authorization = lines[2],
                                .content_type = lines[3],
                                .is_post = lines[3] != NULL};
    const server_welcome welcome = server_gate_check(&gate, &knock, 0);
    FUZZ_CHECK((welcome.status == 200) == (welcome.error == NULL));
    if (welcome.status != 200) return;
    FUZZ_CHECK(knock.authorization && strlen(knock.authorization) == 7 + 16);
    const char* wanted = welcome.right == SERVER_OPERATOR ? "fedcba9876543210" : "0123456789abcdef";
    FUZZ_CHECK(strcmp(knock.authorization + 7, wanted) == 0);
    FUZZ_CHECK(!knock.is_post || welcome.right == SERVER_OPERATOR);
}

static void fuzz_tokens(char* text, size_t size) {
    (void)size;
    server_gate gate = {0};
    if (!server_gate_read(&gate, "tokens", text, NULL)) return;
    FUZZ_CHECK(gate.has_tokens && (gate.tokens[0][0] || gate.tokens[1][0]));
    FUZZ_CHECK(memcmp(gate.tokens[0], gate.tokens[1], sizeof gate.tokens[0]) != 0);
}

int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
    char text[TEXT_BYTES];
    if (size == 0 || size > sizeof text) return 0;
    memcpy(text, data + 1, size - 1);
    text[size - 1] = 0;
    void (*const targets[])(char*, size_t) = {fuzz_body, fuzz_path, fuzz_knock, fuzz_tokens};
    targets[data[0] % 4](text, size - 1);
    return 0;
}
