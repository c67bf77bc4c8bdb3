// SPDX-License-Identifier: MIT
// The one symbol that programs look for in cubes.so. It has its own file so that a test may link
// several games at once and ask each by its own name.

#include "cubes.h"

__attribute__((visibility("default"))) const net_game_module* net_game_module_get(void);

const net_game_module* net_game_module_get(void) {
    return cubes_module();
}
