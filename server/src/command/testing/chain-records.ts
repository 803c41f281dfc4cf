/** What a server tells of ingest and of orders about the past, each with something that is wrong. */

export const backfillRecord = {
  ...{ id: "m1", network: "devnet", from: "10", to: "109" },
  state: "active",
  ...{
    slots: 100,
    held: 25,
    too_old: 50,
    slots_per_second: 2.5,
    eta_seconds: 30,
    fault: "the block of slot 40 cannot be had",
  },
} as const;
export const reparseRecord = {
  ...{ id: "r1", network: "devnet", from: "10", to: "109", parser_version: 7 },
  state: "active",
  ...{
    slots: 100,
    done: 40,
    transactions: "8000",
    transactions_per_second: 3210.5,
    eta_seconds: 12,
    fault: "it is away",
  },
} as const;
export const fillRecord = {
  ...{ id: "f1", network: "devnet", of: { authority: null, creator: null, collection: null }, per_second: 50 },
  state: "active",
  ...{ assets: 200, read: 100, fault: "nodes list nothing" },
} as const;
export const ingestRecord = {
  network: "devnet",
  state: "lagging",
  head: 500,
  confirmed: 430,
  finalized: 400,
  lag_slots: 70,
  unavailable_slots: 3,
  fault: "The disk is full.",
  sources: [
    { name: "a", kind: "polling", up: true, trusted: true },
    { name: "b", kind: "polling", up: true, trusted: false },
  ],
};
