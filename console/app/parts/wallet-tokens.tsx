import type { WalletBalances } from "@sluice/sdk";
import { decimal, exact, plural } from "../figures.ts";
import { ChainLink, shortened } from "./chain-link.tsx";
import { type Column, DataTable } from "./data-table.tsx";
import { Section } from "./section.tsx";

type Held = WalletBalances["items"][number];

const dollars = (value: number): string => value.toLocaleString("en", { style: "currency", currency: "USD" });

/** What a wallet holds, in one line. */
export function walletHeadline({ address, native, tokens_total: tokens, value_usd: worth }: WalletBalances): string {
  const held = `${decimal(native.balance, 4)} ${native.symbol ?? "native tokens"}`;
  const value = worth === null ? "" : `, worth ${dollars(worth)}`;
  return `${shortened(address)} holds ${held} and ${plural(tokens, "token")}${value}`;
}

const columns: readonly Column<Held>[] = [
  {
    name: "Token",
    value: ({ symbol, name, mint }) => symbol ?? name ?? mint,
    cell: ({ symbol, name, mint }) => <ChainLink text={mint}>{symbol || name || shortened(mint)}</ChainLink>,
  },
  {
    name: "Balance",
    numeric: true,
    value: ({ balance }) => balance,
    cell: ({ balance, amount }) => (
      <span title={`${amount} smallest units`}>{balance === null ? exact(BigInt(amount)) : decimal(balance, 6)}</span>
    ),
  },
  {
    name: "Value",
    numeric: true,
    value: ({ value_usd: worth }) => worth,
    cell: ({ value_usd: worth }) =>
      worth === null ? <span className="text-quiet">no price</span> : <span title={`$${worth}`}>{dollars(worth)}</span>,
  },
  { name: "Kind", value: ({ is_nft: isNft }) => (isNft ? "NFT" : "token") },
];

/** The tokens of a wallet, the most valuable first. */
export function WalletTokens({ balances }: { balances: WalletBalances }) {
  const { items, tokens_total: all } = balances;
  if (items.length === 0) return <p className="text-quiet">It holds no tokens.</p>;
  return (
    <Section title="Balances">
      <DataTable caption="Balances" columns={columns} rows={items} id={({ mint }) => mint} />
      {items.length < all && (
        <p className="mt-1 text-xs text-quiet">
          The most valuable {items.length} of {exact(all)}.
        </p>
      )}
    </Section>
  );
}
