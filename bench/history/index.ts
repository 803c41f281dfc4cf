/**
 * `npm run bench -- history [--transactions 1000000,10000000] [--seconds 20]`: look-ups by signature, and pages of a
 * wallet and of a busy program, over ledgers of different sizes: what each reads, and how long it takes, alone and
 * beside a customer's statement of thirty seconds. The rows are made by the engine, in the shape of the tables.
 */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { seededRandom, systemClock } from "@sluice/lib";
import { type Ledger, openLedger, type TransactionPlace } from "../../server/src/ledger/index.ts";

const { values } = parseArgs({
  options: {
    transactions: { type: "string", default: "1000000,10000000" },
    seconds: { type: "string", default: "20" },
    seed: { type: "string", default: "1" },
  },
});
const sizes = values.transactions.split(",").map(Number);
const seconds = Number(values.seconds);
const network = "devnet";
/** Of a transaction's body: a transfer with its meta, before compression. */
const bodyBytes = 600;
/** Transactions of a block, wallets for each thousand transactions, and rows of one INSERT. */
const [perBlock, walletsPerThousand, chunk] = [1_000, 50, 100_000];
const quiet = { debug: () => undefined, info: () => undefined, warn: console.warn, error: console.error };

/** A signature whose first eight bytes are a number, as hexadecimal: what the table of signatures is ordered by. */
const signatureKey = "cityHash64(number)";

/** Writes so many transactions: a fee payer of few or many transactions each, and a program that all call. */
async function fill(ledger: Ledger, transactions: number): Promise<void> {
  const place = `intDiv(number, ${perBlock}) AS slot, toUInt32(number % ${perBlock}) AS transaction_index`;
  const blockhash = `concat('hash', toString(intDiv(number, ${perBlock}))) AS blockhash`;
  const at = "toDateTime64(1790000000 + intDiv(number, 2500), 3, 'UTC') AS at";
  const wallets = Math.ceil((transactions / 1_000) * walletsPerThousand);
  const payer = `concat('wallet', toString(cityHash64(number, 1) % ${wallets}))`;
  for (let from = 0; from < transactions; from += chunk) {
    const rows = `FROM numbers(${from}, ${Math.min(chunk, transactions - from)})`;
    await ledger.command(
      "INSERT INTO transactions (network, slot, transaction_index, blockhash, block_time, at, signature, success, " +
        "error, fee, is_vote, fee_payer, signers, version, accounts, program_ids, body) " +
        `SELECT '${network}', ${place}, ${blockhash}, toDateTime(at), ${at}, concat('signature', toString(number)), ` +
        `true, '', 5000, false, ${payer} AS fee_payer, [fee_payer], '0', [fee_payer, 'program'], ['program'], ` +
        `leftPad(toString(number), ${bodyBytes}, 'what a transaction holds ') ${rows}`,
    );
    await ledger.command(
      "INSERT INTO transactions_by_signature (network, signature_key, slot, transaction_index, blockhash, at) " +
        `SELECT '${network}', ${signatureKey}, ${place}, ${blockhash}, ${at} ${rows}`,
    );
    for (const address of [payer, "'program'"]) {
      await ledger.command(
        "INSERT INTO transactions_by_address (network, address, slot, transaction_index, blockhash, at, success) " +
          `SELECT '${network}', ${address}, ${place}, ${blockhash}, ${at}, true ${rows}`,
      );
    }
  }
  await ledger.command(
    "INSERT INTO blocks (network, slot, blockhash, block_time, at, parent_slot, transactions, body) SELECT " +
      `'${network}', number, concat('hash', toString(number)), toDateTime(1790000000 + intDiv(number, 3)), ` +
      `toDateTime64(1790000000 + intDiv(number, 3), 3, 'UTC'), number - 1, ${perBlock}, ` +
      `randomString(300) FROM numbers(${Math.ceil(transactions / perBlock)})`,
  );
}

interface Kind {
  readonly name: string;
  readonly run: (ledger: Ledger, transactions: number, draw: number) => Promise<number>;
}

const range = { network, from: 0n, to: 2n ** 64n - 1n, order: "desc", after: null, limit: 50 } as const;
const walletOf = (transactions: number, draw: number): string =>
  `wallet${Math.floor((draw * Math.ceil((transactions / 1_000) * walletsPerThousand)) / 0x1_0000_0000)}`;

async function bodies(ledger: Ledger, places: readonly TransactionPlace[]): Promise<number> {
  return (await ledger.chainReads.transactions.bodies(network, places, "desc")).length;
}

const kinds: readonly Kind[] = [
  {
    name: "by signature",
    // The two statements of a look-up by signature; made-up signatures have no base58 text.
    run: async (ledger, transactions, draw) => {
      const number = Math.floor((draw * transactions) / 0x1_0000_0000);
      const [row] = await ledger.query<{ slot: string; transaction_index: number }>(
        "SELECT slot, transaction_index FROM transactions_by_signature PREWHERE network = {network:String} " +
          "AND signature_key = cityHash64(toUInt64({number:UInt64})) WHERE (slot, blockhash) GLOBAL NOT IN " +
          "(SELECT slot, blockhash FROM dropped_blocks FINAL WHERE network = {network:String} AND dropped) LIMIT 1",
        { network, number },
        { max_threads: 1, priority: 1 },
      );
      return row === undefined ? 0 : bodies(ledger, [{ slot: BigInt(row.slot), index: row.transaction_index }]);
    },
  },
  {
    name: "a wallet's newest 50",
    run: async (ledger, transactions, draw) =>
      bodies(ledger, await ledger.chainReads.transactions.ofAddress(range, walletOf(transactions, draw))),
  },
  {
    name: "a busy program's newest 50",
    run: async (ledger) => bodies(ledger, await ledger.chainReads.transactions.ofAddress(range, "program")),
  },
];

/** Bytes that the engine has read for queries since it started. */
async function bytesRead(ledger: Ledger): Promise<number> {
  const sql = "SELECT value FROM system.events WHERE event = 'SelectedBytes'";
  const [row] = await ledger.query<{ value: string }>(sql);
  return Number(row?.value ?? 0);
}

interface Measured {
  readonly bytes: number;
  readonly p50: number;
  readonly p99: number;
}

async function measure(ledger: Ledger, kind: Kind, transactions: number): Promise<Measured> {
  const random = seededRandom(Number(values.seed));
  const draw = (): number => new DataView(random.bytes(4).slice().buffer).getUint32(0);
  for (let warm = 0; warm < 20; warm += 1) await kind.run(ledger, transactions, draw());
  const before = await bytesRead(ledger);
  const times: number[] = [];
  const untilMs = performance.now() + (seconds * 1_000) / 2;
  while (performance.now() < untilMs) {
    const startedMs = performance.now();
    if ((await kind.run(ledger, transactions, draw())) === 0) throw new Error(`${kind.name} found nothing`);
    times.push(performance.now() - startedMs);
  }
  const bytes = ((await bytesRead(ledger)) - before) / times.length;
  times.sort((one, other) => one - other);
  const at = (share: number): number => times[Math.min(times.length - 1, Math.floor(times.length * share))] ?? 0;
  return { bytes: Math.round(bytes), p50: at(0.5), p99: at(0.99) };
}

/**
 * Statements of a customer, under a customer's settings, that compare every transaction with every other one: each runs
 * until its thirty seconds are over.
 */
async function busy(ledger: Ledger, signal: AbortSignal): Promise<void> {
  const sql =
    "SELECT count() FROM transactions AS one, transactions AS other WHERE cityHash64(one.fee, other.slot) = 0";
  const terms = { parameters: {}, accountId: "bench", network, format: "json", rowsMax: 100, signal } as const;
  while (!signal.aborted) {
    const running = ledger.customers.run({ ...terms, sql, executionMs: 30_000 });
    await running.then(({ body }) => body.destroy()).catch(() => Bun.sleep(10));
  }
}

console.log("transactions | look-up | KB read | p50 ms | p99 ms | p99 ms beside a statement of 30 s");
const read = new Map<string, number[]>();
for (const transactions of sizes) {
  const directory = mkdtempSync(join(tmpdir(), "sluice-bench-history-"));
  try {
    const options = { directory, clickhouseUrl: null, cluster: null };
    await using ledger = await openLedger(options, { clock: systemClock, log: quiet });
    await fill(ledger, transactions);
    for (const kind of kinds) {
      const alone = await measure(ledger, kind, transactions);
      const ending = new AbortController();
      const running = busy(ledger, ending.signal);
      const beside = await measure(ledger, kind, transactions);
      ending.abort();
      await running;
      read.set(kind.name, [...(read.get(kind.name) ?? []), alone.bytes]);
      const row = [(alone.bytes / 1_024).toFixed(0), alone.p50.toFixed(1), alone.p99.toFixed(1), beside.p99.toFixed(1)];
      console.log([transactions, kind.name, ...row].join(" | "));
    }
  } finally {
    rmSync(directory, { recursive: true, force: true });
  }
}
for (const [name, [first = 1, ...others]] of read) {
  console.log(`${name}: ${others.map((each) => (each / first).toFixed(2)).join(", ")} times the bytes of the smallest`);
}
