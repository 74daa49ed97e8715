/**
 * What the cluster or the worker reported, after the sentence that explains it: read out, and seen where nothing shows it on
 * hover. Nothing where the sentence contains it.
 */
export function RawWords({ text }: { text: string | null }) {
  return text === null ? null : <span class="raw-words">{` (${text})`}</span>;
}
