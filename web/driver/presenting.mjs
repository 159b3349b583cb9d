// Presenting to canvases: contract D7. What a canvas shows is compared with what was read of the same frame.

import assert from "node:assert/strict";

// Runs in the page: the helpers of every test.
function helpers() {
    const turn = (milliseconds = 0) => new Promise((resolve) => setTimeout(resolve, milliseconds));
    globalThis.turn = turn;
    globalThis.next_frame = () => new Promise((resolve) => requestAnimationFrame(resolve));
    // What the canvas shows until the task ends that has drawn it, by way of a 2D canvas.
    globalThis.shown_on = (canvas) => {
        const copy = new OffscreenCanvas(canvas.width, canvas.height).getContext("2d");
        copy.drawImage(canvas, 0, 0);
        return copy.getImageData(0, 0, canvas.width, canvas.height).data;
    };
    // What was read of the newest frame, as RGBA.
    globalThis.read_of = async (presenter, format) => {
        let bytes;
        for (let waited = 0; waited < 30000 && !bytes; waited += 5) {
            bytes = presenter.picture();
            if (!bytes) await turn(5);
        }
        if (!bytes) throw new Error("the picture never came");
        if (format.startsWith("Bgra")) {
            for (let at = 0; at < bytes.length; at += 4) [bytes[at], bytes[at + 2]] = [bytes[at + 2], bytes[at]];
        }
        return bytes;
    };
    // The first difference of two pictures that is larger than `most`, in words.
    globalThis.difference = (shown, read, width, most = 0) => {
        if (shown.length !== read.length) return `${shown.length} bytes shown, ${read.length} read`;
        const at = shown.findIndex((byte, index) => Math.abs(byte - read[index]) > most);
        if (at < 0) return null;
        const pixel = Math.floor(at / 4);
        const texel = (bytes) => [...bytes.slice(pixel * 4, pixel * 4 + 4)].join(" ");
        return `pixel ${pixel % width}, ${Math.floor(pixel / width)}: ${texel(shown)} shown, ${texel(read)} read`;
    };
    // What the shader must have drawn at places that tell up from down, left from right and red from blue.
    globalThis.is_pattern = (bytes, width, height, tint) => {
        const colors = { white: 7, left_top: 2, left_bottom: 1, right_top: 4, right_bottom: 6, middle: tint };
        const places = {
            white: [0, 0], left_top: [2, 2], left_bottom: [2, height - 3], right_top: [width - 3, 2],
            right_bottom: [width - 3, height - 3], middle: [Math.floor(width / 2), Math.floor(height / 2)],
        };
        return Object.entries(places).flatMap(([name, [x, y]]) => {
            const at = (y * width + x) * 4;
            const wanted = [0, 1, 2].map((bit) => (colors[name] >> bit & 1 ? 255 : 0));
            const found = [...bytes.slice(at, at + 4)];
            return `${found}` === `${[...wanted, 255]}` ? [] : [`${name} is ${found}, not ${wanted}`];
        });
    };
    globalThis.make_canvas = (id = "mine") => {
        const canvas = document.createElement("canvas");
        canvas.id = id;
        document.body.append(canvas);
        return canvas;
    };
    // Tries until the call throws, and answers what.
    globalThis.error_of = async (call) => {
        for (let waited = 0; waited < 5000; waited += 5) {
            try {
                call();
            } catch (error) {
                return String(error);
            }
            await turn(5);
        }
        return null;
    };
}

export async function presenting_tests(launch, url, check) {
    const browser = await launch();
    const test = (name, body) => check(`presenting::${name}`, async () => {
        const context = await browser.newContext({ viewport: { width: 400, height: 300 } });
        try {
            const page = await context.newPage();
            const errors = [];
            page.on("pageerror", (error) => errors.push(String(error)));
            page.on("console", (message) => {
                if (message.text().includes("panicked")) errors.push(message.text());
            });
            await page.goto(`${url}/tests.html`);
            await page.waitForFunction(() => globalThis.open_presenter, null, { timeout: 60000 });
            await page.evaluate(helpers);
            await body(page);
            assert.deepEqual(errors, []);
        } finally {
            await context.close();
        }
    });

    for (const backend of ["webgpu", "webgl"]) {
        await test(`${backend}_shows_what_is_read`, async (page) => {
            const found = await page.evaluate(async (backend) => {
                const canvas = make_canvas();
                const presenter = await open_presenter(backend, canvas);
                const [formats, problems] = [presenter.formats(0), []];
                let tint = 0;
                for (const format of formats) {
                    for (const [width, height] of [[64, 48], [33, 21]]) {
                        presenter.configure(0, width, height, format);
                        for (let frame = 0; frame < 3; frame++) {
                            tint = (tint + 3) % 8;
                            await next_frame();
                            const skipped = presenter.show(0, tint, 0);
                            const shown = shown_on(canvas);
                            const read = await read_of(presenter, format);
                            const told = [skipped, difference(shown, read, width), ...is_pattern(read, width, height, tint)];
                            problems.push(...told.filter(Boolean).map((what) => `${format} ${width}x${height}: ${what}`));
                        }
                    }
                }
                presenter.free();
                return { formats, problems };
            }, backend);
            assert.deepEqual(found.problems, []);
            const wanted = backend === "webgpu" ? ["Bgra8Unorm", "Rgba8Unorm"] : ["Rgba8Unorm", "Rgba8UnormSrgb"];
            assert.deepEqual(found.formats.sort(), wanted);
        });

        await test(`${backend}_is_on_the_page`, async (page) => {
            await page.evaluate(async (backend) => {
                const canvas = make_canvas();
                canvas.style.cssText = "position: fixed; inset: 0 auto auto 0; width: 128px; height: 96px";
                globalThis.presenter = await open_presenter(backend, canvas);
                globalThis.format = presenter.formats(0)[0];
                presenter.configure(0, 128, 96, format);
                presenter.show(0, 5, 0);
                globalThis.read = await read_of(presenter, format);
                await next_frame();
                await next_frame();
            }, backend);
            const shot = await page.screenshot({ clip: { x: 0, y: 0, width: 128, height: 96 } });
            const different = await page.evaluate(async (data) => {
                const image = await createImageBitmap(await (await fetch(data)).blob());
                // A compositor may round.
                return difference(shown_on(image), read, 128, 2);
            }, `data:image/png;base64,${shot.toString("base64")}`);
            assert.equal(different, null);
        });

        await test(`${backend}_resizes_under_load`, async (page) => {
            const found = await page.evaluate(async (backend) => {
                const canvas = make_canvas();
                const presenter = await open_presenter(backend, canvas);
                const format = presenter.formats(0)[0];
                const [skips, problems] = [{}, []];
                let seed = 1;
                const random = (most) => {
                    seed = (seed * 48271) % 2147483647;
                    return 20 + seed % most;
                };
                for (let resize = 0; resize < 50; resize++) {
                    const [width, height, tint] = [random(250), random(190), resize % 8];
                    presenter.configure(0, width, height, format);
                    // Several frames a size, so that some come while the GPU is behind.
                    for (let frame = 0; frame < 1 + resize % 4; frame++) {
                        await next_frame();
                        const skipped = presenter.show(0, tint, 60);
                        if (skipped) {
                            skips[skipped] = 1 + (skips[skipped] ?? 0);
                            continue;
                        }
                        const wrong = is_pattern(shown_on(canvas), width, height, tint);
                        problems.push(...wrong.map((what) => `${width}x${height}: ${what}`));
                    }
                }
                // Errors of a browser come later, with the next call.
                await read_of(presenter, format);
                presenter.configure(0, 40, 30, format);
                const last = presenter.show(0, 1, 0) ?? difference(shown_on(canvas), await read_of(presenter, format), 40);
                presenter.free();
                return { skips: Object.keys(skips), problems, last };
            }, backend);
            assert.deepEqual([found.problems, found.last], [[], null]);
            assert.deepEqual(found.skips.filter((reason) => reason !== "Timeout"), []);
        });

        await test(`${backend}_skips_without_a_side_and_where_the_page_resizes`, async (page) => {
            const answers = await page.evaluate(async (backend) => {
                const canvas = make_canvas();
                const presenter = await open_presenter(backend, canvas);
                const format = presenter.formats(0)[0];
                const show = (width, height) => {
                    presenter.configure(0, width, height, format);
                    return presenter.show(0, 1, 0);
                };
                const answers = [show(0, 48), show(48, 0), show(0, 0), show(48, 48)];
                canvas.width = 50;
                answers.push(presenter.show(0, 1, 0), presenter.show(0, 1, 0), show(50, 48));
                await read_of(presenter, format);
                presenter.free();
                return answers;
            }, backend);
            const none = "ZeroExtent";
            assert.deepEqual(answers, [none, none, none, undefined, "Outdated", "Outdated", undefined]);
        });

        await test(`${backend}_gives_an_image_again_or_another`, async (page) => {
            const answers = await page.evaluate(async (backend) => {
                const canvas = make_canvas();
                const presenter = await open_presenter(backend, canvas);
                const format = presenter.formats(0)[0];
                presenter.configure(0, 32, 32, format);
                const answers = [];
                for (const later of [false, true]) {
                    answers.push(presenter.give_up(0));
                    // A browser's WebGPU takes its image back between tasks.
                    if (later) await turn(50);
                    answers.push(presenter.show(0, 2, 0));
                    const shown = shown_on(canvas);
                    answers.push(difference(shown, await read_of(presenter, format), 32));
                }
                presenter.free();
                return answers;
            }, backend);
            assert.deepEqual(answers, [true, undefined, null, true, undefined, null]);
        });

        await test(`${backend}_lost_is_an_error_of_the_acquisition`, async (page) => {
            const found = await page.evaluate(async (backend) => {
                const canvas = make_canvas();
                let presenter = await open_presenter(backend, canvas);
                const format = presenter.formats(0)[0];
                presenter.configure(0, 32, 32, format);
                presenter.show(0, 1, 0);
                presenter.lose();
                const errors = [await error_of(() => presenter.show(0, 1, 0)), await error_of(() => presenter.formats(0))];
                // Another device on the same canvas, by way of a clone: the old context is the old device's.
                presenter = await presenter.reopen(backend);
                const [mine, replaced] = [presenter.canvas(), presenter.canvas() !== canvas];
                presenter.configure(0, 24, 24, format);
                const again = presenter.show(0, 1, 0) ?? difference(shown_on(mine), await read_of(presenter, format), 24);
                presenter.free();
                await turn(300);
                return { errors, replaced, here: mine.isConnected && !canvas.isConnected, again };
            }, backend);
            for (const error of found.errors) assert.match(error, /device is lost|device lost|lost/i);
            assert.deepEqual([found.replaced, found.here, found.again], [true, true, null]);
        });
    }

    await test("webgl_without_its_context_is_lost", async (page) => {
        const found = await page.evaluate(async () => {
            const canvas = make_canvas();
            let presenter = await open_presenter("webgl", canvas);
            const format = presenter.formats(0)[0];
            presenter.configure(0, 32, 32, format);
            presenter.show(0, 1, 0);
            canvas.getContext("webgl2").getExtension("WEBGL_lose_context").loseContext();
            const error = await error_of(() => presenter.show(0, 1, 0));
            presenter = await presenter.reopen("webgl");
            presenter.configure(0, 24, 24, format);
            const again = presenter.show(0, 1, 0) ?? difference(shown_on(presenter.canvas()), await read_of(presenter, format), 24);
            presenter.free();
            return { error, again };
        });
        assert.match(found.error, /taken the canvas's context away/);
        assert.equal(found.again, null);
    });
    await test("webgl_presents_to_no_other_canvas", async (page) => {
        const found = await page.evaluate(async () => {
            const presenter = await open_presenter("webgl", make_canvas());
            const other = make_canvas("other");
            let error = null;
            try {
                presenter.add(other);
            } catch (refused) {
                error = String(refused);
            }
            presenter.free();
            return { error, untouched: other.getContext("2d") !== null };
        });
        assert.match(found.error, /presentation to other canvases/);
        assert.ok(found.untouched, "a refusal claims nothing");
    });
    await test("webgpu_presents_to_two_canvases", async (page) => {
        const found = await page.evaluate(async () => {
            const canvases = [make_canvas(), make_canvas("other")];
            const presenter = await open_presenter("webgpu", canvases[0]);
            presenter.add(canvases[1]);
            const format = presenter.formats(1)[0];
            const differences = [];
            for (const [index, canvas] of canvases.entries()) {
                presenter.configure(index, 32 + index, 24, format);
                presenter.show(index, 1 + index, 0);
                differences.push(difference(shown_on(canvas), await read_of(presenter, format), 32 + index));
            }
            presenter.free();
            return differences;
        });
        assert.deepEqual(found, [null, null]);
    });
    await browser.close();
}
