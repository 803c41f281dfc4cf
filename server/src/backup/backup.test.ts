import { describe, expect, test } from "bun:test";
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { masterKeyId, systemClock, systemRandom } from "@sluice/lib";
import { mountSmallDisk } from "@sluice/lib/testing";
import { openLedger, restoreLedger } from "../ledger/index.ts";
import { fact } from "../ledger/testing/ledger-directory.ts";
import { hashSessionToken, type State } from "../state/index.ts";
import { BackupError, manifestName, manifestText, measure, readManifest } from "./manifest.ts";
import { restoreBackup } from "./restore.ts";
import {
  factFile,
  holder,
  log,
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
if (databaseUrl === "") console.warn("NOT RUN: backups of PostgreSQL (DATABASE_URL is not set)");
const drivers = [["SQLite", null] as const, ...(databaseUrl === "" ? [] : [["PostgreSQL", databaseUrl] as const])];

const dependencies = { clock: systemClock, random: systemRandom };
const writeTo = (to: string, { directory }: Place, state: State, passphrase: string | null = null) =>
  writeBackup(
    { to, dataDirectory: directory, version: "1.2.3", network: "devnet", masterKeys: [masterKey], passphrase },
    { ...dependencies, state, ledger: noLedger },
  );

/** A backup of a planted SQLite installation. */
async function planted(passphrase: string | null = null) {
  const place = await placeOf(null);
  const backup = join(place.directory, "backup");
  await using state = await stateOf(place);
  const accounts = await plant(place, state);
  const result = await writeTo(backup, place, state, passphrase);
  return { place, backup, result, ...accounts, [Symbol.asyncDispose]: () => place[Symbol.asyncDispose]() };
}

async function refusal(work: Promise<unknown>): Promise<BackupError> {
  const error = await work.then(
    () => null,
    (reason: unknown) => reason,
  );
  if (!(error instanceof BackupError)) throw new Error(`was not refused: ${error}`);
  return error;
}

for (const [from, source] of drivers) {
  for (const [to, target] of drivers) {
    test(`a backup of ${from} that goes on being used is restored on ${to}, with all that must not come back left out`, async () => {
      await using one = await placeOf(source);
      await using other = await placeOf(target);
      const backup = join(one.directory, "backup");
      const before = await stateOf(one);
      const { accountId, keyId } = await plant(one, before);
      await before.audit.append({ actor: "operator", action: "last", subject: accountId });
      const result = await writeTo(backup, one, before);
      const after = await before.accounts.create({ name: "made after the backup", tiers: {} });
      expect(result).toMatchObject({ key_ids: [masterKeyId(masterKey)], parts: 3 });
      expect(result.left_out.join()).toContain("ClickHouse");
      expect(result.left_out.join()).toContain("master key");
      const [epochBefore, accountBefore, keyBefore] = await Promise.all([
        before.leases.find("devnet:engine-book"),
        before.accounts.get(accountId),
        before.keys.get(keyId),
      ]);
      const revision = await before.keyChanges.revision();
      await before[Symbol.asyncDispose]();

      const restored = await restoreBackup(restoreOptions(other, backup), restoreDependencies);
      expect(restored).toMatchObject({ replaced: null, at: result.at });
      await using state = await stateOf(other, false);
      expect(await state.accounts.get(accountId)).toEqual(accountBefore);
      expect(await state.keys.get(keyId)).toEqual(keyBefore);
      expect(await state.accounts.get(after.id)).toBeNull();
      expect(await state.credits.used(accountId, "2026-11")).toBe(509n);
      expect(await state.credits.openBooks(holder, 10)).toEqual([]);
      // An advance that was charged is not charged again by the record that waits on disk.
      const again = { accountId, month: "2026-11", holder, number: 2, spent: 9n };
      expect(await state.credits.bookAdvance(again)).toBe(false);
      expect((await state.chains.find("devnet"))?.first?.slot).toBe(2n ** 60n);
      expect((await state.secrets.list(null, 10)).map(({ place }) => place)).toEqual(["devnet/added"]);
      const lease = await state.leases.find("devnet:engine-book");
      expect(lease?.holder).toBe("");
      expect(lease?.epoch ?? 0n).toBeGreaterThan((epochBefore?.epoch ?? 0n) + 1_000_000n);
      expect(await state.keyChanges.revision()).toBeGreaterThan(revision + 1_000_000n);
      const trail = (await state.audit.list({ limit: 10 })).items.map(({ action }) => action);
      expect(trail).toEqual(["state.restore", "last", ...Array.from({ length: 5 }, () => "test")]);
      expect(await state.engine.of("devnet").encryptionKeys.since(0n)).toEqual([]);
      const claim = { enc: new Uint8Array(32), holder: "another", expiresAt: systemClock.now() + 1e9 };
      expect(await state.engine.of("devnet").replays.claim(claim)).toBe("bundle");
      expect(readdirSync(join(other.directory, "credits"))).toEqual([`credits-${holder}.advances`]);
      expect(readdirSync(join(other.directory, "ledger-queue")).toSorted()).toEqual(["restored", "restored.lock"]);
      expect(readFileSync(join(other.directory, "ledger-queue/restored", factFile), "utf8")).toBe("three facts");
      expect(existsSync(join(other.directory, "restore.json"))).toBe(false);
    }, 30_000);
  }
}

for (const [name, url] of drivers) {
  test(`${name}: what is there is kept unless --replace is given, and then put aside or replaced as a whole`, async () => {
    await using source = await planted();
    await using place = await placeOf(url);
    const old = await stateOf(place);
    const kept = await old.accounts.create({ name: "before", tiers: {} });
    const lease = await old.leases.take("devnet:engine-book", "a holder that lives", null);
    await old[Symbol.asyncDispose]();
    const options = restoreOptions(place, source.backup);
    const refused = await restoreBackup(options, restoreDependencies).catch((error: unknown) => error);
    expect(refused).toMatchObject({ code: "NOT_EMPTY", message: expect.stringContaining("--replace") });
    const same = await stateOf(place, false);
    expect(await same.accounts.get(kept.id)).toEqual(kept);
    await same[Symbol.asyncDispose]();

    const { replaced } = await restoreBackup({ ...options, replace: true }, restoreDependencies);
    await using state = await stateOf(place, false);
    expect(await state.accounts.get(kept.id)).toBeNull();
    expect(await state.accounts.get(source.accountId)).not.toBeNull();
    expect((await state.leases.find("devnet:engine-book"))?.epoch ?? 0n).toBeGreaterThan(lease?.epoch ?? 0n);
    if (url === null) expect(existsSync(join(replaced ?? "", "state/state.sqlite"))).toBe(true);
  }, 30_000);
}

test("a data directory that a server has open, and a database on which a process is registered, are refused", async () => {
  await using source = await planted();
  for (const [, url] of drivers) {
    await using place = await placeOf(url);
    await using running = await stateOf(place);
    const stores = { ledgerId: null, hotId: null };
    const process = {
      ...stores,
      id: "abc",
      roles: ["gateway"],
      version: "1",
      meters: true,
      sharesLedger: true,
      sharesHot: true,
      masterKeys: null,
    };
    await running.processes.join(process, 60_000);
    const options = { ...restoreOptions(place, source.backup), replace: true };
    const refused = await restoreBackup(options, restoreDependencies).catch((error: unknown) => error);
    expect(refused).toMatchObject({ code: "LOCKED" });
    expect((await running.accounts.list({ limit: 1 })).items).toEqual([]);
  }
}, 30_000);

describe("a backup that is refused changes nothing", () => {
  const changes: readonly (readonly [string, (backup: string) => void | Promise<void>, string])[] = [
    ["without a manifest", (backup) => rmSync(join(backup, manifestName)), "written last"],
    ["cut", (backup) => cut(join(backup, "state.jsonl")), "state.jsonl has"],
    ["with one byte changed", (backup) => flip(join(backup, "state.jsonl")), "state.jsonl is not as it was written"],
    ["without a part", (backup) => rmSync(join(backup, "state.jsonl")), "state.jsonl is missing"],
    ["with a manifest of one byte changed", (backup) => flip(join(backup, manifestName)), manifestName],
    ["with a path that leads out", (backup) => rewrite(backup, "../outside"), "names a file that no backup has"],
    ["with an absolute path", (backup) => rewrite(backup, "/etc/passwd"), "names a file that no backup has"],
    [
      "with a path inside out",
      (backup) => rewrite(backup, "credits/../state.jsonl"),
      "names a file that no backup has",
    ],
    [
      "with a link in place of a part",
      (backup) => {
        rmSync(join(backup, "state.jsonl"));
        symlinkSync("/etc/hostname", join(backup, "state.jsonl"));
      },
      "state.jsonl is missing",
    ],
  ];
  const cut = (path: string): void => writeFileSync(path, readFileSync(path).subarray(0, -10));
  const flip = (path: string): void => {
    const bytes = readFileSync(path);
    const at = Math.floor(bytes.length / 2);
    bytes[at] = (bytes[at] ?? 0) ^ 1;
    writeFileSync(path, bytes);
  };
  const rewrite = (backup: string, path: string): void => {
    const manifest = readManifest(backup);
    const [part] = manifest.parts;
    if (part === undefined) throw new Error("no part");
    writeFileSync(
      join(backup, manifestName),
      manifestText({ ...manifest, parts: [...manifest.parts, { ...part, path }] }),
    );
  };
  test.each(changes)("%s", async (_name, change, said) => {
    await using source = await planted();
    await using place = await placeOf(null);
    await change(source.backup);
    const error = await refusal(restoreBackup(restoreOptions(place, source.backup), restoreDependencies));
    expect([error.code, error.message.includes(said)]).toEqual(["DAMAGED", true]);
    expect(readdirSync(place.directory)).toEqual([]);
  });

  test("with a list of parts of which one is none, though its sum is right", async () => {
    await using source = await planted("a passphrase");
    await using place = await placeOf(null);
    // The master key is in it.
    expect(source.result.left_out.join()).not.toContain("master key");
    const manifest = readManifest(source.backup);
    for (const part of [null, "state.jsonl", [], { path: "state.jsonl", bytes: 1.5, sha256: "" }]) {
      const changed = Object.assign({ ...manifest }, { parts: [...manifest.parts, part] });
      writeFileSync(join(source.backup, manifestName), manifestText(changed));
      expect((await refusal(restoreBackup(restoreOptions(place, source.backup), restoreDependencies))).code).toBe(
        "DAMAGED",
      );
    }
  });

  test("of rows that no version wrote, with a manifest that fits", async () => {
    await using source = await planted();
    await using place = await placeOf(null);
    const path = join(source.backup, "state.jsonl");
    for (const line of [
      '{"table":"sqlite_schema","row":{"name":"x"}}',
      '{"table":"audit","row":{"id":5}}',
      "nothing",
    ]) {
      writeFileSync(path, `${readFileSync(path, "utf8").trimEnd()}\n${line}\n`);
      const manifest = readManifest(source.backup);
      const parts = manifest.parts.filter((part) => part.path !== "state.jsonl");
      const part = { path: "state.jsonl", ...(await measure(path)) };
      writeFileSync(join(source.backup, manifestName), manifestText({ ...manifest, parts: [part, ...parts] }));
      const error = await restoreBackup(restoreOptions(place, source.backup), restoreDependencies).catch((e) => e);
      expect(error).toMatchObject({ code: "CORRUPT" });
      expect(existsSync(join(place.directory, "restore"))).toBe(false);
      expect(existsSync(join(place.directory, "state/state.sqlite"))).toBe(false);
    }
  });

  test("for another master key, another chain, a newer form or a newer schema", async () => {
    await using source = await planted();
    await using place = await placeOf(null);
    const options = restoreOptions(place, source.backup);
    const other = await refusal(restoreBackup({ ...options, masterKeys: ["7".repeat(64)] }, restoreDependencies));
    expect([other.code, other.message.includes(masterKeyId(masterKey))]).toEqual(["OTHER_KEY", true]);
    const chain = await refusal(restoreBackup({ ...options, genesis: { devnet: "another" } }, restoreDependencies));
    expect(chain.code).toBe("OTHER_CHAIN");
    const manifest = readManifest(source.backup);
    writeFileSync(
      join(source.backup, manifestName),
      manifestText({ ...manifest, schema: [...manifest.schema, 9_999] }),
    );
    expect((await refusal(restoreBackup(options, restoreDependencies))).code).toBe("NEWER");
    writeFileSync(join(source.backup, manifestName), '{"form":"sluice backup 2"}');
    expect((await refusal(restoreBackup(options, restoreDependencies))).code).toBe("NEWER");
    expect(readdirSync(place.directory)).toEqual([]);
  });
});

test("the master key is in a backup only under a passphrase, and comes out with it alone", async () => {
  await using plain = await planted();
  await using source = await planted("correct horse battery");
  for (const [directory, has] of [
    [plain.backup, false],
    [source.backup, true],
  ] as const) {
    const files = readdirSync(directory).filter((name) => name.endsWith(".json") || name.endsWith(".jsonl"));
    expect(files.includes("master-key.json")).toBe(has);
    for (const name of files) expect(readFileSync(join(directory, name), "utf8")).not.toContain(masterKey);
  }
  await using place = await placeOf(null);
  const options = { ...restoreOptions(place, source.backup), masterKeys: [] };
  const wrong = await refusal(restoreBackup({ ...options, passphrase: "incorrect horse" }, restoreDependencies));
  expect(wrong.code).toBe("OTHER_KEY");
  const keyOut = join(place.directory, "key.env");
  await restoreBackup({ ...options, passphrase: "correct horse battery", keyOut }, restoreDependencies);
  expect(readFileSync(keyOut, "utf8")).toBe(`MASTER_KEY=${masterKey}\n`);
});

test("a backup needs a directory of its own, and leaves none behind when the disk is full", async () => {
  await using place = await placeOf(null);
  await using state = await stateOf(place);
  await plant(place, state);
  const filled = await refusal(writeTo(place.directory, place, state));
  expect([filled.code, filled.message.includes("not empty")]).toEqual(["TARGET", true]);
  using disk = mountSmallDisk(192 * 1024);
  if (disk === null) return console.warn("THE TEST OF A FULL DISK DID NOT RUN: it needs the right to mount a tmpfs.");
  const to = join(disk.path, "backup");
  const full = await writeTo(to, place, state).catch((error: unknown) => error);
  expect(String(full)).toMatch(/full|space/);
  expect(existsSync(to)).toBe(false);
  expect(await writeTo(join(place.directory, "elsewhere"), place, state)).toMatchObject({ parts: 3 });
});

test("sessions end with a restore, and the lines of a backup hold no token", async () => {
  await using place = await placeOf(null);
  await using other = await placeOf(null);
  const state = await stateOf(place);
  const { accountId } = await plant(place, state);
  const expiresAt = systemClock.now() + 3_600_000;
  const { token } = await state.sessions.create({ accountId, keyId: null, expiresAt });
  await writeTo(join(place.directory, "backup"), place, state);
  await state[Symbol.asyncDispose]();
  await restoreBackup(restoreOptions(other, join(place.directory, "backup")), restoreDependencies);
  await using restored = await stateOf(other, false);
  expect(await restored.sessions.find(hashSessionToken(token))).toBeNull();
});

test("the embedded ledger is copied while it serves and restored with every row; a damaged copy is refused", async () => {
  await using place = await placeOf(null);
  mkdirSync(join(place.directory, "copies"));
  const archive = join(place.directory, "copies/ledger.tar");
  const ledgerAt = (name: string) =>
    openLedger(
      { directory: join(place.directory, name), clickhouseUrl: null, cluster: null },
      { ...dependencies, log },
    );
  {
    await using ledger = await ledgerAt("one");
    const append = (count: number): void => {
      for (let index = 0; index < count; index += 1) ledger.requests.append(fact({ at: systemClock.now() }));
    };
    append(500);
    await ledger.requests.flush();
    await ledger.archive?.(archive);
    append(7);
    await ledger.requests.flush();
  }
  await restoreLedger(
    { directory: join(place.directory, "two"), archive, network: "devnet", confinement: "auto" },
    { ...dependencies, log },
  );
  await using restored = await ledgerAt("two");
  expect(await restored.query("SELECT count() AS n FROM requests")).toEqual([{ n: "500" }]);
  restored.requests.append(fact({ at: systemClock.now() }));
  await restored.requests.flush();
  expect(await restored.query("SELECT count() AS n FROM requests")).toEqual([{ n: "501" }]);
  writeFileSync(archive, readFileSync(archive).subarray(0, 5_000));
  const damaged = restoreLedger(
    { directory: join(place.directory, "three"), archive, network: "devnet", confinement: "auto" },
    { ...dependencies, log },
  );
  await expect(damaged).rejects.toThrow("The copy of the ledger cannot be read");
}, 60_000);
