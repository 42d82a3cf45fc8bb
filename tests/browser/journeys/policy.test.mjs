// The page's policy is strict, is in the file itself, and really forbids what it says.
import assert from "node:assert/strict";
import { test } from "node:test";
import { policy } from "../../../scripts/page/policy.mjs";
import { open, visit } from "../page.mjs";

test("the released file carries the policy itself", () =>
  visit({}, async (page) => {
    assert.equal(await page.getAttribute('meta[http-equiv="Content-Security-Policy"]', "content"), policy);
  }));

test("no inline script or style is in the released file", () =>
  visit({}, async (page) => {
    const html = await (await page.request.get(page.url())).text();
    assert.doesNotMatch(html, /<script(?![^>]*\bsrc=)/);
    assert.doesNotMatch(html, /<style|\bstyle=|\bon\w+=/);
  }));

test("an inline script does not run, and the journey hears of it", async () => {
  const page = await open();
  await page.evaluate(() => {
    const script = document.body.appendChild(document.createElement("script"));
    script.textContent = "window.ran = true";
  });
  assert.equal(await page.evaluate(() => window.ran), undefined);
  await page.waitForFunction(() => true);
  assert.ok(page.complaints.some((words) => words.includes("Content-Security-Policy")), page.complaints.join("\n"));
  await page.context().close();
});
