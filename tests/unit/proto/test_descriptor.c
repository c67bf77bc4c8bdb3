// SPDX-License-Identifier: MIT
#include "test.h"

#include "log.pb-c.h"
#include "proto/codec.h"
#include "samples.pb-c.h"
#include "wire.pb-c.h"

CASE(none_of_our_messages_contains_itself) {
    assert_true(proto_is_flat(&shoal__wire__client_control__descriptor));
    assert_true(proto_is_flat(&shoal__wire__server_control__descriptor));
    assert_true(proto_is_flat(&shoal__wire__state_packet__descriptor));
    assert_true(proto_is_flat(&shoal__wire__input_packet__descriptor));
    assert_true(proto_is_flat(&shoal__wire__player_assigned__descriptor));
    assert_true(proto_is_flat(&shoal__log__header__descriptor));
    assert_true(proto_is_flat(&shoal__log__record__descriptor));
}

CASE(recursion_is_found) {
    assert_false(proto_is_flat(&sample__nest__descriptor));
    assert_false(proto_is_flat(&sample__ping_pong__descriptor));
    assert_false(proto_is_flat(&sample__pong_ping__descriptor));
    assert_true(proto_is_flat(&sample__everything__descriptor));
}

CASE(nesting_deeper_than_the_codec_reads_is_not_flat) {
    assert_true(proto_is_flat(&sample__depth2__descriptor));
    assert_true(proto_is_flat(&sample__depth1__descriptor));
    assert_false(proto_is_flat(&sample__depth0__descriptor));
}

CASE(the_hash_tells_messages_apart) {
    const uint64_t hashes[] = {
        proto_descriptor_hash(&sample__leaf__descriptor),
        proto_descriptor_hash(&sample__leaf_renamed_field__descriptor),
        proto_descriptor_hash(&sample__leaf_renumbered__descriptor),
        proto_descriptor_hash(&sample__leaf_retyped__descriptor),
        proto_descriptor_hash(&sample__leaf_repeated__descriptor),
        proto_descriptor_hash(&sample__everything__descriptor),
        proto_descriptor_hash(&shoal__wire__hello__descriptor),
    };
    for (size_t a = 0; a < BASE_COUNT(hashes); a++)
        for (size_t b = 0; b < a; b++)
            assert_true(hashes[a] != hashes[b]);
    assert_true(hashes[0] == proto_descriptor_hash(&sample__leaf__descriptor));
}

CASE(recursive_messages_have_no_hash) {
    expect_assert_failure((void)proto_descriptor_hash(&sample__nest__descriptor));
}
