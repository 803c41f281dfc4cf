import { ofChain } from "./chain/statements.ts";

/**
 * The statements of what bundles that landed brought to those whose bundles they are. A bundle may carry transactions
 * of others, such as the one that a sandwich is around: its owner is who signs the last transaction that pays a tip, or
 * the last one of all where none does. Balances of nobody else count, and no fee that another pays.
 */

/** Transactions of `landed`, as the chain has them. */
const executed =
  "SELECT slot, transaction_index, blockhash, signature, fee, signers FROM transactions FINAL " +
  "WHERE network = {network:String} AND slot GLOBAL IN (SELECT assumeNotNull(landed_slot) FROM landed) " +
  `AND signature GLOBAL IN (SELECT arrayJoin(signatures) FROM landed) AND ${ofChain}`;

/** Of each of them: whether it pays a tip, and what it made of balances of those who sign any of them. */
const effects =
  "SELECT slot, transaction_index, blockhash, " +
  "max(mint = '' AND account IN ({tipAccounts:Array(String)}) AND after > before) AS pays, " +
  "groupArrayIf((if(mint = '', account, owner), toInt64(after) - toInt64(before)), holds) AS moved FROM " +
  "(SELECT slot, transaction_index, blockhash, mint, account, owner, before, after, " +
  "(mint = '' OR mint IN ({wrapped:Array(String)})) AND " +
  "if(mint = '', account, owner) GLOBAL IN (SELECT arrayJoin(signers) FROM executed) AS holds " +
  "FROM account_changes FINAL WHERE network = {network:String} " +
  "AND (slot, transaction_index) GLOBAL IN (SELECT slot, transaction_index FROM executed)) " +
  "GROUP BY slot, transaction_index, blockhash";

/** The transactions of each bundle with their places in it. */
const claimed =
  "SELECT id, assumeNotNull(landed_slot) AS place, length(signatures) AS size, " +
  "toInt128(ifNull(tip_seen, 0)) AS seen, signature, position " +
  "FROM landed ARRAY JOIN signatures AS signature, arrayEnumerate(signatures) AS position";

/** Each bundle of which every transaction is there, with its owner's signers. */
const gainOfEach =
  "SELECT id, any(size) AS expected, count() AS found, any(place) AS landed_in, any(seen) AS tip, " +
  "argMax(signers, (pays, position)) AS owners, " +
  "toInt128(arraySum(arrayMap(each -> if(has(owners, each.1), each.2, 0), arrayFlatten(groupArray(moved))))) AS gain, " +
  "toInt128(arraySum(arrayMap(each -> if(has(owners, each.1), each.2, 0), " +
  "groupArray((signers[1], toInt64(fee)))))) AS paid " +
  `FROM (${claimed}) AS claimed GLOBAL INNER JOIN (SELECT signature, fee, signers, pays, moved FROM executed ` +
  "GLOBAL LEFT JOIN effects USING (slot, transaction_index, blockhash)) AS seen_there USING (signature) " +
  "GROUP BY id HAVING found = expected";

/** The sum over all of them. */
export const sumOfGains =
  "SELECT toString(count()) AS bundles, toString(sum(gain)) AS gained, toString(sum(paid)) AS fees, " +
  `toString(sum(tip)) AS tips FROM (${gainOfEach})`;

/** Each of them, the newest first, as many as `limit`. */
export const newestGains =
  "SELECT id, toString(landed_in) AS slot, toString(gain) AS gained, toString(paid) AS fees, toString(tip) AS tips " +
  `FROM (${gainOfEach}) ORDER BY landed_in DESC, id LIMIT {limit:UInt32}`;

/** A statement over the bundles that conditions choose; its parameters are `tipAccounts`, `wrapped` and theirs. */
export const profitsFrom = (conditions: string, statement: string): string =>
  `WITH landed AS (SELECT id, signatures, landed_slot, tip_seen FROM bundle_outcomes FINAL WHERE ${conditions}), ` +
  `executed AS (${executed}), effects AS (${effects}) ${statement}`;
