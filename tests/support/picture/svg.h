// SPDX-License-Identifier: MIT
/// net_draw that writes SVG. The same calls give the same bytes: numbers are written as whole tenths,
/// nothing asks the clock, the locale or a font.
///
/// Neighbours that look alike share an element; a quad whose colours run from top to bottom becomes a
/// rectangle with a gradient, a fan from one colour to another an ellipse with one, any other triangle a
/// polygon of its mean colour. Text is measured with the widths of Helvetica, which Arial and Liberation
/// Sans share.
#pragma once

#include "net/game.h"

#include <stdio.h>

#define SVG_GRADIENTS_MAX 64u

typedef enum svg_kind { SVG_NOTHING, SVG_RECTS, SVG_LINES, SVG_GRADIENT_RECTS } svg_kind;

typedef struct svg_gradient {
    ecs_color top, bottom; ///< of a radial one: middle, edge
    bool is_radial;
} svg_gradient;

typedef struct svg {
    FILE* file; ///< NULL: drawn into nothing
    svg_kind open;
    ecs_color color;   ///< of the open element
    float line_width;  ///< of open lines
    uint32_t gradient; ///< of open gradient rectangles
    svg_gradient gradients[SVG_GRADIENTS_MAX];
    uint32_t gradient_count;
} svg;

/// Begin a picture of `width` by `height` units; `file` (may be NULL) stays the caller's.
void svg_begin(svg* picture, FILE* file, float width, float height, const char* title);
/// Close what is open. @return false when the file did not take it all.
bool svg_end(svg* picture);
/// The drawing functions for a frame; the caller fills player, time and names.
net_draw svg_draw(svg* picture);
