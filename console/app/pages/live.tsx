import { type Network, networks, type StreamChannel, streamChannels, streamFilterChannels } from "@sluice/sdk";
import { useCallback, useEffect, useId, useRef, useState } from "react";
import { compact, exact, plural } from "../figures.ts";
import { LiveTail, type TailQuestion, type TailRow, type TailView, tailRowsMax } from "../live-tail.ts";
import { Copy } from "../parts/copy.tsx";
import { type Column, DataTable } from "../parts/data-table.tsx";
import { Figure } from "../parts/figure.tsx";
import { QuietButton, Section } from "../parts/section.tsx";
import { eventText, saysOf, subjectOf } from "../tail-texts.ts";

/** What happens on a chain, as it happens: one channel with filters, the newest first. */
export function Live({ network }: { network: Network }) {
  const [question, setQuestion] = useState<TailQuestion | null>(null);
  const { view, tail } = useTail(question);
  const [chosen, setChosen] = useState<TailRow | null>(null);
  return (
    <>
      <h1 className="text-2xl font-semibold">{headline(question, view)}</h1>
      <p className={`mt-1 ${isSound(view) ? "text-quiet" : "text-warn"}`} aria-live="polite">
        {standing(view)}
      </p>
      <Question
        network={network}
        onAsk={(asked) => {
          setChosen(null);
          setQuestion(asked);
        }}
        onStop={question === null ? null : () => setQuestion(null)}
      />
      {view !== null && (
        <>
          <Figures view={view} />
          {chosen !== null && <Detail row={chosen} onClose={() => setChosen(null)} />}
          <Section
            title="Events"
            aside={
              view.status !== "closed" && (
                <QuietButton onClick={() => (view.isPaused ? tail?.resume() : tail?.pause())}>
                  {view.isPaused ? "resume" : "pause"}
                </QuietButton>
              )
            }
          >
            <DataTable
              caption="Events"
              columns={columnsOf(setChosen)}
              rows={view.rows}
              id={({ number }) => String(number)}
            />
            <p className="mt-1 text-xs text-quiet">The newest {tailRowsMax} are kept here.</p>
          </Section>
        </>
      )}
    </>
  );
}

/** The tail of the question, from when it is asked until another is, or none. */
function useTail(question: TailQuestion | null): { view: TailView | null; tail: LiveTail | null } {
  const [view, setView] = useState<TailView | null>(null);
  const tail = useRef<LiveTail | null>(null);
  useEffect(() => {
    setView(null);
    if (question === null) return;
    const opened = new LiveTail(question, setView);
    tail.current = opened;
    return () => {
      opened.stop();
      tail.current = null;
    };
  }, [question]);
  return { view, tail: tail.current };
}

const isSound = (view: TailView | null): boolean =>
  view === null || view.status === "live" || view.status === "connecting";

function headline(question: TailQuestion | null, view: TailView | null): string {
  if (question === null) return "What happens on the chain?";
  if (view === null || view.status === "connecting") return "Connecting to the stream…";
  if (view.status === "closed") return "The stream has ended";
  if (view.status === "interrupted") return "The stream is interrupted";
  const what = `${question.channel} of ${question.network}`;
  return view.isPaused ? `Paused: ${what}` : `Live: ${what}`;
}

function standing(view: TailView | null): string {
  if (view === null) return "A stream costs 1 credit for each started 0.1 MB that is sent.";
  if (view.status === "closed") return view.reason;
  if (view.status === "interrupted") return `${view.reason}. It goes on after the last event as soon as it can.`;
  if (view.status === "lagged") return "More happens than the tier's messages a second: some events are not sent.";
  if (view.isPaused) return "Nothing is lost by a pause: what happens meanwhile follows.";
  return "Each event is shown once, in the order of the chain.";
}

function Figures({ view }: { view: TailView }) {
  const latest = view.perSecond.at(-1) ?? 0;
  const minute = view.perSecond.reduce((sum, count) => sum + count, 0);
  const average = view.perSecond.length === 0 ? 0 : minute / view.perSecond.length;
  return (
    <dl className="mt-6 grid grid-cols-2 gap-4 sm:grid-cols-4">
      <Figure name="Last second" value={exact(latest)} unit={latest === 1 ? "event" : "events"} />
      <Figure name="Average of a minute" value={average.toFixed(1)} unit="a second" exact={String(average)} />
      <Figure name="Received" value={compact(view.received)} exact={exact(view.received)} />
      <Figure name="Not sent" value={compact(view.dropped)} exact={plural(view.dropped, "event")} />
    </dl>
  );
}

const subjectLink =
  "inline-block min-h-6 max-w-[22ch] truncate text-left align-bottom font-mono text-[13px] text-accent " +
  "underline-offset-2 hover:underline";

function columnsOf(onChoose: (row: TailRow) => void): readonly Column<TailRow>[] {
  return [
    { name: "Received", value: ({ atMs }) => new Date(atMs).toLocaleTimeString("en", { hour12: false }) },
    {
      name: "Event",
      value: ({ event }) => event.type,
      cell: ({ event }) => <span className={colours[event.type] ?? ""}>{event.type}</span>,
    },
    {
      name: "Slot",
      numeric: true,
      value: ({ event }) => ("slot" in event ? String(event.slot) : null),
      cell: ({ event }) => ("slot" in event ? exact(event.slot) : <span className="text-quiet">–</span>),
    },
    {
      name: "Subject",
      value: ({ event }) => subjectOf(event),
      cell: (row) => (
        <button type="button" title={subjectOf(row.event)} onClick={() => onChoose(row)} className={subjectLink}>
          {subjectOf(row.event)}
        </button>
      ),
    },
    {
      name: "Says",
      value: ({ event }) => saysOf(event),
      cell: ({ event }) => <span className="whitespace-nowrap">{saysOf(event)}</span>,
    },
  ];
}

const colours: Readonly<Record<string, string>> = {
  undo: "font-medium text-warn",
  gap: "font-medium text-bad",
  lagged: "font-medium text-warn",
};

function Detail({ row, onClose }: { row: TailRow; onClose: () => void }) {
  const text = eventText(row.event);
  return (
    <Section title={`Event ${exact(row.number)}`} aside={<QuietButton onClick={onClose}>close</QuietButton>}>
      <Copy text={subjectOf(row.event)} />
      <section
        // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reached by keyboard
        tabIndex={0}
        aria-label="The event as JSON"
        className="mt-1 max-h-96 overflow-auto rounded-sm border border-hairline bg-raised px-3 py-2"
      >
        <pre className="font-mono text-[13px]">{text}</pre>
      </section>
    </Section>
  );
}

const commitments = { slots: ["processed", "confirmed", "finalized"], other: ["confirmed", "finalized"] } as const;
const field = "mt-1 block w-full rounded-sm border border-hairline bg-raised px-3 py-2";

const listOf = (text: string): string[] => text.split(/[\s,]+/).filter(Boolean);

function Question(props: { network: Network; onAsk: (question: TailQuestion) => void; onStop: (() => void) | null }) {
  const [network, setNetwork] = useState<Network>(props.network);
  const [channel, setChannel] = useState<StreamChannel>("transactions");
  const [commitment, setCommitment] = useState<string>("confirmed");
  const [accounts, setAccounts] = useState("");
  const [programs, setPrograms] = useState("");
  const [failed, setFailed] = useState(true);
  const [votes, setVotes] = useState(false);
  const offered = channel === "slots" ? commitments.slots : commitments.other;
  const chosen = offered.find((each) => each === commitment) ?? "confirmed";
  const knows = useCallback(
    (name: keyof typeof streamFilterChannels) =>
      (streamFilterChannels[name] as readonly StreamChannel[]).includes(channel),
    [channel],
  );
  const ask = (): void => {
    const filters: Record<string, unknown> = { commitment: chosen };
    if (knows("accounts") && listOf(accounts).length > 0) filters["accounts"] = listOf(accounts);
    if (knows("programs") && listOf(programs).length > 0) filters["programs"] = listOf(programs);
    if (knows("failed")) filters["failed"] = failed;
    if (knows("votes")) filters["votes"] = votes;
    props.onAsk({ network, channel, filters });
  };
  return (
    <form
      className="mt-4 grid max-w-4xl grid-cols-1 gap-3 sm:grid-cols-3"
      onSubmit={(event) => {
        event.preventDefault();
        ask();
      }}
    >
      <Choice name="Network" options={networks} value={network} onChange={setNetwork} />
      <Choice name="Channel" options={streamChannels} value={channel} onChange={setChannel} />
      <Choice name="Commitment" options={offered} value={chosen} onChange={setCommitment} />
      {knows("accounts") && <Addresses name="Accounts" value={accounts} onChange={setAccounts} />}
      {knows("programs") && <Addresses name="Programs" value={programs} onChange={setPrograms} />}
      {knows("failed") && (
        <div className="flex items-end gap-6 pb-2">
          <Check name="Failed ones" value={failed} onChange={setFailed} />
          <Check name="Votes" value={votes} onChange={setVotes} />
        </div>
      )}
      <div className="flex items-center gap-4 sm:col-span-3">
        <button type="submit" className="rounded-sm bg-accent px-4 py-2 font-medium text-accent-ink">
          {props.onStop === null ? "Start" : "Start anew"}
        </button>
        {props.onStop !== null && <QuietButton onClick={props.onStop}>stop</QuietButton>}
      </div>
    </form>
  );
}

function Choice<Value extends string>(props: {
  name: string;
  options: readonly Value[];
  value: Value;
  onChange: (value: Value) => void;
}) {
  const id = useId();
  return (
    <div className="min-w-0">
      <label htmlFor={id} className="text-xs text-quiet">
        {props.name}
      </label>
      <select
        id={id}
        value={props.value}
        className={field}
        onChange={({ target }) => {
          const found = props.options.find((option) => option === target.value);
          if (found !== undefined) props.onChange(found);
        }}
      >
        {props.options.map((option) => (
          <option key={option}>{option}</option>
        ))}
      </select>
    </div>
  );
}

function Addresses(props: { name: string; value: string; onChange: (value: string) => void }) {
  const id = useId();
  return (
    <div className="min-w-0">
      <label htmlFor={id} className="text-xs text-quiet">
        {props.name}
      </label>
      <input
        id={id}
        value={props.value}
        spellCheck={false}
        autoCapitalize="none"
        placeholder="any of these addresses"
        onChange={({ target }) => props.onChange(target.value)}
        className={`${field} font-mono text-[13px]`}
      />
    </div>
  );
}

function Check(props: { name: string; value: boolean; onChange: (value: boolean) => void }) {
  return (
    <label className="flex min-h-6 items-center gap-2">
      <input type="checkbox" checked={props.value} onChange={({ target }) => props.onChange(target.checked)} />
      {props.name}
    </label>
  );
}
