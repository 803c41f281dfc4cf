import type { CommitmentName } from "@sluice/contract/rpc";
import { type Clock, sleep } from "@sluice/lib";
import { type JsonValue, stringifyJsonExact } from "@sluice/wire/json";
import { answerText, type UpstreamCall, type UpstreamPool } from "../../upstreams/index.ts";
import { readAnswer } from "./account-states.ts";

export interface NodeReadsDependencies {
  readonly clock: Pick<Clock, "after">;
  readonly pool: Pick<UpstreamPool, "call" | "slotOf">;
  readonly failed: (error: unknown) => void;
}

export interface StateQuestion {
  readonly commitment: CommitmentName;
  /** `minContextSlot` is the newest slot that is believed when it is asked. */
  readonly ask: (minContextSlot: bigint) => { readonly method: string; readonly params: JsonValue };
  /** A longer answer is none; left out, the pool's own bound holds. */
  readonly bytesMax?: number;
}

/** What a node answered, and the slot that its context names. */
export interface NodeRead {
  readonly slot: bigint;
  readonly value: JsonValue;
}

/** Reads at a time. */
const readsMax = 16;
/** Waits before each try of a read. A slot takes 0.4 s, and a node may have to reach one first. */
const waitsMs = [0, 400, 800, 1_600, 3_200] as const;

/** Reads from the nodes of a network, a few at a time. */
export class NodeReads {
  readonly #dependencies: NodeReadsDependencies;
  readonly #waiting: (() => Promise<void>)[] = [];
  #reading = 0;

  constructor(dependencies: NodeReadsDependencies) {
    this.#dependencies = dependencies;
  }

  /** Reads in its turn; `done` receives null where no node could tell. The caller bounds how many wait. */
  read(question: StateQuestion, done: (read: NodeRead | null) => void): void {
    this.#waiting.push(async () => done(await this.#read(question)));
    this.#next();
  }

  #next(): void {
    while (this.#reading < readsMax) {
      const work = this.#waiting.shift();
      if (work === undefined) return;
      this.#reading += 1;
      work()
        .catch((error: unknown) => this.#dependencies.failed(error))
        .finally(() => {
          this.#reading -= 1;
          this.#next();
        });
    }
  }

  async #read({ commitment, ask, bytesMax }: StateQuestion): Promise<NodeRead | null> {
    const { clock, pool } = this.#dependencies;
    for (const waitMs of waitsMs) {
      if (waitMs > 0) await sleep(clock, waitMs);
      const minimumSlot = pool.slotOf(commitment) ?? 0n;
      const { method, params } = ask(minimumSlot);
      const call: UpstreamCall = {
        method,
        params: stringifyJsonExact(params),
        kind: "read",
        commitment,
        minimumSlot,
        largeFrom: bytesMax,
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
}
