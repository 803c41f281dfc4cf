import type { IncomingHttpHeaders } from "node:http2";

/** Metadata under which a call's handler finds what encodings its client takes. */
export const acceptedEncodings = "x-sluice-accepted-encodings";

const protocolHeader = "grpc-accept-encoding";

interface StreamSource {
  prependListener(event: "stream", listener: (stream: unknown, headers: IncomingHttpHeaders) => void): unknown;
}

/**
 * Shows the handlers of a grpc-js server what encodings a client takes: the library itself compresses nothing and hides
 * that header. Its HTTP/2 servers are a private member: without it, as another version may be, nothing is shown, and
 * answers are not compressed. Called once the server listens.
 */
export function showAcceptedEncodings(server: object): void {
  const servers: unknown = Reflect.get(server, "http2Servers");
  if (!(servers instanceof Map)) return;
  for (const source of servers.keys() as Iterable<StreamSource>) {
    source.prependListener("stream", (_stream, headers) => {
      const accepted = headers[protocolHeader];
      delete headers[acceptedEncodings];
      if (typeof accepted === "string") headers[acceptedEncodings] = accepted;
    });
  }
}
