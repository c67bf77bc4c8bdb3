// SPDX-License-Identifier: MIT
// The only file that is compiled again when the commit changes.
#include "host/version.h"

#include "build_id.h"

const char* net_build_id(void) {
    return SHOAL_BUILD_ID;
}
