import { errorAnswer, resultAnswer } from "../../history/index.ts";
import type { AssetAnswers, AssetCall, IndexedAnswer } from "../../rpc/index.ts";
import type { NodeCallDependencies } from "../node-calls.ts";
import { type AssetCallsDependencies, getAsset, getAssetBatch, paramsOf } from "./asset-calls.ts";
import type { DasAnswer, DasCall } from "./das-call.ts";
import { getTokenAccounts } from "./token-accounts.ts";

export type DasDependencies = AssetCallsDependencies & NodeCallDependencies;

type Method = (dependencies: DasDependencies, call: DasCall) => Promise<DasAnswer>;

/** The methods of DAS that are answered here, by their names in contract's table. */
const methods: ReadonlyMap<string, Method> = new Map<string, Method>([
  ["getAsset", getAsset],
  ["getAssetBatch", getAssetBatch],
  ["getTokenAccounts", getTokenAccounts],
]);

/** Where an answer came from, as X-RPC-Endpoint says it. */
const label = "enhanced";

/** Answers the methods over digital assets, which no node has. */
export class DasMethods implements AssetAnswers {
  readonly #dependencies: DasDependencies;

  constructor(dependencies: DasDependencies) {
    this.#dependencies = dependencies;
  }

  has(method: string): boolean {
    return methods.has(method);
  }

  /** Rejects for a fault of this system alone. */
  async answer({ method, params, ...asking }: AssetCall): Promise<IndexedAnswer> {
    const answer = methods.get(method);
    if (answer === undefined) throw new RangeError(`${method} is in contract's table and answered by nobody`);
    const answered = await answer(this.#dependencies, { asking, params: paramsOf(params) });
    if (!answered.ok) return answered;
    if ("result" in answered) return { ok: true, answer: resultAnswer(answered.result, label) };
    return { ok: true, answer: errorAnswer(answered.error.code, answered.error.message, label) };
  }
}
