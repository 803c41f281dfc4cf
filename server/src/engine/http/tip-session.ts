import { ClientSession } from "../../net/index.ts";

/** What a session asks of the stream that it belongs to. */
export interface TipSessionOwner {
  opened(): void;
  closed(): void;
  /** Every 30 seconds: whether the key still holds. */
  recheck(): void;
}

/** What may lie unsent towards a client before it is passed over: some twenty records. */
const unsentBytesMax = 8 * 1024;

/** One client of the tip stream, which has one direction: what the client says is ignored. */
export class TipSession extends ClientSession {
  readonly #owner: TipSessionOwner;

  constructor(requestId: string, owner: TipSessionOwner) {
    super(requestId, null);
    this.#owner = owner;
  }

  /** The present floor. A client that does not read is passed over: it wants the present and no backlog. */
  offer(text: string): void {
    if (this.unsentBytes < unsentBytesMax) this.send(text);
  }

  protected override onOpened(): void {
    if (this.isLive) this.#owner.opened();
  }

  protected override onTick(): void {
    this.#owner.recheck();
  }

  protected override onClosed(): void {
    this.#owner.closed();
  }
}
