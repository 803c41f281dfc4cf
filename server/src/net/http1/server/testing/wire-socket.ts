import type { ClientSocket } from "../response-writer.ts";

/** A client's socket without a network: keeps what is written, and takes as much of each write as a test sets. */
export class WireSocket implements ClientSocket {
  readonly remoteAddress = "192.0.2.1";
  readonly remotePort = 50_000;
  written = "";
  /** Bytes of each write that are taken. */
  takes = Number.POSITIVE_INFINITY;
  isPaused = false;
  closedBy: "shutdown" | "end" | "terminate" | null = null;

  write(data: string | Uint8Array): number {
    const bytes = typeof data === "string" ? Buffer.from(data) : data;
    const taken = Math.min(bytes.length, this.takes);
    this.written += Buffer.from(bytes.subarray(0, taken)).toString("latin1");
    return taken;
  }

  pause(): void {
    this.isPaused = true;
  }

  resume(): void {
    this.isPaused = false;
  }

  shutdown(): void {
    this.closedBy = "shutdown";
  }

  end(): void {
    this.closedBy = "end";
  }

  terminate(): void {
    this.closedBy = "terminate";
  }
}
