import { SluiceError } from "@sluice/contract/errors";
import type { PageEnd } from "../transactions/ledger-pages.ts";

const pattern = /^w1\.([\w-]{11})\.(?:(0|[1-9][0-9]{0,19})\.(0|[1-9][0-9]{0,9})|-)\.(0|[1-9][0-9]{0,5})$/;
const [slotMax, indexMax] = [2n ** 64n - 1n, 2 ** 32 - 1];

/** Eight bytes of what was asked, so that a cursor goes on with the list that it is of. */
function digestOf(question: string): string {
  const bytes = new Uint8Array(8);
  new DataView(bytes.buffer).setBigUint64(0, BigInt(Bun.hash(question)), true);
  return Buffer.from(bytes).toString("base64url");
}

/** The opaque text of where the next page of a list begins. */
export function writeWalletCursor(question: string, { after, skip }: PageEnd): string {
  const place = after === null ? "-" : `${after.slot}.${after.index}`;
  return Buffer.from(`w1.${digestOf(question)}.${place}.${skip}`).toString("base64url");
}

/**
 * Where a page begins; without a cursor at the beginning.
 * @throws {SluiceError} INVALID_INPUT for what no list of this question gave out
 */
export function readWalletCursor(question: string, cursor: string | undefined): PageEnd {
  if (cursor === undefined) return { after: null, skip: 0 };
  const found = pattern.exec(Buffer.from(cursor, "base64url").toString("latin1"));
  if (found === null) throw invalid("is not a next_cursor of this list");
  const [, digest, slotText, indexText, skip] = found;
  if (digest !== digestOf(question)) throw invalid("is of a list with other members");
  if (slotText === undefined || indexText === undefined) return { after: null, skip: Number(skip) };
  const [slot, index] = [BigInt(slotText), Number(indexText)];
  if (slot > slotMax || index > indexMax) throw invalid("is not a next_cursor of this list");
  return { after: { slot, index }, skip: Number(skip) };
}

function invalid(message: string): SluiceError {
  return new SluiceError("INVALID_INPUT", {
    message: `cursor ${message}`,
    details: { errors: [{ path: "cursor", message }] },
  });
}
