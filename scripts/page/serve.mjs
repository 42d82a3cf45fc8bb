// A small static server for the built page, with the headers a host should send. Run by `make serve`; the browser tests
// use `serve` with a sub-path.
import { createReadStream, existsSync, statSync } from "node:fs";
import { createServer } from "node:http";
import { extname, join, normalize, sep } from "node:path";
import { pathToFileURL } from "node:url";
import { createBrotliCompress, createGzip, constants } from "node:zlib";
import { policy } from "./policy.mjs";

const types = {
  ".html": "text/html; charset=utf-8", ".js": "text/javascript; charset=utf-8", ".mjs": "text/javascript; charset=utf-8",
  ".css": "text/css; charset=utf-8", ".wasm": "application/wasm", ".json": "application/json; charset=utf-8",
  ".svg": "image/svg+xml", ".png": "image/png", ".woff2": "font/woff2", ".md": "text/markdown; charset=utf-8",
  ".yaml": "text/yaml; charset=utf-8", ".txt": "text/plain; charset=utf-8",
};
const compressed = /^(text|application\/(wasm|json)|image\/svg)/;

/** Serve `folder` at `http://127.0.0.1:port` + `base`; port 0 picks one. Resolves to `{ url, close }`. */
export function serve(folder, { port = 0, base = "/" } = {}) {
  const server = createServer((request, response) => {
    const answer = (status, words) => response.writeHead(status, { "content-type": "text/plain; charset=utf-8" }).end(words);
    if (request.method !== "GET" && request.method !== "HEAD") return answer(405, "Only GET and HEAD.");
    let path;
    try { path = decodeURIComponent(new URL(request.url, "http://localhost").pathname); } catch { return answer(400, "Bad address."); }
    if (path + "/" === base) return response.writeHead(308, { location: base }).end();
    if (!path.startsWith(base)) return answer(404, `Nothing here; the page is at ${base}`);
    let file = normalize(join(folder, path.slice(base.length)));
    if (file !== normalize(folder) && !file.startsWith(normalize(folder + sep))) return answer(404, "Not found.");
    if (existsSync(file) && statSync(file).isDirectory()) file = join(file, "index.html");
    if (!existsSync(file)) return answer(404, "Not found.");

    const type = types[extname(file)] ?? "application/octet-stream";
    const accepted = request.headers["accept-encoding"] ?? "";
    const encoding = !compressed.test(type) ? null : /\bbr\b/.test(accepted) ? "br" : /\bgzip\b/.test(accepted) ? "gzip" : null;
    response.writeHead(200, {
      "content-type": type,
      "content-security-policy": policy,
      "x-content-type-options": "nosniff",
      "referrer-policy": "no-referrer",
      // Names carry a hash of the content, except the page's own.
      "cache-control": /-[0-9a-f]{12}\.\w+$/.test(file) ? "public, max-age=31536000, immutable" : "no-cache",
      vary: "accept-encoding",
      ...(encoding ? { "content-encoding": encoding } : {}),
    });
    if (request.method === "HEAD") return response.end();
    const bytes = createReadStream(file);
    if (encoding === "br") bytes.pipe(createBrotliCompress({ params: { [constants.BROTLI_PARAM_QUALITY]: 5 } })).pipe(response);
    else if (encoding === "gzip") bytes.pipe(createGzip()).pipe(response);
    else bytes.pipe(response);
  });
  return new Promise((resolve, reject) => {
    server.once("error", reject);
    server.listen(port, "127.0.0.1", () => {
      const url = `http://127.0.0.1:${server.address().port}${base}`;
      resolve({ url, close: () => new Promise((done) => { server.close(done); server.closeAllConnections(); }) });
    });
  });
}

if (import.meta.url === pathToFileURL(process.argv[1]).href) {
  const port = Number(process.env.PORT ?? 8080);
  try {
    const { url } = await serve(process.argv[2] ?? "dist", { port });
    console.log(`Kubestep: ${url}  (Ctrl-C ends it)`);
  } catch (error) {
    console.error(error.code === "EADDRINUSE" ? `Port ${port} is taken: make serve PORT=8081` : String(error));
    process.exit(1);
  }
}
