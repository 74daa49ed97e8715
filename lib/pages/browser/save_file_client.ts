/** ms after which a browser surely has the file. */
const REVOKE_MS = 60_000;

/** Saves a text as a file that the browser makes. */
export function saveFile(name: string, text: string, type: "text/csv" | "text/plain"): void {
  const url = URL.createObjectURL(new Blob([text], { type: `${type};charset=utf-8` }));
  const link = document.createElement("a");
  link.href = url;
  link.download = name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(url), REVOKE_MS);
}

/** Copies a text. @returns whether the browser did so */
export async function copyText(text: string): Promise<boolean> {
  try {
    await navigator.clipboard.writeText(text);
    return true;
  } catch {
    return false;
  }
}
