// What every journey needs: the built page, served under its strict policy from a sub-path, in a real browser.
// A journey fails on any console error, uncaught exception, failed request or policy violation.
import assert from "node:assert/strict";
import { existsSync, mkdirSync, readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { basename } from "node:path";
import { fileURLToPath } from "node:url";
import { after } from "node:test";
import { chromium } from "playwright-core";
import { serve } from "../../scripts/page/serve.mjs";
import { executable, flags } from "./chromium.mjs";

const root = fileURLToPath(new URL("../..", import.meta.url));
const shots = fileURLToPath(new URL("shots", import.meta.url));
const axe_source = readFileSync(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8");

let started;
let failures = 0;
// One server and one browser per test file, both ended when the file's tests are done.
function start() {
  started ??= (async () => {
    if (!existsSync(`${root}/dist/index.html`)) throw new Error("No dist/: run `make build` first");
    const server = await serve(`${root}/dist`, { base: "/courses/kubestep/" });
    const browser = await chromium.launch({ executablePath: executable(), args: flags });
    return { server, browser };
  })();
  return started;
}
after(async () => {
  if (!started) return;
  const { server, browser } = await started;
  await browser.close();
  await server.close();
});

/**
 * Open the page in a fresh context, wait until it has drawn something, and hand back Playwright's page.
 * `options`: `width`, `height`, `theme` ("light" or "dark"), `lang` ("en" or "ko"), `path` (a query or fragment),
 * `motion` ("reduce" by default, so that nothing is measured half-way), `touch`, `clipboard`, and `allow` (patterns of
 * console errors that this journey provokes on purpose), and `editor` (whether to wait for the editor chunk; true).
 */
export async function open(options = {}) {
  const { width = 1280, height = 800, theme = "light", lang = "en", path = "", motion = "reduce", touch = false, clipboard = false, allow = [], editor = true } = options;
  const { server, browser } = await start();
  const context = await browser.newContext({
    viewport: { width, height }, colorScheme: theme, locale: lang === "ko" ? "ko-KR" : "en-US", reducedMotion: motion, hasTouch: touch,
    permissions: clipboard ? ["clipboard-read", "clipboard-write"] : [],
  });
  const page = await context.newPage();
  page.complaints = [];
  const complain = (words) => { if (!allow.some((pattern) => pattern.test(words))) page.complaints.push(words); };
  page.on("console", (message) => { if (message.type() === "error") complain(`console: ${message.text()}`); });
  page.on("pageerror", (error) => complain(`exception: ${error.message}`));
  // A page that is left drops what it was fetching: that is no failure.
  page.on("requestfailed", (request) => { if (request.failure()?.errorText !== "net::ERR_ABORTED") complain(`request failed: ${request.url()}`); });
  page.on("response", (response) => { if (response.status() >= 400) complain(`${response.status()}: ${response.url()}`); });
  await page.addInitScript(() => {
    document.addEventListener("securitypolicyviolation", (event) => {
      console.error(`Content-Security-Policy: ${event.violatedDirective} ${event.blockedURI} ${event.sourceFile}:${event.lineNumber} ${event.sample}`);
    });
  });
  await page.goto(server.url + path);
  await page.waitForFunction(() => document.body.querySelector(":scope > :not(noscript, script)"), null, { timeout: 30_000 });
  if (editor) await page.locator(".cm-content").first().waitFor({ state: "attached" });
  return page;
}

/** End a journey: nothing may have been complained about. */
export async function close(page) {
  const { complaints } = page;
  await page.context().close();
  assert.deepEqual(complaints, [], "the browser complained");
}

/** Run `journey(page)` on a freshly opened page, and close it; a failed journey leaves a picture in shots/failed-…. */
export async function visit(options, journey) {
  const page = await open(options);
  try {
    await journey(page);
  } catch (error) {
    if (page.complaints.length) error.message += `\nThe browser complained:\n  ${page.complaints.join("\n  ")}`;
    await shot(page, `failed-${basename(process.argv[1], ".test.mjs")}-${++failures}`).catch(() => {});
    await page.context().close();
    throw error;
  }
  await close(page);
}

/** Fail on any violation of WCAG 2.2 A and AA that axe can see, naming rule and elements. */
export async function assert_accessible(page, { within } = {}) {
  // Through the protocol, not a script element: the page's policy stays as strict as it is for everybody.
  await page.evaluate(axe_source);
  const { violations } = await page.evaluate(
    (within) => window.axe.run(within ?? document, { runOnly: ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"] }), within);
  const words = violations.flatMap(({ id, help, nodes }) => nodes.map(({ target, failureSummary }) => `${id} (${help}): ${target.join(" ")}\n    ${failureSummary.replaceAll("\n", "\n    ")}`));
  assert.deepEqual(words, [], "axe found violations");
}

/** Nothing may stick out sideways. */
export async function assert_no_sideways_scroll(page) {
  const [wide, room] = await page.evaluate(() => [document.documentElement.scrollWidth, document.documentElement.clientWidth]);
  assert.ok(wide <= room, `the page is ${wide} px wide in ${room} px`);
}

/** Keep a picture as tests/browser/shots/NAME.png. */
export async function shot(page, name) {
  mkdirSync(shots, { recursive: true });
  await page.screenshot({ path: `${shots}/${name}.png` });
}
