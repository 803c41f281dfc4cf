import { closeCodes, closeCodeTexts } from "@sluice/contract/close-codes";
import { CodedError, errorTable } from "@sluice/contract/errors";

/** The details of the end of a subscription besides its code. */
export interface StreamErrorDetails {
  /** The code with which the connection was closed; null where the subscription alone ended. */
  readonly closeCode: number | null;
  /** Where another subscription would go on; null where that is not known. */
  readonly cursor: string | null;
  /** For CURSOR_EXPIRED the first slot that can be had; null where that is not known. */
  readonly firstSlot: bigint | null;
}

/** The end of a subscription that no other attempt can mend. `code` is of the reference of errors. */
export class StreamError extends CodedError<string, StreamErrorDetails> {
  constructor(code: string, message: string, details: Partial<StreamErrorDetails> = {}) {
    super(code, { message, details: { closeCode: null, cursor: null, firstSlot: null, ...details } });
    // A bundler may rename the class.
    this.name = "StreamError";
  }
}

/** What an `error` of the server says. */
export interface StatedError {
  readonly code: string;
  readonly message: string;
}

/** Close codes after which no other attempt is made, and the error where the server states none. */
const finalCloses: Readonly<Record<number, { readonly code: string; readonly text: string }>> = {
  [closeCodes.badKey]: { code: "INVALID_API_KEY", text: closeCodeTexts.badKey },
  [closeCodes.quotaExceeded]: { code: "INSUFFICIENT_CREDITS", text: closeCodeTexts.quotaExceeded },
  [closeCodes.notAllowed]: { code: "PERMISSION_DENIED", text: closeCodeTexts.notAllowed },
  [closeCodes.messageTooLarge]: { code: "BODY_TOO_LARGE", text: closeCodeTexts.messageTooLarge },
};

/** The error of a connection that must not be made again; null where another attempt may do better. */
export function finalError(closeCode: number, stated: StatedError | null): StreamError | null {
  const close = finalCloses[closeCode];
  if (close === undefined) return null;
  return new StreamError(stated?.code ?? close.code, stated?.message ?? close.text, { closeCode });
}

/** Whether another attempt, or another host, may do better. */
export function isPassing(code: string): boolean {
  return (
    code === "REPLAY_TOO_SLOW" ||
    (Object.hasOwn(errorTable, code) && errorTable[code as keyof typeof errorTable].retryable)
  );
}
