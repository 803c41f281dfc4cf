/** Copies and restores on full disks: what was there stays, nothing is left half-way, and with room it works. */
import { expect, test } from "bun:test";
import { existsSync, mkdirSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { systemClock, systemRandom } from "@sluice/lib";
import { mountSmallDisk, type SmallDisk } from "@sluice/lib/testing";
import { openLedger } from "../ledger/index.ts";
import { fact } from "../ledger/testing/ledger-directory.ts";
import { createPostgres, postgresPrograms, serverDirectory, startPostgres } from "../state/testing/postgres-process.ts";
import { restoreBackup } from "./restore.ts";
import {
  log,
  masterKey,
  type Place,
  placeOf,
  plant,
  restoreDependencies,
  restoreOptions,
  stateOf,
} from "./testing/planted.ts";
import { writeBackup } from "./write.ts";

const mebibyte = 1024 ** 2;
const dependencies = { clock: systemClock, random: systemRandom };

function smallDisk(bytes: number): SmallDisk | null {
  const disk = mountSmallDisk(bytes);
  if (disk === null) console.warn("A TEST OF A FULL DISK DID NOT RUN: it needs the right to mount a tmpfs.");
  return disk;
}

const ledgerIn = (directory: string) =>
  openLedger({ directory: join(directory, "ledger"), clickhouseUrl: null, cluster: null }, { ...dependencies, log });

const count = "SELECT count() AS n FROM requests";

/** A backup with a planted state and a ledger of 2,000 facts, on a disk that has room. */
async function backedUp() {
  const place = await placeOf(null);
  const backup = join(place.directory, "backup");
  await using state = await stateOf(place);
  const { accountId } = await plant(place, state);
  await using ledger = await ledgerIn(place.directory);
  for (let index = 0; index < 2_000; index += 1) {
    ledger.requests.append(fact({ at: systemClock.now(), requestId: `r${index}` }));
  }
  await ledger.requests.flush();
  const written = await writeTo(backup, { place, state, ledger });
  return { place, backup, written, accountId, [Symbol.asyncDispose]: () => place[Symbol.asyncDispose]() };
}

type Sources = Pick<Parameters<typeof writeBackup>[1], "state" | "ledger"> & { readonly place: Place };

const writeTo = (to: string, { place, state, ledger }: Sources) =>
  writeBackup(
    {
      ...{ to, dataDirectory: place.directory, version: "1.2.3", network: "devnet" },
      ...{ masterKeys: [masterKey], passphrase: null },
    },
    { ...dependencies, state, ledger },
  );

const failure = (work: Promise<unknown>): Promise<string> =>
  work.then(
    () => "it worked",
    (error: unknown) => String(error),
  );

test("a backup whose ledger finds no room leaves nothing, the ledger goes on, and with room it is whole", async () => {
  using disk = smallDisk(256 * mebibyte);
  if (disk === null) return;
  await using other = await placeOf(null);
  const place: Place = { ...other, directory: disk.path };
  await using state = await stateOf(place);
  await plant(place, state);
  await using ledger = await ledgerIn(disk.path);
  const append = (facts: number): void => {
    for (let index = 0; index < facts; index += 1) ledger.requests.append(fact({ at: systemClock.now() }));
  };
  append(2_000);
  await ledger.requests.flush();
  const to = join(other.directory, "backup");
  disk.fill();
  expect(await failure(writeTo(to, { place, state, ledger }))).toMatch(
    /BackupError: .*the disk is full. Nothing was left there/,
  );
  expect(existsSync(to)).toBe(false);
  expect(readdirSync(join(disk.path, "ledger/backups"))).toEqual([]);
  disk.empty();
  append(5);
  await ledger.requests.flush();
  expect(await ledger.query(count)).toEqual([{ n: "2005" }]);
  expect((await writeTo(to, { place, state, ledger })).parts).toBe(4);
}, 60_000);

test("a restore onto a full disk changes nothing, says so, and with room it is whole", async () => {
  using disk = smallDisk(256 * mebibyte);
  if (disk === null) return;
  await using source = await backedUp();
  const place: Place = { ...source.place, directory: join(disk.path, "data") };
  mkdirSync(place.directory);
  const before = await stateOf(place);
  const kept = await before.accounts.create({ name: "before", tiers: {} });
  await before[Symbol.asyncDispose]();
  const options = { ...restoreOptions(place, source.backup), replace: true };
  const withoutLedger = { ...options, hasLedgerElsewhere: true };
  // Without room for the lock, for the engine of the ledger, for the ledger, and for the state.
  for (const [left, terms] of [
    [0, options],
    [256 * 1024, options],
    [mebibyte, options],
    [64 * 1024, withoutLedger],
  ] as const) {
    disk.fill(left);
    expect([left, await failure(restoreBackup(terms, restoreDependencies))]).toEqual([
      left,
      expect.stringMatching(/disk is full/),
    ]);
    expect([left, readdirSync(place.directory).filter((name) => !name.endsWith(".lock"))]).toEqual([left, ["state"]]);
    disk.empty();
  }
  const same = await stateOf(place, false);
  expect(await same.accounts.get(kept.id)).toEqual(kept);
  await same[Symbol.asyncDispose]();
  await restoreBackup(options, restoreDependencies);
  await using state = await stateOf(place, false);
  expect(await state.accounts.get(kept.id)).toBeNull();
  expect(await state.accounts.get(source.accountId)).not.toBeNull();
  await using ledger = await ledgerIn(place.directory);
  expect(await ledger.query(count)).toEqual([{ n: "2000" }]);
}, 60_000);

test.skipIf(postgresPrograms === null)(
  "a restore into a PostgreSQL with a full disk commits nothing, and with room it is whole; a backup needs none there",
  async () => {
    using disk = smallDisk(256 * mebibyte);
    if (disk === null) return;
    await using source = await backedUp();
    await using place = await placeOf(null);
    const data = serverDirectory(disk.path, "postgres");
    createPostgres(data);
    await using server = await startPostgres(data, []);
    const target: Place = { ...place, databaseUrl: server.url };
    const before = await stateOf(target);
    const kept = await before.accounts.create({ name: "before", tiers: {} });
    await before[Symbol.asyncDispose]();
    const options = { ...restoreOptions(target, source.backup), replace: true };
    disk.fill();
    const said = await failure(restoreBackup(options, restoreDependencies));
    expect(said).toMatch(/no space left|disk is full/i);
    expect(existsSync(join(target.directory, "restore.json"))).toBe(false);
    const same = await stateOf(target, false);
    expect(await same.accounts.get(kept.id)).toEqual(kept);
    const copy = join(place.directory, "copy");
    const noLedger = { archive: null, requests: { flush: async () => undefined } };
    expect((await writeTo(copy, { place: target, state: same, ledger: noLedger })).parts).toBe(1);
    await same[Symbol.asyncDispose]();
    disk.empty();
    await restoreBackup(options, restoreDependencies);
    await using state = await stateOf(target, false);
    expect(await state.accounts.get(kept.id)).toBeNull();
    expect(await state.accounts.get(source.accountId)).not.toBeNull();
  },
  60_000,
);
