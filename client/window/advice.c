// SPDX-License-Identifier: MIT
// The order is that of causes: a machine that draws too slowly makes the view late, a line that
// drops packets makes predictions wrong.
#include "window/advice.h"

#include "base/text.h"

bool client_advice_write(const client_advice_facts* facts, char* text, size_t text_bytes) {
    const char* format = NULL;
    double value = 0.0;
    if (facts->frame_ms > CLIENT_ADVICE_FRAME_MS) {
        format = "frames take %.0f ms: this machine draws too slowly";
        value = facts->frame_ms;
    } else if (facts->loss_percent > CLIENT_ADVICE_LOSS_PERCENT) {
        format = "loss %.0f %%: the line drops packets";
        value = facts->loss_percent;
    } else if (facts->rate_hz > 0.0 && facts->ticks_s > 0.0 &&
               facts->ticks_s < facts->rate_hz * CLIENT_ADVICE_TICKS_PART) {
        (void)base_text_format(text, text_bytes, "the server is late: %.0f of %.0f ticks a second",
                               facts->ticks_s, facts->rate_hz);
        return true;
    } else if (facts->rtt_ms > CLIENT_ADVICE_RTT_MS) {
        format = facts->is_local ? "round trip %.0f ms in one program: --net, or a busy machine"
                                 : "round trip %.0f ms: the server is far away";
        value = facts->rtt_ms;
    } else if (facts->view_ms > CLIENT_ADVICE_VIEW_MS) {
        format = "view %.0f ms behind: packets come unevenly";
        value = facts->view_ms;
    } else if (facts->corrections_s > CLIENT_ADVICE_CORRECTIONS) {
        format = "%.0f corrections a second: snap what is rounded";
        value = facts->corrections_s;
    }
    if (format)
        (void)base_text_format(text, text_bytes, format, value);
    else
        (void)base_text_copy(text, text_bytes, "nothing is wrong");
    return format != NULL;
}
