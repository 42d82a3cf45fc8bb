// The page opens: at every size, in both themes and languages, without a complaint and with nothing for axe to find.
import assert from "node:assert/strict";
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

const lookers_on = [["the page", { }], ["an embed", { path: "?embed=1", width: 600, height: 400 }], ["a phone in Korean", { width: 360, height: 740, lang: "ko" }]];
for (const [who, options] of lookers_on) {
  test(`${who} draws itself with the first part of the module, and fetches the rest as somebody turns to it`, async () => {
    await visit({ ...options, editor: false }, async (page) => {
      const fetched = () => page.evaluate(() => performance.getEntriesByType("resource").filter(({ name }) => name.includes("page_rest-")).length);
      await page.waitForLoadState("networkidle");
      assert.equal(await fetched(), 0, "the first picture needs the rest of the module: `make later` writes the list again");
      await page.mouse.move(100, 100);
      await page.waitForFunction(() => performance.getEntriesByType("resource").some(({ name }) => name.includes("page_rest-")));
    });
  });
}

test("waits for the rest of the module where its code is called before it has come", async () => {
  await visit({ editor: false }, async (page) => {
    // Without a pointer or a key, nothing has announced that the rest will be needed.
    await page.evaluate(() => [...document.querySelectorAll("button")].find((button) => /^Apply/.test(button.textContent.trim())).click());
    await page.getByText("deployment.apps/api created").first().waitFor();
  });
});
