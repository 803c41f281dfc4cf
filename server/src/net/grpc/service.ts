import { loadSync, type ServiceDefinition } from "@grpc/proto-loader";
import { protoLoading } from "@sluice/contract/proto";
import { GrpcStatusError } from "./status.ts";

/** What a message becomes that could not be decoded, so that its handler's wrapper can say so. */
const undecodable: object = Object.freeze({});

/**
 * A service of a .proto file. Its requests are decoded without exceptions: the transport would answer them INTERNAL,
 * as if the server were wrong.
 */
export function loadService(file: string, name: string): ServiceDefinition {
  const found = loadSync(file, protoLoading)[name];
  if (found === undefined || "format" in found) throw new Error(`${file} has no service ${name}`);
  const methods = Object.entries(found).map(([method, definition]) => {
    const decode = (bytes: Buffer): object => {
      try {
        return definition.requestDeserialize(bytes);
      } catch {
        return undecodable;
      }
    };
    return [method, { ...definition, requestDeserialize: decode }] as const;
  });
  return Object.fromEntries(methods);
}

/** The message, where it could be decoded; else throws INVALID_ARGUMENT. */
export function decoded<Q>(message: Q): Q {
  if (message === undecodable) throw new GrpcStatusError("INVALID_ARGUMENT", "The message cannot be decoded");
  return message;
}
