import type { SeededRandom } from "./random.ts";

interface Closable {
  close(code: number, reason: string): void;
}

/** What goes wrong with PubSub connections. */
export class SocketFaults {
  drop: { readonly share: number; readonly random: SeededRandom } | null = null;
  readonly #open = new Set<Closable>();
  #dropped = 0n;

  opened(socket: Closable): void {
    this.#open.add(socket);
  }

  closed(socket: Closable): void {
    this.#open.delete(socket);
  }

  /** Whether the notification that is about to be sent is lost. */
  loses(): boolean {
    if (this.drop === null || !this.drop.random.falls(this.drop.share)) return false;
    this.#dropped += 1n;
    return true;
  }

  get dropped(): bigint {
    return this.#dropped;
  }

  /** Closes every connection, as a node does that is restarted, and says how many they were. */
  closeAll(): number {
    const open = [...this.#open];
    for (const socket of open) socket.close(1001, "going away");
    return open.length;
  }
}
