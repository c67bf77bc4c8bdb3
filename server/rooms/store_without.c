// SPDX-License-Identifier: MIT
#include "store.h"

const server_database server_database_postgres = {.begin = "postgres://"};
