// SPDX-License-Identifier: MIT
// Who may ask an inspector what; what stands under a path; what a request may hold.
#include "address_of.h"

#include "inspect/orders.h"
#include "inspect/gate.h"
#include "inspect/route.h"

#define SECOND_US UINT64_C(1000000)

// A gate with both tokens that listens at an address of the network.
static void open_gate(server_gate* gate) {
    static const base_option_list hosts = {.values = {"shoal.example"}, .count = 1};
    static const base_option_list pages = {.values = {"https://other.example:8443/play"},
                                           .count = 1};
    char text[] = "# tokens\nreader reader-0123456789\r\n\n  operator\toperator-0123456789  ";
    *gate =
        (server_gate){.listens = address_of("192.0.2.7:7780"), .hosts = &hosts, .pages = &pages};
    assert_true(server_gate_read(gate, "tokens", text, test_reporter()));
    assert_true(gate->has_tokens);
}

static server_knock knock(void) {
    return (server_knock){.host = "192.0.2.7:7780", .from = address_of("198.51.100.1:4000")};
}

// A gate, and who knocks at it.
typedef struct door {
    server_gate gate;
    server_knock it;
} door;

static void open_door(door* at) {
    open_gate(&at->gate);
    at->it = knock();
}

#define DOOR_CASE(name) CASE_WITH(door, at, open_door(at), (void)0, name)

static int knocks(door* at, uint64_t now_us) {
    return server_gate_check(&at->gate, &at->it, now_us).status;
}

static int knocks_with(door* at, const char* authorization, uint64_t now_us) {
    door other = {.gate = at->gate, .it = knock()};
    other.it.authorization = authorization;
    const int status = knocks(&other, now_us);
    at->gate = other.gate;
    return status;
}

// The next of some words, which have blanks between them; NULL: there is none.
static const char* next_word(const char** words, char word[64]) {
    const size_t size = strcspn(*words, " ");
    if (size == 0) return NULL;
    assert_true(base_text_format(word, 64, "%.*s", (int)size, *words));
    *words += size + ((*words)[size] == ' ');
    return word;
}

// With each of these words in its place, the gate says the same.
static void knock_each(door* at, const char** place, const char* words, int status) {
    char word[64];
    while ((*place = next_word(&words, word)))
        if (knocks(at, 0) != status) fail_msg("'%s' is not %d", word, status);
}

DOOR_CASE(a_token_gives_its_right_and_none_gives_none) {
    assert_int_equal(knocks(at, 0), 401);
    at->it.is_open = true;
    assert_int_equal(knocks(at, 0), 200);
    at->it.is_open = false;
    at->it.authorization = "Bearer reader-0123456789";
    server_welcome welcome = server_gate_check(&at->gate, &at->it, 0);
    assert_int_equal(welcome.status, 200);
    assert_int_equal(welcome.right, SERVER_READER);
    at->it.authorization = "bearer operator-0123456789";
    welcome = server_gate_check(&at->gate, &at->it, 0);
    assert_int_equal(welcome.status, 200);
    assert_int_equal(welcome.right, SERVER_OPERATOR);
    server_gate_deinit(&at->gate);
    assert_int_equal(knocks(at, 0), 401);
}

DOOR_CASE(a_reader_posts_nothing_and_a_post_is_json) {
    at->it.is_post = true;
    at->it.authorization = "Bearer operator-0123456789";
    assert_int_equal(knocks(at, 0), 400);
    knock_each(at, &at->it.content_type, "text/plain application/jsonx application/js", 400);
    at->it.content_type = "";
    assert_int_equal(knocks(at, 0), 400);
    at->it.content_type = "Application/JSON; charset=utf-8";
    assert_int_equal(knocks(at, 0), 200);
    at->it.authorization = "Bearer reader-0123456789";
    assert_int_equal(knocks(at, 0), 403);
}

DOOR_CASE(five_wrong_tokens_close_the_gate_for_wrong_ones_for_a_minute) {
    static const char* const wrong[] = {
        "Bearer reader-012345678",   // a part of it
        "Bearer reader-01234567890", // one byte more
        "Bearer ",
        "Basic reader-0123456789",
        "",
    };
    for (uint32_t i = 0; i < SERVER_GATE_WRONG_MAX; i++)
        assert_int_equal(knocks_with(at, wrong[i], i * SECOND_US), 401);
    assert_int_equal(knocks_with(at, wrong[0], 10 * SECOND_US), 429);
    assert_int_equal(knocks_with(at, wrong[0], 60 * SECOND_US - 1), 429);
    // Behind a proxy all have the address of him who guesses.
    assert_int_equal(knocks_with(at, "Bearer reader-0123456789", 60 * SECOND_US - 1), 200);
    assert_int_equal(knocks_with(at, "Bearer operator-0123456789", 60 * SECOND_US - 1), 200);
    // Another minute has begun: five more.
    for (uint32_t i = 0; i < SERVER_GATE_WRONG_MAX; i++)
        assert_int_equal(knocks_with(at, wrong[0], 61 * SECOND_US), 401);
    assert_int_equal(knocks_with(at, wrong[0], 62 * SECOND_US), 429);
}

DOOR_CASE(wrong_tokens_of_one_address_do_not_close_the_gate_for_others) {
    at->it.authorization = "Bearer wrong";
    at->it.from = address_of("[2001:db8:1:2::1]:5");
    for (uint32_t i = 0; i < SERVER_GATE_WRONG_MAX; i++)
        assert_int_equal(knocks(at, 0), 401);
    at->it.from = address_of("[2001:db8:1:2:3::9]:6"); // the same /64
    assert_int_equal(knocks(at, 0), 429);
    at->it.from = address_of("[2001:db8:1:3::1]:5");
    assert_int_equal(knocks(at, 0), 401);
    assert_int_equal(knocks_with(at, "Bearer reader-0123456789", 0), 200);
}

DOOR_CASE(of_too_many_addresses_the_quietest_is_forgotten) {
    at->it.authorization = "Bearer wrong";
    for (uint32_t i = 0; i < SERVER_GATE_ADDRESSES_MAX; i++) {
        at->it.from.ip[15] = (uint8_t)i;
        for (uint32_t k = 0; k < SERVER_GATE_WRONG_MAX; k++)
            assert_int_equal(knocks(at, i), 401);
    }
    at->it.from.ip[14]++; // one more takes the place of number 0
    assert_int_equal(knocks(at, SERVER_GATE_ADDRESSES_MAX), 401);
    at->it.from.ip[14]--;
    at->it.from.ip[15] = 1;
    assert_int_equal(knocks(at, SERVER_GATE_ADDRESSES_MAX), 429);
    at->it.from.ip[15] = 0;
    assert_int_equal(knocks(at, SERVER_GATE_ADDRESSES_MAX), 401);
}

DOOR_CASE(a_host_is_loopback_its_own_address_or_one_that_the_operator_named) {
    at->it.is_open = true;
    knock_each(at, &at->it.host,
               "192.0.2.7 192.0.2.7:1 127.0.0.1 127.8.9.1:80 [::1]:7780 [::1] localhost:9 "
               "SHOAL.example:443 shoal.example",
               200);
    knock_each(at, &at->it.host,
               "evil.example shoal.example.evil 192.0.2.8 [::1 127.0.0.1:x 127.0.0.1.evil [::1]x "
               "0.0.0.0 :80 127.0.0.1:80:80 shoal.exampl localhost.evil",
               403);
    char long_name[SERVER_HOST_BYTES_MAX + 2];
    memset(long_name, 'a', sizeof long_name);
    long_name[sizeof long_name - 1] = 0;
    const char* const bad[] = {NULL, "", long_name};
    for (uint32_t i = 0; i < BASE_COUNT(bad); i++) {
        at->it.host = bad[i];
        assert_int_equal(knocks(at, 0), 403);
    }
}

DOOR_CASE(an_origin_is_that_of_the_page_itself) {
    at->it.is_open = true;
    at->it.host = "shoal.example";
    at->it.origin = "https://shoal.example"; // TLS ends in front of us
    assert_int_equal(knocks(at, 0), 200);
    knock_each(at, &at->it.origin,
               "null http://evil.example shoal.example http://shoal.example:81 "
               "file://shoal.example http://shoal.example/",
               403);
    at->it.origin = "";
    assert_int_equal(knocks(at, 0), 403);
}

DOOR_CASE(pages_of_the_matchs_other_servers_may_ask_for_a_socket_alone) {
    at->it.is_open = true;
    at->it.origin = "https://other.example:8443";
    assert_int_equal(knocks(at, 0), 403);
    at->it.is_socket = true;
    assert_int_equal(knocks(at, 0), 200);
    knock_each(at, &at->it.origin,
               "http://other.example:8443 https://other.example https://other.example:84430 "
               "https://other.example:8443/play https://a.other.example:8443",
               403);
}

CASE(pages_of_other_servers_have_an_origin_and_are_few) {
    static const char* const wrong[] = {"",
                                        "other.example/play",
                                        "https:///play",
                                        "ftp://a/play",
                                        "https://a/\"",
                                        "https://a;script-src",
                                        "https://a b"};
    const net_address own = address_of("127.0.0.1:0");
    const base_option_list none = {0};
    base_option_list pages = {.values = {"http://[::1]:7780/play"}, .count = 1};
    server_gate gate;
    assert_true(server_gate_init(&gate, &own, NULL, &none, &pages, NULL));
    assert_int_equal(server_gate_origin(pages.values[0]), strlen("http://[::1]:7780"));
    for (uint32_t i = 0; i < BASE_COUNT(wrong); i++) {
        pages.values[0] = wrong[i];
        assert_false(server_gate_init(&gate, &own, NULL, &none, &pages, NULL));
    }
    for (pages.count = 0; pages.count <= NET_STANDBYS_MAX; pages.count++)
        pages.values[pages.count] = "https://a/play";
    assert_false(server_gate_init(&gate, &own, NULL, &none, &pages, NULL));
}

static bool reads(const char* content) {
    server_gate gate = {0};
    char text[1024];
    assert_true(base_text_copy(text, sizeof text, content));
    return server_gate_read(&gate, "tokens", text, NULL);
}

CASE(a_file_of_tokens_is_read_whole_or_refused) {
    char line[SERVER_TOKEN_BYTES_MAX + 16];
    assert_true(reads("reader 0123456789abcdef"));
    assert_false(reads("reader 0123456789abcde"));
    for (uint32_t size = SERVER_TOKEN_BYTES_MAX - 1; size <= SERVER_TOKEN_BYTES_MAX + 1; size++) {
        assert_true(base_text_format(line, sizeof line, "operator %0*d", (int)size, 1));
        assert_int_equal(reads(line), size <= SERVER_TOKEN_BYTES_MAX);
    }
    static const char* const bad[] = {"",
                                      "# nothing",
                                      "reader",
                                      "0123456789abcdef",
                                      "writer 0123456789abcdef",
                                      "reader 0123456789abcdef more",
                                      "reader 0123456789abcd\x7f-",
                                      "reader 0123456789abcdef\nreader 0123456789abcdeg",
                                      "reader 0123456789abcdef\noperator 0123456789abcdef"};
    for (uint32_t i = 0; i < BASE_COUNT(bad); i++)
        assert_false(reads(bad[i]));
}

CASE(without_tokens_only_loopback_is_served) {
    static const base_option_list none = {0};
    server_gate gate;
    server_knock it = {.host = "127.0.0.1"};
    const net_address own = address_of("127.0.0.1:7780");
    assert_true(server_gate_init(&gate, &own, NULL, &none, &none, test_reporter()));
    assert_int_equal(server_gate_check(&gate, &it, 0).right, SERVER_OPERATOR);
    const char* const open[] = {"0.0.0.0:7780", "[::]:7780", "192.168.1.5:7780"};
    for (uint32_t i = 0; i < BASE_COUNT(open); i++) {
        const net_address other = address_of(open[i]);
        assert_false(server_gate_init(&gate, &other, NULL, &none, &none, NULL));
    }
}

// ---- paths ----

CASE(a_path_is_a_verb_with_or_without_an_id) {
    server_route route = server_route_find("/api/v1/clients");
    assert_int_equal(route.kind, SERVER_ROUTE_VERB);
    assert_int_equal(route.name_bytes, 7);
    assert_null(route.id);
    route = server_route_find("/api/v1/clients/12");
    assert_memory_equal(route.name, "clients", route.name_bytes);
    assert_int_equal(route.id_bytes, 2);
    route = server_route_find("/api/v1/clients/12/why");
    assert_int_equal(route.name_bytes, 3);
    assert_memory_equal(route.name, "why", 3);
    assert_memory_equal(route.id, "12", route.id_bytes);
    const char* none = "/api/v1/ /api/v1/clients/ /api/v1/clients//why /api/v1/clients/1/ "
                       "/api/v1/clients/1/why/ /api/v2/clients /game/.wasm /game/x /../etc/passwd "
                       "/index.html/";
    char path[64];
    while (next_word(&none, path))
        assert_int_equal(server_route_find(path).kind, SERVER_ROUTE_NONE);
    assert_int_equal(server_route_find("").kind, SERVER_ROUTE_NONE);
    assert_int_equal(server_route_find("/").kind, SERVER_ROUTE_PAGE);
    assert_true(server_route_find("/app.js").is_open);
    assert_false(server_route_find("/metrics").is_open);
}

// ---- requests ----

static void begin(server_order* order) {
    *order = (server_order){0};
    assert_true(server_order_begin(order, "put", 3, SERVER_OPERATOR));
}

static const char* value(const server_order* order, uint32_t at) {
    return (const char*)order->values.data + order->value_offsets[at];
}

static const char* reads_body(const char* text) {
    server_order order;
    begin(&order);
    const char* error = server_body_read(text, strlen(text), &order);
    base_bytes_deinit(&order.values);
    return error;
}

CASE(members_of_a_body_are_arguments) {
    static const char text[] = "{\"client\":7,\"reason\":\"too \\u00e4 \\\"loud\\\"\",\"no\":null,"
                               "\"at\":{\"x\":1.5,\"y\":[true]},\"is\":false}";
    server_order order;
    begin(&order);
    assert_null(server_body_read(text, sizeof text - 1, &order));
    assert_int_equal(order.argument_count, 4);
    assert_string_equal(value(&order, 0), "7");
    assert_string_equal(value(&order, 1), "too \xc3\xa4 \"loud\"");
    assert_string_equal(order.names[2], "at");
    assert_string_equal(value(&order, 2), "{\"x\":1.5,\"y\":[true]}");
    assert_string_equal(value(&order, 3), "false");
    base_bytes_deinit(&order.values);
}

CASE(a_body_that_is_no_object_is_refused) {
    const char* bad = "[] 7 \"x\" { {\"a\":1,} {\"a\":1}{ {a:1} {\"a\":\x80} "
                      "{\"a\":1,\"a\":2} nul {\"a\":\"\\u0000\"}";
    char body[64];
    assert_null(reads_body(""));
    assert_null(reads_body("{}"));
    while (next_word(&bad, body))
        assert_non_null(reads_body(body));
}

CASE(a_body_is_nested_eight_deep_at_most) {
    for (uint32_t depth = SERVER_BODY_DEPTH_MAX - 1; depth <= SERVER_BODY_DEPTH_MAX + 1; depth++) {
        char text[64] = "{\"a\":";
        size_t size = strlen(text);
        for (uint32_t i = 1; i < depth; i++)
            text[size++] = '[';
        for (uint32_t i = 1; i < depth; i++)
            text[size++] = ']';
        text[size++] = '}';
        assert_int_equal(reads_body(text) == NULL, depth <= SERVER_BODY_DEPTH_MAX);
    }
    assert_null(reads_body("{\"a\":\"[[[[[[[[[[\\\"[[[[\"}")); // in a text it is no nesting
}

CASE(arguments_have_limits) {
    server_order order;
    char name[SERVER_ARGUMENT_NAME_BYTES + 1];
    memset(name, 'n', sizeof name);
    begin(&order);
    for (size_t size = sizeof name - 3; size < sizeof name; size++)
        assert_int_equal(server_order_add(&order, name, size, "", 0), size < sizeof name - 1);
    assert_false(server_order_add(&order, "a", 1, "\xff", 1));
    assert_false(server_order_add(&order, "a", 1, "x\0y", 3));
    base_bytes_deinit(&order.values);
    begin(&order);
    for (uint32_t i = 0; i <= SERVER_ARGUMENTS_MAX; i++)
        assert_int_equal(server_order_add(&order, "a", 1, "1", 1), i < SERVER_ARGUMENTS_MAX);
    base_bytes_deinit(&order.values);
    begin(&order);
    char* text = calloc(1, SERVER_ARGUMENT_BYTES_MAX + 1);
    assert_non_null(text);
    memset(text, 'x', SERVER_ARGUMENT_BYTES_MAX);
    for (size_t size = SERVER_ARGUMENT_BYTES_MAX - 2; size <= SERVER_ARGUMENT_BYTES_MAX; size++)
        assert_int_equal(server_order_add(&order, "a", 1, text, size),
                         size < SERVER_ARGUMENT_BYTES_MAX);
    free(text);
    base_bytes_deinit(&order.values);
    assert_true(server_order_begin(&order, text ? "a234567890123456789012345678901" : "", 31, 0));
    assert_false(server_order_begin(&order, "a2345678901234567890123456789012", 32, 0));
}

// ---- verbs ----

typedef struct asked {
    base_bytes json;
    server_answer answer;
} asked;

static void open_asked(asked* it) {
    *it = (asked){0};
    it->answer.json = &it->json;
}

#define ASKED_CASE(name) CASE_WITH(asked, it, open_asked(it), base_bytes_deinit(&it->json), name)

static const char* text_of(asked* it) {
    base_bytes_write_u8(&it->json, 0);
    return (const char*)it->json.data;
}

static int runs(asked* it, server_request* request) {
    server_subject subject = {0};
    request->answer = &it->answer;
    server_verb_run(&subject, request);
    return it->answer.status;
}

ASKED_CASE(a_request_is_checked_by_the_row_of_its_verb) {
    server_request request = {.verb = "end", .right = SERVER_READER};
    assert_int_equal(runs(it, &request), 403);
    request.right = SERVER_OPERATOR;
    request.is_question = true;
    assert_int_equal(runs(it, &request), 405);
    request.is_question = false;
    assert_int_equal(runs(it, &request), 200);
    request.names[0] = "why";
    request.values[0] = "";
    request.argument_count = 1;
    assert_int_equal(runs(it, &request), 400);
    assert_string_equal(text_of(it), "{\"error\":\"end has no argument 'why'\"}");
    request.verb = "stauts";
    assert_int_equal(runs(it, &request), 404);
    assert_string_equal(text_of(it),
                        "{\"error\":\"there is no 'stauts', did you mean 'status'?\"}");
}

ASKED_CASE(each_verb_has_a_row_that_can_be_read) {
    assert_true(server_verb_count() >= 2);
    for (uint32_t i = 0; i < server_verb_count(); i++) {
        const server_verb* verb = server_verb_at(i);
        assert_ptr_equal(server_verb_find(verb->name), verb); // no name twice
        assert_true(strlen(verb->name) < SERVER_VERB_BYTES && verb->help[0] && verb->run);
        assert_true(!verb->is_change || verb->right == SERVER_OPERATOR);
        assert_true(verb->stream_hz <= SERVER_STREAM_HZ_MAX);
        // The row's arguments are read to their end for a name that is not among them.
        server_request request = {.verb = verb->name,
                                  .right = SERVER_OPERATOR,
                                  .argument_count = 1,
                                  .names = {"?"},
                                  .values = {""}};
        assert_int_equal(runs(it, &request), 400);
    }
}

ASKED_CASE(a_line_of_a_person_becomes_a_request) {
    server_request request = {.right = SERVER_OPERATOR, .answer = &it->answer};
    char good[] = "  status  ", unknown[] = "kik 3", more[] = "status now";
    assert_true(server_request_read(&request, good));
    assert_string_equal(request.verb, "status");
    assert_int_equal(request.argument_count, 0);
    assert_false(server_request_read(&request, unknown));
    assert_int_equal(it->answer.status, 404);
    assert_false(server_request_read(&request, more));
    assert_int_equal(it->answer.status, 400);
}
