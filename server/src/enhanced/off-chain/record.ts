import type { OffChainRecord } from "@sluice/contract/schemas";
import type { DocumentRead } from "./documents.ts";

/** What a document says, as records of tokens and NFTs have it. */
export function offChainRecord({ state, document }: DocumentRead): OffChainRecord {
  return {
    state,
    description: document?.description ?? null,
    image: document?.image ?? null,
    animation_url: document?.animationUrl ?? null,
    external_url: document?.externalUrl ?? null,
    category: document?.category ?? null,
    attributes: (document?.attributes ?? []).map(({ traitType, value }) => ({ trait_type: traitType, value })),
    files: (document?.files ?? []).map(({ uri, mime }) => ({ uri, mime })),
  };
}

/** Whether an answer with it is the answer for as long as answers are kept. */
export const isSettled = ({ state }: DocumentRead): boolean => state !== "pending" && state !== "failed";
