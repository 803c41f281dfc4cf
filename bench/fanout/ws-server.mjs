/** As server.ts, with the package `ws` on Node: each message is sent to each client. `ws-server.mjs <text file>`. */
import { createInterface } from "node:readline";
import { setTimeout as sleep } from "node:timers/promises";
import { WebSocketServer } from "ws";

const unsentBytesMax = 1024 * 1024;
const { stalledPath, stallBytes, messageBytes } = JSON.parse(process.argv[2]);
const server = new WebSocketServer({ host: "127.0.0.1", port: 0, perMessageDeflate: false });
const stalled = new Set();
server.on("connection", (socket, request) => {
  if (request.url === stalledPath) stalled.add(socket);
});

const micros = () => Math.round((performance.timeOrigin + performance.now()) * 1_000);
const textOf = (number) =>
  Buffer.from(`{"type":"transaction","number":${number},"filler":"`.padEnd(messageBytes - 2, "x").concat('"}'));

async function play({ turns, messages, everyMs }) {
  const beganMicros = [];
  const texts = Array.from({ length: messages }, (_, number) => textOf(number));
  const before = process.cpuUsage();
  const startMs = performance.now();
  for (let turn = 0; turn < turns; turn += 1) {
    await sleep(Math.max(0, startMs + turn * everyMs - performance.now()));
    beganMicros.push(micros());
    for (const text of texts) {
      for (const socket of server.clients) {
        if (socket.bufferedAmount < unsentBytesMax) socket.send(text, { binary: false });
      }
    }
  }
  await sleep(everyMs);
  const { user, system } = process.cpuUsage(before);
  return { beganMicros, userMicros: user, systemMicros: system, rssBytes: process.memoryUsage().rss };
}

server.on("listening", () => console.log(JSON.stringify({ port: server.address().port })));
for await (const line of createInterface({ input: process.stdin })) {
  const order = JSON.parse(line);
  if ("stall" in order) {
    const filler = new Uint8Array(256 * 1024);
    for (let bytes = 0; bytes < stallBytes; bytes += filler.length) {
      for (const socket of stalled) if (socket.bufferedAmount === 0) socket.send(filler);
      await sleep(1);
    }
    console.log(JSON.stringify({ stalled: stalled.size }));
  } else console.log(JSON.stringify(await play(order)));
}
process.exit(0);
