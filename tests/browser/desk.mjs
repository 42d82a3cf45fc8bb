// What a person does at the desk, for journeys: apply, tick, type, send, read the road.
import assert from "node:assert/strict";

export const stages = ["stored", "replicaset", "pods", "placed", "started", "ready", "listed", "routed", "answer"];

/** Both marks of a stage: "done/under-way". */
export async function marks(page, stage) {
  const [exists, achieved] = await page.$eval(`[data-stage=${stage}]`, (item) => [item.dataset.exists, item.dataset.achieved]);
  return `${exists.replace("is-", "")}/${achieved.replace("is-", "")}`;
}

/** The marks of all stages, by name. */
export async function road(page) {
  const found = {};
  for (const stage of stages) found[stage] = await marks(page, stage);
  return found;
}

export const tick_now = (page) => page.$eval("[data-tick]", (output) => Number(output.dataset.tick));
export const button = (page, name) => page.locator(`.transport__${name}:visible`);

/** Press a button of the transport, and wait until the clock has moved. */
export async function press(page, name) {
  await button(page, name).click();
  await page.waitForTimeout(30);
}

/** Tick until a stage has achieved its purpose; gives the ticks it took. */
export async function tick_until(page, stage, wanted = "done/done", most = 40) {
  for (let ticks = 0; ticks <= most; ticks++) {
    if (await marks(page, stage) === wanted) return ticks;
    await press(page, "tick");
  }
  assert.fail(`${stage} is ${await marks(page, stage)} after ${most} ticks, not ${wanted}`);
}

/** Run until quiet, and wait until it is over. */
export async function run_until_quiet(page) {
  await press(page, "quiet");
  await page.waitForFunction(() => !document.querySelector(".transport__play svg"), null, { timeout: 30_000 });
}

/** Replace the text of the file on screen. */
export async function write(page, change) {
  await page.waitForSelector(".cm-content");
  await page.locator(".cm-content").click();
  const text = typeof change === "function" ? change(await editor_text(page)) : change;
  await page.keyboard.press("Control+a");
  // Typing over coloured words makes Chromium write inline styles of its own, which the policy stops.
  await page.keyboard.press("Delete");
  await page.keyboard.insertText(text);
  await close_choices(page);
}

// The choices come a moment after the last letter and would stand over what a journey looks at next.
async function close_choices(page) {
  const choices = page.locator(".cm-tooltip-autocomplete");
  const came = await choices.waitFor({ timeout: 250 }).then(() => true, () => false);
  if (came) await page.keyboard.press("Escape");
  await choices.waitFor({ state: "detached" });
}

/** The text of the file on screen, also where the editor has not drawn it. */
export const editor_text = (page) => page.evaluate(() => {
  const view = document.querySelector(".cm-content")?.cmTile?.view ?? document.querySelector(".cm-content")?.cmView?.view;
  return view ? view.state.doc.toString() : document.querySelector(".editor__plain").value;
});

export async function apply(page) {
  await page.locator(".editor__apply").click();
  await page.waitForTimeout(30);
}

/** Type a line into the terminal; gives what it printed. */
export async function type(page, line) {
  const before = await page.locator(".terminal__line").count();
  await page.fill("#terminal-line", line);
  await page.press("#terminal-line", "Enter");
  await page.waitForFunction((before) => document.querySelectorAll(".terminal__line").length > before, before);
  return (await page.locator(".terminal__line").allTextContents()).slice(before + 1).join("\n");
}

/** Send the request in the form; gives what the client saw. */
export async function send(page) {
  await page.locator(".path__ask button").click();
  await page.waitForTimeout(30);
  return page.$eval("[data-answer]", (answer) => answer.dataset.answer);
}
