import { ByteWriter } from "@sluice/wire/bytes";

/**
 * A shared object as a Solana loader takes it: one `.text` whose first instruction is the entry, `.rodata` behind it,
 * and the dynamic tables through which calls of the runtime are found by name. Every section's address is its offset in
 * the file, as the loader demands of version 0. Sources: the ELF-64 specification; anza-xyz/sbpf, elf.rs.
 */

/** Where the file appears in a program's memory. */
export const programMemory = 0x1_0000_0000n;
const headerBytes = 64;
const segmentBytes = 56;
const segments = 3;
const sectionBytes = 64;
const symbolBytes = 24;
const relocationBytes = 16;
/** Text begins after the header and the segments, on a boundary of 16. */
export const elfTextOffset = 240;
const machineBpf = 247;
const typeShared = 3;
const rBpf6432 = 10n;

/** An instruction that calls the runtime's function of this name; `offset` counts from the start of the text. */
export interface Relocation {
  readonly offset: number;
  readonly symbol: string;
}

export interface ElfParts {
  readonly text: Uint8Array;
  readonly constants: Uint8Array;
  readonly relocations: readonly Relocation[];
}

interface Section {
  readonly name: string;
  readonly type: number;
  readonly flags: bigint;
  readonly bytes: Uint8Array;
  readonly link?: number;
  readonly entryBytes?: number;
  readonly offset: number;
}

const noBits = 0n;
const allocated = 2n;
const allocatedExecutable = 6n;
const types = { data: 1, strings: 3, dynamic: 6, relocations: 9, dynamicSymbols: 11 } as const;

/** Zero-terminated texts one after another, and where each begins. */
function strings(texts: readonly string[]): { readonly bytes: Uint8Array; readonly offsets: readonly number[] } {
  const writer = new ByteWriter().u8(0);
  const offsets: number[] = [];
  let length = 1;
  for (const text of texts) {
    const bytes = new TextEncoder().encode(`${text}\0`);
    offsets.push(length);
    length += bytes.length;
    writer.bytes(bytes);
  }
  return { bytes: writer.finish(), offsets };
}

function symbolTable(nameOffsets: readonly number[]): Uint8Array {
  const writer = new ByteWriter().bytes(new Uint8Array(symbolBytes));
  // Global, without a type and defined nowhere: the runtime knows them.
  for (const name of nameOffsets)
    writer
      .u32(name)
      .u8(0x10)
      .bytes(new Uint8Array(symbolBytes - 5));
  return writer.finish();
}

function aligned(offset: number): number {
  return Math.ceil(offset / 8) * 8;
}

class Layout {
  readonly sections: Section[] = [];
  #end = elfTextOffset;

  add(section: Omit<Section, "offset">): Section {
    const placed = { ...section, offset: aligned(this.#end) };
    this.#end = placed.offset + placed.bytes.length;
    this.sections.push(placed);
    return placed;
  }

  /** Where the next section would begin. */
  get next(): number {
    return aligned(this.#end);
  }
}

function dynamicTable(entries: readonly (readonly [tag: number, value: number])[]): Uint8Array {
  const writer = new ByteWriter();
  for (const [tag, value] of [...entries, [0, 0] as const]) writer.u64(BigInt(tag)).u64(BigInt(value));
  return writer.finish();
}

function layOut({ text, constants, relocations }: ElfParts): { layout: Layout; dynamic: Section; loadedEnd: number } {
  const names = [...new Set(relocations.map(({ symbol }) => symbol))];
  const texts = strings(names);
  const layout = new Layout();
  layout.add({ name: ".text", type: types.data, flags: allocatedExecutable, bytes: text });
  if (constants.length > 0) layout.add({ name: ".rodata", type: types.data, flags: allocated, bytes: constants });
  const loadedEnd = layout.next;
  const tablesAt = layout.sections.length + 1;
  const symbols = layout.add({
    name: ".dynsym",
    type: types.dynamicSymbols,
    flags: allocated,
    bytes: symbolTable(texts.offsets),
    link: tablesAt + 1,
    entryBytes: symbolBytes,
  });
  const symbolNames = layout.add({ name: ".dynstr", type: types.strings, flags: allocated, bytes: texts.bytes });
  const table = new ByteWriter();
  for (const { offset, symbol } of relocations) {
    table.u64(BigInt(elfTextOffset + offset)).u64((BigInt(names.indexOf(symbol) + 1) << 32n) | rBpf6432);
  }
  const relocated = layout.add({
    name: ".rel.dyn",
    type: types.relocations,
    flags: allocated,
    bytes: table.finish(),
    link: tablesAt,
    entryBytes: relocationBytes,
  });
  const dynamic = layout.add({
    name: ".dynamic",
    type: types.dynamic,
    flags: allocated,
    link: tablesAt + 1,
    entryBytes: 16,
    bytes: dynamicTable([
      ...(relocations.length === 0
        ? []
        : ([
            [17, relocated.offset],
            [18, relocated.bytes.length],
            [19, relocationBytes],
          ] as const)),
      [6, symbols.offset],
      [11, symbolBytes],
      [5, symbolNames.offset],
      [10, symbolNames.bytes.length],
    ]),
  });
  return { layout, dynamic, loadedEnd };
}

function segment(type: number, flags: number, offset: number, length: number): Uint8Array {
  const at = BigInt(offset);
  const size = BigInt(length);
  return new ByteWriter().u32(type).u32(flags).u64(at).u64(at).u64(at).u64(size).u64(size).u64(8n).finish();
}

function header(sectionsAt: number, sections: number): Uint8Array {
  const writer = new ByteWriter().bytes(Uint8Array.of(0x7f, 0x45, 0x4c, 0x46, 2, 1, 1)).bytes(new Uint8Array(9));
  writer.u16(typeShared).u16(machineBpf).u32(1);
  writer.u64(BigInt(elfTextOffset)).u64(BigInt(headerBytes)).u64(BigInt(sectionsAt)).u32(0);
  for (const field of [headerBytes, segmentBytes, segments, sectionBytes, sections, sections - 1]) {
    writer.u16(field);
  }
  return writer.finish();
}

function sectionHeader(section: Section, nameOffset: number): Uint8Array {
  const at = BigInt(section.offset);
  return new ByteWriter()
    .u32(nameOffset)
    .u32(section.type)
    .u64(section.flags)
    .u64(section.flags === noBits ? 0n : at)
    .u64(at)
    .u64(BigInt(section.bytes.length))
    .u32(section.link ?? 0)
    .u32(0)
    .u64(8n)
    .u64(BigInt(section.entryBytes ?? 0))
    .finish();
}

/** The file of a program. */
export function writeElf(parts: ElfParts): Uint8Array {
  const { layout, dynamic, loadedEnd } = layOut(parts);
  const names = strings([...layout.sections.map(({ name }) => name), ".shstrtab"]);
  layout.add({ name: ".shstrtab", type: types.strings, flags: noBits, bytes: names.bytes });
  const sectionsAt = layout.next;
  const dynamicEnd = dynamic.offset + dynamic.bytes.length;
  const file = new Uint8Array(sectionsAt + (layout.sections.length + 1) * sectionBytes);
  file.set(header(sectionsAt, layout.sections.length + 1));
  file.set(segment(1, 5, elfTextOffset, loadedEnd - elfTextOffset), headerBytes);
  file.set(segment(1, 4, loadedEnd, dynamicEnd - loadedEnd), headerBytes + segmentBytes);
  file.set(segment(2, 4, dynamic.offset, dynamic.bytes.length), headerBytes + 2 * segmentBytes);
  for (const [index, section] of layout.sections.entries()) {
    file.set(section.bytes, section.offset);
    file.set(sectionHeader(section, names.offsets[index] ?? 0), sectionsAt + (index + 1) * sectionBytes);
  }
  return file;
}
