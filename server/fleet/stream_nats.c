// SPDX-License-Identifier: MIT
// JetStream by requests and answers, so that nothing waits: each request has an inbox of its own,
// the library's thread puts what comes into a list, and `take` reads it.
//
//     append   shoal.<identity>, with expectation and id       -> {"seq":N} or {"error":...}
//     last     $JS.API.STREAM.MSG.GET.<stream>                  -> {"message":{"seq":N,"data":...
//       with   $JS.API.STREAM.INFO.<stream>, before             -> {..."state":{..."last_seq":N...
//     read     $JS.API.CONSUMER.CREATE.<stream>.<name>, push    -> messages, "100" flow control
//     report   shoal.<identity>.report, in no stream             -> to readers and writers
//
// libnats' own jetstream calls wait for their answers, and send no expectation for 0.
#include "stream_nats.h"

#include "stream_connection.h"

#include "base/shown.h"
#include "base/text.h"
#include "net/socket.h"

#include <inttypes.h>
#include <jansson.h>
#include <nats/nats.h>
#include <pthread.h>
#include <sodium.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    LAST_BYTES_MAX = 1 << 22, // the newest message, as base64: a broker's are 1 MB
    LIST_MAX = 16384,         // messages that came and were not taken; flow control keeps them few
    SETUP_US = 1000000,       // the stream is asked for again
    ERROR_NO_MESSAGE = 10037, // of JetStream
    ERROR_STREAM_EXISTS = 10058, // with other settings: an operator made it
    TEXT_BYTES = 640,
};

static const char no_jetstream[] =
    "JetStream does not answer: enable it (-js); after a full disk, make room and restart it";

struct server_nats {
    base_owner owner;
    server_nats_config config;
    server_nats_address url;
    char stream[32], subject[32], report[40];

    server_connection* link;
    natsConnection* connection; // of now
    natsInbox* inbox;
    natsSubscription* replies;  // to requests
    natsSubscription* messages; // of the newest read
    natsSubscription* reports;  // of others; NULL before the first read or append
    uint64_t read_request;
    natsMsg* taken;
    json_t* json;     // the newest answer
    uint8_t* decoded; // the newest message out of an answer
    uint32_t decoded_bytes;
    uint64_t end; // newest sequence, as last heard

    uint64_t connections;
    bool has_messages; // the stream, on this connection
    bool has_stream;   // likewise: it was made, or is there
    uint64_t setup_reconnects;
    uint64_t setup_us;
    char trouble[NET_BROKER_TEXT_BYTES];
    char away[NET_BROKER_TEXT_BYTES]; // why there is no connection; empty: there is one
    char said[NET_BROKER_TEXT_BYTES]; // of it
    uint64_t differs_us;              // since when that is something else

    pthread_mutex_t mutex;
    natsMsg* list[LIST_MAX]; // a ring, under the mutex
    uint32_t first, count;
};

// ---- what comes ----

// On any thread.
static void wake(void* context) {
    server_nats* self = context;
    pthread_mutex_lock(&self->mutex);
    if (self->config.wake) self->config.wake(self->config.context);
    pthread_mutex_unlock(&self->mutex);
}

// On a thread of the library. What finds no room is read again: its follower sees the gap.
static void keep_message(natsConnection* connection, natsSubscription* subscription,
                         natsMsg* message, void* context) {
    (void)connection, (void)subscription;
    server_nats* self = context;
    pthread_mutex_lock(&self->mutex);
    const bool has_room = self->count < LIST_MAX;
    if (has_room) self->list[(self->first + self->count++) % LIST_MAX] = message;
    pthread_mutex_unlock(&self->mutex);
    if (!has_room) natsMsg_Destroy(message);
    wake(self);
}

static natsMsg* take_message(server_nats* self) {
    natsMsg* message = NULL;
    pthread_mutex_lock(&self->mutex);
    if (self->count > 0) {
        message = self->list[self->first];
        self->first = (self->first + 1) % LIST_MAX;
        self->count--;
    }
    pthread_mutex_unlock(&self->mutex);
    return message;
}

// While it is not up, calls may wait seconds for the library's lock.
static bool is_up(const server_nats* self) {
    return server_connection_is_up(self->link);
}

// ---- the JSON of answers ----

static bool read_number(const json_t* object, const char* name, uint64_t* number) {
    const json_t* value = json_object_get(object, name);
    if (!json_is_integer(value) || json_integer_value(value) < 0) return false;
    *number = (uint64_t)json_integer_value(value);
    return true;
}

static net_broker_code code_of(uint64_t error) {
    static const uint32_t full[] = {
        10077,                     // of the store
        10002, 10023, 10047, 10028 // of the account, which has used what it may
    };
    if (error == 0) return NET_BROKER_DONE;
    if (error == 10071) return NET_BROKER_WRONG_LAST;
    for (size_t i = 0; i < BASE_COUNT(full); i++)
        if (error == full[i]) return NET_BROKER_FULL;
    // Too long; another stream; one that an older version made, without rollup. Else it starts,
    // elects, or does not know the stream yet.
    return error == 10054 || error == 10060 || error == 10111 ? NET_BROKER_REFUSED
                                                              : NET_BROKER_UNREADY;
}

// @return the error's number; 0: it is none.
static uint64_t read_error(server_nats* self, natsMsg* message, const json_t* json) {
    uint64_t number = 0;
    char text[NET_BROKER_TEXT_BYTES];
    const json_t* error = json_object_get(json, "error");
    if (json && !error) return 0;
    const char* why = json_string_value(json_object_get(error, "description"));
    (void)read_number(error, "err_code", &number);
    if (natsMsg_IsNoResponders(message))
        why = no_jetstream;
    else if (!json)
        why = "an answer cannot be read";
    if (why)
        (void)base_text_format(text, sizeof text, "NATS: %s", why);
    else
        (void)base_text_format(text, sizeof text, "NATS: error %" PRIu64, number);
    (void)base_shown_copy(self->trouble, sizeof self->trouble, text);
    return number > 0 ? number : 1;
}

static void read_append(server_nats* self, natsMsg* message, const json_t* json,
                        net_broker_answer* answer) {
    const uint64_t error = read_error(self, message, json);
    answer->code = code_of(error);
    if (natsMsg_IsNoResponders(message)) self->has_stream = false; // someone deleted it
    if (error > 0) (void)base_text_copy(answer->text, sizeof answer->text, self->trouble);
    if (error == 0 && !read_number(json, "seq", &answer->sequence))
        answer->code = NET_BROKER_UNREADY;
}

static void read_last(server_nats* self, natsMsg* message, const json_t* json,
                      net_broker_answer* answer) {
    const uint64_t error = read_error(self, message, json);
    answer->end = self->end;
    answer->code = error == ERROR_NO_MESSAGE ? NET_BROKER_DONE : code_of(error);
    self->has_messages = self->has_messages && error == 0;
    if (error > 0) return;
    const json_t* last = json_object_get(json, "message");
    const json_t* data = json_object_get(last, "data");
    const size_t size = json_string_length(data);
    if (size <= LAST_BYTES_MAX)
        BASE_ARRAY_RESERVE(&self->owner.allocator, self->decoded, self->decoded_bytes,
                           (uint32_t)size + 1);
    if (!json_is_string(data) || !read_number(last, "seq", &answer->sequence) ||
        sodium_base642bin(self->decoded, self->decoded_bytes, json_string_value(data), size, NULL,
                          &answer->size, NULL, sodium_base64_VARIANT_ORIGINAL) != 0)
        answer->code = NET_BROKER_UNREADY;
    answer->data = self->decoded;
}

// "$JS.ACK.STREAM.CONSUMER.DELIVERED.SEQUENCE.NUMBER_IN_READ...", or with domain and account before
// STREAM.
static uint64_t sequence_of(const char* reply, bool* is_first) {
    uint32_t dots = 0;
    for (const char* at = reply; *at; at++)
        dots += *at == '.';
    const uint32_t wanted = dots >= 10 ? 7 : 5;
    if (dots < 8 || strncmp(reply, "$JS.ACK.", 8) != 0) return 0;
    const char* at = reply;
    for (uint32_t i = 0; i < wanted; i++)
        at = strchr(at, '.') + 1;
    char* end;
    const uint64_t sequence = strtoull(at, &end, 10);
    *is_first = strncmp(end, ".1.", 3) == 0;
    return sequence;
}

// Flow control wants an answer when its place is reached. @return true: it is no message.
static bool is_control(server_nats* self, natsMsg* message) {
    const char* status;
    if (natsMsgHeader_Get(message, "Status", &status) != NATS_OK || natsMsg_IsNoResponders(message))
        return false;
    const char* reply = natsMsg_GetReply(message);
    const char* stalled = NULL;
    if (natsMsgHeader_Get(message, "Nats-Consumer-Stalled", &stalled) == NATS_OK) reply = stalled;
    if (reply && *reply && is_up(self))
        (void)natsConnection_Publish(self->connection, reply, "", 0);
    return true;
}

static void read_setup(server_nats* self, natsMsg* message, const json_t* json) {
    const uint64_t error = read_error(self, message, json);
    self->has_stream = error == 0 || error == ERROR_STREAM_EXISTS;
    if (self->has_stream) self->trouble[0] = 0;
}

static void ask_last(server_nats* self, uint64_t request);

// What it had applied by then; the newest message is asked for after that. @return false: it comes.
static bool read_end(server_nats* self, natsMsg* message, const json_t* json,
                     net_broker_answer* answer) {
    const uint64_t error = read_error(self, message, json);
    answer->code = error == 0 ? NET_BROKER_UNREADY : code_of(error);
    if (error > 0 || !read_number(json_object_get(json, "state"), "last_seq", &self->end))
        return true;
    self->has_messages = self->end > 0;
    if (!self->has_messages && self->config.reader) return true;
    ask_last(self, answer->request);
    return false;
}

// The subject's last part has what was asked: "a17". @return false: there is nothing to give.
static bool read_reply(server_nats* self, natsMsg* message, net_broker_answer* answer) {
    const char* subject = strrchr(natsMsg_GetSubject(message), '.');
    const char* data = natsMsg_GetData(message);
    if (!subject || strlen(subject) < 2) return false;
    json_decref(self->json);
    self->json = json_loadb(data ? data : "", (size_t)natsMsg_GetDataLength(message), 0, NULL);
    const json_t* json = self->json;
    answer->request = strtoull(subject + 2, NULL, 10);
    switch (subject[1]) {
    case 'a':
        read_append(self, message, json, answer);
        return true;
    case 'l':
        read_last(self, message, json, answer);
        return true;
    case 'i':
        return read_end(self, message, json, answer);
    case 'c': // a read that was begun says so by its messages
        answer->code = code_of(read_error(self, message, json));
        return answer->code != NET_BROKER_DONE;
    default:
        read_setup(self, message, json);
        return false;
    }
}

static bool read_message(server_nats* self, natsMsg* message, net_broker_answer* answer) {
    const char* subject = natsMsg_GetSubject(message);
    const bool is_message = strcmp(subject, self->subject) == 0;
    const bool is_report = strcmp(subject, self->report) == 0;
    if (!is_message && !is_report && !is_control(self, message))
        return read_reply(self, message, answer);
    const char* reply = natsMsg_GetReply(message);
    if (is_message && reply) answer->sequence = sequence_of(reply, &answer->is_first);
    if (answer->sequence > 0) self->trouble[0] = 0;
    answer->code = is_report ? NET_BROKER_REPORT : NET_BROKER_MESSAGE;
    answer->request = self->read_request;
    answer->data = (const uint8_t*)natsMsg_GetData(message);
    answer->size = (size_t)natsMsg_GetDataLength(message);
    return answer->sequence > 0 || is_report;
}

static bool take_stored(void* context, net_broker_answer* answer) {
    server_nats* self = context;
    for (;;) {
        natsMsg_Destroy(self->taken);
        self->taken = take_message(self);
        if (!self->taken) return false;
        *answer = (net_broker_answer){.code = NET_BROKER_UNREADY};
        if (read_message(self, self->taken, answer)) return true;
    }
}

// ---- what is asked ----

// A question of JetStream about the stream, or what `name` names of it; not sent: no answer comes.
static void ask(server_nats* self, const char* api, const char* name, char kind, uint64_t request,
                const char* text) {
    char subject[160], reply[128];
    if (is_up(self) &&
        base_text_format(subject, sizeof subject, "$JS.API.%s.%s%s%s", api, self->stream,
                         name[0] ? "." : "", name) &&
        base_text_format(reply, sizeof reply, "%s.r.%c%" PRIu64, (const char*)self->inbox, kind,
                         request))
        (void)natsConnection_PublishRequest(self->connection, subject, reply, text,
                                            (int)strlen(text));
}

static natsStatus subscribe(server_nats* self, const char* subject,
                            natsSubscription** subscription) {
    return server_connection_subscribe(self->link, self->connection, subject, NULL, keep_message,
                                       self, subscription);
}

static void report(void* context, const void* data, size_t size) {
    server_nats* self = context;
    if (is_up(self)) (void)natsConnection_Publish(self->connection, self->report, data, (int)size);
}

static void append(void* context, uint64_t request, const net_broker_append* append) {
    server_nats* self = context;
    natsMsg* message = NULL;
    char reply[128], expected[24];
    if (!is_up(self)) return;
    if (!self->reports) (void)subscribe(self, self->report, &self->reports);
    (void)base_text_format(reply, sizeof reply, "%s.r.a%" PRIu64, (const char*)self->inbox,
                           request);
    (void)base_text_format(expected, sizeof expected, "%" PRIu64, append->expected);
    if (natsMsg_Create(&message, self->subject, reply, (const char*)append->data,
                       (int)append->size) == NATS_OK &&
        natsMsgHeader_Set(message, "Nats-Expected-Last-Sequence", expected) == NATS_OK &&
        natsMsgHeader_Set(message, "Nats-Expected-Stream", self->stream) == NATS_OK &&
        natsMsgHeader_Set(message, "Nats-Msg-Id", append->id) == NATS_OK &&
        (!append->replaces || natsMsgHeader_Set(message, "Nats-Rollup", "all") == NATS_OK))
        (void)natsConnection_PublishMsg(self->connection, message);
    natsMsg_Destroy(message);
}

static void ask_last(server_nats* self, uint64_t request) {
    char text[96];
    (void)base_text_format(text, sizeof text, "{\"last_by_subj\":\"%s\"}", self->subject);
    ask(self, "STREAM.MSG.GET", "", 'l', request, text);
}

// NATS 2.9 ends itself when it is asked for a message of a stream that it is making. Of such a
// stream it says that it has none.
static void last(void* context, uint64_t request, bool with_end) {
    server_nats* self = context;
    if (!with_end && (self->has_messages || !self->config.reader))
        ask_last(self, request);
    else
        ask(self, "STREAM.INFO", "", 'i', request, "");
}

// The broker ends a read whose subject has no subscription any more.
static void read_from(void* context, uint64_t request, uint64_t sequence) {
    server_nats* self = context;
    char name[96], inbox[128], text[TEXT_BYTES];
    if (!is_up(self)) return;
    natsSubscription_Destroy(self->messages);
    self->messages = NULL;
    self->read_request = request;
    (void)base_text_format(inbox, sizeof inbox, "%s.d.%" PRIu64, (const char*)self->inbox, request);
    if (subscribe(self, inbox, &self->messages) != NATS_OK) return;
    const char* own = strrchr((const char*)self->inbox, '.'); // no other connection has it
    (void)base_text_format(name, sizeof name, "%s-%s-%" PRIu64,
                           self->config.reader ? self->config.reader : "reader", own ? own + 1 : "",
                           request);
    (void)base_text_format(
        text, sizeof text,
        "{\"stream_name\":\"%s\",\"config\":{\"name\":\"%s\",\"deliver_subject\":\"%s\","
        "\"deliver_policy\":\"by_start_sequence\",\"opt_start_seq\":%" PRIu64
        ",\"ack_policy\":\"none\",\"max_deliver\":1,\"replay_policy\":\"instant\","
        "\"flow_control\":true,\"idle_heartbeat\":5000000000,\"num_replicas\":1,"
        "\"mem_storage\":true}}",
        self->stream, name, inbox, sequence);
    ask(self, "CONSUMER.CREATE", name, 'c', request, text);
}

static void print_config(const server_nats* self, uint64_t age_min, char text[TEXT_BYTES]) {
    (void)base_text_format(
        text, TEXT_BYTES,
        "{\"name\":\"%s\",\"subjects\":[\"%s\"],\"retention\":\"limits\","
        "\"storage\":\"file\",\"discard\":\"new\",\"max_consumers\":-1,\"max_msgs\":-1,\"max_"
        "bytes\":-1,\"max_age\":%" PRIu64 ",\"num_replicas\":%" PRIu32
        ",\"allow_direct\":true,\"allow_rollup_hdrs\":true}",
        self->stream, self->subject, age_min * UINT64_C(60000000000), self->url.replicas);
}

// Make the stream. On each connection: a broker may have lost it with its disk.
static void set_up(server_nats* self, uint64_t reconnects) {
    char text[TEXT_BYTES];
    const uint64_t now_us = net_loop_now_us();
    if (self->setup_reconnects == reconnects && now_us < self->setup_us + SETUP_US) return;
    self->setup_reconnects = reconnects;
    self->setup_us = now_us;
    print_config(self, self->url.hours * UINT64_C(60), text);
    ask(self, "STREAM.CREATE", "", 's', 0, text);
}

static void drop_connection(server_nats* self) {
    if (self->connection) natsConnection_Close(self->connection);
    natsSubscription_Destroy(self->messages);
    natsSubscription_Destroy(self->replies);
    natsSubscription_Destroy(self->reports);
    natsConnection_Destroy(self->connection);
    self->messages = self->replies = self->reports = NULL;
    self->connection = NULL;
}

// @return is it connected?
static bool look(server_nats* self, uint64_t* reconnects) {
    natsConnection* made;
    uint64_t count;
    char replies[128], reason[128], host[SERVER_NATS_URL_BYTES];
    const bool is_up = server_connection_look(self->link, &made, &count, reason, sizeof reason);
    *reconnects = count > 0 ? count - 1 : 0;
    if (count != self->connections) self->has_messages = false;
    self->connections = count;
    if (made) {
        drop_connection(self);
        self->connection = made;
        (void)base_text_format(replies, sizeof replies, "%s.r.*", (const char*)self->inbox);
        (void)subscribe(self, replies, &self->replies);
        if (self->config.reader) (void)subscribe(self, self->report, &self->reports);
    }
    (void)base_text_copy_public(host, sizeof host, self->url.servers[0]);
    self->away[0] = 0;
    if (!is_up)
        (void)base_text_format(self->away, sizeof self->away, "no connection to %s%s%s",
                               strstr(host, "://") + 3, reason[0] ? ": " : "", reason);
    return is_up;
}

static net_broker_status status(void* context) {
    server_nats* self = context;
    net_broker_status now = {.is_connected = false};
    const bool is_connected = look(self, &now.reconnects);
    pthread_mutex_lock(&self->mutex);
    now.waiting = self->count;
    pthread_mutex_unlock(&self->mutex);
    if (is_connected && self->setup_reconnects != now.reconnects) self->has_stream = false;
    if (is_connected && self->config.creates && !self->has_stream) set_up(self, now.reconnects);
    now.is_connected = is_connected && (self->has_stream || !self->config.creates);
    if (is_connected) {
        const int64_t bytes = natsConnection_GetMaxPayload(self->connection);
        now.payload_bytes_max = bytes <= 0 ? 0 : bytes > UINT32_MAX ? UINT32_MAX : (uint32_t)bytes;
        (void)base_text_copy(now.trouble, sizeof now.trouble,
                             self->trouble[0] || now.is_connected ? self->trouble : no_jetstream);
    } else {
        (void)base_text_copy(now.trouble, sizeof now.trouble, self->away);
    }
    return now;
}

// ---- life ----

void server_nats_write(server_nats* self, void (*wakes)(void* context), void* context) {
    natsSubscription_Destroy(self->messages);
    self->messages = NULL;
    pthread_mutex_lock(&self->mutex);
    self->config.reader = NULL;
    self->config.wake = wakes;
    self->config.context = context;
    pthread_mutex_unlock(&self->mutex);
}

net_result server_nats_open(const server_nats_config* config, const base_reporter* reporter,
                            server_nats** nats_out) {
    *nats_out = NULL;
    server_nats* self = base_owner_create(NULL, sizeof *self);
    self->config = *config;
    self->setup_reconnects = UINT64_MAX;
    pthread_mutex_init(&self->mutex, NULL);
    const bool is_read = server_nats_address_read(&self->url, config->url);
    if (config->identity > 0) self->url.identity = config->identity;
    net_result result = is_read && self->url.identity > 0 ? NET_OK : NET_ERR_ADDRESS;
    if (result != NET_OK) // its text may hold a password
        base_report(reporter, NULL, 0, "%s",
                    is_read ? "the stream's address names no stream (/SHOAL_IDENTITY)"
                            : "the stream's address is nats://HOST[:PORT][,HOST...]/"
                              "[SHOAL_IDENTITY][?replicas=1..5&hours=24&keep-min=60&ca=FILE&"
                              "creds=FILE], or with tls://");
    (void)base_text_format(self->stream, sizeof self->stream, "SHOAL_%016" PRIx64,
                           self->url.identity);
    (void)base_text_format(self->subject, sizeof self->subject, "shoal.%016" PRIx64,
                           self->url.identity);
    (void)base_text_format(self->report, sizeof self->report, "%s.report", self->subject);
    if (result == NET_OK) self->link = server_connection_create(&self->url, 0, wake, self);
    if (result == NET_OK && (!self->link || natsInbox_Create(&self->inbox) != NATS_OK)) {
        const char* text = nats_GetLastError(NULL);
        base_report(reporter, NULL, 0, "NATS: %s", text ? text : "no memory, or no thread");
        result = NET_ERR_ADDRESS;
    }
    if (result == NET_OK)
        *nats_out = self;
    else
        server_nats_close(self);
    return result;
}

void server_nats_close(server_nats* self) {
    if (!self) return;
    drop_connection(self);
    natsInbox_Destroy(self->inbox);
    if (!server_connection_close(self->link)) return; // a thread of the library may use its memory
    for (natsMsg* message; (message = take_message(self));)
        natsMsg_Destroy(message);
    natsMsg_Destroy(self->taken);
    json_decref(self->json);
    pthread_mutex_destroy(&self->mutex);
    base_owner_destroy(self);
}

net_broker server_nats_broker(server_nats* nats) {
    return (net_broker){.context = nats,
                        .status = status,
                        .append = append,
                        .last = last,
                        .read = read_from,
                        .report = report,
                        .take = take_stored};
}

void server_nats_say(server_nats* self, const base_reporter* reporter, uint64_t now_us) {
    enum { PATIENCE_US = 500000 };
    if (strcmp(self->away, self->said) == 0) {
        self->differs_us = 0;
        return;
    }
    if (self->differs_us == 0) self->differs_us = now_us;
    if (self->away[0] && now_us - self->differs_us < PATIENCE_US) return;
    (void)base_text_copy(self->said, sizeof self->said, self->away);
    base_report(reporter, NULL, 0,
                self->away[0] ? "warning: the stream's broker is away: %s"
                              : "note: the stream's broker is back",
                self->away);
}

// Without an age first: NATS 2.9 looks at a shorter one only when the longer one has passed.
void server_nats_end(server_nats* self, const base_reporter* reporter) {
    enum { ANSWER_MS = 1000 };
    char subject[64], text[TEXT_BYTES];
    const uint32_t ages_min[] = {0, self->url.keep_min};
    uint64_t error = 0;
    (void)base_text_format(subject, sizeof subject, "$JS.API.STREAM.UPDATE.%s", self->stream);
    for (uint32_t i = 0; i < BASE_COUNT(ages_min) && ages_min[1] > 0 && error == 0; i++) {
        natsMsg* answer = NULL;
        print_config(self, ages_min[i], text);
        (void)base_text_copy(self->trouble, sizeof self->trouble, "no answer");
        error = !is_up(self) || natsConnection_RequestString(&answer, self->connection, subject,
                                                             text, ANSWER_MS) != NATS_OK;
        if (error > 0) break;
        json_decref(self->json);
        self->json =
            json_loadb(natsMsg_GetData(answer), (size_t)natsMsg_GetDataLength(answer), 0, NULL);
        error = read_error(self, answer, self->json);
        natsMsg_Destroy(answer);
    }
    if (error > 0)
        base_report(reporter, NULL, 0, "warning: the stream is kept longer than keep-min: %s",
                    self->trouble);
}

void server_nats_url(const server_nats* self, char* text, size_t text_bytes) {
    char url[sizeof self->url.servers + sizeof self->stream + 1];
    size_t used = 0;
    for (uint32_t i = 0; i < self->url.server_count; i++) {
        const char* host = strstr(self->url.servers[i], "://") + 3;
        (void)base_text_format(url + used, sizeof url - used, "%s%s", i > 0 ? "," : "",
                               i > 0 ? host : self->url.servers[i]);
        used += strlen(url + used);
    }
    (void)base_text_format(url + used, sizeof url - used, "/%s", self->stream);
    (void)base_text_copy_public(text, text_bytes, url);
}
