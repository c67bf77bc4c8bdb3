// SPDX-License-Identifier: MIT
/// The letters of stb_easy_font, for systems without a font file. ASCII 32..126.
#pragma once

/// @return the width of a letter, in units; a line has CLIENT_EASY_LINE of them.
int client_easy_font_advance(char letter);
/// Write the upright rectangles (left, top, right, bottom each) of a letter. @return their count.
int client_easy_font_quads(char letter, float* corners, int quads_max);

#define CLIENT_EASY_LINE 12.0f
#define CLIENT_EASY_QUADS_MAX 64
