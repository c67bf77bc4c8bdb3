// SPDX-License-Identifier: MIT
// Heads of snapshots in a session with solo code: which statistics a reader takes, and what it
// refuses.
#include "test.h"

#include "solo/solo_receiver.h"

typedef struct head {
    bool has_statistics, is_defined, is_coded;
    uint32_t epoch, back, count;
    uint64_t trained;
} head;

enum { BODY_BYTES = 32 };

static size_t write_head(const head* h, uint8_t* bytes) {
    proto_bit_writer writer = proto_bit_writer_make(bytes, BODY_BYTES);
    proto_bits_write(&writer, h->has_statistics, 1);
    if (h->has_statistics) {
        proto_bits_write(&writer, h->epoch, NET_SOLO_EPOCH_BITS);
        proto_bits_write(&writer, h->is_defined, 1);
        if (h->is_defined) {
            proto_bits_write(&writer, h->back, NET_SOLO_BACK_BITS);
            proto_bits_write(&writer, h->count - 1, NET_SOLO_COUNT_BITS);
            proto_bits_write(&writer, h->trained, h->count);
        }
        proto_bits_write(&writer, h->is_coded, 1);
    }
    assert_false(writer.failed);
    return proto_bit_writer_bytes(&writer);
}

static net_solo_result begin(net_solo_receiver* receiver, uint16_t seq, const head* h,
                             proto_solo_coder** coder) {
    uint8_t bytes[BODY_BYTES] = {0};
    bool *has_failed, is_coded;
    proto_bit_reader reader = proto_bit_reader_make(bytes, write_head(h, bytes));
    net_solo_result result =
        net_solo_receiver_begin(receiver, seq, &reader, coder, &has_failed, &is_coded);
    if (result == NET_SOLO_OK) assert_int_equal(is_coded, h->is_coded);
    return result;
}

// A packet in shared code with one number, decoded as a whole.
static void receive(net_solo_receiver* receiver, uint16_t seq, uint32_t epoch) {
    proto_solo_coder* coder;
    const head h = {.has_statistics = true, .epoch = epoch & 3};
    assert_int_equal(begin(receiver, seq, &h, &coder), NET_SOLO_OK);
    assert_non_null(coder);
    assert_true(proto_solo_number(coder, PROTO_NUMBER_RUN, 0, 3) == 3);
    net_solo_receiver_end(receiver, seq);
}

static net_solo_result define(net_solo_receiver* receiver, uint16_t seq, uint32_t epoch,
                              uint32_t back, uint32_t count, uint64_t trained) {
    proto_solo_coder* coder;
    const head h = {.has_statistics = true,
                    .epoch = epoch & 3,
                    .is_defined = true,
                    .back = back,
                    .count = count,
                    .trained = trained};
    return begin(receiver, seq, &h, &coder);
}

static net_solo_result name(net_solo_receiver* receiver, uint16_t seq, uint32_t epoch) {
    proto_solo_coder* coder;
    const head h = {.has_statistics = true, .epoch = epoch & 3};
    return begin(receiver, seq, &h, &coder);
}

static net_solo_receiver* open(void) {
    net_solo_receiver* receiver = net_solo_receiver_create(NULL);
    assert_non_null(receiver);
    return receiver;
}

#define SOLO_CASE(name)                                                                            \
    CASE_MADE(net_solo_receiver, receiver, open(), net_solo_receiver_destroy(receiver), name)

SOLO_CASE(an_epoch_begins_once_and_the_one_before_stays) {
    receive(receiver, 65534, 0);
    receive(receiver, 0, 0); // 65535 was lost
    assert_int_equal(name(receiver, 1, 1), NET_SOLO_MISSING);
    assert_int_equal(define(receiver, 1, 1, 1, 3, 7), NET_SOLO_MISSING);
    assert_int_equal(define(receiver, 1, 1, 1, 3, 5), NET_SOLO_OK);
    receive(receiver, 1, 1);
    assert_int_equal(define(receiver, 2, 1, 2, 3, 5), NET_SOLO_OK); // said again
    receive(receiver, 65535, 0);                                    // late, of the epoch before
    // What an epoch before went back to is not trained again.
    receive(receiver, 3, 1);
    assert_int_equal(define(receiver, 4, 2, 1, 4, 9), NET_SOLO_MALFORMED);
    assert_int_equal(define(receiver, 4, 2, 1, 3, 5), NET_SOLO_OK);
    assert_int_equal(name(receiver, 5, 1), NET_SOLO_OK);
    assert_int_equal(name(receiver, 5, 0), NET_SOLO_MISSING);
    assert_int_equal(name(receiver, 5, 3), NET_SOLO_MISSING);
}

SOLO_CASE(heads_that_no_server_writes_are_refused) {
    receive(receiver, 7, 0);
    assert_int_equal(define(receiver, 8, 1, 0, 1, 1), NET_SOLO_MALFORMED);
    assert_int_equal(define(receiver, 8, 1, 1, 2, 2), NET_SOLO_MALFORMED); // the newest is not
    const head h = {.has_statistics = true,
                    .is_defined = true,
                    .epoch = 1,
                    .back = 1,
                    .count = 64,
                    .trained = UINT64_MAX};
    uint8_t bytes[BODY_BYTES] = {0};
    size_t size = write_head(&h, bytes);
    for (size_t cut = 0; cut < size; cut++) {
        proto_solo_coder* coder;
        bool *has_failed, is_coded;
        proto_bit_reader reader = proto_bit_reader_make(bytes, cut);
        assert_int_equal(
            net_solo_receiver_begin(receiver, 8, &reader, &coder, &has_failed, &is_coded),
            NET_SOLO_MALFORMED);
    }
    // Nothing of this began an epoch.
    receive(receiver, 8, 0);
}

CASE(samples_of_128_packets_are_kept) {
    _Static_assert(NET_SOLO_PACKETS == 128 && NET_SOLO_TRAINED_MAX == 64, "the page says so");
    for (uint32_t more = 0; more < 2; more++) {
        net_solo_receiver* receiver = open();
        for (uint32_t seq = 0; seq < NET_SOLO_PACKETS + more; seq++)
            receive(receiver, (uint16_t)seq, 0);
        // Packets 63..0 of the first 64: packet 0 was forgotten for packet 128.
        uint16_t now = (uint16_t)(NET_SOLO_TRAINED_MAX + 63);
        assert_int_equal(define(receiver, now, 1, 64, NET_SOLO_TRAINED_MAX, UINT64_MAX),
                         more ? NET_SOLO_MISSING : NET_SOLO_OK);
        if (more)
            assert_int_equal(
                define(receiver, now, 1, 64, NET_SOLO_TRAINED_MAX - 1, UINT64_MAX >> 1),
                NET_SOLO_OK);
        net_solo_receiver_destroy(receiver);
    }
}

SOLO_CASE(a_packet_has_2048_samples) {
    const head h = {.has_statistics = true};
    static const uint32_t counts[] = {NET_SOLO_SAMPLES_MAX - 1, NET_SOLO_SAMPLES_MAX,
                                      NET_SOLO_SAMPLES_MAX + 1};
    for (uint32_t i = 0; i < 3; i++) {
        proto_solo_coder* coder;
        assert_int_equal(begin(receiver, (uint16_t)i, &h, &coder), NET_SOLO_OK);
        for (uint32_t k = 0; k < counts[i]; k++)
            (void)proto_solo_number(coder, PROTO_NUMBER_RUN, 0, 1);
        assert_int_equal(coder->sample_count, i < 2 ? counts[i] : NET_SOLO_SAMPLES_MAX);
        net_solo_receiver_end(receiver, (uint16_t)i);
    }
}

// A full packet takes a part of the ring; room for the next one is not kept.
CASE(the_newest_samples_are_kept) {
    enum { FULL = NET_SOLO_RING_CLIENT / NET_SOLO_SAMPLES_MAX };
    _Static_assert(NET_SOLO_RING_CLIENT % NET_SOLO_SAMPLES_MAX == 0, "full packets leave no gap");
    for (uint32_t packets = FULL - 1; packets <= FULL; packets++) {
        net_solo_receiver* receiver = open();
        for (uint32_t seq = 0; seq < packets; seq++) {
            proto_solo_coder* coder;
            const head h = {.has_statistics = true};
            assert_int_equal(begin(receiver, (uint16_t)seq, &h, &coder), NET_SOLO_OK);
            for (uint32_t k = 0; k < NET_SOLO_SAMPLES_MAX; k++)
                (void)proto_solo_number(coder, PROTO_NUMBER_RUN, 0, 1);
            net_solo_receiver_end(receiver, (uint16_t)seq);
        }
        assert_int_equal(define(receiver, (uint16_t)packets, 1, packets, 1, 1),
                         packets < FULL ? NET_SOLO_OK : NET_SOLO_MISSING);
        net_solo_receiver_destroy(receiver);
    }
}
