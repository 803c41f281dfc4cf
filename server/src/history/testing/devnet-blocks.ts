import { type ConfirmedBlock, readBlock, readJson } from "@sluice/encode";
import { bootNode } from "../../../../devnet/chain/testing/boot.ts";

/** A development chain that has run, as its node answers, and its confirmed blocks. */
export interface DevnetRun extends AsyncDisposable {
  readonly blocks: readonly ConfirmedBlock[];
  /** The last slot that its node has finalized. */
  readonly finalized: bigint;
  /** The text of a node's answer to a call with the id 7. */
  ask(method: string, params: readonly unknown[]): Promise<string>;
}

const config = {
  commitment: "confirmed",
  encoding: "base64",
  transactionDetails: "full",
  rewards: true,
  maxSupportedTransactionVersion: 1,
} as const;

/** Runs a chain with traffic of all kinds and votes for some slots. */
export async function runDevnet(slots: number): Promise<DevnetRun> {
  const node = await bootNode({ slotMs: 0, votes: true, traffic: 30, confirmedAfter: 0, slotsPerEpoch: 32n });
  const ask = async (method: string, params: readonly unknown[]): Promise<string> =>
    `${(await node.answer(JSON.stringify({ jsonrpc: "2.0", id: 7, method, params }))) ?? ""}\n`;
  for (let closed = 0; closed < slots; closed += 1) {
    await node.chain.settled();
    await node.closeSlot();
  }
  const blocks: ConfirmedBlock[] = [];
  for (let slot = 0n; slot <= node.chain.at("confirmed").slot; slot += 1n) {
    const text = await ask("getBlock", [Number(slot), config]);
    const answer = readJson(text);
    if (typeof answer !== "object" || answer === null || !("result" in answer)) continue;
    blocks.push(readBlock(slot, answer["result"] ?? null));
  }
  return {
    blocks,
    finalized: node.chain.at("finalized").slot,
    ask,
    [Symbol.asyncDispose]: () => node[Symbol.asyncDispose](),
  };
}
