import type { ErrorCode } from "@sluice/contract/errors";
import type { Network } from "@sluice/contract/tiers";
import { type JsonValue, readJson } from "@sluice/encode";
import { MalformedBytes } from "@sluice/wire/bytes";
import type { Rpc } from "../rpc/index.ts";
import { answerText } from "../upstreams/index.ts";

/** Who asks, of which chain, and when (monotonic ms). */
export interface Asking {
  readonly network: Network;
  /** What the key was shown is a floor for what it is shown later, as for its own calls. */
  readonly keyId: string;
  readonly nowMs: number;
}

/** The result of a call, or why there is none. */
export type NodeResult =
  | { readonly ok: true; readonly result: JsonValue }
  | { readonly ok: false; readonly code: ErrorCode };

export interface NodeCallDependencies {
  readonly rpc: Pick<Rpc, "method" | "known" | "ask">;
}

const refused = (code: ErrorCode): NodeResult => ({ ok: false, code });

/**
 * A call of JSON-RPC as a client of the gateway makes it: kept answers, calls under way and the ledger's past answer it
 * where they can. An error of the node is UPSTREAM_INVALID: no call of this API is one that a node refuses.
 */
export async function callNode(
  { rpc }: NodeCallDependencies,
  { network, keyId, nowMs }: Asking,
  { method, params }: { readonly method: string; readonly params: readonly unknown[] },
): Promise<NodeResult> {
  const page = rpc.method(method);
  if (page === null) return refused("METHOD_NOT_FOUND");
  const { plan } = page.plan(JSON.stringify(params));
  if (!plan.ok) return refused(plan.code);
  const known = rpc.known(network, plan, keyId, nowMs);
  const answer = known ?? (await asked(rpc, { network, page, plan, keyId }));
  if (typeof answer === "string") return refused(answer);
  const text = answerText(answer);
  return text === null ? refused("UPSTREAM_INVALID") : resultOf(text);
}

interface Call {
  readonly network: Network;
  readonly page: NonNullable<ReturnType<Rpc["method"]>>;
  readonly plan: Parameters<Rpc["ask"]>[2];
  readonly keyId: string;
}

async function asked(rpc: NodeCallDependencies["rpc"], { network, page, plan, keyId }: Call) {
  const { outcome } = await rpc.ask(network, page, plan, keyId);
  return outcome.ok ? outcome.answer : outcome.refused;
}

function resultOf(text: string): NodeResult {
  try {
    const answer = readJson(text);
    if (typeof answer !== "object" || answer === null || Array.isArray(answer)) return refused("UPSTREAM_INVALID");
    const { result } = answer as { readonly [member: string]: JsonValue };
    return result === undefined ? refused("UPSTREAM_INVALID") : { ok: true, result };
  } catch (error) {
    if (error instanceof MalformedBytes) return refused("UPSTREAM_INVALID");
    throw error;
  }
}
