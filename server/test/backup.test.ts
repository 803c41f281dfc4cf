/** A backup of a server that serves, and its restore on another data directory, as an operator does both. */

import { expect, test } from "bun:test";
import { existsSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { masterKeyId } from "@sluice/lib";
import { StubNode } from "../src/upstreams/testing/stub-node.ts";
import { sluice, startGateway } from "./testing/gateway.ts";
import { post, runSluice } from "./testing/network.ts";

const masterKey = "5e".repeat(32);

test("a backup of a running server brings back accounts, keys, nodes, usage and credits on another directory", async () => {
  await using resources = new AsyncDisposableStack();
  const directory = mkdtempSync(join(tmpdir(), "sluice-whole-backup-"));
  resources.defer(() => rmSync(directory, { recursive: true, force: true }));
  const [one, other, backup] = ["one", "other", "backup"].map((name) => join(directory, name)) as [
    string,
    string,
    string,
  ];
  const node = resources.use(new StubNode(({ id }) => `{"jsonrpc":"2.0","result":1,"id":${id}}`));
  const environment = {
    MASTER_KEY: masterKey,
    NETWORK_DEFAULT: "devnet",
    ORACLE: "off",
    ROLES: "gateway",
    UPSTREAMS_DEVNET: `one=${node.url};ws=${node.ws}`,
    UNKNOWN_METHODS: "pass",
  };
  const first = await startGateway(one, environment);
  const account = await sluice(first, environment, "accounts", "create", "--name", "kept", "--tier", "business");
  const { key } = await sluice(first, environment, "keys", "create", "--account", account.id);
  await sluice(first, environment, "upstreams", "add", "devnet", "added", node.url);
  const call = (url: string) =>
    post(`${url}/rpc?api-key=${key}`, { jsonrpc: "2.0", id: 1, method: "getSlot", params: [] });
  for (let index = 0; index < 20; index += 1) expect((await call(first.url)).status).toBe(200);
  const written = await sluice(first, environment, "backup", backup);
  expect(written).toMatchObject({ status: "done", key_ids: [masterKeyId(masterKey)] });
  expect(readdirSync(backup)).toContain("ledger.tar");
  expect((await call(first.url)).status).toBe(200);
  await sluice(first, environment, "accounts", "create", "--name", "made later");
  const twice = await runSluice(["backup", backup], { directory: one, env: environment });
  expect([twice.code, twice.err.includes("not empty")]).toEqual([1, true]);
  const busy = await runSluice(["restore", backup, "--replace"], { directory: one, env: environment });
  expect([busy.code, busy.err.includes("a server runs")]).toEqual([1, true]);
  await first.end();

  const wrong = { ...environment, MASTER_KEY: "7a".repeat(32) };
  const refused = await runSluice(["restore", backup], { directory: other, env: wrong });
  expect([refused.code, refused.err.includes(masterKeyId(masterKey)), existsSync(other)]).toEqual([1, true, false]);
  const restored = await runSluice(["restore", backup, "--json"], { directory: other, env: environment });
  expect([restored.code, restored.err]).toEqual([0, ""]);
  const full = await runSluice(["restore", backup], { directory: other, env: environment });
  expect([full.code, full.err.includes("--replace")]).toEqual([1, true]);
  const second = await startGateway(other, environment);
  expect((await call(second.url)).status).toBe(200);
  const { items } = await sluice(second, environment, "accounts", "list");
  expect(items.map(({ name }: { name: string }) => name)).toEqual(["kept"]);
  const nodes = await sluice(second, environment, "upstreams", "list");
  expect(nodes.items.map(({ label }: { label: string }) => label).toSorted()).toEqual(["added", "one"]);
  const usage = await sluice(second, environment, "usage", account.id, "--by", "method");
  expect(usage.total.requests).toBe(21);
  const credits = await sluice(second, environment, "accounts", "credits", account.id);
  expect(Number(credits.used)).toBeGreaterThanOrEqual(21);
  await second.end();

  writeFileSync(join(backup, "state.jsonl"), "damaged");
  const damaged = await runSluice(["restore", backup, "--replace"], { directory: other, env: environment });
  expect([damaged.code, damaged.err.includes("state.jsonl has")]).toEqual([1, true]);
  const third = await startGateway(other, environment);
  expect((await call(third.url)).status).toBe(200);
  await third.end();
}, 120_000);
