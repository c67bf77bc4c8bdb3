// SPDX-License-Identifier: MIT
/// What a match tells its host, a datagram of JSON to the host's socket FOLDER/reports:
/// {"match":ID,"at_us":"N","address":"ADDR:PORT","http":"ADDR:PORT","players":["N",...],
/// "stream":IDENTITY or "","standby":false,"open":true,"values":{KEY:VALUE,...}}. At once when it
/// takes players, then each second, and when a player joined, what the game published is another,
/// or a standby got the match; no host that is away is waited for. What it asks for goes the same
/// way (channel.h); the host answers to FOLDER/matches/ID/answers. SERVER_TELL_VARIABLE has
/// "ID FOLDER/reports".
#pragma once

#include "base/text.h"

#include <jansson.h>
#include <sodium.h>

#define SERVER_TELL_VARIABLE "SHOAL_HOST"
#define SERVER_TELL_WATCH_KEY 2u ///< id of the key of spectators; players have another one
#define SERVER_TELL_BYTES_MAX (1u << 17)
#define SERVER_TELL_BASE64 sodium_base64_VARIANT_ORIGINAL
#define SERVER_TELL_TEXT_BYTES(size) sodium_base64_ENCODED_LEN(size, SERVER_TELL_BASE64)

/// A member that is a number as a text. @return false: there is none.
static inline bool server_tell_number(const json_t* json, const char* key, uint64_t* number) {
    const char* text = json_string_value(json_object_get(json, key));
    return text && base_text_parse_u64(text, number);
}

/// A member that has at most `max` bytes as BASE64. @return false: there is none.
static inline bool server_tell_bytes(const json_t* json, const char* key, uint8_t* bytes,
                                     size_t max, uint32_t* size) {
    const json_t* value = json_object_get(json, key);
    const char* text = json_string_value(value);
    size_t count = 0;
    if (!text || sodium_base642bin(bytes, max, text, json_string_length(value), NULL, &count, NULL,
                                   SERVER_TELL_BASE64) != 0)
        return false;
    *size = (uint32_t)count;
    return true;
}
