// SPDX-License-Identifier: MIT
// The only file of the client that names its parts. CMakeLists.txt says which are there.
#include "ask.h"
#include "window/playback_play.h"

#include "net/solo.h"

const client_parts client_parts_here = {
#if SHOAL_HAS_SOLO
    .solo = &net_solo_part,
#else
    .solo = NULL,
#endif
#if SHOAL_HAS_LOG
    .record_step = client_record_step,
    .close_record = client_record_close,
#endif
#if SHOAL_HAS_PLAYBACK
    .replay = client_playback_play,
#endif
#if SHOAL_HAS_LIST
    .list = client_ask_list,
#endif
#if SHOAL_HAS_LOCAL
    .open_local = client_local_open,
    .close_local = client_local_close,
    .take_local = client_local_take,
#endif
#if SHOAL_HAS_WINDOW
    .show = client_window_play,
    .keep_faults = client_window_keep_faults,
    .clear_faults = client_window_clear_faults,
#endif
};
