// The page of the tests: fixtures, one call for each, and what selects and presents, for whoever drives it.
import init, { fixture_names, open_device, open_presenter, select, verdict } from "./tests/purlin-tests.js";

const wasm = await init();
const run = WebAssembly.promising(wasm.run_fixture);
let canvas = null;

// A browser keeps only so many WebGL contexts: the last one is given back before the next is made.
function fresh_canvas() {
    canvas?.getContext("webgl2")?.getExtension("WEBGL_lose_context")?.loseContext();
    canvas?.remove();
    canvas = document.createElement("canvas");
    document.body.append(canvas);
    return canvas;
}

globalThis.select = select;
globalThis.open_presenter = open_presenter;
globalThis.fixtures = {
    names: fixture_names(),
    // Opens a device for the next fixture alone and answers its adapter.
    async open(backend) {
        return JSON.parse(await open_device(backend, fresh_canvas()));
    },
    async run(index) {
        await run(index);
        return JSON.parse(verdict() ?? "null");
    },
};
