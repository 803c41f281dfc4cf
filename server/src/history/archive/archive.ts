import type { CommitmentName } from "@sluice/contract/rpc";
import type { Network, PlatformTier } from "@sluice/contract/tiers";
import type { Clock } from "@sluice/lib";
import type { ChainHeld, ChainReads } from "../../ledger/index.ts";
import type { NodeAnswer, UpstreamCall, UpstreamOutcome } from "../../upstreams/index.ts";
import { seenSinceMs } from "../lookups/reach.ts";
import {
  type ArchiveQuestion,
  archivedBlock,
  archivedBlockTime,
  archivedTransaction,
  type LookupQuestion,
} from "./blocks.ts";
import { CallConfig } from "./call-config.ts";
import type { ArchiveEvents } from "./events.ts";
import { archivedSignatures, archivedSlots, listOf } from "./lists.ts";
import { type ForAddress, transactionsForAddress } from "./transactions-for-address.ts";

/** A call as the gateway planned it, whose parameters were checked against the method's row. */
type ArchivedCall = Pick<UpstreamCall, "method" | "params" | "commitment"> & { readonly network: Network };

export interface LedgerArchiveDependencies {
  readonly chain: ChainReads;
  readonly clock: Pick<Clock, "now">;
  readonly events: ArchiveEvents;
}

/** Calls that look into the ledger at one time; beyond them the nodes' answers are passed on as they are. */
const callsMax = 128;

/**
 * Errors of a node that does not hold a block or transaction, or not yet. Source: Solana JSON-RPC, error codes: cleaned
 * up, not available, skipped or missing, missing in long-term storage, no history, status not available yet, long-term
 * storage unreachable.
 */
const notHeldCodes: ReadonlySet<number> = new Set([-32001, -32004, -32007, -32009, -32011, -32014, -32019]);
/** Of these, that the slot was skipped, or is missing; also in long-term storage. */
const skippedCodes: ReadonlySet<number> = new Set([-32007, -32009]);
/** `before` or `until` is not known. */
const filterNotFound = -32020;

type Answering = (chain: ChainReads, question: LookupQuestion) => Promise<NodeAnswer | null>;

/** Methods about one thing. */
const lookups: ReadonlyMap<string, Answering> = new Map([
  ["getBlock", archivedBlock],
  ["getBlockTime", archivedBlockTime],
  ["getTransaction", archivedTransaction],
]);

const slotLists: ReadonlySet<string> = new Set(["getBlocks", "getBlocksWithLimit"]);

/** Whether the nodes do not have the one thing that was asked for, or none of them could be asked. */
function isNotHeld(outcome: UpstreamOutcome): boolean {
  if (!outcome.ok) return outcome.refused === "NETWORK_UNAVAILABLE" || outcome.refused === "UPSTREAM_TIMEOUT";
  const { errorCode, isNull } = outcome.answer;
  return isNull || (errorCode !== null && notHeldCodes.has(errorCode));
}

/** Answers calls from the ledger where nodes have pruned what they ask for, in the bytes that a node would answer. */
export class LedgerArchive {
  readonly #dependencies: LedgerArchiveDependencies;
  #calls = 0;

  constructor(dependencies: LedgerArchiveDependencies) {
    this.#dependencies = dependencies;
  }

  /** Null, at once or later, to pass the nodes' outcome on; never rejects. */
  complete(call: ArchivedCall, outcome: UpstreamOutcome): Promise<NodeAnswer | null> | null {
    const answering = this.#answeringOf(call, outcome);
    return answering === null ? null : this.#guarded(call, (question) => answering(question));
  }

  /** Null, at once or later, to ask the nodes; never rejects. */
  indexed(call: ArchivedCall, tier: PlatformTier): Promise<ForAddress | null> | null {
    if (call.method !== "getTransactionsForAddress") return null;
    const { chain } = this.#dependencies;
    return this.#guarded(call, async (question) => {
      const seenFrom = await this.#seenFrom(call.network, tier);
      return await transactionsForAddress(chain, question, { tier, seenFrom });
    });
  }

  #answeringOf(
    { method }: ArchivedCall,
    outcome: UpstreamOutcome,
  ): ((question: ArchiveQuestion) => Promise<NodeAnswer | null>) | null {
    const { chain } = this.#dependencies;
    const lookup = lookups.get(method);
    if (lookup !== undefined) {
      const isToldSkipped = outcome.ok && skippedCodes.has(outcome.answer.errorCode ?? 0);
      return isNotHeld(outcome) ? (question) => lookup(chain, { ...question, isToldSkipped }) : null;
    }
    if (!outcome.ok || outcome.answer.body.kind === "large") return null;
    const { answer } = outcome;
    if (method === "getSignaturesForAddress") {
      if (answer.errorCode === filterNotFound || isNotHeld(outcome)) {
        return (question) => archivedSignatures(chain, question, null);
      }
      const list = answer.errorCode === null ? listOf(answer) : null;
      return list === null ? null : (question) => archivedSignatures(chain, question, list);
    }
    if (!slotLists.has(method) || answer.errorCode !== null) return null;
    const list = listOf(answer);
    return list === null ? null : (question) => archivedSlots(chain, { ...question, method }, list);
  }

  async #guarded<T>(call: ArchivedCall, answer: (question: ArchiveQuestion) => Promise<T | null>): Promise<T | null> {
    const { chain, events } = this.#dependencies;
    const { network, method, params, commitment } = call;
    if (this.#calls >= callsMax) {
      events.archiveAsked(network, method, "busy");
      return null;
    }
    this.#calls += 1;
    try {
      const held = await chain.held(network);
      if (held.blocks === null) return null;
      const question = { network, held, newest: newestOf(held, commitment), config: new CallConfig(params) };
      const answered = await answer(question);
      events.archiveAsked(network, method, answered === null ? "absent" : "answered");
      return answered;
    } catch (error) {
      events.archiveAsked(network, method, "failed");
      events.archiveFailed(network, method, error);
      return null;
    } finally {
      this.#calls -= 1;
    }
  }

  async #seenFrom(network: Network, tier: PlatformTier): Promise<bigint> {
    const { chain, clock } = this.#dependencies;
    const seenMs = seenSinceMs(tier, clock.now());
    if (seenMs === null) return 0n;
    return (await chain.firstSlotSince(network, BigInt(Math.floor(seenMs / 1_000)))) ?? 2n ** 64n - 1n;
  }
}

/** The ledger holds confirmed blocks and later: calls without a commitment of their own see all of them. */
function newestOf({ blocks, finalBefore }: ChainHeld, commitment: CommitmentName): bigint {
  return commitment === "finalized" ? finalBefore - 1n : (blocks?.to ?? -1n);
}
