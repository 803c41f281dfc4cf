/** The process of the clients: opens streams, prints `ready`, then the moment at which all have had a block. */
import { Client, credentials, Metadata } from "@grpc/grpc-js";
import { loadSync, type ServiceDefinition } from "@grpc/proto-loader";
import { protoFiles, protoLoading } from "@sluice/contract/proto";
import { readUpdate } from "@sluice/encode/updates";

const [port = "", count = "1", kind = "equal"] = process.argv.slice(2);
const streams = Number(count);
const perConnection = 25;
const method = (loadSync(protoFiles.geyser, protoLoading)["geyser.Geyser"] as ServiceDefinition)["Subscribe"];
if (method === undefined) throw new Error("no method");
const metadata = new Metadata();
metadata.set("x-token", "key");
let metas = 0;
let messages = 0;
let ready = 0;
let client: Client | null = null;

for (let index = 0; index < streams; index += 1) {
  if (index % perConnection === 0) {
    const options = { "grpc.use_local_subchannel_pool": 1, "grpc.max_receive_message_length": -1 };
    client = new Client(`127.0.0.1:${port}`, credentials.createInsecure(), options);
  }
  const call = client?.makeBidiStreamRequest(method.path, method.requestSerialize, (bytes: Buffer) => bytes, metadata);
  if (call === undefined) throw new Error("no stream");
  call.on("data", (bytes: Buffer) => {
    const { kind: of } = readUpdate(bytes);
    if (of === "ping") return;
    if (of === "pong") {
      ready += 1;
      if (ready === streams) console.log("ready");
      return;
    }
    messages += 1;
    // Of a block the slot's status comes last.
    if (of !== "slot") return;
    metas += 1;
    if (metas % streams === 0) console.log(`${performance.timeOrigin + performance.now()} ${messages}`);
  });
  call.on("error", (error: Error) => {
    console.log(`ended ${error.message}`);
    process.exit(1);
  });
  const name = kind === "equal" ? "t" : `t${index}`;
  const lists = { account_include: [], account_exclude: [], account_required: [] };
  call.write({
    commitment: "CONFIRMED",
    transactions_status: { [name]: { ...lists, vote: false } },
    slots: { s: { filter_by_commitment: true } },
  });
  call.write({ ping: { id: 1 } });
}
