import { type CommitmentName, commitments } from "@sluice/contract/rpc";
import { type Clock, sleep } from "@sluice/lib";
import { type JsonValue, stringifyJsonExact } from "@sluice/wire/json";
import { answerText, type UpstreamCall, type UpstreamPool } from "../../upstreams/index.ts";
import {
  presentedAccount,
  programAccounts,
  type ReachedCommitment,
  readAnswer,
  readEncoding,
  signatureStatuses,
} from "./account-states.ts";
import type { Continuity } from "./continuity.ts";
import type { SharedSubscription } from "./shared-subscription.ts";

/** A subscription that goes on at another node. */
export interface MovedSubscription {
  readonly shared: SharedSubscription;
  readonly continuity: Continuity;
}

/** How the time between two nodes was bridged: something was told, there was nothing to tell, or it is not known. */
export type BridgeOutcome = "told" | "same" | "unread";

export interface ReconciliationDependencies {
  readonly clock: Pick<Clock, "after">;
  readonly pool: Pick<UpstreamPool, "call" | "slotOf" | "network">;
  readonly events: {
    pubsubBridged(network: string, kind: string, outcome: BridgeOutcome): void;
    internalError(where: string, error: unknown): void;
  };
}

/** Reads at a time. */
const readsMax = 16;
/** Waits before each try of a read. A slot takes 0.4 s, and a node may have to reach one first. */
const waitsMs = [0, 400, 800, 1_600, 3_200] as const;
/** Signatures of one read, and how long they are gathered. */
const signaturesMax = 256;
const gatherMs = 20;
/** The text of a program's accounts that is read at most; beyond it the next change of each account tells its state. */
export const programBytesMax = 4 * 1024 * 1024;

type Read = { readonly slot: bigint; readonly value: JsonValue };

/**
 * Bridges the time in which a subscription had no node: what may have happened then is read, once the subscription is
 * made at another node, at a slot that is not before it. Accounts and the accounts of programs tell their final state,
 * signatures what became of them. What cannot be read ends with the loss of the subscription, so that no client waits
 * for what has been: but for programs whose accounts are too many, which tell what changes later.
 */
export class Reconciliation {
  readonly #dependencies: ReconciliationDependencies;
  #reading = 0;
  readonly #waiting: (() => Promise<void>)[] = [];
  #signatures: MovedSubscription[] = [];

  constructor(dependencies: ReconciliationDependencies) {
    this.#dependencies = dependencies;
  }

  /** The subscription has been made at another node. */
  begin(moved: MovedSubscription): void {
    switch (moved.shared.spec.kind) {
      case "account":
        this.#run(() => this.#account(moved));
        break;
      case "program":
        this.#run(() => this.#program(moved));
        break;
      case "signature":
        this.#gather(moved);
        break;
    }
  }

  /** The number of reads that wait is that of the subscriptions of a node. */
  #run(work: () => Promise<void>): void {
    this.#waiting.push(work);
    this.#next();
  }

  #next(): void {
    while (this.#reading < readsMax) {
      const work = this.#waiting.shift();
      if (work === undefined) return;
      this.#reading += 1;
      work()
        .catch((error: unknown) => this.#dependencies.events.internalError("pubsub", error))
        .finally(() => {
          this.#reading -= 1;
          this.#next();
        });
    }
  }

  #gather(moved: MovedSubscription): void {
    this.#signatures.push(moved);
    if (this.#signatures.length > 1) return;
    this.#dependencies.clock.after(gatherMs, () => {
      const gathered = this.#signatures;
      this.#signatures = [];
      for (let from = 0; from < gathered.length; from += signaturesMax) {
        const part = gathered.slice(from, from + signaturesMax);
        this.#run(() => this.#statuses(part));
      }
    });
  }

  async #account(moved: MovedSubscription): Promise<void> {
    const { shared, continuity } = moved;
    const { config, commitment, subject } = shared.spec;
    const moves = continuity.moves;
    const read = await this.#read(moved, (minContextSlot) => ({
      method: "getAccountInfo",
      params: [subject, { encoding: readEncoding(config), commitment, minContextSlot }],
    }));
    if (!isCurrent(moved, moves)) return;
    const account = read === null ? null : presentedAccount(read.value, config);
    if (read === null || account === null) {
      this.#bridged(moved, "unread");
      shared.lose();
      return;
    }
    const isNew = continuity.takesState(read.slot, account);
    if (isNew) shared.notify(`{"context":{"slot":${read.slot}},"value":${account}}`);
    this.#bridged(moved, isNew ? "told" : "same");
  }

  async #program(moved: MovedSubscription): Promise<void> {
    const { shared, continuity } = moved;
    const { config, commitment, subject } = shared.spec;
    const moves = continuity.moves;
    const options = { encoding: readEncoding(config), commitment, filters: config["filters"] ?? [], withContext: true };
    const read = await this.#read(moved, (minContextSlot) => ({
      method: "getProgramAccounts",
      params: [subject, { ...options, minContextSlot }],
    }));
    if (!isCurrent(moved, moves)) return;
    if (read === null) {
      this.#bridged(moved, "unread");
      return;
    }
    let told = 0;
    for (const { address, account } of programAccounts(read.value)) {
      const text = presentedAccount(account, config);
      if (text === null || !continuity.takesProgramState(address, text)) continue;
      told += 1;
      shared.notify(`{"context":{"slot":${read.slot}},"value":{"pubkey":"${address}","account":${text}}}`);
    }
    this.#bridged(moved, told > 0 ? "told" : "same");
  }

  async #statuses(moved: readonly MovedSubscription[]): Promise<void> {
    const [first] = moved;
    if (first === undefined) return;
    const signatures = moved.map(({ shared }) => shared.spec.subject);
    const read = await this.#read(first, () => ({
      method: "getSignatureStatuses",
      params: [signatures, { searchTransactionHistory: true }],
    }));
    const statuses = read === null ? [] : signatureStatuses(read.value);
    for (const [index, each] of moved.entries()) {
      const status = statuses[index];
      if (read === null || status === undefined) {
        this.#bridged(each, "unread");
        each.shared.lose();
      } else this.#status(each, read.slot, status);
    }
  }

  #status(moved: MovedSubscription, slot: bigint, status: ReachedCommitment | null): void {
    const { shared } = moved;
    const isReached = status !== null && rank(status.commitment) >= rank(shared.spec.commitment);
    if (isReached) shared.notify(`{"context":{"slot":${slot}},"value":{"err":${status.error}}}`, true);
    this.#bridged(moved, isReached ? "told" : "same");
  }

  /** Null when it cannot be read. */
  async #read(
    { shared: { spec } }: MovedSubscription,
    question: (minContextSlot: bigint) => { readonly method: string; readonly params: JsonValue },
  ): Promise<Read | null> {
    const { clock, pool } = this.#dependencies;
    for (const waitMs of waitsMs) {
      if (waitMs > 0) await sleep(clock, waitMs);
      const minimumSlot = pool.slotOf(spec.commitment) ?? 0n;
      const { method, params } = question(minimumSlot);
      const call: UpstreamCall = {
        method,
        params: stringifyJsonExact(params),
        kind: "read",
        commitment: spec.commitment,
        minimumSlot,
        largeFrom: spec.kind === "program" ? programBytesMax : undefined,
      };
      const outcome = await pool.call(call);
      if (!outcome.ok) continue;
      const text = answerText(outcome.answer);
      // Too large to be read: asking again changes nothing.
      if (text === null) return null;
      const read = outcome.answer.errorCode === null ? readAnswer(text) : null;
      if (read !== null) return read;
    }
    return null;
  }

  #bridged({ shared: { spec } }: MovedSubscription, outcome: BridgeOutcome): void {
    this.#dependencies.events.pubsubBridged(this.#dependencies.pool.network, spec.kind, outcome);
  }
}

const rank = (commitment: CommitmentName): number => commitments.indexOf(commitment);

/** Whether the subscription has not been moved again, which is bridged by itself, and has not ended. */
const isCurrent = ({ shared, continuity }: MovedSubscription, moves: number): boolean =>
  shared.isOpen && continuity.moves === moves;
