/** What the ledger answers for nodes that have pruned, beside what a node that has not answers, byte for byte. */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import type { CommitmentName } from "@sluice/contract/rpc";
import { readJson } from "@sluice/encode";
import { systemClock } from "@sluice/lib";
import { TransactionView } from "@sluice/parser";
import { programs } from "@sluice/wire/programs";
import type { NodeAnswer, UpstreamOutcome } from "../../upstreams/index.ts";
import { type DevnetRun, runDevnet } from "../testing/devnet-blocks.ts";
import { HeldChainModel } from "../testing/held-chain.ts";
import { LedgerArchive } from "./archive.ts";
import { errorAnswer, resultAnswer } from "./node-answers.ts";

const slots = 40;
const id = 7;
let run: DevnetRun;
let held: HeldChainModel;
let archive: LedgerArchive;
const events = {
  archiveAsked: () => undefined,
  archiveFailed: (_network: unknown, method: string, error: unknown) => {
    throw new Error(method, { cause: error });
  },
};

beforeAll(async () => {
  run = await runDevnet(slots);
  held = new HeldChainModel(run.blocks, run.finalized + 1n);
  archive = new LedgerArchive({ chain: held, clock: systemClock, events });
}, 60_000);
afterAll(() => run[Symbol.asyncDispose]());

/** An answer as a client receives it. */
function textOf({ body }: NodeAnswer): string {
  if (body.kind === "large") throw new Error("no answer of the ledger is still arriving");
  const part = (half: string | Uint8Array): string => (typeof half === "string" ? half : Buffer.from(half).toString());
  return `${part(body.head)}${id}${part(body.tail)}`;
}

const answered = (answer: NodeAnswer): UpstreamOutcome => ({ ok: true, answer, latencyMs: 1 });
const cleanedUp = answered(errorAnswer(-32001, "Block cleaned up, does not exist on node"));
const noTransaction = answered(resultAnswer("null"));
const emptyList = answered(resultAnswer("[]"));

async function archived(
  method: string,
  params: readonly unknown[],
  { nodes, commitment = "confirmed" }: { readonly nodes: UpstreamOutcome; readonly commitment?: CommitmentName },
): Promise<string | null> {
  const call = { network: "devnet", method, params: JSON.stringify(params), commitment } as const;
  const answer = await archive.complete(call, nodes);
  return answer === null ? null : textOf(answer);
}

const encodings = ["json", "jsonParsed", "base58", "base64"] as const;
const confirmed = { commitment: "confirmed" };

describe("a node that has pruned is answered for as a node answers that has not", () => {
  test("every block, in every encoding and detail, with and without rewards", async () => {
    let compared = 0;
    const details = ["full", "accounts", "signatures", "none"] as const;
    for (const { slot } of run.blocks) {
      for (const [at, encoding] of encodings.entries()) {
        // Each slot has each encoding in another detail; every pair comes up in four slots.
        for (const transactionDetails of ["full", details[(at + Number(slot)) % 4] ?? "full"]) {
          const rewards = slot % 8n < 4n;
          const config = { ...confirmed, encoding, transactionDetails, rewards, maxSupportedTransactionVersion: 1 };
          const params = [Number(slot), config];
          expect(await archived("getBlock", params, { nodes: cleanedUp })).toBe(await run.ask("getBlock", params));
          compared += 1;
        }
      }
    }
    expect(compared).toBeGreaterThan(slots * 6);
  }, 60_000);

  test("every transaction in every encoding: votes, failed ones, lookup tables, amounts beyond 2^53", async () => {
    const seen = { votes: 0, failed: 0, versioned: 0, beyondDoubles: 0, token2022: 0 };
    for (const { transactions } of run.blocks) {
      for (const { signature } of transactions) {
        for (const encoding of encodings) {
          const params = [signature, { ...confirmed, encoding, maxSupportedTransactionVersion: 0 }];
          const text = await run.ask("getTransaction", params);
          expect(await archived("getTransaction", params, { nodes: noTransaction })).toBe(text);
          if (encoding !== "json") continue;
          seen.votes += Number(text.includes(programs.vote));
          seen.failed += Number(!text.includes('"err":null'));
          seen.versioned += Number(text.includes('"version":0'));
          seen.beyondDoubles += Number(/[[,:][1-9][0-9]{16,}/.test(text));
          seen.token2022 += Number(text.includes(programs.token2022));
        }
      }
    }
    for (const [kind, count] of Object.entries(seen)) expect([kind, count > 0]).toEqual([kind, true]);
  }, 60_000);

  test("the times of blocks, ranges of blocks, and blocks by number", async () => {
    for (const { slot } of run.blocks) {
      const params = [Number(slot)];
      expect(await archived("getBlockTime", params, { nodes: cleanedUp })).toBe(await run.ask("getBlockTime", params));
    }
    for (const [method, params] of [
      ["getBlocks", [3, 40, confirmed]],
      ["getBlocks", [0, null, confirmed]],
      ["getBlocksWithLimit", [5, 20, confirmed]],
    ] as const) {
      expect(await archived(method, params, { nodes: emptyList })).toBe(await run.ask(method, params));
    }
  });

  test("the signatures of every address, with their memos", async () => {
    const keys = new Set(
      run.blocks
        .flatMap(({ transactions }) => transactions)
        .flatMap((transaction) => new TransactionView(transaction).keys),
    );
    const addresses = [...keys].filter((_key, index) => index % 9 === 0);
    addresses.push(programs.vote, programs.memo, programs.token2022);
    let memos = 0;
    for (const address of addresses) {
      for (const config of [confirmed, { ...confirmed, limit: 5 }, { commitment: "finalized", limit: 40 }]) {
        const params = [address, config];
        const commitment = config.commitment as CommitmentName;
        const text = await run.ask("getSignaturesForAddress", params);
        memos += Number(/"memo":"/.test(text));
        if (text.includes('"result":[]')) continue;
        expect(await archived("getSignaturesForAddress", params, { nodes: emptyList, commitment })).toBe(text);
      }
    }
    expect(addresses.length).toBeGreaterThan(10);
    expect(memos).toBeGreaterThan(0);
  }, 60_000);
});

describe("a node that has pruned a part is completed", () => {
  test("signatures behind its last, wherever it ends, with before and until", async () => {
    const whole = await run.ask("getSignaturesForAddress", [programs.vote, { ...confirmed, limit: 60 }]);
    const rows = resultOf(whole) as { readonly signature: string }[];
    const texts = rows.map((row) => JSON.stringify(row));
    for (const cut of [0, 1, 17, 59]) {
      const nodes = answered(resultAnswer(`[${texts.slice(0, cut).join(",")}]`));
      expect(await archived("getSignaturesForAddress", [programs.vote, { limit: 60 }], { nodes })).toBe(whole);
    }
    const bounded = [programs.vote, { ...confirmed, before: rows[4]?.signature, until: rows[30]?.signature }];
    const asked = await run.ask("getSignaturesForAddress", bounded);
    for (const cut of [5, 9, 29]) {
      const nodes = answered(resultAnswer(`[${texts.slice(5, cut).join(",")}]`));
      expect(await archived("getSignaturesForAddress", bounded, { nodes })).toBe(asked);
    }
    const unknown = answered(errorAnswer(-32020, "Transaction not found"));
    expect(await archived("getSignaturesForAddress", bounded, { nodes: unknown })).toBe(asked);
    const complete = answered(resultAnswer(`[${texts.slice(5, 30).join(",")}]`));
    expect(await archived("getSignaturesForAddress", bounded, { nodes: complete })).toBeNull();
  });

  test("blocks before its first", async () => {
    for (const [method, params] of [
      ["getBlocks", [2, 30, confirmed]],
      ["getBlocksWithLimit", [2, 20, confirmed]],
    ] as const) {
      const whole = await run.ask(method, params);
      const list = resultOf(whole) as number[];
      for (const first of [1, 7, list.length]) {
        const nodes = answered(resultAnswer(JSON.stringify(list.slice(first))));
        expect(await archived(method, params, { nodes })).toBe(whole);
      }
      expect(await archived(method, params, { nodes: answered(resultAnswer(JSON.stringify(list))) })).toBeNull();
    }
    const beyond = answered(resultAnswer(JSON.stringify(Array.from({ length: 20 }, (_, index) => 10 + index))));
    expect(await archived("getBlocksWithLimit", [2, 20, confirmed], { nodes: beyond })).toBe(
      await run.ask("getBlocksWithLimit", [2, 20, confirmed]),
    );
  });
});

describe("what the ledger does not know is left to the nodes", () => {
  const [signature] = ["5".repeat(88)];

  test("answers that are whole, unknown transactions and slots, and what is not final yet", async () => {
    const [first] = run.blocks;
    const newest = Number(run.blocks.at(-1)?.slot);
    const good = answered(resultAnswer('{"slot":1}'));
    expect(await archived("getTransaction", [first?.transactions[0]?.signature], { nodes: good })).toBeNull();
    expect(await archived("getTransaction", [signature], { nodes: noTransaction })).toBeNull();
    expect(await archived("getBlock", [newest + 9], { nodes: cleanedUp })).toBeNull();
    expect(await archived("getBlock", [newest], { nodes: cleanedUp, commitment: "finalized" })).toBeNull();
    expect(await archived("getBlock", [newest], { nodes: cleanedUp })).not.toBeNull();
    expect(await archived("getSlot", [], { nodes: cleanedUp })).toBeNull();
  });

  test("a version that the caller does not take is the error of a node", async () => {
    const versioned = run.blocks
      .flatMap(({ transactions }) => transactions)
      .find(({ meta }) => (meta?.loadedAddresses.writable.length ?? 0) > 0);
    const params = [versioned?.signature, confirmed];
    const text = await archived("getTransaction", params, { nodes: noTransaction });
    expect(text).toBe(await run.ask("getTransaction", params));
    expect(text).toContain("-32015");
  });

  test("a slot that the chain skipped is told as one where nodes have pruned it, and their own word on it stays", async () => {
    const relinked = run.blocks.flatMap((block) =>
      block.slot === 3n ? [] : [block.slot === 4n ? { ...block, parentSlot: 2n } : block],
    );
    const skipping = new HeldChainModel(relinked, run.finalized + 1n);
    const other = new LedgerArchive({ chain: skipping, clock: systemClock, events });
    const skipped = answered(errorAnswer(-32007, "Slot 3 was skipped, or missing due to ledger jump"));
    for (const method of ["getBlock", "getBlockTime"]) {
      const call = { network: "devnet", method, params: "[3]", commitment: "finalized" } as const;
      const answer = await other.complete(call, cleanedUp);
      expect(answer === null ? null : textOf(answer)).toContain('"code":-32009');
      expect(await other.complete(call, skipped)).toBeNull();
      // A block that is there is told whatever a node says.
      const [there] = ["[2]"].map((params) => ({ ...call, params }));
      expect(there === undefined ? null : await other.complete(there, skipped)).not.toBeNull();
    }
  });

  test("a slot whose block was removed with age is not one that the chain skipped", async () => {
    const aged = new HeldChainModel(
      run.blocks.filter(({ slot }) => slot !== 3n),
      run.finalized + 1n,
    );
    const other = new LedgerArchive({ chain: aged, clock: systemClock, events });
    for (const method of ["getBlock", "getBlockTime"]) {
      const call = { network: "devnet", method, params: "[3]", commitment: "finalized" } as const;
      expect(await other.complete(call, cleanedUp)).toBeNull();
    }
  });

  test("a ledger that is away changes nothing, and no call waits for it without a bound", async () => {
    const failures: unknown[] = [];
    const away = new LedgerArchive({
      chain: held,
      clock: systemClock,
      events: { archiveAsked: () => undefined, archiveFailed: (...of) => void failures.push(of) },
    });
    held.fault = new Error("away");
    const call = { network: "devnet", method: "getBlock", params: "[1]", commitment: "finalized" } as const;
    expect(await away.complete(call, cleanedUp)).toBeNull();
    expect(failures.length).toBe(1);
    held.fault = null;
  });
});

function resultOf(text: string): unknown {
  const answer = readJson(text);
  if (typeof answer !== "object" || answer === null || !("result" in answer)) throw new Error(text);
  return answer["result"];
}
