import { type CommitmentName, commitments } from "@sluice/contract/rpc";
import type { Clock } from "@sluice/lib";
import { type KnownSignature, signatureStatuses } from "./account-states.ts";
import type { NodeReads } from "./node-reads.ts";

/** What nodes say of a signature: null where they do not know it. `slot` is that of the answer. */
export interface SignatureRead {
  readonly slot: bigint;
  readonly known: KnownSignature | null;
}

interface Asked {
  readonly signature: string;
  readonly commitment: CommitmentName;
  readonly done: (read: SignatureRead | null) => void;
}

/** Signatures of one read, and how long they are gathered. */
const signaturesMax = 256;
const gatherMs = 20;

/** Asks nodes for signatures, those that are asked for together at once. */
export class SignatureReads {
  readonly #dependencies: { readonly clock: Pick<Clock, "after">; readonly reads: NodeReads };
  #gathered: Asked[] = [];

  constructor(dependencies: { readonly clock: Pick<Clock, "after">; readonly reads: NodeReads }) {
    this.#dependencies = dependencies;
  }

  /** `done` receives null where no node could be asked. */
  read(asked: Asked): void {
    this.#gathered.push(asked);
    if (this.#gathered.length > 1) return;
    this.#dependencies.clock.after(gatherMs, () => {
      const gathered = this.#gathered;
      this.#gathered = [];
      for (const commitment of commitments) {
        const ofOne = gathered.filter((each) => each.commitment === commitment);
        for (let from = 0; from < ofOne.length; from += signaturesMax) {
          this.#ask(commitment, ofOne.slice(from, from + signaturesMax));
        }
      }
    });
  }

  #ask(commitment: CommitmentName, asked: readonly Asked[]): void {
    const params = [asked.map(({ signature }) => signature), { searchTransactionHistory: true }];
    this.#dependencies.reads.read({ commitment, ask: () => ({ method: "getSignatureStatuses", params }) }, (read) => {
      const statuses = read === null ? [] : signatureStatuses(read.value);
      for (const [index, { done }] of asked.entries()) {
        const known = statuses[index];
        done(read === null || known === undefined ? null : { slot: read.slot, known });
      }
    });
  }
}

/** Whether what nodes know of a signature is settled as far as `commitment` asks. */
export const hasReached = ({ commitment: reached }: KnownSignature, commitment: CommitmentName): boolean =>
  commitments.indexOf(reached) >= commitments.indexOf(commitment);

/** The result of the notification that nodes' words on a signature stand for. */
export const signatureResult = (slot: bigint, error: string): string =>
  `{"context":{"slot":${slot}},"value":{"err":${error}}}`;
