/** One run of chaos: bundles from several searchers, and what is killed and taken back among them. */

import { createHash } from "node:crypto";
import { eventually } from "@sluice/lib/testing";
import { TextRandom } from "../../../devnet/random.ts";
import { BundleMill, type DrawnBundle, poorLamports, richLamports } from "./chaos-bundles.ts";
import { ChainWatch } from "./chaos-chain.ts";
import type { ChaosEndpoint, HandedBundle } from "./chaos-endpoints.ts";
import { verifyOutcomes, verifyReports } from "./chaos-reports.ts";
import { ChaosSchedule, type Mishap } from "./chaos-schedule.ts";
import { Sealer, type SealingKey } from "./chaos-sealed.ts";
import { ChaosStage, type Victim } from "./chaos-stage.ts";
import type { BundleStatus, Handed } from "./chaos-status.ts";
import { type BundleStory, type Place, readPlaces, type Verdict, verify } from "./chaos-verdict.ts";

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
  /** Accepted bundles by their endpoint, `sealed` beside it for those that were encrypted. */
  readonly endpoints: Readonly<Record<string, number>>;
  readonly kills: Readonly<Record<Victim, number>>;
  readonly happened: Readonly<Record<Mishap, number>>;
  readonly slots: number;
  readonly streams: number;
  readonly lostWithForks: number;
  readonly verdict: Verdict;
  readonly reasons: Readonly<Record<string, number>>;
  /** Milliseconds: handing in, the part of it in which there was no server, and what comes after. */
  readonly took: { readonly handing: number; readonly down: number; readonly ending: number };
}

const refillRounds = 6;
/** Slots in which what was accepted last may land before time is moved on. */
const lastSlots = 40;
/** So many blocks make every blockhash too old, and what was handed over final. */
const endSlots = 60;
const endAdvances = 4;
const endRounds = 40;
const statesAtATime = 48;
const faultyKept = 5;
/** Those of Jito's take neither claims nor target slots nor envelopes. */
const ourEndpoints: readonly ChaosEndpoint[] = ["rest", "grpc", "stream"];
const allEndpoints: readonly ChaosEndpoint[] = ["rest", "grpc", "stream", "jito-grpc", "jito-base58", "jito-base64"];

export class ChaosRun implements Disposable {
  readonly #options: ChaosOptions;
  readonly #draw: TextRandom;
  readonly #mill: BundleMill;
  readonly #stage: ChaosStage;
  readonly #schedule: ChaosSchedule;
  readonly #sealer = new Sealer();
  readonly #stories = new Map<string, BundleStory>();
  readonly #chain: ChainWatch;
  readonly #handed: Record<string, number> = {};
  readonly #endpoints: Record<string, number> = {};
  readonly #faulty: string[] = [];
  #sealingKey: SealingKey | null = null;
  #downMs = 0;

  constructor(options: ChaosOptions, stage: ChaosStage) {
    this.#options = options;
    this.#stage = stage;
    this.#draw = new TextRandom(`engine-chaos/${options.seed}`);
    this.#mill = new BundleMill(this.#draw);
    this.#chain = new ChainWatch(stage.chain.rpc, this.#draw);
    this.#schedule = new ChaosSchedule(this.#draw, stage);
  }

  async run(): Promise<ChaosFigures> {
    await this.#stage.sound();
    const chain = this.#chain;
    const first = await chain.finalized();
    for (const { address } of this.#mill.rich) await chain.fund(address, richLamports);
    await this.#refill();
    await chain.funded(this.#mill.poor.at(-1)?.address ?? "");
    // A fork may take a refill, and not what the rich begin with.
    await this.#stage.chain.admin("devnet_advance", { slots: endSlots });
    const { n, roundBundles } = this.#options;
    const started = performance.now();
    for (let begun = 0, round = 0; begun < n; begun += roundBundles, round += 1) {
      if (round % refillRounds === refillRounds - 1) await this.#refill();
      await this.#round(Math.min(roundBundles, n - begun), this.#schedule.of(round));
    }
    const handedIn = performance.now();
    await this.#end();
    const last = await chain.finalized();
    const places = await readPlaces((method, params) => chain.ask(method, params), { first, last });
    await this.#catchUp(places);
    const { faults, lostWithForks } = await this.#verifyReports();
    const { sentAlone } = chain;
    const { againSlots, happened } = this.#schedule;
    const verdict = verify([...this.#stories.values()], { places, sentAlone, againSlots });
    const all = [...this.#faulty, ...(await this.#audit()), ...verdict.faults, ...faults];
    return {
      handed: this.#handed,
      endpoints: this.#endpoints,
      kills: this.#stage.kills,
      happened,
      slots: last - first,
      streams: this.#stage.reported.reduce((sum, { streams }) => sum + streams, 0),
      lostWithForks,
      reasons: this.#reasons(),
      verdict: { ...verdict, faults: all },
      took: { handing: handedIn - started, down: this.#downMs, ending: performance.now() - handedIn },
    };
  }

  #reasons(): Record<string, number> {
    const reasons: Record<string, number> = {};
    for (const { isAccepted, state } of this.#stories.values()) {
      if (isAccepted && state !== null && state.reason !== null) count(reasons, state.reason);
    }
    return reasons;
  }

  /**
   * Some bundles from all searchers at all endpoints, and at most one thing that goes wrong while they are under way.
   */
  async #round(size: number, mishap: Mishap | null): Promise<void> {
    const moment = await this.#chain.look();
    const bundles = Array.from({ length: size }, () => this.#mill.next(moment));
    const at = this.#draw.below(size);
    const nth = this.#draw.below(1_000);
    const endpoints = bundles.map((bundle) => this.#endpointOf(bundle));
    this.#sealingKey = (await this.#stage.searchers[0]?.sealingKey().catch(() => null)) ?? this.#sealingKey;
    for (const searcher of this.#stage.searchers) searcher.listen();
    let next = 0;
    let happening: Promise<void> | null = null;
    const work = async (): Promise<void> => {
      for (let index = next++; index < size; index = next++) {
        if (index === at && mishap !== null) happening = this.#happen(mishap, nth);
        const [bundle, endpoint] = [bundles[index], endpoints[index]];
        if (bundle !== undefined && endpoint !== undefined) await this.#submit(bundle, endpoint, index);
        // Those that were under way at a kill are enough; it need not be reported that there is no server.
        await this.#stage.up();
      }
    };
    try {
      await Promise.all(Array.from({ length: this.#options.atATime }, work));
    } finally {
      // A server that is on its way is waited for, so that it can be ended with the stage.
      await happening;
    }
  }

  async #happen(mishap: Mishap, nth: number): Promise<void> {
    const started = performance.now();
    await this.#schedule.happen(mishap, nth);
    if (mishap === "server" || mishap === "flicker") this.#downMs += performance.now() - started;
  }

  #endpointOf({ kind, targetSlot, sealing }: DrawnBundle): ChaosEndpoint {
    const isOurs = targetSlot !== null || sealing !== null || kind === "underpaid";
    return this.#draw.pick(isOurs ? ourEndpoints : allEndpoints) ?? "rest";
  }

  async #submit(bundle: DrawnBundle, endpoint: ChaosEndpoint, index: number): Promise<void> {
    const { searchers } = this.#stage;
    const searcher = searchers[index % searchers.length];
    if (searcher === undefined) throw new Error("there are searchers");
    const key = this.#sealingKey;
    const envelope =
      bundle.sealing === null || key === null ? null : await this.#sealer.seal(bundle, bundle.sealing, key);
    const story = this.#storyOf(bundle, envelope);
    const accepted: HandedBundle = { bundle, id: story.id, envelope };
    story.handed += 1;
    let handed = await searcher.submit(endpoint, accepted);
    if (handed.said === "refused") {
      story.handed += 1;
      handed = await searcher.submit("rest", accepted);
    }
    this.#note(accepted, story, { handed, endpoint });
    const [alone] = bundle.transactions;
    if (bundle.kind === "spoilt" && alone !== undefined) await this.#chain.send(alone, bundle.signatures[0] ?? "");
    if (bundle.kind === "hostile") await searcher.submitRaw(bundle.transactions[0] ?? new Uint8Array(3));
  }

  #note(
    { bundle: { kind, sealing } }: HandedBundle,
    story: BundleStory,
    { handed, endpoint }: { readonly handed: Handed; readonly endpoint: ChaosEndpoint },
  ): void {
    const name = sealing === null ? kind : `${sealing}`;
    count(this.#handed, handed.said === "rejected" ? `rejected (${name})` : handed.said);
    if (handed.said === "faulty" && this.#faulty.length < faultyKept) {
      this.#faulty.push(`${name} is answered ${handed.reason} by ${endpoint}`);
    }
    if (handed.said !== "accepted") return;
    count(this.#endpoints, sealing === null ? endpoint : `${endpoint} sealed`);
    if (handed.id !== story.id) this.#faulty.push(`${story.id} is called ${handed.id} by ${endpoint}`);
    story.isAccepted = true;
  }

  #storyOf({ kind, signatures, targetSlot, sealing }: DrawnBundle, envelope: Uint8Array | null): BundleStory {
    const id = createHash("sha256")
      .update(envelope ?? signatures.join(","))
      .digest("hex");
    const isWrong = envelope !== null && sealing !== "sound";
    const drawn = envelope === null ? kind : `${kind}, sealed: ${sealing}`;
    const story = this.#stories.get(id) ?? {
      id,
      drawn: targetSlot === null ? drawn : `${drawn}, slot ${targetSlot}`,
      signatures: isWrong ? [] : signatures,
      isAccepted: false,
      handed: 0,
      state: null,
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
    for (const searcher of this.#stage.searchers) searcher.listen();
    await Bun.sleep(this.#options.slotMs * lastSlots);
    let open = [...this.#stories.values()];
    for (let round = 0; round < endRounds && open.length > 0; round += 1) {
      for (let advance = 0; advance < (round === 0 ? endAdvances : 1); advance += 1) {
        await this.#stage.chain.admin("devnet_advance", { slots: endSlots });
        await Bun.sleep(this.#options.slotMs * 4);
      }
      // Nothing that is included now can be lost: the engine has seen what is final, or has bundles that have no end.
      for (let at = 0; at < open.length; at += statesAtATime) {
        await Promise.all(open.slice(at, at + statesAtATime).map((story) => this.#ask(story)));
      }
      const isBehind = open.some(({ state }) => state?.status === "accepted");
      if (!isBehind) return;
      open = open.filter(({ state }) => state?.status === "accepted" || state?.status === "included");
    }
  }

  /** What the engine says of the last forks may be some blocks behind: it is given the time to see them. */
  async #catchUp(places: ReadonlyMap<string, readonly Place[]>): Promise<void> {
    const isBehind = ({ signatures, state }: BundleStory): boolean =>
      state?.status === "included" && places.get(signatures[0] ?? "")?.[0]?.slot !== state.slot;
    for (const story of this.#stories.values()) {
      if (!isBehind(story)) continue;
      const caughtUp = eventually("the engine has seen a fork", async () => {
        await this.#ask(story);
        return !isBehind(story);
      });
      await caughtUp.catch(() => null);
    }
  }

  async #ask(story: BundleStory): Promise<void> {
    story.state = await this.#state(story);
  }

  /** As one of those sees it who submitted it; a searcher who only signs in has the operator's view. */
  async #state({ id }: BundleStory): Promise<BundleStatus | null> {
    const { found } = await eventually("the standing of a bundle", async () => {
      for (const searcher of this.#stage.searchers) {
        const found = await searcher.state(id);
        if (found !== null) return { found };
      }
      return { found: await this.#stage.operatorsView(id) };
    });
    return found;
  }

  /** What streams that are open have reported to the end, what all streams ever reported, and what the ledger has. */
  async #verifyReports(): Promise<{ readonly faults: readonly string[]; readonly lostWithForks: number }> {
    const states = new Map<string, BundleStatus>();
    for (const { id, state } of this.#stories.values()) if (state !== null) states.set(id, state);
    const unreported = (): string[] => this.#stage.searchers.flatMap((searcher) => [...searcher.unreported(states)]);
    await eventually("the last ends are reported", () => unreported().length === 0).catch(() => null);
    const late = unreported();
    const { faults, lostWithForks } = verifyReports(this.#stories, this.#stage.reported);
    const ended = [...this.#stories.values()].filter(({ state }) => state !== null).length;
    const outcomes = verifyOutcomes(this.#stories, await this.#stage.outcomes(ended));
    return { faults: [...late, ...faults, ...outcomes], lostWithForks };
  }

  async #audit(): Promise<string[]> {
    const { lamports, capitalization } = await this.#stage.chain.admin("devnet_audit");
    return lamports === capitalization ? [] : [`accounts hold ${lamports} lamports of ${capitalization}`];
  }

  [Symbol.dispose](): void {
    this.#sealer[Symbol.dispose]();
  }
}

function count(counts: Record<string, number>, name: string): void {
  counts[name] = (counts[name] ?? 0) + 1;
}

/** Runs it all from the start of the processes to the end of the last. */
export async function runChaos(options: ChaosOptions): Promise<ChaosFigures> {
  await using stage = await ChaosStage.start(options);
  using run = new ChaosRun(options, stage);
  return await run.run();
}
