import type { Clock, MonotonicMs, Timer } from "@sluice/lib";
import { type GrpcStatusError, type PackedMessage, type PackedResponses, PieceCutter } from "../../net/index.ts";

/** Bytes that one write gives the transport, about, and that it may hold of one client. */
const pieceBytes = 64 * 1024;
const heldBytesMax = 2 * pieceBytes;
/** A client that catches up is given more while less than this waits for it. */
const catchUpBytes = 256 * 1024;
/** Messages for which tokens are asked at a time. */
const tokensMax = 256;
/** Between two looks for new tokens, as for messages of WebSockets. */
const paceMs = 20;

export interface OutgoingDependencies {
  readonly clock: Pick<Clock, "after" | "monotonic">;
  readonly responses: PackedResponses;
  /** Takes tokens for so many messages of the account's rate; false, and none taken, where there are not as many. */
  readonly take: (messages: number) => boolean | Promise<boolean>;
  /** The transport was given so many bytes. */
  readonly sent: (bytes: number, messages: number) => void;
}

/** What is on its way to one client, at the rate of its account and as fast as it reads. */
export class Outgoing {
  readonly #dependencies: OutgoingDependencies;
  readonly #cutter = new PieceCutter();
  readonly #queue: (readonly PackedMessage[])[] = [];
  /** Of the first list of the queue. */
  #at = 0;
  #queued = 0;
  #queuedBytes = 0;
  #heldBytes = 0;
  /** Messages that may go out now. */
  #tokens = 0;
  #asking = false;
  #timer: Timer | null = null;
  #isPumping = false;
  #fault: GrpcStatusError | null = null;
  #waiters: (() => void)[] = [];
  /** When the client took something last, or had nothing to take. */
  #takenMs: MonotonicMs;

  constructor(dependencies: OutgoingDependencies) {
    this.#dependencies = dependencies;
    this.#takenMs = dependencies.clock.monotonic();
    dependencies.responses.onClose(() => this.#closed());
  }

  /** Bytes that the client has not taken yet. */
  get waitingBytes(): number {
    return this.#queuedBytes + this.#cutter.left + this.#heldBytes;
  }

  /** Milliseconds for which something waits and nothing was taken. */
  get stalledMs(): number {
    return this.waitingBytes === 0 ? 0 : this.#dependencies.clock.monotonic() - this.#takenMs;
  }

  get isOpen(): boolean {
    return this.#fault === null && this.#dependencies.responses.isOpen;
  }

  /** The messages are shared, and stay as they are. */
  send(messages: readonly PackedMessage[]): void {
    if (!this.isOpen || messages.length === 0) return;
    if (this.waitingBytes === 0) this.#takenMs = this.#dependencies.clock.monotonic();
    this.#queue.push(messages);
    this.#queued += messages.length;
    for (const { length } of messages) this.#queuedBytes += length;
    this.#pump();
  }

  /** Null while a client that catches up may be given more, else what is waited for. */
  ready(): Promise<void> | null {
    if (this.waitingBytes < catchUpBytes || !this.isOpen) return null;
    return new Promise((resolve) => this.#waiters.push(resolve));
  }

  /** Whether a client that catches up has enough for now. */
  get isFull(): boolean {
    return this.waitingBytes >= catchUpBytes;
  }

  /** Ends the stream behind the message that is being written, within a bounded time; what waits is dropped. */
  end(fault: GrpcStatusError): void {
    if (!this.isOpen) return;
    this.#fault = fault;
    this.#dependencies.responses.leave(fault);
    this.#drop();
    this.#pump();
  }

  #closed(): void {
    this.#timer?.cancel();
    this.#drop();
  }

  #drop(): void {
    this.#queue.length = 0;
    this.#at = 0;
    this.#queued = 0;
    this.#queuedBytes = 0;
    this.#wake();
  }

  #next(): PackedMessage | null {
    if (this.#tokens === 0) return null;
    const list = this.#queue[0];
    const message = list?.[this.#at];
    if (list === undefined || message === undefined) return null;
    this.#at += 1;
    if (this.#at === list.length) {
      this.#queue.shift();
      this.#at = 0;
    }
    this.#queued -= 1;
    this.#queuedBytes -= message.length;
    this.#tokens -= 1;
    return this.#dependencies.responses.takesGzip ? message.compressed : message;
  }

  #pump(): void {
    if (this.#isPumping) return;
    this.#isPumping = true;
    try {
      while (this.#heldBytes < heldBytesMax && this.#dependencies.responses.isOpen && this.#writeNext());
    } finally {
      this.#isPumping = false;
    }
  }

  /** False where nothing can be written now. */
  #writeNext(): boolean {
    const { responses, sent } = this.#dependencies;
    if (this.#cutter.left === 0) {
      if (this.#fault !== null) {
        responses.end(this.#fault);
        return false;
      }
      if (this.#queued === 0 || (this.#tokens === 0 && !this.#hasTokens())) return false;
    }
    const before = this.#queued;
    const cut = this.#cutter.cut(() => this.#next(), pieceBytes);
    if (cut === null) return false;
    const { piece, bytes } = cut;
    this.#heldBytes += bytes;
    responses.write(piece, () => this.#taken(bytes));
    sent(bytes, before - this.#queued);
    return true;
  }

  #taken(bytes: number): void {
    this.#heldBytes -= bytes;
    this.#takenMs = this.#dependencies.clock.monotonic();
    if (this.waitingBytes < catchUpBytes) this.#wake();
    this.#pump();
  }

  #wake(): void {
    const waiters = this.#waiters;
    this.#waiters = [];
    for (const wake of waiters) wake();
  }

  #hasTokens(): boolean {
    if (this.#asking || this.#timer !== null) return false;
    const count = Math.min(this.#queued, tokensMax);
    const taken = this.#dependencies.take(count);
    if (!(taken instanceof Promise)) return this.#took(taken, count);
    this.#asking = true;
    taken.then(
      (isTaken) => {
        this.#asking = false;
        if (this.#took(isTaken, count)) this.#pump();
      },
      () => {
        this.#asking = false;
        this.#took(false, count);
      },
    );
    return false;
  }

  #took(isTaken: boolean, count: number): boolean {
    if (isTaken) {
      this.#tokens += count;
      return true;
    }
    this.#timer ??= this.#dependencies.clock.after(paceMs, () => {
      this.#timer = null;
      this.#pump();
    });
    return false;
  }
}
