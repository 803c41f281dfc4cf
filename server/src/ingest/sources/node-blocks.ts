import { readJson } from "@sluice/encode";
import { MalformedBytes } from "@sluice/wire/bytes";
import { parseSlot, type Slot } from "@sluice/wire/identifiers";
import type { BlockSource, FetchedBlock, FetchedDigest } from "../source.ts";
import { readDigest, readSourceBlock } from "../source-block.ts";

/** A call of ingest to one node; `params` is JSON text. */
export interface NodeQuestion {
  readonly method: "getBlock" | "getBlocks";
  readonly params: string;
  readonly deadlineMs: number;
}

/** `limited`: the node rests, or its rate is used up; nothing was sent. */
export type NodeReply =
  /** The whole answer, a JSON-RPC object. */
  | { readonly kind: "answer"; readonly text: string; readonly errorCode: number | null }
  | { readonly kind: "limited" }
  | { readonly kind: "failed"; readonly reason: string };

/** Asks one node. Never rejects. */
export type AskNode = (question: NodeQuestion) => Promise<NodeReply>;

/**
 * Codes with which a node says that a slot has no block: skipped, and skipped or missing in long-term storage. That it
 * was cleaned up (-32001) or is not there yet (-32004, -32014, -32016) says nothing of the slot.
 */
const absentCodes: ReadonlySet<number> = new Set([-32007, -32009]);
const cleanedUp = -32001;

const blockParameters = `"encoding":"base64","transactionDetails":"full","rewards":true,"maxSupportedTransactionVersion":1`;
const digestParameters = `"transactionDetails":"signatures","rewards":false,"maxSupportedTransactionVersion":1`;
const deadlines = { block: 20_000, digest: 8_000, list: 8_000 } as const;

/** What a node answers for single slots: the same for every kind of source that stands on the node. */
export class NodeBlocks implements Pick<BlockSource, "fetchBlock" | "fetchDigest" | "fetchSlots"> {
  readonly #ask: AskNode;

  constructor(ask: AskNode) {
    this.#ask = ask;
  }

  async fetchBlock(slot: Slot, signal: AbortSignal): Promise<FetchedBlock> {
    const params = `[${slot},{"commitment":"confirmed",${blockParameters}}]`;
    const reply = await this.#asked({ method: "getBlock", params, deadlineMs: deadlines.block }, signal);
    if (reply.kind !== "result") return reply;
    return reading(() => ({ kind: "present", block: readSourceBlock(slot, reply.result) }));
  }

  async fetchDigest(slot: Slot, commitment: "confirmed" | "finalized", signal: AbortSignal): Promise<FetchedDigest> {
    const params = `[${slot},{"commitment":"${commitment}",${digestParameters}}]`;
    const reply = await this.#asked({ method: "getBlock", params, deadlineMs: deadlines.digest }, signal);
    if (reply.kind !== "result") return reply;
    return reading(() => ({ kind: "present", digest: readDigest(slot, reply.result) }));
  }

  async fetchSlots(from: Slot, to: Slot, signal: AbortSignal): Promise<readonly Slot[] | null> {
    const params = `[${from},${to},{"commitment":"confirmed"}]`;
    const reply = await this.#asked({ method: "getBlocks", params, deadlineMs: deadlines.list }, signal);
    if (reply.kind !== "result" || !Array.isArray(reply.result)) return null;
    const slots = reply.result.map((each) => parseSlot(typeof each === "number" ? BigInt(each) : each));
    let before = from - 1n;
    for (const slot of slots) {
      if (slot === null || slot <= before || slot > to) return null;
      before = slot;
    }
    return slots.filter((slot) => slot !== null);
  }

  async #asked(question: NodeQuestion, signal: AbortSignal): Promise<Asked> {
    if (signal.aborted) return { kind: "unavailable", reason: "failed" };
    const reply = await this.#ask(question);
    if (reply.kind !== "answer")
      return { kind: "unavailable", reason: reply.kind === "limited" ? "limited" : "failed" };
    const { errorCode: code, text } = reply;
    if (code !== null && absentCodes.has(code)) return { kind: "absent", code };
    if (code !== null) return { kind: "unavailable", reason: code === cleanedUp ? "pruned" : "refused" };
    return reading<Asked>(() => {
      const answer = readJson(text);
      const result = typeof answer === "object" && answer !== null && "result" in answer ? answer["result"] : undefined;
      if (result === undefined) throw new MalformedBytes("an answer has no result");
      return result === null ? { kind: "absent", code: null } : { kind: "result", result };
    });
  }
}

type Json = ReturnType<typeof readJson>;
type Asked = { readonly kind: "result"; readonly result: Json } | Exclude<FetchedBlock, { readonly kind: "present" }>;

/** What cannot be read is an answer that the node did not give. */
function reading<T>(read: () => T): T | { readonly kind: "unavailable"; readonly reason: "malformed" } {
  try {
    return read();
  } catch (error) {
    if (error instanceof MalformedBytes) return { kind: "unavailable", reason: "malformed" };
    throw error;
  }
}
