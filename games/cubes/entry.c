// SPDX-License-Identifier: MIT
// The one symbol that programs look for in cubes.so. It has its own file, so that a test can link
// several games at once and call the module function of each.

#include "cubes.h"

__attribute__((visibility("default"))) const net_game_module* net_game_module_get(void);

const net_game_module* net_game_module_get(void) {
    return cubes_module();
}
