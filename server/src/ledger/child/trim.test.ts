import { expect, test } from "bun:test";
import { cleanLibraryMappings } from "./trim.ts";

const block = (range: string, rights: string, path: string, dirty: number): string =>
  `${range} ${rights} 00000000 fe:00 5 ${path}\nRss: 100 kB\nPrivate_Dirty: ${dirty} kB\nAnonymous: ${dirty} kB\nVmFlags: rd`;

test("only unchanged, unwritable mappings of the engine's library are given back", () => {
  const smaps = [
    block("1000-3000", "r--p", "/x/libchdb.so", 0),
    block("3000-9000", "r-xp", "/x/libchdb.so", 0),
    block("9000-a000", "r--p", "/x/libchdb.so", 4),
    block("a000-b000", "rw-p", "/x/libchdb.so", 0),
    block("b000-c000", "r-xp", "/x/libc.so.6", 0),
    block("c000-d000", "rw-p", "", 0),
  ].join("\n");
  expect(cleanLibraryMappings(smaps)).toEqual([
    [0x1000n, 0x2000n],
    [0x3000n, 0x6000n],
  ]);
});

test("a mapping without figures is left alone", () => {
  expect(cleanLibraryMappings("1000-3000 r-xp 0 fe:00 5 /x/libchdb.so")).toEqual([]);
});
