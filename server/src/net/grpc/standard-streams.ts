import { Writable } from "node:stream";
import type { HealthImplementation } from "grpc-health-check";
import { GrpcStatusError, grpcStatuses } from "./status.ts";

/** What services are added to. */
type Host = Parameters<HealthImplementation["addToServer"]>[0];
type Handler = Parameters<Host["addService"]>[1][string];

/**
 * The open streams of services whose implementation is a library's. Those of health and reflection last until their
 * client ends them, so a server that ends would wait for them until its deadline.
 */
export class StandardStreams {
  readonly #open = new Set<Writable>();
  #hasEnded = false;

  /** What such a library adds its service to in place of the server. */
  addingTo(server: Host): Host {
    return {
      addService: (definition, implementation) => {
        const watched = Object.entries(implementation).map(([name, handler]) => [name, this.#watched(handler)]);
        server.addService(definition, Object.fromEntries(watched));
      },
    };
  }

  /** Ends them all with UNAVAILABLE behind what was written before, and each that is opened from here on. */
  end(): void {
    this.#hasEnded = true;
    for (const stream of this.#open) end(stream);
    this.#open.clear();
  }

  #watched(handler: Handler): Handler {
    return new Proxy(handler, {
      apply: (target, self, parameters): unknown => {
        const [call]: readonly unknown[] = parameters;
        const outcome: unknown = Reflect.apply(target, self, parameters);
        // A call with one answer is no stream.
        if (call instanceof Writable) this.#keep(call);
        return outcome;
      },
    });
  }

  #keep(stream: Writable): void {
    if (this.#hasEnded) {
      end(stream);
      return;
    }
    this.#open.add(stream);
    for (const event of ["cancelled", "finish", "close"]) stream.once(event, () => this.#open.delete(stream));
  }
}

/** The transport's own way of ending a stream with a status: it writes out what it holds first. */
function end(stream: Writable): void {
  const fault = new GrpcStatusError("UNAVAILABLE", "The server of this process ends; connect again");
  stream.emit("error", {
    name: fault.name,
    message: fault.message,
    code: grpcStatuses.UNAVAILABLE,
    details: fault.message,
  });
}
