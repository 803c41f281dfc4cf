import { expect, test } from "bun:test";
import { bootFaultyNode } from "@sluice/devnet/chain/faults/testing/faulty-node.ts";
import { post } from "@sluice/devnet/chain/testing/boot.ts";
import { encodeBlock, unpackOnce } from "@sluice/encode";
import { seededRandom, systemClock } from "@sluice/lib";
import { eventually } from "@sluice/lib/testing";
import type { Slot } from "@sluice/wire/identifiers";
import { stringifyJsonExact } from "@sluice/wire/json";
import type { LogEvent } from "../../../log/index.ts";
import { openMemoryLog } from "../../../log/testing/memory-log.ts";
import { createLog, createMetrics } from "../../../observe/index.ts";
import { createIngestEvents } from "../../events.ts";
import { Ingest } from "../../ingest.ts";
import { NodeBlocks } from "../node-blocks.ts";
import { ReadBodies } from "./read-bodies.ts";
import { YellowstoneSource } from "./yellowstone-source.ts";

/** A follower's blocks, oldest first, up to a slot. */
async function followed(events: AsyncIterable<LogEvent>, last: Slot): Promise<Extract<LogEvent, { type: "block" }>[]> {
  const blocks: Extract<LogEvent, { type: "block" }>[] = [];
  for await (const event of events) {
    if (event.type === "block") blocks.push(event);
    if (event.type === "block" && event.header.slot >= last) break;
  }
  return blocks;
}

/** The node's own text for a block. */
async function answered(rpcUrl: string, slot: Slot): Promise<string> {
  const config = { encoding: "base64", rewards: true, maxSupportedTransactionVersion: 0, commitment: "confirmed" };
  const asked = { jsonrpc: "2.0", id: 1, method: "getBlock", params: [Number(slot), config] };
  return (await (await post(rpcUrl, JSON.stringify(asked))).text()).trim();
}

/** The same of a body of the log. */
function presented(body: Uint8Array): string {
  const options = { transactionDetails: "full", rewards: true, maxSupportedTransactionVersion: 0 } as const;
  const encoded = encodeBlock(unpackOnce(body), { encoding: "base64", ...options });
  if (!encoded.ok) throw new Error(`version ${encoded.version} was refused`);
  return `{"jsonrpc":"2.0","result":${stringifyJsonExact(encoded.value)},"id":1}`;
}

test.each(["drop", "duplicate", "reorder"])(
  "a stream whose updates %s leaves the log as the chain is",
  async (kind) => {
    await using faulty = await bootFaultyNode({ grpcPort: 0, votes: true, validators: 2 });
    const { chain, grpcUrl, rpcUrl } = faulty.node;
    const genesisHash = chain.history.block(0n)?.blockhash ?? "";
    const identity = { genesisHash, firstBlockhash: null };
    const memory = await openMemoryLog(identity);
    await using log = memory.log;
    const blocks = new NodeBlocks(async ({ method, params }) => {
      const response = await post(rpcUrl, `{"jsonrpc":"2.0","id":1,"method":"${method}","params":${params}}`);
      const text = await response.text();
      const { error } = JSON.parse(text) as { readonly error?: { readonly code: number } };
      return { kind: "answer", text, errorCode: error?.code ?? null };
    });
    const metrics = createMetrics();
    await using ingest = new Ingest(
      { gapAfterMs: 900_000 },
      {
        clock: systemClock,
        random: seededRandom(1),
        eventsOf: () => createIngestEvents({ log: createLog({ level: "error" }), metrics }, { network: "devnet" }),
        nodesOf: () => ({
          head: (commitment) => chain.at(commitment).slot as Slot,
          isWell: () => true,
          list: () => [{ label: "one", identity: chain, open: () => [source] }],
        }),
      },
    );
    const source = new YellowstoneSource(
      { node: "one", url: grpcUrl ?? "", token: null },
      { clock: systemClock, random: seededRandom(2), blocks, bodies: new ReadBodies() },
    );
    await ingest.take("devnet", log, identity);
    await eventually("the stream is up", () => ingest.status()[0]?.sources[0]?.isUp === true);
    await faulty.admin("devnet_disturbGrpc", { kind, share: 0.4, seed: kind });
    await faulty.closeSlots(8);
    await faulty.admin("devnet_skipSlots", 2);
    await faulty.closeSlots(8);
    const last = chain.at("confirmed").slot as Slot;
    await eventually("the log has come as far as the chain", () => log.reached("confirmed")?.slot === last, 30_000);
    const outcome = log.follow({ stage: "confirmed", from: "earliest" });
    if (!outcome.ok) throw new Error(outcome.code);
    const told = await followed(outcome.follower, last);
    expect(told.map(({ header }) => BigInt(header.slot))).toEqual(chain.history.slots(1n, last, 100));
    for (const { header, body } of told) expect(await answered(rpcUrl, header.slot)).toBe(presented(body));
  },
);
