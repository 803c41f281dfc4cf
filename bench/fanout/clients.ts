/**
 * Many clients in one process, which count the bytes of frames of known length: as little work beside the server as can
 * be. Orders arrive on stdin, reports leave on stdout. `clients.ts <port> <count> <stalled>`.
 */
import { ordersOf } from "../orders.ts";
import { type ClientsOrder, type ClientsReport, frameBytes, micros, stalledPath } from "./workload.ts";

const [port = "", count = "", stalled = ""] = process.argv.slice(2);
const key = "dGhlIHNhbXBsZSBub25jZQ==";

interface Client {
  readonly connected: () => void;
  /** The beginning of the answer to the handshake; null once that is whole. */
  head: string | null;
  /** Bytes until this turn is whole, and its number. */
  missing: number;
  turn: number;
}

/** What is expected: bytes a turn, and when each client had each turn. */
let turnBytes = 0;
let turns = 0;
let times = new Float64Array();
let seen = 0;
let wake: () => void = () => undefined;

function counted(client: Client, bytes: number): void {
  client.missing -= bytes;
  if (client.missing > 0 || turnBytes === 0) return;
  const now = micros();
  while (client.missing <= 0 && client.turn < turns) {
    times[client.turn * clients.length + (seenOfTurn[client.turn] ?? 0)] = now;
    seenOfTurn[client.turn] = (seenOfTurn[client.turn] ?? 0) + 1;
    client.turn += 1;
    client.missing += turnBytes;
    seen += 1;
  }
  if (seen >= times.length) wake();
}
let seenOfTurn = new Uint32Array();

const handlers: Bun.SocketHandler<Client> = {
  data: (socket, bytes) => {
    const client = socket.data;
    if (client.head === null) {
      counted(client, bytes.length);
      return;
    }
    client.head += bytes.toString("latin1");
    if (!client.head.includes("\r\n\r\n")) return;
    client.head = null;
    client.connected();
  },
  close: (socket) => {
    if (!isEnding) throw new Error(`a client was closed after ${socket.data.turn} turns`);
  },
};
let isEnding = false;

async function connect(path: string): Promise<Bun.Socket<Client>> {
  const { promise, resolve } = Promise.withResolvers<void>();
  const socket = await Bun.connect<Client>({
    hostname: "127.0.0.1",
    port: Number(port),
    data: { connected: resolve, head: "", missing: 0, turn: 0 },
    socket: handlers,
  });
  socket.write(
    `GET ${path} HTTP/1.1\r\nHost: a\r\nUpgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Key: ${key}\r\n\r\n`,
  );
  await promise;
  return socket;
}

async function connectAll(path: string, wanted: number): Promise<Bun.Socket<Client>[]> {
  const sockets: Bun.Socket<Client>[] = [];
  while (sockets.length < wanted) {
    const next = Math.min(50, wanted - sockets.length);
    sockets.push(...(await Promise.all(Array.from({ length: next }, () => connect(path)))));
  }
  return sockets;
}

for (const socket of await connectAll(stalledPath, Number(stalled))) socket.pause();
const clients = await connectAll("/", Number(count));
console.log(JSON.stringify({ connected: clients.length }));

const quantile = (sorted: ArrayLike<number>, q: number): number =>
  sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * q))] ?? Number.NaN;

function report(beganMicros: readonly number[]): ClientsReport {
  const ages = Float64Array.from(
    times,
    (time, at) => (time - (beganMicros[Math.floor(at / clients.length)] ?? 0)) / 1_000,
  );
  const lasts = beganMicros.map((_, turn) => ages[(turn + 1) * clients.length - 1] ?? 0);
  return {
    p50: quantile(ages.sort(), 0.5),
    p99: quantile(ages, 0.99),
    last: quantile(Float64Array.from(lasts).sort(), 0.5),
  };
}

for await (const order of ordersOf<ClientsOrder>(Bun.stdin.stream())) {
  if ("report" in order) {
    console.log(JSON.stringify(report(order.report.beganMicros)));
    continue;
  }
  turns = order.expect.turns;
  turnBytes = order.expect.messages * frameBytes;
  times = new Float64Array(turns * clients.length);
  seenOfTurn = new Uint32Array(turns);
  seen = 0;
  for (const { data } of clients) Object.assign(data, { missing: turnBytes, turn: 0 });
  const done = new Promise<void>((resolve) => {
    wake = resolve;
  });
  console.log(JSON.stringify({ ready: true }));
  await done;
  console.log(JSON.stringify({ seen }));
}
isEnding = true;
process.exit(0);
