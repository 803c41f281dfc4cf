/** A server that sends all its clients the same messages, in the given way; orders arrive on stdin, reports leave. */
import { systemClock } from "@sluice/lib";
import {
  AppListener,
  ClientSession,
  FanOut,
  type FrameBatch,
  HttpServer,
  WebSocketServer,
} from "../../server/src/net/index.ts";
import { ordersOf } from "../orders.ts";
import {
  messageOf,
  micros,
  type ServerOrder,
  type ServerReport,
  stallBytes,
  stalledPath,
  type Turns,
  type Way,
} from "./workload.ts";

const way = process.argv[2] as Way;
/** What may wait for a client; it gets no more beyond that. */
const unsentBytesMax = 1024 * 1024;
const fanOut = new FanOut({ failed: (error) => console.error(error) });
const everyone = fanOut.group("all");
const sessions = new Set<Session>();
let runtime: Bun.Server<{ readonly isStalled: boolean }> | null = null;
const stalledSockets = new Set<{ send(data: Uint8Array): unknown; getBufferedAmount(): number }>();

class Session extends ClientSession {
  constructor() {
    super("req_1", null);
  }
  protected onOpened(): void {
    if (way === "each") sessions.add(this);
    else this.join(everyone);
  }
  protected override takes(_batch: FrameBatch): boolean {
    return this.unsentBytes < unsentBytesMax;
  }
  offer(text: string): void {
    if (this.unsentBytes < unsentBytesMax) this.send(text);
  }
  override send(data: string | Uint8Array): boolean {
    return super.send(data);
  }
  getBufferedAmount(): number {
    return this.unsentBytes;
  }
  protected onClosed(): void {
    sessions.delete(this);
    stalledSockets.delete(this);
  }
}

const events = { internalError: (_where: string, error: unknown) => console.error(error) };

function begin(path: string): Session {
  const session = new Session();
  if (path === stalledPath) stalledSockets.add(session);
  return session;
}

function listen(): number {
  if (way === "publish") {
    runtime = Bun.serve<{ readonly isStalled: boolean }>({
      hostname: "127.0.0.1",
      port: 0,
      fetch: (request, server) =>
        server.upgrade(request, { data: { isStalled: request.url.endsWith(stalledPath) } })
          ? undefined
          : new Response(null, { status: 400 }),
      websocket: {
        backpressureLimit: unsentBytesMax,
        open: (socket) => {
          socket.subscribe("all");
          if (socket.data.isStalled) stalledSockets.add(socket);
        },
        message: () => undefined,
      },
    });
    return runtime.port ?? 0;
  }
  if (way === "applications") {
    const mount = { serves: () => true, begin: (request: Request) => begin(new URL(request.url).pathname) };
    return new AppListener(
      { hostname: "127.0.0.1", port: 0 },
      { fetch: () => new Response(null), sockets: [mount], clock: systemClock, requestId: () => "req_1", events },
    ).port;
  }
  const webSockets = new WebSocketServer({ clock: systemClock, events });
  const refused = { status: 400, fields: "", body: "" };
  return new HttpServer(
    { hostname: "127.0.0.1", port: 0 },
    {
      clock: systemClock,
      events,
      refusal: () => refused,
      answer: (request) => webSockets.upgrade(request, begin(request.target)) ?? refused,
    },
  ).port;
}

function publish(text: string): void {
  if (way === "publish") runtime?.publish("all", text);
  else if (way === "each") for (const session of sessions) session.offer(text);
  else everyone.publish(text);
}

async function play({ turns, messages, everyMs }: Turns): Promise<ServerReport> {
  const beganMicros: number[] = [];
  const texts = Array.from({ length: messages }, (_, number) => messageOf(number));
  const before = process.cpuUsage();
  const startMs = performance.now();
  for (let turn = 0; turn < turns; turn += 1) {
    await Bun.sleep(Math.max(0, startMs + turn * everyMs - performance.now()));
    beganMicros.push(micros());
    for (const text of texts) publish(text);
  }
  await Bun.sleep(everyMs);
  const { user, system } = process.cpuUsage(before);
  return { beganMicros, userMicros: user, systemMicros: system, rssBytes: process.memoryUsage().rss };
}

console.log(JSON.stringify({ port: listen() }));
for await (const order of ordersOf<ServerOrder>(Bun.stdin.stream())) {
  if ("stall" in order) {
    const filler = new Uint8Array(256 * 1024);
    for (let bytes = 0; bytes < stallBytes; bytes += filler.length) {
      for (const socket of stalledSockets) if (socket.getBufferedAmount() === 0) socket.send(filler);
      await Bun.sleep(1);
    }
    console.log(JSON.stringify({ stalled: stalledSockets.size }));
  } else console.log(JSON.stringify(await play(order)));
}
process.exit(0);
