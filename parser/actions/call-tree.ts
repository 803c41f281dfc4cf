import { programs } from "@sluice/wire/programs";
import { noopPrograms } from "../compressed/leaf-changes.ts";
import type { Call, TransactionView } from "../transaction-view.ts";

/** Programs that others call to move things; where depths are not known, such a call belongs to the one before. */
const called: ReadonlySet<string> = new Set([
  programs.system,
  programs.token,
  programs.token2022,
  programs.associatedToken,
  programs.memo,
  ...noopPrograms,
  "metaqbxxUerdq28cj1RbAWkYQm3ybzjb6a8bt518x1s",
  "cmtDvXumGCrqC1Age74AVPhSRVXJMd8PJS91L8KbNCK",
  "mcmt6YrQEMKw8Mw43FmpRLmf7BqRnFMKmAcbxE3xkAW",
]);

function endByDepth(calls: readonly Call[], position: number, depth: number): number {
  const outer = calls[position]?.outer;
  let end = position + 1;
  while (end < calls.length) {
    const next = calls[end];
    if (next === undefined || next.outer !== outer || (next.stackHeight ?? 0) <= depth) break;
    end += 1;
  }
  return end;
}

/** The end of what a call called, by position: itself and all calls up to there belong to it. */
export function endOfCall({ calls }: TransactionView, position: number): number {
  const call = calls[position];
  if (call === undefined) return position + 1;
  if (call.inner === null) {
    let end = position + 1;
    while (end < calls.length && calls[end]?.outer === call.outer) end += 1;
    return end;
  }
  // An inner call is at 2 or deeper; less is what nodes without depths say.
  if (call.stackHeight !== null && call.stackHeight >= 2) return endByDepth(calls, position, call.stackHeight);
  if (called.has(call.programId)) return position + 1;
  let end = position + 1;
  while (end < calls.length) {
    const next = calls[end];
    if (next === undefined || next.outer !== call.outer) break;
    if (!called.has(next.programId) && next.programId !== call.programId) break;
    end += 1;
  }
  return end;
}
