// SPDX-License-Identifier: MIT
// stb_truetype's functions, compiled here once. Its code is foreign, so warnings are off here.
#define STB_TRUETYPE_IMPLEMENTATION
#include "stb_truetype.h"
