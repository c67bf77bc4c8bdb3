// SPDX-License-Identifier: MIT
/// A net_draw that writes SVG. The same calls give the same bytes: numbers are whole tenths, and
/// nothing depends on the clock, the locale or a font.
///
/// Neighbours with the same look share an element. A quad whose colours run from top to bottom
/// becomes a rectangle with a gradient, a fan from one colour to another an ellipse with one, any
/// other triangle a polygon of its mean colour. Text is measured with the widths of Helvetica,
/// which Arial and Liberation Sans share. A sprite names its file, as the game's folder has it.
#pragma once

#include "net/game.h"
#include "net/playback.h"

#include <stdio.h>

#define SVG_GRADIENTS_MAX 64u

typedef enum svg_kind { SVG_NOTHING, SVG_RECTS, SVG_LINES, SVG_GRADIENT_RECTS } svg_kind;

typedef struct svg_gradient {
    ecs_color top, bottom; ///< radial gradient: middle, edge
    bool is_radial;
} svg_gradient;

typedef struct svg {
    FILE* file;                   ///< NULL: nothing is written
    const net_playback* playback; ///< has the names of players; NULL: none has one
    svg_kind open;
    ecs_color color;   ///< of the open element
    float line_width;  ///< of open lines
    uint32_t gradient; ///< of open gradient rectangles
    svg_gradient gradients[SVG_GRADIENTS_MAX];
    uint32_t gradient_count;
} svg;

/// Begin a picture of `width` by `height` units. `file` (may be NULL) is borrowed.
void svg_begin(svg* picture, FILE* file, float width, float height, const char* title);
/// Close all open elements. @return false: writing the file failed.
bool svg_end(svg* picture);
/// The drawing functions for a frame; the caller fills player and time.
net_draw svg_draw(svg* picture);
