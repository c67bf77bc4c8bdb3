// SPDX-License-Identifier: MIT
// The inspector of a program that was built without libmicrohttpd or jansson.
#include "inspect.h"

#include "base/text.h"
#include "host/output.h"

int server_inspect_open(const server_inspect_config* config, server_inspect** inspect) {
    *inspect = NULL;
    base_report(config->reporter, NULL, 0,
                "%s--http: this program was built without libmicrohttpd-dev and libjansson-dev "
                "(-DSHOAL_INSPECT=ON)",
                config->is_optional ? "warning: " : "");
    return config->is_optional ? NET_EXIT_CLEAN : NET_EXIT_USAGE;
}

void server_inspect_pass(server_inspect* self, bool is_ready) {
    (void)self, (void)is_ready;
}

int server_inspect_descriptor(const server_inspect* self) {
    (void)self;
    return -1;
}

server_inspect_counts server_inspect_get_counts(const server_inspect* self) {
    (void)self;
    return (server_inspect_counts){0};
}

void server_inspect_address(const server_inspect* self, char* text, size_t text_bytes) {
    (void)self;
    (void)base_text_copy(text, text_bytes, "none");
}

void server_inspect_close(server_inspect* self) {
    (void)self;
}
