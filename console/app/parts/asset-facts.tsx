import type { NftMetadataRecord, TokenMetadataRecord } from "@sluice/sdk";
import { ChainLink } from "./chain-link.tsx";
import { Copy } from "./copy.tsx";
import { Facts } from "./facts.tsx";

/** A whole number of smallest units in whole units, with all digits. */
function inUnits(amount: string, decimals: number): string {
  const digits = amount.padStart(decimals + 1, "0");
  const [whole, part] = [digits.slice(0, digits.length - decimals), digits.slice(digits.length - decimals)];
  const shown = part.replace(/0+$/, "");
  return `${BigInt(whole).toLocaleString("en")}${shown === "" ? "" : `.${shown}`}`;
}

const documentTexts = {
  none: null,
  off: "is not fetched by this server",
  read: "was read; nobody has proved what it says",
  pending: "is being fetched; look again",
  failed: "cannot be had",
} as const;

/** A token or an NFT, as its accounts say, and what its document adds. */
export function AssetFacts({ token, nft }: { token: TokenMetadataRecord | null; nft: NftMetadataRecord | null }) {
  return nft === null ? token !== null && <TokenFacts token={token} /> : <NftFacts nft={nft} />;
}

function TokenFacts({ token }: { token: TokenMetadataRecord }) {
  const { mint, symbol, name, supply, decimals, mint_authority: mints, freeze_authority: freezes } = token;
  return (
    <Facts
      facts={[
        ["Mint", <Copy key="mint" text={mint} />],
        ["Name", name],
        ["Symbol", symbol],
        ["Supply", inUnits(supply, decimals)],
        ["Decimals", String(decimals)],
        ["May mint", mints === null ? "nobody" : <ChainLink key="mints" text={mints} />],
        ["May freeze", freezes === null ? "nobody" : <ChainLink key="freezes" text={freezes} />],
        ["Extensions", token.extensions.length === 0 ? null : token.extensions.join(", ")],
        ["Document", documentTexts[token.off_chain.state]],
        ["It says", token.off_chain.description],
      ]}
    />
  );
}

function NftFacts({ nft }: { nft: NftMetadataRecord }) {
  const {
    mint,
    interface: kind,
    name,
    symbol,
    collection,
    creators,
    royalty,
    ownership,
    edition,
    off_chain: said,
  } = nft;
  const shares = creators.map(({ address, share, verified }) => (
    <span key={address} className="mr-3 whitespace-nowrap">
      <ChainLink text={address} /> {share} %{verified ? "" : " (not verified)"}
    </span>
  ));
  return (
    <Facts
      facts={[
        ["Asset", <Copy key="mint" text={mint} />],
        ["Kind", kind],
        ["Name", name === "" ? null : name],
        ["Symbol", symbol === "" ? null : symbol],
        ["Owner", ownership.owner === null ? null : <ChainLink key="owner" text={ownership.owner} />],
        ["May be moved", ownership.is_frozen ? "no, it is frozen" : "yes"],
        [
          "Collection",
          collection === null ? null : (
            <span key="collection">
              <ChainLink text={collection.address} /> {collection.verified ? "" : "(has not agreed)"}
            </span>
          ),
        ],
        ["Creators", creators.length === 0 ? null : <span key="creators">{shares}</span>],
        ["Royalty", `${royalty.percent * 100} %`],
        ["Edition", edition === null ? null : edition.kind === "print" ? `print ${edition.number ?? ""}` : "master"],
        ["Compressed", nft.compression === null ? null : "yes"],
        ["Document", documentTexts[said.state]],
        ["It says", said.description],
      ]}
    />
  );
}
