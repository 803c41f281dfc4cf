import type { AccountJson, JsonValue } from "@sluice/encode";

/** A failure that ends one call: what stands in the `error` member of its answer. */
export class RpcError extends Error {
  readonly code: number;
  /** Undefined leaves the member out. */
  readonly data: JsonValue | undefined;

  constructor(code: number, message: string, data?: JsonValue) {
    super(message);
    this.name = "RpcError";
    this.code = code;
    this.data = data;
  }
}

export function invalidRequest(message = "Invalid request"): RpcError {
  return new RpcError(-32600, message);
}

export function internalError(): RpcError {
  return new RpcError(-32603, "Internal error");
}

export function methodNotFound(): RpcError {
  return new RpcError(-32601, "Method not found");
}

export function invalidParams(message: string, data?: JsonValue): RpcError {
  return new RpcError(-32602, message, data);
}

export function blockCleanedUp(slot: bigint, first: bigint): RpcError {
  return new RpcError(-32001, `Block ${slot} cleaned up, does not exist on node. First available block: ${first}`);
}

export function preflightFailure(sentence: string, simulation: JsonValue): RpcError {
  return new RpcError(-32002, `Transaction simulation failed: ${sentence}`, simulation);
}

export function nodeBehind(slots: bigint): RpcError {
  return new RpcError(-32005, `Node is behind by ${slots} slots`, { numSlotsBehind: slots });
}

export function blockNotAvailable(slot: bigint): RpcError {
  return new RpcError(-32004, `Block not available for slot ${slot}`);
}

export function slotSkipped(slot: bigint): RpcError {
  return new RpcError(-32007, `Slot ${slot} was skipped, or missing due to ledger jump to recent snapshot`);
}

export function answerTooLarge(bytesMax: number): RpcError {
  return new RpcError(
    -32012,
    `Scan aborted: the answer is larger than ${bytesMax} bytes; narrow it by filters or dataSlice`,
  );
}

export function unsupportedVersion(version: number): RpcError {
  return new RpcError(
    -32015,
    `Transaction version (${version}) is not supported by the requesting client. Please try the request again with the following configuration parameter: "maxSupportedTransactionVersion": ${version}`,
  );
}

export function minContextSlotNotReached(contextSlot: bigint): RpcError {
  return new RpcError(-32016, "Minimum context slot has not been reached", { contextSlot });
}

export function filterTransactionNotFound(signature: string): RpcError {
  return new RpcError(-32020, `Transaction ${signature} not found`);
}

/** Text of one answer, or of all answers to a batch: a million token accounts in base64 are 420 MB. */
export const answerBytesMax = 512 * 1_024 * 1_024;
/** The largest size of a row besides its data: names, address, owner, lamports and rent epoch. */
const rowBytes = 270;
/**
 * Parsed data are not written to be measured: each byte of the account counts as so many of text, and a row as so many.
 */
const parsedBytesPerByte = 4;
const parsedRowBytes = 600;

function textBytes({ data, space }: AccountJson): number {
  if (typeof data === "string") return rowBytes + data.length;
  if (Array.isArray(data)) return rowBytes + String(data[0]).length;
  return rowBytes + parsedRowBytes + Number(space) * parsedBytesPerByte;
}

/** Measures the accounts of an answer before it is text, so that one that is too large is never built. */
export class AnswerSize {
  readonly #max: number;
  #bytes = 0;

  constructor(max = answerBytesMax) {
    this.#max = max;
  }

  /** Gives the account back. Throws RpcError when the answer has no room for it. */
  take(account: AccountJson): AccountJson {
    this.#bytes += textBytes(account);
    if (this.#bytes > this.#max) throw answerTooLarge(this.#max);
    return account;
  }
}
