// SPDX-License-Identifier: MIT
/// An address of its text.
#pragma once

#include "test.h"

#include "net/token.h"

static inline net_address address_of(const char* text) {
    net_address address;
    assert_ok(net_address_parse(text, &address));
    return address;
}
