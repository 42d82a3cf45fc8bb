// Faults and traffic: a card tells what a fault stands for, its lines cause and mend it, the strip shows what clients met.
import assert from "node:assert/strict";
import { test } from "node:test";
import { assert_accessible, assert_no_sideways_scroll, shot, visit } from "../page.mjs";
import { apply, press, run_until_quiet } from "../desk.mjs";

const card = (page, word) => page.locator(".fault").filter({ has: page.locator("summary code", { hasText: new RegExp(`^${word}$`) }) });

for (const [name, options] of [["laptop", { width: 1440, height: 900 }], ["tablet", { width: 768, height: 1024, lang: "ko", theme: "dark" }], ["phone", { width: 360, height: 740, lang: "ko" }]]) {
  test(`causes a fault by its card, sees what shows it and what clients meet, and mends it: ${name}`, async () => {
    await visit(options, async (page) => {
      // On a phone one pane shows at a time, and a line that runs turns to the terminal.
      const turn_to_faults = async () => {
        if (name === "phone") await page.locator("#tab-inspect, [id$=inspect][role=tab]").first().click();
        await page.locator("#tab-faults").click();
      };
      await apply(page);
      await run_until_quiet(page);
      await turn_to_faults();
      await page.locator(".faults > .line button").first().click();
      for (let tick = 0; tick < 4; tick += 1) await press(page, "tick");
      await turn_to_faults();
      await page.locator("[data-traffic]").waitFor();
      assert.match(await page.locator("[data-traffic]").getAttribute("data-traffic"), /^\d+ ok$/);

      await card(page, "stop").locator("summary").focus();
      await page.keyboard.press("Enter");
      await card(page, "stop").locator(".line button").first().click();
      for (let tick = 0; tick < 4; tick += 1) await press(page, "tick");
      await turn_to_faults();
      await shot(page, `faults-${name}-0`);
      await card(page, "stop").locator("summary b").waitFor();
      await page.locator(".strip__failed").first().waitFor({ state: "attached" });
      assert.ok(await page.locator(".faults > .faults__signals li").count() > 0, "a signal shows");
      await shot(page, `faults-${name}`);
      await assert_no_sideways_scroll(page);
      await assert_accessible(page);

      await card(page, "stop").locator(".line").last().locator("button").first().click();
      await turn_to_faults();
      await card(page, "stop").locator("summary b").waitFor({ state: "detached" });
      await page.locator(".flow details summary").click();
      await shot(page, `faults-mended-${name}`);
    });
  });
}
