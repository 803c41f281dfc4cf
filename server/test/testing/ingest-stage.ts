/** A development chain that goes wrong by draws, and what runs before it. */
import type { Random } from "@sluice/lib";
import { type FaultyChain, startQuietChain } from "./chain.ts";

const slotMs = 400;
const confirmedAfter = 2;
const finalizedAfter = 12;
const transfersPerSecond = 20;
/** What a campaign makes is kept to its end. */
const slotsKept = 1_000_000;

export function startDisturbedChain(seed: number): Promise<FaultyChain> {
  const flags = {
    "slot-ms": slotMs,
    seed: `ingest ${seed}`,
    "confirmed-after": confirmedAfter,
    "finalized-after": finalizedAfter,
    "retain-slots": slotsKept,
    "retain-transactions": slotsKept,
    traffic: transfersPerSecond,
    "grpc-port": 0,
  };
  const options = Object.entries(flags).flatMap(([name, value]) => [`--${name}`, String(value)]);
  return startQuietChain("--no-votes", ...options);
}

/** The ways in which ingesters read the chain. */
export const upstreamsOf = ({ rpc, ws, grpc }: FaultyChain) => ({
  yellowstone: (label: string): string => `${label}=${rpc};ws=${ws};grpc=${grpc}`,
  pubsub: (label: string): string => `${label}=${rpc};ws=${ws}`,
});

export const environmentOf = (upstreams: readonly string[]): Record<string, string> => ({
  MASTER_KEY: "5e".repeat(32),
  BIND: "127.0.0.1",
  ROLES: "ingest",
  NETWORK_DEFAULT: "devnet",
  UPSTREAMS_DEVNET: upstreams.join(","),
  LOG_LEVEL: "info",
});

const share = (random: Random): number => 0.05 + random.next() * 0.5;
const upTo = (random: Random, max: number): number => 1 + Math.floor(random.next() * max);

/** What goes wrong with the chain and with what its node says; with the share of draws. */
const mishaps: readonly {
  readonly name: string;
  readonly weight: number;
  readonly run: (chain: FaultyChain, random: Random) => Promise<unknown>;
}[] = [
  { name: "skips", weight: 4, run: (chain, random) => chain.admin("devnet_skipSlots", upTo(random, 6)) },
  {
    name: "forks",
    weight: 4,
    run: (chain, random) => chain.admin("devnet_fork", { depth: 1, landAgain: random.next() < 0.5 }),
  },
  {
    name: "confirmed forks",
    weight: 4,
    run: (chain, random) =>
      chain.admin("devnet_fork", { depth: 2 + upTo(random, 6), landAgain: random.next() < 0.5, confirmed: true }),
  },
  {
    name: "lost notices",
    weight: 2,
    run: (chain, random) => chain.admin("devnet_dropPubsub", { share: share(random) }),
  },
  { name: "closed sockets", weight: 1, run: (chain) => chain.admin("devnet_closePubsub") },
  {
    name: "disturbed streams",
    weight: 3,
    run: (chain, random) => {
      const kind = (["drop", "duplicate", "reorder"] as const)[Math.floor(random.next() * 3)] ?? "drop";
      return chain.admin("devnet_disturbGrpc", { share: share(random), kind });
    },
  },
  { name: "closed streams", weight: 1, run: (chain) => chain.admin("devnet_closeGrpc") },
  {
    name: "slow answers",
    weight: 1,
    run: (chain, random) => chain.admin("devnet_slow", { ms: 300, share: share(random) }),
  },
  {
    name: "errors",
    weight: 1,
    run: (chain, random) => chain.admin("devnet_error", { share: share(random), code: -32_603 }),
  },
  { name: "freezes", weight: 1, run: (chain, random) => chain.admin("devnet_freeze", 500 + upTo(random, 2_500)) },
  { name: "clears", weight: 4, run: (chain) => chain.admin("devnet_clear") },
];

/** Draws what goes wrong with a chain until it is told to stop. */
export class ChainFaults {
  readonly happened: Record<string, number> = {};
  readonly #chain: FaultyChain;
  readonly #random: Random;
  #isOver = false;

  constructor(chain: FaultyChain, random: Random) {
    this.#chain = chain;
    this.#random = random;
  }

  async run(): Promise<void> {
    const total = mishaps.reduce((sum, { weight }) => sum + weight, 0);
    while (!this.#isOver) {
      let left = this.#random.next() * total;
      const drawn = mishaps.find(({ weight }) => {
        left -= weight;
        return left < 0;
      });
      await Bun.sleep(300 + this.#random.next() * 2_500);
      // A fork may be deeper than what is not final at the moment.
      const isDone = await drawn?.run(this.#chain, this.#random).then(
        () => true,
        () => false,
      );
      if (drawn !== undefined && isDone === true) this.happened[drawn.name] = (this.happened[drawn.name] ?? 0) + 1;
    }
  }

  /** The chain goes on without faults from now on. */
  async stop(): Promise<void> {
    this.#isOver = true;
    await this.#chain.admin("devnet_clear");
  }
}
