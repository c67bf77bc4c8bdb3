// SPDX-License-Identifier: MIT
// SOLO.md: the head of a body, and the epochs of the statistics.
#include "solo.h"

#include <stdlib.h>
#include <string.h>

enum { PACKETS = 128, BYTES_MAX = 4096 };

typedef struct kept_samples {
    bool is_there;
    uint16_t seq;
    uint32_t count;
    solo_sample* samples;
} kept_samples;

struct cf_solo {
    uint32_t epoch;               // the present one
    uint16_t trained_newest;      // of the packets that it is trained with; in epoch 0: none
    solo_statistics* of_epoch[2]; // by its lowest bit
    kept_samples packets[PACKETS];
    bool has_packet;
    uint16_t newest;
    uint8_t bytes[BYTES_MAX];
    solo_body body;
};

cf_solo* solo_create(void) {
    cf_solo* made = calloc(1, sizeof *made);
    if (!made) abort();
    made->of_epoch[0] = solo_statistics_create();
    made->of_epoch[1] = solo_statistics_create();
    return made;
}

void solo_destroy(cf_solo* solo) {
    if (!solo) return;
    for (uint32_t i = 0; i < PACKETS; i++)
        free(solo->packets[i].samples);
    free(solo->of_epoch[0]);
    free(solo->of_epoch[1]);
    free(solo);
}

// The samples of a packet; NULL: it did not come, or is too old.
static const kept_samples* find_packet(const cf_solo* solo, uint16_t seq) {
    const kept_samples* packet = &solo->packets[seq % PACKETS];
    bool is_kept = (uint16_t)(solo->newest - seq) < PACKETS;
    return packet->is_there && packet->seq == seq && is_kept ? packet : NULL;
}

static body_result begin_epoch(cf_solo* solo, uint16_t newest, uint32_t count, uint64_t trained) {
    uint16_t ahead = (uint16_t)(newest - solo->trained_newest);
    if (solo->epoch > 0 && (ahead < count || ahead > 32767)) return BODY_MALFORMED;
    for (uint32_t i = 0; i < count; i++)
        if (trained >> i & 1 && !find_packet(solo, (uint16_t)(newest - i)))
            return BODY_WITHOUT_BASE;
    solo->epoch++;
    solo_statistics* next = solo->of_epoch[solo->epoch & 1];
    solo_statistics_copy(next, solo->of_epoch[(solo->epoch - 1) & 1]);
    for (uint32_t i = count; i-- > 0;) {
        if (!(trained >> i & 1)) continue;
        const kept_samples* packet = find_packet(solo, (uint16_t)(newest - i));
        solo_train(next, packet->samples, packet->count);
    }
    solo->trained_newest = newest;
    return BODY_DECODED;
}

static body_result read_definition(cf_solo* solo, uint16_t seq, uint32_t low, bit_stream* bits) {
    uint16_t back = (uint16_t)bits_read(bits, 7);
    uint32_t count = (uint32_t)bits_read(bits, 6) + 1;
    uint64_t trained = bits_read(bits, count);
    if (bits->failed || back == 0 || !(trained & 1)) return BODY_MALFORMED;
    if (low != ((solo->epoch + 1) & 3)) return BODY_DECODED; // it is defined again
    return begin_epoch(solo, (uint16_t)(seq - back), count, trained);
}

body_result solo_read_head(cf_solo* solo, uint16_t seq, bit_stream* bits, solo_body** body) {
    *body = NULL;
    if (!bits_read(bits, 1)) return bits->failed ? BODY_MALFORMED : BODY_DECODED;
    uint32_t low = (uint32_t)bits_read(bits, 2);
    if (bits_read(bits, 1)) {
        body_result result = read_definition(solo, seq, low, bits);
        if (result != BODY_DECODED) return result;
    }
    bool is_coded = bits_read(bits, 1);
    if (bits->failed) return BODY_MALFORMED;
    uint32_t epoch = solo->epoch;
    if (low != (epoch & 3)) epoch--;
    if (low != (epoch & 3) || epoch > solo->epoch) return BODY_WITHOUT_BASE;
    *body = &solo->body;
    (*body)->statistics = solo->of_epoch[epoch & 1];
    size_t size = (bits->size_bits - bits->at) / 8;
    if (size > BYTES_MAX) return BODY_MALFORMED;
    for (size_t i = 0; is_coded && i < size; i++)
        solo->bytes[i] = (uint8_t)bits_read(bits, 8);
    solo_begin(*body, is_coded ? solo->bytes : NULL, is_coded ? size : 0);
    return BODY_DECODED;
}

void solo_keep_samples(cf_solo* solo, uint16_t seq) {
    uint16_t ahead = (uint16_t)(seq - solo->newest);
    if (!solo->has_packet || (ahead > 0 && ahead <= 32767)) solo->newest = seq;
    solo->has_packet = true;
    if ((uint16_t)(solo->newest - seq) >= PACKETS) return;
    kept_samples* kept = &solo->packets[seq % PACKETS];
    size_t size = solo->body.sample_count * sizeof *kept->samples;
    free(kept->samples);
    *kept = (kept_samples){.is_there = true, .seq = seq, .count = solo->body.sample_count};
    kept->samples = malloc(size + 1);
    if (!kept->samples) abort();
    memcpy(kept->samples, solo->body.samples, size);
}
