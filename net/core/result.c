// SPDX-License-Identifier: MIT
// Names and texts of results, from the one list.
#include "net/result.h"

const char* net_result_name(net_result result) {
    switch (result) {
#define NET_RESULT_NAME(name, value, text)                                                         \
    case name:                                                                                     \
        return #name;
        NET_RESULT_LIST(NET_RESULT_NAME)
#undef NET_RESULT_NAME
    }
    return "NET_UNKNOWN";
}

const char* net_result_text(net_result result) {
    switch (result) {
#define NET_RESULT_TEXT(name, value, text)                                                         \
    case name:                                                                                     \
        return text;
        NET_RESULT_LIST(NET_RESULT_TEXT)
#undef NET_RESULT_TEXT
    }
    return "unknown result";
}
