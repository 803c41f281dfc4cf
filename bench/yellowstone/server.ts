/** The process that sends blocks: prints its port, then answers every subscription with as many blocks as was said. */
import { Server, ServerCredentials, type ServerDuplexStream } from "@grpc/grpc-js";
import { loadSync, type ServiceDefinition } from "@grpc/proto-loader";
import { protoFiles, protoLoading } from "@sluice/contract/proto";
import { packSlot, packUpdate } from "@sluice/encode/updates";
import { makeBlocks, updateOf } from "./blocks.ts";

const distinct = Number(process.argv[2]);
const rounds = Number(process.argv[3]);

const updates = makeBlocks(distinct).map(updateOf);
const loaded = loadSync(protoFiles.geyser, protoLoading)["geyser.Geyser"] as ServiceDefinition;
const raw = { ...loaded["Subscribe"], responseSerialize: (bytes: Uint8Array) => Buffer.from(bytes) };

async function send(call: ServerDuplexStream<unknown, Uint8Array>): Promise<void> {
  const write = async (update: Uint8Array): Promise<void> => {
    if (call.write(update)) return;
    await new Promise((resolve) => call.once("drain", resolve));
  };
  for (let sent = 0; sent < distinct * rounds; sent += 1) {
    const update = updates[sent % distinct];
    if (update !== undefined) await write(update);
  }
  await write(packUpdate(["all"], packSlot({ slot: 1n, parent: 0n, status: "finalized" }), 0));
}

const server = new Server();
server.addService({ Subscribe: raw } as unknown as ServiceDefinition, {
  Subscribe(call: ServerDuplexStream<unknown, Uint8Array>) {
    call.once("data", () => void send(call));
    call.on("error", () => {});
  },
});
server.bindAsync("127.0.0.1:0", ServerCredentials.createInsecure(), (_, port) => console.log(port));
process.stdin.on("end", () => process.exit(0)).resume();
