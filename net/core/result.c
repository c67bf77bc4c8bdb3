// SPDX-License-Identifier: MIT
// Names and texts of results, from the one list.
#include "net/result.h"

const char* net_result_name(net_result result) {
    switch (result) { NET_RESULT_LIST(BASE_CASE_NAME) }
    return "NET_UNKNOWN";
}

const char* net_result_text(net_result result) {
    switch (result) { NET_RESULT_LIST(BASE_CASE_TEXT) }
    return "unknown result";
}
