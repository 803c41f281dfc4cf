import { expect, test } from "bun:test";
import { exchangeIds } from "./model/listings.ts";
import { Listener } from "./testing/listener.ts";

const entryPath = new URL("./main.ts", import.meta.url).pathname;

const start = (...flags: string[]) =>
  Bun.spawn([process.execPath, entryPath, ...flags], { stdin: "pipe", stdout: "pipe", stderr: "pipe" });

interface Ready {
  readonly ready: boolean;
  readonly exchanges: Readonly<Record<string, { readonly rest: string; readonly ws: string }>>;
  readonly admin: string;
}

async function readyLine(child: { readonly stdout: ReadableStream<Uint8Array> }): Promise<Ready> {
  let text = "";
  for await (const part of child.stdout) {
    text += new TextDecoder().decode(part);
    if (text.includes("\n")) break;
  }
  return JSON.parse(text) as Ready;
}

test("the process says where every exchange is, notifies by itself, and ends with 0 when its standard input ends", async () => {
  const child = start("--tick-ms", "20", "--symbols", "BTC,USDT");
  const { ready, exchanges, admin } = await readyLine(child);
  expect(ready).toBe(true);
  expect(Object.keys(exchanges)).toEqual([...exchangeIds]);
  const { rest = "", ws = "" } = exchanges["bitstamp"] ?? {};
  const rows = (await (await fetch(`${rest}/api/v2/ticker/`)).json()) as { pair: string }[];
  expect(rows.map((row) => row.pair)).toEqual(["BTC/USD", "USDT/USD", "BTC/USDT"]);
  expect((await fetch(`${admin}/state`)).status).toBe(200);
  const socket = await Listener.open(ws);
  socket.send({ event: "bts:subscribe", data: { channel: "order_book_btcusd" } });
  expect(await socket.next()).toMatchObject({ event: "bts:subscription_succeeded" });
  expect(await socket.next()).toMatchObject({ event: "data", channel: "order_book_btcusd" });
  await child.stdin.end();
  expect(await child.exited).toBe(0);
});

test("SIGTERM ends the process with 0, with a socket still open", async () => {
  const child = start();
  const { exchanges } = await readyLine(child);
  const socket = await Listener.open(`${exchanges["okx"]?.ws}/ws/v5/public`);
  child.kill("SIGTERM");
  expect(await child.exited).toBe(0);
  await socket.end();
});

test("all errors of the command line are reported, and the process ends with 2", async () => {
  const child = start("--port", "x", "--tick-ms", "70000", "--symbols", "BTC,GOLD");
  const text = await new Response(child.stderr).text();
  expect(text).toContain("--port must be a whole number from 0 to 65528");
  expect(text).toContain("--tick-ms must be a whole number from 0 to 60000");
  expect(text).toContain("--symbols knows no GOLD");
  expect(await child.exited).toBe(2);
});
