import { expect, test } from "bun:test";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { eventually } from "@sluice/lib/testing";
import { createStream, type StreamEvent, type StreamState } from "../sdk/index.ts";
import { startFaultyChain } from "../server/test/testing/chain.ts";
import { type Gateway, sluice, startGateway } from "../server/test/testing/gateway.ts";
import { post } from "../server/test/testing/network.ts";

/** Collects what a subscription tells, in order. */
function collected(subscription: AsyncIterable<StreamEvent>): StreamEvent[] {
  const events: StreamEvent[] = [];
  void (async () => {
    for await (const event of subscription) events.push(event);
  })();
  return events;
}

/** The signatures of the blocks of these slots, as the node of the chain tells them. */
async function signaturesOf(rpc: string, from: bigint, to: bigint): Promise<string[]> {
  const call = async (method: string, ...params: readonly unknown[]) =>
    (await post(rpc, { jsonrpc: "2.0", id: 1, method, params })).body.result;
  const slots: readonly number[] = await call("getBlocks", Number(from), Number(to), { commitment: "confirmed" });
  const config = { commitment: "confirmed", transactionDetails: "signatures", rewards: false };
  const blocks = await Promise.all(slots.map((slot) => call("getBlock", slot, config)));
  return blocks.flatMap(({ signatures }) => signatures);
}

test("the SDK loses no event and gets none twice when the server is killed and another takes over", async () => {
  await using chain = await startFaultyChain("--slot-ms", "100", "--traffic", "20");
  const directory = mkdtempSync(join(tmpdir(), "sluice-sdk-streams-"));
  const environment = {
    MASTER_KEY: "5e".repeat(32),
    ROLES: "gateway,ingest,streams",
    NETWORK_DEFAULT: "devnet",
    UPSTREAMS_DEVNET: `chain=${chain.rpc};ws=${chain.ws}`,
  };
  let gateway: Gateway = await startGateway(directory, environment);
  try {
    const account = await sluice(gateway, environment, "accounts", "create", "--name", "a", "--tier", "enterprise");
    const { key } = await sluice(gateway, environment, "keys", "create", "--account", account.id);
    const states: StreamState[] = [];
    await using stream = createStream({
      url: "http://sluice.test",
      apiKey: key,
      // The server that takes over has other ports.
      WebSocket: class extends WebSocket {
        constructor(address: string) {
          super(address.replace("ws://sluice.test", gateway.url.replace("http", "ws")));
        }
      },
      retryMs: { first: 20, max: 200 },
      onState: (state) => states.push(state),
    });
    const [slots, transactions] = [stream.slots(), stream.transactions({ votes: true })];
    const told = { slots: collected(slots), transactions: collected(transactions) };
    await eventually("events", () => told.slots.length >= 10 && told.transactions.length >= 10, 45_000);
    gateway.process.kill("SIGKILL");
    await gateway.process.exited;
    const before = told.slots.length;
    gateway = await startGateway(directory, environment);
    await eventually("what came meanwhile, and more", () => told.slots.length >= before + 20, 45_000);
    const read = told.slots.flatMap((event) => (event.type === "slot" ? event : []));
    expect(read.length).toBe(told.slots.length);
    expect(read.slice(1).map(({ data }) => data.parent)).toEqual(read.slice(0, -1).map(({ slot }) => slot));
    expect(states.filter(({ state }) => state === "waiting").length).toBeGreaterThan(0);
    const [from, to] = [read[1]?.slot ?? 0n, read.at(-2)?.slot ?? 0n];
    const within = () =>
      told.transactions.flatMap((event) =>
        event.type === "transaction" && event.slot >= from && event.slot <= to ? event.data.signature : [],
      );
    const expected = await signaturesOf(chain.rpc, from, to);
    await eventually("all transactions", () => within().length >= expected.length);
    expect(expected.length).toBeGreaterThan(20);
    expect(within()).toEqual(expected);
  } finally {
    await gateway.end();
    rmSync(directory, { recursive: true, force: true });
  }
}, 150_000);
