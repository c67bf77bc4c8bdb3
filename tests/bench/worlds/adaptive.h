// SPDX-License-Identifier: MIT
/// A reference for bytes: what an adaptive arithmetic coder would need for the same rows, in the
/// way of Fabian Giesen's coder for networked physics (gaffer_net, 2015). Only its bits are
/// counted. Its probabilities follow every row at once, which a real one could do only with
/// acknowledged rows: it is a bound for adaptive coders of this kind, and no coder.
#pragma once

#include "proto/layout.h"

typedef struct adaptive adaptive;

adaptive* adaptive_create(uint32_t templates, uint32_t fields);
void adaptive_destroy(adaptive* self);
/// Count one row of a template. @return its bits.
double adaptive_row(adaptive* self, uint32_t template_, const proto_layout* layout,
                    const proto_row_base* against, const uint64_t* row);
/// Count whether a row of the base packet's list is absent. @return its bits.
double adaptive_absent(adaptive* self, bool is_absent);
