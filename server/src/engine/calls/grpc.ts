import {
  type handleBidiStreamingCall,
  type handleServerStreamingCall,
  type handleUnaryCall,
  Metadata,
  type ServerErrorResponse,
  type UntypedServiceImplementation,
} from "@grpc/grpc-js";
import type { ServiceDefinition } from "@grpc/proto-loader";
import { SluiceError } from "@sluice/contract/errors";
import { clientAddress } from "../../http/index.ts";
import { CallFault, type CallStatus, callStatuses } from "./call-fault.ts";
import type { CallContext, CallHost } from "./context.ts";
import { Outlet } from "./outlet.ts";
import { decoded } from "./service.ts";
import { encodeStatusDetails } from "./status-details.ts";

/** A service as the door takes it. */
export interface GrpcService {
  readonly definition: ServiceDefinition;
  readonly implementation: UntypedServiceImplementation;
  /** Ends the service's open streams, when the server is about to end. */
  readonly drain?: () => void;
}

/** How a stream's client is served: `waitingMax` messages may wait for a client that does not read. */
export interface StreamOptions {
  readonly waitingMax: number;
}

/** One client's stream of requests, once it is admitted. */
export interface DuplexSession<Q> {
  take(message: Q): void;
  /** The client has said all that it will say; what it hears goes on. */
  halfClosed(): void;
}

/** Stops and resumes the reading of a client's requests; what it sends meanwhile stays with the client. */
export interface Inlet {
  pause(): void;
  resume(): void;
}

interface ServerCall {
  readonly metadata: Metadata;
  getPeer(): string;
  getPath(): string;
}

/** What both kinds of streams have for what goes out. */
interface WritableCall<A> extends ServerCall {
  write(message: A): boolean;
  end(trailers: Metadata): unknown;
  emit(event: "error", fault: ServerErrorResponse): boolean;
  on(event: "drain" | "cancelled" | "close", listener: () => void): unknown;
}

/** A method with one request and one answer. What `work` throws becomes the call's status. */
export function unary<Q, A>(
  host: CallHost,
  work: (request: Q, context: CallContext) => A | Promise<A>,
): handleUnaryCall<Q, A> {
  return async (call, answer) => {
    const context = contextOf(host, call);
    try {
      const message = await work(decoded(call.request), context);
      answer(null, message, trailersOf(context));
      host.events.callEnded(call.getPath(), "OK");
    } catch (caught) {
      const fault = faultOf(host, caught, { where: call.getPath(), context });
      answer(errorOf(fault, context));
      host.events.callEnded(call.getPath(), fault.status);
    }
  };
}

/** A method with one request and a stream of answers, which lasts until `open` or its owner ends the outlet. */
export function serverStream<Q, A>(
  host: CallHost,
  options: StreamOptions,
  open: (request: Q, context: CallContext, outlet: Outlet<A>) => void | Promise<void>,
): handleServerStreamingCall<Q, A> {
  return async (call) => {
    const context = contextOf(host, call);
    const outlet = outletOf<A>(host, call, { options, context });
    try {
      await open(decoded(call.request), context, outlet);
      begin(call);
    } catch (caught) {
      outlet.end(faultOf(host, caught, { where: call.getPath(), context }));
    }
  };
}

/** A method with streams both ways. Nothing is read before `open` has admitted the client. */
export function duplex<Q, A>(
  host: CallHost,
  options: StreamOptions,
  open: (context: CallContext, outlet: Outlet<A>, inlet: Inlet) => DuplexSession<Q> | Promise<DuplexSession<Q>>,
): handleBidiStreamingCall<Q, A> {
  return async (call) => {
    const context = contextOf(host, call);
    const outlet = outletOf<A>(host, call, { options, context });
    const inlet: Inlet = { pause: () => void call.pause(), resume: () => void call.resume() };
    const failed = (caught: unknown): void => {
      outlet.end(faultOf(host, caught, { where: call.getPath(), context }));
      call.resume();
    };
    try {
      const session = await open(context, outlet, inlet);
      begin(call);
      call.on("data", (message: Q) => {
        if (!outlet.isOpen) return;
        try {
          session.take(decoded(message));
        } catch (caught) {
          failed(caught);
        }
      });
      call.on("end", () => {
        if (outlet.isOpen) session.halfClosed();
      });
    } catch (caught) {
      failed(caught);
    }
  };
}

/** Says at once that a stream is open: clients of other runtimes wait for that before they go on. */
function begin(call: { sendMetadata(metadata: Metadata): void; readonly cancelled: boolean }): void {
  if (!call.cancelled) call.sendMetadata(new Metadata());
}

function outletOf<A>(
  host: CallHost,
  call: WritableCall<A>,
  { options, context }: { readonly options: StreamOptions; readonly context: CallContext },
): Outlet<A> {
  const method = call.getPath();
  // Unless it is ended here, it ends because the client left.
  let status: CallStatus = "CANCELLED";
  const outlet = new Outlet<A>(options, {
    write: (message) => call.write(message),
    end: (fault) => {
      status = fault?.status ?? "OK";
      // The transport's own way of ending a stream with a status: it writes out what it holds first.
      if (fault === null) call.end(trailersOf(context));
      else call.emit("error", errorOf(fault, context));
    },
  });
  host.events.streamOpened(method);
  outlet.onClose(() => {
    host.events.streamClosed(method);
    host.events.callEnded(method, status);
  });
  call.on("drain", () => outlet.drained());
  call.on("cancelled", () => outlet.closed());
  call.on("close", () => outlet.closed());
  return outlet;
}

function contextOf(host: CallHost, call: ServerCall): CallContext {
  const headers = {
    get: (name: string): string | null => {
      const [value] = call.metadata.get(name);
      return typeof value === "string" ? value : null;
    },
  };
  return {
    requestId: host.requestId(),
    clientAddress: clientAddress(hostOfPeer(call.getPeer()), headers.get("x-forwarded-for"), host.trustedProxies),
    headers,
  };
}

/** The transport writes a peer as its address, a colon and its port. */
function hostOfPeer(peer: string): string {
  const colon = peer.lastIndexOf(":");
  return colon < 0 ? peer : peer.slice(0, colon);
}

function faultOf(
  host: CallHost,
  caught: unknown,
  { where, context: { requestId } }: { readonly where: string; readonly context: CallContext },
): CallFault {
  if (caught instanceof CallFault) return caught;
  // Expected, and over in a moment: no fault of the call and none of ours.
  if (caught instanceof SluiceError && caught.code === "OVERLOADED") {
    return new CallFault("UNAVAILABLE", caught.message, { retryAfterSeconds: 1 });
  }
  host.events.internalError(where, caught, { requestId });
  return new CallFault("INTERNAL", `Internal error, request ${requestId}`);
}

function errorOf(fault: CallFault, context: CallContext): ServerErrorResponse {
  const metadata = trailersOf(context);
  metadata.set("grpc-status-details-bin", Buffer.from(encodeStatusDetails(fault)));
  return {
    name: fault.name,
    message: fault.message,
    code: callStatuses[fault.status],
    // A status message is percent-encoded, which lone surrogates would break.
    details: fault.message.toWellFormed(),
    metadata,
  };
}

function trailersOf(context: CallContext): Metadata {
  const metadata = new Metadata();
  metadata.set("x-request-id", context.requestId);
  return metadata;
}
