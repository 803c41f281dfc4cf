/**
 * bench/wire: our codecs beside @solana/kit's and JSON.parse, in one process and one run. Each pair does the same work
 * on the same input; the order alternates from round to round, and medians of five rounds are printed with their ratio.
 * Run it with `sh bin/with-bun bench/wire/index.ts`; it takes about ten seconds.
 */

import { decodeAddress, encodeBase58 } from "@sluice/wire/base58";
import { canonicalJson, parseJsonExact, sliceEnvelope } from "@sluice/wire/json";
import { encodeTransaction, parseTransaction } from "@sluice/wire/transaction";
import { getBase58Codec, getCompiledTransactionMessageDecoder, getTransactionDecoder } from "@solana/kit";

const rounds = 5;
const roundMs = 80;

interface Contender {
  readonly name: string;
  readonly work: () => unknown;
}

interface Pair {
  readonly title: string;
  readonly ours: Contender;
  readonly theirs: Contender;
  /** Bytes that one piece of work reads, to give MB/s beside the time. */
  readonly bytes: number;
}

/** Mean nanoseconds of one piece of work over about `roundMs`. */
function measure(work: () => unknown): number {
  let count = 0;
  let batch = 1;
  const start = performance.now();
  let elapsed = 0;
  while (elapsed < roundMs) {
    for (let i = 0; i < batch; i++) work();
    count += batch;
    elapsed = performance.now() - start;
    if (elapsed < roundMs / 10) batch *= 2;
  }
  return (elapsed * 1e6) / count;
}

const median = (values: readonly number[]): number => values.toSorted((a, b) => a - b)[values.length >> 1] ?? 0;

function run({ title, ours, theirs, bytes }: Pair): void {
  const times = { ours: [] as number[], theirs: [] as number[] };
  measure(ours.work);
  measure(theirs.work);
  for (let round = 0; round < rounds; round++) {
    const order = round % 2 === 0 ? (["ours", "theirs"] as const) : (["theirs", "ours"] as const);
    for (const who of order) times[who].push(measure(who === "ours" ? ours.work : theirs.work));
  }
  const line = (name: string, nanoseconds: number): string =>
    `  ${name.padEnd(34)}${(nanoseconds / 1000).toFixed(2).padStart(10)} µs${((bytes * 1000) / nanoseconds).toFixed(0).padStart(8)} MB/s`;
  const [mine, other] = [median(times.ours), median(times.theirs)];
  console.log(
    `${title} (${bytes} bytes)\n${line(ours.name, mine)}\n${line(theirs.name, other)}\n  ratio ${(other / mine).toFixed(2)}`,
  );
}

const utf8 = new TextEncoder();
const random = (length: number): Uint8Array => crypto.getRandomValues(new Uint8Array(length));
const kitTransaction = getTransactionDecoder();
const kitMessage = getCompiledTransactionMessageDecoder();
const kitBase58 = getBase58Codec();
const text = new TextDecoder();

function transactionPair(title: string, keys: number, instructions: number): Pair {
  const staticKeys = Array.from({ length: keys }, () => random(32));
  const wire = encodeTransaction({
    signatures: [random(64)],
    message: {
      version: 0,
      numRequiredSignatures: 1,
      numReadonlySignedAccounts: 0,
      numReadonlyUnsignedAccounts: 1,
      staticKeys,
      blockhash: random(32),
      instructions: Array.from({ length: instructions }, () => ({
        programIndex: keys - 1,
        accountIndexes: Array.from({ length: keys - 1 }, (_, index) => index),
        data: random(12),
      })),
    },
  });
  const parsed = parseTransaction(wire);
  if (!parsed.ok) throw new Error(parsed.fault);
  return {
    title,
    bytes: wire.length,
    ours: {
      name: "parseTransaction, with views",
      work: () => {
        const result = parseTransaction(wire);
        return result.ok && [result.transaction.message.instructions, result.transaction.signatureBytes(0)];
      },
    },
    theirs: {
      name: "kit, transaction and message",
      work: () => kitMessage.decode(kitTransaction.decode(wire).messageBytes),
    },
  };
}

/** A node's account as it answers with encoding base64. */
function account(size: number): object {
  return {
    pubkey: encodeBase58(random(32)),
    account: {
      lamports: 2_039_280,
      data: [random(size).toBase64(), "base64"],
      owner: "TokenkegQfeZyiNwAJbNbGKPFXCWuBvf9Ss623VQ5DA",
      executable: false,
      rentEpoch: "U64MAX",
      space: size,
    },
  };
}

function envelope(result: unknown): Uint8Array {
  return utf8.encode(
    `${JSON.stringify({ jsonrpc: "2.0", result, id: 1 }).replaceAll('"U64MAX"', "18446744073709551615")}\n`,
  );
}

/** A block's shape: many short strings, numbers and levels. */
function block(transactions: number): object {
  return {
    blockhash: encodeBase58(random(32)),
    transactions: Array.from({ length: transactions }, () => ({
      meta: {
        err: null,
        fee: 5000,
        preBalances: Array.from({ length: 9 }, () => 17_993_781_660),
        logMessages: ["Program log: Instruction: Transfer"],
      },
      transaction: {
        signatures: [encodeBase58(random(64))],
        message: {
          accountKeys: Array.from({ length: 9 }, () => encodeBase58(random(32))),
          instructions: [{ accounts: [1, 2, 0], data: "3Bxs4h24hBtQy9rw", programIdIndex: 8, stackHeight: null }],
        },
      },
    })),
  };
}

function slicePair(title: string, bytes: Uint8Array): Pair {
  if (sliceEnvelope(bytes).kind !== "result") throw new Error(`${title} is not cut`);
  return {
    title,
    bytes: bytes.length,
    ours: { name: "sliceEnvelope", work: () => sliceEnvelope(bytes) },
    theirs: { name: "TextDecoder and JSON.parse", work: () => JSON.parse(text.decode(bytes)) },
  };
}

const key = random(32);
const keyText = encodeBase58(key);
const params = utf8.encode(`["${keyText}",{"encoding":"base64","commitment":"confirmed","minContextSlot":341197053}]`);
const blockBytes = envelope(block(1500));

const pairs: readonly Pair[] = [
  transactionPair("a transfer", 3, 1),
  transactionPair("a swap", 20, 5),
  {
    title: "a key to base58",
    bytes: 32,
    ours: { name: "encodeBase58", work: () => encodeBase58(key) },
    theirs: { name: "kit", work: () => kitBase58.decode(key) },
  },
  {
    title: "a key from base58",
    bytes: 44,
    ours: { name: "decodeAddress", work: () => decodeAddress(keyText) },
    theirs: { name: "kit", work: () => kitBase58.encode(keyText) },
  },
  slicePair("getSlot", envelope(341_197_053)),
  slicePair("getAccountInfo", envelope({ context: { slot: 341_197_053 }, value: account(165) })),
  slicePair("getProgramAccounts, 4,000 accounts", envelope(Array.from({ length: 4000 }, () => account(165)))),
  slicePair("an account of 1 MB", envelope(account(1_000_000))),
  slicePair("getBlock, 1,500 transactions", blockBytes),
  {
    title: "getBlock, lossless",
    bytes: blockBytes.length,
    ours: { name: "parseJsonExact", work: () => parseJsonExact(blockBytes) },
    theirs: { name: "TextDecoder and JSON.parse", work: () => JSON.parse(text.decode(blockBytes)) },
  },
  {
    title: "params to a cache key",
    bytes: params.length,
    ours: { name: "canonicalJson", work: () => canonicalJson(params) },
    theirs: { name: "JSON.parse and stringify (lossy)", work: () => JSON.stringify(JSON.parse(text.decode(params))) },
  },
];

for (const pair of pairs) run(pair);
