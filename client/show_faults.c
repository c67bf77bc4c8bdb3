// SPDX-License-Identifier: MIT
// What a build said that failed while the game is played (--window faults=FILE): the match goes
// on as it
// was, and its window says why. The file is there as long as the fault is.
#include "show.h"

#include "base/shown.h"
#include "base/text.h"

#include <string.h>

#define LOOK_US 250000u ///< between two looks at the file

static void read_lines(show_faults* faults, FILE* file) {
    char line[CLIENT_FAULT_BYTES];
    while (faults->count < CLIENT_FAULTS_MAX && fgets(line, sizeof line, file)) {
        const bool is_whole = strchr(line, '\n') != NULL;
        line[strcspn(line, "\n")] = '\0';
        if (base_shown_copy(faults->lines[faults->count], sizeof line, line)) faults->count++;
        for (int byte = 0; !is_whole && byte != EOF && byte != '\n';)
            byte = fgetc(file);
    }
}

void show_look_for_faults(show* on, uint64_t now_us) {
    show_faults* faults = &on->faults;
    const char* name = on->program->config.faults;
    if (!name || (faults->looked_us && now_us < faults->looked_us + LOOK_US)) return;
    faults->looked_us = now_us;
    faults->count = 0;
    FILE* file = fopen(name, "re");
    if (!file) return; // no fault
    read_lines(faults, file);
    (void)fclose(file);
}

void show_draw_faults(const show* on, const net_draw* draw, float width) {
    const char* lines[CLIENT_FAULTS_MAX];
    for (uint32_t i = 0; i < on->faults.count; i++)
        lines[i] = on->faults.lines[i];
    client_screen_faults(draw, width, lines, on->faults.count);
}
