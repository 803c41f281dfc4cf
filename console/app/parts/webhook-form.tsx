import {
  type FieldError,
  type NewWebhook,
  ProblemError,
  type Webhook,
  type WebhookEventName,
  type WebhookFilterName,
  webhookEventNames,
  webhookEventSpec,
  webhookFilterEvents,
  webhookFilterTexts,
} from "@sluice/sdk";
import { useId, useState } from "react";
import { explain } from "../explain.ts";
import { QuietButton } from "./section.tsx";

interface Props {
  /** What it begins with; null for a new webhook. */
  readonly webhook: Webhook | null;
  readonly submit: string;
  /** Rejects with what is wrong. */
  readonly onSubmit: (webhook: NewWebhook) => Promise<void>;
}

const inputStyle = "mt-1 block w-full rounded-sm border border-hairline bg-raised px-3 py-2";

const filterNames = Object.keys(webhookFilterEvents) as WebhookFilterName[];
const isEventName = (name: string): name is WebhookEventName => webhookEventNames.some((known) => known === name);

/** The filters that one of the events knows. */
const filtersFor = (events: readonly WebhookEventName[]): WebhookFilterName[] =>
  filterNames.filter((name) => {
    const known: readonly WebhookEventName[] = webhookFilterEvents[name];
    return events.some((event) => known.includes(event));
  });

interface Draft {
  readonly url: string;
  readonly description: string;
  readonly events: readonly WebhookEventName[];
  /** As it is typed. */
  readonly filters: string;
  readonly fifo: boolean;
}

const draftOf = (webhook: Webhook | null): Draft => ({
  url: webhook?.url ?? "",
  description: webhook?.description ?? "",
  events: webhook?.events.filter(isEventName) ?? ["transaction.confirmed"],
  filters: JSON.stringify(webhook?.filters ?? {}, null, 2),
  fifo: webhook?.fifo ?? false,
});

/** The filters as they are typed; null for what is not JSON. */
function readFilters(text: string): NewWebhook["filters"] | null {
  try {
    return JSON.parse(text.trim() === "" ? "{}" : text);
  } catch {
    return null;
  }
}

/** The members of a webhook with help for its events and filters; what is wrong stands beside its field. */
export function WebhookForm({ webhook, submit, onSubmit }: Props) {
  const [draft, setDraft] = useState(() => draftOf(webhook));
  const [faults, setFaults] = useState<readonly FieldError[]>([]);
  const [fault, setFault] = useState<string | null>(null);
  const send = async (): Promise<void> => {
    setFaults([]);
    setFault(null);
    const filters = readFilters(draft.filters);
    if (filters === null || filters === undefined) return setFaults([{ path: "filters", message: "is not JSON" }]);
    try {
      await onSubmit({ ...draft, events: [...draft.events], filters });
    } catch (error) {
      setFault(explain(error));
      if (error instanceof ProblemError) setFaults(error.errors);
    }
  };
  return (
    <form
      className="mt-2 max-w-3xl"
      onSubmit={(event) => {
        event.preventDefault();
        void send();
      }}
    >
      <Fields draft={draft} faults={faults} onChange={(changed) => setDraft({ ...draft, ...changed })} />
      <button type="submit" className="mt-4 rounded-sm bg-accent px-4 py-2 font-medium text-accent-ink">
        {submit}
      </button>
      {fault !== null && (
        <p role="alert" className="mt-2 text-bad">
          {fault}
        </p>
      )}
    </form>
  );
}

interface FieldsProps {
  readonly draft: Draft;
  readonly faults: readonly FieldError[];
  readonly onChange: (changed: Partial<Draft>) => void;
}

function Fields({ draft, faults, onChange }: FieldsProps) {
  const faultsOf = (name: string): readonly FieldError[] =>
    faults.filter(({ path }) => path === name || path.startsWith(`${name}.`));
  return (
    <>
      <Field label="Address of the receiver (https)" faults={faultsOf("url")}>
        {(id) => (
          <input
            id={id}
            type="url"
            required
            value={draft.url}
            maxLength={2_048}
            placeholder="https://example.com/events"
            onChange={(event) => onChange({ url: event.target.value })}
            className={`${inputStyle} font-mono text-[13px]`}
          />
        )}
      </Field>
      <Field label="Description" faults={faultsOf("description")}>
        {(id) => (
          <input
            id={id}
            value={draft.description}
            maxLength={500}
            onChange={(event) => onChange({ description: event.target.value })}
            className={inputStyle}
          />
        )}
      </Field>
      <Events chosen={draft.events} onChange={(events) => onChange({ events })} faults={faultsOf("events")} />
      <Field label="Filters, as JSON" faults={faultsOf("filters")}>
        {(id) => (
          <textarea
            id={id}
            rows={6}
            value={draft.filters}
            spellCheck={false}
            autoCapitalize="none"
            onChange={(event) => onChange({ filters: event.target.value })}
            className={`${inputStyle} font-mono text-[13px]`}
          />
        )}
      </Field>
      <FilterHelp events={draft.events} />
      <label className="mt-3 flex items-baseline gap-2">
        <input type="checkbox" checked={draft.fifo} onChange={(event) => onChange({ fifo: event.target.checked })} />
        <span>
          In order: a delivery waits until the one before has succeeded or was given up{" "}
          <span className="text-quiet">(one that fails holds up the rest)</span>
        </span>
      </label>
    </>
  );
}

function Field(props: { label: string; faults: readonly FieldError[]; children: (id: string) => React.ReactNode }) {
  const id = useId();
  return (
    <div className="mt-3">
      <label htmlFor={id} className="text-xs text-quiet">
        {props.label}
      </label>
      {props.children(id)}
      <Faults faults={props.faults} />
    </div>
  );
}

function Faults({ faults }: { faults: readonly FieldError[] }) {
  return faults.map(({ path, message }) => (
    <p key={path} className="mt-1 text-xs text-bad">
      <span className="font-mono">{path}</span> {message}
    </p>
  ));
}

function Events(props: {
  chosen: readonly WebhookEventName[];
  onChange: (events: readonly WebhookEventName[]) => void;
  faults: readonly FieldError[];
}) {
  const { chosen, onChange } = props;
  const toggle = (name: WebhookEventName): void =>
    onChange(chosen.includes(name) ? chosen.filter((other) => other !== name) : [...chosen, name]);
  return (
    <fieldset className="mt-3">
      <legend className="text-xs text-quiet">Events</legend>
      <div className="mt-1 grid gap-x-6 gap-y-1 sm:grid-cols-2">
        {webhookEventNames.map((name) => (
          <label key={name} className="flex min-h-6 items-baseline gap-2">
            <input type="checkbox" checked={chosen.includes(name)} onChange={() => toggle(name)} />
            <span className="min-w-0">
              <span className="font-mono text-[13px]">{name}</span>{" "}
              <span className="block text-xs text-quiet">
                {webhookEventSpec(name).description}; from the tier {webhookEventSpec(name).tier}
              </span>
            </span>
          </label>
        ))}
      </div>
      <Faults faults={props.faults} />
    </fieldset>
  );
}

function FilterHelp({ events }: { events: readonly WebhookEventName[] }) {
  const [open, setOpen] = useState(false);
  const names = filtersFor(events);
  if (names.length === 0) return null;
  return (
    <div className="mt-1">
      <QuietButton onClick={() => setOpen(!open)}>
        {open ? "hide the filters of these events" : "show the filters of these events"}
      </QuietButton>
      {open && (
        <dl className="mt-1 grid grid-cols-1 gap-x-4 gap-y-1 sm:grid-cols-[200px_minmax(0,1fr)]">
          {names.map((name) => (
            <div key={name} className="contents">
              <dt className="font-mono text-[13px]">{name}</dt>
              <dd className="text-quiet">{webhookFilterTexts[name].replaceAll("`", "")}</dd>
            </div>
          ))}
        </dl>
      )}
    </div>
  );
}
