// SPDX-License-Identifier: MIT
#include "net/solo.h"

#include "solo/solo_receiver.h"
#include "solo/solo_sender.h"
#include "solo/solo_tapes.h"

const net_solo net_solo_part = {
    .tapes_create = net_solo_tapes_create,
    .tapes_destroy = net_solo_tapes_destroy,
    .sender_create = net_solo_sender_create,
    .sender_destroy = net_solo_sender_destroy,
    .write = net_solo_sender_write,
    .take_apart = net_solo_sender_take_apart,
    .receiver_create = net_solo_receiver_create,
    .receiver_destroy = net_solo_receiver_destroy,
    .begin = net_solo_receiver_begin,
    .number = proto_solo_number,
    .row = net_solo_receiver_row,
    .finish = proto_solo_end,
    .end = net_solo_receiver_end,
};
