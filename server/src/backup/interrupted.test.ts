import { expect, test } from "bun:test";
import { existsSync, mkdirSync, readdirSync, readFileSync, renameSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { systemClock, systemRandom } from "@sluice/lib";
import { eventually } from "@sluice/lib/testing";
import { restoreBackup } from "./restore.ts";
import { completeSwap, lockRestore, replacedOf, settleInterrupted, stagingOf, writeJournal } from "./swap.ts";
import {
  masterKey,
  noLedger,
  type Place,
  placeOf,
  plant,
  restoreDependencies,
  restoreOptions,
  stateOf,
} from "./testing/planted.ts";
import { writeBackup } from "./write.ts";

const databaseUrl = Bun.env["DATABASE_URL"] ?? "";
const parts = ["state", "ledger", "credits", "ledger-queue"];

/** A data directory whose parts are old ones, with new ones prepared beside them. */
function prepared(directory: string): void {
  for (const part of parts) {
    for (const [folder, text] of [
      [directory, "old"],
      [stagingOf(directory), "new"],
    ] as const) {
      mkdirSync(join(folder, part), { recursive: true });
      writeFileSync(join(folder, part, "content"), text);
    }
  }
}

const contents = (directory: string): string[] =>
  parts.map((part) => readFileSync(join(directory, part, "content"), "utf8"));

test("a swap that was killed after any of its steps is completed by the next start, and never half", async () => {
  for (let steps = 0; steps <= parts.length * 2; steps += 1) {
    await using place = await placeOf(null);
    const { directory } = place;
    prepared(directory);
    writeJournal(directory, { id: "swap", database: false, parts });
    const replaced = replacedOf(directory, "swap");
    mkdirSync(replaced);
    for (let step = 0; step < steps; step += 1) {
      const part = parts[Math.floor(step / 2)] ?? "";
      if (step % 2 === 0) renameSync(join(directory, part), join(replaced, part));
      else renameSync(join(stagingOf(directory), part), join(directory, part));
    }
    await settleInterrupted(directory, null);
    expect([steps, contents(directory), contents(replaced)]).toEqual([
      steps,
      parts.map(() => "new"),
      parts.map(() => "old"),
    ]);
    expect(readdirSync(directory).filter((name) => name.startsWith("restore") && name !== "restore.lock")).toEqual([]);
    // Once more changes nothing.
    completeSwap(directory);
    expect(contents(directory)).toEqual(parts.map(() => "new"));
  }
});

test("what was prepared without a decision is left alone, and taken back where PostgreSQL does not have it", async () => {
  await using place = await placeOf(null);
  const { directory } = place;
  prepared(directory);
  await settleInterrupted(directory, null);
  expect(contents(directory)).toEqual(parts.map(() => "old"));
  writeJournal(directory, { id: "first", database: true, parts });
  await expect(settleInterrupted(directory, null)).rejects.toMatchObject({ code: "IN_USE" });
  await settleInterrupted(directory, async () => false);
  expect([contents(directory), existsSync(stagingOf(directory))]).toEqual([parts.map(() => "old"), false]);
  prepared(directory);
  writeJournal(directory, { id: "second", database: true, parts });
  await settleInterrupted(directory, async (id) => id === "second");
  expect(contents(directory)).toEqual(parts.map(() => "new"));
});

test("while a restore works a start is refused, and so is a second restore", async () => {
  await using place = await placeOf(null);
  const { directory } = place;
  prepared(directory);
  writeJournal(directory, { id: "one", database: false, parts });
  const script = `
    import { lockRestore } from "./swap.ts";
    lockRestore(${JSON.stringify(directory)});
    console.log("held");
    process.stdin.resume();`;
  const child = Bun.spawn([process.execPath, "-e", script], { cwd: import.meta.dir, stdin: "pipe", stdout: "pipe" });
  const reader = child.stdout.getReader();
  await reader.read();
  await expect(settleInterrupted(directory, null)).rejects.toMatchObject({ code: "IN_USE" });
  expect(() => lockRestore(directory)).toThrow("under way");
  expect(contents(directory)).toEqual(parts.map(() => "old"));
  child.kill("SIGKILL");
  await child.exited;
  await settleInterrupted(directory, null);
  expect(contents(directory)).toEqual(parts.map(() => "new"));
});

/** The names of the accounts, after what a start does first. */
async function accountsAt(place: Place): Promise<string[]> {
  const has = async (id: string): Promise<boolean> => {
    await using state = await stateOf(place, false);
    return (await state.audit.list({ subject: id, limit: 1 })).items.length > 0;
  };
  await settleInterrupted(place.directory, place.databaseUrl === null ? null : has);
  await using state = await stateOf(place, false);
  return (await state.accounts.list({ limit: 10 })).items.map(({ name }) => name);
}

const killedAt: readonly (readonly [string, string])[] = [
  ["while it prepares", "restore"],
  ["when it has decided", "restore.json"],
];

for (const [driver, url] of [["SQLite", null] as const, ["PostgreSQL", databaseUrl] as const]) {
  if (url === "") continue;
  test.each(killedAt)(
    `${driver}: a restore that is killed %s leaves the old or the new, and succeeds again`,
    async (_when, seen) => {
      await using source = await placeOf(null);
      await using place = await placeOf(url);
      const backup = join(source.directory, "backup");
      {
        await using state = await stateOf(source);
        await plant(source, state);
        for (let index = 0; index < 300; index += 1) void state.accounts.create({ name: `new ${index}`, tiers: {} });
        await state.accounts.create({ name: "new", tiers: {} });
        const terms = { version: "1", network: "devnet", masterKeys: [masterKey], passphrase: null } as const;
        const stores = { state, ledger: noLedger, clock: systemClock, random: systemRandom };
        await writeBackup({ to: backup, dataDirectory: source.directory, ...terms }, stores);
      }
      {
        await using state = await stateOf(place);
        await state.accounts.create({ name: "old", tiers: {} });
      }
      const options = { ...restoreOptions(place, backup), replace: true };
      const script = `
      import { restoreBackup } from "./restore.ts";
      import { restoreDependencies } from "./testing/planted.ts";
      await restoreBackup(${JSON.stringify(options)}, restoreDependencies);`;
      const child = Bun.spawn([process.execPath, "-e", script], { cwd: import.meta.dir, stderr: "inherit" });
      await eventually(
        "the restore gets there",
        () => existsSync(join(place.directory, seen)) || child.exitCode !== null,
      );
      child.kill("SIGKILL");
      await child.exited;
      const names = await accountsAt(place);
      const isOld = names.length === 1 && names[0] === "old";
      const isNew = names.length === 10 && !names.includes("old");
      expect([isOld, isNew].filter(Boolean).length).toBe(1);
      if (driver === "SQLite" && seen === "restore.json") expect(isNew).toBe(true);
      await restoreBackup(options, restoreDependencies);
      const after = await accountsAt(place);
      expect([after.length, after.includes("old")]).toEqual([10, false]);
    },
    60_000,
  );
}
