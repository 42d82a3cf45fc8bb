// Which constant data only the rest of the module reads, so that it can travel with the rest: texts, tables, the
// pointers between them. The linker left its symbols and relocations in the module (scripts/build-page.sh asks for
// them), so where each constant begins and ends, and what it points at, is known; what the code of the first part
// points at is read off that code. A constant that neither that code nor any constant that stays points at moves: then
// nothing can read it before the rest is here.

/** Read what the linker noted, or nothing if it was not asked to. */
export function data_map(bytes) {
  const sections = sections_of(bytes);
  const custom = (name) => sections.find((section) => section.id === 0 && section.name === name);
  const [linking, code, data] = ["linking", "reloc.CODE", "reloc.DATA"].map(custom);
  if (!linking || !code || !data) return null;
  const segments = segments_of(bytes);
  const { symbols, names } = symbols_of(bytes, linking);
  const objects = objects_of(symbols, segments, names);
  // What a relocation points at: nothing for symbols without bytes, such as those of the linker itself.
  const target = ({ index, addend }) => {
    const { segment, offset, size } = symbols[index];
    if (!size) return null;
    const start = segments[segment].address + offset;
    const object = object_of(objects, start);
    const address = start + addend;
    // An address may lie at a constant's end (where a loop stops); one farther away could not be recognised.
    if (address === object.end) object.end_is_used = true;
    else if (address < object.start || address > object.end) object.stays = true;
    return object;
  };
  relocations(bytes, code).forEach(target);
  const roots = [];
  for (const one of relocations(bytes, data)) {
    const object = target(one);
    if (!object) continue;
    const at = segments[0].section + one.offset;
    const place = segments.find(({ begin, end }) => at >= begin && at < end);
    if (!place) throw new Error("a relocation of data that lies nowhere");
    const from = object_of(objects, place.address + at - place.begin);
    (from ? from.points_at : roots).push(object);
  }
  return { objects, roots };
}

/** The bytes of both parts with the constants of the rest moved over. `map` is data_map's of the whole module. */
export function move_data(map, first, rest) {
  const used = addresses_in(first);
  const stack = [...map.roots];
  for (const object of map.objects) {
    const from = lower_bound(used, object.start);
    const hit = used[from] < object.end || (object.end_is_used && used.indexOf(object.end, from) >= 0);
    if (hit || object.stays) stack.push(object);
  }
  const kept = new Set();
  while (stack.length) {
    const object = stack.pop();
    if (kept.has(object)) continue;
    kept.add(object);
    stack.push(...object.points_at);
  }
  const moved = map.objects.filter((object) => !kept.has(object));
  const segments = segments_of(first).map((segment) => ({ ...segment, bytes: first.slice(segment.begin, segment.end) }));
  // Constants never change: a few bytes that stay between two that move may be laid down twice.
  const runs = [];
  for (const { start, end, segment } of moved) {
    const last = runs.at(-1);
    if (last && last.segment === segment && start - last.end <= 12) last.end = end;
    else runs.push({ start, end, segment });
  }
  const of_rest = runs.map(({ start, end, segment: { address, index } }) => ({ address: start, bytes: segments[index].bytes.slice(start - address, end - address) }));
  for (const { start, end, segment: { address, index } } of moved) segments[index].bytes.fill(0, start - address, end - address);
  return { first: with_data(first, segments), rest: with_data(rest, of_rest) };
}

/** The module without what the linker noted. */
export function without_notes(bytes) {
  return joined([bytes.subarray(0, 8), ...sections_of(bytes).filter(({ id, name }) => id !== 0 || !/^(linking|reloc\..*)$/.test(name)).map(({ whole }) => whole)]);
}

// What is known of a constant: symbols that overlap are one.
function objects_of(symbols, segments, names) {
  const defined = symbols.filter((symbol) => symbol.size > 0).map(({ segment, offset, size }) => ({ segment: { ...segments[segment], index: segment }, start: segments[segment].address + offset, end: segments[segment].address + offset + size }));
  const objects = [];
  for (const one of defined.sort((a, b) => a.start - b.start || b.end - a.end)) {
    const last = objects.at(-1);
    if (last && one.start < last.end) last.end = Math.max(last.end, one.end);
    else objects.push({ ...one, points_at: [], end_is_used: false, stays: !names[one.segment.index].startsWith(".rodata") });
  }
  return objects;
}

function object_of(objects, address) {
  let low = 0;
  let high = objects.length;
  while (low < high) { const middle = (low + high) >> 1; if (objects[middle].end <= address) low = middle + 1; else high = middle; }
  const object = objects[low];
  return object && object.start <= address ? object : null;
}

function symbols_of(bytes, { begin, end }) {
  const read = reader(bytes, begin);
  if (read.number() !== 2) throw new Error("the linker's notes have another version");
  const symbols = [];
  const names = [];
  while (read.at < end) {
    const kind = read.byte();
    const length = read.number();
    const next = read.at + length;
    if (kind === 5) for (let left = read.number(); left > 0; left -= 1) { names.push(read.text()); read.number(); read.number(); }
    if (kind === 8) for (let left = read.number(); left > 0; left -= 1) symbols.push(symbol(read));
    read.at = next;
  }
  return { symbols, names };
}

function symbol(read) {
  const kind = read.byte();
  const flags = read.number();
  const defined = !(flags & 0x10);
  if (kind === 1) {
    read.text();
    return defined && !(flags & 0x200) ? { segment: read.number(), offset: read.number(), size: read.number() } : defined ? (read.number(), read.number(), {}) : {};
  }
  read.number();
  if (kind !== 3 && (defined || flags & 0x40)) read.text();
  return {};
}

// The relocations that are addresses of data.
const with_addend = new Set([3, 4, 5, 8, 9, 11, 14, 15, 16, 17, 21, 22, 23, 25]);
const of_memory = new Set([3, 4, 5, 11, 14, 15, 16, 17, 21, 23, 25]);
function relocations(bytes, { begin }) {
  const read = reader(bytes, begin);
  read.number();
  return Array.from({ length: read.number() }, () => {
    const kind = read.number();
    return { kind, offset: read.number(), index: read.number(), addend: with_addend.has(kind) ? read.signed() : 0 };
  }).filter(({ kind }) => of_memory.has(kind));
}

/** Every number in the code and the globals that may be an address, in order. */
function addresses_in(bytes) {
  const found = new Set();
  for (const { id, begin } of sections_of(bytes)) {
    if (id === 10) {
      const read = reader(bytes, begin);
      for (let left = read.number(); left > 0; left -= 1) {
        const length = read.number();
        const end = read.at + length;
        for (let groups = read.number(); groups > 0; groups -= 1) { read.number(); read.byte(); }
        while (read.at < end) instruction(read, found);
        if (read.at !== end) throw new Error("a function that does not end where it should");
      }
    }
    if (id === 6) {
      const read = reader(bytes, begin);
      for (let left = read.number(); left > 0; left -= 1) { read.byte(); read.byte(); while (instruction(read, found) !== 0x0b); }
    }
  }
  return [...found].sort((a, b) => a - b);
}

// Pass over one instruction and note its number; the opcode comes back.
function instruction(read, found) {
  const code = read.byte();
  const plain = (count) => { for (; count > 0; count -= 1) read.number(); };
  if (code >= 0x02 && code <= 0x04) read.signed();
  else if ([0x0c, 0x0d, 0x10, 0x12, 0x20, 0x21, 0x22, 0x23, 0x24, 0x25, 0x26, 0xd2].includes(code)) plain(1);
  else if (code === 0x0e) plain(read.number() + 1);
  else if (code === 0x11 || code === 0x13) plain(2);
  else if (code === 0x1c) plain(read.number());
  else if (code >= 0x28 && code <= 0x3e) { const align = read.number(); if (align & 64) plain(1); found.add(read.number()); }
  else if (code === 0x3f || code === 0x40) plain(1);
  else if (code === 0x41) found.add(read.signed() >>> 0);
  else if (code === 0x42) read.signed();
  else if (code === 0x43) read.at += 4;
  else if (code === 0x44) read.at += 8;
  else if (code === 0xd0) read.signed();
  else if (code === 0xfc) plain([0, 0, 0, 0, 0, 0, 0, 0, 2, 1, 2, 1, 2, 1, 2, 1, 1, 1][read.number()]);
  else if (!(code <= 0x01 || code === 0x05 || code === 0x0b || code === 0x0f || code === 0x1a || code === 0x1b || code === 0xd1 || (code >= 0x45 && code <= 0xc4))) throw new Error(`an instruction that is not known here: ${code}`);
  return code;
}

// The active data segments: where their bytes stand in the file and in memory. `begin` counts from the file's start;
// relocations count from the section's.
function segments_of(bytes) {
  const section = sections_of(bytes).find(({ id }) => id === 11);
  const read = reader(bytes, section.begin);
  return Array.from({ length: read.number() }, () => {
    if (read.number() !== 0 || read.byte() !== 0x41) throw new Error("a data segment without a fixed place");
    const address = read.signed();
    if (read.byte() !== 0x0b) throw new Error("a data segment without a fixed place");
    const length = read.number();
    const begin = read.at;
    read.at += length;
    return { address, begin, end: begin + length, section: section.begin };
  });
}

// The module with these data segments instead of its own.
function with_data(bytes, segments) {
  const content = joined([unsigned(segments.length), ...segments.flatMap(({ address, bytes: inside }) => [[0, 0x41], signed(address), [0x0b], unsigned(inside.length), inside])]);
  const section = joined([[11], unsigned(content.length), content]);
  const parts = [bytes.subarray(0, 8)];
  for (const { id, whole } of sections_of(bytes)) {
    // A number of segments is only written for code that lays them down itself.
    if (id === 11 || id === 12) continue;
    parts.push(whole);
    if (id === 10) parts.push(section);
  }
  return joined(parts);
}

function sections_of(bytes) {
  const read = reader(bytes, 8);
  const sections = [];
  while (read.at < bytes.length) {
    const from = read.at;
    const id = read.byte();
    const length = read.number();
    const end = read.at + length;
    const name = id === 0 ? read.text() : "";
    sections.push({ id, name, begin: read.at, end, whole: bytes.subarray(from, end) });
    read.at = end;
  }
  return sections;
}

function reader(bytes, at) {
  return {
    at,
    byte() { return bytes[this.at++]; },
    number() { let value = 0; for (let factor = 1; ; factor *= 128) { const byte = bytes[this.at++]; value += (byte & 127) * factor; if (byte < 128) return value; } },
    signed() { let value = 0; for (let factor = 1; ; ) { const byte = bytes[this.at++]; value += (byte & 127) * factor; factor *= 128; if (byte < 128) return byte & 64 ? value - factor : value; } },
    text() { const length = this.number(); this.at += length; return new TextDecoder().decode(bytes.subarray(this.at - length, this.at)); },
  };
}

function unsigned(value) {
  const bytes = [];
  for (; value > 127; value = Math.floor(value / 128)) bytes.push((value % 128) | 128);
  return [...bytes, value];
}

function signed(value) {
  const bytes = unsigned(value);
  return bytes.at(-1) & 64 ? [...bytes.slice(0, -1), bytes.at(-1) | 128, 0] : bytes;
}

function joined(parts) {
  const whole = new Uint8Array(parts.reduce((sum, part) => sum + part.length, 0));
  let at = 0;
  for (const part of parts) { whole.set(part, at); at += part.length; }
  return whole;
}

function lower_bound(sorted, value) {
  let low = 0;
  let high = sorted.length;
  while (low < high) { const middle = (low + high) >> 1; if (sorted[middle] < value) low = middle + 1; else high = middle; }
  return low;
}
