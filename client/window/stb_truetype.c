// SPDX-License-Identifier: MIT
// stb_truetype's functions, compiled here once. Its code is not ours: warnings are off for this
// file.
#define STB_TRUETYPE_IMPLEMENTATION
#include "stb_truetype.h"
