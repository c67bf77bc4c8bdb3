// SPDX-License-Identifier: MIT
// Pictures as files, from a renderer in memory.
#include "window/window.h"

#include "picture.h"

#include <sys/stat.h>
#include <unistd.h>

static char folder[64];

static size_t read_file(const char* name, uint8_t* bytes, size_t capacity) {
    char path[128];
    (void)base_text_format(path, sizeof path, "%s/%s", folder, name);
    FILE* file = fopen(path, "rb");
    assert_non_null(file);
    size_t size = fread(bytes, 1, capacity, file);
    assert_int_equal(fclose(file), 0);
    assert_int_equal(unlink(path), 0);
    return size;
}

static void write_shot(picture* p, const char* name) {
    char path[128];
    (void)base_text_format(path, sizeof path, "%s/%s", folder, name);
    assert_true(client_shot_write(p->renderer, path, test_reporter()));
}

static uint32_t read_u32(const uint8_t* bytes) {
    return (uint32_t)bytes[0] << 24 | (uint32_t)bytes[1] << 16 | (uint32_t)bytes[2] << 8 | bytes[3];
}

CASE_WITH(picture, p, picture_open(p, 320, 200, 320.0f, 200.0f), picture_close(p),
          equal_pixels_give_equal_bytes) {
    static uint8_t first[1u << 20], second[1u << 20], third[1u << 20];
    p->view.circle(p->view.context, 100.0f, 100.0f, 50.0f, (ecs_color){255, 200, 0, 255});
    p->view.text(p->view.context, 100.0f, 20.0f, 30.0f, (ecs_color){255, 255, 255, 255}, "Shoal");
    client_draw_end(p->draw);
    write_shot(p, "a.png");
    write_shot(p, "b.png");
    p->view.rect(p->view.context, 300.0f, 190.0f, 1.0f, 1.0f, (ecs_color){255, 0, 0, 255});
    client_draw_end(p->draw);
    write_shot(p, "c.png");
    size_t size = read_file("a.png", first, sizeof first);
    assert_int_equal(read_file("b.png", second, sizeof second), size);
    assert_memory_equal(first, second, size);
    size_t other = read_file("c.png", third, sizeof third);
    assert_true(other != size || memcmp(first, third, size) != 0);
    assert_memory_equal(first, "\x89PNG\r\n\x1a\n", 8);
    assert_int_equal(read_u32(first + 16), 320);
    assert_int_equal(read_u32(first + 20), 200);
    assert_int_equal(first[25], 2); // RGB: no transparency
}

CASE_WITH(picture, p, picture_open(p, 32, 32, 32.0f, 32.0f), picture_close(p),
          a_place_that_cannot_be_written_is_reported_and_left_clean) {
    base_report_first reports;
    base_reporter reporter = base_reporter_first(&reports);
    char path[128], part[136];
    client_draw_end(p->draw);
    assert_false(client_shot_write(p->renderer, "/nowhere/at/all.png", &reporter));
    assert_int_equal(reports.count, 1);
    assert_non_null(strstr(reports.text, "/nowhere/at/all.png"));
    // A folder has the name of the file.
    (void)base_text_format(path, sizeof path, "%s/taken.png", folder);
    (void)base_text_format(part, sizeof part, "%s.part", path);
    assert_int_equal(mkdir(path, 0700), 0);
    assert_false(client_shot_write(p->renderer, path, &reporter));
    assert_int_equal(access(part, F_OK), -1);
    assert_int_equal(rmdir(path), 0);
}

int main(void) {
    strcpy(folder, "/tmp/shoal-shot.XXXXXX");
    if (!mkdtemp(folder)) return 1;
    int failed = test_run();
    return rmdir(folder) == 0 ? failed : 1; // it fails when the tests left a file
}
