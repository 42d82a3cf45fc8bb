// Everybody: by keyboard alone, in Korean, on a phone, with the timeline as a list.
import assert from "node:assert/strict";
import { test } from "node:test";
import { assert_accessible, assert_no_sideways_scroll, shot, visit } from "../page.mjs";
import { apply, button, marks, press, run_until_quiet, tick_now, type } from "../desk.mjs";

/** Press Tab until something is focused; fails after a whole round. */
async function tab_to(page, selector, most = 150) {
  for (let n = 0; n < most; n++) {
    await page.keyboard.press("Tab");
    if (await page.evaluate((selector) => document.activeElement?.matches(selector), selector)) return;
  }
  assert.fail(`Tab never comes to ${selector}`);
}

test("by keyboard alone: edit, apply, tick, look, go back", async () => {
  await visit({ width: 1440, height: 900 }, async (page) => {
    await page.waitForSelector(".cm-content");
    await tab_to(page, ".cm-content");
    await page.keyboard.press("Control+Enter");
    assert.equal(await marks(page, "stored"), "done/empty", "Ctrl-Enter applies");
    await page.keyboard.press("Tab");
    assert.ok(await page.evaluate(() => !document.activeElement.closest(".cm-editor")), "Tab leaves the editor");

    await tab_to(page, "#terminal-line");
    await page.keyboard.type("kubectl -n demo get dep");
    await page.keyboard.press("Tab");
    assert.match(await page.inputValue("#terminal-line"), /get deployments?/, "Tab completes");
    await page.keyboard.press("Enter");
    await page.keyboard.press("ArrowUp");
    assert.match(await page.inputValue("#terminal-line"), /get deployments?/, "the up key brings the line back");
    await page.keyboard.press("Escape");
    await page.keyboard.press("Tab");
    assert.ok(await page.evaluate(() => document.activeElement.id !== "terminal-line"), "Escape, then Tab leaves the terminal");

    await page.keyboard.press("t");
    await page.keyboard.press("t");
    assert.equal(await tick_now(page), 2, "T ticks");
    await page.keyboard.press("b");
    await page.keyboard.press("2");
    assert.equal(await page.locator("#tab-object").getAttribute("aria-selected"), "true", "2 is the second tab");
    await tab_to(page, "[data-stage=pods] .stage__tap");
    await page.keyboard.press("Enter");
    assert.equal(await page.locator(".stage__sheet").count(), 1);
    await page.keyboard.press("Escape");
    assert.equal(await page.locator(".stage__sheet").count(), 0);
    await tab_to(page, ".scrub input");
    await page.keyboard.press("Home");
    assert.equal(await tick_now(page), 0, "the slider goes to the beginning");
  });
});

test("in Korean: everything is said in Korean, terms stay English, and it can be switched at any time", async () => {
  await visit({ width: 1440, height: 900, lang: "ko" }, async (page) => {
    assert.equal(await page.getAttribute("html", "lang"), "ko");
    await apply(page);
    await run_until_quiet(page);
    assert.match(await page.locator("[data-announcement]").textContent(), /[가-힣]/);
    await page.locator("#tab-why").click();
    assert.match(await page.locator(".why").textContent(), /[가-힣]/);
    for (const text of await page.locator("button, h2, h3, label").allTextContents()) {
      assert.doesNotMatch(text, /\b(because|wrote|saw|until|share|hint|lesson)\b/i, text);
    }
    await assert_accessible(page);
    await shot(page, "korean");
    await page.locator(".bar__language").click();
    assert.equal(await page.getAttribute("html", "lang"), "en");
    assert.match(await page.locator(".why").textContent(), /Because/);
    await page.reload();
    assert.equal(await page.getAttribute("html", "lang"), "en", "the choice is kept");
  });
});

test("on a phone the road is the page, time is under the thumb, panes are behind tabs", async () => {
  await visit({ width: 360, height: 740, lang: "ko", touch: true }, async (page) => {
    await apply(page);
    for (let n = 0; n < 4; n++) await press(page, "tick");
    const box = await button(page, "tick").boundingBox();
    assert.ok(box.y > 600 && box.height >= 40, `Tick is within reach: ${JSON.stringify(box)}`);
    for (const pane of ["editor", "terminal", "map", "inspect", "timeline"]) {
      await page.locator(`#screen-${pane}`).click();
      assert.ok(await page.locator(`[data-panel=${pane}]`).isVisible(), pane);
      await assert_no_sideways_scroll(page);
      await assert_accessible(page);
      await shot(page, `phone-${pane}`);
    }
    await page.locator("[data-stage=started] .stage__tap").click();
    await assert_no_sideways_scroll(page);
    await shot(page, "phone-stage");
    const small = await page.$$eval("button, a[href], input, select, summary", (elements) => elements
      .filter((element) => element.checkVisibility() && !element.closest(".is-hidden-visually, .cm-editor"))
      .map((element) => [element.className || element.id || element.textContent, element.getBoundingClientRect()])
      .filter(([, { width, height }]) => width > 0 && (width < 24 || height < 24)).map(([name, { width, height }]) => `${name}: ${width}×${height}`));
    assert.deepEqual(small, [], "targets below 24 px");
  });
});

test("the timeline can be read as a list, and every line leads to its explanation", async () => {
  await visit({ width: 1440, height: 900 }, async (page) => {
    await apply(page);
    await press(page, "tick");
    await press(page, "tick");
    await page.locator(".timeline__head button", { hasText: "As a list" }).click();
    const rows = page.locator(".timeline__list tbody tr");
    assert.ok(await rows.count() > 3);
    await assert_accessible(page);
    await rows.nth(1).locator("button").click();
    assert.ok(await page.locator(".why h2").isVisible());
    assert.match(await type(page, "kubectl get nodes"), /node-3/);
  });
});
