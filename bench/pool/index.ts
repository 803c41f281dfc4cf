/**
 * bench/pool: what the stake pool's paths cost from what was read before, each at 1,000 requests a second in one
 * process, with admission, and one sampling pass over 2,000 validators whose nodes answer at once:
 * reading, decoding, deriving addresses, figures and rows. The goal is a p99 under 5 ms. Run it with
 * `npm run bench -- pool`; it takes about 20 seconds.
 */
import { systemClock } from "@sluice/lib";
import { encodeStakePool, stakePoolProgram } from "@sluice/wire/accounts/stake-pool";
import { tipPrograms } from "@sluice/wire/accounts/tips";
import { encodeValidatorList } from "@sluice/wire/accounts/validator-list";
import { addressOfBytes } from "@sluice/wire/identifiers";
import type { JsonValue } from "@sluice/wire/json";
import { programs, sysvars } from "@sluice/wire/programs";
import { EngineChainError } from "../../server/src/engine/index.ts";
import { FiguresSource } from "../../server/src/pool/figures-source.ts";
import { PoolSampler } from "../../server/src/pool/index.ts";
import { KeptRows } from "../../server/src/pool/testing/kept-rows.ts";
import { playedPool } from "../../server/src/pool/testing/played-pool.ts";
import { PoolStand } from "../../server/src/pool/testing/pool-stand.ts";
import { RecordedEvents } from "../../server/src/pool/testing/recorded-events.ts";

const validatorCount = 2_000;
const requestsPerSecond = 1_000;
const seconds = 1;
const paths = ["/pool", "/validators", "/apy", "/exchange-rate", "/overview/24h", "/mev/breakdown", "/charts/tvl"];
/** Of 2,000 validators they are a megabyte and more. */
const explained = ["/explain?record=validators", "/explain?record=dashboard", "/explain?record=pool"];
const more = ["/charts/apy", "/dashboard", "/pnl", "/position/2zW829aYk62MujHhVsbi9WtoZCUUtx1Y93Uzc43gjamf"];

const keyOf = (index: number): Uint8Array => {
  const bytes = new Uint8Array(32).fill(5);
  new DataView(bytes.buffer).setUint32(0, index);
  return bytes;
};
const { snapshot } = playedPool();
const list = encodeValidatorList({
  maxValidators: validatorCount,
  validators: Array.from({ length: validatorCount }, (_, index) => ({
    activeStakeLamports: 1_000_000_000n + BigInt(index),
    transientStakeLamports: 0n,
    lastUpdateEpoch: 2n,
    transientSeedSuffix: 0n,
    validatorSeedSuffix: 0,
    status: "active" as const,
    voteAccount: addressOfBytes(keyOf(index)),
  })),
});
const clockData = new Uint8Array(40);
const clockView = new DataView(clockData.buffer);
for (const [at, value] of [
  [0, 77n],
  [8, 1_790_000_000n],
  [16, 2n],
  [32, 1_790_000_100n],
] as const) {
  clockView.setBigUint64(at, value, true);
}
const schedule = new Uint8Array(33);
new DataView(schedule.buffer).setBigUint64(0, 432_000n, true);
const mint = new Uint8Array(82);
mint[44] = 9;
mint[45] = 1;
const vote = new Uint8Array(134);
vote[0] = 2;

const account = (owner: string, data: Uint8Array) => ({
  owner,
  lamports: 1_000_000_000n,
  data: [data.toBase64(), "base64"],
});
const pool = { ...snapshot.pool, validatorList: addressOfBytes(keyOf(5_001)), poolMint: addressOfBytes(keyOf(5_002)) };
const known = new Map<JsonValue, ReturnType<typeof account>>([
  [snapshot.address, account(stakePoolProgram, encodeStakePool({ ...pool, tokenProgram: programs.token }))],
  [pool.validatorList, account(stakePoolProgram, list)],
  [pool.poolMint, account(programs.token, mint)],
  [sysvars.clock, account(sysvars.owner, clockData)],
  [sysvars.epochSchedule, account(sysvars.owner, schedule)],
]);
const voteAccount = account(programs.vote, vote);
const isVote = new Set(Array.from({ length: validatorCount }, (_, index) => String(addressOfBytes(keyOf(index)))));

const read = async (method: string, params: readonly JsonValue[]) => {
  const [first] = params;
  if (method === "getMultipleAccounts" && Array.isArray(first)) {
    const value = first.map((each) => known.get(each) ?? (isVote.has(String(each)) ? voteAccount : null));
    return { context: { slot: 77n }, value };
  }
  if (method === "getVoteAccounts") return { current: [], delinquent: [] };
  if (method === "getMinimumBalanceForRentExemption") return 2_000_000n;
  if (method === "getTokenAccountsByOwner") return { value: [] };
  if (method === "getProgramAccounts") return [];
  throw new EngineChainError(`${method} is not answered here`, null);
};

const p99 = (sorted: readonly number[]): number => sorted[Math.floor(sorted.length * 0.99)] ?? 0;

const answer = async (stand: PoolStand, path: string): Promise<void> => {
  const response = await stand.fetch(path);
  if (response.status !== 200) throw new Error(`${path} was answered ${response.status}`);
  // As the port's server takes it: piece by piece, without another copy.
  const reader = response.body?.getReader();
  while ((await reader?.read())?.done === false);
};

async function measure(stand: PoolStand, path: string, perSecond: number): Promise<void> {
  await stand.ask(path);
  const startMs = performance.now();
  const times: number[] = [];
  const running: Promise<void>[] = [];
  for (let sent = 0; sent < perSecond * seconds; ) {
    const due = Math.min(perSecond * seconds, ((performance.now() - startMs) / 1_000) * perSecond);
    for (; sent < due; sent += 1) {
      const atMs = performance.now();
      running.push(answer(stand, path).then(() => void times.push(performance.now() - atMs)));
    }
    await Bun.sleep(1);
  }
  await Promise.all(running);
  times.sort((one, other) => one - other);
  const median = times[times.length >> 1] ?? 0;
  console.log(`${path}, ${perSecond}/s: p50 ${median.toFixed(2)} ms, p99 ${p99(times).toFixed(2)} ms`);
}

const chain = {
  ...{ read, genesis: () => "genesis", newestSlot: () => null },
  onSlot: () => ({ [Symbol.dispose]: () => {} }),
};
const identity = { address: snapshot.address, programs: [stakePoolProgram], tipProgram: tipPrograms.distribution };
const events = new RecordedEvents();
const source = new FiguresSource(identity, { chain, clock: systemClock, events, sampleBefore: async () => null });
for (const pass of ["first", "next"]) {
  const kept = new KeptRows();
  const startMs = performance.now();
  const sampler = new PoolSampler(
    { everyMs: 3_600_000 },
    {
      read: () => source.read(),
      sampled: () => ({ network: "devnet", chain: "genesis", pool: snapshot.address }),
      hasNode: () => true,
      ledger: kept.ledger,
      clock: systemClock,
      events,
    },
  );
  await sampler.look();
  const rows = [...kept.tables.values()].flat().length;
  console.log(`${pass} sampling pass: ${(performance.now() - startMs).toFixed(0)} ms, ${rows} rows`);
  await sampler[Symbol.asyncDispose]();
}
if (events.samples.length === 0) throw new Error("nothing was sampled");
const stand = new PoolStand(snapshot.address, { chain }, [stakePoolProgram]);
for (const path of [...paths, ...more, ...explained]) await measure(stand, path, requestsPerSecond);
