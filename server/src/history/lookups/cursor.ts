import { SluiceError } from "@sluice/contract/errors";
import type { TransactionPlace } from "../../ledger/index.ts";

const form = "h1";
const digestLength = 11;
const pattern = /^h1\.([\w-]{11})\.(0|[1-9][0-9]{0,19})\.(0|[1-9][0-9]{0,9})$/;
const [slotMax, indexMax] = [2n ** 64n - 1n, 2 ** 32 - 1];

/** Eight bytes of what was asked, so that a cursor goes on with the list that it is of. */
function digestOf(question: string): string {
  const bytes = new Uint8Array(8);
  new DataView(bytes.buffer).setBigUint64(0, BigInt(Bun.hash(question)), true);
  return Buffer.from(bytes).toString("base64url");
}

/** The opaque text of a place behind which the next page of a list begins. */
export function writeCursor(question: string, { slot, index }: TransactionPlace): string {
  return Buffer.from(`${form}.${digestOf(question)}.${slot}.${index}`).toString("base64url");
}

/**
 * The place of a cursor.
 * @throws {SluiceError} INVALID_INPUT for what no list of this question gave out
 */
export function readCursor(question: string, cursor: string): TransactionPlace {
  const found = pattern.exec(Buffer.from(cursor, "base64url").toString("latin1"));
  const [, digest = "", slotText = "", indexText = ""] = found ?? [];
  if (digest.length !== digestLength) throw invalid("is not a next_cursor of this list");
  if (digest !== digestOf(question)) throw invalid("is of a list with other members");
  const [slot, index] = [BigInt(slotText), Number(indexText)];
  if (slot > slotMax || index > indexMax) throw invalid("is not a next_cursor of this list");
  return { slot, index };
}

function invalid(message: string): SluiceError {
  return new SluiceError("INVALID_INPUT", {
    message: `cursor ${message}`,
    details: { errors: [{ path: "cursor", message }] },
  });
}
