import type { AccountJson } from "../encode/index.ts";
import { answerTooLarge } from "./errors.ts";

/** Text of one answer, or of all answers to a batch: a million token accounts in base64 are 420 MB. */
export const ANSWER_BYTES_MAX = 512 * 1_024 * 1_024;
/** What a row takes beside its data, at most: names, address, owner, lamports and rent epoch. */
const ROW_BYTES = 270;
/** Parsed data are not written to be measured: each byte of the account counts as so many of text, and a row as so many. */
const PARSED_BYTES_PER_BYTE = 4;
const PARSED_ROW_BYTES = 600;

function textBytes({ data, space }: AccountJson): number {
  if (typeof data === "string") return ROW_BYTES + data.length;
  if (Array.isArray(data)) return ROW_BYTES + String(data[0]).length;
  return ROW_BYTES + PARSED_ROW_BYTES + Number(space) * PARSED_BYTES_PER_BYTE;
}

/** Measures the accounts of an answer before it is text, so that one that is too large is never built. */
export class AnswerSize {
  readonly #max: number;
  #bytes = 0;

  constructor(max = ANSWER_BYTES_MAX) {
    this.#max = max;
  }

  /** Gives the account back. Throws RpcError when the answer has no room for it. */
  take(account: AccountJson): AccountJson {
    this.#bytes += textBytes(account);
    if (this.#bytes > this.#max) throw answerTooLarge(this.#max);
    return account;
  }
}
