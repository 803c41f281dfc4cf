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
    const decode = safely((bytes) => definition.requestDeserialize(bytes));
    return [method, { ...definition, requestDeserialize: decode }] as const;
  });
  return Object.fromEntries(methods);
}

/**
 * The service with a method whose answers are `PackedPiece`s, and whose requests are what `read` makes of their bytes
 * and of what they are decoded to.
 */
export function packedMethod(
  service: ServiceDefinition,
  method: string,
  read: (bytes: Buffer, decode: (bytes: Buffer) => object) => object,
): ServiceDefinition {
  const definition = service[method];
  if (definition === undefined) throw new Error(`there is no method ${method}`);
  const requestDeserialize = safely((bytes) =>
    read(bytes, (complete) => decoded(definition.requestDeserialize(complete))),
  );
  // The transport asks no more of what is serialized than `PackedPiece` has.
  const responseSerialize = (piece: object): Buffer => piece as unknown as Buffer;
  return { ...service, [method]: { ...definition, requestDeserialize, responseSerialize } };
}

function safely(decode: (bytes: Buffer) => object): (bytes: Buffer) => object {
  return (bytes) => {
    try {
      return decode(bytes);
    } catch {
      return undecodable;
    }
  };
}

/** The message, where it could be decoded; else throws INVALID_ARGUMENT. */
export function decoded<Q>(message: Q): Q {
  if (message === undecodable) throw new GrpcStatusError("INVALID_ARGUMENT", "The message cannot be decoded");
  return message;
}
