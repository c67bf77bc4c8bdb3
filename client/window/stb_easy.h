// SPDX-License-Identifier: MIT
/// The letters of stb_easy_font, for systems without a font file. ASCII 32..126.
#pragma once

/// In units of which a line has CLIENT_EASY_LINE.
int client_easy_font_advance(char letter);
/// Upright rectangles (left, top, right, bottom each) that make up the letter. @return their count.
int client_easy_font_quads(char letter, float* corners, int quads_max);

#define CLIENT_EASY_LINE 12.0f
#define CLIENT_EASY_QUADS_MAX 64
