import type { ClientSocket } from "../../http1/server/response-writer.ts";
import { WireSocket } from "../../http1/server/testing/wire-socket.ts";
import { WebSocketConnection } from "../connection.ts";
import type { FrameGroup } from "../fan-out.ts";
import type { FrameBatch } from "../frame-batch.ts";
import { ClientSession, type Socket } from "../session.ts";

/** A session whose hooks a test calls and sees. */
export class GroupSession extends ClientSession {
  readonly batches: string[][] = [];
  closedWith: number | null = null;
  /** What `takes` does; by default it lets everything out. */
  decide: (batch: FrameBatch) => boolean = () => true;
  /** Called when what was sent has gone out. */
  drained: () => void = () => undefined;

  constructor() {
    super("req_1", null);
  }
  override takes(batch: FrameBatch): boolean {
    this.batches.push(batch.frames.map(({ data }) => String(data)));
    return this.decide(batch);
  }
  protected override onWritable(): void {
    this.drained();
  }
  protected onOpened(): void {}
  protected onClosed(code: number): void {
    this.closedWith = code;
  }
  override get unsentBytes(): number {
    return super.unsentBytes;
  }
  override send(data: string | Uint8Array): boolean {
    return super.send(data);
  }
  override join(group: FrameGroup): void {
    super.join(group);
  }
  override leave(group: FrameGroup): void {
    super.leave(group);
  }
}

/** A wire that also keeps each write by itself. */
export class CountingWire extends WireSocket {
  readonly writes: (string | Uint8Array)[] = [];
  override write(data: string | Uint8Array): number {
    this.writes.push(data);
    return super.write(data);
  }
}

export interface GroupClient {
  readonly session: GroupSession;
  readonly connection: WebSocketConnection;
  readonly wire: CountingWire;
}

/** A session on a connection of ours whose socket is played. */
export function groupClient(): GroupClient {
  const wire = new CountingWire();
  const session = new GroupSession();
  const connection = new WebSocketConnection(
    { session, messageBytesMax: 1024, unsentBytesMax: 64 * 1024 * 1024 },
    { socket: wire satisfies ClientSocket, failed: () => undefined, ended: () => undefined },
  );
  session.opened(connection);
  return { session, connection, wire };
}

/** A socket whose frames are the runtime's: it takes messages, and puts together what is corked. */
export class RuntimeSocket implements Socket {
  readonly got: string[] = [];
  corks = 0;
  closedWith: number | null = null;
  send(data: string | Uint8Array): number {
    if (this.closedWith === null) this.got.push(String(data));
    return 1;
  }
  cork(work: () => void): void {
    this.corks += 1;
    work();
  }
  close(code = 1000): void {
    this.closedWith ??= code;
  }
  terminate(): void {
    this.closedWith ??= 1006;
  }
  ping(): number {
    return 1;
  }
  getBufferedAmount(): number {
    return 0;
  }
}

/** The texts in bytes that a server sent, and the code of the closing frame behind them, if there is one. */
export function textsOf(written: string): { readonly texts: string[]; readonly code: number | null } {
  const bytes = Buffer.from(written, "latin1");
  const texts: string[] = [];
  for (let at = 0; at < bytes.length; ) {
    const short = (bytes[at + 1] ?? 0) & 0x7f;
    const head = short < 126 ? 2 : short === 126 ? 4 : 10;
    const length = head === 2 ? short : head === 4 ? bytes.readUInt16BE(at + 2) : Number(bytes.readBigUInt64BE(at + 2));
    const payload = bytes.subarray(at + head, at + head + length);
    if (bytes[at] === 0x88) return { texts, code: payload.readUInt16BE(0) };
    texts.push(payload.toString());
    at += head + length;
  }
  return { texts, code: null };
}
