import { closedAbnormally, type Socket, type SocketSession } from "../../../net/index.ts";

/** A connection whose frames arrive when the world says so: what is written and has not arrived goes with a cut. */
export class PlayedSocket implements Socket {
  readonly #session: SocketSession;
  #frames: string[] = [];
  /** Times the bytes that have not arrived: a client that reads slowly seems to have more of them. */
  slowness = 0;
  /** The code that the server closed with. */
  closed: number | null = null;
  isCut = false;

  constructor(session: SocketSession) {
    this.#session = session;
    session.opened(this);
  }

  send(data: string | Uint8Array): number {
    const text = String(data);
    if (this.closed === null && !this.isCut) this.#frames.push(text);
    return text.length;
  }

  close(code = 1000): void {
    if (this.closed !== null || this.isCut) return;
    this.closed = code;
    this.#session.closed(code);
  }

  terminate(): void {
    this.close(closedAbnormally);
  }

  ping(): number {
    this.#session.ponged();
    return 1;
  }

  getBufferedAmount(): number {
    return this.#frames.reduce((sum, { length }) => sum + length, 0) * this.slowness;
  }

  /** Whether nothing more arrives. */
  get isOver(): boolean {
    return this.isCut || (this.closed !== null && this.#frames.length === 0);
  }

  say(message: unknown): void {
    if (this.closed === null && !this.isCut) this.#session.received(JSON.stringify(message));
  }

  /** Frames that arrive now. */
  take(max: number): readonly string[] {
    const taken = this.#frames.splice(0, max);
    if (taken.length > 0 && this.closed === null && !this.isCut) this.#session.writable?.();
    return taken;
  }

  tick(): void {
    if (this.closed === null && !this.isCut) this.#session.tick();
  }

  drain(): void {
    if (this.closed === null && !this.isCut) this.#session.drain();
  }

  /** The connection is lost with all that has not arrived. */
  cut(): void {
    if (this.isCut) return;
    this.isCut = true;
    this.#frames = [];
    if (this.closed === null) this.#session.closed(closedAbnormally);
  }
}
