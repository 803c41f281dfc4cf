/**
 * bench/oracle: the time from a tick to a client with 1,000 subscribers of 14 symbols, prices by REST at 5,000 a
 * second, each beside a bare Bun.serve that does the same without thinking, and what a year of one-minute candles takes
 * in the ledger. Rounds alternate; medians. `npm run bench -- oracle [rounds]`; a round takes about 20 seconds.
 */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { oracleSymbols } from "@sluice/contract/oracle";
import { systemClock } from "@sluice/lib";
import { openLedger } from "../../server/src/ledger/index.ts";
import { Connections } from "../names/connections.ts";
import { accounts, ageMs, keyOf, restPerSecond, subscribers } from "./workload.ts";

const rounds = Math.max(1, Number(process.argv[2] ?? 3));
const streamMs = 3_000;
const restMs = 2_000;

const quantile = (sorted: ArrayLike<number>, q: number): number =>
  sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * q))] ?? Number.NaN;
const median = (values: readonly number[]): number =>
  quantile(
    values.toSorted((one, other) => one - other),
    0.5,
  );

interface Part extends Disposable {
  readonly url: string;
}

async function start(role: string): Promise<Part> {
  const child = Bun.spawn([process.execPath, join(import.meta.dir, "part.ts"), role], {
    stdin: "pipe",
    stdout: "pipe",
    stderr: "inherit",
  });
  const { value } = await child.stdout.getReader().read();
  const { url } = JSON.parse(new TextDecoder().decode(value)) as { url: string };
  return { url, [Symbol.dispose]: () => void child.stdin.end() };
}

const used = async (url: string): Promise<{ cpuMicros: number; rssBytes: number }> =>
  (await (await fetch(`${url}/cpu`)).json()) as { cpuMicros: number; rssBytes: number };

async function subscribe(url: string, onText: (text: string) => void): Promise<WebSocket> {
  const socket = new WebSocket(`${url.replace(/^http/, "ws")}/api/v1/ws`);
  const ready = Promise.withResolvers<void>();
  socket.onopen = () => {
    socket.send(JSON.stringify({ type: "auth", api_key: keyOf(accounts[0] ?? "") }));
  };
  socket.onclose = ({ code }) => ready.reject(new Error(`closed with ${code}`));
  socket.onmessage = ({ data }) => {
    const text = String(data);
    if (text.startsWith('{"type":"price_update"')) onText(text);
    else if (text.startsWith('{"type":"auth_success"')) {
      socket.send(JSON.stringify({ type: "subscribe", channel: "prices", symbols: oracleSymbols }));
    } else ready.resolve();
  };
  await ready.promise;
  socket.onclose = null;
  return socket;
}

/** The text of a member's value, as far as the next comma. */
function memberText(text: string, name: string): string {
  const at = text.indexOf(`"${name}":`);
  return text.slice(at, text.indexOf(",", at));
}

interface Sample {
  readonly p50: number;
  readonly p99: number;
  /** Of the part's process, for one message or request. */
  readonly cpu: number;
  readonly rate: number;
  readonly rssMb: number;
}

async function stream(url: string, how: "play" | "together"): Promise<Sample> {
  const ages: number[] = [];
  let isCounting = false;
  // A price that is sent again with a newer time counts once: its age is not that of the message.
  const listener = (): ((text: string) => void) => {
    const last = new Map<string, string>();
    return (text) => {
      const symbol = memberText(text, "symbol");
      const price = memberText(text, "price");
      if (last.get(symbol) === price) return;
      last.set(symbol, price);
      const age = ageMs(text);
      if (isCounting && age !== null) ages.push(age);
    };
  };
  const sockets: WebSocket[] = [];
  for (let at = 0; at < subscribers; at += 50) {
    sockets.push(...(await Promise.all(Array.from({ length: 50 }, () => subscribe(url, listener())))));
  }
  await fetch(`${url}/all`);
  await Bun.sleep(500);
  isCounting = true;
  const before = await used(url);
  const startedAt = performance.now();
  await fetch(`${url}/${how}`);
  await Bun.sleep(streamMs);
  await fetch(`${url}/stop`);
  await Bun.sleep(200);
  const took = performance.now() - startedAt;
  const after = await used(url);
  for (const socket of sockets) socket.close();
  const sorted = Float64Array.from(ages).sort();
  return {
    p50: quantile(sorted, 0.5),
    p99: quantile(sorted, 0.99),
    cpu: (after.cpuMicros - before.cpuMicros) / Math.max(1, ages.length),
    rate: (ages.length / took) * 1_000,
    rssMb: after.rssBytes / 1024 ** 2,
  };
}

async function rest(url: string): Promise<Sample> {
  using connections = new Connections(url);
  await connections.open(32);
  await fetch(`${url}/all`);
  await Bun.sleep(50);
  const pace = async (durationMs: number): Promise<number> => {
    const startedAt = performance.now();
    let sent = 0;
    for (let elapsed = 0; elapsed < durationMs; elapsed = performance.now() - startedAt) {
      const due = Math.floor((elapsed / 1_000) * restPerSecond);
      for (; sent < due; sent++) {
        const symbol = oracleSymbols[sent % oracleSymbols.length];
        connections.send(`/api/v1/price/${symbol}?api-key=${keyOf(accounts[sent % accounts.length] ?? "")}`);
      }
      await Bun.sleep(1);
    }
    await connections.settled();
    return sent;
  };
  await pace(300);
  connections.latenciesMs.length = 0;
  const before = await used(url);
  const startedAt = performance.now();
  const sent = await pace(restMs);
  const took = performance.now() - startedAt;
  const after = await used(url);
  const sorted = Float64Array.from(connections.latenciesMs).sort();
  return {
    p50: quantile(sorted, 0.5),
    p99: quantile(sorted, 0.99),
    cpu: (after.cpuMicros - before.cpuMicros) / sent,
    rate: (sent / took) * 1_000,
    rssMb: after.rssBytes / 1024 ** 2,
  };
}

/** A year of candles of all symbols, made by the engine itself, and what reading from it takes. */
async function year(): Promise<void> {
  const directory = mkdtempSync(join(tmpdir(), "sluice-bench-oracle-"));
  const quiet = () => undefined;
  const ledger = await openLedger(
    { directory, clickhouseUrl: null, cluster: null },
    { clock: systemClock, log: { debug: quiet, info: quiet, warn: quiet, error: quiet } },
  );
  try {
    const minutes = 525_600;
    const until = Math.floor(Date.now() / 60_000) * 60_000;
    for (const symbol of oracleSymbols) {
      const ms = `(${until} - (${minutes} - number) * 60000)`;
      const price = `toDecimal128(65000 + 3000 * sin(number / 9000) + (cityHash64(number, '${symbol}') % 100000) / 1000, 18)`;
      await ledger.command(
        `INSERT INTO oracle_candles_by_minute SELECT fromUnixTimestamp64Milli(toInt64${ms}), '${symbol}', toInt64${ms} + 400, ` +
          `toInt64${ms} + 59600, 59200, ${price}, ${price} + toDecimal128(5.25, 18), ${price} - toDecimal128(4.75, 18), ` +
          `${price} + toDecimal128(0.5, 18), toDecimal128(1234567890.12 + number, 18), toDecimal128(95.12, 18), ` +
          `['binance','coinbase','kraken','okx','bybit','kucoin','bitstamp','gate'], number FROM numbers(${minutes})`,
      );
      await ledger.command(
        `INSERT INTO oracle_volumes_by_minute SELECT fromUnixTimestamp64Milli(toInt64${ms}), '${symbol}', ` +
          `toDecimal128(1234567.12 + cityHash64(number) % 100000, 18), 8, ['binance','coinbase'], number, number ` +
          `FROM numbers(${minutes})`,
      );
    }
    const [size] = await ledger.query<{ rows: string; bytes: string }>(
      "SELECT toString(sum(rows)) AS rows, toString(sum(bytes_on_disk)) AS bytes FROM system.parts " +
        "WHERE active AND table = 'oracle_candles_by_minute'",
    );
    const { History } = await import("../../server/src/oracle/store/history.ts");
    const history = new History({
      ledger,
      unwritten: { unwritten: () => [], unwrittenRounds: () => [], unwrittenVolumes: () => [] },
    });
    const timed = async (work: () => Promise<readonly unknown[]>): Promise<string> => {
      const times: number[] = [];
      let count = 0;
      for (let at = 0; at < 5; at++) {
        const startedAt = performance.now();
        count = (await work()).length;
        times.push(performance.now() - startedAt);
      }
      return `${median(times).toFixed(1)} ms for ${count} points`;
    };
    const endMs = until;
    const day = 86_400_000;
    console.log("\na year of one-minute candles of 14 symbols in the ledger");
    console.log(`  rows ${size?.rows}, on disk ${(Number(size?.bytes) / 1024 ** 2).toFixed(0)} MB`);
    console.log(
      `  30 days in 100 points   ${await timed(() => history.points("BTC", { spanMs: 30 * day, limit: 100, endMs }))}`,
    );
    console.log(
      `  a year of daily candles ${await timed(() => history.bars("BTC", { minutes: 1_440, limit: 365, endMs }))}`,
    );
    console.log(
      `  1,000 candles of 1 m    ${await timed(() => history.bars("BTC", { minutes: 1, limit: 1_000, endMs }))}`,
    );
  } finally {
    await ledger[Symbol.asyncDispose]();
    rmSync(directory, { recursive: true, force: true });
  }
}

using oracle = await start("oracle");
using bare = await start("bare");
const streams = { oracle: [] as Sample[], bare: [] as Sample[] };
const bursts = { oracle: [] as Sample[], bare: [] as Sample[] };
const rests = { oracle: [] as Sample[], bare: [] as Sample[] };
for (let round = 0; round < rounds; round++) {
  for (const who of round % 2 === 0 ? (["oracle", "bare"] as const) : (["bare", "oracle"] as const)) {
    const { url } = who === "oracle" ? oracle : bare;
    streams[who].push(await stream(url, "play"));
    bursts[who].push(await stream(url, "together"));
    rests[who].push(await rest(url));
  }
}

function table(title: string, unit: string, samples: { oracle: Sample[]; bare: Sample[] }): void {
  console.log(`\n${title}, median of ${rounds} rounds`);
  console.log(`  ${["", "p50", "p99", `CPU/${unit}`, `${unit}s/s`, "RSS"].map((cell) => cell.padStart(14)).join("")}`);
  for (const [name, all] of Object.entries(samples)) {
    const of = (pick: (sample: Sample) => number, digits: number): string => median(all.map(pick)).toFixed(digits);
    const cells = [
      `${of(({ p50 }) => p50, 2)} ms`,
      `${of(({ p99 }) => p99, 2)} ms`,
      `${of(({ cpu }) => cpu, 1)} µs`,
      of(({ rate }) => rate, 0),
      `${of(({ rssMb }) => rssMb, 0)} MB`,
    ];
    console.log(`  ${[name, ...cells].map((cell) => cell.padStart(14)).join("")}`);
  }
}

table(`tick to client, ${subscribers} subscribers of ${oracleSymbols.length} symbols`, "message", streams);
table("the same, all symbols together once a second", "message", bursts);
table(`prices by REST at ${restPerSecond}/s`, "request", rests);
await year();
