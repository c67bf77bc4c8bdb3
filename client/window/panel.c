// SPDX-License-Identifier: MIT
// The panel is one column: head, plots in two columns, the table of bytes, two lists of numbers.
//
// A plot is a row of bars with bright ends, the newest bar on the right. Bars are upright boxes,
// which are cheap with every renderer and lie on whole pixels. Numbers are right aligned, so that
// they are below each other and do not move when their digits change.
#include "window/panel.h"

#include "base/assert.h"
#include "base/math.h"
#include "base/text.h"

#define MARGIN 10.0f
#define GAP 6.0f
#define HEAD 46.0f
#define TILE_HEIGHT 56.0f
#define TILE_WIDTH ((CLIENT_PANEL_WIDTH - 2.0f * MARGIN - GAP) * 0.5f)
#define BARS_HEIGHT 28.0f
#define ROW 13.0f
#define SECTION 18.0f
#define LIST_WIDTH (TILE_WIDTH - 8.0f)

typedef struct plot_style {
    const char* label;
    const char* unit;
    const char* format; ///< format of the number
    float scale_min;
    ecs_color color;
} plot_style;

static const plot_style styles[CLIENT_PLOT_COUNT] = {
    [CLIENT_PLOT_RTT] = {"ROUND TRIP", "ms", "%.0f", 50.0f, {92, 200, 255, 255}},
    [CLIENT_PLOT_LOSS] = {"LOSS", "%", "%.1f", 5.0f, {255, 107, 107, 255}},
    [CLIENT_PLOT_JITTER] = {"JITTER", "ms", "%.1f", 10.0f, {255, 203, 92, 255}},
    [CLIENT_PLOT_DELAY] = {"VIEW BEHIND", "ms", "%.0f", 50.0f, {160, 168, 255, 255}},
    [CLIENT_PLOT_IN] = {"IN", "kB/s", "%.1f", 5.0f, {118, 222, 150, 255}},
    [CLIENT_PLOT_OUT] = {"OUT", "kB/s", "%.1f", 5.0f, {72, 196, 180, 255}},
    [CLIENT_PLOT_LEAD] = {"PREDICTED AHEAD", "ms", "%.0f", 50.0f, {220, 150, 255, 255}},
    [CLIENT_PLOT_FRAME] = {"FRAME", "ms", "%.1f", 5.0f, {255, 158, 94, 255}},
};

static const ecs_color white = {240, 244, 255, 255};
static const ecs_color soft = {150, 164, 200, 255};
static const ecs_color warning = {255, 170, 92, 255};
static const ecs_color faint = {150, 164, 200, 60};

void client_panel_add(client_panel* panel, const client_panel_sample* sample) {
    BASE_ASSERT(panel->next < CLIENT_PANEL_SAMPLES);
    panel->samples[panel->next] = *sample;
    panel->next = (panel->next + 1) % CLIENT_PANEL_SAMPLES;
    if (panel->count < CLIENT_PANEL_SAMPLES) panel->count++;
}

// `age` 0 is the newest.
static float value_of(const client_panel* panel, client_plot plot, uint32_t age) {
    BASE_ASSERT(age < panel->count && (uint32_t)plot < CLIENT_PLOT_COUNT);
    uint32_t at = (panel->next + CLIENT_PANEL_SAMPLES - 1 - age) % CLIENT_PANEL_SAMPLES;
    float value = panel->samples[at].values[plot];
    return value > 0.0f ? value : 0.0f; // NaN becomes 0
}

ecs_color client_panel_plot_color(client_plot plot) {
    return styles[plot].color;
}

float client_panel_scale(const client_panel* panel, client_plot plot) {
    float most = styles[plot].scale_min;
    for (uint32_t age = 0; age < panel->count; age++)
        most = base_max(most, value_of(panel, plot, age));
    float step = 1.0f;
    while (step < most && step < 1e9f) {
        if (step * 2.0f >= most) return step * 2.0f;
        if (step * 5.0f >= most) return step * 5.0f;
        step *= 10.0f;
    }
    return step;
}

// The place of a plot, row by row.
static void tile_of(client_plot plot, float* x, float* y) {
    *x = CLIENT_PANEL_LEFT + MARGIN + (float)((uint32_t)plot % 2) * (TILE_WIDTH + GAP);
    *y = CLIENT_PANEL_TOP + HEAD + (float)((uint32_t)plot / 2) * (TILE_HEIGHT + GAP);
}

void client_panel_plot_box(client_plot plot, float* x, float* y, float* width, float* height) {
    tile_of(plot, x, y);
    *x += 7.0f;
    *y += TILE_HEIGHT - BARS_HEIGHT - 5.0f;
    *width = TILE_WIDTH - 14.0f;
    *height = BARS_HEIGHT;
}

static void put_text(const net_draw* draw, float x, float y, float height, ecs_color color,
                     const char* text) {
    draw->text(draw->context, x, y, height, color, text);
}

static void put_right(const net_draw* draw, float x, float y, float height, ecs_color color,
                      const char* text) {
    put_text(draw, x - draw->text_width(draw->context, height, text), y, height, color, text);
}

static void draw_bars(const client_panel* panel, const net_draw* draw, client_plot plot) {
    float x = 0.0f, y = 0.0f, width = 0.0f, height = 0.0f;
    client_panel_plot_box(plot, &x, &y, &width, &height);
    float scale = client_panel_scale(panel, plot);
    float bar = width / (float)CLIENT_PANEL_SAMPLES;
    ecs_color color = styles[plot].color, fill = color;
    fill.a = 70;
    draw->rect(draw->context, x, y + height, width, 1.0f, faint);
    for (uint32_t age = 0; age < panel->count; age++) {
        float left = x + width - (float)(age + 1) * bar;
        float high = height * value_of(panel, plot, age) / scale;
        float top = y + height - high;
        draw->rect(draw->context, left, top, bar, high, fill);
        draw->rect(draw->context, left, top - 0.5f, bar, 1.5f, color);
    }
}

static void draw_tile(const client_panel* panel, const net_draw* draw, client_plot plot) {
    const plot_style* style = &styles[plot];
    float x = 0.0f, y = 0.0f;
    char text[32];
    tile_of(plot, &x, &y);
    draw->rect(draw->context, x, y, TILE_WIDTH, TILE_HEIGHT, (ecs_color){255, 255, 255, 12});
    draw->rect(draw->context, x, y, 2.0f, TILE_HEIGHT, style->color);
    put_text(draw, x + 7.0f, y + 5.0f, 9.0f, soft, style->label);
    float right = x + TILE_WIDTH - 7.0f;
    put_right(draw, right, y + 6.0f, 9.0f, soft, style->unit);
    float unit_width = draw->text_width(draw->context, 9.0f, style->unit);
    float now = panel->count ? value_of(panel, plot, 0) : 0.0f;
    (void)base_text_format(text, sizeof text, style->format, (double)now);
    put_right(draw, right - unit_width - 3.0f, y + 2.0f, 14.0f, white, text);
    draw_bars(panel, draw, plot);
}

static float section(const net_draw* draw, float x, float y, float width, const char* name,
                     const char* number) {
    put_text(draw, x, y, 9.0f, soft, name);
    if (number) put_right(draw, x + width, y, 9.0f, soft, number);
    draw->rect(draw->context, x, y + 12.0f, width, 1.0f, faint);
    return y + SECTION;
}

static void put_rate(char* text, size_t bytes, float bytes_s) {
    if (bytes_s < 1000.0f)
        (void)base_text_format(text, bytes, "%.0f B/s", (double)bytes_s);
    else
        (void)base_text_format(text, bytes, "%.1f kB/s", (double)bytes_s / 1000.0);
}

static float draw_parts(const client_panel* panel, const net_draw* draw, float y) {
    const client_panel_facts* facts = &panel->facts;
    BASE_ASSERT(facts->part_count <= CLIENT_PANEL_PARTS);
    float x = CLIENT_PANEL_LEFT + MARGIN, width = CLIENT_PANEL_WIDTH - 2.0f * MARGIN;
    char text[32];
    put_rate(text, sizeof text, facts->parts_bytes_s);
    y = section(draw, x, y, width, "BYTES IN BY COMPONENT", text);
    float most = facts->part_count ? base_max(facts->parts[0].bytes_s, 1.0f) : 1.0f;
    for (uint32_t i = 0; i < facts->part_count; i++) {
        const client_panel_part* part = &facts->parts[i];
        float bar = 110.0f * base_clamp(part->bytes_s / most, 0.0f, 1.0f);
        put_text(draw, x, y, 10.0f, white, part->name);
        draw->rect(draw->context, x + 116.0f, y + 3.0f, 110.0f, 6.0f,
                   (ecs_color){255, 255, 255, 12});
        if (bar > 0.5f)
            draw->rect(draw->context, x + 116.0f, y + 3.0f, bar, 6.0f,
                       styles[CLIENT_PLOT_IN].color);
        put_rate(text, sizeof text, part->bytes_s);
        put_right(draw, x + width, y, 10.0f, white, text);
        y += ROW;
    }
    return y + 5.0f;
}

static float fraction(const net_draw* draw, float x, float y, const char* name, const char* format,
                      double value) {
    char text[32];
    (void)base_text_format(text, sizeof text, format, value);
    put_text(draw, x, y, 10.0f, soft, name);
    put_right(draw, x + LIST_WIDTH, y, 10.0f, white, text);
    return y + ROW;
}

static float number(const net_draw* draw, float x, float y, const char* name, uint64_t value) {
    return fraction(draw, x, y, name, "%.0f", (double)value);
}

static void draw_lists(const client_panel* panel, const net_draw* draw, float top) {
    const client_panel_facts* facts = &panel->facts;
    float left = CLIENT_PANEL_LEFT + MARGIN, right = left + TILE_WIDTH + GAP + 8.0f;
    float y = section(draw, left, top, LIST_WIDTH, "ENTITIES", NULL);
    y = number(draw, left, y, "created", facts->created);
    y = number(draw, left, y, "loading", facts->loading);
    y = number(draw, left, y, "allocated", facts->allocated);
    y = fraction(draw, left, y, "frame p50", "%.1f ms", (double)facts->frames.us_p50 / 1000.0);
    (void)fraction(draw, left, y, "frame p99", "%.1f ms", (double)facts->frames.us_p99 / 1000.0);
    y = section(draw, right, top, LIST_WIDTH, "VIEW AND PREDICTION", NULL);
    y = number(draw, right, y, "corrections", facts->view.corrections);
    y = fraction(draw, right, y, "largest", "%.1f", facts->view.correction_max);
    y = number(draw, right, y, "stalls", facts->view.stalls);
    y = number(draw, right, y, "inputs waiting", facts->meter.input_depth);
    (void)fraction(draw, right, y, "pace", "%.3f", facts->meter.pace);
}

void client_panel_draw(const client_panel* panel, const net_draw* draw) {
    const float left = CLIENT_PANEL_LEFT, top = CLIENT_PANEL_TOP;
    const ecs_color edge = {110, 130, 210, 110};
    char text[32];
    draw->rect(draw->context, left, top, CLIENT_PANEL_WIDTH, CLIENT_PANEL_HEIGHT,
               (ecs_color){7, 10, 22, 226});
    draw->rect(draw->context, left, top, CLIENT_PANEL_WIDTH, 1.0f, edge);
    draw->rect(draw->context, left, top + CLIENT_PANEL_HEIGHT - 1.0f, CLIENT_PANEL_WIDTH, 1.0f,
               edge);
    draw->rect(draw->context, left, top, 1.0f, CLIENT_PANEL_HEIGHT, edge);
    draw->rect(draw->context, left + CLIENT_PANEL_WIDTH - 1.0f, top, 1.0f, CLIENT_PANEL_HEIGHT,
               edge);
    put_text(draw, left + MARGIN, top + 8.0f, 12.0f, white, panel->facts.title);
    (void)base_text_format(text, sizeof text, "tick %.0f", panel->facts.tick);
    put_right(draw, left + CLIENT_PANEL_WIDTH - MARGIN, top + 8.0f, 12.0f, soft, text);
    put_text(draw, left + MARGIN, top + 27.0f, 11.0f, panel->facts.is_bad ? warning : soft,
             panel->facts.advice);
    for (uint32_t i = 0; i < CLIENT_PLOT_COUNT; i++)
        draw_tile(panel, draw, (client_plot)i);
    float y = top + HEAD + (float)((CLIENT_PLOT_COUNT + 1) / 2) * (TILE_HEIGHT + GAP) + 4.0f;
    if (panel->facts.part_count) y = draw_parts(panel, draw, y);
    draw_lists(panel, draw, y);
}

// ---- the advice ----
//
// The order is that of causes: a machine that draws too slowly makes the view late, a line that
// drops packets makes predictions wrong.

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
