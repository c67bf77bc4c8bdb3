// SPDX-License-Identifier: MIT
// How answers of JetStream are read. The library makes the messages; it has no connection.
#include "fleet/stream_connection.h"
#include "fleet/stream_nats.h"

#include "test.h"

// ---- a connection without a broker ----

static natsMsgHandler receive;
static void* receiver;

server_connection* server_connection_create(const server_nats_address* address, int64_t write_ms,
                                            void (*wake)(void* context), void* context) {
    return nats_Open(-1) == NATS_OK ? context : NULL;
}

natsStatus server_connection_subscribe(server_connection* self, natsConnection* connection,
                                       const char* subject, const char* group,
                                       natsMsgHandler callback, void* context,
                                       natsSubscription** made) {
    *made = NULL;
    receive = callback;
    receiver = context;
    return NATS_OK;
}

bool server_connection_is_up(server_connection* self) {
    return self != NULL;
}

bool server_connection_look(server_connection* self, natsConnection** made, uint64_t* count,
                            char* reason, size_t reason_bytes) {
    *count = reason_bytes > 0;
    reason[0] = 0;
    *made = (natsConnection*)(void*)self;
    return true;
}

bool server_connection_close(server_connection* self) {
    return self != NULL;
}

int64_t natsConnection_GetMaxPayload(natsConnection* connection) {
    return connection ? 1 << 20 : 0;
}

void natsConnection_Close(natsConnection* connection) {}

void natsConnection_Destroy(natsConnection* connection) {}

// ---- answers ----

typedef struct row {
    const char *asked, *json;
    net_broker_code code;
    uint64_t sequence;
    const char* text; // of the answer, or its data
} row;

static const row rows[] = {
    {"a1", "{\"stream\":\"S\",\"seq\":17}", NET_BROKER_DONE, 17, ""},
    {"a1", "{\"cluster\":{\"seq\":3},\"seq\":17,\"duplicate\":true}", NET_BROKER_DONE, 17, ""},
    {"a1", "{\"sources\":[{\"error\":{\"err_code\":10077}}],\"seq\":17}", NET_BROKER_DONE, 17, ""},
    {"a1", "{ \"error\" : { \"err_code\" : 10071, \"description\" : \"last\" } }",
     NET_BROKER_WRONG_LAST, 0, "NATS: last"},
    {"a1", "{\"error\":{\"description\":\"no \\\"room\\\"\\n\\u00e9\",\"err_code\":10077}}",
     NET_BROKER_FULL, 0, "NATS: no \"room\"\xC3\xA9"},
    {"a1", "{\"error\":{\"nested\":{\"err_code\":10077},\"err_code\":10054}}", NET_BROKER_REFUSED,
     0, "NATS: error 10054"},
    {"a1", "{\"seq\":-1}", NET_BROKER_UNREADY, 0, ""},
    {"a1", "{\"seq\":17", NET_BROKER_UNREADY, 0, "NATS: an answer cannot be read"},
    {"l1", "{\"message\":{\"subject\":\"s\",\"seq\":9,\"data\":\"aGk=\"}}", NET_BROKER_DONE, 9,
     "hi"},
    {"l1", "{\"seq\":1,\"data\":\"\",\"message\":{\"data\":\"YT8\\/\",\"seq\":9}}", NET_BROKER_DONE,
     9, "a??"},
    {"l1", "{\"message\":{\"seq\":9,\"data\":\"*\"}}", NET_BROKER_UNREADY, 9, ""},
    {"l1", "{\"message\":{\"seq\":9}}", NET_BROKER_UNREADY, 0, ""},
    {"l1", "{\"error\":{\"err_code\":10037}}", NET_BROKER_DONE, 0, ""},
    {"i1", "{\"config\":{\"last_seq\":5},\"state\":{\"last_seq\":0}}", NET_BROKER_UNREADY, 0, ""},
    {"c1", "{\"error\":{\"err_code\":10002}}", NET_BROKER_FULL, 0, ""},
};

CASE(answers_are_read_by_their_fields_wherever_these_stand) {
    server_nats* nats;
    const server_nats_config config = {
        .url = "nats://127.0.0.1:1", .identity = 7, .reader = "standby"};
    assert_int_equal(server_nats_open(&config, NULL, &nats), NET_OK);
    const net_broker broker = server_nats_broker(nats);
    assert_true(broker.status(broker.context).is_connected);
    for (uint32_t i = 0; i < BASE_COUNT(rows); i++) {
        char subject[32];
        natsMsg* message;
        net_broker_answer answer;
        assert_true(base_text_format(subject, sizeof subject, "inbox.r.%s", rows[i].asked));
        assert_int_equal(
            natsMsg_Create(&message, subject, NULL, rows[i].json, (int)strlen(rows[i].json)),
            NATS_OK);
        receive(NULL, NULL, message, receiver);
        assert_true(broker.take(broker.context, &answer));
        print_message("row %u\n", i);
        assert_true(answer.code == rows[i].code && answer.request == 1);
        assert_int_equal(answer.sequence, rows[i].sequence);
        const char* text = answer.data ? (const char*)answer.data : answer.text;
        assert_memory_equal(text, rows[i].text, answer.data ? answer.size : strlen(text) + 1);
    }
    server_nats_close(nats);
}
