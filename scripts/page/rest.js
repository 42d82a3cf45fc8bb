// The rest of the module (module.mjs): fetched when somebody begins to use the page, or at the latest when its code is
// called. scripts/page/finish.mjs joins this file to what wasm-bindgen writes, and puts the hashed name in.
const address = new URL("./page_rest.wasm", import.meta.url);
let imports;
let first;
let fetching;
let fetched;

/** What wasm-bindgen hands the first part; the rest gets the same. */
export function hand_on(given) {
  imports = given;
  return { ...given, rest: { fetch_now } };
}

/** The first part's exports, before any of its code runs. */
export function first_is(exports) {
  first = exports;
  if (fetched) join();
}

/** Fetch the rest, before or after the first part is there. After a failure, the moment of need tries again. */
export function fetch_rest() {
  fetching ??= (async () => {
    const response = await fetch(address);
    if (!response.ok) throw new Error(`${response.status} ${response.statusText}`);
    fetched = await WebAssembly.compile(await response.arrayBuffer());
    if (first) join();
  })().catch((error) => {
    fetching = undefined;
    console.warn(`Kubestep's second part has not come yet: ${error.message ?? error}`);
  });
  return fetching;
}

// Code of the rest is called and is not here: nothing can go on before it is, so this waits.
function fetch_now() {
  const request = new XMLHttpRequest();
  request.open("GET", address, false);
  // A waiting request hands over text only: one character a byte.
  request.overrideMimeType("text/plain; charset=x-user-defined");
  try { request.send(); } catch { /* The status says it. */ }
  if (request.status !== 200) throw new WebAssembly.RuntimeError(`Kubestep's second part could not be fetched: ${request.status} ${request.statusText}`);
  fetched = new WebAssembly.Module(Uint8Array.from(request.responseText, (character) => character.charCodeAt(0) & 255));
  join();
}

// As the instance is made, its functions take their places in the gates.
function join() {
  if (first.REST_IS_HERE.value) return;
  new WebAssembly.Instance(fetched, { ...imports, first });
  first.REST_IS_HERE.value = 1;
}
