/** What goes wrong in a run of chaos, and when. */
import type { TextRandom } from "../../../devnet/random.ts";
import type { ChaosStage } from "./chaos-stage.ts";

/** Of a thousand rounds: in how many each thing goes wrong. The first rounds have one after the other. */
const mishaps = {
  machine: 100,
  simulator: 100,
  fork: 120,
  deepFork: 50,
  leaders: 60,
  server: 35,
  skip: 80,
  streams: 100,
  ledger: 30,
  forkAgain: 50,
  deepForkAgain: 25,
  flicker: 8,
} as const;
export type Mishap = keyof typeof mishaps;
export const everyMishap = Object.keys(mishaps) as Mishap[];

/** Forks take at most what is not confirmed, and deep ones at most what is not final. */
const forkDepthMax = 4;
const deepForkDepth = { from: 7, to: 19 } as const;
/** Slots that may be needed to run again what a fork has abandoned. */
const againSlots = { shallow: 2, deep: 5 } as const;

export class ChaosSchedule {
  readonly happened: Record<Mishap, number>;
  /** Slots in which abandoned transactions ran again, each for itself. */
  readonly againSlots = new Set<number>();
  readonly #draw: TextRandom;
  readonly #stage: ChaosStage;

  constructor(draw: TextRandom, stage: ChaosStage) {
    this.#draw = draw;
    this.#stage = stage;
    this.happened = Object.fromEntries(everyMishap.map((each) => [each, 0])) as Record<Mishap, number>;
  }

  /** What goes wrong in a round; null where nothing does. */
  of(round: number): Mishap | null {
    const first = everyMishap[round];
    if (first !== undefined) return first;
    let left = this.#draw.below(1_000);
    for (const mishap of everyMishap) {
      left -= mishaps[mishap];
      if (left < 0) return mishap;
    }
    return null;
  }

  /** Makes it happen, one way or another by `nth`. */
  async happen(mishap: Mishap, nth: number): Promise<void> {
    const stage = this.#stage;
    const isDone = await this.#happen(mishap, nth, stage);
    if (isDone) this.happened[mishap] += 1;
  }

  async #happen(mishap: Mishap, nth: number, stage: ChaosStage): Promise<boolean> {
    switch (mishap) {
      case "fork":
      case "forkAgain":
        return await this.#fork({ depth: 1 + (nth % forkDepthMax), landAgain: mishap === "forkAgain" });
      case "deepFork":
      case "deepForkAgain": {
        const depth = deepForkDepth.from + (nth % (deepForkDepth.to - deepForkDepth.from));
        return await this.#fork({ depth, landAgain: mishap === "deepForkAgain", confirmed: true });
      }
      case "skip":
        await stage.chain.admin("devnet_skipSlots", 1 + (nth % 8));
        return true;
      case "streams":
        for (const searcher of stage.searchers) searcher.listen(true);
        return true;
      case "flicker":
        // Twice within the moment in which the first life looks at what was left to it.
        await stage.kill("server", nth);
        await stage.kill("server", nth);
        return true;
      default:
        return await stage.kill(mishap, nth);
    }
  }

  /** What the fork keeps may be newer meanwhile; then there is no fork. */
  async #fork(fork: { depth: number; landAgain: boolean; confirmed?: boolean }): Promise<boolean> {
    const forked = await this.#stage.chain.admin("devnet_fork", fork).catch(() => null);
    if (forked === null) return false;
    if (!fork.landAgain) return true;
    const open = Number(forked["openSlot"]);
    // What the first slot after the fork has no time for comes in the next.
    const count = fork.confirmed === true ? againSlots.deep : againSlots.shallow;
    for (let slot = open; slot < open + count; slot += 1) this.againSlots.add(slot);
    return true;
  }
}
