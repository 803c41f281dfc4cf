import { Connection, type ConnectionOwner, type Handled } from "../connection.ts";
import type { HeadFault, HttpRequest } from "../request.ts";
import type { ClientSocket, HttpAnswer } from "../response-writer.ts";
import { WireSocket } from "./wire-socket.ts";

const answerOf = (status: number, body: string): HttpAnswer => ({ status, fields: "", body });

/** Answers each request with what was understood of it, at once where its body is there. */
export class EchoOwner implements ConnectionOwner {
  nowMs = 0;
  isDraining = false;
  date = "";
  pending = 0;
  isEnded = false;
  /** What was understood, in order. */
  readonly reported: string[] = [];

  handle(request: HttpRequest): Handled | Promise<Handled> {
    const head = `${request.method} ${request.target} ${request.headers.get("x-a") ?? "-"}`;
    const answer = (body: string): HttpAnswer => {
      this.reported.push(`${head} ${body}`);
      return answerOf(200, `${head} ${body}`);
    };
    // Where it is asked to, it reads nothing.
    if (request.target === "/unread") return answer("unread");
    const here = request.takeBody();
    if (here !== null) return answer(Buffer.from(here).toString("latin1"));
    return new Promise((resolve) => {
      request.gatherBody(100_000, (body) =>
        resolve(answer(typeof body === "string" ? body : Buffer.from(body).toString("latin1"))),
      );
    });
  }

  addressOf({ remoteAddress }: ClientSocket): string {
    return remoteAddress;
  }

  refusal(fault: HeadFault): HttpAnswer {
    this.reported.push(`refused ${fault.status}`);
    return answerOf(fault.status, fault.message);
  }

  begun(): void {
    this.pending += 1;
  }

  finished(): void {
    this.pending -= 1;
  }

  ended(): void {
    this.isEnded = true;
  }
}

/** What a connection makes of bytes that come in the given pieces. */
export async function receive(pieces: readonly Uint8Array[]): Promise<{
  readonly reported: readonly string[];
  readonly statuses: readonly number[];
  readonly socket: WireSocket;
  readonly owner: EchoOwner;
}> {
  const owner = new EchoOwner();
  const socket = new WireSocket();
  const connection = new Connection(socket, owner);
  for (const piece of pieces) {
    connection.received(Buffer.from(piece));
    await Promise.resolve();
  }
  // A body that was waited for is answered in a later turn.
  for (let turn = 0; turn < 8; turn += 1) await Promise.resolve();
  const statuses = [...socket.written.matchAll(/HTTP\/1\.1 (\d{3}) /g)].map(([, status]) => Number(status));
  return { reported: owner.reported, statuses, socket, owner };
}
