// Trunk's post_build hook. In Trunk's staging folder: bundle the style sheets, add the editor chunk, and for a release
// cut the module in two and optimise both, name every file by its content and lay down the Content-Security-Policy.
import { execFileSync } from "node:child_process";
import { createHash } from "node:crypto";
import { copyFileSync, existsSync, mkdirSync, readFileSync, readdirSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { build } from "esbuild";
import { later_paths, split } from "./module.mjs";
import { policy } from "./policy.mjs";

const root = fileURLToPath(new URL("../..", import.meta.url));
const stage = process.env.TRUNK_STAGING_DIR;
const release = process.env.TRUNK_PROFILE === "release";
if (!stage) throw new Error("finish.mjs is Trunk's post_build hook: TRUNK_STAGING_DIR is not set");
const staged = (name) => join(stage, name);

// What counts is the size after compression: inlining gains little and repeats itself, and functions that stand beside
// those of their own module compress better.
const wasm_opt_flags = [
  "-Oz", "--always-inline-max-function-size=2", "--one-caller-inline-max-function-size=0", "--reorder-functions-by-name",
  "--strip-debug", "--strip-producers", "--strip-target-features", "--enable-bulk-memory", "--enable-nontrapping-float-to-int",
  "--enable-sign-ext", "--enable-reference-types", "--enable-multivalue", "--enable-mutable-globals",
];

// The sheets in their order of meaning; within parts/ and panes/ every sheet minds its own component only.
const sheets = ["tokens.css", "base.css", "layout.css", ...sheets_in("parts"), ...sheets_in("panes")];
await build({
  stdin: { contents: sheets.filter((name) => existsSync(join(root, "styles", name))).map((name) => `@import "./${name}";`).join("\n"), resolveDir: join(root, "styles"), loader: "css" },
  outfile: staged("style.css"),
  bundle: true, minify: release, charset: "utf8", assetNames: "[name]-[hash]", logLevel: "warning",
  loader: { ".woff2": "file", ".svg": "file", ".png": "file" },
});
copyFileSync(join(root, "editor/dist/editor.js"), staged("editor.js"));
copyFileSync(join(root, "scripts/page/start.js"), staged("start.js"));
copyFileSync(join(root, "scripts/page/icon.svg"), staged("icon.svg"));

// Rust finds the chunk by this name: src/ui/editor_chunk.rs.
let page = readFileSync(staged("index.html"), "utf8");
page = page.replace("</head>", `  <meta name="kubestep-editor" content="./editor.js">\n</head>`);

if (release) {
  cut_and_optimise("page_bg.wasm", "page_rest.wasm");
  await join_scripts();

  // Leaves first: a file's hash must cover the hashed names inside it.
  const wasm_name = hashed("page_bg.wasm");
  const rest_name = hashed("page_rest.wasm");
  const page_name = hashed("page.js", { "page_bg.wasm": wasm_name, "page_rest.wasm": rest_name });
  const start_name = hashed("start.js", { "page.js": page_name, "page_bg.wasm": wasm_name });
  const names = { "start.js": start_name, "style.css": hashed("style.css"), "editor.js": hashed("editor.js"), "icon.svg": hashed("icon.svg") };
  for (const [plain, name] of Object.entries(names)) page = page.replaceAll(`./${plain}"`, `./${name}"`);
  page = page.replace('<meta charset="utf-8">', `$&\n  <meta http-equiv="Content-Security-Policy" content="${policy}">`);
  page = page.replace("</head>", `  <link rel="modulepreload" href="./${page_name}">\n  <link rel="preload" href="./${wasm_name}" as="fetch" type="application/wasm" crossorigin>\n</head>`);
}
writeFileSync(staged("index.html"), page);

// The style sheets of one folder, in a fixed order.
function sheets_in(folder) {
  const path = join(root, "styles", folder);
  return existsSync(path) ? readdirSync(path).filter((name) => name.endsWith(".css")).sort().map((name) => `${folder}/${name}`) : [];
}

// Cut a module into the named two and optimise both. The results are kept, so that a build that changes nothing takes no
// time.
function cut_and_optimise(name, rest_name) {
  const bytes = readFileSync(staged(name));
  const later = later_paths();
  const digest = createHash("sha256").update(wasm_opt_flags.join(" ")).update(later.join("\n")).update(bytes);
  for (const tool of ["module.mjs", "data.mjs"]) digest.update(readFileSync(new URL(tool, import.meta.url)));
  const cache = join(root, "node_modules/.cache/kubestep");
  const stem = digest.digest("hex");
  const kept = (part) => join(cache, `${stem}.${part}.wasm`);
  if (!existsSync(kept("rest"))) {
    rmSync(cache, { recursive: true, force: true });
    mkdirSync(cache, { recursive: true });
    for (const [part, whole] of Object.entries(split(bytes, later))) {
      writeFileSync(`${kept(part)}.cut`, whole);
      // The npm package holds the tool as a script, so this is the same program on every system.
      execFileSync(process.execPath, [join(root, "node_modules/binaryen/bin/wasm-opt"), ...wasm_opt_flags, `${kept(part)}.cut`, "-o", `${kept(part)}.part`], { stdio: "inherit" });
      renameSync(`${kept(part)}.part`, kept(part));
      rmSync(`${kept(part)}.cut`);
    }
  }
  copyFileSync(kept("first"), staged(name));
  copyFileSync(kept("rest"), staged(rest_name));
}

// Join rest.js to the script that wasm-bindgen wrote, and both with what they import into one file. (Snippets of the
// crates are joined too: one request less.)
async function join_scripts() {
  let script = readFileSync(staged("page.js"), "utf8");
  const put = (place, words) => {
    if (script.split(place).length !== 2) throw new Error(`wasm-bindgen's script has not one "${place}" any more`);
    script = script.replace(place, words);
  };
  put("function __wbg_get_imports() {", "function __wbg_get_imports() { return hand_on(given_imports()); }\nfunction given_imports() {");
  put("wasm = instance.exports;", "wasm = instance.exports;\nfirst_is(wasm);");
  const stdin = { contents: `import { hand_on, first_is } from "./rest.js";\nexport { fetch_rest } from "./rest.js";\n${script}`, resolveDir: stage };
  copyFileSync(join(root, "scripts/page/rest.js"), staged("rest.js"));
  await build({ stdin, outfile: staged("page.js"), allowOverwrite: true, bundle: true, minify: true, format: "esm", target: "es2022", charset: "utf8", logLevel: "warning" });
  rmSync(staged("rest.js"));
  rmSync(staged("snippets"), { recursive: true, force: true });
}

// Replace names inside a staged text file, rename the file by its content, and return the new name.
function hashed(name, names_inside = {}) {
  const path = staged(name);
  if (Object.keys(names_inside).length) {
    let text = readFileSync(path, "utf8");
    for (const [plain, name_inside] of Object.entries(names_inside)) text = text.replaceAll(plain, name_inside);
    writeFileSync(path, text);
  }
  const digest = createHash("sha256").update(readFileSync(path)).digest("hex").slice(0, 12);
  const new_name = name.replace(/(\.\w+)$/, `-${digest}$1`);
  renameSync(path, staged(new_name));
  return new_name;
}
