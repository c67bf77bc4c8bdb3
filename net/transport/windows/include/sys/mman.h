// SPDX-License-Identifier: MIT
#include "posix.h"
