import { blockOfHeader, blockRecord } from "../../history/testing/blocks.ts";
import type { BlockHeader, LogRecord } from "../../log/index.ts";
import { headerOf } from "../../log/testing/chain-model.ts";
import type { PlayedClient } from "./booted-streams.ts";

export const header = (
  slot: number,
  transactions = 3,
  parent: BlockHeader | number = slot - 1,
  branch = "main",
): BlockHeader => ({
  ...headerOf(slot, parent, branch),
  transactions,
});
export const blocks = (from: number, to: number, transactions = 3): LogRecord[] =>
  Array.from({ length: to - from + 1 }, (_, index) => blockRecord(header(from + index, transactions)));
export const signaturesOf = (...headers: readonly BlockHeader[]): string[] =>
  headers.flatMap((each) => blockOfHeader(each).transactions.map(({ signature }) => signature));
export const told = (client: PlayedClient): string[] => client.of("transaction").map(({ data }) => data.signature);
export const refusal = (client: PlayedClient) => client.of("error").at(-1);
