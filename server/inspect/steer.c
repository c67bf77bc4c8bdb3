// SPDX-License-Identifier: MIT
// Verbs that steer a match. What changes the match itself goes through net_server_control, so it is
// in the log; the others act on sessions, on the network or on the clock.
#include "verbs.h"

#include "host/setup.h"
#include "net/socket.h"
#include "net/token.h"

#include "base/assert.h"
#include "base/text.h"

#include <inttypes.h>
#include <string.h>

#define STEPS_MAX 1000000u
#define WHO_BYTES 128u
#define CONTROL_ARGUMENTS_MAX 3u

// @return false: the match does not run here; the answer says it.
static bool runs_here(const server_subject* subject, const server_request* request) {
    if (!subject->follow) return true;
    return server_refuse(request, 409,
                         "the match of another server is shown here: ask that one to change it");
}

// The first message.
static void keep_words(void* words, const char* file, uint32_t line, const char* message) {
    (void)file, (void)line;
    if (!((char*)words)[0]) (void)base_text_copy(words, BASE_REPORT_BYTES_MAX, message);
}

// ---- the match ----

static int status_of(net_result result) {
    if (result == NET_ERR_CLOSED) return 409;
    return result == NET_ERR_FULL ? 503 : 400;
}

// The arguments of a control, in its order; the rows of the verbs say which it has.
static uint32_t take_arguments(const server_request* request,
                               net_match_argument arguments[CONTROL_ARGUMENTS_MAX]) {
    static const char* const names[] = {"setting", "text", "name", "entity", "path", "value"};
    uint32_t count = 0;
    for (uint32_t i = 0; i < BASE_COUNT(names); i++) {
        const char* value = server_request_find(request, names[i]);
        if (!value) continue;
        BASE_ASSERT(count < CONTROL_ARGUMENTS_MAX);
        arguments[count++] = (net_match_argument){value, strlen(value)};
    }
    return count;
}

static void run_control(server_subject* subject, const server_request* request) {
    net_match_argument arguments[CONTROL_ARGUMENTS_MAX];
    const uint32_t count = take_arguments(request, arguments);
    char words[BASE_REPORT_BYTES_MAX] = "";
    const base_reporter reporter = {keep_words, words};
    if (!runs_here(subject, request)) return;
    if (!subject->has_controls) {
        server_refuse(request, 409,
                      "the log of this match takes no controls: start the "
                      "server with --control, --console, --http or --allow-edits");
        return;
    }
    const net_result result =
        net_server_control(subject->server, request->verb, arguments, count, &reporter);
    if (result != NET_OK) {
        server_refuse(request, status_of(result), "%s",
                      result == NET_ERR_CLOSED ? "the match is over"
                      : words[0]               ? words
                                               : net_result_text(result));
        return;
    }
    base_json_write(request->answer->json, "{done=%s before_tick='%ju'}", request->verb,
                    net_match_tick(subject->match) + 1);
}

static void run_edit(server_subject* subject, const server_request* request) {
    if (subject->may_edit || subject->follow)
        run_control(subject, request);
    else
        server_refuse(request, 403, "%s changes the match: start the server with --allow-edits",
                      request->verb);
}

static void run_reload(server_subject* subject, const server_request* request) {
    (void)request;
    subject->is_reload_asked = true;
    base_json_write(request->answer->json, "{reloads=true}");
}

static void run_save(server_subject* subject, const server_request* request) {
    const char* name = server_request_find(request, "name");
    const net_result result =
        subject->log ? net_log_save(subject->log, name ? name : "") : NET_ERR_CLOSED;
    if (result == NET_OK) {
        base_json_write(request->answer->json, "{saves=true}");
    } else if (result == NET_ERR_FULL) {
        server_refuse(request, 429, "not saved: the save before is on its way");
    } else {
        server_refuse(request, 409,
                      "not saved: the log keeps no last seconds in memory (--log-ring)");
    }
}

static void run_end(server_subject* subject, const server_request* request) {
    (void)request;
    subject->is_end_asked = true;
    base_json_write(request->answer->json, "{ends=true}");
}

static void run_drain(server_subject* subject, const server_request* request) {
    uint64_t seconds = SERVER_DRAIN_S_DEFAULT;
    if (!server_request_number(request, "seconds", 1, SERVER_DRAIN_S_MAX, &seconds)) return;
    subject->drain_s_asked = seconds;
    base_json_write(request->answer->json, "{drains=true seconds=%ju}", seconds);
}

static void run_handover(server_subject* subject, const server_request* request) {
    if (!runs_here(subject, request)) return;
    if (net_server_get_phase(subject->server) > NET_SERVER_RUNNING) {
        server_refuse(request, 409, "the match is over");
    } else if (!subject->stream || subject->stream->status.standbys == 0) {
        server_refuse(request, 409,
                      "no standby is ready to take the match: start one with --standby, and wait "
                      "until `standbys` counts it");
    } else {
        subject->is_handover_asked = true;
        base_json_write(request->answer->json, "{hands_over=true after_tick='%ju'}",
                        net_match_tick(subject->match));
    }
}

static void run_restream(server_subject* subject, const server_request* request) {
    if (!runs_here(subject, request)) return;
    const net_log_counters log = server_subject_log(subject);
    if (!subject->stream) {
        server_refuse(request, 409, "this match has no stream (--stream)");
    } else if (log.segments_deleted > 0 || log.ticks_lost > 0) {
        server_refuse(request, 409, "the log has not all of the match: the stream stays as it is");
    } else {
        subject->is_restream_asked = true;
        base_json_write(request->answer->json, "{begins_again=true}");
    }
}

// ---- its clock ----

static void put_clock(const server_subject* subject, const server_request* request) {
    base_json_write(request->answer->json, "{paused=%i tick='%ju'}",
                    net_server_is_paused(subject->server), net_match_tick(subject->match));
}

static void run_pause(server_subject* subject, const server_request* request) {
    if (!runs_here(subject, request)) return;
    net_server_pause_after(subject->server, strcmp(request->verb, "pause") == 0 ? 0 : UINT64_MAX);
    put_clock(subject, request);
}

static void run_step(server_subject* subject, const server_request* request) {
    uint64_t ticks = 1;
    if (!runs_here(subject, request) ||
        !server_request_number(request, "ticks", 1, STEPS_MAX, &ticks))
        return;
    net_server_pause_after(subject->server, ticks);
    put_clock(subject, request);
}

static void run_net(server_subject* subject, const server_request* request) {
    const char* spec = server_request_find(request, "spec");
    char words[BASE_REPORT_BYTES_MAX] = "";
    const base_reporter reporter = {keep_words, words};
    (void)net_server_wait_sent(subject->server, UINT64_MAX); // its threads send through the link
    if (strcmp(spec, "off") == 0) {
        net_socket_link_set(NULL);
    } else if (!net_host_simulate_network(spec, &reporter)) {
        server_refuse(request, 400, "%s", words);
        return;
    }
    base_json_write(request->answer->json, "{net=%s}", spec);
}

bool server_addresses_read(const char* text, net_address addresses[NET_STANDBYS_MAX],
                           uint32_t* count) {
    char one[NET_ADDRESS_TEXT_BYTES];
    for (*count = 0; *count < NET_STANDBYS_MAX; text++) {
        const size_t size = strcspn(text, ",");
        if (!base_text_format(one, sizeof one, "%.*s", (int)size, text) ||
            net_address_parse(one, &addresses[*count]) != NET_OK || addresses[*count].port == 0)
            return false;
        ++*count;
        text += size;
        if (*text == '\0') return true;
    }
    return false;
}

static void run_standbys(server_subject* subject, const server_request* request) {
    const char* said = server_request_find(request, "addresses");
    net_address addresses[NET_STANDBYS_MAX];
    uint32_t count = 0;
    if (said && strcmp(said, "none") != 0 && !server_addresses_read(said, addresses, &count)) {
        server_refuse(request, 400,
                      "'%s': at most %u addresses of the form 10.0.0.2:7777 with ',', or none",
                      said, NET_STANDBYS_MAX);
        return;
    }
    if (said) net_server_set_standbys(subject->server, addresses, count);
    base_json_write(request->answer->json, "{standbys=%u}",
                    subject->stream ? subject->stream->status.standbys : 0);
}

// ---- who plays ----

static void run_kick(server_subject* subject, const server_request* request) {
    const char* reason = server_request_find(request, "reason");
    uint64_t client = 0;
    if (!server_request_number(request, "client", 1, UINT32_MAX, &client)) return;
    if (!net_server_kick(subject->server, (uint32_t)client, reason ? reason : ""))
        server_refuse(request, 404, "there is no client %" PRIu64, client);
    else
        base_json_write(request->answer->json, "{kicked=%ju}", client);
}

static void run_transfer(server_subject* subject, const server_request* request) {
    const char *token = server_request_find(request, "token"),
               *page = server_request_find(request, "page");
    uint64_t client = 0;
    if (!server_request_number(request, "client", 1, UINT32_MAX, &client)) return;
    const net_result result = net_server_transfer(
        subject->server, (uint32_t)client, server_request_find(request, "address"),
        token ? token : "", page ? page : "", "the operator wants it so");
    if (result == NET_ERR_CLOSED)
        server_refuse(request, 404, "there is no client %" PRIu64 " with a connection", client);
    else if (result != NET_OK)
        server_refuse(request, 400,
                      "an address is HOST:PORT, a token as shoal-server token makes "
                      "it, a page http://... or https://...");
    else
        base_json_write(request->answer->json, "{transferred=%ju}", client);
}

// "3 bad words": the player's number of the token, else the address. Else a line of a file of bans.
static bool read_ban(const server_subject* subject, const server_request* request, net_ban* ban) {
    const char *who = server_request_find(request, "who"),
               *rest = server_request_find(request, "rest");
    char line[NET_BAN_LINE_BYTES_MAX], fault[BASE_REPORT_BYTES_MAX] = "there is no name";
    net_live_peer peer;
    uint64_t client;
    if (!base_text_parse_u64(who, &client)) {
        if (base_text_format(line, sizeof line, "%s %s", who, rest ? rest : "") &&
            net_ban_parse(line, ban, fault, sizeof fault) == NET_OK)
            return true;
        return server_refuse(request, 400, "%s, or the number of a client", fault);
    }
    if (client > UINT32_MAX || !net_server_find_client(subject->server, (uint32_t)client, &peer))
        return server_refuse(request, 404, "there is no client %" PRIu64, client);
    *ban = net_ban_of_address(&peer.identity.address, rest);
    // Who came with a token has a number that its back end gave.
    if (peer.identity.player == 0 || peer.identity.key == 0) return true;
    *ban = (net_ban){.kind = NET_BAN_PLAYER, .id = peer.identity.player};
    (void)base_text_copy(ban->reason, sizeof ban->reason, rest ? rest : "");
    return true;
}

static void run_ban(server_subject* subject, const server_request* request) {
    net_ban ban;
    char text[WHO_BYTES];
    uint32_t ended;
    if (!read_ban(subject, request, &ban)) return;
    const net_result result = net_server_ban(subject->server, &ban, &ended);
    if (result != NET_OK) {
        server_refuse(request, 503, "not banned: %s", net_result_text(result));
        return;
    }
    net_ban_print(&ban, text, sizeof text);
    base_json_write(request->answer->json, "{banned=%s ended=%u}", text, ended);
}

static void run_unban(server_subject* subject, const server_request* request) {
    net_ban ban;
    char text[WHO_BYTES];
    if (!read_ban(subject, request, &ban)) return;
    if (!subject->bans || !net_bans_remove(subject->bans, &ban)) {
        server_refuse(request, 404, "this is not banned");
        return;
    }
    net_ban_print(&ban, text, sizeof text);
    base_json_write(request->answer->json, "{unbanned=%s}", text);
}

static const server_verb verbs[] = {
    {"kick", "client [reason...]", "end the session of a client", SERVER_OPERATOR, true, 0,
     run_kick},
    {"transfer", "client address [token] [page]", "send a client to another match", SERVER_OPERATOR,
     true, 0, run_transfer},
    {"ban", "who [rest...]", "ban a client by its number, or: address A/BITS, player N, key N",
     SERVER_OPERATOR, true, 0, run_ban},
    {"unban", "who [rest...]", "remove a ban: address A/BITS, player N, key N", SERVER_OPERATOR,
     true, 0, run_unban},
    {"say", "text...", "send a line to the players", SERVER_OPERATOR, true, 0, run_control},
    {"set", "setting...", "change a setting of the match, KEY=VALUE (--allow-edits)",
     SERVER_OPERATOR, true, 0, run_edit},
    {"put", "entity path value...", "change a value: put 12:1 pos.x 300 (--allow-edits)",
     SERVER_OPERATOR, true, 0, run_edit},
    {"mark", "name...", "add a mark to the timeline of the log", SERVER_OPERATOR, true, 0,
     run_control},
    {"reload", "", "read keys, bans and the game's files again, as SIGHUP does", SERVER_OPERATOR,
     true, 0, run_reload},
    {"pause", "", "pause the match; its clients stay", SERVER_OPERATOR, true, 0, run_pause},
    {"step", "[ticks]", "run some ticks, then pause", SERVER_OPERATOR, true, 0, run_step},
    {"resume", "", "resume the match", SERVER_OPERATOR, true, 0, run_pause},
    {"net", "spec...", "simulate a network: wifi, 4g, loss=5,delay=40, off", SERVER_OPERATOR, true,
     0, run_net},
    {"standbys", "[addresses]",
     "count the standbys; say where clients find them: 10.0.0.2:7777,10.0.0.3:7777, none",
     SERVER_OPERATOR, true, 0, run_standbys},
    {"save", "[name...]", "keep the last seconds of the log (--log-ring)", SERVER_OPERATOR, true, 0,
     run_save},
    {"drain", "[seconds]", "refuse new players; end when all have left or the time is over",
     SERVER_OPERATOR, true, 0, run_drain},
    {"handover", "", "let a standby that is ready continue the match, and end this server",
     SERVER_OPERATOR, true, 0, run_handover},
    {"restream", "", "begin the stream again, with the match from its first tick on",
     SERVER_OPERATOR, true, 0, run_restream},
    {"end", "", "end the match", SERVER_OPERATOR, true, 0, run_end},
};
const server_verb_set server_steer_verbs = {verbs, BASE_COUNT(verbs)};
