// SPDX-License-Identifier: MIT
// A stick and buttons on the screen, made from the game's actions: the four ways are the stick, the others are buttons.
const WAYS = {left: [-1, 0], right: [1, 0], up: [0, -1], down: [0, 1]};
const WAY_DOWN = 0.38; // of the stick's way
const CURSOR_CROSSHAIR = 1;

/// Follow one finger on an element. `moved` gets -1 to 1 for both ways, and 0, 0 at the end.
function followStick(element, moved) {
    const knob = element.firstElementChild;
    let finger = null;
    const see = (event) => {
        const box = element.getBoundingClientRect(), radius = box.width / 2;
        let x = (event.clientX - box.left - radius) / radius, y = (event.clientY - box.top - radius) / radius;
        const length = Math.max(1, Math.hypot(x, y));
        [x, y] = [x / length, y / length];
        knob.style.transform = `translate(${x * radius * 0.6}px, ${y * radius * 0.6}px)`;
        moved(x, y);
    };
    const end = (event) => {
        if (event.pointerId !== finger) return;
        finger = null;
        knob.style.transform = "";
        moved(0, 0);
    };
    element.addEventListener("pointerdown", (event) => {
        if (finger !== null) return;
        finger = event.pointerId;
        element.setPointerCapture(finger);
        see(event);
        event.preventDefault();
    });
    element.addEventListener("pointermove", (event) => { if (event.pointerId === finger) see(event); });
    element.addEventListener("pointerup", end);
    element.addEventListener("pointercancel", end);
}

/// Show them. `sticks` is an array of four numbers, which is kept up to date.
export function showTouch(page, tables, bindings, sticks) {
    const ways = new Map();
    tables.actions.forEach(({name, label}, action) => {
        const way = Object.keys(WAYS).find((each) => name === each || name.endsWith(`_${each}`));
        if (way && !ways.has(way)) return void ways.set(way, action);
        const button = document.createElement("button");
        button.textContent = label.replaceAll("_", " ");
        button.type = "button";
        const hold = (isDown) => {
            button.classList.toggle("held", isDown);
            bindings.hold(action, "touch", isDown);
        };
        button.addEventListener("pointerdown", (event) => { button.setPointerCapture(event.pointerId); hold(true); event.preventDefault(); });
        button.addEventListener("pointerup", () => hold(false));
        button.addEventListener("pointercancel", () => hold(false));
        page.buttons.append(button);
    });
    page.move.hidden = ways.size === 0;
    followStick(page.move, (x, y) => {
        [sticks[0], sticks[1]] = [x, y];
        for (const [way, action] of ways) bindings.hold(action, "touch", x * WAYS[way][0] + y * WAYS[way][1] > WAY_DOWN);
    });
    page.aim.hidden = tables.cursor !== CURSOR_CROSSHAIR;
    followStick(page.aim, (x, y) => { [sticks[2], sticks[3]] = [x, y]; });
    page.touch.hidden = false;
}
