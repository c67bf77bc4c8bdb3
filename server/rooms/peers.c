// SPDX-License-Identifier: MIT
#define _GNU_SOURCE // pipe2

#include "peers.h"

#include "fleet/stream_connection.h"

#include "base/alloc.h"
#include "base/text.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum {
    SUBJECTS_MAX = 224, // of 64 games, and some
    WRITE_MS = 100,     // a broker that takes nothing for so long is away
};

typedef struct peer_subject {
    char text[SERVER_PEER_SUBJECT_BYTES];
    bool is_group, is_wanted;
    natsSubscription* subscription; // NULL: not wanted, or there is no connection
    natsSubscription* drained;      // not wanted any more; what the broker sent before still comes
} peer_subject;

struct server_peers {
    base_owner owner;
    server_connection* link;
    natsConnection* connection; // of now
    natsInbox* inbox;
    bool is_up;
    peer_subject subjects[SUBJECTS_MAX]; // the first one is that of answers
    uint32_t subject_count;
    natsMsg* lent; // until the next one
    int pipe[2];   // addresses of messages, from the library's thread; NULL: look at the connection
};

// @return false: the pipe is full.
static bool push_message(const server_peers* self, natsMsg* message) {
    return write(self->pipe[1], &message, sizeof message) == sizeof message;
}

static void wake(void* context) {
    (void)push_message(context, NULL);
}

// On the library's thread.
static void keep_message(natsConnection* connection, natsSubscription* subscription,
                         natsMsg* message, void* context) {
    (void)connection, (void)subscription;
    if (!push_message(context, message)) natsMsg_Destroy(message);
}

static natsMsg* pop_message(const server_peers* self) {
    natsMsg* message = NULL;
    while (!message && read(self->pipe[0], &message, sizeof message) == sizeof message) {
    }
    return message;
}

static bool peers_next(server_peers* self, server_peer_message* message) {
    natsMsg_Destroy(self->lent);
    self->lent = pop_message(self);
    if (!self->lent) return false;
    const char* subject = natsMsg_GetSubject(self->lent);
    const char* reply = natsMsg_GetReply(self->lent);
    const size_t inbox = strlen((const char*)self->inbox);
    // Answers go to inboxes, never to another subject.
    const bool is_asked = reply && strncmp(reply, "_INBOX.", 7) == 0;
    const bool is_answer = strncmp(subject, (const char*)self->inbox, inbox) == 0;
    *message = (server_peer_message){
        .subject = is_answer ? "" : subject,
        .reply = is_asked ? reply : "",
        .number = is_answer ? strtoull(subject + inbox + 1, NULL, 10) : 0,
        .is_nobody = is_answer && natsMsg_IsNoResponders(self->lent),
        .text = natsMsg_GetData(self->lent),
        .size = (size_t)natsMsg_GetDataLength(self->lent),
    };
    return true;
}

// ---- the connection

static void drop_connection(server_peers* self) {
    if (self->connection) natsConnection_Close(self->connection);
    for (uint32_t i = 0; i < self->subject_count; i++) {
        natsSubscription_Destroy(self->subjects[i].subscription);
        natsSubscription_Destroy(self->subjects[i].drained);
        self->subjects[i].subscription = self->subjects[i].drained = NULL;
    }
    natsConnection_Destroy(self->connection);
    self->connection = NULL;
}

static bool peers_pass(server_peers* self) {
    natsConnection* made;
    uint64_t count;
    char reason[128];
    self->is_up = server_connection_look(self->link, &made, &count, reason, sizeof reason);
    if (made) {
        drop_connection(self);
        self->connection = made;
    }
    for (uint32_t i = 0; self->is_up && i < self->subject_count; i++) {
        peer_subject* subject = &self->subjects[i];
        if (subject->drained && !natsSubscription_IsValid(subject->drained)) {
            natsSubscription_Destroy(subject->drained);
            subject->drained = NULL;
        }
        if (subject->is_wanted && !subject->subscription) {
            (void)server_connection_subscribe(self->link, self->connection, subject->text,
                                              subject->is_group ? "hosts" : NULL, keep_message,
                                              self, &subject->subscription);
        } else if (!subject->is_wanted && subject->subscription && !subject->drained) {
            (void)natsSubscription_Drain(subject->subscription);
            subject->drained = subject->subscription;
            subject->subscription = NULL;
        }
    }
    return self->is_up;
}

static void peers_listen(server_peers* self, const char* subject, bool is_group, bool is_wanted) {
    uint32_t at = 0;
    while (at < self->subject_count && strcmp(self->subjects[at].text, subject) != 0)
        at++;
    if (at == SUBJECTS_MAX || (at == self->subject_count && !is_wanted)) return;
    if (at == self->subject_count) {
        (void)base_text_copy(self->subjects[at].text, sizeof self->subjects[at].text, subject);
        self->subjects[at].is_group = is_group;
        self->subject_count++;
    }
    self->subjects[at].is_wanted = is_wanted;
}

static void peers_send(server_peers* self, const char* subject, uint64_t number, const void* bytes,
                       size_t size) {
    char reply[128];
    (void)base_text_format(reply, sizeof reply, "%s.%llu", (const char*)self->inbox,
                           (unsigned long long)number);
    if (!self->is_up) return;
    if (number > 0)
        (void)natsConnection_PublishRequest(self->connection, subject, reply, bytes, (int)size);
    else
        (void)natsConnection_Publish(self->connection, subject, bytes, (int)size);
}

static void peers_answer(server_peers* self, const char* reply, const void* bytes, size_t size) {
    if (self->is_up) (void)natsConnection_Publish(self->connection, reply, bytes, (int)size);
}

static int peers_descriptor(const server_peers* peers) {
    return peers->pipe[0];
}

// ---- life

static void peers_destroy(server_peers* self) {
    if (!self) return;
    drop_connection(self);
    natsInbox_Destroy(self->inbox);
    if (!server_connection_close(self->link)) return; // a thread of the library may use its memory
    for (natsMsg* message; (message = pop_message(self));)
        natsMsg_Destroy(message);
    natsMsg_Destroy(self->lent);
    close(self->pipe[0]);
    close(self->pipe[1]);
    base_owner_destroy(self);
}

static server_peers* peers_create(const char* url, const base_reporter* reporter) {
    server_peers* self = base_owner_create(NULL, sizeof *self);
    server_nats_address address;
    const bool has_pipe = pipe2(self->pipe, O_NONBLOCK | O_CLOEXEC) == 0;
    const bool is_read = server_nats_address_read(&address, url) && address.identity == 0;
    if (is_read && has_pipe) self->link = server_connection_create(&address, WRITE_MS, wake, self);
    if (self->link && natsInbox_Create(&self->inbox) == NATS_OK) {
        char answers[SERVER_PEER_SUBJECT_BYTES];
        (void)base_text_format(answers, sizeof answers, "%s.*", (const char*)self->inbox);
        peers_listen(self, answers, false, true);
        return self;
    }
    const char* why = nats_GetLastError(NULL);
    base_report(reporter, NULL, 0, "fleet: %s", // the URL may hold a password
                !is_read ? "it needs nats://HOST[:PORT][,HOST...][?ca=FILE&creds=FILE], or tls://"
                : why    ? why
                         : "no memory, or no thread");
    peers_destroy(self);
    return NULL;
}

const server_broker server_broker_nats = {peers_create, peers_destroy, peers_descriptor,
                                          peers_pass,   peers_listen,  peers_send,
                                          peers_answer, peers_next};
