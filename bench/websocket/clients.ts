/** Many WebSocket clients in one process; orders arrive on stdin, counts leave on stdout. */
import { ordersOf } from "../orders.ts";

export type ClientOrder = { readonly wait: number } | { readonly echo: number };

const [port = "", count = ""] = process.argv.slice(2);
let received = 0;
let wake: (() => void) | null = null;
let wanted = Number.POSITIVE_INFINITY;
const sockets = await Promise.all(
  Array.from(
    { length: Number(count) },
    () =>
      new Promise<WebSocket>((resolve, reject) => {
        const socket = new WebSocket(`ws://127.0.0.1:${port}/`);
        socket.onopen = () => resolve(socket);
        socket.onerror = () => reject(new Error("a client could not connect"));
        socket.onmessage = (event: MessageEvent) => {
          received += 1;
          if (received >= wanted) wake?.();
          if (echoing > 0) {
            echoing -= 1;
            socket.send(event.data as string);
          }
        };
      }),
  ),
);
let echoing = 0;
console.log(JSON.stringify({ connected: sockets.length }));

const call = '{"jsonrpc":"2.0","id":1,"method":"slotSubscribe","params":[]}';
for await (const order of ordersOf<ClientOrder>(Bun.stdin.stream())) {
  wanted = received + ("wait" in order ? order.wait : order.echo);
  const done = new Promise<void>((resolve) => {
    wake = resolve;
  });
  if ("echo" in order) {
    echoing = order.echo - sockets.length;
    for (const socket of sockets) socket.send(call);
  }
  console.log(JSON.stringify({ ready: true }));
  await done;
  console.log(JSON.stringify({ received }));
}
process.exit(0);
