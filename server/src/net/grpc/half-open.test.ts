import { expect, test } from "bun:test";
import { connect } from "node:http2";
import { type AddressInfo, connect as connectTcp, createServer, type Socket } from "node:net";
import { protoFiles } from "@sluice/contract/proto";
import { systemClock } from "@sluice/lib";
import { loadService } from "../index.ts";
import { GrpcServer } from "./grpc.ts";

test("a client that gives no sign of life loses its connection and its streams", async () => {
  const opened = Promise.withResolvers<void>();
  const gone = Promise.withResolvers<void>();
  const none = (): void => {};
  const service = {
    definition: loadService(protoFiles.blockEngine, "blockengine.v1.BlockEngine"),
    implementation: {
      SubmitBundle: none,
      GetTipFloor: none,
      GetReputation: none,
      SubmitBundleStream: (call: { on(event: "cancelled", listener: () => void): void }) => {
        call.on("cancelled", gone.resolve);
        opened.resolve();
      },
    },
  };
  await using endpoint = await GrpcServer.open(
    { endpoint: "engine", hostname: "127.0.0.1", port: 0, tls: null, keepaliveMs: 20, keepaliveTimeoutMs: 20 },
    { clock: systemClock, services: [service], isServing: () => true },
  );
  // A line between them that can go dead while both ends still take it for open.
  const sockets: Socket[] = [];
  const line = createServer((near) => {
    const far = connectTcp(endpoint.port, "127.0.0.1");
    sockets.push(near, far);
    for (const [from, to] of [
      [near, far],
      [far, near],
    ] as const) {
      from.on("error", none);
      from.on("data", (bytes) => void to.write(bytes));
    }
  });
  await new Promise<void>((resolve) => line.listen(0, "127.0.0.1", resolve));
  const address: AddressInfo | string | null = line.address();
  expect(address).toBeObject();
  const session = connect(`http://127.0.0.1:${typeof address === "object" ? address?.port : 0}`);
  session.on("error", none);
  const stream = session.request({
    ":method": "POST",
    ":path": "/blockengine.v1.BlockEngine/SubmitBundleStream",
    "content-type": "application/grpc+proto",
    te: "trailers",
  });
  stream.on("error", none);
  stream.write(Buffer.alloc(5));
  await opened.promise;
  for (const socket of sockets) socket.removeAllListeners("data").pause();
  await gone.promise;
  session.destroy();
  for (const socket of sockets) socket.destroy();
  line.close();
});
