import { z } from "zod";
import { enhancedPageMax, enhancedSignaturesMax, enhancedTypes } from "../enhanced.ts";
import { networks } from "../tiers.ts";
import { nftMetadata, offChain } from "./nft.ts";
import { count, exact } from "./primitives.ts";

/** The enhanced API: what transactions were, and tokens. Its records have the members that users of helius-sdk know. */

const signature = z
  .string()
  .regex(/^[1-9A-HJ-NP-Za-km-z]{64,88}$/, { error: "must be a signature: 64 bytes in base58" })
  .meta({ description: "A signature", example: "5".repeat(88) });
const network = z.enum(networks).optional().meta({ description: "The chain; the header `X-Network` stands over it" });
const commitment = z.enum(["confirmed", "finalized"]).default("confirmed").meta({
  description: "At which commitment transactions are read",
});

/** Signatures of transactions that are to be parsed. */
export const enhancedTransactionsBody = z
  .object({
    transactions: z
      .array(signature)
      .min(1, { error: "must name at least one transaction" })
      .max(enhancedSignaturesMax, { error: `must name at most ${enhancedSignaturesMax} transactions` }),
  })
  .meta({ id: "EnhancedTransactionsRequest", description: "Signatures of transactions; the answer keeps their order" });

/** The query of a request that parses transactions. */
export const enhancedTransactionsQuery = z.object({ network, commitment });

/** The query of a token. */
export const enhancedTokenQuery = z.object({ network });

const slot = z.coerce.number().int().nonnegative().optional();
const time = z.coerce.number().int().optional().meta({ description: "Unix seconds" });

/** The query of the transactions of an address, with the names that helius-sdk gives its members. */
export const enhancedAddressQuery = z.object({
  network,
  commitment,
  limit: z.coerce
    .number()
    .int()
    .min(1)
    .max(enhancedPageMax)
    .default(enhancedPageMax)
    .meta({ description: "The most transactions to answer with" }),
  "before-signature": signature.optional().meta({ description: "Begin after this one, going back" }),
  "after-signature": signature.optional().meta({ description: "End before this one, going back" }),
  before: signature.optional().meta({ description: "The same as `before-signature`" }),
  until: signature.optional().meta({ description: "The same as `after-signature`" }),
  type: z.enum(enhancedTypes).optional(),
  source: z.string().min(1).max(64).optional().meta({ description: "The short name of a program or market" }),
  "gt-slot": slot,
  "gte-slot": slot,
  "lt-slot": slot,
  "lte-slot": slot,
  "gt-time": time,
  "gte-time": time,
  "lt-time": time,
  "lte-time": time,
  "token-accounts": z.enum(["none", "balanceChanged", "all"]).default("none").meta({
    description:
      "`all`: also transactions that name a token account which the address has open; `balanceChanged`: of these the ones that changed its tokens. Read from the ledger, as far back as the key's tier sees",
  }),
  "sort-order": z.enum(["desc", "asc"]).default("desc").meta({
    description: "`desc` is the newest first; `asc` is read from the ledger, as far back as the key's tier sees",
  }),
});

const address = z.string().nullable();
const rawAmount = z.object({ tokenAmount: z.string(), decimals: count.nullable() });

/** An instruction as an IDL file of the operator tells it. */
const decoded = z
  .object({
    program: z.string(),
    name: z.string(),
    args: z.record(z.string(), z.unknown()).nullable(),
    accounts: z.record(z.string(), z.string()),
  })
  .meta({
    id: "DecodedInstruction",
    description:
      "Of a program that a file of the operator describes; `args` is null where the data are of another form",
  });

/** The members that every record has; `events` has more by type. */
export const enhancedTransaction = z
  .looseObject({
    description: z.string().meta({ description: "One sentence; empty where the type is UNKNOWN" }),
    type: z.enum(enhancedTypes),
    source: z.string().meta({ description: "The short name of the program or market" }),
    fee: exact("Lamports").nullable(),
    feePayer: z.string(),
    signature: z.string(),
    slot: exact("The slot"),
    timestamp: exact("Unix seconds").nullable(),
    nativeTransfers: z.array(z.object({ fromUserAccount: address, toUserAccount: address, amount: exact("Lamports") })),
    tokenTransfers: z.array(
      z.looseObject({
        fromTokenAccount: address,
        toTokenAccount: address,
        fromUserAccount: address,
        toUserAccount: address,
        tokenAmount: z.number().nullable().meta({ description: "What arrives, an exact decimal" }),
        mint: address,
        rawTokenAmount: rawAmount,
        feeAmount: z.string().optional().meta({
          description: "What the mint withheld on the way, in the smallest unit: it left the sender beside the amount",
        }),
      }),
    ),
    accountData: z.array(
      z.object({
        account: z.string(),
        nativeBalanceChange: exact("Lamports"),
        tokenBalanceChanges: z.array(
          z.object({ userAccount: address, tokenAccount: z.string(), mint: z.string(), rawTokenAmount: rawAmount }),
        ),
      }),
    ),
    transactionError: z.object({ error: z.unknown() }).nullable(),
    instructions: z.array(
      z.looseObject({
        accounts: z.array(z.string()),
        data: z.string(),
        programId: z.string(),
        decoded: decoded.optional(),
      }),
    ),
    events: z.looseObject({}),
  })
  .meta({ id: "EnhancedTransaction", description: "What a transaction was" });

const failedItem = z
  .object({ signature: z.string(), error: z.string().meta({ description: "NOT_FOUND, or the code of a failure" }) })
  .meta({ id: "EnhancedTransactionFailure", description: "In the place of a transaction that was not parsed" });

/** Records in the order of the signatures, with a failure in the place of one that was not parsed. */
export const enhancedTransactions = z.array(z.union([enhancedTransaction, failedItem]));

/** An answer in the envelope of this API. */
export const envelopeOf = <Data extends z.ZodType>(data: Data) =>
  z.object({
    success: z.literal(true),
    data,
    processing_time_ms: z.number(),
    cached: z.boolean().meta({ description: "Whether all of it was kept from an answer before" }),
  });

/** The answer with records of transactions. */
export const enhancedTransactionsAnswer = envelopeOf(enhancedTransactions).meta({ id: "EnhancedTransactionsAnswer" });

/** A token, as the chain describes it. */
export const tokenMetadata = z
  .object({
    mint: z.string(),
    token_program: z.string(),
    decimals: count,
    supply: z.string().meta({ description: "In the token's smallest unit" }),
    mint_authority: address,
    freeze_authority: address,
    extensions: z.array(z.string()).meta({ description: "Extensions of a mint of Token-2022" }),
    metadata_source: z.enum(["token_2022", "metaplex"]).nullable(),
    name: z.string().nullable(),
    symbol: z.string().nullable(),
    uri: z.string().nullable(),
    update_authority: address,
    is_mutable: z.boolean().nullable(),
    seller_fee_basis_points: count.nullable(),
    creators: z.array(z.object({ address: z.string(), verified: z.boolean(), share: count })),
    collection: z.object({ address: z.string(), verified: z.boolean() }).nullable(),
    token_standard: z.string().nullable(),
    additional_metadata: z.record(z.string(), z.string()),
    off_chain: offChain,
  })
  .meta({ id: "TokenMetadata", description: "A token, as its mint and its metadata on the chain say" });

/** The answer with records of an address. */
export const enhancedAddressAnswer = envelopeOf(z.array(enhancedTransaction)).meta({ id: "EnhancedAddressAnswer" });

/** The answer with a token. */
export const tokenMetadataAnswer = envelopeOf(tokenMetadata).meta({ id: "TokenMetadataAnswer" });

/** The query of an NFT. */
export const enhancedNftQuery = z.object({ network });

/** The answer with an NFT. */
export const nftMetadataAnswer = envelopeOf(nftMetadata).meta({ id: "NftMetadataAnswer" });

/** A failure in the envelope of this API. */
export const enhancedFailure = z
  .object({
    success: z.literal(false),
    error: z.string().meta({ description: "What the code means" }),
    message: z.string().meta({ description: "What is wrong with this request" }),
    error_code: z.string(),
  })
  .meta({ id: "EnhancedFailure", description: "A failure of the enhanced API" });

/** The query of the transactions of an address, as it is read. */
export type EnhancedAddressQuery = z.infer<typeof enhancedAddressQuery>;
/** A token, as the chain describes it. */
export type TokenMetadataRecord = z.infer<typeof tokenMetadata>;
