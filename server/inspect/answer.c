// SPDX-License-Identifier: MIT
// From a request to its answer.
//
// MHD calls http_handle when the headers came, for each piece of the body, and when all is there. A
// question for the match becomes the visit's order then: the connection is suspended, and the
// handler is called once more when the order came back.
#include "http.h"

#include "base/assert.h"
#include "base/text.h"
#include "inspect/metrics.h"
#include "net/socket.h"

#include <errno.h>
#include <inttypes.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>
#include <unistd.h>
#include <jansson.h>
#include <stdlib.h>

// ---- answers that need no match ----

static enum MHD_Result send_page(http_visit* visit) {
    char tag[32];
    const server_page_file* file = server_page_find(visit->path);
    BASE_ASSERT(file);
    const bool is_fixed = // browsers keep its headers too, and those of a 304 change none
        strcmp(visit->path, SERVER_PLAY_PATH) != 0 || visit->inspect->config.pages.count == 0;
    const bool is_packed = is_fixed && file->packed && http_takes_gzip(visit);
    const uint8_t* bytes = is_packed ? file->packed : file->bytes;
    (void)base_text_format(tag, sizeof tag, "\"%s%s\"", file->tag, is_packed ? "-gz" : "");
    struct MHD_Response* response =
        MHD_create_response_from_buffer(is_packed ? file->packed_size : file->size,
                                        (void*)(uintptr_t)bytes, MHD_RESPMEM_PERSISTENT);
    return is_fixed ? http_respond_kept(visit, file->type, tag, is_packed, response)
                    : http_respond(visit, 200, file->type, response);
}

static enum MHD_Result send_game(const server_inspect* self, http_visit* visit) {
    char tag[64];
    const char* name = self->config.game;
    const server_route* route = &visit->route;
    const bool is_ours =
        route->name_bytes == strlen(name) && memcmp(route->name, name, route->name_bytes) == 0;
    int file = is_ours && http_takes_gzip(visit) ? http_open_game(self, true) : -1;
    const bool is_packed = file >= 0;
    if (is_ours && !is_packed) file = http_open_game(self, false);
    struct stat status;
    if (file >= 0 && fstat(file, &status) == 0 && S_ISREG(status.st_mode) && status.st_size > 0) {
        http_limit(visit, HTTP_IDLE_FILE);
        (void)base_text_format(tag, sizeof tag, "\"%" PRIx64 "-%" PRIx64 "-%" PRIx64 "%s\"",
                               (uint64_t)status.st_size, (uint64_t)status.st_mtim.tv_sec,
                               (uint64_t)status.st_mtim.tv_nsec, is_packed ? "-gz" : "");
        struct MHD_Response* response =
            MHD_create_response_from_fd64((uint64_t)status.st_size, file);
        if (!response) close(file);
        return http_respond_kept(visit, "application/wasm", tag, is_packed, response);
    }
    if (file >= 0) close(file);
    if (file < 0 && (errno == EMFILE || errno == ENFILE))
        return http_send_error(visit, 503, base_error_text(errno));
    return http_send_error(
        visit, 404, "the game was not built for browsers: scripts/web FOLDER, or -DSHOAL_WEB=ON");
}

// What needs the loop cannot be answered: /metrics has what this thread knows.
static enum MHD_Result send_stalled(const server_inspect* self, http_visit* visit) {
    const server_route* route = &visit->route;
    if (route->name_bytes != 7 || memcmp(route->name, "metrics", 7) != 0)
        return http_send_error(visit, 503, "main loop is stalled");
    base_bytes text;
    base_bytes_init(&text, NULL);
    const server_inspect_counts counts = server_inspect_get_counts(self);
    server_metrics_write_stalled(http_stalled_us(self), &counts, &text);
    const enum MHD_Result result = http_send(visit, 200, SERVER_METRICS_TYPE, text.data, text.size);
    base_bytes_deinit(&text);
    return result;
}

static enum MHD_Result send_health(server_inspect* self, http_visit* visit) {
    const uint64_t pass_us = self->pass_us;
    const uint64_t age_us = net_loop_now_us() - pass_us;
    char text[64];
    if (http_stalled_us(self) > 0) return http_send_error(visit, 503, "main loop is stalled");
    (void)base_text_format(text, sizeof text, "{\"pass_ms\":%.1f}", (double)age_us * 1e-3);
    return http_send(visit, 200, NULL, text, strlen(text));
}

static enum MHD_Result send_ready(server_inspect* self, http_visit* visit) {
    static const char text[] = "{\"ready\":true}";
    if (http_stalled_us(self) > 0) return http_send_error(visit, 503, "main loop is stalled");
    if (!self->is_ready) return http_send_error(visit, 503, "no player may join now");
    return http_send(visit, 200, NULL, text, sizeof text - 1);
}

// Names are of a-z, 0-9 and _.
static enum MHD_Result send_play(const server_inspect* self, http_visit* visit) {
    const base_option_list* pages = &self->config.pages;
    char text[128 + NET_STANDBYS_MAX * (SERVER_HOST_BYTES_MAX + 4)];
    (void)base_text_format(text, sizeof text, "{\"game\":\"%s\",\"plays\":%s,\"pages\":[",
                           self->config.game, self->config.upgrade ? "true" : "false");
    for (uint32_t i = 0; i < pages->count; i++)
        (void)base_text_format(text + strlen(text), sizeof text - strlen(text), "%s\"%s\"",
                               i ? "," : "", pages->values[i]);
    (void)base_text_format(text + strlen(text), sizeof text - strlen(text), "]}");
    return http_send(visit, 200, NULL, text, strlen(text));
}

// ---- a request begins ----

static http_visit* visit_of(struct MHD_Connection* connection) {
    const union MHD_ConnectionInfo* info =
        MHD_get_connection_info(connection, MHD_CONNECTION_INFO_SOCKET_CONTEXT);
    return info ? info->socket_context : NULL;
}

size_t http_unescape(void* inspect, struct MHD_Connection* connection, char* text) {
    (void)inspect;
    const size_t size = MHD_http_unescape(text);
    http_visit* visit = visit_of(connection);
    if (visit && strlen(text) != size) visit->is_malformed = true;
    return size;
}

typedef struct header_check {
    uint32_t hosts, lengths;
    bool has_blank;
} header_check;

// An MHD_KeyValueIteratorN. What a proxy may read in another way than MHD: a header twice, and a
// name with a blank (RFC 9112, 5.1 and 6.3).
static enum MHD_Result check_header(void* context, enum MHD_ValueKind kind, const char* key,
                                    size_t key_bytes, const char* value, size_t value_bytes) {
    (void)kind, (void)value, (void)value_bytes;
    header_check* it = context;
    it->hosts += strcasecmp(key, "Host") == 0;
    it->lengths += strcasecmp(key, "Content-Length") == 0;
    it->has_blank = it->has_blank || strcspn(key, " \t") != key_bytes;
    return MHD_YES;
}

static bool is_malformed(http_visit* visit) {
    header_check check = {0};
    (void)MHD_get_connection_values_n(visit->connection, MHD_HEADER_KIND, check_header, &check);
    if (check.hosts > 1 || check.lengths > 1 || check.has_blank) visit->is_malformed = true;
    return visit->is_malformed;
}

static const char* header(http_visit* visit, const char* name) {
    return MHD_lookup_connection_value(visit->connection, MHD_HEADER_KIND, name);
}

// May the request come in, by its headers? Its body is not there yet.
static server_welcome check_headers(server_inspect* self, http_visit* visit) {
    const bool is_post = strcmp(visit->method, "POST") == 0;
    const server_knock knock = {.host = header(visit, "Host"),
                                .origin = header(visit, "Origin"),
                                .authorization = header(visit, "Authorization"),
                                .content_type = header(visit, "Content-Type"),
                                .from = visit->from,
                                .is_post = is_post,
                                .is_open = visit->route.is_open,
                                .is_socket = visit->route.kind == SERVER_ROUTE_SOCKET};
    const char* length = header(visit, "Content-Length");
    uint64_t size = 0;
    if (is_malformed(visit))
        return server_gate_refuse(
            400, "a NUL in the path, a blank in a header's name, or two of one header");
    // Else a supervisor restarts a server because others look at it.
    if (!visit->route.is_anywhere && !http_has_place(visit))
        return server_gate_refuse(503, "there are too many connections");
    if (!is_post && strcmp(visit->method, "GET") != 0 && strcmp(visit->method, "HEAD") != 0)
        return server_gate_refuse(405, "GET or POST");
    if (header(visit, "Transfer-Encoding"))
        return server_gate_refuse(400, "a body needs a Content-Length");
    if (length && (!base_text_parse_u64(length, &size) || (size > 0 && !is_post)))
        return server_gate_refuse(400, "only POST has a body, and its Content-Length is a number");
    if (size > HTTP_BODY_BYTES_MAX) return server_gate_refuse(413, "a body has at most 64 KiB");
    server_welcome welcome = {.status = 200};
    if (!visit->route.is_anywhere)
        welcome = server_gate_check(&self->gate, &knock, net_loop_now_us());
    const bool is_log =
        visit->route.kind == SERVER_ROUTE_LOG_INFO || visit->route.kind == SERVER_ROUTE_LOG_BYTES;
    if (welcome.status == 200 && is_log && welcome.right == SERVER_READER)
        return server_gate_refuse(403, "a log is for operators; /watch/bytes is for readers");
    if (welcome.status == 200 && visit->route.kind == SERVER_ROUTE_NONE)
        return server_gate_refuse(404, "there is nothing under this path");
    return welcome;
}

static enum MHD_Result begin_answer(server_inspect* self, http_visit* visit, const char* url,
                                    const char* method) {
    visit->state = HTTP_BEGUN;
    base_bytes_clear(&visit->body);
    visit->is_too_long = false;
    const bool fits = base_text_copy(visit->path, sizeof visit->path, url) &&
                      base_text_copy(visit->method, sizeof visit->method, method);
    visit->route = server_route_find(fits ? visit->path : "");
    visit->welcome = check_headers(self, visit);
    // A body that is refused is not read: the answer closes the connection.
    const char* length = header(visit, "Content-Length");
    const bool has_body =
        (length && strcmp(length, "0") != 0) || header(visit, "Transfer-Encoding");
    if (visit->welcome.status == 200 || !has_body) return MHD_YES;
    http_limit(visit, 1);
    return http_send_error(visit, visit->welcome.status, visit->welcome.error);
}

// ---- the body of a POST ----
//
// Jansson reads it. How deep it is nested is counted before: its own limit is 2,048.

static bool is_too_deep(const char* text, size_t size) {
    uint32_t depth = 0;
    bool is_in_text = false;
    for (size_t i = 0; i < size; i++) {
        if (is_in_text && text[i] == '\\')
            i++;
        else if (text[i] == '"')
            is_in_text = !is_in_text;
        else if (!is_in_text && (text[i] == '{' || text[i] == '[') &&
                 ++depth > SERVER_BODY_DEPTH_MAX)
            return true;
        else if (!is_in_text && (text[i] == '}' || text[i] == ']') && depth > 0)
            depth--;
    }
    return false;
}

static bool add_word(server_order* order, const char* name, const json_t* value) {
    if (json_is_null(value)) return true;
    if (json_is_string(value))
        return server_order_add(order, name, strlen(name), json_string_value(value),
                                json_string_length(value));
    char* text = json_dumps(value, JSON_COMPACT | JSON_ENCODE_ANY);
    const bool is_in = text && server_order_add(order, name, strlen(name), text, strlen(text));
    free(text);
    return is_in;
}

const char* server_body_read(const char* text, size_t size, server_order* order) {
    if (size == 0) return NULL;
    if (is_too_deep(text, size)) return "the body is nested too deeply";
    json_t* root = json_loadb(text, size, JSON_REJECT_DUPLICATES, NULL);
    const char* error = NULL;
    if (!root)
        error = "the body is not JSON";
    else if (!json_is_object(root))
        error = "the body is not a JSON object";
    const char* name;
    json_t* value;
    if (!error) json_object_foreach(root, name, value) {
            if (!add_word(order, name, value))
                error = "there are too many arguments, or one is too long";
        }
    json_decref(root);
    return error;
}

// ---- an order ----

typedef struct query {
    server_order* order;
    bool is_wrong;
} query;

// An MHD_KeyValueIteratorN.
static enum MHD_Result add_query(void* context, enum MHD_ValueKind kind, const char* key,
                                 size_t key_bytes, const char* value, size_t value_bytes) {
    (void)kind;
    query* it = context;
    // Readers of one thing share one stream of it, so its rate is not theirs to choose.
    if (it->order->right == SERVER_READER && key_bytes == 2 && memcmp(key, "hz", 2) == 0)
        return MHD_YES;
    it->is_wrong = it->is_wrong || !server_order_add(it->order, key, key_bytes, value ? value : "",
                                                     value ? value_bytes : 0);
    return MHD_YES;
}

static enum MHD_Result ask(server_inspect* self, http_visit* visit) {
    const uint32_t index = (uint32_t)(visit - self->visits);
    server_order* order = server_orders_get(self->orders, index);
    const server_route* route = &visit->route;
    const bool is_post = strcmp(visit->method, "POST") == 0;
    query it = {.order = order};
    if (!server_order_begin(order, route->name, route->name_bytes, visit->welcome.right))
        return http_send_error(visit, 404, "there is no such verb");
    order->is_question = !is_post;
    if (route->id) it.is_wrong = !server_order_add(order, "id", 2, route->id, route->id_bytes);
    (void)MHD_get_connection_values_n(visit->connection, MHD_GET_ARGUMENT_KIND, add_query, &it);
    if (it.is_wrong) return http_send_error(visit, 400, "too many arguments, or one too long");
    const char* error =
        is_post ? server_body_read((const char*)visit->body.data, visit->body.size, order) : NULL;
    if (error) return http_send_error(visit, 400, error);
    visit->is_with_loop = true;
    visit->state = HTTP_ASKED;
    visit->until_us = 0;
    MHD_suspend_connection(visit->connection);
    server_orders_push(self->orders, index);
    return MHD_YES;
}

static enum MHD_Result answer(server_inspect* self, http_visit* visit) {
    const server_order* order = server_orders_get(self->orders, (uint32_t)(visit - self->visits));
    http_limit(visit, 1);
    if (visit->is_with_loop) return send_stalled(self, visit);
    const bool is_stream = order->answer.status == 200 && order->answer.stream_hz > 0;
    if (is_stream && self->is_stopping) return http_send_error(visit, 503, "the program ends");
    if (is_stream) return http_publish(self, visit, order->answer.stream_hz);
    return http_send(visit, order->answer.status, order->answer.type, order->json.data,
                     order->json.size);
}

static enum MHD_Result answer_whole(server_inspect* self, http_visit* visit) {
    if (visit->welcome.status != 200)
        return http_send_error(visit, visit->welcome.status, visit->welcome.error);
    if (visit->is_too_long) return http_send_error(visit, 413, "a body has at most 64 KiB");
    const bool is_post = strcmp(visit->method, "POST") == 0;
    if (is_post && visit->route.kind != SERVER_ROUTE_VERB)
        return http_send_error(visit, 405, "GET this");
    switch (visit->route.kind) {
    case SERVER_ROUTE_PAGE:
        return send_page(visit);
    case SERVER_ROUTE_GAME:
        return send_game(self, visit);
    case SERVER_ROUTE_HEALTH:
        return send_health(self, visit);
    case SERVER_ROUTE_READY:
        return send_ready(self, visit);
    case SERVER_ROUTE_VERB:
        return http_stalled_us(self) > 0 || visit->is_with_loop ? send_stalled(self, visit)
                                                                : ask(self, visit);
    case SERVER_ROUTE_LOG_INFO:
    case SERVER_ROUTE_LOG_BYTES:
    case SERVER_ROUTE_WATCH_INFO:
    case SERVER_ROUTE_WATCH_BYTES:
        return http_send_file(self, visit);
    case SERVER_ROUTE_PLAY:
        return send_play(self, visit);
    case SERVER_ROUTE_SOCKET:
        return http_upgrade(self, visit);
    case SERVER_ROUTE_NONE:
        break;
    }
    BASE_ASSERT(false && "check_headers refuses it");
    return MHD_NO;
}

enum MHD_Result http_handle(void* inspect, struct MHD_Connection* connection, const char* url,
                            const char* method, const char* version, const char* upload,
                            size_t* upload_bytes, void** request) {
    (void)version;
    server_inspect* self = inspect;
    http_visit* visit = visit_of(connection);
    if (!visit) return MHD_NO;
    if (!*request) {
        *request = visit;
        return begin_answer(self, visit, url, method);
    }
    if (*upload_bytes > 0) {
        visit->is_too_long =
            visit->is_too_long || *upload_bytes > HTTP_BODY_BYTES_MAX - visit->body.size;
        if (!visit->is_too_long) base_bytes_write(&visit->body, upload, *upload_bytes);
        *upload_bytes = 0;
        return MHD_YES;
    }
    if (visit->state == HTTP_ANSWERED) return answer(self, visit);
    if (self->is_stopping) return http_send_error(visit, 503, "the program ends");
    if (visit->state == HTTP_FOLLOWS) return http_send_file(self, visit);
    http_limit(visit, 1);
    return answer_whole(self, visit);
}
