/**
 * admission: whether a bundle may enter the auction. Fed by the endpoints with what they decoded and by the auctioneer
 * with opened envelopes; asks the chain, the simulation and the pool; feeds the pool with what it accepts.
 */

export type * from "./admission.ts";
export { Admission, submissionId } from "./admission.ts";
export { decodeBase64, envelopeId, type Rejection, rejection } from "./bundle-checks.ts";
