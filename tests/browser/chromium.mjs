// Which browser the journeys drive, and how it is started.
import { execFileSync } from "node:child_process";

export const flags = [
  "--no-sandbox", "--disable-gpu", "--no-first-run", "--disable-background-networking", "--disable-component-update",
  "--disable-sync", "--disable-quic",
];

/** The browser to drive: `CHROMIUM`, or the first of the usual names on PATH. */
export function executable() {
  if (process.env.CHROMIUM) return process.env.CHROMIUM;
  for (const name of ["chromium", "chromium-browser", "google-chrome", "google-chrome-stable"]) {
    try { return execFileSync("which", [name], { encoding: "utf8" }).trim(); } catch { /* the next name */ }
  }
  throw new Error("No Chromium found: set CHROMIUM to its path, or run scripts/setup.sh browser");
}
