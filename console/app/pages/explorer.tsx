import { type NftMetadataRecord, ProblemError, type TokenMetadataRecord, type WalletBalances } from "@sluice/sdk";
import { useEffect, useState } from "react";
import { type EnhancedRecord, enhanced } from "../enhanced.ts";
import { explain } from "../explain.ts";
import { AssetFacts } from "../parts/asset-facts.tsx";
import { shortened } from "../parts/chain-link.tsx";
import { LookUpForm } from "../parts/look-up-form.tsx";
import { RecordList } from "../parts/record-list.tsx";
import { TransactionRecord } from "../parts/transaction-record.tsx";
import { WalletTokens, walletHeadline } from "../parts/wallet-tokens.tsx";
import { navigate, useSearch } from "../route.ts";

/** What a signature or an address turned out to be. */
type Found =
  | { readonly kind: "transaction"; readonly record: EnhancedRecord }
  | { readonly kind: "asset"; readonly token: TokenMetadataRecord | null; readonly nft: NftMetadataRecord | null }
  | { readonly kind: "wallet"; readonly balances: WalletBalances };

/** Null while nothing is asked or the answer is on its way; a text says why there is none. */
type Answer = Found | string | null;

/** Characters of an address in base58; a signature has more. */
const addressLengthMax = 44;
/** Tokens of a wallet that are shown, the most valuable first. */
const tokensShown = 100;

const transactionUnknown = "No node and no block of the ledger has a transaction with this signature.";

async function lookUp(input: string): Promise<Answer> {
  if (input.length > addressLengthMax) {
    const [record] = await enhanced.transactions([input]);
    return record === undefined || !("type" in record) ? transactionUnknown : { kind: "transaction", record };
  }
  const [token, nft] = await Promise.all([
    ifThere(enhanced.token(input), "TOKEN_NOT_FOUND"),
    ifThere(enhanced.nft(input), "NFT_NOT_FOUND"),
  ]);
  if (token !== null || nft !== null) return { kind: "asset", token, nft };
  return { kind: "wallet", balances: await enhanced.walletBalances(input, { limit: tokensShown }) };
}

async function ifThere<T>(asked: Promise<T>, absent: string): Promise<T | null> {
  try {
    return await asked;
  } catch (error) {
    if (error instanceof ProblemError && error.code === absent) return null;
    throw error;
  }
}

/** What a transaction was, what a token is, what a wallet holds and did: one question, answered in the first line. */
export function Explorer() {
  const input = new URLSearchParams(useSearch()).get("input") ?? "";
  const [answer, setAnswer] = useState<Answer>(null);
  useEffect(() => {
    let isStale = false;
    setAnswer(null);
    if (input === "") return;
    lookUp(input).then(
      (found) => isStale || setAnswer(found),
      (error: unknown) => isStale || setAnswer(explain(error)),
    );
    return () => {
      isStale = true;
    };
  }, [input]);
  return (
    <>
      <h1 className="text-2xl font-semibold break-words">{headline(input, answer)}</h1>
      <Question key={input} input={input} />
      <div aria-live="polite" className="mt-6">
        {typeof answer === "string" ? (
          <p className="max-w-3xl text-bad">{answer}</p>
        ) : (
          answer !== null && <Shown input={input} found={answer} />
        )}
      </div>
    </>
  );
}

function Question({ input }: { input: string }) {
  return (
    <>
      <LookUpForm
        label="Signature or address"
        placeholder="A signature, a wallet, a token or an NFT"
        maxLength={100}
        shown={input}
        onLookUp={(wanted) => navigate(`/explorer?${new URLSearchParams({ input: wanted })}`)}
      />
      {input === "" && (
        <p className="mt-3 max-w-3xl text-quiet">
          A transaction costs 10 credits. An address costs 15 to be told from a token or an NFT, 15 for what a wallet
          holds, and 15 for each page of what it did.
        </p>
      )}
    </>
  );
}

function headline(input: string, answer: Answer): string {
  if (input === "") return "What happened?";
  if (answer === null) return "Asking the chain…";
  if (typeof answer === "string") return "There is no answer";
  switch (answer.kind) {
    case "transaction":
      return answer.record.description === ""
        ? `A transaction of type ${answer.record.type}`
        : answer.record.description;
    case "asset":
      return assetHeadline(input, answer);
    case "wallet":
      return walletHeadline(answer.balances);
  }
}

function assetHeadline(input: string, { token, nft }: Extract<Found, { kind: "asset" }>): string {
  const name = nft?.name || token?.name || shortened(input);
  if (nft === null) return `${name} is a token`;
  if (nft.is_burnt) return `${name} is an NFT that is burnt`;
  const { owner } = nft.ownership;
  return owner === null ? `${name} is an NFT` : `${name} is an NFT of ${shortened(owner)}`;
}

function Shown({ input, found }: { input: string; found: Found }) {
  if (found.kind === "transaction") return <TransactionRecord record={found.record} />;
  return (
    <>
      {found.kind === "asset" ? <AssetFacts {...found} /> : <WalletTokens balances={found.balances} />}
      <RecordList key={input} address={input} />
    </>
  );
}
