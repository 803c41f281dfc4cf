import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { type ConfirmedBlock, packBlock, unpackBlock, unpackTransaction } from "@sluice/encode";
import {
  enhancedRecord,
  movementsOf,
  parserVersion,
  parseTransaction,
  recordText,
  TransactionView,
} from "@sluice/parser";
import fc from "fast-check";
import { arbitraryBlock } from "../../../../encode/body/testing/arbitrary-block.ts";
import { realTransactions } from "../../../../parser/testing/fixtures.ts";
import { type Ledger, signatureKey } from "../../ledger/index.ts";
import { openTestLedger, unreadable } from "../testing/stand.ts";
import { BlockRows } from "./block-rows.ts";
import { parsedOrUnknown } from "./parsed-row.ts";

let ledger: Ledger;
beforeAll(async () => {
  ledger = await openTestLedger();
});
afterAll(async () => {
  await ledger[Symbol.asyncDispose]();
});

/** Drawn blocks, one for each slot, so that each can be asked for by it. */
const blocks: readonly ConfirmedBlock[] = fc
  .sample(arbitraryBlock, { numRuns: 40, seed: 20261127 })
  .map((block, slot) => ({ ...block, slot: BigInt(slot) }));

const writeAll = async (): Promise<void> => {
  const { rows, ...maker } = makerOf();
  for (const block of blocks) maker.add(packBlock(block));
  await ledger.chain.writeBlocks("devnet", { first: 0n, until: BigInt(blocks.length) }, rows.encode());
};

function makerOf() {
  const maker = new BlockRows({ network: "devnet", votes: true, unreadable });
  return { rows: maker.rows, add: (body: Uint8Array) => maker.add(body, 1_790_000_000_000) };
}

const bytesOf = (hex: string): Uint8Array => new Uint8Array(Buffer.from(hex, "hex"));

describe("the rows of drawn blocks", () => {
  test("give the blocks back as they were, also when they are written twice", async () => {
    await writeAll();
    await writeAll();
    const heads = await ledger.query<{ slot: string; body: string }>(
      "SELECT slot, hex(body) AS body FROM blocks FINAL ORDER BY slot",
    );
    const stored = await ledger.query<{ slot: string; body: string }>(
      "SELECT slot, hex(body) AS body FROM transactions FINAL ORDER BY slot, transaction_index",
    );
    expect(heads).toHaveLength(blocks.length);
    for (const [index, { body }] of heads.entries()) {
      const own = stored.filter(({ slot }) => slot === String(index));
      const transactions = own.map((row) => unpackTransaction(bytesOf(row.body)));
      const block: ConfirmedBlock = { ...unpackBlock(bytesOf(body)), transactions };
      expect(block).toEqual(blocks[index] as never);
    }
  });

  test("have what the transactions say in the columns, exactly", async () => {
    const rows = await ledger.query<Record<string, unknown>>(
      "SELECT * EXCEPT (body, batch, at) FROM transactions FINAL ORDER BY slot, transaction_index",
    );
    const expected = blocks.flatMap((block) =>
      block.transactions.map((transaction, index) => {
        const view = new TransactionView(transaction);
        const { meta, keys, message } = view;
        const seconds = block.blockTime;
        const isTime = seconds !== null && seconds >= 0n && seconds < 2n ** 32n;
        return {
          network: "devnet",
          slot: String(block.slot),
          transaction_index: index,
          blockhash: block.blockhash,
          block_time: isTime ? new Date(Number(seconds) * 1_000).toISOString().slice(0, 19).replace("T", " ") : null,
          signature: transaction.signature,
          success: meta === null || meta.error === null,
          error: meta === null || meta.error === null ? "" : JSON.stringify(meta.error),
          fee: String(meta?.fee ?? 0n),
          compute_units: meta?.computeUnitsConsumed?.toString() ?? null,
          fee_payer: keys[0],
          signers: keys.slice(0, message.numRequiredSignatures),
          version: String(message.version),
          accounts: keys,
          static_accounts: message.staticKeyCount,
          loaded_writable: meta?.loadedAddresses.writable.length ?? 0,
          program_ids: [...new Set(view.calls.map(({ programId }) => programId))],
        };
      }),
    );
    expect(rows.map(({ is_vote: _vote, memo: _memo, ...row }) => row)).toEqual(expected);
  });

  test("have a row for each instruction in the order of execution, with its bytes", async () => {
    const rows = await ledger.query<{ slot: string; program_id: string; accounts: string[]; data: string }>(
      "SELECT slot, program_id, accounts, lower(hex(data)) AS data, outer_index, inner_index, stack_height " +
        "FROM instructions FINAL ORDER BY slot, transaction_index, position",
    );
    const expected = blocks.flatMap((block) =>
      block.transactions.flatMap((transaction) => {
        const { calls, keys } = new TransactionView(transaction);
        return calls.map(({ programId, accounts, data, outer, inner, stackHeight }) => ({
          slot: String(block.slot),
          program_id: programId,
          accounts: Array.from(accounts, (at) => keys[at] ?? ""),
          data: Buffer.from(data).toString("hex"),
          outer_index: outer,
          inner_index: inner,
          stack_height: stackHeight === null ? null : stackHeight & 0xff,
        }));
      }),
    );
    expect(rows).toEqual(expected as never);
  });

  test("find each transaction by its signature and by each of its addresses", async () => {
    for (const block of blocks.slice(0, 10)) {
      for (const [index, transaction] of block.transactions.entries()) {
        const view = new TransactionView(transaction);
        const bySignature = await ledger.query<{ slot: string }>(
          "SELECT DISTINCT slot, transaction_index FROM transactions_by_signature " +
            "WHERE network = 'devnet' AND signature_key = {key:UInt64}",
          { key: signatureKey(view.parsed.signatureBytes(0)) },
        );
        expect(bySignature).toContainEqual({ slot: String(block.slot), transaction_index: index } as never);
      }
    }
    const [count] = await ledger.query<{ n: string }>("SELECT count() AS n FROM transactions_by_address FINAL");
    const addresses = blocks.flatMap(({ transactions }) =>
      transactions.map((transaction) => new Set(new TransactionView(transaction).keys).size),
    );
    expect(Number(count?.n)).toBe(addresses.reduce((sum, size) => sum + size, 0));
  });

  test("hold u64 exactly, negative rewards included", async () => {
    const rows = await ledger.query<{ lamports: string; balance: string }>(
      "SELECT slot, account, lamports, balance, commission FROM rewards FINAL ORDER BY slot, position",
    );
    const expected = blocks.flatMap(({ slot, rewards }) =>
      rewards.map(({ pubkey, lamports, postBalance, commission }) => ({
        ...{
          slot: String(slot),
          account: pubkey,
          lamports: String(lamports),
          balance: String(postBalance),
          commission,
        },
      })),
    );
    expect(rows).toEqual(expected as never);
  });

  test("a body that is none leaves no row behind", () => {
    const maker = makerOf();
    const [block] = blocks;
    if (block === undefined) throw new Error("no block");
    const body = packBlock(block);
    expect(() => maker.add(body.subarray(0, body.length - 5))).toThrow();
    expect(maker.rows.rows).toBe(0);
    maker.add(body);
    expect(maker.rows.count).toBe(1);
  });
});

/** Real transactions in one block, far from the drawn ones. */
const real: ConfirmedBlock = {
  ...(blocks[0] as ConfirmedBlock),
  slot: 5_000n,
  blockTime: 1_700_000_000n,
  transactions: realTransactions().map(({ executed }) => executed),
};

/** The first look at its calls, which is the parser's, fails. */
class FailsOnce extends TransactionView {
  #looks = 0;

  override get calls() {
    if (this.#looks++ === 0) throw new Error("broken");
    return super.calls;
  }
}

describe("what was parsed of real transactions", () => {
  test("is a row for each that is no vote, with the facts of the record of the enhanced API", async () => {
    const { rows, add } = makerOf();
    add(packBlock(real));
    await ledger.chain.writeBlocks("devnet", { first: real.slot, until: real.slot + 1n }, rows.encode());
    const found = await ledger.query<Record<string, unknown>>(
      "SELECT * EXCEPT (batch, at, block_time, network, blockhash) FROM parsed FINAL WHERE slot = 5000 " +
        "ORDER BY transaction_index",
    );
    const place = { slot: real.slot, blockTime: real.blockTime };
    const expected = real.transactions.map((transaction, index) => {
      const view = new TransactionView(transaction);
      const parsed = parseTransaction(view);
      const record = enhancedRecord(view, parsed, { place });
      const [nft] = parsed.nfts;
      const { swap } = parsed;
      return {
        ...{ slot: "5000", transaction_index: index, signature: transaction.signature, version: parserVersion },
        ...{ fee_payer: record["feePayer"], type: record["type"], source: record["source"] },
        ...{ description: record["description"], events: recordText(record["events"] ?? null) },
        ...{ success: record["transactionError"] === null, program_id: parsed.programId ?? "" },
        trader: swap?.user ?? "",
        input_mint: swap?.input?.mint ?? "",
        input_amount: swap?.input?.amount.toString() ?? null,
        input_decimals: swap?.input?.decimals ?? null,
        output_mint: swap?.output?.mint ?? "",
        output_amount: swap?.output?.amount.toString() ?? null,
        output_decimals: swap?.output?.decimals ?? null,
        nft_mint: nft?.mint ?? nft?.compressed?.assetId ?? "",
        nfts: parsed.nfts.length,
        ...{ nft_seller: nft?.seller ?? "", nft_buyer: nft?.buyer ?? "" },
        nft_price: nft?.priceLamports?.toString() ?? null,
      };
    });
    expect(found).toEqual(expected);
    expect(new Set(found.map(({ type }) => type)).size).toBeGreaterThan(expected.length === 0 ? -1 : 8);
  });

  test("is UNKNOWN where the parser fails, which is told, and what moved is there", () => {
    const told: string[] = [];
    const [transaction] = blocks.flatMap(({ transactions }) => transactions);
    if (transaction === undefined) throw new Error("no transaction");
    const view = new FailsOnce(transaction);
    const parsed = parsedOrUnknown(view, ({ signature }) => told.push(signature));
    expect(parsed.type).toBe("UNKNOWN");
    expect(parsed.movements).toEqual(movementsOf(view));
    expect(told).toEqual([view.transaction.signature]);
  });
});
