// SPDX-License-Identifier: MIT
// Which misreadings of the pages do their vectors find? The client is compiled a second time from
// copies in which the number `misreading` chooses one rule that is read wrongly (misread.awk,
// misreadings.txt).
#include "conform.h"

#include <stdlib.h>
#include <string.h>

enum { LINE_BYTES_MAX = 512 };

/// Number of the rule that is read wrongly; 0: none.
int misreading;

// What the list says of a misreading.
static void print_survivor(const char* list_path, int number) {
    char line[LINE_BYTES_MAX];
    FILE* list = fopen(list_path, "r");
    int at = 0;
    while (list && fgets(line, sizeof line, list)) {
        const char* name = strstr(line, ".c: ");
        if (!name || strcspn(line, " -+") != (size_t)(name - line) + 3) continue;
        if (++at == number) fprintf(stderr, "no vector finds: %d %s", number, line);
    }
    if (list) fclose(list);
}

static int check(const char* folder, const char* list_path, int count) {
    int found = 0;
    misreading = 0;
    if (!vectors_are_read(folder, false)) {
        fprintf(stderr, "a vector fails without a misreading\n");
        return 1;
    }
    for (int number = 1; number <= count; number++) {
        misreading = number;
        bool is_found = !vectors_are_read(folder, number <= SHARED_MISREADINGS);
        found += is_found;
        if (!is_found) print_survivor(list_path, number);
    }
    printf("conformance misreadings=%d found=%d\n", count, found);
    return found == count ? 0 : 1;
}

int main(int argc, char** argv) {
    if (argc == 4 && strcmp(argv[1], "check") == 0) return check(argv[2], argv[3], MISREADINGS);
    fprintf(stderr, "usage: conformance_misreadings check PROTO misreadings.txt\n"
                    "Count the misreadings of the pages that their vectors find.\n");
    return 2;
}
