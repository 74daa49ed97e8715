/** Attributes that are read to people. */
const READ_ATTRIBUTES = ["alt", "aria-label", "aria-description", "placeholder", "title"];

/** Texts that are the same in both languages: names, units, signs and words of both. */
export const SAME_WORDS: ReadonlySet<string> = new Set([
  ...["–", "API", "Bucket", "CSV", "Debug", "ETag", "Info", "Manifest (JSON)", "Pipeline", "Text", "text", "Version"],
  ...["Bag", "Export", "JSON", "Manifest", "NDJSON"],
  ...["Stackroom", "ALTO", "IIIF", "UTC", "EN", "SV", "English", "Svenska", "Home", "End", "Shift"],
]);

/** The texts of a page's HTML that people read: its text, and the attributes that are read out. */
export function textsOf(html: string): string[] {
  const shown = html.replace(/<(script|style)\b.*?<\/\1>/gs, "").replace(/<!--.*?-->/gs, "");
  const attributes = [...shown.matchAll(/ ([a-z-]+)="([^"]*)"/g)]
    .filter(([, name]) => READ_ATTRIBUTES.includes(name)).map(([, , value]) => value);
  return [...shown.split(/<[^>]*>/), ...attributes].map(decoded).filter((text) => text !== "");
}

/**
 * Texts that were not translated: those of both languages with a word in it.
 *
 * @param data what the pages show of others
 */
export function untranslated(
  english: readonly string[],
  swedish: readonly string[],
  data: readonly string[],
): string[] {
  const both = new Set(english);
  // Keys stand behind the words of their buttons.
  const isSame = (text: string) => SAME_WORDS.has(text) || SAME_WORDS.has(text.replace(/ (?:\(\w\)|[←↑→↓])$/, ""));
  const isWord = (text: string) => /\p{L}{2}/u.test(text) && !isSame(text);
  const values = data.map((value) => value.replace(/\s+/g, " "));
  const isData = (text: string) => values.some((value) => value.includes(text.replace(/^[(@]|\)$/g, "")));
  return [...new Set(swedish)].filter((text) => both.has(text) && isWord(text) && !isData(text));
}

/** Every text in some data. */
export function textsIn(data: unknown): string[] {
  if (typeof data === "string") return [data];
  if (typeof data !== "object" || data === null) return [];
  return Object.entries(data).flatMap(([key, value]) => [key, ...textsIn(value)]);
}

const ENTITIES: Readonly<Record<string, string>> = { amp: "&", lt: "<", gt: ">", quot: '"', nbsp: " " };

function decoded(text: string): string {
  return text.replace(/&(\w+);/g, (entity, name) => ENTITIES[name] ?? entity).replace(/\s+/g, " ").trim();
}
