// SPDX-License-Identifier: MIT
// Streams: an order that is repeated, whose newest answer goes to all that read it.
//
// A connection that is still sending one frame when the next ones come takes the newest of them
// afterwards: a slow reader loses frames, and nothing is queued for it. A frame stays as it is
// while a connection sends it; so there are as many frames as connections and publications.
#include "http.h"

#include "base/assert.h"
#include "net/socket.h"

#include <string.h>

static uint32_t order_of(const server_inspect* self, const http_publication* it) {
    return HTTP_VISITS_MAX + (uint32_t)(it - self->publications);
}

static void release_frame(http_frame** frame) {
    if (!*frame) return;
    BASE_ASSERT((*frame)->users > 0);
    (*frame)->users--;
    *frame = NULL;
}

// Exchange buffers with the answer, so that neither is copied.
static void put_frame(server_inspect* self, http_publication* it, base_bytes* answer) {
    release_frame(&it->newest);
    http_frame* frame = self->frames;
    while (frame->users > 0)
        frame++;
    BASE_ASSERT(frame < self->frames + HTTP_FRAMES_MAX);
    const base_bytes empty = frame->bytes;
    frame->bytes = *answer;
    *answer = empty;
    base_bytes_clear(answer);
    frame->users = 1;
    it->newest = frame;
    it->sequence++;
}

static bool has_same_order(const server_order* a, const server_order* b) {
    if (strcmp(a->verb, b->verb) != 0 || a->right != b->right ||
        a->argument_count != b->argument_count || a->values.size != b->values.size)
        return false;
    for (uint32_t i = 0; i < a->argument_count; i++)
        if (strcmp(a->names[i], b->names[i]) != 0 || a->value_offsets[i] != b->value_offsets[i])
            return false;
    return a->values.size == 0 || memcmp(a->values.data, b->values.data, a->values.size) == 0;
}

static http_publication* find_publication(server_inspect* self, const server_order* order) {
    for (uint32_t i = 0; i < HTTP_PUBLICATIONS_MAX; i++) {
        http_publication* it = &self->publications[i];
        if (it->is_used && !it->has_ended &&
            has_same_order(server_orders_get(self->orders, order_of(self, it)), order))
            return it;
    }
    return NULL;
}

// Take a free place and the visit's order. @return NULL: there are too many.
static http_publication* begin_publication(server_inspect* self, server_order* order, uint32_t hz) {
    http_publication* it = NULL;
    uint32_t of_readers = 0;
    for (uint32_t i = 0; i < HTTP_PUBLICATIONS_MAX; i++) {
        http_publication* at = &self->publications[i];
        if (!at->is_used)
            it = it ? it : at;
        else
            of_readers +=
                server_orders_get(self->orders, order_of(self, at))->right == SERVER_READER;
    }
    if (!it || (order->right == SERVER_READER && of_readers >= HTTP_READER_PUBLICATIONS_MAX))
        return NULL;
    *it = (http_publication){.is_used = true,
                             .type = order->answer.type,
                             .period_us = 1000000 / hz,
                             .next_us = net_loop_now_us() + 1000000 / hz};
    http_due(self, it->next_us);
    server_order* own = server_orders_get(self->orders, order_of(self, it));
    const base_bytes values = own->values;
    memcpy(own->verb, order->verb, sizeof own->verb);
    memcpy(own->names, order->names, sizeof own->names);
    memcpy(own->value_offsets, order->value_offsets, sizeof own->value_offsets);
    own->argument_count = order->argument_count;
    own->right = order->right;
    own->is_question = true;
    own->values = order->values;
    order->values = values;
    put_frame(self, it, &order->json);
    return it;
}

// Between two requests of a place its order may still be on its way: it is free when that is back.
static void free_if_left(http_publication* it) {
    if (it->readers > 0 || it->is_asked) return;
    release_frame(&it->newest);
    it->is_used = false;
}

void http_publication_leave(http_visit* visit) {
    http_publication* it = visit->publication;
    release_frame(&visit->frame);
    if (!it) return;
    BASE_ASSERT(it->readers > 0);
    it->readers--;
    visit->publication = NULL;
    free_if_left(it);
}

// An MHD_ContentReaderCallback.
static ssize_t read_stream(void* context, uint64_t position, char* target, size_t capacity) {
    (void)position;
    http_visit* visit = context;
    http_publication* it = visit->publication;
    BASE_ASSERT(it && it->is_used);
    if (it->has_ended) return MHD_CONTENT_READER_END_OF_STREAM;
    if (!visit->frame) {
        if (visit->sequence == it->sequence) {
            visit->is_waiting = true;
            visit->until_us = 0;
            MHD_suspend_connection(visit->connection);
            return 0;
        }
        visit->frame = it->newest;
        visit->frame->users++;
        visit->frame_sent = 0;
        visit->inspect->frames_lost += it->sequence - visit->sequence - 1;
        visit->sequence = it->sequence;
        http_limit(visit, 1);
    }
    size_t size = visit->frame->bytes.size - visit->frame_sent;
    if (size > capacity) size = capacity;
    memcpy(target, visit->frame->bytes.data + visit->frame_sent, size);
    visit->frame_sent += size;
    if (visit->frame_sent == visit->frame->bytes.size) release_frame(&visit->frame);
    return (ssize_t)size;
}

static uint32_t count_streams(const server_inspect* self) {
    uint32_t count = 0;
    for (uint32_t i = 0; i < HTTP_PUBLICATIONS_MAX; i++)
        if (self->publications[i].is_used) count += self->publications[i].readers;
    return count;
}

enum MHD_Result http_publish(server_inspect* self, http_visit* visit, uint32_t hz) {
    static const char too_many[] = "there are too many streams";
    BASE_ASSERT(hz > 0 && hz <= SERVER_STREAM_HZ_MAX && !visit->publication);
    server_order* order = server_orders_get(self->orders, (uint32_t)(visit - self->visits));
    if (count_streams(self) >= HTTP_STREAMS_MAX || order->json.size == 0)
        return http_send_error(visit, 503, too_many);
    http_publication* it = find_publication(self, order);
    if (!it) it = begin_publication(self, order, hz);
    if (!it) return http_send_error(visit, 503, too_many);
    struct MHD_Response* response =
        MHD_create_response_from_callback(MHD_SIZE_UNKNOWN, 32 << 10, read_stream, visit, NULL);
    it->readers++;
    visit->publication = it;
    visit->sequence = it->sequence - 1;
    visit->state = HTTP_STREAM;
    if (!response) return MHD_NO;
    enum MHD_Result result = MHD_NO;
    if (http_add_headers(response, it->type))
        result = MHD_queue_response(visit->connection, 200, response);
    MHD_destroy_response(response);
    return result;
}

void http_publication_answered(server_inspect* self, uint32_t index) {
    BASE_ASSERT(index >= HTTP_VISITS_MAX);
    http_publication* it = &self->publications[index - HTTP_VISITS_MAX];
    server_order* order = server_orders_get(self->orders, index);
    BASE_ASSERT(it->is_used && it->is_asked);
    it->is_asked = false;
    if (order->answer.status != 200)
        it->has_ended = true;
    else if (order->json.size > 0)
        put_frame(self, it, &order->json);
    for (uint32_t i = 0; i < HTTP_VISITS_MAX; i++) {
        http_visit* visit = &self->visits[i];
        if (visit->publication != it || !visit->is_waiting) continue;
        visit->is_waiting = false;
        MHD_resume_connection(visit->connection);
    }
    free_if_left(it);
}

uint64_t http_publications_run(server_inspect* self, uint64_t now_us) {
    uint64_t next_us = UINT64_MAX;
    for (uint32_t i = 0; i < HTTP_PUBLICATIONS_MAX; i++) {
        http_publication* it = &self->publications[i];
        if (!it->is_used || it->is_asked || it->has_ended) continue;
        if (it->next_us <= now_us) {
            it->is_asked = true;
            it->next_us += it->period_us;
            if (it->next_us <= now_us) it->next_us = now_us + it->period_us;
            server_orders_push(self->orders, order_of(self, it));
        } else if (it->next_us < next_us) {
            next_us = it->next_us;
        }
    }
    return next_us;
}
