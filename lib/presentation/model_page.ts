/** Page of a model at the revision that a pipeline pins, else of its newest; null: the id is not one of that site. */
export function modelPage(model: string, revision: string | null): string | null {
  if (!HUB_ID.test(model)) return null;
  return `https://huggingface.co/${model}/tree/${encodeURIComponent(revision ?? "main")}`;
}

/** `owner/name`; a path to a file on a disk begins or goes on otherwise. */
const HUB_ID = /^[A-Za-z0-9][\w.-]*\/[A-Za-z0-9][\w.-]*$/;
