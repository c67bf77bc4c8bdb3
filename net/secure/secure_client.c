// SPDX-License-Identifier: MIT
// A client shows what it has until something answers: first the resume token of its last session to
// each address of the server in turn, then its token to each. The first answer counts, and says for
// which of them. All requests of one attempt have the same chance in them, so a late answer counts
// too. Waits grow only when all addresses were asked with all that it has: of 8 addresses the last
// one is asked after 1.75 s, with the token after 3.75 s.
//
// Only an answer that is signed ends an attempt, or ends it for the token that it is about. A
// notice without a signature is given out at once, and becomes the reason when nothing else comes.
// "Not now" ends nothing: that server stands by for another one, and may take its place soon.
//
// A client does not look what day it is: its clock may be wrong by years. When a token
// expires, the server knows.
//
// While a session is open, other servers can be asked whether they take it over. Their challenge,
// which none but a server with the same keys can write, is an offer. The session goes on until its
// user begins again; then the offer is a round trip that is not needed any more.
#include "secure/secure_client.h"

#include "base/assert.h"

#include <sodium.h>

#include <string.h>

void net_secure_client_init(net_secure_client* client, const net_security* security) {
    BASE_ASSERT(security->entropy && sodium_init() >= 0);
    memset(client, 0, sizeof *client);
    client->entropy = *security->entropy;
    client->protocol = security->protocol ? security->protocol : NET_TOKEN_PROTOCOL;
    client->has_token = security->token != NULL;
    client->token.is_there = client->has_token;
    if (security->token) client->token.token = *security->token;
    client->dev_player_id = security->dev_player_id;
    while (client->dev_player_id == 0)
        client->entropy.fill(client->entropy.context, &client->dev_player_id,
                             sizeof client->dev_player_id);
}

void net_secure_client_deinit(net_secure_client* client) {
    sodium_memzero(client, sizeof *client);
}

// It never expires: its key is public, and the clocks of machines at home may be wrong.
static void make_dev_token(net_secure_client* client) {
    net_token_claims claims = {.player_id = client->dev_player_id,
                               .protocol = client->protocol,
                               .expiry_unix_s = UINT64_MAX};
    const net_result made = net_token_make_dev(&claims, &client->entropy, &client->token.token);
    BASE_ASSERT(made == NET_OK);
    client->token.is_there = true;
}

// ---- an attempt

// The server answered a request.
static void prove(net_secure_client* client, const net_secure_clock* clock,
                  const net_secure_offer* challenge) {
    client->shown = challenge->shown;
    client->proof = challenge->proof;
    client->server = challenge->server;
    net_outer_response_write(client->random, &client->shown->token, &client->proof, client->hello);
    client->state = NET_SECURE_CLIENT_PROVING;
    client->answered_us = client->send_us = clock->now_us;
    client->wait_us = NET_SECURE_RESEND_US;
}

const net_address* net_secure_client_offer(const net_secure_client* client,
                                           const net_secure_clock* clock) {
    const net_secure_offer* offer = &client->offer;
    return offer->is_there && clock->now_us - offer->at_us <= NET_SECURE_OFFER_US_MAX
               ? &offer->server
               : NULL;
}

static bool is_listed(const net_address* address, const net_address* list, uint32_t count) {
    for (uint32_t i = 0; i < count; i++)
        if (net_address_equal(address, &list[i])) return true;
    return false;
}

void net_secure_client_begin(net_secure_client* client, const net_secure_clock* clock,
                             const net_address* addresses, uint32_t count) {
    BASE_ASSERT(count >= 1 && count <= NET_SECURE_ADDRESSES_MAX);
    // The same token again replaces the session of before.
    if (!client->token.is_there) make_dev_token(client);
    memcpy(client->addresses, addresses, count * sizeof *addresses);
    client->address_count = count;
    client->sent_count = 0;
    client->state = NET_SECURE_CLIENT_ASKING;
    client->end = NET_SECURE_END_NONE;
    client->answer = NET_SECURE_END_NONE;
    client->is_news = false;
    client->resume.is_denied = client->token.is_denied = false;
    const net_address* offered = net_secure_client_offer(client, clock);
    const bool is_offered = offered && is_listed(offered, addresses, count);
    client->shown = NULL;
    client->asked_count = 0;
    client->offer.is_there = client->offer.is_news = false;
    client->answered_us = client->send_us = clock->now_us;
    client->wait_us = NET_SECURE_RESEND_US;
    client->session = 0;
    sodium_memzero(&client->sender, sizeof client->sender);
    sodium_memzero(&client->receiver, sizeof client->receiver);
    if (is_offered)
        prove(client, clock, &client->offer); // with the random bytes of the question
    else
        client->entropy.fill(client->entropy.context, client->random, sizeof client->random);
}

static void end_session(net_secure_client* client, net_secure_end reason) {
    client->state = NET_SECURE_CLIENT_ENDED;
    client->end = reason;
    client->session = 0;
    sodium_memzero(&client->sender, sizeof client->sender);
    sodium_memzero(&client->receiver, sizeof client->receiver);
}

static bool may_show(const net_secure_credential* credential) {
    return credential->is_there && !credential->is_denied;
}

static bool has_both(const net_secure_client* client) {
    return may_show(&client->resume) && may_show(&client->token);
}

static size_t send_hello(net_secure_client* client, uint64_t now_us,
                         uint8_t out[NET_OUTER_HELLO_BYTES], net_address* to) {
    if (client->state == NET_SECURE_CLIENT_ASKING) {
        const net_secure_credential* const all[] = {&client->resume, &client->token};
        const uint32_t round = client->sent_count / client->address_count;
        const uint32_t turn = has_both(client) ? round % 2 : !may_show(&client->resume);
        net_outer_request_write(client->random, &all[turn]->token, client->hello);
        client->server = client->addresses[client->sent_count % client->address_count];
        client->sent_count++;
    }
    client->send_us = now_us + client->wait_us;
    if (client->state == NET_SECURE_CLIENT_ASKING &&
        client->sent_count >= client->address_count * (has_both(client) ? 2 : 1))
        client->wait_us += NET_SECURE_RESEND_STEP_US;
    if (client->wait_us > NET_SECURE_RESEND_US_MAX) client->wait_us = NET_SECURE_RESEND_US_MAX;
    memcpy(out, client->hello, NET_OUTER_HELLO_BYTES);
    *to = client->server;
    return NET_OUTER_HELLO_BYTES;
}

size_t net_secure_client_service(net_secure_client* client, const net_secure_clock* clock,
                                 uint8_t out[NET_OUTER_HELLO_BYTES], net_address* to) {
    if (client->state != NET_SECURE_CLIENT_ASKING && client->state != NET_SECURE_CLIENT_PROVING)
        return 0;
    if (clock->now_us - client->answered_us >= NET_SECURE_ANSWER_US_MAX) {
        end_session(client,
                    client->answer != NET_SECURE_END_NONE ? client->answer : NET_SECURE_END_SILENT);
        return 0;
    }
    if (clock->now_us < client->send_us) return 0;
    return send_hello(client, clock->now_us, out, to);
}

// ---- answers

// @return false: it answers no request of ours.
static bool read_challenge(net_secure_client* client, const net_secure_clock* clock,
                           const net_address* from, const uint8_t* bytes,
                           net_secure_offer* challenge) {
    const net_secure_credential* const all[] = {&client->resume, &client->token};
    *challenge = (net_secure_offer){.server = *from, .at_us = clock->now_us};
    for (uint32_t i = 0; i < BASE_COUNT(all) && !challenge->shown; i++)
        if (all[i]->is_there &&
            net_outer_challenge_read(bytes, client->random, all[i]->token.server_key,
                                     &challenge->proof))
            challenge->shown = all[i];
    client->stats.counts[challenge->shown ? NET_SECURE_CHALLENGES : NET_SECURE_DATA_FORGED]++;
    return challenge->shown != NULL;
}

static void take_challenge(net_secure_client* client, const net_secure_clock* clock,
                           const net_address* from, const uint8_t* bytes,
                           net_secure_answer* answer) {
    net_secure_offer challenge;
    if (!read_challenge(client, clock, from, bytes, &challenge)) return;
    prove(client, clock, &challenge);
    answer->reply_size = send_hello(client, clock->now_us, answer->reply, &answer->reply_to);
}

// What is wrong with a token concerns that one, and answers a request only: a server that sent a
// challenge has accepted it.
static void take_denial(net_secure_client* client, net_secure_credential* shown,
                        net_secure_end reason) {
    if (reason > NET_SECURE_END_TOKEN) { // not now, or of a later version: it goes on
        client->stats.counts[NET_SECURE_DENIED]++;
        if (reason == NET_SECURE_END_NOT_NOW && client->answer == NET_SECURE_END_NONE)
            client->answer = reason;
        return;
    }
    const bool is_of_token = reason == NET_SECURE_END_EXPIRED || reason == NET_SECURE_END_ELSEWHERE;
    if (is_of_token && client->state != NET_SECURE_CLIENT_ASKING) return;
    client->stats.counts[NET_SECURE_DENIED]++;
    shown->is_denied = true;
    client->answer = reason;
    if (!is_of_token || !(may_show(&client->resume) || may_show(&client->token)))
        end_session(client, reason);
}

static void take_notice(net_secure_client* client, net_secure_end reason, uint32_t version) {
    const bool is_other = version != NET_SECURE_VERSION;
    if (client->answer != NET_SECURE_END_NONE ||
        reason != (is_other ? NET_SECURE_END_VERSION : NET_SECURE_END_TOKEN))
        return;
    client->answer = is_other || client->has_token ? reason : NET_SECURE_END_NO_TOKEN;
    client->is_news = true;
}

static void take_deny(net_secure_client* client, const uint8_t* bytes, size_t size) {
    net_secure_credential* const all[] = {&client->token, &client->resume};
    net_secure_end reason = NET_SECURE_END_NONE;
    uint32_t version = 0, i = 0;
    bool is_ours = false, is_signed = false;
    for (; i < BASE_COUNT(all) && !is_signed; i++)
        is_ours = net_outer_deny_read(bytes, size, client->random,
                                      all[i]->is_there ? all[i]->token.server_key : NULL, &reason,
                                      &version, &is_signed);
    if (!is_ours)
        client->stats.counts[NET_SECURE_DATA_FORGED]++;
    else if (is_signed)
        take_denial(client, all[i - 1], reason);
    else
        take_notice(client, reason, version);
}

net_secure_end net_secure_client_take_notice(net_secure_client* client) {
    const net_secure_end answer = client->is_news ? client->answer : NET_SECURE_END_NONE;
    client->is_news = false;
    return answer;
}

static void keep_resume_token(net_secure_client* client, const uint8_t* bytes) {
    client->offer.is_there = client->offer.is_news = false; // it is about the one before
    client->resume.is_there = true;
    net_outer_resume_read(bytes, client->protocol, &client->resume.token);
}

// The keys are known only now, since the server's chance of the session is in the datagram itself.
static void take_accept(net_secure_client* client, const net_secure_clock* clock, uint8_t* bytes) {
    const net_secure_credential* shown = client->shown;
    const uint8_t* session_random = bytes + NET_OUTER_HEAD_BYTES;
    uint8_t key[NET_KEY_BYTES], *inner = NULL;
    size_t inner_size = 0;
    bool is_newest = false;
    net_crypt_derive(shown->token.server_key, NET_CRYPT_TO_CLIENT, client->proof.server_random,
                     client->random, session_random, key);
    net_crypt_receiver_init(&client->receiver, key);
    net_crypt_derive(shown->token.client_key, NET_CRYPT_TO_SERVER, client->proof.server_random,
                     client->random, session_random, key);
    if (net_crypt_open(&client->receiver, clock->now_us, bytes, NET_OUTER_ACCEPT_BYTES,
                       NET_OUTER_RANDOM_BYTES, &inner, &inner_size, &is_newest) == NET_CRYPT_OK) {
        net_crypt_sender_init(&client->sender, key, clock->now_us);
        client->session = net_crypt_session(bytes);
        client->state = NET_SECURE_CLIENT_OPEN;
        client->stats.counts[NET_SECURE_ACCEPTED]++;
        keep_resume_token(client, inner);
    } else {
        client->stats.counts[NET_SECURE_DATA_FORGED]++;
    }
    sodium_memzero(key, sizeof key);
}

// ---- inside of a session

static void take_inside(net_secure_client* client, const net_secure_clock* clock,
                        net_outer_type type, uint8_t* inner, size_t size,
                        net_secure_answer* answer) {
    if (type == NET_OUTER_DATA || type == NET_OUTER_STATE) {
        answer->inner = inner;
        answer->inner_size = size;
        answer->is_packet = type == NET_OUTER_STATE;
    } else if (type == NET_OUTER_CLOSE) {
        end_session(client, size > 0 && inner[0] != NET_SECURE_END_NONE ? (net_secure_end)inner[0]
                                                                        : NET_SECURE_END_CLOSED);
    } else if (type == NET_OUTER_PATH && size == NET_OUTER_PATH_BYTES - NET_SECURE_OVERHEAD_BYTES) {
        answer->reply_size = net_secure_client_send(client, clock->now_us, type, inner, size,
                                                    answer->reply, &answer->reply_to);
    } else if (type == NET_OUTER_ACCEPT) {
        keep_resume_token(client, inner);
    }
}

static void receive_inside(net_secure_client* client, const net_secure_clock* clock, uint8_t* bytes,
                           size_t size, net_secure_answer* answer) {
    net_outer_type type = (net_outer_type)(bytes[0] & NET_OUTER_TYPE_MASK);
    size_t clear_size = type == NET_OUTER_ACCEPT ? NET_OUTER_RANDOM_BYTES : 0, inner_size = 0;
    uint8_t* inner = NULL;
    bool is_newest = false;
    if (type != NET_OUTER_STATE && net_crypt_session(bytes) != client->session) {
        client->stats.counts[NET_SECURE_SESSION_UNKNOWN]++;
        return;
    }
    net_crypt_result result = net_crypt_open(&client->receiver, clock->now_us, bytes, size,
                                             clear_size, &inner, &inner_size, &is_newest);
    if (result == NET_CRYPT_OK) {
        take_inside(client, clock, type, inner, inner_size, answer);
    } else if (result == NET_CRYPT_REPLAYED) {
        client->stats.counts[NET_SECURE_REPLAYED]++;
    } else if (result == NET_CRYPT_FORGED) {
        client->stats.counts[NET_SECURE_DATA_FORGED]++;
    } else {
        client->stats.counts[NET_SECURE_FORGERY_LIMIT]++;
        end_session(client, NET_SECURE_END_NONE); // lost, not closed
    }
}

// ---- other servers, beside an open session

size_t net_secure_client_ask(net_secure_client* client, const net_address* other,
                             uint8_t out[NET_OUTER_HELLO_BYTES]) {
    if (client->state != NET_SECURE_CLIENT_OPEN || net_address_equal(other, &client->server))
        return 0;
    if (!is_listed(other, client->asked, client->asked_count)) {
        if (client->asked_count == NET_STANDBYS_MAX)
            memmove(client->asked, client->asked + 1,
                    --client->asked_count * sizeof *client->asked);
        client->asked[client->asked_count++] = *other;
    }
    const net_secure_credential* shown = client->resume.is_there ? &client->resume : &client->token;
    net_outer_request_write(client->random, &shown->token, out);
    return NET_OUTER_HELLO_BYTES;
}

bool net_secure_client_take_offer(net_secure_client* client) {
    const bool is_news = client->offer.is_news;
    client->offer.is_news = false;
    return is_news;
}

// Only a challenge counts. What a DENY says is the same as silence.
static void take_from_other(net_secure_client* client, const net_secure_clock* clock,
                            const net_address* from, const uint8_t* bytes, size_t size) {
    net_secure_offer offer;
    if (size == NET_OUTER_DENY_BYTES && bytes[0] == NET_OUTER_DENY)
        client->stats.counts[NET_SECURE_DENIED]++;
    else if (size != NET_OUTER_CHALLENGE_BYTES || bytes[0] != NET_OUTER_CHALLENGE)
        client->stats.counts[NET_SECURE_BAD_TYPE]++;
    else if (!net_secure_client_offer(client, clock) &&
             read_challenge(client, clock, from, bytes, &offer)) {
        client->offer = offer;
        client->offer.is_there = client->offer.is_news = true;
    }
}

// ---- what comes

// While it asks, each address of the server may answer; from the challenge on that of the answer.
// A wildcard goes to a host of the system's choice.
static bool is_from_server(const net_secure_client* client, const net_address* from) {
    if (client->state != NET_SECURE_CLIENT_ASKING) return net_address_equal(from, &client->server);
    for (uint32_t i = 0; i < client->address_count; i++) {
        const net_address* asked = &client->addresses[i];
        if (net_address_equal(from, asked) ||
            (net_address_is_wildcard(asked) && from->port == asked->port))
            return true;
    }
    return false;
}

static bool is_of_session(const uint8_t* bytes, size_t size) {
    if (bytes[0] & ~(NET_OUTER_TYPE_MASK | NET_OUTER_PHASE) ||
        size < net_crypt_head_bytes(bytes[0]) + NET_OUTER_TAG_BYTES)
        return false;
    switch (bytes[0] & NET_OUTER_TYPE_MASK) {
    case NET_OUTER_DATA:
    case NET_OUTER_CLOSE:
    case NET_OUTER_PATH:
    case NET_OUTER_STATE:
        return true;
    case NET_OUTER_ACCEPT:
        return size == NET_OUTER_ACCEPT_BYTES;
    default:
        return false;
    }
}

void net_secure_client_receive(net_secure_client* client, const net_secure_clock* clock,
                               const net_address* from, uint8_t* bytes, size_t size,
                               net_secure_answer* answer) {
    answer->inner_size = answer->reply_size = 0;
    answer->is_packet = false;
    bool is_asking = client->state == NET_SECURE_CLIENT_ASKING;
    bool is_proving = client->state == NET_SECURE_CLIENT_PROVING;
    if (client->state == NET_SECURE_CLIENT_OPEN && !net_address_equal(from, &client->server) &&
        is_listed(from, client->asked, client->asked_count))
        take_from_other(client, clock, from, bytes, size);
    else if (!is_from_server(client, from))
        client->stats.counts[NET_SECURE_OTHER_ADDRESS]++;
    else if (client->state == NET_SECURE_CLIENT_OPEN && is_of_session(bytes, size))
        receive_inside(client, clock, bytes, size, answer);
    else if (is_asking && size == NET_OUTER_CHALLENGE_BYTES && bytes[0] == NET_OUTER_CHALLENGE)
        take_challenge(client, clock, from, bytes, answer);
    else if (is_proving && size == NET_OUTER_ACCEPT_BYTES && bytes[0] == NET_OUTER_ACCEPT)
        take_accept(client, clock, bytes);
    else if ((is_asking || is_proving) && size >= NET_OUTER_NOTICE_BYTES &&
             bytes[0] == NET_OUTER_DENY)
        take_deny(client, bytes, size);
    else
        client->stats.counts[NET_SECURE_BAD_TYPE]++;
}

size_t net_secure_client_send(net_secure_client* client, uint64_t now_us, net_outer_type type,
                              const void* bytes, size_t size, uint8_t* out, net_address* to) {
    if (client->state != NET_SECURE_CLIENT_OPEN) return 0;
    net_crypt_plain plain = {
        .type = type, .session = client->session, .bytes = bytes, .size = size};
    *to = client->server;
    return net_crypt_seal(&client->sender, now_us, &plain, out);
}
