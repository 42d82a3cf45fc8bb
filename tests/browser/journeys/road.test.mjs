// The road, from an edited manifest to an answered request, as a person goes it.
import assert from "node:assert/strict";
import { test } from "node:test";
import { assert_accessible, shot, visit } from "../page.mjs";
import { apply, marks, press, road, run_until_quiet, send, stages, tick_until, type, write } from "../desk.mjs";

test("apply stores a wish; tick by tick each actor does its part; then a request is answered", async () => {
  await visit({ width: 1440, height: 900 }, async (page) => {
    assert.equal(await marks(page, "stored"), "empty/empty", "nothing is applied yet");
    await apply(page);
    assert.match(await page.locator(".terminal__log").textContent(), /deployment\.apps\/api created/);
    assert.equal(await marks(page, "stored"), "done/empty", "stored, and seen by nobody");
    assert.equal(await marks(page, "replicaset"), "empty/empty", "nothing runs through after apply");
    assert.notEqual(await send(page), "200", "and nobody answers");
    assert.equal(await marks(page, "answer"), "done/failed");

    let total = 0;
    for (const stage of stages.slice(1, -1)) total += await tick_until(page, stage);
    assert.ok(total >= 6, `the stages took ${total} ticks, each actor its own`);
    await run_until_quiet(page);
    assert.equal(await send(page), "200");
    const now = await road(page);
    for (const stage of stages) assert.equal(now[stage], "done/done", stage);
    await shot(page, "road-done");

    await page.locator("#tab-trace").click();
    await assert_accessible(page);
    const hops = await page.locator(".hop").count();
    assert.ok(hops >= 6, `${hops} hops`);
    await page.locator(".trace__steps button").first().click();
    assert.equal(await page.locator(".hop.is-here").count(), 1);
    await page.locator(".trace__requests button").last().click();
    assert.equal(await page.locator(".hop.is-failed.is-here").count(), 1, "the first request died at a hop, and says so");
    await shot(page, "road-trace");
  });
});

test("every change says who did it, what was seen, what was written and why", async () => {
  await visit({ width: 1440, height: 900 }, async (page) => {
    await apply(page);
    await tick_until(page, "placed");
    await page.locator("#tab-why").click();
    for (const part of ["Saw", "Wrote", "Because"]) assert.ok(await page.locator(".why h3", { hasText: part }).count(), part);
    assert.match(await page.locator(".chain__link").first().textContent(), /you/, "the chain leads back to the command");
    await page.locator("#tab-scheduling").click();
    assert.ok(await page.locator(".scheduling table").count(), "node × plugin");
    await page.locator("[data-stage=placed] .stage__tap").click();
    assert.match(await page.locator(".stage__sheet .line code").textContent(), /kubectl -n demo get pods -o wide/);
    await assert_accessible(page);
    await shot(page, "road-stage");
    await page.locator(".stage__object").first().click();
    assert.ok(await page.locator(".object .event").count(), "the object's events");
    await assert_accessible(page);
  });
});

test("a bad image stalls the rollout while the old Pods serve; going back and changing course forks", async () => {
  await visit({ width: 1440, height: 900 }, async (page) => {
    await apply(page);
    await run_until_quiet(page);
    assert.equal(await send(page), "200");

    await write(page, (text) => text.replace("api:1.0", "api:2.0"));
    await apply(page);
    assert.match(await page.locator(".terminal__log").textContent(), /deployment\.apps\/api configured/);
    await press(page, "tick");
    await press(page, "tick");
    assert.equal(await marks(page, "stored"), "done/under-way", "a rollout is under way");
    await run_until_quiet(page);
    assert.equal(await marks(page, "stored"), "done/done", "rolled out");
    const good = await page.inputValue(".scrub input");

    await write(page, (text) => text.replace("api:2.0", "api:no-such-version"));
    await apply(page);
    await tick_until(page, "started", "done/failed");
    assert.equal(await marks(page, "answer"), "done/done", "the last answer stands");
    assert.equal(await send(page), "200", "the old Pods serve");
    await shot(page, "road-stalled");

    const branches = () => page.locator(".timeline__branches button").count();
    await page.locator(".scrub input").focus();
    while (Number(await page.inputValue(".scrub input")) > Number(good)) await page.keyboard.press("ArrowLeft");
    assert.equal(await branches(), 0, "looking changes nothing");
    assert.match(await type(page, "kubectl -n demo scale deployment api --replicas=2"), /scaled/);
    assert.equal(await branches(), 2, "changing something in the past forks");
    await run_until_quiet(page);
    assert.match(await page.locator("[data-stage=ready] .stage__title").textContent(), /2\/2/);
    await page.locator(".timeline__branches button").first().click();
    assert.match(await page.locator("[data-stage=started]").getAttribute("data-achieved"), /failed/, "the other branch is still there");
  });
});

test("a misspelt field is marked at its line, in the API server's words, and refused", async () => {
  await visit({ width: 1440, height: 900 }, async (page) => {
    await write(page, (text) => text.replace("replicas: 3", "replica: 3"));
    await page.waitForSelector(".cm-note");
    assert.match(await page.locator(".cm-note").textContent(), /unknown field "spec\.replica"/);
    assert.equal(await page.locator(".problem").getAttribute("data-line"), "12");
    await apply(page);
    assert.match(await page.locator(".terminal__line.is-error").allTextContents().then((lines) => lines.join("\n")), /strict decoding error: unknown field "spec\.replica"/);
    assert.equal(await marks(page, "stored"), "failed/empty", "nothing is stored");
    assert.match(await page.locator("#inspector-panel").textContent(), /unknown field "spec\.replica"/, "the refusal is what is explained");
    const widths = await page.evaluate(() => [".cm-note", ".cm-scroller", ".terminal__line.is-error", ".terminal__scroll"]
      .map((of) => document.querySelector(of).getBoundingClientRect().right));
    assert.ok(widths[0] <= widths[1] && widths[2] <= widths[3], `nothing of it is cut off: ${widths}`);
    await assert_accessible(page);
    await shot(page, "road-refused");
  });
});

test("a deleted Pod is replaced", async () => {
  await visit({ width: 1440, height: 900 }, async (page) => {
    await apply(page);
    await run_until_quiet(page);
    const names = () => page.locator(".pod:not(.is-system)").evaluateAll((pods) => pods.map((pod) => pod.dataset.pod));
    const [victim] = await names();
    await page.locator(`[data-pod="${victim}"]`).click();
    await page.locator(".object__tools button").click();
    await run_until_quiet(page);
    const now = await names();
    assert.equal(now.length, 3);
    assert.ok(!now.includes(victim), "another Pod, with another name");
    assert.equal(await marks(page, "ready"), "done/done");
  });
});

test("the editor completes fields by the schema", async () => {
  await visit({ width: 1440, height: 900 }, async (page) => {
    await write(page, "apiVersion: apps/v1\nkind: Deployment\nspec:\n  repl");
    await page.keyboard.press("Control+Space");
    await page.waitForSelector(".cm-tooltip-autocomplete");
    assert.match(await page.locator(".cm-tooltip-autocomplete").textContent(), /replicas/);
    await page.waitForTimeout(150); // CodeMirror ignores keys right after the list opens.
    await page.keyboard.press("Enter");
    assert.match(await page.locator(".cm-content").textContent(), /replicas:/);
  });
});

for (const [lang, words] of [["en", /DeploymentSpec\.replicas\s*How many Pods are wanted\s*integer/], ["ko", /DeploymentSpec\.replicas\s*.*[가-힣].*integer/s]]) {
  test(`the editor explains the field under the pointer from the schema, ${lang}`, async () => {
    await visit({ width: 1440, height: 900, lang }, async (page) => {
      const field = page.locator(".cm-line", { hasText: "replicas:" }).first();
      await field.hover({ position: { x: 40, y: 8 } });
      const tooltip = page.locator(".cm-tooltip-hover");
      await tooltip.waitFor();
      assert.match(await tooltip.textContent(), words);
    });
  });
}
