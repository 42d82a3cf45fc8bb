// The page opens: at every size, in both themes and languages, without a complaint and with nothing for axe to find.
import { test } from "node:test";
import { assert_accessible, assert_no_sideways_scroll, shot, visit } from "../page.mjs";

const sizes = { phone: [360, 740], narrow: [320, 640], laptop: [1280, 800], wide: [1920, 1080] };
const cases = [
  ["laptop", "light", "en"], ["laptop", "dark", "en"], ["laptop", "light", "ko"], ["phone", "light", "ko"],
  ["phone", "dark", "en"], ["narrow", "light", "en"], ["wide", "dark", "ko"],
];

for (const [size, theme, lang] of cases) {
  test(`opens on a ${size} screen, ${theme}, ${lang}`, async () => {
    const [width, height] = sizes[size];
    await visit({ width, height, theme, lang }, async (page) => {
      await shot(page, `opens-${size}-${theme}-${lang}`);
      await assert_no_sideways_scroll(page);
      await assert_accessible(page);
    });
  });
}

test("says so when the module has stopped, and offers a way on", async () => {
  await visit({ lang: "ko" }, async (page) => {
    await page.evaluate(() => dispatchEvent(new ErrorEvent("error", { error: new WebAssembly.RuntimeError("unreachable") })));
    const notice = page.getByRole("alert").filter({ has: page.getByRole("button") });
    await notice.waitFor();
    await assert_accessible(page, { within: ".stopped" });
    await notice.getByRole("button").first().click();
    await page.waitForLoadState();
    await page.locator(".stopped").waitFor({ state: "detached" });
  });
});
