/** A bare grpc-js server of the same methods: it answers messages of the same sizes without looking at what came. */
import {
  Server,
  ServerCredentials,
  type ServerDuplexStream,
  type ServerUnaryCall,
  type sendUnaryData,
} from "@grpc/grpc-js";
import { loadSync } from "@grpc/proto-loader";
import {
  type BundleConfirmationMessage,
  type BundleRequestMessage,
  type BundleResponseMessage,
  protoFiles,
  protoLoading,
} from "@sluice/contract/proto";

const bundle_id = "e".repeat(64);
const response: BundleResponseMessage = { bundle_id, status: "accepted", tip_floor: "1000" };
const confirmation: BundleConfirmationMessage = { bundle_id, status: "accepted", signatures: ["5".repeat(88)] };

const definition = loadSync(protoFiles.blockEngine, protoLoading)["blockengine.v1.BlockEngine"];
if (definition === undefined || "format" in definition) throw new Error("there is no such service");
const server = new Server();
server.addService(definition, {
  SubmitBundle: (
    _call: ServerUnaryCall<BundleRequestMessage, BundleResponseMessage>,
    answer: sendUnaryData<BundleResponseMessage>,
  ) => answer(null, response),
  SubmitBundleStream: (call: ServerDuplexStream<BundleRequestMessage, BundleConfirmationMessage>) => {
    call.on("data", () => call.write(confirmation));
    call.on("end", () => call.end());
  },
});
server.bindAsync("127.0.0.1:0", ServerCredentials.createInsecure(), (fault, port) => {
  if (fault !== null) throw fault;
  console.log(JSON.stringify({ port }));
});
process.stdin.on("end", () => process.exit(0)).resume();
