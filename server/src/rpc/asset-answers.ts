import type { Network } from "@sluice/contract/tiers";
import type { IndexedAnswer } from "./archive.ts";

/** A call of a method over digital assets, whose parameters were checked against the method's row. */
export interface AssetCall {
  readonly network: Network;
  readonly method: string;
  /** JSON text of the parameters; null without any. */
  readonly params: string | null;
  readonly keyId: string;
  /** Monotonic. */
  readonly nowMs: number;
}

/** What answers methods over digital assets. */
export interface AssetAnswers {
  answer(call: AssetCall): Promise<IndexedAnswer>;
}
