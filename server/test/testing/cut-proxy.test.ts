import { expect, test } from "bun:test";
import { connect } from "node:net";
import { eventually } from "@sluice/lib/testing";
import { startCutProxy } from "./cut-proxy.ts";

/** A server that says every piece again, and what of it is open. */
function startEcho() {
  const open = new Set<unknown>();
  const server = Bun.listen({
    hostname: "127.0.0.1",
    port: 0,
    socket: {
      open: (socket) => void open.add(socket),
      data: (socket, piece) => void socket.write(piece),
      close: (socket) => void open.delete(socket),
    },
  });
  return { port: server.port, open, [Symbol.dispose]: () => server.stop(true) };
}

/** A client, what it has heard, and whether it is over. */
function client(port: number) {
  const socket = connect({ host: "127.0.0.1", port });
  const heard = { text: "", isOver: false };
  socket.on("data", (piece) => {
    heard.text += piece.toString();
  });
  socket.on("error", () => undefined);
  socket.on("close", () => {
    heard.isOver = true;
  });
  return { socket, heard, [Symbol.dispose]: () => void socket.destroy() };
}

test("a proxy in silence passes neither bytes nor an end, and passes both in their order when it is healed", async () => {
  using echo = startEcho();
  await using proxy = await startCutProxy({ host: "127.0.0.1", port: echo.port });
  using kept = client(proxy.port);
  kept.socket.write("a");
  await eventually("an answer", () => kept.heard.text === "a");
  using left = client(proxy.port);
  left.socket.write("x");
  await eventually("an answer to the other", () => left.heard.text === "x");
  proxy.silence();
  using late = client(proxy.port);
  late.socket.write("l");
  for (const piece of ["b", "c", "d"]) kept.socket.write(piece);
  left.socket.destroy();
  // What passes at once, or not at all: a direct client is answered meanwhile.
  using direct = client(echo.port);
  direct.socket.write("z");
  await eventually("an answer past the proxy", () => direct.heard.text === "z");
  expect(kept.heard.text + late.heard.text).toBe("a");
  expect(echo.open.size).toBe(3);
  proxy.heal();
  await eventually("what waited", () => kept.heard.text === "abcd" && late.heard.text === "l");
  await eventually("the end that waited", () => echo.open.size === 3);
  kept.socket.write("e");
  await eventually("an answer afterwards", () => kept.heard.text === "abcde");
});

test("a proxy that is cut ends what it has, also in a silence, and takes others once it is healed", async () => {
  using echo = startEcho();
  await using proxy = await startCutProxy({
    host: "127.0.0.1",
    port: echo.port,
    rewrite: (piece) => Buffer.from(piece.toString().toUpperCase()),
  });
  using first = client(proxy.port);
  first.socket.write("a");
  await eventually("an answer", () => first.heard.text === "A");
  proxy.silence();
  first.socket.write("b");
  proxy.cut();
  await eventually("its end", () => first.heard.isOver && echo.open.size === 0);
  using refused = client(proxy.port);
  await eventually("a refusal", () => refused.heard.isOver);
  proxy.heal();
  using next = client(proxy.port);
  next.socket.write("c");
  await eventually("an answer to the next", () => next.heard.text === "C");
  expect(first.heard.text).toBe("A");
});
