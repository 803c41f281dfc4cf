import type { WebhookDelivery, WebhookDeliveryDetail } from "@sluice/sdk";
import { useCallback, useEffect, useState } from "react";
import { explain } from "../explain.ts";
import { exact } from "../figures.ts";
import { webhooks } from "../webhooks.ts";
import { Copy } from "./copy.tsx";
import { QuietButton, Section } from "./section.tsx";

interface Props {
  readonly id: string;
  /** Read anew when it changes. */
  readonly revision: number;
  /** Does something, and says in one sentence what was done. */
  readonly onAct: (work: () => Promise<string>) => void;
}

const pageSize = 50;
const refreshMs = 3_000;

const views = ["ended", "waiting", "given up"] as const;
type View = (typeof views)[number];
const viewTexts: Readonly<Record<View, string>> = {
  ended: "show those that have ended",
  waiting: "show those that wait",
  "given up": "show those that were given up",
};

/** What was delivered and what waits, each with its attempts. */
export function WebhookDeliveries({ id, revision, onAct }: Props) {
  const [deliveries, setDeliveries] = useState<readonly WebhookDelivery[] | null>(null);
  const [next, setNext] = useState<string | null>(null);
  const [fault, setFault] = useState<string | null>(null);
  const [view, setView] = useState<View>("ended");
  const read = useCallback(
    (cursor: string | null) =>
      webhooks.deliveries(id, {
        limit: pageSize,
        pending: view === "waiting",
        ...(view === "given up" ? { status: "failed" as const } : {}),
        ...(cursor === null ? {} : { cursor }),
      }),
    [id, view],
  );
  // biome-ignore lint/correctness/useExhaustiveDependencies: a new revision is what it is read again for
  useEffect(() => {
    let isGone = false;
    const first = (): void => {
      read(null).then(
        (page) => {
          if (isGone) return;
          setDeliveries(page.deliveries);
          setNext(page.next_cursor);
          setFault(null);
        },
        (error: unknown) => isGone || setFault(explain(error)),
      );
    };
    first();
    const timer = setInterval(first, refreshMs);
    return () => {
      isGone = true;
      clearInterval(timer);
    };
  }, [read, revision]);
  return (
    <Section
      title="Deliveries"
      aside={
        <span className="flex gap-3">
          {views
            .filter((each) => each !== view)
            .map((each) => (
              <QuietButton key={each} onClick={() => setView(each)}>
                {viewTexts[each]}
              </QuietButton>
            ))}
        </span>
      }
    >
      {fault !== null && <p className="mt-1 text-bad">{fault}</p>}
      {deliveries === null && fault === null && <p className="mt-1 text-quiet">Reading…</p>}
      {deliveries?.length === 0 && <p className="mt-1 text-quiet">There are none yet. A test makes the first.</p>}
      <ul>
        {deliveries?.map((delivery) => (
          <Delivery key={delivery.id} delivery={delivery} onAct={onAct} />
        ))}
      </ul>
      {next !== null && (
        <p className="mt-1 text-xs text-quiet">These are the newest. The API gives all of them, page by page.</p>
      )}
    </Section>
  );
}

const toneOf: Readonly<Record<WebhookDelivery["status"], string>> = {
  success: "text-good",
  failed: "text-bad",
  pending: "text-quiet",
  parked: "text-warn",
};

function Delivery({ delivery, onAct }: { delivery: WebhookDelivery; onAct: Props["onAct"] }) {
  const [open, setOpen] = useState(false);
  const when = delivery.delivered_at ?? delivery.last_attempt_at ?? delivery.created_at;
  const tries = `${exact(delivery.attempts)} ${delivery.attempts === 1 ? "attempt" : "attempts"}`;
  return (
    <li className="border-b border-hairline py-1">
      <div className="flex flex-wrap items-baseline gap-x-4 gap-y-1">
        <button type="button" aria-expanded={open} className="min-h-6 hover:text-accent" onClick={() => setOpen(!open)}>
          <span className={`inline-block w-16 text-left ${toneOf[delivery.status]}`}>{delivery.status}</span>{" "}
          <span className="font-mono text-[13px]">{delivery.event}</span>
        </button>
        <time className="text-xs text-quiet">{when}</time>
        <span className="text-xs text-quiet">
          {tries}
          {delivery.status_code === null ? "" : `, answered ${delivery.status_code}`}
        </span>
        {delivery.error !== undefined && <span className="text-xs text-bad">{delivery.error}</span>}
        <span className="ml-auto">
          <QuietButton
            onClick={() =>
              onAct(async () => `Delivery ${(await webhooks.retry(delivery.id)).delivery_id} is attempted again.`)
            }
          >
            retry
          </QuietButton>
        </span>
      </div>
      {open && <Attempts delivery={delivery} />}
    </li>
  );
}

function Attempts({ delivery }: { delivery: WebhookDelivery }) {
  const [detail, setDetail] = useState<WebhookDeliveryDetail | string | null>(null);
  const { id, attempts } = delivery;
  // biome-ignore lint/correctness/useExhaustiveDependencies: another attempt is what it is read again for
  useEffect(() => {
    let isGone = false;
    webhooks.delivery(id).then(
      (found) => isGone || setDetail(found),
      (error: unknown) => isGone || setDetail(explain(error)),
    );
    return () => {
      isGone = true;
    };
  }, [id, attempts]);
  if (detail === null) return <p className="text-quiet">Reading…</p>;
  if (typeof detail === "string") return <p className="text-bad">{detail}</p>;
  return (
    <div className="mt-1 mb-2 pl-4">
      <div className="text-xs text-quiet">
        Event <Copy text={detail.event_id} />
      </div>
      {detail.attempt_log.length === 0 && <p className="text-quiet">No attempt is recorded.</p>}
      {detail.attempt_log.map((each) => (
        <details key={`${each.attempt} ${each.at}`} className="py-0.5">
          <summary className="min-h-6">
            {each.attempt}. <time className="text-xs text-quiet">{each.at}</time>{" "}
            {each.status_code === null ? "no answer" : `answered ${each.status_code}`} in{" "}
            {exact(Math.round(each.latency_ms))} ms{" "}
            {each.error !== null && <span className="text-bad">{each.error}</span>}
          </summary>
          <pre className="mt-1 max-h-48 overflow-auto border-l-2 border-hairline pl-3 font-mono text-xs">
            {Object.entries(each.request_headers)
              .map(([name, value]) => `${name}: ${value}`)
              .join("\n")}
          </pre>
          {each.answer !== "" && (
            <pre className="mt-1 max-h-48 overflow-auto border-l-2 border-hairline pl-3 font-mono text-xs">
              {each.answer}
            </pre>
          )}
        </details>
      ))}
    </div>
  );
}
