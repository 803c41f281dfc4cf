/**
 * bench/chain-ledger: what it costs to bring blocks from their bodies into the embedded ledger, all tables: transfers,
 * and a mix of votes with transactions of about 5 KB. CPU of the server's process (reading bodies, making rows, sending
 * them) and of the engine's; bytes on disk; and the time from a body to the disk of single blocks of 2,000
 * transactions, as a chain with 5,000 a second has them.
 * `npm run bench -- chain-ledger [--rounds 3] [--slots 48] [--transactions 2000] [--head 20] [--json file]`. Linux.
 */
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { systemClock } from "@sluice/lib";
import { unreadable } from "../../server/src/history/testing/stand.ts";
import { BlockRows } from "../../server/src/history/writer/block-rows.ts";
import { type Ledger, openLedger } from "../../server/src/ledger/index.ts";
import { treeCpu } from "../rpc/process-cpu.ts";
import { blocksOf, type Workload } from "./blocks.ts";

const { values } = parseArgs({
  options: {
    rounds: { type: "string", default: "3" },
    slots: { type: "string", default: "48" },
    transactions: { type: "string", default: "2000" },
    head: { type: "string", default: "20" },
    json: { type: "string" },
  },
});
const rounds = Number(values.rounds);
const slots = Number(values.slots);
const transactions = Number(values.transactions);
const insertSlots = 16;
const headBlocks = Number(values.head);
const slotMs = 400;

interface Figures {
  readonly transactionsPerSecond: number;
  readonly rowsPerSecond: number;
  readonly serverMicros: number;
  readonly engineMicros: number;
  readonly rowBytes: number;
  readonly diskBytes: number;
  readonly headMs: readonly number[];
}

const atShare = (numbers: readonly number[], share: number): number =>
  numbers.toSorted((one, other) => one - other)[Math.min(numbers.length - 1, Math.floor(numbers.length * share))] ?? 0;

const quiet = { debug: () => undefined, info: () => undefined, warn: () => undefined, error: () => undefined };

async function measure(workload: Workload, seed: number): Promise<Figures> {
  const directory = mkdtempSync(join(tmpdir(), "sluice-bench-"));
  const options = { directory, clickhouseUrl: null, cluster: null };
  const ledger = await openLedger(options, { clock: systemClock, log: quiet });
  try {
    return await run(ledger, { workload, seed });
  } finally {
    await ledger[Symbol.asyncDispose]();
    rmSync(directory, { recursive: true, force: true });
  }
}

async function run(ledger: Ledger, { workload, seed }: { workload: Workload; seed: number }): Promise<Figures> {
  const maker = new BlockRows({ network: "devnet", votes: false, unreadable });
  for (const body of blocksOf(workload, { slots: insertSlots, transactions: 300, seed: seed + 1_000 })) {
    maker.add(body, 0);
  }
  maker.rows.clear();
  const bodies = blocksOf(workload, { slots, transactions, seed });
  const pid = ledger.childPid() ?? 0;
  const engineBefore = treeCpu(pid)?.total ?? 0;
  const serverBefore = process.cpuUsage();
  const beganMs = performance.now();
  let rows = 0;
  let rowBytes = 0;
  let writing: Promise<void> = Promise.resolve();
  for (let first = 0; first < slots; first += insertSlots) {
    for (const body of bodies.slice(first, first + insertSlots)) maker.add(body, 0);
    rows += maker.rows.rows;
    const tables = maker.rows.encode();
    maker.rows.clear();
    rowBytes += tables.reduce((sum, { bytes }) => sum + bytes.length, 0);
    await writing;
    const range = { first: BigInt(first + 1), until: BigInt(first + 1 + insertSlots) };
    writing = ledger.chain.writeBlocks("devnet", range, tables);
  }
  await writing;
  const seconds = (performance.now() - beganMs) / 1_000;
  const { user, system } = process.cpuUsage(serverBefore);
  const engineMicros = (treeCpu(pid)?.total ?? 0) - engineBefore;
  const [disk] = await ledger.query<{ bytes: string }>(
    "SELECT sum(bytes_on_disk) AS bytes FROM system.parts WHERE active AND database = 'sluice' AND rows > 10",
  );
  const count = slots * transactions;
  return {
    transactionsPerSecond: count / seconds,
    rowsPerSecond: rows / seconds,
    serverMicros: (user + system) / count,
    engineMicros: engineMicros / count,
    rowBytes: rowBytes / count,
    diskBytes: Number(disk?.bytes ?? 0) / count,
    headMs: await headOf(ledger, { maker, workload, seed }),
  };
}

/** Single blocks, each at its time. */
async function headOf(
  ledger: Ledger,
  { maker, workload, seed }: { maker: BlockRows; workload: Workload; seed: number },
): Promise<number[]> {
  const times: number[] = [];
  for (const body of blocksOf(workload, { slots: headBlocks, transactions: 2_000, seed: seed + 2_000 })) {
    const beganMs = performance.now();
    maker.add(body, 0);
    const tables = maker.rows.encode();
    maker.rows.clear();
    const first = BigInt(1_000_000 + times.length);
    await ledger.chain.writeBlocks("devnet", { first, until: first + 1n }, tables);
    times.push(performance.now() - beganMs);
    await Bun.sleep(Math.max(0, slotMs - (performance.now() - beganMs)));
  }
  return times;
}

const results: Record<Workload, Figures[]> = { transfers: [], mix: [] };
for (let round = 0; round < rounds; round++) {
  for (const workload of round % 2 === 0 ? (["transfers", "mix"] as const) : (["mix", "transfers"] as const)) {
    results[workload].push(await measure(workload, round));
  }
}

function shown(workload: Workload): string[] {
  const figures = results[workload];
  const of = (name: Exclude<keyof Figures, "headMs">, digits = 0): string =>
    atShare(
      figures.map((each) => each[name]),
      0.5,
    ).toFixed(digits);
  const head = figures.flatMap(({ headMs }) => headMs);
  return [
    ...[workload, of("transactionsPerSecond"), of("rowsPerSecond"), of("serverMicros", 1), of("engineMicros", 1)],
    ...[of("rowBytes"), of("diskBytes"), atShare(head, 0.5).toFixed(0), atShare(head, 0.99).toFixed(0)],
  ];
}

const names = ["", "tx/s", "rows/s", "server µs", "engine µs", "row B/tx", "disk B/tx", "head p50 ms", "head p99 ms"];
for (const line of [names, shown("transfers"), shown("mix")]) {
  console.log(line.map((cell, index) => (index === 0 ? cell.padEnd(12) : cell.padStart(13))).join(""));
}
if (values.json !== undefined) writeFileSync(values.json, JSON.stringify(results, null, 2));
process.exit(0);
