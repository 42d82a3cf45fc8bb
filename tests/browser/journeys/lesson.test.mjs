// A lesson, played to its end as a learner plays it.
import assert from "node:assert/strict";
import { test } from "node:test";
import { assert_accessible, shot, visit } from "../page.mjs";
import { apply, press, run_until_quiet, send, tick_now, type } from "../desk.mjs";

test("the first lesson starts the cluster, asks before the step, and sees what was caused and seen", async () => {
  await visit({ width: 1440, height: 900, lang: "ko" }, async (page) => {
    await page.locator(".bar__lesson").click();
    await page.locator(".lessons button").first().click();
    const met = () => page.locator(".goals li.is-done").count();
    const all = await page.locator(".goals li").count();
    assert.equal(await met(), 0);
    await apply(page);
    assert.notEqual(await send(page), "200");
    await page.locator("#tab-lesson").click();
    assert.equal(await met(), 2, "stored, and the request failed");
    await press(page, "tick");
    assert.equal(await tick_now(page), 0, "time waits for the answer");
    await shot(page, "lesson-question");
    await assert_accessible(page);
    await page.locator(".predict input[type=radio]").nth(1).check();
    await page.locator(".predict .is-primary").click();
    assert.equal(await tick_now(page), 1, "and moves with it");
    await press(page, "tick");
    await press(page, "tick");
    await type(page, "kubectl -n demo get pods -o wide");
    await run_until_quiet(page);
    assert.equal(await send(page), "200");
    await page.locator("#tab-lesson").click();
    assert.equal(await met(), all, "every goal is met");
    assert.ok(await page.locator(".lesson__closing").isVisible());
    await assert_accessible(page);
    await shot(page, "lesson-done");
  });
});
