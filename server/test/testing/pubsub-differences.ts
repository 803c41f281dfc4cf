/** Every kind of subscription, told by a node and by the gateway: what differs between the two. */

const tokenProgram = "TokenkegQfeZyiNwAJbNbGKPFXCWuBvf9Ss623VQ5DA";
const systemProgram = "11111111111111111111111111111111";
const voteProgram = "Vote111111111111111111111111111111111111111";
const clock = "SysvarC1ock11111111111111111111111111111111";
const slotHistory = "SysvarS1otHistory11111111111111111111111111";
/** Slots that are compared at least, of each subscription. */
export const slotsMin = 12;

const at = (commitment: string, more: object = {}) => ({ commitment, ...more });
const commitments = ["processed", "confirmed", "finalized"];
export const settled = ["confirmed", "finalized"];

/** Every kind with every option that changes what is told. */
export const subscriptions: readonly (readonly [method: string, params: readonly unknown[]])[] = [
  ...["slotSubscribe", "rootSubscribe", "slotsUpdatesSubscribe", "voteSubscribe"].map(
    (method) => [method, []] as const,
  ),
  ...commitments.flatMap((commitment) => [
    ["accountSubscribe", [clock, at(commitment, { encoding: "jsonParsed" })]] as const,
    ["logsSubscribe", ["all", at(commitment)]] as const,
    ["logsSubscribe", ["allWithVotes", at(commitment)]] as const,
    ["logsSubscribe", [{ mentions: [tokenProgram] }, at(commitment)]] as const,
    ["logsSubscribe", [{ mentions: [voteProgram] }, at(commitment)]] as const,
    ["programSubscribe", [tokenProgram, at(commitment, { encoding: "base64", filters: [{ dataSize: 165 }] })]] as const,
  ]),
  ...[undefined, "base58", "base64", "base64+zstd"].flatMap((encoding) => [
    ["accountSubscribe", [clock, at("confirmed", encoding === undefined ? {} : { encoding })]] as const,
  ]),
  ["accountSubscribe", [slotHistory, at("confirmed")]],
  ["programSubscribe", [tokenProgram, at("confirmed", { encoding: "jsonParsed" })]],
  ["programSubscribe", [systemProgram]],
  ...settled.flatMap((commitment) => [
    ["blockSubscribe", ["all", at(commitment, { maxSupportedTransactionVersion: 0 })]] as const,
    ["blockSubscribe", ["all", at(commitment)]] as const,
    [
      "blockSubscribe",
      [{ mentionsAccountOrProgram: tokenProgram }, at(commitment, { maxSupportedTransactionVersion: 0 })],
    ] as const,
  ]),
  ...["base58", "json", "jsonParsed"].flatMap((encoding) =>
    ["full", "accounts"].map((transactionDetails) => {
      const more = { encoding, transactionDetails, showRewards: true, maxSupportedTransactionVersion: 0 };
      return ["blockSubscribe", ["all", at("confirmed", more)]] as const;
    }),
  ),
  ...["signatures", "none"].map((transactionDetails) => {
    const more = { transactionDetails, showRewards: transactionDetails === "none" };
    return ["blockSubscribe", ["all", at("finalized", more)]] as const;
  }),
];

/** The slot that a notification is about; null where it names none. */
function slotOf(result: string): number | null {
  const found = /^(\d+)$|"slot":(\d+)|"slots":\[(?:\d+,)*(\d+)/.exec(result);
  const digits = found?.[1] ?? found?.[2] ?? found?.[3];
  return digits === undefined ? null : Number(digits);
}

/** Compares what both were told of the slots that both were told of from their beginning to their end. */
export function compared(name: string, own: readonly string[], shared: readonly string[]) {
  const slotsOf = (results: readonly string[]): number[] => results.map((result) => slotOf(result) ?? Number.NaN);
  const first = Math.max(slotsOf(own)[0] ?? 0, slotsOf(shared)[0] ?? 0);
  const last = Math.min(slotsOf(own).at(-1) ?? 0, slotsOf(shared).at(-1) ?? 0);
  const within = (results: readonly string[]): string[] =>
    results.filter((result) => (slotOf(result) ?? 0) > first && (slotOf(result) ?? 0) < last);
  const [left, right] = [within(own), within(shared)];
  const index = left.findIndex((result, place) => result !== right[place]);
  const differs = index >= 0 || left.length !== right.length;
  const difference = differs ? { node: left[index], gateway: right[index], counts: [left.length, right.length] } : null;
  return { name, slots: new Set(left.map(slotOf)).size, difference };
}
