import { navigate } from "../route.ts";

/** A link to another page of the console, which is not loaded anew for it; a new tab is the browser's business. */
export function PageLink({ to, title, children }: { to: string; title?: string; children: React.ReactNode }) {
  return (
    <a
      href={to}
      title={title}
      className="underline decoration-hairline underline-offset-2 hover:decoration-current"
      onClick={(event) => {
        if (event.metaKey || event.ctrlKey || event.shiftKey) return;
        event.preventDefault();
        navigate(to);
      }}
    >
      {children}
    </a>
  );
}
