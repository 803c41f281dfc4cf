/** The master key of a server is replaced, from outside: what is stored stays readable, and a wrong key is refused. */

import { expect, test } from "bun:test";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { masterKeyId } from "@sluice/lib";
import { StubNode } from "../src/upstreams/testing/stub-node.ts";
import { sluice, startGateway } from "./testing/gateway.ts";
import { runSluice } from "./testing/network.ts";

const [before, after] = ["5e".repeat(32), "7a".repeat(32)];
const base = { NETWORK_DEFAULT: "devnet", ORACLE: "off", ROLES: "gateway" };

test("MASTER_KEY is replaced without losing a node; a key that opens nothing is refused by name", async () => {
  await using resources = new AsyncDisposableStack();
  const directory = mkdtempSync(join(tmpdir(), "sluice-rotation-"));
  resources.defer(() => rmSync(directory, { recursive: true, force: true }));
  const node = resources.use(new StubNode(({ id }) => `{"jsonrpc":"2.0","result":1,"id":${id}}`));
  const environment = { ...base, UPSTREAMS_DEVNET: `one=${node.url};ws=${node.ws}` };
  const [old, other] = [
    { ...environment, MASTER_KEY: before },
    { ...environment, MASTER_KEY: after },
  ];
  const both = { ...other, MASTER_KEY_PREVIOUS: before };
  const first = await startGateway(directory, old);
  await sluice(first, old, "upstreams", "add", "devnet", "added", node.url, "--header", "X-Token: secret");
  const present = await runSluice(["config", "check"], { directory, env: other });
  expect([present.code, present.err]).toEqual([1, expect.stringContaining(masterKeyId(before))]);
  await first.end();

  for (const command of [["config", "check"], ["serve"]]) {
    const refused = await runSluice(command, { directory, env: other });
    expect([refused.code, refused.err]).toEqual([1, expect.stringContaining(masterKeyId(before))]);
    expect(refused.err).toContain("node devnet/added");
    expect(refused.err).not.toContain("    at ");
  }
  const accepted = await runSluice(["config", "check"], { directory, env: both });
  expect([accepted.code, accepted.out.includes(after)]).toEqual([0, false]);

  const second = await startGateway(directory, both);
  expect(await sluice(second, both, "secrets", "rotate")).toMatchObject({ rotated: 1, unreadable: [] });
  const trail = await sluice(second, both, "audit");
  expect(trail.items[0]).toMatchObject({ actor: "operator", action: "secrets.rotate", subject: masterKeyId(after) });
  await second.end();

  const third = await startGateway(directory, other);
  const { items } = await sluice(third, other, "upstreams", "list");
  expect(items.map(({ label }: { label: string }) => label)).toContain("added");
  expect((await sluice(third, other, "secrets", "list")).groups).toEqual([
    { key_id: masterKeyId(after), secrets: 1, readable: 1, unreadable: [] },
  ]);
  await third.end();
}, 120_000);
