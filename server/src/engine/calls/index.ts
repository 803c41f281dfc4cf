/**
 * calls: how this room's gRPC methods are served: admission, status codes, streams with a bound, and nothing of what the
 * methods do. Services are made of it; door listens for them.
 */
export { CallFault, type CallStatus, type FaultStatus } from "./call-fault.ts";
export type { CallContext, CallEvents, CallHost } from "./context.ts";
export {
  type DuplexSession,
  duplex,
  type GrpcService,
  type Inlet,
  type StreamOptions,
  serverStream,
  unary,
} from "./grpc.ts";
export { Outlet, type OutletSink } from "./outlet.ts";
export { loadService } from "./service.ts";
