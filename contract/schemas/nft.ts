import { z } from "zod";
import { count } from "./primitives.ts";

/** NFTs and the documents that tokens and NFTs point to. */

const address = z.string().nullable();
const raw = z.string().meta({ description: "A whole number" });

/** What the document behind a token's URI says, and how it was had. */
export const offChain = z
  .object({
    state: z.enum(["none", "off", "read", "pending", "failed"]).meta({
      description:
        "`none`: there is no URI. `off`: documents are not fetched here. `read`: the members below are the document's. `pending`: it is being fetched; ask again. `failed`: it cannot be fetched, or is no JSON object",
    }),
    description: z.string().nullable(),
    image: z.string().nullable(),
    animation_url: z.string().nullable(),
    external_url: z.string().nullable(),
    category: z.string().nullable(),
    attributes: z.array(z.object({ trait_type: z.string(), value: z.string() })),
    files: z.array(z.object({ uri: z.string(), mime: z.string().nullable() })),
  })
  .meta({ id: "OffChainMetadata", description: "What the document behind a URI says: nobody has proved any of it" });

/** An NFT. */
export const nftMetadata = z
  .object({
    mint: z.string().meta({ description: "The mint, the account of MPL Core, or the id of a compressed NFT" }),
    interface: z.string().meta({ description: "The name that DAS has for its kind, such as `V1_NFT`" }),
    metadata_source: z.enum(["token_metadata", "token_2022", "mpl_core", "bubblegum", "none"]),
    name: z.string(),
    symbol: z.string(),
    uri: z.string(),
    token_standard: z.string().nullable(),
    update_authority: address,
    is_mutable: z.boolean(),
    is_burnt: z.boolean(),
    collection: z.object({ address: z.string(), verified: z.boolean() }).nullable(),
    creators: z.array(z.object({ address: z.string(), verified: z.boolean(), share: count })),
    royalty: z.object({
      basis_points: count,
      percent: z.number().meta({ description: "A part of the price: 0.05 is five in a hundred" }),
      primary_sale_happened: z.boolean(),
    }),
    edition: z
      .object({
        kind: z.enum(["master", "print"]),
        supply: raw.nullable().meta({ description: "Prints of a master so far, where that is kept" }),
        max_supply: raw.nullable().meta({ description: "Prints that there may be; null is without bound" }),
        number: raw.nullable().meta({ description: "Which print it is" }),
        parent: address.meta({ description: "The account of a print's master edition or collection" }),
      })
      .nullable(),
    compression: z
      .object({
        tree: z.string(),
        leaf_index: count,
        sequence: raw,
        data_hash: z.string(),
        creator_hash: z.string(),
        asset_hash: z.string(),
      })
      .nullable()
      .meta({ description: "The leaf of a compressed NFT" }),
    ownership: z.object({
      owner: address.meta({ description: "Null for a burnt NFT, and for one that moved while it was read" }),
      delegate: address,
      is_frozen: z.boolean(),
      token_account: address,
    }),
    attributes: z
      .array(z.object({ key: z.string(), value: z.string() }))
      .meta({ description: "What the chain itself says in pairs" }),
    plugins: z.array(z.string()).meta({ description: "Plugins of an asset of MPL Core" }),
    token_program: address,
    off_chain: offChain,
  })
  .meta({ id: "NftMetadata", description: "An NFT, as its accounts say" });

/** What a document says. */
export type OffChainRecord = z.infer<typeof offChain>;
/** An NFT, as the chain describes it. */
export type NftMetadataRecord = z.infer<typeof nftMetadata>;
