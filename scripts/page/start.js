// Start the page. A file of its own, since the Content-Security-Policy allows no inline script.
// scripts/page/finish.mjs puts the hashed names in.
import * as page from "./page.js";

// A notice that needs nothing of the module that has just failed.
const say = (text, ...ways) => {
  document.querySelector(".stopped")?.remove();
  const notice = document.body.appendChild(document.createElement("div"));
  notice.className = "stopped";
  notice.setAttribute("role", "alert");
  notice.appendChild(document.createElement("p")).textContent = text;
  for (const [label, go] of ways) {
    const button = notice.appendChild(document.createElement("button"));
    button.textContent = label;
    button.addEventListener("click", go);
  }
};

// A panic ends the module for good. The session was kept as it went, so loading the page again goes on with it.
addEventListener("error", ({ error }) => {
  if (!(error instanceof WebAssembly.RuntimeError)) return;
  const korean = document.documentElement.lang.startsWith("ko");
  const begin_anew = () => {
    try { localStorage.removeItem("kubestep.session"); } catch { /* Without storage nothing was kept. */ }
    history.replaceState(null, "", location.pathname + location.search);
    location.reload();
  };
  say(korean ? "Kubestep에 오류가 생겨 멈췄다. 세션은 저장되어 있다." : "Kubestep made a mistake and stopped. Your session is saved.",
    [korean ? "저장된 세션으로 계속" : "Go on with the saved session", () => location.reload()],
    [korean ? "새로 시작" : "Begin anew", begin_anew]);
});

// The rest of a release's module comes when somebody turns to the page: one that is only looked at never needs it. A
// session to go on with, a link or a lesson needs it to draw anything.
const signs = ["pointermove", "pointerdown", "touchstart", "wheel", "keydown", "focusin"];
const turn_to = () => {
  for (const sign of signs) removeEventListener(sign, turn_to, { capture: true });
  page.fetch_rest?.();
};
const goes_on = () => {
  if (location.hash.length > 1 || new URLSearchParams(location.search).has("lesson")) return true;
  try { return localStorage.getItem("kubestep.session") !== null; } catch { return false; }
};

const ahead = goes_on() ? page.fetch_rest?.() : null;
const module = fetch(new URL("./page_bg.wasm", import.meta.url));
Promise.all([module, ahead]).then(([response]) => page.default({ module_or_path: response })).then(() => {
  for (const sign of signs) addEventListener(sign, turn_to, { capture: true, passive: true });
}).catch((error) => {
  console.error(error);
  say(`Kubestep could not start in this browser (${error.message ?? error}). A current Firefox, Chrome or Safari runs it.`);
});
