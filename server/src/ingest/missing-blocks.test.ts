import { describe, expect, test } from "bun:test";
import { ManualClock, seededRandom } from "@sluice/lib";
import type { Slot } from "@sluice/wire/identifiers";
import type { BlockHeader, BlockPlace, ChainLog, Hole } from "../log/index.ts";
import { chain, hashOf, headerOf, slotOf } from "../log/testing/chain-model.ts";
import { Finality, type FinalWord } from "./finality.ts";
import { Judge } from "./judge.ts";
import { Pursuit } from "./pursuit.ts";
import { Questions } from "./questions.ts";
import type { BlockSource, FetchedBlock, FetchedDigest } from "./source.ts";
import { type ChainBlock, digestOf, sourceBlockOf } from "./testing/simulated-chain.ts";
import { Wants } from "./wants.ts";
import { Witnesses } from "./witnesses.ts";

const parent = { slot: 109, blockhash: hashOf("parent") };
const own: ChainBlock = { slot: 110, blockhash: hashOf("own"), parent };
const dead: ChainBlock = { slot: 110, blockhash: hashOf("dead"), parent };
const slot = slotOf(110);

/** A node that answers with one block, as its fork has it. */
class Node implements BlockSource {
  readonly kind = "polling";
  readonly bringsBlocks = false;
  readonly name: string;
  readonly node: string;
  block = own;

  constructor(name: string) {
    this.name = name;
    this.node = name;
  }
  fetchBlock = async (): Promise<FetchedBlock> => ({ kind: "present", block: sourceBlockOf(this.block) });
  fetchDigest = async (): Promise<FetchedDigest> => ({ kind: "present", digest: digestOf(this.block) });
  fetchSlots = async () => null;
  start(): void {}
  async [Symbol.asyncDispose](): Promise<void> {}
}

/** Nodes of which the first gave a block of a fork that died, before all came to the chain's own. */
function stand(names: readonly string[]) {
  const clock = new ManualClock();
  const nodes = names.map((name) => new Node(name));
  const witnesses = new Witnesses({ clock, nodes: { head: () => slotOf(200), isWell: () => true } });
  for (const node of nodes) {
    witnesses.add(node);
    witnesses.setUp(node, true);
  }
  const judge = new Judge({ clock, witnesses: witnesses.nodes });
  const of = judge.open(slot);
  const gave = (source: BlockSource, block: ReturnType<typeof sourceBlockOf>) =>
    judge.gave(of, source, { block, stage: "confirmed", arrivedMs: clock.monotonic() });
  const pursuit = new Pursuit({
    clock,
    log: { find: () => null },
    judge,
    wants: new Wants(),
    questions: new Questions({ clock, random: seededRandom(1), onAnswer: () => undefined }),
    witnesses,
    onBlock: gave,
    onWord: () => undefined,
  });
  const [first] = nodes;
  if (first === undefined) throw new Error("there is a node");
  gave(first, sourceBlockOf(dead));
  /** What may be kept after so many seconds in which the slot's block is wanted. */
  const accepted = async (blockhash: string | null, seconds: number): Promise<string[]> => {
    for (let step = 0; step < seconds * 10; step += 1) {
      pursuit.pursue({ slot, blockhash }, slotOf(200));
      clock.advance(100);
      for (let turn = 0; turn < 4; turn += 1) await Promise.resolve();
    }
    const candidates = [...of.candidates.values()].filter((each) => each.block !== null);
    return candidates.filter((each) => judge.judge(of, each).kind === "accepted").map((each) => each.digest.blockhash);
  };
  return { accepted };
}

describe("a block that nodes have", () => {
  test("is had although a node gave a dead fork's first, and each fork has one word", async () => {
    expect(await stand(["a", "b"]).accepted(null, 20)).toEqual([own.blockhash]);
  });

  test("is had where the block above it that is kept names the dead fork's", async () => {
    expect(await stand(["a", "b"]).accepted(dead.blockhash, 20)).toEqual([own.blockhash]);
  });

  test("is wanted beside another one of its slot that a fork names", () => {
    const above = headerOf(112);
    const missing = (text: string): BlockPlace => ({ slot: slotOf(111), blockhash: hashOf(text) });
    const holes: Hole[] = ["one", "other"].map((text) => ({ below: headerOf(100), missing: missing(text), above }));
    const log = { holes: () => holes, latest: () => above, find: () => null };
    const wants = new Wants().list(log, slotOf(112), () => []);
    expect(wants).toEqual([missing("one"), missing("other")]);
  });
});

describe("where a log begins", () => {
  test("is not said by the list of one node while another is away that may come back", () => {
    const wants = new Wants();
    wants.beginAt(slotOf(1));
    const lists = (node: string, slots: readonly Slot[]) =>
      wants.listed({ from: slotOf(1), to: slotOf(200) }, node, slots);
    for (let time = 0; time < 20; time += 1) lists("liar", [slotOf(103)]);
    wants.awaitListers(true);
    expect(wants.first(1)).toBeNull();
    wants.awaitListers(false);
    expect(wants.first(1)).toBe(slotOf(103));
    expect(wants.first(2)).toBeNull();
    lists("honest", [slotOf(100)]);
    expect(wants.first(2)).toBe(slotOf(100));
  });

  test("waits half a minute for a node that is away, and not for one that is distrusted", () => {
    const clock = new ManualClock();
    const well = new Set(["a"]);
    const witnesses = new Witnesses({ clock, nodes: { head: () => null, isWell: (node) => well.has(node) } });
    for (const name of ["a", "b"]) witnesses.add(new Node(name));
    expect(witnesses.mayMoreCome).toBe(true);
    witnesses.distrust("b");
    expect(witnesses.mayMoreCome).toBe(false);
    witnesses.add(new Node("c"));
    clock.advance(29_999);
    expect(witnesses.mayMoreCome).toBe(true);
    clock.advance(1);
    expect(witnesses.mayMoreCome).toBe(false);
  });
});

describe("finality below a block that nobody has", () => {
  const root = slotOf(120);
  const tip = headerOf(119);
  /** The last block below the hole, and what follows it on a fork. */
  const last = headerOf(105);
  const fork = [headerOf(106, headerOf(105), "fork")];
  fork.push(headerOf(108, fork[0], "fork"));

  /** A log in which 110 is missing below `tip`; `held` are the blocks below that, of which the last is the chain's. */
  function finalityOf(held: readonly BlockHeader[]) {
    const blocks = new Map([...held, tip].map((header) => [header.blockhash, header]));
    const top = held.at(-1) ?? last;
    const hole: Hole = { below: top, missing: { slot: tip.parentSlot, blockhash: tip.parentBlockhash }, above: tip };
    const log: Pick<ChainLog, "find" | "reached" | "holes"> = {
      find: ({ blockhash }) => {
        const header = blocks.get(blockhash);
        return header === undefined ? null : { header, stage: "confirmed" };
      },
      reached: (stage) => (stage === "finalized" ? headerOf(104) : top),
      holes: () => [hole],
    };
    const finality = new Finality({ log, witnesses: () => new Set(["a", "b"]), isConfirmedByTwo: () => true });
    const says = (place: BlockPlace, word: FinalWord): void => {
      for (const node of ["a", "b"]) finality.answered(place, node, word);
    };
    // The root's block is known, and is above the hole.
    says(top, { kind: "absent" });
    says({ slot: root, blockhash: "" }, { kind: "other", blockhash: tip.blockhash });
    return { finality, says, add: (header: BlockHeader) => void blocks.set(header.blockhash, header) };
  }

  const placeOf = ({ slot: of, blockhash }: BlockPlace): BlockPlace => ({ slot: of, blockhash });

  test("passes over blocks that nodes do not have at finalized", () => {
    const { finality, says } = finalityOf([last, ...fork]);
    finality.step(root);
    expect(finality.step(root)).toMatchObject({ kind: "ask", questions: [{ place: { slot: 106n } }] });
    for (const header of fork) says(header, { kind: "absent" });
    expect(finality.step(root)).toMatchObject({ kind: "ask", questions: [{ place: { slot: 105n } }] });
    says(last, { kind: "same" });
    expect(finality.step(root)).toEqual({ kind: "final", header: last });
  });

  test("passes over a block of which no node can say anything", () => {
    const { finality, says } = finalityOf([last, ...fork]);
    finality.step(root);
    const [first = last] = fork;
    for (let time = 0; time < 8; time += 1) says(first, { kind: "unavailable", isPruned: false });
    says(last, { kind: "same" });
    expect(finality.step(root)).toEqual({ kind: "final", header: last });
  });

  test("has the chain's own block fetched in the slot of a fork's, and ends there", () => {
    const { finality, says, add } = finalityOf([last, ...fork]);
    finality.step(root);
    const [first = last] = fork;
    const instead = headerOf(106, headerOf(105), "chain");
    says(first, { kind: "other", blockhash: instead.blockhash });
    expect(finality.step(root)).toEqual({ kind: "fetch", place: placeOf(instead) });
    add({ ...instead, chain });
    says(instead, { kind: "same" });
    expect(finality.step(root)).toMatchObject({ kind: "final", header: { blockhash: instead.blockhash } });
  });
});
