/**
 * access: who may make a request. Four steps, written once: identify (keys), restrict (keys), permit, meter (limits,
 * then credits). Every endpoint (JSON-RPC, PubSub, REST administration, console, oracle, block engine over REST and
 * gRPC) asks it in the order of its own specification and maps a Refusal to its own form by a table.
 */
export { Access, type Caller } from "./access.ts";
export { type AdmissionCode, type MethodCode, methodRefusalText, type Refusal } from "./refusal.ts";
export {
  type AdmittedCaller,
  admitRest,
  beginExchange,
  meterRest,
  type RestExchange,
  type RestGate,
  type RestRecorder,
  recordRest,
  restCallerOf,
} from "./rest-exchange.ts";
