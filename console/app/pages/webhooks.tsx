import type { Webhook } from "@sluice/sdk";
import { useCallback, useEffect, useState } from "react";
import { explain } from "../explain.ts";
import { exact, plural } from "../figures.ts";
import { Copy } from "../parts/copy.tsx";
import { type Column, DataTable } from "../parts/data-table.tsx";
import { PageLink } from "../parts/page-link.tsx";
import { QuietButton, Section } from "../parts/section.tsx";
import { WebhookForm } from "../parts/webhook-form.tsx";
import { navigate } from "../route.ts";
import { needsCare, stateText, webhooks } from "../webhooks.ts";

const shownMax = 1_000;

const columns: readonly Column<Webhook>[] = [
  {
    name: "Webhook",
    value: ({ description, url }) => (description === "" ? url : description),
    cell: ({ webhook_id: id, description, url }) => (
      <span className="inline-block max-w-[40ch] truncate align-bottom">
        <PageLink to={`/webhooks/${id}`} title={url}>
          {description === "" ? url : description}
        </PageLink>
      </span>
    ),
  },
  {
    name: "State",
    value: stateText,
    cell: (webhook) => <span className={needsCare(webhook) ? "text-warn" : ""}>{stateText(webhook)}</span>,
  },
  { name: "Network", value: ({ network }) => network },
  { name: "Events", value: ({ events }) => events.join(", ") },
  { name: "Waiting", numeric: true, value: ({ waiting }) => waiting, cell: ({ waiting }) => exact(waiting) },
  { name: "Last success", value: ({ last_success_at: at }) => at ?? "none yet" },
];

/** All webhooks of the account, and a new one. */
export function WebhooksPage() {
  const [list, setList] = useState<readonly Webhook[] | string | null>(null);
  const [creates, setCreates] = useState(false);
  const [created, setCreated] = useState<{ readonly id: string; readonly secret: string } | null>(null);
  const refresh = useCallback(() => {
    readAll().then(setList, (error: unknown) => setList(explain(error)));
  }, []);
  useEffect(refresh, [refresh]);
  return (
    <>
      <h1 className="text-2xl font-semibold">{headline(list)}</h1>
      <p className="mt-1 max-w-3xl text-quiet">
        A webhook sends events of the chain to an address of yours, signed, at least once. A delivery costs 1 credit.
      </p>
      {created !== null && <Secret {...created} />}
      {typeof list === "string" && (
        <p role="alert" className="mt-4 text-bad">
          {list}
        </p>
      )}
      {Array.isArray(list) && list.length > 0 && (
        <Section title="Webhooks">
          <DataTable caption="Webhooks" columns={columns} rows={list} id={({ webhook_id: id }) => id} />
        </Section>
      )}
      <Section
        title="New webhook"
        aside={<QuietButton onClick={() => setCreates(!creates)}>{creates ? "close" : "create a webhook"}</QuietButton>}
      >
        {creates ? (
          <WebhookForm
            webhook={null}
            submit="Create"
            onSubmit={async (webhook) => {
              const made = await webhooks.create(webhook);
              setCreated({ id: made.webhook_id, secret: made.secret });
              setCreates(false);
              refresh();
            }}
          />
        ) : (
          <p className="mt-1 text-quiet">
            By a program: <code className="font-mono">POST /api/v1/webhooks</code> with a key that has the permission{" "}
            <code className="font-mono">webhooks:write</code>.
          </p>
        )}
      </Section>
    </>
  );
}

function Secret({ id, secret }: { id: string; secret: string }) {
  return (
    <div role="status" className="mt-4 border-l-2 border-accent pl-3">
      <p>The webhook is active. Its secret, shown this once, verifies what it sends:</p>
      <Copy text={secret} />
      <p className="mt-1">
        <QuietButton onClick={() => navigate(`/webhooks/${id}`)}>send it a test</QuietButton>
      </p>
    </div>
  );
}

async function readAll(): Promise<readonly Webhook[]> {
  const found: Webhook[] = [];
  for await (const webhook of webhooks.list()) {
    found.push(webhook);
    if (found.length >= shownMax) break;
  }
  return found;
}

function headline(list: readonly Webhook[] | string | null): string {
  if (list === null) return "Reading the webhooks…";
  if (typeof list === "string") return "The webhooks cannot be read";
  if (list.length === 0) return "There are no webhooks yet";
  const care = list.filter(needsCare).length;
  const paused = list.filter(({ status }) => status === "paused").length;
  const rest = [
    ...(care === 0 ? [] : [`${exact(care)} ${care === 1 ? "needs" : "need"} you`]),
    ...(paused === 0 ? [] : [`${exact(paused)} paused`]),
  ];
  return `${plural(list.length, "webhook")}, ${rest.length === 0 ? "all active" : rest.join(", ")}`;
}
