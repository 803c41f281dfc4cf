import { expect, test } from "bun:test";
import { existsSync, mkdtempSync, readdirSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { LeftTally, Tally, tallyInMemory } from "./tally.ts";
import { createTally, readBootId, takeDeadTally, tallyHolders } from "./tally-file.ts";

/** A tally over cells that a test can read as those who come after a kill do. */
function boot(entries: number) {
  const cells = new Float64Array(entries * 2);
  const tally = new Tally("holder", cells);
  const open = () => {
    const entry = tally.open();
    if (entry === null) throw new Error("no room");
    return entry;
  };
  const left = (): LeftTally => {
    const read = LeftTally.read(cells);
    if (read === null) throw new Error("not a tally");
    return read;
  };
  return { cells, tally, open, left };
}

test("what was spent on each lease account is what is left of it", () => {
  const { open, left } = boot(3);
  const [first, second] = [open(), open()];
  expect(left().spent(first.number)).toBe(0);
  first.spend(5);
  second.spend(70);
  first.spend(2);
  second.spend(-30);
  expect([first.spent, second.spent]).toEqual([7, 40]);
  expect([left().spent(first.number), left().spent(second.number), left().spent(99)]).toEqual([7, 40, 0]);
});

test("a tally has room for its number of lease accounts, and again when one was freed", () => {
  for (const tally of [boot(2).tally, tallyInMemory("holder", 2)]) {
    const entries = [tally.open(), tally.open()];
    expect(entries.every((entry) => entry !== null)).toBe(true);
    expect(tally.open()).toBeNull();
    for (let round = 0; round < 5; round += 1) {
      const entry = entries.pop();
      if (entry !== null && entry !== undefined) tally.free(entry);
      entries.push(tally.open());
      expect(entries.at(-1)?.spent).toBe(0);
      expect(tally.open()).toBeNull();
    }
    const numbers = entries.map((entry) => entry?.number);
    expect(new Set(numbers).size).toBe(2);
  }
});

test("a lease account that was freed is not found, and one opened in its place has a number of its own", () => {
  const { open, left, tally } = boot(2);
  const [first, second] = [open(), open()];
  first.spend(5);
  second.spend(6);
  tally.free(first);
  expect([left().spent(first.number), left().spent(second.number)]).toEqual([0, 6]);
  const third = open();
  third.spend(1);
  expect(new Set([first.number, second.number, third.number]).size).toBe(3);
  expect([first, second, third].map(({ number }) => left().spent(number))).toEqual([0, 6, 1]);
});

test("what was settled of a dead process is spent no more, here and for those who read it next", () => {
  const { open, left } = boot(3);
  const [first, second] = [open(), open()];
  first.spend(5);
  second.spend(6);
  const found = left();
  found.strike(second.number);
  found.strike(99);
  expect([found.spent(first.number), found.spent(second.number)]).toEqual([5, 0]);
  expect([left().spent(first.number), left().spent(second.number)]).toEqual([5, 0]);
});

test("cells that no tally writes are not read as one", () => {
  for (const cells of [
    [1.5, 0],
    [-1, 0],
    [1, -1],
    [1, 0.5],
    [1, Number.NaN],
    [2, 5, 2, 5],
    [2 ** 53, 0],
  ]) {
    expect([cells, LeftTally.read(Float64Array.from(cells))]).toEqual([cells, null]);
  }
  expect(LeftTally.read(Float64Array.from([0, 9, 1, 3]))?.spent(1)).toBe(3);
});

const holder = "a".repeat(24);

/** A directory of tallies that is gone afterwards. */
function bootFiles() {
  const directory = mkdtempSync(join(tmpdir(), "sluice-tally-"));
  const place = { directory, meter: "credits", bootId: readBootId() };
  /** Without the journals of the locks. */
  const files = (): string[] =>
    readdirSync(directory)
      .filter((name) => !name.endsWith("-journal"))
      .toSorted();
  return { place, directory, files, [Symbol.dispose]: () => rmSync(directory, { recursive: true, force: true }) };
}

test("a tally in a file has room for 131,072 lease accounts, and they are there after its process", () => {
  using boot = bootFiles();
  const { tally, release } = createTally(boot.place, holder);
  for (let opened = 1; opened <= 131_072; opened += 1) tally.open()?.spend(opened % 7);
  expect(tally.open()).toBeNull();
  release(false);
  using found = takeDeadTally(boot.place, holder);
  expect([1, 131_071, 131_072].map((number) => found?.left?.spent(number))).toEqual([1, 131_071 % 7, 131_072 % 7]);
  expect(tallyHolders(boot.place)).toEqual([holder]);
  found?.remove();
  expect(boot.files()).toEqual([]);
});

test("with a tally its record of advances goes, be it settled by its own process or by another", () => {
  using boot = bootFiles();
  const record = join(boot.directory, `credits-${holder}.advances`);
  const own = createTally(boot.place, holder);
  expect(own.advancesPath).toBe(record);
  writeFileSync(record, "");
  own.release(true);
  expect(boot.files()).toEqual([]);
  createTally(boot.place, holder).release(false);
  writeFileSync(record, "");
  {
    using found = takeDeadTally(boot.place, holder);
    found?.remove();
  }
  expect(boot.files()).toEqual([]);
});

test("a holder has one tally at a time, and what could not be made leaves nothing behind", () => {
  using boot = bootFiles();
  const own = createTally(boot.place, holder);
  expect(() => createTally(boot.place, holder)).toThrow("held by another process");
  expect(boot.files()).toEqual([`credits-${holder}.lock`, `credits-${holder}.tally`]);
  own.release(true);
  writeFileSync(join(boot.directory, `credits-${holder}.tally`), "in the way");
  expect(() => createTally(boot.place, holder)).toThrow("EEXIST");
  expect(boot.files()).toEqual([]);
  createTally(boot.place, holder).release(true);
});

test("holders are those of the meter whose tallies lie in the directory, and none where there is no directory", () => {
  using boot = bootFiles();
  const names = [
    `credits-${holder}.tally`,
    `credits-${"b".repeat(24)}.lock`,
    `another-${"c".repeat(24)}.tally`,
    "credits-short.tally",
    `credits-${"d".repeat(24)}.other`,
  ];
  for (const name of names) writeFileSync(join(boot.directory, name), "");
  expect(tallyHolders(boot.place)).toEqual([holder]);
  expect(tallyHolders({ ...boot.place, directory: join(boot.directory, "missing") })).toEqual([]);
});

test("a tally that another has removed meanwhile is none, and leaves no lock", () => {
  using boot = bootFiles();
  expect(takeDeadTally(boot.place, holder)).toBeNull();
  expect(boot.files()).toEqual([]);
});

test("a tally that cannot be read stays where it is, for a later look", () => {
  using boot = bootFiles();
  const path = join(boot.directory, `credits-${holder}.tally`);
  symlinkSync(path, path);
  for (let look = 0; look < 2; look += 1) expect(() => takeDeadTally(boot.place, holder)).toThrow("ELOOP");
  expect(boot.files()).toContain(`credits-${holder}.tally`);
});

test("a tally that is held against others is theirs when it is let go", () => {
  using boot = bootFiles();
  createTally(boot.place, holder).release(false);
  {
    using found = takeDeadTally(boot.place, holder);
    expect(found?.left).not.toBeNull();
    expect(takeDeadTally(boot.place, holder)).toBeNull();
  }
  using again = takeDeadTally(boot.place, holder);
  expect(again?.left).not.toBeNull();
});

test("a run of the kernel has a name where the kernel gives one", () => {
  using boot = bootFiles();
  const path = join(boot.directory, "boot_id");
  expect(readBootId(path)).toBeNull();
  writeFileSync(path, "not a name\n");
  expect(readBootId(path)).toBeNull();
  writeFileSync(path, "0f0e0d0c-0102-0304-0506-0708090a0b0c\n");
  expect(readBootId(path)).toBe("0f0e0d0c-0102-0304-0506-0708090a0b0c");
  expect(existsSync(path)).toBe(true);
});
