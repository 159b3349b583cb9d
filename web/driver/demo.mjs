// The demo page: both backends, both sizes of screen, the controls, and pictures to compare and to look at.

import assert from "node:assert/strict";
import { writeFileSync } from "node:fs";
import { join } from "node:path";

// Small, for a browser that renders on the CPU; the picture that is compared is as large as its text needs.
const SMALL = "size=160x90";
const COMPARED = "size=640x360";
// A loaded machine renders a frame in many seconds.
const PATIENCE = 300000;

export async function demo_tests(launch, url, out, check) {
    const browser = await launch();

    // A page that shows the demo on this backend, with what went wrong in it.
    async function open(query, viewport = { width: 640, height: 360 }, scale = 1) {
        const page = await browser.newPage({ viewport, deviceScaleFactor: scale, hasTouch: true });
        page.setDefaultTimeout(PATIENCE);
        page.errors = [];
        page.on("pageerror", (error) => page.errors.push(String(error)));
        page.on("console", (message) => {
            if (message.text().includes("panicked")) page.errors.push(message.text());
        });
        await page.goto(`${url}/?${query}`);
        return page;
    }
    const pictures = (page, count) =>
        page.waitForFunction((count) => globalThis.demo_state?.pictures >= count, count, { timeout: PATIENCE });
    const count = (page) => page.evaluate(() => globalThis.demo_state.pictures);
    // Two frames may be under way when a control is used, and show what was before.
    const later = async (page) => pictures(page, await count(page) + 3);
    // The next picture of the canvas as PNG, to be compared outside.
    const picture = (page) => page.evaluate(() => globalThis.demo_page.picture());
    const save = (name, data) => writeFileSync(join(out, name), Buffer.from(data.split(",")[1], "base64"));

    for (const backend of ["webgpu", "webgl"]) {
        await check(`demo::${backend}_draws`, async () => {
            const page = await open(`backend=${backend}&${COMPARED}`);
            // The text has its figures once a frame has come back.
            await pictures(page, 3);
            save(`demo-${backend}.png`, await picture(page));
            assert.deepEqual(page.errors, []);
            await page.close();
        });
        await check(`demo::${backend}_follows_the_controls`, async () => {
            const page = await open(`backend=${backend}&${SMALL}`);
            await pictures(page, 3);
            const first = await picture(page);
            const state = await page.evaluate(() => globalThis.demo_state.about);
            assert.deepEqual([state.backend, state.refused], [backend, []]);

            // A device that is forced and fits shows a clock: the GPU's where it has one.
            const timings = await page.evaluate(() => JSON.parse(globalThis.demo_page.current().timings()));
            assert.equal(timings.clock, backend === "webgpu" ? "gpu" : "cpu");
            assert.ok(timings.rows.length >= 4 && timings.rows.every(({ ms }) => ms >= 0), JSON.stringify(timings));
            assert.ok(timings.rows.some(({ ms }) => ms > 0), "some pass takes time");
            await page.waitForFunction(() => document.querySelectorAll("#rows li").length >= 4);

            // The mouse turns, the wheel comes nearer.
            await page.mouse.move(200, 180);
            await page.mouse.down();
            await page.mouse.move(260, 170, { steps: 3 });
            await page.mouse.up();
            await later(page);
            const turned = await picture(page);
            assert.notEqual(turned, first, "the mouse turns the camera");
            await page.mouse.wheel(0, -300);
            await later(page);
            const near = await picture(page);
            assert.notEqual(near, turned, "the wheel brings it nearer");

            // Two fingers, as the page sees them.
            await page.evaluate(() => {
                const stage = document.querySelector("#stage");
                stage.setPointerCapture = () => {};
                const send = (type, pointerId, clientX) => stage.dispatchEvent(
                    new PointerEvent(type, { pointerId, clientX, clientY: 100, pointerType: "touch", bubbles: true }));
                send("pointerdown", 7, 100);
                send("pointerdown", 8, 200);
                send("pointermove", 8, 120);
                send("pointerup", 7, 100);
                send("pointerup", 8, 120);
            });
            await later(page);
            assert.notEqual(await picture(page), near, "two fingers zoom");

            // The report is the graph's own page.
            await page.click("#show-report");
            await page.waitForSelector("#report[open]", { timeout: PATIENCE });
            const report = await page.getAttribute("#report iframe", "srcdoc");
            assert.match(report, /shadow map/);
            assert.match(report, /tonemap/);
            await page.frameLocator("#report iframe").locator("body *").first().waitFor({ timeout: PATIENCE });
            await page.screenshot({ path: join(out, `report-${backend}.png`) });
            await page.click("#close-report");
            assert.deepEqual(page.errors, []);
            await page.close();
        });

        await check(`demo::${backend}_skips_a_canvas_without_a_side`, async () => {
            const page = await open(`backend=${backend}`, { width: 200, height: 120 });
            await pictures(page, 2);
            await page.evaluate(() => { document.querySelector("#stage").style.display = "none"; });
            // The page learns of it with its next frame; then nothing comes.
            await page.evaluate(() => new Promise((resolve) => requestAnimationFrame(() => requestAnimationFrame(resolve))));
            const still = await count(page);
            await page.waitForTimeout(1500);
            assert.equal(await count(page), still, "no frame without a canvas");
            await page.evaluate(() => { document.querySelector("#stage").style.display = ""; });
            await pictures(page, still + 2);
            assert.deepEqual(page.errors, []);
            await page.close();
        });

        await check(`demo::${backend}_says_that_its_device_is_lost`, async () => {
            const page = await open(`backend=${backend}&size=64x36`);
            await pictures(page, 1);
            await page.evaluate(() => globalThis.demo_page.current().lose());
            await page.waitForFunction(() => globalThis.demo_state?.error, null, { timeout: PATIENCE });
            // The first thing that fails may be a readback that was under way.
            assert.match(await page.textContent("#message"), /The device is gone: .*(lost|map_async failed)/);
            assert.equal(await page.evaluate(() => globalThis.demo_page.current()), null, "it stays lost");
            // The user may begin again.
            await page.click(`[data-backend=${backend}]`);
            await pictures(page, 1);
            assert.deepEqual(page.errors, []);
            await page.close();
        });

        for (const [name, viewport, scale] of [
            ["desktop", { width: 1280, height: 720 }, 1],
            ["phone", { width: 390, height: 844 }, 2],
        ]) {
            await check(`demo::${backend}_on_a_${name}`, async () => {
                const page = await open(`backend=${backend}`, viewport, scale);
                await pictures(page, 2);
                await page.waitForFunction(() => document.querySelectorAll("#rows li").length >= 4);
                const overflow = await page.evaluate(() => {
                    const wide = document.documentElement.scrollWidth > innerWidth;
                    const small = [...document.querySelectorAll("button")]
                        .filter((button) => button.offsetParent && button.offsetHeight < 36);
                    return { wide, small: small.map((button) => button.id || button.textContent) };
                });
                assert.deepEqual(overflow, { wide: false, small: [] });
                const cut = await page.evaluate(() => {
                    const modes = document.querySelector("#modes");
                    return modes.scrollHeight > modes.clientHeight;
                });
                assert.ok(!cut, "the switch is shown whole");
                await page.screenshot({ path: join(out, `page-${backend}-${name}.png`) });
                assert.deepEqual(page.errors, []);
                await page.close();
            });
        }
    }

    await check("demo::the_switch_opens_the_other_backend", async () => {
        const page = await open("size=64x36");
        await pictures(page, 1);
        const backend = () => page.evaluate(() => globalThis.demo_state.about.backend);
        assert.equal(await backend(), "webgpu", "auto takes the first");
        await page.click("[data-backend=webgl]");
        await pictures(page, 1);
        assert.equal(await backend(), "webgl");
        assert.match(page.url(), /backend=webgl/);
        // Two quick choices: the last one counts, and the first ends quietly.
        await page.evaluate(() => {
            document.querySelector("[data-backend=webgl]").click();
            document.querySelector("[data-backend=webgpu]").click();
        });
        await pictures(page, 1);
        assert.equal(await backend(), "webgpu");
        assert.deepEqual(page.errors, []);
        await page.close();
    });
    await check("demo::auto_says_what_it_tried", async () => {
        const page = await browser.newPage({ viewport: { width: 640, height: 360 } });
        await page.addInitScript(() => { GPU.prototype.requestAdapter = async () => null; });
        await page.goto(`${url}/?size=64x36`);
        await pictures(page, 1);
        assert.match(await page.textContent("#about"), /WebGPU was tried first: .*gives no adapter/);
        await page.close();
    });
    await browser.close();
}
