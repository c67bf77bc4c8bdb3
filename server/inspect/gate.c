// SPDX-License-Identifier: MIT
// The order of the checks: whom the request is for (Host), which page sends it (Origin), what it
// carries (the type of its body), and then who sends it (the token). A foreign page thus learns
// nothing about tokens, and costs its user none of his five wrong ones.
#define _GNU_SOURCE // explicit_bzero, strsep

#include "gate.h"

#include "base/text.h"
#include "host/keys.h"

#include <string.h>
#include <strings.h>

#define MINUTE_US UINT64_C(60000000)

// ---- tokens ----

static bool is_token(const char* text, size_t size) {
    if (size < SERVER_TOKEN_BYTES_MIN || size > SERVER_TOKEN_BYTES_MAX) return false;
    for (size_t i = 0; i < size; i++)
        if (text[i] <= ' ' || text[i] > '~') return false;
    return true;
}

static bool take_line(server_gate* self, char* line, const char* file, uint32_t number,
                      const base_reporter* reporter) {
    line += strspn(line, " \t");
    const size_t word = strcspn(line, " \t");
    if (word == 0 || line[0] == '#') return true;
    const bool is_operator = word == 8 && memcmp(line, "operator", word) == 0;
    if (!is_operator && (word != 6 || memcmp(line, "reader", word) != 0))
        return base_report(reporter, file, number,
                           "a line is \"reader TOKEN\" or \"operator TOKEN\"");
    const char* token = line + word + strspn(line + word, " \t");
    const size_t size = strcspn(token, " \t");
    if (!is_token(token, size) || token[size + strspn(token + size, " \t")] != 0)
        return base_report(reporter, file, number,
                           "a token is %u to %u visible characters of ASCII",
                           SERVER_TOKEN_BYTES_MIN, SERVER_TOKEN_BYTES_MAX);
    uint8_t* target = self->tokens[is_operator ? SERVER_OPERATOR : SERVER_READER];
    if (target[0]) return base_report(reporter, file, number, "a second token of the same right");
    memcpy(target, token, size);
    return true;
}

bool server_gate_read(server_gate* self, const char* file, char* text,
                      const base_reporter* reporter) {
    uint32_t number = 0;
    for (char* rest = text; rest;) {
        char* line = strsep(&rest, "\n");
        line[strcspn(line, "\r")] = 0;
        if (!take_line(self, line, file, ++number, reporter)) return false;
    }
    if (!self->tokens[SERVER_OPERATOR][0] && !self->tokens[SERVER_READER][0])
        return base_report(reporter, file, 0, "has no token");
    if (memcmp(self->tokens[0], self->tokens[1], sizeof self->tokens[0]) == 0)
        return base_report(reporter, file, 0, "reader and operator have the same token");
    self->has_tokens = true;
    return true;
}

static bool load_tokens(server_gate* self, const char* file, const base_reporter* reporter) {
    net_host_secret secret;
    char text[NET_HOST_SECRET_BYTES_MAX + 1];
    if (!net_host_read_secret_file(file, &secret, reporter)) return false;
    memcpy(text, secret.bytes, secret.size);
    text[secret.size] = 0;
    net_host_wipe_secret(&secret);
    const bool is_read = server_gate_read(self, file, text, reporter);
    explicit_bzero(text, sizeof text);
    return is_read;
}

// They become part of a header and of JSON as they are.
static bool check_pages(const base_option_list* pages, const base_reporter* reporter) {
    for (uint32_t i = 0; i < pages->count; i++)
        if (i >= NET_STANDBYS_MAX || server_gate_origin(pages->values[i]) == 0)
            return base_report(reporter, NULL, 0,
                               "--stream page: at most %u, each http(s)://HOST[:PORT]/play",
                               NET_STANDBYS_MAX);
    return true;
}

bool server_gate_init(server_gate* self, const net_address* listens, const char* token_file,
                      const base_option_list* hosts, const base_option_list* pages,
                      const base_reporter* reporter) {
    *self = (server_gate){.listens = *listens, .hosts = hosts, .pages = pages};
    if (!check_pages(pages, reporter)) return false;
    for (uint32_t i = 0; i < hosts->count; i++) {
        if (hosts->values[i][0] && strlen(hosts->values[i]) < SERVER_HOST_BYTES_MAX) continue;
        return base_report(reporter, NULL, 0, "--http host: a name has 1 to %u bytes",
                           SERVER_HOST_BYTES_MAX - 1);
    }
    if (token_file) return load_tokens(self, token_file, reporter);
    if (net_address_is_loopback(listens)) return true;
    return base_report(reporter, NULL, 0,
                       "--http: an address that others reach needs --http token-file=FILE; with "
                       "127.0.0.1 only this machine reaches it");
}

void server_gate_deinit(server_gate* self) {
    explicit_bzero(self->tokens, sizeof self->tokens);
}

// ---- Host and Origin ----

/// The host of "host", "host:7780" or "[::1]:7780", without port and brackets.
static bool cut_host(const char* text, char host[SERVER_HOST_BYTES_MAX]) {
    const bool is_bracketed = text[0] == '[';
    text += is_bracketed;
    const size_t size = strcspn(text, is_bracketed ? "]" : ":");
    if (size == 0 || size >= SERVER_HOST_BYTES_MAX) return false;
    memcpy(host, text, size);
    host[size] = 0;
    text += size;
    if (is_bracketed && *text++ != ']') return false;
    if (*text == 0) return true;
    return *text == ':' && strspn(text + 1, "0123456789") == strlen(text + 1);
}

static bool is_own_literal(const server_gate* self, const char* host) {
    char text[SERVER_HOST_BYTES_MAX + 8];
    net_address address;
    const bool is_ipv6 = strchr(host, ':') != NULL;
    if (!base_text_format(text, sizeof text, is_ipv6 ? "[%s]:1" : "%s:1", host)) return false;
    if (net_address_parse(text, &address) != NET_OK) return false;
    if (net_address_is_loopback(&address)) return true;
    return memcmp(address.ip, self->listens.ip, sizeof address.ip) == 0 &&
           !net_address_is_wildcard(&address);
}

static bool is_our_host(const server_gate* self, const char* text) {
    char host[SERVER_HOST_BYTES_MAX];
    if (!text || !cut_host(text, host)) return false;
    if (strcasecmp(host, "localhost") == 0 || is_own_literal(self, host)) return true;
    for (uint32_t i = 0; i < self->hosts->count; i++)
        if (strcasecmp(host, self->hosts->values[i]) == 0) return true;
    return false;
}

static size_t scheme_bytes(const char* url) {
    return strncmp(url, "http://", 7) == 0 ? 7 : strncmp(url, "https://", 8) == 0 ? 8 : 0;
}

static bool is_same_origin(const char* origin, const char* host) {
    const size_t scheme = scheme_bytes(origin);
    return scheme > 0 && strcasecmp(origin + scheme, host) == 0;
}

size_t server_gate_origin(const char* page) {
    static const char letters[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
                                  "0123456789.-_:/[]";
    const size_t size = strlen(page), scheme = scheme_bytes(page);
    const size_t host = strcspn(page + scheme, "/");
    return size < SERVER_HOST_BYTES_MAX && strspn(page, letters) == size && scheme > 0 && host > 0
               ? scheme + host
               : 0;
}

static bool is_page_of_match(const server_gate* self, const char* origin) {
    for (uint32_t i = 0; i < self->pages->count; i++)
        if (strlen(origin) == server_gate_origin(self->pages->values[i]) &&
            strncasecmp(origin, self->pages->values[i], strlen(origin)) == 0)
            return true;
    return false;
}

static bool is_json(const char* type) {
    static const char json[] = "application/json";
    if (!type || strncasecmp(type, json, sizeof json - 1) != 0) return false;
    const char after = type[sizeof json - 1];
    return after == 0 || after == ';' || after == ' ';
}

// ---- five wrong ones a minute ----

// A right token always comes in: behind a proxy all have one address, and the guesses of one must
// lock out none of them. Guessing on does not help: a token has 16 characters at
// least, by chance where the operator made it so.

static server_wrong* find_wrong(server_gate* self, const net_address* from) {
    for (uint32_t i = 0; i < self->wrong_count; i++)
        if (net_address_is_same_home(&self->wrong[i].from, from)) return &self->wrong[i];
    return NULL;
}

static void count_wrong(server_gate* self, const net_address* from, uint64_t now_us) {
    server_wrong* it = find_wrong(self, from);
    if (!it) {
        it = &self->wrong[0];
        if (self->wrong_count < SERVER_GATE_ADDRESSES_MAX)
            it = &self->wrong[self->wrong_count++];
        else
            for (uint32_t i = 1; i < self->wrong_count; i++)
                if (self->wrong[i].newest_us < it->newest_us) it = &self->wrong[i];
        *it = (server_wrong){.from = *from, .since_us = now_us};
    }
    if (now_us - it->since_us >= MINUTE_US) {
        it->since_us = now_us;
        it->count = 0;
    }
    it->count++;
    it->newest_us = now_us;
}

static bool has_guessed_enough(server_gate* self, const net_address* from, uint64_t now_us) {
    const server_wrong* it = find_wrong(self, from);
    return it && it->count >= SERVER_GATE_WRONG_MAX && now_us - it->since_us < MINUTE_US;
}

// The time depends on no byte of either.
static bool is_equal(const uint8_t* a, const uint8_t* b) {
    volatile uint8_t differs = 0;
    for (uint32_t i = 0; i < SERVER_TOKEN_BYTES_MAX; i++)
        differs = (uint8_t)(differs | (a[i] ^ b[i]));
    return differs == 0;
}

static server_welcome check_token(server_gate* self, const server_knock* knock, uint64_t now_us) {
    static const char bearer[] = "Bearer ";
    uint8_t given[SERVER_TOKEN_BYTES_MAX] = {0};
    if (!knock->authorization) return server_gate_refuse(401, "this needs a token");
    bool has_form = strncasecmp(knock->authorization, bearer, sizeof bearer - 1) == 0;
    const char* token = knock->authorization + (has_form ? sizeof bearer - 1 : 0);
    const size_t size = strlen(token);
    has_form = has_form && is_token(token, size);
    if (has_form) memcpy(given, token, size);
    const bool is_reader = is_equal(given, self->tokens[SERVER_READER]);
    const bool is_operator = is_equal(given, self->tokens[SERVER_OPERATOR]);
    explicit_bzero(given, sizeof given);
    if (has_form && (is_reader || is_operator))
        return (server_welcome){.status = 200,
                                .right = is_operator ? SERVER_OPERATOR : SERVER_READER};
    if (has_guessed_enough(self, &knock->from, now_us))
        return server_gate_refuse(429, "too many wrong tokens: wait a minute, then try again");
    count_wrong(self, &knock->from, now_us);
    return server_gate_refuse(401, "this token is not known here");
}

server_welcome server_gate_check(server_gate* self, const server_knock* knock, uint64_t now_us) {
    if (!is_our_host(self, knock->host))
        return server_gate_refuse(403, "this server has another name: --http host names it");
    if (knock->origin && !is_same_origin(knock->origin, knock->host) &&
        !(knock->is_socket && is_page_of_match(self, knock->origin)))
        return server_gate_refuse(403, "a page of another site may not ask this");
    if (knock->is_post && !is_json(knock->content_type))
        return server_gate_refuse(400, "a body must be application/json");
    if (knock->is_open) return (server_welcome){.status = 200, .right = SERVER_READER};
    if (!self->has_tokens) return (server_welcome){.status = 200, .right = SERVER_OPERATOR};
    server_welcome welcome = check_token(self, knock, now_us);
    if (welcome.status == 200 && knock->is_post && welcome.right == SERVER_READER)
        return server_gate_refuse(403, "a reader changes nothing: no POST");
    return welcome;
}
