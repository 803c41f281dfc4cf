import type { Socket } from "bun";

/** A closed-loop load over raw sockets: each connection sends its next request when the answer to the last one is whole. */
export interface LoadOptions {
  readonly port: number;
  readonly connections: number;
  readonly durationMs: number;
  /** Whole HTTP requests, used in turn. */
  readonly requests: readonly Uint8Array[];
}

const headEnd = Buffer.from("\r\n\r\n");
const lengthName = Buffer.from("ontent-Length: ");

/** The bytes that a response has still to bring after `data`; negative numbers mean that the head is not whole yet. */
function missingBytes(data: Buffer): number {
  const head = data.indexOf(headEnd);
  if (head < 0) return -1;
  const at = data.indexOf(lengthName);
  let length = 0;
  for (let i = at + lengthName.length; (data[i] ?? 0) >= 48; i += 1) length = length * 10 + (data[i] ?? 0) - 48;
  return head + 4 + length - data.length;
}

/** Answers counted within the duration. */
export async function runLoad(options: LoadOptions): Promise<number> {
  let answered = 0;
  let next = 0;
  let stopping = false;
  const sockets: Socket<{ missing: number; partial: Buffer | null }>[] = [];
  const send = (socket: Socket<{ missing: number; partial: Buffer | null }>): void => {
    if (stopping) return;
    const request = options.requests[next++ % options.requests.length];
    if (request !== undefined) socket.write(request);
  };
  await Promise.all(
    Array.from({ length: options.connections }, async () => {
      const socket = await Bun.connect({
        hostname: "127.0.0.1",
        port: options.port,
        data: { missing: 0, partial: null as Buffer | null },
        socket: {
          data(open, chunk) {
            const state = open.data;
            if (state.missing > 0) state.missing -= chunk.length;
            else {
              const whole = state.partial === null ? chunk : Buffer.concat([state.partial, chunk]);
              state.missing = missingBytes(whole);
              state.partial = state.missing < 0 ? Buffer.from(whole) : null;
            }
            if (state.missing !== 0) return;
            answered += 1;
            send(open);
          },
        },
      });
      sockets.push(socket);
    }),
  );
  const started = performance.now();
  for (const socket of sockets) send(socket);
  while (performance.now() - started < options.durationMs) await Bun.sleep(20);
  stopping = true;
  for (const socket of sockets) socket.end();
  return answered;
}
