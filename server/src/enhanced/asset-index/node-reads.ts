import type { CommitmentName } from "@sluice/contract/rpc";
import { isAddress } from "@sluice/wire/identifiers";
import { type ChainValue, memberOf } from "../../chain/index.ts";
import { type EngineChain, EngineChainError } from "../../engine/index.ts";
import type { ShownAccount } from "../node-accounts.ts";

/** How a reading asks: at which commitment, and of nodes that are at least as far as a slot. */
export interface ReadingTerms {
  readonly commitment: Extract<CommitmentName, "confirmed" | "finalized">;
  readonly minimumSlot: bigint;
}

/** The nodes of one network. */
export type AssetNodes = Pick<EngineChain, "read" | "newestSlot">;

/** An answer of a node that is not in the form that nodes give. */
class MalformedAnswer extends Error {
  override readonly name = "MalformedAnswer";
}

/** Accounts of one call; nodes take no more. */
const accountsOfCallMax = 100;

/** Mints of one reading for which no node may answer: beyond them the nodes are away. */
const unansweredMax = 3;

/** Reads the accounts of one reading, and keeps the oldest slot that an answer is from. */
export class NodeReads {
  readonly #nodes: AssetNodes;
  readonly #terms: ReadingTerms;
  /** Mints for which no node has answered. */
  #unanswered = 0;
  /** The oldest slot of all answers: what had happened by then is in each of them. */
  slot: bigint | null = null;

  constructor(nodes: AssetNodes, terms: ReadingTerms) {
    this.#nodes = nodes;
    this.#terms = terms;
  }

  /** Accounts by address, null for one that is not there. @throws {Error} when no node answers */
  async accounts(addresses: readonly string[]): Promise<ReadonlyMap<string, ShownAccount | null>> {
    const wanted = [...new Set(addresses)];
    const read = new Map<string, ShownAccount | null>();
    for (let at = 0; at < wanted.length; at += accountsOfCallMax) {
      const group = wanted.slice(at, at + accountsOfCallMax);
      const value = await this.#call("getMultipleAccounts", group, { encoding: "base64" });
      if (!Array.isArray(value) || value.length !== group.length) throw new MalformedAnswer("accounts are missing");
      for (const [index, address] of group.entries()) read.set(address, accountOf(value[index] ?? null));
    }
    return read;
  }

  /**
   * The token account with the only unit of a mint; null where none has it. One mint that nodes refuse, or take too
   * long for, is told as refused.
   *
   * @throws {Error} when no node has answered for several mints
   */
  async holder(mint: string): Promise<{ readonly address: string } | "refused" | null> {
    let value: ChainValue;
    try {
      value = await this.#call("getTokenLargestAccounts", mint, {});
    } catch (error) {
      if (!(error instanceof EngineChainError)) throw error;
      if (error.code === "CHAIN_UNAVAILABLE") this.#unanswered += 1;
      if (this.#unanswered > unansweredMax) throw error;
      return "refused";
    }
    const holding = Array.isArray(value) ? value.find((each) => memberOf(each, "amount") === "1") : undefined;
    const address = memberOf(holding ?? null, "address");
    return typeof address === "string" && isAddress(address) ? { address } : null;
  }

  async #call(method: string, of: string | readonly string[], options: Readonly<Record<string, string>>) {
    const { commitment, minimumSlot } = this.#terms;
    const config = method === "getMultipleAccounts" ? { ...options, minContextSlot: minimumSlot } : options;
    const result = await this.#nodes.read(method, [typeof of === "string" ? of : [...of], { ...config, commitment }], {
      ...{ commitment, minimumSlot },
    });
    const slot = memberOf(memberOf(result, "context"), "slot");
    if (typeof slot !== "bigint") throw new MalformedAnswer(`${method} has no context`);
    if (this.slot === null || slot < this.slot) this.slot = slot;
    return memberOf(result, "value") ?? null;
  }
}

function accountOf(value: ChainValue): ShownAccount | null {
  if (value === null) return null;
  const data = memberOf(value, "data");
  const [text] = Array.isArray(data) ? data : [];
  const owner = memberOf(value, "owner");
  if (typeof text !== "string" || typeof owner !== "string") throw new MalformedAnswer("an account has another form");
  return { program: owner, data: Buffer.from(text, "base64") };
}
