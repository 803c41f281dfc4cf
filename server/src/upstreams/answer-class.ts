import type { UpstreamFailure } from "./upstream-call.ts";

/**
 * What an answer does to the node that gave it. `well`: a good call of the breaker and a sample of its latency.
 * `limited`: rests until its Retry-After, else with backoff. `nothing`: neither. The others are faults, which count
 * only where another node answers the same call (upstream-call.ts, NodeFault).
 */
export type NodeEffect = "well" | "nothing" | "limited" | "denied" | "failed" | "errored";

/** The effects of an answer on its node and on the call. */
export interface AnswerClass {
  readonly node: NodeEffect;
  /**
   * `answered` ends the call with the node's answer, `ended` with the error `refused`. `elsewhere` asks another node;
   * if none does better, the node's answer is passed on, or `refused` where that is set.
   */
  readonly call: "answered" | "elsewhere" | "ended";
  readonly refused: UpstreamFailure | null;
}

/** The part of an answer that its class depends on. */
export interface ClassifiedAnswer {
  readonly status: number;
  /** `other` is no JSON-RPC answer to the call. */
  readonly body: "result" | "error" | "other";
  /** The JSON-RPC code of an error. */
  readonly code: number | null;
}

interface Row extends AnswerClass {
  readonly matches: (answer: ClassifiedAnswer) => boolean;
}

/** Refusals for the rate, by providers that answer 200. */
const limitCodes: ReadonlySet<number> = new Set([429, -32429]);
/** Refusals of the operator's credential or plan. */
const denialStatuses: ReadonlySet<number> = new Set([401, 402, 403]);
const denialCodes: ReadonlySet<number> = new Set([401, 403, -32052]);
/**
 * Errors that another node may not have: it is further, stores more history, has the index, or is healthy. Source:
 * Solana JSON-RPC, error codes, "Retry hints for a gateway".
 */
const elsewhereCodes: ReadonlySet<number> = new Set([
  -32001, -32004, -32007, -32009, -32010, -32011, -32014, -32016, -32019,
]);
const nodeBehind = -32005;
/** The call may have caused it. */
const internalError = -32603;

/**
 * Every answer of a node by its HTTP status, its JSON-RPC code and the kind of its body; the first row that matches
 * decides (decisions.md, Second reading: a node's own refusal is not an answer).
 */
const rows: readonly Row[] = [
  row(({ body }) => body === "result", "well", "answered"),
  row(({ status, code }) => status === 429 || isIn(limitCodes, code), "limited", "elsewhere", "UPSTREAM_LIMITED"),
  row(
    ({ status, code }) => denialStatuses.has(status) || isIn(denialCodes, code),
    "denied",
    "elsewhere",
    "UPSTREAM_LIMITED",
  ),
  row(({ code }) => code === nodeBehind, "errored", "elsewhere"),
  row(({ code }) => isIn(elsewhereCodes, code), "nothing", "elsewhere"),
  row(({ status }) => status === 408 || status >= 500, "failed", "elsewhere", "NETWORK_UNAVAILABLE"),
  row(({ code }) => code === internalError, "errored", "elsewhere"),
  row(({ body }) => body === "error", "well", "answered"),
  // In front of a node, something refuses the form of the call: so would it at every other.
  row(({ status }) => status === 413, "nothing", "ended", "BODY_TOO_LARGE"),
  row(({ status }) => status === 400, "nothing", "ended", "INVALID_PARAMS"),
  row(() => true, "failed", "elsewhere", "UPSTREAM_INVALID"),
];

/** The class of an answer. */
export function answerClass(answer: ClassifiedAnswer): AnswerClass {
  return rows.find(({ matches }) => matches(answer)) ?? garbage;
}

/** The class of what is no HTTP answer, or of one that breaks off. */
export const garbage: AnswerClass = { node: "failed", call: "elsewhere", refused: "UPSTREAM_INVALID" };

function isIn(codes: ReadonlySet<number>, code: number | null): boolean {
  return code !== null && codes.has(code);
}

function row(
  matches: Row["matches"],
  node: NodeEffect,
  call: AnswerClass["call"],
  refused: UpstreamFailure | null = null,
): Row {
  return { matches, node, call, refused };
}

/** Whether an error of a node asks for another node, given that it is passed on if none does better. */
export function asksElsewhere(code: number | null): boolean {
  return code !== null && answerClass({ status: 200, body: "error", code }).call === "elsewhere";
}

/**
 * Milliseconds that a Retry-After asks to wait (RFC 9110, 10.2.3: seconds or a date). Null for none, for one that is
 * malformed, and for one that is over.
 */
export function retryAfterMs(value: string | null, nowUnixMs: number): number | null {
  if (value === null) return null;
  if (/^[0-9]{1,10}$/.test(value)) return Number(value) === 0 ? null : Number(value) * 1_000;
  if (!/^[A-Z][a-z]{2,8},? /.test(value)) return null;
  // The oldest of the three forms has no zone; all of them mean GMT.
  const at = Date.parse(value.endsWith("GMT") ? value : `${value} GMT`);
  return Number.isNaN(at) || at <= nowUnixMs ? null : at - nowUnixMs;
}
