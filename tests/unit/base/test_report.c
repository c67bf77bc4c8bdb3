// SPDX-License-Identifier: MIT
#include "test.h"

CASE(the_first_message_is_kept_and_the_rest_counted) {
    base_report_first first;
    base_reporter reporter = base_reporter_first(&first);
    assert_int_equal(first.count, 0);
    base_report(&reporter, "a.blk", 7, "no %s here", "type");
    base_report(&reporter, "b.blk", 8, "other");
    assert_string_equal(first.text, "a.blk:7: error: no type here");
    assert_int_equal(first.count, 2);
}

CASE(file_and_line_may_be_missing) {
    base_report_first first;
    base_reporter reporter = base_reporter_first(&first);
    base_report(&reporter, "a.blk", 0, "x");
    assert_string_equal(first.text, "a.blk: error: x");
    reporter = base_reporter_first(&first);
    base_report(&reporter, NULL, 0, "x");
    assert_string_equal(first.text, "error: x");
    base_report(NULL, "a.blk", 1, "dropped");
}

CASE(warnings_and_notes_say_so_instead_of_error) {
    base_report_first first;
    base_reporter reporter = base_reporter_first(&first);
    base_report(&reporter, "a.blk", 3, "warning: odd");
    assert_string_equal(first.text, "a.blk:3: warning: odd");
    reporter = base_reporter_first(&first);
    base_report(&reporter, NULL, 0, "note: client %u is back", 1u);
    assert_string_equal(first.text, "note: client 1 is back");
}

CASE(a_password_of_a_url_is_not_reported) {
    base_report_first first;
    base_reporter reporter = base_reporter_first(&first);
    base_report(&reporter, "nats://me:right@host/X", 0, "no %s here", "tls://me:right@host");
    assert_string_equal(first.text, "nats://host/X: error: no tls://host here");
}

CASE(control_characters_are_replaced) {
    base_report_first first;
    base_reporter reporter = base_reporter_first(&first);
    base_report(&reporter, NULL, 0, "name '%s'", "a\nb\x1B[31m\x7F\xC3\xA9");
    assert_string_equal(first.text, "error: name 'a?b?[31m?\xC3\xA9'");
    reporter = base_reporter_first(&first);
    base_report(&reporter, NULL, 0, "%s",
                "\xC2\x9B"
                "31m\xE2\x80\xAE"
                "x\xFF");
    assert_string_equal(first.text, "error: ?31m?x?");
}

static void keep(void* context, const char* file, uint32_t line, const char* message) {
    memcpy(context, message, strlen(message) + 1);
}

CASE(long_messages_are_cut_visibly) {
    char text[600], message[BASE_REPORT_BYTES_MAX];
    memset(text, 'x', sizeof text);
    base_reporter reporter = {keep, message};
    text[BASE_REPORT_BYTES_MAX - 1] = '\0';
    base_report(&reporter, NULL, 0, "%s", text);
    assert_string_equal(message, text);
    text[BASE_REPORT_BYTES_MAX - 1] = 'x';
    text[BASE_REPORT_BYTES_MAX] = '\0';
    base_report(&reporter, NULL, 0, "%s", text);
    assert_int_equal(strlen(message), BASE_REPORT_BYTES_MAX - 1);
    assert_string_equal(message + BASE_REPORT_BYTES_MAX - 4, "...");
}
