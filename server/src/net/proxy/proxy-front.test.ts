import { afterEach, beforeEach, expect, test } from "bun:test";
import { connect, createServer, type Server, type Socket } from "node:net";
import { compileAddressSet, ManualClock } from "@sluice/lib";
import { until } from "@sluice/lib/testing";
import { FrontedPeers } from "../fronted-peers.ts";
import { ProxyFront, type ProxyFrontOptions } from "./proxy-front.ts";

let open: AsyncDisposableStack;
let clock: ManualClock;
let faults: string[];
beforeEach(() => {
  open = new AsyncDisposableStack();
  clock = new ManualClock();
  faults = [];
});
afterEach(async () => await open.disposeAsync());

interface Seen {
  readonly address: string;
  readonly port: number;
  text: string;
}

/** A listener behind a front, and what it saw of each connection. */
async function serve(trusted: readonly string[] = ["127.0.0.1"], options: Partial<ProxyFrontOptions> = {}) {
  const peers = new FrontedPeers();
  const seen: Seen[] = [];
  const inner: Server = createServer((socket) => {
    socket.on("error", () => undefined);
    const port = socket.remotePort ?? 0;
    let one: Seen | null = null;
    socket.on("data", (bytes) => {
      if (one === null) {
        one = { address: peers.addressOf(socket.remoteAddress ?? "", port), port, text: "" };
        seen.push(one);
      }
      one.text += bytes.toString("latin1");
    });
  });
  await new Promise<void>((resolve) => inner.listen(0, "127.0.0.1", resolve));
  open.defer(() => void inner.close());
  const { port: innerPort } = inner.address() as { port: number };
  const front = await ProxyFront.open(
    { endpoint: "gateway", hostname: "127.0.0.1", port: 0, innerPort, connectionsMax: 100, ...options },
    {
      clock,
      peers,
      trusted: compileAddressSet(trusted),
      events: { proxyHeaderRefused: (fault) => void faults.push(fault) },
    },
  );
  open.use(front);
  const dial = async (): Promise<Socket & { isClosed: () => boolean }> => {
    const socket = connect({ port: front.port, host: "127.0.0.1", noDelay: true });
    open.defer(() => void socket.destroy());
    let closed = false;
    socket.on("error", () => undefined);
    socket.on("close", () => {
      closed = true;
    });
    socket.resume();
    await new Promise<void>((resolve) => socket.once("connect", () => resolve()));
    return Object.assign(socket, { isClosed: () => closed });
  };
  return { seen, dial, peers, innerPort };
}

const header = "PROXY TCP4 192.0.2.7 10.0.0.1 40000 443\r\n";

test("the listener knows its client by the header, and gets every byte behind it", async () => {
  const { seen, dial } = await serve();
  (await dial()).write(`${header}GET /`);
  await until(() => seen[0]?.text === "GET /");
  expect(seen[0]?.address).toBe("192.0.2.7");
});

test("a header may come a byte at a time, cut at any place", async () => {
  const { seen, dial } = await serve();
  for (let cut = 1; cut <= header.length; cut += 1) {
    const socket = await dial();
    socket.write(header.slice(0, cut));
    // A turn of the loop, so that the parts are separate packets.
    await new Promise((resolve) => setImmediate(resolve));
    socket.write(`${header.slice(cut)}${cut}`);
  }
  const single = await dial();
  for (const byte of `${header}last`) {
    single.write(byte);
    await new Promise((resolve) => setImmediate(resolve));
  }
  await until(() => seen.length === header.length + 1 && seen.some(({ text }) => text === "last"));
  expect(new Set(seen.map(({ address }) => address))).toEqual(new Set(["192.0.2.7"]));
  expect(faults).toEqual([]);
});

test("LOCAL keeps the address of the proxy", async () => {
  const { seen, dial } = await serve();
  (await dial()).write(Buffer.concat([Buffer.from("0d0a0d0a000d0a515549540a20000000", "hex"), Buffer.from("check")]));
  await until(() => seen[0]?.text === "check");
  expect(seen[0]?.address).toBe("127.0.0.1");
});

test("a trusted proxy without a header, with a broken one or with half of one is closed and counted", async () => {
  const { seen, dial } = await serve();
  for (const [text, fault] of [
    ["GET / HTTP/1.1\r\n\r\n", "malformed"],
    [`PROXY UNKNOWN ${"a".repeat(100)}`, "too_long"],
  ] as const) {
    const socket = await dial();
    socket.write(text);
    await until(socket.isClosed);
    expect(faults.pop()).toBe(fault);
  }
  const cut = await dial();
  cut.end("PROXY TCP4 1.2");
  await until(() => faults.length === 1);
  expect(faults.pop()).toBe("cut");
  const late = await dial();
  late.write("PROXY ");
  await until(() => clock.pendingTimers > 0);
  clock.advance(5_000);
  await until(late.isClosed);
  expect([faults, seen]).toEqual([["late"], []]);
});

test("from anybody else a header is only bytes, and counts for nothing", async () => {
  const { seen, dial } = await serve(["10.0.0.0/8"]);
  (await dial()).write(header);
  await until(() => seen[0]?.text === header);
  expect([seen[0]?.address, faults]).toEqual(["127.0.0.1", []]);
});

test("one connection beyond the bound is closed, and its place is free again when another ends", async () => {
  const { seen, dial } = await serve(["127.0.0.1"], { connectionsMax: 1 });
  const first = await dial();
  first.write(`${header}a`);
  await until(() => seen.length === 1);
  const second = await dial();
  await until(second.isClosed);
  first.destroy();
  let last = "";
  await until(async () => {
    const socket = await dial();
    socket.write(`${header}b`);
    await until(() => socket.isClosed() || seen.some(({ text }) => text === "b"));
    last = seen.at(-1)?.text ?? "";
    return last === "b";
  });
  expect(last).toBe("b");
});

test("a port that another client's connection has is not taken for its own", () => {
  const peers = new FrontedPeers();
  expect([peers.claim(5, "192.0.2.1"), peers.claim(5, "192.0.2.2")]).toEqual([true, false]);
  expect(peers.addressOf("127.0.0.1", 5)).toBe("192.0.2.1");
  peers.release(5);
  expect(peers.addressOf("127.0.0.1", 5)).toBe("192.0.2.1");
  expect(peers.claim(5, "192.0.2.2")).toBe(true);
  expect(peers.addressOf("127.0.0.1", 5)).toBe("192.0.2.2");
  expect(peers.addressOf("10.0.0.1", 5)).toBe("10.0.0.1");
});

test("a connection whose port is another client's is made anew, and none is given another's address", async () => {
  const { seen, dial, peers } = await serve();
  const claim = peers.claim.bind(peers);
  let refusals = 2;
  peers.claim = (port, address) => {
    if (refusals === 0) return claim(port, address);
    refusals -= 1;
    return false;
  };
  (await dial()).write(`${header}once`);
  await until(() => seen.length === 1);
  expect(seen.map(({ address, text }) => [address, text])).toEqual([["192.0.2.7", "once"]]);
});
