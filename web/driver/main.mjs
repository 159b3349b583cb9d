// Drives a browser for `cargo xtask web --test`: fixtures, selection, presenting, demo. Ends with 1 when anything failed.
//
//     node main.mjs --url URL --browser PROGRAM --out FOLDER [--json FILE] [--sizes BOTH,WEBGPU] [FILTER...]

import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { chromium } from "playwright-core";
import { demo_tests } from "./demo.mjs";
import { run_fixtures } from "./fixtures.mjs";
import { presenting_tests } from "./presenting.mjs";
import { selection_tests } from "./selection.mjs";

// WebGPU and WebGL 2 on the CPU, so that every machine runs the same. Where the compositor has another Vulkan than WebGPU,
// canvases stay blank.
const FLAGS = [
    "--headless", "--no-sandbox", "--enable-unsafe-webgpu", "--use-webgpu-adapter=swiftshader", "--enable-features=Vulkan",
    "--use-vulkan=swiftshader", "--use-angle=swiftshader", "--enable-unsafe-swiftshader",
];
const TOPICS = ["fixtures", "webgpu", "webgl", "selection", "presenting", "demo"];

const { values, positionals } = parseArgs({
    allowPositionals: true,
    options: {
        url: { type: "string" },
        browser: { type: "string" },
        out: { type: "string" },
        json: { type: "string" },
        sizes: { type: "string" },
    },
});
const topics = positionals.filter((word) => TOPICS.includes(word));
const filters = positionals.filter((word) => !TOPICS.includes(word));
// A fixture's name alone asks for fixtures.
if (topics.length === 0 && filters.length > 0) topics.push("fixtures");
const wants = (topic) => topics.length === 0 || topics.includes(topic);

mkdirSync(values.out, { recursive: true });
const launch = () => chromium.launch({ executablePath: values.browser, args: FLAGS });
const report = { sizes: values.sizes?.split(",").map(Number), tests: [] };
let failed = 0;

// One test: it fails by throwing.
async function check(name, body) {
    if (filters.length > 0 && !filters.some((filter) => name.includes(filter))) return;
    const begin = performance.now();
    let failure = null;
    try {
        await body();
    } catch (error) {
        failure = String(error.message ?? error).split("\n").slice(0, 6).join("\n    ");
        failed += 1;
    }
    const seconds = ((performance.now() - begin) / 1000).toFixed(1);
    console.log(`${failure ? "FAIL" : "ok  "} ${name} (${seconds} s)${failure ? `\n    ${failure}` : ""}`);
    report.tests.push({ name, failure });
}

const backends = ["webgpu", "webgl"].filter((backend) => wants("fixtures") || topics.includes(backend));
if (backends.length > 0) {
    // Each in a browser of its own, at the same time: they mostly wait.
    const columns = await Promise.all(backends.map(async (backend) => {
        const browser = await launch();
        try {
            const wanted = (name) => filters.length === 0 || filters.some((filter) => name.includes(filter));
            return await run_fixtures(browser, values.url, backend, wanted);
        } finally {
            await browser.close();
        }
    }));
    const matrix = { adapters: [], results: [] };
    for (const [index, column] of columns.entries()) {
        matrix.adapters.push(...column.adapters);
        matrix.results.push(...column.results);
        const count = (outcome) => column.results.filter((cell) => cell.outcome === outcome).length;
        const names = ["pass", "unsupported", "known_failure", "fail"];
        console.log(`${backends[index].padEnd(8)} ${names.map((name) => `${count(name)} ${name}`).join(", ")}`);
        failed += count("fail");
        if (column.results.length === 0) {
            console.log(`FAIL no fixture of this name ran on ${backends[index]}`);
            failed += 1;
        }
    }
    writeFileSync(values.json ?? join(values.out, "matrix.json"), `${JSON.stringify(matrix, null, 2)}\n`);
}
if (wants("selection")) await selection_tests(launch, values.url, check);
if (wants("presenting")) await presenting_tests(launch, values.url, check);
if (wants("demo")) await demo_tests(launch, values.url, values.out, check);

writeFileSync(join(values.out, "report.json"), `${JSON.stringify(report, null, 2)}\n`);
const passed = report.tests.filter((test) => test.failure === null).length;
console.log(`${passed} passed, ${report.tests.length - passed} failed`);
process.exit(failed === 0 ? 0 : 1);
