import { describe, expect, test } from "bun:test";
import {
  blockEventData,
  blockStreamData,
  failedEventData,
  transactionEventData,
  transactionStreamData,
} from "@sluice/contract/schemas";
import type { ConfirmedBlock } from "@sluice/encode";
import { stringifyJsonExact } from "@sluice/wire/json";
import fc from "fast-check";
import { arbitraryBlock } from "../../../../encode/body/testing/arbitrary-block.ts";
import { realTransactions } from "../../../../parser/testing/fixtures.ts";
import { type BlockEvents, BlockReader } from "../index.ts";
import { referenceBlock, referenceTransaction } from "../testing/reference-data.ts";

const real: ConfirmedBlock = {
  slot: 2n ** 64n - 1n,
  parentSlot: 2n ** 64n - 2n,
  blockhash: "4vJ9JU1bJJE96FWSJKvHsmmFADCg4gpZQff4P3bkLKi",
  previousBlockhash: "8qbHbw2BbbTHBW1sbeqakYXVKRQM8Ne7pLK7m6CVfeR",
  blockTime: 1_790_000_000n,
  blockHeight: null,
  transactions: realTransactions().map(({ executed }) => executed),
  rewards: [],
};
const blocks = [real, ...fc.sample(arbitraryBlock, { numRuns: 60, seed: 20_261_127 })];
const told = blocks.map((block): [ConfirmedBlock, BlockEvents] => [block, new BlockReader().events(block)]);
const all = { logs: true, tokenTransfers: true };

describe("transactions", () => {
  test("say exactly what the specification lists, u64 in full, in the text of /ws and of webhooks", () => {
    for (const [block, { transactions }] of told) {
      for (const [index, event] of transactions.entries()) {
        const expected = referenceTransaction(block, index);
        const place = { index, blockhash: block.blockhash };
        expect(event.eventText(all)).toBe(stringifyJsonExact(expected));
        for (const commitment of ["confirmed", "finalized"] as const) {
          expect(event.text(commitment)).toBe(stringifyJsonExact({ ...expected, ...place, commitment }));
        }
      }
    }
  });

  test("say in transaction.failed what its shorter form lists", () => {
    for (const [block, { transactions }] of told) {
      for (const [index, event] of transactions.entries()) {
        const { signature, slot, error, accounts, program_ids, fee } = referenceTransaction(block, index);
        expect(event.failedText()).toBe(stringifyJsonExact({ signature, slot, error, accounts, program_ids, fee }));
      }
    }
  });

  test("have the forms of the contract", () => {
    for (const [, { transactions }] of told) {
      for (const event of transactions) {
        expect(transactionStreamData.strict().safeParse(JSON.parse(event.text("confirmed"))).error).toBeUndefined();
        expect(transactionEventData.strict().safeParse(JSON.parse(event.eventText(all))).error).toBeUndefined();
        expect(failedEventData.strict().safeParse(JSON.parse(event.failedText())).error).toBeUndefined();
      }
    }
  });

  test("leave out logs and token transfers as empty lists, and nothing else", () => {
    for (const [block, { transactions }] of told) {
      for (const [index, event] of transactions.entries()) {
        const expected = referenceTransaction(block, index);
        const withoutLogs = { ...expected, log_messages: [] };
        const withoutTransfers = { ...expected, token_transfers: [] };
        expect(event.eventText({ ...all, logs: false })).toBe(stringifyJsonExact(withoutLogs));
        expect(event.eventText({ ...all, tokenTransfers: false })).toBe(stringifyJsonExact(withoutTransfers));
      }
    }
  });
});

describe("blocks", () => {
  test("say exactly what the specification lists, u64 in full, in the text of /ws and of webhooks", () => {
    for (const [block, events] of told) {
      const expected = referenceBlock(block);
      const transactions = block.transactions.map(({ signature }) => signature);
      expect(events.text("finalized")).toBe(stringifyJsonExact({ ...expected, commitment: "finalized" }));
      expect(events.eventText({ rewards: true, transactions: false })).toBe(stringifyJsonExact(expected));
      expect(events.eventText({ rewards: true, transactions: true })).toBe(
        stringifyJsonExact({ ...expected, transactions }),
      );
      expect(events.eventText({ rewards: false, transactions: false })).toBe(
        stringifyJsonExact({ ...expected, rewards: [] }),
      );
    }
  });

  test("have the forms of the contract", () => {
    for (const [, events] of told) {
      const text = events.eventText({ rewards: true, transactions: true });
      expect(blockStreamData.strict().safeParse(JSON.parse(events.text("confirmed"))).error).toBeUndefined();
      expect(blockEventData.strict().safeParse(JSON.parse(text)).error).toBeUndefined();
    }
  });

  test("are read once for all who ask", () => {
    const reader = new BlockReader();
    expect(reader.events(real)).toBe(reader.events(real));
  });
});
