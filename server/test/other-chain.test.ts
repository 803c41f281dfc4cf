/** Stores that hold what speaks of another chain than the one that the nodes are of. */
import { expect, test } from "bun:test";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { systemClock, systemRandom } from "@sluice/lib";
import { eventually } from "@sluice/lib/testing";
import { openState } from "../src/state/index.ts";
import { newBundle } from "../src/state/testing/conformance/bundles.ts";
import { startGateway } from "./testing/gateway.ts";
import { freePortOffset, runSluice, startNetwork } from "./testing/network.ts";
import { startStubNode } from "./testing/stub-node.ts";

const first = "4uhcVJyU9pJkvQyS88uRDiswHXSCkY3zQawwpjk2NsNY";
const other = "EtWTRABZaYq6iMfeYKouRu166VU2xqa1wcaWoxPkrZBG";
const log = { info: () => {}, warn: () => {} };

function newDirectory(): { readonly path: string } & Disposable {
  const path = mkdtempSync(join(tmpdir(), "sluice-other-chain-"));
  return { path, [Symbol.dispose]: () => rmSync(path, { recursive: true, force: true }) };
}

const stateOf = (directory: string) =>
  openState(
    { directory: join(directory, "state"), databaseUrl: null, network: "devnet" },
    { clock: systemClock, random: systemRandom, log },
  );

test("`serve` refuses a database of another chain with OTHER_CHAIN, and names both", async () => {
  using directory = newDirectory();
  await using node = startStubNode({ genesis: first });
  await using elsewhere = startStubNode({ genesis: other });
  const environmentOf = ({ port }: { readonly port: number | undefined }): Record<string, string> => ({
    MASTER_KEY: "5e".repeat(32),
    ROLES: "gateway",
    NETWORK_DEFAULT: "devnet",
    UPSTREAMS_DEVNET: `stub=http://127.0.0.1:${port};ws=ws://127.0.0.1:${port}`,
  });
  const gateway = await startGateway(directory.path, environmentOf(node));
  await eventually("the node to join", async () => (await gateway.metric("sluice_upstream_healthy")) > 0);
  expect(await gateway.end()).toBe(0);
  const env = { ...environmentOf(elsewhere), PORT_OFFSET: String(await freePortOffset()) };
  const refused = await runSluice(["serve"], { directory: directory.path, env });
  expect(refused.code).toBe(1);
  for (const part of ["OTHER_CHAIN", first, other, "UPSTREAMS_DEVNET", "GENESIS_DEVNET"])
    expect(refused.err).toContain(part);
  expect(refused.err).not.toContain("    at ");
  const again = await startGateway(directory.path, environmentOf(node));
  expect(await again.end()).toBe(0);
}, 120_000);

test("`dev` starts on a database of another chain and ends what was in flight with chain_changed", async () => {
  using directory = newDirectory();
  const [waits, landed] = [1, 2].map(() =>
    newBundle({ transactions: [], receivedAt: systemClock.now(), expiresAt: systemClock.now() + 3_600_000 }),
  );
  if (waits === undefined || landed === undefined) throw new Error("no bundles");
  const place = { slot: waits.acceptedSlot, blockhash: first, index: 0 };
  {
    await using state = await stateOf(directory.path);
    const { bundles, cursors } = state.engine.of("devnet");
    for (const bundle of [waits, landed]) await bundles.accept(bundle, other);
    const to = { ...landed, state: "included", landed: place } as const;
    expect(await bundles.step({ id: landed.id, from: "accepted", to, isEnd: false })).toEqual({ applied: true });
    await state.chains.put("devnet", { genesis: other, first: null });
    // The engine's place in the chain that it followed.
    await cursors.set("engine-tracker", `2 5 ${first} 1790000000 ${other}`);
  }
  {
    await using network = await startNetwork({ directory: directory.path, keep: true, args: ["--oracle", "off"] });
    const ended = async (): Promise<number> => {
      const text = await (await fetch(`http://127.0.0.1:${9464 + network.portOffset}/metrics`)).text();
      const line = text.split("\n").find((each) => /^sluice_engine_bundles_ended_total\{.*chain_changed/.test(each));
      return Number(line?.split(" ").at(-1) ?? 0);
    };
    await eventually("the ends of both bundles", async () => (await ended()) === 2, 30_000);
  }
  await using state = await stateOf(directory.path);
  for (const { id } of [waits, landed]) {
    const record = await state.engine.of("devnet").bundles.get(id);
    expect(record).toMatchObject({ state: "dropped", reason: "chain_changed", chain: other });
  }
  expect((await state.chains.find("devnet"))?.genesis).not.toBe(other);
}, 120_000);
