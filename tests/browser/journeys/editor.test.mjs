// The editor chunk by itself, under the page's policy: loaded on demand, with notes at their lines and no keyboard trap.
import assert from "node:assert/strict";
import { test } from "node:test";
import { assert_accessible, shot, visit } from "../page.mjs";

const manifest = `apiVersion: apps/v1\nkind: Deployment\nmetadata:\n  name: api # 이름\nspec:\n  replica: 3\n`;

// Put a lone editor on the page, in place of everything else.
async function mount(page, options = {}) {
  await page.evaluate(async ([text, options]) => {
    const { mount } = await import(new URL(document.querySelector("meta[name=kubestep-editor]").content, document.baseURI));
    const main = document.createElement("main");
    main.append(Object.assign(document.createElement("h1"), { textContent: "Editor" }), Object.assign(document.createElement("div"), { id: "lone" }),
      Object.assign(document.createElement("button"), { id: "next", textContent: "next" }));
    document.body.replaceChildren(main);
    window.changes = [];
    window.applied = 0;
    window.editor = mount(document.getElementById("lone"), {
      text, language: "yaml", ariaLabel: "manifest", onChange: (text) => window.changes.push(text), onApply: () => { window.applied++; }, ...options,
    });
  }, [manifest, options]);
}

test("shows a message under its line, marks the word and the line number", () =>
  visit({}, async (page) => {
    await mount(page);
    await page.evaluate(() => window.editor.setDiagnostics([{ line: 6, column: 3, endColumn: 10, message: 'unknown field "spec.replica"', severity: "error" }]));
    assert.equal(await page.textContent(".cm-note"), 'unknown field "spec.replica"');
    assert.equal(await page.textContent(".cm-mark"), "replica");
    assert.equal(await page.textContent(".cm-lineNumbers .is-error"), "6");
    assert.equal(await page.getAttribute(".cm-content", "aria-invalid"), "true");
    await shot(page, "editor-error");
    await assert_accessible(page);
    await page.evaluate(() => window.editor.setDiagnostics([]));
    assert.equal(await page.locator(".cm-note, .cm-mark, .cm-lineNumbers .is-error").count(), 0);
  }));

test("reports edits by the user and none of its own", () =>
  visit({}, async (page) => {
    await mount(page);
    await page.evaluate(() => window.editor.setText("kind: Pod\n"));
    assert.deepEqual(await page.evaluate(() => window.changes), []);
    await page.evaluate(() => window.editor.focus());
    await page.keyboard.press("Control+End");
    await page.keyboard.type("a: 1");
    assert.equal(await page.evaluate(() => window.changes.at(-1)), "kind: Pod\na: 1");
    assert.equal(await page.evaluate(() => window.editor.getText()), "kind: Pod\na: 1");
  }));

test("applies with Ctrl-Enter and lets Tab leave", () =>
  visit({}, async (page) => {
    await mount(page);
    await page.evaluate(() => window.editor.focus());
    await page.keyboard.press("Control+Enter");
    assert.equal(await page.evaluate(() => window.applied), 1);
    await page.keyboard.press("Tab");
    assert.equal(await page.evaluate(() => document.activeElement.id), "next");
    assert.equal(await page.evaluate(() => window.editor.getText()), manifest);
  }));

test("completes with the page's words, asked by place", () =>
  visit({}, async (page) => {
    await mount(page);
    await page.evaluate(() => {
      window.editor.setCompletions(({ line, column }) => { window.asked = [line, column]; return [{ label: "replicas", detail: "integer", info: "how many" }, { label: "selector" }]; });
      window.editor.focus();
    });
    await page.keyboard.press("Control+End");
    await page.keyboard.type("  repl");
    await page.waitForSelector(".cm-tooltip-autocomplete");
    const [line, column] = await page.evaluate(() => window.asked);
    assert.ok(line === 7 && column > 3 && column <= 7, `asked at ${line}:${column}`);
    await page.waitForTimeout(100); // CodeMirror ignores keys for 75 ms after the list opens.
    await page.keyboard.press("Tab");
    assert.match(await page.evaluate(() => window.editor.getText()), /\n {2}replicas$/);
  }));

test("is drawn in dark too", () =>
  visit({ theme: "dark" }, async (page) => {
    await mount(page, { theme: "dark" });
    await page.evaluate(() => document.documentElement.setAttribute("data-theme", "dark"));
    await shot(page, "editor-dark");
    await assert_accessible(page);
  }));
