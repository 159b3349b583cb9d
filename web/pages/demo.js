// The demo page: a canvas, an orbit, a switch of backends, and figures.
import init, { Demo } from "./demo/purlin-demo-page.js";

const find = (selector) => document.querySelector(selector);
const [stage, message, panel] = ["#stage", "#message", "#panel"].map(find);
const query = new URLSearchParams(location.search);
// A fixed size makes pictures that can be compared.
const fixed = query.get("size")?.split("x").map(Number);
// More pixels than this only cost time, and fewer show too little.
const MOST_PIXELS = 1600 * 900;
const LEAST_SCALE = 0.2;

let demo = null;
let generation = 0;
// Who waits for the picture as data.
let asked = [];
let frames = 0;
let since = performance.now();
let shown = since;
// A slow device gets fewer pixels, so that the orbit still follows the hand. Every device begins with a few.
const FIRST_SCALE = 0.5;
let scale = FIRST_SCALE;

function say(text, error = false) {
    message.textContent = text;
    message.classList.toggle("error", error);
}

// Pixels of the picture; without a side while the page shows none of it.
function wanted_size() {
    if (fixed) return fixed;
    const { clientWidth, clientHeight } = stage;
    if (clientWidth === 0 || clientHeight === 0) return [0, 0];
    const ratio = scale * Math.min(devicePixelRatio, Math.sqrt(MOST_PIXELS / (clientWidth * clientHeight)));
    return [clientWidth, clientHeight].map((side) => Math.max(1, Math.round(side * ratio)));
}

// A canvas for the device alone: it belongs to the first kind of context that it is asked for, so each opening has a new one.
function device_canvas() {
    find("#picture")?.remove();
    const canvas = document.createElement("canvas");
    canvas.id = "picture";
    stage.prepend(canvas);
    return canvas;
}

async function open(backend) {
    const mine = ++generation;
    close();
    for (const button of document.querySelectorAll("[data-backend]")) {
        button.setAttribute("aria-checked", String(button.dataset.backend === backend));
    }
    say("Opening a device…");
    find("#about").replaceChildren();
    find("#rows").replaceChildren();
    try {
        const opened = await Demo.open(backend, device_canvas(), ...wanted_size());
        // Somebody has chosen again in the meantime.
        if (mine !== generation) return opened.free();
        demo = opened;
        scale = FIRST_SCALE;
        shown = performance.now();
        show_about(JSON.parse(demo.about()));
        say("");
        globalThis.demo_state = { ready: true, about: JSON.parse(demo.about()), pictures: 0 };
    } catch (error) {
        if (mine !== generation) return;
        say(`No device: ${error}`, true);
        globalThis.demo_state = { error: String(error) };
    }
}

function close() {
    demo?.free();
    demo = null;
    globalThis.demo_state = null;
}

const NAMES = { webgpu: "WebGPU", webgl: "WebGL 2" };

function show_about({ backend, adapter, driver, refused }) {
    const list = find("#about");
    const row = (term, text) => {
        const [dt, dd] = ["dt", "dd"].map((name) => document.createElement(name));
        dt.textContent = term;
        dd.textContent = text;
        list.append(dt, dd);
    };
    row("Backend", NAMES[backend] ?? backend);
    row("Adapter", adapter);
    find("#about").title = driver;
    for (const { backend, reason } of refused) {
        const dd = document.createElement("dd");
        dd.className = "refused";
        dd.textContent = `${NAMES[backend] ?? backend} was tried first: ${reason}`;
        list.append(dd);
    }
}

function show_timings() {
    const { clock, passes, barriers, visible, instances, rows } = JSON.parse(demo.timings());
    find("#clock").textContent = clock === "gpu"
        ? `GPU time of ${passes} passes, ms`
        : `CPU time of ${passes} passes, ms (this device has no GPU clock)`;
    find("#clock").title = `${visible} of ${instances} objects visible, ${barriers} barriers planned`;
    const most = Math.max(...rows.map((row) => row.ms), 1e-6);
    const list = find("#rows");
    while (list.children.length > rows.length) list.lastChild.remove();
    rows.forEach(({ label, ms }, index) => {
        let item = list.children[index];
        if (!item) {
            item = document.createElement("li");
            item.append(document.createElement("span"), document.createElement("span"));
            list.append(item);
        }
        item.style.setProperty("--share", ms / most);
        item.firstChild.textContent = label;
        item.lastChild.textContent = ms.toFixed(ms < 10 ? 2 : 1);
    });
}

function count_picture() {
    // The canvas has its picture as data only until the task ends that has drawn it.
    if (asked.length > 0) {
        const data = demo.canvas().toDataURL();
        for (const answer of asked.splice(0)) answer(data);
    }
    globalThis.demo_state.pictures += 1;
    frames += 1;
    const took = performance.now() - shown;
    shown += took;
    // A big step down at once, a small one up when there is much room.
    if (took > 120) scale = Math.max(LEAST_SCALE, scale * 0.7);
    else if (took < 22 && scale < 1) scale = Math.min(1, scale * 1.02);
}

function tick(now) {
    requestAnimationFrame(tick);
    if (!demo) return;
    try {
        if (demo.frame(...wanted_size())) count_picture();
        const html = report_wanted ? demo.report() : undefined;
        if (html) show_report(html);
    } catch (error) {
        // A lost device stays lost, and never becomes another by itself.
        close();
        globalThis.demo_state = { error: String(error) };
        say(`The device is gone: ${error}\nChoose a backend to begin again.`, true);
        return;
    }
    if (now - since > 500) {
        find("#rate").textContent = `${(frames * 1000 / (now - since)).toFixed(0)} fps`;
        frames = 0;
        since = now;
        show_timings();
    }
}

// The orbit: one pointer turns, two come nearer, a wheel too.
const pointers = new Map();
const spread = () => {
    const [a, b] = [...pointers.values()];
    return Math.hypot(a.x - b.x, a.y - b.y);
};
stage.addEventListener("pointerdown", (event) => {
    stage.setPointerCapture(event.pointerId);
    pointers.set(event.pointerId, { x: event.clientX, y: event.clientY });
    stage.classList.add("turning");
});
stage.addEventListener("pointermove", (event) => {
    const last = pointers.get(event.pointerId);
    if (!last || !demo) return;
    const before = pointers.size === 2 ? spread() : 0;
    const [dx, dy] = [event.clientX - last.x, event.clientY - last.y];
    last.x = event.clientX;
    last.y = event.clientY;
    if (pointers.size === 1) demo.turn(-dx * 0.006, dy * 0.006);
    else if (pointers.size === 2 && spread() > 0) demo.zoom(before / spread());
});
for (const name of ["pointerup", "pointercancel"]) {
    stage.addEventListener(name, (event) => {
        pointers.delete(event.pointerId);
        stage.classList.toggle("turning", pointers.size > 0);
    });
}
stage.addEventListener("wheel", (event) => {
    event.preventDefault();
    demo?.zoom(Math.exp(Math.sign(event.deltaY) * Math.min(Math.abs(event.deltaY), 120) * 0.0012));
}, { passive: false });

for (const button of document.querySelectorAll("[data-backend]")) {
    button.addEventListener("click", () => {
        const { backend } = button.dataset;
        query.set("backend", backend);
        history.replaceState(null, "", `?${query}`);
        open(backend);
    });
}

// The panel folds, and tells the picture how much room is left on a phone.
const fold = find("#fold");
fold.addEventListener("click", () => {
    const open = fold.getAttribute("aria-expanded") !== "true";
    fold.setAttribute("aria-expanded", String(open));
    find("#details").hidden = !open;
});
new ResizeObserver(() => {
    document.body.style.setProperty("--panel-height", `${panel.offsetHeight - 14}px`);
}).observe(panel);

let report_wanted = false;
find("#show-report").addEventListener("click", () => {
    report_wanted = true;
    demo?.want_report();
});
find("#close-report").addEventListener("click", () => find("#report").close());
function show_report(html) {
    report_wanted = false;
    find("#report iframe").srcdoc = html;
    find("#report").showModal();
}

await init();
globalThis.demo_page = {
    open,
    current: () => demo,
    // The next picture as data.
    picture: () => new Promise((answer) => asked.push(answer)),
};
await open(["webgpu", "webgl"].find((name) => name === query.get("backend")) ?? "auto");
requestAnimationFrame(tick);
