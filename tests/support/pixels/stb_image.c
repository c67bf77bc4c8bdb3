// SPDX-License-Identifier: MIT
// stb_image's functions, compiled here once. Its code is not ours: warnings are off for this file.
#define STB_IMAGE_IMPLEMENTATION
#define STBI_ONLY_PNG
#include "stb_image.h"
