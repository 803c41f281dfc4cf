import type { ExplainedRecord } from "@sluice/contract/pool";
import { type ExplainedPart, type Explanation, momentText } from "../explain/explanation.ts";

/** An answer's text, and from when on it has all that there is; null where it is of the present alone. */
export interface PoolAnswer {
  readonly text: string;
  /** The text in UTF-8, made once for all who are answered with it. */
  readonly body: Uint8Array<ArrayBuffer>;
  /** Unix milliseconds. */
  readonly sinceMs: number | null;
  /** Where the answer's period begins, in Unix milliseconds. */
  readonly fromMs: number;
}

/** What a record is made with. */
export interface MadeRecord extends Omit<PoolAnswer, "body"> {
  readonly record: ExplainedRecord;
  /** When it was read, in Unix milliseconds, and the slot of the accounts; null where none were read. */
  readonly atMs: number;
  readonly slot: bigint | null;
  /** How it comes about, by the very values that it is made of. */
  readonly explain: () => ExplainedPart | Promise<ExplainedPart>;
}

const encoder = new TextEncoder();
const answerOf = (text: string, { sinceMs, fromMs }: Pick<PoolAnswer, "sinceMs" | "fromMs">): PoolAnswer => ({
  text,
  body: encoder.encode(text),
  sinceMs,
  fromMs,
});

/** A record of one reading, and the explanation that belongs to it, which is made once, when it is first asked for. */
export class ReadRecord {
  readonly answer: PoolAnswer;
  readonly #made: MadeRecord;
  #explanation: Promise<PoolAnswer> | null = null;

  constructor(made: MadeRecord) {
    this.#made = made;
    this.answer = answerOf(made.text, made);
  }

  /** JSON of an `Explanation`. Rejects as what it is made of, and is made again when it is next asked for. */
  explanation(): Promise<PoolAnswer> {
    this.#explanation ??= this.#explain().catch((error: unknown) => {
      this.#explanation = null;
      throw error;
    });
    return this.#explanation;
  }

  async #explain(): Promise<PoolAnswer> {
    const { record, atMs, slot, explain } = this.#made;
    const at = momentText(atMs);
    const explanation: Explanation = { record, at, slot: slot === null ? null : slot.toString(), ...(await explain()) };
    return answerOf(JSON.stringify(explanation), this.#made);
  }
}
