// SPDX-License-Identifier: MIT
/// The panel of F1: plots of the connection, the view and the drawing over the last ten seconds.
///
/// Shape: the caller fills samples (10 per second) and facts; the panel does not know the session.
/// Memory: it allocates nothing. It is drawn on CLIENT_CANVAS_SCREEN.
#pragma once

#include "net/client.h"
#include "window/window.h"

#define CLIENT_PANEL_HZ 10u
#define CLIENT_PANEL_SAMPLES 100u
#define CLIENT_PANEL_PARTS 8u ///< rows of the table of bytes

/// The place of the panel on the screen canvas.
#define CLIENT_PANEL_LEFT 12.0f
#define CLIENT_PANEL_TOP 12.0f
#define CLIENT_PANEL_WIDTH 320.0f
#define CLIENT_PANEL_HEIGHT 518.0f

typedef enum client_plot {
    CLIENT_PLOT_RTT,    ///< ms
    CLIENT_PLOT_LOSS,   ///< percent
    CLIENT_PLOT_JITTER, ///< ms
    CLIENT_PLOT_DELAY,  ///< ms that the view is behind the newest tick
    CLIENT_PLOT_IN,     ///< kB/s
    CLIENT_PLOT_OUT,    ///< kB/s
    CLIENT_PLOT_LEAD,   ///< ms that the prediction is ahead of the newest tick
    CLIENT_PLOT_FRAME,  ///< ms to draw a frame
    CLIENT_PLOT_COUNT,
} client_plot;

typedef struct client_panel_sample {
    float values[CLIENT_PLOT_COUNT];
} client_panel_sample;

/// A component or another kind of data, and its part of the received bytes.
typedef struct client_panel_part {
    char name[32];
    float bytes_s;
} client_panel_part;

/// The current values beside the plots.
typedef struct client_panel_facts {
    char title[64];
    char advice[96]; ///< client_advice_write; empty: none
    bool is_bad;     ///< the advice is about a fault
    double tick;
    uint32_t created, loading, allocated; ///< entities by state
    net_client_meter meter;
    net_presenter_meter view;
    client_window_frames frames;
    client_panel_part parts[CLIENT_PANEL_PARTS]; ///< the largest first
    uint32_t part_count;
    float parts_bytes_s; ///< all parts together, also those that are not shown
} client_panel_facts;

typedef struct client_panel {                          ///< zeroed at first
    client_panel_sample samples[CLIENT_PANEL_SAMPLES]; ///< a ring: `next` is written next
    uint32_t next, count;
    client_panel_facts facts;
} client_panel;

void client_panel_add(client_panel* panel, const client_panel_sample* sample);
void client_panel_draw(const client_panel* panel, const net_draw* draw);
/// Find the place of a plot's bars, for tests and pointers.
void client_panel_plot_box(client_plot plot, float* x, float* y, float* width, float* height);
ecs_color client_panel_plot_color(client_plot plot);
/// @return the end of a plot's scale: 1, 2 or 5 times a power of ten, not below the largest value.
float client_panel_scale(const client_panel* panel, client_plot plot);

#define CLIENT_ADVICE_LOSS_PERCENT 5.0
#define CLIENT_ADVICE_FRAME_MS 34.0 ///< below 30 frames a second
#define CLIENT_ADVICE_VIEW_MS 250.0
#define CLIENT_ADVICE_TICKS_PART 0.8  ///< of the ticks a second that the server should make
#define CLIENT_ADVICE_CORRECTIONS 3.0 ///< that are seen, a second
#define CLIENT_ADVICE_RTT_MS 200.0

typedef struct client_advice_facts {
    double loss_percent, frame_ms, view_ms, rtt_ms;
    double ticks_s,
        rate_hz; ///< ticks of the server that came, and those that it should make; 0: not known
    double corrections_s; ///< of the prediction, that are seen
    bool is_local;        ///< the server is in this program
} client_advice_facts;

/// Write the sentence about the worst of it: what hides other faults comes first.
/// @return false: nothing is bad, and the sentence says so.
bool client_advice_write(const client_advice_facts* facts, char* text, size_t text_bytes);
