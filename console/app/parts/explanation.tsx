import type { ExplanationBody } from "@sluice/sdk";
import { useEffect, useRef, useState } from "react";
import { explain } from "../explain.ts";
import { exact, plural } from "../figures.ts";
import { client } from "../use-overview.ts";
import { Copy } from "./copy.tsx";
import { type Column, DataTable } from "./data-table.tsx";
import type { ExplainedBy } from "./explained-figure.tsx";
import { QuietButton } from "./section.tsx";

type Input = ExplanationBody["inputs"][number];

const columns: readonly Column<Input>[] = [
  {
    name: "Input",
    value: ({ what }) => what,
    cell: ({ what }) => <span className="[overflow-wrap:anywhere]">{what}</span>,
  },
  {
    name: "From",
    value: ({ where }) => where,
    cell: ({ where }) => (
      <span className="inline-block max-w-[28ch] align-bottom">
        <Copy text={where} />
      </span>
    ),
  },
  {
    name: "Value",
    numeric: true,
    value: ({ value }) => value,
    cell: ({ value }) => (
      <span title={value} className="font-mono text-[13px]">
        {/^-?\d{4,}$/.test(value) ? exact(BigInt(value)) : value}
      </span>
    ),
  },
];

/** How a record comes about, beside the page: what it is computed from, then the arithmetic. */
export function Explanation({ by, door, onClose }: { by: ExplainedBy; door: string; onClose: () => void }) {
  const dialog = useRef<HTMLDialogElement>(null);
  const [found, setFound] = useState<ExplanationBody | string | null>(null);
  useEffect(() => {
    dialog.current?.showModal();
    let stale = false;
    client.explainPool(by).then(
      (explanation) => stale || setFound(explanation),
      (error: unknown) => stale || setFound(explain(error)),
    );
    return () => {
      stale = true;
    };
  }, [by]);
  return (
    <dialog
      ref={dialog}
      aria-label={`How ${by.record} comes about`}
      onClose={onClose}
      className="mr-0 ml-auto h-dvh max-h-none w-[min(760px,100vw)] max-w-none overflow-y-auto border-l border-hairline bg-paper p-4 text-ink backdrop:bg-black/40 md:p-6"
    >
      <div className="flex items-baseline justify-between gap-4">
        <h2 className="min-w-0 text-lg font-semibold [overflow-wrap:anywhere]">
          How <span className="font-mono text-base">{by.record}</span> comes about
        </h2>
        <QuietButton onClick={onClose}>close</QuietButton>
      </div>
      {found === null && <p className="mt-2 text-quiet">Reading it…</p>}
      {typeof found === "string" && (
        <p role="alert" className="mt-2 text-bad">
          {found}
        </p>
      )}
      {found !== null && typeof found !== "string" && <Found explanation={found} />}
      <div className="mt-6 overflow-x-auto border-t border-hairline pt-3">
        <Copy text={`curl "${door}/api/v1/explain?${new URLSearchParams(by)}" -H "X-API-Key: $KEY"`} />
      </div>
    </dialog>
  );
}

function Found({ explanation: { at, slot, inputs, steps } }: { explanation: ExplanationBody }) {
  return (
    <>
      <p className="mt-1 text-sm text-quiet">
        {plural(inputs.length, "input")}, read on {at.slice(0, 10)} at {at.slice(11, 19)} UTC
        {slot !== null && <>, by accounts of slot {exact(BigInt(slot))}</>}. Values are in the smallest unit.
      </p>
      <h3 className="mt-4 border-b border-hairline pb-1 text-sm font-semibold">The arithmetic</h3>
      <ol className="mt-1">
        {steps.map((line) => (
          <li
            key={line}
            className="border-t border-hairline py-1.5 font-mono text-[13px] leading-snug [overflow-wrap:anywhere] first:border-t-0"
          >
            {line}
          </li>
        ))}
      </ol>
      {inputs.length > 0 && (
        <>
          <h3 className="mt-4 border-b border-hairline pb-1 text-sm font-semibold">What it is computed from</h3>
          <DataTable caption="Inputs" columns={columns} rows={inputs} id={({ what, where }) => `${what} ${where}`} />
        </>
      )}
    </>
  );
}
