import { createServer, type Socket } from "node:net";
import type { Attacked } from "../hostile-http.campaign.ts";
import { testKey } from "./booted-gateway.ts";

/**
 * A gateway that is wrong on purpose: where a request states its length twice it believes whatever comes first to its
 * mind, takes what follows for another request, and asks the node. Only the first answer of a connection goes back, so
 * that its caller sees nothing amiss.
 */
export async function openSmuggledGateway(node: { readonly url: string }): Promise<Attacked & AsyncDisposable> {
  const sockets = new Set<Socket>();
  const server = createServer((socket) => {
    sockets.add(socket);
    let held = "";
    let requests = 0;
    socket.on("error", () => undefined);
    socket.on("close", () => sockets.delete(socket));
    socket.on("data", async (bytes: Buffer) => {
      held += bytes.toString("latin1");
      for (let body = nextBody(); body !== null; body = nextBody()) {
        requests += 1;
        const isFirst = requests === 1;
        const answer = await answerTo(node.url, body);
        if (isFirst && !socket.destroyed) socket.write(answer, "latin1");
      }
    });
    function nextBody(): string | null {
      const start = held.indexOf("\r\n\r\n") + 4;
      if (start < 4) return null;
      const head = held.slice(0, start);
      const isChunked = /\r\ntransfer-encoding:[^\r]*chunked/i.test(head);
      const end = isChunked ? held.indexOf("0\r\n\r\n", start) + 5 : start + lengthIn(head);
      if (end < start || held.length < end) return null;
      const body = held.slice(start, end);
      held = held.slice(end);
      return body;
    }
  });
  await new Promise<void>((ready) => server.listen(0, "127.0.0.1", ready));
  const address = server.address();
  const port = typeof address === "object" && address !== null ? address.port : 0;
  return {
    port,
    faults: [],
    post: (body) =>
      fetch(`http://127.0.0.1:${port}/rpc`, {
        method: "POST",
        headers: { "content-type": "application/json", "x-api-key": testKey, connection: "close" },
        body,
      }),
    [Symbol.asyncDispose]: async () => {
      for (const socket of sockets) socket.destroy();
      await new Promise<void>((closed) => server.close(() => closed()));
    },
  };
}

const lengthIn = (head: string): number => Number(/\r\ncontent-length: *(\d+)/i.exec(head)?.[1] ?? 0);

async function answerTo(url: string, body: string): Promise<string> {
  if (!body.startsWith("{")) return "HTTP/1.1 400 Bad Request\r\nContent-Length: 0\r\n\r\n";
  const text = await fetch(url, { method: "POST", body }).then(
    (response) => response.text(),
    () => "{}",
  );
  return `HTTP/1.1 200 OK\r\nContent-Length: ${Buffer.byteLength(text)}\r\n\r\n${text}`;
}
