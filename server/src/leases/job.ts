/**
 * What one process of several does for a network: the block engine (by the name that its lease has always had), and the
 * recording of prices.
 */
export type LeaseJob = "engine-book" | "oracle-recorder";
