import { readJson } from "@sluice/encode";
import { MalformedBytes } from "@sluice/wire/bytes";
import { valueAnswer } from "../../history/index.ts";
import { LedgerUnavailableError } from "../../ledger/index.ts";
import type { AssetAnswers, AssetCall, IndexedAnswer } from "../../rpc/index.ts";
import type { AssetLists } from "./asset-lists.ts";
import { DasInput, InvalidInput } from "./das-input.ts";
import type { AssetListEvents } from "./events.ts";
import { ListRefusal } from "./list-refusal.ts";

export interface AssetMethodsDependencies {
  readonly lists: Pick<AssetLists, "answer">;
  readonly events: AssetListEvents;
}

/** Methods over digital assets as JSON-RPC asks for them. */
export class AssetMethods implements AssetAnswers {
  readonly #dependencies: AssetMethodsDependencies;

  constructor(dependencies: AssetMethodsDependencies) {
    this.#dependencies = dependencies;
  }

  /** @throws {unknown} what is no refusal and no absence of the ledger */
  async answer({ network, method, params, keyId, nowMs }: AssetCall): Promise<IndexedAnswer> {
    const { lists, events } = this.#dependencies;
    try {
      const value = await lists.answer(method, { network, keyId, nowMs }, inputOf(params));
      events.listAnswered(method, "answered");
      return { ok: true, answer: valueAnswer(value) };
    } catch (error) {
      const refusal = refusalOf(error);
      events.listAnswered(method, refusal === null ? "failed" : "refused");
      if (refusal !== null) return { ok: false, ...refusal };
      throw error;
    }
  }
}

/** The object of the parameters, which stand by name or as the one in a list. */
function inputOf(params: string | null): DasInput {
  const value = readJson(params ?? "{}");
  const members = Array.isArray(value) ? (value[0] ?? {}) : value;
  if (typeof members !== "object" || members === null || Array.isArray(members)) {
    throw new InvalidInput("the parameters must be an object");
  }
  return new DasInput(members as Exclude<typeof members, readonly unknown[]>);
}

function refusalOf(error: unknown) {
  if (error instanceof InvalidInput || error instanceof MalformedBytes) {
    return { code: "INVALID_PARAMS", message: `Invalid params: ${error.message}` } as const;
  }
  if (error instanceof ListRefusal) return { code: error.code, message: error.message };
  if (!(error instanceof LedgerUnavailableError)) return null;
  return { code: "STORE_UNAVAILABLE", message: "The index of assets cannot be asked now" } as const;
}
