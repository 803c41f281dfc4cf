import type { ChainLog } from "../../log/index.ts";

/**
 * The blocks of the engine's chain as this process has them: told parent first, with what was undone and what is
 * missing. It is open while an engine runs.
 */
export interface BlockFlow extends AsyncDisposable {
  /** Null while the chain is not known or its log is not open; another one where the chain was started anew. */
  current(): Pick<ChainLog, "follow" | "latest"> | null;
}
