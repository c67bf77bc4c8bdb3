// SPDX-License-Identifier: MIT
// Runs a fuzz target without a fuzzer: every file of the given folders, as a whole, cut at every
// length, and with every byte flipped in three ways. Large files are cut and flipped in steps, so
// that a replay takes seconds; in larger steps in a shorter run (SHOAL_TEST_SCALE below 1). Inputs
// are copied to blocks of their exact size, so that a sanitizer sees the first byte past the end.
// When an input crashes, the name of its file is the last line on stderr.
#include "fuzz.h"

#include <dirent.h>
#include <sys/stat.h>

enum { FILE_BYTES_MAX = 1 << 20, VARIANTS_MAX = 2048, VARIANTS_SHORT = 16, PATH_BYTES = 4096 };

typedef struct replay_state {
    unsigned long files, runs;
} replay_state;

static void run(replay_state* replay, const uint8_t* data, size_t size) {
    uint8_t* tight = calloc(1, size ? size : 1);
    if (!tight) abort();
    if (size) memcpy(tight, data, size);
    (void)LLVMFuzzerTestOneInput(tight, size);
    free(tight);
    replay->runs++;
}

static void run_variants(replay_state* replay, uint8_t* data, size_t size) {
    static const uint8_t masks[] = {0x01, 0x80, 0xff};
    const char* scale = getenv("SHOAL_TEST_SCALE");
    bool is_short = scale && strtod(scale, NULL) < 1;
    size_t step = size / (is_short ? VARIANTS_SHORT : VARIANTS_MAX) + 1;
    run(replay, data, size);
    for (size_t cut = 0; cut < size; cut += step)
        run(replay, data, cut);
    for (size_t at = 0; at < size; at += step) {
        for (size_t m = 0; m < sizeof masks; m++) {
            data[at] ^= masks[m];
            run(replay, data, size);
            data[at] ^= masks[m];
        }
    }
}

static bool run_file(replay_state* replay, const char* path) {
    FILE* file = fopen(path, "rb");
    uint8_t* data = malloc(FILE_BYTES_MAX);
    bool is_read = file && data;
    if (is_read) {
        size_t size = fread(data, 1, FILE_BYTES_MAX, file);
        is_read = !ferror(file);
        if (is_read) {
            fprintf(stderr, "%s\n", path);
            run_variants(replay, data, size);
            replay->files++;
        }
    }
    if (!is_read) fprintf(stderr, "%s: cannot be read\n", path);
    free(data);
    if (file) fclose(file);
    return is_read;
}

static bool run_folder(replay_state* replay, const char* path) {
    struct dirent** entries;
    int count = scandir(path, &entries, NULL, alphasort);
    if (count < 0) {
        fprintf(stderr, "%s: cannot be read\n", path);
        return false;
    }
    bool is_read = true;
    for (int i = 0; i < count; i++) {
        char name[PATH_BYTES];
        bool is_hidden = entries[i]->d_name[0] == '.';
        int length = snprintf(name, sizeof name, "%s/%s", path, entries[i]->d_name);
        if (!is_hidden && length < (int)sizeof name) is_read = run_file(replay, name) && is_read;
        free(entries[i]);
    }
    free(entries);
    return is_read;
}

int main(int argc, char** argv) {
    replay_state replay = {0};
    bool is_read = true;
    run(&replay, NULL, 0);
    for (int i = 1; i < argc; i++) {
        struct stat info;
        bool is_folder = stat(argv[i], &info) == 0 && S_ISDIR(info.st_mode);
        is_read = (is_folder ? run_folder : run_file)(&replay, argv[i]) && is_read;
    }
    printf("replayed files=%lu runs=%lu\n", replay.files, replay.runs);
    return is_read && replay.files > 0 ? 0 : 1;
}
