/** Where the block engine and the gateway have their blocks from, with and without the role that reads them for all. */
import { expect, setDefaultTimeout, test } from "bun:test";
import { existsSync } from "node:fs";
import { join } from "node:path";
import { eventually } from "@sluice/lib/testing";
import { pay, signed, tip } from "./testing/bundles.ts";
import { startFaultyChain } from "./testing/chain.ts";
import { ChainReader } from "./testing/chain-reader.ts";
import { freePortOffset, type Network, post, startNetwork } from "./testing/network.ts";
import { RestSearcher } from "./testing/searcher.ts";

setDefaultTimeout(120_000);

/** Long enough that blocks come between two looks, and short beside what a busy machine takes. */
const blocksAwaited = 12;

async function metrics({ dev }: Network): Promise<(name: string) => number> {
  const text = await (await fetch(`${dev.doors["metrics"]}`)).text();
  return (name) =>
    Number(
      text
        .split("\n")
        .find((line) => line.startsWith(`${name} `))
        ?.slice(name.length + 1) ?? 0,
    );
}

test.each([
  ["of the role that reads them for all", "gateway,engine,ingest", "log"],
  ["of its own while nobody reads them for all", "gateway,engine", "engine-flow/log"],
])("the engine follows a flow %s, and a bundle ends by it", async (_, roles, folder) => {
  const portOffset = await freePortOffset();
  await using chain = await startFaultyChain("--slot-ms", "200", "--finalized-after", "12");
  await using network = await startNetwork({
    portOffset,
    env: { UPSTREAMS_DEVNET: `devnet=${chain.rpc};ws=${chain.ws}`, ROLES: roles },
    args: ["--oracle", "off"],
  });
  const [flow, node] = ["flow", "node"].map((from) => `sluice_engine_blocks_total{from="${from}"}`);
  const told = async (): Promise<number> => (await metrics(network))(flow ?? "");
  await eventually("blocks of the flow", async () => (await told()) > 0, 30_000);
  expect(existsSync(join(network.directory, folder, "devnet"))).toBe(true);
  const before = await metrics(network);

  const searcher = new RestSearcher(`${network.dev.doors["engineRest"]}`, network.dev.key);
  const reader = new ChainReader(chain.rpc);
  const [payer] = await reader.wallets(1);
  const id = await searcher.accepted([signed(payer, await reader.blockhash(), tip(payer))]);
  const sent = signed(payer, await reader.blockhash(), pay(payer, payer.publicKey, 1_000));
  const params = [Buffer.from(sent.serialize()).toString("base64"), { encoding: "base64", skipPreflight: true }];
  const { body } = await post(network.rpcUrl, { jsonrpc: "2.0", id: 1, method: "sendTransaction", params });

  const { slot } = await searcher.until(id, "included");
  expect(slot).toBeGreaterThan(0);
  const sentPath = `${network.dev.doors["rpc"]}`.replace(/\/rpc$/, "/api/v1/sent-transactions");
  const headers = { "x-api-key": network.dev.key };
  const state = async (): Promise<string> => {
    const { items } = await (await fetch(sentPath, { headers })).json();
    return items.find((each: { readonly signature: string }) => each.signature === body.result)?.state;
  };
  await eventually("the end of what was sent", async () => (await state()) === "finalized", 30_000);
  await eventually("blocks", async () => (await told()) >= before(flow ?? "") + blocksAwaited, 30_000);
  const after = await metrics(network);
  const [byFlow, byNode] = [flow, node].map((name) => after(name ?? "") - before(name ?? ""));
  // On a machine that stands still for some seconds the engine asks nodes meanwhile.
  expect(byNode ?? 0).toBeLessThan((byFlow ?? 0) / 2);
});
