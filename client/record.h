// SPDX-License-Identifier: MIT
/// --record: what the first player sees, as a log.
#pragma once

#include "program.h"

/// A net_client_stepped_fn.
bool client_record_step(void* program);
/// Before the first match goes. @return NET_EXIT_CLEAN; NET_EXIT_RUNTIME: the record is not whole
/// (reported).
int client_record_close(client_program* program);
