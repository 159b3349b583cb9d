// Runs every fixture on a backend in the browser and answers the matrix's adapters and results.

// A fixture that panics takes its page along; the next one gets a new page.
export async function run_fixtures(browser, url, backend, wanted) {
    let page = null;
    const fresh = async () => {
        await page?.close();
        page = await browser.newPage();
        page.messages = [];
        page.on("pageerror", (error) => page.messages.push(String(error)));
        page.on("console", (message) => {
            if (message.type() === "error") page.messages.push(message.text());
        });
        await page.goto(`${url}/tests.html`);
        await page.waitForFunction(() => globalThis.fixtures, null, { timeout: 60000 });
        return page;
    };
    await fresh();
    const names = await page.evaluate(() => globalThis.fixtures.names);
    const results = [];
    let adapter = null;
    for (const [index, name] of names.entries()) {
        if (!wanted(name)) continue;
        page.messages.length = 0;
        const opened = await page.evaluate((backend) => globalThis.fixtures.open(backend), backend);
        adapter ??= opened;
        let outcome;
        try {
            outcome = await within(90000, page.evaluate((index) => globalThis.fixtures.run(index), index));
            outcome ??= { outcome: "fail", reason: "it gave no answer" };
        } catch (error) {
            const said = page.messages.find((line) => line.includes("panicked")) ?? String(error);
            outcome = { outcome: "fail", reason: said.split("\n").slice(0, 3).join(" ") };
            await fresh();
        }
        if (outcome.outcome === "fail") console.log(`${name} on ${backend}: ${outcome.reason}`);
        results.push({ fixture: name, backend, ...outcome });
    }
    await page.close();
    return { adapters: adapter ? [adapter] : [], results };
}

export function within(milliseconds, promise) {
    let timer;
    const late = new Promise((_, reject) => {
        timer = setTimeout(() => reject(new Error(`not done in ${milliseconds / 1000} s`)), milliseconds);
    });
    return Promise.race([promise, late]).finally(() => clearTimeout(timer));
}
