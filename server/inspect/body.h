// SPDX-License-Identifier: MIT
/// The body of a POST: a JSON object whose members are the arguments of a verb.
#pragma once

#include "orders.h"

#define SERVER_BODY_DEPTH_MAX 8u

/// Add the members of the object in `text` to an order that has begun. A text stays as it is,
/// everything else becomes its JSON; null is no argument. An empty body has none.
/// @return NULL, or the sentence that says what is wrong; then some may have been added.
const char* server_body_read(const char* text, size_t size, server_order* order);
