/**
 * Copies a text, and tells whether that worked. Browsers offer the clipboard to pages that came over TLS or from the
 * own machine; on a LAN over plain HTTP the older command of the document does it.
 */
export async function copyText(text: string): Promise<boolean> {
  // The type says that it is always there.
  const clipboard = navigator.clipboard as Clipboard | undefined;
  if (clipboard === undefined) return copyBySelection(text);
  return await clipboard.writeText(text).then(
    () => true,
    () => copyBySelection(text),
  );
}

function copyBySelection(text: string): boolean {
  const focused = document.activeElement;
  const area = document.createElement("textarea");
  area.value = text;
  area.setAttribute("aria-hidden", "true");
  area.className = "fixed top-0 left-0 opacity-0";
  // Inside of an open dialog nothing else can be focused.
  (document.querySelector("dialog[open]") ?? document.body).append(area);
  area.select();
  try {
    return document.execCommand("copy");
  } catch {
    return false;
  } finally {
    area.remove();
    if (focused instanceof HTMLElement) focused.focus();
  }
}
