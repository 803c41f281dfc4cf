import type { Webhook } from "@sluice/sdk";
import { useCallback, useEffect, useState } from "react";
import { explain } from "../explain.ts";
import { exact } from "../figures.ts";
import { Copy } from "../parts/copy.tsx";
import { PageLink } from "../parts/page-link.tsx";
import { QuietButton, Section } from "../parts/section.tsx";
import { WebhookDeliveries } from "../parts/webhook-deliveries.tsx";
import { WebhookForm } from "../parts/webhook-form.tsx";
import { navigate } from "../route.ts";
import { needsCare, stateText, webhooks } from "../webhooks.ts";

const dayMs = 86_400_000;

/** One webhook: how it is, what it delivered, and what its owner can do. */
export function WebhookPage({ id }: { id: string }) {
  const [webhook, setWebhook] = useState<Webhook | null>(null);
  const [fault, setFault] = useState<string | null>(null);
  const [said, setSaid] = useState<string | null>(null);
  const [secret, setSecret] = useState<string | null>(null);
  const [changes, setChanges] = useState(false);
  const [revision, setRevision] = useState(0);
  const refresh = useCallback(async () => {
    setWebhook(await webhooks.get(id));
    setRevision((before) => before + 1);
  }, [id]);
  const act = useCallback(
    (work: () => Promise<string>) => {
      work().then(
        async (text) => {
          setFault(null);
          setSaid(text);
          await refresh();
        },
        (error: unknown) => setFault(explain(error)),
      );
    },
    [refresh],
  );
  useEffect(() => {
    refresh().catch((error: unknown) => setFault(explain(error)));
  }, [refresh]);
  if (webhook === null) return <p className={fault === null ? "text-quiet" : "text-bad"}>{fault ?? "Reading…"}</p>;
  return (
    <>
      <p className="text-xs">
        <PageLink to="/webhooks">All webhooks</PageLink>
      </p>
      <h1 className={`mt-1 text-2xl font-semibold ${needsCare(webhook) ? "text-warn" : ""}`}>{headline(webhook)}</h1>
      <div className="mt-1 text-quiet">
        <Copy text={webhook.url} />
      </div>
      <Actions webhook={webhook} onAct={act} onSecret={setSecret} onChange={() => setChanges(!changes)} />
      <div aria-live="polite">
        {said !== null && <p className="mt-2 text-good">{said}</p>}
        {fault !== null && <p className="mt-2 text-bad">{fault}</p>}
      </div>
      {secret !== null && (
        <div role="status" className="mt-3 border-l-2 border-accent pl-3">
          <p>The new secret, shown this once. The old one signs along for 24 hours:</p>
          <Copy text={secret} />
        </div>
      )}
      {changes && (
        <Section title="Change">
          <WebhookForm
            webhook={webhook}
            submit="Save"
            onSubmit={async (changed) => {
              await webhooks.update(id, changed);
              setChanges(false);
              setSaid("The webhook is changed.");
              await refresh();
            }}
          />
        </Section>
      )}
      <Notices webhook={webhook} />
      <Facts webhook={webhook} />
      <WebhookDeliveries id={id} revision={revision} onAct={act} />
    </>
  );
}

function headline(webhook: Webhook): string {
  const { waiting } = webhook;
  const state = stateText(webhook);
  return `${state[0]?.toUpperCase()}${state.slice(1)}, ${waiting === 0 ? "nothing waits" : `${exact(waiting)} waiting`}`;
}

interface ActionProps {
  readonly webhook: Webhook;
  /** Does something, and says in one sentence what was done. */
  readonly onAct: (work: () => Promise<string>) => void;
  readonly onSecret: (secret: string) => void;
  readonly onChange: () => void;
}

/** The sentence, once the work is done. */
async function said(work: Promise<unknown>, sentence: string): Promise<string> {
  await work;
  return sentence;
}

function Actions({ webhook, onAct, onSecret, onChange }: ActionProps) {
  const { webhook_id: id, status, secret_overlap_ends_at: overlap } = webhook;
  const [asks, setAsks] = useState(false);
  return (
    <div className="mt-3 flex flex-wrap gap-x-4 gap-y-1">
      <QuietButton onClick={() => onAct(async () => `Test ${(await webhooks.test(id)).delivery_id} is on its way.`)}>
        send a test
      </QuietButton>
      {status === "active" ? (
        <QuietButton onClick={() => onAct(() => said(webhooks.pause(id), "The webhook is paused."))}>pause</QuietButton>
      ) : (
        <QuietButton onClick={() => onAct(() => said(webhooks.resume(id), "The webhook is active."))}>
          resume
        </QuietButton>
      )}
      <QuietButton
        onClick={() =>
          onAct(async () => {
            const { recovered } = await webhooks.recover(id, new Date(Date.now() - 13 * dayMs));
            return `${exact(recovered)} deliveries that were given up wait again.`;
          })
        }
      >
        send again what was given up
      </QuietButton>
      <QuietButton
        onClick={() =>
          onAct(async () => {
            onSecret((await webhooks.rotateSecret(id)).secret);
            return "The secret is rotated.";
          })
        }
      >
        rotate the secret
      </QuietButton>
      {overlap !== null && (
        <QuietButton onClick={() => onAct(() => said(webhooks.endOverlap(id), "The new secret signs alone."))}>
          end the old secret
        </QuietButton>
      )}
      <QuietButton onClick={onChange}>change</QuietButton>
      <QuietButton
        onClick={() => {
          if (!asks) return setAsks(true);
          webhooks.delete(id).then(
            () => navigate("/webhooks"),
            (error: unknown) => onAct(() => Promise.reject(error)),
          );
        }}
      >
        {asks ? "delete it and its deliveries now" : "delete"}
      </QuietButton>
    </div>
  );
}

function Notices({ webhook: { notices } }: { webhook: Webhook }) {
  if (notices.length === 0) return null;
  return (
    <Section title="Notices">
      <ul className="mt-1">
        {notices.map(({ code, at, message }) => (
          <li key={`${code} ${at} ${message}`} className="border-b border-hairline py-1">
            {at !== null && <time className="mr-3 text-xs text-quiet">{at}</time>}
            {message}
          </li>
        ))}
      </ul>
    </Section>
  );
}

function Facts({ webhook }: { webhook: Webhook }) {
  const { retry_policy: policy } = webhook;
  const rows: readonly (readonly [string, React.ReactNode])[] = [
    ["Id", <Copy key="id" text={webhook.webhook_id} />],
    ["Network", webhook.network],
    ["Events", webhook.events.join(", ")],
    ["Filters", <Filters key="filters" text={JSON.stringify(webhook.filters, null, 2)} />],
    ["Attempts", `${policy.max_attempts}, each delay ${policy.backoff_multiplier} times the one before`],
    ["In order", webhook.fifo ? "yes" : "no"],
    ["Last success", webhook.last_success_at ?? "none yet"],
    ...(webhook.failing_since === null ? [] : [["Failing since", webhook.failing_since] as const]),
    ...(webhook.parked_since === null ? [] : [["Without credits since", webhook.parked_since] as const]),
    ...(webhook.behind_since === null ? [] : [["Behind the chain since", webhook.behind_since] as const]),
    ...(webhook.secret_overlap_ends_at === null
      ? []
      : [["Old secret signs until", webhook.secret_overlap_ends_at] as const]),
    ["Created", webhook.created_at],
  ];
  return (
    <Section title="Webhook">
      <dl className="mt-2 grid grid-cols-[minmax(88px,160px)_1fr] gap-y-1">
        {rows.map(([name, value]) => (
          <div key={name} className="contents">
            <dt className="text-quiet">{name}</dt>
            <dd className="min-w-0 break-words">{value}</dd>
          </div>
        ))}
      </dl>
    </Section>
  );
}

/** Filters hold up to 100,000 addresses; a page shows their beginning. */
const filterTextMax = 4_000;

function Filters({ text }: { text: string }) {
  if (text === "{}") return "none";
  return (
    <>
      <pre className="max-h-48 overflow-auto font-mono text-[13px]">{text.slice(0, filterTextMax)}</pre>
      {text.length > filterTextMax && (
        <span className="text-xs text-quiet">and {exact(text.length)} characters in all</span>
      )}
    </>
  );
}
