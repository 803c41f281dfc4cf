import type { ByteSource } from "@sluice/lib";
import { sliceEnvelope, withoutRange } from "@sluice/wire/json";
import { BodyBuffer, CutBody, type CutKind, free } from "../net/index.ts";
import { ValueScanner } from "./value-scanner.ts";

/**
 * The members allowed before a result, in any order; the id is a number. Each member has its own capture group, since a
 * repeated group keeps only its last match.
 */
const gap = "[ \\t\\r\\n]*";
const member = `(?:(?:"jsonrpc"${gap}:${gap}"2\\.0"|"id"${gap}:${gap}([0-9]+))${gap},${gap})?`;
const beginningPattern = new RegExp(`^${gap}\\{${gap}${member}${member}"result"${gap}:${gap}(?=[[{"])`, "d");
const beginningBytesMax = 256;

/** The beginning of an answer that may be streamed. */
export interface LargeBeginning {
  /** The place of the call's id before the result; null when it has to follow it. */
  readonly id: { readonly start: number; readonly end: number } | null;
  readonly valueStart: number;
}

/**
 * Whether an answer to the call `id` can be streamed: a result that is an object, a list or a string, with nothing
 * before it but the version and that id. Null for every other answer, which is checked when it is whole.
 */
export function readBeginning(bytes: Uint8Array, id: string): LargeBeginning | null {
  const found = beginningPattern.exec(Buffer.from(bytes.subarray(0, beginningBytesMax)).toString("latin1"));
  if (found === null) return null;
  const [, first, second] = found;
  if (first !== undefined && second !== undefined) return null;
  const place = found.indices?.[first === undefined ? 2 : 1];
  if (place !== undefined && (first ?? second) !== id) return null;
  return { id: place === undefined ? null : { start: place[0], end: place[1] }, valueStart: found[0].length };
}

/** Bytes that may follow a result: an id, a version, unknown members, white space. */
const tailBytesMax = 4_096;

/** The least bytes of a piece, except the last one. */
const pieceBytesMin = 512;
const nothing = new Uint8Array(0);

/** Marks the place of the id among an answer's pieces. */
const idPlace = Symbol("id");

export interface LargeAnswerOptions {
  /** The id that the call was sent with. */
  readonly id: string;
  readonly bytesMax: number;
}

export interface LargeAnswerDependencies {
  readonly rest: ByteSource;
  /** Called once when the node breaks off or its bytes are not an answer; not after a cancellation. */
  readonly onCut: (kind: CutKind) => void;
}

/**
 * A large answer while it arrives from its node. Its holder reads it to its end, once, or cancels it.
 *
 * The result is passed on as it arrives. The bytes after it are held back until beginning and end together are an
 * envelope around one result under the call's id. Until then the JSON object is not closed, so a cut or forged answer
 * is never a complete one to its reader.
 */
export class LargeAnswer {
  readonly #options: LargeAnswerOptions;
  readonly #dependencies: LargeAnswerDependencies;
  #beginning: { readonly bytes: Uint8Array; readonly read: LargeBeginning } | null;
  #isCancelled = false;

  constructor(
    options: LargeAnswerOptions,
    beginning: { readonly bytes: Uint8Array; readonly read: LargeBeginning },
    dependencies: LargeAnswerDependencies,
  ) {
    this.#options = options;
    this.#beginning = beginning;
    this.#dependencies = dependencies;
  }

  cancel(): void {
    this.#isCancelled = true;
    this.#beginning = null;
    this.#dependencies.rest.cancel();
  }

  /**
   * The bytes with the client's id (JSON text) in the place of the call's. Reading rejects with CutBody when it is cut.
   */
  read(id: string): ByteSource {
    const pieces = this.#guardedPieces();
    const idBytes = Buffer.from(id);
    let small: Uint8Array = nothing;
    return {
      next: async () => {
        for (;;) {
          const { value, done } = await pieces.next();
          const piece = done === true ? nothing : value === idPlace ? idBytes : value;
          // Small pieces are joined: the bytes around the id would travel in packets of a few bytes otherwise.
          const whole: Uint8Array = small.length === 0 ? piece : Buffer.concat([small, piece]);
          small = nothing;
          if (done === true) return whole.length === 0 ? null : whole;
          if (whole.length >= pieceBytesMin) return whole;
          small = Buffer.from(whole);
        }
      },
      cancel: () => this.cancel(),
    };
  }

  /** The whole answer, cut at the id. Null when `take` grants no more bytes; it is cancelled then. */
  async gather(take: (bytes: number) => boolean): Promise<{ head: Uint8Array; tail: Uint8Array } | null> {
    const parts = [new BodyBuffer(), new BodyBuffer()] as const;
    let part: BodyBuffer = parts[0];
    for await (const piece of this.#guardedPieces()) {
      if (piece === idPlace) {
        part = parts[1];
        continue;
      }
      if (!take(piece.length)) {
        this.cancel();
        return null;
      }
      part.addCopy(piece);
    }
    return { head: parts[0].take(), tail: parts[1].take() };
  }

  async *#guardedPieces(): AsyncGenerator<Uint8Array | typeof idPlace, void, undefined> {
    try {
      yield* this.#pieces();
    } catch (error) {
      const kind = error instanceof CutBody ? error.kind : "malformed";
      this.#dependencies.rest.cancel();
      if (!this.#isCancelled) this.#dependencies.onCut(kind);
      throw error instanceof CutBody ? error : new CutBody(kind);
    }
  }

  async *#pieces(): AsyncGenerator<Uint8Array | typeof idPlace, void, undefined> {
    const beginning = this.#beginning;
    if (beginning === null) throw new CutBody("unread");
    this.#beginning = null;
    const { id, valueStart } = beginning.read;
    // A copy, since a view would hold the whole beginning in memory until the end.
    const head = new Uint8Array(beginning.bytes.subarray(0, valueStart));
    yield head.subarray(0, id?.start ?? valueStart);
    if (id !== null) {
      yield idPlace;
      yield head.subarray(id.end);
    }
    yield* this.#value(head, beginning.bytes.subarray(valueStart));
  }

  async *#value(head: Uint8Array, first: Uint8Array): AsyncGenerator<Uint8Array | typeof idPlace, void, undefined> {
    const scanner = new ValueScanner();
    let piece: Uint8Array | null = first;
    let left = this.#options.bytesMax - head.length;
    for (; piece !== null; piece = await this.#dependencies.rest.next()) {
      left -= piece.length;
      if (left < 0) throw new CutBody("too-large");
      const end = scanner.feed(piece);
      if (end === null) throw new CutBody("malformed");
      if (end >= 0) {
        yield piece.subarray(0, end);
        yield* this.#end(head, await this.#tail(new Uint8Array(piece.subarray(end))));
        return;
      }
      yield piece;
      if (piece === first) free(first);
    }
    throw new CutBody("malformed");
  }

  async #tail(first: Uint8Array): Promise<Uint8Array> {
    let tail = first;
    for (;;) {
      if (tail.length > tailBytesMax) throw new CutBody("malformed");
      const piece = await this.#dependencies.rest.next();
      if (piece === null) return tail;
      tail = Buffer.concat([tail, piece.length > tailBytesMax ? piece.subarray(0, tailBytesMax + 1) : piece]);
    }
  }

  /** Checks the envelope with a zero in the place of its result. */
  *#end(head: Uint8Array, tail: Uint8Array): Generator<Uint8Array | typeof idPlace, void, undefined> {
    const envelope = Buffer.concat([head, Buffer.from("0"), tail]);
    const slice = sliceEnvelope(envelope);
    if (slice.kind === "result" && slice.nullError !== null) {
      yield* this.#end(head, withoutRange(envelope, slice.nullError).subarray(head.length + 1));
      return;
    }
    if (slice.kind !== "result" || slice.valueStart !== head.length) throw new CutBody("malformed");
    const { idStart, idEnd, valueEnd } = slice;
    if (envelope.toString("latin1", idStart, idEnd) !== this.#options.id) throw new CutBody("malformed");
    if (idStart < valueEnd) {
      yield tail;
      return;
    }
    yield envelope.subarray(valueEnd, idStart);
    yield idPlace;
    yield envelope.subarray(idEnd);
  }
}
