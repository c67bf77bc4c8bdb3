// SPDX-License-Identifier: MIT
// The values in a log come out of the log alone. That they are those of the match in every tick:
// test_log_recorder; that changed bytes do no harm: fuzz_log.
#include "playback/playback_record.h"

#include "replay/log_state.h"

PLAYED_CASE(values_in_another_row_code_are_refused_with_the_build_that_reads_them, 60) {
    const char* other = file_name("%s.other", record->files.log);
    record_forge(record, other, record_other_row_code, NULL);
    net_log_reader* reader = files_reader(other);
    net_log_state* state;
    assert_int_equal(net_log_state_create(reader, NULL, hear(), &state), NET_ERR_VERSION);
    assert_said("another row code than");
    assert_said("use shoal-replay of build test");
    net_log_reader_destroy(reader);
}

READ_CASE(a_log_of_inputs_has_sums_and_verifies, .ticks = 50, .content = NET_LOG_CONTENT_INPUTS) {
    net_log_state* state;
    assert_int_equal(net_log_state_create(self->reader, NULL, NULL, &state), NET_ERR_UNKNOWN);
    assert_int_equal(files_verify(self->reader, self->table.module, NET_OK).ticks, 50);
}
