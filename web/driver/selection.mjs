// The selection of a backend in browsers that lack this or that: contract D5 and case C114.

import assert from "node:assert/strict";

// What a page finds before its first script. Each stub is one sentence of the case.
const STUBS = {
    gpu_missing: () => Object.defineProperty(Navigator.prototype, "gpu", { get: () => undefined }),
    adapter_null: () => { GPU.prototype.requestAdapter = async () => null; },
    adapter_rejects: () => { GPU.prototype.requestAdapter = async () => { throw new Error("no luck"); }; },
    adapter_throws: () => { GPU.prototype.requestAdapter = () => { throw new Error("no luck"); }; },
    webgpu_context_null: () => without_context("webgpu"),
    webgl_context_null: () => without_context("webgl2"),
};

// Counts how often each kind of context was asked for, and lets kinds be refused.
function watch_contexts() {
    const original = HTMLCanvasElement.prototype.getContext;
    const refused = new Set();
    globalThis.asked = [];
    globalThis.without_context = (kind) => refused.add(kind);
    HTMLCanvasElement.prototype.getContext = function (kind, ...rest) {
        globalThis.asked.push(kind);
        return refused.has(kind) ? null : original.call(this, kind, ...rest);
    };
}

export async function selection_tests(launch, url, check) {
    const browser = await launch();
    // Runs `body` in a page with these stubs. Nothing may panic or throw outside of it.
    const test = (name, stubs, body, judge) => check(`selection::${name}`, async () => {
        // A context of its own, which ends the page however the test ends.
        const context = await browser.newContext();
        try {
            await run(await context.newPage(), stubs, body, judge);
        } finally {
            await context.close();
        }
    });
    async function run(page, stubs, body, judge) {
        const errors = [];
        page.on("pageerror", (error) => errors.push(String(error)));
        page.on("console", (message) => {
            if (message.text().includes("panicked")) errors.push(message.text());
        });
        await page.addInitScript(watch_contexts);
        for (const stub of stubs) await page.addInitScript(STUBS[stub]);
        await page.goto(`${url}/tests.html`);
        await page.waitForFunction(() => globalThis.select, null, { timeout: 60000 });
        await page.evaluate(() => {
            globalThis.make = () => {
                const canvas = document.createElement("canvas");
                canvas.id = "mine";
                document.body.append(canvas);
                return canvas;
            };
            // Selects, and answers what came of it as plain data.
            globalThis.attempt = async (backend, canvas = make()) => {
                try {
                    const selected = await select(backend, canvas);
                    const now = selected.canvas();
                    const replaced = now !== canvas;
                    const here = document.querySelector("#mine") === now && !(replaced && canvas.isConnected);
                    return { ...JSON.parse(selected.about()), replaced, here, selected };
                } catch (error) {
                    return { error: String(error), here: document.querySelectorAll("#mine").length === 1 };
                }
            };
            globalThis.plain = ({ selected, ...rest }) => ({ ...rest, asked: globalThis.asked });
        });
        const answer = await page.evaluate(body);
        judge(answer);
        assert.deepEqual(errors, []);
    }
    const auto = async () => plain(await attempt("auto"));
    const falls = (reason, replaced) => (answer) => {
        assert.equal(answer.error, undefined);
        assert.equal(answer.backend, "webgl");
        assert.deepEqual(answer.refused.map(({ backend }) => backend), ["webgpu"]);
        assert.match(answer.refused[0].reason, reason);
        assert.equal(answer.replaced, replaced);
        assert.ok(answer.here, "the canvas that is used is the one in the page");
    };

    await test("auto_takes_webgpu_first", [], auto, (answer) => {
        assert.equal(answer.backend, "webgpu");
        assert.deepEqual([answer.refused, answer.replaced, answer.asked], [[], false, ["webgpu"]]);
    });
    await test("c114_a_without_gpu_object", ["gpu_missing"], auto, falls(/no navigator\.gpu/, false));
    await test("c114_b_without_adapter", ["adapter_null"], auto, falls(/gives no adapter/, false));
    await test("c114_c_adapter_request_rejects", ["adapter_rejects"], auto, falls(/no luck/, false));
    await test("c114_c_adapter_request_throws", ["adapter_throws"], auto, falls(/no luck/, false));
    await test("c114_d_without_context", ["webgpu_context_null"], auto, falls(/no context for webgpu/, true));
    await test("c114_e_canvas_used_as_webgl2", [], async () => {
        const canvas = make();
        canvas.getContext("webgl2");
        return plain(await attempt("auto", canvas));
    }, falls(/no context for webgpu/, true));
    await test("c114_e_webgl_reuses_its_own_kind", [], async () => {
        const canvas = make();
        canvas.getContext("webgl2");
        return plain(await attempt("webgl", canvas));
    }, (answer) => assert.deepEqual([answer.backend, answer.replaced], ["webgl", false]));
    await test("each_is_tried_once", ["webgpu_context_null", "webgl_context_null"], auto, (answer) => {
        assert.match(answer.error, /webgpu: .*; webgl: /s);
        assert.deepEqual(answer.asked, ["webgpu", "webgl2"]);
        assert.ok(answer.here, "a canvas is left in the page");
    });
    for (const [backend, stub, reason] of [
        ["webgpu", "adapter_null", /gives no adapter/],
        ["webgpu", "webgpu_context_null", /no context for webgpu/],
        ["webgl", "webgl_context_null", /no context for webgl/],
    ]) {
        await test(`forced_${backend}_fails_with_${stub}`, [stub], `attempt("${backend}").then(plain)`, (answer) => {
            assert.match(answer.error, reason);
            const other = backend === "webgpu" ? "webgl" : "webgpu";
            assert.ok(!answer.error.includes(`${other}:`), "nothing else was tried");
        });
    }
    await test("a_canvas_used_as_2d_is_replaced", [], async () => {
        const canvas = make();
        canvas.getContext("2d");
        const forced = await attempt("webgl", canvas);
        return { ...plain(forced), again: plain(await attempt("webgl", document.querySelector("#mine"))) };
    }, (answer) => {
        assert.match(answer.error, /no context for webgl/);
        assert.equal(answer.again.backend, "webgl", "the clone is as good as new");
    });
    for (const backend of ["webgpu", "webgl"]) {
        await test(`${backend}_works_and_its_end_is_harmless`, [], `(async () => {
            const { selected } = await attempt("${backend}");
            selected.begin_work();
            let texel;
            for (let turn = 0; turn < 1000 && !texel; turn++) {
                await new Promise((resolve) => setTimeout(resolve, 5));
                texel = selected.end_work();
            }
            // Ends with work under way.
            selected.begin_work();
            selected.free();
            await new Promise((resolve) => setTimeout(resolve, 300));
            return [...texel];
        })()`, (texel) => assert.deepEqual(texel, [255, 0, 255, 255]));
        await test(`${backend}_lost_is_an_error_and_then_nothing`, [], `(async () => {
            const { selected } = await attempt("${backend}");
            selected.begin_work();
            selected.lose();
            let error = null;
            for (let turn = 0; turn < 400 && !error; turn++) {
                await new Promise((resolve) => setTimeout(resolve, 5));
                try { selected.begin_work(); selected.end_work(); } catch (found) { error = String(found); }
            }
            selected.free();
            await new Promise((resolve) => setTimeout(resolve, 300));
            return error;
        })()`, (error) => assert.match(error, /lost/));
    }
    await browser.close();
}
