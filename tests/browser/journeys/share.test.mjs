// A moment leaves the page and comes back: link, embed, reload.
import assert from "node:assert/strict";
import { test } from "node:test";
import { assert_accessible, assert_no_sideways_scroll, open, close, shot, visit } from "../page.mjs";
import { apply, press, road, send, tick_now, type } from "../desk.mjs";

async function link_of(page) {
  await page.locator(".bar__end button").first().click();
  const link = await page.locator("#share-link").inputValue();
  await assert_accessible(page);
  await page.keyboard.press("Escape");
  assert.equal(await page.locator("[role=dialog]").count(), 0);
  return link;
}

async function pods_of(page) {
  return page.locator(".pod:not(.is-system)").evaluateAll((pods) => pods.map((pod) => pod.dataset.pod).sort());
}

test("a link opened elsewhere shows the same cluster at the same tick, and an embed shows it in 600 by 400", async () => {
  const page = await open({ width: 1440, height: 900 });
  await apply(page);
  for (let n = 0; n < 5; n++) await press(page, "tick");
  await press(page, "step");
  await send(page);
  const link = await link_of(page);
  const [tick, stages, pods] = [await tick_now(page), await road(page), await pods_of(page)];
  await close(page);
  const hash = link.slice(link.indexOf("#"));

  await visit({ width: 1440, height: 900, path: hash }, async (other) => {
    assert.equal(await tick_now(other), tick);
    assert.deepEqual(await road(other), stages);
    assert.deepEqual(await pods_of(other), pods, "even the names are the same");
  });
  await visit({ width: 600, height: 400, path: `?embed=1${hash}`, editor: false }, async (embed) => {
    assert.equal(await tick_now(embed), tick);
    assert.equal(await embed.locator(".bar, .timeline, .terminal").count(), 0, "no frame");
    const room = await embed.evaluate(() => [document.documentElement.scrollWidth, document.documentElement.scrollHeight, document.activeElement === document.body]);
    assert.deepEqual(room, [600, 400, true], "it fits, and takes no focus");
    await assert_accessible(embed);
    await shot(embed, "embed");
    for (let n = 0; n < 2; n++) await embed.getByRole("button", { name: "Tick" }).click();
    assert.ok(await tick_now(embed) > tick);
    assert.match(await embed.locator(".embed__open").getAttribute("href"), /#v1:/);
  });
  for (const view of ["editor", "terminal", "trace", "split"]) {
    await visit({ width: 600, height: 400, theme: "dark", lang: "ko", path: `?embed=1&view=${view}&readonly=1${hash}`, editor: view === "editor" || view === "split" }, async (embed) => {
      await assert_no_sideways_scroll(embed);
      await assert_accessible(embed);
      await shot(embed, `embed-${view}`);
    });
  }
});

test("a damaged link says so and leaves the page usable", async () => {
  await visit({ path: "#v1:AUFB" }, async (page) => {
    assert.match(await page.locator("[data-announcement]").textContent(), /damaged/);
    await apply(page);
  });
});

test("the session is there again after a reload", async () => {
  await visit({ width: 1440, height: 900 }, async (page) => {
    await apply(page);
    await press(page, "tick");
    await press(page, "tick");
    const [tick, stages] = [await tick_now(page), await road(page)];
    await page.reload();
    await page.waitForSelector(".road");
    assert.equal(await tick_now(page), tick);
    assert.deepEqual(await road(page), stages);
  });
});

test("lines typed are found again with Ctrl-R, also on the next visit", async () => {
  await visit({ width: 1440, height: 900 }, async (page) => {
    await type(page, "kubectl get nodes -o wide");
    await type(page, "kubectl get pods");
    await page.reload();
    await page.locator("#terminal-line").click();
    await page.keyboard.press("Control+r");
    await page.keyboard.type("get");
    assert.equal(await page.locator(".terminal__found").textContent(), "kubectl get pods");
    await page.keyboard.press("Control+r");
    assert.equal(await page.locator(".terminal__found").textContent(), "kubectl get nodes -o wide");
    await assert_accessible(page);
    await page.keyboard.press("Enter");
    assert.match(await page.locator(".terminal__log").textContent(), /INTERNAL-IP/);
    assert.equal(await page.locator(".terminal__found").count(), 0);
    await page.keyboard.type("kubectl draft");
    await page.keyboard.press("Control+r");
    await page.keyboard.press("Control+c");
    assert.equal(await page.locator("#terminal-line").inputValue(), "kubectl draft");
  });
});
