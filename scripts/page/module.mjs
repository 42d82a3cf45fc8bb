// The page's WebAssembly in two parts, cut by function: the first part holds what drawing the page for the first time
// runs, the rest is fetched when somebody begins to use it (rest.js). Which code can wait stands in later.txt, a path a
// line, as it stands in the sources; `make later` writes that list again after watching the page start.
//
// Both parts share one memory and one set of tables. Where the first part calls a function of the rest, it calls a gate
// of the same name and type instead: fetch the rest if it is not there, then jump through the table "gates".
import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import binaryen from "binaryen";
import { data_map, move_data, without_notes } from "./data.mjs";

const { none, i32, funcref, Features } = binaryen;
// What every browser of the last years knows: the same as finish.mjs allows wasm-opt.
const features = Features.BulkMemory | Features.BulkMemoryOpt | Features.NontrappingFPToInt | Features.SignExt | Features.ReferenceTypes | Features.Multivalue | Features.MutableGlobals | Features.CallIndirectOverlong;
// Exports need names of their own: functions have the lower-case ones.
const numbered = { table: (index) => `T${index}`, global: (index) => `G${index}` };
binaryen.setDebugInfo(true);

/** Cut a module as wasm-bindgen leaves it, names and all. `later` are the paths of later.txt. */
export function split(noted, later) {
  const map = data_map(noted);
  const bytes = without_notes(noted);
  const waits = under(later);
  let module = read(bytes);
  const defined = functions(module).filter((one) => !one.module);
  const short = new Map(defined.map(({ name }, index) => [name, index.toString(36)]));

  // What nothing but waiting code reaches waits too; where the rest is entered from the first part stands a gate.
  call_every_type(module, defined);
  for (const one of defined) if (waits(path_of(one.name))) make_import(module, one, "rest", short.get(one.name));
  module.runPasses(["remove-unused-module-elements"]);
  const kept = functions(module).filter(({ name }) => !name.startsWith(CALLS));
  const gates = kept.filter((one) => one.module === "rest").map(({ name }) => name);
  const stays = new Set(kept.filter((one) => !one.module).map(({ name }) => name));
  module.dispose();

  module = read(bytes);
  make_rest(module, { defined, stays, gates, short });
  const entries = functions(module).filter((one) => one.module === "first").map(({ name }) => name);
  const rest = finished(module);

  module = read(bytes);
  make_first(module, { defined, stays, gates, entries, short });
  const first = finished(module);
  if (!map) { console.warn("The linker noted nothing of the data, so all of it stays in the first part: build with scripts/build-page.sh."); return { first, rest }; }
  return move_data(map, first, rest);
}

// What stands in a table is called through it as long as anybody calls a function of its type that way; when those callers
// wait, binaryen would take it for dead and what it calls for unused. It stays with what it calls: the rest calls it.
const CALLS = "calls every function of type ";
function call_every_type(module, defined) {
  const filled = list(module.getNumElementSegments(), (index) => binaryen.getElementSegmentInfo(module.getElementSegmentByIndex(index)).table);
  const types = new Map(defined.map(({ params, results }) => [`${params} ${results}`, { params, results }]));
  for (const table of new Set(filled)) for (const [type, { params, results }] of types) {
    const name = `${CALLS}${type} in ${table}`;
    const given = binaryen.expandType(params).map((one, index) => module.local.get(index, one));
    module.addFunction(name, params, results, [], module.call_indirect(table, module.i32.const(0), given, params, results));
    module.addFunctionExport(name, name);
  }
}

function make_rest(module, { defined, stays, gates, short }) {
  for (const one of defined) if (stays.has(one.name)) make_import(module, one, "first", short.get(one.name));
  for (const name of list(module.getNumExports(), (index) => binaryen.getExportInfo(module.getExportByIndex(index)).name)) module.removeExport(name);
  for (const name of list(module.getNumElementSegments(), (index) => binaryen.getElementSegmentInfo(module.getElementSegmentByIndex(index)).name)) module.removeElementSegment(name);
  // A memory without data: what the first part laid down must not be laid down again.
  module.setMemory(1, -1, null, []);
  module.addMemoryImport("0", "first", "memory");
  for (const [index, { name }] of tables(module).entries()) module.addTableImport(name, "first", numbered.table(index));
  for (const [index, { name, type, mutable }] of globals(module).entries()) module.addGlobalImport(name, "first", numbered.global(index), type, mutable);
  module.addTable("gates", gates.length, gates.length, funcref);
  module.addTableImport("gates", "first", "GATES");
  module.addActiveElementSegment("gates", "gates", gates, module.i32.const(0));
  module.runPasses(["remove-unused-module-elements"]);
}

function make_first(module, { defined, stays, gates, entries, short }) {
  for (const [index, { name }] of tables(module).entries()) module.addTableExport(name, numbered.table(index));
  for (const [index, { name }] of globals(module).entries()) module.addGlobalExport(name, numbered.global(index));
  module.addTable("gates", gates.length, gates.length, funcref);
  module.addTableExport("gates", "GATES");
  module.addGlobal("rest_is_here", i32, true, module.i32.const(0));
  module.addGlobalExport("rest_is_here", "REST_IS_HERE");
  module.addFunctionImport("fetch_rest", "rest", "fetch_now", none, none);
  module.addFunction("need_rest", none, none, [], module.if(module.i32.eqz(module.global.get("rest_is_here", i32)), module.call("fetch_rest", [], none)));

  const slots = new Map(gates.map((name, index) => [name, index]));
  for (const { name, params, results } of defined) {
    if (stays.has(name)) continue;
    module.removeFunction(name);
    if (!slots.has(name)) continue;
    const given = binaryen.expandType(params).map((type, index) => module.local.get(index, type));
    const jump = module.call_indirect("gates", module.i32.const(slots.get(name)), given, params, results);
    module.addFunction(name, params, results, [], module.block(null, [module.call("need_rest", [], none), jump], results));
  }
  for (const name of entries) module.addFunctionExport(name, short.get(name));
}

/** The module with every function telling the import `__kubestep_ran` its number, and the functions' names by number. */
export function marked(bytes) {
  const module = read(bytes);
  const names = functions(module).map(({ name }) => name);
  module.addFunctionImport("ran", "./page_bg.js", "__kubestep_ran", i32, none);
  for (const [index, name] of names.entries()) {
    const one = module.getFunction(name);
    const { module: from, results } = binaryen.getFunctionInfo(one);
    if (from) continue;
    binaryen.Function.setBody(one, module.block(null, [module.call("ran", [module.i32.const(index)], none), binaryen.Function.getBody(one)], results));
  }
  return { wasm: finished(module), names };
}

/** Every defined function's name and the bytes of its body. */
export function sizes(bytes) {
  const module = read(bytes);
  const names = functions(module).filter((one) => !one.module).map(({ name }) => name);
  module.dispose();
  const bodies = [];
  let at = 8;
  const number = () => { for (let value = 0, shift = 0; ; shift += 7) { const byte = bytes[at++]; value |= (byte & 127) << shift; if (byte < 128) return value >>> 0; } };
  while (at < bytes.length) {
    const section = bytes[at++];
    const length = number();
    const end = at + length;
    if (section === 10) for (let left = number(); left > 0; left -= 1) { const size = number(); bodies.push(size); at += size; }
    at = end;
  }
  return names.map((name, index) => ({ name, size: bodies[index] }));
}

/** The paths of later.txt. */
export function later_paths() {
  const text = readFileSync(fileURLToPath(new URL("later.txt", import.meta.url)), "utf8");
  return text.split("\n").map((line) => line.trim()).filter((line) => line && !line.startsWith("#"));
}

/**
 * A function's path as its source has it: no hashes, no closures, and for a method its type's path, whether inherent or
 * of a trait. A generic function has one path for each of this project's types that it is for: `core::ptr::drop_in_place
 * of kubestep::…`, with "of" as a part of its own.
 */
export function path_of(name) {
  const plain = name.replace(/\[[0-9a-f]{8,}\]/g, "").replace(/\.\d+$/, "").replace(/(::)?\{[^}]*\}/g, "").replace(/&(mut )?/g, "");
  let path = plain;
  for (;;) {
    const inner = /<([^<>]*(?:->[^<>]*)?)>/.exec(path);
    if (!inner) break;
    const arguments_of = inner.index > 0 && /[A-Za-z0-9_:]/.test(path[inner.index - 1]);
    path = path.slice(0, inner.index) + (arguments_of ? "" : inner[1].replace(/ as .*/, "")) + path.slice(inner.index + inner[0].length);
    path = path.replace(/::$/, "").replaceAll("::::", "::");
  }
  const own = (plain.match(/kubestep(::\w+)+/g) ?? []).find((type) => !path.startsWith(type));
  return own ? `${path}::of::${own}` : path;
}

// Whether a path is one of these or lies under one.
function under(paths) {
  const known = new Set(paths);
  return (path) => path.split("::").some((_, index, parts) => known.has(parts.slice(0, index + 1).join("::")));
}

function read(bytes) {
  const module = binaryen.readBinary(bytes);
  module.setFeatures(features);
  return module;
}

function finished(module) {
  if (!module.validate()) throw new Error("the module that was cut is not valid");
  const bytes = module.emitBinary();
  module.dispose();
  return bytes;
}

// References go by name, so a function can become an import where it is.
function make_import(module, { name, params, results }, from, base) {
  module.removeFunction(name);
  module.addFunctionImport(name, from, base, params, results);
}

const list = (length, get) => Array.from({ length }, (_, index) => get(index));
const functions = (module) => list(module.getNumFunctions(), (index) => binaryen.getFunctionInfo(module.getFunctionByIndex(index)));
const tables = (module) => list(module.getNumTables(), (index) => binaryen.getTableInfo(module.getTableByIndex(index)));
const globals = (module) => list(module.getNumGlobals(), (index) => binaryen.getGlobalInfo(module.getGlobalByIndex(index)));
