// Print raw, gzip and brotli bytes of every file in dist/, and fail when a budget is passed: `size.mjs [FOLDER]`.
import { readFileSync, readdirSync, statSync } from "node:fs";
import { join, relative } from "node:path";
import { brotliCompressSync, constants, gzipSync } from "node:zlib";

const folder = process.argv[2] ?? "dist";
// A file belongs to the first row that has it.
const budgets = [
  { what: "editor chunk, when an editor is shown", aim: 110, limit: 130, has: (name) => /^editor-[0-9a-f]+\.js$/.test(name) },
  { what: "rest of the module, on first use", aim: 450, limit: 800, has: (name) => /^page_rest-[0-9a-f]+\.wasm$/.test(name) },
  { what: "lesson texts, as a lesson opens", aim: Infinity, limit: Infinity, has: (name) => name.startsWith("lessons/") },
  { what: "first load", aim: 450, limit: 650, has: () => true },
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
const left = new Set(files);
for (const { what, aim, limit, has } of budgets) {
  const mine = [...left].filter(({ name }) => has(name));
  for (const file of mine) left.delete(file);
  if (limit === Infinity) continue;
  const size = mine.reduce((sum, { brotli }) => sum + brotli, 0) / kb;
  const verdict = size > limit ? `OVER THE BUDGET by ${(size - limit).toFixed(1)}` : size > aim ? "within the budget, above the aim" : "within the aim";
  console.log(`${what}: ${size.toFixed(1)} kB brotli, budget ${limit}, aim ${aim}: ${verdict}`);
  failed ||= size > limit;
}
process.exit(failed ? 1 : 0);
