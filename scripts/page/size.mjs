// Print raw, gzip and brotli bytes of every file in dist/, and fail when a budget is passed.
// Counted as a host serves them: text and modules compressed, pictures and fonts as they are.
import { readFileSync, readdirSync, statSync } from "node:fs";
import { join, relative } from "node:path";
import { brotliCompressSync, constants, gzipSync } from "node:zlib";

const folder = process.argv[2] ?? "dist";
const budgets = [
  { what: "editor chunk", aim: 110, limit: 130, has: (name) => /^editor-[0-9a-f]+\.js$/.test(name) },
  // Lesson texts are fetched when a lesson opens.
  { what: "first load", aim: 450, limit: 650, has: (name) => !/^editor-[0-9a-f]+\.js$/.test(name) && !name.startsWith("lessons/") },
];
const kib = 1024;

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

let over = false;
for (const { what, aim, limit, has } of budgets) {
  const bytes = files.filter(({ name }) => has(name)).reduce((sum, { brotli }) => sum + brotli, 0);
  const verdict = bytes > limit * kib ? "OVER BUDGET" : bytes > aim * kib ? "within budget, above the aim" : "within the aim";
  console.log(`${what}: ${(bytes / kib).toFixed(1)} KiB brotli, budget ${limit}, aim ${aim}: ${verdict}`);
  over ||= bytes > limit * kib;
}
process.exit(over ? 1 : 0);
