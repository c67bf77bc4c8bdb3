// SPDX-License-Identifier: MIT
// stb_image_write's functions, compiled here once. Its code is foreign, so warnings are off here.
#define STB_IMAGE_WRITE_IMPLEMENTATION
#define STBI_WRITE_NO_STDIO
#include "stb_image_write.h"
