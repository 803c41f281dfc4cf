/** One run of chaos: bundles from several searchers, and what is killed and taken back among them. */
import { createHash } from "node:crypto";
import { Draw } from "../../../devnet/chain/traffic/draw.ts";
import { BundleMill, type DrawnBundle, poorLamports, richLamports } from "./chaos-bundles.ts";
import { ChainWatch } from "./chaos-chain.ts";
import type { ChaosDoor, Handed } from "./chaos-doors.ts";
import { ChaosStage, type Victim } from "./chaos-stage.ts";
import { type BundleStory, judge, readPlaces, type Verdict } from "./chaos-verdict.ts";
import { eventually } from "./network.ts";

export interface ChaosOptions {
  readonly n: number;
  readonly seed: number;
  /** Milliseconds. */
  readonly slotMs: number;
  /** Submissions under way at a time. */
  readonly atATime: number;
  /** Bundles between two things that go wrong. */
  readonly roundBundles: number;
}

export interface ChaosFigures {
  readonly handed: Readonly<Record<string, number>>;
  readonly kills: Readonly<Record<Victim, number>>;
  readonly forks: number;
  readonly skips: number;
  readonly slots: number;
  readonly verdict: Verdict;
  readonly reasons: Readonly<Record<string, number>>;
}

/** Of a thousand rounds: in how many each thing goes wrong. The first rounds have one after the other. */
const mishaps = {
  machine: 120,
  simulator: 120,
  fork: 150,
  server: 60,
  skip: 100,
  ledger: 40,
  forkAgain: 60,
  flicker: 30,
} as const;
type Mishap = keyof typeof mishaps;
const everyMishap = Object.keys(mishaps) as Mishap[];
/** Forks take at most what is not confirmed. */
const forkDepthMax = 4;
const refillRounds = 6;
/** So many blocks make every blockhash too old, and what was handed over final. */
const endSlots = 60;
const endRounds = 40;
const standingsAtATime = 16;
const faultyKept = 5;

export class ChaosRun {
  readonly #options: ChaosOptions;
  readonly #draw: Draw;
  readonly #mill: BundleMill;
  readonly #stage: ChaosStage;
  readonly #stories = new Map<string, BundleStory>();
  readonly #chain: ChainWatch;
  readonly #againSlots = new Set<number>();
  readonly #handed: Record<string, number> = {};
  readonly #faulty: string[] = [];
  #forks = 0;
  #skips = 0;

  constructor(options: ChaosOptions, stage: ChaosStage) {
    this.#options = options;
    this.#stage = stage;
    this.#draw = new Draw(`engine-chaos/${options.seed}`);
    this.#mill = new BundleMill(this.#draw);
    this.#chain = new ChainWatch(stage.chain.rpc, this.#draw);
  }

  async run(): Promise<ChaosFigures> {
    await this.#stage.sound();
    const chain = this.#chain;
    const first = await chain.finalized();
    for (const { address } of this.#mill.rich) await chain.fund(address, richLamports);
    await this.#refill();
    await chain.funded(this.#mill.poor.at(-1)?.address ?? "");
    const { n, roundBundles } = this.#options;
    for (let begun = 0, round = 0; begun < n; begun += roundBundles, round += 1) {
      if (round % refillRounds === refillRounds - 1) await this.#refill();
      await this.#round(Math.min(roundBundles, n - begun), everyMishap[round] ?? this.#mishap());
    }
    await this.#end();
    const last = await chain.finalized();
    const places = await readPlaces((method, params) => chain.ask(method, params), { first, last });
    const { sentAlone } = chain;
    const verdict = judge([...this.#stories.values()], { places, sentAlone, againSlots: this.#againSlots });
    const reasons: Record<string, number> = {};
    for (const { isAccepted, standing } of this.#stories.values()) {
      if (isAccepted && standing !== null && standing.reason !== null) count(reasons, standing.reason);
    }
    const { kills } = this.#stage;
    const faults = [...this.#faulty, ...(await this.#audit()), ...verdict.faults];
    const [handed, forks, skips, slots] = [this.#handed, this.#forks, this.#skips, last - first];
    return { handed, kills, forks, skips, slots, reasons, verdict: { ...verdict, faults } };
  }

  /** Some bundles from all searchers at both doors, and at most one thing that goes wrong while they are under way. */
  async #round(size: number, mishap: Mishap | null): Promise<void> {
    const moment = await this.#chain.look();
    const bundles = Array.from({ length: size }, () => this.#mill.next(moment));
    const at = this.#draw.below(size);
    const nth = this.#draw.below(8);
    const doors = bundles.map((): ChaosDoor => (this.#draw.below(3) === 0 ? "grpc" : "rest"));
    let next = 0;
    let happening: Promise<void> | null = null;
    const work = async (): Promise<void> => {
      for (let index = next++; index < size; index = next++) {
        if (index === at && mishap !== null) happening = this.#happen(mishap, nth);
        const [bundle, door] = [bundles[index], doors[index]];
        if (bundle !== undefined && door !== undefined) await this.#submit(bundle, door, index);
      }
    };
    try {
      await Promise.all(Array.from({ length: this.#options.atATime }, work));
    } finally {
      // A server that is on its way is waited for, so that it can be ended with the stage.
      await happening;
    }
  }

  #mishap(): Mishap | null {
    let left = this.#draw.below(1_000);
    for (const mishap of everyMishap) {
      left -= mishaps[mishap];
      if (left < 0) return mishap;
    }
    return null;
  }

  async #happen(mishap: Mishap, nth: number): Promise<void> {
    switch (mishap) {
      case "fork":
      case "forkAgain":
        return await this.#fork(1 + (nth % forkDepthMax), mishap === "forkAgain");
      case "skip":
        this.#skips += 1;
        await this.#stage.chain.admin("devnet_skipSlots", 1 + nth);
        return;
      case "flicker":
        // Twice within the moment in which the first life looks at what was left to it.
        await this.#stage.kill("server", nth);
        return await this.#stage.kill("server", nth);
      default:
        return await this.#stage.kill(mishap, nth);
    }
  }

  /** What was confirmed meanwhile is not taken back; then there is no fork. */
  async #fork(depth: number, landAgain: boolean): Promise<void> {
    const forked = await this.#stage.chain.admin("devnet_fork", { depth, landAgain }).catch(() => null);
    if (forked === null) return;
    this.#forks += 1;
    if (!landAgain) return;
    const open = Number(forked["openSlot"]);
    // What the first slot after the fork has no time for comes in the next.
    for (const slot of [open, open + 1]) this.#againSlots.add(slot);
  }

  async #submit(bundle: DrawnBundle, door: ChaosDoor, index: number): Promise<void> {
    const searcher = this.#stage.searchers[index % this.#stage.searchers.length];
    if (searcher === undefined) throw new Error("there are searchers");
    const story = this.#storyOf(bundle);
    let handed = await searcher.submit(door, bundle);
    if (handed.said === "refused") handed = await searcher.submit("rest", bundle);
    this.#note(bundle, story, handed);
    const [alone] = bundle.transactions;
    if (bundle.kind === "spoilt" && alone !== undefined) await this.#chain.send(alone, bundle.signatures[0] ?? "");
    if (bundle.kind === "hostile") await searcher.submitRaw(bundle.transactions[0] ?? new Uint8Array(3));
  }

  #note({ kind }: DrawnBundle, story: BundleStory, handed: Handed): void {
    count(this.#handed, handed.said === "rejected" ? `rejected (${kind})` : handed.said);
    if (handed.said === "faulty" && this.#faulty.length < faultyKept) {
      this.#faulty.push(`${kind} is answered ${handed.reason}`);
    }
    if (handed.said !== "accepted") return;
    if (handed.id !== story.id) this.#faulty.push(`${story.id} is called ${handed.id}`);
    story.isAccepted = true;
  }

  #storyOf({ kind, signatures, targetSlot }: DrawnBundle): BundleStory {
    const id = createHash("sha256").update(signatures.join(",")).digest("hex");
    const story = this.#stories.get(id) ?? {
      id,
      drawn: targetSlot === null ? kind : `${kind}, slot ${targetSlot}`,
      signatures,
      isAccepted: false,
      standing: null,
    };
    this.#stories.set(id, story);
    return story;
  }

  async #refill(): Promise<void> {
    for (const { address } of this.#mill.poor) await this.#chain.fund(address, poorLamports);
  }

  /** Lets every bundle come to its end, and asks for each. */
  async #end(): Promise<void> {
    await this.#stage.sound();
    let open = [...this.#stories.values()];
    for (let round = 0; round < endRounds && open.length > 0; round += 1) {
      await this.#stage.chain.admin("devnet_advance", { slots: endSlots });
      await Bun.sleep(this.#options.slotMs * 4);
      for (let at = 0; at < open.length; at += standingsAtATime) {
        await Promise.all(open.slice(at, at + standingsAtATime).map((story) => this.#standing(story)));
      }
      // What is included may still be lost, and what is unknown to the engine does not change.
      const isLate = round > 4;
      open = open.filter(({ standing }) => standing?.status === "accepted" || (!isLate && standing !== null));
    }
  }

  async #standing(story: BundleStory): Promise<void> {
    const searcher = this.#stage.searchers[0];
    story.standing = await eventually("the standing of a bundle", async () => {
      return { found: (await searcher?.standing(story.id)) ?? null };
    }).then(({ found }) => found);
  }

  async #audit(): Promise<string[]> {
    const { lamports, capitalization } = await this.#stage.chain.admin("devnet_audit");
    return lamports === capitalization ? [] : [`accounts hold ${lamports} lamports of ${capitalization}`];
  }
}

function count(counts: Record<string, number>, name: string): void {
  counts[name] = (counts[name] ?? 0) + 1;
}

/** Runs it all from the start of the processes to the end of the last. */
export async function runChaos(options: ChaosOptions): Promise<ChaosFigures> {
  await using stage = await ChaosStage.start(options);
  return await new ChaosRun(options, stage).run();
}
