import type { BundleState } from "@sluice/contract/engine";
import type { Slot } from "@sluice/wire/identifiers";
import { acceptedBundle } from "../../testing/accepted-bundle.ts";
import type { BundleChange, BundleRecord } from "../bundle.ts";
import { canBecome, isTerminal, stepped } from "../lifecycle.ts";

/**
 * One bundle, a process that may die at any moment, its disk, its client and the ledger, with every event possible at
 * every step, in every order and any number of times. The lifecycle is the real one; the rest is the pool's protocol in
 * its smallest form: write where the disk still is what memory says, then change memory, then report.
 */
export interface World {
  readonly isUp: boolean;
  /** What the process holds: null when it has no live bundle. */
  readonly memory: BundleRecord | null;
  /** A write on its way; `isDone` once the disk has it. */
  readonly writing: { readonly from: BundleState | null; readonly to: BundleRecord; readonly isDone: boolean } | null;
  readonly disk: BundleRecord | null;
  /** Whether the outcome waits on the disk to be reported to the ledger. */
  readonly isPending: boolean;
  /** States that the ledger received, at most two of them kept. */
  readonly ledger: readonly BundleState[];
  /** An outcome that has reached the ledger and is still pending. */
  readonly isFlushed: boolean;
  /** What the client was reported last. */
  readonly reported: BundleState | null;
}

/** Mistakes that a pool could make; the check has to see each of them. */
export interface Mistakes {
  readonly tellsBeforeItIsDurable?: boolean;
  readonly writesWhateverTheDiskHolds?: boolean;
  readonly settlesBeforeTheLedgerHasIt?: boolean;
  readonly notesTheOutcomeLater?: boolean;
  readonly step?: typeof stepped;
}

export interface Event {
  readonly name: string;
  /** The world after it; null where it cannot happen now. */
  readonly after: World | null;
}

const fresh = acceptedBundle({ id: "00".repeat(32) });

const changes: Readonly<Record<string, BundleChange>> = {
  "block seen": { to: "included", slot: 7n as Slot, blockhash: "a", index: 0, tip: 1_000n },
  "seen in another block": { to: "included", slot: 8n as Slot, blockhash: "b", index: 0, tip: 2_000n },
  finalise: { to: "finalized" },
  fork: { to: "dropped", reason: "fork" },
  drop: { to: "dropped", reason: "simulation_failed", detail: "custom program error" },
  expire: { to: "expired", reason: "blockhash_expired" },
};

export const start: World = {
  isUp: true,
  memory: null,
  writing: null,
  disk: null,
  isPending: false,
  ledger: [],
  isFlushed: false,
  reported: null,
};

const liveOrNull = (record: BundleRecord | null): BundleRecord | null =>
  record === null || isTerminal(record.state) ? null : record;

/** Everything that can happen next. */
export function eventsOf(world: World, mistakes: Mistakes = {}): readonly Event[] {
  const step = mistakes.step ?? stepped;
  const { isUp, memory, writing, disk } = world;
  const isIdle = isUp && writing === null;
  const begin = (to: BundleRecord): World => ({
    ...world,
    writing: { from: memory?.state ?? null, to, isDone: false },
    reported: mistakes.tellsBeforeItIsDurable === true ? to.state : world.reported,
  });
  const submitted = (): World => {
    if (memory !== null) return { ...world, reported: memory.state };
    return disk === null ? begin(fresh) : { ...world, memory: liveOrNull(disk), reported: disk.state };
  };
  const changed = Object.entries(changes).map(([name, change]): Event => {
    const to = isIdle && memory !== null ? step(memory, change, memory.changedAt) : null;
    return { name, after: to === null ? null : begin(to) };
  });
  const seen = memory ?? disk;
  return [
    ...changed,
    { name: "submit", after: isIdle ? submitted() : null },
    { name: "ask", after: isUp && seen !== null ? { ...world, reported: seen.state } : null },
    ...writeEvents(world, mistakes),
    ...ledgerEvents(world, mistakes),
    { name: "crash", after: isUp ? { ...world, isUp: false, memory: null, writing: null, isFlushed: false } : null },
    { name: "restart", after: isUp ? null : { ...world, isUp: true, memory: liveOrNull(disk) } },
  ];
}

function writeEvents(world: World, mistakes: Mistakes): readonly Event[] {
  const { writing, disk } = world;
  const isAsExpected = (disk?.state ?? null) === writing?.from || mistakes.writesWhateverTheDiskHolds === true;
  const committed = (): World | null => {
    if (writing === null || writing.isDone || !isAsExpected) return null;
    const isEnd = isTerminal(writing.to.state) && mistakes.notesTheOutcomeLater !== true;
    return { ...world, disk: writing.to, isPending: world.isPending || isEnd, writing: { ...writing, isDone: true } };
  };
  const acknowledged = (): World | null => {
    if (writing === null || !writing.isDone) return null;
    const isPending = world.isPending || (isTerminal(writing.to.state) && world.ledger.length === 0);
    return { ...world, memory: liveOrNull(writing.to), writing: null, isPending, reported: writing.to.state };
  };
  const foundOther = (): World | null => {
    if (writing === null || writing.isDone || isAsExpected || disk === null) return null;
    return { ...world, memory: liveOrNull(disk), writing: null, reported: disk.state };
  };
  return [
    { name: "commit", after: committed() },
    { name: "acknowledge", after: acknowledged() },
    // The disk has it or not, and the process is reported of a failure: memory stays as it was.
    { name: "answer lost", after: writing === null ? null : { ...world, writing: null } },
    { name: "disk holds another state", after: foundOther() },
  ];
}

function ledgerEvents(world: World, mistakes: Mistakes): readonly Event[] {
  const { isUp, isPending, disk, ledger } = world;
  const canTell = isUp && isPending && disk !== null;
  const settlesFirst = mistakes.settlesBeforeTheLedgerHasIt === true;
  return [
    {
      name: "ledger takes the outcome",
      after: canTell ? { ...world, ledger: [...ledger, disk.state].slice(-2), isFlushed: true } : null,
    },
    {
      name: "outcome is settled",
      after: canTell && (world.isFlushed || settlesFirst) ? { ...world, isPending: false, isFlushed: false } : null,
    },
  ];
}

/** What is wrong with a world; empty when nothing is. */
export function faultsOf({ disk, reported, isPending, ledger, memory, writing }: World): readonly string[] {
  const faults: string[] = [];
  const claim = (holds: boolean, error: string): void => {
    if (!holds) faults.push(error);
  };
  if (reported !== null) {
    claim(disk !== null && canBecome(reported, disk.state), "the client received what the disk contradicts");
  }
  if (disk !== null) {
    const isIn = disk.state === "included" || disk.state === "finalized";
    claim(isIn === (disk.landed !== null), "a place in the chain without being in it, or the other way round");
    const isLost = disk.state === "dropped" || disk.state === "expired";
    claim(isLost === (disk.reason !== null), "an end without its reason, or a reason without an end");
    claim(!isTerminal(disk.state) || isPending || ledger.length > 0, "an outcome that will not be reported");
    claim(memory === null || canBecome(memory.state, disk.state), "memory is ahead of the disk");
  }
  claim(memory === null || !isTerminal(memory.state), "a bundle that has ended is still live");
  claim(
    ledger.every((state) => state === disk?.state),
    "the ledger received another outcome",
  );
  claim(!isPending || (disk !== null && isTerminal(disk.state)), "an outcome of what has not ended");
  claim(
    writing === null || disk === null || !writing.isDone || writing.to === disk,
    "a write that is done is not there",
  );
  return faults;
}

/** What is wrong with going from one world to the next. */
export function stepFaultsOf(before: World, after: World): readonly string[] {
  if (before.reported !== null && (after.reported === null || !canBecome(before.reported, after.reported))) {
    return ["the client received what contradicts what it had received"];
  }
  const left = before.disk;
  if (left === null) return [];
  if (after.disk === null) return ["what was on disk is gone"];
  if (isTerminal(left.state) && after.disk !== left) return [`the disk left ${left.state}`];
  if (!canBecome(left.state, after.disk.state)) return [`the disk went from ${left.state} to ${after.disk.state}`];
  return [];
}

export interface Exploration {
  readonly worlds: number;
  readonly steps: number;
  readonly states: ReadonlySet<BundleState>;
  /** The events that lead to the first fault, and the fault; null when there is not valid. */
  readonly error: { readonly path: readonly string[]; readonly text: string } | null;
}

const worldsMax = 100_000;
const keyOf = (world: World): string =>
  JSON.stringify(world, (_name, value: unknown) => (typeof value === "bigint" ? `${value}n` : value));

/** Breadth first, so that the path to a fault is a shortest one. Throws when the model is larger than its bound. */
export function explore(mistakes: Mistakes = {}): Exploration {
  const paths = new Map<string, readonly string[]>([[keyOf(start), []]]);
  const queue: World[] = [start];
  const states = new Set<BundleState>();
  let steps = 0;
  for (let at = 0; at < queue.length; at += 1) {
    const world = queue[at];
    if (world === undefined) break;
    const path = paths.get(keyOf(world)) ?? [];
    if (world.disk !== null) states.add(world.disk.state);
    for (const { name, after } of eventsOf(world, mistakes)) {
      if (after === null) continue;
      steps += 1;
      const text = [...stepFaultsOf(world, after), ...faultsOf(after)][0];
      if (text !== undefined) return { worlds: paths.size, steps, states, error: { path: [...path, name], text } };
      const key = keyOf(after);
      if (paths.has(key)) continue;
      if (paths.size >= worldsMax) throw new RangeError(`The model has over ${worldsMax} worlds.`);
      paths.set(key, [...path, name]);
      queue.push(after);
    }
  }
  return { worlds: paths.size, steps, states, error: null };
}
