/** A node with PubSub: it notifies as often as it is ordered to. Prints where it listens, then that it has notified. */
import { StubNode } from "../../server/src/upstreams/testing/stub-node.ts";
import { ordersOf } from "../orders.ts";

export interface NodeOrder {
  readonly notifications: number;
  readonly everyMs: number;
  /** Notifications that come together, as those of one block do. */
  readonly burst: number;
}

const node = new StubNode((call) => `{"jsonrpc":"2.0","result":5,"id":${call.id}}`);
const notified = new Set<(text: string) => void>();
let subscriptions = 0;
node.onPubSub = (socket, text) => {
  const { id } = JSON.parse(text) as { id: unknown };
  subscriptions += 1;
  notified.add((said) => void socket.send(said));
  socket.send(`{"jsonrpc":"2.0","result":7,"id":${JSON.stringify(id)}}`);
};
console.log(JSON.stringify({ url: node.url, ws: node.ws }));

const logs = Array.from({ length: 8 }, (_, index) => `Program ${"1".repeat(32)} invoke [${index}]`);
for await (const { notifications, everyMs, burst } of ordersOf<NodeOrder>(Bun.stdin.stream())) {
  for (let count = 0; count < notifications; count += 1) {
    const value = { signature: "5".repeat(87), err: null, logs };
    const result = { context: { slot: 100 + count }, value };
    const params = { result, subscription: 7 };
    const text = JSON.stringify({ jsonrpc: "2.0", method: "logsNotification", params });
    for (const send of notified) send(text);
    if (count % burst === burst - 1) await Bun.sleep(everyMs);
  }
  console.log(JSON.stringify({ subscriptions }));
}
process.exit(0);
