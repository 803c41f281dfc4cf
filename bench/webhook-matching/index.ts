/**
 * bench/webhook-matching: what it costs to find for which webhooks the transactions of a block are, and to make their
 * deliveries with the ids of events: 100, 10,000 and 100,000 webhooks as customers have them, and 100,000 of which one
 * names 100,000 addresses. CPU of the process, as the median of rounds over blocks of transactions of 25 keys.
 * `npm run bench -- webhook-matching [--rounds 5] [--blocks 4] [--most 100000]`.
 */
import { parseArgs } from "node:util";
import type { WebhookFilters } from "@sluice/contract/schemas";
import type { ConfirmedBlock } from "@sluice/encode";
import { seededRandom } from "@sluice/lib";
import { programParsers } from "@sluice/parser";
import { encodeBase58 } from "@sluice/wire/base58";
import { realTransactions } from "../../parser/testing/fixtures.ts";
import { BlockReader } from "../../server/src/events/index.ts";
import { compileWebhook, WebhookIndex } from "../../server/src/webhooks/index.ts";
import { drawFilter, drawList, drawTransaction, keysOfTransaction } from "../matching/workload.ts";

const { values } = parseArgs({
  options: {
    rounds: { type: "string", default: "5" },
    blocks: { type: "string", default: "4" },
    most: { type: "string", default: "100000" },
  },
});
const rounds = Number(values.rounds);
const transactionsOfBlock = 500;
const warmUps = 3;
const genesisHash = encodeBase58(new Uint8Array(32).fill(7));
const random = seededRandom(20_261_127);

const blocks = Array.from({ length: Number(values.blocks) }, (_, at): ConfirmedBlock => {
  const slot = BigInt(1_000 + at);
  return {
    slot,
    parentSlot: slot - 1n,
    blockhash: encodeBase58(random.bytes(32)),
    previousBlockhash: encodeBase58(random.bytes(32)),
    blockTime: 1_790_000_000n,
    blockHeight: slot,
    transactions: Array.from({ length: transactionsOfBlock }, () => drawTransaction(random)),
    rewards: [],
  };
});
const count = blocks.length * transactionsOfBlock;
const reader = new BlockReader();

const median = (numbers: readonly number[]): number =>
  numbers.toSorted((one, other) => one - other)[numbers.length >> 1] ?? 0;

/** Microseconds of CPU. */
function cpuOf(work: () => void): number {
  const before = process.cpuUsage();
  work();
  const { user, system } = process.cpuUsage(before);
  return user + system;
}

const textsOf = (keys: readonly string[] | Uint8Array | undefined): string[] =>
  keys === undefined || keys instanceof Uint8Array ? [] : [...keys];

/** A filter of a webhook; one in ten asks for an amount or for tokens as well. */
function drawWebhook(): WebhookFilters {
  const { accountInclude, accountRequired, accountExclude, programs, failed } = drawFilter(random);
  const [program] = textsOf(programs);
  const [, required] = textsOf(accountRequired);
  const include = required === undefined ? textsOf(accountInclude) : [required];
  const exclude = textsOf(accountExclude);
  return {
    ...(include.length > 0 && { account_include: include }),
    ...(exclude.length > 0 && { account_exclude: exclude }),
    ...(program !== undefined && { program_id: program }),
    ...(failed === false && { success: true }),
    ...(random.next() < 0.05 && { min_amount: 1_000 }),
    ...(random.next() < 0.05 && { token_transfers: true }),
  };
}

/** As above, and every webhook asks for trades: half of them of NFTs on a market, half of tokens by a program. */
function drawTrades(): WebhookFilters {
  const { success: _, ...filters } = drawWebhook();
  const parsers = programParsers.filter(({ kind }) => kind === "dex" || kind === "aggregator" || kind === "market");
  const source = parsers[Math.floor(random.next() * parsers.length)]?.source ?? "";
  return random.next() < 0.5
    ? { ...filters, nft: { marketplaces: [source] } }
    : { ...filters, defi: { protocols: [source] } };
}

const webhookOf = (id: string, filters: string) => ({
  id,
  events: ["transaction.confirmed", "transaction.failed"],
  filters,
  createdAt: 0,
  statusAt: 0,
});

function measureMatching(index: WebhookIndex): { readonly micros: number; readonly deliveries: number } {
  let deliveries = 0;
  const match = (): void => {
    deliveries = 0;
    for (const block of blocks) {
      const events = reader.events(block);
      deliveries += index.match(events, { stage: "confirmed", genesisHash, tells: () => true, prices: null }).length;
    }
  };
  for (let round = 0; round < warmUps; round += 1) match();
  const micros = median(Array.from({ length: rounds }, () => cpuOf(match) / count));
  return { micros, deliveries: deliveries / count };
}

/** The same without the deliveries: what finding alone costs. */
function measureFinding(index: WebhookIndex): number {
  const find = (): void => {
    for (const block of blocks)
      index.match(reader.events(block), { stage: "confirmed", genesisHash, tells: () => false, prices: null });
  };
  for (let round = 0; round < warmUps; round += 1) find();
  return median(Array.from({ length: rounds }, () => cpuOf(find) / count));
}

console.log(`transactions of ${keysOfTransaction} keys, in blocks of ${transactionsOfBlock}`);
console.log("webhooks   add us     found us   made us    deliveries a transaction");
let index = new WebhookIndex(seededRandom(1));
for (let webhooks = 100; webhooks <= Number(values.most); webhooks *= webhooks === 100 ? 100 : 10) {
  index = new WebhookIndex(seededRandom(1));
  const texts = Array.from({ length: webhooks }, () => JSON.stringify(drawWebhook()));
  const addMicros = cpuOf(() => {
    for (const [at, text] of texts.entries()) index.add(compileWebhook(webhookOf(`wh_${at}`, text)));
  });
  const found = measureFinding(index);
  const { micros, deliveries } = measureMatching(index);
  const columns = [webhooks, (addMicros / webhooks).toFixed(1), found.toFixed(2), micros.toFixed(2)];
  console.log([...columns, deliveries.toFixed(2)].map((column) => String(column).padEnd(11)).join(""));
}

const real = Array.from({ length: 10 }, () => realTransactions().map(({ executed }) => executed)).flat();

/** Microseconds of CPU for a real transaction, from the decoded block on: nothing of it was read before. */
function measureTrades(filters: readonly WebhookFilters[]): number {
  const trades = new WebhookIndex(seededRandom(1));
  for (const [at, each] of filters.entries()) {
    trades.add(compileWebhook({ ...webhookOf(`wh_${at}`, JSON.stringify(each)), events: ["transaction.confirmed"] }));
  }
  const match = (): void => {
    for (const block of blocks.slice(0, 1)) {
      const events = new BlockReader().events({ ...block, transactions: real });
      trades.match(events, { stage: "confirmed", genesisHash, tells: () => false, prices: null });
    }
  };
  for (let round = 0; round < warmUps; round += 1) match();
  return median(Array.from({ length: rounds }, () => cpuOf(match) / real.length));
}

if (real.length > 0) {
  const ordinary = Array.from({ length: 1_000 }, drawWebhook);
  const named = Array.from({ length: 1_000 }, drawTrades);
  const columns: readonly (readonly [string, readonly WebhookFilters[]])[] = [
    ["1,000 webhooks without filters of trades", ordinary],
    ["1,000 that name markets and programs", named],
    ["1,000 such, and one of them asks for any swap", [{ defi: { event_types: ["swap"] } }, ...named.slice(1)]],
  ];
  for (const [name, filters] of columns)
    console.log(`${name}: ${measureTrades(filters).toFixed(1)} us a real transaction`);
}

const addresses = 100_000;
const list = drawList(random, addresses);
const named = Array.from({ length: addresses }, (_, at) => encodeBase58(list.subarray(at * 32, at * 32 + 32)));
const large = webhookOf("wh_large", JSON.stringify({ account_include: named }));
const added = Array.from({ length: rounds }, () => cpuOf(() => index.add(compileWebhook(large))) / 1e3);
const removed = cpuOf(() => index.remove("wh_large")) / 1e3;
index.add(compileWebhook(large));
console.log(
  `beside one of ${addresses.toLocaleString("en")} addresses: ${measureFinding(index).toFixed(2)} us a transaction to ` +
    `find; it is added in ${median(added).toFixed(0)} ms (with what it replaces) and removed in ${removed.toFixed(0)} ms`,
);
