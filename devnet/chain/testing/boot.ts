import { type Clock, systemClock } from "@sluice/lib";
import type { Svm } from "@sluice/svm/bank";
import { LiteSvmMachine } from "@sluice/svm/testing/litesvm-machine";
import { processLog } from "../../log.ts";
import { type ChainNode, startNode } from "../node.ts";
import { defaultOptions, type NodeOptions } from "../options.ts";

/**
 * A node on free ports with a fast clock, from one seed: what the tests talk to. Its machine is in the test's own
 * process unless another is given: that starts in 12 ms instead of 150, and the differences have their own tests.
 * Unless a test asks for them there are no vote transactions, so that transactions can be counted.
 */
export function bootNode(
  options: Partial<NodeOptions> = {},
  svm: Svm = new LiteSvmMachine(),
  clock: Clock = systemClock,
): Promise<ChainNode> {
  const quick = {
    ...defaultOptions,
    rpcPort: 0,
    pubsubPort: 0,
    slotMs: 40,
    startSlots: 0,
    seed: "test",
    votes: false,
    ...options,
  };
  return startNode(quick, { clock, log: processLog("test chain"), svm });
}

interface RpcAnswer {
  readonly result?: unknown;
  readonly error?: { readonly code: number; readonly message: string; readonly data?: unknown };
  readonly id?: unknown;
}

/** One JSON-RPC call by hand. */
export async function call(url: string, method: string, params: readonly unknown[] = []): Promise<RpcAnswer> {
  const response = await post(url, JSON.stringify({ jsonrpc: "2.0", id: 1, method, params }));
  return (await response.json()) as RpcAnswer;
}

export function post(
  url: string,
  body: string | Uint8Array<ArrayBuffer>,
  headers: Record<string, string> = {},
): Promise<Response> {
  return fetch(url, { method: "POST", body, headers: { "content-type": "application/json", ...headers } });
}
