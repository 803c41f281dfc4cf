/** Verifies what became of bundles by the blocks of the chain alone, and compares it with what the engine says. */
import type { BundleStatus } from "./chaos-status.ts";

/** Everything that is known of one bundle, however often it was handed in. */
export interface BundleStory {
  readonly id: string;
  /** What it was drawn as first, in words. */
  readonly drawn: string;
  /** Of its transactions; empty for one that is encrypted in a wrong way, of which nothing may land. */
  readonly signatures: readonly string[];
  /** Whether a client was informed that it is accepted. */
  isAccepted: boolean;
  /** How often it was handed in. */
  handed: number;
  /** What the engine says when all is over; null where it does not know it. */
  state: BundleStatus | null;
}

export interface Place {
  readonly slot: number;
  readonly index: number;
  readonly failed: boolean;
}

/** What is in the chain, and by what other way than a bundle it may have come there. */
export interface ChainStory {
  /** Every place of each transaction that is no vote. */
  readonly places: ReadonlyMap<string, readonly Place[]>;
  /** Transactions that were sent to a node, each for itself. */
  readonly sentAlone: ReadonlySet<string>;
  /** Slots in which the transactions of abandoned blocks ran again, each for itself. */
  readonly againSlots: ReadonlySet<number>;
}

export interface Verdict {
  readonly faults: readonly string[];
  /** Bundles by what the engine says, of those that a client was informed are accepted. */
  readonly outcomes: Readonly<Record<string, number>>;
  /** Bundles of which some transactions came into the chain by another way. */
  readonly taken: number;
  /** Bundles that were in the chain when they had ended, since a fork brought their transactions back. */
  readonly broughtBack: number;
}

/** How a bundle is in the chain: whole, in its order and with success in one block, or in any other way. */
interface Presence {
  readonly present: readonly { readonly signature: string; readonly place: Place }[];
  readonly slot: number | null;
  readonly isTogether: boolean;
}

function presenceOf(signatures: readonly string[], { places }: ChainStory): Presence {
  const present = signatures.flatMap((signature) => {
    const [place] = places.get(signature) ?? [];
    return place === undefined ? [] : [{ signature, place }];
  });
  const first = present[0]?.place;
  const isAll = first !== undefined && present.length === signatures.length;
  const isWhole =
    isAll &&
    present.every(({ place }, at) => {
      return place.slot === first.slot && !place.failed && place.index >= (present[at - 1]?.place.index ?? 0);
    });
  const isTogether = isWhole && present.every(({ place }, at) => place.index === first.index + at);
  return { present, slot: isWhole ? first.slot : null, isTogether };
}

/** Everything that contradicts the chain; nothing of it may be. */
export function verify(stories: readonly BundleStory[], chain: ChainStory): Verdict {
  const faults: string[] = [];
  const outcomes: Record<string, number> = {};
  let [taken, broughtBack] = [0, 0];
  const evaluated = stories.map((story) => ({ story, presence: presenceOf(story.signatures, chain) }));
  /** How many bundles that are whole hold each transaction. */
  const holders = new Map<string, number>();
  for (const { story, presence } of evaluated) {
    if (presence.slot === null || story.state === null) continue;
    for (const signature of story.signatures) holders.set(signature, (holders.get(signature) ?? 0) + 1);
  }
  /** Bundles that are said to be included, by their transactions: only one can have brought each. */
  const includedHolders = new Map<string, string>();
  const ownOf = (presence: Presence, isWhole: boolean) =>
    presence.present.filter(({ signature, place }) => {
      const others = (holders.get(signature) ?? 0) - (isWhole ? 1 : 0);
      return others <= 0 && !chain.sentAlone.has(signature) && !chain.againSlots.has(place.slot);
    });
  for (const { story, presence } of evaluated) {
    const { state, isAccepted, id, drawn, signatures } = story;
    const isWhole = presence.slot !== null;
    const own = ownOf(presence, isWhole && state !== null);
    if (isAccepted) outcomes[state?.status ?? "unknown"] = (outcomes[state?.status ?? "unknown"] ?? 0) + 1;
    if (isAccepted && state === null) faults.push(`${id} was accepted and is unknown`);
    if (state?.status === "accepted") faults.push(`${id} has no end`);
    if (!isWhole && own.length > 0) {
      faults.push(`${id} is in the chain in part: ${own.length} of ${signatures.length}, slot ${own[0]?.place.slot}`);
    }
    if (!isWhole && presence.present.length > own.length) taken += 1;
    if (isWhole && own.length === signatures.length && !presence.isTogether) faults.push(`${id} is not in one piece`);
    if (state === null && isWhole && own.length > 0) faults.push(`${id} landed and is unknown`);
    if (state?.status === "included") faults.push(...includedFaults(story, presence.slot, includedHolders));
    if ((state?.status === "dropped" || state?.status === "expired") && isWhole) {
      if (own.length === signatures.length)
        faults.push(`${id} (${drawn}) is ${state.status}, ${state.reason}, and landed in ${presence.slot}`);
      else broughtBack += 1;
    }
  }
  faults.push(...strangers(stories, chain));
  return { faults, outcomes, taken, broughtBack };
}

/**
 * What is wrong about a bundle that is said to be included. `holders` is of those that were looked at before, and gets
 * it.
 */
function includedFaults(
  { id, signatures, state }: BundleStory,
  slot: number | null,
  holders: Map<string, string>,
): string[] {
  const faults: string[] = [];
  if (state?.slot !== slot) faults.push(`${id} is said to be in slot ${state?.slot} and is in ${slot}`);
  if (state?.signatures.join() !== signatures.join()) faults.push(`${id} is said to hold other transactions`);
  for (const signature of signatures) {
    const other = holders.get(signature);
    if (other !== undefined) faults.push(`${id} is said to be included, and so is ${other}, which holds ${signature}`);
    holders.set(signature, id);
  }
  return faults;
}

/** Transactions that landed twice, or that were not sent. */
function strangers(stories: readonly BundleStory[], { places, sentAlone }: ChainStory): string[] {
  const known = new Set(sentAlone);
  for (const { signatures } of stories) for (const signature of signatures) known.add(signature);
  return [...places].flatMap(([signature, at]) => [
    ...(at.length > 1 ? [`${signature} landed ${at.length} times`] : []),
    ...(known.has(signature) ? [] : [`${signature} was not sent by any client`]),
  ]);
}

interface BlockAnswer {
  readonly result: {
    readonly transactions: readonly {
      readonly transaction: {
        readonly signatures: readonly string[];
        readonly accountKeys: readonly { pubkey: string }[];
      };
      readonly meta: { readonly err: unknown };
    }[];
  } | null;
}

const voteProgram = "Vote111111111111111111111111111111111111111";
const readsAtATime = 4;

/** Every transaction of the finalized blocks in these slots that is no vote. */
export async function readPlaces(
  ask: (method: string, params: readonly unknown[]) => Promise<unknown>,
  { first, last }: { readonly first: number; readonly last: number },
): Promise<Map<string, Place[]>> {
  const places = new Map<string, Place[]>();
  const { result: slots } = (await ask("getBlocks", [first, last])) as { result: readonly number[] };
  for (let at = 0; at < slots.length; at += readsAtATime) {
    const some = slots.slice(at, at + readsAtATime);
    const options = { transactionDetails: "accounts", maxSupportedTransactionVersion: 0, rewards: false };
    const blocks = await Promise.all(some.map((slot) => ask("getBlock", [slot, options]) as Promise<BlockAnswer>));
    for (const [offset, { result }] of blocks.entries()) {
      const slot = some[offset] ?? 0;
      if (result === null || result === undefined) throw new Error(`the chain has no block of slot ${slot}`);
      for (const [index, { transaction, meta }] of result.transactions.entries()) {
        const [signature] = transaction.signatures;
        if (signature === undefined || transaction.accountKeys.some(({ pubkey }) => pubkey === voteProgram)) continue;
        places.set(signature, [...(places.get(signature) ?? []), { slot, index, failed: meta.err !== null }]);
      }
    }
  }
  return places;
}
