import { loadSync } from "@grpc/proto-loader";
import { type BundleRequestMessage, protoFiles, protoLoading } from "@sluice/contract/proto";

type Decode = (bytes: Buffer) => BundleRequestMessage;

/** Reads the transactions of a serialized BundleRequest; null for bytes that are none. */
export function bundleRequestReader(): (bytes: Uint8Array) => readonly Uint8Array[] | null {
  const service = loadSync(protoFiles.blockEngine, protoLoading)["blockengine.v1.BlockEngine"];
  if (service === undefined || "format" in service) throw new Error("the block engine's service is not described");
  const method = service["SubmitBundle"];
  if (method === undefined) throw new Error("the block engine's service has no SubmitBundle");
  // The loader types every message as an object; what this one has is what its .proto says.
  const decode = method.requestDeserialize as Decode;
  return (bytes) => {
    try {
      const { transactions } = decode(Buffer.from(bytes));
      return transactions.map((each) => new Uint8Array(each));
    } catch {
      return null;
    }
  };
}
