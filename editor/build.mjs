// Bundle the editor into editor/dist/editor.js: Trunk's pre_build hook, and `npm run build --workspace editor`.
import { readFile } from "node:fs/promises";
import { fileURLToPath } from "node:url";
import { build } from "esbuild";

const here = (path) => fileURLToPath(new URL(path, import.meta.url));

// CodeMirror writes its styles into a <style> element unless its root is a shadow root. A strict Content-Security-Policy
// forbids that element and allows adopted style sheets, which documents have too: so drop that one condition.
const adopt_styles = {
  name: "adopt-styles",
  setup(bundler) {
    bundler.onLoad({ filter: /style-mod\.js$/ }, async ({ path }) => {
      const source = await readFile(path, "utf8");
      const condition = "!root.head && root.adoptedStyleSheets";
      if (source.split(condition).length !== 2) throw new Error(`style-mod changed: '${condition}' is not in it exactly once`);
      return { contents: source.replace(condition, "root.adoptedStyleSheets"), loader: "js" };
    });
  },
};

await build({
  entryPoints: [here("editor.js")],
  outfile: here("dist/editor.js"),
  bundle: true, minify: true, format: "esm", target: "es2022", legalComments: "none", charset: "utf8",
  plugins: [adopt_styles],
  logLevel: "warning",
});
