import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { SecretVault, systemClock, systemRandom } from "@sluice/lib";
import { nodeSecretId, openState, type State } from "../../state/index.ts";
import { newSchema } from "../../state/testing/schema.ts";
import type { RestoreBackupOptions, RestoreDependencies } from "../restore.ts";

export const masterKey = "4d".repeat(32);
export const log = { debug: () => undefined, info: () => undefined, warn: () => undefined, error: () => undefined };
export const noLedger = { archive: null, requests: { flush: async () => undefined } };

/** Where one installation's stores are. */
export interface Place extends AsyncDisposable {
  readonly directory: string;
  readonly databaseUrl: string | null;
}

export async function placeOf(databaseUrl: string | null): Promise<Place> {
  const directory = mkdtempSync(join(tmpdir(), "sluice-backup-"));
  const schema = databaseUrl === null ? null : await newSchema(databaseUrl);
  return {
    directory,
    databaseUrl: schema?.url ?? null,
    [Symbol.asyncDispose]: async () => {
      rmSync(directory, { recursive: true, force: true });
      await schema?.[Symbol.asyncDispose]();
    },
  };
}

export const stateOf = ({ directory, databaseUrl }: Place, create = true): Promise<State> =>
  openState(
    { directory: join(directory, "state"), databaseUrl, create },
    { clock: systemClock, random: systemRandom, log },
  );

export interface Planted {
  readonly accountId: string;
  readonly keyId: string;
}

export const holder = "ab".repeat(12);
export const factFile = `${"7".padStart(20, "0")}-3.facts`;
const month = "2026-11";

/** One of everything that a backup speaks of. */
export async function plant({ directory }: Place, state: State): Promise<Planted> {
  const account = await state.accounts.create({ name: "Größe \u2028 'x' \"y\"\n", tiers: {} });
  const key = await state.keys.insert({
    id: "key-1",
    accountId: account.id,
    name: "first",
    hash: "ab".repeat(32),
    hint: "hint",
    environment: "live",
    status: "active",
    restrictions: { networks: ["devnet"], domains: [], ipRanges: ["10.0.0.0/8"] },
    enhanced: true,
    enhancedRequestsPerSecond: null,
    permissions: ["read"],
    methods: ["getSlot"],
    requestsPerSecond: 7,
    expiresAt: null,
    createdAt: 1_790_000_000_000,
    lastUsedAt: null,
  });
  await state.credits.lease(account.id, month, 500n, 9_007_199_254_740_993n, { holder, number: 1 });
  await state.credits.bookAdvance({ accountId: account.id, month, holder, number: 2, spent: 9n });
  await state.sessions.create({ accountId: account.id, keyId: key.id, expiresAt: systemClock.now() + 3_600_000 });
  const options = new SecretVault(masterKey, systemRandom).wrap(nodeSecretId("devnet", "added"), Buffer.from("node"));
  await state.upstreamNodes.add({ network: "devnet", label: "added", options });
  await state.chains.put("devnet", { genesis: "genesis-of-devnet", first: { slot: 2n ** 60n, blockhash: "hash" } });
  await state.leases.take("devnet:engine-book", "someone", null);
  const engine = state.engine.of("devnet");
  const opened = { validFrom: 0n, validUntil: 10n, publicKey: new Uint8Array(32), privateKey: new Uint8Array(40) };
  await engine.encryptionKeys.insert({ id: "old-key", createdAt: 1, ...opened });
  await engine.replays.claim({ enc: new Uint8Array(32), holder: "bundle", expiresAt: systemClock.now() + 1e9 });
  for (let index = 0; index < 5; index += 1) {
    await state.audit.append({ actor: "operator", action: "test", subject: account.id, detail: { index } });
  }
  const files: readonly (readonly [string, string, string])[] = [
    ["credits", `credits-${holder}.advances`, "\n{}\n"],
    ["credits", `credits-${holder}.tally`, "not copied"],
    [`ledger-queue/${holder}`, factFile, "three facts"],
  ];
  for (const [folder, name, text] of files) {
    mkdirSync(join(directory, folder), { recursive: true });
    writeFileSync(join(directory, folder, name), text);
  }
  return { accountId: account.id, keyId: key.id };
}

export const restoreOptions = (place: Place, from: string): RestoreBackupOptions => ({
  from,
  dataDirectory: place.directory,
  databaseUrl: place.databaseUrl,
  ledgerConfinement: "auto",
  hasLedgerElsewhere: false,
  network: "devnet",
  genesis: {},
  masterKeys: [masterKey],
  passphrase: null,
  keyOut: null,
  replace: false,
});

export const restoreDependencies: RestoreDependencies = {
  clock: systemClock,
  random: systemRandom,
  log,
  wasCommitted: async () => false,
};
