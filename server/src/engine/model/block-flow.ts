import type { ChainLog } from "../../log/index.ts";

/**
 * The blocks of the engine's chain as this process has them of all who read the chain: told parent first, with what was
 * undone and what is missing.
 */
export type BlockFlow = Pick<ChainLog, "follow" | "latest">;
