import type { ByteSource } from "@sluice/lib";
import { sliceEnvelope } from "@sluice/wire/json";
import { BodyBuffer, CutBody, type CutKind, free } from "../net/index.ts";
import { ValueScanner } from "./value-scanner.ts";

/**
 * What may stand before a result: its members in any order, and the id only as the number that we gave. Each member has a
 * group of its own, since a group that is repeated forgets what it took first.
 */
const gap = "[ \\t\\r\\n]*";
const member = `(?:(?:"jsonrpc"${gap}:${gap}"2\\.0"|"id"${gap}:${gap}([0-9]+))${gap},${gap})?`;
const beginningPattern = new RegExp(`^${gap}\\{${gap}${member}${member}"result"${gap}:${gap}(?=[[{"])`, "d");
const beginningBytesMax = 256;

export interface LargeBeginning {
  /** Where our id stands before the result; null when it has to come after it. */
  readonly id: { readonly start: number; readonly end: number } | null;
  readonly valueStart: number;
}

/**
 * Whether an answer to our call `id` can be passed on while it comes: a result that is an object, a list or a string, with
 * nothing before it but the version and our own id. Null for everything else, which is judged when it is whole.
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

/** What may come after a result: an id, a version, members that nobody knows, white space. */
const tailBytesMax = 4_096;

/** What is passed on at a time, but for the end. */
const pieceBytesMin = 512;
const nothing = new Uint8Array(0);

/** Stands among an answer's pieces where the id belongs. */
const idPlace = Symbol("id");

export interface LargeAnswerOptions {
  /** Ours, as we wrote it into the call. */
  readonly id: string;
  readonly bytesMax: number;
}

export interface LargeAnswerDependencies {
  readonly rest: ByteSource;
  /** The node's side of it broke off, or was no answer in the end. Told once; not for what nobody wanted any more. */
  readonly onCut: (kind: CutKind) => void;
}

/**
 * A large answer while it comes from its node. Who holds one reads it to its end, once, or cancels it.
 *
 * The result goes on as it comes; what follows it is held back, and goes out only when beginning and end together are an
 * envelope around one result under our id. Until then the object is open, so what is cut or forged is never a whole answer
 * of something else to whoever reads JSON.
 */
export class LargeAnswer {
  readonly #options: LargeAnswerOptions;
  readonly #deps: LargeAnswerDependencies;
  #beginning: { readonly bytes: Uint8Array; readonly read: LargeBeginning } | null;
  #isCancelled = false;

  constructor(
    options: LargeAnswerOptions,
    beginning: { readonly bytes: Uint8Array; readonly read: LargeBeginning },
    dependencies: LargeAnswerDependencies,
  ) {
    this.#options = options;
    this.#beginning = beginning;
    this.#deps = dependencies;
  }

  cancel(): void {
    this.#isCancelled = true;
    this.#beginning = null;
    this.#deps.rest.cancel();
  }

  /** The bytes with the caller's id (JSON text) in the place of ours. Reading rejects with CutBody when it is cut. */
  read(id: string): ByteSource {
    const pieces = this.#told();
    const idBytes = Buffer.from(id);
    let small: Uint8Array = nothing;
    return {
      next: async () => {
        for (;;) {
          const { value, done } = await pieces.next();
          const piece = done === true ? nothing : value === idPlace ? idBytes : value;
          // Small ones are copied together, or what is around the id would travel in packets of a few bytes.
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

  /** The whole, cut where the id stands. Null when `take` grants no more bytes; it is cancelled then. */
  async gather(take: (bytes: number) => boolean): Promise<{ head: Uint8Array; tail: Uint8Array } | null> {
    const parts = [new BodyBuffer(), new BodyBuffer()] as const;
    let part: BodyBuffer = parts[0];
    for await (const piece of this.#told()) {
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

  async *#told(): AsyncGenerator<Uint8Array | typeof idPlace, void, undefined> {
    try {
      yield* this.#pieces();
    } catch (fault) {
      const kind = fault instanceof CutBody ? fault.kind : "malformed";
      this.#deps.rest.cancel();
      if (!this.#isCancelled) this.#deps.onCut(kind);
      throw fault instanceof CutBody ? fault : new CutBody(kind);
    }
  }

  async *#pieces(): AsyncGenerator<Uint8Array | typeof idPlace, void, undefined> {
    const beginning = this.#beginning;
    if (beginning === null) throw new CutBody("unread");
    this.#beginning = null;
    const { id, valueStart } = beginning.read;
    // Copied, since a view would keep the whole of the beginning in memory until the end.
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
    for (; piece !== null; piece = await this.#deps.rest.next()) {
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
      const piece = await this.#deps.rest.next();
      if (piece === null) return tail;
      tail = Buffer.concat([tail, piece.length > tailBytesMax ? piece.subarray(0, tailBytesMax + 1) : piece]);
    }
  }

  /** The envelope is judged with a nought in the place of its result. */
  *#end(head: Uint8Array, tail: Uint8Array): Generator<Uint8Array | typeof idPlace, void, undefined> {
    const envelope = Buffer.concat([head, Buffer.from("0"), tail]);
    const slice = sliceEnvelope(envelope);
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
