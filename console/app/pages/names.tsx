import type { ConsoleName } from "@sluice/sdk";
import { useEffect, useState } from "react";
import { explain } from "../explain.ts";
import { Copy } from "../parts/copy.tsx";
import { LookUpForm } from "../parts/look-up-form.tsx";
import { navigate, usePath } from "../route.ts";
import { client } from "../use-overview.ts";

const asked = (): string => new URLSearchParams(location.search).get("input") ?? "";

/** Who controls a name, or which domain leads to an address: one question, answered in the first line. */
export function Names() {
  usePath();
  const input = asked();
  const [answer, setAnswer] = useState<ConsoleName | string | null>(null);
  useEffect(() => {
    let stale = false;
    setAnswer(null);
    if (input === "") return;
    client.name(input).then(
      (found) => stale || setAnswer(found),
      (error: unknown) => stale || setAnswer(explain(error)),
    );
    return () => {
      stale = true;
    };
  }, [input]);
  return (
    <>
      <h1 className="text-2xl font-semibold">{headline(input, answer)}</h1>
      <LookUpForm
        key={input}
        label="Name or address"
        placeholder="@alice, alice.x1, or an address"
        maxLength={512}
        shown={input}
        onLookUp={(wanted) => navigate(`/names?${new URLSearchParams({ input: wanted })}`)}
      />
      <div aria-live="polite" className="mt-6">
        {typeof answer === "string" ? (
          <p className="text-bad">{answer}</p>
        ) : (
          answer !== null && <Answer answer={answer} />
        )}
      </div>
      {input === "" && (
        <p className="mt-2 max-w-xl text-quiet">
          A handle begins with <code className="font-mono">@</code>; a domain ends in .x1, .xnt or .xen. The same label
          may have different owners in different namespaces, so look at both before anything is sent.
        </p>
      )}
    </>
  );
}

function Answer({ answer }: { answer: ConsoleName }) {
  if (answer.finding === "refused" || answer.finding === "unavailable" || answer.finding === "absent") {
    return <p className={answer.finding === "unavailable" ? "text-warn" : "text-quiet"}>{answer.error}</p>;
  }
  const rows: [string, React.ReactNode][] = [
    ["Name", <Copy key="name" text={answer.name ?? ""} />],
    ...(answer.namespace === null ? [] : ([["Namespace", answer.namespace]] as [string, string][])),
    ["Owner", <Copy key="owner" text={answer.owner ?? ""} />],
  ];
  return (
    <>
      <dl className="grid grid-cols-[96px_1fr] gap-y-1">
        {rows.map(([name, value]) => (
          <div key={name} className="contents">
            <dt className="text-quiet">{name}</dt>
            <dd className="min-w-0">{value}</dd>
          </div>
        ))}
      </dl>
      {answer.ownerOnCurve === false && (
        <p role="alert" className="mt-3 text-warn">
          No key for this owner can exist: it is not a wallet, and what is sent to it cannot be sent back.
        </p>
      )}
    </>
  );
}

function headline(input: string, answer: ConsoleName | string | null): string {
  if (input === "") return "Who controls a name?";
  if (answer === null) return "Asking the chain…";
  if (typeof answer === "string") return "The resolver cannot be asked";
  switch (answer.finding) {
    case "owner":
      return `${answer.input} is controlled by ${shorten(answer.owner ?? "")}`;
    case "domain":
      return `${shorten(answer.owner ?? "")} is ${answer.name}`;
    case "absent":
      return answer.owner === null ? "This name is not registered" : "No domain leads to this address";
    case "refused":
      return "This is no name";
    case "unavailable":
      return "The chain did not say";
  }
}

const shorten = (address: string): string =>
  address.length <= 12 ? address : `${address.slice(0, 4)}…${address.slice(-4)}`;
