/** Many PubSub clients of one subscription in one process; orders arrive on stdin, counts leave on stdout. */
import { ordersOf } from "../orders.ts";

export interface ClientOrder {
  /** How many notifications to wait for, over all clients. */
  readonly wait: number;
}

const [port = "", count = ""] = process.argv.slice(2);
let received = 0;
let wanted = Number.POSITIVE_INFINITY;
let wake: (() => void) | null = null;
const call = '{"jsonrpc":"2.0","id":1,"method":"logsSubscribe","params":["all",{"commitment":"processed"}]}';

function connect(): Promise<WebSocket> {
  return new Promise((resolve, reject) => {
    const socket = new WebSocket(`ws://127.0.0.1:${port}/?api-key=bench`);
    let isSubscribed = false;
    socket.onopen = () => socket.send(call);
    socket.onerror = () => reject(new Error("a client could not connect"));
    socket.onmessage = () => {
      if (!isSubscribed) {
        isSubscribed = true;
        resolve(socket);
        return;
      }
      received += 1;
      if (received >= wanted) wake?.();
    };
  });
}

for (let connected = 0; connected < Number(count); connected += 50) {
  await Promise.all(Array.from({ length: Math.min(50, Number(count) - connected) }, connect));
}
console.log(JSON.stringify({ connected: Number(count) }));
for await (const { wait } of ordersOf<ClientOrder>(Bun.stdin.stream())) {
  wanted = received + wait;
  const done = new Promise<void>((resolve) => {
    wake = resolve;
  });
  console.log(JSON.stringify({ ready: 1 }));
  await done;
  console.log(JSON.stringify({ received }));
}
process.exit(0);
