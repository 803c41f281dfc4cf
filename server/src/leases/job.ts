/**
 * What one process of several does for a network: the block engine (by the name that its lease has always had), the
 * recording of prices, and the writing of the chain into the ledger.
 */
export type LeaseJob = "engine-book" | "oracle-recorder" | "ledger-writer";
