// SPDX-License-Identifier: MIT
// SDL's window and renderer, the events of the window, and the times of the frames.
//
// SDL keeps its state in the library, so a process has one window. net/socket.h handles the
// signals; SDL does not.
//
// The display paces the frames where it can (vsync: presenting waits), else the clock does. The
// time of a frame ends before presenting, so that it measures the drawing and not the wait for the
// display.
#include "window/window.h"

#include "window/pads.h"

#include "base/assert.h"
#include "base/text.h"
#include "stb_image_write.h"

#include <SDL.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <errno.h>

#define BUCKET_US 20u
#define BUCKETS 2500u ///< 50 ms; the last one counts all longer times
#define FPS_DEFAULT 60.0
#define FRAME_DT_MAX 0.1f

BASE_STATIC_ASSERT(CLIENT_TEXT_BYTES == SDL_TEXTINPUTEVENT_TEXT_SIZE, "the text of one event");

struct client_window {
    client_window_config config;
    SDL_Window* window;
    SDL_Renderer* renderer;
    client_draw* draw;
    client_pads pads;
    SDL_Cursor* crosshair;           // NULL: not used yet
    int framed_width, framed_height; // outside of fullscreen
    bool is_dummy;                   // no display
    bool is_vsync;                   // presenting waits for the display
    bool is_covered;                 // hidden or minimised
    double display_fps;
    uint64_t first_us, begun_us, due_us; // first_us: 0 before the first frame
    uint64_t begun_counter;
    float frame_dt_s;
    uint64_t frame_count;
    uint32_t us_last;
    uint32_t buckets[BUCKETS];
};

static const ecs_color background = {6, 8, 16, 255};

static bool is_named(const char* a, const char* b) {
    return a && SDL_strcasecmp(a, b) == 0;
}

static bool has_word(const char* name) {
    const char* value = getenv(name);
    return value && value[0];
}

static bool start_video(const base_reporter* reporter) {
    SDL_SetMainReady();
    (void)SDL_SetHint(SDL_HINT_NO_SIGNAL_HANDLERS, "1");
    (void)SDL_SetHint(SDL_HINT_VIDEO_ALLOW_SCREENSAVER, "1");
    bool has_display = has_word("DISPLAY") || has_word("WAYLAND_DISPLAY");
    if (!has_display && !has_word("SDL_VIDEODRIVER")) {
        (void)SDL_setenv("SDL_VIDEODRIVER", "dummy", 1); // the hint of this name is of SDL 2.0.22
    }
    if (SDL_Init(SDL_INIT_VIDEO) == 0) return true;
    return base_report(reporter, NULL, 0, "no window: %s", SDL_GetError());
}

static bool open_renderer(client_window* self) {
    const char* driver = SDL_GetCurrentVideoDriver();
    self->is_dummy = is_named(driver, "dummy") || is_named(driver, "offscreen");
    if (!self->is_dummy) {
        uint32_t flags = SDL_RENDERER_ACCELERATED;
        if (self->config.fps <= 0.0) flags |= SDL_RENDERER_PRESENTVSYNC;
        self->renderer = SDL_CreateRenderer(self->window, -1, flags);
    }
    if (!self->renderer)
        self->renderer = SDL_CreateRenderer(self->window, -1, SDL_RENDERER_SOFTWARE);
    SDL_RendererInfo info = {0};
    if (!self->renderer || SDL_GetRendererInfo(self->renderer, &info) != 0) return false;
    // The software renderer reports vsync too, but it does not wait.
    self->is_vsync = (info.flags & SDL_RENDERER_ACCELERATED) && self->config.fps <= 0.0 &&
                     (info.flags & SDL_RENDERER_PRESENTVSYNC);
    SDL_DisplayMode mode = {0};
    self->display_fps = FPS_DEFAULT;
    if (SDL_GetWindowDisplayMode(self->window, &mode) == 0 && mode.refresh_rate > 0)
        self->display_fps = mode.refresh_rate;
    return true;
}

client_window* client_window_create(const client_window_config* config) {
    BASE_ASSERT(config && config->width > 0 && config->height > 0);
    client_window* self = base_allocate_zero(config->allocator, sizeof *self);
    self->config = *config;
    self->framed_width = (int)config->width;
    self->framed_height = (int)config->height;
    if (!start_video(config->reporter)) {
        base_release(config->allocator, self, sizeof *self);
        return NULL;
    }
    self->window =
        SDL_CreateWindow(config->title, SDL_WINDOWPOS_CENTERED, SDL_WINDOWPOS_CENTERED,
                         (int)config->width, (int)config->height,
                         SDL_WINDOW_RESIZABLE | SDL_WINDOW_ALLOW_HIGHDPI |
                             (config->is_fullscreen ? SDL_WINDOW_FULLSCREEN_DESKTOP : 0));
    if (!self->window || !open_renderer(self)) {
        base_report(config->reporter, NULL, 0, "no window: %s", SDL_GetError());
        client_window_destroy(self);
        return NULL;
    }
    self->draw = client_draw_create(config->allocator, self->renderer, config->reporter);
    if (!self->draw) {
        client_window_destroy(self);
        return NULL;
    }
    client_window_type(self, false); // SDL begins with it
    client_pads_init(&self->pads, !self->is_dummy, config->reporter);
    return self;
}

void client_window_destroy(client_window* self) {
    if (!self) return;
    for (uint32_t i = 0; i < CLIENT_PADS_MAX; i++) {
        if (self->pads.open[i]) SDL_GameControllerClose(self->pads.open[i]);
        self->pads.open[i] = NULL;
    }
    client_draw_destroy(self->draw);
    if (self->crosshair) SDL_FreeCursor(self->crosshair);
    if (self->renderer) SDL_DestroyRenderer(self->renderer);
    if (self->window) SDL_DestroyWindow(self->window);
    SDL_Quit();
    base_release(self->config.allocator, self, sizeof *self);
}

client_draw* client_window_canvases(client_window* self) {
    return self->draw;
}

void client_window_set_view(client_window* self, const char* title, float width, float height) {
    self->config.view_width = width;
    self->config.view_height = height;
    SDL_SetWindowTitle(self->window, title);
}

// Light with a dark rim, so that it is seen on every ground, and open in the middle.
static SDL_Cursor* make_crosshair(void) {
    enum { SIDE = 33, MIDDLE = SIDE / 2, OPEN = 4, REACH = 14 };
    uint32_t argb[SIDE * SIDE] = {0};
    for (int y = 0; y < SIDE; y++) {
        for (int x = 0; x < SIDE; x++) {
            const int dx = abs(x - MIDDLE), dy = abs(y - MIDDLE);
            const int along = dx > dy ? dx : dy, across = dx > dy ? dy : dx;
            const bool is_dot = along <= 1 && across <= 1;
            if (across == 0 && ((along >= OPEN && along <= REACH) || along == 0))
                argb[y * SIDE + x] = 0xffffffffu;
            else if (is_dot || (across <= 1 && along >= OPEN - 1 && along <= REACH + 1))
                argb[y * SIDE + x] = 0xc0101010u;
        }
    }
    SDL_Surface* surface = SDL_CreateRGBSurfaceWithFormatFrom(argb, SIDE, SIDE, 32, SIDE * 4,
                                                              SDL_PIXELFORMAT_ARGB8888);
    SDL_Cursor* cursor = surface ? SDL_CreateColorCursor(surface, MIDDLE, MIDDLE) : NULL;
    SDL_FreeSurface(surface);
    return cursor;
}

void client_window_set_cursor(client_window* self, net_cursor cursor) {
    BASE_ASSERT((uint32_t)cursor < NET_CURSOR_COUNT);
    if (cursor == NET_CURSOR_CROSSHAIR && !self->crosshair) self->crosshair = make_crosshair();
    bool is_crosshair = cursor == NET_CURSOR_CROSSHAIR && self->crosshair;
    SDL_SetCursor(is_crosshair ? self->crosshair : SDL_GetDefaultCursor());
    (void)SDL_ShowCursor(cursor == NET_CURSOR_NONE ? SDL_DISABLE : SDL_ENABLE);
}

bool client_window_is_interactive(const client_window* self) {
    return !self->is_dummy;
}

// ---- events ----

int32_t client_window_key(const char* name) {
    SDL_Keycode key = SDL_GetKeyFromName(name);
    // SDL has its own names for Enter and for the keys of the number block.
    if (key == SDLK_UNKNOWN && is_named(name, "Enter")) key = SDLK_RETURN;
    if (key == SDLK_UNKNOWN && is_named(name, "Esc")) key = SDLK_ESCAPE;
    // Between names are commas, and in files bars.
    if (is_named(name, "Comma")) key = SDLK_COMMA;
    if (is_named(name, "Bar")) key = '|';
    return key;
}

bool client_window_key_name(int32_t key, char* name, size_t bytes) {
    const char* text = key == SDLK_COMMA ? "Comma" : key == '|' ? "Bar" : SDL_GetKeyName(key);
    return base_text_copy(name, bytes, text) && client_window_key(name) == key && key != 0;
}

bool client_event_has_key(const client_event* event, const char* names) {
    char name[32];
    for (size_t size; *names; names += size + (names[size] == ',')) {
        size = strcspn(names, ",");
        (void)base_text_format(name, sizeof name, "%.*s", (int)size, names);
        if (event->key == client_window_key(name)) return true;
    }
    return false;
}

static void see_window_event(client_window* self, const SDL_WindowEvent* event) {
    switch (event->event) {
    case SDL_WINDOWEVENT_HIDDEN:
    case SDL_WINDOWEVENT_MINIMIZED:
        self->is_covered = true;
        break;
    case SDL_WINDOWEVENT_SHOWN:
    case SDL_WINDOWEVENT_RESTORED:
    case SDL_WINDOWEVENT_MAXIMIZED:
    case SDL_WINDOWEVENT_EXPOSED:
        if (self->is_covered) self->due_us = 0;
        self->is_covered = false;
        break;
    }
}

// A game cannot use these keys: they are the way back to the desktop.
static bool is_fullscreen_key(const SDL_KeyboardEvent* key) {
    return key->keysym.sym == SDLK_F11 ||
           (key->keysym.sym == SDLK_RETURN && (key->keysym.mod & KMOD_ALT));
}

// Without a window manager the window keeps the size of the display, so it gets its own again.
static void change_fullscreen(client_window* self) {
    bool is_full = (SDL_GetWindowFlags(self->window) & SDL_WINDOW_FULLSCREEN_DESKTOP) != 0;
    if (!is_full) SDL_GetWindowSize(self->window, &self->framed_width, &self->framed_height);
    if (SDL_SetWindowFullscreen(self->window, is_full ? 0 : SDL_WINDOW_FULLSCREEN_DESKTOP) != 0) {
        base_report(self->config.reporter, NULL, 0, "no fullscreen: %s", SDL_GetError());
        return;
    }
    if (is_full) SDL_SetWindowSize(self->window, self->framed_width, self->framed_height);
}

// The pointer comes in window coordinates; on some displays the picture has more pixels than these.
static void place_pointer(const client_window* self, int x, int y, client_event* event) {
    int window_w = 0, window_h = 0, output_w = 0, output_h = 0;
    SDL_GetWindowSize(self->window, &window_w, &window_h);
    (void)SDL_GetRendererOutputSize(self->renderer, &output_w, &output_h);
    event->x = window_w > 0 ? (float)x * (float)output_w / (float)window_w : (float)x;
    event->y = window_h > 0 ? (float)y * (float)output_h / (float)window_h : (float)y;
}

static bool translate_button(const client_window* self, const SDL_MouseButtonEvent* from,
                             client_event* to) {
    const bool is_down = from->type == SDL_MOUSEBUTTONDOWN;
    place_pointer(self, from->x, from->y, to);
    to->kind = is_down ? CLIENT_EVENT_POINTER_DOWN : CLIENT_EVENT_POINTER_UP;
    if (from->button == SDL_BUTTON_LEFT) return true;
    to->kind = is_down ? CLIENT_EVENT_BUTTON_DOWN : CLIENT_EVENT_BUTTON_UP;
    to->button = from->button == SDL_BUTTON_MIDDLE ? NET_BUTTON_MIDDLE : NET_BUTTON_RIGHT;
    return from->button == SDL_BUTTON_MIDDLE || from->button == SDL_BUTTON_RIGHT;
}

static uint32_t modifiers(void) {
    const SDL_Keymod held = SDL_GetModState();
    return (held & KMOD_SHIFT ? NET_MODIFIER_SHIFT : 0u) |
           (held & KMOD_CTRL ? NET_MODIFIER_CTRL : 0u) | (held & KMOD_ALT ? NET_MODIFIER_ALT : 0u);
}

static bool translate(client_window* self, const SDL_Event* from, client_event* to) {
    switch (from->type) {
    case SDL_QUIT:
        to->kind = CLIENT_EVENT_CLOSE;
        return true;
    case SDL_KEYDOWN:
    case SDL_KEYUP:
        if (is_fullscreen_key(&from->key)) {
            if (from->type == SDL_KEYDOWN && !from->key.repeat) change_fullscreen(self);
            return false;
        }
        to->kind = from->type == SDL_KEYDOWN ? CLIENT_EVENT_KEY_DOWN : CLIENT_EVENT_KEY_UP;
        to->key = from->key.keysym.sym;
        to->is_repeat = from->key.repeat != 0;
        return true;
    case SDL_TEXTINPUT:
        to->kind = CLIENT_EVENT_TEXT;
        (void)base_text_copy(to->text, sizeof to->text, from->text.text);
        return to->text[0] != '\0';
    case SDL_MOUSEMOTION:
        to->kind = CLIENT_EVENT_POINTER_MOVE;
        place_pointer(self, from->motion.x, from->motion.y, to);
        return true;
    case SDL_MOUSEBUTTONDOWN:
    case SDL_MOUSEBUTTONUP:
        return translate_button(self, &from->button, to);
    case SDL_MOUSEWHEEL:
        to->kind = CLIENT_EVENT_WHEEL;
        to->wheel =
            from->wheel.direction == SDL_MOUSEWHEEL_FLIPPED ? -from->wheel.y : from->wheel.y;
        return true;
    case SDL_WINDOWEVENT:
        see_window_event(self, &from->window);
        if (from->window.event == SDL_WINDOWEVENT_LEAVE) {
            to->kind = CLIENT_EVENT_POINTER_GONE;
            return true;
        }
        if (from->window.event == SDL_WINDOWEVENT_FOCUS_LOST) {
            to->kind = CLIENT_EVENT_FOCUS_LOST;
            return true;
        }
        return false;
    default:
        return client_pads_translate(&self->pads, from, to);
    }
}

void client_window_type(client_window* self, bool is_typing) {
    (void)self;
    if (is_typing)
        SDL_StartTextInput();
    else
        SDL_StopTextInput();
}

const char* client_window_pad_name(const client_window* self, uint32_t pad) {
    return pad < CLIENT_PADS_MAX && self->pads.names[pad][0] ? self->pads.names[pad] : NULL;
}

bool client_window_next_event(client_window* self, client_event* event) {
    SDL_Event from;
    while (SDL_PollEvent(&from)) {
        *event = (client_event){.modifiers = modifiers()};
        if (translate(self, &from, event)) return true;
    }
    return false;
}

// ---- frames ----

// With vsync half of the display's period is used: the display does the waiting, and the rate is
// still limited on a display that does not wait.
static uint64_t period_us(const client_window* self) {
    if (self->config.fps > 0.0) return (uint64_t)(1e6 / self->config.fps);
    return (uint64_t)(1e6 / self->display_fps) / (self->is_vsync ? 2 : 1);
}

uint64_t client_window_frame_due_us(const client_window* self) {
    return self->is_covered ? UINT64_MAX : self->due_us;
}

void client_window_begin_frame(client_window* self, uint64_t now_us) {
    BASE_ASSERT(now_us > 0 && now_us >= self->begun_us);
    if (!self->first_us) self->first_us = self->begun_us = now_us;
    self->begun_counter = SDL_GetPerformanceCounter();
    float since_s = (float)(now_us - self->begun_us) * 1e-6f;
    self->frame_dt_s = since_s < FRAME_DT_MAX ? since_s : FRAME_DT_MAX;
    self->begun_us = now_us;
    // Frames are on time on average. After a stall no frames are caught up.
    self->due_us += period_us(self);
    if (self->due_us < now_us) self->due_us = now_us + period_us(self) / 2;
    int width = 1, height = 1;
    (void)SDL_GetRendererOutputSize(self->renderer, &width, &height);
    client_draw_resize(self->draw, (uint32_t)width, (uint32_t)height, self->config.view_width,
                       self->config.view_height);
    client_draw_look(self->draw, now_us);
    client_draw_begin(self->draw, background);
}

net_draw client_window_draw(client_window* self, client_canvas canvas) {
    net_draw draw = client_draw_get(self->draw, canvas);
    draw.time_s = (double)(self->begun_us - self->first_us) * 1e-6;
    draw.frame_dt_s = self->frame_dt_s;
    return draw;
}

bool client_window_end_frame(client_window* self, const char* shot) {
    BASE_ASSERT(self->first_us > 0); // a frame has begun
    client_draw_end(self->draw);
    uint64_t took_us = (SDL_GetPerformanceCounter() - self->begun_counter) * 1000000u /
                       SDL_GetPerformanceFrequency();
    self->us_last = took_us < UINT32_MAX ? (uint32_t)took_us : UINT32_MAX;
    uint32_t bucket = self->us_last / BUCKET_US;
    self->buckets[bucket < BUCKETS ? bucket : BUCKETS - 1]++;
    self->frame_count++;
    bool is_written = !shot || client_shot_write(self->renderer, shot, self->config.reporter);
    SDL_RenderPresent(self->renderer);
    return is_written;
}

static uint32_t percentile_us(const client_window* self, double part) {
    uint64_t rank = (uint64_t)((double)self->frame_count * part), seen = 0;
    for (uint32_t i = 0; i < BUCKETS; i++) {
        seen += self->buckets[i];
        if (seen > rank) return (i + 1) * BUCKET_US;
    }
    return 0;
}

client_window_frames client_window_get_frames(const client_window* self) {
    return (client_window_frames){.count = self->frame_count,
                                  .us_p50 = percentile_us(self, 0.50),
                                  .us_p99 = percentile_us(self, 0.99),
                                  .us_last = self->us_last};
}

void client_window_write_frames(const client_window* self, FILE* file) {
    client_window_frames frames = client_window_get_frames(self);
    fprintf(file, "frames n=%" PRIu64 " frame_us_p50=%" PRIu32 " frame_us_p99=%" PRIu32 "\n",
            frames.count, frames.us_p50, frames.us_p99);
}

// ---- a picture as a file ----
//
// The pixels are read back, made opaque RGB, compressed by stb_image_write with fixed settings, and
// first written to a file beside the target, so that no program reads an incomplete picture.

typedef struct sink {
    FILE* file;
    bool is_failed;
} sink;

static void write_bytes(void* context, void* bytes, int count) {
    sink* to = context;
    if (fwrite(bytes, 1, (size_t)count, to->file) != (size_t)count) to->is_failed = true;
}

static bool write_png(const char* path, const uint8_t* rgb, int width, int height,
                      const base_reporter* reporter) {
    char part[4096];
    if (!base_text_format(part, sizeof part, "%s.part", path))
        return base_report(reporter, path, 0, "the name is too long");
    (void)remove(part); // a link goes, and not what it leads to
    sink to = {.file = fopen(part, "wbx")};
    if (!to.file) return base_report(reporter, path, 0, "cannot be written: %s", strerror(errno));
    bool is_written =
        stbi_write_png_to_func(write_bytes, &to, width, height, 3, rgb, width * 3) != 0;
    is_written = is_written && !to.is_failed;
    is_written = fclose(to.file) == 0 && is_written;
    is_written = is_written && rename(part, path) == 0;
    if (is_written) return true;
    base_report(reporter, path, 0, "cannot be written: %s", strerror(errno));
    (void)remove(part);
    return false;
}

bool client_shot_write(struct SDL_Renderer* renderer, const char* path,
                       const base_reporter* reporter) {
    BASE_ASSERT(renderer && path);
    int width = 0, height = 0;
    if (SDL_GetRendererOutputSize(renderer, &width, &height) != 0 || width < 1 || height < 1)
        return base_report(reporter, path, 0, "no picture: %s", SDL_GetError());
    size_t size = (size_t)width * (size_t)height * 3;
    uint8_t* rgb = base_allocate(NULL, size);
    bool is_written = false;
    (void)SDL_RenderSetClipRect(renderer, NULL);
    if (SDL_RenderReadPixels(renderer, NULL, SDL_PIXELFORMAT_RGB24, rgb, width * 3) != 0)
        base_report(reporter, path, 0, "no pixels: %s", SDL_GetError());
    else
        is_written = write_png(path, rgb, width, height, reporter);
    base_release(NULL, rgb, size);
    return is_written;
}
