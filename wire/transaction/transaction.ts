import { type Signature, signatureOfBytes } from "../identifiers.ts";
import type { Message } from "./message.ts";

/** A transaction that passed the strict parser: its message and where its signatures lie. */
export class Transaction {
  /** The canonical wire bytes, which are exactly what was parsed. */
  readonly bytes: Uint8Array;
  readonly message: Message;
  /** Offset of the first signature; the others follow, 64 bytes each. */
  readonly signaturesStart: number;
  #id: Signature | undefined;

  constructor(bytes: Uint8Array, message: Message, signaturesStart: number) {
    this.bytes = bytes;
    this.message = message;
    this.signaturesStart = signaturesStart;
  }

  get signatureCount(): number {
    return this.message.numRequiredSignatures;
  }

  /** The 64 bytes of a signature, as a view. RangeError outside of the signatures. */
  signatureBytes(index: number): Uint8Array {
    if (!(index >= 0 && index < this.signatureCount)) throw new RangeError(`no signature ${index}`);
    const start = this.signaturesStart + index * 64;
    return this.bytes.subarray(start, start + 64);
  }

  /** All signatures as text, in the order of their keys. */
  get signatures(): readonly Signature[] {
    return Array.from({ length: this.signatureCount }, (_, index) => signatureOfBytes(this.signatureBytes(index)));
  }

  /** The first signature as text, made once: the transaction's id. */
  get id(): Signature {
    this.#id ??= signatureOfBytes(this.signatureBytes(0));
    return this.#id;
  }
}
