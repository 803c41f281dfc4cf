import { afterEach, beforeEach, expect, test } from "bun:test";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { masterKeyId, SecretVault, seededRandom, systemClock, systemRandom } from "@sluice/lib";
import { nodeSecretId, openState, type State, type StoredSecret } from "../state/index.ts";
import { forgetSecrets, groupOf, rotateSecrets, surveySecrets, unreadableSecrets } from "./stored-secrets.ts";

const [first, second, third] = ["1", "2", "3"].map((digit) => digit.repeat(64)) as [string, string, string];
const vaultOf = (present: string | null, ...others: string[]): SecretVault =>
  new SecretVault(present, seededRandom(1), others);
const log = { info: () => undefined, warn: () => undefined };
const nodes = 25;

let directory = "";
let state: State;

const open = () => openState({ directory, databaseUrl: null }, { clock: systemClock, random: systemRandom, log });

/** Nodes whose options are their own labels, sealed by a vault. */
async function plant(vault: SecretVault, count = nodes): Promise<void> {
  for (let index = 0; index < count; index += 1) {
    const label = `node-${index}`;
    const options = vault.wrap(nodeSecretId("mainnet", label), Buffer.from(label));
    await state.upstreamNodes.add({ network: "mainnet", label, options });
  }
}

async function readAll(vault: SecretVault): Promise<(string | null)[]> {
  const list = await state.secrets.list(null, 1_000);
  const opened = list.map(({ secretId, stored }) => vault.unwrap(secretId, stored));
  return opened.map((secret) => (secret === null ? null : Buffer.from(secret).toString()));
}

const keysOf = async (): Promise<Set<string>> =>
  new Set((await state.secrets.list(null, 1_000)).map(({ stored }: StoredSecret) => groupOf(stored)));

beforeEach(async () => {
  directory = mkdtempSync(join(tmpdir(), "sluice-secrets-"));
  state = await open();
});

afterEach(async () => {
  await state[Symbol.asyncDispose]();
  rmSync(directory, { recursive: true, force: true });
});

test("rotation leaves every secret as it was, under the new key alone, and a second run changes nothing", async () => {
  await plant(vaultOf(first));
  const vault = vaultOf(second, first);
  const before = await readAll(vault);
  expect(await rotateSecrets({ store: state.secrets, vault }, { size: 10 })).toEqual({
    key_id: masterKeyId(second),
    rotated: nodes,
    present: 0,
    passed: 0,
    unreadable: [],
  });
  expect(await readAll(vaultOf(second))).toEqual(before);
  expect(await keysOf()).toEqual(new Set([masterKeyId(second)]));
  expect(await rotateSecrets({ store: state.secrets, vault })).toMatchObject({ rotated: 0, present: nodes });
});

test("secrets that lie plain, as under dev, and those that name no key are encrypted too", async () => {
  await plant(vaultOf(null), 2);
  const named = vaultOf(first).wrap(nodeSecretId("mainnet", "old"), Buffer.from("old"));
  await state.upstreamNodes.add({ network: "mainnet", label: "old", options: Uint8Array.of(1, ...named.slice(9)) });
  expect(await keysOf()).toEqual(new Set(["plain", "unnamed"]));
  await rotateSecrets({ store: state.secrets, vault: vaultOf(second, first) });
  expect(await readAll(vaultOf(second))).toEqual(["node-0", "node-1", "old"]);
});

test("what no key opens is named and left alone by rotation, and refused by name at a start", async () => {
  await plant(vaultOf(first), 2);
  await state.upstreamNodes.add({
    network: "devnet",
    label: "own",
    options: vaultOf(second).wrap(nodeSecretId("devnet", "own"), Buffer.from("own")),
  });
  const vault = vaultOf(second);
  const { unreadable } = await rotateSecrets({ store: state.secrets, vault });
  expect(unreadable).toEqual(["node mainnet/node-0", "node mainnet/node-1"]);
  expect(await readAll(vaultOf(first))).toEqual([null, "node-0", "node-1"]);
  const said = unreadableSecrets(await surveySecrets({ store: state.secrets, vault })) ?? "";
  for (const word of [masterKeyId(first), masterKeyId(second), "node mainnet/node-0", "MASTER_KEY_PREVIOUS"]) {
    expect(said).toContain(word);
  }
  expect(said).not.toContain(first);
  expect(unreadableSecrets(await surveySecrets({ store: state.secrets, vault: vaultOf(third, first, second) }))).toBe(
    null,
  );
  expect(await forgetSecrets({ store: state.secrets, vault: vaultOf(second) }, masterKeyId(third))).toEqual([]);
  expect((await forgetSecrets({ store: state.secrets, vault }, masterKeyId(first))).length).toBe(2);
  expect(await readAll(vault)).toEqual(["own"]);
});

test("a secret that another process changed meanwhile is passed over, and not written back", async () => {
  await plant(vaultOf(first), 3);
  const vault = vaultOf(second, first);
  const racing = {
    ...state.secrets,
    list: state.secrets.list.bind(state.secrets),
    remove: state.secrets.remove.bind(state.secrets),
    replace: async (changes: Parameters<State["secrets"]["replace"]>[0]) => {
      await state.upstreamNodes.remove("mainnet", "node-1");
      return await state.secrets.replace(changes);
    },
  };
  expect(await rotateSecrets({ store: racing, vault })).toMatchObject({ rotated: 2, passed: 1 });
  expect(await readAll(vault)).toEqual(["node-0", "node-2"]);
});

test("a process that is killed half-way leaves every secret readable with both keys, and the next run ends it", async () => {
  await plant(vaultOf(first));
  await state[Symbol.asyncDispose]();
  const script = `
    import { SecretVault, systemClock, systemRandom } from "@sluice/lib";
    import { openState } from "../state/index.ts";
    import { rotateSecrets } from "./stored-secrets.ts";
    const log = { info: () => undefined, warn: () => undefined };
    const options = { directory: ${JSON.stringify(directory)}, databaseUrl: null };
    const { secrets } = await openState(options, { clock: systemClock, random: systemRandom, log });
    let batches = 0;
    const store = {
      list: (after, limit) => secrets.list(after, limit),
      replace: async (changes) => {
        const count = await secrets.replace(changes);
        batches += 1;
        if (batches === 4) process.kill(process.pid, "SIGKILL");
        return count;
      },
    };
    await rotateSecrets({ store, vault: new SecretVault("${second}", systemRandom, ["${first}"]) }, { size: 3 });`;
  const child = Bun.spawn([process.execPath, "-e", script], { cwd: import.meta.dir, stderr: "pipe" });
  expect([await child.exited, child.signalCode]).toEqual([137, "SIGKILL"]);
  state = await open();
  const vault = vaultOf(second, first);
  const labels = Array.from({ length: nodes }, (_, index) => `node-${index}`).toSorted();
  expect(await readAll(vault)).toEqual(labels);
  expect(await keysOf()).toEqual(new Set([masterKeyId(first), masterKeyId(second)]));
  expect(await rotateSecrets({ store: state.secrets, vault })).toMatchObject({ rotated: nodes - 12, present: 12 });
  expect(await readAll(vaultOf(second))).toEqual(labels);
});
