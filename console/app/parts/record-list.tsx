import { enhancedTypes } from "@sluice/sdk";
import { useCallback, useEffect, useId, useRef, useState } from "react";
import { type EnhancedRecord, enhanced } from "../enhanced.ts";
import { explain } from "../explain.ts";
import { exact } from "../figures.ts";
import { ChainLink } from "./chain-link.tsx";
import { type Column, DataTable } from "./data-table.tsx";
import { QuietButton, Section } from "./section.tsx";
import { momentOf } from "./transaction-record.tsx";

type TypeFilter = (typeof enhancedTypes)[number] | "";

interface Listed {
  readonly items: readonly EnhancedRecord[];
  /** Null on the last page. */
  readonly next: string | null;
  readonly state: "reading" | "read" | { readonly fault: string };
}

const pageSize = 25;
const nothing: Listed = { items: [], next: null, state: "reading" };

const columns: readonly Column<EnhancedRecord>[] = [
  {
    name: "Time",
    value: ({ timestamp, slot }) => momentOf(timestamp) ?? `slot ${slot}`,
    cell: ({ timestamp, slot }) => (
      <span title={`slot ${exact(Number(slot))}`} className="whitespace-nowrap">
        {momentOf(timestamp) ?? `slot ${exact(Number(slot))}`}
      </span>
    ),
  },
  { name: "Type", value: ({ type }) => type },
  {
    name: "What happened",
    value: ({ description, type }) => (description === "" ? type : description),
    cell: ({ description, transactionError }) => (
      <span className="block min-w-[22ch] max-w-[56ch] break-words">
        {transactionError !== null && <span className="text-bad">failed </span>}
        {description === "" ? <span className="text-quiet">no parser knows it</span> : description}
      </span>
    ),
  },
  { name: "Source", value: ({ source }) => source },
  {
    name: "Transaction",
    value: ({ signature }) => signature,
    cell: ({ signature }) => <ChainLink text={signature} />,
  },
];

/** What an address did by type, and how more of it is read. */
function useRecords(address: string, type: TypeFilter): readonly [Listed, () => void] {
  const [listed, setListed] = useState<Listed>(nothing);
  const asking = useRef(0);
  const read = useCallback(
    async (before: Listed): Promise<void> => {
      asking.current += 1;
      const asked = asking.current;
      setListed({ ...before, state: "reading" });
      const query = {
        limit: pageSize,
        ...(type === "" ? {} : { type }),
        ...(before.next === null ? {} : { cursor: before.next }),
      };
      const after = await enhanced.walletHistory(address, query).then(
        ({ items, next_cursor: next }): Listed => ({ items: [...before.items, ...items], next, state: "read" }),
        (error: unknown): Listed => ({ ...before, state: { fault: explain(error) } }),
      );
      if (asked === asking.current) setListed(after);
    },
    [address, type],
  );
  useEffect(() => {
    void read(nothing);
    return () => {
      asking.current += 1;
    };
  }, [read]);
  return [listed, () => void read(listed)];
}

/** What an address did, the newest first, by type and page by page. */
export function RecordList({ address }: { address: string }) {
  const [type, setType] = useState<TypeFilter>("");
  const [listed, readOn] = useRecords(address, type);
  const { items } = listed;
  const query = `limit=${pageSize}${type === "" ? "" : `&type=${type}`}`;
  return (
    <Section title="History">
      <TypeChoice type={type} onChoose={setType} />
      {items.length > 0 && (
        <DataTable caption="History" columns={columns} rows={items} id={({ signature }) => signature} />
      )}
      <ListEnd listed={listed} onReadOn={readOn} />
      <pre className="mt-4 whitespace-pre-wrap break-all text-xs text-quiet">
        {`curl "$GATEWAY/api/v1/v0/wallet/${address}/history?${query}" -H "X-API-Key: $KEY"`}
      </pre>
    </Section>
  );
}

function TypeChoice({ type, onChoose }: { type: TypeFilter; onChoose: (type: TypeFilter) => void }) {
  const id = useId();
  return (
    <p className="mt-2">
      <label htmlFor={id} className="text-xs text-quiet">
        Type
      </label>{" "}
      <select
        id={id}
        value={type}
        onChange={(event) => onChoose(event.target.value as TypeFilter)}
        className="rounded-sm border border-hairline bg-raised px-2 py-1 text-sm"
      >
        <option value="">every type</option>
        {enhancedTypes.map((each) => (
          <option key={each} value={each}>
            {each}
          </option>
        ))}
      </select>
    </p>
  );
}

function ListEnd({ listed: { items, next, state }, onReadOn }: { listed: Listed; onReadOn: () => void }) {
  return (
    <div aria-live="polite" className="mt-2">
      {state === "reading" && <p className="text-quiet">Reading the ledger…</p>}
      {typeof state === "object" && <p className="text-bad">{state.fault}</p>}
      {state === "read" && items.length === 0 && next === null && (
        <p className="text-quiet">The ledger has no such transaction of this address.</p>
      )}
      {state !== "reading" && next !== null && (
        <p className="flex items-baseline gap-4 text-xs text-quiet">
          {items.length === 0 && <span>None among those that were looked at so far.</span>}
          <QuietButton onClick={onReadOn}>read on</QuietButton>
        </p>
      )}
    </div>
  );
}
