/**
 * One of several nodes behind a subject, a separate process that may be killed: node.ts <port, 0 for any> <seed>.
 * Answers every call after a service time of some milliseconds with the slot that it is at, speaks enough PubSub to
 * announce slots, and says that it is well whatever is wrong with it. Orders come as JSON lines on standard input, each
 * is answered by a line of counts; the first line it prints is its port. Ends with its standard input.
 */
import { seededRandom } from "@sluice/lib";
import { ordersOf } from "../orders.ts";
import { slotAt, slotMs } from "./slots.ts";

export interface NodeOrder {
  /** Absent: only the counts are wanted. */
  readonly fault?: "none" | "zombie" | "stalls" | "errors";
}

export interface NodeCounts {
  /** Reads since the node began. */
  readonly reads: number;
  /**
   * Of them those that came when the first, and when the second slot notice after the last order was a notice's time
   * old.
   */
  readonly sinceFirstNotice: number;
  readonly sinceSecondNotice: number;
}

const zombieLag = 2_500;
const stallShare = 0.01;
const stallMs = 2_000;
/** Medians of a node that reads accounts; three calls in four within a quarter of it. */
const serviceMs = 8;
const serviceSpread = 0.25;

const [port = 0, seed = 1] = process.argv.slice(2).map(Number);
const random = seededRandom(seed);
let fault: NodeOrder["fault"] = "none";
let reads = 0;
let notices = 0;
let sinceFirstNotice = 0;
let sinceSecondNotice = 0;

/** A log-normal service time, so that a few calls in a hundred take twice the median, as they do on nodes. */
function serviceTime(): number {
  const normal = Math.sqrt(-2 * Math.log(1 - random.next())) * Math.cos(2 * Math.PI * random.next());
  return serviceMs * Math.exp(serviceSpread * normal);
}

const slotNow = (): number => slotAt(Date.now()) - (fault === "zombie" ? zombieLag : 0);
const resultOf = (method: string): string => {
  if (method === "getSlot") return String(slotNow());
  if (method === "getHealth") return '"ok"';
  return `{"context":{"slot":${slotNow()}},"value":{"blockhash":"11111111111111111111111111111111","lastValidBlockHeight":1}}`;
};

function failed(id: string): Response {
  const kind = random.next();
  if (kind < 0.3) return new Response("upstream connect error", { status: 503 });
  if (kind < 0.5) return new Response("<html>", { status: 200 });
  const code = kind < 0.75 ? -32603 : -32005;
  return new Response(`{"jsonrpc":"2.0","error":{"code":${code},"message":"Node is unwell"},"id":${id}}`);
}

async function answer(request: Request): Promise<Response> {
  const text = await request.text();
  const id = /"id":\s*("[^"]*"|[0-9]+)/.exec(text)?.[1] ?? "null";
  const method = /"method":\s*"([^"]*)"/.exec(text)?.[1] ?? "";
  if (method !== "getSlot" && method !== "getHealth") {
    reads += 1;
    if (notices > 0) sinceFirstNotice += 1;
    if (notices > 1) sinceSecondNotice += 1;
    if (fault === "errors") return failed(id);
    await Bun.sleep(fault === "stalls" && random.next() < stallShare ? stallMs : serviceTime());
  }
  return new Response(`{"jsonrpc":"2.0","result":${resultOf(method)},"id":${id}}`, {
    headers: { "content-type": "application/json" },
  });
}

const topics = ["slotSubscribe", "slotsUpdatesSubscribe", "rootSubscribe"];
const server = Bun.serve<undefined>({
  hostname: "127.0.0.1",
  port,
  fetch: (request, self) =>
    self.upgrade(request, { data: undefined })
      ? undefined
      : request.method === "POST"
        ? answer(request)
        : new Response("ok"),
  websocket: {
    message: (socket, data) => {
      const call = JSON.parse(String(data)) as { readonly id?: number; readonly method: string };
      const index = topics.indexOf(call.method);
      if (index < 0) return;
      socket.subscribe(call.method);
      socket.send(`{"jsonrpc":"2.0","result":${index},"id":${call.id}}`);
    },
  },
});

function announce(): void {
  const slot = slotNow();
  const results = [
    `{"parent":${slot - 1},"root":${slot},"slot":${slot}}`,
    `{"slot":${slot},"timestamp":1,"type":"optimisticConfirmation"}`,
    String(slot),
  ];
  for (const [index, topic] of topics.entries()) {
    const params = `{"result":${results[index]},"subscription":${index}}`;
    server.publish(
      topic,
      `{"jsonrpc":"2.0","method":"${topic.replace("Subscribe", "Notification")}","params":${params}}`,
    );
  }
  notices += 1;
}
setTimeout(
  () => {
    announce();
    setInterval(announce, slotMs);
  },
  slotMs - (Date.now() % slotMs),
);

console.log(server.port);
for await (const order of ordersOf<NodeOrder>(Bun.stdin.stream())) {
  if (order.fault !== undefined) {
    fault = order.fault;
    notices = 0;
    sinceFirstNotice = 0;
    sinceSecondNotice = 0;
  }
  const counts: NodeCounts = { reads, sinceFirstNotice, sinceSecondNotice };
  console.log(JSON.stringify(counts));
}
process.exit(0);
