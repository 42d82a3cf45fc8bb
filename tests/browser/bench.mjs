// Measure in Chromium what tests cannot: `make browser-bench` prints one line per benchmark.
//
// The page offers its benchmarks as `window.kubestep_bench = { NAME: () => number | Promise<number> }` (milliseconds of
// one run) when it is opened with `?bench`. Each is run once to warm up, then until 2 s or 50 runs have passed.
import { chromium } from "playwright-core";
import { serve } from "../../scripts/page/serve.mjs";
import { executable, flags } from "./chromium.mjs";

const server = await serve("dist");
const browser = await chromium.launch({ executablePath: executable(), args: flags });
const page = await browser.newPage();
page.on("pageerror", (error) => console.error(error.message));
await page.goto(`${server.url}?bench`);
const offered = await page.waitForFunction(() => window.kubestep_bench && Object.keys(window.kubestep_bench), null, { timeout: 20_000 })
  .then((handle) => handle.jsonValue()).catch(() => []);
if (!offered.length) console.error("The page offers no benchmarks (window.kubestep_bench).");

for (const name of offered) {
  const runs = await page.evaluate(async (name) => {
    const run = window.kubestep_bench[name], runs = [];
    await run();
    for (const from = performance.now(); performance.now() - from < 2000 && runs.length < 50;) runs.push(await run());
    return runs.sort((a, b) => a - b);
  }, name);
  const at = (share) => runs[Math.min(runs.length - 1, Math.floor(runs.length * share))].toFixed(2);
  console.log(`${name.padEnd(48)} median ${at(0.5)} ms   95% ${at(0.95)} ms   worst ${at(1)} ms   (${runs.length} runs)`);
}
await browser.close();
await server.close();
process.exit(offered.length ? 0 : 1);
