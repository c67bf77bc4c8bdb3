// SPDX-License-Identifier: MIT
// A library of the system that a game needs.

int beside_version(void);

int beside_version(void) {
    return 1;
}
