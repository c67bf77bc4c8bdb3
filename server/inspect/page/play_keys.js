// SPDX-License-Identifier: MIT
// The names of keys and of inputs of game controllers, as games write them (SDL's), and which actions they do.

const BY_CODE = {Space: "space", Enter: "return", NumpadEnter: "keypad enter", Escape: "escape", Tab: "tab", Backspace: "backspace",
    Delete: "delete", Insert: "insert", Home: "home", End: "end", PageUp: "pageup", PageDown: "pagedown", CapsLock: "capslock",
    ArrowLeft: "left", ArrowRight: "right", ArrowUp: "up", ArrowDown: "down", ShiftLeft: "left shift", ShiftRight: "right shift",
    ControlLeft: "left ctrl", ControlRight: "right ctrl", AltLeft: "left alt", AltRight: "right alt", MetaLeft: "left gui",
    MetaRight: "right gui", NumpadAdd: "keypad +", NumpadSubtract: "keypad -", NumpadMultiply: "keypad *", NumpadDivide: "keypad /",
    NumpadDecimal: "keypad ."};
const OTHER_NAMES = {enter: "return", esc: "escape", comma: ",", bar: "|"};
const PAD_BUTTONS = ["a", "b", "x", "y", "leftshoulder", "rightshoulder", "lefttrigger", "righttrigger", "back", "start", "leftstick",
    "rightstick", "dpup", "dpdown", "dpleft", "dpright", "guide"];
const PAD_AXES = ["leftx", "lefty", "rightx", "righty"];
const STICK_DEAD = 0.2; // as in the window
const HALF_DOWN = 0.5, HALF_UP = 0.4;

/// The name of a pressed key; "" for one without a name.
export function keyOf({code, key}) {
    if (BY_CODE[code]) return BY_CODE[code];
    if (/^Numpad[0-9]$/.test(code)) return `keypad ${code.at(-1)}`;
    if (/^F[0-9]{1,2}$/.test(code)) return code.toLowerCase();
    return [...(key ?? "")].length === 1 ? key.toLowerCase() : "";
}

/// A stick without what counts as its middle.
export function stick(x, y) {
    const length = Math.hypot(x, y);
    if (length <= STICK_DEAD) return [0, 0];
    const factor = (Math.min(length, 1) - STICK_DEAD) / (1 - STICK_DEAD) / length;
    return [x * factor, y * factor];
}

/// Which actions inputs do: several inputs may do one, which ends with the last of them.
export class Bindings {
    constructor(actions, change) {
        this.change = change; // (action, is_down)
        this.held = actions.map(() => new Set());
        this.byName = new Map();
        actions.forEach(({keys, pads}, action) => {
            for (const name of keys.split(",")) this.bind(name, action, "");
            for (const name of pads.split(",")) this.bind(name, action, "pad ");
        });
        this.padHeld = new Set();
    }

    bind(name, action, kind) {
        name = name.trim().toLowerCase();
        if (name === "") return;
        name = kind + (OTHER_NAMES[name] ?? name);
        this.byName.set(name, [...(this.byName.get(name) ?? []), action]);
    }

    /// @return true: the game uses it.
    press(name, isDown) {
        const actions = this.byName.get(name) ?? [];
        for (const action of actions) this.hold(action, name, isDown);
        return actions.length > 0;
    }

    hold(action, input, isDown) {
        const held = this.held[action], before = held.size;
        if (isDown) held.add(input);
        else held.delete(input);
        if ((before > 0) !== (held.size > 0)) this.change(action, held.size > 0);
    }

    release() {
        this.held.forEach((held, action) => {
            if (held.size > 0) this.change(action, false);
            held.clear();
        });
    }

    /// Read a controller of the browser. @return its two sticks; null: it is at rest.
    readPad(pad) {
        const now = new Set();
        pad.buttons.forEach((button, i) => { if (button.value > HALF_DOWN && PAD_BUTTONS[i]) now.add(`pad ${PAD_BUTTONS[i]}`); });
        PAD_AXES.forEach((axis, i) => {
            for (const [side, value] of [["-", -pad.axes[i]], ["+", pad.axes[i]]]) {
                const name = `pad ${axis}${side}`;
                if (value >= (this.padHeld.has(name) ? HALF_UP : HALF_DOWN)) now.add(name);
            }
        });
        for (const name of this.padHeld) if (!now.has(name)) this.press(name, false);
        for (const name of now) if (!this.padHeld.has(name)) this.press(name, true);
        this.padHeld = now;
        const sticks = [...stick(pad.axes[0] ?? 0, pad.axes[1] ?? 0), ...stick(pad.axes[2] ?? 0, pad.axes[3] ?? 0)];
        return now.size > 0 || sticks.some((value) => value !== 0) ? sticks : null;
    }
}
