// SPDX-License-Identifier: MIT
/// Solo code (SOLO.md): packets of one client, by what this client has acknowledged. It is a part:
/// a server or client has it when its config names it.
#pragma once

#include "base/macros.h"

BASE_C_BEGIN

typedef struct net_solo net_solo;

/// The part.
extern const net_solo net_solo_part;

BASE_C_END
