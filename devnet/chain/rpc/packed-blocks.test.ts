import { expect, test } from "bun:test";
import { encodeBlock, packBlock, readBlock, readJson, unpackBlock } from "@sluice/encode";
import { stringifyJsonExact } from "@sluice/wire/json";
import { bootNode } from "../testing/boot.ts";

const slotCount = 80;
const encodings = ["json", "jsonParsed", "base58", "base64"] as const;
const details = ["full", "accounts", "signatures", "none"] as const;

test("a block that was read, packed and unpacked is presented as the node presents it, byte for byte", async () => {
  await using node = await bootNode({ slotMs: 0, votes: true, traffic: 30, confirmedAfter: 0, slotsPerEpoch: 32n });
  const ask = async (slot: bigint, config: object): Promise<string> => {
    const params = [Number(slot), { commitment: "confirmed", maxSupportedTransactionVersion: 1, ...config }];
    const text = await node.answer(JSON.stringify({ jsonrpc: "2.0", id: 1, method: "getBlock", params }));
    return /"result":(.*?)(,"id":1)?\}$/s.exec(text ?? "")?.[1] ?? "none";
  };
  const seen = { transactions: 0, votes: 0, failed: 0, beyondDoubles: 0 };
  for (let closed = 0; closed < slotCount; closed++) {
    await node.chain.settled();
    await node.closeSlot();
  }
  const newest = node.chain.at("confirmed").slot;
  for (let slot = 0n; slot <= newest; slot++) {
    const answer = await ask(slot, { encoding: "base64", transactionDetails: "full", rewards: true });
    const read = readBlock(slot, readJson(answer));
    const block = unpackBlock(packBlock(read));
    expect(block).toEqual(read);
    for (const transaction of node.chain.history.block(slot)?.transactions ?? []) {
      seen.transactions++;
      if (transaction.isVote) seen.votes++;
      if (transaction.error !== null) seen.failed++;
      if (transaction.postBalances.some((balance) => balance > 2n ** 53n)) seen.beyondDoubles++;
    }
    for (const encoding of encodings) {
      for (const transactionDetails of details) {
        for (const rewards of [true, false]) {
          const options = { encoding, transactionDetails, rewards };
          const encoded = encodeBlock(block, { ...options, maxSupportedTransactionVersion: 1 });
          if (!encoded.ok) throw new Error(`version ${encoded.version} was refused`);
          expect(stringifyJsonExact(encoded.value)).toBe(await ask(slot, options));
        }
      }
    }
  }
  expect(seen.votes).toBeGreaterThan(100);
  expect(seen.transactions - seen.votes).toBeGreaterThan(400);
  expect(seen.failed).toBeGreaterThan(0);
  expect(seen.beyondDoubles).toBeGreaterThan(0);
}, 120_000);
