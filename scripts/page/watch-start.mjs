// Write scripts/page/later.txt: build the page, have every function tell when it runs, open it as different visitors do
// without touching anything, and note the paths under which nothing ran. `make later` runs this; do so when `make size`
// or the journey that opens the page says that the first part is too big, or needs the rest.
import { execFileSync } from "node:child_process";
import { copyFileSync, cpSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { chromium } from "playwright-core";
import { executable, flags } from "../../tests/browser/chromium.mjs";
import { without_notes } from "./data.mjs";
import { marked, path_of, sizes } from "./module.mjs";
import { serve } from "./serve.mjs";

// A path with fewer bytes than this is not worth its line.
const least_bytes = 200;
// But these few bytes lead to much data, which waits with them.
const lead_to_data = ["kubestep::i18n::catalogue::later_files"];
const visitors = [
  { query: "", locale: "en-US", colorScheme: "light", viewport: { width: 1440, height: 900 } },
  { query: "", locale: "ko-KR", colorScheme: "dark", viewport: { width: 360, height: 740 } },
  { query: "?embed=1", locale: "en-US", colorScheme: "light", viewport: { width: 600, height: 400 } },
];

const root = fileURLToPath(new URL("../..", import.meta.url));
execFileSync(join(root, "scripts/build-page.sh"), { stdio: "inherit" });
const built = join(process.env.CARGO_TARGET_DIR ?? join(root, "target"), "page/wasm-bindgen/release");
const module = without_notes(readFileSync(join(built, "page_bg.wasm")));
const { wasm, names } = marked(module);

// The released page with wasm-bindgen's own script and the marked module in their places.
const site = mkdtempSync(join(tmpdir(), "kubestep-"));
try {
  cpSync(join(root, "dist"), site, { recursive: true });
  cpSync(join(built, "snippets"), join(site, "snippets"), { recursive: true });
  copyFileSync(join(root, "scripts/page/start.js"), join(site, "start.js"));
  writeFileSync(join(site, "page_bg.wasm"), wasm);
  const ran = `__proto__: null, __kubestep_ran: (index) => { globalThis.kubestep_ran[index] = 1; },`;
  writeFileSync(join(site, "page.js"), `globalThis.kubestep_ran = new Uint8Array(${names.length});\n${readFileSync(join(built, "page.js"), "utf8").replace("__proto__: null,", ran)}`);
  const index = readFileSync(join(site, "index.html"), "utf8").replace(/<link rel="(module)?preload"[^>]*>/g, "").replace(/start-[0-9a-f]+\.js/, "start.js");
  writeFileSync(join(site, "index.html"), index);
  writeFileSync(join(root, "scripts/page/later.txt"), listing(await watch(site)));
} finally {
  rmSync(site, { recursive: true, force: true });
}

// The functions that ran for any of the visitors.
async function watch(folder) {
  const server = await serve(folder);
  const browser = await chromium.launch({ executablePath: executable(), args: flags });
  const seen = new Set();
  for (const { query, ...options } of visitors) {
    const page = await (await browser.newContext(options)).newPage();
    page.on("pageerror", (error) => { throw error; });
    page.on("console", (message) => console.error(message.text()));
    await page.goto(server.url + query, { waitUntil: "networkidle" });
    await page.waitForTimeout(3000);
    const numbers = await page.evaluate(() => [...globalThis.kubestep_ran.keys()].filter((index) => globalThis.kubestep_ran[index]));
    if (!numbers.length) throw new Error(`nothing ran for ${query || "the plain page"}`);
    for (const number of numbers) seen.add(names[number]);
    await page.context().close();
  }
  await browser.close();
  await server.close();
  return seen;
}

// The shortest list of paths that names all code that did not run.
function listing(seen) {
  const tree = { ran: false, bytes: 0, below: new Map() };
  for (const { name, size } of sizes(module)) {
    let node = tree;
    for (const part of [null, ...path_of(name).split("::")]) {
      if (part !== null) {
        if (!node.below.has(part)) node.below.set(part, { ran: false, bytes: 0, below: new Map() });
        node = node.below.get(part);
      }
      node.bytes += size;
      node.ran ||= seen.has(name);
    }
  }
  const lines = lead_to_data.filter((path) => ![...seen].some((name) => path_of(name) === path));
  (function walk(node, path) {
    if (node.ran) for (const [part, below] of node.below) walk(below, [...path, part]);
    else if (node.bytes >= least_bytes && /^[a-z]/.test(path[0])) lines.push(path.join("::"));
  })(tree, []);
  return `# Code that the page does not run until somebody uses it, a path a line; module.mjs tells what becomes of it.\n# Written by \`make later\`.\n${lines.sort().join("\n")}\n`;
}
