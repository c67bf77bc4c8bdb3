// SPDX-License-Identifier: MIT
// Two questions a second. A frame is made as text first. On a terminal it is drawn over the one
// before, cut to the size that the terminal has now, so it does not flicker and follows a resize.
#include "ctl.h"

#include "base/json.h"
#include "net/socket.h"

#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <termios.h>
#include <unistd.h>

#define EVERY_US UINT64_C(1000000)
#define RESIZE_US UINT64_C(200000) // a new size is seen so soon
enum { CELL_BYTES = 48, WARNING_BYTES = 256 };

static const char* text_of(const json_t* object, const char* key, char text[CELL_BYTES]) {
    return ctl_text(json_object_get(object, key), text, CELL_BYTES);
}

static double number_of(const json_t* object, const char* key) {
    double number;
    (void)ctl_number(json_object_get(object, key), &number);
    return number;
}

static void put_state(base_bytes* frame, const json_t* status) {
    char a[CELL_BYTES], b[CELL_BYTES], c[CELL_BYTES];
    const json_t* tick = json_array_get(json_object_get(status, "parts"), 0);
    const bool is_paused = strcmp(text_of(status, "is_paused", a), "true") == 0;
    const bool is_empty = strcmp(text_of(status, "is_empty", a), "true") == 0;
    base_json_put(frame, "%s  %s%s  tick %s  up %.0f s\n", text_of(status, "game", a),
                  is_empty    ? "paused until a player comes, "
                  : is_paused ? "paused, "
                              : "",
                  text_of(status, "phase", b), text_of(status, "tick", c),
                  number_of(status, "up_s"));
    base_json_put(
        frame, "players %.0f of %.0f  spectators %.0f  entities %.0f  joins %.0f  refused %.0f  ",
        number_of(status, "clients"), number_of(status, "clients_max"),
        number_of(status, "spectators"), number_of(status, "entities"), number_of(status, "joins"),
        number_of(status, "refusals"));
    base_json_put(frame, "dropped %.0f\n", number_of(status, "drops"));
    base_json_put(
        frame,
        "tick ms  p50 %.2f  p99 %.2f  max %.2f  of %.2f  cpu %.2f    kB/s  out %.1f  in %.1f\n",
        number_of(tick, "p50_us") / 1000, number_of(tick, "p99_us") / 1000,
        number_of(tick, "max_us") / 1000, number_of(status, "budget_us") / 1000,
        number_of(status, "cpu_us_per_tick") / 1000, number_of(status, "sent_bytes_s") / 1000,
        number_of(status, "recv_bytes_s") / 1000);
}

static void put_warnings(base_bytes* frame, const json_t* status) {
    const json_t* list = json_object_get(status, "warnings");
    char text[WARNING_BYTES], figure[CELL_BYTES];
    const json_t* warning;
    size_t i;
    json_array_foreach(list, i, warning) base_json_put(
        frame, "! %s (%s)\n", ctl_text(json_object_get(warning, "text"), text, sizeof text),
        text_of(warning, "figure", figure));
}

static void put_clients(base_bytes* frame, const json_t* answer) {
    const json_t* list = json_object_get(answer, "clients");
    char text[CELL_BYTES];
    const json_t* it;
    size_t i;
    base_json_put(frame, "\n%6s  %-16s  %-9s  %-8s  %7s  %6s  %6s  %7s  %7s  %6s\n", "client",
                  "name", "kind", "state", "rtt ms", "lost %", "kB/s", "sees", "waiting", "warned");
    json_array_foreach(list, i, it) {
        base_json_put(frame, "%6.0f  ", number_of(it, "client"));
        // A text to the width of characters, not of bytes.
        uint32_t count = 0;
        for (const char* at = text_of(it, "name", text); *at; at++) {
            const bool begins = ((unsigned char)*at & 0xc0) != 0x80;
            if (begins && count == 16) break;
            count += begins;
            base_bytes_write(frame, at, 1);
        }
        base_json_put(frame, "%*s", (int)(16 - count), "");
        base_json_put(frame, "  %-9s", text_of(it, "kind", text));
        base_json_put(frame, "  %-8s", text_of(it, "state", text));
        base_json_put(frame, "  %7.1f  %6.1f  %6.1f  %7.0f  %7.0f  %6.0f\n",
                      number_of(it, "rtt_ms"), 100 * number_of(it, "loss_out_ratio"),
                      number_of(it, "sent_bytes_s") / 1000, number_of(it, "entities"),
                      number_of(it, "waiting"), number_of(it, "warnings"));
    }
}

static bool make_frame(ctl_connection* connection, base_bytes* frame) {
    base_bytes_clear(frame);
    if (!ctl_ask(connection, "status")) return false;
    put_state(frame, connection->object);
    put_warnings(frame, connection->object);
    if (!ctl_ask(connection, "clients")) return false;
    put_clients(frame, connection->object);
    return true;
}

// ---- the terminal ----

// Each line, cut to `columns`, and the rest of it cleared; `rows` of them.
static void draw(const base_bytes* frame, uint32_t columns, uint32_t rows) {
    uint32_t row = 1, column = 0;
    fputs("\x1b[H", stdout);
    for (size_t i = 0; i < frame->size && row <= rows; i++) {
        const char c = (char)frame->data[i];
        if (c == '\n') {
            fputs(row < rows ? "\x1b[K\n" : "\x1b[K", stdout);
            row++;
            column = 0;
            continue;
        }
        const bool begins = ((unsigned char)c & 0xc0) != 0x80;
        column += begins;
        if (column <= columns) putchar(c);
    }
    if (row <= rows) fputs("\x1b[J", stdout);
    fflush(stdout);
}

// @return true: q was typed, or no more can be.
static bool is_quit(void) {
    char c[16];
    struct pollfd polled = {.fd = STDIN_FILENO, .events = POLLIN};
    if (poll(&polled, 1, 0) <= 0) return false;
    const ssize_t size = read(STDIN_FILENO, c, sizeof c);
    return size == 0 || (size > 0 && memchr(c, 'q', (size_t)size));
}

static int show_live(ctl_connection* connection, base_bytes* frame, net_loop* loop) {
    struct winsize size = {0}, shown = {0};
    uint64_t due_us = 0;
    for (;;) {
        const uint64_t now_us = net_loop_now_us();
        if (now_us >= due_us) {
            if (!make_frame(connection, frame)) return NET_EXIT_RUNTIME;
            due_us = now_us + EVERY_US;
            shown.ws_col = 0;
        }
        if (ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) != 0 || size.ws_col == 0)
            size = (struct winsize){.ws_col = 80, .ws_row = 24};
        if (size.ws_col != shown.ws_col || size.ws_row != shown.ws_row)
            draw(frame, size.ws_col, size.ws_row);
        shown = size;
        if (net_loop_wait(loop, now_us + RESIZE_US) || is_quit()) return NET_EXIT_CLEAN;
    }
}

static int run_live(ctl_connection* connection, base_bytes* frame) {
    net_loop loop;
    struct termios before, raw;
    if (!net_loop_init(&loop)) return NET_EXIT_RUNTIME;
    loop.sockets[loop.socket_count++] = STDIN_FILENO;
    const bool is_terminal = tcgetattr(STDIN_FILENO, &before) == 0;
    if (is_terminal) {
        raw = before;
        raw.c_lflag &= ~(tcflag_t)(ICANON | ECHO);
        raw.c_cc[VMIN] = 0;
        raw.c_cc[VTIME] = 0;
        (void)tcsetattr(STDIN_FILENO, TCSANOW, &raw);
    }
    fputs("\x1b[?1049h\x1b[?25l", stdout); // the other screen, without a cursor
    const int code = show_live(connection, frame, &loop);
    fputs("\x1b[?25h\x1b[?1049l", stdout);
    fflush(stdout);
    if (is_terminal) (void)tcsetattr(STDIN_FILENO, TCSANOW, &before);
    net_loop_deinit(&loop);
    return code;
}

int ctl_top(ctl_connection* connection) {
    base_bytes frame;
    base_bytes_init(&frame, NULL);
    int code = NET_EXIT_CLEAN;
    if (isatty(STDOUT_FILENO) && isatty(STDIN_FILENO))
        code = run_live(connection, &frame);
    else if (make_frame(connection, &frame))
        fwrite(frame.data, 1, frame.size, stdout);
    else
        code = NET_EXIT_RUNTIME;
    base_bytes_deinit(&frame);
    return code;
}
