// SPDX-License-Identifier: MIT
/// What a call reports: calls of a case get hear() for their reporter.
#pragma once

#include "test.h"

static base_report_first said; ///< since the last hear()

static inline const base_reporter* hear(void) {
    static base_reporter reporter;
    said = (base_report_first){.count = 0};
    reporter = base_reporter_first(&said);
    return &reporter;
}

/// The first report has these words; "": there may be none.
static inline void assert_said(const char* part) {
    if (!strstr(said.text, part)) fail_msg("\"%s\" lacks \"%s\"", said.text, part);
}
