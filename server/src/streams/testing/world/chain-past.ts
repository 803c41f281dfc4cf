import type { PastBlocks } from "../../../history/index.ts";
import type { StreamedChain, WorldBlock } from "./streamed-chain.ts";

/** What the ledger holds of a chain: all that is final, but for what nobody has. */
export function chainPast(chain: () => StreamedChain, finalUntil: () => bigint): PastBlocks {
  const held = (): readonly WorldBlock[] => chain().standing.filter(({ header: { slot } }) => slot <= finalUntil());
  return {
    first: async (_network, from) => {
      const blocks = held();
      const first = blocks.find(({ header: { slot } }) => slot >= from);
      const isBelow = from < (blocks[0]?.header.slot ?? 0n);
      return first === undefined || first.isUnavailable || isBelow ? null : first;
    },
    last: async (_network, until) => {
      const blocks = held();
      const last = blocks.findLast(({ header: { slot } }) => slot <= until);
      return last === undefined || last.isUnavailable || until > (blocks.at(-1)?.header.slot ?? 0n)
        ? null
        : last.header;
    },
    firstSlot: async () => {
      const blocks = held();
      const after = blocks.findLastIndex(({ isUnavailable }) => isUnavailable) + 1;
      return blocks[after]?.header.slot ?? null;
    },
  };
}
