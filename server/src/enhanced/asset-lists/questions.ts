import { isAddress } from "@sluice/wire/identifiers";
import { type AssetFilter, anyAsset } from "../../ledger/index.ts";
import { type DasInput, InvalidInput, pageMembers, pageOf, type WantedPage } from "./das-input.ts";

/** What is told beside the assets of a list, and of them. */
export interface ListOptions {
  readonly showFungible: boolean;
  readonly showNativeBalance: boolean;
  readonly showCollectionMetadata: boolean;
  readonly showGrandTotal: boolean;
  readonly showUnverifiedCollections: boolean;
  readonly showZeroBalance: boolean;
}

/** A list as a caller asks for it. */
export interface ListQuestion {
  readonly filter: AssetFilter;
  readonly page: WantedPage;
  readonly options: ListOptions;
}

/** Interfaces of tokens of which many are alike. */
const fungible = ["FungibleToken", "FungibleAsset"] as const;

const optionMembers = [
  ...["showUnverifiedCollections", "showCollectionMetadata", "showGrandTotal", "showInscription", "showRawData"],
  ...["showFungible", "requireFullIndex", "showSystemMetadata", "showZeroBalance", "showClosedAccounts"],
  "showNativeBalance",
];

/** Options of what is not kept here: what they would add is not there, as where nothing is to be added. */
function optionsOf(input: DasInput): ListOptions {
  input.allow(optionMembers);
  const isSet = (name: string): boolean => input.flag(name) === true;
  return {
    showFungible: isSet("showFungible"),
    showNativeBalance: isSet("showNativeBalance"),
    showCollectionMetadata: isSet("showCollectionMetadata"),
    showGrandTotal: isSet("showGrandTotal"),
    showUnverifiedCollections: isSet("showUnverifiedCollections"),
    showZeroBalance: isSet("showZeroBalance"),
  };
}

type Reads = (input: DasInput) => ListQuestion;

const question = (input: DasInput, options: ListOptions, filter: Partial<AssetFilter>): ListQuestion => ({
  filter: { ...anyAsset, burnt: false, unverifiedCollections: options.showUnverifiedCollections, ...filter },
  page: pageOf(input),
  options,
});

const byOwner: Reads = (input) => {
  input.allow(["ownerAddress", "displayOptions", "options", ...pageMembers]);
  const options = optionsOf(input.object(input.has("displayOptions") ? "displayOptions" : "options"));
  const owner = input.requiredAddress("ownerAddress");
  return question(input, options, { owner, withoutInterfaces: options.showFungible ? [] : fungible });
};

function collectionOf(key: string | null, value: string | null): string | null {
  if (key !== null && key !== "collection") {
    throw new InvalidInput("the key of a group must be collection: there are no other groups");
  }
  if (value !== null && !isAddress(value)) throw new InvalidInput("the value of a group must be an address");
  return value;
}

const byGroup: Reads = (input) => {
  input.allow(["groupKey", "groupValue", "options", ...pageMembers]);
  const options = optionsOf(input.object("options"));
  return question(input, options, {
    collection: collectionOf(input.text("groupKey"), input.requiredAddress("groupValue")),
  });
};

const byCreator: Reads = (input) => {
  input.allow(["creatorAddress", "onlyVerified", "options", ...pageMembers]);
  const creatorVerified = input.flag("onlyVerified") === true ? true : null;
  const creator = input.requiredAddress("creatorAddress");
  return question(input, optionsOf(input.object("options")), { creator, creatorVerified });
};

const byAuthority: Reads = (input) => {
  input.allow(["authorityAddress", "options", ...pageMembers]);
  const authority = input.requiredAddress("authorityAddress");
  return question(input, optionsOf(input.object("options")), { authority });
};

const searchMembers = [
  ...["ownerAddress", "tokenType", "creatorAddress", "creatorVerified", "authorityAddress", "ownerType", "grouping"],
  ...["tree", "jsonUri", "compressed", "compressible", "delegate", "supply", "supplyMint", "frozen", "burnt"],
  ...["interface", "royaltyTargetType", "royaltyTarget", "royaltyAmount", "options", ...pageMembers],
];

const tokenTypes = ["fungible", "nonFungible", "compressedNft", "regularNft", "all"] as const;

/** What kind of token is wanted. */
function kindOf(input: DasInput, options: ListOptions): Partial<AssetFilter> {
  const type = input.choice("tokenType", tokenTypes);
  const ownerType = input.choice("ownerType", ["single", "token"]);
  const interfaces = input.text("interface");
  const compressed = input.flag("compressed");
  const wanted = interfaces === null ? null : [interfaces];
  if (type === "fungible" || ownerType === "token") return { compressed, interfaces: wanted ?? fungible };
  if (type === "compressedNft") return { interfaces: wanted, compressed: true };
  const isAll = type === "all" || wanted !== null || (type === null && options.showFungible);
  const without = isAll && ownerType !== "single" ? [] : fungible;
  return { interfaces: wanted, withoutInterfaces: without, compressed: type === "regularNft" ? false : compressed };
}

/** No asset has what is asked for: a text that no interface is called. */
const nothing = ["none"] as const;

const search: Reads = (input) => {
  input.allow(searchMembers);
  const options = optionsOf(input.object("options"));
  if (input.has("supplyMint")) throw new InvalidInput("supplyMint is not indexed here");
  const [groupKey, groupValue] = input.pair("grouping") ?? [null, null];
  const royaltyModel = input.choice("royaltyTargetType", ["creators", "fanout", "single"]);
  // All royalties here are of creators, and no asset is only eligible for compression.
  const isNothing =
    (royaltyModel !== null && royaltyModel !== "creators") || input.has("royaltyTarget") || input.flag("compressible");
  const supply = input.whole("supply", 0, Number.MAX_SAFE_INTEGER);
  const kind = kindOf(input, options);
  return question(input, options, {
    owner: input.address("ownerAddress"),
    creator: input.address("creatorAddress"),
    creatorVerified: input.flag("creatorVerified"),
    authority: input.address("authorityAddress"),
    collection: collectionOf(groupKey, groupValue),
    tree: input.address("tree"),
    uri: input.text("jsonUri"),
    delegate: input.address("delegate"),
    supply: supply === null ? null : BigInt(supply),
    frozen: input.flag("frozen"),
    burnt: input.flag("burnt"),
    royalty: input.whole("royaltyAmount", 0, 65_535),
    ...kind,
    ...(isNothing === true ? { interfaces: nothing } : {}),
  });
};

/** How the parameters of each method are read. */
export const listMethods: ReadonlyMap<string, Reads> = new Map([
  ["getAssetsByOwner", byOwner],
  ["getAssetsByGroup", byGroup],
  ["getAssetsByCreator", byCreator],
  ["getAssetsByAuthority", byAuthority],
  ["searchAssets", search],
]);
