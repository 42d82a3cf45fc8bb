// Start the page. A file of its own, since the Content-Security-Policy allows no inline script.
// scripts/page/finish.mjs puts the hashed names in.
import init from "./page.js";

init({ module_or_path: new URL("./page_bg.wasm", import.meta.url) }).catch((error) => {
  console.error(error);
  const words = document.body.appendChild(document.createElement("p"));
  words.setAttribute("role", "alert");
  words.textContent = `Kubestep could not start in this browser (${error.message ?? error}). A current Firefox, Chrome or Safari runs it.`;
});
