// Print raw, gzip and brotli bytes of every file in dist/, and fail when a budget is passed: `size.mjs [FOLDER]`.
// With --hold, fail above the ceiling only: where a budget is missed today, the ceiling keeps it from getting worse.
// Lower a ceiling whenever a build is smaller; it never rises.
import { readFileSync, readdirSync, statSync } from "node:fs";
import { join, relative } from "node:path";
import { brotliCompressSync, constants, gzipSync } from "node:zlib";

const hold = process.argv.includes("--hold");
const folder = process.argv.slice(2).find((argument) => !argument.startsWith("--")) ?? "dist";
const budgets = [
  { what: "editor chunk", aim: 110, limit: 130, ceiling: 130, has: (name) => /^editor-[0-9a-f]+\.js$/.test(name) },
  // Lesson texts are fetched when a lesson opens.
  { what: "first load", aim: 450, limit: 650, ceiling: 850, has: (name) => !/^editor-[0-9a-f]+\.js$/.test(name) && !name.startsWith("lessons/") },
];
const kb = 1000;

const files = (function walk(path) {
  return readdirSync(path).sort().flatMap((name) => (statSync(join(path, name)).isDirectory() ? walk(join(path, name)) : [join(path, name)]));
})(folder).map((path) => {
  const bytes = readFileSync(path);
  const brotli = brotliCompressSync(bytes, { params: { [constants.BROTLI_PARAM_QUALITY]: 11, [constants.BROTLI_PARAM_SIZE_HINT]: bytes.length } });
  return { name: relative(folder, path), raw: bytes.length, gzip: gzipSync(bytes, { level: 9 }).length, brotli: brotli.length };
});

const row = (name, raw, gzip, brotli) => console.log(`${name.padEnd(48)} ${raw.padStart(10)} ${gzip.padStart(10)} ${brotli.padStart(10)}`);
row("file", "raw", "gzip", "brotli");
for (const file of files) row(file.name, String(file.raw), String(file.gzip), String(file.brotli));

let failed = false;
for (const { what, aim, limit, ceiling, has } of budgets) {
  const size = files.filter(({ name }) => has(name)).reduce((sum, { brotli }) => sum + brotli, 0) / kb;
  const verdict = size > limit ? `OVER THE BUDGET by ${(size - limit).toFixed(1)}` : size > aim ? "within the budget, above the aim" : "within the aim";
  const held = hold && size > limit ? `; ceiling ${ceiling}: ${size > ceiling ? "BROKEN" : "held"}` : "";
  console.log(`${what}: ${size.toFixed(1)} kB brotli, budget ${limit}, aim ${aim}: ${verdict}${held}`);
  failed ||= size > (hold ? ceiling : limit);
}
process.exit(failed ? 1 : 0);
