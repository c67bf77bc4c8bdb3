// SPDX-License-Identifier: MIT
// What comes in: the handshake, then datagrams of sessions.
//
// Requests come from all the world, with any address, as fast as a line carries
// them. So what costs least is asked first, nothing is kept, and what is wrong is answered by
// silence, but for what a person at the client can mend: another version, and a token that does not
// count here. That answer is smaller than any other, and has a budget of its own within that of all
// answers, so that a flood of wrong tokens takes no challenge away. It is signed when the server
// could open the token. A resume token gets none: the client shows its token too. A server that
// stands by for another one says "not now" to both.
//
//   request:  size, type | version, protocol, padding | budgets | token, expiry, address |
//             use of the token | challenge
//   response: size, type | version, protocol, padding | cookie | the same session again? | spent? |
//             budget | token, expiry, address | signature | newer than all sessions of this
//             player? | use | place | accept
//
// A response needs no budget before its cookie: that check costs half a microsecond, and only a
// client that received a challenge passes it. What follows costs ten times as much, so a cookie
// buys it once: a response that gets no answer spends it, unless it is sound and waits for a place.
// A token counts as used by a response, since that one has a signature: a request that was
// overheard and sent first from elsewhere takes nothing away.
//
// A response that comes late, or is sent again by an attacker, must end no newer session and begin
// none after it: the times of cookies give the order. Of two with one time the first that comes
// counts.
#include "secure/secure_server_state.h"

#include "base/assert.h"

#include <sodium.h>

#include <string.h>

enum { TAG_AT = NET_TOKEN_SEALED_BYTES - 16, VERSION_AT = 1, RANDOM_AT = 2 };

static bool refuse_hello(net_secure_server* server, net_secure_count why) {
    net_secure_count_one(server, why);
    return false;
}

// ---- budgets

// A loopback address cannot be made up from outside, and a test machine has many clients there.
static net_address_entry* entry_of(net_secure_server* server, uint64_t now_us,
                                   const net_address* from) {
    return net_address_is_loopback(from) ? NULL
                                         : net_address_table_get(&server->unproved, from, now_us);
}

static bool may_ask(net_secure_server* server, uint64_t now_us, net_address_entry* entry) {
    if (entry && !net_budget_take(&entry->requests, net_secure_address_rate, now_us))
        return refuse_hello(server, NET_SECURE_ADDRESS_BUDGET);
    if (!net_budget_take(&server->requests, net_secure_request_rate, now_us))
        return refuse_hello(server, NET_SECURE_REQUEST_BUDGET);
    if (!net_budget_has(&server->replies, net_secure_reply_rate, now_us) ||
        (entry && !net_budget_has(&entry->replies, net_secure_reply_one_rate, now_us)))
        return refuse_hello(server, NET_SECURE_REPLY_BUDGET);
    return true;
}

static void take_reply(net_secure_server* server, uint64_t now_us, net_address_entry* entry) {
    (void)net_budget_take(&server->replies, net_secure_reply_rate, now_us);
    if (entry) (void)net_budget_take(&entry->replies, net_secure_reply_one_rate, now_us);
}

// ---- what both have in common

static bool is_ours(net_secure_server* server, const net_outer_hello* hello, const uint8_t* bytes) {
    if (hello->token.protocol != server->protocol)
        return refuse_hello(server, NET_SECURE_BAD_PROTOCOL);
    if (!net_outer_hello_is_padded(bytes)) return refuse_hello(server, NET_SECURE_BAD_PADDING);
    return true;
}

// The key of a token; NULL when there is none that counts for this address.
static const uint8_t* key_of(net_secure_server* server, const net_address* from, uint8_t id) {
    if (id == NET_KEY_ID_RESUME) return server->resume_key;
    if (id == NET_KEY_ID_DEV) {
        bool is_accepted =
            server->keys.count == 0 && (server->allow_dev_key || net_address_is_private(from));
        if (is_accepted) return net_token_dev_key();
        (void)refuse_hello(server, NET_SECURE_KEY_REFUSED);
        return NULL;
    }
    const net_key* key = net_key_ring_find(&server->keys, id);
    if (!key) (void)refuse_hello(server, NET_SECURE_KEY_UNKNOWN);
    return key ? key->bytes : NULL;
}

static bool is_for_us(const net_secure_server* server, const net_token_private* token) {
    if (server->address_count == 0 || token->address_count == 0) return true;
    for (uint32_t i = 0; i < server->address_count; i++)
        for (uint32_t k = 0; k < token->address_count; k++)
            if (net_address_equal(&server->addresses[i], &token->addresses[k])) return true;
    return false;
}

// @return NET_SECURE_END_NONE; NET_SECURE_END_TOKEN: it cannot be opened; else why it does not
// count here.
static net_secure_end open_token(net_secure_server* server, const net_secure_clock* clock,
                                 const net_address* from, const net_outer_hello* hello,
                                 net_token_private* token) {
    const uint8_t* key = key_of(server, from, hello->token.key_id);
    if (!key) return NET_SECURE_END_TOKEN;
    const bool is_opened = net_token_open(key, &hello->token, token) ||
                           (hello->token.key_id == NET_KEY_ID_RESUME && server->again_s > 0 &&
                            net_token_open(server->again_key, &hello->token, token));
    if (!is_opened) {
        (void)refuse_hello(server, NET_SECURE_TOKEN_FORGED);
        return NET_SECURE_END_TOKEN;
    }
    if (clock->unix_s > NET_SECURE_TOLERANCE_S &&
        clock->unix_s - NET_SECURE_TOLERANCE_S > hello->token.expiry_unix_s) {
        (void)refuse_hello(server, NET_SECURE_TOKEN_EXPIRED);
        return NET_SECURE_END_EXPIRED;
    }
    if (is_for_us(server, token)) return NET_SECURE_END_NONE;
    (void)refuse_hello(server, NET_SECURE_TOKEN_ELSEWHERE);
    return NET_SECURE_END_ELSEWHERE;
}

// ---- answers that say no

static void deny(net_secure_server* server, const net_address* from,
                 const uint8_t client_random[NET_OUTER_RANDOM_BYTES], net_secure_end reason,
                 const uint8_t* server_key, net_secure_received* received) {
    received->reply_size = net_outer_deny_write(reason, client_random, server_key, received->reply);
    received->reply_to = *from;
    net_secure_count_one(server, NET_SECURE_DENIED);
}

// The same for a request, whose sender may have written any address on it.
static void deny_request(net_secure_server* server, uint64_t now_us, const net_address* from,
                         const uint8_t client_random[NET_OUTER_RANDOM_BYTES], net_secure_end reason,
                         const uint8_t* server_key, net_secure_received* received) {
    if (!net_budget_take(&server->denials, net_secure_deny_rate, now_us)) {
        (void)refuse_hello(server, NET_SECURE_REPLY_BUDGET);
        return;
    }
    take_reply(server, now_us, entry_of(server, now_us, from));
    deny(server, from, client_random, reason, server_key, received);
}

// All clients make tokens of the built-in key, and a resume token is known to its client only: one
// use says nothing about another.
static bool is_use_counted(uint8_t key_id) {
    return key_id != NET_KEY_ID_DEV && key_id != NET_KEY_ID_RESUME;
}

static net_token_use use_of(const net_secure_server* server, const net_address* from,
                            const net_outer_hello* hello) {
    if (!is_use_counted(hello->token.key_id)) return NET_TOKEN_USE_AGAIN;
    return net_token_uses_find(server->uses, hello->token.sealed + TAG_AT, from);
}

// ---- requests

static void challenge(net_secure_server* server, const net_secure_clock* clock,
                      const net_address* from, const net_outer_hello* hello,
                      const uint8_t server_key[NET_KEY_BYTES], net_secure_received* received) {
    net_outer_proof proof = {.time_us = clock->now_us};
    uint8_t nonce[24];
    server->entropy.fill(server->entropy.context, proof.server_random, sizeof proof.server_random);
    server->entropy.fill(server->entropy.context, nonce, sizeof nonce);
    net_cookie_facts facts = {.from = from,
                              .token_tag = hello->token.sealed + TAG_AT,
                              .client_random = hello->client_random,
                              .server_random = proof.server_random,
                              .time_us = proof.time_us};
    net_cookie_make(&server->cookies, &facts, proof.cookie);
    net_outer_challenge_write(&proof, hello->client_random, nonce, server_key, received->reply);
    received->reply_size = NET_OUTER_CHALLENGE_BYTES;
    received->reply_to = *from;
    net_secure_count_one(server, NET_SECURE_CHALLENGES);
}

static void take_request(net_secure_server* server, const net_secure_clock* clock,
                         const net_address* from, const uint8_t* bytes,
                         net_secure_received* received) {
    net_outer_hello hello;
    net_outer_hello_read(bytes, &hello);
    if (!is_ours(server, &hello, bytes)) return;
    net_address_entry* entry = entry_of(server, clock->now_us, from);
    if (!may_ask(server, clock->now_us, entry)) return;
    net_token_private token = {0};
    const net_secure_end no = open_token(server, clock, from, &hello, &token);
    if (no != NET_SECURE_END_NONE && hello.token.key_id != NET_KEY_ID_RESUME) {
        deny_request(server, clock->now_us, from, hello.client_random, no,
                     no == NET_SECURE_END_TOKEN ? NULL : token.server_key, received);
    } else if (no == NET_SECURE_END_NONE && use_of(server, from, &hello) == NET_TOKEN_USE_OTHER) {
        (void)refuse_hello(server, NET_SECURE_TOKEN_USED);
    } else if (no == NET_SECURE_END_NONE && server->is_standby) {
        deny_request(server, clock->now_us, from, hello.client_random, NET_SECURE_END_NOT_NOW,
                     token.server_key, received);
    } else if (no == NET_SECURE_END_NONE) {
        take_reply(server, clock->now_us, entry);
        challenge(server, clock, from, &hello, token.server_key, received);
    }
    sodium_memzero(&token, sizeof token);
}

// Every version has its number in the second byte and the client's chance after it.
static void send_version(net_secure_server* server, uint64_t now_us, const net_address* from,
                         const uint8_t* bytes, net_secure_received* received) {
    net_secure_count_one(server, NET_SECURE_BAD_VERSION);
    if (bytes[0] != NET_OUTER_REQUEST) return;
    if (!may_ask(server, now_us, entry_of(server, now_us, from))) return;
    deny_request(server, now_us, from, bytes + RANDOM_AT, NET_SECURE_END_VERSION, NULL, received);
}

// ---- responses

static bool may_respond(net_secure_server* server, uint64_t now_us, const net_address* from,
                        const net_outer_proof* proof) {
    if (net_spent_has(&server->spent, proof->cookie, proof->time_us))
        return refuse_hello(server, NET_SECURE_COOKIE_SPENT);
    net_address_entry* entry = entry_of(server, now_us, from);
    if (entry && !net_budget_take(&entry->responses, net_secure_address_rate, now_us))
        return refuse_hello(server, NET_SECURE_RESPONSE_BUDGET);
    return true;
}

// A token with which the player of the first one comes again.
static void seal_again(net_secure_server* server, const uint8_t key[NET_KEY_BYTES],
                       uint64_t expiry_unix_s, net_token_private* opened, net_token* token) {
    *token = (net_token){
        .key_id = NET_KEY_ID_RESUME, .protocol = server->protocol, .expiry_unix_s = expiry_unix_s};
    net_token_seal_fresh(key, &server->entropy, opened, token);
}

static void seal_resume(net_secure_server* server, uint64_t unix_s, net_token_private* opened,
                        net_token* resume) {
    seal_again(server, server->resume_key, unix_s + NET_SECURE_RESUME_LIFE_S, opened, resume);
}

static void accept(net_secure_server* server, const net_secure_clock* clock,
                   net_secure_session* session, net_secure_received* received) {
    net_token resume;
    net_token_private opened = {.player_id = session->player_id, .origin_key_id = session->key_id};
    uint8_t bytes[NET_OUTER_RESUME_BYTES];
    memcpy(opened.origin_tag, session->origin_tag, sizeof opened.origin_tag);
    memcpy(opened.user_data, session->user_data, sizeof opened.user_data);
    seal_resume(server, clock->unix_s, &opened, &resume);
    net_outer_resume_write(&resume, bytes);
    net_crypt_plain plain = {.type = NET_OUTER_ACCEPT,
                             .session = session->id,
                             .clear = session->random,
                             .clear_size = sizeof session->random,
                             .bytes = bytes,
                             .size = sizeof bytes};
    received->reply_size = net_crypt_seal(&session->sender, clock->now_us, &plain, received->reply);
    received->reply_to = session->address;
    sodium_memzero(&resume, sizeof resume);
    sodium_memzero(&opened, sizeof opened);
    sodium_memzero(bytes, sizeof bytes);
}

static uint64_t name_of(const uint8_t bytes[16]) {
    uint64_t name;
    memcpy(&name, bytes, sizeof name);
    return name;
}

// The session with this cookie or origin, which is at `offset` in it; the first bytes are in
// `names`.
static net_secure_session* find_by(net_secure_server* server, const uint64_t* names, size_t offset,
                                   const uint8_t value[16]) {
    uint64_t name = name_of(value);
    for (uint32_t i = 0; i < server->session_max; i++) {
        net_secure_session* session = &server->sessions[i];
        if (names[i] == name && session->id != 0 &&
            memcmp((const uint8_t*)session + offset, value, 16) == 0)
            return session;
    }
    return NULL;
}

static void derive_keys(net_secure_session* session, uint64_t now_us, const net_outer_hello* hello,
                        const net_outer_proof* proof, const net_token_private* token) {
    uint8_t key[NET_KEY_BYTES];
    net_crypt_derive(token->client_key, NET_CRYPT_TO_SERVER, proof->server_random,
                     hello->client_random, session->random, key);
    net_crypt_receiver_init(&session->receiver, key);
    net_crypt_derive(token->server_key, NET_CRYPT_TO_CLIENT, proof->server_random,
                     hello->client_random, session->random, key);
    net_crypt_sender_init(&session->sender, key, now_us);
    sodium_memzero(key, sizeof key);
}

static bool is_address_full(const net_secure_server* server, const net_address* from) {
    uint32_t count = 0;
    for (uint32_t i = 0; server->per_address_max > 0 && i < server->session_max; i++) {
        const net_secure_session* session = &server->sessions[i];
        count += session->id != 0 && memcmp(session->address.ip, from->ip, sizeof from->ip) == 0;
    }
    return server->per_address_max > 0 && count >= server->per_address_max;
}

static const uint8_t* origin_of(const net_outer_hello* hello, const net_token_private* token) {
    bool is_resumed = hello->token.key_id == NET_KEY_ID_RESUME;
    return is_resumed ? token->origin_tag : hello->token.sealed + TAG_AT;
}

// Had this player a session with this cookie or a newer one? Slots that are free remember, too.
static bool is_old(const net_secure_server* server, const uint8_t* tag, uint64_t cookie_us) {
    uint64_t name = name_of(tag);
    for (uint32_t i = 0; i < server->session_max; i++) {
        const net_secure_session* session = &server->sessions[i];
        if (server->origin_names[i] == name && session->cookie_us >= cookie_us &&
            memcmp(session->origin_tag, tag, NET_TOKEN_TAG_BYTES) == 0)
            return true;
    }
    return net_spent_has(&server->spent, tag, cookie_us);
}

// Did the owner of the token write it, and after all that came of it before?
static bool is_genuine(net_secure_server* server, const uint8_t* bytes,
                       const net_outer_hello* hello, const net_outer_proof* proof,
                       const net_token_private* token) {
    if (!net_outer_response_is_signed(bytes, token->client_key))
        return refuse_hello(server, NET_SECURE_RESPONSE_FORGED);
    if (is_old(server, origin_of(hello, token), proof->time_us))
        return refuse_hello(server, NET_SECURE_RESPONSE_OLD);
    return true;
}

static net_secure_session* begin_session(net_secure_server* server, const net_secure_clock* clock,
                                         const net_address* from, const net_outer_hello* hello,
                                         const net_outer_proof* proof,
                                         const net_token_private* token) {
    bool is_resumed = hello->token.key_id == NET_KEY_ID_RESUME;
    const uint8_t* tag = origin_of(hello, token);
    // One token has one session. A client that comes again, with the token or a resume token,
    // replaces its own session.
    net_secure_session* old =
        find_by(server, server->origin_names, offsetof(net_secure_session, origin_tag), tag);
    if (old)
        net_secure_session_close(server, clock->now_us, old, NET_SECURE_REPLACED,
                                 NET_SECURE_END_REPLACED);
    if (is_address_full(server, from)) return NULL;
    net_secure_session* begun = net_secure_session_begin(server, clock->now_us);
    if (!begun) return NULL;
    begun->address = *from;
    begun->player_id = token->player_id;
    begun->key_id = token->origin_key_id;
    memcpy(begun->user_data, token->user_data, sizeof begun->user_data);
    memcpy(begun->origin_tag, tag, sizeof begun->origin_tag);
    memcpy(begun->cookie, proof->cookie, sizeof begun->cookie);
    begun->cookie_us = proof->time_us;
    server->cookie_names[net_secure_slot(server, begun)] = name_of(proof->cookie);
    server->origin_names[net_secure_slot(server, begun)] = name_of(tag);
    derive_keys(begun, clock->now_us, hello, proof, token);
    net_secure_count_one(server, NET_SECURE_ACCEPTED);
    if (is_resumed) net_secure_count_one(server, NET_SECURE_RESUMED);
    return begun;
}

// The client owns the token and its address. @return a session, or NULL (denied, refused, or it
// waits for a place).
static net_secure_session* admit(net_secure_server* server, const net_secure_clock* clock,
                                 const net_address* from, const net_outer_hello* hello,
                                 const net_outer_proof* proof, const net_token_private* token,
                                 bool* is_waiting, net_secure_received* received) {
    net_token_use use = use_of(server, from, hello);
    net_secure_session* begun = NULL;
    if (use == NET_TOKEN_USE_OTHER) {
        (void)refuse_hello(server, NET_SECURE_TOKEN_USED);
    } else if (use == NET_TOKEN_USE_FIRST &&
               !net_token_uses_add(server->uses, hello->token.sealed + TAG_AT, from,
                                   hello->token.expiry_unix_s, clock->unix_s)) {
        (void)refuse_hello(server, NET_SECURE_TOKENS_FULL);
        deny(server, from, hello->client_random, NET_SECURE_END_FULL, token->server_key, received);
    } else {
        begun = begin_session(server, clock, from, hello, proof, token);
        if (!begun) {
            (void)refuse_hello(server, NET_SECURE_SESSIONS_FULL);
            // Silence lets the client send its response again: soon there may be room.
            *is_waiting = !is_address_full(server, from) && net_secure_session_unopened(server);
            if (!*is_waiting)
                deny(server, from, hello->client_random, NET_SECURE_END_FULL, token->server_key,
                     received);
        }
    }
    return begun;
}

static void take_response(net_secure_server* server, const net_secure_clock* clock,
                          const net_address* from, const uint8_t* bytes,
                          net_secure_received* received) {
    net_outer_hello hello;
    net_outer_hello_read(bytes, &hello);
    if (!is_ours(server, &hello, bytes) || server->is_standby) return;
    net_outer_proof proof = net_outer_response_proof(bytes);
    net_cookie_facts facts = {.from = from,
                              .token_tag = hello.token.sealed + TAG_AT,
                              .client_random = hello.client_random,
                              .server_random = proof.server_random,
                              .time_us = proof.time_us};
    if (!net_cookie_check(&server->cookies, &facts, clock->now_us, proof.cookie)) {
        (void)refuse_hello(server, NET_SECURE_COOKIE_FORGED);
        return;
    }
    net_secure_session* session =
        find_by(server, server->cookie_names, offsetof(net_secure_session, cookie), proof.cookie);
    net_token_private token = {0};
    if (!session && may_respond(server, clock->now_us, from, &proof)) {
        bool is_waiting = false;
        if (open_token(server, clock, from, &hello, &token) == NET_SECURE_END_NONE &&
            is_genuine(server, bytes, &hello, &proof, &token))
            session = admit(server, clock, from, &hello, &proof, &token, &is_waiting, received);
        if (!session && received->reply_size == 0 && !is_waiting)
            net_secure_spend(server, clock->now_us, proof.cookie, proof.time_us);
    }
    sodium_memzero(&token, sizeof token);
    // The acceptance may be lost, then the response comes again.
    if (session && net_budget_take(&session->accepts, net_secure_accept_rate, clock->now_us))
        accept(server, clock, session, received);
}

// ---- tokens of connections that are not ours

net_secure_end net_secure_server_admit(net_secure_server* server, const net_secure_clock* clock,
                                       const net_address* from, const net_token* token,
                                       net_peer_identity* identity, net_token* resume,
                                       net_token* later) {
    const net_outer_hello hello = {.token = *token};
    const uint8_t* tag = hello.token.sealed + TAG_AT;
    net_token_private opened = {0};
    net_secure_end end = NET_SECURE_END_TOKEN;
    if (token->protocol == server->protocol)
        end = open_token(server, clock, from, &hello, &opened);
    else
        (void)refuse_hello(server, NET_SECURE_BAD_PROTOCOL);
    const net_token_use use = use_of(server, from, &hello);
    if (end == NET_SECURE_END_NONE && server->is_standby) {
        end = NET_SECURE_END_NOT_NOW;
    } else if (end == NET_SECURE_END_NONE && use == NET_TOKEN_USE_OTHER) {
        (void)refuse_hello(server, NET_SECURE_TOKEN_USED);
        end = NET_SECURE_END_TOKEN;
    } else if (end == NET_SECURE_END_NONE && use == NET_TOKEN_USE_FIRST &&
               !net_token_uses_add(server->uses, tag, from, token->expiry_unix_s, clock->unix_s)) {
        (void)refuse_hello(server, NET_SECURE_TOKENS_FULL);
        end = NET_SECURE_END_FULL;
    }
    if (end == NET_SECURE_END_NONE) {
        const bool is_resumed = token->key_id == NET_KEY_ID_RESUME;
        net_token_private again = {.player_id = opened.player_id,
                                   .origin_key_id = opened.origin_key_id};
        memcpy(again.origin_tag, origin_of(&hello, &opened), sizeof again.origin_tag);
        memcpy(again.user_data, opened.user_data, sizeof again.user_data);
        *identity =
            net_secure_identity(from, opened.player_id, opened.origin_key_id, opened.user_data);
        seal_resume(server, clock->unix_s, &again, resume);
        // The right to come later is that of the first token: its servers, and never longer.
        again.address_count = opened.address_count;
        memcpy(again.addresses, opened.addresses, sizeof again.addresses);
        if (server->again_s > 0 && is_use_counted(token->key_id))
            seal_again(server, server->again_key, clock->unix_s + server->again_s, &again, later);
        net_secure_count_one(server, NET_SECURE_ACCEPTED);
        if (is_resumed) net_secure_count_one(server, NET_SECURE_RESUMED);
        sodium_memzero(&again, sizeof again);
    }
    sodium_memzero(&opened, sizeof opened);
    return end;
}

// ---- datagrams of sessions: what is checked comes in the order of its cost

// Size, type, number, replay window, then the decryption, then the budget of the session. Only then
// the datagram may reach ENet.

// Its address is another one than before. The new one must prove that it receives what we send,
// since the sender may have made it up.
static void ask_for_proof(net_secure_server* server, uint64_t now_us, net_secure_session* session,
                          const net_address* from, net_secure_received* received) {
    if (!net_budget_take(&session->moves, net_secure_move_rate, now_us)) {
        net_secure_count_of(server, net_secure_slot(server, session), NET_SECURE_MOVE_BUDGET);
        return;
    }
    session->candidate = *from;
    session->is_candidate = true;
    server->entropy.fill(server->entropy.context, session->path, sizeof session->path);
    net_crypt_plain plain = {.type = NET_OUTER_PATH,
                             .session = session->id,
                             .bytes = session->path,
                             .size = sizeof session->path};
    received->reply_size = net_crypt_seal(&session->sender, now_us, &plain, received->reply);
    received->reply_to = *from;
}

static void take_path(net_secure_server* server, net_secure_session* session,
                      const net_address* from, const uint8_t* inner, size_t size) {
    if (!session->is_candidate || size != sizeof session->path ||
        !net_address_equal(from, &session->candidate) ||
        sodium_memcmp(inner, session->path, sizeof session->path) != 0)
        return;
    session->address = *from;
    session->is_candidate = false;
    net_secure_count_of(server, net_secure_slot(server, session), NET_SECURE_MOVED);
}

static void take_opened(net_secure_server* server, uint64_t now_us, net_secure_session* session,
                        net_outer_type type, const net_address* from, bool is_newest,
                        net_secure_received* received, const uint8_t* inner, size_t size) {
    session->heard_us = now_us;
    if (!net_budget_take(&session->data, net_secure_data_rate, now_us)) {
        net_secure_count_of(server, net_secure_slot(server, session), NET_SECURE_DATA_BUDGET);
        return;
    }
    if (type == NET_OUTER_CLOSE) {
        net_secure_session_end(server, session, NET_SECURE_CLOSED);
        return;
    }
    if (type == NET_OUTER_PATH) {
        take_path(server, session, from, inner, size);
        return;
    }
    if (is_newest && !net_address_equal(from, &session->address))
        ask_for_proof(server, now_us, session, from, received);
    received->peer =
        (uint32_t)session->generation << NET_SECURE_SLOT_BITS | net_secure_slot(server, session);
    received->inner = inner;
    received->inner_size = size;
    received->is_packet = type == NET_OUTER_INPUT;
}

// The session that a datagram names: an INPUT by the low half of its id.
static net_secure_session* find_addressed(net_secure_server* server, const uint8_t* bytes) {
    uint32_t id = net_crypt_session(bytes);
    const uint32_t slot = NET_SECURE_PEER_SLOT(id);
    if ((bytes[0] & NET_OUTER_TYPE_MASK) == NET_OUTER_INPUT) {
        if (slot >= server->session_max || (uint16_t)server->sessions[slot].id != id) return NULL;
        id = server->sessions[slot].id;
    }
    return net_secure_session_find(server, id);
}

static void receive_inside(net_secure_server* server, uint64_t now_us, const net_address* from,
                           uint8_t* bytes, size_t size, net_secure_received* received) {
    net_secure_session* session = find_addressed(server, bytes);
    BASE_ASSERT(session); // it was routed here
    uint8_t* inner = NULL;
    size_t inner_size = 0;
    bool is_newest = false;
    net_outer_type type = (net_outer_type)(bytes[0] & NET_OUTER_TYPE_MASK);
    net_crypt_result result =
        net_crypt_open(&session->receiver, now_us, bytes, size, 0, &inner, &inner_size, &is_newest);
    if (result == NET_CRYPT_OK)
        take_opened(server, now_us, session, type, from, is_newest, received, inner, inner_size);
    else if (result == NET_CRYPT_REPLAYED)
        net_secure_count_of(server, net_secure_slot(server, session), NET_SECURE_REPLAYED);
    else if (result == NET_CRYPT_FORGED)
        net_secure_count_of(server, net_secure_slot(server, session), NET_SECURE_DATA_FORGED);
    else // without a CLOSE: the client takes it for a lost connection, and comes back
        net_secure_session_end(server, session, NET_SECURE_FORGERY_LIMIT);
}

static uint32_t route_inside(net_secure_server* server, const uint8_t* bytes) {
    const net_secure_session* session = find_addressed(server, bytes);
    if (session) return net_secure_slot(server, session);
    net_secure_count_of(server, NET_SECURE_PEER_SLOT(net_crypt_session(bytes)),
                        NET_SECURE_SESSION_UNKNOWN);
    return NET_SECURE_NOWHERE;
}

uint32_t net_secure_server_route(net_secure_server* server, const uint8_t* bytes, size_t size) {
    net_secure_count fault = NET_SECURE_BAD_SIZE;
    const size_t least = net_crypt_head_bytes(bytes[0]) + NET_OUTER_TAG_BYTES;
    switch (size < least ? NET_OUTER_REQUEST : bytes[0]) {
    case NET_OUTER_REQUEST:
    case NET_OUTER_RESPONSE:
        if (size == NET_OUTER_HELLO_BYTES) return NET_SECURE_HELLO;
        break;
    case NET_OUTER_DATA:
    case NET_OUTER_CLOSE:
    case NET_OUTER_PATH:
    case NET_OUTER_DATA | NET_OUTER_PHASE:
    case NET_OUTER_CLOSE | NET_OUTER_PHASE:
    case NET_OUTER_PATH | NET_OUTER_PHASE:
    case NET_OUTER_INPUT:
    case NET_OUTER_INPUT | NET_OUTER_PHASE:
        return route_inside(server, bytes);
    default:
        fault = NET_SECURE_BAD_TYPE;
    }
    net_secure_count_one(server, fault);
    return NET_SECURE_NOWHERE;
}

void net_secure_server_receive(net_secure_server* server, const net_secure_clock* clock,
                               const net_address* from, uint8_t* bytes, size_t size,
                               net_secure_received* received) {
    received->inner_size = received->reply_size = 0;
    received->peer = 0;
    received->is_packet = false;
    uint32_t slot = net_secure_server_route(server, bytes, size);
    if (slot == NET_SECURE_HELLO) {
        if (bytes[VERSION_AT] != NET_SECURE_VERSION)
            send_version(server, clock->now_us, from, bytes, received);
        else if (bytes[0] == NET_OUTER_REQUEST)
            take_request(server, clock, from, bytes, received);
        else
            take_response(server, clock, from, bytes, received);
    } else if (slot != NET_SECURE_NOWHERE)
        receive_inside(server, clock->now_us, from, bytes, size, received);
}
