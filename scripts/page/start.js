// Start the page. A file of its own, since the Content-Security-Policy allows no inline script.
// scripts/page/finish.mjs puts the hashed names in.
import init from "./page.js";

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

init({ module_or_path: new URL("./page_bg.wasm", import.meta.url) }).catch((error) => {
  console.error(error);
  say(`Kubestep could not start in this browser (${error.message ?? error}). A current Firefox, Chrome or Safari runs it.`);
});
