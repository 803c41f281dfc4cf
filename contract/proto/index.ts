/**
 * proto: the .proto files of the gRPC endpoints, how they are loaded, and the types of the loaded messages. Fed to the
 * engine, the development chain and clients. Apart from the rest of contract, since it names a directory, which a
 * browser does not have.
 */
import { fileURLToPath } from "node:url";

export type * from "./messages.ts";

/** The directory of the .proto files. */
const protoDirectory = fileURLToPath(new URL(".", import.meta.url));

/** The .proto files of each protocol, by what serves it. */
export const protoFiles = {
  blockEngine: "blockengine.proto",
  auth: "auth.proto",
  searcher: "searcher.proto",
  validator: "block_engine.proto",
  geyser: "geyser.proto",
} as const;

/**
 * How the files are to be loaded, so that messages have the shapes of `messages.ts`: names as the files write them,
 * 64-bit numbers as decimal text, enumerations by name, fields without presence with their defaults.
 */
export const protoLoading = {
  keepCase: true,
  longs: String,
  enums: String,
  defaults: true,
  arrays: true,
  objects: true,
  oneofs: true,
  includeDirs: [protoDirectory],
};
